"""landed_csv: every line of every landed file once, whatever the files look like."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
{{{{ dbt_delta.landed_csv('shop/{name}', null_value='NA', columns={{
    'id': 'bigint', 'order': 'string', 'amount': 'decimal(9,2)', 'day': 'date',
}}) }}}}
"""
HEADER = "id,order,amount,day\n"
FOLDERS = ("orders", "lines", "deliveries", "making")


class Landing:
    """Landing folders and the tables that are loaded from them."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.folder = folder / "shop"
        self.vars = {"dbt_delta_landing": str(folder)}
        for name in FOLDERS:
            (self.folder / name).mkdir(parents=True)
        project.write(
            {f"models/{name}.sql": MODEL.format(name=name) for name in (*FOLDERS, "missing")}
        )

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def load(self, *names: str, check: bool = True) -> Invocation:
        return self.project.dbt("run", "-s", *names, vars=self.vars, check=check)

    def good(self, table: str) -> list[tuple]:
        found = self.project.sql(
            f"select _load_id, id, `order`, amount, day from {{schema}}.{table} "
            "where _rejected_reason is null order by id, _load_id"
        )
        return [(r._load_id, r.id, r.order, str(r.amount), str(r.day)) for r in found]

    def rejected(self, table: str) -> list[tuple]:
        found = self.project.sql(
            "select _load_id, _file, _line, _rejected_reason, _rejected_line "
            f"from {{schema}}.{table} "
            "where _rejected_reason is not null order by _load_id, _file, _line"
        )
        return [tuple(row) for row in found]


@pytest.fixture(scope="module")
def loaded(
    new_shared_project: Callable[[str], Project], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Landing, Invocation]:
    """What was loaded in three runs, and the first of them."""
    landing = Landing(new_shared_project("landed"), tmp_path_factory.mktemp("landing"))
    landing.file("orders/1.csv", HEADER + "1,a,1.50,2013-01-01\n")
    landing.file("orders/empty.csv", "\n")
    # No bytes: Spark does not list it, and there is nothing to lose.
    landing.file("orders/zero.csv", "")
    landing.file("orders/header.csv", HEADER)
    landing.file("orders/other.csv", "id,amount\n1,1.00\n")
    landing.file(
        "lines/bad.csv",
        HEADER + "1,a,1.00,2013-01-01\n2,b\n3,c,3.00,2013-01-01,extra\nx,d,4.00,2013-13-01\n"
        "\n5,e,5.00,2013-01-0",
    )
    landing.file(
        "lines/text.csv",
        "\ufeff" + HEADER.replace("\n", "\r\n") + '11,"a, ""b""",1.00,2013-01-01\r\n'
        "12,it's \\ here,NA,2013-01-01\r\n13,,-0.01,NA\r\n",
    )
    one = landing.file("deliveries/a.csv", HEADER + "1,a,1.00,2013-01-01\n")
    twin = landing.file("deliveries/b.csv", one.read_text())
    os.utime(twin, (one.stat().st_atime, one.stat().st_mtime + 5))
    again = landing.file("deliveries/c.csv", HEADER + "2,a,1.00,2013-01-01\n")
    landing.file("making/.a.csv", HEADER + "1,a,1.00,2013-01-01\n")
    landing.file("making/_b.csv", HEADER + "2,b,2.00,2013-01-01\n")
    run = landing.load(*FOLDERS, "missing", check=False)

    one.rename(one.with_name("renamed.csv"))
    again.write_text(HEADER + "2,a,9.00,2013-01-01\n")
    landing.load("orders", "deliveries")

    landing.file("orders/2.csv", HEADER + "2,b,2.00,2013-01-02\n3,c,3.00,2013-01-02\n")
    landing.load("orders", "deliveries")
    return landing, run


@pytest.fixture
def landing(loaded: tuple[Landing, Invocation]) -> Landing:
    return loaded[0]


def test_each_file_is_loaded_once_in_one_commit(landing: Landing) -> None:
    assert landing.good("orders") == [
        (1, 1, "a", "1.50", "2013-01-01"),
        (2, 2, "b", "2.00", "2013-01-02"),
        (2, 3, "c", "3.00", "2013-01-02"),
    ]
    commits = tables.commits(landing.project, "orders")
    assert len(commits) == 2, "of the three runs the second has nothing new to commit"
    assert commits[1]["operationMetrics"]["numOutputRows"] == "2"


def test_files_without_rows_say_why_once(landing: Landing) -> None:
    assert landing.rejected("orders") == [
        (1, "empty.csv", 0, "the file is empty", None),
        (1, "header.csv", 0, "the file has a header and no lines", None),
        (1, "other.csv", 0, "the header is id,amount; expected id,order,amount,day", None),
    ]


def test_bad_lines_are_kept_aside_with_file_line_and_reason(landing: Landing) -> None:
    assert landing.rejected("lines") == [
        (1, "bad.csv", 3, "expected 4 fields, found 2", "2,b"),
        (1, "bad.csv", 4, "expected 4 fields, found 5", "3,c,3.00,2013-01-01,extra"),
        (
            *(1, "bad.csv", 5, "id: x is not bigint; day: 2013-13-01 is not date"),
            "x,d,4.00,2013-13-01",
        ),
        (1, "bad.csv", 7, "day: 2013-01-0 is not date", "5,e,5.00,2013-01-0"),
    ]


