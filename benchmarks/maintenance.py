"""What maintenance costs, and what it gains.

    ./run bench maintenance [--rounds 3] [--appends 200] [--rows 20000] [--every 20] [--tables 100]
                            [--work appends lookups plans]

- that many appends of so many rows with keys at random: with OPTIMIZE .. ZORDER BY after each, as a
  model with zorder has it in dbt-databricks; with `maintain` after each --every; with neither;
- lookups of single keys in as many appends of ten times the rows: seconds, and how many of the
  table's files Spark opens. Once when nine tenths and a bit are there and `maintain` has put them
  in order, and once at the end, when the rest is not yet worth it: no state in between is worse;
- `maintenance_plan` of that many tables with 25 commits each.

The appends are the same INSERT for all, in turns on one warm driver. Seconds of run operations are
those of the whole command without dbt's start. Writes results/maintenance.json and .md.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading, data_files, opened_files
from benchmarks._peers import Project

AFTER_EACH, PLANNED, NONE = "after each run", "maintain", "none"
WORK = ["appends", "lookups", "plans"]
LOOKUPS = 10
# Files of one megabyte are to this table what files of one gigabyte are to a thousand times it.
MODEL = """
    {{ config(materialized='table', zorder='id', maintenance={'target_file_mb': 1}) }}
    select 1 as id
"""
BIG_MODEL = MODEL.replace("'target_file_mb': 1", "'target_file_mb': 16")
COLUMNS = "id bigint, name string, x double"
APPEND = """
    insert into {table}
    select pmod(xxhash64(id, {number}), 1000000000) as id, concat('name ', id) as name, rand() as x
    from range(0, {rows}, 1, 1)
