"""Random tables, version by version, and what plain Python says of the difference of two versions.

A value is compared as dbt_delta documents it: NULL is NULL, NaN NaN, 0.0 -0.0, a map its entries.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count
from typing import Any

from hypothesis import strategies as st

from tests.functional.vocabulary import all_names, quoted, some_names


class VariantText(str):
    """A value of a variant as JSON, to be told from a variant that is a text."""


TYPES: dict[str, Sequence[Any]] = {
    "int": (0, 1, 2, None),
    "bigint": (0, 1, 2, 5_000_000_000, None),
    "double": (0.0, -0.0, 1.5, 1.25, math.nan, math.inf, None),
    "decimal(10,2)": (Decimal("0.10"), Decimal("0.12"), Decimal("7.00"), None),
    "string": ("a", "b c", "'`\\", "", None),
    "date": ("2024-01-31", "1582-10-15", None),
    "array<double>": ((0.0,), (-0.0,), (math.nan, None), (), None),
    "map<string,int>": ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2}, {}, None),
    "struct<x:int,m:map<int,double>>": ((1, {1: math.nan}), (1, {1: 0.5}), (None, None), None),
    "variant": (
        *map(VariantText, ('{"a": 1, "b": [null]}', '{"b": [null], "a": 1}', '"a"', "[]", "7")),
        None,
    ),
}
WIDER = {"int": "bigint"}
NUMBERS = ("int", "bigint", "double", "decimal(10,2)")
Row = dict[str, Any]


@dataclass(frozen=True)
class State:
    """A version of a table: its columns' types by name, its rows, and what each column really is.

    A column keeps its number under another name; one of an old name that was added again has a new
    number.
    """

    columns: Mapping[str, str]
    rows: tuple[Row, ...]
    numbers: Mapping[str, int]


@dataclass(frozen=True)
class History:
    """A table's properties, and per version its state and the statement that made it.

    ``keys`` are two of its columns, an int and a string.
    """

    keys: tuple[str, str]
    properties: Mapping[str, str]
    states: tuple[State, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """Two versions of a table and how they are compared."""

    before: int
    after: int
    keys: tuple[str, ...]
    excluded: tuple[str, ...]
    tolerance: Mapping[str, Any]


def changes(before: State, after: State) -> tuple[Counter[Any], Counter[Any]]:
    """Removed and added rows, with the columns of the later version."""
    former = {number: name for name, number in before.numbers.items()}

    def rows(state: State, names: Mapping[str, str | None]) -> Counter[Any]:
        return Counter(
            tuple(
                canonical(row[own], after.columns[n]) if own else None for n, own in names.items()
            )
            for row in state.rows
        )

    gone = rows(before, {name: former.get(after.numbers[name]) for name in after.columns})
    come = rows(after, {name: name for name in after.columns})
    return gone - come, come - gone


def loses_track(history: History, question: Question) -> bool:
    """Whether names came back by RESTORE: then columns are known by their names only."""
    made = history.statements[question.before + 1 : question.after + 1]
    return any(text.startswith("restore") for text in made) and any(
        " rename " in text or " drop " in text for text in history.statements
    )


@dataclass(frozen=True)
class Difference:
    """What an answer must say; rows are those of no equal partner, in canonical form."""

    before: Counter[Any]
    after: Counter[Any]
    kinds: Counter[str]
    columns: Counter[str] | None  # None where rows of one key may be paired in several ways


def difference(question: Question, before: State, after: State) -> Difference:
    names = [
        name for name in after.columns if name in before.columns and name not in question.excluded
    ]
    types = {name: _common(before.columns[name], after.columns[name]) for name in names}
    left, right = (
        Counter(tuple(canonical(row[n], types[n]) for n in names) for row in state.rows)
        for state in (before, after)
    )
    left, right = left - right, right - left
    if not question.keys:
        kinds = Counter(removed=left.total(), added=right.total())
        return Difference(left, right, kinds, Counter())
    of_key: dict[Any, tuple[list[Any], list[Any]]] = {}
    for side, rows in enumerate((left, right)):
        for row in rows.elements():
            key = tuple(row[names.index(k)] for k in question.keys)
            of_key.setdefault(key, ([], []))[side].append(row)
    kinds, columns, certain = Counter(), Counter(), True
    for gone, come in of_key.values():
        pairs = min(len(gone), len(come))
        certain = certain and max(len(gone), len(come)) <= 1
        kinds += Counter(removed=len(gone) - pairs, added=len(come) - pairs, changed=pairs)
        for one, other in zip(gone[:pairs], come[:pairs], strict=True):
            changed = [
                n
                for n, a, b in zip(names, one, other, strict=True)
                if a != b and not near(question.tolerance.get(n), a, b)
            ]
            columns += Counter(changed)
            if not changed:
                kinds["changed"] -= 1
                left[one] -= 1
                right[other] -= 1
    return Difference(+left, +right, +kinds, columns if certain else None)


def near(tolerance: Any, one: Any, other: Any) -> bool:
    if tolerance is None or one is None or other is None or "NaN" in (one, other):
        return False
    if math.isinf(one) or math.isinf(other):
        return False
    if isinstance(tolerance, str):
        share = float(tolerance.rstrip("%")) / 100
        return bool(abs(float(one) - float(other)) <= share * max(abs(one), abs(other)))
    return bool(abs(float(one) - float(other)) <= float(tolerance) + 1e-12)


def canonical(value: Any, kind: str) -> Any:
    """A value so that equal ones are equal in Python; also one that came through JSON."""
    if value is None:
        return None
    if kind == "double":
        number = float(value)
        return "NaN" if math.isnan(number) else number + 0.0
    if kind.startswith("decimal"):
        return Decimal(str(value)).normalize()
    if kind == "variant":
        found = json.loads(value) if isinstance(value, VariantText) else value
        return json.dumps(found, sort_keys=True)
    if kind == "array<double>":
        return tuple(canonical(item, "double") for item in value)
    if kind == "map<string,int>":
        return frozenset(value.items())
    if kind.startswith("struct"):
        x, entries = value.values() if isinstance(value, dict) else value
        if entries is not None:
            entries = frozenset((int(k), canonical(v, "double")) for k, v in entries.items())
        return (x, entries)
    return value


def answered(row: str, names: Sequence[str], types: Mapping[str, str]) -> Any:
    found = json.loads(row, parse_float=Decimal)
    return tuple(canonical(found[name], types[name]) for name in names)


def _common(one: str, other: str) -> str:
    return other if WIDER.get(one) == other else one


def literal(value: Any, kind: str) -> str:
    if value is None:
        return f"cast(null as {kind})"
    if kind == "double":
        return f"double('{value}')"
    if kind == "array<double>":
        return f"cast(array({', '.join(literal(v, 'double') for v in value)}) as {kind})"
    if kind == "map<string,int>":
        items = ", ".join(f"'{k}', {v}" for k, v in value.items())
        return f"cast(map({items}) as {kind})"
    if kind.startswith("struct"):
        x, entries = value
        items = ", ".join(f"{k}, {literal(v, 'double')}" for k, v in (entries or {}).items())
        entries_text = "null" if entries is None else f"map({items})"
        return f"cast(named_struct('x', {literal(x, 'int')}, 'm', {entries_text}) as {kind})"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"parse_json('{text}')" if kind == "variant" else f"cast('{text}' as {kind})"


def select(columns: Mapping[str, str], rows: Sequence[Row]) -> str:
    def values(row: Row) -> str:
        return ", ".join(literal(row[n], t) + f" as {quoted(n)}" for n, t in columns.items())

    if not rows:
        return f"select {values(dict.fromkeys(columns))} where false"
    return " union all ".join(f"select {values(row)}" for row in rows)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A table of up to six versions; statements name it TABLE, the version of state N VERSION_N."""
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=4))
    mapping = draw(st.booleans())
    # What is drawn later adds and renames columns.
    names = some_names(draw(st.randoms(use_true_random=True)), len(all_names(mapping)), mapping)
    fed = draw(st.booleans()) and not mapping
    if fed:
        # Delta's own UPDATE of a table with a change feed fails at them.
        names = [name for name in names if "`" not in name]
    keys = names.pop(), names.pop()
    columns = dict(zip(keys, ("int", "string"), strict=True)) | {names.pop(): t for t in kinds}
    flags = {
        "delta.enableDeletionVectors": draw(st.booleans()),
        "delta.enableChangeDataFeed": fed,
        "delta.enableTypeWidening": True,
    }
    properties = {name: str(value).lower() for name, value in flags.items()}
    if mapping:
        properties["delta.columnMapping.mode"] = "name"
    pairs = ", ".join(f"'{k}' = '{v}'" for k, v in properties.items())
    state = State(columns, _rows(draw, columns, 2, 8), dict(zip(columns, count(), strict=False)))
    states = [state]
    statements = [
        f"create table TABLE using delta tblproperties ({pairs}) as " + select(columns, state.rows)
    ]
    wanted, serial = draw(st.integers(3, 6)), count(100)
    while len(states) < wanted:
        # One that does nothing in this state is drawn again.
        made = _step(draw, states, mapping, pairs, keys, names, serial)
        if made:
            statements.append(made[0])
            states.append(made[1])
    return History(keys, properties, tuple(states), tuple(statements))


