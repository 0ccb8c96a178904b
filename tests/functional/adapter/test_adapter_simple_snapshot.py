"""dbt's test bases for snapshots; their SQL is Postgres', and is respelled as it is sent."""

import re
from collections.abc import Generator
from typing import Any

import pytest
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
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


@pytest.fixture(autouse=True, scope="class")
def respelled(project: Any) -> Generator[None, None, None]:
    """Statements one by one, with Spark's types, for Delta tables."""
    run_sql = project.run_sql

    def run(sql: str, fetch: str | None = None) -> Any:
        for statement in filter(str.strip, sql.split(";")):
            text = re.sub(r"(?i)\btext\b|varchar\(\d+\)( default null)?", "string", statement)
            text = re.sub(r"(?i) without time zone", "", text)
            text = re.sub(r"(?is)^(\s*create table \S+)( as .*| *\(.*\))\s*$", _using_delta, text)
            found = run_sql(text, fetch=fetch)
        return found

    project.run_sql = run
    yield
    project.run_sql = run_sql


def _using_delta(match: re.Match[str]) -> str:
    name, rest = match.groups()
    return f"{name} using delta {rest}" if rest.startswith(" as") else f"{name} {rest} using delta"


class TestCheckCols(BaseSnapshotCheckCols):
    pass


class TestTimestamp(BaseSnapshotTimestamp):
    pass


class TestSimple(BaseSimpleSnapshot):
    pass


class TestSimpleClustered(BaseSimpleSnapshot):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"snapshots": {"+liquid_clustered_by": "id"}}


class TestCheck(BaseSnapshotCheck):
    pass


class TestColumnNames(BaseSnapshotColumnNames):
    pass


class TestColumnNamesFromProject(BaseSnapshotColumnNamesFromDbtProject):
    pass


class TestInvalidColumnNames(BaseSnapshotInvalidColumnNames):
    pass


class TestValidToCurrent(BaseSnapshotDbtValidToCurrent):
    pass


class TestMultiUniqueKey(BaseSnapshotMultiUniqueKey):
    pass


class TestEphemeralHardDeletes(BaseSnapshotEphemeralHardDeletes):
    pass


class TestNewColumnTimestamp(BaseSnapshotNewColumnTimestampStrategy):
    pass


class TestNewColumnCheckCols(BaseSnapshotNewColumnSpecificCheckCols):
    pass


class TestNewColumnWithDeletes(BaseSnapshotNewColumnWithDeletes):
    pass


class TestNewRecordTimestamp(BaseSnapshotNewRecordTimestampMode):
    pass


class TestNewRecordCheck(BaseSnapshotNewRecordCheckMode):
    pass


class TestNewRecordValidToCurrent(BaseSnapshotNewRecordDbtValidToCurrent):
    pass
