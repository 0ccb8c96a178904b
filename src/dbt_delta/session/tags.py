"""Which run and which model made a commit: Delta's user metadata."""

import json
from typing import Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.invocation import get_invocation_id, get_invocation_started_at

logger = AdapterLogger("dbt_delta")
SETTING = "spark.databricks.delta.commitInfo.userMetadata"


def tag(node: str | None) -> str:
    """JSON of this invocation and the node that works; time as ISO 8601 in UTC."""
    about: dict[str, Any] = {
        "dbt_invocation_id": get_invocation_id(),
        "dbt_node_id": node,
        "dbt_project": _project(),
        "dbt_started_at": f"{get_invocation_started_at():%Y-%m-%dT%H:%M:%SZ}",
    }
    return json.dumps(about)


def tag_server(connection: Connection) -> Connection:
    """Has an open connection to a server tell it, before each node's first statement, whose it is.

    A server has one Spark session per connection. One that refuses the setting gets no tags, nor
    does one for which the profile has commit metadata of its own.
    """
    if SETTING in connection.credentials.server_side_parameters:
        return connection
    handle = connection.handle
    stock_execute = handle.execute
    tagged: list[str | None] = []

    def execute(sql: str, bindings: Any = None) -> None:
        name = connection.name
        if tagged != [name]:
            tagged[:] = [name]
            try:
                stock_execute(f"set `{SETTING}`=`{tag(name)}`")
            except Exception as error:
                logger.debug(f"Commits of {name} have no tag: {error}")
        stock_execute(sql, bindings)

    handle.execute = execute
    return connection


def _project() -> str | None:
    from dbt.adapters.factory import FACTORY

    adapter = FACTORY.adapters.get("spark")
    return getattr(adapter.config, "project_name", None) if adapter else None
