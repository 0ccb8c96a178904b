"""Cells as people write them, and what plain Python says of whether a type holds them."""

import datetime as dt
import math
import re
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st

from tests.unit.macros import rendering

# Decimals with more digits than any cell has.
EXACT = Context(prec=2000)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
MOMENT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d?)(?::(\d\d?)(?:\.(\d*))?)?"
    r"( ?(?:Z|UTC|GMT|[+-]\d\d?(?::?\d\d)?))?)?",
    re.ASCII,
)
# At which a cast alone goes wrong, or seems to.
CELLS: dict[str, Sequence[str]] = {
    "int": ("1", " 1 ", "+5", "007", "2147483648", "1.0", "1e2", "0x10", "1L", "1_0", "\u0661"),
    "bigint": ("9223372036854775807", "9223372036854775808", "1d"),
    "decimal(5,2)": (
        "1.239e0", "1.239", "1.230", "123e-2", "123e-3", "1.2e1", "0.00e-9", "-999.99", "1e3", ".5",
        "5.", "1200e-4", "1,0", "0x1", "1d", "1e9999", "NaN", "",
    ),
    "Numeric(9)": ("1.0", "1.5", "1e-1", "1e2"),
    "double": (
        "0.1", "1e300", "NaN", "-inf", "0.30000000000000004", "9007199254740993", "5e-324", "1e400",
        "1d", "1f", "0x10", "0x1p3", "1e-400", "0.1234567890123456789", "1.23456789e-320",
        "8.41e21", "1e23", "-0.0", "1.7976931348623157e308", "100000000000000000000", "1e",
        "-72.886806000000007", "9007199254740993.5",
    ),
    "float": ("16777217", "16777216", "0.1", "3.4028235e38", "1e39", "1e-45", "0.123456789"),
    "boolean": ("true", "F", "yes", "0", " n ", "on", "2", "maybe", "1.0"),
    "date": (
        "2024-01-31", "2024-1-5", "2024", "2024-01", "2024-01-31 10:00:00", "2024-01-31 00:00:00",
        "2024-02-30", "10000-01-01", "0000-01-01", "0001-01-01", "20240131", "2024-01-31Z", "today",
        "10:00:00", "+2024-01-01", "2024-01-31T00:00:00Z",
    ),
    "timestamp": (
        "10:00:00", "T10:00:00", "2024", "2024-01-31", "2024-01-31 24:00:00", "2024-12-31 23:59:60",
        "2024-01-31 10", "2024-01-31 10:00", "2024-01-31T10:00:00Z", "2024-01-31 10:00:00+02:00",
        "2024-01-31 10:00:00.1234560", "2024-01-31 10:00:00.1234567", "now", "1706695200",
        "9999-12-31T23:00:00-05:00", "10000-01-01 00:00:00", "2024-01-31 10:00:00 Europe/Berlin",
    ),
    "timestamp_ntz": ("2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-01-31 10:00:00+02:00"),
    "varchar(3)": ("abc", "ab ", "abc ", "abcd"),
    "char(3)": ("a", "abc "),
    "string": ("anything",),
    "binary": ("\u00e4",),
}  # fmt: skip


@st.composite
def cells(draw: st.DrawFn) -> tuple[str, str]:
    """A type, and a cell that is nearly one of its values."""
    kind = draw(st.sampled_from([k for k in CELLS if k not in ("string", "binary")]))
    if kind.startswith(("date", "timestamp")):
        moment = draw(st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)))
        text = draw(st.sampled_from([moment.date().isoformat(), moment.isoformat(" ")]))
        return kind, text + draw(st.sampled_from(["", "", "Z", "+02:00", " 10:00", "1", ".0"]))
    number = draw(
        st.one_of(
            st.integers(-(10**20), 10**20).map(str),
            st.integers(-(10**4), 10**4).map(str),
            st.decimals(-1000, 1000, places=draw(st.integers(0, 4))).map(str),
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
        )
    )
    mark = "" if "e" in number else draw(st.sampled_from(["", "", "", "e0", "e-1", "E+2", "d"]))
    return kind, draw(st.sampled_from(["", "", " ", "+", "0"])) + number + mark


