"""Random CSV files against a reader that goes character by character: rows, rejects and commits.

DBT_DELTA_EXAMPLES=1000   folders, each a model (default 10, with --long 150)
DBT_DELTA_SEED, DBT_DELTA_ONLY   which ones; see drawing.py
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.functional import tables
from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import QUICK, Project
from tests.functional.vocabulary import all_names

SEPARATORS = (",", ";", "|", "\t", "||", "~", ".", "^")
NULLS = ("", "NA", "\\N")
FILES = ("a.csv", "b c.csv", "ä.csv", "%20.csv", "#.csv", "[0].csv", "{x}.csv", "it's.csv", "a=b")
TEXTS = (
    "a", "", " ", " b ", "it's", "back\\slash", "\\", "NA", "\\N", "null", "é", "😀", "\ufffd",
    "${x}", "-- c", "a,b", "x;y", "1|2", "||", '"', '""', 'say "hi"', 'a"b', '5" pipe', '"q', 'q"',
    "line\nbreak", "two\r\nlines", 'x",y\nz', "\n", '"\n"', "tab\there", "zero", "'",
)  # fmt: skip
# As files write them, and the value; none where the type does not hold it.
CELLS: dict[str, dict[str, Any]] = {
    "bigint": {
        "1": 1, "-7": -7, "007": 7, "+5": 5, " 8 ": 8, "9223372036854775807": 2**63 - 1,
        "9223372036854775808": None, "1.0": None, "1.5": None, "1e3": None, "0x10": None,
        "1d": None, "1L": None, "1_000": None, "one": None, "--1": None, "1 2": None,
    },
    "int": {"12": 12, "-2147483648": -(2**31), "2147483648": None, "3.0": None},
    "decimal(9,2)": {
        "1": "1.00", "1.5": "1.50", "1.50": "1.50", "-0.01": "-0.01", "1.005": None, ".5": "0.50",
        "1.500": "1.50", "1e2": "100.00", "1.5e-3": None, "15e-1": "1.50",
        "9999999.99": "9999999.99", "10000000": None, "1d": None, "NaN": None, "1,5": None,
        "$1": None, "+2.25": "2.25",
    },
    "double": {
        "0.1": 0.1, "1e3": 1000.0, "-.5": -0.5, "5.": 5.0, "1d": None, "1f": None, "0x1p3": None,
        "1e": None, "one": None, "1 000": None,
    },
    "boolean": {"true": True, "FALSE": False, "maybe": None, "2": None},
    "date": {
        "2024-01-31": date(2024, 1, 31), "2024-2-1": date(2024, 2, 1), "0001-01-01": date(1, 1, 1),
        "2024-01-31 00:00:00": date(2024, 1, 31), "2024-01-31 10:00": None, "2024-02-30": None,
        "2024": None, "2024-01": None, "20240131": None, "31.01.2024": None, "today": None,
        "2024-01-31T23:59": None, "10:00:00": None,
    },
    "timestamp": {
        "2024-01-31 10:00:00": datetime(2024, 1, 31, 10),
        "2024-01-31T10:00:00.123456": datetime(2024, 1, 31, 10, 0, 0, 123456),
        "2024-01-31 10:00:00+02:00": datetime(2024, 1, 31, 8),
        "2024-01-31T10:00:00Z": datetime(2024, 1, 31, 10),
        "2024-01-31 10:00:00.1234567": None, "2024-01-31 25:00:00": None, "10:00:00": None,
        "2024": None, "noon": None,
    },
    "timestamp_ntz": {
        "2024-01-31 10:00:00": datetime(2024, 1, 31, 10), "2024-01-31": datetime(2024, 1, 31),
        "2024-01-31 10:00:00+02:00": None, "2024-01-31T10:00:00Z": None, "10:00:00": None,
        "2024-01-31 10:00:00.1234567": None,
    },
}  # fmt: skip


# Larger files are read by lines.
WHOLE_BYTES = 400
LEDGER = {
    *("_file", "_line", "_file_modified_at", "_file_size", "_file_hash", "_load_id"),
    *("_rejected_reason", "_rejected_line"),
}


@dataclass(frozen=True)
class Case:
    """A folder, its columns, and what lands in it before each of the runs."""

    columns: dict[str, str]
    separator: str
    null: str
    # None is landed_csv, where every file has the same header.
    drift: str | None
    landings: tuple[dict[str, bytes], ...]

    def model(self, name: str) -> str:
        arguments = json.dumps(
            ["shop/" + name, self.columns, self.null, self.separator, self.drift or ""]
        )
        call = (
            "landed_csv(given[0], given[1], given[2], given[3])"
            if self.drift is None
            else "landed_files(given[0], 'csv', given[1], given[4], given[3], given[2])"
        )
        # json's escapes are Jinja's, too.
        return (
            "{{ config(materialized='incremental', incremental_strategy='append', "
            "on_schema_change='append_new_columns', "
            "tblproperties={'delta.columnMapping.mode': 'name'}) }}\n"
            f"{{%- set given = {arguments} -%}}\n"
            f"{{{{ dbt_delta.{call} }}}}"
        )


@st.composite
def cases(draw_: st.DrawFn) -> Case:
    source = draw_(st.randoms(use_true_random=True))
    separator = source.choice(SEPARATORS)
    taken = ("#", '"')
    names = [
        name
        for name in source.sample(all_names(mapped=True), 8)
        if separator not in name and name.strip() and not name.startswith(taken)
    ]
    columns = {name: source.choice(["string", *CELLS]) for name in names[: source.randint(1, 6)]}
    null = source.choice(NULLS)
    drift = source.choice([None, "fail", "rescue", "add"])
    # One differs from a column in case only.
    further = [n for n in ("more", "Two words", "é?", names[0].swapcase()) if separator not in n]

    def cell(kind: str) -> str:
        if source.random() < 0.1:
            return null
        if kind == "string" or source.random() < 0.02:
            text = source.choice(TEXTS)
        else:
            is_good = source.random() < 0.9
            text = source.choice([t for t, v in CELLS[kind].items() if (v is not None) == is_good])
        if source.random() < 0.2 or (source.random() < 0.9 and _needs_quotes(text, separator)):
            return '"' + text.replace('"', '""') + '"'
        return text

    def line(header: list[str]) -> str:
        cells = [cell(columns.get(name, "string")) for name in header]
        if source.random() < 0.05:
            cells = cells[:-1] if source.random() < 0.5 else [*cells, "more"]
        return separator.join(cells)

    def file() -> bytes:
        end = source.choice(["\n", "\r\n"])
        header = list(columns)
        if drift is None or source.random() < 0.1:
            header += [source.choice(["more", "", names[0]])] if source.random() < 0.05 else []
        else:
            header = header[source.random() < 0.1 :] + source.sample(further, source.randint(0, 2))
            source.shuffle(header)
        lines = [line(header) for _ in range(source.choice([0, 1, 6, 24]))]
        if source.random() < 0.2:
            lines.insert(source.randint(0, len(lines)), source.choice(["", "  ", '"']))
        text = end.join([separator.join(header), *lines]) + (end if source.random() < 0.7 else "")
        data = text.encode("utf-8-sig" if source.random() < 0.2 else "utf-8")
        return data.replace(b"\xc3\xa9", b"\xe9") if source.random() < 0.2 else data

    landings = tuple(
        {name: file() for name in source.sample(FILES, source.randint(1, 2))} for _ in range(2)
    )
    return Case(columns, separator, null, drift, landings)


def _needs_quotes(text: str, separator: str) -> bool:
    return any(mark in text for mark in (separator, '"', "\n"))


# What the rows must be ---------------------------------------------------------------------------


def lines_of(text: str, separator: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; the line breaks of quoted fields are part of a line."""
    at, line, is_field_start, number = 0, "", True, 1
    while at < len(text):
        end = _closed(text, at, separator) if is_field_start and text[at] == '"' else None
        if end is not None:
            line, at, is_field_start = line + text[at:end], end, False
        elif text[at] == "\n":
            yield number, line.removesuffix("\r")
            number += 1 + line.count("\n")
            at, line, is_field_start = at + 1, "", True
        else:
            step = separator if text.startswith(separator, at) else text[at]
            at, line, is_field_start = at + len(step), line + step, step == separator
    yield number, line.removesuffix("\r")


