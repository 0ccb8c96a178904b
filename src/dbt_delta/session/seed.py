"""The CSV file of a seed: its cells as exact text, the types of its columns, the line of each row.

dbt's own reader (agate) drops percent signs, currency signs and commas of apparent numbers, fills
short rows with NULLs, renames columns with the same name, and does not know line numbers.
"""

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import CompilationError

if TYPE_CHECKING:
    import agate

Cell = str | None
Reader = Callable[[str], Cell]

# The size of a statement that loads rows: far below the limit of a Thrift server (100 MB).
CHUNK = 1_000_000
MAX_DIGITS = 38
# The form of numbers: +49, 007, 1,000, $5, 10% and NaN are texts, and stay unchanged.
NUMBER = re.compile(
    r"-?(?:(?:0|[1-9]\d{0,400})(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?", re.ASCII
)
SHORT_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)", re.ASCII)
TIMESTAMP = re.compile(DATE.pattern + r" (\d\d?):(\d\d?):(\d\d?)", re.ASCII)
ISO_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?"
    r"(Z|[+-](?:0\d|1[0-7])(?::?[0-5]\d)?)?",
    re.ASCII,
)
_EXACT = Context(prec=2000)
_MALFORMED = {
    "unexpected end of data": "a quote opens here that is never closed",
    "expected after": "text follows a closing quote; a quote within quotes is written twice",
    "larger than field limit": "a cell is longer than 131072 characters",
}


@dataclass(frozen=True)
class Seed:
    """A seed as macros load it.

    ``columns`` are name, type, and whether all cells are known to have that type; ``chunks`` are
    the rows as JSON lists of lists of texts; ``lines`` are the lines in which the rows begin.
    """

    columns: list[dict[str, Any]]
    chunks: list[str]
    lines: list[int]
    table: "agate.Table"


def load(config: Any, model: dict[str, Any], masked: Collection[str] = ()) -> Seed:
    """The seed of a dbt project; its table shows stars for columns that are masked, `*` for all.

    Raises:
        CompilationError: the file is not a CSV file whose rows have as many cells as its header.
    """
    settings = model["config"]
    types = {k.lower(): v for k, v in (settings.get("column_types") or {}).items()}
    name = model["original_file_path"]
    header, rows, lines = read(_path(config, model).read_bytes(), settings["delimiter"], name)
    columns, texts = [], []
    for position, column in enumerate(header):
        cells = [_null_or_text(row[position]) for row in rows]
        given = types.get(column.lower())
        kind, cells = (given, cells) if given else infer(cells)
        # A time may not exist in the session's time zone.
        is_certain = not given and kind != "timestamp"
        columns.append({"name": column, "type": kind, "is_certain": is_certain})
        texts.append(cells)
    found = list(zip(*texts, strict=True))
    table = _table(header, _starred(header, found, masked) if masked else found)
    return Seed(columns, list(chunks(found)), lines, table)


