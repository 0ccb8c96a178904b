"""``./run build``, ``replay`` and ``nightly``: land, build, answer or maintain, in one process.

dbt itself cannot land files, and a separate dbt command would start another Spark driver.
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
from dbt_delta.erasure.keyed import SECRET
from dbt_delta.home import home, project_dir
from dbt_delta.night import BUSY, Busy, Night

SOURCE = "nycflights"
ANSWERS = "worst_routes"


class Build:
    """Builds the project from the files landed so far.

    ``dbt_arguments`` are handed to each ``dbt build``.
    """

    def __init__(self, dbt_arguments: list[str]) -> None:
        from dbt.cli.main import dbtRunner

        self._arguments = dbt_arguments
        self._target = _target(dbt_arguments)
        parsed = dbtRunner().invoke(["parse", "--quiet", *self._target])
        if not parsed.success:
            # Again, with output: dbt itself says what is wrong.
            _require(dbtRunner().invoke(["parse", *self._target]))
        self._dbt = dbtRunner(manifest=parsed.result)

    def until(self, day: dt.date | None, quiet: bool = False) -> None:
        """Lands what a source had delivered by ``day`` (None: everything) and builds it.

        Raises:
            SystemExit: dbt failed and has said why.
            ingest.IngestError: the landing failed.
        """
        _land(day)
        _require(self._build(quiet))

    def show_answers(self) -> None:
        shown = ["--quiet", "show", "--select", ANSWERS, "--limit", "10", *self._target]
        _require(self._dbt.invoke(shown))

    def nightly(self, night: Night) -> None:
        """Lands, builds and tests; maintains and closes erasures also if that failed.

        Raises:
            SystemExit: the first of them that failed; dbt has said why.
            ingest.IngestError: the landing failed.
        """
        with night.step("land"):
            _land(None)
        with night.step("build") as done:
            built = self._build()
            night.note(done, built)
        with night.step("maintain") as done:
            maintained = self._dbt.invoke(["--quiet", "run-operation", "maintain", *self._target])
            night.note(done, maintained)
        ended = [built, maintained]
        if SECRET in os.environ:
            with night.step("erase_verify") as done:
                verify = ["--quiet", "run-operation", "erase_verify", *self._target]
                ended.append(self._dbt.invoke(verify))
                night.note(done, ended[-1])
        for one in ended:
            _require(one)

    def _build(self, quiet: bool = False) -> Any:
        return self._dbt.invoke([*(["--quiet"] if quiet else []), "build", *self._arguments])


def _target(dbt_arguments: list[str]) -> list[str]:
    """Those of dbt's arguments that name the target: all commands of a build have the same one."""
    for position, argument in enumerate(dbt_arguments):
        if argument in ("--target", "-t"):
            return dbt_arguments[position : position + 2]
        if argument.startswith("--target="):
            return [argument]
    return []


def _night(dbt_arguments: list[str], on_failure: str | None) -> int:
    """Plays a night if no other one of the home runs; the exit code."""
    night, code, problem = Night(home()), 0, None
    try:
        with night.alone():
            try:
                with night.step("parse"):
                    build = Build(dbt_arguments)
                build.nightly(night)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 2
            except (ingest.IngestError, FileNotFoundError) as error:
                code, problem = 2, str(error)
            except BaseException as error:
                night.end(2, type(error).__name__)
                raise
            night.end(code, problem)
    except Busy as busy:
        code, problem = BUSY, str(busy)
        night.end(code, problem)
    if problem:
        print(f"run: {problem}", file=sys.stderr)
    if code and on_failure:
        night.notify(on_failure)
    return code


def _land(day: dt.date | None) -> None:
    """Lands what a source had delivered by a day.

    Raises:
        ingest.IngestError: the landing failed.
    """
    landing = home() / "landing"
    print(ingest.land([SOURCE], landing, day), flush=True)
    for path in _files(landing):
        if path.stat().st_size == 0:
            print(f"{path.relative_to(landing)}: an empty file, nothing to load", flush=True)


def _files(landing: Path) -> list[Path]:
    """Landed files, except those that are still written."""
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
    nightly = commands.add_parser("nightly", help="land everything, build, maintain")
    nightly.add_argument("--on-failure", metavar="COMMAND", help="what to run when the night fails")
    for command in (build, replay):
        command.add_argument("--until", type=_date, metavar="DATE", help="stop after this delivery")
    return parser


def main(arguments: list[str]) -> None:
    options, dbt_arguments = _parser().parse_known_args(arguments)
    os.chdir(project_dir())
    if options.command == "nightly":
        sys.exit(_night(dbt_arguments, options.on_failure))
    build = Build(dbt_arguments)
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
