"""Random snapshots, run by run, and what plain Python says of their tables.

Times are datetimes, in tables of dates dates. The time of run N is not known before; it is
``run_time(N)``, later than all data but those of FAR. An instant is written as UTC has it, as the
session's zone is another one in each run.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.functional.vocabulary import REDACTED, quoted, some_names

CURRENT = datetime(9999, 12, 31)
FIRST_DAY = datetime(2024, 1, 1)
FAR = (datetime(2999, 1, 1), datetime(9999, 12, 30, 23, 59, 59, 999999))
# In order. Some are one in the text of a zone with daylight saving (Berlin, New York, Auckland),
# some are a second or a microsecond apart.
MOMENTS = tuple(
    datetime.fromisoformat(text)
    for text in (
        "0001-01-01 00:00:00", "1900-01-01 00:00:00.500000",
        "2023-10-29 00:30:00", "2023-10-29 01:30:00", "2023-11-05 05:30:00", "2023-11-05 06:30:00",
        "2024-01-01 00:00:00", "2024-01-01 00:00:00.000001", "2024-01-01 00:00:01",
        "2024-03-31 00:59:59", "2024-03-31 01:00:00", "2024-04-06 13:30:00", "2024-04-06 14:30:00",
        "2024-12-31 23:59:59.999999",
    )
)  # fmt: skip
# Times of a feed in the future, where a run has no time.
AHEAD = datetime(2050, 1, 1)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kolkata")
STEPS = 5
META = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted")
TYPES = {"id": "string", "region": "string", "v1": "int", "v2": "string", "v3": "double"}
TYPES |= {"seq": "int", "op": "string"}
COLUMNS = (*TYPES, "at")
ID_AND_REGION = ("id || '-' || region",)
Time = datetime | date
Key = tuple[Any, ...]
Source = Mapping[str, Any]


def run_time(step: int) -> datetime:
    return datetime(2500, 1, 1) + timedelta(days=step)


class Refused(Exception):
    """The run must fail with this text, and change nothing."""


@dataclass(frozen=True)
class Case:
    """A snapshot, and its source at each run. What may change between runs is a tuple."""

    strategy: str
    keys: tuple[str, ...]
    time: str
    hard_deletes: tuple[str, ...]
    current: tuple[bool, ...]
    check_cols: tuple[Any, ...]
    columns: tuple[tuple[str, ...], ...]
    batches: tuple[tuple[Source, ...], ...]
    updated_at: bool = True
    late: bool = False  # of strategy timestamp only
    null_keys: str = "match"
    sequence: tuple[str, ...] = ()
    valid_from: str = ""
    scd_type: int = 2
    forgets: bool = False  # deletions of a feed
    same_in_any_order: bool = False
    renamed: bool = False
    vectors: bool = True
    mapped: bool = False
    redacted: bool = False
    spelled: Mapping[str, str] = field(default_factory=dict)  # the columns' names in SQL

    def name(self, column: str) -> str:
        """What a column is called in SQL."""
        return self.spelled.get(column, column)

    def unique_key(self) -> list[str]:
        """The configuration's keys: names, or an expression."""
        if self.keys == ID_AND_REGION:
            return [f"{quoted(self.name('id'))} || '-' || {quoted(self.name('region'))}"]
        return [self.name(key) for key in self.keys]

    def key_expressions(self) -> list[str]:
        """The keys in SQL."""
        if self.keys == ID_AND_REGION:
            return self.unique_key()
        return [quoted(key) for key in self.unique_key()]

    def model(self) -> str:
        """The snapshot's block, whose configuration and rows depend on the variable ``step``."""
        keys = self.unique_key()
        properties = {"delta.enableDeletionVectors": str(self.vectors).lower()}
        if self.mapped:
            properties["delta.columnMapping.mode"] = "name"
        if self.redacted:
            properties |= REDACTED
        config = {
            "strategy": self.strategy,
            "unique_key": keys if len(keys) > 1 else keys[0],
            "null_keys": self.null_keys,
            "tblproperties": properties,
        }
        at = self.name("at")
        if self.strategy == "timestamp":
            config |= {"updated_at": at, "scd2_late": "insert" if self.late else "ignore"}
        elif self.strategy == "check" and self.updated_at:
            config["updated_at"] = at
        elif self.strategy == "cdc":
            config |= {
                "cdc_sequence_by": [self.name(column) for column in self.sequence],
                "cdc_delete_when": f"{quoted(self.name('op'))} = 'D'",
                "cdc_scd_type": self.scd_type,
                "cdc_deletions": "forget" if self.forgets else "remember",
            }
            if self.valid_from:
                config["cdc_valid_from"] = self.name(self.valid_from)
        if self.renamed:
            config["snapshot_meta_column_names"] = {name: name[4:] for name in META}
        moving = [f"hard_deletes={_all_steps(self.hard_deletes)}[var('step')]"]
        if self.strategy == "check":
            shown = [[self.name(n) for n in c] if c != "all" else c for c in self.check_cols]
            moving.append(f"check_cols={_all_steps(shown)}[var('step')]")
        current = _all_steps([self.current_expression() if c else None for c in self.current])
        moving.append(f"dbt_valid_to_current={current}[var('step')]")
        fixed = [f"{name}={value!r}" for name, value in config.items()]
        sources = "".join(
            f"{{% {'elif' if step else 'if'} var('step') == {step} %}}\n{self.select(step)}\n"
            for step in range(len(self.batches) - 1)
        )
        return (
            f"{{% snapshot NAME %}}\n{{{{ config({', '.join(fixed + moving)}) }}}}\n{sources}"
            f"{{% else %}}\n{self.select(len(self.batches) - 1)}\n{{% endif %}}\n"
            "{% endsnapshot %}\n"
        )

    def current_expression(self) -> str:
        return f"date'{CURRENT:%Y-%m-%d}'"

    def table_time(self) -> str:
        """The type of dbt_valid_from, which a first build settles."""
        closes = self.strategy != "cdc" and self.hard_deletes[0] != "ignore"
        if self.strategy == "check" and not self.updated_at:
            return "timestamp"
        return "timestamp" if self.time == "date" and closes else self.time

    def select(self, step: int) -> str:
        columns = self.columns[step]
        rows = [
            f"({', '.join(self._literal(name, row[name]) for name in columns)})"
            for row in self.batches[step]
        ]
        nothing = f"({', '.join(self._literal(name, None) for name in columns)})"
        names = ", ".join(quoted(self.name(column)) for column in columns)
        values = ",\n    ".join(rows or [nothing])
        return f"select * from values\n    {values}\nas t({names})" + (
            "" if rows else " where false"
        )

    def _literal(self, name: str, value: Any) -> str:
        kind = self.time if name == "at" else TYPES[name]
        if value is None:
            return f"cast(null as {kind})"
        if value == NO_TEXT:
            return "cast(x'ff41' as string)"
        return f"cast('{value}{'Z' if kind == 'timestamp' else ''}' as {kind})"

    def key(self, row: Source) -> Key:
        if self.keys == ID_AND_REGION:
            return (
                None
                if row["id"] is None or row["region"] is None
                else f"{row['id']}-{row['region']}",
            )
        return tuple(row[name] for name in self.keys)

    def as_time(self, value: Time | None) -> Time | None:
        """A time as the table holds it."""
        if value is None or self.table_time() != "date":
            return value
        return value.date() if isinstance(value, datetime) else value


