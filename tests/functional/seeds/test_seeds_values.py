"""Cells come into the table as the CSV has them, and a bad one keeps everything out."""

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st

from dbt_delta.session.adapter import DeltaAdapter
from tests.functional import tables
from tests.functional.drawing import SEED, draw, examples
from tests.functional.harness import Invocation, Project, session
from tests.functional.seeds import exact
from tests.functional.seeds.conftest import Write, write_csv
from tests.functional.vocabulary import REDACTED, some_names


def types(project: Project, name: str) -> dict[str, str]:
    rows = project.sql(f"describe {project.relation(name)}")
    return {row.col_name: row.data_type for row in rows}


# As the CSV writes them, and as the table has them.
TEXTS: dict[str, str | None] = {
    "it's": "it's", '"a ""quoted"" one"': 'a "quoted" one', '"two\nlines"': "two\nlines",
    '"carriage\r\nreturn"': "carriage\r\nreturn", r"back\slash \u0041": r"back\slash \u0041",
    "${x} ${spark.app.name} $": "${x} ${spark.app.name} $", '"a,b;c|d"': "a,b;c|d",
    "ünï \U0001f600 日本": "ünï \U0001f600 日本", "  blanks  ": "  blanks  ",
    "{{ jinja }} %s %": "{{ jinja }} %s %", "-- /* */ ;": "-- /* */ ;",
    '"tab\there"': "tab\there",
    "n/a": "n/a", "NA": "NA", "None": "None", ".": ".",
    # What dbt takes for NULL, in quotes too.
    "": None, '""': None, '"  "': None, "null": None, "NULL": None, " Null ": None,
}  # fmt: skip


_FIRST = dt.datetime(2024, 1, 1, 10)
# Type, cells as the CSV writes them, and values.
INFERRED: dict[str, tuple[str, list[str], list[Any]]] = {
    "whole": ("bigint", ["9007199254740993", "-9223372036854775808"], [2**53 + 1, -(2**63)]),
    "written_long": ("bigint", ["1.00", "1e2"], [1, 100]),
    "fractions": ("double", ["0.1", "-1.5e-3"], [0.1, -0.0015]),
    "long": ("decimal(20,2)", ["123456789012345678.12", "1"], ["123456789012345678.12", "1"]),
    "big": ("decimal(20,0)", ["12345678901234567890", ""], ["12345678901234567890", None]),
    "huge": ("double", ["1e300", ""], [1e300, None]),
    "zeros": ("string", ["007", "1"], ["007", "1"]),
    "plus": ("string", ["+49", "1"], ["+49", "1"]),
    "money": ("string", ["$5", "1"], ["$5", "1"]),
    "percent": ("string", ["10%", "1"], ["10%", "1"]),
    "grouped": ("string", ['"1,000"', "1"], ["1,000", "1"]),
    "underscore": ("string", ["1_000", "1"], ["1_000", "1"]),
    "nan": ("string", ["NaN", "Infinity"], ["NaN", "Infinity"]),
    "digits": ("string", ["١٢", "1"], ["١٢", "1"]),
    "days": ("date", ["2024-01-01", "2024-2-29"], [dt.date(2024, 1, 1), dt.date(2024, 2, 29)]),
    "no_days": ("string", ["2024-01-01", "2024-02-30"], ["2024-01-01", "2024-02-30"]),
    "moments": ("timestamp", ["2024-01-01 10:00:00", ""], [_FIRST, None]),
    "iso": (
        "timestamp",
        ["2024-01-01T10:00:00Z", "2024-01-01T11:00:00.5+01:00"],
        [_FIRST, _FIRST.replace(microsecond=500000)],
    ),
    "times": ("string", ["10:00", "10:00:00"], ["10:00", "10:00:00"]),
    "flags": ("boolean", ["true", "FALSE"], [True, False]),
    "words": ("string", ["yes", "true"], ["yes", "true"]),
    "mixed": ("string", ["1", "true"], ["1", "true"]),
    "nothing": ("bigint", ["", "null"], [None, None]),
}  # fmt: skip


GIVEN = {
    "money": "decimal(20,2)", "code": "string", "flag": "boolean", "day": "date",
    "at": "timestamp", "local": "timestamp_ntz", "bytes": "binary", "small": "tinyint",
    "ratio": "float", "word": "varchar(3)",
}  # fmt: skip


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
AWKWARD = st.text(st.sampled_from("'\"\\${}\n\r\t,;| äx\ufeff"), max_size=8)


