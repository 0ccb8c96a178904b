"""dbt-spark's relation, which filters windows of time by times."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from dbt.adapters.base.relation import EventTimeFilter
from dbt.adapters.contracts.relation import ComponentName
from dbt.adapters.spark.relation import SparkRelation


@dataclass(frozen=True, eq=False, repr=False)
class DeltaRelation(SparkRelation):
    """A relation of our adapter."""

    @classmethod
    def create(cls, database: Any = None, *parts: Any, **named: Any) -> "DeltaRelation":
        """``target.database``, which packages pass, is undefined on Spark."""
        return super().create(database or None, *parts, **named)

    def _is_exactish_match(self, field: ComponentName, value: str) -> bool:
        """dbt asks in lower case, and Iceberg's catalog keeps the case that a model has."""
        return self.path.get_lowered_part(field) == value.lower()

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """The filter of a microbatch or a sample, by time, for a column of any type.

        dbt compares the column with a string: '2024-01-01' is then less than the first moment of
        its own day, and '2024-01-01 00:00:00' too. A time without a zone is one in UTC, as in the
        windows that are written; Spark would read it in the session's.
        """
        name = event_time_filter.field_name
        limits = ((">=", event_time_filter.start), ("<", event_time_filter.end))
        given = [(sign, at) for sign, at in limits if at]
        if not given:
            return ""
        naive, moments = (
            " and ".join(f"cast({name} as {kind}) {sign} {kind}'{text(at)}'" for sign, at in given)
            for kind, text in (("timestamp_ntz", in_utc), ("timestamp", str))
        )
        # Spark knows the type when it plans, and leaves one of them.
        return f"case when {is_naive(name)} then {naive} else {moments} end"


def is_naive(name: str) -> str:
    """The condition that a column has dates, or times without a zone."""
    return f"typeof({name}) in ('date', 'timestamp_ntz')"


def in_utc(time: dt.datetime | str) -> str:
    """A time in UTC, or of its own zone, as a literal without one."""
    found = dt.datetime.fromisoformat(time) if isinstance(time, str) else time
    if found.tzinfo is not None:
        found = found.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return str(found)