def _all_steps(values: Sequence[Any]) -> list[Any]:
    """As long as the longest case, as dbt reads the configuration of all of them."""
    return [*values, *[values[-1]] * (STEPS + 1 - len(values))]


@dataclass
class Row:
    """A row of a history; ``to`` is None while it is open."""

    key: Key
    values: dict[str, Any]
    start: Any
    to: Any
    updated: Any
    deleted: bool | None
    open_as: Any = None  # what dbt_valid_to then holds
    mark: bool = False  # a remembered deletion of a feed without its own row

    def is_deletion(self) -> bool:
        return self.mark or bool(self.deleted)


@dataclass
class Table:
    columns: tuple[str, ...] = ()
    has_flag: bool = False
    rows: list[Row] = field(default_factory=list)


def run(case: Case, table: Table | None, step: int) -> Table:
    """The table after a run.

    Raises:
        Refused: the run must fail.
    """
    source = case.batches[step]
    before = table or Table()
    columns = case.columns[step]
    has_flag = before.has_flag or case.hard_deletes[step] == "new_record"
    after = Table(
        before.columns + tuple(c for c in columns if c not in before.columns),
        has_flag,
        [replace(row, values=dict(row.values)) for row in before.rows],
    )
    if not case.current[step] and any(r.to is None and r.open_as is not None for r in after.rows):
        # They were open by a dbt_valid_to_current that is gone.
        raise Refused
    if case.null_keys == "error" and any(None in case.key(row) for row in source):
        raise Refused("null keys")
    if case.strategy == "cdc":
        (_cdc_latest if case.scd_type == 1 else _cdc)(case, after, step)
    else:
        _snapshot(case, after, step)
    for row in after.rows:
        row.values = {name: row.values.get(name) for name in after.columns}
    return after


