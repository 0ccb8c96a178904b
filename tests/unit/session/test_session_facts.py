"""What Python makes of Spark's types and paths; the rest of facts.py asks a session."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import types

from dbt_delta.session import facts
from tests.unit import odd_types

# As the macros write them.
KINDS = {
    "int": types.IntegerType(),
    "bigint": types.LongType(),
    "smallint": types.ShortType(),
    "tinyint": types.ByteType(),
    "float": types.FloatType(),
    "double": types.DoubleType(),
    "boolean": types.BooleanType(),
    "binary": types.BinaryType(),
    "date": types.DateType(),
    "string": types.StringType(),
    "string collate UNICODE_CI": types.StringType("UNICODE_CI"),
    "varchar(5)": types.VarcharType(5),
    "char(3)": types.CharType(3),
    "decimal(10,2)": types.DecimalType(10, 2),
    "decimal(38,0)": types.DecimalType(38, 0),
    "timestamp": types.TimestampType(),
    "timestamp_ntz": types.TimestampNTZType(),
    "interval day": types.DayTimeIntervalType(0, 0),
    "interval day to second": types.DayTimeIntervalType(0, 3),
    "interval year to month": types.YearMonthIntervalType(0, 1),
    "variant": types.VariantType(),
    "void": types.NullType(),
}


def made(tree: Any) -> types.DataType:
    """A type of odd_types as Spark's own."""
    if isinstance(tree, str):
        return KINDS[tree]
    if isinstance(tree, dict):
        return types.StructType([types.StructField(name, made(t)) for name, t in tree.items()])
    kind = types.ArrayType if tree[0] == "array" else types.MapType
    return kind(*map(made, tree[1:]))


@pytest.mark.parametrize("text", KINDS)
def test_plain_types(text: str) -> None:
    assert facts.type_text(KINDS[text]) == text


@pytest.mark.parametrize("name", odd_types.ODD)
def test_odd_names_of_fields_are_quoted(name: str) -> None:
    quoted = odd_types.quoted(name)
    inner = f"struct<{quoted}:int,z:string>"
    tree = {name: {name: "int", "z": "string"}, "A1": ("map", "int", ("array", {name: "int"}))}
    assert facts.type_text(made(tree)) == (
        f"struct<{quoted}:{inner},A1:map<int,array<struct<{quoted}:int>>>>"
    )
    assert facts.quoted_name(name) == quoted


@pytest.mark.parametrize("name", odd_types.PLAIN)
def test_plain_names_of_fields_are_not_quoted(name: str) -> None:
    assert facts.type_text(made({name: "int"})) == f"struct<{name}:int>"


def test_drawn_types() -> None:
    """The macros take the same texts apart: test_types.py."""
    draw = random.Random(1)
    for _ in range(300):
        tree = odd_types.drawn(draw)
        assert facts.type_text(made(tree)) == odd_types.text(tree)


def test_a_wide_struct_is_not_cut() -> None:
    names = [f"f{n}" for n in range(200)]
    expected = f"struct<{','.join(f'{name}:int' for name in names)}>"
    assert facts.type_text(made(dict.fromkeys(names, "int"))) == expected


def test_columns_of_a_schema() -> None:
    schema = types.StructType(
        [
            types.StructField("a`b", KINDS["int"], metadata={"comment": "it's"}),
            types.StructField("größe", KINDS["string collate UNICODE_CI"], False, {"comment": ""}),
            types.StructField("s", made({"<18": ("array", {"x)y(": "decimal(10,2)"})})),
        ]
    )
    assert [(c["name"], c["type"], c["comment"]) for c in facts.columns_of_json(schema.json())] == [
        ("a`b", "int", "it's"),
        ("größe", "string collate UNICODE_CI", ""),
        ("s", "struct<`<18`:array<struct<`x)y(`:decimal(10,2)>>>", ""),
    ]


@pytest.mark.parametrize(("path", "names"), odd_types.PATHS)
def test_steps(path: str, names: list[str]) -> None:
    assert facts.steps(path) == names


def test_steps_of_any_names() -> None:
    names = [*odd_types.ODD, *odd_types.PLAIN]
    assert facts.steps(".".join(map(facts.quoted_name, names))) == names


def test_a_view_is_steady_with_exactly_the_columns_of_a_version(tmp_path: Path) -> None:
    def field(name: str, comment: str = "") -> dict[str, Any]:
        about = {"comment": comment} if comment else {}
        return {"name": name, "type": "long", "nullable": True, "metadata": about}

    def schema(*fields: dict[str, Any]) -> str:
        return json.dumps({"type": "struct", "fields": fields})

    versions = [schema(field("id")), schema(field("id", "key")), schema(field("id"), field("k"))]
    (tmp_path / "_delta_log").mkdir()
    for number, text in enumerate(versions):
        path = tmp_path / "_delta_log" / f"{number:020d}.json"
        path.write_text(json.dumps({"metaData": {"schemaString": text}}))
    spark: Any = None
    for number, text in enumerate(versions):
        views = {str(at): (text, f"file:{tmp_path}", at) for at in range(4)}
        # Nothing is known of version 3.
        assert facts.steady(spark, views) == [str(number)]
