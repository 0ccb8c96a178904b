"""dbt-spark's own adapter, which tells macros why ours is not used."""

from typing import Any

from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter

from dbt_delta.session import versions
from dbt_delta.session.profile import asked_ansi


class StockAdapter(SparkAdapter):
    """What dbt gets beside a version that was not tested."""

    @available
    def dbt_delta_plugin(self) -> dict[str, str | None]:
        """The obstacle to our adapter, if any, and the ANSI mode in profiles.yml."""
        return {"obstacle": versions.obstacle(), "ansi": asked_ansi(self.config.credentials)}

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """dbt-spark's: dbt looks for the package of an adapter by the name of its class."""
        return SparkAdapter.get_adapter_run_info(config)
