"""The text of literals; tests/functional/session proves what Spark reads in it."""

import datetime as dt
import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt_delta.session.literals import MAX_DIGITS, literal
from tests.unit.macros import rendering

MACROS = rendering.load()


def read_text(sql: str) -> str:
    """A string literal as Spark's parser reads it, after ``${...}`` was replaced."""
    assert "${" not in sql
    body = re.fullmatch(r"'((?:[^'\\]|\\.)*)'", sql, re.DOTALL)[1]
    return re.sub(
        r"\\(u[0-9a-f]{4}|.)",
        lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else m[1],
        body,
        flags=re.DOTALL,
    )


@given(st.text(st.one_of(st.sampled_from("'\\${}u0024\n"), st.characters())))
def test_text_round_trip(value):
    assert read_text(literal(value)) == value


@given(st.text(st.one_of(st.sampled_from("'\\${}u0024\n"), st.characters())))
def test_macros_write_texts_alike(value):
    assert MACROS._literal(value) == literal(value)


@given(st.decimals(allow_nan=False, allow_infinity=False))
@example(Decimal("1E-38"))
@example(Decimal("-1.5E-39"))
def test_decimals_keep_every_digit(value):
    sql = literal(value)
    assert Decimal(sql.removesuffix("BD").strip("'")) == value
    if sql.endswith("BD"):
        unsigned = sql.removesuffix("BD").lstrip("-")
        assert len(unsigned.lstrip("0.").replace(".", "")) <= MAX_DIGITS
        # Zeros after the point count, too.
        assert len(unsigned.partition(".")[2]) <= MAX_DIGITS
        assert "e" not in unsigned.lower()


@given(st.integers())
def test_integers_keep_every_digit(value):
    assert int(literal(value).strip("'")) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_doubles(value):
    assert literal(value).endswith("D")
    assert float(literal(value)[:-1]) == value


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (b"\x00\xff", "X'00ff'"),
        (dt.date(2024, 2, 29), "date'2024-02-29'"),
        (dt.datetime(2024, 2, 29, 1, 2, 3, 4), "timestamp_ntz'2024-02-29 01:02:03.000004'"),
        (
            dt.datetime(2024, 2, 29, tzinfo=dt.timezone.utc),
            "timestamp_ltz'2024-02-29 00:00:00+00:00'",
        ),
    ],
)
def test_other_types(value, sql):
    assert literal(value) == sql


@pytest.mark.parametrize("value", [{}, [1], object(), dt.timedelta(1)])
def test_types_without_a_literal(value):
    with pytest.raises(TypeError, match=f"no SQL literal for a {type(value).__name__}"):
        literal(value)