def _closed(text: str, at: int, separator: str) -> int | None:
    """Where a field whose quotation mark is at ``at`` ends; None if it does not."""
    at += 1
    while (at := text.find('"', at)) >= 0:
        if text[at + 1 : at + 2] == '"':
            at += 2
            continue
        rest = text[at + 1 :]
        closed = rest in ("", "\r") or rest.startswith((separator, "\n", "\r\n"))
        return at + 1 if closed else None
    return None


def _is_large(data: bytes) -> bool:
    return len(data) > WHOLE_BYTES


def _is_open(line: str, separator: str) -> bool:
    """Whether a quoted field begins on a line and has no quotation mark that could end it."""
    at = 0
    while at <= len(line):
        if line[at : at + 1] == '"':
            if '"' not in line[at + 1 :].replace('""', ""):
                return True
            end = _closed(line, at, separator)
            at = line.find(separator, at) if end is None else end
        else:
            at = line.find(separator, at)
        if at < 0:
            return False
        at += len(separator)
    return False


def fields_of(line: str, separator: str) -> list[str] | None:
    """The fields of a line as they are written; None where a quotation mark stays open."""
    fields, at = [], 0
    while True:
        if line[at : at + 1] == '"':
            end = _closed(line, at, separator)
            if end is None:
                return None
        else:
            end = line.find(separator, at)
            end = len(line) if end < 0 else end
        fields.append(line[at:end])
        if end == len(line):
            return fields
        at = end + len(separator)


