"""Hooks, headers, docs, properties, contracts; what needs Databricks; how much is sent to Spark."""

import re
from pathlib import Path

import pytest
import yaml

from tests.functional.harness import REPOSITORY, Project
from tests.functional.incremental.models import (
    FIRST,
    MERGED,
    THEN,
    columns,
    messages,
    model,
    relations,
    tuples,
    values,
    versions,
    write_models,
)

KEYED = {"unique_key": "id"}


def _schema(**models: object) -> str:
    return yaml.safe_dump({"models": [{"name": n, **about} for n, about in models.items()]})


def test_hooks_and_header_run_in_order_and_once(project: Project) -> None:
    log = "insert into {{ target.schema }}.log select '%s', count(*) from {{ target.schema }}.seen"
    count = "insert into {{ target.schema }}.log select '%s', count(*) from {{ this }}"
    header = (
        "declare or replace factor = 2; create temporary function twice(x int) return x * factor"
    )
    for name in ("log", "seen"):
        project.sql(f"create schema if not exists {project.schema}")
        project.sql(f"create table {{schema}}.{name} (step string, n bigint) using delta")
    project.write(
        {
            "models/hooked.sql": "{% call set_sql_header(config) %}"
            + header
            + ";{% endcall %}\n"
            + model(
                "select 1 as id, twice(1) as v",
                "select 2 as id, twice(2) as v",
                pre_hook=[log % "before"],
                post_hook=[{"sql": count % "after", "transaction": False}, count % "last"],
                **KEYED,
            )
        }
    )
    project.dbt("run")
    project.dbt("run")
    assert tuples(project, "hooked") == [(1, 2), (2, 4)]
    steps = project.sql("select step, n from {schema}.log")
    assert sorted(tuple(row) for row in steps) == [
        ("after", 1),
        ("after", 2),
        ("before", 0),
        ("before", 0),
        ("last", 1),
        ("last", 2),
    ]


def test_a_failing_pre_hook_writes_nothing(project: Project) -> None:
    write_models(project, {"a": model(FIRST, THEN, **KEYED)})
    project.dbt("run")
    hook = "select raise_error('not today')"
    write_models(project, {"a": model(FIRST, THEN, pre_hook=hook, **KEYED)})
    assert "not today" in messages(project.dbt("run", check=False))["a"]
    assert (project.version("a"), relations(project)) == (0, ["a"])


def test_docs_and_properties_are_brought_up_to_date_once(project: Project) -> None:
    docs = {"persist_docs": {"relation": True, "columns": True}}
    write_models(project, {"a": model(FIRST, THEN, **KEYED)})
    project.dbt("run")
    described = {
        "description": "it's\na table; 100 %",
        "columns": [{"name": "ID", "description": "the 'key'"}, {"name": "v"}],
        "config": {**docs, "tblproperties": {"team": "data, too", "delta.appendOnly": False}},
    }
    project.write({"models/schema.yml": _schema(a=described)})
    project.dbt("run")
    detail = project.sql("describe detail {schema}.a")[0]
    assert detail.description == "it's\na table; 100 %"
    assert detail.properties["team"] == "data, too"
    assert detail.properties["delta.appendOnly"] == "false"
    assert [row.comment for row in project.sql("describe {schema}.a")[:2]] == ["the 'key'", None]
    # One commit each for properties, description, columns and rows; then rows only.
    assert project.version("a") == 4
    run = project.dbt("run")
    assert project.version("a") == 5
    assert not [sql for sql in _model_statements(run.statements) if sql.startswith("alter")]
    changed = {**described, "columns": [{"name": "id", "description": "other"}]}
    project.write({"models/schema.yml": _schema(a=changed)})
    project.dbt("run")
    assert project.version("a") == 7
    assert project.sql("describe {schema}.a")[0].comment == "other"
    assert tuples(project, "a") == MERGED


def test_configuration_changes_can_be_left_alone(project: Project) -> None:
    write_models(project, {"a": model(FIRST, THEN, **KEYED)})
    project.dbt("run")
    config = {"tblproperties": {"team": "me"}, "liquid_clustered_by": "id"}
    kept = model(FIRST, THEN, incremental_apply_config_changes=False, **config, **KEYED)
    write_models(project, {"a": kept})
    project.dbt("run")
    detail = project.sql("describe detail {schema}.a")[0]
    assert (detail.clusteringColumns, project.version("a")) == ([], 1)
    assert "team" not in detail.properties
    write_models(project, {"a": model(FIRST, THEN, **config, **KEYED)})
    project.dbt("run")
    detail = project.sql("describe detail {schema}.a")[0]
    assert (detail.clusteringColumns, detail.properties["team"]) == (["id"], "me")
    write_models(project, {"a": model(FIRST, THEN, **KEYED)})
    project.dbt("run")
    assert project.sql("describe detail {schema}.a")[0].clusteringColumns == []


