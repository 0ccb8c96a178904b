"""What dbt does beside the data: listing a schema, and comparing a table with its YAML.

    ./run bench metadata [--rounds 3] [--foreign 0 50 200 1000] [--models 10 100]

- listing: a run of one small model in a schema that also holds that many tables of others;
- promises: a run of that many incremental models with nothing new, whose YAML has a property,
  descriptions and persist_docs, and did not change.

Ours and stock dbt-spark take turns on one warm driver, in the same kind of session. Whole commands
are measured, as listing comes before the first model. Writes results/metadata.json and .md.
"""

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from benchmarks._peers import OURS, STOCK, Project

SMALL = "{{ config(materialized='table') }} select 1 as id"
PROMISED = """
    {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
              tblproperties={'mine': 'a'}, persist_docs={'relation': true, 'columns': true}) }}
    select 1 as id, 'a' as name {% if is_incremental() %} where false {% endif %}
"""


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("metadata")
    parser.add_argument("--foreign", type=int, nargs="+", default=[0, 50, 200, 1000])
    parser.add_argument("--models", type=int, nargs="+", default=[10, 100])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        runs = [
            *measure(lab.listing(options.foreign), options.rounds, "foreign tables"),
            *measure(lab.promises(options.models), options.rounds, "models"),
        ]
    about = {"rounds": options.rounds, "runs": runs}
    results.publish(options.results, "metadata", about, report)


class Lab(Driver):
    """The driver and the projects."""

    def listing(self, counts: Sequence[int]) -> dict[int, dict[str, Project]]:
        pairs = {}
        for count in counts:
            pairs[count] = self.projects(f"listing_{count}", {"models/m.sql": SMALL})
            for project in pairs[count].values():
                for n in range(count):
                    self.spark.sql(f"create table {project.schema}.f_{n} (a int) using delta")
        return pairs

    def promises(self, counts: Sequence[int]) -> dict[int, dict[str, Project]]:
        pairs = {}
        for count in counts:
            entries = "".join(
                f"  - {{name: m_{n}, description: text, columns: ["
                "{name: id, description: the key}, {name: name, description: a name}]}\n"
                for n in range(count)
            )
            models = {f"models/m_{n}.sql": PROMISED for n in range(count)}
            pairs[count] = self.projects(
                f"promises_{count}", {**models, "models/s.yml": "models:\n" + entries}
            )
        return pairs


def measure(pairs: dict[int, dict[str, Project]], rounds: int, what: str) -> list[dict[str, Any]]:
    """Rounds of all, in turns; the first two only build and warm up."""
    runs = []
    for number in range(-2, rounds):
        for count, pair in pairs.items():
            for side in (OURS, STOCK) if number % 2 else (STOCK, OURS):
                project = pair[side]
                before, started = _commits(project), Reading.now(project._jvm)
                ran = project.dbt("--quiet", "run")
                taken = started.until(Reading.now(project._jvm))
                run = {"work": what, "count": count, "peer": side, "round": number, **taken}
                run["statements"] = len(ran.statements)
                run["commits"] = _commits(project) - before
                print(run, flush=True)
                if number >= 0:
                    runs.append(run)
    return runs


def _commits(project: Project) -> int:
    """Commits of the tables that its models made."""
    return sum(1 for _ in project.warehouse.glob("m*/_delta_log/*.json"))


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Metadata: ours and stock dbt-spark",
        "",
        f"`./run bench metadata`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        "medians; seconds of the whole command in a warm process, ratios within each round.",
    ]
    for what in ("foreign tables", "models"):
        found = [run for run in about["runs"] if run["work"] == what]
        counts = sorted({run["count"] for run in found})
        lines += [
            "",
            f"| {what} | peer | wall s | CPU s | statements | commits | against {counts[0]} |",
        ]
        lines += ["|---|---|---|---|---|---|---|"]
        for count in counts:
            for side in (OURS, STOCK):
                here = _pick(found, count, side)
                pairs = zip(here, _pick(found, counts[0], side), strict=True)
                growth = statistics.median(a["wall"] / b["wall"] for a, b in pairs)
                cells = [f"{_median(here, key):.2f}" for key in ("wall", "cpu")]
                cells += [f"{_median(here, key):.0f}" for key in ("statements", "commits")]
                lines.append(f"| {count} | {side} | {' | '.join(cells)} | {growth:.2f}x |")
    return "\n".join([*lines, ""])


def _pick(runs: list[dict[str, Any]], count: int, side: str) -> list[dict[str, Any]]:
    return [run for run in runs if (run["count"], run["peer"]) == (count, side)]


def _median(runs: list[dict[str, Any]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


if __name__ == "__main__":
    main()
