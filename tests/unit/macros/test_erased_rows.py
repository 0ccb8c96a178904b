"""The statements of an erasure; what they do is in tests/functional/erasure."""

import re
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import load


def relation(name: str) -> SimpleNamespace:
    return SimpleNamespace(schema="s", identifier=name)


def key(name: str, link: str | None = None, group: str | None = None) -> dict[str, Any]:
    return {"name": name, "group": group or name, "key": name, "link": link}


def table(name: str, columns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    known = {"has_files": False, "keeps_files": False, "has_rejects": False, "personal": []}
    about = {"relation": relation(name), "name": name, "columns": columns, "action": "delete"}
    return {**known, **about, **more}


REQUESTS = table("requests", [key("id"), key("email")], is_requests=True)
PEOPLE = table("people", [key("id")])
PAID = table("paid", [key("order_id", "people", "people.order_id")], personal=["holder"])
SCOPE = {"from": "s.requests version as of 7", "tables": [PAID, PEOPLE, REQUESTS], "salt": "x"}


def flat(text: str) -> str:
    return " ".join(text.split())


def test_requests_are_those_of_one_version() -> None:
    for one in (PEOPLE, PAID):
        sql = load().get_erase_sql(one, SCOPE)
        assert sql.count("requests") == sql.count("from s.requests version as of 7") == 1


def test_of_the_requests_only_those_go_that_were_erased() -> None:
    """Another one that shares a key has keys that nobody has erased."""
    assert flat(load().get_erase_sql(REQUESTS, SCOPE)) == (
        "merge into `s`.`requests` as old using ( select distinct `id`, `email` "
        "from s.requests version as of 7 ) as gone "
        "on old.`id` <=> gone.`id` and old.`email` <=> gone.`email` when matched then delete"
    )


def read(one: dict[str, Any], *columns: str) -> dict[str, Any]:
    """A table with its state."""
    found = [{"name": name, "metadata": {}, "type": "string"} for name in columns]
    state = {"columns": found, "configuration": {}}
    return {**one, "state": state, "location": "file:/x", "floor": {"hours": 168}}


def scanned(one: dict[str, Any], *columns: str) -> dict[str, Any]:
    (found,) = load()._scanned([read(one, *columns)]).values()
    return {column["name"]: column for column in found["columns"]}


def test_a_redacted_row_is_searched_by_its_link_as_long_as_it_has_a_value() -> None:
    """Also where it has a key of its own, as that may be NULL."""
    link, own = key("order_id", "people", "people.order_id"), key("id")
    both = table("paid", [link, own], personal=["holder", "gone"], action="redact")
    found = scanned(both, "order_id", "id", "holder")
    assert found["order_id"]["emptied"] == ["holder", "id"]
    assert "emptied" not in found["id"]
    deleted = scanned({**both, "action": "delete"}, "order_id", "id", "holder")
    assert "emptied" not in deleted["order_id"]


def test_a_redacted_rejected_line_is_searched_by_links_too() -> None:
    """It is emptied itself, and the row stays."""
    paid = table("paid", PAID["columns"], action="redact", has_rejects=True)
    paid["words_of_rejected"] = "words"
    found = scanned(paid, "order_id", "_rejected_line", "_rejected_reason")
    assert found["order_id"]["emptied"] == []
    assert "emptied" not in found["_rejected_line"]
    scope = {**SCOPE, "tables": [paid, PEOPLE, REQUESTS]}
    sql = load().get_erase_sql(paid, scope)
    assert "update set _rejected_line = null" in sql


class CountIf:
    """Spark's count_if, over a partition as a whole."""

    def __init__(self) -> None:
        self.count = 0

    def step(self, value: int) -> None:
        self.count += bool(value)

    def inverse(self, value: int) -> None:
        self.count -= bool(value)

    def value(self) -> int:
        return self.count

    finalize = value


BAD = "id: x is not bigint"
LEDGER = ("_file", "_file_modified_at", "_file_size", "_file_hash")


@pytest.mark.parametrize(
    ("rows", "stays"),
    [
        # (line, whether it is of a subject, reason why it is rejected), and the line that stays.
        ([(2, True, None), (3, True, None)], 2),
        ([(2, True, None), (3, False, None)], None),
        # No dump has only rejected lines, so the place of what was data stays.
        ([(2, True, BAD), (3, True, None), (4, False, BAD)], 3),
        ([(2, True, BAD), (3, True, None)], 3),
        ([(2, True, BAD), (3, False, BAD)], None),
        ([(2, True, BAD), (3, True, BAD)], 2),
        ([(2, True, BAD), (3, False, None)], None),
        ([(2, False, "erased"), (3, True, BAD)], None),
        ([(0, False, "erased line"), (3, True, None)], 3),
    ],
)
def test_one_row_of_a_file_stays_if_its_data_goes(rows: list[Any], stays: int | None) -> None:
    landed = table("raw", [key("id")], has_files=True, keeps_files=True, has_rejects=True)
    names = ("id", *LEDGER, "_line", "_rejected_reason", "_rejected_line")
    landed["existing"] = SimpleNamespace(columns=[{"name": name} for name in (*names, "note")])
    landed["words_of_rejected"] = "words"
    scope = {**SCOPE, "tables": [landed, REQUESTS]}
    sql = load().get_erase_sql(landed, scope)
    assert "_rejected_line` = null" in sql
    assert "`note` = null" in sql
    # Rejected lines are found by their words: here by a column.
    sql = re.sub(
        r"_rejected_reason is not null and coalesce\(arrays_overlap.*?, false\)", "own", sql
    )
    select = sql.partition("using (")[2].partition("\n) as gone")[0]
    database = sqlite3.connect(":memory:")
    database.execute("attach ':memory:' as s")
    database.create_window_function("count_if", 1, CountIf)
    database.create_aggregate("bool_or", 1, CountIf)
    database.execute(f"create table s.raw ({', '.join(names)}, own)")
    database.execute("create table s.requests as select 1 as id")
    for line, own, reason in rows:
        row = (1 if own and reason is None else None, "f", 0, 1, "h", line, reason, None, own)
        database.execute(f"insert into s.raw values ({', '.join('?' * len(row))})", row)
    # Another file of the name, with a row that stays.
    database.execute("insert into s.raw values (2, 'f', 5, 1, 'g', 2, null, null, false)")
    found = database.execute(select.replace(" version as of 7", "")).fetchall()
    lines = {row[names.index("_line")]: row[-1] for row in found}
    assert sorted(lines) == sorted(line for line, own, _ in rows if own)
    assert [line for line, count in lines.items() if count] == ([stays] if stays else [])


def test_other_contents_are_those_of_small_files_without_subjects() -> None:
    folder = {"path": "/l", "paths": ["a", "b", "c"], "files": {"a": {}}, "large": ["c"]}
    sql = load()._other_contents_sql(folder)
    assert "_metadata.file_path in ('b')" in sql
    assert "sha2(value, 256) as _file_hash" in sql


def test_rejected_lines_have_the_separators_of_all_before_them() -> None:
    """A model that reads a landed one may have its rejected lines."""
    node = {"resource_type": "model", "config": {}, "name": "raw", "raw_code": "~"}
    nodes = {"a": node, "b": {**node, "raw_code": "§"}, "c": {"resource_type": "seed"}}
    found = SimpleNamespace(
        separators=lambda code, meta: {"found": [code], "problem": "why" if code == "§" else None},
        words_sql=lambda text, separators: f"words {text} {separators}",
    )
    adapter = SimpleNamespace(dbt_delta_erasure=lambda: found)
    own = load(graph=SimpleNamespace(nodes=nodes), adapter=adapter)
    read_of = own._separators(["a", "b", "c", "source"])
    assert read_of["separators"] == ["~", "§"]
    assert "raw does not say what separates their fields: why. Give it" in read_of["unclear"][0]
    names = ("_file", "_line", "_file_modified_at", "_file_size", "_file_hash", "_load_id")
    columns = [{"name": name} for name in (*names, "_rejected_reason", "_rejected_line", "id")]
    existing = SimpleNamespace(columns=columns, properties={}, partitions=[])
    made = own._with_existing({**PEOPLE, "separators": ["~"]}, existing)
    assert made["words_of_rejected"].endswith("['~']")
    scope = {**SCOPE, "tables": [made, REQUESTS]}
    assert "arrays_overlap(words case" in own.get_erase_sql(made, scope)
    given = scanned({**made, "separators": ["~"]}, "id", "_rejected_line", "_rejected_reason")
    assert given["_rejected_line"]["separators"] == ["~"]


@pytest.mark.parametrize(
    ("columns", "checks", "answers", "problems"),
    [
        ([{"name": "_rejected_line"}, {"name": "note"}], {}, [], []),
        ([{"name": "note", "nullable": False}], {}, [[1]], ["NOT NULL of note: allow NULL in it"]),
        ([{"name": "note", "nullable": False}], {}, [[]], []),
        ([{"name": "_load_id", "nullable": False}], {}, [], []),
        ([{"name": "note", "nullable": False, "is_generated": True}], {}, [], []),
        ([], {"c": "note <> ''"}, [[1]], ["the constraint c: allow NULL in it"]),
        ([], {"c": "note <> ''"}, [[]], []),
        (None, {}, [[1]], ["data without the columns _rejected_reason and _rejected_line: give"]),
        (None, {}, [[]], []),
    ],
)
def test_a_row_that_cannot_stay_without_values_is_refused_before_the_first_write(
    columns: Any, checks: dict[str, str], answers: list[Any], problems: list[str]
) -> None:
    about = {"has_files": True, "keeps_files": True, "has_rejects": columns is not None}
    landed = {**table("raw", [key("id")], **about), "words_of_rejected": "words"}
    columns = [{"type": "string", **column} for column in columns or []]
    properties = {f"delta.constraints.{name}": text for name, text in checks.items()}
    landed["existing"] = SimpleNamespace(columns=columns, properties=properties)
    asked: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        asked.append(sql)
        return SimpleNamespace(rows=answers[len(asked) - 1])

    scope = {**SCOPE, "tables": [landed, REQUESTS]}
    found = load(run_query=run_query)._record_problems(landed, scope)
    assert not load()._record_problems({**landed, "action": "redact"}, scope)
    assert len(found) == len(problems)
    assert all(text in one for text, one in zip(problems, found, strict=True))
    assert len(asked) == len(answers)


def test_streams_that_read_an_erased_table_are_known() -> None:
    def node(name: str, before: list[str], materialized: str = "stream") -> dict[str, Any]:
        about = {"schema": "s", "alias": name, "config": {"materialized": materialized}}
        return {**about, "depends_on": {"nodes": before}}

    nodes = {
        "near": node("near", ["people"]),
        "between": node("between", ["people"], "view"),
        "far": node("far", ["between"]),
        "other": node("other", ["elsewhere"]),
    }
    people = {**PEOPLE, "node": {"unique_id": "people"}}
    found = load(graph=SimpleNamespace(nodes=nodes))._streams_of([people, REQUESTS])
    assert found == {"s.near": ["s", "near"], "s.far": ["s", "far"]}


def test_what_was_written_anew_is_known_before_and_after_it_is_there() -> None:
    """A run may commit the old file between."""
    done: list[Any] = []
    times = {"old_time": 1, "old_size": 9, "modified_at": 1, "size": 5, "hash": "h"}
    anew = {"file": "a.csv", "path": "/l/a.csv", "part": "/l/p", "is_copy": False, **times}
    prepared = [anew, {**anew, "file": "gone.csv", "part": None}]
    erasure = SimpleNamespace(
        prepare=lambda *arguments: prepared,
        write=lambda folder, record: done.append(("write", record["landing"]["rewritten"])),
        replace=lambda files: done.append("replace") or [],
    )
    own = load(
        adapter=SimpleNamespace(dbt_delta_erasure=lambda: erasure),
        api=SimpleNamespace(Relation=SimpleNamespace(create=SimpleNamespace)),
        print=lambda text: None,
    )
    own._schemas = list
    own._is_there = lambda relation, schemas: relation.identifier == "raw"
    own._know_files = lambda table, files, record: done.append((table["identifier"], len(files)))
    tables = [{"schema": "s", "identifier": "raw"}, {"schema": "s", "identifier": "dropped"}]
    folder = {
        "path": "/l",
        "format": "json",
        "paths": [],
        "files": {},
        "large": [],
        "tables": tables,
    }
    record = {"request": "r", "landing": {"mode": "rewrite", "rewritten": []}}
    found = own._erase_landing({"folders": {"l": folder}}, record)
    kept = [{"tables": tables, "files": [{"file": "a.csv", **times}]}]
    assert found["landing"]["rewritten"] == kept
    assert done == [("write", kept), ("raw", 1), "replace", ("raw", 1)]
    own._know_rewritten({"request": "old"})
    again = own._erase_landing({"folders": {"l": folder}}, found)
    assert again["landing"]["rewritten"] == kept
