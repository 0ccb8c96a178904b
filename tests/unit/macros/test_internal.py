"""Names and literals as Spark reads them; which table a name means."""

from types import SimpleNamespace

import pytest


@pytest.mark.parametrize(
    ("name", "quoted"), [("id", "`id`"), ("a b", "`a b`"), ("a`b", "`a``b`"), ("order", "`order`")]
)
def test_quoted(macros, name: str, quoted: str) -> None:
    assert macros()._quoted(name) == quoted


@pytest.mark.parametrize(
    ("text", "literal"),
    [("a", "'a'"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'"), (7, "'7'"), ("${a}", r"'\u0024{a}'")],
)
def test_literal(macros, text: object, literal: str) -> None:
    assert macros()._literal(text) == literal


@pytest.mark.parametrize(
    ("sql", "inner"),
    [
        ("select 1;", "select 1\n"),
        ("select 1 ; -- done\n;", "select 1\n"),
        ("select ';' as a -- b", "select ';' as a\n"),
        ("select `a;--` from b /* c */", "select `a;--` from b\n"),
        ("select 'it\\'s; -- ' ;", "select 'it\\'s; -- '\n"),
        ("select a - b", "select a - b\n"),
    ],
)
def test_inner_sql(macros, sql: str, inner: str) -> None:
    assert macros()._inner_sql(sql) == inner


def test_statements(macros) -> None:
    text = "set a = b; select ';' -- one; two\n; /* ; */"
    assert macros()._statements(text) == ["set a = b", "select ';'"]


@pytest.mark.parametrize(
    ("value", "names"),
    [(None, []), ("", []), ("a", ["a"]), (["a", "`b``c`"], ["a", "b`c"])],
)
def test_names(macros, value: object, names: list[str]) -> None:
    assert macros()._names(value) == names


@pytest.mark.parametrize(
    ("name", "table"),
    [("orders", "shop.sales"), ("sales", "old.orders"), ("shop.orders", "shop.orders")],
)
def test_a_models_table_has_its_alias(macros, name: str, table: str) -> None:
    """Another model's table may have the model's name."""
    kind = {"resource_type": "model", "package_name": "p", "config": {"materialized": "table"}}
    nodes = {
        "model.p.orders": {"name": "orders", "schema": "shop", "alias": "sales", **kind},
        "model.p.sales": {"name": "sales", "schema": "old", "alias": "orders", **kind},
    }
    package = macros(
        api=SimpleNamespace(Relation=SimpleNamespace(create=SimpleNamespace)),
        graph={"nodes": nodes},
        project_name="p",
    )
    assert package._bare(package._relation_named(name, "history")) == table
