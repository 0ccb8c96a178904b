"""dbt's test bases for aliases."""

import pytest
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentDatabases,
    BaseSameAliasDifferentSchemas,
)

pytestmark = pytest.mark.long


class SparkTypes:
    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {"::text": "::string"}


class TestAliases(SparkTypes, BaseAliases):
    pass


class TestAliasErrors(SparkTypes, BaseAliasErrors):
    pass


class TestSameAliasDifferentSchemas(SparkTypes, BaseSameAliasDifferentSchemas):
    pass


class TestSameAliasDifferentDatabases(SparkTypes, BaseSameAliasDifferentDatabases):
    """The two places are schemas in the base too: Spark has no databases."""
