"""optimize, purge_deletion_vectors, set_retention, convert_to_delta, delete_where and advice."""

import json
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.maintenance.running import operation


@pytest.fixture
def made(project: Project) -> Project:
    """Tables p, partitioned by day, with 8 files; c, clustered by id; and plain t."""
    project.sql("create schema if not exists {schema}")
    for name, clause in {"p": "partitioned by (day)", "c": "cluster by (id)", "t": ""}.items():
        project.sql(
            f"create table {{schema}}.{name} using delta {clause} as "
            "select id, date'2024-01-01' + int(id % 2) as day, 'x' as v from range(0, 40, 1, 4)"
        )
    return project


def test_optimize_says_what_it_did(made: Project) -> None:
    planned = operation(made, "optimize", relation=f"{made.schema}.p", dry_run=True)
    assert f"optimize `{made.schema}`.`p` (dry run)" in planned.output
    assert made.version("p") == 0
    where = {"where": "day = '2024-01-01'", "zorder_by": "id"}
    done = operation(made, "optimize", relation=f"{made.schema}.p", **where)
    assert "where day = '2024-01-01' zorder by (`id`): 4 files of" in done.output
    assert "-> 1 file of" in done.output
    operation(made, "optimize", relation=f"{made.schema}.c", full=True)
    again = operation(made, "optimize", relation=f"{made.schema}.c")
    assert f"optimize `{made.schema}`.`c`: nothing to do" in again.output
    assert (made.version("p"), made.version("c")) == (1, 1)
    made.write(
        {
            "models/m.sql": (
                "{{ config(materialized='table', post_hook=\"{{ dbt_delta.optimize(this) }}\") }}"
                " select id from range(0, 40, 1, 4)"
            )
        }
    )
    made.dbt("run")
    assert made.history("m")[0]["operation"] == "OPTIMIZE"


REFUSED: list[tuple[Any, str]] = [
    ({"relation": "SCHEMA.t", "zorder_by": "nope"}, "zorder_by names 'nope', which"),
    ({"relation": "SCHEMA.p", "zorder_by": ["day"]}, "it is one value in each file"),
    ({"relation": "SCHEMA.c", "where": "id > 1"}, "is clustered by id: OPTIMIZE orders all"),
    ({"relation": "SCHEMA.t", "full": True}, "`SCHEMA`.`t` has no clustering. Leave it out."),
    ({"relation": "SCHEMA.none"}, "`SCHEMA`.`none` is not in the catalog"),
]


def test_optimize_refuses(made: Project) -> None:
    for arguments, said in REFUSED:
        relation = arguments["relation"].replace("SCHEMA", made.schema)
        refused = operation(made, "optimize", check=False, **(arguments | {"relation": relation}))
        assert not refused.success, arguments
        assert said.replace("SCHEMA", made.schema) in refused.output
        assert {n: made.version(n) for n in "pct"} == {"p": 0, "c": 0, "t": 0}


def test_rows_that_vectors_hide_leave_their_files(made: Project) -> None:
    made.sql("alter table {schema}.p set tblproperties ('delta.enableDeletionVectors' = 'true')")
    made.sql("delete from {schema}.p where id < 2")
    where = "day = '2024-01-01'"
    done = operation(made, "purge_deletion_vectors", relation=f"{made.schema}.p", where=where)
    assert "apply (purge): 1 file of" in done.output
    again = operation(made, "purge_deletion_vectors", relation=f"{made.schema}.p", where=where)
    assert "apply (purge): nothing to do" in again.output
    assert len(made.rows("p")) == 38


def test_retention_is_set_once(made: Project) -> None:
    table = f"{made.schema}.t"
    operation(made, "set_retention", relation=table, days=40, dry_run=True)
    assert made.version("t") == 0
    for said in ("interval 960 hours", "it is so already"):
        assert said in operation(made, "set_retention", relation=table, days=40).output
    properties = {r.key: r.value for r in made.sql("show tblproperties {schema}.t")}
    assert properties["delta.deletedFileRetentionDuration"] == "interval 960 hours"
    assert properties["delta.logRetentionDuration"] == "interval 960 hours"
    assert made.version("t") == 1
    refused = operation(made, "set_retention", False, relation=table, days=9, log_days=8)
    assert "a version without its log cannot be read" in refused.output
    assert made.version("t") == 1


def test_parquet_becomes_delta_where_it_is(made: Project) -> None:
    made.sql(
        "create table {schema}.raw using parquet partitioned by (day) as select * from {schema}.t"
    )
    made.sql("create view {schema}.v as select 1 as id")
    folder = made.path / "files"
    made.sql(f"insert overwrite directory '{folder}' using parquet select id from range(9)")
    table = f"{made.schema}.raw"
    operation(made, "convert_to_delta", source=table, dry_run=True)
    operation(made, "convert_to_delta", source=str(folder))
    operation(made, "convert_to_delta", source=table)
    assert made.rows("raw") == made.rows("t")
    (detail,) = made.sql("describe detail {schema}.raw")
    assert (detail.format, detail.partitionColumns) == ("delta", ["day"])
    assert made.sql(f"select count(*) as n from delta.`{folder}`")[0].n == 9
    again = operation(made, "convert_to_delta", source=table)
    assert "it is a Delta table already" in again.output
    refused = operation(made, "convert_to_delta", False, source=f"{made.schema}.v")
    assert "is a view. Give a parquet table" in refused.output