def judged(case: Case, data: bytes, added: Sequence[str]) -> list[tuple[int, str, Any]]:
    """Line number, why it is rejected (empty: it is not), and its values that are not NULL.

    ``added`` are the columns that files have added.
    """
    lines, header = _header(case, data)
    filled = [line for _, line in lines if line.strip(" ")]
    if not filled:
        return [(0, "the file is empty", None)]
    opened = [number for number, line in lines if _is_open(line, case.separator)]
    if _is_large(data) and opened:
        return [(0, f"line {opened[0]} has a quoted field that does not end on it", None)]
    if problem := _header_problem(case, header, [*case.columns, *added]):
        return [(0, problem, None)]
    if len(filled) == 1:
        return [(0, "the file has a header and no lines", None)]
    found = []
    for number, line in lines[1:]:
        if line.strip(" "):
            is_text = b"\xe9" not in (data.split(b"\n")[number - 1] if _is_large(data) else data)
            reason, values = _judged_line(case, header, line, is_text)
            found.append((number, reason, values))
    return found


def _header(case: Case, data: bytes) -> tuple[list[tuple[int, str]], list[str]]:
    """The lines of a file, and the names in its header."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    by_lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1)]
    lines = by_lines if _is_large(data) else list(lines_of(text, case.separator))
    return lines, fields_of(lines[0][1], case.separator) or []


def _header_problem(case: Case, header: Sequence[str], known: Sequence[str]) -> str:
    if case.drift is None:
        return "" if header == list(case.columns) else "the header is"
    if "" in header or len({name.lower() for name in header}) < len(header):
        return "the header has a name twice"
    lacking = set(case.columns) - set(header)
    if len(lacking) == len(case.columns) or (lacking and case.drift != "rescue"):
        return "the header lacks columns"
    is_known = case.drift == "rescue" or set(header) <= set(known)
    return "" if is_known else "the header has columns"


def _added(case: Case, landing: dict[str, bytes], before: Sequence[str]) -> list[str]:
    """The columns that the files of a landing, and those before, have added."""
    added = list(before)
    headers = [_header(case, data)[1] for data in landing.values()] if case.drift == "add" else []
    names = {
        name
        for header in headers
        if not _header_problem(case, header, [*case.columns, *header])
        for name in header
    }
    for name in sorted(names):
        if name.lower() not in {known.lower() for known in (*case.columns, *added)}:
            added.append(name)
    return added


def _judged_line(case: Case, header: list[str], line: str, is_text: bool) -> tuple[str, Any]:
    if not is_text and "\ufffd" in line:
        return "bytes that are not valid UTF-8", None
    fields = fields_of(line, case.separator)
    if fields is None:
        return "a quotation mark is not closed", None
    if len(fields) != len(header):
        return f"expected {len(header)} fields, found {len(fields)}", None
    values: dict[str, Any] = {}
    wrong, rescued = {}, {}
    for name, written in zip(header, fields, strict=True):
        kind = case.columns.get(name)
        text = written[1:-1].replace('""', '"') if written.startswith('"') else written
        if text == case.null or written == "":
            continue
        if kind is None and case.drift == "rescue":
            rescued[name] = text
        elif kind in (None, "string"):
            values[name] = text
        elif (value := _value(kind, text)) is None:
            wrong[name] = f"{name}: {text} is not {kind}"
        else:
            values[name] = shown(value)
    if wrong:
        return next(wrong[name] for name in case.columns if name in wrong), None
    return "", {**values, **({"_rescued": rescued} if rescued else {})}


def _value(kind: str, text: str) -> Any:
    """The value of a cell; None where the type does not hold it."""
    if text in CELLS[kind] or not text.isascii() or not text.isdigit():
        return CELLS[kind].get(text)
    # A point as the separator cuts numbers in two.
    number = int(text)
    if kind == "double":
        return float(number)
    if kind == "decimal(9,2)":
        return f"{number}.00" if number < 10**7 else None
    return number if kind in ("int", "bigint") and number < 2**31 else None


# What they are -----------------------------------------------------------------------------------


def shown(value: Any) -> Any:
    """A value as to_json() writes it, a decimal as text."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="microseconds")
    return value.isoformat() if isinstance(value, date) else value


