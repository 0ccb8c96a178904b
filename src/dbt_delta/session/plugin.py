"""The hook with which dbt loads dbt_delta's adapter instead of dbt-spark's."""

import os

from dbt.adapters.events.logging import AdapterLogger
from dbt.plugins.manager import dbtPlugin

from dbt_delta.session import patches, versions

SWITCH = "DBT_DELTA_PLUGIN"

logger = AdapterLogger("dbt_delta")


class SessionPlugin(dbtPlugin):
    """The class that dbt finds and starts; see ``install``."""

    def initialize(self) -> None:
        install()


def install() -> None:
    """Puts our adapter in place, or warns why dbt-spark's adapter is used."""
    reason = choose_adapter()
    if reason:
        logger.warning(f"dbt_delta's session is not used: {reason}. {SWITCH}=off silences this.")


def choose_adapter() -> str:
    """Makes dbt create our adapter for the type ``spark``, once per process.

    dbt starts its plugins after it has loaded dbt-spark and before it makes an adapter of the class
    that dbt-spark names.

    Leaves dbt-spark unchanged if ``DBT_DELTA_PLUGIN=off``, and in a version of dbt that was not
    tested: then it says so, the first time.
    """
    if is_off():
        return ""
    from dbt.adapters import spark

    from dbt_delta.session.stock import StockAdapter

    if issubclass(spark.Plugin.adapter, StockAdapter):
        return ""
    reason = versions.obstacle()
    if reason:
        spark.Plugin.adapter = StockAdapter
        return reason
    from dbt_delta.session.adapter import DeltaAdapter

    spark.Plugin.adapter = DeltaAdapter
    patches.apply(patches.SEED_FILES)
    return ""


def is_off() -> bool:
    """Whether the user wants dbt-spark as it is."""
    return os.environ.get(SWITCH, "on").lower() in ("off", "0", "false")
