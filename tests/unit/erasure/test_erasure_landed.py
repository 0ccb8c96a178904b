"""What a model's code says of its landing files, and which parts of a line may be a key."""

import re

import pytest

from dbt_delta.erasure.landing import _without, landed
from dbt_delta.erasure.logs import Column, words, words_sql

CSV = {"folder": "shop/orders", "format": "csv", "separator": ","}


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("select 1", []),
        ("{{ dbt_delta.landed_csv('shop/orders', {'id': 'bigint'}) }}", [CSV]),
        (
            "{{ config(a=1) }}{% do x() %}{{ landed_csv(columns={}, folder='shop/' ~ 'orders') }}",
            [CSV],
        ),
        ("{{ landed_csv('shop/orders', {}, '', ';') }}", [{**CSV, "separator": ";"}]),
        (
            "{{ dbt_delta.landed_files('a', 'json', var('columns'), separator='|') }}"
            "{% if x %}{{ dbt_delta.landed_files('b', format='text') }}{% endif %}",
            [
                {"folder": "a", "format": "json", "separator": "|"},
                {"folder": "b", "format": "text", "separator": ","},
            ],
        ),
    ],
)
def test_what_a_model_lands(code: str, reads: list[dict[str, str]]) -> None:
    assert landed(code) == reads


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("{{ landed_csv(var('folder'), {}) }}", "folder of landed_csv is no constant in its code"),
        ("{{ landed_files('a', kind, {}) }}", "format of landed_files is no constant in its code"),
        ("{{ landed_csv(*all) }}", "the arguments of landed_csv are not in its code"),
        ("{{ landed_csv('a', **all) }}", "the arguments of landed_csv are not in its code"),
        ("{{ landed_csv( }}", "its code is no Jinja"),
    ],
)
def test_what_a_model_does_not_say_is_not_guessed(code: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        landed(code)


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
    ],
)
def test_a_key_is_a_word_or_a_field(text: str) -> None:
    assert "4711" in words(text)
    assert not {"4711"} & words(text.replace("4711", "47110"))


def test_a_key_with_spaces_or_a_colon_is_a_field_or_a_word() -> None:
    assert {"Mara Canary", "urn:x:1"} <= words("Mara Canary,(urn:x:1)")


def test_a_column_without_words_is_its_whole_value() -> None:
    assert Column("a", "a", "g").parts("x, y") == {"x, y"}
    assert Column("a", "a", "g", has_words=True).parts("x, y") >= {"x", "y"}


def test_the_sql_of_words_keeps_its_backslashes() -> None:
    assert words_sql("line").count("split(line, '") == 2
    assert "\\\\s" in words_sql("line")