def test_text_is_exact(landing: Landing) -> None:
    assert landing.good("lines") == [
        (1, 1, "a", "1.00", "2013-01-01"),
        (1, 11, 'a, "b"', "1.00", "2013-01-01"),
        (1, 12, "it's \\ here", "None", "2013-01-01"),
        (1, 13, None, "-0.01", "None"),
    ]


def test_the_same_content_is_loaded_once_and_a_new_delivery_of_a_name_too(
    landing: Landing,
) -> None:
    assert landing.good("deliveries") == [
        (1, 1, "a", "1.00", "2013-01-01"),
        (1, 2, "a", "1.00", "2013-01-01"),
        (2, 2, "a", "9.00", "2013-01-01"),
    ]
    assert landing.rejected("deliveries") == [
        (1, "b.csv", 0, "same content as a.csv", None),
        (2, "renamed.csv", 0, "same content as a.csv", None),
    ]
    assert tables.version(landing.project, "deliveries") == 1


def test_files_in_the_making_are_not_seen(landing: Landing) -> None:
    assert landing.project.rows("making") == []


def test_a_missing_folder_is_named_with_the_way_out(loaded: tuple[Landing, Invocation]) -> None:
    landing, run = loaded
    failed = {result.node.name for result in run.results if result.status != "success"}
    assert failed == {"missing"}
    missing = landing.folder / "missing"
    assert f"found no landing folder {missing}. Land the data first" in run.output


TYPED = """
{{ config(materialized='incremental', incremental_strategy='append') }}
{{ dbt_delta.landed_csv('shop/typed', columns={
    'id': 'bigint', 'name': 'string', 'amount': 'decimal(9,2)', 'day': 'date', 'x': 'double',
    'at': 'timestamp', 'here': 'timestamp_ntz',
}) }}
"""
GOOD = [
    "1,a,1.50,2013-01-01,1e3,2013-01-01 10:00:00.123456,2013-01-01 10:00",
    "2,\ufffd,-1.500,2013-1-1,-.5,2013-01-01T10:00:00Z,2013-01-01T10:00:00.5",
    "3," + '""' * 3000 + ",.5,2013-01-01,NaN,2013-01-01 10:00:00.1234560,2013-01-01",
    '4,"half, 1\r\n\n5,a,1 and\rthe ""other"" half\n",1,2013-01-01,1,2013-01-01,2013-01-01',
]
# What Spark would round, cut or take for a number.
BAD = {
    "3," + "," * 25_000: "expected 7 fields, found 25002",
    '3,"a\0""b",1,2013-01-01,1,2013-01-01,2013-01-01': "a NUL character",
    "4,a,1.005,2013-01-01,1,2013-01-01,2013-01-01": "amount: 1.005 is not decimal(9,2)",
    "5,a,1,2013-01-01 10:00,1,2013-01-01,2013-01-01": "day: 2013-01-01 10:00 is not date",
    "6,a,1,2013-01-01,1d,2013-01-01,2013-01-01": "x: 1d is not double",
    "7,a,1,2013-01-01,0x1p3,2013-01-01,2013-01-01": "x: 0x1p3 is not double",
    "8,a,1,2013-01-01,1,2013-01-01 10:00:00.1234567,2013-01-01": (
        "at: 2013-01-01 10:00:00.1234567 is not timestamp"
    ),
    "9,a,1,2013-01-01,1,2013-01-01,2013-01-01 10:00+02:00": (
        "here: 2013-01-01 10:00+02:00 is not timestamp_ntz"
    ),
    "10," + '"' * 6001 + ",1,2013-01-01,1,2013-01-01,2013-01-01": (
        "a quotation mark is not closed on its line"
    ),
    '11,"half of a line,1,2013-01-01,1,2013-01-01,2013-01-01': (
        "a quotation mark is not closed on its line"
    ),
}


def test_no_value_is_altered_on_its_way_in(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "landing" / "shop" / "typed"
    folder.mkdir(parents=True)
    header = "id,name,amount,day,x,at,here\n"
    (folder / "valid.csv").write_bytes((header + "\n".join([*GOOD, *BAD]) + "\n").encode())
    (folder / "day=1").mkdir()
    (folder / "day=1" / "below.csv").write_text(header + GOOD[0] + "\n")
    latin = b"12,caf\xe9,1,2013-01-01,1,2013-01-01,2013-01-01\n"
    plain = b"13,cafe,1,2013-01-01,1,2013-01-01,2013-01-01\n"
    (folder / "latin.csv").write_bytes(header.encode() + latin + plain)
    project.write({"models/typed.sql": TYPED})
    project.dbt("run", vars={"dbt_delta_landing": str(tmp_path / "landing")})
    rows = project.sql("select * from {schema}.typed order by _file, _line")
    assert [(row.id, row._line) for row in rows if row._rejected_reason is None] == [
        (13, 3),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
    ]
    texts = ["\ufffd", '"' * 2999, 'half, 1\r\n\n5,a,1 and\rthe "other" half\n']
    assert [row.name for row in rows if row.id in (2, 3, 4)] == texts
    assert min(row._line for row in rows if row._file == "valid.csv" and row._rejected_reason) == 9
    assert [str(row.amount) for row in rows if row.id] == ["1.00", "1.50", "-1.50", "0.50", "1.00"]
    reasons = [row._rejected_reason for row in rows if row._rejected_reason]
    assert reasons == ["bytes that are not valid UTF-8", *BAD.values()]
