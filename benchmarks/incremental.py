"""Incremental models: this package, stock dbt-spark, PySpark by hand and the physical floor.

    ./run bench incremental [--rounds 3] [--only merge scattered mart idle statements]
        [--scale full|small] [--data FOLDER] [--memory 6g] [--results FOLDER]

One warm Spark driver. In each round each peer works on a copy of its own of the same table, in an
order that rotates; round 0 warms up and proves that all end with the same rows. See README.md.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import _report
from benchmarks._driver import Driver
from benchmarks._gauge import data_files, opened_files
from benchmarks._peers import (
    FLOOR,
    HAND,
    LOOK,
    ONE_STATEMENT,
    OURS,
    STOCK,
    Project,
    append_changes,
    merge_by_hand,
    timed,
)
from benchmarks._tpch import LINE, MART_BATCH, ORDER, Target, Tpch
from tests.functional import harness

Run = dict[str, Any]
Play = Callable[[int], Iterable[Run]]
RESULTS = Path(__file__).with_name("results")
VECTORS = "delta.enableDeletionVectors"
SETTINGS = (
    "spark.sql.shuffle.partitions",
    "spark.databricks.delta.snapshotPartitions",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism",
    "spark.driver.memory",
)


@dataclass(frozen=True)
class Scale:
    """How big everything is."""

    targets: tuple[Target, ...]
    scattered: Target
    cycles: int
    mart: float
    models: tuple[int, int]


_SIX_MILLION = Target("orders_6m", "orders", 4, 60, ORDER)
_SMALL = Target("orders_60k", "orders", 0.04, 6, ORDER)
SCALES = {
    "full": Scale(
        (
            Target("orders_300k", "orders", 0.2, 3, ORDER),
            _SIX_MILLION,
            Target("lineitem_60m", "lineitem", 10, 300, LINE),
        ),
        scattered=_SIX_MILLION,
        cycles=10,
        mart=2,
        models=(10, 50),
    ),
    "small": Scale(
        (_SMALL, Target("lineitem_600k", "lineitem", 0.1, 12, LINE)),
        scattered=_SMALL,
        cycles=2,
        mart=0.05,
        models=(2, 4),
    ),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="./run bench incremental")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--data", type=Path, help="default: bench in DBT_DELTA_HOME")
    parser.add_argument("--memory", default="6g", help="of the Spark driver")
    parser.add_argument("--results", type=Path, help="default: benchmarks/results, if full")
    parser.add_argument("--prepare", action="store_true", help="only make the data")
    options = parser.parse_args(arguments)
    data = options.data or Path(os.environ.get("DBT_DELTA_HOME", harness.REPOSITORY / "var"))
    data = (data if options.data else data / "bench").resolve() / options.scale
    data.mkdir(parents=True, exist_ok=True)
    results = options.results or (RESULTS if options.scale == "full" else data / "results")
    with tempfile.TemporaryDirectory(dir=data, prefix="home_") as folder:
        lab = Lab(SCALES[options.scale], data, Path(folder), options.memory)
        for name in options.only:
            play = WORKLOADS[name](lab)
            runs: list[Run] = []
            for number in range(0 if options.prepare else options.rounds + 1):
                for run in play(number):
                    runs.append({"round": number, **run})
                    print(name, _short(runs[-1]), flush=True)
                _save(results, name, lab, [run for run in runs if run["round"]])
        if not options.prepare:
            print((results / "incremental.md").read_text())


class Lab(Driver):
    """The driver, the data, and copies of tables to work on."""

    def __init__(self, scale: Scale, data: Path, home: Path, memory: str) -> None:
        super().__init__(home, memory)
        self.scale = scale
        self.spark.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
        self.tpch = Tpch(data, self.spark)
        self._expected: dict[str, Any] = {}

    def copy(self, base: str, schema: str, vectors: bool, name: str | None = None) -> "Copy":
        """A table of its own with the files of a base table, warm: its log was read.

        The files are hard links: Delta never changes one. So all peers read the same bytes.
        """
        path = self.home / "copies" / schema / (name or base)
        source = self.tpch.base(base)
        shutil.copytree(source / "_delta_log", path / "_delta_log")
        for file in source.iterdir():
            if file.is_file():
                (path / file.name).hardlink_to(file)
        copy = Copy(self, f"{schema}.{path.name}", path)
        self.spark.sql(f"create schema if not exists {schema}")
        self.spark.sql(f"create table {copy.table} using delta location '{path}'")
        if vectors:
            self.spark.sql(f"alter table {copy.table} set tblproperties ('{VECTORS}' = 'true')")
        first = self.spark.table(copy.table).columns[0]
        self.spark.sql(f"select * from {copy.table} where {first} = -1").collect()
        return copy

    def prove(self, copy: "Copy", keys: Iterable[str], base: str, batch: str) -> None:
        """Compares all rows of a copy with those of its base brought up to date.

        Raises:
            AssertionError: they differ.
        """
        columns = ", ".join(self.spark.table(copy.table).columns)
        if batch not in self._expected:
            on = " and ".join(f"t.{key} = s.{key}" for key in keys)
            self._expected[batch] = self._fingerprint(
                f"select {columns} from delta.`{self.tpch.base(base)}` as t"
                f" left anti join ({batch}) as s on {on}"
                f" union all select {columns} from ({batch}) as s"
            )
        found = self._fingerprint(f"select {columns} from {copy.table}")
        assert found == self._expected[batch], (copy.table, found, self._expected[batch])

    def _fingerprint(self, sql: str) -> Any:
        return self.spark.sql(
            "select count(*) as n, sum(cast(xxhash64(*) as decimal(38))) as hash"
            f" from ({sql}) as rows"
        ).first()


@dataclass(frozen=True)
class Copy:
    """A peer's table."""

    lab: Lab
    table: str
    path: Path

    def measure(self, act: Callable[[], Run]) -> Run:
        """What an action takes, and what it reads and writes of this table."""
        before, commits = data_files(self.path), self._commits()
        with opened_files(self.path) as opened:
            found = act()
        after = data_files(self.path)
        data = {name for name in before if name.endswith(".parquet")}
        return {
            **found,
            "files": len(data),
            "files opened": len(opened & data),
            "bytes written": sum(size for name, size in after.items() if name not in before),
            "commits": self._commits() - commits,
            "history": self._history(),
        }

    def drop(self) -> None:
        self.lab.spark.sql(f"drop table {self.table}")
        shutil.rmtree(self.path)

    def _commits(self) -> int:
        return len(list((self.path / "_delta_log").glob("*.json")))

    def _history(self) -> dict[str, Any]:
        last = self.lab.spark.sql(f"describe history {self.table} limit 1").first()
        metrics = {
            name: int(value)
            for name, value in sorted(last.operationMetrics.items())
            if value.isdigit() and value != "0"
        }
        return {"operation": last.operation, **metrics}


def merge_newest(lab: Lab) -> Play:
    """The newest 1,500 rows into tables of several sizes."""
    for target in lab.scale.targets:
        lab.tpch.prepare(target)
        newest = f"{target.name}_newest"
        lab.tpch.register(f"bench_data.{newest}", "parquet", lab.tpch.batch(newest))
    batches = {
        target.name: f"select * except (is_new) from bench_data.{target.name}_newest"
        for target in lab.scale.targets
    }
    projects = lab.projects(
        "newest",
        {
            f"models/{target.name}.sql": _model(batches[target.name], target.keys)
            for target in lab.scale.targets
        },
    )

    def play(number: int) -> Iterable[Run]:
        for target in lab.scale.targets:
            batch = batches[target.name]
            for peer in _rotated((OURS, STOCK, HAND, FLOOR), number):
                copy = lab.copy(target.name, _schema(projects, peer), peer in (OURS, HAND))
                act = _act(lab, projects, peer, copy, batch, target.keys, bounded=True)
                yield {"table": target.name, "rows": target.rows, "peer": peer, **copy.measure(act)}
                if number == 0 and peer != FLOOR:
                    lab.prove(copy, target.keys, target.name, batch)
                copy.drop()

    return play


def merge_scattered(lab: Lab) -> Play:
    """Keys scattered over all files, cycle after cycle; then reading what is left of the table."""
    target, cycles = lab.scale.scattered, lab.scale.cycles
    lab.tpch.prepare(target)
    lab.tpch.prepare_scattered(target, cycles)
    lab.tpch.register("bench_data.scattered", "parquet", lab.tpch.batch("scattered"))
    all_cycles = "select * except (cycle) from bench_data.scattered"
    batch = "select * from bench_data.scattered_now"
    projects = lab.projects("scattered", {f"models/{target.name}.sql": _model(batch, target.keys)})
    read = (
        "select count(*), sum(o_totalprice), max(o_orderdate), max(o_clerk), sum(length(o_comment))"
    )

    def play(number: int) -> Iterable[Run]:
        peers = _rotated((OURS, STOCK, HAND, FLOOR), number)
        copies = {
            peer: lab.copy(target.name, _schema(projects, peer), peer in (OURS, HAND))
            for peer in peers
        }
        for cycle in range(cycles if number else 1):
            lab.spark.sql(
                "create or replace view bench_data.scattered_now as"
                f" {all_cycles} where cycle = {cycle}"
            )
            for peer in _rotated(peers, cycle):
                copy = copies[peer]
                act = _act(lab, projects, peer, copy, batch, target.keys)
                yield {"cycle": cycle, "peer": peer, **copy.measure(act)}
        if number < 2:
            done = f"{all_cycles} where cycle <= {cycle}"
            for peer in (OURS, STOCK, HAND):
                lab.prove(copies[peer], target.keys, target.name, done)
        clean = {"clean": lab.copy(target.name, "bench_clean", False)}
        copies.pop(FLOOR).drop()
        for turn in range(6):
            for name, copy in _rotated(tuple((copies | clean).items()), turn):
                sql = f"{read} from {copy.table}"
                found = timed(lab.jvm, lambda sql=sql: lab.spark.sql(sql).collect())
                if turn:
                    yield {"read": name, "turn": turn, **found}
        for copy in (copies | clean).values():
            copy.drop()

    return play


