"""Which run and which model made a commit: Delta's user metadata."""

import json
from typing import Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.flags import get_flags
from dbt_common.invocation import get_invocation_id, get_invocation_started_at

logger = AdapterLogger("dbt_delta")
SETTING = "spark.databricks.delta.commitInfo.userMetadata"
# The same for Iceberg: a property of the snapshot.
ICEBERG = "spark.sql.iceberg.snapshot-property.dbt"


def tag(node: str | None) -> str:
    """JSON with this invocation and the running node; the time is ISO 8601 in UTC.

    ``dbt_limited_by`` is the option that left rows out, for the end of a run that publishes.
    """
    about: dict[str, Any] = {
        "dbt_invocation_id": get_invocation_id(),
        "dbt_node_id": node,
        "dbt_project": _project(),
        "dbt_started_at": f"{get_invocation_started_at():%Y-%m-%dT%H:%M:%SZ}",
    }
    for option in ("sample", "empty"):
        if getattr(get_flags(), option.upper(), None):
            about["dbt_limited_by"] = f"--{option}"
    return json.dumps(about)


class TaggedServer:
    """A connection to a server that sends the tag before each node's first statement.

    A server has one Spark session per connection. A server that refuses the setting gets no tags.
    """

    @classmethod
    def of(cls, connection: Connection) -> Any:
        """An open connection's handle, tagged unless the profile sets its own metadata."""
        if SETTING in connection.credentials.server_side_parameters:
            return connection.handle
        return cls(connection)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._handle = connection.handle
        self._tagged: list[str | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    def cursor(self) -> "TaggedServer":
        self._handle.cursor()
        return self

    def execute(self, sql: str, bindings: Any = None) -> None:
        name = self._connection.name
        if self._tagged != [name]:
            self._tagged = [name]
            try:
                self._handle.execute(f"set `{SETTING}`=`{tag(name)}`")
            except Exception as error:
                logger.debug(f"Commits of {name} have no tag: {error}")
        self._handle.execute(sql, bindings)


def _project() -> str | None:
    from dbt.adapters.factory import FACTORY

    adapter = FACTORY.adapters.get("spark")
    return getattr(adapter.config, "project_name", None) if adapter else None
