"""dbt's test bases for snapshots; their SQL is Postgres', and is respelled as it is sent."""

import re
from collections.abc import Generator
from typing import Any

import pytest
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.simple_snapshot import test_various_configs
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    BaseSnapshotNewRecordDbtValidToCurrent,
)
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import (
    BaseSnapshotNewRecordTimestampMode,
)
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotDbtValidToCurrent,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)
from dbt.tests.util import run_sql_with_adapter


@pytest.fixture(autouse=True, scope="class")
def respelled(project: Any) -> Generator[None, None, None]:
    """Statements one by one, with Spark's types, for Delta, which adds no column with a default."""
    run_sql = project.run_sql

    def run(sql: str, fetch: str | None = None) -> Any:
        added = r"(?is)alter table (\S+) add column (\S+) \S+ default ('\w+')"
        sql = re.sub(added, r"alter table \1 add column \2 string; update \1 set \2 = \3", sql)
        for statement in filter(str.strip, sql.split(";")):
            text = re.sub(r"(?i)\btext\b|varchar\(\d+\)( default null)?", "string", statement)
            text = re.sub(r"(?i) without time zone|\bNone\.|\{database\}\.", "", text)
            text = re.sub(
                r"(?is)^(\s*create table \S+)(\s+as\s.*|\s*\(.*\))\s*$", _using_delta, text
            )
            found = run_sql(text, fetch=fetch)
        return found

    project.run_sql = run
    yield
    project.run_sql = run_sql


@pytest.fixture(scope="class")
def spelling() -> dict[str, str]:
    return {"{{target.database}}.": ""}


def _using_delta(match: re.Match[str]) -> str:
    name, rest = match.groups()
    is_select = rest.lstrip().lower().startswith("as")
    return f"{name} using delta {rest}" if is_select else f"{name} {rest} using delta"


@pytest.mark.long
class TestCheckCols(BaseSnapshotCheckCols):
    pass


@pytest.mark.long
class TestTimestamp(BaseSnapshotTimestamp):
    pass


@pytest.mark.long
class TestSimple(BaseSimpleSnapshot):
    pass


@pytest.mark.long
class TestCheck(BaseSnapshotCheck):
    pass


@pytest.mark.long
class TestColumnNames(BaseSnapshotColumnNames):
    pass


@pytest.mark.long
class TestColumnNamesFromProject(BaseSnapshotColumnNamesFromDbtProject):
    pass


@pytest.mark.long
class TestInvalidColumnNames(BaseSnapshotInvalidColumnNames):
    pass


@pytest.mark.long
class TestValidToCurrent(BaseSnapshotDbtValidToCurrent):
    @pytest.fixture(autouse=True)
    def in_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The base takes rows by their place, which Postgres gives as they came."""
        ordered = (
            "(select *, row_number() over (partition by id order by test_valid_from) as n"
            " from {schema}.snapshot_actual) order by n, id"
        )

        def run(adapter: Any, sql: str, fetch: str) -> Any:
            sql = sql.replace("{schema}.snapshot_actual", ordered)
            return run_sql_with_adapter(adapter, sql, fetch)

        monkeypatch.setattr(test_various_configs, "run_sql_with_adapter", run)


@pytest.mark.long
class TestMultiUniqueKey(BaseSnapshotMultiUniqueKey):
    pass


@pytest.mark.long
class TestEphemeralHardDeletes(BaseSnapshotEphemeralHardDeletes):
    pass


@pytest.mark.long
class TestNewColumnTimestamp(BaseSnapshotNewColumnTimestampStrategy):
    pass


@pytest.mark.long
class TestNewColumnCheckCols(BaseSnapshotNewColumnSpecificCheckCols):
    pass


@pytest.mark.long
class TestNewColumnWithDeletes(BaseSnapshotNewColumnWithDeletes):
    pass


@pytest.mark.long
class TestNewRecordTimestamp(BaseSnapshotNewRecordTimestampMode):
    pass


@pytest.mark.long
class TestNewRecordCheck(BaseSnapshotNewRecordCheckMode):
    pass


@pytest.mark.long
class TestNewRecordValidToCurrent(BaseSnapshotNewRecordDbtValidToCurrent):
    pass
