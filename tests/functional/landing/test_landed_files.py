"""landed_files for text, Parquet, ORC and compressed files, and columns that are new in files."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from dbt_delta.session.connection import SessionConnection
from tests.functional import tables
from tests.functional.harness import Invocation, Project, session

MODEL = """
{{{{ config(
    materialized='incremental', incremental_strategy='append', on_schema_change='{on_change}'
) }}}}
{{{{ dbt_delta.landed_files('shop/{name}', {arguments}) }}}}
"""
MODELS = {
    "notes": "'text'",
    "baskets": "'json', {'id': 'bigint'}, drift='add'",
    "zipped": "'json', {'id': 'bigint', 'v': 'variant'}",
    "rows_p": "'parquet', {'id': 'bigint', 'amount': 'decimal(9,2)', 'gone': 'date'}, 'rescue'",
    "rows_o": "'orc', {'id': 'bigint', 'amount': 'decimal(9,2)', 'gone': 'date'}, 'rescue'",
    "all_p": "'parquet'",
    "more_p": "'parquet', {'id': 'bigint'}, drift='add'",
    "strict": "'parquet', {'id': 'bigint'}",
    "mixed": "'parquet'",
    "nested": "'parquet', {'s': 'bigint'}",
    "none_yet": "'orc', {'id': 'bigint'}",
    "unknown": "'orc'",
    "sealed": "'json', {'id': 'bigint'}, drift='add'",
    "later": "'json', {'id': 'bigint'}",
    "bytes": "'json', {'v': 'string'}",
    "times": "'parquet', {'id': 'int'}, 'rescue'",
    "hidden": "'parquet'",
    "latin": "'text'",
    "both": "'text'",
}


class Landing:
    """Folders of files, and the tables that are loaded from them."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.folder = project, folder / "shop"
        self.vars = {"dbt_delta_landing": str(folder), "dbt_delta_whole_file_bytes": 20_000}
        for name in MODELS:
            (self.folder / name).mkdir(parents=True)
        for name, arguments in MODELS.items():
            self.model(name, arguments)

    def model(self, name: str, arguments: str) -> None:
        change = "ignore" if name in ("sealed", "later") else "append_new_columns"
        text = MODEL.format(name=name, arguments=arguments, on_change=change)
        self.project.write({f"models/{name}.sql": text})

    def text(self, name: str, text: str) -> None:
        path = self.folder / name
        data = text.encode()
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)

    def rows(self, name: str, sql: str) -> Path:
        """A Parquet or ORC file, by the end of its name."""
        path, kind = self.folder / name, name.rpartition(".")[2]
        made = self.folder.parent / "made"
        session().sql(sql).coalesce(1).write.mode("overwrite").format(kind).save(str(made))
        (part,) = made.glob(f"part-*.{kind}")
        return part.rename(path)

    def load(self, *names: str) -> Invocation:
        return self.project.dbt("run", "-s", *names, vars=self.vars, check=False)

    def table(self, name: str, columns: str) -> list[tuple[Any, ...]]:
        sql = f"select {columns} from {{schema}}.{name} order by _load_id, _file, _line, 1"
        return [tuple(row) for row in self.project.sql(sql)]


