"""Spark's exceptions in one clean paragraph."""

import re
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError

logger = AdapterLogger("dbt_delta")

# Conditions that only say that something below failed.
WRAPPERS = ("TASK_WRITE_FAILED", "FAILED_EXECUTE_UDF", "INTERNAL_ERROR", "FAILED_READ_FILE")
_CONDITION = re.compile(r"^\[([A-Z][A-Z0-9_.]*)\]")
_FRAME = re.compile(r"\n\s*at [\w.$/]+\(.*")
_DRIVER_GONE = (
    "Spark's JVM is gone: it was killed or ran out of memory. What it said last is in spark.log "
    "beside dbt's log; DBT_DELTA_MEMORY gives it more. Tables are at their last version."
)


@contextmanager
def as_database_error() -> Generator[None, None, None]:
    """Turns whatever Spark raises into dbt's database error; the trace goes to the log file."""
    try:
        yield
    except DbtDatabaseError:
        raise
    except Exception as error:
        logger.debug("".join(traceback.format_exception(error)))
        raise DbtDatabaseError(message(error)) from error


def message(error: BaseException) -> str:
    """What went wrong in Spark's words: condition, text, position in the SQL; no traces, no plans.

    Of a chain of causes it is the innermost that carries an error condition of its own, because
    the outer ones only say that a task or a write failed.
    """
    if type(error).__module__.startswith("py4j") and not hasattr(error, "java_exception"):
        return _DRIVER_GONE
    if isinstance(error, ConnectionError):
        return _DRIVER_GONE
    origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if origin is None:
        return tidy(str(error))
    texts = [tidy(text) for text in _causes(origin)] or [tidy(str(error))]
    return _best(texts)


def tidy(text: str) -> str:
    """Cuts stack frames and query plans from an exception's text."""
    caused = re.findall(r"Caused by: [\w.$]+: (.*?)(?=\n\s*at |\nCaused by|\Z)", text, re.DOTALL)
    text = _best([text.split("\n\tat ")[0], *caused]) if caused else text
    text = _FRAME.split(text)[0].split("\n\nDriver stacktrace")[0].split("\nJVM stacktrace")[0]
    position = re.search(r"; line \d+,? pos \d+", text)
    text = text[: position.end()] if position else text
    return re.sub(r"^[\w.$]+(?:Exception|Error): ", "", text).strip()


def _best(texts: list[str]) -> str:
    """The innermost text with a telling condition, else with any, else the outermost."""
    named = [text for text in texts if _CONDITION.match(text)]
    telling = [t for t in named if _CONDITION.match(t).group(1).split(".")[0] not in WRAPPERS]
    return (telling or named or texts)[-1 if named else 0]


def _causes(exception: Any) -> list[str]:
    """Messages of a Java exception and its causes, outermost first."""
    found = []
    while exception is not None and len(found) < 20:
        text = exception.getMessage()
        if text:
            found.append(text)
        exception = exception.getCause()
    return found
