"""Which failed statements may run again unchanged."""

import itertools
import random
import re
from collections.abc import Callable

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError

logger = AdapterLogger("dbt_delta")

# Two writers met, the format let one through, and the other has written nothing. Not among them is
# DELTA_CONCURRENT_TRANSACTION: that writer's work is there already, under the same transaction id.
# Nor is Iceberg's CommitStateUnknownException, which does not know.
_CONFLICT = re.compile(
    r"\[(DELTA_CONCURRENT_(?!TRANSACTION)\w+|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED)\b"
    r"|ValidationException: (Found (conflicting|concurrently added)|Missing required files"
    r"|Cannot commit, (found new|missing data files)|Cannot delete data files .* referenced by new)"
    r"|CommitFailedException: "
)
# Statements of one commit whose result depends only on the tables when they run. RESTORE is not
# one: it would revert what the other writer has just committed. OPTIMIZE changes no row.
_ONE_COMMIT = re.compile(
    r"(insert|merge|delete|update|create\s+or\s+replace\s+table|replace\s+table"
    r"|optimize|reorg\s+table)\b",
    re.IGNORECASE,
)
# It names the only state of the table in which it may run, which is gone for good.
_LOCKED = "'isolation-level' = "
# What may stand before the first word of a statement.
LEADING = re.compile(r"(?:[\s(]|/\*(?:[^*]|\*(?!/))*\*/|--[^\n]*(?:\n|$))*")

ATTEMPTS = 4


def repeatedly(
    sql: str, run: Callable[[], None], name: str | None, wait: Callable[[float], object]
) -> None:
    """Runs a statement, and again after a lost race if it can run again.

    Args:
        run: sends it.
        name: the node of the statement, for the log.
        wait: sleeps for this number of seconds, or until the statement is cancelled.

    Raises:
        DbtDatabaseError: the error of the last attempt.
    """
    for attempt in itertools.count(1):
        try:
            return run()
        except DbtDatabaseError as error:
            if attempt == ATTEMPTS or not is_conflict(error.msg) or not is_repeatable(sql):
                raise
            condition, seconds = _CONFLICT.match(error.msg)[0].rstrip(": "), delay(attempt)
        logger.info(
            f"{name}: another writer was faster {condition}; "
            f"attempt {attempt + 1} of {ATTEMPTS} in {seconds:.1f} s"
        )
        wait(seconds)


def is_conflict(message: str) -> bool:
    """Whether a statement failed because another writer was faster."""
    return _CONFLICT.match(message) is not None


def is_repeatable(sql: str) -> bool:
    """Whether the whole statement can run again after a conflict; a script never can."""
    start = LEADING.match(sql).end()
    return (
        _ONE_COMMIT.match(sql, start) is not None and _LOCKED not in sql[start:].partition("\n")[0]
    )


def delay(attempt: int) -> float:
    """Seconds before the next attempt, after ``attempt`` attempts (from 1); random."""
    return 2 ** (attempt - 1) * random.uniform(0.5, 1.5)
