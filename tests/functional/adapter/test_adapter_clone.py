"""dbt's test bases for dbt clone."""

from typing import Any

import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseClonePossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)

pytestmark = pytest.mark.long


class TestClonePossible(BaseClonePossible):
    pass


class TestCloneNotPossible(BaseCloneNotPossible):
    pass


class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    pass


class TestCloneSameSourceAndTarget(BaseCloneSameSourceAndTarget):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return BaseCloneSameSourceAndTarget.models(self)

    @pytest.fixture(scope="class")
    def snapshots(self) -> dict[str, str]:
        return {}

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        """Spark has no database, which the base puts before the schema."""
        run = project.run_sql
        project.run_sql = lambda sql, fetch=None: run(sql.replace("None.", ""), fetch)
        return project
