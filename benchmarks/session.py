"""What dbt's session layer costs beside Spark's own work: stock dbt-spark and ours.

    python -m benchmarks.session [--rounds 3]

- statement: one `values (1)`, which starts no job, through the layer, rows fetched, less the same
  through Spark itself, in the same turn;
- connection: opening one and running a first statement in it, less a further statement;
- 50 models: a no-op `dbt run` of 50 small models on one thread and on four: views, and incremental
  Delta tables with nothing new. From the first node's start to the last one's end.

Statements and connections of both layers take turns in one process. Runs of dbt take turns in
processes of their own (DBT_DELTA_PLUGIN is the only difference). So both meet the same load on the
machine. Writes results/session.json and results/session.md.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.functional import harness

RESULTS = Path(__file__).with_name("results")
STOCK, OURS = "stock", "ours"
QUERY = "values (1)"
MODELS = 50
REPEATS = 150
KINDS = {
    "view": "{{ config(materialized='view') }} select 1 as id",
    "incremental": (
        "{{ config(materialized='incremental', incremental_strategy='append') }}"
        " select 1 as id {% if is_incremental() %} where false {% endif %}"
    ),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        what, folder = options.measure
        print(json.dumps({"runs": measure_runs, "layers": measure_layers}[what](Path(folder))))
        return
    rounds: dict[str, list[dict[str, float]]] = {STOCK: [], OURS: []}
    layers = in_process(OURS, "layers")
    print(layers, flush=True)
    for number in range(options.rounds):
        # The order alternates, so that neither always comes second.
        for side in (STOCK, OURS) if number % 2 == 0 else (OURS, STOCK):
            rounds[side].append(in_process(side, "runs"))
            print(side, rounds[side][-1], flush=True)
    report(layers, rounds)


def in_process(side: str, what: str) -> dict[str, float]:
    """Measures in a fresh process with a fresh warehouse."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        (home / "logs").mkdir(parents=True)
        variables = {
            **os.environ,
            **harness.environment(home),
            "DBT_DELTA_PLUGIN": "off" if side == STOCK else "on",
            "JAVA_HOME": str(Path(sys.prefix) / "java"),
        }
        # What a user has: the profile's Java options, not those of the tests.
        del variables["DBT_DELTA_JAVA_OPTIONS"]
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.session", "--measure", what, folder],
            env=variables,
            cwd=harness.REPOSITORY,
            capture_output=True,
            text=True,
        )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def measure_layers(folder: Path) -> dict[str, float]:
    """Milliseconds that each layer adds to a statement and to a connection; medians."""
    from dbt.adapters.contracts.connection import Connection as Record
    from dbt.adapters.spark.session import Connection, SessionConnectionWrapper

    from dbt_delta.session.connection import SessionConnection

    settings = harness.settings()
    record = Record(type="spark", name="bench", credentials=None)
    openers: dict[str, Callable[[], Any]] = {
        STOCK: lambda: SessionConnectionWrapper(Connection(server_side_parameters=settings)),
        OURS: lambda: SessionConnection(settings, record),
    }
    session = harness.session()
    layers = {side: opener() for side, opener in openers.items()}
    ways = {
        "alone": lambda: session.sql(QUERY).collect(),
        **{side: partial(_through, layer) for side, layer in layers.items()},
        **{f"{side} new": partial(_opened, opener) for side, opener in openers.items()},
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(2 * REPEATS):
        for way in random.sample(list(ways), len(ways)):
            started = time.perf_counter()
            ways[way]()
            if number >= REPEATS:  # warm by then
                times[way].append((time.perf_counter() - started) * 1000)

    def more(way: str, base: str) -> float:
        pairs = zip(times[way], times[base], strict=True)
        return statistics.median(a - b for a, b in pairs)

    return {
        "spark alone": statistics.median(times["alone"]),
        **{f"{side} statement": more(side, "alone") for side in openers},
        **{f"{side} connection": more(f"{side} new", side) for side in openers},
    }


def _through(layer: Any) -> None:
    cursor = layer.cursor()
    cursor.execute(QUERY)
    cursor.fetchall()


def _opened(opener: Callable[[], Any]) -> None:
    layer = opener()
    _through(layer)
    layer.close()


def measure_runs(folder: Path) -> dict[str, float]:
    """Seconds of no-op runs, and the statements of one model of each kind."""
    packages = harness.install_packages(folder / "deps", folder / "home")
    project = harness.Project(folder / "project", folder / "home", packages, "bench")
    found: dict[str, float] = {}
    for kind, text in KINDS.items():
        project.write({f"models/{kind}/{kind}_{n}.sql": text for n in range(MODELS)})
    for kind in KINDS:
        project.dbt("run", "-s", kind)
        for threads in (1, 4):
            run = project.dbt("run", "-s", kind, threads=threads)
            found[f"{kind}, {threads} threads"] = nodes_wall(run.results)
            found[f"{kind}, statements"] = len(run.statements) / MODELS
    return found


def nodes_wall(results: list[Any]) -> float:
    """Seconds from the first node's start to the last one's end: no parsing, no listing."""
    times = [timing for result in results for timing in result.timing]
    first = min(timing.started_at for timing in times)
    return (max(timing.completed_at for timing in times) - first).total_seconds()


def report(layers: dict[str, float], rounds: dict[str, list[dict[str, float]]]) -> None:
    """Writes all rounds as JSON and their medians as Markdown."""
    load = os.getloadavg()[0]
    machine = f"{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}"
    RESULTS.mkdir(exist_ok=True)
    shown = {
        "machine": machine,
        "date": time.strftime("%Y-%m-%d"),
        "layers, ms": layers,
        "runs, s": rounds,
    }
    (RESULTS / "session.json").write_text(json.dumps(shown, indent=1) + "\n")
    medians = {
        side: {key: statistics.median(one[key] for one in found) for key in found[0]}
        for side, found in rounds.items()
    }
    text = _markdown(machine, len(rounds[OURS]), layers, medians)
    (RESULTS / "session.md").write_text(text)
    print(text)


def _markdown(
    machine: str, count: int, layers: dict[str, float], medians: dict[str, dict[str, float]]
) -> str:
    stock, ours = medians[STOCK], medians[OURS]

    def cost(side: str, statements: float) -> float:
        return layers[f"{side} connection"] + statements * layers[f"{side} statement"]

    def milliseconds(title: str, a: float, b: float) -> str:
        return f"| {title} | {a:.1f} ms | {b:.1f} ms | {b / a:.2f}x |"

    statements = ours["incremental, statements"]
    layer_rows = [
        milliseconds("a statement", layers["stock statement"], layers["ours statement"]),
        f"| a connection | {layers['stock connection']:.1f} ms "
        f"| {layers['ours connection']:.1f} ms | |",
        milliseconds(
            f"a no-op incremental model: a connection, {statements:.0f} statements",
            cost(STOCK, statements),
            cost(OURS, statements),
        ),
    ]
    run_rows = [
        f"| {MODELS} {kind} models, {threads} thread{'s' * (threads > 1)} "
        f"| {stock[key]:.1f} s | {ours[key]:.1f} s | {ours[key] / stock[key]:.2f}x |"
        for kind in KINDS
        for threads in (1, 4)
        for key in [f"{kind}, {threads} threads"]
    ]
    speedups = [
        f"| {MODELS} {kind} models | {_speedup(stock, kind)} | {_speedup(ours, kind)} |"
        for kind in KINDS
    ]
    head = "| | stock | ours | ours / stock |\n|---|---|---|---|"
    return "\n".join(
        [
            "# The embedded session: what the layer costs",
            "",
            f"`python -m benchmarks.session`, {time.strftime('%Y-%m-%d')}, {machine}. Stock is "
            "`DBT_DELTA_PLUGIN=off`; both took turns.",
            "",
            f"Added to Spark's own time (`{QUERY}`: {layers['spark alone']:.1f} ms), medians of "
            f"{REPEATS}:",
            "",
            head,
            *layer_rows,
            "",
            f"No-op `dbt run`, first node's start to last node's end, medians of {count}:",
            "",
            head,
            *run_rows,
            "",
            "Four threads against one:",
            "",
            "| | stock | ours |\n|---|---|---|",
            *speedups,
            "",
        ]
    )


def _speedup(found: dict[str, Any], kind: str) -> str:
    return f"{found[f'{kind}, 1 threads'] / found[f'{kind}, 4 threads']:.2f}x as fast"


if __name__ == "__main__":
    main()