def upsert_mart(lab: Lab) -> Play:
    """A SELECT that is expensive, of which few rows are left to write."""
    lab.tpch.prepare_mart(lab.scale.mart, 4)
    lab.tpch.register("bench_data.mart_changes", "parquet", lab.tpch.batch("mart"))
    keys = ("o_orderkey",)
    projects = lab.projects("mart", {"models/mart.sql": _model(MART_BATCH, keys)})

    def play(number: int) -> Iterable[Run]:
        for peer in _rotated((OURS, STOCK, HAND, FLOOR), number):
            copy = lab.copy("mart", _schema(projects, peer), peer in (OURS, HAND))
            act = _act(lab, projects, peer, copy, MART_BATCH, keys, expensive=True)
            yield {"peer": peer, **copy.measure(act)}
            if number == 0 and peer != FLOOR:
                changes = "select * from bench_data.mart_changes"
                lab.prove(copy, keys, "mart", changes)
            copy.drop()

    return play


def nothing_new(lab: Lab) -> Play:
    """Models whose sources have nothing new.

    The floor is `select 1` through dbt; `look` is the model's SELECT alone: no engine can know
    that nothing is new without it.
    """
    target = lab.scale.scattered
    lab.tpch.prepare(target)
    lab.tpch.prepare_scattered(target, lab.scale.cycles)
    lab.tpch.register("bench_data.scattered", "parquet", lab.tpch.batch("scattered"))
    few, many = lab.scale.models
    select = "select * except (cycle) from bench_data.scattered"
    newer = "where o_orderkey > (select max(o_orderkey) from {})"
    model = f"{select} {newer.format('{{ this }}')}"
    one_statement = "{{ config(materialized='one_statement') }} "

    def files(text: Callable[[int], str], prefix: str) -> dict[str, str]:
        folder = {number: "few" if number < few else "rest" for number in range(many)}
        return {f"models/{folder[n]}/{prefix}_{n}.sql": text(n) for n in folder}

    projects = lab.projects("idle", files(lambda _: _model(model, target.keys), "idle"))
    for peer, project in projects.items():
        for number in range(many):
            lab.copy(target.name, project.schema, peer == OURS, f"idle_{number}")
    table = f"{projects[OURS].schema}.idle_{{}}"
    for peer, text in {
        FLOOR: lambda _: "select 1",
        LOOK: lambda n: f"{select} {newer.format(table.format(n))}",
    }.items():
        models = files(lambda n, text=text: one_statement + text(n), peer)
        macros = {"macros/one_statement.sql": ONE_STATEMENT}
        projects[peer] = lab.project(peer, {**models, **macros})
    projects_of_models = {few: ("-s", "few"), many: ()}

    def commits() -> int:
        return len(list((lab.home / "copies").glob("*/idle_*/_delta_log/*.json")))

    def play(number: int) -> Iterable[Run]:
        if number == 0:
            for project in projects.values():
                project.measure()
        for count, selection in projects_of_models.items():
            for peer in _rotated((OURS, STOCK, LOOK, FLOOR), number):
                before = commits()
                found = projects[peer].measure(*selection)
                yield {"models": count, "peer": peer, **found, "commits": commits() - before}

    return play


