"""What is there already: never rebuilt by mistake, and replaced only by what is whole."""

import shutil
import threading
from collections.abc import Callable

import pytest

from tests.functional.harness import Project, session
from tests.functional.incremental.models import (
    FIRST,
    MERGED,
    THEN,
    messages,
    model,
    relations,
    tuples,
    versions,
    write_models,
)

# How dbt's listing of a schema can go wrong.
LISTINGS = {
    "empty": "{{ return([]) }}",
    "failing": "{% do run_query('show tables in no_such_schema_anywhere') %}",
}


def _listing(body: str) -> str:
    name = "spark__list_relations_without_caching(schema_relation)"
    return f"{{% macro {name} %}}{body}{{% endmacro %}}"


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_wrong_listing_never_rebuilds_a_table(project: Project, listing: str) -> None:
    uses_this = (
        "{{ config(materialized='incremental', unique_key='id') }}\n"
        "select {{ is_incremental() }} as incremental, count(*) as id from {{ ref('merged') }}\n"
        "{% if is_incremental() %}"
        " union all select false, max(id) + 100 from {{ this }} {% endif %}"
    )
    write_models(
        project,
        {
            "merged": model(FIRST, THEN, unique_key="id"),
            "appended": model(FIRST, THEN, incremental_strategy="append"),
            "kept": model(FIRST, THEN, unique_key="id", full_refresh=False),
            "uses_this": uses_this,
            "view_before": "select 1 as id",
        },
    )
    project.dbt("run")
    project.write({"macros/listing.sql": _listing(LISTINGS[listing])})
    write_models(project, {"view_before": "{{ config(materialized='table') }} select 2 as id"})
    project.dbt("run")
    assert tuples(project, "merged") == MERGED
    assert tuples(project, "appended") == [(1, "a"), (2, "B"), (2, "b"), (3, "c")]
    assert tuples(project, "kept") == MERGED
    assert tuples(project, "uses_this") == [(False, 2), (False, 102), (True, 3)]
    assert tuples(project, "view_before") == [(2,)]
    tables = ("merged", "appended", "kept", "uses_this")
    assert set(versions(project, tables).values()) == {1}
    # Whoever asks for it gets it.
    project.dbt("run", "--full-refresh", "-s", "merged", "kept")
    assert tuples(project, "merged") == [(1, "a"), (2, "b")]
    assert tuples(project, "kept") == MERGED


def test_a_table_that_somebody_broke_or_dropped_empties_no_cache(project: Project) -> None:
    names = [f"m{n}" for n in range(4)]
    write_models(project, {n: model(FIRST, THEN, unique_key="id") for n in names})
    project.dbt("run")
    # A table of which only the catalog's entry is left: looking it up fails.
    shutil.rmtree(project.warehouse / "m3" / "_delta_log")
    project.sql("drop table {schema}.m2")
    found = project.dbt("run", "-s", "m0", "m1", "m2")
    assert {name: tuples(project, name) for name in ("m0", "m1", "m2")} == {
        "m0": MERGED,
        "m1": MERGED,
        "m2": [(1, "a"), (2, "b")],
    }, found.output
    assert versions(project, ["m0", "m1"]) == {"m0": 1, "m1": 1}


def test_one_alias_in_many_schemas(project: Project) -> None:
    """Staging, views and locks of one model are not those of its namesake."""
    kinds = {
        "viewed": {"unique_key": "id"},
        "staged": {"unique_key": "id", "stage": "table"},
        "replaced": {"incremental_strategy": "delete+insert", "unique_key": "id"},
    }
    files = {}
    for kind, config in kinds.items():
        for n in range(6):
            files[f"models/{kind}_{n}.sql"] = model(
                f"select id, {n} as owner from range(20)",
                f"select id, {n} as owner from range(10, 30)",
                alias=kind,
                schema=f"s{n}",
                **config,
            )
    project.write(files)
    for _ in range(3):
        project.dbt("run", threads=4)
    for n in range(6):
        assert relations(project, f"{project.schema}_s{n}") == sorted(kinds)
        for kind in kinds:
            found = project.sql(f"select id, owner from {{schema}}_s{n}.{kind} order by id")
            assert [tuple(row) for row in found] == [(i, n) for i in range(30)], (n, kind)


