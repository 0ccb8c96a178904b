"""dbt-spark's relation, which filters windows of time by times."""

from dataclasses import dataclass

from dbt.adapters.base.relation import EventTimeFilter
from dbt.adapters.spark.relation import SparkRelation


@dataclass(frozen=True, eq=False, repr=False)
class DeltaRelation(SparkRelation):
    """A relation of our adapter."""

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """The filter of a microbatch or a sample, by time, for a column of any type.

        dbt compares the column with a string: '2024-01-01' is then less than the first moment of
        its own day, and '2024-01-01 00:00:00' too.
        """
        column = f"cast({event_time_filter.field_name} as timestamp)"
        limits = ((">=", event_time_filter.start), ("<", event_time_filter.end))
        return " and ".join(f"{column} {sign} timestamp'{at}'" for sign, at in limits if at)