def _stored(case: Case, step: int, row: Source) -> dict[str, Any]:
    return {name: row[name] for name in case.columns[step]}


def _later(case: Case, step: int, last: Time | None) -> Time:
    now = case.as_time(run_time(step))
    assert now is not None
    if last is None or now > last:
        return now
    return (
        last
        if isinstance(now, date) and not isinstance(now, datetime)
        else last + timedelta(microseconds=1)
    )


def _snapshot(case: Case, table: Table, step: int) -> None:
    source = case.batches[step]
    keys = [case.key(row) for row in source]
    if any(
        _is_news(case, table, step, row, key)
        for row, key in zip(source, keys, strict=True)
        if keys.count(key) > 1
    ):
        raise Refused("duplicate keys")
    if case.strategy == "timestamp" and any(row["at"] is None for row in source):
        raise Refused(f"keys without {case.name('at')}")
    open_as = case.as_time(CURRENT) if case.current[step] else None
    fresh: list[Row] = []

    def insert(
        key: Key, values: dict[str, Any], start: Any, updated: Any, deleted: bool, to: Any = None
    ) -> None:
        flag = deleted if table.has_flag else None
        fresh.append(Row(key, values, start, to, updated, flag, open_as))

    for row, key in zip(source, keys, strict=True):
        values = _stored(case, step, row)
        when = row["at"] if case.strategy == "timestamp" or case.updated_at else run_time(step)
        own = case.as_time(when)
        of_key, found = _history(table, key)
        updated = when if when is not None else _later(case, step, None)
        if found is None:
            ended = max((r.to for r in of_key), default=None)
            start = (
                own
                if own is not None and (ended is None or own >= ended)
                else _later(case, step, ended)
            )
            insert(key, values, start, updated if when is not None else start, False)
        elif found.deleted or _differs(case, step, found, row):
            start = (
                own if own is not None and own > found.start else _later(case, step, found.start)
            )
            found.to = start
            insert(key, values, start, updated if when is not None else start, False)
        elif _is_late(case, own, of_key, found):
            within = next((r for r in of_key if r.to is not None and r.start < own < r.to), None)
            to = within.to if within else min(r.start for r in of_key if r.start > own)
            if within:
                within.to = own
            insert(key, values, own, when, False, to)
    if case.hard_deletes[step] != "ignore":
        for gone in [r for r in table.rows if r.to is None and not r.deleted and r.key not in keys]:
            gone.to = _later(case, step, gone.start)
            if case.hard_deletes[step] == "new_record":
                insert(gone.key, dict(gone.values), gone.to, gone.to, True)
    table.rows += fresh


def _is_news(case: Case, table: Table, step: int, row: Source, key: Key) -> bool:
    """Whether the table does not have the row; then its key may come only once."""
    of_key, found = _history(table, key)
    if found is None or found.deleted or (case.strategy == "timestamp" and row["at"] is None):
        return True
    own = case.as_time(row["at"])
    return _differs(case, step, found, row) or _is_late(case, own, of_key, found)


def _history(table: Table, key: Key) -> tuple[list[Row], Row | None]:
    """The rows of a key, and the open one among them."""
    of_key = [r for r in table.rows if r.key == key]
    return of_key, next((r for r in of_key if r.to is None), None)


def _is_late(case: Case, own: Any, of_key: Sequence[Row], found: Row) -> bool:
    known = [time for row in of_key for time in (row.start, case.as_time(row.updated))]
    return case.late and own < found.start and own not in known