def read(data: bytes, delimiter: str, name: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, rows, and the line in which each row begins; empty lines are not rows.

    Raises:
        CompilationError: see ``load``.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise encoding_refusal(name, error) from error
    try:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (TypeError, ValueError) as error:
        raise CompilationError(
            f"{name}: delimiter is {delimiter!r}; it must be one character, except a quote or a "
            "line break. Correct the seed's delimiter."
        ) from error
    rows, lines, line = [], [], 1
    try:
        for record in records:
            if record:
                rows.append(record)
                lines.append(line)
            line = records.line_num + 1
    except csv.Error as error:
        said = next((text for key, text in _MALFORMED.items() if key in str(error)), str(error))
        raise CompilationError(f"{name}, line {line}: {said}. Correct the line.") from error
    if not rows:
        raise CompilationError(f"{name} is empty. Its first line has to name the columns.")
    header = rows.pop(0)
    place = f"{name}, line {lines.pop(0)}"
    _check_header(header, delimiter, place)
    _check_mixture(header, rows, delimiter, place)

    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(header):
            raise CompilationError(
                f"{name}, line {line}: {len(row)} cells, but the header has {len(header)} columns. "
                f"Correct the line, or quote the cell with a {delimiter!r} or a line break."
            )
    return header, rows, lines


def encoding_refusal(name: str, error: UnicodeDecodeError) -> CompilationError:
    """The error for a file that is not valid UTF-8."""
    line = error.object.count(b"\n", 0, error.start) + 1
    byte = error.object[error.start]
    return CompilationError(
        f"{name}, line {line}: byte 0x{byte:02x} is not valid UTF-8. Save the file as UTF-8."
    )


def infer(cells: Sequence[Cell]) -> tuple[str, list[Cell]]:
    """The type that dbt infers for the cells of a column, as far as no value changes.

    The cells are returned as Spark casts them to that type.
    """
    readers: tuple[tuple[str, Reader], ...] = (
        ("date", _date),
        ("timestamp", _timestamp),
        ("timestamp", _iso_timestamp),
        ("boolean", _boolean),
    )
    numbers = _each(cells, _number)
    if numbers is not None:
        found = _number_type(numbers)
        if found is not None:
            return found
    for kind, reader in readers:
        found_cells = _each(cells, reader)
        if found_cells is not None:
            return kind, found_cells
    return "string", list(cells)


def chunks(rows: Iterable[Sequence[Cell]]) -> Iterable[str]:
    """The rows as JSON, in texts of about ``CHUNK`` characters; at least one."""
    texts: list[str] = []
    size = 0
    for row in rows:
        text = json.dumps(row)
        if texts and size + len(text) > CHUNK:
            yield f"[{','.join(texts)}]"
            texts, size = [], 0
        texts.append(text)
        size += len(text)
    yield f"[{','.join(texts)}]"


def _path(config: Any, model: dict[str, Any]) -> Path:
    """The path where dbt looks for the file: in the project, or in its package."""
    root = Path(config.project_root)
    if model["package_name"] != config.project_name:
        root = root / config.packages_install_path / model["package_name"]
    path = root / model["original_file_path"]
    return path if path.exists() else Path(model["root_path"]) / model["original_file_path"]


def _check_header(header: list[str], delimiter: str, place: str) -> None:
    seen: dict[str, int] = {}
    for position, column in enumerate(header, 1):
        if not column.strip():
            raise CompilationError(
                f"{place}: column {position} has no name. Name it, or remove it."
            )
        first = seen.setdefault(column.lower(), position)
        if first != position:
            raise CompilationError(
                f"{place}: columns {first} and {position} have one name, '{header[first - 1]}' "
                f"and '{column}': Spark ignores case. Rename one."
            )
    other = re.search(r"[,;|\t]", header[0]) if len(header) == 1 else None
    if other:
        raise CompilationError(
            f"{place}: one column, named '{header[0]}'. Is {other[0]!r} the delimiter, and not "
            f"{delimiter!r}? Set the seed's delimiter."
        )


def _check_mixture(header: list[str], rows: list[list[str]], delimiter: str, place: str) -> None:
    """Refuses a name with another delimiter if the rows have it, too, or have another width."""
    is_uneven = any(len(row) != len(header) for row in rows)
    for position, column in enumerate(header):
        for other in {*",;|\t"} - {delimiter}:
            count = column.count(other)
            if (
                count
                and rows
                and (is_uneven or all(r[position].count(other) == count for r in rows))
            ):
                raise CompilationError(
                    f"{place}: column {position + 1} is named '{column}'. The header mixes the "
                    f"delimiters {delimiter!r} and {other!r}. Use one, or rename the column."
                )


def _null_or_text(cell: str) -> Cell:
    """NULL for what dbt reads as NULL: no text, blanks, and the word."""
    return None if cell.strip().lower() in ("", "null") else cell


def _each(cells: Sequence[Cell], reader: Reader) -> list[Cell] | None:
    """The cells as the reader converts them; None if it cannot convert one of them."""
    found: list[Cell] = []
    for cell in cells:
        text = None if cell is None else reader(cell.strip())
        if text is None and cell is not None:
            return None
        found.append(text)
    return found


def _number(text: str) -> Cell:
    return text if NUMBER.fullmatch(text) else None


def _number_type(cells: list[Cell]) -> tuple[str, list[Cell]] | None:
    """The first of bigint, double and decimal that holds all numbers exactly, if any.

    As with dbt, numbers without a fraction are whole, however they are written.
    """
    if all(cell is None or SHORT_INTEGER.fullmatch(cell) for cell in cells):
        return "bigint", cells
    numbers = [None if cell is None else Decimal(cell) for cell in cells]
    plain = [None if n is None else f"{_EXACT.normalize(n):f}" for n in numbers]
    present = [text.lstrip("-") for text in plain if text is not None]
    scale = max((len(text.partition(".")[2]) for text in present), default=0)
    digits = scale + max((len(text.partition(".")[0]) for text in present), default=0)
    decimal = (f"decimal({digits},{scale})", plain) if digits <= MAX_DIGITS else None
    if not scale:
        if all(text is None or -(2**63) <= int(text) < 2**63 for text in plain):
            return "bigint", plain
        if decimal:
            return decimal
    if all(n is None or Decimal(repr(float(n))) == n for n in numbers):
        return "double", cells
    return decimal


def _date(text: str) -> Cell:
    found = DATE.fullmatch(text)
    return _moment(dt.date, found.groups()) if found else None


def _timestamp(text: str) -> Cell:
    found = TIMESTAMP.fullmatch(text)
    return _moment(dt.datetime, found.groups()) if found else None


def _iso_timestamp(text: str) -> Cell:
    found = ISO_TIMESTAMP.fullmatch(text)
    if not found:
        return None
    *parts, second, fraction, zone = found.groups()
    moment = _moment(dt.datetime, (*parts, second or "0", (fraction or "").ljust(6, "0")))
    if moment is None or zone in (None, "Z"):
        return moment and moment + (zone or "")
    hours, minutes = zone[:3], zone[3:].lstrip(":") or "00"
    return f"{moment}{hours}:{minutes}"


def _moment(kind: type[dt.date], parts: Iterable[str]) -> Cell:
    try:
        return kind(*map(int, parts)).isoformat()
    except ValueError:
        return None


def _boolean(text: str) -> Cell:
    return text.lower() if text.lower() in ("true", "false") else None


def _starred(header: list[str], rows: Iterable[Sequence[Cell]], masked: Collection[str]) -> Any:
    hidden = [not {"*", column.lower()}.isdisjoint(masked) for column in header]
    for row in rows:
        cells = zip(hidden, row, strict=True)
        yield ["***" if is_hidden and cell is not None else cell for is_hidden, cell in cells]


def _table(header: list[str], rows: Iterable[Sequence[Cell]]) -> "agate.Table":
    """What ``dbt seed --show`` shows; agate does not convert the cells of this table."""
    import agate

    found = [agate.Row(row, header) for row in rows]
    return agate.Table(found, header, [agate.Text()] * len(header), _is_fork=True)
