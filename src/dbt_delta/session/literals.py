"""Python values as Spark SQL literals, exact."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any


def literal(value: Any) -> str:
    """SQL text of a binding; every value comes back from Spark equal to what went in.

    Raises:
        TypeError: a type that SQL has no literal for.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # A plain literal is an int, a bigint or, beyond 64 bits, a decimal.
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}BD" if value.is_finite() else f"double('{value}')"
    if isinstance(value, float):
        return f"{value!r}D" if math.isfinite(value) else f"double('{value}')"
    if isinstance(value, dt.datetime):
        kind = "timestamp" if value.tzinfo else "timestamp_ntz"
        return f"{kind}'{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"date'{value.isoformat()}'"
    if isinstance(value, (bytes, bytearray)):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    raise TypeError(f"no SQL literal for a {type(value).__name__}: {value!r}")
