"""landed_csv: every line of every landed file once, whatever the files look like."""

import os
from pathlib import Path

import pytest

from tests.functional.harness import Project

MODEL = """
{{ config(materialized='incremental', incremental_strategy='append') }}
{{ dbt_delta.landed_csv('shop/orders', null_value='NA', columns={
    'id': 'bigint', 'order': 'string', 'amount': 'decimal(9,2)', 'day': 'date',
}) }}
"""
HEADER = "id,order,amount,day\n"


class Landing:
    """A landing folder and the table that is loaded from it."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self.folder = folder / "shop" / "orders"
        self.folder.mkdir(parents=True)
        self.vars = {"dbt_delta_landing": str(folder)}
        project.write({"models/orders.sql": MODEL})

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def load(self, check: bool = True):
        return self.project.dbt("run", vars=self.vars, check=check)

    def good(self) -> list[tuple]:
        found = self.project.sql(
            "select id, `order`, amount, day from {schema}.orders "
            "where _rejected_reason is null order by id, _file"
        )
        return [(r.id, r.order, str(r.amount), str(r.day)) for r in found]

    def rejected(self) -> list[tuple]:
        found = self.project.sql(
            "select _file, _line, _rejected_reason, _rejected_line from {schema}.orders "
            "where _rejected_reason is not null order by _load_id, _file, _line"
        )
        return [tuple(row) for row in found]


@pytest.fixture
def landing(project: Project, tmp_path: Path) -> Landing:
    return Landing(project, tmp_path / "landing")


def test_each_file_is_loaded_once_in_one_commit(landing: Landing) -> None:
    landing.file("1.csv", HEADER + "1,a,1.50,2013-01-01\n")
    landing.load()
    assert landing.good() == [(1, "a", "1.50", "2013-01-01")]
    assert landing.project.version("orders") == 0

    landing.load()
    assert landing.project.version("orders") == 0, "nothing new, and yet a commit"

    landing.file("2.csv", HEADER + "2,b,2.00,2013-01-02\n3,c,3.00,2013-01-02\n")
    landing.load()
    assert [row[0] for row in landing.good()] == [1, 2, 3]
    history = landing.project.history("orders")
    assert [h["version"] for h in history] == [1, 0]
    assert history[0]["operationMetrics"]["numOutputRows"] == "2"
    loads = landing.project.sql("select distinct _load_id from {schema}.orders order by 1")
    assert [row[0] for row in loads] == [1, 2]


def test_bad_lines_are_kept_aside_with_file_line_and_reason(landing: Landing) -> None:
    landing.file(
        "bad.csv",
        HEADER + "1,a,1.00,2013-01-01\n2,b\n3,c,3.00,2013-01-01,extra\nx,d,4.00,2013-13-01\n"
        "\n5,e,5.00,2013-01-0",
    )
    landing.load()
    assert landing.good() == [(1, "a", "1.00", "2013-01-01")]
    assert landing.rejected() == [
        ("bad.csv", 3, "expected 4 fields, found 2", "2,b"),
        ("bad.csv", 4, "expected 4 fields, found 5", "3,c,3.00,2013-01-01,extra"),
        ("bad.csv", 5, "id: x is not bigint; day: 2013-13-01 is not date", "x,d,4.00,2013-13-01"),
        ("bad.csv", 7, "day: 2013-01-0 is not date", "5,e,5.00,2013-01-0"),
    ]


def test_files_without_rows_say_why_once(landing: Landing) -> None:
    landing.file("empty.csv", "\n")
    landing.file("zero.csv", "")  # no bytes: Spark does not list it, and there is nothing to lose
    landing.file("header.csv", HEADER)
    landing.file("other.csv", "id,amount\n1,1.00\n")
    landing.load()
    assert landing.good() == []
    assert landing.rejected() == [
        ("empty.csv", 0, "the file is empty", None),
        ("header.csv", 0, "the file has a header and no lines", None),
        ("other.csv", 0, "the header is id,amount; expected id,order,amount,day", None),
    ]
    landing.load()
    assert landing.project.version("orders") == 0


def test_the_same_content_is_loaded_once(landing: Landing) -> None:
    text = HEADER + "1,a,1.00,2013-01-01\n"
    first = landing.file("a.csv", text)
    twin = landing.file("b.csv", text)
    os.utime(twin, (first.stat().st_atime, first.stat().st_mtime + 5))
    landing.load()
    assert len(landing.good()) == 1
    assert landing.rejected() == [("b.csv", 0, "same content as a.csv", None)]

    first.rename(landing.folder / "renamed.csv")
    landing.load()
    assert len(landing.good()) == 1
    assert landing.rejected()[1:] == [("renamed.csv", 0, "same content as a.csv", None)]
    landing.load()
    assert landing.project.version("orders") == 1


def test_a_name_delivered_again_with_other_content_is_a_new_delivery(landing: Landing) -> None:
    path = landing.file("a.csv", HEADER + "1,a,1.00,2013-01-01\n")
    landing.load()
    path.write_text(HEADER + "1,a,9.00,2013-01-01\n")
    landing.load()
    assert sorted(row[2] for row in landing.good()) == ["1.00", "9.00"]


def test_text_is_exact(landing: Landing) -> None:
    landing.file(
        "text.csv",
        "\ufeff" + HEADER.replace("\n", "\r\n") + '1,"a, ""b""",1.00,2013-01-01\r\n'
        "2,it's \\ here,NA,2013-01-01\r\n3,,-0.01,NA\r\n",
    )
    landing.load()
    assert landing.rejected() == []
    assert landing.good() == [
        (1, 'a, "b"', "1.00", "2013-01-01"),
        (2, "it's \\ here", "None", "2013-01-01"),
        (3, None, "-0.01", "None"),
    ]


def test_files_in_the_making_are_not_seen(landing: Landing) -> None:
    landing.file(".a.csv", HEADER + "1,a,1.00,2013-01-01\n")
    landing.file("_b.csv", HEADER + "2,b,2.00,2013-01-01\n")
    landing.load()
    assert landing.project.rows("orders") == []


def test_a_missing_folder_is_named_with_the_way_out(landing: Landing) -> None:
    landing.folder.rmdir()
    run = landing.load(check=False)
    assert not run.success
    assert f"found no landing folder {landing.folder}. Land the data first" in run.output


def test_columns_must_be_a_mapping(landing: Landing) -> None:
    model = "{{ dbt_delta.landed_csv('shop/orders', ['id']) }}"
    landing.project.write({"models/orders.sql": model})
    run = landing.load(check=False)
    assert not run.success
    assert "dbt_delta.landed_csv needs columns as a mapping of name to type" in run.output
