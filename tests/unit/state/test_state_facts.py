"""What of a view of the catalog decides about the rows that are read from it."""

import json
from typing import Any

import pytest

from dbt_delta.state.facts import digest_of_view


def columns(*names: str, kind: str = "string", **metadata: str) -> str:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": metadata} for name in names
    ]
    return json.dumps({"type": "struct", "fields": fields})


VIEW: dict[str, Any] = {
    **{"schema": "a", "name": "people", "type": "view", "text": "select x, y from t"},
    **{"zone": "UTC", "mode": "COMPENSATION", "columns": columns("first", "last")},
    "settings": {"spark.sql.ansi.enabled": "true", "spark.sql.shuffle.partitions": "2"},
}


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        pytest.param({"columns": columns("last", "first")}, True, id="names"),
        pytest.param({"columns": columns("first", "last", kind="date")}, True, id="types"),
        pytest.param({"columns": columns("first", "last", comment="x")}, False, id="comment"),
        pytest.param({"text": "select y, x from t"}, True, id="text"),
        pytest.param({"mode": "EVOLUTION"}, True, id="mode"),
        pytest.param({"settings": {"spark.sql.ansi.enabled": "false"}}, True, id="ansi"),
        pytest.param(
            {
                "settings": {
                    "spark.sql.ansi.enabled": "true",
                    "spark.databricks.delta.commitInfo.userMetadata": "of a run",
                    "spark.databricks.delta.lastCommitVersionInSession": "7",
                    "spark.sql.parquet.fieldId.read.enabled": "true",
                }
            },
            False,
            id="what runs it",
        ),
    ],
)
def test_what_makes_another_view(change: dict[str, Any], is_other: bool) -> None:
    assert (digest_of_view({**VIEW, **change}) != digest_of_view(VIEW)) == is_other
