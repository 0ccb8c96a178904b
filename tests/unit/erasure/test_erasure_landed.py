"""What a model's code says of its landing files, and which parts of a line may be a key."""

import re
from typing import Any

import pytest

from dbt_delta.erasure.landing import (
    _has_same_records,
    _without,
    equal_contents,
    landed,
    separators,
)
from dbt_delta.erasure.logs import Column, words, words_sql
from tests.unit.macros.rendering import load

CSV = {"folder": "shop/orders", "format": "csv", "separator": ",", "null_value": ""}


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("select 1", None),
        ("{{ dbt_delta.landed_csv('shop/orders', {'id': 'bigint'}) }}", CSV),
        (
            "{{ config(a=1) }}{% do x() %}{{ landed_csv(columns={}, folder='shop/' ~ 'orders') }}",
            CSV,
        ),
        ("{{ landed_csv('shop/orders', {}, 'NA', ';') }}",
         {**CSV, "separator": ";", "null_value": "NA"}),
        (
            "{{ dbt_delta.landed_files('a', 'json', var('columns'), separator='|') }}",
            {**CSV, "folder": "a", "format": "json", "separator": "|"},
        ),
        (
            "{% if x %}{{ landed_csv('shop/orders', {}) }}{% else %}"
            "{{ landed_csv('shop/orders', {'a': 'int'}) }}{% endif %}",
            CSV,
        ),
    ],
)  # fmt: skip
def test_what_a_model_lands(code: str, read: dict[str, str] | None) -> None:
    assert landed(code) == read
    assert landed(code, False) is None
    given = {"folder": "x", "format": "text"}
    assert landed(code, given) == {**CSV, **given}


def test_separators_are_known_without_the_folder() -> None:
    code = "{{ landed_csv(var('a'), {}, separator='~') }}{{ landed_csv('b', {}, separator='||') }}"
    assert separators(code) == ["||", "~"]
    assert separators("{{ landed_files(var('a'), 'json') }}") == [","]
    assert separators("select 1") == separators(code, False) == []
    assert separators(code, {"folder": "a", "format": "csv", "separator": "§"}) == ["§"]
    with pytest.raises(ValueError, match="separator of landed_csv is no constant"):
        separators("{{ landed_csv('a', {}, separator=var('s')) }}")


@pytest.mark.parametrize("separator", ["~", "\x01", "^", "§", "/", "||", ";", " - "])
def test_a_key_is_a_field_of_a_line_with_any_separator(separator: str) -> None:
    line = f"x{separator}Canary, Mara{separator} 4711 {separator}'y'"
    assert {"Canary, Mara", "4711"} <= words(line, [separator])
    assert {"Canary, Mara", "4711"} <= words(
        f'"a"{separator}"4711"{separator}Canary, Mara', ["~", separator]
    )
    column = Column("a", "a", "g", has_words=True, separators=[separator])
    assert "Canary, Mara" in column.parts(line)
    # As Java reads them.
    pattern = re.escape(separator).replace("\\", "\\\\")
    assert f'[\\\\r\\\\n"]|{pattern}' in words_sql("line", [separator])


@pytest.mark.parametrize(
    ("code", "given", "message"),
    [
        ("{{ landed_csv(var('a'), {}) }}", None, "folder of landed_csv is no constant in its code"),
        ("{{ landed_files('a', b, {}) }}", None, "format of landed_files is no constant in its"),
        ("{{ landed_csv(*all) }}", None, "the arguments of landed_csv are not in its code"),
        ("{{ landed_csv('a', **all) }}", None, "the arguments of landed_csv are not in its code"),
        ("{{ landed_csv( }}", None, "its code is no Jinja"),
        ("{{ landed_csv('b', {}) }}{{ landed_csv('a', {}) }}", None, "several calls, of a, b"),
        ("", "shop/orders", "is no mapping with folder and format"),
        ("", {"folder": "a", "format": "csv", "sep": ";"}, "is no mapping with folder and format"),
        ("", {"folder": 5, "format": "csv"}, "has a value that is no text"),
        ("", {"folder": "a", "format": "CSV"}, "has format CSV"),
        ("", {"folder": "a", "format": "csv", "separator": ""}, "separator that cannot be one"),
    ],
)
def test_what_a_model_does_not_say_is_not_guessed(code: str, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        landed(code, given)


def test_lines_of_records_go_and_others_stay_byte_for_byte() -> None:
    text = b"a\r\nb\n\nc\rd\ne"
    assert b"".join(_without(text, [(2, 1)])) == b"a\r\n\nc\rd\ne"
    assert b"".join(_without(text, [(3, 2), (1, 1)])) == b"b\ne"
    assert b"".join(_without(text, [(5, 9)])) == b"a\r\nb\n\nc\rd\n"
    assert b"".join(_without(text + b"\n", [(5, 1)])) == b"a\r\nb\n\nc\rd\n"


@pytest.mark.parametrize(
    "text",
    [
        "x,4711",
        "4711",
        '{"id":4711,"a":1}',
        "(id = '4711')",
        "customer_id: 4711 is not date",
        "a|4711|",
        "a;4711\n",
        "Mara Canary\t4711",
        "x,+4711",
        "x;04711.00",
    ],
)
def test_a_key_is_a_word_or_a_field(text: str) -> None:
    assert "4711" in words(text)
    assert not {"4711"} & words(text.replace("4711", "47110"))
    assert not {"4711"} & words(text.replace("4711", "4711.5"))


def test_lines_go_only_if_the_other_records_stay() -> None:
    pattern = load()._csv_record_pattern(",")
    text = b'1,"open\n4711,a"b\n2,c"\n'
    assert not _has_same_records(text, b'1,"open\n2,c"\n', [(2, 1)], pattern)
    text = b'\xef\xbb\xbfid,note\r\n1,"two\nlines"\r\n4711,"x"\r\n\r\n2,5" wide'
    left = b'\xef\xbb\xbfid,note\r\n1,"two\nlines"\r\n\r\n2,5" wide'
    assert b"".join(_without(text, [(4, 1)])) == left
    assert _has_same_records(text, left, [(4, 1)], pattern)
    assert not _has_same_records(text, left, [(2, 2)], pattern)
    assert _has_same_records(b"a\nb\nc", b"a\nc", [(2, 1)], pattern)


def test_files_that_would_be_equal_are_named() -> None:
    files = [
        {"file": name, "hash": hash, "has_rows": has_rows, "is_copy": is_copy}
        for name, hash, has_rows, is_copy in (
            ("b", "1", True, False),
            ("a", "1", True, False),
            ("copy", "1", True, True),
            ("c", "2", False, False),
            ("d", "2", False, False),
            ("e", "3", True, False),
        )
    ]
    assert equal_contents(files, {}) == ["a", "b"]
    # Also one that has no subject, unless neither has rows.
    assert equal_contents(files, {"2": "u", "3": "v", "4": "w"}) == ["a", "b", "e", "v"]


def test_a_key_with_spaces_or_a_colon_is_a_field_or_a_word() -> None:
    assert {"Mara Canary", "urn:x:1"} <= words("Mara Canary,(urn:x:1)")
    assert "auth0|5f7c" in words("1,auth0|5f7c,x")


def test_a_column_without_words_is_its_whole_value() -> None:
    assert Column("a", "a", "g").parts("x, y") == {"x, y"}
    assert Column("a", "a", "g", has_words=True).parts("x, y") >= {"x", "y"}


def test_the_sql_of_words_keeps_its_backslashes() -> None:
    assert "split(line, '" in words_sql("line")
    assert "\\\\s" in words_sql("line")
