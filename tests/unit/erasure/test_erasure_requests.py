"""A file of requests is read as it is, or refused with its line."""

import re
from pathlib import Path

import pytest

from dbt_delta.erasure import requests

KINDS = {"customer_id": "integer", "email": "text"}


def test_values_are_what_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    text = (
        'note,email,customer_id\r\nx," a, ""b""@x ",007\r\n\r\n,,-9223372036854775808\r\ny,ä,\r\n'
    )
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = requests.read(path, KINDS)
    assert found.types == {"customer_id": "bigint", "email": "string"}
    assert found.rows == [(7, ' a, "b"@x '), (-(2**63), None), (None, "ä")]


def test_without_a_file_there_are_no_requests(tmp_path: Path) -> None:
    found = requests.read(tmp_path / "none.csv", KINDS)
    assert found == ({"customer_id": "bigint", "email": "string"}, [])


def test_a_column_that_is_not_there_has_no_type(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    path.write_text("customer_id\n1\n")
    assert requests.read(path, KINDS) == ({"customer_id": "bigint"}, [(1,)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"customer_id\n1\n1.0\n", "line 3: customer_id is no integer"),
        (b"customer_id\n9223372036854775808\n", "line 2: customer_id is no integer"),
        ("customer_id\n٣\n".encode(), "line 2: customer_id is no integer"),
        (b"customer_id,email\n1\n", "line 2 has 1 values for 2 columns"),
        (b"email,email\na,b\n", "its first line names email twice"),
        (b'email\n"a\n', "cannot be read"),
        (b"email\n\xff\n", "cannot be read"),
    ],
)
def test_what_is_no_request_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "requests.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        requests.read(path, KINDS)
    assert "1.0" not in str(refused.value)
