"""The command ``python -m dbt_delta.ingest``. Exit codes: 0 landed, 2 failed, 130 stopped."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NoReturn

from dbt_delta.ingest import SOURCES, IngestError, find, land


def main(argv: Sequence[str] | None = None) -> int:
    """Land the sources and print one line for each; errors are one line on stderr."""
    try:
        arguments = _parser().parse_args(argv)
        sources = [find(name) for name in dict.fromkeys(arguments.source or SOURCES)]
        until = None if arguments.until is None else _day(arguments.until)
        landing = _default_landing() if arguments.landing is None else _folder(arguments.landing)
        for source in sources:
            print(land([source], landing, until), flush=True)
    except (IngestError, OSError) as error:
        print(f"ingest: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ingest: stopped. The next run continues from here", file=sys.stderr)
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """Reports errors as this command does: one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        raise IngestError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m dbt_delta.ingest",
        description="Land the files of real sources, night by night, as a source system would "
        "deliver them. What has landed already stays as it is.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "source", nargs="*", metavar="SOURCE", help=f"default: all of them ({', '.join(SOURCES)})"
    )
    parser.add_argument(
        "--until", metavar="YYYY-MM-DD", help="last day to land; default: all there is"
    )
    parser.add_argument(
        "--landing", metavar="DIR", help="default: the folder landing of the project"
    )
    return parser


def _day(text: str) -> date:
    try:
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise IngestError(f"--until needs a date such as 2013-01-31. Got: '{text}'")


def _folder(text: str) -> Path:
    if not text:
        raise IngestError("--landing needs a folder. Got: ''")
    return Path(text)


def _default_landing() -> Path:
    from dbt_delta.home import home

    return home() / "landing"


if __name__ == "__main__":
    sys.exit(main())
