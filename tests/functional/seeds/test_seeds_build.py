"""A seed's table is built like any other: one commit a change, none without, promises kept."""

import datetime as dt
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from dbt_delta.session.adapter import DeltaAdapter
from tests.functional import tables
from tests.functional.harness import Project, read, session
from tests.functional.seeds.conftest import Write, write_csv

PRICES = "id,price,since\n1,1.50,2024-01-01\n2,,2024-02-01\n"
TWO = "id,Name\n1,a\n2,b\n"
CREATE, REPLACE = "CREATE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"


def details(project: Project, name: str) -> dict[str, Any]:
    return project.sql(f"describe detail {project.relation(name)}")[0].asDict()


def comments(project: Project, name: str) -> dict[str, str]:
    rows = project.sql(f"describe {project.relation(name)}")
    return {row.col_name: row.comment for row in rows}


def messages(project: Project, *arguments: str) -> list[str]:
    return [result.message for result in project.dbt("seed", *arguments).results]


HEADERS = ("id,name\n1,a\n", "id,name,more\n1,a,x\n", "NAME,id\na,1\n", "id,name\n1.5,a\n")
# What CSV files have in each run of dbt seed; a seed is left out of a run of which it says nothing.
RUNS: tuple[dict[str, str], ...] = (
    {
        "prices": PRICES, "headers": HEADERS[0], "empty": "id,name\n", "parquet": TWO,
        "placed": TWO, "located": TWO, "a_view": TWO,
    },
    {
        "prices": PRICES, "headers": HEADERS[1], "empty": "id,name\n", "parquet": TWO + "3,\n",
        "located": TWO + "3,c\n",
    },
    {"prices": PRICES + "3,9.99,2024-03-01\n", "headers": HEADERS[2], "parquet": TWO},
    {"headers": HEADERS[3], "prices": PRICES + "3,9.99,2024-03-01\n"},
)  # fmt: skip


