"""dbt-spark's connection manager, with connections of ours for ``session`` and ``thrift``."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError

from dbt_delta.session import patches, profile

logger = AdapterLogger("dbt_delta")


class DeltaConnectionManager(SparkConnectionManager):
    """Opens connections, runs statements, and shows Spark's errors as they are."""

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Opens a connection; one to a server tells it whose statements it sends."""
        from dbt_delta.session.tags import TaggedServer

        if connection.state == ConnectionState.OPEN:
            return super().open(connection)
        credentials = connection.credentials
        profile.restore_ansi(credentials)
        if credentials.method not in profile.OURS:
            super().open(connection)
        else:
            for patch in patches.OF_TASKS:
                patches.apply(patch)
            is_session = credentials.method == profile.SESSION
            connection.handle = _session(connection) if is_session else _server(connection)
            connection.state = ConnectionState.OPEN
        if credentials.method != profile.SESSION:
            connection.handle = TaggedServer.of(connection)
        return connection

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> Any:
        """Runs a statement to its end.

        Spark evaluates a SELECT when it is fetched: one in a hook would never run.
        """
        result = super().execute(sql, auto_begin=auto_begin, fetch=fetch, limit=limit)
        run = getattr(self.get_thread_connection().handle, "run_unfetched", None)
        if not fetch and run is not None:
            with self.exception_handler(sql):
                run()
        return result

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """dbt-spark's, which would wrap an error of ours in a second one."""
        try:
            yield
        except DbtDatabaseError as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise
        except Exception as error:
            with super().exception_handler(sql):
                raise error


def _session(connection: Connection) -> Any:
    from dbt_delta.session.connection import SessionConnection

    return SessionConnection(connection.credentials.server_side_parameters, connection)


def _server(connection: Connection) -> Any:
    from dbt_delta.session.thrift import ServerConnection

    return ServerConnection(connection)
