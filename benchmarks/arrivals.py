"""Files, streams and change feeds: what reading only what is new costs.

    ./run bench arrivals [--rounds 3] [--rows 2000000] [--files 1000] [--idle 10000]
                         [--megabytes 200]

- small files, large file: `landed_csv`, and by hand Spark's CSV reader with the file's name, which
  knows no file that it has had, no line number and no bad line.
- nothing new: the model runs again with `--idle` files in its folder and 1,000,000 in its table; by
  hand the same listing of the folder, which is compared with nothing.
- stream: `materialized: stream` without a key, and by hand Spark's `writeStream` into a table; ten
  commits of `--rows` rows in all, one micro-batch each.
- changes: 1,500 of `--rows` rows changed, `new_changes` with strategy `changes`, and by hand the
  table built anew.

Ours and the other side take turns on one warm driver. Seconds are those of run_results: no parsing,
no listing of schemas. Each round checks the rows. Writes results/arrivals.json and .md.
"""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._peers import HAND, OURS, timed

COLUMNS = "id bigint, kind string, amount decimal(9,2), at timestamp"
LANDED = """
    {{{{ config(materialized='incremental', incremental_strategy='append') }}}}
    {{{{ dbt_delta.landed_csv('{folder}', {{'id': 'bigint', 'kind': 'string',
        'amount': 'decimal(9,2)', 'at': 'timestamp'}}) }}}}
"""
STREAM = """
    {{ config(materialized='stream') }}
    select id, kind, amount from {{ dbt_delta.stream(ref('source'), max_files_per_trigger=4) }}
"""
CHANGES = """
    {{ config(materialized='incremental', incremental_strategy='changes', unique_key='id') }}
    select id, upper(kind) as kind, amount * 2 as amount, _change_type
    from {{ dbt_delta.new_changes(ref('source'), unique_key='id') }}
"""
ANEW = """
    {{ config(materialized='table') }}
    select id, upper(kind) as kind, amount * 2 as amount from {{ ref('source') }}
"""
ROWS = "id, concat('k', id % 7) as kind, cast(id % 1000 / 4 as decimal(9,2)) as amount"
KNOWN = 1_000_000