def _rows(draw: st.DrawFn, columns: Mapping[str, str], low: int, high: int) -> tuple[Row, ...]:
    row = st.fixed_dictionaries({n: st.sampled_from(TYPES[t]) for n, t in columns.items()})
    return tuple(draw(st.lists(row, min_size=low, max_size=high)))


def _step(
    draw: st.DrawFn,
    states: Sequence[State],
    mapping: bool,
    pairs: str,
    keys: tuple[str, str],
    names: list[str],
    serial: Iterator[int],
) -> tuple[str, State] | None:
    """A statement that commits, and the state after it."""
    now = states[-1]
    number = keys[0]
    value = draw(st.sampled_from([*TYPES["int"], *[row[number] for row in now.rows] * 2]))
    matching = [row for row in now.rows if row[number] == value]
    chosen = draw(
        st.sampled_from(
            (
                "insert",
                "insert",
                "delete",
                "update",
                "update",
                "overwrite",
                "replace",
                "restore",
                "optimize",
                "add",
                "widen",
                "rename",
                "drop",
                "reorder",
            )
        )
    )
    where = f"where {quoted(number)} <=> {literal(value, 'int')}"
    values = [n for n in now.columns if n not in keys]
    if chosen == "insert":
        rows = _rows(draw, now.columns, 1, 3)
        return f"insert into TABLE {select(now.columns, rows)}", replace(now, rows=now.rows + rows)
    elif chosen == "delete" and matching:
        return f"delete from TABLE {where}", replace(now, rows=_without(now.rows, number, value))
    elif chosen == "update" and matching and values:
        name = draw(st.sampled_from(values))
        new = draw(st.sampled_from(TYPES[now.columns[name]]))
        rows = tuple(row | {name: new} if row[number] == value else row for row in now.rows)
        text = literal(new, now.columns[name])
        return f"update TABLE set {quoted(name)} = {text} {where}", replace(now, rows=rows)
    elif chosen in ("overwrite", "replace"):
        rows = tuple(draw(st.permutations(now.rows))) if draw(st.booleans()) else ()
        rows = rows or _rows(draw, now.columns, 0, 6)
        if chosen == "overwrite":
            return f"insert overwrite TABLE {select(now.columns, rows)}", replace(now, rows=rows)
        # Its columns may come in another order.
        columns = dict(draw(st.permutations(list(now.columns.items()))))
        begin = f"create or replace table TABLE using delta tblproperties ({pairs}) as"
        return f"{begin} {select(columns, rows)}", replace(now, columns=columns, rows=rows)
    elif chosen == "restore" and len(states) > 1:
        version = draw(st.integers(0, len(states) - 2))
        return f"restore table TABLE to version as of VERSION_{version}", states[version]
    elif chosen == "optimize":
        return "optimize TABLE", now
    elif chosen == "add":
        late = draw(st.sampled_from([*_gone(states, "string"), names.pop()]))
        rows = tuple(row | {late: None} for row in now.rows)
        return f"alter table TABLE add column {quoted(late)} string", State(
            {**now.columns, late: "string"}, rows, {**now.numbers, late: next(serial)}
        )
    elif chosen == "widen" and "int" in [now.columns[n] for n in values]:
        name = next(n for n in values if now.columns[n] == "int")
        return f"alter table TABLE alter column {quoted(name)} type bigint", replace(
            now, columns={**now.columns, name: "bigint"}
        )
    elif chosen == "rename" and mapping and values:
        old = draw(st.sampled_from(values))
        new = draw(st.sampled_from([*_gone(states, now.columns[old]), names.pop()]))

        def renamed(of: Mapping[str, Any]) -> dict[str, Any]:
            return {new if name == old else name: value for name, value in of.items()}

        text = f"alter table TABLE rename column {quoted(old)} to {quoted(new)}"
        rows = tuple(renamed(row) for row in now.rows)
        return text, State(renamed(now.columns), rows, renamed(now.numbers))
    elif chosen == "drop" and mapping and len(values) > 1:
        old = draw(st.sampled_from(values))

        def left(of: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in of.items() if name != old}

        rows = tuple(left(row) for row in now.rows)
        return f"alter table TABLE drop column {quoted(old)}", State(
            left(now.columns), rows, left(now.numbers)
        )
    elif chosen == "reorder" and values:
        name = draw(st.sampled_from(values))
        rest = {n: t for n, t in now.columns.items() if n != name}
        text = f"alter table TABLE alter column {quoted(name)} first"
        return text, replace(now, columns={name: now.columns[name], **rest})
    return None


