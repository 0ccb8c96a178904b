"""Readers see the tables of one build: all of the last that succeeded, whatever happens meanwhile."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.harness import Invocation, Project, session
from tests.functional.operations import operations

FILES = {
    "models/base.sql": "{{ config(materialized='table') }} select {{ var('step') }} as step",
    "models/marts/orders.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select id, (select step from {{ ref('base') }}) as step
        {%- if var('step') >= 3 %}, 'new' as extra{% endif %}
        from range(3)
        """,
    "models/marts/customers.sql": """
        {{ config(materialized='table') }}
        select id, step from {{ ref('orders') }} where id < 2
        """,
    "models/schema.yml": """
        models:
          - name: orders
            config: {on_schema_change: sync_all_columns}
          - name: customers
            columns:
              - {name: step, data_tests: [{accepted_values: {arguments: {values: [1, 2, 3, 4, 5, 6]}}}]}
        """,
}
HOOKS = {
    "on-run-start": "{{ dbt_delta.publish_check() }}",
    "on-run-end": "{{ dbt_delta.publish_run(results) }}",
}


class Published:
    """A project that publishes, and its readers."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.schema = f"{project.schema}_read"
        self.settings: dict[str, Any] = {"schema": self.schema, "select": "marts"}
        project.write(FILES)
        project.configure(**HOOKS)

    def build(self, step: int, *arguments: str, check: bool = True, **settings: Any) -> Invocation:
        wanted = {"step": step, "dbt_delta_publish": {**self.settings, **settings}}
        return self.project.dbt(*(arguments or ("build",)), vars=wanted, check=check)

    def operation(self, name: str, check: bool = True, **arguments: Any) -> Invocation:
        wanted = {"step": 1, "dbt_delta_publish": self.settings}
        return operations(self.project, (name, arguments), vars=wanted, check=check)

    def steps(self) -> dict[str, list[Any]]:
        """What readers see of each view: its columns, and the builds of its rows."""
        found = {}
        for row in session().sql(f"show views in {self.schema}").collect():
            if row.viewName != "dbt_delta_published":
                shown = session().sql(f"select * from {self.schema}.{row.viewName}")
                found[row.viewName] = sorted({r.step for r in shown.collect()}) + shown.columns[2:]
        return found


@pytest.fixture(scope="module")
def published(new_shared_project: Callable[[str], Project]) -> Published:
    return Published(new_shared_project("publish"))


def test_a_build_publishes_all_at_its_end(published: Published) -> None:
    run = published.build(1)
    assert re.search("Published in .*: customers 0, orders 0", run.output)
    assert published.steps() == {"customers": [1], "orders": [1]}
    assert published.project.sql("show tblproperties {schema}.orders ('delta.enableInCommitTimestamps')")[0][1] == "true"
