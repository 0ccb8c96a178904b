"""What a pull request's build says of itself, as Markdown for one comment.

Usage: python -m dbt_delta.report.comment RUN_RESULTS [--production RUN_RESULTS] [--diff FILE]

Failures come from dbt's run_results.json: of a test how many rows failed, of an error its condition
as Spark names it. Messages are left out, as they may show values of rows. With production's
run_results.json there is a table of the seconds of each node beside production's. FILE is what the
run operation ``diff`` has written.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt_delta.console import Parser

# By which the next run finds its comment and writes it anew.
MARKER = "<!-- dbt_delta pull request -->"
BAD = ("error", "fail", "runtime error", "partial success")
# Seconds below which a node is not worth a line.
WORTH_SECONDS = 1.0
MOST = 20
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")


def text(
    results: Sequence[Mapping[str, Any]],
    production: Sequence[Mapping[str, Any]],
    diff: str | None,
) -> str:
    """The comment.

    Args:
        results: those of the pull request's run_results.json.
        production: those of production's last run.
        diff: Markdown of the differences; None if they could not be made.
    """
    parts = [MARKER, f"### {_summary(results)}", *_failures(results)]
    if diff is not None:
        parts += ["#### What changes in the data", diff.strip() or "Nothing."]
    parts += _times(results, production)
    return "\n\n".join(parts) + "\n"


def _summary(results: Sequence[Mapping[str, Any]]) -> str:
    bad = sum(one["status"] in BAD for one in results)
    skipped = sum(one["status"] == "skipped" for one in results)
    done = f"{len(results) - bad - skipped} of {len(results)} nodes passed"
    counts = [f"{bad} failed"] if bad else []
    counts += [f"{skipped} skipped"] if skipped else []
    return ", ".join([done, *counts])


def _failures(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table of what failed or warned; none if nothing did."""
    lines = []
    for one in results:
        if one["status"] in (*BAD, "warn"):
            lines.append(f"| {_name(one)} | {one['status']} | {_why(one)} |")
    return ["\n".join(["| node | status | why |", "| --- | --- | --- |", *lines])] if lines else []


def _why(result: Mapping[str, Any]) -> str:
    failures = result.get("failures")
    if result["status"] in ("fail", "warn") and failures is not None:
        return f"{failures} row{'' if failures == 1 else 's'}"
    found = _CONDITION.search(result.get("message") or "")
    return found[1] if found else "see the log of the build"


def _times(
    results: Sequence[Mapping[str, Any]], production: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Seconds of the slowest models, seeds and snapshots beside production's."""
    before = {one["unique_id"]: one["execution_time"] for one in production}
    built = [one for one in results if one["status"] == "success" and not _is_test(one)]
    both = [one for one in built if one["unique_id"] in before]
    if not both:
        return []
    both.sort(key=lambda one: max(one["execution_time"], before[one["unique_id"]]), reverse=True)
    lines = []
    for one in both[:MOST]:
        here, there = one["execution_time"], before[one["unique_id"]]
        if max(here, there) >= WORTH_SECONDS:
            ratio = f"{here / there:.1f}x" if there >= WORTH_SECONDS else ""
            lines.append(f"| {_name(one)} | {here:.1f} | {there:.1f} | {ratio} |")
    here = sum(one["execution_time"] for one in both)
    there = sum(before[one["unique_id"]] for one in both)
    lines.append(f"| all {len(both)} | {here:.1f} | {there:.1f} | |")
    head = ["| node | seconds | production | |", "| --- | ---: | ---: | ---: |"]
    return ["#### Seconds", "\n".join([*head, *lines])]


def _name(result: Mapping[str, Any]) -> str:
    """The name in a node's id; what would end a cell of a table is escaped."""
    kind, _, *rest = result["unique_id"].split(".")
    name = ".".join(rest[:-1] if kind == "test" and len(rest) > 1 else rest)
    return name.replace("|", "\\|")


def _is_test(result: Mapping[str, Any]) -> bool:
    return result["unique_id"].startswith(("test.", "unit_test."))


def _results(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text())["results"])


def main(arguments: list[str]) -> int:
    """Prints the comment, and returns the exit code."""
    parser = Parser(prog="comment", description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="run_results.json of the pull request's build")
    parser.add_argument("--production", type=Path, help="run_results.json of production's last run")
    parser.add_argument("--diff", type=Path, help="what the run operation diff has written")
    options = parser.parse_args(arguments)
    try:
        results = _results(options.results)
        there = options.production if options.production and options.production.exists() else None
        production = _results(there) if there else []
        diff = options.diff.read_text() if options.diff and options.diff.exists() else None
    except (OSError, ValueError, KeyError) as error:
        print(f"comment: {error}", file=sys.stderr)
        return 2
    print(text(results, production, diff), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
