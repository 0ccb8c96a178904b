"""dbt's test bases for seeds."""

from typing import Any

import pytest
from dbt.tests.adapter.simple_seed.fixtures import properties__schema_yml
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride
from dbt.tests.util import check_relations_equal, copy_file, run_dbt

pytestmark = pytest.mark.long

MODEL = "models__downstream_from_seed_actual"


class Expected:
    """The table that the seed has to equal, with Spark's types."""

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        from dbt.tests.adapter.simple_seed.seeds import seeds__expected_sql

        rows = seeds__expected_sql.partition("VALUES")[2].strip().rstrip(";")
        project.run_sql(
            f"create table {project.test_schema}.seed_expected using delta as "
            "select seed_id * 1L as seed_id, first_name, email, ip_address, "
            "cast(birthday as timestamp) as birthday "
            f"from values {rows} as t (seed_id, first_name, email, ip_address, birthday)"
        )


class KeepsDependents(Expected):
    """A table is replaced, never dropped: what reads it stays."""

    def _check_relation_end_state(self, run_result: Any, project: Any, exists: bool) -> None:
        assert len(run_result) == 1
        check_relations_equal(project.adapter, ["seed_actual", "seed_expected", MODEL])


class TestBasicSeed(KeepsDependents, BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(KeepsDependents, BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(KeepsDependents, BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(Expected, BaseSeedCustomSchema):
    @pytest.fixture(scope="class", autouse=True)
    def drop_custom_schema(self, project: Any) -> Any:
        yield
        project.run_sql(f"drop schema if exists {project.test_schema}_custom_schema cascade")


class TestSeedWithUniqueDelimiter(Expected, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(Expected, BaseSeedWithWrongDelimiter):
    def test_seed_with_wrong_delimiter(self, project: Any) -> None:
        """The base expects a syntax error, of the server, as names are not quoted."""
        seed_result = run_dbt(["seed"], expect_pass=False)
        assert "Is '|' the delimiter, and not ';'?" in seed_result.results[0].message


class TestSeedWithEmptyDelimiter(Expected, BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(Expected, BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(Expected, BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def bom(self, project: Any) -> None:
        from dbt.tests.adapter.simple_seed import seeds

        folder = seeds.__file__.rpartition("/")[0]
        copy_file(folder, "seed_bom.csv", project.project_root / "seeds" / "seed_bom.csv", "")


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        """Without the dots: no table of Spark's catalog has one in its name."""
        from dbt.tests.adapter.simple_seed.seeds import seed__unicode_csv, seed__with_dots_csv

        return {
            "big_seed.csv": "\n".join(["seed_id", *map(str, range(20_000))]),
            "seed_without_dots.csv": seed__with_dots_csv,
            "seed_unicode.csv": seed__unicode_csv,
        }


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        types = {
            "text": "string", "integer": "bigint", "date": "timestamp",
            "timestamp without time zone": "timestamp",
        }  # fmt: skip
        text = properties__schema_yml
        for name, spark in types.items():
            text = text.replace(f"type: {name}\n", f"type: {spark}\n")
        return {"schema.yml": text}

    @staticmethod
    def seed_enabled_types() -> dict[str, str]:
        # dbt's own: date, which would cut the times off.
        return {"seed_id": "string", "birthday": "timestamp"}

    @staticmethod
    def seed_tricky_types() -> dict[str, str]:
        return dict.fromkeys(("seed_id_str", "looks_like_a_bool", "looks_like_a_date"), "string")
