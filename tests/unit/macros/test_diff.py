"""What a diff compares, and how its reports read."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

REPORT: dict[str, Any] = {
    "name": "s.t", "before": "version 1", "after": "version 2", "unique_key": ["id"],
    "rows_before": 1000, "rows_after": 1001, "added": 1, "removed": 0, "changed": 1,
    "note": "", "columns": {"n|m": 1},
    "schema": [{"kind": "add", "path": ["s", "x"], "type": "int"}],
    "samples": [
        {"kind": "added", "columns": [], "before": None, "after": {"id": 2, "n|m": None}},
        {"kind": "changed", "columns": ["n|m"], "before": {"id": 1, "n|m": "a"},
         "after": {"id": 1, "n|m": "b"}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("int", "int", "int"),
        ("int", "bigint", "bigint"),
        ("bigint", "int", "bigint"),
        ("decimal(10,2)", "decimal(8,4)", "decimal(12,4)"),
        ("decimal(38,0)", "decimal(38,10)", "string"),
        ("int", "decimal(5,2)", "decimal(12,2)"),
        ("bigint", "double", "double"),
        ("date", "timestamp", "timestamp"),
        ("int", "string", "string"),
        ("array<int>", "array<bigint>", "string"),
        ("varchar(5)", "string", "string"),
    ],
)
def test_types_that_differ_meet_in_one(macros, one: str, other: str, common: str) -> None:
    assert macros()._common_type(one, other) == common


def test_nested_values_of_other_types_are_compared_as_text(macros) -> None:
    column = {"name": "m", "type": "string"}
    assert macros()._as_compared(column, "string") == "`m`"
    assert macros()._as_compared(column, "int") == "cast(`m` as string)"
    text = macros()._as_compared(column, "map<string,int>")
    assert text.startswith("to_json(array_sort(")


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (0.01, {"absolute": 0.01}),
        ("2", {"absolute": "2"}),
        ("1.5 %", {"relative": "(1.5 / 100.0)"}),
        ({"absolute": 1, "relative": 0.1}, {"absolute": 1, "relative": 0.1}),
    ],
)
def test_tolerances(macros, value: Any, parts: dict[str, Any]) -> None:
    assert macros()._tolerance("x", value) == parts


@pytest.mark.parametrize("value", ["much", "-1", {"relative": "1 or true"}, {"near": 1}, "%"])
def test_what_is_no_tolerance(macros, value: Any) -> None:
    with pytest.raises(CompilationError, match="tolerance of 'x' is"):
        macros()._tolerance("x", value)


@pytest.mark.parametrize(
    ("kind", "near"),
    [
        ("absolute", "<= 0.5"),
        ("relative", "<= 0.5 * greatest(abs("),
    ],
)
def test_a_tolerance_is_of_the_columns_type(macros, kind: str, near: str) -> None:
    column = {"name": "x", "type": "double", "tolerance": {kind: 0.5}}
    sql = macros()._is_same(column)
    assert "_before.`x` <=> _after.`x` or coalesce(" in sql
    assert near in sql
    assert ("double('infinity')" in sql) == (kind == "relative")
    whole = macros()._is_same({"name": "x", "type": "bigint", "tolerance": {kind: 0.5}})
    assert "try_subtract(cast(_after.`x` as decimal(20,0))" in whole


def test_markdown(macros) -> None:
    text = macros(tojson=json.dumps)._diff_markdown([REPORT])
    assert "| s.t | 1,000 | 1,001 | 1 | 0 | 1 | 1 |  |" in text
    assert "- schema: `+ s.x int`" in text
    assert "- `n|m` changed in 1" in text
    assert '- changed `` {"id": 1} n|m "a" -> "b" ``' in text


def test_markdown_fits_in_a_comment(macros) -> None:
    sample = {**REPORT["samples"][0], "after": {"id": "x" * 3000}}
    text = macros(tojson=json.dumps)._diff_markdown([{**REPORT, "samples": [sample] * 40}] * 3)
    assert 60_000 < len(text) <= 65_000
    assert text.endswith(" more lines")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"model": "a", "a": "x.y", "b": "x.z"},
        {"a": "x.y"},
        {"schema_b": "x"},
        {"model": "a", "schema_a": "x", "schema_b": "y"},
    ],
)
def test_a_diff_is_of_two_versions_relations_or_schemas(macros, arguments: dict[str, str]) -> None:
    said = "diff takes one of {model: orders, from: previous}"
    with pytest.raises(CompilationError, match=said):
        macros().diff(**arguments)


def test_outputs_of_a_diff(macros) -> None:
    with pytest.raises(CompilationError, match=r"diff: output is 'xml'. Use one of text, json"):
        macros().diff(model="a", output="xml")


def test_a_relation_to_diff_is_in_the_catalog(macros) -> None:
    package = macros()
    package._relation_named = lambda name, macro: SimpleNamespace(schema="x", identifier=name)
    package._is_there = lambda relation, schemas: relation.identifier == "y"
    package._schemas = lambda: ["x"]
    assert package._relation_to_diff("y").identifier == "y"
    with pytest.raises(CompilationError, match=r"diff: `x`.`z` is not in the catalog"):
        package._relation_to_diff("z")


@pytest.mark.parametrize(
    ("key", "excluded", "tolerance", "said"),
    [
        ("nope", [], {}, "unique_key names 'nope', which is not a column of both sides"),
        ("late", [], {}, "unique_key names 'late', which is not a column of both sides"),
        ([], ["nope"], {}, "exclude_columns names 'nope', which is not a column"),
        ("id", [], {"nope": 1}, "tolerance names 'nope', which is not a column"),
        (None, [], {"id": 1}, "tolerance needs unique_key"),
        (None, ["id", "name"], {}, "No column to compare"),
    ],
)
def test_columns_that_cannot_be_compared(
    macros, key: Any, excluded: list[str], tolerance: dict[str, int], said: str
) -> None:
    columns = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]
    package = macros()
    package._columns_of = {
        "select * from before": columns,
        "select * from after": [*columns, {"name": "late", "type": "date"}],
    }.__getitem__
    with pytest.raises(CompilationError, match=said):
        package._comparison("before", "after", key, excluded, tolerance)


def test_a_tolerance_is_for_numbers(macros) -> None:
    column = {"name": "name", "type": "string", "tolerance": {"absolute": 1}}
    with pytest.raises(CompilationError, match=r"which is a string. Use it only for numbers"):
        macros()._is_same(column)


@pytest.mark.parametrize(
    ("operations", "way"),
    [
        (["MERGE"], "rows"),
        (["OPTIMIZE", "SET TBLPROPERTIES"], "none"),
        (["OPTIMIZE", "DELETE"], "rows"),
        (["RENAME COLUMN", "MERGE"], "all"),
        (["RESTORE"], "rows"),
        (["DROP COLUMNS", "RESTORE"], "all"),
    ],
)
def test_where_rows_that_differ_are_looked_for(macros, operations: list[str], way: str) -> None:
    commits = [{"version": n + 1, "operation": o} for n, o in enumerate(operations)][::-1]
    package = macros()
    last = len(operations)
    loses_track = package._reuses_names(commits, 0, last)
    assert package._diff_way(commits, 0, last, loses_track) == way
    assert package._diff_way(commits, last, last, False) == "none"


@pytest.mark.parametrize(
    ("sides", "asked"),
    [
        ({"rows_before": None, "rows_after": None}, None),
        # What is gone has no rows; how many a new one had is not known.
        ({"rows_before": 7, "rows_after": None}, (7, 0)),
        ({"rows_before": None, "rows_after": 7}, ("null", 7)),
    ],
)
def test_a_gate_that_compares_nothing_is_shut(
    macros, sides: dict[str, int | None], asked: tuple[Any, Any] | None
) -> None:
    sent: list[str] = []
    package = macros(
        run_query=lambda sql: sent.append(sql) or SimpleNamespace(rows=[{"fails": False}])
    )
    report = {**REPORT, **sides, "before": "prod.t", "after": "ci.t"}
    if asked is None:
        with pytest.raises(CompilationError, match=r"neither prod\.t nor ci\.t is in the catalog"):
            package._fail_if("removed > 0", [report])
        return
    package._fail_if("rows_after < rows_before", [report])
    said = "cast({} as bigint) as rows_before, cast({} as bigint) as rows_after"
    assert said.format(*asked) in sent[0]


@pytest.mark.parametrize(
    ("schema", "compared"), [("ci", "prod.t"), ("ci_marts", "prod_marts.t"), ("cinema", "prod.t")]
)
def test_a_custom_schema_begins_with_that_of_the_target(macros, schema: str, compared: str) -> None:
    package = macros(
        target=SimpleNamespace(schema="ci"),
        api=SimpleNamespace(
            Relation=SimpleNamespace(create=lambda **names: SimpleNamespace(**names))
        ),
    )
    package._schemas = lambda: []
    nodes = [SimpleNamespace(name="t", alias="t", schema=schema)]
    (report,) = package._diff_schemas(nodes, "prod", "pr_12", {})
    assert (report["before"], report["note"]) == (compared, "in neither schema")
