"""Models with expectations in every strategy, and what plain Python makes of their batches."""

import random
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from dbt_delta.session import retry
from tests.functional.harness import Project


class Row(NamedTuple):
    """A row of a batch; ``at`` is a day of January 2024."""

    id: int | None
    part: int | None
    at: int | None
    amount: float | None
    word: str | None


# A row, and the names of what it broke.
Quarantine = list[tuple[Row, tuple[str, ...]]]
COLUMNS = "id, part, at, amount, `wo``rd`"
TYPES = "step int, id int, part int, at timestamp, amount double, `wo``rd` string"
EXPECTATIONS = """[
    {'name': 'known_id', 'expression': 'id is not null', 'action': 'quarantine'},
    {'name': 'dated', 'expression': 'at is not null -- of the day', 'action': 'quarantine'},
    {'name': 'positive', 'expression': 'amount >= 0', 'action': 'quarantine'},
    {'name': 'short', 'expression': 'length(`wo``rd`) < 5', 'action': 'drop'},
    {'name': 'common', 'expression': 'part <> 2', 'action': 'warn'},
]"""
WORDS = ("a", "it's", "", "ü`", None, "a long one", "${x}")


def broken(row: Row) -> tuple[str, ...]:
    """The names of what a row breaks, in order; NULL breaks it, too."""
    keeps = {
        "known_id": row.id is not None,
        "dated": row.at is not None,
        "positive": row.amount is not None and row.amount >= 0,
        "short": row.word is not None and len(row.word) < 5,
        "common": row.part is not None and row.part != 2,
    }
    return tuple(name for name, kept in keeps.items() if not kept)


def good(batch: Sequence[Row]) -> list[Row]:
    return [row for row in batch if not {*broken(row)} - {"common"}]


def bad(batch: Sequence[Row]) -> Quarantine:
    quarantining = {"known_id", "dated", "positive"}
    return [(row, broken(row)) for row in batch if quarantining & {*broken(row)}]


def appended(quarantine: Quarantine, new: Quarantine) -> Quarantine:
    """With the new rows that are not there yet, as often as they are."""
    return quarantine + list((Counter(new) - Counter(quarantine)).elements())


def replaced(
    quarantine: Quarantine, batch: Sequence[Row], is_old: Callable[[Row], bool],
    is_new: Callable[[Row], bool],
) -> Quarantine:  # fmt: skip
    kept = [entry for entry in quarantine if not is_old(entry[0])]
    new = [entry for entry in bad(batch) if is_new(entry[0])]
    others = [entry for entry in bad(batch) if not is_new(entry[0])]
    return appended(kept, others) + new


@dataclass
class Model:
    """A model and what its relations must have."""

    config: str
    write: Callable[[list[Row], list[Row], Sequence[Row]], list[Row]]
    divert: Callable[[Quarantine, Sequence[Row]], Quarantine]
    where: Callable[[Row], bool] = lambda row: True
    sql_where: str = "true"
    rows: list[Row] = field(default_factory=list)
    quarantine: Quarantine = field(default_factory=list)
    is_built: bool = False

    def run(self, batch: Sequence[Row]) -> None:
        batch = [row for row in batch if self.where(row)]
        if not self.is_built:
            self.rows, self.quarantine, self.is_built = good(batch), bad(batch), True
            return
        self.rows = self.write(self.rows, good(batch), batch)
        self.quarantine = self.divert(self.quarantine, batch)


def _merge(old: list[Row], new: list[Row], batch: Sequence[Row]) -> list[Row]:
    keys = {row.id for row in new}
    return [row for row in old if row.id not in keys] + new


def _by_key(quarantine: Quarantine, batch: Sequence[Row]) -> Quarantine:
    keys = {row.id for row in batch} - {None}
    return replaced(quarantine, batch, lambda row: row.id in keys, lambda row: row.id is not None)


def _by_part(quarantine: Quarantine, batch: Sequence[Row]) -> Quarantine:
    parts = {row.part for row in batch}
    return replaced(quarantine, batch, lambda row: row.part in parts, lambda row: True)


def _parts(old: list[Row], new: list[Row], batch: Sequence[Row]) -> list[Row]:
    parts = {row.part for row in new}
    return [row for row in old if row.part not in parts] + new


def _above(row: Row) -> bool:
    return row.part is not None and row.part >= 1


def _by_day(quarantine: Quarantine, batch: Sequence[Row]) -> Quarantine:
    day = _day(batch)
    return replaced(quarantine, batch, lambda row: row.at == day, lambda row: row.at == day)


def _day(batch: Sequence[Row]) -> int:
    return next(row.at for row in batch if row.at is not None)


def _history(old: list[Row], new: list[Row], batch: Sequence[Row]) -> list[Row]:
    """Open rows: a key that is only bad keeps its row, a key that is gone loses it."""
    present, keys = {row.id for row in batch}, {row.id for row in new}
    return [row for row in old if row.id in present and row.id not in keys] + new


