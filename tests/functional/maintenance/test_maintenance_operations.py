"""The operations on one table, from optimize to update_where, and advice."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Project
from tests.functional.maintenance.running import operation, operations


@pytest.fixture(scope="module")
def shared(new_shared_project: Callable[[str], Project]) -> Project:
    """A project in which each test makes tables of its own."""
    project = new_shared_project("operations")
    project.sql("create schema {schema}")
    return project


BY_DAY = "partitioned by (day)"


def make(project: Project, name: str, clause: str = "") -> str:
    """A table of 40 rows in 4 files, 8 if it is partitioned by day."""
    project.sql(
        f"create table {{schema}}.{name} using delta {clause} as "
        "select id, date'2024-01-01' + int(id % 2) as day, 'x' as v from range(0, 40, 1, 4)"
    )
    return f"{project.schema}.{name}"


def test_optimize_says_what_it_did(shared: Project) -> None:
    p, c = make(shared, "p", BY_DAY), make(shared, "c", "cluster by (id)")
    done = operations(
        shared,
        ("optimize", {"relation": p, "dry_run": True}),
        ("optimize", {"relation": p, "where": "day = '2024-01-01'", "zorder_by": "id"}),
        ("optimize", {"relation": c, "full": True}),
        ("optimize", {"relation": c}),
    ).output
    assert f"optimize `{shared.schema}`.`p` (dry run)" in done
    line = r"where day = '2024-01-01' zorder by \(`id`\): 4 files of .* -> 1 file of"
    assert re.search(line, done), done
    assert f"optimize `{shared.schema}`.`c`: nothing to do" in done
    refused = operation(shared, "optimize", check=False, relation=c, where="id > 1")
    assert not refused.success
    assert "is clustered by id: OPTIMIZE orders the whole table" in refused.output
    assert tables.versions(shared, "pc") == {"p": 1, "c": 1}


def test_rows_that_vectors_hide_leave_their_files(shared: Project) -> None:
    hidden = make(
        shared, "hidden", f"{BY_DAY} tblproperties ('delta.enableDeletionVectors' = 'true')"
    )
    shared.sql("delete from {schema}.hidden where id < 2")
    purge = ("purge_deletion_vectors", {"relation": hidden, "where": "day = '2024-01-01'"})
    done, again = operations(shared, purge, purge).output.split("apply (purge): ")[1:]
    assert done.startswith("1 file of")
    assert again.startswith("nothing to do")
    assert len(shared.rows("hidden")) == 38


def test_retention_is_set_once(shared: Project) -> None:
    forty = {"relation": make(shared, "lasting"), "days": 40}
    done = operations(
        shared,
        ("set_retention", {**forty, "dry_run": True}),
        ("set_retention", forty),
        ("set_retention", forty),
    ).output
    assert done.count("interval 960 hours") == 6
    assert done.count("(dry run)") == done.count(": already so") == 1
    properties = tables.metadata(shared, "lasting")["configuration"]
    assert properties["delta.deletedFileRetentionDuration"] == "interval 960 hours"
    assert properties["delta.logRetentionDuration"] == "interval 960 hours"
    assert tables.version(shared, "lasting") == 1


def test_parquet_becomes_delta_where_it_is(shared: Project) -> None:
    make(shared, "t")
    shared.sql(f"create table {{schema}}.raw using parquet {BY_DAY} as select * from {{schema}}.t")
    shared.sql("create view {schema}.seen as select 1 as id")
    folder = shared.path / "files"
    shared.sql(f"insert overwrite directory '{folder}' using parquet select id from range(9)")
    raw = {"source": f"{shared.schema}.raw"}
    done = operations(
        shared,
        ("convert_to_delta", {**raw, "dry_run": True}),
        ("convert_to_delta", {"source": str(folder)}),
        ("convert_to_delta", raw),
        ("convert_to_delta", raw),
        ("convert_to_delta", {"source": f"{shared.schema}.seen"}),
        check=False,
    )
    assert not done.success
    assert done.output.count("it is already a Delta table") == 1
    assert "`seen` is a view. Use a parquet table" in done.output
    assert shared.rows("raw") == shared.rows("t")
    (detail,) = shared.sql("describe detail {schema}.raw")
    assert (detail.format, detail.partitionColumns) == ("delta", ["day"])
    assert shared.sql(f"select count(*) as n from delta.`{folder}`")[0].n == 9


def test_rows_are_deleted_where_there_are_any(shared: Project) -> None:
    told = {
        "id > 99": ": 0 rows in 0 files, nothing to do",
        "day = '2024-01-02'": "20 rows in 4 files, whole partitions leave",
        "1 = 1": "40 rows in 8 files, all files leave the table",
        "id = 7 and day > '2000-01-01'": "1 rows in 1 files, the files are rewritten",
    }
    table = {"relation": make(shared, "deleted", BY_DAY)}
    done = operations(
        shared,
        *[("delete_where", {**table, "predicate": p, "dry_run": True}) for p in told],
        ("delete_where", {**table, "predicate": "id > 99"}),
        ("delete_where", {**table, "predicate": "id < 39 or v = 'y' -- old ones;"}),
    ).output
    for said in told.values():
        assert said in done
    assert tables.version(shared, "deleted") == 1
    assert [row["id"] for row in shared.rows("deleted")] == [39]
    shared.sql("alter table {schema}.deleted set tblproperties ('delta.appendOnly' = 'true')")
    for name, more in {"delete_where": {}, "update_where": {"set": {"v": "'z'"}}}.items():
        for predicate, said in {
            "true": "is append-only (delta.appendOnly = true)",
            "id in (select 1)": "'id in (select 1)', which contains a subquery. Delta allows none",
            "-- all": "has predicate '-- all'. Use a condition in SQL",
        }.items():
            refused = operation(shared, name, False, **table, predicate=predicate, **more)
            assert not refused.success
            assert said in refused.output
    assert tables.version(shared, "deleted") == 2


def test_what_is_no_condition_is_refused(shared: Project) -> None:
    """Each in one line, before anything is counted or written."""
    table = {"relation": make(shared, "conditions")}
    told = {
        "true limit 1": "'true limit 1'. Spark refuses it: [PARSE_SYNTAX_ERROR]",
        "id = 1) or (true": "'id = 1) or (true'. Spark refuses it: Its brackets do not match.",
        "(id = 1": "'(id = 1'. Spark refuses it: Its brackets do not match.",
        "rand() < 0.5": "'rand() < 0.5'. Spark refuses it: [INVALID_NON_DETERMINISTIC",
    }
    values = {
        "id limit 1": "sets id to 'id limit 1'. Spark refuses it: [PARSE_SYNTAX_ERROR]",
        "rand()": "sets id to 'rand()'. Spark refuses it: [INVALID_NON_DETERMINISTIC",
        "interval '1' day": "sets id, which is bigint, to interval '1' day, which is interval",
    }
    calls: list[tuple[str, dict[str, Any], str]] = [
        *(("delete_where", {"predicate": p}, said) for p, said in told.items()),
        ("update_where", {"predicate": "(id = 1", "set": {"v": "'z'"}}, told["(id = 1"]),
        *(("update_where", {"predicate": "true", "set": {"id": v}}, values[v]) for v in values),
    ]
    for name, arguments, said in calls:
        refused = operation(shared, name, False, **table, **arguments)
        assert not refused.success
        assert said in refused.output, arguments
        assert refused.output.count("Nothing was changed.") == 1, refused.output
    assert tables.version(shared, "conditions") == 0


COLUMNS = """
    id int not null, day date, year int generated always as (year(day)), amount decimal(5,2),
    `a ``b` string, code varchar(3), s struct<x: int>, f double