"""


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("maintenance")
    parser.add_argument("--appends", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--work", nargs="+", choices=WORK, default=WORK)
    options = parser.parse_args(arguments)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        for work in options.work:
            runs += getattr(lab, work)(options)
    about = {"rounds": options.rounds, "appends": options.appends, "rows": options.rows}
    results.publish(options.results, "maintenance", {**about, "runs": runs}, report)


class Lab:
    """A table for each peer, and many small ones."""

    def __init__(self, home: Path) -> None:
        self.driver = Driver(home, "4g")
        self.spark = self.driver.spark

    def appends(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        projects = {
            peer: self._project(name, MODEL)
            for peer, name in {AFTER_EACH: "each", PLANNED: "planned", NONE: "none"}.items()
        }
        spent = {peer: {"wall": 0.0, "cpu": 0.0} for peer in projects}
        # The first turns only warm up: their time counts for nobody.
        for number in range(options.appends):
            for peer, project in projects.items():
                taken = self._append(peer, project, number, options)
                if number >= options.every:
                    for key, value in taken.items():
                        spent[peer][key] += value
            print(number, {p: round(s["wall"], 1) for p, s in spent.items()}, flush=True)
        return [{"work": "appends", "peer": peer, **seconds} for peer, seconds in spent.items()]

    def _project(self, name: str, model: str) -> Project:
        """With an empty table t."""
        project = self.driver.project(name, {"models/t.sql": model})
        self.spark.sql(f"create table {project.schema}.t ({COLUMNS}) using delta")
        return project

    def _append(
        self, peer: str, project: Project, number: int, options: argparse.Namespace
    ) -> dict[str, float]:
        table = f"{project.schema}.t"
        started = Reading.now(self.driver.jvm)
        self.spark.sql(APPEND.format(table=table, number=number, rows=options.rows))
        if peer == AFTER_EACH:
            self.spark.sql(f"optimize {table} zorder by (id)")
        elif peer == PLANNED and number % options.every == options.every - 1:
            project.dbt("--quiet", "run-operation", "maintain")
        return started.until(Reading.now(self.driver.jvm))

    def lookups(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        projects = {
            peer: self._project(name, BIG_MODEL)
            for peer, name in {PLANNED: "kept", NONE: "left"}.items()
        }
        # At the end the rest is just below unordered_share, a tenth.
        in_order = options.appends - (options.appends - 1) // 10
        runs, rows = [], options.rows * 10
        for first, last in ((0, in_order), (in_order, options.appends)):
            for peer, project in projects.items():
                table = f"{project.schema}.t"
                for number in range(first, last):
                    self.spark.sql(APPEND.format(table=table, number=number, rows=rows))
                if peer == PLANNED:
                    project.dbt("--quiet", "run-operation", "maintain")
                    operation = self.spark.sql(f"describe history {table} limit 1").first()
                    print(last, operation.operation, operation.operationParameters)
            for number in range(-1, options.rounds):
                for peer, project in projects.items():
                    found = {"round": number, "work": "lookups", "peer": peer, "appends": last}
                    found |= self._look_up(project, number)
                    print(found, flush=True)
                    if number >= 0:
                        runs.append(found)
        return runs

    def _look_up(self, project: Project, number: int) -> dict[str, float]:
        folder = project.warehouse / "t"
        (detail,) = self.spark.sql(f"describe detail {project.schema}.t").collect()
        opened, started = 0, Reading.now(self.driver.jvm)
        for key in range(LOOKUPS):
            with opened_files(folder) as names:
                self.spark.sql(
                    f"select * from {project.schema}.t "
                    f"where id = pmod(xxhash64({key}L, {number * LOOKUPS + key}), 1000000000)"
                ).collect()
            opened += len(names & data_files(folder).keys())
        taken = started.until(Reading.now(self.driver.jvm))
        return {
            "lookup": taken["wall"] / LOOKUPS,
            "opened": opened / LOOKUPS,
            "files": detail.numFiles,
        }

    def plans(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        models = {f"models/t{n}.sql": MODEL for n in range(options.tables)}
        project = self.driver.project("plans", models)
        first = f"{project.schema}.t0"
        self.spark.sql(f"create table {first} ({COLUMNS}) using delta")
        for number in range(24):
            self.spark.sql(APPEND.format(table=first, number=number, rows=10))
        for n in range(1, options.tables):
            folder = project.warehouse / f"t{n}"
            shutil.copytree(project.warehouse / "t0", folder)
            self.spark.sql(f"create table {project.schema}.t{n} using delta location '{folder}'")
        runs = []
        for number in range(-1, options.rounds):
            started = Reading.now(self.driver.jvm)
            ran = project.dbt(
                *("--quiet", "run-operation", "maintenance_plan", "--args", '{"output": "json"}')
            )
            taken = started.until(Reading.now(self.driver.jvm))
            assert all(line["steps"] for line in json.loads(ran.printed))
            found = {"round": number, "work": "plans", "peer": PLANNED, **taken}
            print(found, flush=True)
            if number >= 0:
                runs.append({**found, "tables": options.tables, "statements": len(ran.statements)})
        return runs


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Maintenance",
        "",
        f"`./run bench maintenance`, {about['date']}, {about['machine']}; medians of "
        f"{about['rounds']} rounds.",
    ]
    runs = {name: [run for run in about["runs"] if run["work"] == name] for name in WORK}
    if runs["appends"]:
        lines += [
            "",
            f"{about['appends']} appends of {about['rows']:,} rows, one round:",
            "",
            "| OPTIMIZE | append and maintain, s | ratio | CPU s |",
            "|---|---|---|---|",
        ]
        each = next(run["wall"] for run in runs["appends"] if run["peer"] == AFTER_EACH)
        for run in runs["appends"]:
            ratio = run["wall"] / each
            lines.append(f"| {run['peer']} | {run['wall']:.1f} | {ratio:.2f}x | {run['cpu']:.1f} |")
    if runs["lookups"]:
        lines += [
            "",
            f"Lookup of a key after appends of {about['rows'] * 10:,} rows. `maintain` put all of "
            "the first ones in order and left the others as they are:",
            "",
            "| appends | OPTIMIZE | lookup, s | files opened | of |",
            "|---|---|---|---|---|",
        ]
        for appends, peer in dict.fromkeys((r["appends"], r["peer"]) for r in runs["lookups"]):
            own = [r for r in runs["lookups"] if (r["appends"], r["peer"]) == (appends, peer)]
            lookup, opened = (
                statistics.median(run[key] for run in own) for key in ("lookup", "opened")
            )
            cells = [f"{appends}", peer, f"{lookup:.2f}", f"{opened:.1f}", f"{own[0]['files']:,}"]
            lines.append(f"| {' | '.join(cells)} |")
    if runs["plans"]:
        seconds = statistics.median(run["wall"] for run in runs["plans"])
        lines += [
            "",
            f"`maintenance_plan` of {runs['plans'][0]['tables']} tables with 25 commits each: "
            f"{seconds:.1f} s, {runs['plans'][0]['statements']} statements.",
        ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
