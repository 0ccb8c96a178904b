"""What an incremental run must leave behind, by brute force and in plain Python.

Written from what the configurations are documented to mean in dbt and dbt-databricks, and from
what this package adds to them; nothing here looks at the package's macros. A table is a list of
columns and a list of rows; a run gives the next table and how many data commits it may make, or
raises ``Refused``: then nothing may have changed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.functional.harness import is_iceberg
from tests.functional.incremental.cases import (
    BASE,
    Batch,
    Case,
    Column,
    Condition,
    Type,
    find,
)

Record = dict[str, Any]  # values by the column's name in lower case
RANGES = {"int": 2**31, "bigint": 2**63}
# What Delta's documentation on type widening lists, of the types used here.
WIDENING = {
    ("int", "bigint"),
    ("decimal(10,2)", "decimal(14,4)"),
    ("date", "timestamp_ntz"),
}


# What Iceberg widens of these.
WIDENING_ON_ICEBERG = {("int", "bigint")}


def hive_partitions(case: Case) -> set[str]:
    """The columns whose partitions are folders of Hive, in lower case."""
    return set() if is_iceberg() else {name.lower() for name in case.partition_by}


class Refused(Exception):
    """The run must fail, and its message must hold each text, of a tuple one.

    ``after`` is the table after the run, if it changed.
    """

    def __init__(self, *texts: str | tuple[str, ...], after: "Table | None" = None) -> None:
        super().__init__(*texts)
        self.after = after


@dataclass
class Table:
    """A table's columns in order, and its rows in none."""

    columns: list[Column]
    rows: list[Record] = field(default_factory=list)
    has_ntz: bool = False  # the table feature, which comes with a column of the first build only


@dataclass
class Expected:
    """The table after a run, and the most data commits it may take."""

    table: Table
    commits: int = 1


def run(case: Case, table: Table | None, step: int, window: tuple[int, int]) -> Expected:
    """One run of the model on what the runs before left.

    Args:
        window: the days that a microbatch model is run for, from ``BASE`` on.

    Raises:
        Refused: the run must fail.
    """
    _check_config(case, is_build=table is None)
    batch = case.batches[min(step, len(case.batches) - 1)]
    rows = batch.records()
    if case.strategy == "microbatch":
        rows = [row for row in rows if _is_inside(row[_event(case)], window)]
    columns = [] if table is None else _checked_columns(case, batch, table)
    rows = _checked_keys(case, rows, is_build=table is None)
    if table is None:
        commits = window[1] - window[0] if case.strategy == "microbatch" else 1
        has_ntz = any("timestamp_ntz" in str(column.type) for column in batch.columns)
        for row in rows:
            _Writer(case, batch.columns, batch.columns, has_ntz).row(row)
        return Expected(Table(list(batch.columns), rows, has_ntz), commits)
    writer = _Writer(case, batch.columns, columns, table.has_ntz)
    before = [{c.key: _carried(row, table.columns, c) for c in columns} for row in table.rows]
    if case.strategy != "microbatch":
        writer.check(rows)
    if case.strategy == "merge":
        return _merge(case, before, rows, writer)
    expected = _other(case, before, rows, writer, window)
    still = case.options.get("merge_skip_unchanged") and columns == table.columns
    if still and contents(expected.table) == contents(Table(columns, before)):
        expected.commits = 0 if _replaces(case) else expected.commits
    return expected


def _replaces(case: Case) -> bool:
    """Whether the rows to replace can be found in the table."""
    if case.strategy == "replace_where":
        return bool(case.predicates)
    return case.strategy != "append"


# Before the write ------------------------------------------------------------------------------


def _check_config(case: Case, *, is_build: bool) -> None:
    if case.strategy in ("replace_where", "microbatch") and not is_build:
        partitions = hive_partitions(case)
        ops = [predicate.op for predicate in case.predicates]
        if "subquery" not in ops and any(
            predicate.op == "between" and predicate.column.lower() in partitions
            for predicate in case.predicates
        ):
            raise Refused("BETWEEN on the partition column")
    if case.strategy != "merge":
        return
    skips = [case.options.get(f"skip_{step}_step") for step in ("matched", "not_matched")]
    if all(skips) and not case.by_source:
        raise Refused("skip_matched_step", "skip_not_matched_step")
    if case.by_source_condition and not case.by_source:
        raise Refused("not_matched_by_source_action")
    if case.update_columns and case.exclude_columns and not is_build:
        raise Refused("merge_update_columns")


