"""The text of dbt's macros for all databases."""

from types import SimpleNamespace

import pytest


def test_parts_of_dates(macros) -> None:
    assert macros().spark__dateadd("DAY", "-1", "at") == (
        "timestampadd(day, cast(-1 as bigint), at)"
    )
    assert macros().spark__datediff("a", "b", "hour") == (
        "timestampdiff(hour, date_trunc('hour', a), date_trunc('hour', b))"
    )
    with pytest.raises(Exception, match=r"dbt\.datediff: datepart"):
        macros().spark__datediff("a", "b", "dayofyear")


def test_a_value_that_a_unit_test_gives_has_to_fit(macros) -> None:
    assert macros().spark__safe_cast("'x'", "int") == "try_cast('x' as int)"
    given = macros(model=SimpleNamespace(raw_code="{{ get_fixture_sql(rows, types) }}"))
    assert given.spark__safe_cast("'x'", "int") == "cast('x' as int)"
    assert given.spark__safe_cast("'array(1)'", "array<int>") == "cast(array(1) as array<int>)"


@pytest.mark.parametrize(
    ("text", "pattern", "is_like"),
    [
        ("orders_2024", "ORDERS%", True),
        ("orders", "order_", True),
        ("orders", "order", False),
        ("a.b", "a%", True),
        ("axb", "a.b", False),
        ("orders", "", False),
    ],
)
def test_patterns(macros, text: str, pattern: str, is_like: bool) -> None:
    assert macros()._is_like(text, pattern) is is_like