def test_rows_are_deleted_where_there_are_any(made: Project) -> None:
    table = f"{made.schema}.p"
    for arguments, said in (
        ({"predicate": "id > 99"}, ": 0 rows in 0 files, nothing to do"),
        ({"predicate": "day = '2024-01-02'"}, "20 rows in 4 files, whole partitions leave"),
        ({"predicate": "1 = 1"}, "40 rows in 8 files, all files leave the table"),
        (
            {"predicate": "id = 7 and day > '2000-01-01'"},
            "1 rows in 1 files, the files are written",
        ),
    ):
        done = operation(made, "delete_where", relation=table, dry_run=True, **arguments)
        assert said in done.output
    assert made.version("p") == 0
    operation(made, "delete_where", relation=table, predicate="id > 99")
    assert made.version("p") == 0
    operation(made, "delete_where", relation=table, predicate="id < 39 or v = 'y'")
    assert [row["id"] for row in made.rows("p")] == [39]
    made.sql("alter table {schema}.p set tblproperties ('delta.appendOnly' = 'true')")
    version = made.version("p")
    refused = operation(made, "delete_where", False, relation=table, predicate="true")
    assert "is append-only (delta.appendOnly = true)" in refused.output
    for predicate in ("", 3):
        assert not operation(
            made, "delete_where", False, relation=table, predicate=predicate
        ).success
    assert made.version("p") == version


def test_a_model_is_ordered_once_it_is_built_where_that_is_due(project: Project) -> None:
    many = "select id, id % 3 as v from range(0, 90, 1, 9)"
    append = "materialized='incremental', incremental_strategy='append'"
    project.write(
        {
            "models/sorted.sql": f"{{{{ config(materialized='table', zorder='v') }}}} {many}",
            "models/clustered.sql": (
                f"{{{{ config({append}, liquid_clustered_by='id', auto_compact=true) }}}} {many}"
            ),
            "models/kept.sql": (
                "{{ config(materialized='table', zorder='v', skip_optimize=true,"
                f" optimize_write=false) }}}} {many}"
            ),
            "models/one.sql": "{{ config(materialized='table', zorder='id') }} select 1 as id",
        }
    )
    project.dbt("run")
    operations = {n: [h["operation"] for h in project.history(n)] for n in ("sorted", "clustered")}
    assert operations["sorted"] == ["OPTIMIZE", "CREATE TABLE AS SELECT"]
    assert operations["clustered"] == ["OPTIMIZE", "CREATE TABLE AS SELECT"]
    assert (project.version("kept"), project.version("one")) == (0, 0)
    for name, key in {"clustered": "autoCompact", "kept": "optimizeWrite"}.items():
        properties = {r.key: r.value for r in project.sql(f"show tblproperties {{schema}}.{name}")}
        assert properties[f"delta.autoOptimize.{key}"] == str(name == "clustered").lower()
    # What later runs add is left to maintain.
    project.dbt("run", "-s", "clustered")
    assert project.version("clustered") == 2


def test_advice_names_what_costs_readers(project: Project) -> None:
    wide = ", ".join(f"id + {n} as c{n}" for n in range(33))
    project.write(
        {
            "models/parts.sql": (
                "{{ config(materialized='table', partition_by='day') }}"
                " select id, date'2024-01-01' + int(id) as day from range(20)"
            ),
            "models/wide.sql": (
                f"{{{{ config(materialized='table') }}}} select {wide} from range(9)"
            ),
            "models/reader.sql": (
                "{{ config(materialized='table') }} select c0 from {{ ref('wide') }}"
                " where c32 >= 3 -- and c5 = 1"
            ),
        }
    )
    project.dbt("run")
    versions = {name: project.version(name) for name in ("parts", "wide", "reader")}
    limits = {"dbt_delta_maintenance": {"target_file_mb": 0.008}}
    found = json.loads(operation(project, "layout_advice", vars=limits, output="json").printed)
    advice = {(line["table"].partition(".")[2], line["advice"]): line["why"] for line in found}
    why = {table: text for (table, _), text in advice.items()}
    assert set(why) == {"parts", "wide"}
    assert "partition by something coarser than day" in str(advice)
    assert any("dataSkippingStatsColumns" in told and "c32" in told for _, told in advice)
    assert ("wide", "liquid_clustered_by c32") in advice
    assert "reader filters by it" in advice["wide", "liquid_clustered_by c32"]
    assert {name: project.version(name) for name in versions} == versions
