"""What is there already: never rebuilt by mistake, and replaced only by what is whole."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.functional.harness import Project, session
from tests.functional.incremental.models import (
    FIRST,
    MERGED,
    THEN,
    messages,
    model,
    relations,
    tables,
    tuples,
    write_models,
)
from tests.functional.tables import metadata, versions

# How dbt's listing of a schema can go wrong.
LISTINGS = {
    "empty": "{{ return([]) }}",
    "failing": "{% do run_query('show tables in no_such_schema_anywhere') %}",
}


def _listing(body: str) -> str:
    name = "spark__list_relations_without_caching(schema_relation)"
    return f"{{% macro {name} %}}{body}{{% endmacro %}}"


def test_a_wrong_listing_never_rebuilds_a_table(project: Project) -> None:
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
            "kept": model(FIRST, THEN, incremental_strategy="append", full_refresh=False),
            "uses_this": uses_this,
            **{f"view_before_{listing}": "select 1 as id" for listing in LISTINGS},
        },
    )
    project.dbt("run")
    used = [(False, 2), (True, 3)]
    kept, added = [(1, "a"), (2, "b")], [(2, "B"), (3, "c")]
    for listing, body in LISTINGS.items():
        view = f"view_before_{listing}"
        project.write({"macros/listing.sql": _listing(body)})
        write_models(project, {view: "{{ config(materialized='table') }} select 2 as id"})
        before = versions(project, ["merged", "kept", "uses_this"])
        project.dbt("run")
        used.insert(-1, (False, used[-2][1] + 100))
        kept += added
        expected = {"merged": MERGED, "kept": sorted(kept), "uses_this": used, view: [(2,)]}
        assert tables(project, expected) == expected, listing
        assert versions(project, before) == {n: version + 1 for n, version in before.items()}
        # Whoever asks for it gets it, as a new version of the same table.
        project.dbt("run", "--full-refresh", "-s", "merged", "kept")
        kept += added
        rebuilt = {"merged": [(1, "a"), (2, "b")], "kept": sorted(kept)}
        assert tables(project, rebuilt) == rebuilt, listing
        assert versions(project, rebuilt) == {name: before[name] + 2 for name in rebuilt}


def test_a_table_that_somebody_broke_or_dropped_empties_no_cache(project: Project) -> None:
    names = ("whole", "dropped", "broken")
    write_models(project, {n: model(FIRST, THEN, unique_key="id") for n in names})
    project.dbt("run")
    # A table of which only the catalog's entry is left: looking it up fails.
    shutil.rmtree(project.warehouse / "broken" / "_delta_log")
    project.sql("drop table {schema}.dropped")
    found = project.dbt("run", "-s", "whole", "dropped")
    expected = {"whole": MERGED, "dropped": [(1, "a"), (2, "b")]}
    assert tables(project, expected) == expected, found.output
    assert versions(project, ["whole"]) == {"whole": 1}


@pytest.mark.long
def test_one_alias_in_many_schemas(project: Project) -> None:
    """Staging, views and locks of one model are not those of its namesake."""
    kinds = {"viewed": "view", "staged": "table"}
    schemas = range(3)
    models = {
        f"{kind}_{n}": model(
            f"select int(id) as id, {n} as owner from range(5)",
            f"select int(id) as id, {n} as owner from range(2, 8)",
            alias=kind,
            schema=f"s{n}",
            unique_key="id",
            stage=stage,
        )
        for kind, stage in kinds.items()
        for n in schemas
    }
    write_models(project, models)
    for _ in range(2):
        project.dbt("run", threads=len(schemas))
    expected = {
        f"{project.schema}_s{n}.{kind}": [(i, n) for i in range(8)]
        for n in schemas
        for kind in kinds
    }
    assert tables(project, expected) == expected
    for n in schemas:
        assert relations(project, f"{project.schema}_s{n}") == sorted(kinds)


@pytest.mark.long
def test_full_refresh_is_a_new_version_of_the_same_table(project: Project) -> None:
    clustered = model(FIRST, unique_key="id", liquid_clustered_by="id")
    write_models(project, {"plain": model(FIRST, unique_key="id"), "clustered": clustered})
    project.dbt("run")
    partitioned = model(FIRST, unique_key="id", partition_by="id")
    write_models(project, {"plain": model(THEN, unique_key="id"), "clustered": partitioned})
    project.dbt("run", "--full-refresh")
    assert versions(project, ["plain", "clustered"]) == {"plain": 1, "clustered": 0}
    assert tuples(project, "plain") == [(2, "B"), (3, "c")]
    old = project.sql("select * from {schema}.plain version as of 0 order by id")
    assert [tuple(row) for row in old] == [(1, "a"), (2, "b")]
    # Delta cannot give a clustered table partitions: its successor is another table.
    assert metadata(project, "clustered")["partitionColumns"] == ["id"]
    assert tuples(project, "clustered") == [(1, "a"), (2, "b")]
    assert relations(project) == ["clustered", "plain"]


@pytest.mark.long
def test_builds_over_what_stood_there(project: Project) -> None:
    """A build that fails leaves it, one that works leaves nothing of it, in every direction.

    An incremental model leaves a table like any other: it is no case of its own here.
    """
    kinds = {
        "view": "materialized='view'",
        "parquet": "materialized='table', file_format='parquet'",
        "table": "materialized='table'",
        "incremental": "materialized='incremental', unique_key='id'",
        "clustered": "materialized='table', liquid_clustered_by='id'",
        # Delta gives a clustered table no partitions: what is built in its place is another table.
        "partitioned": "materialized='table', partition_by='id'",
        "partitioned_incremental": "materialized='incremental', partition_by='id'",
    }
    after = {
        "view": ("table", "incremental"),
        # An incremental model refuses it: see test_incremental_facts.py.
        "parquet": ("view", "table"),
        "table": ("view", "table", "incremental"),
        "clustered": ("partitioned", "partitioned_incremental"),
    }
    names = {f"from_{a}_to_{b}": (a, b) for a, kinds_after in after.items() for b in kinds_after}

    def write(text: str, of_view: str = "", at: int = 1) -> None:
        write_models(
            project,
            {
                name: f"{{{{ config({kinds[pair[at]]}) }}}} "
                + (of_view if of_view and pair[at] == "view" else text)
                for name, pair in names.items()
            },
        )

    write("select bigint(1) as id, 'old' as v", at=0)
    project.dbt("run")
    write(
        "select if(id = 7, raise_error('broken row'), id) as id, 'new' as v from range(9)",
        of_view="select * from {{ target.schema }}.no_such_table",
    )
    failed = messages(project.dbt("run", check=False))
    assert sorted(failed) == sorted(names)
    for name, (_, b) in names.items():
        assert ("no_such_table" if b == "view" else "broken row") in failed[name], name
    assert tables(project, names) == {name: [(1, "old")] for name in names}
    assert relations(project) == sorted(names)

    write("select bigint(2) as id, 'new' as v")
    project.dbt("run")
    expected = {name: [(2, "new")] for name in names}
    # An incremental model adds to a Delta table that is there.
    for name in ("from_table_to_incremental", "from_clustered_to_partitioned_incremental"):
        expected[name].insert(0, (1, "old"))
    assert tables(project, names) == expected
    assert relations(project) == sorted(names)
    views = [row.viewName for row in project.sql("show views in {schema}") if not row.isTemporary]
    assert sorted(views) == sorted(n for n, (_, b) in names.items() if b == "view")


@pytest.mark.long
def test_readers_see_old_or_new_and_nothing_between(project: Project) -> None:
    """Rebuilds, merges and overwrites of Delta tables under a reader."""
    rows = "select id, {0} as batch, repeat('x', 50) as pad from range(2000)"
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
    done = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_read, project, list(configs), done)
        try:
            project.dbt("run", vars={"step": 1}, threads=2)
        finally:
            done.set()
    seen = reading.result()
    assert {name for name, _, _ in seen} == set(configs)
    for name, count, batches in seen:
        assert (count, batches) == (2000, 1), name
    # Whenever somebody reads: there is no version between.
    assert versions(project, configs) == dict.fromkeys(configs, 1)


def _read(project: Project, names: list[str], done: threading.Event) -> set[tuple[str, int, int]]:
    seen: set[tuple[str, int, int]] = set()
    spark = session().newSession()
    while not done.is_set():
        for name in names:
            sql = f"select count(*), count(distinct batch) from {project.relation(name)}"
            count, batches = spark.sql(sql).first()
            seen.add((name, count, batches))
            # Others need the machine, too.
            done.wait(0.1)
    return seen


@pytest.mark.long
def test_other_writers_lose_nothing_and_nor_do_we(project: Project) -> None:
    """Somebody updates and adds rows while the models merge into the same tables."""
    rows = "select id, {0} as v, 0 as seen from range(2000)"
    others = "select -1L as id, 0 as v, 0 as seen"
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
        {
            n: model(f"{rows.format(0)} union all {others}", rows.format(step), **config)
            for n, config in configs.items()
        },
    )
    project.dbt("run", vars={"step": 0})
    written = dict.fromkeys(configs, 0)
    for number in (1, 2):
        writer = threading.Thread(target=_write, args=(project, written))
        writer.start()
        try:
            project.dbt("run", vars={"step": number}, threads=3)
        finally:
            writer.join()
    for name, count in written.items():
        found = project.sql(
            f"select count_if(id >= 0 and v = 2), count(*), max(seen) from {{schema}}.{name}"
        )
        assert count == 2, name
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


@pytest.mark.long
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
    project.dbt("run", "--empty")
    assert tuples(project, "merged") == []
    sample = "{'start': '2024-01-02', 'end': '2024-01-04'}"
    project.dbt("run", "-s", "merged", "--sample", sample)
    assert [row[0] for row in tuples(project, "merged")] == [1, 2]
    version = versions(project, ["merged"])
    project.dbt("run", "-s", "merged", "--empty")
    assert versions(project, ["merged"]) == version
    project.dbt("run", "-s", "merged")
    assert [row[0] for row in tuples(project, "merged")] == list(range(10))
