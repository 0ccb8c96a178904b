"""What follows from numbers of several runs: what is usual, what stands out, how rows grew."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

# So many values before one can stand out.
FEWEST = 6
# Of these deviations (of a normal distribution) from the median, above.
_FAR = 5.0
_TO_SIGMA = 1.4826


def outliers(values: Sequence[float | None], noise: float) -> list[int]:
    """Positions of values that lie far above the others.

    Far is more than five standard deviations above the median, estimated by the median deviation,
    and also half above the median and more than ``noise`` above it.
    """
    known = [value for value in values if value is not None]
    if len(known) < FEWEST:
        return []
    middle = median(known)
    spread = _TO_SIGMA * median(abs(value - middle) for value in known)
    limit = max(middle + _FAR * spread, 1.5 * middle, middle + noise)
    return [i for i, value in enumerate(values) if value is not None and value > limit]


def usual(values: Sequence[float | None]) -> float | None:
    """The median of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def usual_gap(times: Sequence[float]) -> float | None:
    """The median of the times between changes, oldest first; None of fewer than four changes."""
    if len(times) < 4:
        return None
    return median(later - earlier for earlier, later in pairwise(times))


def rows_after(commits: Sequence[dict[str, Any]], now: int | None) -> list[int | None]:
    """The rows of a table after each of its commits, oldest first.

    Args:
        commits: {inserted, deleted, is_whole, moves_rows, operation}, oldest first.
        now: the rows of the newest version, from which earlier ones are counted back.
    """
    found: list[int | None] = [None] * len(commits)
    at = now
    for i in range(len(commits) - 1, -1, -1):
        found[i] = at if at is not None else _whole(commits[i])
        if found[i] is not None and found[i] < 0:  # the log says less than happened
            found[i] = None
        change = _change(commits[i])
        at = None if found[i] is None or change is None else found[i] - change
    for i in range(1, len(commits)):
        change = _change(commits[i])
        if found[i] is None and found[i - 1] is not None and change is not None:
            found[i] = found[i - 1] + change
    return found


def _whole(commit: dict[str, Any]) -> int | None:
    return commit["inserted"] if commit["is_whole"] else None


def _change(commit: dict[str, Any]) -> int | None:
    """By how many rows a commit changed its table; None if Delta does not say."""
    if not commit["moves_rows"]:
        return 0
    operation, inserted, deleted = (commit[key] for key in ("operation", "inserted", "deleted"))
    if commit["is_whole"]:
        return None
    if operation == "UPDATE":
        return 0
    if operation == "DELETE":
        return None if deleted is None else -deleted
    if operation == "MERGE":
        return None if inserted is None or deleted is None else inserted - deleted
    if operation in ("WRITE", "STREAMING UPDATE"):
        return None if inserted is None else inserted - (deleted or 0)
    if operation in ("CREATE TABLE", "REPLACE TABLE"):
        return 0 if operation == "CREATE TABLE" else None
    return None


def flips(statuses: str) -> int:
    """How often a test changed between passing (p) and not (f, w, e); other letters say nothing."""
    told = [one == "p" for one in statuses if one in "pfwe"]
    return sum(a != b for a, b in pairwise(told))
