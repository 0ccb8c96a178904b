"""Whether a table and the checkpoint of its stream are of the same time."""

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
    found = checkpoint.problem(None, "c", ("shop", "t"))
    assert problem in found
    assert bool(problem) == bool(found)
    assert asked in ([], [("shop", "t", "dbt_delta_stream_ab-1")])
