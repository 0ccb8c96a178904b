#!/usr/bin/env bash
# Builds and tests what a pull request changes, in schemas of its own beside production, and writes
# what failed, what changes in the data and how long it took to comment.md. From the environment:
#   DBT_SCHEMA   the pull request's schema, such as ci_42
#   PRODUCTION   production's schema
#   STATE        a folder with the manifest.json of production's last run and, for the seconds, its
#                run_results.json
# Exit code: that of the build.
set -euo pipefail
: "${DBT_SCHEMA:?}" "${PRODUCTION:?}" "${STATE:?}"
# Readers see production, not the pull request.
export DBT_DELTA_PUBLISH=never
export DBT_TARGET_PATH=ci_target
production="{production: $PRODUCTION}"
schemas="schema_a: $PRODUCTION, schema_b: $DBT_SCHEMA, state: $STATE"
rm -f diff.md comment.md

dbt run-operation create_ci_schemas --args "$production"
trap 'dbt run-operation drop_ci_schemas --args "$production"' EXIT
# What a run continues: incremental tables and snapshots, as clones that share production's files.
dbt clone --state "$STATE" --select "state:modified+,config.materialized:incremental" \
    "state:modified+,resource_type:snapshot"
built=0
rm -f "$DBT_TARGET_PATH/run_results.json"
dbt build --state "$STATE" --defer --select "state:modified+" || built=$?
# Without results dbt has said why, and nothing was built.
[[ -f $DBT_TARGET_PATH/run_results.json ]] || exit "$built"
# The next command writes its own over them.
cp "$DBT_TARGET_PATH/run_results.json" build_results.json
dbt --quiet run-operation diff --args "{$schemas, select: 'state:modified+', output: markdown}" > diff.md || rm -f diff.md
python -m dbt_delta.report.comment build_results.json --production "$STATE/run_results.json" --diff diff.md \
    > comment.md
exit "$built"