def _null(text: str) -> bool:
    return text.strip().lower() in ("", "null")


def _texts(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return strategy.filter(lambda text: not _null(text))


DECIMALS = st.decimals(-(10**18), 10**18, places=2)
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))
# Type, values, and how the CSV writes them.
KINDS: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "string": (_texts(PLAIN | AWKWARD), str),
    "bigint": (st.integers(-(2**63), 2**63 - 1), str),
    "double": (st.floats(allow_nan=False, allow_infinity=False), repr),
    "decimal(20,2)": (DECIMALS, lambda value: f"{value:f}"),
    "date": (st.dates(dt.date(1, 1, 1)), lambda value: value.isoformat()),
    "timestamp": (MOMENTS, lambda value: value.isoformat()),
    "boolean": (st.booleans(), lambda value: str(value).lower()),
}


@st.composite
def random_tables(draw: st.DrawFn) -> dict[str, Any]:
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=5))
    count = draw(st.integers(0, 8))
    row = st.tuples(*(st.none() | KINDS[kind][0] for kind in kinds))
    mapped = draw(st.booleans())
    # A header's blank name is no name.
    drawn = some_names(draw(st.randoms(use_true_random=True)), len(kinds) + 1, mapped)
    return {
        "kinds": kinds,
        "names": [name for name in drawn if name.strip()][: len(kinds)],
        "mapped": mapped,
        "redacted": draw(st.booleans()),
        "rows": draw(st.lists(row, min_size=count, max_size=count)),
        "delimiter": draw(st.sampled_from(",;|\t ~")),
        "terminator": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "bom": draw(st.booleans()),
    }


def _written(table: dict[str, Any]) -> bytes:
    out = io.StringIO(newline="")
    # Of a carriage return Python's writer makes no quoted cell, and its reader ends a line there.
    has_return = any("\r" in str(value) for row in table["rows"] for value in row)
    writer = csv.writer(
        out,
        delimiter=table["delimiter"],
        lineterminator=table["terminator"],
        quoting=csv.QUOTE_ALL if has_return else table["quoting"],
    )
    writer.writerow(["number", *table["names"]])
    for number, row in enumerate(table["rows"]):
        cells = zip(table["kinds"], row, strict=True)
        writer.writerow([number, *("" if v is None else KINDS[k][1](v) for k, v in cells)])
    return out.getvalue().encode("utf-8-sig" if table["bom"] else "utf-8")


@cache
def _drawn() -> list[dict[str, Any]]:
    return draw(random_tables(), SEED, examples(8, 60))


def _write_random(project: Project, name: str, table: dict[str, Any]) -> None:
    properties = {"delta.columnMapping.mode": "name"} if table["mapped"] else {}
    config = {
        "delimiter": table["delimiter"],
        "column_types": dict(zip(table["names"], table["kinds"], strict=True)),
        "tblproperties": {**properties, **(REDACTED if table["redacted"] else {})},
    }
    write_csv(project, name, _written(table), f"config: {json.dumps(config)}")


def _write_texts(project: Project) -> None:
    text = "".join(f"{n},{cell}\n" for n, cell in enumerate(TEXTS))
    write_csv(project, "texts", "\ufeffid,text\n" + text)
    write_csv(project, "typed", "id,text\n" + text, "config: {column_types: {TEXT: string}}")
    windows = text.replace("\n", "\r\n").replace("two\r\n", "two\n").replace("\r\r", "\r")
    write_csv(project, "windows", "\ufeffid,text\r\n" + windows)


def _write_types(project: Project) -> None:
    rows = [[cells[n] for _, cells, _ in INFERRED.values()] for n in range(2)]
    lines = [["id", *INFERRED], *([str(n), *row] for n, row in enumerate(rows))]
    write_csv(project, "inferred", "".join(",".join(line) + "\n" for line in lines))
    given = ", ".join(f"{name.upper()}: '{kind}'" for name, kind in GIVEN.items())
    row = "123456789012345678.12,007,yes,2024-01-01,2024-01-01T10:00:00+02:00,2024-01-01 10:00:00,"
    write_csv(
        project,
        "given_types",
        f"{','.join(GIVEN)}\n{row}ab,-128,0.5,abc\n{',' * 9}\n",
        f"config: {{column_types: {{{given}}}}}",
    )


