"""Names and literals as Spark reads them."""

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
