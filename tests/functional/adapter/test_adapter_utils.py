"""dbt's test bases for the cross-database macros.

A base calls its macro in a model, beside what is expected. Bases of one shape share a project
here, so that they cost one build: their fixtures are in modules whose names say what is what.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from dbt.tests.adapter.utils.base_array_utils import BaseArrayUtils
from dbt.tests.adapter.utils.base_utils import BaseUtils
from dbt.tests.adapter.utils.data_types.base_data_type_macro import BaseDataTypeMacro
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod
from dbt.tests.util import check_relations_equal, get_relation_columns, run_dbt


def modules(prefix: str, names: str) -> list[ModuleType]:
    """Modules of dbt's test bases by what follows the prefix of their names."""
    return [import_module(f"dbt.tests.adapter.utils.{prefix}{name}") for name in names.split()]


MACROS = modules(
    "fixture_",
    """
    any_value bool_or cast cast_bool_to_text concat date date_spine date_trunc dateadd datediff
    escape_single_quotes generate_series get_intervals_between get_powers_of_two hash last_day
    length listagg position replace right safe_cast split_part string_literal
    """,
)
ARRAYS = modules("fixture_", "array_append array_concat array_construct")
TYPES = modules("data_types.test_type_", "bigint boolean float int numeric string timestamp")


def files(modules: list[ModuleType], folder: str, prefix: str = "") -> dict[str, str]:
    """The files of a folder, of constants such as ``models__test_concat_sql``."""
    return {
        f"{prefix}{name.removeprefix(f'{folder}__').rpartition('_')[0]}.{name.split('_')[-1]}": text
        for module in modules
        for name, text in vars(module).items()
        if name.startswith(f"{folder}__")
    }


@pytest.mark.long
class TestUtils(BaseUtils):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        types = {"+column_types": {"from_time": "timestamp", "result": "timestamp"}}
        return {
            "seeds": {"test": {"data_dateadd": types}},
            # Derby's metastore takes the text of a view up to 32,700 characters.
            "models": {"test": {"test_datediff": {"+materialized": "table"}}},
        }

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return files(MACROS, "seeds")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        found = files(MACROS, "models")
        # Spark escapes by a backslash; the other base is for databases that double the quote.
        del found["test_escape_single_quotes_quote.sql"]
        found["test_escape_single_quotes.sql"] = found.pop(
            "test_escape_single_quotes_backslash.sql"
        )
        # The name that the base's test asks for.
        found["test_powers_of_two.sql"] = found.pop("test_get_powers_of_two.sql")
        found["test_listagg.sql"] = without_order(found["test_listagg.sql"])
        return found

    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {"'09/01/2023'": "'2023-09-01'", "'09/12/2023'": "'2023-09-12'"}


def without_order(listagg: str) -> str:
    """The model without the calls that order: dbt-spark warns, and takes the rows as they come."""
    head, calls = listagg.split("calculate as (")
    kept = [call for call in calls.split("union all") if "order by" not in call]
    return f"{head}calculate as ({'union all'.join(kept)}"


@pytest.mark.long
class TestArrays(BaseArrayUtils):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return files(ARRAYS, "models")

    def test_expected_actual(self, project: Any) -> None:
        run_dbt(["build"])
        for name in ("append", "concat", "construct"):
            assert_same(project, f"array_{name}_expected", f"array_{name}_actual")


@pytest.mark.long
class TestDataTypes(BaseDataTypeMacro):
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        named = {}
        for module in TYPES:
            for file, text in files([module], "seeds", f"{type_name(module)}_").items():
                named[file] = text.replace("name: expected", f"name: {type_name(module)}_expected")
        numeric = named["numeric_expected.yml"]
        # A seed's numbers are bigint and double unless it says otherwise.
        named["numeric_expected.yml"] = numeric.format("decimal(28,6)")
        for name in ("int", "float"):
            named[f"{name}_expected.yml"] = numeric.replace("numeric", name).format(name)
        return named

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            file: text
            for module in TYPES
            for file, text in files([module], "models", f"{type_name(module)}_").items()
        }

    def test_check_types_assert_match(self, project: Any) -> None:
        run_dbt(["build"])
        for module in TYPES:
            name = type_name(module)
            assert_same(project, f"{name}_expected", f"{name}_actual")


def type_name(module: ModuleType) -> str:
    return module.__name__.rpartition("test_type_")[2]


def assert_same(project: Any, expected: str, actual: str) -> None:
    """The same rows in columns of the same types."""
    check_relations_equal(project.adapter, [expected, actual])
    assert get_relation_columns(project.adapter, expected) == get_relation_columns(
        project.adapter, actual
    )


@pytest.mark.long
class TestCurrentTimestamp(BaseCurrentTimestampNaive):
    pass


@pytest.mark.long
class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        """Without the macros for databases that had another current_timestamp before dbt 1.2."""
        return {
            "get_current_timestamp.sql": "select {{ current_timestamp() }} as current_timestamp"
        }

    @pytest.fixture(scope="class")
    def expected_schema(self) -> dict[str, str]:
        return {"current_timestamp": "timestamp"}

    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return "select current_timestamp() as current_timestamp"


class TestValidateSql(BaseValidateSqlMethod):
    pass


class TestCalculateFreshness(BaseCalculateFreshnessMethod):
    pass
