"""Time zones as Spark names them."""

import datetime as dt

import pytest
from dbt.adapters.base.relation import EventTimeFilter

from dbt_delta.session.connection import _to_zone, _zone
from dbt_delta.session.relation import DeltaRelation

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


def test_a_window_of_times_without_a_zone_is_in_utc() -> None:
    start = dt.datetime(2024, 1, 1, 19, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    window = EventTimeFilter("at", start=start)
    relation = DeltaRelation.create(schema="s", identifier="t")
    assert relation._render_event_time_filtered(window) == (
        "case when typeof(at) in ('date', 'timestamp_ntz')"
        " then cast(at as timestamp_ntz) >= timestamp_ntz'2024-01-02 00:00:00'"
        " else cast(at as timestamp) >= timestamp'2024-01-01 19:00:00-05:00' end"
    )
    assert relation._render_event_time_filtered(EventTimeFilter("at")) == ""
