"""dbt's test bases for the cache of relations."""

from typing import Any

import pytest
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.util import run_dbt

pytestmark = pytest.mark.long


class WithoutDatabase:
    """Compares what the bases compare, but for the database, of which Spark has none."""

    def run_and_inspect_cache(self, project: Any, run_args: list[str] | None = None) -> None:
        cached = []
        for _ in range(2):
            run_dbt(run_args)
            relations = list(project.adapter.cache.relations)
            assert len(relations) == 1
            cached.append((relations[0].schema, relations[0].identifier.lower()))
        assert cached[0] == cached[1]
        assert cached[0][0] == project.test_schema


class TestCachingLowercaseModel(WithoutDatabase, BaseCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(WithoutDatabase, BaseCachingUppercaseModel):
    pass


class TestCachingSelectedSchemaOnly(WithoutDatabase, BaseCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(WithoutDatabase, BaseNoPopulateCache):
    pass
