"""`dbt seed` of a CSV file with eight columns: ours and stock dbt-spark.

    ./run bench seeds [--rounds 3] [--rows 1000 100000]

- first: the table is not there; changed: it is, and one cell differs; unchanged: nothing does.
  Stock drops, creates and inserts each time, so with many rows it does so once. Its time grows with
  the square of the rows: for each cell of a number column agate looks through the column for its
  widest number. At 100,000 rows it did not end in ten minutes, and is left out.

Ours and stock take turns on one warm driver, in the same kind of session, with the same file.
Seconds are those of run_results: no parsing, no listing. Writes results/seeds.json and .md.
"""

import csv
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._gauge import Reading
from benchmarks._peers import OURS, STOCK, Project
from benchmarks.session import nodes_wall

WORKS = ("first", "changed", "unchanged")
MANY, TOO_MANY = 1_000, 10_000


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("seeds")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000, 100_000])
    options = parser.parse_args(arguments)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        lab = Driver(Path(folder), "4g")
        for rows in options.rows:
            projects = lab.projects(f"seeds_{rows}", {})
            # The first round warms up; with many rows only ours, as stock is warm by then.
            for number in range(options.rounds + 1):
                for side in (OURS, STOCK) if number % 2 else (STOCK, OURS):
                    works: Sequence[str] = WORKS
                    if side == STOCK and rows > MANY:
                        works = WORKS[:1] if number and rows <= TOO_MANY else ()
                    for run in play(lab, projects[side], rows, number, works):
                        print(rows, side, run, flush=True)
                        if number:
                            runs.append({"round": number, "rows": rows, "peer": side, **run})
    about = {"rounds": options.rounds, "runs": runs}
    results.publish(options.results, "seeds", about, report)


def play(
    lab: Driver, project: Project, rows: int, number: int, works: Sequence[str]
) -> list[dict[str, Any]]:
    """The works one after another, on a table of this round."""
    for old in project.path.glob("seeds/*.csv"):
        old.unlink()
    file = project.path / "seeds" / f"s_{number}.csv"
    file.parent.mkdir(exist_ok=True)
    table = f"{project.schema}.{file.stem}"
    found = []
    for work in works:
        if work != "unchanged":
            write(file, rows, last=work)
        started = Reading.now(lab.jvm)
        ran = project.dbt("--quiet", "seed")
        taken = started.until(Reading.now(lab.jvm))
        seconds = {"wall": nodes_wall(ran.results), "cpu": taken["cpu"]}
        found.append({"work": work, **seconds, "command wall": taken["wall"]})
        lab.spark.sql(f"refresh table {table}")
        last = "first" if work == "first" else "changed"
        check = lab.spark.sql(f"select count(*), count_if(text = '{last}') from {table}").first()
        assert tuple(check) == (rows, 1), (table, work, check)
    return found


def write(file: Path, rows: int, last: str) -> None:
    """Numbers, texts, dates, times, flags and empty cells; ``last`` is a text of the last row."""
    values = random.Random(rows)
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("id", "text", "amount", "day", "at", "flag", "kind", "code"))
        for n in range(rows):
            text = f"name {n}, it's" if n < rows - 1 else last
            amount = f"{values.random() * 1000:.2f}"
            day, hour = f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}", f"{n % 24:02}:{n % 60:02}:00"
            flag, kind = ("true", "false")[n % 2], ("a", "b", "")[n % 3]
            code = values.randrange(10**12)
            writer.writerow((n, text, amount, day, f"{day} {hour}", flag, kind, code))


def report(about: dict[str, Any]) -> str:
    lines = [
        "# Seeds: ours and stock dbt-spark",
        "",
        f"`./run bench seeds`, {about['date']}, {about['machine']}, {about['rounds']} rounds, "
        "medians; eight columns, three of them numbers. Seconds of the seed; CPU of the whole "
        "command; ratios within each round. What stock did not end in ten minutes is left out.",
        "",
        "| rows | work | ours, s | stock, s | ratio | ours, CPU s | stock, CPU s | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rows in sorted({run["rows"] for run in about["runs"]}):
        for work in WORKS:
            cells = []
            for key in ("wall", "cpu"):
                ours = _figures(about, rows, work, OURS, key)
                stock = _figures(about, rows, WORKS[0] if rows > MANY else work, STOCK, key)
                cells.append(f"{statistics.median(ours):.2f}")
                if not stock:
                    cells += ["", ""]
                    continue
                ratio = statistics.median(a / b for a, b in zip(ours, stock, strict=True))
                cells += [f"{statistics.median(stock):.2f}", f"{ratio:.2f}x"]
            lines.append(f"| {rows:,} | {work} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _figures(about: dict[str, Any], rows: int, work: str, side: str, key: str) -> list[float]:
    runs = [run for run in about["runs"] if (run["rows"], run["work"]) == (rows, work)]
    return [run[key] for run in runs if run["peer"] == side]


if __name__ == "__main__":
    main()
