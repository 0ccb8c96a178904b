"""The SQL of seeds."""

import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import pytest

COLUMNS = [
    {"name": "id", "type": "bigint", "is_certain": True},
    {"name": "a`b", "type": "decimal(20, 2)", "is_certain": False},
    {"name": "t", "type": "string", "is_certain": False},
]


def test_rows_are_one_literal(macros) -> None:
    sql = macros().get_declare_rows_sql("`v`", json.dumps([["1", "it's \\ ${x}", None]]))
    assert sql == (
        "declare or replace variable `v` array<array<string>> default\n"
        """from_json('[["1", "it\\'s \\\\\\\\ \\u0024{x}", null]]', """
        "'array<array<string>>', map('mode', 'FAILFAST'))"
    )


def test_columns_are_cast_and_quoted(macros) -> None:
    sql = macros().get_seed_sql(COLUMNS, "`v`")
    assert "cast(cells[0] as bigint) as `id`" in sql
    assert "cast(cells[1] as decimal(20, 2)) as `a``b`" in sql
    assert sql.strip().endswith("from (select explode(`v`) as cells)")


def test_only_uncertain_cells_are_checked(macros) -> None:
    sql = macros().get_wrong_cell_sql(COLUMNS, "`v`")
    assert "try_cast(cells[1] as decimal(20, 2)) is null" in sql
    assert "cells[0]" not in sql
    assert "cells[2]" not in sql
    assert not macros().get_wrong_cell_sql([COLUMNS[0], COLUMNS[2]], "`v`").strip()


@pytest.mark.parametrize(
    ("type", "said"),
    [
        ("int", "or try_cast(c as int) is null"),
        ("varchar(3)", "length(c) > 3"),
        ("CHAR(12)", "length(c) > 12"),
        ("Numeric(9, 3)", " as int), 0), null) > 3)"),
        ("decimal(9)", " as int), 0), null) > 0)"),
        ("timestamp_ltz", "cast(try_cast(c as timestamp_ltz) as timestamp_ntz) <=> "),
        ("long", "not rlike '^\\\\s*([+-]?[0-9]+)\\\\s*$'"),
    ],
)
def test_misfits(macros, type: str, said: str) -> None:
    assert said in macros()._misfit("c", type)


@pytest.mark.parametrize("type", ["string", "string collate UTF8_LCASE", "binary", "variant"])
def test_any_text_is_a_text(macros, type: str) -> None:
    assert not macros()._misfit("c", type)


def test_the_rows_that_dbt_read(macros) -> None:
    """Where the plugin is not: agate's values as text that Spark casts to the same."""
    table = SimpleNamespace(
        rows=[
            (Decimal("1.00"), Decimal("0.00000001"), "x", True, date(2024, 1, 2), None),
            (Decimal("1E+3"), Decimal("1E+3"), "null", False, date(2024, 1, 3), None),
        ]
    )
    types = ("bigint", "double", "string", "boolean", "date", "string")
    (chunk,) = macros(tojson=json.dumps)._agate_chunks(table, [{"type": type} for type in types])
    assert json.loads(chunk) == [
        ["1", "0.00000001", "x", "true", "2024-01-02", None],
        ["1000", "1000", "null", "false", "2024-01-03", None],
    ]
