"""What a diff costs, and an undo.

    ./run bench diff [--rounds 3] [--rows 6000000] [--small 300000] [--models 50]

- the difference of two versions of a table of that many rows in 60 files, of which nothing, 1,500
  rows or 10 % changed: `diff` with a change feed, without one, a full outer join of the versions by
  hand, and reading the files that the change wrote;
- the same change in a small table, for the slope;
- `undo_run` of a run that wrote that many models, with one of dbt's threads and with four; a fresh
  driver's first undo does not count.

Seconds of a diff are those of Spark: the sum over the statements of a run operation, as dbt starts
and parses in the same time everywhere. Those of an undo are the whole command's, in a warm driver.
Writes results/diff.json and .md.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from tests.functional.tables import data_files

THREADS = (1, 4)
COLUMNS = ("id", "name", "kind", "amount", "city", "code", "day")
ROWS = """
    select
        id, concat('name ', id) as name, int(id % 1000) as kind, id * 1.5 as amount,
        concat('city ', id % 97) as city, string(id % 11) as code,
        date_add(date'2020-01-01', int(id % 1000)) as day
    from range(0, {rows}, 1, 60)
"""
FEED, FILES, JOIN, READ = "feed", "no feed", "full join", "changed files"


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("diff")
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--small", type=int, default=300_000)
    parser.add_argument("--models", type=int, default=50)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        runs = lab.diffs(options) + lab.undo(options)
    about = {"rounds": options.rounds, "runs": runs}
    results.publish(options.results, "diff", about, report)


class Lab:
    """Tables with and without a change feed, and a project that compares them."""

    def __init__(self, home: Path) -> None:
        self.driver = Driver(home, "4g")
        self.spark = self.driver.spark
        self.project = self.driver.project("diff", {"models/one.sql": "select 1 as id"})

    def diffs(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        runs = []
        for rows in (options.small, options.rows):
            changes = {"nothing": 0, "1,500 rows": 1500, "10 %": rows // 10}
            for work, count in changes.items():
                tables = {feed: self._table(rows, count, feed) for feed in (True, False)}
                # The first round warms up.
                for number in range(options.rounds + 1):
                    for peer in (FEED, FILES, JOIN, READ)[:: 1 if number % 2 else -1]:
                        found = {"rows": rows, "work": work, "peer": peer}
                        found |= self._diff(peer, tables[peer == FEED])
                        print(number, found, flush=True)
                        if number:
                            runs.append({"round": number, **found})
        return runs

    def _table(self, rows: int, changed: int, feed: bool) -> str:
        name = f"lab_{rows}_{changed}_{feed}".lower()
        table = f"{self.project.schema}.{name}"
        self.spark.sql(
            f"create table {table} using delta tblproperties ("
            "'delta.enableDeletionVectors' = 'true', "
            f"'delta.enableChangeDataFeed' = '{str(feed).lower()}') as {ROWS.format(rows=rows)}"
        )
        if changed:
            # Neighbours, as the newest rows are.
            self.spark.sql(f"update {table} set kind = kind + 1 where id < {changed}")
        else:
            self.spark.sql(f"optimize {table}")
        return table

    def _diff(self, peer: str, table: str) -> dict[str, float]:
        started = Reading.now(self.driver.jvm)
        if peer == JOIN:
            differs = " or ".join(f"not a.{c} <=> b.{c}" for c in COLUMNS)
            self.spark.sql(
                f"select count_if(a.id is null), count_if(b.id is null), count_if({differs}) "
                f"from {table} version as of 0 a full join {table} b on a.id = b.id"
            ).collect()
        elif peer == READ:
            self._read_changed_files(table)
        else:
            arguments = json.dumps({"model": table, "from": 0, "unique_key": "id", "limit": 3})
            ran = self.project.dbt("--quiet", "run-operation", "diff", "--args", arguments)
            taken = started.until(Reading.now(self.driver.jvm))
            return {"wall": spark_seconds(ran), "cpu": taken["cpu"]}
        taken = started.until(Reading.now(self.driver.jvm))
        return {"wall": taken["wall"], "cpu": taken["cpu"]}

    def _read_changed_files(self, table: str) -> None:
        """All that the last commit added and removed, column by column."""
        (detail,) = self.spark.sql(f"describe detail {table}").collect()
        folder = Path(detail.location.removeprefix("file:"))
        newest = max((folder / "_delta_log").glob("*.json"))
        actions = [json.loads(line) for line in newest.read_text().splitlines()]
        paths = {a[kind]["path"] for a in actions for kind in ("add", "remove") if kind in a}
        files = [str(folder / path) for path in paths if (folder / path).exists()]
        if files:
            frame = self.spark.read.parquet(*sorted(files))
            frame.write.format("noop").mode("overwrite").save()

    def undo(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        config = "{{ config(materialized='incremental', unique_key='id') }}"
        files = {
            f"models/m{n:03}.sql": f"{config} select id, {{{{ var('step') }}}} as n from range(100)"
            for n in range(options.models)
        }
        project = self.driver.project("undo", files)
        project.dbt("--quiet", "run", vars={"step": 0})
        runs = []
        for number in range(options.rounds + 1):
            for threads in THREADS:
                project.dbt("--quiet", "run", vars={"step": number + 1}, threads=threads)
                before, started = data_files(project), Reading.now(self.driver.jvm)
                ran = project.dbt(
                    *("--quiet", "run-operation", "undo_run", "--args", "{run: last}"),
                    vars={"step": 0},
                    threads=threads,
                )
                taken = started.until(Reading.now(self.driver.jvm))
                run = {
                    "round": number,
                    "rows": options.models,
                    "work": "undo",
                    "peer": f"{threads} threads",
                    "wall": taken["wall"],
                    "cpu": taken["cpu"],
                    "statements": len(ran.statements),
                    "files": len(data_files(project) - before),
                }
                print(run, flush=True)
                if number:
                    runs.append(run)
        return runs


def spark_seconds(ran: Any) -> float:
    """The sum over all statements of a dbt command."""
    return sum(e.data.elapsed for e in ran.events if e.info.name == "SQLQueryStatus")


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Diffs and undo",
        "",
        f"`./run bench diff`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        "medians of Spark's seconds; in brackets against the full join of the same rows.",
        "",
        f"| rows | changed | {FEED} | {FILES} | {JOIN} | {READ} |",
        "|---|---|---|---|---|---|",
    ]
    diffs = [run for run in about["runs"] if run["work"] != "undo"]
    for rows, work in dict.fromkeys((run["rows"], run["work"]) for run in diffs):
        walls = {
            peer: statistics.median(
                r["wall"] for r in diffs if (r["rows"], r["work"], r["peer"]) == (rows, work, peer)
            )
            for peer in (FEED, FILES, JOIN, READ)
        }
        cells = [
            f"{wall:.2f}" + (f" ({wall / walls[JOIN]:.2f}x)" if peer in (FEED, FILES) else "")
            for peer, wall in walls.items()
        ]
        lines.append(f"| {rows:,} | {work} | {' | '.join(cells)} |")
    undone = [run for run in about["runs"] if run["work"] == "undo"]
    taken = {
        peer: [
            statistics.median(run[what] for run in undone if run["peer"] == peer)
            for what in ("wall", "cpu")
        ]
        for peer in dict.fromkeys(run["peer"] for run in undone)
    }
    one = taken[f"{THREADS[0]} threads"][0]
    lines += [
        "",
        f"`undo_run` of {undone[0]['rows']} models, the whole command: "
        + ", ".join(
            f"{peer} {wall:.1f} s ({wall / one:.2f}x, {cpu:.1f} s of CPU)"
            for peer, (wall, cpu) in taken.items()
        )
        + f"; {undone[-1]['statements']} statements, {undone[-1]['files']} data files written.",
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
