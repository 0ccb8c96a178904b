"""dbt's test bases for hooks; those on snapshots are with the snapshots."""

import os
from typing import Any

import pytest
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

pytestmark = pytest.mark.long

COLUMNS = {
    "test_state": "string",
    "target_dbname": "string",
    "target_host": "string",
    "target_name": "string",
    "target_schema": "string",
    "target_type": "string",
    "target_user": "string",
    "target_pass": "string",
    "target_threads": "int",
    "run_started_at": "string",
    "invocation_id": "string",
    "thread_id": "string",
}


class Hooks:
    """The bases' table of what hooks see, in Delta, with what a Spark target has."""

    table = "on_model_hook"

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        self.create(project)

    def create(self, project: Any) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        project.run_sql(f"create or replace table {{schema}}.{self.table} ({columns}) using delta")

    def check_hooks(self, state: str, project: Any, host: str, count: int = 1) -> None:
        columns = ", ".join(COLUMNS)
        rows = project.run_sql(
            f"select {columns} from {{schema}}.{self.table} where test_state = '{state}'",
            fetch="all",
        )
        assert len(rows) == count
        for row in rows:
            seen = dict(zip(COLUMNS, row, strict=True))
            assert seen["target_host"] == host
            assert seen["target_name"] == "default"
            assert seen["target_schema"] == project.test_schema
            assert seen["target_threads"] == 4
            assert seen["target_type"] == "spark"
            assert not seen["target_dbname"]
            assert not seen["target_pass"]
            assert seen["run_started_at"]
            assert seen["invocation_id"]
            assert seen["thread_id"].startswith(("Thread-", "MainThread"))


class TestPrePostModelHooks(Hooks, BasePrePostModelHooks):
    pass


class TestHookRefs(Hooks, BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(Hooks, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(Hooks, BasePrePostModelHooksInConfigWithCount):
    pass


class TestPrePostModelHooksInConfigKwargs(Hooks, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestPrePostRunHooks(Hooks, BasePrePostRunHooks):
    table = "on_run_hook"

    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {"schema text": "schema string", "db text": "db string"}

    @pytest.fixture
    def setUp(self, project: Any) -> None:
        self.create(project)
        project.run_sql("drop table if exists {schema}.schemas")
        project.run_sql("drop table if exists {schema}.db_schemas")
        os.environ["TERM_TEST"] = "TESTING"

    def assert_used_schemas(self, project: Any) -> None:
        """One schema; Spark has no database, which the hook writes as text."""
        schemas = project.run_sql("select * from {schema}.schemas", fetch="all")
        assert [tuple(row) for row in schemas] == [(project.test_schema,)]
        pairs = project.run_sql("select * from {schema}.db_schemas", fetch="all")
        assert [tuple(row) for row in pairs] == [("None", project.test_schema)]


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