def _differs(case: Case, step: int, found: Row, row: Source) -> bool:
    if case.strategy == "timestamp":
        return bool(_comparable(found.updated) < _comparable(row["at"]))
    wanted = case.check_cols[step]
    checked = case.columns[step] if wanted == "all" else wanted
    return any(found.values.get(name) != row[name] for name in checked)


def _comparable(value: Time) -> datetime:
    return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)


# Changes in any order ---------------------------------------------------------------------------


def _events(case: Case, step: int) -> dict[Key, dict[Key, Source]]:
    """Of each key the distinct changes by their sequence."""
    found: dict[Key, dict[Key, Source]] = defaultdict(dict)
    for row in case.batches[step]:
        stored = _stored(case, step, row)
        if found[case.key(row)].setdefault(_sequence(case, row), stored) != stored:
            raise Refused("one sequence")
    if any(row[name] is None for row in case.batches[step] for name in (*case.sequence, "at")):
        raise Refused("keys without")
    return found


def _cdc(case: Case, table: Table, step: int) -> None:
    has_rows = case.hard_deletes[step] == "new_record"
    keeps = has_rows or not case.forgets
    open_as = case.as_time(CURRENT) if case.current[step] else None
    found = _events(case, step)
    _refuse_others(case, table, found)
    for key, events in found.items():
        rows = [r for r in table.rows if r.key == key]
        ends = {r.to for r in rows if r.to is not None and not r.mark}
        known = {(r.start, _sequence(case, r.values)) for r in rows}
        new = {(case.as_time(e["at"]), s): e for s, e in events.items()}
        new = {place: event for place, event in new.items() if place not in known}
        fresh = []
        for (start, _), event in new.items():
            is_deletion = event["op"] == "D"
            if keeps or not is_deletion:
                flag = is_deletion if table.has_flag else None
                mark = is_deletion and not has_rows
                end = start if mark else None
                fresh.append(Row(key, dict(event), start, end, start, flag, open_as, mark))
        changed = bool(fresh)
        if keeps:
            changed = _keep_last_values(case, table, [*rows, *fresh]) or changed
        places = known | set(new)
        for row in [r for r in rows + fresh if not r.mark]:
            own = (row.start, _sequence(case, row.values))
            after = [e for e in ends if e > row.start] + [p[0] for p in places if p > own]
            if row.to == row.start:
                after.append(row.to)
            to = min(after, default=None)
            changed = changed or to != row.to
            row.to = to
        in_sequence = [start for start, _ in sorted(places, key=lambda place: place[1])]
        if changed and in_sequence != sorted(in_sequence):
            raise Refused("decreases while")
        table.rows += fresh


def _refuse_others(case: Case, table: Table, events: Mapping[Key, Mapping[Key, Source]]) -> None:
    """In one place of the order table and source must tell the same; what is NULL may be news."""
    for row in table.rows:
        event = events.get(row.key, {}).get(_sequence(case, row.values))
        if event is None:
            continue
        is_delete = event["op"] == "D"
        if is_delete != row.is_deletion() or (
            not is_delete
            and any(row.values.get(name) not in (None, value) for name, value in event.items())
        ):
            # Time that goes back may be found first.
            raise Refused("" if case.valid_from else "has another change than the source")


def _sequence(case: Case, values: Mapping[str, Any]) -> Key:
    return tuple(values[name] for name in case.sequence)


def _keep_last_values(case: Case, table: Table, rows: Sequence[Row]) -> bool:
    """Gives deletions what the key had last, and their own place; whether that changed one."""
    changed = False
    places = [(row.start, _sequence(case, row.values)) for row in rows]
    for row, place in zip(rows, places, strict=True):
        before = [
            (at, other)
            for at, other in zip(places, rows, strict=True)
            if at < place and not other.is_deletion()
        ]
        if row.is_deletion() and before:
            last = max(before, key=lambda found: found[0])[1]
            own = {name: row.values[name] for name in case.sequence}
            held = {name: None for name in table.columns} | last.values | own
            changed = changed or any(row.values.get(n) != held[n] for n in held)
            row.values = held
    return changed


