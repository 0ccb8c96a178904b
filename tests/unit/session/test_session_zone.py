"""Time zones as Spark names them."""

import datetime as dt

import pytest

from dbt_delta.session.connection import _to_zone, _zone

NOON = dt.datetime(2024, 7, 1, 12, tzinfo=dt.timezone.utc)


@pytest.mark.parametrize(
    ("name", "hour", "minute"),
    [
        ("UTC", 12, 0),
        ("Z", 12, 0),
        ("GMT", 12, 0),
        ("Europe/Berlin", 14, 0),
        ("Asia/Kolkata", 17, 30),
        ("+02:00", 14, 0),
        ("-09:30", 2, 30),
        ("GMT+2", 14, 0),
        ("UTC-0930", 2, 30),
        ("+00:00:30", 12, 0),
    ],
)
def test_zones(name, hour, minute):
    shown = _to_zone(NOON, _zone(name))
    assert (shown.hour, shown.minute) == (hour, minute)
    assert shown.tzinfo is None


def test_null():
    assert _to_zone(None, _zone("UTC")) is None