def test_full_refresh_is_a_new_version_of_the_same_table(project: Project) -> None:
    write_models(
        project,
        {
            "plain": model(FIRST, THEN, unique_key="id"),
            "clustered": model(FIRST, THEN, unique_key="id", liquid_clustered_by="id"),
        },
    )
    project.dbt("run")
    project.dbt("run")
    write_models(project, {"clustered": model(FIRST, THEN, unique_key="id", partition_by="id")})
    project.dbt("run", "--full-refresh")
    assert project.version("plain") == 2
    old = project.sql("select * from {schema}.plain version as of 1 order by id")
    assert [tuple(row) for row in old] == MERGED
    # Delta cannot give a clustered table partitions: its successor is another table.
    clustered = project.sql("describe detail {schema}.clustered")[0]
    assert (clustered.partitionColumns, project.version("clustered")) == (["id"], 0)
    assert relations(project) == ["clustered", "plain"]


def test_switching_between_materializations(project: Project) -> None:
    """In every direction, with the rows of the new model and nothing left behind."""
    kinds = {
        "view": "{{ config(materialized='view') }} ",
        "table": "{{ config(materialized='table') }} ",
        "incremental": "{{ config(materialized='incremental', unique_key='id') }} ",
        "parquet": "{{ config(materialized='table', file_format='parquet') }} ",
    }
    pairs = [(a, b) for a in kinds for b in kinds if a != b and b != "parquet"]
    names = {f"from_{a}_to_{b}": (a, b) for a, b in pairs}
    write_models(
        project, {n: f"{kinds[a]} select 1 as id, 'old' as v" for n, (a, _) in names.items()}
    )
    project.dbt("run")
    write_models(
        project, {n: f"{kinds[b]} select 2 as id, 'new' as v" for n, (_, b) in names.items()}
    )
    project.dbt("run")
    for name, (before, after) in names.items():
        kept = [(1, "old")] if (before, after) == ("table", "incremental") else []
        assert tuples(project, name) == [*kept, (2, "new")], name
    assert relations(project) == sorted(names)
    views = [row.viewName for row in project.sql("show views in {schema}") if not row.isTemporary]
    assert sorted(views) == sorted(n for n, (_, b) in names.items() if b == "view")


@pytest.mark.parametrize("before", ["view", "parquet", "table", "clustered"])
def test_a_failing_build_leaves_what_stood_there(project: Project, before: str) -> None:
    kinds = {
        "view": "materialized='view'",
        "parquet": "materialized='table', file_format='parquet'",
        "table": "materialized='table'",
        "clustered": "materialized='table', liquid_clustered_by='id'",
    }
    partition = ", partition_by='id'" if before == "clustered" else ""
    names = ("table", "incremental", *(["view"] if before != "view" else []))
    old = f"{{{{ config({kinds[before]}) }}}} select 1 as id"
    write_models(project, dict.fromkeys(names, old))
    project.dbt("run")
    fails = "select bigint(id + 1 / (id - 7)) as id from range(9)"
    for name in names:
        config = f"materialized='{name}'{partition if name != 'view' else ''}"
        sql = fails if name != "view" else "select * from {{ target.schema }}.no_such_table"
        write_models(project, {name: f"{{{{ config({config}) }}}} {sql}"})
    assert sorted(messages(project.dbt("run", check=False))) == sorted(names)
    for name in names:
        assert tuples(project, name) == [(1,)], name
    assert relations(project) == sorted(names)


def test_readers_see_old_or_new_and_nothing_between(project: Project) -> None:
    """Rebuilds, merges and overwrites of Delta tables under a reader that never waits."""
    rows = "select id, {0} as batch, repeat('x', 50) as pad from range(20000)"
    step = "{{ var('step') }}"
    configs = {
        "rebuilt": "materialized='table'",
        "merged": "materialized='incremental', unique_key='id'",
        "replaced": "materialized='incremental', incremental_strategy='delete+insert',"
        " unique_key='id'",
        "overwritten": "materialized='incremental', incremental_strategy='insert_overwrite'",
        "swapped": "materialized='incremental', incremental_strategy='replace_where',"
        " incremental_predicates=['id >= 0']",
    }
    write_models(
        project, {n: f"{{{{ config({c}) }}}} {rows.format(step)}" for n, c in configs.items()}
    )
    project.dbt("run", vars={"step": 0})
    seen: set[tuple[str, int, int]] = set()
    done = threading.Event()
    reader = threading.Thread(target=lambda: _read(project, list(configs), seen, done))
    reader.start()
    try:
        for number in (1, 2):
            project.dbt("run", vars={"step": number}, threads=2)
    finally:
        done.set()
        reader.join()
    assert {name for name, _, _ in seen} == set(configs)
    for name, count, batches in seen:
        assert (count, batches) == (20000, 1), name


