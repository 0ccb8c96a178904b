"""dbt's basic test bases."""

from typing import Any

import pytest
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncremental,
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import run_dbt


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


@pytest.mark.long
class TestSingularTests(BaseSingularTests):
    pass


@pytest.mark.long
class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


@pytest.mark.long
class TestEmpty(BaseEmpty):
    pass


@pytest.mark.long
class TestEphemeral(BaseEphemeral):
    pass


@pytest.mark.long
class TestGenericTests(BaseGenericTests):
    pass


class TestIncremental(BaseIncremental):
    pass


@pytest.mark.long
class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    def test_incremental_invalid_strategy(self, project: Any) -> None:
        """On the first run already, with the macro's name; the rest of the text is our own."""
        run_dbt(["seed"])
        results = run_dbt(["run"], expect_pass=False)
        assert len(results.results) == 1
        assert "'bad_strategy'" in results.results[0].message
        assert "get_incremental_bad_strategy_sql" in results.results[0].message


class TestAdapterMethods(BaseAdapterMethod):
    @pytest.fixture(scope="class")
    def project_files(self, project_files: None) -> None:
        """With this package installed; the base reads its filess own only."""


@pytest.mark.long
class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


class AnyOwner:
    """Whoever runs the tests."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other != ""


# What both catalogs have on Spark.
EXPECTED = {
    "role": AnyOwner(),
    "id_type": "bigint",
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
    "model_stats": expected_catalog.no_stats(),
}


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> dict[str, Any]:
        return expected_catalog.base_expected_catalog(
            project,
            **EXPECTED,
        )


@pytest.mark.long
class TestDocsGenerateReferences(BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> dict[str, Any]:
        catalog = expected_catalog.expected_references_catalog(
            project,
            bigint_type="bigint",
            **EXPECTED,
        )
        # dbt-spark counts a table's columns from 0.
        for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
            node["columns"] = {
                name: {**column, "index": column["index"] - 1}
                for name, column in node["columns"].items()
            }
        return catalog
