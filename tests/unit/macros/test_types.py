"""Spark's types as text: taken apart, compared, and made to fit."""

import pytest

NESTED = "struct<a:int,b:array<struct<x:decimal(5,2),y:map<string,int>>>>"


def test_struct_fields(macros) -> None:
    fields = macros()._struct_fields(NESTED)
    assert fields == [
        {"name": "a", "type": "int"},
        {"name": "b", "type": "array<struct<x:decimal(5,2),y:map<string,int>>>"},
    ]


@pytest.mark.parametrize(
    ("type", "names"),
    [
        ("struct<a:b:int,c:int>", ["a:b", "c"]),
        ("struct<a, b:int,c:int>", ["a, b", "c"]),
        ("struct<a b:struct<c:d:int>>", ["a b"]),
        ("struct<>", []),
    ],
)
def test_odd_names_of_fields(macros, type: str, names: list[str]) -> None:
    assert [field["name"] for field in macros()._struct_fields(type)] == names


def columns(text: str) -> list[dict[str, str]]:
    """`a int, b string` as a list of columns."""
    pairs = [column.split(" ", 1) for column in text.split(", ")]
    return [{"name": name, "type": type} for name, type in pairs]


@pytest.mark.parametrize(
    ("wanted", "found", "changes"),
    [
        ("a int", "A int", []),
        ("a int, b int", "a int", [("add", "b")]),
        ("a int", "a int, b int", [("drop", "b")]),
        ("a bigint", "a int", [("retype", "a")]),
        ("s struct<x:int,y:int>", "s struct<x:int,z:int>", [("add", "s.y"), ("drop", "s.z")]),
        ("s array<struct<x:int,y:int>>", "s array<struct<x:int>>", [("add", "s.element.y")]),
        ("m map<int,struct<x:int>>", "m map<int,struct<x:bigint>>", [("retype", "m.value.x")]),
        ("s string", "s struct<x:int>", [("retype", "s")]),
    ],
)
def test_column_changes(macros, wanted: str, found: str, changes: list[tuple[str, str]]) -> None:
    got = macros()._column_changes(columns(wanted), columns(found))
    assert [(change["kind"], ".".join(change["path"])) for change in got] == changes


@pytest.mark.parametrize(
    ("narrow", "wide", "widens"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "decimal(10,0)", True),
        ("int", "decimal(10,2)", False),
        ("decimal(5,2)", "decimal(7,3)", True),
        ("decimal(5,2)", "decimal(6,3)", True),
        ("decimal(5,2)", "decimal(5,3)", False),
        ("float", "double", True),
        ("bigint", "double", False),
        ("int", "string", False),
        ("date", "timestamp_ntz", True),
    ],
)
def test_widens(macros, narrow: str, wide: str, widens: bool) -> None:
    assert macros()._widens(narrow, wide) is widens


@pytest.mark.parametrize(
    ("mode", "type"),
    [
        ("ignore", "struct<a:int,b:int>"),
        ("append_new_columns", "struct<a:int,b:int,c:int>"),
        ("sync_all_columns", "struct<a:bigint,c:int>"),
    ],
)
def test_columns_after(macros, mode: str, type: str) -> None:
    source = columns("s struct<a:bigint,c:int>")
    after = macros()._columns_after(source, columns("s struct<a:int,b:int>"), mode)
    assert [(column["name"], column["type"]) for column in after] == [("s", type)]


def test_conformed_leaves_equal_types_alone(macros) -> None:
    assert macros()._conformed("`a`", NESTED, NESTED) == "`a`"
    assert macros()._conformed("`a`", "int", "bigint") == "`a`"


def test_conformed_struct(macros) -> None:
    text = macros()._conformed("`s`", "struct<x:int,z:int>", "struct<x:int,y:int>")
    assert text == (
        "case when `s` is not null then named_struct('x', `s`.`x`, 'y', cast(null as int)) end"
    )


def test_comparable_map(macros) -> None:
    assert macros()._comparable("`m`", "map<string,int>") == (
        "array_sort(transform(map_entries(`m`), x0 -> "
        "named_struct('key', x0.key, 'value', x0.value)))"
    )
    assert macros()._comparable("`s`", "struct<a:int>") == "`s`"