@pytest.mark.parametrize("documented", [False, True])
def test_few_statements(project: Project, documented: bool) -> None:
    """describe, view, check and the write: with or without much in the YAML."""
    strategies = {
        "merged": {**KEYED},
        "clustered": {**KEYED, "liquid_clustered_by": "id"},
        "replaced": {**KEYED, "incremental_strategy": "delete+insert"},
        "appended": {"incremental_strategy": "append"},
        "overwritten": {"incremental_strategy": "insert_overwrite", "partition_by": "id"},
        "swapped": {"incremental_strategy": "replace_where", "incremental_predicates": ["id > 1"]},
    }
    write_models(project, {name: model(FIRST, THEN, **c) for name, c in strategies.items()})
    about = {
        "description": "a table",
        "columns": [{"name": "id", "description": "the key"}],
        "config": {
            "persist_docs": {"relation": True, "columns": True},
            "tblproperties": {"delta.logRetentionDuration": "interval 60 days"},
        },
    }
    if documented:
        project.write({"models/schema.yml": _schema(**dict.fromkeys(strategies, about))})
    project.dbt("run")
    for name in strategies:
        run = project.dbt("run", "-s", name)
        sent = _model_statements(run.statements)
        assert len(sent) <= (5 if name == "swapped" else 4), (name, sent)
        assert sum(sql.startswith("describe") for sql in sent) == 1, (name, sent)
    assert tuples(project, "merged") == MERGED


def _model_statements(statements: list[str]) -> list[str]:
    """Without what dbt asks of the schemas before the first model."""
    listing = ("show databases", "show views in", "create schema")
    return [
        sql
        for sql in statements
        if not sql.startswith(listing) and not re.fullmatch("show tables in `[^`]*`", sql)
    ]


def test_what_needs_databricks(project: Project) -> None:
    mask = {"columns": [{"name": "v", "column_mask": {"function": "full_mask"}}]}
    dangerous = {
        "filtered": {"config": {"row_filter": {"function": "f", "columns": ["id"]}}},
        "masked": mask,
        "granted": {"config": {"grants": {"select": ["somebody"]}}},
    }
    harmless = {
        "databricks_tags": {"a": "b"},
        "databricks_compute": "big",
        "query_tags": {"c": "d"},
    }
    names = [*dangerous, "tagged", "tagged_too"]
    write_models(project, {name: model(FIRST, THEN, **KEYED) for name in names})
    project.dbt("run")
    tagged = {"config": harmless}
    project.write({"models/schema.yml": _schema(tagged=tagged, tagged_too=tagged, **dangerous)})
    run = project.dbt("run", check=False)
    found = messages(run)
    assert sorted(found) == sorted(dangerous)
    assert "row_filter needs Databricks" in found["filtered"]
    assert "column_mask of column v needs Databricks" in found["masked"]
    assert "grants needs a catalog with permissions" in found["granted"]
    assert versions(project, names) == {**dict.fromkeys(dangerous, 0), "tagged": 1, "tagged_too": 1}
    for name in harmless:
        said = [
            line for line in run.output.splitlines() if line.strip().startswith(f"{name} is for")
        ]
        assert len(said) == 1, (name, run.output)
        assert "has no effect here. Models: tagged, tagged_too" in run.output


