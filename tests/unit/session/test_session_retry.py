import json
from pathlib import Path

import pytest

from dbt_delta.session import errors, retry

RECORDED = json.loads(Path(__file__).with_name("exceptions.json").read_text())


def test_recorded_conflict_is_one_and_others_are_not():
    found = {name for name, chain in RECORDED.items() if retry.is_conflict(errors.paragraph(chain))}
    assert found == {"conflict"}


@pytest.mark.parametrize(
    ("condition", "conflict"),
    [
        ("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT", True),
        ("DELTA_CONCURRENT_DELETE_READ", True),
        ("DELTA_CONCURRENT_DELETE_DELETE", True),
        ("DELTA_CONCURRENT_WRITE", True),
        ("DELTA_METADATA_CHANGED", True),
        ("DELTA_PROTOCOL_CHANGED", True),
        ("DELTA_CONCURRENT_TRANSACTION", False),
        ("DELTA_METADATA_CHANGED_NOT_REALLY", False),
        ("DIVIDE_BY_ZERO", False),
    ],
)
def test_conflicts(condition, conflict):
    assert retry.is_conflict(f"[{condition}] some words") is conflict


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("ValidationException: Found conflicting files that can contain records matching", True),
        ("ValidationException: Found conflicting deleted files that can contain records", True),
        ("ValidationException: Found concurrently added DV for x", True),
        ("ValidationException: Missing required files to delete: a.parquet", True),
        ("ValidationException: Cannot commit, found new delete for replaced data file: x", True),
        ("CommitFailedException: Failed to commit", True),
        # The table is another one, or nobody knows whether the rows are there.
        ("ValidationException: Cannot determine history between starting snapshot 1 and", False),
        ("CommitStateUnknownException: Cannot determine whether the commit was successful", False),
        ("ValidationException: Cannot find required field", False),
    ],
)
def test_conflicts_of_iceberg(text, conflict):
    assert retry.is_conflict(text) is conflict


@pytest.mark.parametrize(
    ("sql", "repeatable"),
    [
        ("insert into t select 1", True),
        # Iceberg compares with the snapshot that the run has seen.
        (
            "insert into t with ('isolation-level' = 'serializable') replace where true\nselect 1",
            False,
        ),
        ("insert into t by name\nselect \"'isolation-level' = \"", True),
        ("\n  MERGE into t using s on true when matched then delete", True),
        ('/* {"app": "dbt"} */ delete from t', True),
        ("-- a note\n-- another\nupdate t set a = 1", True),
        ("create or replace table t as select 1", True),
        ("Create  OR\nReplace Table t as select 1", True),
        ("create table t as select 1", False),
        ("restore table t to version as of 1", False),
        ("begin insert into t select 1; insert into t select 2; end", False),
        ("select 1", False),
        ("insertion", False),
        ("alter table t add column a int", False),
        ("optimize t", True),
        ("reorg table t apply (purge)", True),
        ("vacuum t", False),
        ("/* insert into t */ drop table t", False),
        ("", False),
    ],
)
def test_repeatable_statements(sql, repeatable):
    assert retry.is_repeatable(sql) is repeatable


def test_delays_grow_and_differ():
    first, third = ({retry.delay(attempt) for _ in range(50)} for attempt in (1, 3))
    assert max(first) < min(third)
    assert len(first) > 1
