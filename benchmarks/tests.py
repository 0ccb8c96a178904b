"""`dbt test` of a table with 40 tests: one scan for all of them, and dbt's own SQL for each.

    ./run bench tests [--rounds 3] [--rows 60000 6000000] [--tests 40]

Both take turns on one warm driver, in the same project: the variable `dbt_delta_fused_tests` is the
only difference. Two tests are `unique`, of a bigint and of a string; the others are `not_null`,
`accepted_values` and `row_count_between`, a third of them with `where`. All pass. Seconds are those
of run_results: no parsing, no listing; the CPU is that of the whole command. Writes
results/tests.json and .md.
"""

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from benchmarks._peers import Project
from benchmarks.session import nodes_wall

FUSED, PLAIN = "fused", "dbt's own"
CODES = 6


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("tests")
    parser.add_argument("--rows", type=int, nargs="+", default=[60_000, 6_000_000])
    parser.add_argument("--tests", type=int, default=40)
    options = parser.parse_args(arguments)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        lab = Driver(Path(folder), "3g")
        for rows in options.rows:
            project = prepare(lab, rows, options.tests)
            # The first round warms up.
            for number in range(options.rounds + 1):
                for side in (FUSED, PLAIN) if number % 2 else (PLAIN, FUSED):
                    run = {"rows": rows, "peer": side, "round": number, **play(lab, project, side)}
                    print(run, flush=True)
                    if number:
                        runs.append(run)
    about = {"rounds": options.rounds, "tests": options.tests, "runs": runs}
    results.publish(options.results, "tests", about, report)


def prepare(lab: Driver, rows: int, count: int) -> Project:
    """A table of that many rows, in eight files, as a source with that many tests."""
    project = lab.project(f"tests_{rows}", {})
    codes = ", ".join(f"string(id % {n + 3}) as code_{n}" for n in range(CODES))
    amounts = ", ".join(f"id * {n + 1} / 7d as amount_{n}" for n in range(CODES))
    lab.spark.sql(
        f"create table {project.schema}.t using delta as select id, sha1(string(id)) as name, "
        f"date '2020-01-01' + int(id % 1000) as day, {codes}, {amounts} "
        f"from range(0, {rows}, 1, 8)"
    )
    columns = ["id", "name", "day"] + [f"{c}_{n}" for c in ("code", "amount") for n in range(CODES)]
    where = {"config": {"where": "day >= '2021-01-01'"}}
    tests: list[Any] = [{"unique": {"arguments": {"column_name": c}}} for c in ("id", "name")]
    count_between = "dbt_delta.row_count_between"
    tests += [{count_between: {"arguments": {"min": 1}, **also}} for also in ({}, where)]
    for also in ({}, where):
        for n in range(CODES):
            values = [str(value) for value in range(n + 3)]
            arguments = {"column_name": f"code_{n}", "values": values}
            tests.append({"accepted_values": {"arguments": arguments, **also}})
    for also in ({}, where):
        tests += [{"not_null": {"arguments": {"column_name": c}, **also}} for c in columns]
    for number, test in enumerate(tests):
        next(iter(test.values()))["name"] = f"test_{number}"
    table = {"name": "t", "data_tests": tests[:count]}
    source = {"name": "s", "schema": project.schema, "tables": [table]}
    project.write({"models/s.yml": json.dumps({"sources": [source]})})
    return project


def play(lab: Driver, project: Project, side: str) -> dict[str, Any]:
    started = Reading.now(lab.jvm)
    given = json.dumps({"dbt_delta_fused_tests": side == FUSED})
    ran = project.dbt("--quiet", "test", "--vars", given)
    taken = started.until(Reading.now(lab.jvm))
    assert {str(result.status) for result in ran.results} == {"pass"}
    return {
        "wall": nodes_wall(ran.results),
        "cpu": taken["cpu"],
        "command wall": taken["wall"],
        "statements": len(ran.statements),
    }


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Tests: fused and each by itself",
        "",
        f"`./run bench tests`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        f"medians; {about['tests']} tests of one table. Seconds of the tests; CPU of the whole "
        "command; ratios within each round.",
        "",
        "| rows | statements | dbt's | fused, s | dbt's, s | ratio "
        "| fused, CPU s | dbt's, CPU s | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rows in sorted({run["rows"] for run in about["runs"]}):
        cells = [f"{rows:,}"]
        for key in ("statements", "wall", "cpu"):
            fused, plain = (
                [run[key] for run in about["runs"] if (run["rows"], run["peer"]) == (rows, side)]
                for side in (FUSED, PLAIN)
            )
            form = "{:.0f}" if key == "statements" else "{:.2f}"
            cells += [form.format(statistics.median(figures)) for figures in (fused, plain)]
            if key != "statements":
                ratio = statistics.median(a / b for a, b in zip(fused, plain, strict=True))
                cells.append(f"{ratio:.2f}x")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