class Lab:
    """One driver and project, with one work after the other."""

    def __init__(self, home: Path, options: Any) -> None:
        self.driver = Driver(home, "4g")
        self.spark, self.landing, self.options = self.driver.spark, home / "landing", options
        self.project = self.driver.project("arrivals", {"models/source.sql": "select 1 as id"})

    def timed(self, work: Callable[[], None]) -> dict[str, float]:
        return timed(self.driver.jvm, work)

    def measure(self, name: str) -> dict[str, float]:
        measured = self.project.measure("-s", name)
        return {"wall": measured["wall"], "cpu": measured["cpu"]}

    def count(self, table: str) -> int:
        return int(self.spark.table(f"{self.project.schema}.{table}").count())

    def files(self, folder: str, number: int, rows: int) -> None:
        """CSV files of a landing folder, of so many rows in all."""
        place = self.landing / folder
        made = self.spark.sql(
            f"select {ROWS}, timestamp_seconds(1700000000 + id) as at from range({rows})"
        )
        made.repartition(number).write.option("header", True).csv(str(place))
        for other in (*place.glob(".*"), *place.glob("_*")):
            other.unlink()

    def land(self, name: str, folder: str, rows: int) -> dict[str, dict[str, float]]:
        self.project.write({f"models/{name}.sql": LANDED.format(folder=folder)})
        ours = self.measure(name)
        good = f"select count(*) from {self.project.schema}.{name} where _rejected_reason is null"
        # A file without a line is a row, too.
        assert self.spark.sql(good).first()[0] == rows, name
        hand = self.timed(lambda: self._read_by_hand(name, folder))
        assert self.count(f"{name}_hand") == rows, name
        return {OURS: ours, HAND: hand}

    def _read_by_hand(self, name: str, folder: str) -> None:
        read = (
            self.spark.read.schema(COLUMNS).option("header", True).csv(f"{self.landing}/{folder}")
        )
        named = read.selectExpr("*", "_metadata.file_path as file")
        named.write.format("delta").saveAsTable(f"{self.project.schema}.{name}_hand")

    def idle(self, name: str, folder: str) -> dict[str, dict[str, float]]:
        before = self._version(name)
        ours = self.measure(name)
        assert self._version(name) == before, "a run with nothing new made a commit"
        listing = f"select count(_metadata.file_size) from binaryFile.`{self.landing}/{folder}`"
        return {OURS: ours, HAND: self.timed(lambda: self._ask(listing))}

    def _ask(self, sql: str) -> None:
        self.spark.sql(sql).collect()

    def know(self, name: str) -> None:
        """Adds files to a ledger until it has a million."""
        table = f"{self.project.schema}.{name}"
        self.spark.sql(f"""
            insert into {table} by name
            select known.* except (_file, id), concat('old/', n, '.csv') as _file, n as id
            from (select * from {table} limit 1) as known
            cross join (select id as n from range({KNOWN - self.options.idle}))
        """)

    def _version(self, name: str) -> int:
        found = self.spark.sql(f"describe history {self.project.schema}.{name} limit 1")
        return int(found.first().version)

    def source(self, rows: int, commits: int) -> None:
        """The input: a Delta table with a change feed, of so many commits."""
        table = f"{self.project.schema}.source"
        self.spark.sql(
            f"create or replace table {table} (id bigint, kind string, amount decimal(9,2)) "
            "using delta tblproperties (delta.enableChangeDataFeed = true)"
        )
        for part in range(commits):
            first, last = rows * part // commits, rows * (part + 1) // commits
            self.spark.sql(f"insert into {table} select {ROWS} from range({first}, {last}, 1, 4)")

    def stream(self, number: int, rows: int) -> dict[str, dict[str, float]]:
        self.source(rows, 10)
        name = f"streamed_{number}"
        self.project.write({f"models/{name}.sql": STREAM})
        ours = self.measure(name)
        hand = self.timed(lambda: self._stream_by_hand(name))
        for table in (name, f"{name}_hand"):
            assert self.count(table) == rows, table
        self.project.write({f"models/{name}.sql": None})
        return {OURS: ours, HAND: hand}

    def _stream_by_hand(self, name: str) -> None:
        table = f"{self.project.schema}.{name}_hand"
        read = self.spark.readStream.option("maxFilesPerTrigger", 4).table(
            f"{self.project.schema}.source"
        )
        query = (
            read.select("id", "kind", "amount")
            .writeStream.option("checkpointLocation", str(self.driver.home / f"{table}.checkpoint"))
            .trigger(availableNow=True)
            .toTable(table)
        )
        query.awaitTermination()

    def changes(self, rows: int) -> dict[str, dict[str, float]]:
        self.source(rows, 1)
        self.project.write({"models/followed.sql": CHANGES, "models/anew.sql": ANEW})
        for name in ("followed", "anew"):
            self.project.measure("--full-refresh", "-s", name)
        self.spark.sql(
            f"update {self.project.schema}.source set kind = concat(kind, 'x') "
            f"where id % {rows // 1500} = 0"
        )
        found = {OURS: self.measure("followed"), HAND: self.measure("anew")}
        schema = self.project.schema
        left, right = f"select * from {schema}.followed", f"select * from {schema}.anew"
        different = f"select count(*) from ({left} except all {right})"
        assert self.spark.sql(different).first()[0] == 0
        return found


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("arrivals")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args(arguments)
    runs: list[dict[str, Any]] = []

    def note(number: int, work: str, found: dict[str, dict[str, float]]) -> None:
        for side, figures in found.items():
            run = {"round": number, "work": work, "peer": side, **figures}
            print(run, flush=True)
            if number:
                runs.append(run)

    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), options)
        # About 45 bytes a row.
        large = options.megabytes * 1_000_000 // 45
        lab.files("shop/small", options.files, 200 * options.files)
        lab.files("shop/large", 1, large)
        # The first round warms up.
        for number in range(options.rounds + 1):
            small = lab.land(f"small_{number}", "shop/small", 200 * options.files)
            note(number, "small files", small)
            note(number, "large file", lab.land(f"large_{number}", "shop/large", large))
            note(number, "stream", lab.stream(number, options.rows))
            note(number, "changes", lab.changes(options.rows))
        lab.files("shop/idle", options.idle, options.idle)
        lab.land("idle", "shop/idle", options.idle)
        lab.know("idle")
        for number in range(options.rounds + 1):
            note(number, "nothing new", lab.idle("idle", "shop/idle"))
    about = {**vars(options), "results": "", "runs": runs}
    results.publish(options.results, "arrivals", about, report)


def report(about: dict[str, Any]) -> str:
    others = {
        "small files": "Spark's CSV reader",
        "large file": "Spark's CSV reader",
        "nothing new": "the listing alone",
        "stream": "bare writeStream",
        "changes": "the table built anew",
    }
    lines = [
        "# Files, streams and change feeds",
        "",
        f"`./run bench arrivals`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        f"medians; {about['files']:,} small files of 200 lines, a file of {about['megabytes']} MB, "
        f"{about['idle']:,} files of {KNOWN:,} known ones, {about['rows']:,} rows in ten commits, "
        "1,500 of them changed. Ratios within each round.",
        "",
        "| work | ours, s | beside | s | ratio | ours, CPU s | CPU s | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for work, other in others.items():
        cells = []
        for key in ("wall", "cpu"):
            ours, hand = (_figures(about, work, side, key) for side in (OURS, HAND))
            ratio = statistics.median(a / b for a, b in zip(ours, hand, strict=True))
            cells += [f"{statistics.median(ours):.2f}", f"{statistics.median(hand):.2f}"]
            cells.append(f"{ratio:.2f}x")
        wall, cpu = cells[:3], cells[3:]
        lines.append(f"| {work} | {wall[0]} | {other} | {' | '.join([*wall[1:], *cpu])} |")
    return "\n".join([*lines, ""])


def _figures(about: dict[str, Any], work: str, side: str, key: str) -> list[float]:
    return [run[key] for run in about["runs"] if (run["work"], run["peer"]) == (work, side)]


if __name__ == "__main__":
    main()
