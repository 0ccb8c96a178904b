"""Spark's exceptions as one clean paragraph."""

import re
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError

logger = AdapterLogger("dbt_delta")

# Conditions that only say that a deeper step failed.
WRAPPERS = (
    "FAILED_EXECUTE_UDF",
    "FAILED_READ_FILE",
    "INTERNAL_ERROR",
    "TASK_WRITE_FAILED",
    "_LEGACY_ERROR_TEMP_",
)
MAX_LINES = 24
_CONDITION = re.compile(r"^\[([A-Za-z_][A-Za-z0-9_.]*)\]")
_FRAME = re.compile(r"\n\s*at [\w.$/<>]+\(.*", re.DOTALL)
_CLASS = re.compile(r"^(?:[\w$]+\.)+([\w$]+)(?:: |$)")
# A driver in another thread's words: "... most recent failure: Lost task 0.0 in stage 3.0 (TID 3)
# (host executor driver): org.apache.spark.SomeException: ..."
_LOST_TASK = re.compile(r"most recent failure: Lost task [^:]*?\): (.*)", re.DOTALL)
# A Thrift server's own words before Spark's; it names the condition first, and then the class.
_SERVER = re.compile(r"^(?:[\w.]+HiveSQLException: )?(?:Error running query: (?:\[[\w.]+\] )?)?")
# What follows is a trace, or a stream's plan.
_ENDS = ("\n\nDriver stacktrace", "\nJVM stacktrace", "=== Streaming Query ===")
_POSITION = re.compile(r"; line \d+,? pos \d+")
_PARSED = re.compile(r"\s*\n+== SQL ==\n(.*)", re.DOTALL)


NOT_SHOWN = "The rest is not shown: it may contain values that the YAML marks with meta pii."
_hidden = threading.local()


def hide_values(is_hidden: bool) -> None:
    """Sets whether messages in this thread leave out the values of rows."""
    _hidden.on = is_hidden


def without_values(text: str) -> str:
    """A message for people: if values are hidden, errors of data show only their condition."""
    condition = _CONDITION.match(text)
    if not getattr(_hidden, "on", False) or condition is None:
        return text
    if condition[1].startswith("DELTA_VIOLATE_CONSTRAINT"):
        return f"{text.partition(' by row with values')[0]}. {NOT_SHOWN}"
    # Classes 22 and 23 of SQL: data exceptions, and violated constraints.
    is_of_data = re.search(r"SQLSTATE: 2[23]", text) or condition[1].startswith("DELTA_EXCEED_CHAR")
    return f"[{condition[1]}] {NOT_SHOWN}" if is_of_data else text


@contextmanager
def as_database_error() -> Generator[None, None, None]:
    """Turns any error of Spark into dbt's database error; the trace goes to the log file."""
    try:
        yield
    except DbtDatabaseError:
        raise
    except Exception as error:
        text = message(error)
        if without_values(text) == text:
            logger.debug(_trace(error))
        raise DbtDatabaseError(without_values(text)) from error


def message(error: BaseException) -> str:
    """Spark's error: condition, text and position in the SQL, without traces and plans.

    In a chain of causes it is the innermost one with its own error condition, because the outer
    ones only say that a task or a write failed.
    """
    if is_driver_gone(error):
        return _driver_gone()
    origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if origin is not None:
        return paragraph(_causes(origin))
    # Of a stream's exception PySpark has the text, and Java's exception of its cause.
    cause = getattr(error, "_cause", None)
    return paragraph([str(error), *_causes(getattr(cause, "_origin", None))])


def of_server(text: str) -> str:
    """The same from the stack trace that a Thrift server sends."""
    return without_values(
        paragraph([_SERVER.sub("", part) for part in text.split("\nCaused by: ")])
    )


def is_driver_gone(error: BaseException) -> bool:
    """Whether the JVM did not answer at all, not even with an exception."""
    from dbt_delta.session import spark

    if hasattr(error, "java_exception") or hasattr(error, "_origin"):
        return False
    if isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError":
        return True
    return type(error).__module__.startswith("py4j") and spark.is_driver_gone()


def first_line(error: BaseException) -> str:
    """What an error says, in one line; dbt's own errors without the name of their kind."""
    return str(getattr(error, "msg", error)).strip().partition("\n")[0]


def paragraph(texts: list[str]) -> str:
    """The useful one in a chain of exceptions, outermost first, as ``toString`` returns them."""
    texts = [tidy(text) for text in texts]
    named = [text for text in texts if _CONDITION.match(text)]
    telling = [text for text in named if not _CONDITION.match(text)[1].startswith(WRAPPERS)]
    if not named:
        return _short(texts[-1])
    chosen, last = (telling or named)[-1], texts[-1]
    return _short(chosen if last in chosen or last in named else f"{chosen} Cause: {last}")


def tidy(text: str) -> str:
    """One exception's text without stack frames, query plan, Java class and the statement itself.

    If a syntax error quotes the statement, the line in question is kept.
    """
    lost = _LOST_TASK.search(text)
    text = lost[1] if lost else text
    text = _FRAME.split(text)[0]
    for end in _ENDS:
        text = text.partition(end)[0]
    position = _POSITION.search(text)
    text = text[: position.end()] if position else text.split(";\n")[0]
    quoted = _PARSED.search(text)
    if quoted:
        text = "\n".join([text[: quoted.start()], *_marked_line(quoted[1])])
    java = _CLASS.match(text)
    if java:
        rest = text[java.end() :].lstrip()
        text = rest if _CONDITION.match(rest) else f"{java[1]}: {rest}" if rest else java[1]
    return text.strip()


def _marked_line(sql: str) -> list[str]:
    """The line that the parser points at, and the pointer."""
    lines = sql.rstrip().split("\n")
    for number, line in enumerate(lines):
        if number and re.fullmatch(r"-*\^\^\^", line):
            return [lines[number - 1], line.replace("-", " ")]
    return []


def _short(text: str) -> str:
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return "\n".join(lines if len(lines) <= MAX_LINES else [*lines[:MAX_LINES], "..."])


def _causes(exception: Any) -> list[str]:
    """A Java exception and its causes as text, outermost first."""
    found: list[str] = []
    while exception is not None and len(found) < 20:
        found.append(exception.toString())
        exception = exception.getCause()
    return found


def _trace(error: Exception) -> str:
    """Python's trace, and the JVM's if pyspark hides it."""
    jvm = getattr(error, "_stackTrace", None)
    return "\n".join([*traceback.format_exception(error), *([jvm] if jvm else [])])


def _driver_gone() -> str:
    from dbt_delta.session.spark import driver_exit_code

    code = driver_exit_code()
    return (
        f"Spark's JVM is gone{'' if code is None else f' (exit code {code})'}: it was killed or "
        "ran out of memory. Its last messages are in spark.log beside dbt's log; "
        "DBT_DELTA_MEMORY gives it more. Tables are at their last version."
    )
