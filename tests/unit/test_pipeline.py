"""Which nights a replay plays."""

import datetime as dt

import pytest

from dbt_delta.pipeline import steps

FIRST, LAST = dt.date(2013, 1, 1), dt.date(2014, 1, 1)


@pytest.mark.parametrize(("step", "nights"), [("day", 366), ("week", 53), ("month", 13)])
def test_steps_end_with_the_last_day(step: str, nights: int) -> None:
    days = list(steps(FIRST, LAST, step))
    assert len(days) == nights
    assert days == sorted(set(days))
    assert days[-1] == LAST


def test_months_end_with_their_last_day() -> None:
    assert list(steps(FIRST, dt.date(2013, 3, 10), "month")) == [
        dt.date(2013, 1, 31),
        dt.date(2013, 2, 28),
        dt.date(2013, 3, 10),
    ]


def test_weeks_end_on_sunday() -> None:
    assert list(steps(FIRST, dt.date(2013, 1, 9), "week")) == [
        dt.date(2013, 1, 6),
        dt.date(2013, 1, 9),
    ]


@pytest.mark.parametrize("step", ["day", "week", "month"])
def test_one_day_is_one_night(step: str) -> None:
    assert list(steps(FIRST, FIRST, step)) == [FIRST]
