"""dbt's test bases for incremental models."""

from typing import Any

import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (
    BaseMergeExcludeColumns,
)
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import (
    BaseIncrementalOnSchemaChange,
)
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey


@pytest.mark.long
class TestUniqueKey(BaseIncrementalUniqueKey):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        """Lets the test's own statements put texts into a date column of the seed."""
        settings = dbt_profile_target["server_side_parameters"]
        settings = {**settings, "spark.sql.storeAssignmentPolicy": "LEGACY"}
        return {**dbt_profile_target, "server_side_parameters": settings}


@pytest.mark.long
class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


@pytest.mark.long
class TestPredicatesDeleteInsert(BaseIncrementalPredicates):
    pass


@pytest.mark.long
class TestPredicatesMerge(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        predicates = ["DBT_INTERNAL_DEST.id != 2"]
        return {"models": {"+incremental_strategy": "merge", "+incremental_predicates": predicates}}


@pytest.mark.long
class TestPredicatesByOtherName(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": {"+incremental_strategy": "delete+insert", "+predicates": ["id != 2"]}}


@pytest.mark.long
class TestOnSchemaChange(BaseIncrementalOnSchemaChange):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": {"+tblproperties": {"delta.columnMapping.mode": "name"}}}


@pytest.mark.long
class TestMicrobatch(BaseMicrobatch):
    pass
