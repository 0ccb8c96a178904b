"""Gives dbt-spark's ``method: session`` a Spark session of its own per dbt connection."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtDatabaseError

TESTED_DBT_SPARK = ("1.11.0",)
SWITCH = "DBT_DELTA_PLUGIN"

logger = AdapterLogger("dbt_delta")


class SessionPlugin(dbtPlugin):
    """The class that dbt finds and starts; see ``install``."""

    def initialize(self) -> None:
        install()


def install() -> None:
    """Puts our session in the place of dbt-spark's, once per process.

    Leaves dbt-spark as it is when ``DBT_DELTA_PLUGIN=off``, and with a warning when its version
    is not one that was tested.
    """
    if os.environ.get(SWITCH, "on").lower() in ("off", "0", "false"):
        return
    from dbt.adapters.spark.connections import SparkConnectionManager

    if getattr(SparkConnectionManager, "dbt_delta", False):
        return
    SparkConnectionManager.dbt_delta = True
    found = version("dbt-spark")
    if found not in TESTED_DBT_SPARK:
        logger.warning(
            f"dbt_delta's session is not used: dbt-spark {found} is not a tested version "
            f"({', '.join(TESTED_DBT_SPARK)}). {SWITCH}=off silences this."
        )
        return
    stock_open = SparkConnectionManager.open.__func__
    stock_execute = SparkConnectionManager.execute
    stock_exception_handler = SparkConnectionManager.exception_handler

    def open_(cls: type, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN or connection.credentials.method != "session":
            return stock_open(cls, connection)
        from dbt_delta.session.connection import SessionConnection
        from dbt_delta.session.profile import parameters

        connection.handle = SessionConnection(parameters(connection.credentials), connection)
        connection.state = ConnectionState.OPEN
        return connection

    def execute(
        self: Any, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> Any:
        result = stock_execute(self, sql, auto_begin=auto_begin, fetch=fetch, limit=limit)
        if not fetch:
            # Spark evaluates a SELECT when it is fetched: one in a hook would never run.
            run = getattr(self.get_thread_connection().handle, "run_unfetched", None)
            if run is not None:
                with self.exception_handler(sql):
                    run()
        return result

    @contextmanager
    def exception_handler(self: Any, sql: str) -> Generator[None, None, None]:
        try:
            yield
        except DbtDatabaseError as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise
        except Exception as error:
            with stock_exception_handler(self, sql):
                raise error

    SparkConnectionManager.open = classmethod(open_)
    SparkConnectionManager.execute = execute
    SparkConnectionManager.exception_handler = exception_handler