def _read(
    project: Project, names: list[str], seen: set[tuple[str, int, int]], done: threading.Event
) -> None:
    spark = session().newSession()
    while not done.is_set():
        for name in names:
            sql = f"select count(*), count(distinct batch) from {project.relation(name)}"
            count, batches = spark.sql(sql).first()
            seen.add((name, count, batches))


def test_other_writers_lose_nothing_and_nor_do_we(project: Project) -> None:
    """Somebody updates and adds rows while the models merge into the same tables."""
    rows = "select id, {0} as v, 0 as seen from range(2000)"
    configs = {
        "merged": {"unique_key": "id", "merge_update_columns": ["v"]},
        "unpruned": {"unique_key": "id", "merge_update_columns": ["v"], "merge_prune": "off"},
        "copied": {
            "unique_key": "id",
            "merge_update_columns": ["v"],
            "tblproperties": {"delta.enableDeletionVectors": "false"},
        },
    }
    step = "{{ var('step') }}"
    write_models(
        project,
        {n: model(rows.format(0), rows.format(step), **config) for n, config in configs.items()},
    )
    project.dbt("run", vars={"step": 0})
    for name in configs:
        project.sql(f"insert into {{schema}}.{name} values (-1, 0, 0)")
    written = dict.fromkeys(configs, 0)
    for number in (1, 2, 3):
        writer = threading.Thread(target=_write, args=(project, written))
        writer.start()
        try:
            project.dbt("run", vars={"step": number}, threads=3)
        finally:
            writer.join()
    for name, count in written.items():
        found = project.sql(
            f"select count_if(id >= 0 and v = 3), count(*), max(seen) from {{schema}}.{name}"
        )
        assert count == 3, name
        assert tuple(found[0]) == (2000, 2001 + count, count), name


def _write(project: Project, written: dict[str, int]) -> None:
    """Counts in the row of key -1 and adds one row, again when it loses against a merge.

    Two commits: a model is tried four times, so that it cannot lose against them each time.
    """
    spark = session().newSession()

    def insist(sql: str) -> None:
        while True:
            try:
                spark.sql(sql)
            except Exception as error:
                if "DELTA_CONCURRENT" not in str(error):
                    raise
            else:
                return

    for name in written:
        table = project.relation(name)
        insist(f"update {table} set seen = seen + 1 where id = -1")
        insist(f"insert into {table} values ({-2 - written[name]}, 0, 0)")
        written[name] += 1


def test_empty_and_sample(project: Project) -> None:
    project.write(
        {
            "models/events.sql": """
                {{ config(materialized='table', event_time='at') }}
                select id, timestamp'2024-01-01 12:00:00' + make_interval(0, 0, 0, id) as at
                from (select int(id) as id from range(10))
            """,
            "models/merged.sql": """
                {{ config(materialized='incremental', unique_key='id') }}
                select * from {{ ref('events') }}
            """,
        }
    )
    project.dbt("run", "-s", "events")
    project.dbt("run", "-s", "merged", "--empty")
    assert tuples(project, "merged") == []
    sample = "{'start': '2024-01-02', 'end': '2024-01-04'}"
    project.dbt("run", "-s", "merged", "--sample", sample)
    assert [row[0] for row in tuples(project, "merged")] == [1, 2]
    version = project.version("merged")
    project.dbt("run", "-s", "merged", "--empty")
    assert project.version("merged") == version
    project.dbt("run", "-s", "merged")
    assert [row[0] for row in tuples(project, "merged")] == list(range(10))


def test_schemas_and_names_that_need_quotes(new_project: Callable[..., Project]) -> None:
    project = new_project()
    write_models(
        project,
        {
            "select": model(FIRST, THEN, unique_key="id"),
            "MixedCase": model(FIRST, THEN, unique_key="id"),
        },
    )
    project.dbt("run")
    project.dbt("run")
    assert tuples(project, "select") == MERGED
    assert tuples(project, "mixedcase") == MERGED
    assert versions(project, ["select", "mixedcase"]) == {"select": 1, "mixedcase": 1}
