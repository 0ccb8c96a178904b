"""What stands out, how rows grew, and which tests are flaky."""

import pytest

from dbt_delta.report import figures


def commit(operation: str, inserted: int | None = None, deleted: int | None = None, **more: bool):
    about = {"is_whole": False, "moves_rows": True, **more}
    return {"operation": operation, "inserted": inserted, "deleted": deleted, **about}


def test_what_is_far_above_the_others_stands_out() -> None:
    usual = [10.0, 11.0, 10.5, 10.2, 10.9, 10.4, 10.1]
    assert figures.outliers([*usual, 40.0], noise=5) == [7]
    assert figures.outliers([*usual, 15.2], noise=5) == []
    assert figures.outliers([1.0] * 7 + [4.0], noise=5) == []
    assert figures.outliers([None, *usual, None, 40.0], noise=5) == [9]


def test_few_values_have_no_outlier() -> None:
    assert figures.outliers([1.0, 1.0, 1.0, 1.0, 900.0], noise=0) == []


def test_what_is_not_known_has_no_median() -> None:
    assert figures.usual([None, None]) is None
    assert figures.usual([None, 3.0, 5.0]) == 4.0


def test_a_gap_needs_four_changes() -> None:
    assert figures.usual_gap([0, 10, 20]) is None
    assert figures.usual_gap([0, 10, 20, 90]) == 10


def test_rows_are_counted_back_from_the_newest_version() -> None:
    commits = [
        commit("CREATE TABLE AS SELECT", 100, is_whole=True),
        commit("MERGE", 10, 5),
        commit("OPTIMIZE", moves_rows=False),
        commit("WRITE", 7),
        commit("UPDATE"),
        commit("DELETE", None, 2),
    ]
    assert figures.rows_after(commits, 110) == [100, 105, 105, 112, 112, 110]


@pytest.mark.parametrize("operation", ["RESTORE", "REPLACE TABLE"])
def test_rows_before_what_cannot_be_counted_come_from_what_was_written_whole(operation) -> None:
    commits = [
        commit("CREATE TABLE AS SELECT", 100, is_whole=True),
        commit("MERGE", 10, 0),
        commit(operation),
        commit("WRITE", 7),
    ]
    assert figures.rows_after(commits, 50) == [100, 110, 43, 50]
    assert figures.rows_after(commits[1:], None) == [None, None, None]


def test_an_overwrite_says_nothing_of_the_version_before() -> None:
    commits = [commit("WRITE", 5), commit("WRITE", 30, is_whole=True), commit("WRITE", 2)]
    assert figures.rows_after(commits, None) == [None, 30, 32]


def test_a_delete_without_a_count_is_unknown_and_not_zero() -> None:
    assert figures.rows_after([commit("WRITE", 5), commit("DELETE")], 3) == [None, 3]


def test_only_results_count_as_changes() -> None:
    assert figures.flips("pp.fu.kpp") == 2
    assert figures.flips("pwpep") == 4
    assert figures.flips("") == 0