def _gone(states: Sequence[State], kind: str) -> list[str]:
    """Names of former columns of a type, which another may take."""
    kinds: dict[str, set[str]] = {}
    for state in states:
        for name, own in state.columns.items():
            kinds.setdefault(name, set()).add(own)
    return [n for n, own in kinds.items() if own == {kind} and n not in states[-1].columns]


def _without(rows: Sequence[Row], number: str, value: Any) -> tuple[Row, ...]:
    return tuple(row for row in rows if row[number] != value)


@st.composite
def questions(draw: st.DrawFn, history: History) -> Question:
    states, (number, text) = history.states, history.keys
    before = draw(st.integers(0, len(states) - 1))
    # A version and itself is worth a question now and then.
    others = [n for n in range(len(states)) if n != before]
    after = draw(st.sampled_from([*others * 9, before]))
    one, other = states[before], states[after]
    common = [n for n in other.columns if n in one.columns]
    keys = draw(st.sampled_from([(), (number,), (number, text), (text,)]))
    free = [n for n in common if n not in keys]
    excluded = tuple(draw(st.lists(st.sampled_from(free), max_size=1))) if len(free) > 1 else ()
    tolerance: dict[str, Any] = {}
    unique = all(
        len({tuple(row[k] for k in keys) for row in s.rows}) == len(s.rows) for s in (one, other)
    )
    if keys and unique:
        for name in free:
            if name not in excluded and one.columns[name] in NUMBERS and draw(st.booleans()):
                tolerance[name] = draw(st.sampled_from([0.02, 0.3, 1, "20%", "5 %"]))
    return Question(before, after, keys, excluded, tolerance)
