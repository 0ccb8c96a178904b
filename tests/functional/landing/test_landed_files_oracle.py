"""Random JSON files whose lines say what must become of them: rows, rejects, rescue and commits.

DBT_DELTA_EXAMPLES=1000   folders, each a model (default 6, with --long 150)
DBT_DELTA_SEED, DBT_DELTA_ONLY   which ones; see drawing.py
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.functional import tables
from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import QUICK, Project
from tests.functional.landing.test_landing_oracle import CELLS, FILES, TEXTS, shown
from tests.functional.vocabulary import all_names

BAD = object()
# As files write them, and the value or BAD.
NUMBERS: dict[str, dict[str, Any]] = {
    "bigint": {"1": 1, "-7": -7, "1.0": 1, "1.5": BAD, "1e3": BAD, "9223372036854775808": BAD,
               "9223372036854775807": 2**63 - 1},
    "int": {"12": 12, "2147483648": BAD, "-0": 0},
    "decimal(9,2)": {"1": "1.00", "1.50": "1.50", "1.005": BAD, "1e2": BAD, "-0.01": "-0.01",
                     "1.500": "1.50", "10000000": BAD},
    "double": {"0.1": 0.1, "1e3": 1000.0, "-2.5": -2.5, "1e400": BAD, "1e-400": BAD, "1": 1.0},
    "boolean": {"true": True, "false": False},
    "string": {"12": "12", "1.50": "1.5", "true": "true", "[1, null]": "[1,null]",
               '{"b": 1, "a": "x"}': '{"a":"x","b":1}', "1e2": BAD,
               "123456789012345678901234567890123456789": BAD, '["1e5"]': '["1e5"]',
               '{"a": [1e400]}': BAD, '["x", 1234567890123456789012345678901234567890]': BAD},
}  # fmt: skip
SCALARS = ("string", *CELLS)
# A parent's text of a type, and its parts.
KINDS = ("scalar", "scalar", "scalar", "array", "map", "struct")
NOT_OBJECTS = (
    "[1]", "1", "null", '"x"', '{"a":1} x', '{"a":1}{"a":2}', '{"a":1},{"a":2}', '{"a":1}]',
    '{"a":1}],[{"a":1}', '{"a":1}}', '{"a":1},"b":{}', '{"a":1', "{'a':1}", '{"a":01}',
    '{"a":NaN}', '{"a":1} // x', '{"a":1,"a":2}', '{"a":"\t"}', "{a:1}", "{",
)  # fmt: skip
# Numbers that Spark reads as doubles, outside of texts.
INEXACT, STRINGS = re.compile(r"[0-9][eE]|[0-9.]{39}"), re.compile(r'"(?:[^"\\]|\\.)*"')
HALVES = ('"\\ud83d"', '"x\\uDE00y"', '"\\ud83d\\ud83d\\ude00"', '"\\\\\\ud83d"')
WHOLES = {'"\\ud83d\\ude00"': "\U0001f600", '"\\\\ud83d"': "\\ud83d", '"\\u0041\\n"': "A\n"}


@dataclass(frozen=True)
class Kind:
    """A type as SQL, and how to draw a value: JSON text, what it becomes, and unknown fields."""

    sql: str
    draw: Callable[[Any], tuple[str, Any, bool]]


def scalar(kind: str) -> Kind:
    def one(source: Any) -> tuple[str, Any, bool]:
        if source.random() < 0.1:
            return "null", None, False
        if kind == "string" and source.random() < 0.1:
            text = source.choice([*HALVES, *WHOLES])
            return text, WHOLES.get(text, BAD), False
        if kind != "string" and source.random() < 0.02:
            return source.choice(["[1]", '{"a":1}']), BAD, False
        choices = dict(NUMBERS.get(kind, {}))
        if kind == "string":
            choices.update({json.dumps(t, ensure_ascii=source.random() < 0.5): t for t in TEXTS})
        else:
            choices.update(
                {json.dumps(t): BAD if v is None else shown(v) for t, v in CELLS[kind].items()}
            )
        is_good = source.random() < 0.95
        text = source.choice([t for t, v in choices.items() if (v is not BAD) == is_good])
        value = choices[text]
        return text, Decimal(value) if kind.startswith("dec") and value is not BAD else value, False

    return Kind(kind, one)


def array(part: Kind) -> Kind:
    def one(source: Any) -> tuple[str, Any, bool]:
        if source.random() < 0.05:
            return source.choice(['"x"', "1", '{"a":1}']), BAD, False
        drawn = [part.draw(source) for _ in range(source.randint(0, 3))]
        values = [value for _, value, _ in drawn]
        return (
            "[" + ", ".join(text for text, _, _ in drawn) + "]",
            BAD if BAD in values else values,
            any(more for _, _, more in drawn),
        )

    return Kind(f"array<{part.sql}>", one)


def mapping(part: Kind) -> Kind:
    def one(source: Any) -> tuple[str, Any, bool]:
        if source.random() < 0.05:
            return source.choice(['"x"', "1", "[1]"]), BAD, False
        names = source.sample(["k", "", "a.b", "$", "url"], source.randint(0, 3))
        drawn = {name: part.draw(source) for name in names}
        values = {name: value for name, (_, value, _) in drawn.items()}
        return (
            "{" + ",".join(f"{json.dumps(n)}: {text}" for n, (text, _, _) in drawn.items()) + "}",
            BAD if any(value is BAD for value in values.values()) else values,
            any(more for _, _, more in drawn.values()),
        )

    return Kind(f"map<string,{part.sql}>", one)


def struct(parts: dict[str, Kind]) -> Kind:
    def one(source: Any) -> tuple[str, Any, bool]:
        if source.random() < 0.05:
            return source.choice(['"x"', "1", "[1]"]), BAD, False
        drawn = {n: p.draw(source) for n, p in parts.items() if source.random() < 0.8}
        values = {name: drawn[name][1] if name in drawn else None for name in parts}
        has_more = source.random() < 0.05
        texts = [f"{json.dumps(name)}:{text}" for name, (text, _, _) in drawn.items()]
        return (
            "{" + ",".join([*texts, '"more": 1'] if has_more else texts) + "}",
            BAD if any(value is BAD for value in values.values()) else values,
            has_more or any(more for _, _, more in drawn.values()),
        )

    fields = ",".join(f"`{name.replace('`', '``')}`:{part.sql}" for name, part in parts.items())
    return Kind(f"struct<{fields}>", one)


@dataclass(frozen=True)
class Line:
    """``values`` by column; None if the line is rejected. ``rescued`` are names of its fields."""

    text: str
    values: dict[str, Any] | None
    rescued: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Case:
    columns: dict[str, str]
    drift: str
    landings: tuple[dict[str, tuple[bytes, tuple[Line, ...]]], ...]

    def model(self, name: str) -> str:
        arguments = json.dumps(["shop/" + name, "json", self.columns, self.drift])
        return (
            "{{ config(materialized='incremental', incremental_strategy='append', "
            "tblproperties={'delta.columnMapping.mode': 'name'}) }}\n"
            f"{{%- set given = {arguments} -%}}\n"
            "{{ dbt_delta.landed_files(given[0], given[1], given[2], given[3]) }}"
        )


@st.composite
def cases(draw_: st.DrawFn) -> Case:
    source = draw_(st.randoms(use_true_random=True))
    names = [n for n in source.sample(all_names(mapped=True), 9) if n.strip()]
    drift = source.choice(["fail", "rescue"])

    def kind(depth: int) -> Kind:
        form = source.choice(KINDS) if depth < 2 else "scalar"
        if form == "array":
            return array(kind(depth + 1))
        if form == "map":
            return mapping(kind(depth + 1))
        if form == "struct":
            fields = source.sample(["a", "b c", "x.y", "url", "select", "é"], source.randint(1, 3))
            return struct({name: kind(depth + 1) for name in fields})
        return scalar(source.choice(SCALARS))

    kinds = {name: kind(0) for name in names[: source.randint(1, 5)]}

    def line() -> Line:
        if source.random() < 0.05:
            return Line(source.choice(NOT_OBJECTS), None)
        drawn = {name: k.draw(source) for name, k in kinds.items() if source.random() < 0.9}
        texts = [f"{json.dumps(name)}: {text}" for name, (text, _, _) in drawn.items()]
        rescued, is_exact = {name for name, (_, _, more) in drawn.items() if more}, True
        if source.random() < 0.1:
            more = source.choice(["more", "a'b", "$.x", "\\"])
            if more not in kinds:
                value = source.choice(["[1]", '{"a": "1e5"}', "1e5", '["x", 1e400]'])
                texts.append(f"{json.dumps(more)}: {value}")
                rescued.add(more)
                is_exact = "1e5" not in value.replace('"1e5"', "") and "1e400" not in value
        source.shuffle(texts)
        values = {name: drawn[name][1] if name in drawn else None for name in kinds}
        is_bad = any(value is BAD for value in values.values()) or not is_exact
        is_bad = is_bad or (rescued and drift == "fail")
        text = "{" + source.choice([",", " , "]).join(texts) + "}"
        if rescued and is_exact and not is_bad and INEXACT.search(STRINGS.sub("", text)):
            # The number may be in what is rescued, which then rejects the line.
            return line()
        return Line(text, None if is_bad else values, frozenset(rescued))

    def file() -> tuple[bytes, tuple[Line, ...]]:
        lines = tuple(line() for _ in range(source.choice([0, 1, 6, 24])))
        end = source.choice(["\n", "\r\n"])
        parts = [one.text + (end + " " if source.random() < 0.05 else "") for one in lines]
        text = end.join(parts) + (end if source.random() < 0.7 else "")
        return text.encode("utf-8-sig" if source.random() < 0.2 else "utf-8"), lines

    landings = tuple(
        {name: file() for name in source.sample(FILES, source.randint(1, 2))} for _ in range(2)
    )
    return Case({name: k.sql for name, k in kinds.items()}, drift, landings)


@pytest.mark.long
def test_every_line_is_what_it_says_or_is_rejected(
    new_project: Callable[..., Project], tmp_path: Path
) -> None:
    wrong: list[str] = []
    drawn = draw(cases(), SEED, examples(3, 150))
    chosen = {f"case_{n:04}": c for n, c in enumerate(drawn) if not ONLY or n in ONLY}
    project = new_project("landed_files_oracle")
    # Large files, of several parts, are read by lines: here those of more than 400 bytes.
    parts = {"spark.sql.files.maxPartitionBytes": "600", "spark.sql.files.openCostInBytes": "50"}
    project.set_spark({**QUICK, **parts})
    given = {"dbt_delta_landing": str(tmp_path), "dbt_delta_whole_file_bytes": 400}
    project.write({f"models/{name}.sql": case.model(name) for name, case in chosen.items()})
    versions: dict[str, int] = {}
    for step in range(3):
        for name, case in chosen.items():
            folder = tmp_path / "shop" / name
            folder.mkdir(parents=True, exist_ok=True)
            for file, (data, _) in (case.landings[step] if step < 2 else {}).items():
                # Without bytes Spark does not list it.
                (folder / f"{step} {file}").write_bytes(data or b"\n")
        run = project.dbt("run", vars=given, check=False, threads=4)
        for name, case in chosen.items():
            if run.result(name).status != "success":
                wrong.append(f"{name} run {step}: {run.result(name).message}\n{case}")
        last, versions = versions, tables.versions(project, tables.names(project))
        assert step < 2 or versions == last, "a run without new files makes no commit"
    found = tables.json_rows(project, list(chosen))
    lines = 0
    for name, case in chosen.items():
        expected, got = _expected(case), _found(case, found[name])
        lines += sum(map(len, expected))
        if sorted(map(repr, got)) != sorted(map(repr, expected)):
            wrong.append(f"{name}: found\n{got}\nexpected\n{expected}\n{case}")
    print(f"seed {SEED}: {len(chosen)} folders, {lines} lines, {len(wrong)} wrong", flush=True)
    assert not wrong, "\n\n".join([f"{len(wrong)} wrong", *wrong])


def _expected(case: Case) -> list[list[Any]]:
    """Of each file (text, values, names of rescued fields); a file without rows is one text."""
    seen: set[bytes] = set()
    expected: list[list[Any]] = []
    for landing in case.landings:
        for data, lines in landing.values():
            if not lines:
                expected.append(["the file is empty"])
            elif data in seen:
                expected.append(["same content as"])
            else:
                seen.add(data)
                expected.append(
                    [
                        (line.text, None, ())
                        if line.values is None
                        else (None, plain(line.values), tuple(sorted(line.rescued)))
                        for line in lines
                    ]
                )
    return expected


def _found(case: Case, rows: Any) -> list[list[Any]]:
    files: dict[tuple[int, str], list[Any]] = {}
    for row in (json.loads(text, parse_float=Decimal) for text in rows):
        values = {name: row[name] for name in case.columns}
        reason = row["_rejected_reason"]
        one = files.setdefault((row["_load_id"], row["_file"]), [])
        if row["_line"] == 0:
            one.append((0, "same content as" if reason.startswith("same") else reason))
        elif reason is not None:
            assert set(values.values()) == {None}, f"a rejected line has values: {row}"
            one.append((row["_line"], (row["_rejected_line"], None, ())))
        else:
            rescued = sorted(json.loads(row.get("_rescued") or "{}"))
            one.append((row["_line"], (None, plain(values), tuple(rescued))))
    ordered = [sorted(lines, key=lambda line: line[0]) for lines in files.values()]
    return [[line for _, line in lines] for lines in ordered]


def plain(value: Any) -> Any:
    """A value as it is compared: a decimal like a double."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in sorted(value.items())}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return float(value) if isinstance(value, Decimal) else value
