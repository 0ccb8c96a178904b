"""When a table whose subjects are in old files only gets a commit that no restore goes behind."""

from typing import Any

import pytest

from tests.unit.macros.rendering import load


def commits(newest: int, **erased: str) -> list[dict[str, Any]]:
    return [
        {"version": version, "erased": erased.get(f"v{version}")}
        for version in range(newest, -1, -1)
    ]


def held(versions: str, is_live: bool = False) -> dict[str, Any]:
    return {"findings": [{"versions": versions, "is_live": is_live}]}


@pytest.mark.parametrize(
    ("history", "scan", "is_marked"),
    [
        # Another erasure, then an ordinary DELETE with a deletion vector: the file is still there.
        (commits(8, v6="other"), held("since 5", True), False),
        (commits(9, v6="other", v9="own"), held("since 5", True), True),
        (commits(9, v6="other", v9="other"), held("since 5", True), False),
        (commits(9, v6="other"), held("5 to 7"), False),
        (commits(9, v8="other"), held("5 to 7"), True),
        # Until the file was written anew, the commit of this erasure is the last version with it.
        (commits(9, v8="own"), held("5 to 8"), True),
        (commits(9, v8="other"), held("5 to 8"), False),
        # A file that no version has.
        (commits(9), held("", True), False),
    ],
)
def test_a_mark_is_newer_than_each_version_with_a_subject(
    history: list[dict[str, Any]], scan: dict[str, Any], is_marked: bool
) -> None:
    assert load()._is_marked(history, scan, "own") is is_marked
