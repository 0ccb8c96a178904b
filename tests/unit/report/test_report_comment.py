"""The comment on a pull request, from dbt's artifacts."""

import json
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.report import comment


def result(unique_id: str, status: str, seconds: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"unique_id": unique_id, "status": status, "execution_time": seconds, **more}


RESULTS = [
    result("model.shop.orders", "success", 12.0),
    result("model.shop.a|b", "success", 0.2),
    result("model.shop.new", "success", 3.0),
    result("model.shop.broken", "error", message="x\n [DIVIDE_BY_ZERO] by '4711'. == SQL"),
    result("model.shop.odd", "error", message="Jinja: 4711"),
    result("test.shop.unique_orders_id.5c9bf9911d", "fail", failures=3, message="Got 3 results"),
    result("test.shop.later.0123456789", "warn", failures=1),
    result("unit_test.shop.orders.case", "pass"),
    result("model.shop.after", "skipped"),
]
PRODUCTION = [result("model.shop.orders", "success", 6.0), result("model.shop.a|b", "success", 0.1)]


def test_what_failed_and_how_long_it_took() -> None:
    found = comment.text(RESULTS, PRODUCTION, "| name | added |\n")
    assert found.splitlines() == [
        "<!-- dbt_delta pull request -->",
        "",
        "### 5 of 9 nodes passed, 3 failed, 1 skipped",
        "",
        "| node | status | why |",
        "| --- | --- | --- |",
        "| broken | error | DIVIDE_BY_ZERO |",
        "| odd | error | see the log of the build |",
        "| unique_orders_id | fail | 3 rows |",
        "| later | warn | 1 row |",
        "",
        "#### What changes in the data",
        "",
        "| name | added |",
        "",
        "#### Seconds",
        "",
        "| node | seconds | production | |",
        "| --- | ---: | ---: | ---: |",
        "| orders | 12.0 | 6.0 | 2.0x |",
        "| all 2 | 12.2 | 6.1 | |",
    ]


def test_no_value_of_a_row_is_in_it() -> None:
    assert "4711" not in comment.text(RESULTS, PRODUCTION, None)


def test_without_failures_production_and_differences() -> None:
    found = comment.text(RESULTS[:1], [], None)
    assert found == "<!-- dbt_delta pull request -->\n\n### 1 of 1 nodes passed\n"
    assert "Nothing." in comment.text(RESULTS[:1], [], "\n")


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "build_results.json"
    assert comment.main([str(results)]) == 2
    assert "No such file" in capsys.readouterr().err
    results.write_text(json.dumps({"results": RESULTS}))
    missing = str(tmp_path / "none")
    assert comment.main([str(results), "--production", missing, "--diff", missing]) == 0
    printed = capsys.readouterr().out
    assert "3 failed" in printed
    assert "What changes" not in printed