def _checked_keys(case: Case, rows: list[Record], *, is_build: bool) -> list[Record]:
    keys = [name.lower() for name in case.unique_key]
    if not keys:
        return rows
    if case.options.get("duplicate_keys") == "latest":
        assert case.order_by is not None
        order = case.order_by.lower()
        ordered = sorted(rows, key=lambda row: row[order])
        rows = list({_key(row, keys): row for row in ordered}.values())
    nulls = sum(any(row[key] is None for key in keys) for row in rows)
    if case.options.get("null_keys") == "error" and nulls:
        raise Refused("null keys", f": {nulls}, the first")
    counted = Counter(_key(row, keys) for row in rows)
    repeated = sum(count > 1 for count in counted.values())
    mode = case.options.get("duplicate_keys")
    # The first build has nothing that a key could match twice; there, only who asks is told.
    if repeated and (
        mode == "error" or (mode is None and case.strategy == "merge" and not is_build)
    ):
        raise Refused("duplicate keys", f": {repeated}, the first")
    partitions = hive_partitions(case)
    if (
        not is_build
        and case.strategy in ("merge", "delete+insert")
        and any(row[key] == "" for row in rows for key in keys if key in partitions)
    ):
        raise Refused("which Delta stores as NULL in a partition column")
    return rows


def _key(row: Record, names: Sequence[str]) -> tuple[Any, ...]:
    """NULL is a key like any other."""
    return tuple(row[name] for name in names)


# Columns ---------------------------------------------------------------------------------------


def _checked_columns(case: Case, batch: Batch, table: Table) -> list[Column]:
    def needs_ntz(columns: Sequence[Column]) -> bool:
        return not table.has_ntz and any("timestamp_ntz" in str(c.type) for c in columns)

    try:
        columns = _columns_after(case, batch.columns, table.columns)
    except Refused as refusal:
        if needs_ntz(batch.columns):  # two reasons: either may be named
            raise Refused((*refusal.args, "delta.feature.timestampNtz")) from None
        raise
    if needs_ntz(columns):
        raise Refused("delta.feature.timestampNtz")
    return columns


def _columns_after(case: Case, source: Sequence[Column], target: Sequence[Column]) -> list[Column]:
    mode = case.schema_mode
    if mode == "fail" and not _is_same(source, target):
        raise Refused("out of sync")
    if mode in ("ignore", "fail"):
        return list(target)
    return _evolved(case, source, target, is_top=True)


def _is_same(source: Sequence[Column], target: Sequence[Column]) -> bool:
    return len(source) == len(target) and all(
        (found := find(target, column.name)) is not None and _is_same_type(column.type, found.type)
        for column in source
    )


def _is_same_type(left: Type, right: Type) -> bool:
    if left.name == "struct" == right.name:
        return _is_same(left.fields, right.fields)
    return left.name == right.name and all(
        _is_same_type(a.type, b.type) for a, b in zip(left.fields, right.fields, strict=True)
    )


def _evolved(
    case: Case, source: Sequence[Column], target: Sequence[Column], *, is_top: bool = False
) -> list[Column]:
    sync = case.schema_mode == "sync_all_columns"
    columns = []
    for column in target:
        found = find(source, column.name)
        if found is not None:
            columns.append(Column(column.name, _evolved_type(case, found.type, column.type)))
        elif not sync:
            columns.append(column)
        elif case.properties.get("delta.columnMapping.mode") != "name":
            raise Refused("delta.columnMapping.mode")
        else:
            fixed = [name.lower() for name in case.partition_by + case.clustered_by]
            assert not (is_top and column.key in fixed), "not drawn"
    return columns + [column for column in source if find(target, column.name) is None]


def _evolved_type(case: Case, source: Type, target: Type) -> Type:
    if source.fields:
        if source.name == "struct":
            return Type("struct", tuple(_evolved(case, source.fields, target.fields)))
        pairs = zip(source.fields, target.fields, strict=True)
        return Type(
            target.name,
            tuple(Column(t.name, _evolved_type(case, s.type, t.type)) for s, t in pairs),
        )
    kept = source.name == target.name or (source.name, target.name) in WIDENING
    if case.schema_mode != "sync_all_columns" or kept:
        return target
    widens = WIDENING_ON_ICEBERG if is_iceberg() else WIDENING
    if (target.name, source.name) not in widens:
        raise Refused("widens")
    if case.properties.get("delta.enableTypeWidening") != "true":
        raise Refused("delta.enableTypeWidening")
    return source


