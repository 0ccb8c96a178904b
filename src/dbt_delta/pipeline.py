"""``./run build``, ``replay`` and ``nightly``: land, build, answer or maintain, in one process.

dbt itself cannot land files, and each dbt command of its own would start a Spark driver anew.
"""

import argparse
import datetime as dt
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbt_delta import ingest
from dbt_delta.console import Parser
from dbt_delta.home import home, project_dir

SOURCE = "nycflights"
ANSWERS = "worst_routes"


class Build:
    """Builds the project from the files landed so far.

    ``dbt_arguments`` are handed to each ``dbt build``.
    """

    def __init__(self, dbt_arguments: list[str]) -> None:
        from dbt.cli.main import dbtRunner

        self._arguments = dbt_arguments
        parsed = dbtRunner().invoke(["parse", "--quiet"])
        if not parsed.success:
            # Once more, aloud: dbt says itself what is wrong.
            _require(dbtRunner().invoke(["parse"]))
        self._dbt = dbtRunner(manifest=parsed.result)

    def until(self, day: dt.date | None, quiet: bool = False) -> None:
        """Lands what a source had delivered by ``day`` (None: everything) and builds it.

        Raises:
            SystemExit: dbt failed and has said why.
            ingest.IngestError: the landing failed.
        """
        landing = home() / "landing"
        print(ingest.land([SOURCE], landing, day), flush=True)
        for path in _files(landing):
            if path.stat().st_size == 0:
                print(f"{path.relative_to(landing)}: no bytes in it, nothing to load", flush=True)
        command = [*(["--quiet"] if quiet else []), "build", *self._arguments]
        _require(self._dbt.invoke([*command, *self._batches()]))

    def show_answers(self) -> None:
        _require(self._dbt.invoke(["--quiet", "show", "--select", ANSWERS, "--limit", "10"]))

    def nightly(self) -> None:
        """Builds, tests and maintains; a build that failed keeps nobody from maintaining.

        Raises:
            SystemExit: the first of them that failed; dbt has said why.
        """
        maintain = ["--quiet", "run-operation", "maintain"]
        try:
            self.until(None)
        except SystemExit:
            self._dbt.invoke(maintain)
            raise
        _require(self._dbt.invoke(maintain))

    def _batches(self) -> list[str]:
        """Which microbatches to build: dbt counts them back from today, the data is of 2013.

        Always the same: dbt_delta runs none where nothing changed.
        """
        if "--event-time-start" in self._arguments:
            return []
        first, last = ingest.days(SOURCE)
        # The last local evening is the next day in UTC, and the end is exclusive.
        end = last + dt.timedelta(days=2)
        return ["--event-time-start", first.isoformat(), "--event-time-end", end.isoformat()]


def _files(landing: Path) -> list[Path]:
    """Landed files, without those in the making."""
    return sorted(landing.glob("*/*/[!._]*"))


def _require(result: Any) -> None:
    """Ends the process with dbt's own exit code (1 a model or test, 2 an error) on failure."""
    if result.success:
        return
    if result.exception is not None:
        print(result.exception, file=sys.stderr)
    sys.exit(1 if result.exception is None else 2)


def steps(first: dt.date, last: dt.date, step: str) -> Iterator[dt.date]:
    """The days after which the nightly job runs, ``last`` included.

    Args:
        step: ``day``, ``week`` (Sundays) or ``month`` (last days).
    """
    day = first
    while day < last:
        tomorrow = day + dt.timedelta(days=1)
        is_end = {"day": True, "week": day.isoweekday() == 7, "month": tomorrow.day == 1}[step]
        if is_end:
            yield day
        day = tomorrow
    yield last


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        problem = f"needs a date such as 2013-01-31. Got: {text!r}"
        raise argparse.ArgumentTypeError(problem) from None


def _parser() -> Parser:
    parser = Parser(prog="./run", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="land everything, build, show answers")
    replay = commands.add_parser("replay", help="play the year night by night")
    replay.add_argument("--step", choices=["month", "week", "day"], default="month")
    commands.add_parser("nightly", help="land everything, build, maintain")
    for command in (build, replay):
        command.add_argument("--until", type=_date, metavar="DATE", help="stop after this delivery")
    return parser


def main(arguments: list[str]) -> None:
    options, dbt_arguments = _parser().parse_known_args(arguments)
    os.chdir(project_dir())
    build = Build(dbt_arguments)
    if options.command == "nightly":
        build.nightly()
        return
    if options.command == "build":
        build.until(options.until)
    else:
        first, last = ingest.days(SOURCE)
        for day in steps(first, min(options.until or last, last), options.step):
            print(f"night of {day}", flush=True)
            build.until(day, quiet=True)
    build.show_answers()


if __name__ == "__main__":
    # dbt reads its folders from the environment; see startup.py.
    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    try:
        main(sys.argv[1:])
    except (ingest.IngestError, FileNotFoundError) as error:
        print(f"run: {error}", file=sys.stderr)
        sys.exit(2)