def _cdc_latest(case: Case, table: Table, step: int) -> None:
    keeps = case.hard_deletes[step] == "new_record"
    changes = _events(case, step)
    last = {key: {max(events): events[max(events)]} for key, events in changes.items()}
    _refuse_others(case, table, last)
    for key, events in last.items():
        sequence = max(events)
        event = events[sequence]
        is_delete = event["op"] == "D"
        found = next((r for r in table.rows if r.key == key), None)
        if found is None:
            if keeps or not is_delete:
                flag = is_delete if table.has_flag else None
                table.rows.append(Row(key, dict(event), None, None, None, flag))
        elif _sequence(case, found.values) < sequence:
            if not is_delete:
                found.values = {
                    **found.values,
                    **{n: None for n in found.values if n not in event},
                    **event,
                }
                found.deleted = False if table.has_flag else None
            elif keeps:
                found.values |= {name: event[name] for name in case.sequence}
                found.deleted = True
            else:
                table.rows.remove(found)


# Random cases ------------------------------------------------------------------------------------

# Bytes that are not valid UTF-8, as they are read.
NO_TEXT = "\ufffdA"
IDS = st.sampled_from(["1", "2", "3", "1", "2", "3", "1 ", "", "a|b", NO_TEXT, None])


def _one_in(draw: st.DrawFn, count: int) -> bool:
    """Rarely true; hypothesis likes the ends of a range."""
    return draw(st.integers(0, count - 1)) == count // 2


@st.composite
def cases(draw: st.DrawFn) -> Case:
    strategy = draw(st.sampled_from(["timestamp", "timestamp", "check", "check", "cdc"]))
    steps = draw(st.integers(2, STEPS))
    keys = draw(st.sampled_from([("id",), ("id",), ("id", "region"), ID_AND_REGION]))
    time = draw(st.sampled_from(["timestamp", "timestamp", "timestamp_ntz", "date"]))
    modes = st.sampled_from(["ignore", "invalidate", "new_record"])
    mode = draw(modes)
    hard_deletes = tuple(draw(modes) if _one_in(draw, 6) else mode for _ in range(steps))
    begins = draw(st.sampled_from([0, 1, steps, steps]))
    current = [step >= begins for step in range(steps)]
    if _one_in(draw, 8):
        current[draw(st.integers(0, steps - 1))] = False
    scd_type = draw(st.sampled_from([2, 2, 1])) if strategy == "cdc" else 2
    orderless = strategy == "cdc" and scd_type == 2 and not _one_in(draw, 4)
    if orderless:
        hard_deletes, current = (mode,) * steps, [current[0]] * steps
    sequence = draw(st.sampled_from([("at",), ("at", "seq"), ("seq",)]))
    case = Case(
        strategy=strategy,
        keys=keys,
        time=time,
        hard_deletes=hard_deletes,
        current=tuple(current),
        check_cols=_check_cols(draw, steps),
        columns=tuple(_columns(draw, strategy, 0 if orderless else s) for s in range(steps)),
        batches=(),
        updated_at=draw(st.booleans()),
        late=draw(st.booleans()) and strategy == "timestamp",
        null_keys=draw(st.sampled_from(["match", "match", "match", "error"])),
        sequence=sequence if strategy == "cdc" else (),
        valid_from="at" if sequence == ("seq",) else "",
        scd_type=scd_type,
        forgets=scd_type == 1 or (not orderless and draw(st.booleans())),
        same_in_any_order=orderless,
        renamed=_one_in(draw, 5),
        vectors=not _one_in(draw, 4),
        mapped=_one_in(draw, 3),
        redacted=_one_in(draw, 4),
    )
    names = some_names(draw(st.randoms(use_true_random=True)), len(COLUMNS), case.mapped)
    case = replace(case, spelled=dict(zip(COLUMNS, names, strict=True)))
    batches = _feed(draw, case, steps) if strategy == "cdc" else _states(draw, case, steps)
    if case.scd_type == 1:
        case = replace(case, hard_deletes=(mode,) * steps, current=(False,) * steps)
    return replace(case, batches=tuple(tuple(batch) for batch in batches))


