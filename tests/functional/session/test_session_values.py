"""Every value comes back from Spark as it was bound."""

import datetime as dt
from decimal import Decimal
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.functional import drawing, harness

# Surrogates are no characters: neither UTF-8 nor Spark has them.
texts = st.text(st.characters(exclude_categories=["Cs"]))
decimals = st.decimals(-(10**30), 10**30, allow_nan=False, allow_infinity=False, places=6)
naive = st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(9000, 1, 1))
aware = st.datetimes(
    dt.datetime(1600, 1, 1),
    dt.datetime(9000, 1, 1),
    timezones=st.sampled_from([dt.timezone.utc, dt.timezone(dt.timedelta(hours=-9, minutes=-30))]),
)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**38) + 1, 10**38 - 1),
    decimals,
    st.floats(allow_nan=False),
    texts,
    st.binary(),
    st.dates(),
    naive,
    aware,
)


@cache
def connection():
    from dbt.adapters.contracts.connection import Connection

    from dbt_delta.session.connection import SessionConnection

    record = Connection(type="spark", name="values", credentials=None)
    return SessionConnection(harness.settings(), record)


def back(bound):
    """The values as Spark returns them, one row."""
    cursor = connection().cursor()
    cursor.execute("select " + ", ".join(["%s"] * len(bound)), bound)
    (row,) = cursor.fetchall()
    return list(row)


def returned(value):
    """What the Python side of Spark makes of a value that was kept exactly."""
    if isinstance(value, dt.datetime) and value.tzinfo:
        return value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return Decimal(value)
    return value


@settings(
    max_examples=drawing.examples(20, 200),
    derandomize=not drawing.IS_LONG,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(values, min_size=1, max_size=30))
def test_round_trip(home, bound):
    found = back(bound)
    expected = [returned(value) for value in bound]
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


WENT_WRONG_ELSEWHERE = [
    "it's",
    "back\\slash",
    "\\",
    "\\'",
    '"',
    "`",
    "%s %d %",
    "${spark.app.name}",
    "${env:HOME}",
    "$",
    "{{ x }}",
    "-- not a comment",
    "/* nor this */",
    ";",
    "two\nlines\r\n",
    "tab\t",
    "",
    "None",
    "\U0001f600 ünï",
    "\u0000",
    9007199254740993,
    2**63 - 1,
    -(2**63),
    10**37,
    Decimal("0.1"),
    Decimal("-0.000000000000000000000000000000000001"),
    Decimal("99999999999999999999999999999999999999"),
    Decimal("1E+5"),
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    b"",
    b"\x00\xff'\\",
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.datetime(2024, 2, 29, 23, 59, 59, 999999),
]


def test_values_that_went_wrong_elsewhere(home):
    found = back(WENT_WRONG_ELSEWHERE)
    assert found == WENT_WRONG_ELSEWHERE
    texts = [str(Decimal(100000)) if v == Decimal("1E+5") else str(v) for v in WENT_WRONG_ELSEWHERE]
    assert [str(value) for value in found] == texts


def test_not_a_number_and_infinities(home):
    nan, *infinities = back([float("nan"), float("inf"), float("-inf"), Decimal("Infinity")])
    assert nan != nan
    assert infinities == [float("inf"), float("-inf"), float("inf")]


def test_more_digits_than_a_decimal_holds(home):
    assert back([10**38, Decimal("0." + "1" * 39)]) == [str(10**38), "0." + "1" * 39]


def test_a_type_without_a_literal_is_refused(home):
    with pytest.raises(TypeError, match="no SQL literal for a dict"):
        back([{}])


def test_seed_cells(project):
    project.write(
        {
            "seeds/cells.csv": (
                "id,name,big,price,ratio,day,moment,flag\n"
                '1,"O\'Brien",9007199254740993,12.10,0.1,2024-02-29,2024-02-29 23:59:59,true\n'
                '2,"back\\slash ""quoted""",-9007199254740993,0.01,1e-7,0001-01-01,,false\n'
                "3,${spark.app.name},,,,,,\n"
                "4,%s 100%,,,,,,\n"
            ),
            "seeds/seeds.yml": """
                seeds:
                  - name: cells
                    config:
                      column_types: {id: int, big: bigint, price: "decimal(10,2)", ratio: double}
            """,
        }
    )
    project.dbt("seed")
    empty = dict.fromkeys(["big", "price", "ratio", "day", "moment", "flag"])
    assert project.rows("cells", order_by="id") == [
        {
            "id": 1,
            "name": "O'Brien",
            "big": 9007199254740993,
            "price": Decimal("12.10"),
            "ratio": 0.1,
            "day": dt.date(2024, 2, 29),
            "moment": dt.datetime(2024, 2, 29, 23, 59, 59),
            "flag": True,
        },
        {
            "id": 2,
            "name": 'back\\slash "quoted"',
            "big": -9007199254740993,
            "price": Decimal("0.01"),
            "ratio": 1e-7,
            "day": dt.date(1, 1, 1),
            "moment": None,
            "flag": False,
        },
        {"id": 3, "name": "${spark.app.name}", **empty},
        {"id": 4, "name": "%s 100%", **empty},
    ]