def _carried(row: Record, columns: Sequence[Column], column: Column) -> Any:
    """A value of the table after its columns changed."""
    found = find(columns, column.name)
    return None if found is None else converted(row[column.key], found.type, column.type)


def converted(value: Any, source: Type, target: Type, kept: Any = None) -> Any:
    """A value as a column of another type holds it; fields that it lacks are those of ``kept``.

    Raises:
        Refused: the column would hold another value.
    """
    if value is None:
        return None
    if target.name == "struct":
        return {
            column.key: (kept or {}).get(column.key)
            if (found := find(source.fields, column.name)) is None
            else converted(value[found.key], found.type, column.type, (kept or {}).get(column.key))
            for column in target.fields
        }
    if target.name == "array":
        return [converted(v, source.fields[0].type, target.fields[0].type) for v in value]
    if target.name == "map":
        types = source.fields[1].type, target.fields[1].type
        return {key: converted(v, *types) for key, v in value.items()}
    if source.name == target.name:
        return value
    if target.name == "string":
        return str(value)
    if target.name.startswith("decimal"):
        digits, scale = (int(part) for part in target.name[8:-1].split(","))
        stored = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(stored) >= 10 ** (digits - scale) or stored != value:
            raise Refused("would change")
        return stored
    if target.name in RANGES:
        limit = RANGES[target.name]
        if not -limit <= value < limit:
            raise Refused("would change")
        return value
    if target.name == "timestamp_ntz" and not isinstance(value, datetime):
        return datetime.combine(value, time())
    if target.name == "date" and isinstance(value, datetime):
        if value.time() != time():
            raise Refused("would change")
        return value.date()
    return value


class _Writer:
    """Turns rows of the batch into rows of the table."""

    def __init__(
        self, case: Case, source: Sequence[Column], target: Sequence[Column], has_ntz: bool
    ) -> None:
        self.source, self.columns, self.has_ntz = source, list(target), has_ntz
        self.partitions = hive_partitions(case)

    def check(self, rows: Iterable[Record]) -> None:
        """Looks at the types of all rows, also of those that are not written."""
        for row in rows:
            for column in self.columns:
                self._converted(row, column)

    def value(self, row: Record, column: Column, kept: Any = None) -> Any:
        if column.key in self.partitions and row.get(column.key) == "":
            raise Refused("has an empty text")
        return self._converted(row, column, kept)

    def _converted(self, row: Record, column: Column, kept: Any = None) -> Any:
        found = find(self.source, column.name)
        if found is None:
            return None
        return converted(row[found.key], found.type, column.type, kept)

    def row(self, row: Record) -> Record:
        return {column.key: self.value(row, column) for column in self.columns}

    def table(self, rows: Iterable[Record]) -> Table:
        return Table(self.columns, list(rows), self.has_ntz)


# Strategies ------------------------------------------------------------------------------------


def _merge(case: Case, before: list[Record], rows: list[Record], writer: _Writer) -> Expected:
    keys = [name.lower() for name in case.unique_key]

    def is_match(source: Record, target: Record) -> bool:
        return (
            bool(keys)
            and _key(source, keys) == _key(target, keys)
            and all(test.holds(source, target) for test in case.predicates)
        )

    found: set[int] = set()
    after: list[Record] = []
    changes = 0
    for target in before:
        match = [n for n, source in enumerate(rows) if is_match(source, target)]
        found.update(match)
        if match:
            source = rows[match[0]]
            row = target
            if not case.options.get("skip_matched_step") and _holds(case.matched, source, target):
                row = {**target, **_updates(case, source, target, writer)}
            changes += row != target
            after.append(row)
        elif case.by_source and _holds(case.by_source_condition, None, target):
            changes += 1
            if case.by_source != "delete":
                after.append({**target, case.by_source.lower(): None})
        else:
            after.append(target)
    for n, source in enumerate(rows):
        if (
            n not in found
            and not case.options.get("skip_not_matched_step")
            and _holds(case.not_matched, source, None)
        ):
            changes += 1
            after.append(writer.row(source))
    promised = not rows or (case.options.get("merge_skip_unchanged") and keys)
    still = promised and not changes and not case.by_source
    return Expected(writer.table(after), 0 if still else 1)


