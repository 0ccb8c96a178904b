"""Snapshots of a million keys: ours, stock dbt-spark, and an SCD2 MERGE written by hand.

    ./run bench snapshots [--rounds 3] [--keys 1000000] [--shares 0 0.1 1 10] [--depth 10]

- a run in which that many percent of the rows differ from the run before, strategy check on all
  eight columns; by hand it is the usual one-pass MERGE of the source united with its changes;
- the same 0.1 % once every key has that many rows, which runs with all rows changed made.

The peers take turns on one warm driver and read one source. Seconds are from the first statement of
the snapshot to its last. Writes results/snapshots.json and .md.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from benchmarks._peers import HAND, OURS, STOCK, Project
from benchmarks.session import nodes_wall

COLUMNS = ("id", "name", "kind", "amount", "city", "code", "day", "at")
FIRST = """
    select
        id, concat('name ', id) as name, int(id % 1000) as kind, id * 1.5 as amount,
        concat('city ', id % 97) as city, string(id % 11) as code,
        date_add(date'2020-01-01', int(id % 1000)) as day, timestamp'2024-01-01' as at
    from range({keys})
"""
CHANGED = """
    select
        id, name, if({changes}, kind + 1, kind) as kind, amount, city, code, day,
        if({changes}, timestampadd(day, 1, at), at) as at
    from {source}
"""
SNAPSHOT = """
    {{% snapshot s %}}
    {{{{ config(strategy='check', unique_key='id', check_cols='all') }}}}
    select * from {source}
    {{% endsnapshot %}}
"""
BY_HAND = """
    merge into {table} as history
    using (
        select id as merge_key, * from {source}
        union all
        select null as merge_key, source.*
        from {source} as source
        inner join {table} as history on source.id = history.id
        where history.valid_to is null and ({differs})
    ) as source
    on history.id = source.merge_key
    when matched and history.valid_to is null and ({differs}) then
        update set valid_to = current_timestamp()
    when not matched then
        insert ({columns}, valid_from, valid_to)
        values ({values}, current_timestamp(), null)
"""


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("snapshots")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--shares", type=float, nargs="+", default=[0, 0.1, 1, 10])
    parser.add_argument("--depth", type=int, default=10)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), options.keys)
        runs = []
        # The first round warms up.
        for number in range(options.rounds + 1):
            for share in options.shares:
                lab.change(share)
                for peer in (OURS, STOCK, HAND) if number % 2 else (HAND, STOCK, OURS):
                    found = {"work": f"{share:g} %", "peer": peer, **lab.run(peer)}
                    print(number, found, flush=True)
                    if number:
                        runs.append({"round": number, **found})
        for _ in range(options.depth - 1):
            lab.change(100)
            lab.run(OURS)
        for number in range(1, options.rounds + 1):
            lab.change(0.1)
            runs.append(
                {"round": number, "work": f"0.1 %, {options.depth} deep", "peer": OURS}
                | lab.run(OURS)
            )
    about = {"rounds": options.rounds, "keys": options.keys, "runs": runs}
    results.publish(options.results, "snapshots", about, report)


class Lab:
    """The source, and a history of it for each peer."""

    def __init__(self, home: Path, keys: int) -> None:
        self.driver = Driver(home, "4g")
        self.spark = self.driver.spark
        self.spark.sql("create schema lab")
        self.source = "lab.source"
        self.spark.sql(f"create table {self.source} using delta as {FIRST.format(keys=keys)}")
        files = {"snapshots/s.sql": SNAPSHOT.format(source=self.source)}
        self.projects: dict[str, Project] = self.driver.projects("snapshots", files)
        for project in self.projects.values():
            project.dbt("--quiet", "snapshot")
        self.spark.sql(
            "create table lab.history using delta "
            "tblproperties ('delta.enableDeletionVectors' = 'true') as "
            "select *, current_timestamp() as valid_from, cast(null as timestamp) as valid_to "
            f"from {self.source}"
        )
        self.step = 0

    def change(self, share: float) -> None:
        """Changes so many percent of the rows, others each time."""
        self.step += 1
        changes = f"pmod(xxhash64(id, {self.step}), 1000000) < {int(share * 10_000)}"
        self.spark.sql(
            f"create or replace table {self.source} using delta as "
            + CHANGED.format(changes=changes, source=self.source)
        )

    def run(self, peer: str) -> dict[str, float]:
        started = Reading.now(self.driver.jvm)
        if peer == HAND:
            differs = " or ".join(f"not history.{c} <=> source.{c}" for c in COLUMNS)
            self.spark.sql(
                BY_HAND.format(
                    table="lab.history",
                    source=self.source,
                    differs=differs,
                    columns=", ".join(COLUMNS),
                    values=", ".join(f"source.{c}" for c in COLUMNS),
                )
            )
            taken = started.until(Reading.now(self.driver.jvm))
            return {"wall": taken["wall"], "cpu": taken["cpu"]}
        ran = self.projects[peer].dbt("--quiet", "snapshot")
        taken = started.until(Reading.now(self.driver.jvm))
        return {"wall": nodes_wall(ran.results), "cpu": taken["cpu"]}


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Snapshots: ours, stock dbt-spark, by hand",
        "",
        f"`./run bench snapshots`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        f"medians; {about['keys']:,} keys, strategy check on all of eight columns. Seconds of the "
        "snapshot, by hand of the MERGE; CPU of the whole command; ratios within each round.",
        "",
        "| changed | ours, s | stock, s | ratio | by hand, s | ratio | ours, CPU s | stock, CPU s "
        "| by hand, CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for work in dict.fromkeys(run["work"] for run in about["runs"]):
        ours, stock, hand = (_figures(about, work, peer, "wall") for peer in (OURS, STOCK, HAND))
        cpu = [_figures(about, work, peer, "cpu") for peer in (OURS, STOCK, HAND)]
        cells = [_median(ours), _median(stock), _ratio(ours, stock), _median(hand)]
        cells += [_ratio(ours, hand), *(_median(figures) for figures in cpu)]
        lines.append(f"| {work} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _figures(about: dict[str, Any], work: str, peer: str, key: str) -> list[float]:
    return [run[key] for run in about["runs"] if (run["work"], run["peer"]) == (work, peer)]


def _median(figures: list[float]) -> str:
    return f"{statistics.median(figures):.2f}" if figures else ""


def _ratio(ours: list[float], other: list[float]) -> str:
    if not other:
        return ""
    return f"{statistics.median(a / b for a, b in zip(ours, other, strict=True)):.2f}x"


if __name__ == "__main__":
    main()
