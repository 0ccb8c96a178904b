"""dbt's test bases for contracts and constraints."""

import re
from typing import Any

import pytest
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
    _find_and_replace,
    _normalize_whitespace,
)
from dbt.tests.util import read_file, run_dbt, write_file


class SparkTypes:
    """The bases' models with Spark's types."""

    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {"data_type: text": "data_type: string"}

    @pytest.fixture
    def string_type(self) -> str:
        return "string"

    @pytest.fixture
    def int_type(self) -> str:
        return "int"

    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        """A value, its type in the contract, its type in the message."""
        return [
            ["1", "int", "int"],
            ["'1'", "string", "string"],
            ["true", "boolean", "boolean"],
            ["array('1', '2')", "array<string>", "array"],
            ["array(1, 2)", "array<int>", "array"],
            ["map('a', 1)", "map<string,int>", "map"],
            ["named_struct('a', 1)", "struct<a:int>", "struct"],
            ["date '2019-01-01'", "date", "date"],
            ["timestamp '2019-01-01 00:00:00'", "timestamp", "timestamp"],
            ["cast(1.0 as decimal(4, 2))", "decimal(4,2)", "decimal"],
        ]


@pytest.mark.long
class TestTableConstraintsColumnsEqual(SparkTypes, BaseTableConstraintsColumnsEqual):
    pass


class ColumnsEqual(SparkTypes):
    """Without the tests of types, which build a table whatever the class is."""

    test__constraints_wrong_column_data_types = None
    test__constraints_correct_column_data_types = None


@pytest.mark.long
class TestViewConstraintsColumnsEqual(ColumnsEqual, BaseViewConstraintsColumnsEqual):
    pass


@pytest.mark.long
class TestIncrementalConstraintsColumnsEqual(ColumnsEqual, BaseIncrementalConstraintsColumnsEqual):
    pass


class Ddl(SparkTypes):
    """Constraints are CHECKs in the statement that builds the table, by names of their own.

    Keys, which Spark does not enforce, are not in it.
    """

    @pytest.fixture(scope="class")
    def checks(self) -> list[str]:
        return ["(id > 0)", "`id` is not null", "id >= 1"]

    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return """
create table <model_identifier> using delta as
select id, color, date_day from (
    -- depends_on: <foreign_key_model_identifier>
    select 'blue' as color, 1 as id, '2019-01-01' as date_day
) as model_subq
"""

    def test__constraints_ddl(self, project: Any, expected_sql: str, checks: list[str]) -> None:
        yml = read_file("models", "constraints_schema.yml").replace("{schema}", project.test_schema)
        write_file(yml, "models", "constraints_schema.yml")
        run_dbt(["run", "-s", "+my_model"])
        sql = read_file("target", "run", "test", "models", "my_model.sql")
        sql, properties = without_properties(sql)
        sql = _find_and_replace(sql, "foreign_key_model", "<foreign_key_model_identifier>")
        sql = _find_and_replace(sql, "my_model", "<model_identifier>")
        assert _normalize_whitespace(sql) == _normalize_whitespace(expected_sql)
        found = [text for name, text in properties.items() if name.startswith("delta.constraints.")]
        assert sorted(found) == checks


def without_properties(sql: str) -> tuple[str, dict[str, str]]:
    """The statement without its table properties, and these."""
    literal = r"'((?:[^'\\]|\\.)*)'"
    clause = re.search(rf"tblproperties \((?:{literal}|[^')])*\)", sql)
    assert clause is not None, sql
    pairs = re.findall(f"{literal} = {literal}", clause.group())
    properties = {name: text.replace("\\'", "'") for name, text in pairs}
    return sql.replace(clause.group(), ""), properties


class TestTableConstraintsDdl(Ddl, BaseConstraintsRuntimeDdlEnforcement):
    pass


@pytest.mark.long
class TestIncrementalConstraintsDdl(Ddl, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    pass


@pytest.mark.long
class TestModelConstraintsDdl(Ddl, BaseModelConstraintsRuntimeEnforcement):
    test__model_constraints_ddl = None


@pytest.mark.long
class TestConstraintQuotedColumn(Ddl, BaseConstraintQuotedColumn):
    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {"data_type: text": "data_type: string", '"from"': "`from`"}

    @pytest.fixture(scope="class")
    def checks(self) -> list[str]:
        return ["(`from` = 'blue')", "`from` is not null", "`id` is not null"]

    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return """
create table <model_identifier> using delta as
select id, `from`, date_day from (
    select 'blue' as `from`, 1 as id, '2019-01-01' as date_day
) as model_subq
"""


class Rollback(SparkTypes):
    """A violating build leaves the last good version: Delta checks the rows of the commit."""

    @pytest.fixture(scope="class")
    def expected_error_messages(self) -> list[str]:
        return ["DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "id : null"]


@pytest.mark.long
class TestTableConstraintsRollback(Rollback, BaseConstraintsRollback):
    pass


@pytest.mark.long
class TestIncrementalConstraintsRollback(Rollback, BaseIncrementalConstraintsRollback):
    pass


class SqlHeader(SparkTypes):
    @pytest.fixture(scope="class")
    def spelling(self) -> dict[str, str]:
        return {
            "data_type: text": "data_type: string",
            "set session time zone": "set time zone",
            "current_setting('timezone')": "current_timezone()",
        }


@pytest.mark.long
class TestTableContractSqlHeader(SqlHeader, BaseTableContractSqlHeader):
    pass


@pytest.mark.long
class TestIncrementalContractSqlHeader(SqlHeader, BaseIncrementalContractSqlHeader):
    pass


@pytest.mark.long
class TestIncrementalForeignKey(SparkTypes, BaseIncrementalForeignKeyConstraint):
    pass
