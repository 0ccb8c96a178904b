"""Statements for Spark, with Python values as exact SQL literals."""

import datetime as dt
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

MAX_DIGITS = 38
_QUERY_COMMENT = re.compile(r"\A(/\*[^\n]*?\*/)\n")


def as_sent(sql: str, bindings: Sequence[Any] | None) -> str:
    """A statement of dbt with its bindings as literals.

    The positions in Spark's errors are those in target/run: dbt's comment has no line of its own.
    """
    sql = _QUERY_COMMENT.sub(r"\1 ", sql)
    return sql % tuple(literal(binding) for binding in bindings) if bindings else sql


def literal(value: Any) -> str:
    """The SQL text of a binding; Spark returns every value unchanged.

    A number with more digits than Spark's decimals hold is passed as text: no digit is lost, and
    the column's type decides.

    Raises:
        TypeError: a type that SQL has no literal for.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, float):
        return f"{value!r}D" if math.isfinite(value) else f"double('{value}')"
    if isinstance(value, dt.datetime):
        kind = "timestamp_ltz" if value.tzinfo else "timestamp_ntz"
        return f"{kind}'{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"date'{value.isoformat()}'"
    if isinstance(value, bytes | bytearray):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        return _text(value)
    raise TypeError(f"no SQL literal for a {type(value).__name__}: {value!r}")


def _integer(value: int) -> str:
    """An int, a bigint, or beyond 64 bits a decimal, by its size."""
    return str(value) if abs(value) < 10**MAX_DIGITS else _text(str(value))


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        return f"double('{value}')"
    written = f"{value:f}"
    digits = written.lstrip("-0.").replace(".", "")
    scale = len(written.partition(".")[2])
    return f"{written}BD" if max(len(digits), scale) <= MAX_DIGITS else _text(written)


def _text(value: str) -> str:
    # Spark replaces ${...} in a statement, also in literals, so the dollar is escaped.
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
    return f"'{escaped}'"
