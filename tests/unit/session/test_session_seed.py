"""Reading CSV files: rows, lines, types, and what is refused."""

import csv
import io
import json

import pytest
from dbt_common.exceptions import CompilationError
from hypothesis import given
from hypothesis import strategies as st

from dbt_delta.session.seed import CHUNK, chunks, infer, read


def test_lines_are_those_of_the_file() -> None:
    data = 'id,t\r\n1,"a\r\nb"\r\n\r\n2,c\r\n3,"d\n\ne"\r\n4,f'.encode("utf-8-sig")
    header, rows, lines = read(data, ",", "s.csv")
    assert header == ["id", "t"]
    assert rows == [["1", "a\r\nb"], ["2", "c"], ["3", "d\n\ne"], ["4", "f"]]
    assert lines == [2, 5, 6, 9]


@given(
    st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5),
    st.sampled_from([",", ";", "|", "\t", " "]),
)
def test_what_python_wrote_is_read(rows: list[list[str]], delimiter: str) -> None:
    rows = [[cell.encode("utf-8", "ignore").decode().replace("\0", "") for cell in r] for r in rows]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([["a", "b"], *rows])
    assert read(out.getvalue().encode(), delimiter, "s.csv")[1] == rows


@pytest.mark.parametrize(
    ("data", "delimiter", "said"),
    [
        (b"", ",", "s.csv is empty."),
        (b"\n\n", ",", "s.csv is empty."),
        (b"a,b\n1\n", ",", "s.csv, line 2: 1 cells, but the header has 2 columns."),
        (b'a,b\n1,"x\n', ",", "s.csv, line 2: a quote opens here that is never closed."),
        (b'a,b\n1,"x"y\n', ",", "s.csv, line 2: text follows a closing quote;"),
        (b"a,b\n1," + b"x" * 200_000, ",", "s.csv, line 2: a cell is longer than 131072"),
        (b"\na,A\n", ",", "s.csv, line 2: columns 1 and 2 have one name, 'a' and 'A':"),
        (b"a, \n", ",", "s.csv, line 1: column 2 has no name."),
        (b"a\tb\n", ",", "s.csv, line 1: one column, named 'a\tb'. Is '\\t' the delimiter,"),
        (b"a,b;c\n1,2;3\n", ",", "s.csv, line 1: column 2 is named 'b;c'. The header mixes"),
        (b"a,b;c\n1,2,3\n", ",", "the delimiters ',' and ';'. Use one, or"),
        (b"a\n", "", "s.csv: delimiter is ''; it must be one character"),
        (b"a\n\xff\n", ",", "s.csv, line 2: byte 0xff is not valid UTF-8."),
    ],
)
def test_refused(data: bytes, delimiter: str, said: str) -> None:
    with pytest.raises(CompilationError) as raised:
        read(data, delimiter, "s.csv")
    assert said in str(raised.value)


def test_a_name_may_hold_another_delimiter() -> None:
    assert read(b"a,b;c\n1,2\n", ",", "s.csv")[0] == ["a", "b;c"]


@pytest.mark.parametrize(
    ("cells", "kind", "found"),
    [
        (["1", "-0", None, " 2 "], "bigint", ["1", "-0", None, "2"]),
        (["1.0", "5.", "1e2"], "bigint", ["1", "5", "100"]),
        (["9223372036854775807"], "bigint", ["9223372036854775807"]),
        (["9223372036854775808"], "decimal(19,0)", ["9223372036854775808"]),
        (["0.1", "1e-3"], "double", ["0.1", "1e-3"]),
        (["0.10000000000000001"], "decimal(18,17)", ["0.10000000000000001"]),
        (["12.5", "123456789012345678.12"], "decimal(20,2)", ["12.5", "123456789012345678.12"]),
        (["1" + "0" * 40], "double", ["1" + "0" * 40]),
        (["1" * 40], "string", ["1" * 40]),
        (["1", "007"], "string", ["1", "007"]),
        (["1", "x"], "string", ["1", "x"]),
        (["2024-02-29", "2024-3-1"], "date", ["2024-02-29", "2024-03-01"]),
        (["2023-02-29"], "string", ["2023-02-29"]),
        (["2024-01-01 1:2:3"], "timestamp", ["2024-01-01T01:02:03"]),
        (["2024-01-01T10:00-0530"], "timestamp", ["2024-01-01T10:00:00-05:30"]),
        (["2024-01-01T10:00:00.5+02"], "timestamp", ["2024-01-01T10:00:00.500000+02:00"]),
        (["2024-01-01T10:00:00.1234567"], "string", ["2024-01-01T10:00:00.1234567"]),
        (["2024-01-01T10:00:00+25:00"], "string", ["2024-01-01T10:00:00+25:00"]),
        (["2024-01-01", "2024-01-01 00:00:00"], "string", ["2024-01-01", "2024-01-01 00:00:00"]),
        (["True", "FALSE"], "boolean", ["true", "false"]),
        (["yes", "no"], "string", ["yes", "no"]),
        ([None, None], "bigint", [None, None]),
    ],
)
def test_inferred(cells: list[str | None], kind: str, found: list[str | None]) -> None:
    assert infer(cells) == (kind, found)


def test_chunks_hold_all_rows_in_order() -> None:
    rows = [(str(n), "x" * 1000, None) for n in range(3000)]
    texts = list(chunks(rows))
    assert len(texts) == 4
    assert max(map(len, texts)) < CHUNK + 10_000
    assert [tuple(row) for text in texts for row in json.loads(text)] == rows
    assert list(chunks([])) == ["[]"]
