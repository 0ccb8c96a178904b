#!/usr/bin/env bash
# Builds and tests what a pull request changes, in schemas of its own beside production, and writes
# what that changes in the data to diff.md. From the environment:
#   DBT_SCHEMA   the pull request's schema, such as ci_42
#   PRODUCTION   production's schema
#   STATE        a folder with the manifest.json of production's last run
set -euo pipefail
: "${DBT_SCHEMA:?}" "${PRODUCTION:?}" "${STATE:?}"
# Readers see production, not the pull request.
export DBT_DELTA_PUBLISH=never
production="{production: $PRODUCTION}"
schemas="schema_a: $PRODUCTION, schema_b: $DBT_SCHEMA, state: $STATE"

dbt run-operation create_ci_schemas --args "$production"
trap 'dbt run-operation drop_ci_schemas --args "$production"' EXIT
# What a run continues: incremental tables and snapshots, as clones that share production's files.
dbt clone --state "$STATE" --select "state:modified+,config.materialized:incremental" \
    "state:modified+,resource_type:snapshot"
dbt build --state "$STATE" --defer --select "state:modified+"
dbt --quiet run-operation diff --args "{$schemas, select: 'state:modified+', output: markdown}" > diff.md
