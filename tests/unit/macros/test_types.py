"""Spark's types as text: taken apart, compared, and made to fit."""

import random
import re
from typing import Any

import pytest

from tests.unit import odd_types

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
        ("struct<`a:b`:int,c:int>", ["a:b", "c"]),
        ("struct<`a, b`:int,c:int>", ["a, b", "c"]),
        ("struct<`a b`:struct<`c:d`:int>>", ["a b"]),
        ("struct<`<18`:int,`x)y(`:map<int,int>,`>`:int>", ["<18", "x)y(", ">"]),
        ("struct<```a```:int,`größe`:struct<```<`:int>>", ["`a`", "größe"]),
        ("struct<a: int, `b c`: array<int>>", ["a", "b c"]),
        ("struct<>", []),
    ],
)
def test_odd_names_of_fields(macros, type: str, names: list[str]) -> None:
    assert [field["name"] for field in macros()._struct_fields(type)] == names


@pytest.mark.parametrize("name", odd_types.ODD)
def test_a_field_of_any_name_comes_back(macros, name: str) -> None:
    fields = [{"name": name, "type": "decimal(10,2)"}, {"name": "z", "type": "int"}]
    package = macros()
    type = package._struct_type(fields)
    assert type == f"struct<{odd_types.quoted(name)}:decimal(10,2),z:int>"
    assert package._struct_fields(type) == fields
    assert package._type_parts(f"array<{type}>") == [type]
    assert package._type_parts(f"map<{type},array<{type}>>") == [type, f"array<{type}>"]
    outer = [{"name": name, "type": f"map<string,{type}>"}]
    assert package._struct_fields(package._struct_type(outer)) == outer


@pytest.mark.parametrize("name", odd_types.PLAIN)
def test_plain_names_need_no_quotes(macros, name: str) -> None:
    type = f"struct<{name}:int>"
    assert macros()._struct_type([{"name": name, "type": "int"}]) == type
    assert macros()._struct_fields(type) == [{"name": name, "type": "int"}]


def test_drawn_types_are_taken_apart_into_what_they_were_made_of(macros) -> None:
    draw = random.Random(1)
    package = macros()

    def taken_apart(type: str) -> Any:
        kind = package._type_kind(type)
        if kind == "atomic":
            return type
        if kind == "struct":
            return {f["name"]: taken_apart(f["type"]) for f in package._struct_fields(type)}
        return (kind, *map(taken_apart, package._type_parts(type)))

    for _ in range(300):
        tree = odd_types.drawn(draw)
        assert taken_apart(odd_types.text(tree)) == tree
        assert package._type_of_json(odd_types.as_json(tree)) == odd_types.text(tree)


def test_what_fields_are_called_changes_nothing(macros) -> None:
    """What is made of types with odd names is what is made of plain ones, but for the names."""
    draw = random.Random(2)
    package = macros()
    plain = tuple(f"field_{n}" for n in range(6))
    for _ in range(100):
        odd = dict(zip(plain, draw.sample(odd_types.ODD, len(plain)), strict=True))

        def renamed(found: Any, odd: dict[str, str] = odd) -> Any:
            if isinstance(found, (list, tuple)):
                return [renamed(part) for part in found]
            if isinstance(found, dict):
                return {key: renamed(value) for key, value in found.items()}
            if found in odd:
                return odd[found]
            literals = re.sub(r"'(field_\d)'", lambda m: package._literal(odd[m[1]]), found)
            return re.sub(r"`?\b(field_\d)\b`?", lambda m: package._quoted(odd[m[1]]), literals)

        one, two = (
            odd_types.text({name: odd_types.drawn(draw, 2, plain) for name in plain[start:4]})
            for start in (0, 1)
        )
        for made in (
            lambda one, two: package._type_after(one, two, "append_new_columns"),
            lambda one, two: package._type_after(one, two, "sync_all_columns"),
            lambda one, two: package._conformed("`c`", one, two),
            lambda one, two: package._comparable("`c`", one),
            lambda one, two: package._type_changes(one, two, ["c"]),
        ):
            assert made(renamed(one), renamed(two)) == renamed(made(one, two))


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


def test_changes_of_fields_with_odd_names(macros) -> None:
    wanted = [{"name": "s", "type": "array<struct<`<18`:bigint,`a, b`:int,`größe`:int>>"}]
    found = [{"name": "s", "type": "array<struct<`<18`:int,`größe`:int,`x)y(`:int>>"}]
    assert macros()._column_changes(wanted, found) == [
        {"kind": "retype", "path": ["s", "element", "<18"], "type": "bigint", "was": "int"},
        {"kind": "add", "path": ["s", "element", "a, b"], "type": "int"},
        {"kind": "drop", "path": ["s", "element", "x)y("], "was": "int"},
    ]


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
        # What is dropped goes after the write.
        ("sync_all_columns", "struct<a:bigint,b:int,c:int>"),
    ],
)
def test_columns_after(macros, mode: str, type: str) -> None:
    source = columns("s struct<a:bigint,c:int>")
    after = macros()._columns_after(source, columns("s struct<a:int,b:int>"), mode)
    assert [(column["name"], column["type"]) for column in after] == [("s", type)]