def count_statements(lab: Lab) -> Play:
    """What a merge run sends when the model's YAML is what it was, with little and much in it."""
    target = lab.scale.targets[0]
    lab.tpch.prepare(target)
    newest = f"{target.name}_newest"
    lab.tpch.register(f"bench_data.{newest}", "parquet", lab.tpch.batch(newest))
    batch = f"select * except (is_new) from bench_data.{newest}"
    config = {"persist_docs": {"relation": True, "columns": True}}
    config["tblproperties"] = {"delta.logRetentionDuration": "interval 60 days"}
    column = {"name": target.keys[0], "description": "the key"}
    documented = {"name": "documented", "description": "a table", "columns": [column]}
    projects = lab.projects(
        "statements",
        {
            "models/plain.sql": _model(batch, target.keys),
            "models/documented.sql": _model(batch, target.keys),
            "models/schema.yml": json.dumps({"models": [{**documented, "config": config}]}),
        },
    )

    def play(number: int) -> Iterable[Run]:
        for model in ("plain", "documented"):
            for peer in _rotated((OURS, STOCK), number):
                if number == 0:
                    projects[peer].measure("-s", model)
                yield {"model": model, "peer": peer, **projects[peer].measure("-s", model)}

    return play


def _model(sql: str, keys: Iterable[str]) -> str:
    """The same model for both sides; stock dbt-spark does not know of clustering."""
    keys = list(keys)
    return (
        "{{ config(materialized='incremental', incremental_strategy='merge', "
        f"unique_key={keys}, liquid_clustered_by={keys[:1]}) }}}}\n{sql}\n"
    )


def _act(
    lab: Lab,
    projects: dict[str, Project],
    peer: str,
    copy: Copy,
    select: str,
    keys: tuple[str, ...],
    bounded: bool = False,
    expensive: bool = False,
) -> Callable[[], Run]:
    """What a peer does to bring its table up to date with a SELECT."""
    if peer in projects:
        return partial(projects[peer].measure, "-s", copy.path.name)
    if peer == HAND:
        by_hand = partial(merge_by_hand, lab.spark, select, copy.table, keys, bounded, expensive)
        return partial(timed, lab.jvm, by_hand)
    changes = "select * from bench_data.mart_changes" if expensive else select
    return partial(timed, lab.jvm, partial(append_changes, lab.spark, select, copy.table, changes))


def _schema(projects: dict[str, Project], peer: str) -> str:
    return projects[peer].schema if peer in projects else f"bench_{peer}"


def _rotated(items: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    start = number % len(items)
    return items[start:] + items[:start]


def _short(run: Run) -> str:
    return " ".join(
        f"{key}={value:.2f}" if isinstance(value, float) else f"{key}={value}"
        for key, value in run.items()
        if not isinstance(value, (list, dict))
    )


def _save(results: Path, name: str, lab: Lab, runs: list[Run]) -> None:
    """Puts a workload's runs so far in the place of older ones, and writes the report anew."""
    results.mkdir(parents=True, exist_ok=True)
    path = results / "incremental.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    found[name] = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "settings": {key: lab.spark.conf.get(key) for key in SETTINGS},
        "runs": runs,
    }
    path.write_text(_report.to_json(found))
    _report.write(found, results)


WORKLOADS: dict[str, Callable[[Lab], Play]] = {
    "merge": merge_newest,
    "scattered": merge_scattered,
    "mart": upsert_mart,
    "idle": nothing_new,
    "statements": count_statements,
}

if __name__ == "__main__":
    main()
