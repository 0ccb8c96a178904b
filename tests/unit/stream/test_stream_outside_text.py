"""Which micro-batches writers outside dbt take, which rows, and by which SQL."""

from typing import Any

import pytest

from dbt_delta.stream import outside

ONE = {"writer": "stream", "checkpoint": "a", "batch": 4, "offsets": "x"}
LATER = {**ONE, "batch": 5}


def problem(
    tag: dict[str, Any], last: int | None, standing: dict[str, Any] | None = None, **about: Any
) -> str:
    about = {"has_others": False, "has_key": False, "first": 0, **about}
    return outside.batch_problem(tag, last, standing, **about)


@pytest.mark.parametrize(
    ("number", "last", "standing", "about", "text"),
    [
        (0, None, None, {}, ""),
        (13, None, None, {"first": 13}, ""),
        (12, None, None, {"first": 13}, "the first one is 13: rows are missing"),
        (1, None, None, {}, "the first one is 0: rows are missing"),
        (0, None, None, {"has_others": True, "has_key": True}, ""),
        (0, None, None, {"has_others": True}, "another checkpoint"),
        # It follows; it comes again; the log no longer has its commit.
        (5, 4, ONE, {}, ""),
        (4, 4, ONE, {}, ""),
        (5, 4, {}, {}, ""),
        (6, 4, ONE, {}, "is 4: rows are missing"),
        (4, 4, {**ONE, "offsets": "y"}, {}, "a copy of before"),
        (3, 4, ONE, {}, "a copy of before"),
        (4, 4, {}, {}, "a copy of before"),
        # Restored, to nothing of the stream or to an earlier micro-batch.
        (5, 4, None, {}, "restored to a version before micro-batch 4"),
        (4, 4, {**ONE, "batch": 3}, {}, "restored to a version before micro-batch 4"),
        (5, 4, {**ONE, "batch": 3}, {"has_key": True}, "restored to a version before"),
    ],
)
def test_batch_problem(
    number: int,
    last: int | None,
    standing: dict[str, Any] | None,
    about: dict[str, Any],
    text: str,
) -> None:
    found = problem({**ONE, "batch": number}, last, standing, **about)
    assert text in found
    assert bool(found) == bool(text)


def column(name: str, kind: str, **about: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "declared": None, "is_generated": False, **about}


COLUMNS = [column("Id", "bigint"), column("v", "string"), column("g", "int", is_generated=True)]


def target(*keys: str, latest_by: str | None = None) -> Any:
    return outside._Target("shop.t", keys, latest_by)


@pytest.mark.parametrize(
    ("given", "about", "text"),
    [
        ([("id", "bigint"), ("v", "string")], target("ID", latest_by="V"), ""),
        ([("v", "string"), ("id", "bigint"), ("g", "int")], target(), ""),
        ([("id", "bigint")], target(), "the rows lack columns of the table: v"),
        ([("id", "bigint"), ("v", "string"), ("w", "int")], target(), "the table lacks: w"),
        ([("id", "bigint"), ("ID", "bigint"), ("v", "string")], target(), "equal names: id, ID, v"),
        ([("id", "int"), ("v", "string")], target(), "column id is int, and the table's is bigint"),
        ([("id", "bigint"), ("v", "string")], target("w"), "no column w. Columns: id, v"),
        ([("id", "bigint"), ("v", "string")], target("id", latest_by="w"), "no column w"),
        ([("id", "bigint"), ("v", "string")], target(latest_by="v"), "latest_by needs"),
    ],
)
def test_rows_problem(given: list[tuple[str, str]], about: Any, text: str) -> None:
    found = outside.rows_problem(given, COLUMNS, about)
    assert text in found
    assert bool(found) == bool(text)


def test_a_key_that_spark_cannot_compare() -> None:
    found = outside.rows_problem(
        [("m", "map<int,int>")], [column("m", "map<int,int>")], target("m")
    )
    assert found == "unique_key m is map<int,int>, whose values Spark cannot compare"


def test_what_is_merged() -> None:
    columns = [column("k", "bigint"), column("a`b", "map<int,int>"), column("c", "int")]
    sql = outside.merge_sql("shop.t", "select 1", columns, target("k", latest_by="c"))
    assert "on t.`k` <=> s.`k` when matched and not (false and t.`c` <=> s.`c`)" in sql
    assert "and (t.`c` is null or s.`c` >= t.`c`) then update set t.`k` = s.`k`" in sql
    assert "insert (`k`, `a``b`, `c`) values (s.`k`, s.`a``b`, s.`c`)" in sql
    # All columns are keys: a row that is there has not changed.
    assert "when matched" not in outside.merge_sql("t", "select 1", columns[:1], target("k"))


def test_rows_to_write() -> None:
    columns = [column("k", "string", declared="CHAR(5)"), column("v", "int")]
    padded = "if(length(`k`) < 5, rpad(`k`, 5, ' '), `k`) as `k`, `v`"
    assert outside.source_sql("seen", columns, target()) == f"select {padded} from seen"
    assert outside.source_sql("seen", columns, target("k")) == f"select distinct {padded} from seen"
    latest = outside.source_sql("seen", columns, target("k", latest_by="v"))
    assert "rank() over (partition by `k` order by `v` desc nulls last)" in latest
    mapped = [*columns, column("m", "map<string,int>")]
    assert "distinct" not in outside.source_sql("seen", mapped, target("k"))


@pytest.mark.parametrize(
    ("kind", "is_comparable"),
    [
        ("struct<geo:int,variants:string>", True),
        ("array<map<int,int>>", False),
        ("struct<a:variant>", False),
        ("string collate UTF8_LCASE", False),
        ("geometry(4326)", False),
    ],
)
def test_comparable(kind: str, is_comparable: bool) -> None:
    assert outside._is_comparable(kind) == is_comparable
