"""Which run and which model made a commit: Delta's user metadata."""

import json
from typing import Any

from dbt_common.invocation import get_invocation_id, get_invocation_started_at

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


def _project() -> str | None:
    from dbt.adapters.factory import FACTORY

    adapter = FACTORY.adapters.get("spark")
    return getattr(adapter.config, "project_name", None) if adapter else None