def _check_cols(draw: st.DrawFn, steps: int) -> tuple[Any, ...]:
    choices = st.sampled_from(["all", ("v1",), ("v1", "v2")])
    usual = draw(choices)
    return tuple(draw(choices) if _one_in(draw, 6) else usual for _ in range(steps))


def _columns(draw: st.DrawFn, strategy: str, step: int) -> tuple[str, ...]:
    own = ("id", "region", *(("seq", "op") if strategy == "cdc" else ()), "at", "v1", "v2")
    return (*own, "v3") if step and _one_in(draw, 4) else own


def _values(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "v1": draw(st.sampled_from([0, 1, 2, None])),
        "v2": draw(st.sampled_from(["x", "y", "", "*********(redacted)", None])),
        "v3": draw(st.sampled_from([0.5, None])),
    }


def _states(draw: st.DrawFn, case: Case, steps: int) -> Iterator[list[Source]]:
    """A source from run to run: rows come, change, go and come back."""
    rows: dict[Key, Source] = {}
    for step in range(steps):
        for _ in range(draw(st.integers(0 if step else 1, 4))):
            row = {"id": draw(IDS), "region": draw(st.sampled_from(["n", "s", "b|c", None]))}
            key = case.key(row)
            if key in rows and draw(st.integers(0, 2)) == 0:
                del rows[key]
            else:
                when = _moment(case, draw(st.integers(0, 6)) + draw(st.integers(0, 2 * step)))
                far = draw(st.sampled_from(FAR)) if _one_in(draw, 60) else when
                odd = {"at": None if _one_in(draw, 60) else _day(case, far)}
                rows[key] = row | _values(draw) | odd
        batch = list(rows.values())
        if batch and _one_in(draw, 30):
            batch.append(batch[0] | _values(draw))
        yield batch


def _moment(case: Case, number: int) -> datetime:
    """The times of a source in their order; in tables of dates days."""
    if case.time == "date":
        return FIRST_DAY + timedelta(days=number)
    return MOMENTS[number] if number < len(MOMENTS) else AHEAD


def _day(case: Case, value: datetime) -> datetime:
    return datetime(value.year, value.month, value.day) if case.time == "date" else value


def _feed(draw: st.DrawFn, case: Case, steps: int) -> Iterator[list[Source]]:
    """A feed: several changes of a key, in any order, some again."""
    past: list[Source] = []
    for step in range(steps):
        batch: list[Source] = []
        for _ in range(draw(st.integers(0 if step else 1, 6))):
            if past and _one_in(draw, 4):
                batch.append(draw(st.sampled_from(past)))
                continue
            sequence = draw(st.integers(0, 9)) + (5 * step if draw(st.booleans()) else 0)
            batch.append(
                {"id": draw(IDS), "region": draw(st.sampled_from(["n", "s"]))}
                | _values(draw)
                | {
                    "seq": None if _one_in(draw, 80) else sequence,
                    "op": draw(st.sampled_from(["I", "U", "U", "D"])),
                    "at": _moment(case, sequence // 2),
                }
            )
        if case.same_in_any_order or not _one_in(draw, 8):
            batch = _without_conflicts(case, past, batch)
        for row in list(batch):
            if _one_in(draw, 6):
                batch.append(row)
        past += batch
        yield batch


def _without_conflicts(
    case: Case, past: Sequence[Source], batch: Sequence[Source]
) -> list[dict[str, Any]]:
    """The changes that say the same in any order, and are not refused."""
    kept: dict[Any, Source] = {(case.key(r), _sequence(case, r)): r for r in past}
    fine = []
    for row in batch:
        place = (case.key(row), _sequence(case, row))
        refused = case.null_keys == "error" and None in place[0]
        if row["seq"] is not None and not refused and kept.setdefault(place, row) == row:
            fine.append(dict(row))
    return fine


def in_another_order(case: Case, source: Random) -> Case:
    """The same feed shuffled, in batches of other sizes."""
    events = [row for batch in case.batches for row in batch]
    source.shuffle(events)
    cuts = sorted(source.choices(range(len(events) + 1), k=len(case.batches) - 1))
    ends = [*cuts, len(events)]
    batches = [tuple(events[a:b]) for a, b in zip([0, *cuts], ends, strict=True)]
    return replace(case, batches=tuple(batches))