@pytest.fixture(scope="module")
def loaded(
    new_shared_project: Callable[[str], Project], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Landing, Invocation]:
    """What was loaded in three runs, of which the last finds nothing, and the first of them."""
    landing = Landing(new_shared_project("files"), tmp_path_factory.mktemp("landing"))
    landing.text("notes/a.txt", "one\r\n\n  two \na\rzoo\r")
    landing.text("notes/b.txt", "\n \n")
    landing.text("baskets/1.json", '{"id": 1}\n')
    landing.text("zipped/1.json.gz", '{"id": 1, "v": {"b": [2.50], "a": null}}\n{"id": 2')
    for end in ("parquet", "orc"):
        for number, amount in ((1, "1.50"), (2, "2.125")):
            name = f"rows_{end[0]}/{number}.{end}"
            sql = f"select {number}L as id, {amount}D as amount, 'x' as extra, 7 as _file"
            landing.rows(name, sql)
    for number, name in enumerate(("it's 100%20.parquet", "b c#é.parquet", "[0]{x}.parquet")):
        landing.rows(f"all_p/{name}", f"select {number}L as id, array('a') as `select`")
    landing.rows("all_p/none.parquet", "select 1L as id, array('a') as `select` where false")
    landing.rows("more_p/1.parquet", "select 1L as id")
    landing.rows("strict/1.parquet", "select 1L as id, 2 as more")
    landing.rows("mixed/1.parquet", "select 1L as id")
    landing.rows("mixed/2.parquet", "select 'x' as id")
    landing.rows("nested/1.parquet", "select struct(1L as a) as s")
    landing.text("sealed/1.json", '{"id": 1}\n')
    landing.text("later/1.json", '{"id": 1}\n')
    for name, size in (("small", 0), ("large", 30_000)):
        lines = b'\xef\xbb\xbf{"v": "caf\xe9"}\r\n{"v": "\xef\xbf\xbd"}\n' + b" " * size
        (landing.folder / "bytes" / f"{name}.json").write_bytes(lines)
    numbers = '{"v": 1.10}\n{"v": 1e2}\n{"v": {"a": [1e400, "x"]}}\n{"v": "1e2"}\n'
    landing.text("bytes/numbers.json", numbers)
    below = landing.folder / "bytes" / "x" / "shop" / "bytes"
    below.mkdir(parents=True)
    (below / "1.json").write_text('{"v": "another folder"}')
    at = "2024-01-31 10:00:00.123456"
    landing.rows(
        "times/1.parquet", f"select 1 as id, timestamp'{at}' as t, timestamp_ntz'{at}' as n"
    )
    landing.rows("hidden/1.parquet", "select struct('x' as file_path) as _metadata")
    (landing.folder / "latin" / os.fsdecode(b"caf\xe9.txt")).write_text("lost")
    landing.text("both/1.txt", "a")
    both = "{% for name in ['both', 'notes'] %} {{ 'union all' if loop.last }} select * from "
    both += "({{ dbt_delta.landed_files('shop/' ~ name, 'text') }}) as t {% endfor %}"
    model = landing.project.path / "models" / "both.sql"
    model.write_text(model.read_text().partition("}}")[0] + "}} " + both)
    run = landing.load(*MODELS)
    landing.text("baskets/2.json", '{"id": 2, "url": "x", "new": {"a": 1.0}}\n{"id": "no"}\n')
    landing.rows("more_p/2.parquet", "select 2L as id, date'2024-01-31' as batch")
    landing.rows("rows_p/3.parquet", "select 1L as id, 1.50D as amount, 'x' as extra, 7 as _file")
    later = landing.load("baskets", "more_p", "rows_p")
    assert later.success, later.output
    landing.text("baskets/3.json", '{"id": 3, "url": null}\n{"URL": 1}\n')
    assert landing.load("baskets").success
    before = tables.versions(landing.project, tables.names(landing.project))
    landing.load(*MODELS)
    assert tables.versions(landing.project, tables.names(landing.project)) == before
    return landing, run


@pytest.fixture
def landing(loaded: tuple[Landing, Invocation]) -> Landing:
    return loaded[0]


def test_lines_of_text(landing: Landing) -> None:
    assert landing.table("notes", "_file, _line, value, _rejected_reason") == [
        ("a.txt", 1, "one", None),
        ("a.txt", 2, "", None),
        ("a.txt", 3, "  two ", None),
        ("a.txt", 4, "a\rzoo", None),
        ("b.txt", 0, None, "the file is empty"),
    ]


def test_new_fields_become_columns_and_stay(landing: Landing) -> None:
    found = landing.table("baskets", "id, url, new, _rejected_line")
    assert found == [
        (1, None, None, None),
        (2, "x", '{"a":1}', None),
        (None, None, None, '{"id": "no"}'),
        (3, None, None, None),
        (None, None, None, '{"URL": 1}'),
    ]
    assert landing.table("more_p", "id, cast(batch as string), _line") == [
        (1, None, 1),
        (2, "2024-01-31", 1),
    ]


def test_compressed_files_and_variants(landing: Landing) -> None:
    found = landing.table("zipped", "id, to_json(v), _line, _rejected_reason")
    assert found == [
        (1, '{"a":null,"b":[2.5]}', 1, None),
        (None, None, 2, "it is not one JSON object, or has a name twice"),
    ]


@pytest.mark.parametrize("end", ["parquet", "orc"])
def test_rows_of_files_fit_or_are_rejected(landing: Landing, end: str) -> None:
    found = landing.table(f"rows_{end[0]}", "_file, _line, id, amount, gone, _rescued, "
                          "_rejected_reason, _rejected_line")  # fmt: skip
    line = 1 if end == "parquet" else None
    rows = [
        (f"1.{end}", line, 1, "1.50", None, '{"extra":"x","_file":7}', None, None),
        (
            *(f"2.{end}", line, None, None, None, None, "amount: 2.125 is not decimal(9,2)"),
            '{"id":2,"amount":2.125,"extra":"x","_file":7}',
        ),
    ]
    if end == "parquet":
        said = "same content as 1.parquet"
        rows.append(("3.parquet", 0, None, None, None, None, said, None))
    assert [
        tuple(str(value) if name == 3 and value else value for name, value in enumerate(row))
        for row in found
    ] == rows