def holds(kind: str, cell: str) -> bool:
    """Whether the type holds what the cell says, no more and no less."""
    name, sizes = kind.partition("(")[0].lower(), [int(n) for n in re.findall(r"\d+", kind)]
    text = cell.strip()
    if name in ("string", "binary"):
        return True
    if name in ("varchar", "char"):
        return len(cell) <= sizes[0]
    if name in ("int", "bigint"):
        limit = 2 ** (31 if name == "int" else 63)
        return re.fullmatch("[+-]?[0-9]+", text) is not None and -limit <= int(text) < limit
    if name == "boolean":
        return text.lower() in ["true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"]
    if name in ("decimal", "numeric"):
        digits, scale = (*sizes, 0)[:2]
        if not NUMBER.fullmatch(text):
            return False
        scaled = EXACT.multiply(Decimal(text), 10**scale)
        return scaled == scaled.to_integral_value() and abs(scaled) < 10**digits
    if name in ("double", "float"):
        return _is_float(text, name)
    return _is_moment(text, name)


def _is_float(text: str, name: str) -> bool:
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return True
    if not NUMBER.fullmatch(text):
        return False
    written = Decimal(text)
    found = float(written)
    if name == "float":
        try:
            found = struct.unpack("f", struct.pack("f", found))[0]
        except OverflowError:
            return False
    if math.isinf(found) or (found == 0) != (written == 0):
        return False
    digits = len(written.normalize(EXACT).as_tuple().digits)
    # As programs write doubles that have a fraction, to read the same number back.
    is_small = "e" in text.lower() or abs(found) < 2**53
    is_usual = name == "double" and digits <= 17 and abs(found) >= sys.float_info.min
    if is_usual and is_small and re.search(r"\.\d*[1-9]", text):
        return True
    # The digits that were written are those of the number, rounded to as many.
    rounded = Context(prec=digits).create_decimal(Decimal(found))
    return rounded == written or Decimal(repr(found)) == written


def _is_moment(text: str, name: str) -> bool:
    found = MOMENT.fullmatch(text)
    if not found:
        return False
    *parts, fraction, zone = found.groups()
    try:
        moment = dt.datetime(*(int(part or 0) for part in parts))
    except ValueError:
        return False
    if name == "date":
        is_midnight = moment.time() == dt.time() and not (fraction or "").strip("0")
        return zone is None and is_midnight
    if (fraction or "")[6:].strip("0") or (zone and name == "timestamp_ntz"):
        return False
    if zone and zone.strip()[0] in "+-":
        hours, minutes = re.fullmatch(r" ?([+-]\d\d?):?(\d\d)?", zone).groups()
        offset = dt.timedelta(hours=int(hours), minutes=int(hours[0] + (minutes or "0")))
        try:
            moment - offset
        except OverflowError:
            return False
    return True


def refused(spark: Any, kind: str, some: Iterable[str]) -> dict[str, bool]:
    """Whether the package refuses cells."""
    macros = rendering.load()
    condition = macros._misfit("cell", kind) or "false"
    values = ", ".join(f"({macros._literal(cell)})" for cell in some)
    rows = spark.sql(f"select cell, {condition} as is_refused from values {values} as t(cell)")
    return {row.cell: bool(row.is_refused) for row in rows.collect()}


def misjudged(
    spark: Any, given: Iterable[tuple[str, str]], judge: Callable[[str, str], bool] = holds
) -> list[tuple[str, str, str]]:
    """Cells that are refused though the type holds them, or not though it does not."""
    by_kind: dict[str, list[str]] = {}
    for kind, cell in given:
        by_kind.setdefault(kind, []).append(cell)
    wrong = []
    for kind, some in by_kind.items():
        for cell, is_refused in refused(spark, kind, some).items():
            if is_refused == judge(kind, cell):
                wrong.append((kind, cell, "refused" if is_refused else "not refused"))
    return wrong