@pytest.fixture(scope="module")
def seeded(new_shared_project: Callable[[str], Project]) -> tuple[Project, Invocation]:
    """A project whose seeds came twice, and the second run."""
    project = new_shared_project("values")
    _write_texts(project)
    _write_types(project)
    for n, table in enumerate(_drawn()):
        _write_random(project, f"t{n}", table)
    project.dbt("seed")
    return project, project.dbt("seed")


def test_the_same_again_is_no_commit(seeded: tuple[Project, Invocation]) -> None:
    project, second = seeded
    names = [result.node.name for result in second.results]
    assert len(names) == 5 + len(_drawn())
    assert {result.message for result in second.results} == {"unchanged"}
    assert set(tables.versions(project, names).values()) == {0}


@pytest.mark.parametrize("name", ["texts", "typed", "windows"])
def test_texts(seeded: tuple[Project, Invocation], name: str) -> None:
    found = [list(row.values())[1] for row in seeded[0].rows(name)]
    assert found == list(TEXTS.values())


def test_types_are_inferred_where_no_value_changes(seeded: tuple[Project, Invocation]) -> None:
    project, _ = seeded
    kinds, rows = types(project, "inferred"), project.rows("inferred")
    for name, (kind, _, expected) in INFERRED.items():
        assert (name, kinds[name]) == (name, kind)
        if kind.startswith("decimal"):
            expected = [None if text is None else Decimal(text) for text in expected]
        assert (name, [row[name] for row in rows]) == (name, expected)


def test_column_types(seeded: tuple[Project, Invocation]) -> None:
    project, _ = seeded
    assert list(types(project, "given_types").values()) == [*list(GIVEN.values())[:-1], "string"]
    empty, full = (
        tuple(row.values()) for row in project.rows("given_types", order_by="small nulls first")
    )
    assert empty == (None,) * 10
    assert full == (
        Decimal("123456789012345678.12"), "007", True, dt.date(2024, 1, 1),
        dt.datetime(2024, 1, 1, 8), dt.datetime(2024, 1, 1, 10), b"ab", -128, 0.5, "abc",
    )  # fmt: skip


def test_random_tables_come_back(seeded: tuple[Project, Invocation]) -> None:
    project, _ = seeded
    for n, table in enumerate(_drawn()):
        rows = project.rows(f"t{n}", order_by="number")
        assert [tuple(row.values())[1:] for row in rows] == table["rows"], table
        kinds = dict(zip(table["names"], table["kinds"], strict=True))
        assert types(project, f"t{n}") == {"number": "bigint", **kinds}


BAD = {
    "short": (b"id,n\n1,2\n\n3\n", "", "line 4: 1 cells, but the header has 2 columns."),
    "long": (b'id,n\n1,"a\nb"\n3,4,5\n', "", "line 4: 3 cells, but the header has 2 columns."),
    "open": (b'id,n\n1,a\n2,"b\n3,c\n', "", "line 3: a quote opens here that is never closed."),
    "closed": (b'id,n\n1,"a" b\n', "", "line 2: text follows a closing quote;"),
    "twice": (b"id,n,ID\n1,2,3\n", "", "line 1: columns 1 and 3 have one name, 'id' and 'ID':"),
    "unnamed": (b"id,,n\n1,2,3\n", "", "line 1: column 2 has no name."),
    "empty": (b"", "", "is empty."),
    "latin": (b"id,n\n1,a\n" * 200_000 + b"1,\xfc\n", "", "line 400001: byte 0xfc is not valid"),
    "other": (b"id;n\n1;2\n", "", "line 1: one column, named 'id;n'. Is ';' the delimiter,"),
        "mixed": (b"a,b;c\n1,2;3\n", "", "line 1: column 2 is named 'b;c'. The header mixes the"),
    "delimiter": (b"id,n\n1,2\n", "delimiter: ';;'", "delimiter is ';;'; it must be one character"),
    "whole": (
        b'n,id\n1,"a\nb"\n2.5,c\n',
        "column_types: {N: int}",
        "line 4, column n: '2.5' is not a valid int.",
    ),
    "digits": (
        b"id,n\n1,1.20\n2,1.239\n", "column_types: {n: 'decimal(20, 2)'}",
        "line 3, column n: '1.239' is not a valid decimal(20, 2).",
    ),
    "exponent": (
        b"id,n\n1,12e-1\n2,1.239e0\n", "column_types: {n: 'decimal(5,2)'}",
        "line 3, column n: '1.239e0' is not a valid decimal(5,2).",
    ),
    "time": (
        b"id,n\n1,2024-01-31\n2,2024-01-31 10:00:00\n", "column_types: {n: date}",
        "line 3, column n: '2024-01-31 10:00:00' is not a valid date.",
    ),
    "zone": (
        b"id,n\n1,2024-01-31 10:00:00+02:00\n", "column_types: {n: timestamp_ntz}",
        "line 2, column n: '2024-01-31 10:00:00+02:00' is not a valid timestamp_ntz.",
    ),
    "single": (
        b"id,n\n1,16777217\n", "column_types: {n: float}",
        "line 2, column n: '16777217' is not a valid float.",
    ),
    "nested": (
        b"id,n\n1,1\n", "column_types: {n: array<int>}",
        "column_types gives n the type array<int>, which a cell cannot hold.",
    ),
    "width": (
        b"id,n\n1,abc\n2,abcd\n", "column_types: {n: varchar(3)}",
        "line 3, column n: 'abcd' is not a valid varchar(3).",
    ),
}  # fmt: skip