def _updates(case: Case, source: Record, target: Record, writer: _Writer) -> Record:
    only = {name.lower() for name in case.update_columns}
    never = {name.lower() for name in case.exclude_columns}
    return {
        column.key: writer.value(source, column, target[column.key])
        for column in writer.columns
        if find(writer.source, column.name) is not None
        and (column.key in only if only else column.key not in never)
    }


def _other(
    case: Case,
    before: list[Record],
    rows: list[Record],
    writer: _Writer,
    window: tuple[int, int],
) -> Expected:
    if case.strategy == "append" or (case.strategy == "replace_where" and not case.predicates):
        return Expected(writer.table([*before, *map(writer.row, rows)]))
    if case.strategy == "microbatch":
        return _microbatch(case, before, rows, writer, window)
    if case.strategy == "replace_where":
        outside = sum(not _all(case.predicates, row) for row in rows)
        if outside:
            raise Refused(f"{outside} of {len(rows)} rows")
        kept = [row for row in before if not _all(case.predicates, row)]
        return Expected(writer.table([*kept, *map(writer.row, rows)]))
    if case.strategy == "insert_overwrite":
        names = [name.lower() for name in case.partition_by or case.clustered_by]
        replaced = {_key(row, names) for row in rows}
        kept = [row for row in before if names and _key(row, names) not in replaced]
        commits = 0 if names and not rows else 1
        return Expected(writer.table([*kept, *map(writer.row, rows)]), commits)
    assert case.strategy == "delete+insert"
    # A text limits the batch, as dbt-databricks has it; a list the rows deleted, as dbt has it.
    if case.predicates_as_text:
        rows = [row for row in rows if _all(case.predicates, row)]
    limits = () if case.predicates_as_text else case.predicates
    names = [name.lower() for name in case.unique_key]
    replaced = {_key(row, names) for row in rows}
    kept = [row for row in before if _key(row, names) not in replaced or not _all(limits, row)]
    return Expected(writer.table([*kept, *map(writer.row, rows)]), 1 if rows else 0)


def _microbatch(
    case: Case,
    before: list[Record],
    rows: list[Record],
    writer: _Writer,
    window: tuple[int, int],
) -> Expected:
    """Day by day, as dbt runs it: a day that is refused keeps its rows, the others go on.

    If the first day fails, dbt skips the others.
    """
    event = _event(case)
    after, refusal = before, None
    for first in range(*window):
        day = (first, first + 1)
        try:
            written = [writer.row(row) for row in rows if _is_inside(row[event], day)]
        except Refused as error:
            if first == window[0]:
                raise
            refusal = error
            continue
        after = [row for row in after if not _is_inside(row[event], day)] + written
    if refusal is not None:
        raise Refused(*refusal.args, after=writer.table(after))
    return Expected(writer.table(after), window[1] - window[0])


def _holds(test: Condition | None, source: Record | None, target: Record | None) -> bool:
    return test is None or test.holds(source, target) is True


def _all(tests: Sequence[Condition], row: Record) -> bool:
    return all(test.holds(None, row) for test in tests)


def _event(case: Case) -> str:
    assert case.event_time is not None
    return case.event_time.lower()


def _is_inside(value: Any, window: tuple[int, int]) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    elif not isinstance(value, datetime):
        assert isinstance(value, date)
        value = datetime.combine(value, time())
    return BASE + timedelta(days=window[0]) <= value < BASE + timedelta(days=window[1])


# Comparison ------------------------------------------------------------------------------------


def contents(table: Table) -> Counter[Any]:
    """The rows as to_json() shows them, to compare with what Spark gives."""
    return Counter(
        frozen({c.name: shown(row[c.key], c.type) for c in table.columns}) for row in table.rows
    )


def shown(value: Any, type: Type) -> Any:
    """A value as it comes back from JSON."""
    if value is None:
        return None
    if type.name == "struct":
        return {f.name: shown(value[f.key], f.type) for f in type.fields}
    if type.name == "array":
        return [shown(v, type.fields[0].type) for v in value]
    if type.name == "map":
        return {key: shown(v, type.fields[1].type) for key, v in value.items()}
    if type.name == "date":
        return value.isoformat()
    if type.name.startswith("timestamp"):
        return f"{value.isoformat(sep=' ', timespec='microseconds')}"
    return value


def frozen(value: Any) -> Any:
    """A JSON value that can be counted."""
    if isinstance(value, dict):
        return tuple(sorted((key, frozen(v)) for key, v in value.items()))
    if isinstance(value, list):
        return ("list", *map(frozen, value))
    return value