def test_all_columns_of_files(landing: Landing) -> None:
    found = landing.table("all_p", "id, `select`, _line, _rejected_reason, _file")
    assert [(*row[:-1], unquote(row[-1])) for row in found] == [
        (2, ["a"], 1, None, "[0]{x}.parquet"),
        (1, ["a"], 1, None, "b c#é.parquet"),
        (0, ["a"], 1, None, "it's 100%20.parquet"),
        (None, None, 0, "the file has no rows", "none.parquet"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("strict", "have columns that the model does not name: more. Nothing was loaded."),
        ("mixed", "the parquet files in"),
        ("nested", "column s is struct<a:bigint> in the files, not bigint."),
        ("unknown", "that say which columns they have. Land files first, or name the columns."),
        ("hidden", "have a column _metadata, which hides Spark's own"),
        ("latin", r"cannot read the names of 1 files in"),
        ("latin", r"The first one is caf\xe9.txt. Nothing was loaded."),
        ("both", "the model reads two folders, "),
        ("sealed", "drift is 'add', which needs on_schema_change: append_new_columns"),
    ],
)
def test_what_cannot_be_loaded_is_refused(
    loaded: tuple[Landing, Invocation], name: str, text: str
) -> None:
    landing, run = loaded
    assert run.result(name).status == "error"
    assert text in (run.result(name).message or "")
    assert name not in tables.names(landing.project)


def test_what_spark_would_change_is_rejected_in_files_of_any_size(landing: Landing) -> None:
    reason = "bytes that are not valid UTF-8"
    inexact = "in a line with a number with an exponent or more than 38 digits"
    assert landing.table("bytes", "_file, v, _rejected_reason, _rejected_line") == [
        ("large.json", None, reason, '{"v": "caf\ufffd"}'),
        ("large.json", "\ufffd", None, None),
        ("numbers.json", "1.1", None, None),
        ("numbers.json", None, f"v: 100.0, {inexact}, is not string", '{"v": 1e2}'),
        (
            *("numbers.json", None, f'v: {{"a":["Infinity","x"]}}, {inexact}, is not string'),
            '{"v": {"a": [1e400, "x"]}}',
        ),
        ("numbers.json", "1e2", None, None),
        # Of a small file it is not known in which line the bytes are.
        ("small.json", None, reason, '{"v": "caf\ufffd"}'),
        ("small.json", None, reason, '{"v": "\ufffd"}'),
    ]


def test_times_keep_their_digits(landing: Landing) -> None:
    ((rescued,),) = landing.table("times", "_rescued")
    assert json.loads(rescued)["n"] == "2024-01-31T10:00:00.123456"
    assert json.loads(rescued)["t"].startswith("2024-01-31T10:00:00.123456")


def test_two_runs_at_a_time_load_a_file_once(
    landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of a batch that is stored first do not depend on the table any more."""
    (landing.folder / "raced").mkdir()
    landing.model("raced", "'text'")
    model = landing.project.path / "models" / "raced.sql"
    model.write_text(model.read_text().replace("'append',", "'append', stage='table',"))
    landing.text("raced/1.txt", "a")
    assert landing.load("raced").success
    landing.text("raced/2.txt", "b\nc")
    send, sent = SessionConnection.execute, []

    def execute(self: Any, sql: str, bindings: Any = None) -> None:
        if "insert into" in sql and not sent:
            sent.append(sql)
            landing.project.sql(sql)
        send(self, sql, bindings)

    monkeypatch.setattr(SessionConnection, "execute", execute)
    assert landing.load("raced").success
    assert sent
    assert landing.table("raced", "value, _line") == [("a", 1), ("b", 1), ("c", 2)]


def test_an_empty_folder_makes_an_empty_table(landing: Landing) -> None:
    assert landing.table("none_yet", "*") == []


@pytest.mark.parametrize(
    ("arguments", "column"),
    [
        ("'json', {'id': 'bigint'}, 'rescue'", "_rescued"),
        ("'json', {'id': 'int', 'n': 'int'}", "n"),
    ],
)
def test_a_column_that_the_table_lacks_is_not_lost(
    landing: Landing, arguments: str, column: str
) -> None:
    landing.text("later/2.json", '{"id": 2, "n": 1}\n')
    landing.model("later", arguments)
    before = landing.project.version("later")
    assert f"has no column {column}, which would be lost" in landing.load("later").output
    assert landing.project.version("later") == before
