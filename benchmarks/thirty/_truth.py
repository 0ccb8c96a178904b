"""What the tables of the project must hold after a night, computed by DuckDB from the deliveries.

The rules, for whoever builds the tables: of the events of a key the one with the highest ``seq``
counts, whenever it is delivered; D removes the row; an event that breaks an expectation is left out
before that. ``part_history`` has the states that a run could see, ``customer_history`` all events.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.thirty._deliveries import KEYS

PART = (
    "'p_partkey': 'BIGINT', 'p_name': 'VARCHAR', 'p_mfgr': 'VARCHAR', 'p_brand': 'VARCHAR',"
    " 'p_type': 'VARCHAR', 'p_size': 'INTEGER', 'p_container': 'VARCHAR',"
    " 'p_retailprice': 'DECIMAL(15,2)', 'p_comment': 'VARCHAR', 'op': 'VARCHAR', 'seq': 'INTEGER',"
    " 'changed_at': 'TIMESTAMPTZ', 'delivered_at': 'TIMESTAMPTZ'"
)
GOOD = {
    "orders": "o_totalprice >= 0",
    "lineitem": "l_quantity > 0 and l_discount <= 1",
    "customer": "true",
    "part": "true",
}
REVENUE = "l_extendedprice * (1 - l_discount)"
# By table the query for it; {night}: night by night the same names mean what is delivered so far.
TABLES = {
    "orders": "select * exclude (op, delivered_at, night) from orders_now where op = 'U'",
    "lineitem": "select * exclude (op, delivered_at, night) from lineitem_now where op = 'U'",
    "part": "select * exclude (op, delivered_at, night) from part_now where op = 'U'",
    "customer": "select * exclude (op, delivered_at, night) from customer_now where op = 'U'",
    "customer_history": """
        select * exclude (op) from (
            select
                * exclude (changed_at), changed_at as valid_from,
                lead(changed_at) over (partition by c_custkey order by seq) as valid_to
            from (select distinct * exclude (delivered_at, night) from customer_good)
        ) where op = 'U'
    """,
    "part_history": """
        select distinct * exclude (op, run), changed_at as valid_from,
            seq = (select n.seq from part_now as n where n.p_partkey = s.p_partkey and n.op = 'U')
                is true as is_open
        from part_states as s where op = 'U'
    """,
    "order_events": """
        select distinct o_orderkey, seq, op, o_totalprice, delivered_at::date as delivered_on
        from orders_all
    """,
    "late_lines": """
        select distinct l_orderkey, l_linenumber, seq, l_commitdate, l_receiptdate
        from lineitem_all where op = 'U' and l_receiptdate > l_commitdate
    """,
    "daily_orders": """
        select o_orderdate, count(*) as orders, sum(o_totalprice) as price
        from orders group by o_orderdate
    """,
    "order_status": """
        select o_orderstatus, o_orderpriority, count(*) as orders
        from orders group by o_orderstatus, o_orderpriority
    """,
    "customer_value": """
        select o_custkey, count(*) as orders, sum(o_totalprice) as price,
            max(o_orderdate) as last_order
        from orders group by o_custkey
    """,
    "part_sales": f"""
        select l_partkey, sum(l_quantity) as quantity, sum({REVENUE}) as revenue
        from lineitem group by l_partkey
    """,
    "ship_modes": f"""
        select l_shipmode, date_trunc('month', l_shipdate)::date as month, count(*) as lines,
            sum({REVENUE}) as revenue
        from lineitem group by all
    """,
    "nation_revenue": f"""
        select c_nationkey, year(o_orderdate) as year, sum({REVENUE}) as revenue
        from lineitem join orders on o_orderkey = l_orderkey join customer on c_custkey = o_custkey
        group by all
    """,
    "orders_in_quarantine": """
        select distinct o_orderkey, seq from orders_all
        qualify not (o_totalprice >= 0) and night = max(night) over (partition by o_orderkey)
    """,
    "lines_in_quarantine": """
        select distinct l_orderkey, l_linenumber, seq from lineitem_all
        qualify not (l_quantity > 0)
            and night = max(night) over (partition by l_orderkey, l_linenumber)
    """,
}


@dataclass(frozen=True)
class Wrong:
    """How many rows of a table are missing, not true, and there more than once."""

    missing: int
    extra: int
    doubled: int
    rows: int

    @property
    def total(self) -> int:
        return self.missing + self.extra + self.doubled


class Truth:
    """The truth after a night; ``runs`` are the nights in which the job ran, this one included."""

    def __init__(self, landing: Path, runs: Sequence[int]) -> None:
        import duckdb

        self.duck: Any = duckdb.connect()
        self.duck.execute("set timezone = 'UTC'")
        night = max(runs)
        for table, keys in KEYS.items():
            self._read(landing / table, table, night)
            key = ", ".join(keys)
            self.duck.execute(
                f"create table {table}_good as from {table}_all where {GOOD[table]};"
                f"create table {table}_now as from {table}_good"
                f" qualify row_number() over (partition by {key} order by seq desc) = 1"
            )
        states = " union ".join(
            f"(select * exclude (delivered_at, night), {run} as run from part_good"
            f" where night <= {run}"
            " qualify row_number() over (partition by p_partkey order by seq desc) = 1)"
            for run in runs
        )
        self.duck.execute(f"create table part_states as {states}")
        # A later query reads the names of the tables of before.
        for name, query in TABLES.items():
            self.duck.execute(f"create or replace table {name} as {query}")

    def _read(self, folder: Path, table: str, night: int) -> None:
        """All rows delivered up to a night, each with the night of its file."""
        files = [
            str(file) for file in sorted(folder.iterdir()) if int(file.stem.split("_")[1]) <= night
        ]
        if table == "part":
            # strict_mode off would guess what a bad line means; ignore_errors leaves it out.
            source = f"read_csv({files}, columns={{{PART}}}, header=true, ignore_errors=true"
            source += ", delim=',', quote='\"', escape='\"', filename=true, null_padding=false)"
        else:
            source = f"read_parquet({files}, union_by_name=true, filename=true)"
        email = ""
        if table == "customer":
            names = [row[0] for row in self.duck.execute(f"describe from {source}").fetchall()]
            email = "" if "c_email" in names else ", null::varchar as c_email"
        self.duck.execute(
            f"create table {table}_all as select * exclude (filename){email},"
            f" regexp_extract(filename, 'night_([0-9]+)', 1)::int as night from {source}"
        )

    def wrong(self, table: str, rows: Path | None) -> Wrong:
        """Compares a table, as Parquet files in a folder (None: no such table), with the truth."""
        there = self.duck.execute(f"select count(*) from {table}").fetchall()[0][0]
        if rows is None:
            return Wrong(there, 0, 0, 0)
        columns = self.duck.execute(f"describe {table}").fetchall()
        theirs = {
            row[0] for row in self.duck.execute(f"describe from '{rows}/*.parquet'").fetchall()
        }
        casts = ", ".join(
            f"{name if name in theirs else 'null'}::{kind} as {name}" for name, kind, *_ in columns
        )
        self.duck.execute(
            f"create or replace temp table theirs as select {casts} from '{rows}/*.parquet'"
        )
        counts = self.duck.execute(
            f"""
            select
                (select count(*) from (from {table} except from theirs)),
                (select count(*) from (from theirs except from {table})),
                (select count(*) from theirs)
                    - (select count(*) from (select distinct * from theirs)),
                (select count(*) from theirs)
            """
        ).fetchall()[0]
        return Wrong(*counts)

    def examples(self, table: str, limit: int = 5) -> list[str]:
        """Some rows of the last comparison that differ, with a - (missing) or a + (not true)."""
        return [
            f"{sign} {row}"
            for sign, query in (
                ("-", f"from {table} except from theirs"),
                ("+", f"from theirs except from {table}"),
            )
            for row in self.duck.execute(
                f"select * from ({query}) order by all limit {limit}"
            ).fetchall()
        ]
