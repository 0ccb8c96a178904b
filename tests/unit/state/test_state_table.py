"""Which texts of the table of records are records."""

import json
from typing import Any

import pytest

from dbt_delta.state import table

WHOLE: dict[str, Any] = {
    **dict.fromkeys(("status", "code", "config", "unsure"), ""),
    **{"own": [], "reads": [], "at": 1.0},
}


@pytest.mark.parametrize(
    ("text", "is_record"),
    [
        (json.dumps(WHOLE), True),
        # An earlier version had one relation of its own.
        (json.dumps({**WHOLE, "own": {"kind": "view", "digest": "v"}}), False),
        (json.dumps({**WHOLE, "own": None}), False),
        (json.dumps({"status": "success"}), False),
        ("damaged", False),
        ("7", False),
        (None, False),
    ],
)
def test_what_is_no_record_counts_as_none(text: str | None, is_record: bool) -> None:
    assert bool(table._parsed(text)) == is_record