def _found(case: Case, rows: Sequence[str]) -> list[list[tuple[int, str, Any]]]:
    """The rows of each file, in order."""
    found: dict[tuple[int, str], list[tuple[int, str, Any]]] = {}
    for row in (json.loads(text, parse_float=Decimal) for text in rows):
        values = {
            name: _read(value, case.columns.get(name, "string"))
            for name, value in row.items()
            if value is not None and name not in LEDGER
        }
        if "_rescued" in values:
            values["_rescued"] = json.loads(values["_rescued"])
        reason = row["_rejected_reason"] or ""
        assert not reason or not values, f"a rejected line has values: {row}"
        found.setdefault((row["_load_id"], row["_file"]), []).append(
            (row["_line"], reason, None if reason else values)
        )
    return [sorted(lines, key=lambda line: line[0]) for lines in found.values()]


def _read(value: Any, kind: str) -> Any:
    return float(value) if kind == "double" else str(value) if "decimal" in kind else value


def test_every_line_is_what_it_says_or_is_rejected(
    new_project: Callable[..., Project], tmp_path: Path
) -> None:
    wrong: list[str] = []
    drawn = draw(cases(), SEED, examples(7, 150))
    chosen = {f"case_{n:04}": c for n, c in enumerate(drawn) if not ONLY or n in ONLY}
    project = new_project("landing_oracle")
    # Files that are read by lines have several parts.
    parts = {"spark.sql.files.maxPartitionBytes": "600", "spark.sql.files.openCostInBytes": "50"}
    project.set_spark({**QUICK, **parts})
    project.write({f"models/{name}.sql": case.model(name) for name, case in chosen.items()})
    lines = 0
    versions: dict[str, int] = {}
    for step in range(3):
        for name, case in chosen.items():
            folder = tmp_path / "shop" / name
            folder.mkdir(parents=True, exist_ok=True)
            for file, data in (case.landings[step] if step < 2 else {}).items():
                # The name of the landing keeps the runs apart.
                (folder / f"{step} {file}").write_bytes(data)
        given = {"dbt_delta_landing": str(tmp_path), "dbt_delta_whole_file_bytes": WHOLE_BYTES}
        run = project.dbt("run", vars=given, check=False, threads=4)
        for name, case in chosen.items():
            result = run.result(name)
            if result.status != "success":
                wrong.append(f"{name} run {step}: {result.message}\n{case}")
        last, versions = versions, tables.versions(project, tables.names(project))
        assert step < 2 or versions == last, "a run without new files makes no commit"
    tables_rows = tables.json_rows(project, list(chosen))
    for name, case in chosen.items():
        expected, found = _expected(case), _found(case, tables_rows[name])
        lines += sum(len(rows) for rows in expected)
        if sorted(map(_key, found)) != sorted(map(_key, expected)):
            wrong.append(f"{name}: found\n{found}\nexpected\n{expected}\n{case}")
    print(f"seed {SEED}: {len(chosen)} folders, {lines} lines, {len(wrong)} wrong", flush=True)
    assert not wrong, "\n\n".join([f"{len(wrong)} wrong", *wrong])


def _expected(case: Case) -> list[list[tuple[int, str, Any]]]:
    """The lines of each file; those of a content that was there before are one."""
    seen: set[bytes] = set()
    expected, added = [], []
    for landing in case.landings:
        added = _added(case, landing, added)
        for data in landing.values():
            rows = judged(case, data, added)
            if rows[0][0] != 0 and data in seen:
                rows = [(0, "same content as", None)]
            elif rows[0][0] != 0:
                seen.add(data)
            expected.append(rows)
    return expected


def _key(rows: list[tuple[int, str, Any]]) -> str:
    """Rows of a file to compare: of a reason what does not name the file."""
    kinds = (
        *("same content as", "the header is", "the header has a name twice", "a quotation mark"),
        *("the header lacks columns", "the header has columns"),
    )
    parts = []
    for number, reason, values in rows:
        kind = next(
            (k for k in kinds if reason.startswith(k)), re.split("; |, and the file", reason)[0]
        )
        parts.append((number, kind, values and sorted(values.items())))
    return repr(parts)
