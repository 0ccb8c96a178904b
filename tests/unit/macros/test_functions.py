"""Statements that create functions, and what is refused before."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

FUNCTION = {
    "name": "price",
    "unique_id": "function.shop.price",
    "description": "",
    "arguments": [{"name": "amount", "data_type": "float"}],
    "returns": {"data_type": "float"},
    "config": {},
    "compiled_code": "select amount * 2",
}


def relation(name: str = "price") -> SimpleNamespace:
    return SimpleNamespace(schema="shop", identifier=name)


def test_a_plain_function(macros) -> None:
    sql = macros().get_create_function_sql(relation(), FUNCTION)
    assert sql.split("\n") == [
        "CREATE OR REPLACE FUNCTION `shop`.`price` (`amount` float)",
        "RETURNS float",
        "LANGUAGE SQL",
        "RETURN",
        "select amount * 2",
        "",
    ]


def test_all_that_a_function_may_say(macros) -> None:
    arguments = [
        {"name": "a b", "data_type": "int", "description": "it's", "default_value": None},
        {"name": "n", "data_type": "int", "description": "", "default_value": 0},
    ]
    found = {
        **FUNCTION,
        "arguments": arguments,
        "description": "Twice.",
        "config": {"volatility": "non-deterministic"},
        "compiled_code": "n * 2 ; -- doubled\n",
    }
    sql = macros().get_create_function_sql(relation(), found)
    assert r"(`a b` int COMMENT 'it\'s', `n` int DEFAULT 0)" in sql
    assert "\nNOT DETERMINISTIC\nCOMMENT 'Twice.'\nRETURN\nn * 2\n" in sql
    sql = macros().get_create_function_sql(
        relation(), {**found, "config": {"volatility": "deterministic"}}
    )
    assert "\nDETERMINISTIC\n" in sql


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("a-b", {}, "cannot keep a function with the name 'a-b'"),
        ("größe", {}, "Use letters, digits and _"),
        ("price", {"returns": {"data_type": "VARCHAR(3)"}}, "its result is VARCHAR.3., which no"),
        ("price", {"arguments": [{"name": "a", "data_type": "char(1)"}]}, "argument a is char"),
        ("price", {"config": {"volatility": "stable"}}, "volatility is stable"),
    ],
)
def test_refusals(macros, name: str, change: dict[str, Any], message: str) -> None:
    package = macros(graph=SimpleNamespace(functions={}))
    with pytest.raises(CompilationError, match=message):
        package._check_function(relation(name), {**FUNCTION, **change})


def test_two_functions_of_one_name_are_refused(macros) -> None:
    """Spark has functions in lower case, and the one that comes last would stay."""
    other = {"unique_id": "function.other.price", "schema": "Shop", "alias": "PRICE"}
    own = {**other, "unique_id": FUNCTION["unique_id"]}
    for change, is_refused in (({}, True), ({"alias": "cost"}, False), ({"schema": "b"}, False)):
        functions = {"own": own, "other": {**other, **change}}
        package = macros(graph=SimpleNamespace(functions=functions))
        if is_refused:
            with pytest.raises(CompilationError, match=r"other\.price has its name"):
                package._check_function(relation(), FUNCTION)
        else:
            package._check_function(relation(), FUNCTION)


@pytest.mark.parametrize("kind", ["scalar_function_python", "aggregate_function_python"])
def test_python_is_refused(macros, kind: str) -> None:
    package = macros(model=SimpleNamespace(name="price"))
    with pytest.raises(CompilationError, match="function price is in Python; Spark's catalog"):
        getattr(package, f"spark__{kind}")(relation())
    with pytest.raises(CompilationError, match="price is an aggregate"):
        package.spark__aggregate_function_sql(relation())
