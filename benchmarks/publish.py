"""What publishing costs at the end of a run: many tables that all moved.

    ./run bench publish [--rounds 5] [--models 10 50]

Each run builds all tables anew and publishes them. Measured are the seconds from the end of the
last node until the views move (`moves`), from then until nothing is left to do (`settles`, two of
them a wait), and of the end of a run that published nothing (`idle`). Round 0 warms up. Writes
results/publish.json and .md.
"""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from benchmarks._peers import Project

MODEL = "{{ config(materialized='table') }} select {{ var('step') }} as step, 'a' as name"
IDLE = "{{ config(materialized='view') }} select 1 as id"
PHASES = ("moves", "settles", "idle")
POINTER = "dbt_delta_published` as"


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("publish")
    parser.add_argument("--models", type=int, nargs="+", default=[10, 50])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        runs = _runs(Driver(Path(folder)), options.models, options.rounds)
    about = {"rounds": options.rounds, "runs": runs}
    results.publish(options.results, "publish", about, report)


def _runs(driver: Driver, counts: list[int], rounds: int) -> list[dict[str, Any]]:
    projects = {}
    for count in counts:
        files = {f"models/marts/m_{n}.sql": MODEL for n in range(count)}
        projects[count] = driver.project(f"publish_{count}", {**files, "models/idle.sql": IDLE})
    runs = []
    for number in range(rounds + 1):
        for count, project in projects.items():
            for phase, taken in (_published(project, number) | _idle(project, number)).items():
                run = {"count": count, "phase": phase, "round": number, **taken}
                print(run, flush=True)
                if number:
                    runs.append(run)
    return runs


def _published(project: Project, step: int) -> dict[str, dict[str, float]]:
    readings = _run(project, "marts", step)
    ended = max(at for at, (kind, _) in enumerate(readings) if kind == "node")
    moved = next(at for at, (kind, _) in enumerate(readings) if kind == "moved")
    assert ended < moved, readings
    return {
        "moves": readings[ended][1].until(readings[moved + 1][1]),
        "settles": readings[moved + 1][1].until(readings[-1][1]),
    }


def _idle(project: Project, step: int) -> dict[str, dict[str, float]]:
    readings = _run(project, "idle", step)
    ended = max(at for at, (kind, _) in enumerate(readings) if kind == "node")
    return {"idle": readings[ended][1].until(readings[-1][1])}


def _run(project: Project, selection: str, step: int) -> list[tuple[str, Reading]]:
    """What a run did, in its order, with the time: `node`, `moved`, or a statement's other end.

    Raises:
        AssertionError: the run failed.
    """
    from dbt.cli.main import dbtRunner

    readings: list[tuple[str, Reading]] = []

    def watch(event: Any) -> None:
        name = event.info.name
        if name == "NodeFinished":
            readings.append(("node", Reading.now(project._jvm)))
        elif name == "SQLQuery":
            is_move = POINTER in event.data.sql and "alter view" in event.data.sql
            readings.append(("moved" if is_move else "", Reading.now(project._jvm)))
        elif name in ("SQLQueryStatus", "EndRunResult", "CommandCompleted"):
            readings.append(("", Reading.now(project._jvm)))

    publish = f"{{schema: {project.schema}_read, select: marts}}"
    command = ["--quiet", "run", "-s", selection, "--vars"]
    command.append(f"{{step: {step}, dbt_delta_publish: {publish}}}")
    ran = dbtRunner(callbacks=[watch]).invoke(project._command(tuple(command), None))
    assert ran.success, ran.exception or [result.message for result in ran.result.results]
    return readings


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Builds that publish as one",
        "",
        f"`./run bench publish`, {about['date']}, {about['machine']}; medians of "
        f"{about['rounds']} rounds, lowest and highest in brackets. `moves`: from the end of the "
        "last node until readers see all tables; `settles`: what is done after that, two seconds "
        "of it a wait; `idle`: the end of a run that published nothing.",
        "",
        "| tables | what | wall s | CPU s |",
        "| --- | --- | --- | --- |",
    ]
    for count in sorted({run["count"] for run in about["runs"]}):
        for phase in PHASES:
            found = [r for r in about["runs"] if (r["count"], r["phase"]) == (count, phase)]
            cells = [results.spread([run[key] for run in found]) for key in ("wall", "cpu")]
            lines.append(f"| {count} | {phase} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