def models() -> dict[str, Model]:
    def all_bad(_: Quarantine, batch: Sequence[Row]) -> Quarantine:
        return bad(batch)

    def anew(_: list[Row], new: list[Row], __: Sequence[Row]) -> list[Row]:
        return new

    def incremental(text: str) -> str:
        return f"materialized='incremental', merge_skip_unchanged=true, {text}"

    return {
        "appended": Model(
            incremental("incremental_strategy='append'"),
            lambda old, new, _: old + new,
            lambda quarantine, batch: appended(quarantine, bad(batch)),
        ),
        "merged": Model(incremental("unique_key='id'"), _merge, _by_key),
        "latest": Model(
            incremental(
                "unique_key='id', duplicate_keys='latest', duplicate_keys_order_by='amount'"
            ),
            _merge, _by_key,
        ),
        "deleted": Model(
            incremental("unique_key='id', incremental_strategy='delete+insert'"), _merge, _by_key
        ),
        "overwritten": Model(
            incremental("incremental_strategy='insert_overwrite', partition_by='part'"),
            _parts, _by_part,
        ),
        "clustered": Model(
            incremental("incremental_strategy='insert_overwrite', liquid_clustered_by='part'"),
            _parts, _by_part,
        ),
        "whole": Model(incremental("incremental_strategy='insert_overwrite'"), anew, all_bad),
        "swapped": Model(
            incremental(
                "incremental_strategy='replace_where', incremental_predicates=['part >= 1']"
            ),
            lambda old, new, _: [row for row in old if not _above(row)] + new,
            lambda quarantine, batch: replaced(quarantine, batch, _above, _above),
            lambda row: _above(row) or row.id is None, "part >= 1 or id is null",
        ),
        "windowed": Model(
            incremental(
                "incremental_strategy='microbatch', event_time='at', begin='2024-01-01', "
                "batch_size='day', lookback=0"
            ),
            lambda old, new, batch: [row for row in old if row.at != _day(batch)] + new, _by_day,
        ),
        "rebuilt": Model("materialized='table', skip_unchanged=true", anew, all_bad),
        "viewed": Model("materialized='view'", anew, all_bad),
        "snapped": Model(
            "strategy='check', unique_key='id', check_cols='all', hard_deletes='invalidate'",
            _history, _by_key,
        ),
    }  # fmt: skip


def write(project: Project, all_models: dict[str, Model]) -> None:
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.src ({TYPES}) using delta")
    for name, model in all_models.items():
        head = f"{{{{ config({model.config}, expectations={EXPECTATIONS}) }}}}\n"
        body = (
            f"{head}select {COLUMNS} from {project.schema}.src "
            f"where step = {{{{ var('step') }}}} and ({model.sql_where})"
        )
        if name == "snapped":
            project.write(
                {"snapshots/snapped.sql": f"{{% snapshot snapped %}}{body}{{% endsnapshot %}}"}
            )
        else:
            project.write({f"models/{name}.sql": body})


def batch(numbers: random.Random) -> list[Row]:
    """Rows of one day, each key once; a few without a key, some of these twice."""
    day = numbers.choice((1, 2))
    ids: list[int | None] = [*numbers.sample(range(9), 6), None, None]
    rows = [
        Row(
            id,
            numbers.choice((0, 1, 1, 2, 3, None)),
            numbers.choice((day, day, day, day, None)),
            numbers.choice((0.0, 5.0, 7.0, 2.0, -1.0, None)),
            numbers.choice(WORDS),
        )
        for id in ids
    ]
    return [*rows, rows[-1], Row(20, 1, day, 1.0, "x"), Row(21, 0, day, -2.0, "y")]


def land(project: Project, step: int, rows: Sequence[Row]) -> None:
    texts = ", ".join(f"({step}, {', '.join(map(_literal, row))})" for row in map(_sql, rows))
    project.sql(f"insert into {{schema}}.src values {texts}")


def _sql(row: Row) -> tuple[object, ...]:
    at = None if row.at is None else f"2024-01-0{row.at} 12:00:00"
    return (row.id, row.part, at, row.amount, row.word)


def _literal(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024") + "'"
    return str(value)


def found(project: Project, name: str) -> list[Row]:
    where = " where dbt_valid_to is null" if name == "snapped" else ""
    rows = project.sql(f"select {COLUMNS} from {project.relation(name)}{where}")
    return ordered([_row(row) for row in rows])


def found_quarantine(project: Project, name: str) -> Quarantine:
    name = f"{name}__quarantine"
    rows = project.sql(f"select {COLUMNS}, _expectations from {project.relation(name)}")
    return ordered([(_row(row), tuple(row._expectations)) for row in rows])


def _row(row: Sequence[object]) -> Row:
    id, part, at, amount, word = list(row)[:5]
    return Row(id, part, at.day if at is not None else None, amount, word)  # type: ignore


def ordered(rows: list) -> list:
    return sorted(rows, key=str)


@contextmanager
def broken_off(is_broken: Callable[[str], Any]) -> Generator[None, None, None]:
    """Statements for which this is true fail before they run."""
    repeatedly = retry.repeatedly

    def broken(sql: str, *arguments: Any) -> Any:
        if is_broken(sql):
            raise RuntimeError("broken off")
        return repeatedly(sql, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "repeatedly", broken)
        yield
