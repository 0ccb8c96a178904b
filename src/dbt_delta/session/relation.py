"""dbt-spark's relation, whose windows of time are times."""

from dataclasses import dataclass

from dbt.adapters.base.relation import EventTimeFilter
from dbt.adapters.spark.relation import SparkRelation


@dataclass(frozen=True, eq=False, repr=False)
class DeltaRelation(SparkRelation):
    """A relation of our adapter."""

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        """The batch of a microbatch model, and a sample, by time, whatever type the column has.

        dbt compares the column with a string: '2024-01-01' is then less than the first moment of
        its own day, and '2024-01-01 00:00:00' too.
        """
        column = f"cast({event_time_filter.field_name} as timestamp)"
        limits = ((">=", event_time_filter.start), ("<", event_time_filter.end))
        return " and ".join(f"{column} {sign} timestamp'{at}'" for sign, at in limits if at)
