"""The requests of a CSV file: a line for each subject, a column for each key."""

import csv
import re
from pathlib import Path
from typing import NamedTuple

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_BIGINT = 2**63


class Requests(NamedTuple):
    """``rows`` have a value for each column of ``types``, {name: SQL type}; None where none is."""

    types: dict[str, str]
    rows: list[tuple[int | str | None, ...]]


def read(path: Path, kinds: dict[str, str | None]) -> Requests:
    """Reads a file in UTF-8 whose first line names the columns; no rows if there is no file.

    Args:
        kinds: ``integer`` or ``text`` by column; other columns of the file are not read.

    Raises:
        ValueError: not such a file, with the line.
    """
    if not path.exists():
        types = {name: "bigint" if kind == "integer" else "string" for name, kind in kinds.items()}
        return Requests(types, [])
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            places = {name: header.index(name) for name in kinds if name in header}
            double = sorted({name for name in places if header.count(name) > 1})
            if double:
                raise ValueError(f"its first line names {', '.join(double)} twice")
            rows = []
            for values in lines:
                if values and len(values) != len(header):
                    counts = f"{len(values)} values for {len(header)} columns"
                    raise ValueError(f"line {lines.line_num} has {counts}")
                if values:
                    row = (_value(values[at], kinds[name], name) for name, at in places.items())
                    rows.append(tuple(row))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"it cannot be read: {error}") from None
    except _Wrong as error:
        raise ValueError(f"line {lines.line_num}: {error}") from None
    types = {name: "bigint" if kinds[name] == "integer" else "string" for name in places}
    return Requests(types, rows)


class _Wrong(Exception):
    """A value of another kind."""


def _value(text: str, kind: str | None, name: str) -> int | str | None:
    if not text:
        return None
    if kind != "integer":
        return text
    if not _INTEGER.fullmatch(text) or not -_BIGINT <= int(text) < _BIGINT:
        raise _Wrong(f"{name} is no integer, as in the tables")
    return int(text)