def test_contract(project: Project) -> None:
    """Columns are checked before the write, constraints in its commit."""
    contracted = {
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
    names = ("good", "violating", "null_key", "other_type")
    fail = {"on_schema_change": "append_new_columns"}
    write_models(project, {n: model(FIRST, THEN, **KEYED, **fail) for n in names})
    project.write({"models/schema.yml": _schema(**dict.fromkeys(names, contracted))})
    project.dbt("run")
    write_models(
        project,
        {
            "violating": model(FIRST, values("id, v", "3, 'long'"), **KEYED, **fail),
            "null_key": model(FIRST, "select int(null) as id, 'x' as v", **KEYED, **fail),
            "other_type": model(FIRST, "select 3L as id, 'x' as v", **KEYED, **fail),
        },
    )
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == ["null_key", "other_type", "violating"]
    assert "length(v) < 3" in found["violating"]
    assert "is not null" in found["null_key"].lower()
    assert "This model has an enforced contract that failed" in found["other_type"]
    assert versions(project, names) == {**dict.fromkeys(names, 0), "good": 1}
    write_models(project, {"new": model(values("id, v", "3, 'long'"), **KEYED, **fail)})
    project.write({"models/schema.yml": _schema(new=contracted)})
    assert "length(v) < 3" in messages(project.dbt("run", "-s", "new", check=False))["new"]
    assert "new" not in relations(project)


@pytest.mark.session
def test_python_models(project: Project) -> None:
    python = """
        def model(dbt, session):
            dbt.config(materialized="incremental", {config})
            if dbt.is_incremental:
                return session.sql("select 2 as id, 'B' as v union all select 3, 'c'")
            return session.sql("select 1 as id, 'a' as v union all select 2, 'b'")
    """
    configs = {
        "merged": "unique_key='id', submission_method='serverless_cluster'",
        "appended": "incremental_strategy='append', submission_method='job_cluster'",
        "replaced": "incremental_strategy='delete+insert', unique_key='id'",
    }
    project.write({f"models/{n}.py": python.format(config=c) for n, c in configs.items()})
    project.dbt("run")
    project.dbt("run")
    assert tuples(project, "merged") == MERGED
    assert tuples(project, "replaced") == MERGED
    assert tuples(project, "appended") == [(1, "a"), (2, "B"), (2, "b"), (3, "c")]
    assert set(versions(project, configs).values()) == {1}
    assert relations(project) == sorted(configs)


def test_ephemeral_models_and_trailing_comments(project: Project) -> None:
    project.write(
        {
            "models/upstream.sql": "{{ config(materialized='ephemeral') }}"
            " select 3 as id, 'c' as v",
            "models/a.sql": "-- depends_on: {{ ref('upstream') }}\n"
            + model(FIRST, "select * from {{ ref('upstream') }} -- the end", **KEYED),
            "models/b.sql": model(
                FIRST, "with a as (select 3 as id, 'c' as v) select * from a;", **KEYED
            ),
        }
    )
    project.dbt("run")
    project.dbt("run")
    expected = [(1, "a"), (2, "b"), (3, "c")]
    assert (tuples(project, "a"), tuples(project, "b")) == (expected, expected)


def test_other_formats_are_left_to_dbt_spark(project: Project) -> None:
    parquet = {"file_format": "parquet", "incremental_strategy": "append"}
    write_models(project, {"a": model(FIRST, THEN, **parquet)})
    project.dbt("run")
    project.dbt("run")
    assert len(tuples(project, "a")) == 4
    extended = project.sql("describe extended {schema}.a")
    assert {row.col_name: row.data_type for row in extended}["Provider"] == "parquet"


def test_location_and_layout(project: Project, tmp_path: Path) -> None:
    root = tmp_path / "lake"
    layout = {"location_root": str(root), "partition_by": ["v"]}
    write_models(
        project,
        {
            "a": model(FIRST, THEN, **layout, **KEYED),
            "b": model(FIRST, THEN, include_full_name_in_path=True, **layout, **KEYED),
        },
    )
    project.dbt("run")
    project.dbt("run")
    assert (tuples(project, "a"), tuples(project, "b")) == (MERGED, MERGED)
    for name, folder in {"a": root / "a", "b": root / project.schema / "b"}.items():
        detail = project.sql(f"describe detail {{schema}}.{name}")[0]
        assert detail.location.endswith(str(folder))
        assert detail.partitionColumns == ["v"]
        assert folder.is_dir()


def test_contradicting_layouts_are_refused(project: Project) -> None:
    refused = {
        "both": ({"partition_by": "id", "liquid_clustered_by": "v"}, "exclude each other"),
        "five": ({"liquid_clustered_by": list("abcde")}, "at most four"),
        "zordered": ({"zorder": "v", "liquid_clustered_by": "id"}, "exclude each other"),
    }
    write_models(project, {n: model(FIRST, THEN, **c, **KEYED) for n, (c, _) in refused.items()})
    found = messages(project.dbt("run", check=False))
    assert {n: text in found[n] for n, (_, text) in refused.items()} == dict.fromkeys(refused, True)
    assert relations(project) == []


def test_the_wrappers_of_the_readme_work_in_another_project(project: Project) -> None:
    readme = (REPOSITORY / "README.md").read_text()
    blocks = re.findall(r"```sql\n(-- macros/dbt_delta\.sql.*?)```", readme, re.DOTALL)
    assert len(blocks) == 1
    project.write({"macros/materializations.sql": None, "macros/dbt_delta.sql": blocks[0]})
    write_models(
        project,
        {
            "merged": model(FIRST, THEN, **KEYED),
            "made": "{{ config(materialized='table') }} select * from {{ ref('merged') }}",
            "seen": "select * from {{ ref('made') }}",
        },
    )
    project.write({"seeds/sown.csv": "id\n1\n"})
    for _ in range(2):
        project.dbt("seed")
        project.dbt("run")
    assert project.version("sown") == 0
    for name in ("merged", "made", "seen"):
        assert tuples(project, name) == MERGED, name
    assert columns(project, "merged") == {"id": "int", "v": "string"}
    assert project.history("merged")[0]["operation"] == "MERGE"