def test_bad_files_are_refused_before_the_first_write(project: Project, csv_file: Write) -> None:
    project.configure(
        seeds={
            "+file_format": "delta",
            "+pre-hook": "create table {{ this.schema }}.hook_{{ this.identifier }} (id int)",
        }
    )
    project.sql("create schema {schema}")
    # One that is refused as it is read, one at its last line, and one by a look at its cells.
    there = {"short", "latin", "whole"}
    for name in there:
        project.sql(f"create table {{schema}}.{name} using delta as select 1 as id")
    for name, (text, config, _) in BAD.items():
        csv_file(name, text, f"config: {{{config}}}")
    ran = project.dbt("seed", check=False)
    for name, (_, _, expected) in BAD.items():
        said = ran.result(name).message.split("\n")[1].strip()
        assert said.startswith(f"seeds/{name}.csv"), said
        assert expected in said
    assert set(tables.names(project)) == there
    for name in there:
        assert tables.version(project, name) == 0
        assert project.rows(name) == [{"id": 1}]


def test_a_cell_is_refused_unless_the_type_holds_it() -> None:
    cells = [(kind, cell) for kind, some in exact.CELLS.items() for cell in some]
    cells += draw(exact.cells(), SEED, examples(60, 600))
    wrong = exact.misjudged(session(), cells)
    assert not wrong, wrong


def test_an_hour_that_the_time_zone_skips_is_refused() -> None:
    berlin = session().newSession()
    berlin.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    skipped, cells = "2024-03-31 02:30:00", ("2024-03-31 01:30:00", "2024-03-31T02:30:00Z")
    refused = exact.refused(berlin, "timestamp", (skipped, *cells))
    assert refused == {skipped: True, **dict.fromkeys(cells, False)}


def test_a_small_file_that_is_no_text_stops_dbt(project: Project, csv_file: Write) -> None:
    """dbt itself reads files of up to a megabyte when it parses the project."""
    csv_file("latin", b"id,n\n1,\xfc\n")
    failed = project.dbt("seed", check=False)
    expected = "seeds/latin.csv, line 2: byte 0xfc is not valid UTF-8. Save the file as UTF-8."
    assert expected in str(failed.exception)


def test_dbt_reads_where_the_plugin_does_not(
    project: Project, csv_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = DeltaAdapter._available_ - {"dbt_delta_seed"}
    monkeypatch.setattr(DeltaAdapter, "_available_", without)
    text = 'id,text,amount,whole,day,at,flag,money\n1,"it\'s ""\\"" ${x}\n",0.25,1.00,2024-01-01,'
    config = "config: {column_types: {money: 'decimal(20,2)'}}"
    csv_file("s", f"{text}2024-01-01T10:00:00Z,TRUE,123456789012345678.12\n2,,,,,,,\n", config)
    csv_file("bad", "id,n\n1,2\n3,x\n", "config: {column_types: {n: int}}")
    ran = project.dbt("seed", check=False)
    moment = dt.datetime(2024, 1, 1, 10)
    assert [tuple(row.values()) for row in project.rows("s")] == [
        (
            1, 'it\'s "\\" ${x}\n', 0.25, 1, dt.date(2024, 1, 1), moment, True,
            Decimal("123456789012345678.12"),
        ),
        (2, *[None] * 7),
    ]  # fmt: skip
    assert (
        "seeds/bad.csv, row 2 below the header, column n: 'x' is not a valid int."
        in ran.result("bad").message
    )