class Seeded:
    """Seeds of one project, and what each run said of them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.messages: dict[str, list[str]] = defaultdict(list)
        self.parquet_rows: list[list[dict[str, Any]]] = []
        project.sql("create schema {schema}")
        project.sql("create view {schema}.a_view as select 1 as id")
        root = f"location_root: {project.path}/x"
        configs = {
            "empty": "column_types: {name: string}",
            "parquet": "file_format: parquet, partition_by: name",
            "placed": f"file_format: parquet, {root}",
            "located": root,
        }
        for number, texts in enumerate(RUNS):
            for name, text in texts.items():
                config = configs.get(name, "") if number == 0 else ""
                write_csv(project, name, text, f"config: {{{config}}}" if config else "")
            if number == 2:
                write_csv(project, "parquet", TWO, "config: {file_format: delta}")
            if number == 3:
                project.sql("delete from {schema}.prices where id = 2")
            self._seed("-s", *texts)
            if number < 2:
                read(f"refresh table {project.relation('parquet')}")
                self.parquet_rows.append(project.rows("parquet"))
            if number == 1:
                found = project.sql("describe extended {schema}.parquet")
                self.parquet = {row.col_name: row.data_type for row in found}
        self._seed("-s", "prices", "--full-refresh")

    def _seed(self, *arguments: str) -> None:
        for result in self.project.dbt("seed", *arguments, check=False).results:
            self.messages[result.node.name].append(result.message)


@pytest.fixture(scope="module")
def seeded(new_shared_project: Callable[[str], Project]) -> Seeded:
    return Seeded(new_shared_project("seeded"))


def test_one_commit_a_change_and_none_without(seeded: Seeded) -> None:
    # New, the same, longer, changed by hand, and with --full-refresh.
    assert seeded.messages["prices"] == [
        "INSERT 2", "unchanged", "INSERT 3", "INSERT 3", "CREATE 3",
    ]  # fmt: skip
    assert tables.operations(seeded.project, "prices") == [
        CREATE, REPLACE, "DELETE", REPLACE, REPLACE,
    ]  # fmt: skip
    first, second = (1, 1.5, dt.date(2024, 1, 1)), (2, None, dt.date(2024, 2, 1))
    third = (3, 9.99, dt.date(2024, 3, 1))
    for version, expected in ((0, [first, second]), (3, [first, second, third])):
        rows = seeded.project.sql(
            f"select * from {{schema}}.prices version as of {version} order by id"
        )
        assert [tuple(row) for row in rows] == expected
    assert [tuple(row.values()) for row in seeded.project.rows("prices")] == expected


def test_columns_follow_the_header(seeded: Seeded) -> None:
    assert tables.version(seeded.project, "headers") == len(HEADERS) - 1
    for number, text in enumerate(HEADERS):
        header, *rows = (line.split(",") for line in text.splitlines())
        found = seeded.project.sql(f"select * from {{schema}}.headers version as of {number}")
        assert found[0].__fields__ == header
        assert [[str(cell) for cell in row] for row in found] == rows


def test_no_rows(seeded: Seeded) -> None:
    assert seeded.project.sql("select * from {schema}.empty") == []
    assert list(comments(seeded.project, "empty")) == ["id", "name"]
    assert seeded.messages["empty"][1:] == ["unchanged"]


def test_other_formats(seeded: Seeded) -> None:
    expected = [{"id": 1, "Name": "a"}, {"id": 2, "Name": "b"}, {"id": 3, "Name": None}]
    assert seeded.parquet_rows == [expected[:2], expected]
    assert seeded.parquet["Provider"] == "parquet"
    # In the end it is one of Delta's.
    assert tables.operations(seeded.project, "parquet") == [CREATE]
    assert seeded.project.rows("parquet") == expected[:2]
    (refused,) = seeded.messages["placed"]
    assert "and location_root cannot be replaced. Use delta," in refused
    assert set(tables.names(seeded.project)) == set(RUNS[0]) - {"placed"}


def test_location_root(seeded: Seeded) -> None:
    history = seeded.project.history("located")
    assert [entry["operation"] for entry in history] == [REPLACE, CREATE]
    location = details(seeded.project, "located")["location"]
    assert location.endswith(f"{seeded.project.path}/x/located")
    assert len(seeded.project.rows("located")) == 3


def test_a_view_is_not_replaced(seeded: Seeded) -> None:
    (refused,) = seeded.messages["a_view"]
    assert "it is a view. Drop it, or rename the seed." in refused
    assert seeded.project.rows("a_view") == [{"id": 1}]


def test_promises(project: Project, csv_file: Write) -> None:
    docs = "persist_docs: {relation: true, columns: true}"
    for name, config in {
        "plain": "tblproperties: {mine: a}",
        "documented": f"{docs}, tblproperties: {{mine: a}}",
        "clustered": "liquid_clustered_by: [NAME]",
        "partitioned": "partition_by: name",
        "contracted": "contract: {enforced: true}",
        "constrained": "persist_constraints: true",
        "spaced": "quote_columns: false, tblproperties: {delta.columnMapping.mode: name}",
    }.items():
        text = TWO.replace("Name", "a name") if name == "spaced" else TWO
        columns = (
            """columns: [
                {name: ID, data_type: bigint, description: "the key's",
                 meta: {constraint: not_null}, constraints: [{type: not_null}]},
                {name: name, data_type: string, description: b}]"""
            if name != "spaced"
            else "columns: [{name: id}]"
        )
        meta = "meta: {constraints: [{name: positive, condition: 'id > 0'}]}"
        csv_file(name, text, f'description: "it\'s", {columns}, config: {{{config}, {meta}}}')
    project.dbt("seed")
    assert set(messages(project)) == {"unchanged"}
    names = (
        "plain",
        "documented",
        "clustered",
        "partitioned",
        "contracted",
        "constrained",
        "spaced",
    )
    assert {name: tables.operations(project, name) for name in names} == {
        name: [CREATE] for name in names
    }

    assert details(project, "documented")["properties"]["mine"] == "a"
    assert comments(project, "documented") == {"id": "the key's", "Name": "b"}
    rows = project.sql("describe extended {schema}.documented")
    assert next(row.data_type for row in rows if row.col_name == "Comment") == "it's"
    assert comments(project, "plain") == {"id": None, "Name": None}
    assert details(project, "clustered")["clusteringColumns"] == ["Name"]
    assert details(project, "partitioned")["partitionColumns"] == ["Name"]
    checks = details(project, "constrained")["properties"]
    assert checks["delta.constraints.positive"] == "id > 0"
    assert checks["delta.constraints.not_null_id"] == "`ID` is not null"
    assert "delta.constraints.not_null_id" in details(project, "contracted")["properties"]
    assert list(project.rows("spaced")[0]) == ["id", "a name"]

    # What the YAML promises anew comes with the rows, in one commit.
    for old, new in (("tblproperties: {mine: a}", "tblproperties: {mine: b}"), ("key's", "key")):
        path = project.path / "seeds" / "documented.yml"
        path.write_text(path.read_text().replace(old, new))
    csv_file("constrained", TWO + "-3,c\n")
    ran = project.dbt("seed", "-s", "documented", "constrained", check=False)
    assert ran.result("documented").message == "INSERT 2"
    assert tables.operations(project, "documented") == [CREATE, REPLACE]
    assert details(project, "documented")["properties"]["mine"] == "b"
    assert comments(project, "documented")["id"] == "the key"
    assert "CHECK constraint positive (id > 0) violated" in ran.result("constrained").message
    assert tables.operations(project, "constrained") == [CREATE]


def test_configuration_of_dbt(project: Project, csv_file: Write) -> None:
    project.configure(
        seeds={
            "+file_format": "delta",
            "+pre-hook": "create table if not exists {{ this.schema }}.log (entry string)",
            "+post-hook": "insert into {{ this.schema }}.log values ('{{ this.identifier }}')",
            "consumer": {
                "off": {"+enabled": False},
                "semicolons": {"+delimiter": ";", "+alias": "other", "+tags": ["mine"]},
                "elsewhere": {"+schema": "elsewhere", "+quote_columns": True},
            },
        }
    )
    csv_file("off", "id\n1\n")
    csv_file("semicolons", "id;name\n1;a,b\n")
    csv_file("elsewhere", "id,order\n1,2\n")
    project.write({"models/m.sql": "select * from {{ ref('semicolons') }}"})
    project.write({"models/m.yml": "models: [{name: m, columns: [{name: id, tests: [unique]}]}]"})
    built = project.dbt("build", threads=1)
    assert [result.node.name for result in built.results] == [
        "elsewhere", "semicolons", "m", "unique_m_id",
    ]  # fmt: skip
    assert project.rows("m") == [{"id": 1, "name": "a,b"}]
    assert project.rows(f"{project.schema}_elsewhere.elsewhere") == [{"id": 1, "order": 2}]
    assert [row["entry"] for row in project.rows("log")] == ["other"]
    shown = project.dbt("seed", "-s", "tag:mine", "--show")
    assert [result.node.name for result in shown.results] == ["semicolons"]
    assert "Random sample of table: " in shown.output
    assert [tuple(row) for row in shown.results[0].agate_table.rows] == [("1", "a,b")]


@pytest.fixture(params=["plugin", "no plugin"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who reads the file: the plugin, or dbt where the plugin is not."""
    session()
    if request.param == "no plugin":
        without = DeltaAdapter._available_ - {"dbt_delta_seed"}
        monkeypatch.setattr(DeltaAdapter, "_available_", without)
    return request.param


