"""Hooks, headers, docs, properties, contracts; what needs Databricks; how much is sent to Spark.

All models are one project, which is built twice; a test looks at its own. The wrappers that
docs/package.md has are a project of their own: Python models need others.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.functional.harness import REPOSITORY, Project, is_session
from tests.functional.incremental.models import (
    FIRST,
    MERGED,
    THEN,
    Built,
    columns,
    messages,
    model,
    relations,
    statements,
    tables,
    values,
    write_models,
)
from tests.functional.tables import metadata, operations, versions

KEYED = {"unique_key": "id"}
PLAIN = model(FIRST, THEN, **KEYED)
NEVER_BUILT = {"new", "both_layouts", "filtered"}
REFUSED = {"hook_fails", "masked", "violating", "null_key", "other_type"}


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    project = new_shared_project("configuration")
    if is_session():
        project.write(PYTHON)
    project.sql(f"create schema if not exists {project.schema}")
    project.sql("create table {schema}.log (step string, n bigint) using delta")

    contracted = dict.fromkeys((*CONTRACTED, "new"), CONTRACT)
    documented = dict.fromkeys(STRATEGIES, DOCUMENTED)
    write_models(
        project,
        {
            **HOOKED,
            **dict.fromkeys(("hook_fails", "documented", "redocumented"), PLAIN),
            **CONFIGURED,
            **{name: model(FIRST, THEN, **config) for name, config in STRATEGIES.items()},
            **dict.fromkeys(("masked", "tagged", "tagged_too"), PLAIN),
            **CONTRACTED,
            **OTHERS,
            **_located(project.path / "lake"),
        },
    )
    _describe(project, redocumented=DOCUMENTED, **documented, **contracted)
    first = project.dbt("run", check=False)

    write_models(project, {**HOOK_FAILS, **CONFIGURED_LATER})
    _describe(
        project,
        documented=DOCUMENTED,
        redocumented={**DOCUMENTED, "columns": [{"name": "id", "description": "other"}]},
        masked=MASKED,
        tagged=TAGGED,
        tagged_too=TAGGED,
        **documented,
        **contracted,
    )
    return Built(project, first, project.dbt("run", check=False))


def _describe(project: Project, **models: object) -> None:
    listed = [{"name": name, **about} for name, about in models.items()]
    project.write({"models/schema.yml": yaml.safe_dump({"models": listed})})


def test_only_what_is_refused_fails_and_nothing_is_left_behind(built: Built) -> None:
    assert set(messages(built.first)) == NEVER_BUILT
    assert set(messages(built.second)) == NEVER_BUILT | REFUSED
    assert versions(built.project, REFUSED) == dict.fromkeys(REFUSED, 0)
    nodes = {result.node.name for result in built.second.results}
    assert relations(built.project) == sorted({*nodes, "log"} - NEVER_BUILT)


LOG = "insert into {{ target.schema }}.log select '%s', %s"
COUNT = LOG % ("%s", "count(*) from {{ this }}")
HEADER = "declare or replace factor = 2; create temporary function twice(x int) return x * factor"
HOOKED = {
    "hooked": "{% call set_sql_header(config) %}"
    + HEADER
    + ";{% endcall %}\n"
    + model(
        "select 1 as id, twice(1) as v",
        "select 2 as id, twice(2) as v",
        pre_hook=[LOG % ("before", 0)],
        post_hook=[{"sql": COUNT % "after", "transaction": False}, COUNT % "last"],
        **KEYED,
    )
}


def test_hooks_and_header_run_in_order_and_once(built: Built) -> None:
    steps = [("after", 1), ("after", 2), ("before", 0), ("before", 0), ("last", 1), ("last", 2)]
    expected = {"hooked": [(1, 2), (2, 4)], "log": steps}
    assert tables(built.project, expected) == expected


HOOK_FAILS = {"hook_fails": model(FIRST, THEN, pre_hook="select raise_error('not today')", **KEYED)}


def test_a_failing_pre_hook_writes_nothing(built: Built) -> None:
    assert "not today" in messages(built.second)["hook_fails"]


DOCUMENTED = {
    "description": "it's\na table; 100 %",
    "columns": [{"name": "ID", "description": "the 'key'"}, {"name": "v"}],
    "config": {
        "persist_docs": {"relation": True, "columns": True},
        "tblproperties": {
            "team": "data, too",
            "delta.appendOnly": False,
            "delta.logRetentionDuration": "interval 60 days",
        },
    },
}


def _comments(found: dict[str, Any]) -> dict[str, str]:
    fields = json.loads(found["schemaString"])["fields"]
    return {field["name"]: field["metadata"].get("comment", "") for field in fields}


def test_docs_and_properties_are_brought_up_to_date_once(built: Built) -> None:
    project = built.project
    found = metadata(project, "documented")
    assert found["description"] == "it's\na table; 100 %"
    assert found["configuration"]["team"] == "data, too"
    assert found["configuration"]["delta.appendOnly"] == "false"
    assert _comments(found) == {"id": "the 'key'", "v": ""}
    assert _comments(metadata(project, "redocumented")) == {"id": "other", "v": ""}
    # One commit each for properties, description, columns and rows; then rows only.
    assert versions(project, ["documented", "redocumented"]) == {"documented": 4, "redocumented": 2}
    run = project.dbt("run", "-s", "documented")
    assert versions(project, ["documented"]) == {"documented": 5}
    sent = statements(run, "documented")
    assert not [sql for sql in sent if sql.startswith("alter")]
    # Beside the model a run only lists what is there.
    listing = ("show databases", "show views in", "show tables in", "create schema")
    assert not [sql for sql in run.statements if sql not in sent and not sql.startswith(listing)]
    expected = {"documented": MERGED, "redocumented": MERGED}
    assert tables(project, expected) == expected


CONFIG = {"tblproperties": {"team": "me"}, "liquid_clustered_by": "id"}
CONFIGURED = {
    "left_alone": PLAIN,
    "configured": PLAIN,
    "no_longer": model(FIRST, THEN, **CONFIG, **KEYED),
}
CONFIGURED_LATER = {
    "left_alone": model(FIRST, THEN, incremental_apply_config_changes=False, **CONFIG, **KEYED),
    "configured": model(FIRST, THEN, **CONFIG, **KEYED),
    "no_longer": PLAIN,
}


def test_configuration_changes_can_be_left_alone(built: Built) -> None:
    details = {
        name: built.project.sql(f"describe detail {{schema}}.{name}")[0] for name in CONFIGURED
    }
    assert versions(built.project, ["left_alone"]) == {"left_alone": 1}
    assert "team" not in details["left_alone"].properties
    assert details["configured"].properties["team"] == "me"
    clustered = {name: detail.clusteringColumns for name, detail in details.items()}
    assert clustered == {"left_alone": [], "configured": ["id"], "no_longer": []}
    sent = statements(built.second, "no_longer")
    assert sum("cluster by none" in sql for sql in sent) == 1, sent


STRATEGIES: dict[str, dict[str, object]] = {
    "by_merge": {**KEYED},
    "by_clusters": {**KEYED, "liquid_clustered_by": "id"},
    "by_delete": {**KEYED, "incremental_strategy": "delete+insert"},
    "by_append": {"incremental_strategy": "append"},
    "by_overwrite": {"incremental_strategy": "insert_overwrite", "partition_by": "id"},
    "by_replace": {"incremental_strategy": "replace_where", "incremental_predicates": ["id > 1"]},
}


def test_few_statements(built: Built) -> None:
    """view, check and the write, with much in the YAML; without: with the strategies."""
    described = 0 if is_session() else 3
    for name in STRATEGIES:
        sent = statements(built.second, name)
        assert sent, name
        assert len(sent) - described <= (4 if name == "by_replace" else 3), (name, sent)
        assert sum(sql.startswith("describe") for sql in sent) == described, (name, sent)
        assert not [sql for sql in sent if sql.startswith("alter")], (name, sent)
    assert tables(built.project, ["by_merge"]) == {"by_merge": MERGED}


MASKED = {"columns": [{"name": "v", "column_mask": {"function": "full_mask"}}]}
HARMLESS = {
    "databricks_tags": {"a": "b"},
    "databricks_compute": "big",
    "query_tags": {"c": "d"},
}
TAGGED = {"config": HARMLESS}


def test_what_needs_databricks(built: Built) -> None:
    assert "row_filter needs Databricks" in messages(built.first)["filtered"]
    assert "column_mask of column v needs Databricks" in messages(built.second)["masked"]
    assert versions(built.project, ["tagged", "tagged_too"]) == {"tagged": 1, "tagged_too": 1}
    lines = [line.strip() for line in built.second.output.splitlines()]
    for name in HARMLESS:
        said = [line for line in lines if line.startswith(f"{name} is for")]
        assert len(said) == 1, (name, built.second.output)
        assert "has no effect here. Models: tagged, tagged_too" in said[0]


CONTRACT = {
    "config": {"contract": {"enforced": True}},
    "columns": [
        {"name": "id", "data_type": "int", "constraints": [{"type": "not_null"}]},
        {
            "name": "v",
            "data_type": "string",
            "constraints": [{"type": "check", "expression": "length(v) < 3"}],
        },
    ],
}


def _contracted(then: str) -> str:
    return model(FIRST, then, on_schema_change="append_new_columns", **KEYED)


CONTRACTED = {
    "good": _contracted(THEN),
    "violating": _contracted(values("id, v", "3, 'long'")),
    "null_key": _contracted("select int(null) as id, 'x' as v"),
    "other_type": _contracted("select 3L as id, 'x' as v"),
}


def test_contract(built: Built) -> None:
    """Columns are checked before the write, constraints in its commit."""
    found = messages(built.second)
    assert "length(v) < 3" in found["violating"]
    assert "is not null" in found["null_key"].lower()
    assert "This model has an enforced contract that failed" in found["other_type"]
    assert versions(built.project, ["good"]) == {"good": 1}
    assert "length(v) < 3" in messages(built.first)["new"]


PYTHON_MODEL = """
    def model(dbt, session):
        dbt.config(materialized="incremental", {config})
        if dbt.is_incremental:
            return session.sql("select 2 as id, 'B' as v union all select 3, 'c'")
        return session.sql("select 1 as id, 'a' as v union all select 2, 'b'")
