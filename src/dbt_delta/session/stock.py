"""dbt-spark's own adapter, which tells the macros why ours is not used."""

from typing import Any

from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter

from dbt_delta.session import versions
from dbt_delta.session.profile import asked_ansi


class StockAdapter(SparkAdapter):
    """The adapter for versions of dbt that were not tested."""

    @available
    def dbt_delta_plugin(self) -> dict[str, str | None]:
        """The reason why our adapter is not used, if any, and the ANSI mode in profiles.yml."""
        return {"obstacle": versions.obstacle(), "ansi": asked_ansi(self.config.credentials)}

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """dbt-spark's: dbt looks for the package of an adapter by the name of its class."""
        return SparkAdapter.get_adapter_run_info(config)
