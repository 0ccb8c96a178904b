"""Thirty nights of deliveries: TPC-H rows, and what happens to them, as files by night.

An event is a row as it is after a change, with ``op`` (U the row is there, D it is gone), ``seq``
(10 * night + its place in the night: the order of a key's events), ``changed_at`` and, once it is
delivered, ``delivered_at`` (UTC). The first night delivers nearly all rows of TPC-H. Each later one
has new, changed and deleted orders with their line items, about as many as TPC-H's refresh
functions (specification, 2.27 and 2.28: 0.1 % of the orders), and customers and parts that change.
Of these events 5 % come one to three nights late, 5 % twice in a file, and 5 % again two nights
later. All of it follows from the seed and the scale factor.
"""

import datetime as dt
import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._tpch import generate, once

NIGHTS = 30
FIRST_DAY = dt.date(2026, 1, 1)
# Shares of a table's rows.
NEW = CHANGED = 0.001
CHANGED_TWICE = DELETED = 0.0002
DIMENSIONS = 0.002
BAD_SHARE = 0.0005
# Shares of the events of a night.
LATE = TWICE = REPEATED = 0.05
MILLION = 1_000_000
# Rows per file of the first night; CSV is read as a whole.
FILE_ROWS = {"orders": 2_000_000, "lineitem": 4_000_000, "customer": 1_000_000, "part": 100_000}
KEYS = {
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
}
# The place of a deletion among the events of a key in a night.
DELETION = 3
BAD_LINES = (
    "7,a short line\n",
    "7,no number,M,B,T,1,BOX,cheap,,U,134,2026-01-13 04:00:00,2026-01-13 20:00:00\n",
    "7,no time,M,B,T,1,BOX,9.90,,U,134,yesterday,2026-01-13 20:00:00\n",
)


@dataclass(frozen=True)
class Calendar:
    """What goes wrong, and in which night; a shorter month has all of it, closer together."""

    nights: int = NIGHTS

    def _at(self, night: int) -> int:
        return max(2, round(night * self.nights / NIGHTS))

    @property
    def new_column(self) -> int:
        """From here on customers have a column c_email."""
        return self._at(9)

    @property
    def bad(self) -> int:
        """Rows that break the project's expectations, and lines of CSV that are none."""
        return self._at(13)

    @property
    def corrected(self) -> int:
        """Half of the bad orders come again, and are good."""
        return self.bad + 2

    @property
    def again(self) -> int:
        """The file of orders of ``copied`` is delivered a second time, under another name."""
        return self._at(16)

    @property
    def copied(self) -> int:
        return self._at(12)

    @property
    def crash(self) -> int:
        """The job is killed at a statement, and started again."""
        return self._at(18)

    @property
    def skipped(self) -> int:
        """The job does not run."""
        return self._at(21)

    @property
    def restore(self) -> int:
        """Before the job the orders are restored to what they were two runs ago."""
        return self._at(25)


@dataclass(frozen=True)
class Pick:
    """Which keys or rows a purpose of a night takes: a share of them, others for each purpose."""

    purpose: str
    night: int
    seed: int

    def of(self, number: str, share: float) -> str:
        """A condition on a column of numbers from 0 to 999,999."""
        offset = random.Random(f"{self.seed}/{self.purpose}/{self.night}").randrange(MILLION)
        return f"(({number} + {offset}) % {MILLION} < {round(share * MILLION)})"


def day(night: int) -> dt.date:
    return FIRST_DAY + dt.timedelta(days=night - 1)


def instant(night: int, hour: str) -> str:
    """A time in SQL: an hour (a number in SQL) of a night's day, in UTC."""
    start = int(dt.datetime.combine(day(night), dt.time(), dt.timezone.utc).timestamp())
    return f"make_timestamptz(({start} + 3600 * ({hour}))::bigint * 1000000)"


