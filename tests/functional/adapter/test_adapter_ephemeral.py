"""dbt's test bases for ephemeral models."""

import re
from typing import Any

import pytest
from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.util import check_relations_equal, read_file, run_dbt

pytestmark = pytest.mark.long


def assert_view(project: Any, name: str, expected: str) -> None:
    """The statement that made a view, white space and quotes aside."""
    sql = read_file("target", "run", "test", "models", f"{name}.sql")
    expected = f"create or replace view {project.test_schema}.{name} as {expected}"
    assert re.sub(r"[\s`]", "", sql) == re.sub(r"\s", "", expected)


class TestEphemeralMulti(BaseEphemeralMulti):
    def test_ephemeral_multi(self, project: Any) -> None:
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        for name in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", name])
        assert_view(
            project,
            "double_dependent",
            f"""
            with __dbt__cte__base as (
                select * from {project.test_schema}.seed
            ), __dbt__cte__base_copy as (
                select * from __dbt__cte__base
            )
            -- base_copy just pulls from base. Make sure the listed
            -- graph of CTEs all share the same dbt_cte__base cte
            select * from __dbt__cte__base where gender = 'Male'
            union all
            select * from __dbt__cte__base_copy where gender = 'Female'
            """,
        )


class TestEphemeralNested(BaseEphemeralNested):
    def test_ephemeral_nested(self, project: Any) -> None:
        assert len(run_dbt(["run"])) == 2
        assert_view(
            project,
            "root_view",
            f"""
            with __dbt__cte__ephemeral_level_two as (
                select * from {project.test_schema}.source_table
            ), __dbt__cte__ephemeral as (
                select * from __dbt__cte__ephemeral_level_two
            )
            select * from __dbt__cte__ephemeral
            """,
        )


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass
