"""dbt's test bases for --empty; that of ``dbt seed --empty`` needs dbt-core 1.12."""

import pytest
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    MetadataWithEmptyFlag,
)


class TestEmpty(BaseTestEmpty):
    pass


@pytest.mark.long
class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    pass


@pytest.mark.long
class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag):
    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        """Spark's type for a text; and no column is dropped: dbt-spark's macro never does."""
        return {
            "varchar": "string",
            "{% do alter_relation_add_remove_columns(my_seed, none, [my_column]) %}": "",
        }
