"""Writers for PySpark outside dbt: whatever is tried again or restored, each row is there once."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.stream import WriteRefused, idempotent_write, idempotent_writer, outside
from tests.functional.harness import Project, session

TABLE = "(id bigint, v string, at int)"


class Lake:
    """Files that streams read, and the tables that they write."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.folder = project, folder
        self.count = 0
        project.sql("create schema if not exists {schema}")

    def table(self, name: str, columns: str = TABLE) -> str:
        self.project.sql(f"create table {{schema}}.{name} {columns} using delta"
                         " tblproperties ('delta.columnMapping.mode' = 'name')")  # fmt: skip
        return f"{self.project.schema}.{name}"

    def frame(self, *rows: tuple[Any, ...]) -> Any:
        return session().createDataFrame(list(rows), "id bigint, v string, at int")

    def arrive(self, *rows: tuple[Any, ...]) -> None:
        """A file for the streams; one file is one micro-batch."""
        self.count += 1
        self.frame(*rows).coalesce(1).write.json(f"{self.folder}/new")
        (part,) = (self.folder / "new").glob("part-*.json")
        (self.folder / "in").mkdir(exist_ok=True)
        part.rename(self.folder / "in" / f"{self.count:03d}.json")
        shutil.rmtree(self.folder / "new")

    def run(self, write: Callable[[Any, int], None], checkpoint: str = "own") -> None:
        """All micro-batches that there are."""
        source = session().readStream.schema("id bigint, v string, at int")
        query = (
            source.option("maxFilesPerTrigger", 1)
            .json(f"{self.folder}/in")
            .writeStream.foreachBatch(write)
            .option("checkpointLocation", f"{self.folder}/{checkpoint}")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def refused(
        self, text: str, write: Callable[[Any, int], None], checkpoint: str = "own"
    ) -> None:
        with pytest.raises(Exception, match=text):
            self.run(write, checkpoint)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        found = self.project.sql(f"select * from {{schema}}.{name}")
        return sorted(map(tuple, found), key=repr)

    def place(self, name: str) -> Path:
        return self.project.warehouse / name

    def forget(self, name: str, checkpoint: str = "own") -> None:
        """As if Spark was killed between the commit and its note in the checkpoint."""
        notes = sorted((self.folder / checkpoint / "commits").glob("[0-9]*"))
        notes[-1].unlink()
        (notes[-1].parent / f".{notes[-1].name}.crc").unlink()


@pytest.fixture
def lake(project: Project, tmp_path: Path) -> Iterator[Lake]:
    yield Lake(project, tmp_path)
    session().conf.unset("spark.databricks.delta.write.txnAppId")


def test_each_micro_batch_is_one_commit_also_an_empty_one(lake: Lake) -> None:
    table = lake.table("added")
    writer = idempotent_writer(table)
    for rows in ([(1, "a", 1)], [(2, "b", 1)]):
        lake.arrive(*rows)
    lake.run(writer)
    assert lake.rows("added") == [(1, "a", 1), (2, "b", 1)]
    assert lake.project.version("added") == 2
    lake.run(writer)
    assert lake.project.version("added") == 2
    (lake.folder / "in" / "003.json").touch()
    lake.count += 1
    lake.arrive((5, "e", 1))
    lake.run(idempotent_writer(table))
    assert lake.rows("added") == [(1, "a", 1), (2, "b", 1), (5, "e", 1)]
    assert lake.project.version("added") == 4


def test_a_batch_that_comes_again_is_not_written_again(lake: Lake) -> None:
    added, merged = lake.table("added"), lake.table("merged")
    lake.arrive((1, "a", 1))
    for number, (name, writer) in enumerate(
        {
            "added": idempotent_writer(added),
            "merged": idempotent_writer(merged, unique_key="id"),
        }.items()
    ):
        lake.run(writer, f"c{number}")
        lake.forget(name, f"c{number}")
        before = lake.project.version(name)
        lake.run(writer, f"c{number}")
        assert lake.project.version(name) == before
        assert lake.rows(name) == [(1, "a", 1)]


def test_groups_go_on_after_a_kill(lake: Lake) -> None:
    """Spark keeps groups while the rows of a batch are read, and fails if nobody reads them."""
    writer = idempotent_writer(lake.table("counted", "(at int, n bigint)"), unique_key="at")

    def run() -> None:
        source = session().readStream.schema("id bigint, v string, at int")
        counted = source.json(f"{lake.folder}/in").groupBy("at").count()
        stream = counted.withColumnRenamed("count", "n").writeStream.outputMode("update")
        stream = stream.option("checkpointLocation", f"{lake.folder}/own")
        stream.foreachBatch(writer).trigger(availableNow=True).start().awaitTermination()

    lake.arrive((1, "a", 1), (2, "b", 1))
    run()
    lake.forget("counted")
    lake.arrive((3, "c", 1))
    run()
    assert lake.rows("counted") == [(1, 3)]


def test_a_new_checkpoint_is_refused_or_merged(lake: Lake) -> None:
    """The numbers of its micro-batches begin again: Delta alone would skip new rows."""
    added, merged = lake.table("added"), lake.table("merged")
    lake.arrive((1, "a", 1))
    lake.run(idempotent_writer(added), "old")
    lake.run(idempotent_writer(merged, unique_key="id"), "old_merged")
    (lake.folder / "in" / "001.json").unlink()
    lake.arrive((2, "b", 1))
    lake.run(idempotent_writer(merged, unique_key="id"), "new_merged")
    assert lake.rows("merged") == [(1, "a", 1), (2, "b", 1)]
    lake.refused("another checkpoint", idempotent_writer(added), "new")
    assert lake.rows("added") == [(1, "a", 1)]
    assert lake.project.version("added") == 1
    lake.run(idempotent_writer(added, name="another"), "new")
    assert lake.rows("added") == [(1, "a", 1), (2, "b", 1)]


@pytest.mark.long
def test_a_restored_table_gets_no_batch_after_a_gap(lake: Lake) -> None:
    for name, key in (("added", ()), ("merged", "id")):
        table = lake.table(name)
        writer = idempotent_writer(table, unique_key=key)
        lake.arrive((1, name, 1))
        lake.run(writer, name)
        lake.arrive((2, name, 1))
        lake.run(writer, name)
        lake.project.sql(f"restore table {{schema}}.{name} to version as of {len(name) // 6}")
        before = lake.project.version(name)
        lake.arrive((3, name, 1))
        lake.refused("was restored to a version before micro-batch", writer, name)
        assert lake.project.version(name) == before


@pytest.mark.long
def test_a_restore_that_loses_nothing_stops_nothing(lake: Lake) -> None:
    table = lake.table("added")
    lake.arrive((1, "a", 1))
    lake.run(idempotent_writer(table))
    lake.project.sql("delete from {schema}.added where id = 1")
    lake.project.sql("restore table {schema}.added to version as of 1")
    lake.arrive((2, "b", 1))
    lake.run(idempotent_writer(table))
    assert lake.rows("added") == [(1, "a", 1), (2, "b", 1)]


@pytest.mark.long
def test_a_table_made_anew_or_another_sink_before_is_a_gap(lake: Lake) -> None:
    table = lake.table("added")
    lake.arrive((1, "a", 1))
    lake.run(idempotent_writer(table))
    lake.project.sql("drop table {schema}.added")
    lake.table("added")
    lake.arrive((2, "b", 1))
    lake.refused("has none of this checkpoint before it", idempotent_writer(table))
    assert lake.rows("added") == []
    lake.run(idempotent_writer(table, first=1))
    assert lake.rows("added") == [(2, "b", 1)]


@pytest.mark.long
def test_a_checkpoint_of_before_is_refused(lake: Lake) -> None:
    table = lake.table("added")
    lake.arrive((1, "a", 1))
    lake.run(idempotent_writer(table))
    shutil.copytree(lake.folder / "own", lake.folder / "copy")
    lake.arrive((2, "b", 1))
    lake.run(idempotent_writer(table))
    (lake.folder / "in" / "002.json").unlink()
    lake.arrive((3, "c", 1))
    before = lake.project.version("added")
    lake.refused("the checkpoint is a copy of before", idempotent_writer(table), "copy")
    assert lake.project.version("added") == before


@pytest.mark.long
def test_keys(lake: Lake) -> None:
    """NULL is a key, unchanged rows are not updated, and the latest row of a key counts."""
    table = lake.table("merged")
    write = lambda run, *rows: idempotent_write(  # noqa: E731
        lake.frame(*rows), table, run=run, unique_key="id", latest_by="at"
    )
    assert write("1", (1, "a", 1), (1, "b", 2), (1, "b", 2), (None, "n", 1), (2, "x", None))
    assert lake.rows("merged") == [(1, "b", 2), (2, "x", None), (None, "n", 1)]
    assert write("2", (1, "old", 1), (None, "m", 2), (2, "y", None), (3, "c", 1))
    assert lake.rows("merged") == [(1, "b", 2), (2, "y", None), (3, "c", 1), (None, "m", 2)]
    assert write("3", (1, "b", 2), (None, "m", 2))
    assert lake.project.history("merged")[0]["operationMetrics"]["numTargetRowsUpdated"] == "0"
    with pytest.raises(WriteRefused, match=r'the key \{"id":1\} and the same at'):
        write("4", (1, "p", 9), (1, "q", 9))
    with pytest.raises(WriteRefused, match="no latest_by to choose by"):
        idempotent_write(lake.frame((1, "p", 9), (1, "q", 9)), table, run="5", unique_key=["id"])


@pytest.mark.long
def test_a_run_is_written_once_and_again_after_a_restore(lake: Lake) -> None:
    table = lake.table("added")
    first, second = lake.frame((1, "a", 1)), lake.frame((2, "b", 1))
    assert idempotent_write(first, table, run="2026-11-01")
    assert idempotent_write(second, table, run="2026-11-02")
    # A scheduler that tries an older run again.
    assert not idempotent_write(first, table, run="2026-11-01")
    assert lake.project.version("added") == 2
    lake.project.sql("restore table {schema}.added to version as of 1")
    assert not idempotent_write(first, table, run="2026-11-01")
    assert idempotent_write(second, table, run="2026-11-02")
    assert not idempotent_write(second, table, run="2026-11-02")
    assert lake.rows("added") == [(1, "a", 1), (2, "b", 1)]
    place = f"delta.`{lake.place('added')}`"
    assert not idempotent_write(second, place, run="2026-11-02")
    assert idempotent_write(second, place, run="2026-11-03")
    at = lake.project.history("added")[1]["timestamp"]
    lake.project.sql(f"restore table {{schema}}.added to timestamp as of '{at}'")
    with pytest.raises(WriteRefused, match="restored the table to a timestamp"):
        idempotent_write(second, table, run="2026-11-03")


def test_of_two_tries_at_once_one_writes(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"added": (), "merged": "id"}
    for name, key in tables.items():
        table = lake.table(name)
        together = threading.Barrier(2)
        real, wrote = outside._write, []

        def write(*arguments: Any, together: Any = together, real: Any = real) -> None:
            together.wait(20)
            real(*arguments)

        def attempt(table: str = table, key: Any = key, wrote: Any = wrote) -> None:
            rows = lake.frame((1, "a", 1))
            wrote.append(idempotent_write(rows, table, run="r", unique_key=key))

        with monkeypatch.context() as patch:
            patch.setattr(outside, "_write", write)
            threads = [threading.Thread(target=attempt) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert lake.rows(name) == [(1, "a", 1)]
        assert len(wrote) == 2
        assert lake.project.version(name) == 1


def test_a_writer_is_called_once_for_a_batch(lake: Lake) -> None:
    """Rows of a second call would be taken for those of the first."""
    table, other = lake.table("added"), lake.table("other")
    lake.arrive((1, "order", 1), (2, "refund", 1))
    first, second = idempotent_writer(table), idempotent_writer(f"delta.`{lake.place('added')}`")

    def write(rows: Any, number: int) -> None:
        first(rows.where("v = 'order'"), number)
        idempotent_writer(other)(rows, number)
        second(rows.where("v = 'refund'"), number)

    lake.refused("a writer of the same name was called for it before", write)
    assert lake.rows("added") == [(1, "order", 1)]
    assert lake.rows("other") == [(1, "order", 1), (2, "refund", 1)]


@pytest.mark.long
def test_two_writers_of_a_checkpoint_do_not_vouch_for_each_other(lake: Lake) -> None:
    table = lake.table("added")

    def write(rows: Any, number: int) -> None:
        for name in ("a", "b"):
            named = rows.selectExpr("id", f"'{name}' as v", "at")
            idempotent_writer(table, name=name)(named, number)

    lake.arrive((1, "", 1))
    lake.run(write)
    lake.arrive((2, "", 1))
    lake.run(write)
    lake.project.sql("restore table {schema}.added to version as of 3")
    lake.arrive((3, "", 1))
    lake.refused("stream b, micro-batch 2: the table was restored", write)
    assert lake.rows("added") == [(1, "a", 1), (1, "b", 1), (2, "a", 1), (3, "a", 1)]


@pytest.mark.long
def test_a_replaced_table_lacks_what_was_written(lake: Lake) -> None:
    """CREATE OR REPLACE keeps the numbers without the rows."""
    table, rows = lake.table("added"), lake.frame((9, "z", 1))
    lake.arrive((1, "a", 1))
    lake.run(idempotent_writer(table))
    assert idempotent_write(rows, table, run="r")
    lake.project.sql(f"create or replace table {table} {TABLE} using delta")
    lake.arrive((2, "b", 1))
    lake.refused("or replaced", idempotent_writer(table))
    assert idempotent_write(rows, table, run="r")
    assert not idempotent_write(rows, table, run="r")
    assert lake.rows("added") == [(9, "z", 1)]


@pytest.mark.long
@pytest.mark.parametrize("meanwhile", ["restore", "replace", "make anew"])
@pytest.mark.parametrize("key", [(), "id"])
def test_what_others_do_during_a_write_is_said(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, meanwhile: str, key: Any
) -> None:
    table = lake.table("added")
    texts = {
        "restore": "restore table {schema}.added to version as of 0",
        "replace": f"create or replace table {table} {TABLE} using delta",
        "make anew": "drop table {schema}.added",
    }
    assert idempotent_write(lake.frame((1, "a", 1)), table, run="1", unique_key=key)
    real = outside._write

    def write(*arguments: Any) -> None:
        lake.project.sql(texts[meanwhile])
        if meanwhile == "make anew":
            lake.table("added")
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(outside, "_write", write)
        with pytest.raises(WriteRefused, match="restored or made anew while it was written"):
            idempotent_write(lake.frame((2, "b", 1)), table, run="2", unique_key=key)


@pytest.mark.long
def test_a_try_that_was_slower_says_that_it_wrote_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, rows = lake.table("added"), lake.frame((1, "a", 1))
    real, is_first = outside._write, [True]

    def write(*arguments: Any) -> None:
        if is_first.pop():
            is_first.append(False)
            assert idempotent_write(rows, table, run="r")
        else:
            is_first.append(False)
        real(*arguments)

    monkeypatch.setattr(outside, "_write", write)
    assert not idempotent_write(rows, table, run="r")
    assert lake.rows("added") == [(1, "a", 1)]


@pytest.mark.long
def test_two_new_checkpoints_at_once_are_said(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    table = lake.table("added")
    lake.arrive((1, "a", 1))
    together, real, errors = threading.Barrier(2), outside._write, []

    def write(*arguments: Any) -> None:
        together.wait(30)
        real(*arguments)

    def run(checkpoint: str) -> None:
        try:
            lake.run(idempotent_writer(table), checkpoint)
        except Exception as error:
            errors.append(str(error))

    monkeypatch.setattr(outside, "_write", write)
    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors
    assert all("another checkpoint of the stream began" in text for text in errors)


def test_what_the_caller_keeps_stays_kept(lake: Lake) -> None:
    """A frame whose rows change with each look is the same in two tables."""
    one, two = lake.table("one"), lake.table("two")
    rows = session().sql("select id, uuid() as v, 1 as at from range(20)").persist()
    try:
        rows.collect()
        for table in (one, two):
            assert idempotent_write(rows, table, run="r", unique_key="id")
        assert rows.storageLevel.useMemory
        kept = sorted(map(tuple, rows.collect()), key=repr)
        assert lake.rows("one") == lake.rows("two") == kept
    finally:
        rows.unpersist()


def test_a_temporary_view_of_the_tables_name_is_not_written_through(lake: Lake) -> None:
    lake.table("shadowed")
    other = lake.table("other")
    lake.project.sql("use {schema}")
    session().table(other).createOrReplaceTempView("shadowed")
    try:
        for run, key in (("1", ()), ("2", "id")):
            assert idempotent_write(
                lake.frame((int(run), "a", 1)), "shadowed", run=run, unique_key=key
            )
    finally:
        session().sql("drop view shadowed")
        lake.project.sql("use default")
    assert lake.rows("shadowed") == [(1, "a", 1), (2, "a", 1)]
    assert lake.rows("other") == []


HOSTILE = (
    "(`token` bigint, `a b``c` string, `__dbt_c1` char(5), s struct<`x.y`: int, `Z`: string>,"
    " m map<string, int>, g bigint generated always as (`token` + 1))"
)


@pytest.mark.long
def test_hostile_names_and_types(lake: Lake) -> None:
    table = lake.table("`select`", HOSTILE)
    rows = session().sql(
        "select cast(7 as bigint) as TOKEN, 'x' as `a b``c`, 'ab' as `__dbt_c1`,"
        " named_struct('x.y', 1, 'Z', 'q') as s, map('k', 1) as m"
    )
    keys = ["token", "__dbt_c1"]
    for run in ("1", "2"):
        assert idempotent_write(rows, table, run=run, unique_key=keys, latest_by="a b`c")
    found = lake.project.sql("select token, `__dbt_c1`, s, m, g from {schema}.`select`")
    assert [(r[0], r[1].rstrip(), tuple(r[2]), r[3], r[4]) for r in found] == [
        (7, "ab", (1, "q"), {"k": 1}, 8)
    ]
    assert idempotent_write(rows, table, run="3")
    assert len(lake.project.sql("select 1 from {schema}.`select`")) == 2


def test_what_does_not_fit_is_refused_and_leaks_nothing(lake: Lake) -> None:
    table = lake.table("added")
    rows = lake.frame((1, "a", 1))
    lake.project.sql("create view {schema}.seen as select 1 as id")
    refusals = {
        "columns that the table lacks: more": {"rows": rows.selectExpr("*", "1 as more")},
        "the rows lack columns of the table: at": {"rows": rows.drop("at")},
        "column id is string, and the table's is bigint: cast it": {
            "rows": rows.selectExpr("cast(id as string) as id", "v", "at")
        },
        "have equal names": {"rows": rows.selectExpr("*", "1 as AT")},
        "there is no column key": {"unique_key": "key"},
        "latest_by needs a unique_key": {"latest_by": "at"},
        "run is ''. Name": {"run": ""},
        "run is 5. Name": {"run": 5},
        "seen is not a Delta table": {"table": f"{lake.project.schema}.seen"},
        "TABLE_OR_VIEW_NOT_FOUND": {"table": f"{lake.project.schema}.nothing"},
    }
    for text, change in refusals.items():
        given = {"rows": rows, "table": table, "run": "r", **change}
        with pytest.raises(Exception, match=text):
            idempotent_write(given.pop("rows"), given.pop("table"), **given)
    with pytest.raises(WriteRefused, match="is for foreachBatch"):
        idempotent_writer(table)(rows, 0)
    assert lake.project.version("added") == 0
    assert idempotent_write(rows, table, run="r")
    assert session().conf.get("spark.databricks.delta.write.txnAppId", None) is None
    assert not [one for one in session().catalog.listTables() if one.isTemporary]
