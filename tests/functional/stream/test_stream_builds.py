"""Streams as models: every row of the inputs once, whatever happens to runs and checkpoints."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.session.connection import SessionConnection
from tests.functional.harness import Invocation, Project
from tests.functional.operations import operations

FILES = {
    "models/sources.yml": """
        sources:
          - name: raw
            schema: "{{ target.schema }}"
            tables: [{name: orders}, {name: lines}]
        """,
    "models/added.sql": """
        {{ config(materialized='stream') }}
        select id, v * 2 as v
        from {{ dbt_delta.stream(source('raw', 'orders'), max_files_per_trigger=1) }}
        where id >= 0
        """,
    "models/merged.sql": """
        {{ config(materialized='stream', unique_key='id', merge_skip_unchanged=true,
            duplicate_keys='latest', duplicate_keys_order_by='v desc') }}
        select id, v from {{ dbt_delta.stream(source('raw', 'orders')) }}
        """,
}


def rows(project: Project, name: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in project.sql(f"select * from {{schema}}.{name} order by 1, 2")]


def build(project: Project, *arguments: str, check: bool = True) -> Invocation:
    return project.dbt("run", *arguments, check=check)


def messages(run: Invocation) -> dict[str, str]:
    return {result.node.name: result.message for result in run.results}


def checkpoints(project: Project, name: str) -> list[Path]:
    return list((project.warehouse / "_dbt_delta_streams" / name).iterdir())


def forget_last_batch(project: Project, name: str) -> None:
    """Leaves a stream as a run that was killed after the table had its last batch."""
    (folder,) = checkpoints(project, name)
    notes = sorted((folder / "commits").glob("[0-9]*"), key=lambda note: int(note.name))
    notes[-1].unlink()
    (folder / "commits" / f".{notes[-1].name}.crc").unlink()


@pytest.fixture
def streams(project: Project) -> Project:
    project.write(FILES)
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.orders (id bigint, v bigint) using delta")
    for values in ("(0, 0), (1, 10)", "(2, 20), (3, 30)"):
        project.sql("insert into {schema}.orders select /*+ coalesce(1) */ * from values " + values)
    return project


def test_each_batch_is_one_commit_and_a_run_more_is_none(streams: Project) -> None:
    streams.write({
        "models/judged.sql": """
        {{ config(materialized='stream', expectations=[
            {'name': 'even', 'expression': 'id % 2 = 0', 'action': 'quarantine'},
            {'name': 'small', 'expression': 'v < 25', 'action': 'warn'}
        ]) }}
        select id, v
        from {{ dbt_delta.stream(source('raw', 'orders'), max_files_per_trigger=1) }}
        """
    })  # fmt: skip
    assert messages(build(streams)) == {
        "added": "2 batches", "judged": "2 batches, quarantined 2, small 1", "merged": "1 batch",
    }  # fmt: skip
    told = operations(streams, ("expectations", {"model": "judged", "output": "json"})).printed
    assert sorted(
        (line["batch"], line["expectation"], line["broken"]) for line in json.loads(told)
    ) == [("0", "even", 1), ("0", "small", 0), ("1", "even", 1), ("1", "small", 1)]
    assert rows(streams, "added") == [(0, 0), (1, 20), (2, 40), (3, 60)]
    assert rows(streams, "merged") == [(0, 0), (1, 10), (2, 20), (3, 30)]
    before = {name: streams.version(name) for name in ("added", "merged")}
    assert before == {"added": 1, "merged": 0}
    assert set(messages(build(streams)).values()) == {"0 batches"}
    assert {name: streams.version(name) for name in before} == before
    streams.sql("insert into {schema}.orders values (1, 11), (4, 40), (4, 41), (null, 7)")
    build(streams)
    assert rows(streams, "merged") == [(None, 7), (0, 0), (1, 11), (2, 20), (3, 30), (4, 41)]
    assert rows(streams, "added") == [(0, 0), (1, 20), (1, 22), (2, 40), (3, 60), (4, 80), (4, 82)]
    assert streams.version("merged") == 1


def test_a_batch_that_was_written_before_a_kill_is_not_written_again(streams: Project) -> None:
    """Spark notes a batch after the table has it: without the note it gives the batch again."""
    build(streams)
    before = {name: rows(streams, name) for name in ("added", "merged")}
    versions = {name: streams.version(name) for name in before}
    for name in before:
        forget_last_batch(streams, name)
    assert set(messages(build(streams)).values()) == {"0 batches"}
    assert {name: streams.version(name) for name in before} == versions
    assert {name: rows(streams, name) for name in before} == before


def test_without_its_checkpoint_a_stream_neither_loses_nor_doubles_rows(streams: Project) -> None:
    build(streams)
    before = rows(streams, "added"), streams.version("added")
    for name in ("added", "merged"):
        (folder,) = checkpoints(streams, name)
        shutil.rmtree(folder)
    # Batches have the same numbers again, and other rows.
    streams.sql("insert overwrite {schema}.orders select id, id * 10 from range(2, 6)")
    run = build(streams, check=False)
    assert messages(run)["merged"] == "1 batch"
    assert "added: the checkpoint of its stream is gone. A new stream would append" in run.output
    assert (rows(streams, "added"), streams.version("added")) == before
    assert rows(streams, "merged") == [(id, id * 10) for id in range(6)]
    build(streams, "--full-refresh")
    assert rows(streams, "added") == [(id, id * 20) for id in range(2, 6)]
    assert [len(checkpoints(streams, name)) for name in ("added", "merged")] == [1, 1]


@pytest.mark.long
def test_after_a_restore_rows_come_back_or_the_run_is_refused(streams: Project) -> None:
    build(streams)
    streams.sql("insert into {schema}.orders values (7, 70)")
    build(streams)
    for name in ("added", "merged"):
        streams.sql(f"restore table {{schema}}.{name} to version as of 0")
    # A key does not make of an append a merge.
    keyed = FILES["models/added.sql"].replace(
        "'stream'", "'stream', unique_key='id', incremental_strategy='append'"
    )
    streams.write({"models/added.sql": keyed})
    run = build(streams, check=False)
    assert messages(run)["merged"] == "1 batch"
    assert "added: it was restored to a version before the last batch" in run.output
    assert "Use --full-refresh, or incremental_strategy merge." in run.output
    assert rows(streams, "merged")[-1] == (7, 70)
    again = build(streams, check=False)
    assert messages(again)["merged"] == "0 batches"


def test_one_row_of_a_key_is_left_in_whatever_order_they_come(streams: Project) -> None:
    """OPTIMIZE makes old rows the newest file, and a new stream reads files by their time."""
    streams.write({name: None for name in FILES if name.endswith(".sql")})
    streams.sql("create table {schema}.lines (id bigint, v bigint, p int) using delta "
                "partitioned by (p)")  # fmt: skip
    for values in ("(1, 10, 0)", "(9, 90, 0)", "(1, 11, 1)"):
        streams.sql(f"insert into {{schema}}.lines values {values}")
    streams.sql("optimize {schema}.lines where p = 0")
    latest = ", duplicate_keys='latest', duplicate_keys_order_by='v desc'"
    for name, more, files in (("latest", latest, 1), ("once", "", 9)):
        streams.write(
            {
                f"models/{name}.sql": f"""
                    {{{{ config(materialized='stream', unique_key='id'{more}) }}}}
                    select id, v from {{{{ dbt_delta.stream(
                        source('raw', 'lines'), max_files_per_trigger={files}
                    ) }}}}
                    """
            }
        )
    run = build(streams, check=False)
    assert messages(run)["latest"] == "1 batch"
    assert rows(streams, "latest") == [(1, 11), (9, 90)]
    assert 'has duplicate keys of unique_key id: 1, the first {"id":1} (2 rows)' in run.output
    assert not streams.sql("show tables in {schema} like 'once'")
    # The rows of one commit, in files of which each could be a micro-batch.
    pairs = "(1, 20, 0), (1, 19, 1), (9, 91, 0), (9, 95, 1)"
    streams.sql(f"insert into {{schema}}.lines values {pairs}")
    assert messages(build(streams, "-s", "latest")) == {"latest": "1 batch"}
    assert rows(streams, "latest") == [(1, 20), (9, 95)]
    # After a kill the micro-batch that was begun is not all there is.
    forget_last_batch(streams, "latest")
    streams.sql("insert into {schema}.lines values (1, 21, 1), (9, 94, 0)")
    assert messages(build(streams, "-s", "latest")) == {"latest": "1 batch"}
    assert rows(streams, "latest") == [(1, 21), (9, 94)]


def test_rows_of_an_input_that_come_back_are_not_appended_again(streams: Project) -> None:
    text = FILES["models/added.sql"].replace("=1", "=1, ignore_deletes=true")
    counted = """
        {{ config(materialized='stream', unique_key='odd', output_mode='update') }}
        select id % 2 as odd, count(*) as n
        from {{ dbt_delta.stream(source('raw', 'orders'), ignore_deletes=true) }} group by 1
        """
    streams.write({"models/added.sql": text, "models/counted.sql": counted})
    build(streams)
    before = rows(streams, "added"), streams.version("added")
    streams.sql("delete from {schema}.orders")
    streams.sql("restore table {schema}.orders to version as of 2")
    streams.sql("insert into {schema}.orders values (4, 40)")
    run = build(streams, check=False)
    said = f"{streams.schema}.orders was restored by its version 4, after the stream had read it"
    assert f"added: {said}. A new stream would append rows" in run.output
    assert f"counted: {said}. The rows that came back would be counted again" in run.output
    assert (rows(streams, "added"), streams.version("added")) == before
    assert rows(streams, "counted") == [(0, 2), (1, 2)]
    # Of each key its one row.
    assert f"merged: {said}. All inputs are read again and merged" in run.output
    assert messages(run)["merged"] == "1 batch"
    assert rows(streams, "merged") == [(id, id * 10) for id in range(5)]
    build(streams, "-s", "added", "counted", "--full-refresh")
    assert rows(streams, "counted") == [(0, 3), (1, 2)]
    assert rows(streams, "added") == [(0, 0), (1, 20), (2, 40), (3, 60), (4, 80)]


@pytest.mark.long
def test_a_table_or_a_checkpoint_of_before_loses_no_row(streams: Project) -> None:
    build(streams)
    (folder,) = checkpoints(streams, "merged")
    old = Path(shutil.copytree(folder, streams.warehouse / "old_checkpoint"))
    copy = shutil.copytree(streams.warehouse / "added", streams.warehouse / "old_added")
    streams.sql("insert into {schema}.orders values (4, 40)")
    build(streams)
    streams.sql("drop table {schema}.added")
    streams.sql(f"create table {{schema}}.added using delta location '{copy}'")
    shutil.rmtree(folder)
    old.rename(folder)
    streams.sql("insert into {schema}.orders values (5, 50)")
    run = build(streams, check=False)
    assert "added: it lacks batches that its stream has written. A new stream would" in run.output
    assert "merged: the checkpoint of its stream is older than the last batch" in run.output
    assert rows(streams, "merged") == [(id, id * 10) for id in range(6)]


@pytest.mark.long
def test_what_was_there_before_the_first_row(streams: Project) -> None:
    streams.sql("create view {schema}.merged as select 1 as id")
    build(streams, "-s", "added", "--empty")
    assert messages(build(streams)) == {"added": "2 batches", "merged": "1 batch"}
    build(streams, "--empty")
    assert messages(build(streams)) == {"added": "0 batches", "merged": "0 batches"}
    assert rows(streams, "added") == [(0, 0), (1, 20), (2, 40), (3, 60)]


@pytest.mark.long
def test_rows_of_another_materialization_are_not_doubled(streams: Project) -> None:
    streams.write({"models/merged.sql": None})
    build(streams)
    stream = FILES["models/added.sql"]
    streams.write(
        {
            "models/added.sql": """
                {{ config(materialized='incremental', incremental_strategy='append') }}
                select id, v * 2 as v from {{ source('raw', 'orders') }} where id > 3
                """
        }
    )
    streams.sql("insert into {schema}.orders values (4, 40)")
    build(streams)
    streams.write({"models/added.sql": stream})
    run = build(streams, check=False)
    assert "added: no stream has written it" in run.output
    assert len(rows(streams, "added")) == 5


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int, Callable[[], Any]], None]:
    """Does something before the statement with a text that is the first one, second one .."""

    def install(text: str, number: int, act: Callable[[], Any]) -> None:
        execute, found = SessionConnection.execute, []

        def wrapped(self: Any, sql: str, bindings: Any = None) -> None:
            if text in sql:
                found.append(True)
                if len(found) == number:
                    act()
            execute(self, sql, bindings)

        monkeypatch.setattr(SessionConnection, "execute", wrapped)

    return install


@pytest.mark.long
def test_a_table_that_is_made_anew_meanwhile_gets_no_batch(streams: Project, before: Any) -> None:
    streams.write({"models/merged.sql": None})
    anew = "create or replace table {schema}.added using delta as select 9L as id, 9L as v"
    build(streams)
    for values in ("(4, 40)", "(5, 50)"):
        streams.sql("insert into {schema}.orders values " + values)
    before(f"insert into {streams.relation('added')} ", 1, lambda: streams.sql(anew))
    run = build(streams, check=False)
    assert "made anew while its stream was written, and has rows of before and since" in run.output
    assert rows(streams, "added") == [(4, 80), (9, 9)]


@pytest.mark.long
def test_a_table_that_is_restored_meanwhile_stops_its_stream(streams: Project, before: Any) -> None:
    """Batches after RESTORE would hide from later runs that those before it are gone."""
    build(streams)
    for values in ("(4, 40)", "(5, 50)", "(6, 60)"):
        streams.sql("insert into {schema}.orders values " + values)
    restore = "restore table {schema}.added to version as of 1"
    before(f"insert into {streams.relation('added')} ", 2, lambda: streams.sql(restore))
    run = build(streams, "-s", "added", check=False)
    assert "restored, dropped or made anew while its stream was written. Nothing more" in run.output
    # The batch before the RESTORE is gone, and the last one has not come.
    assert [id for id, _ in rows(streams, "added")] == [0, 1, 2, 3, 5]
    again = build(streams, "-s", "added", check=False)
    assert "added: it was restored to a version before the last batch" in again.output
    sql = FILES["models/added.sql"].replace("'stream'", "'stream', unique_key='id'")
    streams.write({"models/added.sql": sql})
    assert messages(build(streams, "-s", "added")) == {"added": "5 batches"}
    assert [id for id, _ in rows(streams, "added")] == list(range(7))
    assert messages(build(streams, "-s", "added")) == {"added": "0 batches"}


@pytest.mark.parametrize(
    ("config", "sql", "message"),
    [
        ("", "select 1 as id", "it reads no stream"),
        (
            "",
            "select id from {{ dbt_delta.stream(source('raw', 'lines')) }}",
            "lines is a table of format json. Spark leaves out files",
        ),
        (
            ", incremental_strategy='insert_overwrite'",
            None,
            "Use merge, with a unique_key, or append",
        ),
        (", incremental_strategy='merge'", None, "is merge, which needs a unique_key"),
        (
            ", incremental_strategy='append', unique_key='id', output_mode='update'",
            None,
            "needs a unique_key and incremental_strategy merge",
        ),
        (", file_format='parquet'", None, "file_format of the stream is parquet"),
    ],
)
def test_refusals(streams: Project, config: str, sql: str | None, message: str) -> None:
    sql = sql or "select id from {{ dbt_delta.stream(source('raw', 'orders')) }}"
    streams.write({name: None for name in FILES if name.endswith(".sql")})
    streams.write({"models/wrong.sql": f"{{{{ config(materialized='stream'{config}) }}}} {sql}"})
    streams.sql("create table {schema}.lines (id bigint) using json")
    run = build(streams, check=False)
    assert not run.success
    assert message in run.output
    assert not streams.sql("show tables in {schema} like 'wrong'")


def test_a_sample_of_what_a_stream_joins_loses_no_row(streams: Project) -> None:
    joined = FILES["models/added.sql"].replace("where", "join {{ ref('known') }} using (id) where")
    known = "select id, date'2020-01-01' + interval 1 day * id as at from range(9)"
    streams.write(
        {
            "models/known.sql": f"{{{{ config(materialized='table', event_time='at') }}}} {known}",
            "models/added.sql": joined,
        }
    )
    build(streams, "-s", "known")
    failed = build(streams, "-s", "added", "--sample", "3 days", check=False)
    assert "--sample leaves out rows that the stream joins" in failed.output
    assert messages(build(streams, "-s", "added")) == {"added": "2 batches"}
    assert [id for id, _ in rows(streams, "added")] == [0, 1, 2, 3]


@pytest.mark.long
def test_other_sources_of_streams(project: Project) -> None:
    """Spark's own source gives five rows with each batch. Kafka's is in no JAR that is here."""
    project.write({
        "models/ticks.sql": """
            {{ config(materialized='stream') }}
            select value from {{ dbt_delta.stream_from('rate-micro-batch', {'rowsPerBatch': 5}) }}
            """,
        "models/unknown.sql": """
            {{ config(materialized='stream') }}
            select * from {{ dbt_delta.stream_from('no-such-source') }}
            """,
    })  # fmt: skip
    for count in (1, 2, 3):
        assert messages(build(project, "-s", "ticks")) == {"ticks": "1 batch"}
        found = [row.value for row in project.sql("select value from {schema}.ticks order by 1")]
        assert found == list(range(5 * count))
    run = build(project, "-s", "unknown", check=False)
    assert "data source: no-such-source" in run.output


@pytest.mark.long
def test_batches_before_one_that_fails_stay_and_it_is_tried_again(streams: Project) -> None:
    streams.write({"models/merged.sql": None})
    sql = FILES["models/added.sql"].replace("v * 2", "100 div (v - 20)")
    streams.write({"models/added.sql": sql})
    run = build(streams, check=False)
    assert "DIVIDE_BY_ZERO" in run.output
    assert "Traceback" not in run.output
    assert "STREAM_FAILED" not in run.output
    assert rows(streams, "added") == [(0, -5), (1, -10)]
    streams.write({"models/added.sql": FILES["models/added.sql"]})
    assert messages(build(streams)) == {"added": "1 batch"}
    assert rows(streams, "added") == [(0, -5), (1, -10), (2, 40), (3, 60)]
    # Delta's own error: a stream reads what is appended.
    streams.sql("update {schema}.orders set v = 1 where id = 0")
    changed = build(streams, check=False)
    assert "DELTA_SOURCE_TABLE_IGNORE_CHANGES" in changed.output
    assert "STREAM_FAILED" not in changed.output
    assert "Streaming Query" not in changed.output
    streams.sql("drop table {schema}.orders")
    streams.sql("create table {schema}.orders using delta as select 9L as id, 90L as v")
    anew = build(streams, check=False)
    assert "or one that was created anew. Use --full-refresh." in anew.output
    assert len(rows(streams, "added")) == 4


@pytest.mark.long
def test_an_input_gets_and_loses_columns(streams: Project) -> None:
    streams.write({"models/merged.sql": None, "models/added.sql": None})
    config = "materialized='stream', on_schema_change='append_new_columns'"
    sql = "select * from {{ dbt_delta.stream(source('raw', 'orders')) }}"
    streams.write({"models/all.sql": "{{ config(" + config + ") }} " + sql})
    build(streams)
    streams.sql("alter table {schema}.orders set tblproperties ('delta.columnMapping.mode'='name')")
    streams.sql("insert into {schema}.orders values (4, 40)")
    streams.sql("alter table {schema}.orders add column w string")
    streams.sql("insert into {schema}.orders values (5, 50, 'x')")
    build(streams)
    grown = [(0, 0), (1, 10), (2, 20), (3, 30), (4, 40)]
    assert rows(streams, "all") == [(*row, None) for row in grown] + [(5, 50, "x")]
    version = streams.version("all")
    streams.sql("insert into {schema}.orders values (6, 60, 'y')")
    streams.sql("alter table {schema}.orders rename column v to amount")
    renamed = build(streams, check=False)
    assert "was renamed, dropped or given another type, and the stream has not read all" in (
        renamed.output
    )
    assert "Streaming Query" not in renamed.output
    assert streams.version("all") == version
    build(streams, "--full-refresh")
    names = streams.sql("select * from {schema}.all where id = 6")
    assert [row.asDict() for row in names] == [{"id": 6, "amount": 60, "w": "y"}]
    assert len(rows(streams, "all")) == 7


def test_groups_that_grow_replace_their_rows(streams: Project) -> None:
    streams.write({name: None for name in FILES if name.endswith(".sql")})
    sql = """
        {{ config(materialized='stream', unique_key='odd', output_mode='update') }}
        select id % 2 as odd, count(*) as v, sum(v) as s
        from {{ dbt_delta.stream(source('raw', 'orders'), max_files_per_trigger=1) }}
        group by 1
        """
    streams.write({"models/counted.sql": sql})
    assert messages(build(streams)) == {"counted": "2 batches"}
    assert rows(streams, "counted") == [(0, 2, 20), (1, 2, 40)]
    streams.sql("insert into {schema}.orders values (5, 1)")
    build(streams)
    assert rows(streams, "counted") == [(0, 2, 20), (1, 3, 41)]
    # What Spark keeps of the groups goes on after a kill, too.
    forget_last_batch(streams, "counted")
    streams.sql("insert into {schema}.orders values (7, 2)")
    assert messages(build(streams)) == {"counted": "1 batch"}
    assert rows(streams, "counted") == [(0, 2, 20), (1, 4, 43)]
    # Not what it keeps by the SELECT of before.
    sql = sql.replace("count(*)", "count_if(v > 5)").replace("=1)", "=9)")
    streams.write({"models/counted.sql": sql})
    streams.sql("insert into {schema}.orders values (9, 4)")
    changed = build(streams)
    assert "counted: its SELECT was another one for the groups or joins" in changed.output
    assert messages(changed) == {"counted": "1 batch"}
    assert rows(streams, "counted") == [(0, 1, 20), (1, 2, 47)]
    assert messages(build(streams)) == {"counted": "0 batches"}
