"""The seed of the reference project against the rules of the statute, 5 U.S.C. 6103(a)."""

import csv
import datetime as dt
from pathlib import Path

SEED = Path(__file__).parents[2] / "seeds" / "us_federal_holidays.csv"
MONDAY, THURSDAY = 0, 3
YEAR = 2013


def _weekday(month: int, weekday: int, nth: int) -> dt.date:
    """The nth of a weekday in a month; -1 is the last one."""
    days = [dt.date(YEAR, month, 1) + dt.timedelta(days=n) for n in range(31)]
    return [day for day in days if (day.month, day.weekday()) == (month, weekday)][nth]


HOLIDAYS = {
    "New Year's Day": dt.date(YEAR, 1, 1),
    "Birthday of Martin Luther King, Jr.": _weekday(1, MONDAY, 2),
    "Washington's Birthday": _weekday(2, MONDAY, 2),
    "Memorial Day": _weekday(5, MONDAY, -1),
    "Independence Day": dt.date(YEAR, 7, 4),
    "Labor Day": _weekday(9, MONDAY, 0),
    "Columbus Day": _weekday(10, MONDAY, 1),
    "Veterans Day": dt.date(YEAR, 11, 11),
    "Thanksgiving Day": _weekday(11, THURSDAY, 3),
    "Christmas Day": dt.date(YEAR, 12, 25),
}


def test_the_seed_has_the_holidays_of_the_statute() -> None:
    with SEED.open() as file:
        rows = {row["holiday_name"]: row["holiday_date"] for row in csv.DictReader(file)}
    assert rows == {name: day.isoformat() for name, day in HOLIDAYS.items()}


def test_each_is_observed_on_its_own_day() -> None:
    """On a Saturday or Sunday it would be observed on another one."""
    assert [day for day in HOLIDAYS.values() if day.weekday() > 4] == []