@pytest.mark.parametrize(
    ("mode", "type"),
    [
        ("ignore", "map<int,struct<`<18`:int,`x)y(`:int>>"),
        ("append_new_columns", "map<int,struct<`<18`:int,`x)y(`:int,`a:int,b`:array<int>>>"),
        (
            "sync_all_columns",
            "map<int,struct<`<18`:bigint,`x)y(`:int,`a:int,b`:array<int>>>",
        ),
    ],
)
def test_type_after_of_fields_with_odd_names(macros, mode: str, type: str) -> None:
    source = "map<int,struct<`a:int,b`:array<int>,`<18`:bigint>>"
    assert macros()._type_after(source, "map<int,struct<`<18`:int,`x)y(`:int>>", mode) == type


@pytest.mark.parametrize(
    ("type", "wanted", "altered"),
    [
        ("int", "bigint", ""),
        ("void", "struct<a:int>", ""),
        ("timestamp", "string", ""),
        ("binary", "string", ""),
        ("int", "variant", ""),
        # Delta casts them: a timestamp becomes seconds, 2 becomes true, a struct the text {1}.
        ("timestamp", "bigint", "c is not null"),
        ("int", "timestamp", "c is not null"),
        ("struct<a:int>", "string", "c is not null"),
        ("int", "boolean", "not (try_cast(try_cast(c as boolean) as int) <=> c)"),
        ("boolean", "int", "not (try_cast(try_cast(c as int) as boolean) <=> c)"),
        ("struct<at:timestamp,n:int>", "struct<at:bigint,n:bigint>", "c.`at` is not null"),
        ("array<date>", "array<int>", "coalesce(exists(c, x0 -> x0 is not null), false)"),
        (
            "map<string,binary>",
            "map<string,double>",
            "coalesce(exists(map_entries(c), x0 -> x0.value is not null), false)",
        ),
    ],
)
def test_what_changes_when_it_is_stored(macros, type: str, wanted: str, altered: str) -> None:
    assert macros()._altered("c", type, wanted) == altered


def test_conformed_leaves_equal_types_alone(macros) -> None:
    assert macros()._conformed("`a`", NESTED, NESTED) == "`a`"
    assert macros()._conformed("`a`", "int", "bigint") == "`a`"


def test_conformed_struct(macros) -> None:
    text = macros()._conformed("`s`", "struct<x:int,z:int>", "struct<x:int,y:int>")
    assert text == (
        "case when `s` is not null then named_struct('x', `s`.`x`, 'y', cast(null as int)) end"
    )


def test_conformed_fields_with_odd_names(macros) -> None:
    text = macros()._conformed(
        "`s`", "array<struct<`<18`:int,`a``b`:int>>", "array<struct<`a``b`:bigint,`it's, x`:int>>"
    )
    assert text == (
        "transform(`s`, x0 -> case when x0 is not null then named_struct("
        "'a`b', cast(x0.`a``b` as bigint), 'it\\'s, x', cast(null as int)) end)"
    )


def test_comparable_map(macros) -> None:
    assert macros()._comparable("`m`", "map<string,int>") == (
        "array_sort(transform(map_entries(`m`), x0 -> "
        "named_struct('key', x0.key, 'value', x0.value)))"
    )
    assert macros()._comparable("`s`", "struct<a:int>") == "`s`"


def test_comparable_tells_texts_apart_that_a_collation_calls_equal(macros) -> None:
    package = macros()
    assert package._comparable("`v`", "string") == "`v`"
    assert package._comparable("`v`", "string collate UTF8_LCASE") == "collate(`v`, 'UTF8_BINARY')"
    assert package._comparable("`l`", "array<string collate UNICODE_CI>") == (
        "transform(`l`, x0 -> collate(x0, 'UTF8_BINARY'))"
    )
    assert package._comparable("`s`", "struct<` collate `:int>").endswith(".` collate `) end")


@pytest.mark.parametrize(
    ("kind", "plain", "others"),
    [
        ("bigint", ["0", "-7", "9" * 18], ["9" * 19, "1.0", "+1", " 1", ""]),
        ("tinyint", ["99"], ["100", "127"]),
        ("decimal(9,2)", ["1234567", "-1.5", "0.25"], ["12345678", "1.005", "1.", ".5", "1e2"]),
        ("decimal(2,2)", [], ["0", "0.25"]),
        ("decimal(5)", ["12345"], ["123456", "1.5"]),
        ("decimal", ["1234567890"], ["1.0"]),
        ("double", ["12345678.1234567"], ["123456789.1", "1.12345678", "nan"]),
        ("float", ["123.456"], ["1234", "0.1234"]),
        ("date", ["2024-02-28", "1000-12-01"], ["2024-02-29", "2024-1-01", "0999-01-01"]),
        ("timestamp_ntz", ["2024-01-28 23:59:59.123456"], ["2024-01-28", "2024-01-28 24:00:00"]),
        ("timestamp", ["2024-01-28T00:00:00"], ["2024-01-28 10:00:00Z", "2024-01-28 1:00:00"]),
        ("boolean", [], ["1"]),
    ],
)
def test_texts_that_need_no_second_look(
    macros, kind: str, plain: list[str], others: list[str]
) -> None:
    pattern = macros()._plain_text(kind.split("(")[0], re.findall(r"\d+", kind))
    fits = re.compile(pattern) if pattern else None
    assert all(fits and fits.fullmatch(text) for text in plain)
    assert not any(fits and fits.fullmatch(text) for text in others)
