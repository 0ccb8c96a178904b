"""Every commit says which run and which node made it."""

import json
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Project, session
from tests.functional.snapshots.test_snapshots_strategies import snapshot

MODELS = {
    "models/a.sql": "{{ config(materialized='table') }} select 1 as id, {{ var('step', 0) }} as n",
    "models/b.sql": (
        "{{ config(materialized='incremental', unique_key='id',"
        " post_hook='update {{ this }} set n = n + 1') }} select * from {{ ref('a') }}"
    ),
    "models/d.sql": (
        "{{ config(materialized='incremental', incremental_strategy='append') }}"
        " select * from {{ ref('a') }}"
    ),
    "models/c.py": (
        "def model(dbt, session):\n    dbt.config(materialized='table')\n    return dbt.ref('a')\n"
    ),
    "models/s.yml": """
        models:
          - name: a
            columns:
              - {name: id, data_tests: [{unique: {config: {store_failures: true}}}]}
    """,
    "seeds/e.csv": "id,n\n1,0\n",
}


@pytest.mark.session
def test_every_commit_is_tagged(project: Project) -> None:
    project.write(
        MODELS
        | snapshot(
            "strategy='check', unique_key='id', check_cols='all'", "select * from {{ ref('a') }}"
        )
    )
    project.dbt("build", threads=4)
    project.sql("insert into {schema}.a select 2, 2")
    project.write({"seeds/e.csv": "id,n\n1,1\n"})
    project.dbt("build", vars={"step": 1}, threads=4, check=False)
    for name, kind in {
        "a": "model",
        "b": "model",
        "c": "model",
        "d": "model",
        "e": "seed",
        "s": "snapshot",
    }.items():
        tags = _tags(project, name)
        own = [tag for tag in tags if tag]
        assert {tag["dbt_node_id"] for tag in own} == {f"{kind}.consumer.{name}"}, name
        assert {tag["dbt_project"] for tag in own} == {"consumer"}
        assert len({tag["dbt_invocation_id"] for tag in own}) == 2, name
        assert tags.count(None) == (1 if name == "a" else 0)
    found = session().sql("set spark.databricks.delta.commitInfo.userMetadata").first()
    assert "dbt_node_id" not in str(found)


def _tags(project: Project, name: str) -> list[dict[str, Any] | None]:
    """What each commit says; None where it says nothing."""
    texts = [commit.get("userMetadata") for commit in tables.commits(project, name)]
    return [json.loads(text) if text else None for text in texts]
