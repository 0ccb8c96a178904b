"""The reference project on a warm Thrift server and in the embedded session, side by side.

    ./run bench server [--rounds 3]

Both homes are built first, and their tables compared by content. Then they take turns: a build
with nothing new, a build of everything anew, and a run of one incremental model without anything
new; wall time of the whole dbt process, and its CPU time with all that it started (the server's is
not in it). Writes results/server.json and results/server.md.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks.startup import measure
from dbt_delta.server import daemon
from tests.functional import harness

TARGETS = ("session", "thrift")
ONE_MODEL = "flights"
# When and in which run a line was landed.
OF_THE_RUN = {"_load_id", "_file_modified_at"}
COMMANDS = {
    "build, nothing new": ["build"],
    "build, everything anew": ["build", "--full-refresh"],
    f"run -s {ONE_MODEL}, nothing new": ["run", "-s", ONE_MODEL],
}


def main(arguments: list[str] | None = None) -> None:
    options = results.parser("server").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        homes = {target: Path(folder) / target for target in TARGETS}
        port = str(daemon.free_port())
        variables = {
            target: {
                **{k: v for k, v in os.environ.items() if k != "DBT_DELTA_JAVA_OPTIONS"},
                "DBT_DELTA_HOME": str(home),
                "DBT_DELTA_PORT": port,
                "DBT_TARGET": target,
            }
            for target, home in homes.items()
        }
        run_to_end([harness.REPOSITORY / "run", "server", "start"], variables["thrift"])
        try:
            for target in TARGETS:
                run_to_end([harness.REPOSITORY / "run", "build"], variables[target])
            os.environ.update(harness.environment(Path(folder) / "reader"))
            (Path(folder) / "reader" / "logs").mkdir(parents=True)
            tables = compare(homes)
            rounds = rounds_of(options.rounds, variables)
        finally:
            run_to_end([harness.REPOSITORY / "run", "server", "stop"], variables["thrift"])
    results.publish(options.results, "server", {"tables": tables, "rounds": rounds}, report)


def rounds_of(
    count: int, variables: dict[str, dict[str, str]]
) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Seconds per command, target and round."""
    dbt = str(Path(sys.executable).with_name("dbt"))
    found = {name: {target: [] for target in TARGETS} for name in COMMANDS}
    for number in range(count):
        for name, arguments in COMMANDS.items():
            # The order alternates, so that neither always comes second.
            for target in TARGETS if number % 2 == 0 else reversed(TARGETS):
                wall, cpu = measure([dbt, *arguments], variables[target])
                found[name][target].append({"wall": wall, "cpu": cpu})
                print(f"{name}, {target}: {wall:.1f} s, CPU {cpu:.1f} s", flush=True)
    return found


def run_to_end(command: list[Any], variables: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=variables, cwd=harness.REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def compare(homes: dict[str, Path]) -> int:
    """How many tables both have, all with equal rows.

    Raises:
        AssertionError: which one differs.
    """
    places = {target: home / "warehouse" / "dbt_delta.db" for target, home in homes.items()}
    names = {
        target: {path.name for path in place.iterdir() if (path / "_delta_log").is_dir()}
        for target, place in places.items()
    }
    assert names["session"] == names["thrift"] != set()
    for name in sorted(names["session"]):
        first, second = (content(places[target] / name) for target in TARGETS)
        assert first == second, f"{name} differs: {first} and {second}"
    return len(names["session"])


def content(table: Path) -> tuple[int, str]:
    """Rows, and a number of all their values that does not depend on their order."""
    spark, name = harness.session(), f"delta.`{table}`"
    columns = [f"`{c}`" for c in spark.table(name).columns if c not in OF_THE_RUN]
    text = f"to_json(struct({', '.join(columns)}))"
    hashed = f"select cast(xxhash64({text}) as decimal(38)) as h from {name}"
    row = spark.sql(f"select count(*) as n, sum(h) as h from ({hashed})").first()
    return row.n, str(row.h)


def report(about: dict[str, Any]) -> str:
    lines = [
        "# A warm server and the embedded session",
        "",
        f"{about['date']}, {about['machine']}. The reference project, {about['tables']} tables,",
        "equal by content in both. Whole dbt processes, medians; CPU is dbt's with what it",
        "started, without the server's. `./run bench server` makes it anew.",
        "",
        "| command | session | CPU | thrift | CPU | thrift / session (spread) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, sides in about["rounds"].items():
        cells = []
        for target in TARGETS:
            for kind in ("wall", "cpu"):
                cells.append(f"{statistics.median(t[kind] for t in sides[target]):.1f} s")
        pairs = zip(sides["thrift"], sides["session"], strict=True)
        ratios = sorted(ours["wall"] / other["wall"] for ours, other in pairs)
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        lines.append(f"| {name} | {' | '.join(cells)} | {spread} |")
    return "\n".join(lines) + "\n"