def test_many_rows_come_in_chunks(project: Project, csv_file: Write, reader: str) -> None:
    wide, count = "x" * 1_000, 4_000
    rows = [f"{n},{wide}{n},{n}.25,2024-01-01,,true" for n in range(count)]
    csv_file("big", "\n".join(["id,text,amount,day,nothing,flag", *rows, ""]))
    ran = project.dbt("seed")
    found = project.sql(
        "select count(*) as n, count(distinct id) as ids, sum(amount) as amount, "
        f"count_if(text = '{wide}' || id) as texts, count(nothing) as nothing, "
        "count_if(flag) as flags, max(day) as day from {schema}.big"
    )[0]
    total = sum(range(count)) + count / 4
    assert tuple(found) == (count, count, total, count, 0, count, dt.date(2024, 1, 1))
    assert sum(s.startswith("declare or replace variable") for s in ran.statements) > 4
    # The log has the beginning of each.
    assert max(map(len, ran.statements)) < 5_000
    assert messages(project) == ["unchanged"]
    assert tables.operations(project, "big") == [CREATE]


@pytest.mark.long
def test_a_reader_sees_every_version_whole(project: Project, csv_file: Write) -> None:
    csv_file("s", "id\n" + "1\n" * 500)
    project.dbt("seed")
    seen, done = set(), threading.Event()
    failures: list[Exception] = []

    def look() -> None:
        spark = session().newSession()
        while not done.is_set():
            try:
                row = spark.sql(
                    f"select count(*), min(id), max(id) from {project.schema}.s"
                ).first()
                seen.add(tuple(row))
            except Exception as error:
                failures.append(error)
            done.wait(0.02)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for version in range(2, 5):
            csv_file("s", "id\n" + f"{version}\n" * 500)
            project.dbt("seed", *(["--full-refresh"] if version == 3 else []))
    finally:
        done.set()
        thread.join()
    assert not failures
    assert seen <= {(500, version, version) for version in range(1, 5)}
    assert len(seen) > 1


def test_a_seed_of_an_installed_package(project: Project, csv_file: Write) -> None:
    package = project.path / "local_package"
    for name, text in {
        "dbt_project.yml": "name: other\nversion: 1.0.0\n",
        "seeds/theirs.csv": "id\n1\n",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    installed = project.path / "packages"
    installed.mkdir()
    (installed / "other").symlink_to(package)
    for entry in (project.path / "dbt_packages").iterdir():
        (installed / entry.name).symlink_to(entry)
    project.configure(**{"packages-install-path": "packages"})
    project.write({"packages.yml": "packages: [{local: local_package}, {local: x}]"})
    csv_file("ours", "id\n2\n")
    project.dbt("seed")
    assert (project.rows("theirs"), project.rows("ours")) == ([{"id": 1}], [{"id": 2}])
