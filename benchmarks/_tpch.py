"""TPC-H tables as Delta tables of many files in key order, and batches for them, made once."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BATCH = 1500
ORDER = ("o_orderkey",)
LINE = ("l_orderkey", "l_linenumber")
# Rows of a batch differ from those that a table has in one number and one text.
CHANGED = {
    "orders": "o_totalprice + 1 as o_totalprice, 'changed' as o_comment",
    "lineitem": "l_quantity + 1 as l_quantity, 'changed' as l_comment",
}
MART = """
select *
from (
    select
        o.o_orderkey, c.c_custkey, c.c_name, n.n_name, o.o_orderdate, l.revenue,
        row_number() over customer_orders as order_number,
        avg(l.revenue) over customer_orders as usual_revenue
    from (
        select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue
        from bench_data.lineitem
        group by l_orderkey
    ) as l
    join bench_data.orders as o on o.o_orderkey = l.l_orderkey
    join bench_data.customer as c on c.c_custkey = o.o_custkey
    join bench_data.nation as n on n.n_nationkey = c.c_nationkey
    window customer_orders as (partition by c.c_custkey order by o.o_orderdate, o.o_orderkey)
) as scored
where revenue >= usual_revenue
"""
# Three of the 2,406 days of the orders, 0.12 %; the last of them is not in the table yet.
MART_BATCH = f"{MART} and o_orderdate >= date'1998-07-31'"
MART_BASE = f"""
select /*+ repartition_by_range(30, o_orderkey) */ *
from ({MART} and o_orderdate < date'1998-08-02') as mart
"""


@dataclass(frozen=True)
class Target:
    """A table to merge into: a TPC-H table of a scale factor in so many files."""

    name: str
    table: str
    factor: float
    files: int
    keys: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Nominal; the number of line items differs by a few thousandths."""
        return round(self.factor * (1_500_000 if self.table == "orders" else 6_000_000))


class Tpch:
    """The folder of generated data: ``raw`` Parquet, ``base`` Delta tables, ``batch`` Parquet."""

    def __init__(self, folder: Path, spark: Any) -> None:
        self.folder = folder
        self._spark = spark

    def base(self, name: str) -> Path:
        return self.folder / "base" / name

    def batch(self, name: str) -> Path:
        return self.folder / "batch" / name

    def prepare(self, target: Target) -> None:
        """A table without its newest rows, and the newest and the scattered batch for it."""
        raw = generate(self.folder / "raw", target.table, target.factor, target.files)
        view = f"raw_{target.name}"
        self._spark.read.parquet(str(raw)).createOrReplaceTempView(view)
        newest = f"{target.name}_newest"
        once(self.batch(newest), lambda path: self._write_newest(path, target, view))
        self._spark.read.parquet(str(self.batch(newest))).createOrReplaceTempView("newest_rows")
        once(
            self.base(target.name),
            lambda path: self._write_base(
                path,
                f"select r.* from {view} as r left anti join"
                " (select * from newest_rows where is_new) as n"
                f" on {' and '.join(f'r.{key} = n.{key}' for key in target.keys)}",
                target.keys[0],
            ),
        )

    def prepare_scattered(self, target: Target, cycles: int) -> None:
        """Batches of keys from all files of the orders, others in each cycle."""
        # Of 32 order keys TPC-H uses the first eight.
        step = round(target.rows * 4 / BATCH / 32) * 32
        sql = (
            f"select * except (o_totalprice, o_comment), {CHANGED['orders']},"
            f" cast(o_orderkey % {step} / 32 as int) as cycle from delta.`{self.base(target.name)}`"
            f" where o_orderkey % {step} in ({', '.join(str(32 * n + 1) for n in range(cycles))})"
        )
        once(self.batch("scattered"), lambda path: self._write(path, sql))

    def prepare_mart(self, factor: float, files: int) -> None:
        """Tables of a scale factor, the mart that a model makes of them, and the mart's batch."""
        for table in ("lineitem", "orders", "customer", "nation"):
            raw = generate(self.folder / "raw", table, factor, files)
            self.register(f"bench_data.{table}", "parquet", raw)
        once(self.base("mart"), lambda path: self._write_base(path, MART_BASE, "o_orderkey"))
        once(self.batch("mart"), lambda path: self._write(path, MART_BATCH))

    def register(self, name: str, provider: str, path: Path) -> None:
        """Makes files a table of the catalog."""
        self._spark.sql("create schema if not exists bench_data")
        self._spark.sql(f"drop table if exists {name}")
        self._spark.sql(f"create table {name} using {provider} location '{path}'")

    def _write_newest(self, path: Path, target: Target, view: str) -> None:
        """The newest rows: one half changes what is in the table, the other is new to it."""
        first, order = target.keys[0], ", ".join(f"{key} desc" for key in target.keys)
        highest = self._spark.sql(f"select max({first}) from {view}").first()[0]
        changed = CHANGED[target.table]
        replaced = ", ".join(text.rpartition(" ")[2] for text in changed.split(", "))
        columns = ", ".join(self._spark.table(view).columns)
        self._write(
            path,
            f"select {columns}, is_new from (select * except ({replaced}), {changed},"
            f" row_number() over (order by {order}) <= {BATCH // 2} as is_new from {view}"
            f" where {first} > {highest - 8 * BATCH}) order by {order} limit {BATCH}",
        )

    def _write(self, path: Path, sql: str) -> None:
        self._spark.sql(sql).coalesce(1).write.parquet(str(path))

    def _write_base(self, path: Path, sql: str, cluster_key: str) -> None:
        # One file each of what the generator made, which is in key order.
        one_file_each = {
            "spark.sql.files.maxPartitionBytes": "1g",
            "spark.sql.files.openCostInBytes": "1g",
        }
        for key, value in one_file_each.items():
            self._spark.conf.set(key, value)
        try:
            self._spark.sql("create schema if not exists bench_data")
            self._spark.sql("drop table if exists bench_data.new_base")
            self._spark.sql(
                f"create table bench_data.new_base using delta cluster by ({cluster_key})"
                f" location '{path}' as {sql}"
            )
            self._spark.sql("drop table bench_data.new_base")
        finally:
            for key in one_file_each:
                self._spark.conf.unset(key)


def generate(raw: Path, table: str, factor: float, files: int) -> Path:
    """A TPC-H table of a scale factor as Parquet files in a folder below ``raw``, made once."""
    path = raw / f"{table}_{factor:g}_{files}"
    generator = Path(sys.executable).with_name("tpchgen-cli")

    def make(folder: Path) -> None:
        command = [generator, "parquet", "--quiet", "--tables", table, "--parts", str(files)]
        subprocess.run(
            [*command, "--scale-factor", str(factor), "--output-dir", folder], check=True
        )
        for file in (folder / table).iterdir():
            file.rename(folder / file.name)
        (folder / table).rmdir()

    once(path, make)
    return path


def once(path: Path, make: Callable[[Path], None]) -> None:
    """Makes a folder whole or not at all."""
    if path.exists():
        return
    print(f"making {path.parent.name}/{path.name}", flush=True)
    unfinished = path.with_name(f"{path.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    make(unfinished)
    unfinished.rename(path)
