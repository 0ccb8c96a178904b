"""What maintenance costs, and what it gains.

    ./run bench maintenance [--rounds 3] [--appends 200] [--rows 20000] [--every 20] [--tables 100]

- that many appends of so many rows with keys at random: with OPTIMIZE .. ZORDER BY after each, as a
  model with zorder has it in dbt-databricks; with `maintain` after each --every; with neither. Then
  lookups of single keys: seconds, and how many of the table's files Spark opens;
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
LOOKUPS = 10
# Files of one megabyte are to this table what files of one gigabyte are to a thousand times it.
MODEL = """
    {{ config(materialized='table', zorder='id', maintenance={'target_file_mb': 1}) }}
    select 1 as id
"""
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
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        runs = lab.appends(options) + lab.plans(options)
    about = {"rounds": options.rounds, "appends": options.appends, "rows": options.rows}
    results.publish(options.results, "maintenance", {**about, "runs": runs}, report)


class Lab:
    """A table for each peer, and many small ones."""

    def __init__(self, home: Path) -> None:
        self.driver = Driver(home, "4g")
        self.spark = self.driver.spark

    def appends(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        projects = {
            peer: self.driver.project(name, {"models/t.sql": MODEL})
            for peer, name in {AFTER_EACH: "each", PLANNED: "planned", NONE: "none"}.items()
        }
        spent = {peer: {"wall": 0.0, "cpu": 0.0} for peer in projects}
        for project in projects.values():
            self.spark.sql(
                f"create table {project.schema}.t (id bigint, name string, x double) using delta"
            )
        # The first turns only warm up: their time counts for nobody.
        for number in range(options.appends):
            for peer, project in projects.items():
                taken = self._append(peer, project, number, options)
                if number >= options.every:
                    for key, value in taken.items():
                        spent[peer][key] += value
            print(number, {p: round(s["wall"], 1) for p, s in spent.items()}, flush=True)
        runs = []
        for number in range(options.rounds):
            for peer, project in projects.items():
                found = {"round": number, "work": "appends", "peer": peer, **spent[peer]}
                found |= self._look_up(project, number)
                print(found, flush=True)
                runs.append(found)
        return runs

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
        self.spark.sql(f"create table {first} (id bigint, name string, x double) using delta")
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
            found = {"round": number, "work": "plan", "peer": PLANNED, **taken}
            print(found, flush=True)
            if number >= 0:
                runs.append({**found, "tables": options.tables, "statements": len(ran.statements)})
        return runs


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Maintenance",
        "",
        f"`./run bench maintenance`, {about['date']}, {about['machine']}; {about['appends']} "
        f"appends of {about['rows']:,} rows, medians of {about['rounds']} rounds.",
        "",
        "| OPTIMIZE | append and maintain, s | ratio | CPU s | lookup, s | files opened | of |",
        "|---|---|---|---|---|---|---|",
    ]
    runs = [run for run in about["runs"] if run["work"] == "appends"]
    each = next(run["wall"] for run in runs if run["peer"] == AFTER_EACH)
    for peer in (AFTER_EACH, PLANNED, NONE):
        own = [run for run in runs if run["peer"] == peer]
        lookup, opened = (
            statistics.median(run[key] for run in own) for key in ("lookup", "opened")
        )
        cells = [f"{own[0]['wall']:.1f}", f"{own[0]['wall'] / each:.2f}x", f"{own[0]['cpu']:.1f}"]
        cells += [f"{lookup:.2f}", f"{opened:.1f}", f"{own[0]['files']:,}"]
        lines.append(f"| {peer} | {' | '.join(cells)} |")
    plans = [run for run in about["runs"] if run["work"] == "plan"]
    seconds = statistics.median(run["wall"] for run in plans)
    lines += [
        "",
        f"`maintenance_plan` of {plans[0]['tables']} tables with 25 commits each: {seconds:.1f} s, "
        f"{plans[0]['statements']} statements.",
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