"""
ROWS = "({0}, date'2024-01-0{0}', {0}.25, 'a', 'c', named_struct('x', {0}), double('NaN'))"


def test_rows_are_updated_where_they_differ(shared: Project) -> None:
    shared.sql(
        f"create table {{schema}}.updated ({COLUMNS}) using delta partitioned by (`a ``b`)"
        " tblproperties ('delta.constraints.low' = 'amount < 100', 'delta.columnMapping.mode' ="
        " 'name', 'delta.constraints.young' = 'year < 2030')"
    )
    shared.sql(
        "insert into {schema}.updated (id, day, amount, `a ``b`, code, s, f) values "
        + ", ".join(ROWS.format(n) for n in (1, 2, 3))
    )
    table = {"relation": f"{shared.schema}.updated"}
    done = operations(
        shared,
        # Quotes, case and a comment; a value that one row has; a partition column.
        ("update_where", {**table, "set": {"AMOUNT": "2.250 -- new"}, "predicate": "id < 3 -- x"}),
        (
            "update_where",
            {**table, "set": {"amount": 2.25, "f": "double('NaN')"}, "predicate": "id < 3"},
        ),
        ("update_where", {**table, "set": {"code": None}, "predicate": "id > 9"}),
        (
            "update_where",
            {**table, "set": {"`a ``b`": "'b'", "day": "day + 366"}, "predicate": "id = 3"},
        ),
        ("update_where", {**table, "set": {"s": "named_struct('x', 9)"}, "predicate": "true",
                          "dry_run": True}),
    )  # fmt: skip
    told = [line for line in done.output.splitlines() if "update_where `" in line]
    assert "2 rows, 1 of them in 1 file with other values" in told[0]
    assert "2 rows, 0 of them in 0 files with other values, nothing to do" in told[1]
    assert "0 rows, 0 of them in 0 files with other values, nothing to do" in told[2]
    assert re.search(r"3 rows, 3 of them in \d files with other values \(dry run\)", told[4])
    commits = tables.commits(shared, "updated")
    assert [commit["operation"] for commit in commits[2:]] == ["UPDATE", "UPDATE"]
    run = next(event.info.invocation_id for event in done.events)
    assert {json.loads(c["userMetadata"])["dbt_invocation_id"] for c in commits[2:]} == {run}
    rows = shared.sql("select * except (f, s) from {schema}.updated order by id")
    assert [tuple(map(str, row)) for row in rows] == [
        ("1", "2024-01-01", "2024", "2.25", "a", "c"),
        ("2", "2024-01-02", "2024", "2.25", "a", "c"),
        ("3", "2025-01-03", "2025", "3.25", "b", "c"),
    ]


@pytest.mark.parametrize(
    ("set", "said"),
    [
        (
            {"amount": "amount / 3"},
            "is decimal(5,2), which cannot hold 2 values of amount / 3 exactly",
        ),
        ({"day": "'2024'"}, "day is date, which cannot hold 3 values of '2024' exactly"),
        ({"code": "'abc '"}, "code is varchar(3), which cannot hold"),
        ({"a `b": "''"}, "is string, which cannot hold"),
        ({"a `b": "'__HIVE_DEFAULT_PARTITION__'"}, "is string, which cannot hold"),
        ({"a `b": "cast(x'ff61' as string)"}, "is string, which cannot hold"),
        ({"amount": 100}, "CHECK constraint low (amount < 100) is violated by 3 of the rows"),
        ({"day": "day + 3650"}, "CHECK constraint young (year < 2030) is violated by 3 of"),
        ({"id": None}, "NOT NULL"),
    ],
)
def test_updates_that_lose_something_are_refused(shared: Project, set: object, said: str) -> None:
    table = f"{shared.schema}.strict"
    shared.sql(
        f"create table if not exists {table} ({COLUMNS}) using delta partitioned by (`a ``b`)"
        " tblproperties ('delta.constraints.low' = 'amount < 100', 'delta.columnMapping.mode' ="
        " 'name', 'delta.constraints.young' = 'year < 2030')"
    )
    if tables.version(shared, "strict") == 0:
        shared.sql(
            f"insert into {table} (id, day, amount, `a ``b`, code, s, f) values "
            + ", ".join(ROWS.format(n) for n in (1, 2, 3))
        )
    refused = operation(shared, "update_where", False, relation=table, set=set, predicate="true")
    assert not refused.success
    assert said in refused.output
    assert tables.version(shared, "strict") == 1


MANY = "select id, id % 3 as v from range(0, 90, 1, 9)"
WIDE = ", ".join(f"id + {n} as c{n}" for n in range(33))
APPEND = "materialized='incremental', incremental_strategy='append'"
TABLE = "materialized='table'"
MODELS = {
    "sorted": f"{{{{ config({TABLE}, zorder='v') }}}} {MANY}",
    "clustered": f"{{{{ config({APPEND}, liquid_clustered_by='id', auto_compact=true) }}}} {MANY}",
    "kept": (
        f"{{{{ config({TABLE}, zorder='v', skip_optimize=true, optimize_write=false) }}}} {MANY}"
    ),
    "one": f"{{{{ config({TABLE}, zorder='id') }}}} select 1 as id",
    "hooked": f'{{{{ config({TABLE}, post_hook="{{{{ dbt_delta.optimize(this) }}}}") }}}} {MANY}',
    "parts": (
        f"{{{{ config({TABLE}, partition_by='day') }}}}"
        " select id, date'2024-01-01' + int(id) as day from range(20)"
    ),
    "wide": f"{{{{ config({TABLE}) }}}} select {WIDE} from range(9)",
    "reader": (
        f"{{{{ config({TABLE}) }}}} select c0 from {{{{ ref('wide') }}}}"
        " where c32 >= 3 -- and c5 = 1"
    ),
}


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("layouts")
    project.write({f"models/{name}.sql": text for name, text in MODELS.items()})
    project.dbt("run")
    return project


def test_a_model_is_ordered_once_it_is_built_where_that_is_due(built: Project) -> None:
    for name in ("sorted", "clustered", "hooked"):
        done = [commit["operation"] for commit in tables.commits(built, name)]
        assert done == ["CREATE TABLE AS SELECT", "OPTIMIZE"], name
    assert tables.versions(built, ("kept", "one")) == {"kept": 0, "one": 0}
    for name, key in {"clustered": "autoCompact", "kept": "optimizeWrite"}.items():
        properties = tables.metadata(built, name)["configuration"]
        assert properties[f"delta.autoOptimize.{key}"] == str(name == "clustered").lower()
    # What later runs add is left to maintain.
    built.dbt("run", "-s", "clustered")
    assert tables.version(built, "clustered") == 2


def test_advice_names_what_costs_readers(built: Project) -> None:
    versions = tables.versions(built, MODELS)
    limits = {"dbt_delta_maintenance": {"target_file_mb": 0.008}}
    advised = operation(
        built, "layout_advice", vars=limits, output="json", select="parts wide reader"
    )
    found = json.loads(advised.printed)
    advice = {(line["table"].partition(".")[2], line["advice"]): line["why"] for line in found}
    why = {table: text for (table, _), text in advice.items()}
    assert set(why) == {"parts", "wide"}
    assert "partition by something coarser than day" in str(advice)
    assert any("dataSkippingStatsColumns" in told and "c32" in told for _, told in advice)
    assert ("wide", "liquid_clustered_by c32") in advice
    assert "reader filters by it" in advice["wide", "liquid_clustered_by c32"]
    assert tables.versions(built, MODELS) == versions