"""
PYTHON = {
    f"models/{name}.py": PYTHON_MODEL.format(config=config)
    for name, config in {
        "python_merged": "unique_key='id', submission_method='serverless_cluster'",
        "python_appended": "incremental_strategy='append', submission_method='job_cluster'",
        "python_replaced": "incremental_strategy='delete+insert', unique_key='id'",
    }.items()
}


@pytest.mark.session
def test_python_models(built: Built) -> None:
    expected = {
        "python_merged": MERGED,
        "python_appended": [(1, "a"), (2, "B"), (2, "b"), (3, "c")],
        "python_replaced": MERGED,
    }
    assert tables(built.project, expected) == expected
    assert versions(built.project, expected) == dict.fromkeys(expected, 1)


OTHERS = {
    "upstream": "{{ config(materialized='ephemeral') }} select 3 as id, 'c' as v",
    "of_ephemeral": "-- depends_on: {{ ref('upstream') }}\n"
    + model(FIRST, "select * from {{ ref('upstream') }} -- the end", **KEYED),
    "with_query": model(FIRST, "with a as (select 3 as id, 'c' as v) select * from a;", **KEYED),
    "parquet": model(FIRST, THEN, file_format="parquet", incremental_strategy="append"),
    "both_layouts": model(FIRST, partition_by="id", liquid_clustered_by="v"),
    "filtered": model(FIRST, row_filter={"function": "f", "columns": ["id"]}),
    "new": _contracted(THEN).replace(FIRST, values("id, v", "3, 'long'")),
}


def test_ephemeral_models_and_trailing_comments(built: Built) -> None:
    rows = [(1, "a"), (2, "b"), (3, "c")]
    expected = {"of_ephemeral": rows, "with_query": rows}
    assert tables(built.project, expected) == expected


def test_other_formats_are_left_to_dbt_spark(built: Built) -> None:
    assert len(built.project.rows("parquet")) == 4
    extended = built.project.sql("describe extended {schema}.parquet")
    assert {row.col_name: row.data_type for row in extended}["Provider"] == "parquet"


def _located(root: Path) -> dict[str, str]:
    layout = {"location_root": str(root), "partition_by": ["v"], **KEYED}
    return {
        "located": model(FIRST, THEN, **layout),
        "by_full_name": model(FIRST, THEN, include_full_name_in_path=True, **layout),
    }


def test_location_and_layout(built: Built) -> None:
    project, root = built.project, built.project.path / "lake"
    expected = {"located": MERGED, "by_full_name": MERGED}
    assert tables(project, expected) == expected
    folders = {"located": root / "located", "by_full_name": root / project.schema / "by_full_name"}
    for name, folder in folders.items():
        detail = project.sql(f"describe detail {{schema}}.{name}")[0]
        assert detail.location.endswith(str(folder))
        assert detail.partitionColumns == ["v"]
        assert folder.is_dir()


def test_contradicting_layouts_are_refused(built: Built) -> None:
    assert "exclude each other" in messages(built.first)["both_layouts"]


def test_the_wrappers_of_the_docs_work_in_another_project(project: Project) -> None:
    page = (REPOSITORY / "docs/package.md").read_text()
    (wrappers,) = re.findall(r"```sql\n(-- macros/dbt_delta\.sql.*?)```", page, re.DOTALL)
    project.write({"macros/materializations.sql": None, "macros/dbt_delta.sql": wrappers})
    project.write({"seeds/sown.csv": "id\n1\n"})
    models = {
        "merged": PLAIN,
        "made": "{{ config(materialized='table') }} select * from {{ ref('merged') }}",
        "seen": "select * from {{ ref('made') }}",
    }
    write_models(project, models)
    for _ in range(2):
        project.dbt("build")
    expected = dict.fromkeys(models, MERGED)
    assert tables(project, expected) == expected
    assert versions(project, ["sown"]) == {"sown": 0}
    assert columns(project, "merged") == {"id": "int", "v": "string"}
    assert operations(project, "merged")[-1] == "MERGE"
