"""What commits of a Delta table say of its rows, with logs written by hand."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.state import log

FIELDS = [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]
COMMENTED = [{"name": "id", "type": "long", "nullable": True, "metadata": {"comment": "key"}}]
WIDER = [*FIELDS, {"name": "k", "type": "string", "nullable": True, "metadata": {}}]


def info(run: str | None = None) -> dict[str, Any]:
    tag = {"userMetadata": json.dumps({"dbt_invocation_id": run})} if run else {}
    return {"commitInfo": {"operation": "any", **tag}}


def meta(fields: list[dict[str, Any]], **properties: str) -> dict[str, Any]:
    schema = json.dumps({"type": "struct", "fields": fields})
    return {"metaData": {"id": "t", "schemaString": schema, "configuration": properties}}


ADD = {"add": {"path": "f", "dataChange": True}}
OPTIMIZED = [info(), {"remove": {"dataChange": False}}, {"add": {"dataChange": False}}]
BIRTH = [info("a"), meta(FIELDS), ADD]


def table(folder: Path, *commits: list[dict[str, Any]]) -> log.Log:
    place = folder / "_delta_log"
    place.mkdir(parents=True)
    for number, actions in enumerate(commits):
        (place / f"{number:020d}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")
    return log.LocalLog(folder)


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        pytest.param([info(), ADD], "version 0 -> 1", id="rows"),
        pytest.param([info(), {"remove": {"path": "f"}}], "version 0 -> 1", id="no word of it"),
        pytest.param(OPTIMIZED, "", id="optimize"),
        pytest.param([info(), {"txn": {}}], "", id="nothing"),
        pytest.param([info(), meta(FIELDS, owner="x")], "", id="property"),
        pytest.param([info(), meta(COMMENTED)], "", id="comment"),
        pytest.param([info(), meta(WIDER)], "version 0 -> 1", id="column"),
        pytest.param([info(), {"protocol": {}}], "", id="protocol"),
    ],
)
def test_what_changes_a_table(tmp_path: Path, commit: list[Any], expected: str) -> None:
    found = table(tmp_path, BIRTH, commit)
    old = {"version": 0, "digest": log._digest_of(found, 0)}
    new = log.newest(found)
    assert new is not None
    assert new["version"] == 1
    assert log.change(found, old, new) == expected


def test_the_last_change_counts(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, [info(), ADD], [info(), ADD], OPTIMIZED)
    old = {"version": 0, "digest": log._digest_of(found, 0)}
    assert log.change(found, old, log.newest(found)) == "version 0 -> 2"


def test_a_table_made_anew_has_another_history(tmp_path: Path) -> None:
    first = table(tmp_path / "a", BIRTH)
    again = table(tmp_path / "b", [info("b"), meta(FIELDS), ADD], [info(), ADD])
    assert log.change(again, log.newest(first), log.newest(again)) == "another history"
    assert log.change(first, log.newest(again), log.newest(first)) == "another history"


def test_a_history_that_was_cleaned_up_counts_as_another(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, [info(), ADD], OPTIMIZED)
    old = log.newest(table(tmp_path / "same", BIRTH))
    (tmp_path / "_delta_log" / f"{0:020d}.json").unlink()
    assert log.change(found, old, log.newest(found)) == "another history"


def test_a_commit_that_cannot_be_read_counts_as_a_change(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, [info()], OPTIMIZED)
    old = {"version": 0, "digest": log._digest_of(found, 0)}
    (tmp_path / "_delta_log" / f"{1:020d}.json").write_text("{")
    assert log.change(found, old, log.newest(found)) == "version 0 -> 1"


def test_no_version_where_there_is_no_log_or_a_catalog_commits(tmp_path: Path) -> None:
    assert log.newest(log.LocalLog(tmp_path / "none")) is None
    found = table(tmp_path, BIRTH)
    staged = tmp_path / "_delta_log" / "_staged_commits"
    staged.mkdir()
    assert log.newest(found) is not None
    (staged / f"{1:020d}.uuid.json").touch()
    assert log.newest(found) is None


def test_young_commits_are_told_as_spark_tells_them(tmp_path: Path) -> None:
    told = {"commitInfo": {"operation": "WRITE", "timestamp": 7, "inCommitTimestamp": 5}}
    damaged = {"commitInfo": {"operation": "MERGE", "timestamp": 9, "userMetadata": "{"}}
    table(tmp_path / "a b", BIRTH, [ADD, told], [damaged], [{"txn": {}}], [info("a")])
    # A clock that went back.
    for number, seconds in enumerate((9, 8, 8, 8, 1)):
        os.utime(tmp_path / "a b" / "_delta_log" / f"{number:020d}.json", (seconds, seconds))
    place, none = f"file:{tmp_path}/a b", f"{tmp_path}/none"
    others: dict[str, Any] = {"run": None, "limited_by": None}
    merge = {"version": 2, "operation": "MERGE", "written": "9", **others}
    write = {"version": 1, "operation": "WRITE", "written": "5", **others}
    found = log.young_commits({4: (place, 1), 5: (none, 1), 6: (place, 4), 7: (place, 5)})
    assert found is not None
    assert (found[4][1:], found[5]) == ([merge, write], [])
    assert [(one["version"], one["run"]) for one in found[4][:1] + found[6]] == [(4, "a")] * 2
    # It was made anew, and has not that many versions.
    assert [one["version"] for one in found[7]] == [4, 2, 1, 0]


@pytest.mark.parametrize("place", ["s3a://bucket/t", "file:/damaged"])
def test_young_commits_are_left_to_spark(tmp_path: Path, place: str) -> None:
    table(tmp_path)
    (tmp_path / "_delta_log" / f"{0:020d}.json").write_text('{"commitInfo"')
    assert log.young_commits({0: (place.replace("/damaged", str(tmp_path)), 0)}) is None


def test_commits_of_others_are_told_from_those_of_a_run(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, OPTIMIZED, [info("b"), ADD], [info(), ADD])
    assert log.is_tagged(found, 0, 1, "a")
    assert not log.is_tagged(found, 0, 2, "a")
    assert log.is_tagged(found, 2, 2, "b")
    assert not log.is_tagged(found, 3, 3, "b")


def test_the_checksum_tells_the_schema_where_the_commit_is_gone(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, [info()], [info(), meta(FIELDS, owner="x")])
    folder = tmp_path / "_delta_log"
    old = {"version": 1, "digest": log._digest_of(found, 1)}
    (folder / f"{0:020d}.json").unlink()
    assert log.change(found, old, log.newest(found)) == "version 1 -> 2"
    (folder / f"{1:020d}.crc").write_text(json.dumps({"metadata": meta(FIELDS)["metaData"]}))
    assert log.change(found, old, log.newest(found)) == ""


def at(milliseconds: int, **more: int) -> dict[str, Any]:
    return {"commitInfo": {"timestamp": milliseconds, **more}}


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        pytest.param([[at(5), meta(FIELDS), ADD], [at(7), ADD]], 7000, id="rows"),
        pytest.param([[at(5), meta(FIELDS), ADD], [at(7)], [at(9)]], 5000, id="upkeep"),
        pytest.param([[at(5), meta(FIELDS), ADD], [at(7), meta(WIDER)]], 5000, id="column"),
        pytest.param([[at(5, inCommitTimestamp=6), meta(FIELDS), ADD]], 6000, id="in commit"),
        pytest.param([[at(5), meta(FIELDS)], [at(7)]], 5000, id="never any row"),
    ],
)
def test_when_rows_changed(tmp_path: Path, commits: list[list[Any]], expected: int) -> None:
    assert log.changed_at(table(tmp_path, *commits)) == (expected, True)


@pytest.mark.parametrize("said", [{}, {"timestamp": 2**42}])
def test_a_commit_is_no_newer_than_its_file(tmp_path: Path, said: dict[str, int]) -> None:
    found = table(tmp_path, [{"commitInfo": said}, meta(FIELDS), ADD], [at(2**41)])
    os.utime(tmp_path / "_delta_log" / f"{0:020d}.json", ns=(8000, 8000))
    assert log.changed_at(found) == (8, True)


def test_when_rows_changed_before_the_log_begins(tmp_path: Path) -> None:
    kept = table(tmp_path, [at(5), meta(FIELDS), ADD], [at(7), ADD], [at(8)], [at(9)])
    for number in (0, 1):
        (tmp_path / "_delta_log" / f"{number:020d}.json").unlink()
    assert log.changed_at(kept) == (8000, False)
    assert log.changed_at(log.LocalLog(tmp_path / "nothing")) is None


def restore(**parameters: Any) -> list[dict[str, Any]]:
    return [{"commitInfo": {"operation": "RESTORE", "operationParameters": parameters}}]


def test_which_commits_made_the_rows_of_now(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        BIRTH,
        [info("b")],
        [info("c")],
        restore(version="0", timestamp=None),
        [{"txn": {}}],
    )
    assert [at for at, _ in log.standing(found, 4)] == [4, 3, 0]
    assert [log.metadata_of(about) for _, about in log.standing(found, 2)] == [
        {"dbt_invocation_id": run} for run in "cba"
    ]
    # Cleaned up: unknown only after a RESTORE.
    (tmp_path / "_delta_log" / f"{0:020d}.json").unlink()
    assert [at for at, _ in log.standing(found, 2)] == [2, 1]
    with pytest.raises(LookupError, match="version 0 is no more in Delta's log"):
        list(log.standing(found, 4))
    with pytest.raises(LookupError, match="version 9"):
        list(log.standing(found, 9))


def test_a_restore_to_a_timestamp_tells_no_version(tmp_path: Path) -> None:
    found = table(tmp_path, BIRTH, restore(version=None, timestamp="2026-11-01"))
    with pytest.raises(LookupError, match="version 1 restored the table to a timestamp"):
        list(log.standing(found, 1))


@pytest.mark.parametrize("text", [None, "", "nightly", "[1]", "{"])
def test_user_metadata_of_others(text: str | None) -> None:
    assert log.metadata_of({"userMetadata": text}) == {}
