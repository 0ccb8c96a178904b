"""Whether a table and the checkpoint of its stream are of the same time."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.stream import checkpoint

METADATA = '{"id": "ab-1"}'


@pytest.mark.parametrize(
    ("metadata", "written", "planned", "noted", "problem"),
    [
        (METADATA, 3, 3, 3, ""),
        # Batches without rows make no commit.
        (METADATA, 3, 7, 3, ""),
        # Killed before the note.
        (METADATA, 3, 3, 2, ""),
        (METADATA, None, 0, -1, ""),
        (METADATA, None, -1, -1, ""),
        (None, 3, -1, -1, "is gone"),
        (METADATA, 3, 2, 2, "is older than the last batch"),
        (METADATA, 2, 3, 3, "lacks batches"),
        (METADATA, None, 0, 0, "lacks batches"),
    ],
)
def test_problem(
    monkeypatch: pytest.MonkeyPatch,
    metadata: str | None,
    written: int | None,
    planned: int,
    noted: int,
    problem: str,
) -> None:
    numbers = {"c/offsets": planned, "c/dbt_delta_written": noted}
    asked: list[Any] = []

    def transaction(*about: Any) -> int | None:
        asked.append(about[1:])
        return written

    monkeypatch.setattr(checkpoint, "text", lambda spark, path: metadata)
    monkeypatch.setattr(checkpoint, "_newest", lambda spark, path: numbers[path])
    monkeypatch.setattr(checkpoint.facts, "transaction", transaction)
    monkeypatch.setattr(checkpoint, "_names", lambda spark, path: [])
    monkeypatch.setattr(checkpoint, "_opened", lambda spark, name: (Log(batch()), 0))
    found = checkpoint.problem(None, "c", ("shop", "t"))
    assert problem in found
    assert bool(problem) == bool(found)
    assert asked in ([], [("shop", "t", "dbt_delta_stream_ab-1")])


class Log:
    """The commits of a table, the newest first; None is one that is gone."""

    def __init__(self, *commits: dict[str, Any] | None) -> None:
        self._commits = commits[::-1]

    def read(self, name: str) -> bytes:
        info = self._commits[int(name.partition(".")[0])]
        if info is None:
            raise FileNotFoundError
        return json.dumps({"commitInfo": info}).encode()


def batch(
    operation: str = "WRITE", stream: str = "s", number: int = 0, **after: int
) -> dict[str, Any]:
    about = {"dbt_stream": {"id": stream, "batch": number, **after}}
    return {"operation": operation, "userMetadata": json.dumps(about)}


RESTORE, OPTIMIZE, WRITE = ({"operation": name} for name in ("RESTORE", "OPTIMIZE", "WRITE"))
MADE, REPLACED = "CREATE TABLE AS SELECT", {"operation": "CREATE OR REPLACE TABLE"}


@pytest.mark.parametrize(
    ("commits", "is_restored"),
    [
        ([batch(MADE)], False),
        ([OPTIMIZE, batch(after=0), batch(MADE)], False),
        ([RESTORE, batch(after=0), batch(MADE)], True),
        ([OPTIMIZE, RESTORE, batch(after=0), batch(MADE)], True),
        # Between the look at the table and the write of its batch.
        ([batch(after=0), RESTORE, batch(MADE)], True),
        ([batch(after=0), REPLACED, batch(MADE)], True),
        ([batch(after=1), RESTORE, batch(MADE)], False),
        ([batch(after=0), WRITE, RESTORE, batch(MADE)], True),
        # A batch of another stream, before and beside the last one.
        ([batch(number=1, after=1), batch(stream="t", after=0), batch(MADE)], False),
        ([batch(number=1, after=0), batch(stream="t", after=0), batch(MADE)], True),
        # One of an older version of the package, and the first one of a table that was built anew.
        ([batch(), RESTORE, batch(MADE)], False),
        ([batch("CREATE OR REPLACE TABLE AS SELECT", after=1), RESTORE, batch(MADE)], False),
        # Made without rows, for its stream.
        ([{"operation": MADE}, RESTORE], False),
        ([OPTIMIZE, None, RESTORE], False),
    ],
)
def test_what_a_restore_took(commits: list[Any], is_restored: bool) -> None:
    assert checkpoint._is_restored(Log(*commits), len(commits) - 1) == is_restored


@pytest.mark.parametrize(
    ("commits", "since", "written"),
    [
        ([batch(MADE)], None, 0),
        ([batch(), WRITE, batch(MADE)], 0, 0),
        ([WRITE, batch(number=4), batch(number=3), batch(MADE)], 0, 4),
        ([WRITE, batch(stream="other"), batch(MADE)], 0, None),
        ([batch(MADE)], 0, -1),
        ([batch(), RESTORE, batch(MADE)], 0, None),
        ([batch(), RESTORE, batch(MADE)], 1, 0),
        ([REPLACED, batch(MADE)], 0, None),
        ([batch(), batch(MADE, "other")], None, None),
        # Built anew by the stream itself, at another place.
        ([batch(), batch("CREATE OR REPLACE TABLE AS SELECT"), RESTORE], 0, 0),
        ([batch(), batch(MADE)], 7, 0),
        ([batch(), {"operation": MADE}], 7, None),
    ],
)
def test_what_others_did_to_the_table_of_a_stream(
    monkeypatch: pytest.MonkeyPatch, commits: list[Any], since: int | None, written: int | None
) -> None:
    opened = Log(*commits), len(commits) - 1
    monkeypatch.setattr(checkpoint, "_opened", lambda spark, name: opened)
    if written is not None:
        assert checkpoint.version(None, ("s", "t"), since, "s") == (opened[1], written)
    else:
        with pytest.raises(LookupError):
            checkpoint.version(None, ("s", "t"), since, "s")


@pytest.mark.parametrize(
    ("metrics", "is_said"),
    [
        ({"numRestoredFiles": "2", "numRemovedFiles": "0"}, True),
        ({"numRestoredFiles": "2", "numRemovedFiles": "1"}, False),
        ({"numRestoredFiles": "0", "numRemovedFiles": "1"}, False),
        # spark.databricks.delta.history.metricsEnabled=false
        (None, True),
    ],
)
@pytest.mark.parametrize("read", [1, 2])
def test_an_input_whose_rows_came_back(
    monkeypatch: pytest.MonkeyPatch, metrics: Any, is_said: bool, read: int
) -> None:
    commits = Log(OPTIMIZE, {**RESTORE, "operationMetrics": metrics}, WRITE)
    snapshot = SimpleNamespace(version=lambda: 2, metadata=lambda: SimpleNamespace(id=lambda: "x"))
    monkeypatch.setattr(checkpoint, "_read_before", lambda *_: [("x", read)])
    monkeypatch.setattr(checkpoint, "_snapshot", lambda *_: snapshot)
    monkeypatch.setattr(checkpoint.facts, "place_of", lambda _: "")
    monkeypatch.setattr(checkpoint.log, "open_log", lambda *_: commits)
    found = checkpoint.restored_input(None, "c", [("shop", "orders", "delta")])
    said = "shop.orders was restored by its version 1, after the stream had read it"
    assert found == (said if is_said and read == 1 else "")


@pytest.mark.parametrize(
    ("kept", "has_state", "select", "is_other"),
    [
        (["a"], True, "a", False),
        (["a"], True, "b", True),
        # Rows that were written by another SELECT stay, as of an incremental model.
        (["a"], False, "b", False),
        # A checkpoint of before, a model whose rows are appended, and a kill between two notes.
        ([], True, "b", False),
        (["a"], True, "", False),
        (["a", "b"], True, "b", False),
    ],
)
def test_what_a_stream_keeps_is_of_one_select(
    monkeypatch: pytest.MonkeyPatch, kept: list[str], has_state: bool, select: str, is_other: bool
) -> None:
    monkeypatch.setattr(checkpoint, "text", lambda *_: METADATA)
    monkeypatch.setattr(checkpoint, "_newest", lambda *_: 3)
    monkeypatch.setattr(checkpoint.facts, "transaction", lambda *_: 3)
    monkeypatch.setattr(checkpoint, "_opened", lambda *_: (Log(batch()), 0))
    monkeypatch.setattr(checkpoint, "_names", lambda _, path: {"c/dbt_delta_select": kept}[path])
    monkeypatch.setattr(checkpoint, "_exists", lambda _, path: has_state and path == "c/state")
    found = checkpoint.problem(None, "c", ("shop", "t"), select)
    assert ("its SELECT was another one" in found) == is_other == bool(found)


REPLACING = "CREATE OR REPLACE TABLE AS SELECT"


@pytest.mark.parametrize(
    ("commits", "has_rows", "said"),
    [
        # A run of before writes its batch into the table that a full refresh has made: both fail.
        (
            [batch(stream="old", after=0), batch(REPLACING), batch(MADE, "old")],
            True,
            "before and since",
        ),
        (
            [batch(number=7, after=0), batch(REPLACING, "new"), batch(MADE)],
            True,
            "before and since",
        ),
        ([batch(stream="old"), batch(MADE, "old")], True, "before and since"),
        # It does so before the full refresh begins to write, which replaces it.
        ([batch(stream="old"), batch(MADE, "old")], False, ""),
        ([batch(REPLACING, "new"), batch(MADE)], True, "Nothing more was written. Run the model"),
        ([batch(number=7), RESTORE, batch(MADE)], True, "Nothing more was written. Run the model"),
    ],
)
def test_a_table_has_rows_of_one_stream(
    monkeypatch: pytest.MonkeyPatch, commits: list[Any], has_rows: bool, said: str
) -> None:
    opened = Log(*commits), len(commits) - 1
    monkeypatch.setattr(checkpoint, "_opened", lambda spark, name: opened)
    if not said:
        assert checkpoint.version(None, ("s", "t"), 0, "s", has_rows) == (opened[1], -1)
        return
    with pytest.raises(LookupError, match=said) as error:
        checkpoint.version(None, ("s", "t"), 0, "s", has_rows)
    assert ("--full-refresh" in str(error.value)) == (said == "before and since")
