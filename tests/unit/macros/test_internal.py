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
