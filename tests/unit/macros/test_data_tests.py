"""Which tests one scan may answer, and what that scan asks."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    "text",
    [
        "id", "`a b`", "`-- x`", "`order`", "`k``q`", "s.a", "a[0]", "a > 1 and b is null",
        "status in ('a', 'it''s') or not (x)", "coalesce(a, lower(b)) || '-- no comment'",
        "cast(a as_ decimal(10, 2))".replace("as_", ","), "date '2020-01-01' < d", "r'\\' = a",
        "a % 2 != 1", "x between 1 and 2", "md5(concat(a, '-', b))", "größe", "'a\nb'", "1", "-1.5",
    ],
)  # fmt: skip
def test_plain_expressions(macros, text: str) -> None:
    assert macros()._is_plain_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "a -- b", "a /* b */", "-- a", "a;", "a) or (b", "a(", "a]", "([)]", "it's", "'a",
        "id in (select 1)", "id in (from t)", "(table t)", "a order by b limit 1", "a, b", "f(a)",
        "`f`(a)", "rand() < 1", "a > current_date", "a > current_timestamp()", 
        "a < now()",
        "a = date'today'", "a = timestamp 'now'", 'a = date"Tomorrow"', 
        "a = localtimestamp", "a |> where b", "{{ x }}", "a = :b", "a = ?", "a = ${b}",
        "exists (a)", "sum(a)", "a group by b", "interval_of_x(a)",
        "u = user", "_metadata.file_name = ''", "input_file_name()",
        "transform(a, x -> f(x))", "a::int",
    ],
)  # fmt: skip
def test_no_plain_expressions(macros, text: str) -> None:
    assert not macros()._is_plain_expression(text)


@pytest.mark.parametrize(
    ("threshold", "holds"),
    [
        ("!= 0", False), ("<>0", False), (">10", False), ("> 0", False), (">= 1", False),
        ("= 3", False), ("== 3", False), ("< 0", False), ("!=1", True), ("<> 2", True),
        (">= 0", True),
        ("<= 0", True), ("<1", True), ("<= 5", True), ("= 0", True), ("==0", True),
        # Nothing is known of these.
        ("between 1 and 5", True), ("> 10 or true", True), ("> 1.5", True), ("> -1", True),
        ("", True),
    ],
)  # fmt: skip
def test_thresholds_at_zero(macros, threshold: str, holds: bool) -> None:
    assert macros()._holds_for_zero(threshold) is holds


def node(name: str, config: dict[str, Any] | None = None, **kwargs: Any) -> dict[str, Any]:
    """A generic test as dbt's graph has it."""
    return {
        "unique_id": f"test.{name}",
        "test_metadata": {"name": name, "kwargs": {"model": "..", **kwargs}, "namespace": None},
        "depends_on": {"nodes": ["model.p.m"]},
        "config": {
            "enabled": True, "where": None, "limit": None, "fail_calc": "count(*)",
            "warn_if": "!= 0", "error_if": "!= 0", "store_failures": None, **(config or {}),
        },
    }  # fmt: skip


VALUES = {"column_name": "c", "values": ["a"]}


@pytest.mark.parametrize(
    "test",
    [
        node("not_null", column_name="c"),
        node("unique", {"where": "a > 1", "severity": "warn"}, column_name="`c d`"),
        node("accepted_values", {"fail_calc": "COUNT( * )", "error_if": ">10"}, **VALUES),
        node("accepted_values", **{**VALUES, "values": [1, -2.5, True], "quote": False}),
        node("accepted_values", **{**VALUES, "values": ["date '2020-01-01'"], "quote": False}),
        node("accepted_values", **{**VALUES, "values": ["it''s", ""]}),
        node("row_count_between", min=1),
        node("not_null", {"store_failures": False}, column_name="s.c"),
    ],
)
def test_countable(macros, test: dict[str, Any]) -> None:
    assert macros()._countable_test(test)["of"] == "model.p.m"


@pytest.mark.parametrize(
    "test",
    [
        node("not_null"),
        node("not_null", column_name="c", other=1),
        node("relationships", column_name="c", to="..", field="x"),
        node("not_null", {"limit": 0}, column_name="c"),
        node("not_null", {"store_failures": True}, column_name="c"),
        node("not_null", {"fail_calc": "sum(n)"}, column_name="c"),
        node("not_null", {"warn_if": "<1"}, column_name="c"),
        node("not_null", {"error_if": "= 0"}, column_name="c"),
        node("not_null", {"where": "d > current_date"}, column_name="c"),
        node("not_null", {"where": "a > 1"}, column_name="m.c"),
        node("not_null", {"sql_header": "set x = 1"}, column_name="c"),
        node("accepted_values", **{**VALUES, "values": ["it's"]}),
        node("accepted_values", **{**VALUES, "values": "abc"}),
        node("accepted_values", **{**VALUES, "values": ["other_column"], "quote": False}),
        node("accepted_values", **{**VALUES, "values": ["lower('a')"], "quote": False}),
        node("accepted_values", **{**VALUES, "values": ["a' || b || 'c"]}),
        {
            **node("not_null", column_name="c"),
            "depends_on": {"nodes": ["model.p.m", "model.p.n"]},
        },
    ],
)
def test_not_countable(macros, test: dict[str, Any]) -> None:
    assert macros()._countable_test(test) is None


def test_tests_that_are_alone_are_not_counted(macros) -> None:
    nodes = {}
    for number, of in enumerate(("a", "b", "b", "c")):
        test = {**node("not_null", column_name="c"), "unique_id": f"test.{number}"}
        nodes[test["unique_id"]] = {**test, "depends_on": {"nodes": [of]}}
    nodes["test.4"] = {**nodes["test.3"], "unique_id": "test.4"}

    def counted(selected: list[str], **variables: Any) -> list[str]:
        package = macros(
            graph={"nodes": nodes},
            selected_resources=selected,
            var=lambda name, default: variables.get(name, default),
        )
        return list(package._countable_tests())

    # The other test of c is not selected; a is no test.
    assert counted(["a", "test.0", "test.1", "test.2", "test.3"]) == ["b"]
    assert counted([*nodes]) == ["b", "c"]
    for off in (False, "false"):
        assert counted([*nodes], dbt_delta_fused_tests=off) == []


def test_counts(macros) -> None:
    package = macros()
    tests = [
        package._countable_test(test)
        for test in (
            node("unique", {"where": "w"}, column_name="`k`"),
            node("not_null", column_name="a or b"),
            node("accepted_values", column_name="a", values=["x", 1]),
            node("not_null", column_name="c"),
            node("not_null", {"where": "w"}, column_name="c"),
            node("row_count_between", {"where": "w"}, min=0, max=9),
        )
    ]
    words = package._test_counts_sql("`s`.`t`", tests).split()
    rest = "0L as failures, false as should_warn, false as should_error from"
    assert " ".join(words) == (
        "select to_json(array( count(*) filter (where (a or b is null)), "
        "count(*) filter (where (c is null)), count(*) filter (where ((w) and (c is null))) "
        f")) as counts, 0 as part, {rest} `s`.`t` "
        "where (a or b is null) or (c is null) or ((w) and (c is null)) "
        "union all select to_json(array( "
        "count(*) filter (where ((a) not in ('x', '1'))), "
        "bigint(count(*) filter (where w) < 0 or count(*) filter (where w) > 9) )) as counts, "
        f"1 as part, {rest} `s`.`t` union all select to_json(array( count(*) )) as counts, "
        f"2 as part, {rest} "
        "( select 1 from `s`.`t` where ((w) and (`k` is not null)) group by `k` "
        "having count(*) > 1 ) as repeated"
    )