class Deliveries:
    """The folder ``landing`` of all nights' files: ``<table>/night_<number>[_<part>].<format>``."""

    def __init__(
        self, folder: Path, factor: float, seed: int = 1, churn: float = 1, nights: int = NIGHTS
    ) -> None:
        """``churn`` multiplies the shares of rows that change, for tries with few rows."""
        self.folder = folder
        self.calendar = Calendar(nights)
        self.landing = folder / f"landing_{factor:g}_{seed}_{churn:g}_{nights}"
        self._factor, self._seed, self._churn = factor, seed, churn

    def make(self) -> None:
        """Writes all files, once."""
        raw = {t: generate(self.folder / "raw", t, self._factor, 1) for t in KEYS}
        once(self.landing, lambda folder: self._write(raw, folder))

    def files(self, night: int) -> list[Path]:
        """The files that a night brings."""
        return sorted(self.landing.glob(f"*/night_{night:02}[._]*"))

    def deliver(self, night: int, landing: Path) -> int:
        """Puts a night's files into the landing folder of a peer; their bytes."""
        size = 0
        for file in self.files(night):
            target = landing / file.parent.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            size += file.stat().st_size
        return size

    def _write(self, raw: dict[str, Path], folder: Path) -> None:
        import duckdb

        folder.mkdir()
        # On disk: the line items of scale factor 10 are larger than memory.
        database = folder / "events.duckdb"
        with duckdb.connect(str(database)) as duck:
            duck.execute("set timezone = 'UTC'")
            duck.execute("set preserve_insertion_order = true")
            for table, keys in KEYS.items():
                duck.execute(f"create view {table} as from '{raw[table]}/*.parquet'")
                if table != "lineitem":
                    duck.execute(self._keys_sql(table, keys[0]))
            for table in KEYS:
                duck.execute(self._first_sql(table, "false"))
            for night in range(1, self.calendar.nights + 1):
                self._write_night(duck, folder, night)
        database.unlink()
        first = folder / "orders" / f"night_{self.calendar.copied:02}.parquet"
        shutil.copyfile(first, first.with_name(f"night_{self.calendar.again:02}_again.parquet"))

    def _keys_sql(self, table: str, key: str) -> str:
        """For each key two numbers by chance and the night in which it is new."""
        span = round(NEW * self._churn * MILLION)
        number = f"md5_number_lower({key} || '/{table}/{self._seed}')"
        other = f"md5_number_upper({key} || '/{table}/{self._seed}')"
        return f"""
            create table {table}_keys as
            select
                key, (lower % {MILLION})::int as a, (upper % {MILLION})::int as b,
                case when upper % {MILLION} < {span * (self.calendar.nights - 1)}
                    then (upper % {MILLION} // {max(span, 1)} + 2)::int else 1 end as arrives
            from (select {key} as key, {number} as lower, {other} as upper from {table})
        """

    def _pick(self, purpose: str, night: int, number: str, share: float) -> str:
        return Pick(purpose, night, self._seed).of(number, share * self._churn)

    def _first_sql(self, table: str, condition: str) -> str:
        """The table of events that are yet to be delivered, and in which night."""
        more = ", null::varchar as c_email" if table == "customer" else ""
        return f"""
            create table {table}_open as
            select *, 'U' as op, 0 as seq, {instant(1, "0")} as changed_at{more}, 0 as due
            from {table} where {condition}
        """

    def _events_sql(self, night: int) -> dict[str, str]:
        """The night's events of each table, without when they are delivered."""
        pick, there = self._pick, f"k.arrives < {night}"
        new = f"k.arrives = {night}"
        # Which keys have an event, by its place in the night.
        of_orders = {
            0: new,
            1: f"{there} and {pick('changed', night, 'k.a', CHANGED)}",
            2: f"{there} and {pick('changed', night, 'k.a', CHANGED_TWICE)}",
            DELETION: f"{there} and {pick('deleted', night, 'k.a', DELETED)}",
            4: f"{there} and {self._bad(night)}",
        }
        of_dimensions = {
            0: new,
            1: f"{there} and {pick('changed', night, 'k.a', DIMENSIONS)}",
            2: f"{there} and {pick('changed', night, 'k.a', DIMENSIONS / 10)}",
            DELETION: f"{there} and {pick('deleted', night, 'k.a', DIMENSIONS / 20)}",
        }
        bad = f"{night == self.calendar.bad} and e.place = 4"
        email = (
            f"'c' || c_custkey || '@night' || {night}"
            if night >= self.calendar.new_column
            else "null"
        )
        about = f"""
            if(e.place = {DELETION}, 'D', 'U') as op, {10 * night} + e.place as seq,
            {instant(night, "e.place")} as changed_at
        """
        orders = f"""
            select t.* replace (
                case when {bad} then -1 when e.place in (1, 2, 4)
                    then o_totalprice + {night} + e.place / 10.0 else o_totalprice
                end::decimal(15, 2) as o_totalprice,
                if(e.place in (1, 2), ['O', 'F', 'P'][({night} + e.place) % 3 + 1], o_orderstatus)
                    as o_orderstatus
            ), {about}
            from ({_places("orders", of_orders)}) as e join orders as t on o_orderkey = e.key
        """
        # A change of an order is one of each second line of it.
        lineitem = f"""
            select t.* replace (
                case when {bad} and l_linenumber % 2 = 0 then 0 when e.place in (1, 2, 4)
                    then l_quantity + {night} + e.place else l_quantity
                end::decimal(15, 2) as l_quantity,
                if({bad} and l_linenumber % 2 = 1, 9.99, l_discount)::decimal(15, 2) as l_discount
            ), {about}
            from ({_places("orders", of_orders)}) as e join lineitem as t on l_orderkey = e.key
            where e.place not in (1, 2) or (l_linenumber + e.place) % 2 = 0
        """
        customer = f"""
            select t.* replace (
                if(e.place in (1, 2), c_acctbal + {night} + e.place, c_acctbal)::decimal(15, 2)
                    as c_acctbal,
                if(e.place = 2, (c_nationkey + {night}) % 25, c_nationkey)::bigint as c_nationkey
            ), {about}, ({email})::varchar as c_email
            from ({_places("customer", of_dimensions)}) as e join customer as t on c_custkey = e.key
        """
        part = f"""
            select t.* replace (
                if(e.place in (1, 2), p_retailprice + {night} + e.place / 10.0, p_retailprice)
                    ::decimal(15, 2) as p_retailprice
            ), {about}
            from ({_places("part", of_dimensions)}) as e join part as t on p_partkey = e.key
        """
        return {"orders": orders, "lineitem": lineitem, "customer": customer, "part": part}

    def _bad(self, night: int) -> str:
        """The keys with a bad event, and the half of them that is corrected."""
        bad = self._pick("bad", self.calendar.bad, "k.a", BAD_SHARE)
        return {self.calendar.bad: bad, self.calendar.corrected: f"{bad} and k.b % 2 = 0"}.get(
            night, "false"
        )

    def _write_night(self, duck: Any, folder: Path, night: int) -> None:
        for table, sql in self._events_sql(night).items():
            chance = (
                f"md5_number_upper({' || '.join(f'{k} || chr(47)' for k in KEYS[table])} || seq)"
            )
            late = Pick("late", night, self._seed).of("chance", LATE)
            twice = Pick("twice", night, self._seed).of("chance", TWICE)
            repeated = Pick("repeated", night, self._seed).of("chance", REPEATED)
            if night == 1:
                late = twice = repeated = "false"
            duck.execute(
                f"""
                create or replace temp table night as
                select *, {chance if night > 1 else 0} % {MILLION} as chance
                from ({sql}) as events
                """
            )
            due = f"if({late}, {night} + 1 + chance % 3, {night})"
            duck.execute(
                f"""
                insert into {table}_open by name
                select * exclude (chance), {due}::int as due from night
                union all by name
                select * exclude (chance), {night} as due from night where {twice} and not {late}
                union all by name
                select * exclude (chance), {night} + 2 as due from night where {repeated}
                """
            )
            self._write_files(duck, folder / table, table, night)
            duck.execute(f"delete from {table}_open where due <= {night}")

    def _write_files(self, duck: Any, folder: Path, table: str, night: int) -> None:
        folder.mkdir(exist_ok=True)
        order = ", ".join((*KEYS[table], "seq"))
        hidden = (
            "due" if table != "customer" or night >= self.calendar.new_column else "due, c_email"
        )
        rows = duck.execute(f"select count(*) from {table}_open where due = {night}").fetchall()[0][
            0
        ]
        suffix, options = (
            ("csv", "format csv, header") if table == "part" else ("parquet", "format parquet")
        )
        size = FILE_ROWS[table]
        for number in range(max(-(-rows // size), 1)):
            name = f"night_{night:02}_{number:02}" if rows > size else f"night_{night:02}"
            path = folder / f"{name}.{suffix}"
            select = (
                f"select * exclude ({hidden}), {instant(night, '20')} as delivered_at"
                f" from {table}_open where due = {night}"
                f" order by {order} limit {size} offset {number * size}"
            )
            if table == "part":
                select = (
                    "select * replace (strftime(changed_at, '%Y-%m-%d %H:%M:%S') as changed_at,"
                    f" strftime(delivered_at, '%Y-%m-%d %H:%M:%S') as delivered_at) from ({select})"
                )
            duck.execute(f"copy ({select}) to '{path}' ({options})")
        if table == "part" and night == self.calendar.bad:
            with path.open("a") as file:
                file.writelines(BAD_LINES)


def _places(table: str, places: Mapping[int, str]) -> str:
    """Keys that meet the conditions, with the place of each in the night."""
    return " union all ".join(
        f"select k.key, {place} as place from {table}_keys as k where {condition}"
        for place, condition in places.items()
    )
