"""dbt clone: twice, over what is there, of every kind; a clone says whose files it reads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project, read

SOURCES = {
    "models/t.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/i.sql": "{{ config(materialized='incremental', unique_key='id') }} select 2 as id",
    "models/v.sql": "{{ config(materialized='view') }} select 3 as id",
    "models/p.sql": "{{ config(materialized='table', file_format='parquet') }} select 4 as id",
    "seeds/s.csv": "id\n5\n",
    "snapshots/h.sql": """
        {% snapshot h %}
            {{ config(unique_key='id', strategy='check', check_cols=['id']) }}
            select * from {{ ref('t') }}
        {% endsnapshot %}
    """,
}
NAMES = ["h", "i", "p", "s", "t", "v"]


class Cloned:
    """A project whose schema, once built, is cloned into others, one for each test."""

    def __init__(self, project: Project) -> None:
        self.project, self.source = project, project.schema
        project.writes_json = True
        project.write(SOURCES)
        project.dbt("build")
        self.state = project.path / "state"
        (project.path / "target").rename(self.state)

    def into(self, suffix: str) -> None:
        profiles = self.project.path / "profiles.yml"
        schema = f"{self.source}_{suffix}"
        text = profiles.read_text().replace(
            f"schema: {self.project.schema}\n", f"schema: {schema}\n"
        )
        profiles.write_text(text)
        self.project.schema = schema

    def clone(self, *arguments: str, state: Path | None = None, **options: Any) -> Invocation:
        return self.project.dbt("clone", "--state", str(state or self.state), *arguments, **options)

    def ids(self) -> dict[str, list[int]]:
        # Another session keeps the list of a parquet table's files.
        read(f"refresh table {self.project.relation('p')}")
        rows = tables.json_rows(self.project, NAMES)
        return {name: sorted(json.loads(row)["id"] for row in rows[name]) for name in NAMES}

    def property(self, name: str) -> str:
        rows = self.project.sql(f"show tblproperties {self.project.relation(name)}")
        return {row.key: row.value for row in rows}.get("dbt_delta.clone_of", "")


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Cloned:
    return Cloned(new_shared_project("clone"))


@pytest.fixture
def cloned(built: Cloned, request: pytest.FixtureRequest) -> Cloned:
    built.project.write(SOURCES)
    built.into(request.node.name[:20])
    return built


@pytest.mark.long
def test_clone_twice_and_again(cloned: Cloned) -> None:
    expected = {"h": [1], "i": [2], "p": [4], "s": [5], "t": [1], "v": [3]}
    cloned.clone()
    assert cloned.ids() == expected
    for name in ("h", "i", "s", "t"):
        assert cloned.property(name) == f"`{cloned.source}`.`{name}`"
        assert tables.operations(cloned.project, name)[-1] == "CLONE"
    kinds = {row.viewName for row in cloned.project.sql("show views in {schema}")}
    assert kinds == {"v", "p"}
    before = tables.versions(cloned.project, ("h", "i", "s", "t"))

    # Again: all of it is there.
    assert "already exists" in cloned.clone().output
    assert tables.versions(cloned.project, before) == before

    # Its own changes and relations of other kinds go, the source keeps its rows, nothing is left
    # behind.
    cloned.project.sql(f"insert into {cloned.project.relation('i')} values (9)")
    cloned.project.write(
        {
            "models/t.sql": "{{ config(materialized='view') }} select 7 as id",
            "models/v.sql": "{{ config(materialized='table') }} select 7 as id",
        }
    )
    cloned.project.dbt("run", "-s", "t", "v")
    assert cloned.ids() == {**expected, "i": [2, 9], "t": [7], "v": [7]}
    cloned.clone("--full-refresh")
    assert cloned.ids() == expected
    assert sorted(tables.names(cloned.project)) == NAMES

    # A clone of clones names all whose files it reads.
    cloned.project.write(SOURCES)
    cloned.project.dbt("parse")
    state = cloned.project.path / "state2"
    (cloned.project.path / "target").rename(state)
    first = f"`{cloned.project.schema}`.`t` < `{cloned.source}`.`t`"
    cloned.into("dev2")
    cloned.clone("-s", "t", state=state)
    assert cloned.property("t") == first


def test_a_clone_in_the_place_of_a_clone_is_read_anew(cloned: Cloned) -> None:
    """The log of the first one, which Delta has in memory, is not taken for that of the second."""
    for _ in range(2):
        cloned.clone("-s", "i", "--full-refresh")
    for rows in ([2, 2], [2, 2, 2, 2]):
        cloned.project.sql("insert into {schema}.i select * from {schema}.i")
        assert [row["id"] for row in cloned.project.rows("i")] == rows


def test_undo_names_what_a_clone_replaced(cloned: Cloned) -> None:
    cloned.project.write({"models/i.sql": SOURCES["models/i.sql"].replace("2 as id", "8 as id")})
    cloned.project.dbt("run", "-s", "i")
    cloned.clone("-s", "i", "--full-refresh")
    undo = ("run-operation", "undo_run", "--args", "{run: last}")
    refused = cloned.project.dbt(*undo, check=False)
    assert "i replaced a delta table in that run, which cannot be restored" in refused.output
    assert cloned.project.rows("i") == [{"id": 2}]


def test_a_run_on_a_clone_leaves_its_source_alone(cloned: Cloned) -> None:
    cloned.clone("-s", "i")
    cloned.project.write({"models/i.sql": SOURCES["models/i.sql"].replace("2 as id", "8 as id")})
    cloned.project.dbt("run", "-s", "i")
    assert cloned.project.rows("i") == [{"id": 2}, {"id": 8}]
    source = cloned.project.sql(f"select id from `{cloned.source}`.`i`")
    assert [row.id for row in source] == [2]


def test_a_missing_source_is_named(cloned: Cloned) -> None:
    table = f"`{cloned.source}`.`t"
    cloned.project.sql(f"alter table {table}` rename to {table}_away`")
    try:
        refused = cloned.clone("-s", "t", check=False).output
    finally:
        cloned.project.sql(f"alter table {table}_away` rename to {table}`")
    assert f"{cloned.source}.t, which the state names for t, is not in the catalog." in refused


DOCS = """
models:
  - &t
    name: t
    description: all there is
    config: {persist_docs: {relation: true, columns: true}}
    columns: [{name: id, description: a number}]
  - {<<: *t, name: i}
"""


def test_a_clone_has_the_comments_of_its_model(cloned: Cloned) -> None:
    """Also that of a source which has it: a shallow clone leaves it behind."""
    cloned.project.sql(f"comment on table `{cloned.source}`.`i` is 'all there is'")
    cloned.project.write({"models/docs.yml": DOCS})
    cloned.clone("-s", "t", "i")
    cloned.project.write({"models/docs.yml": None})
    for name in ("t", "i"):
        (detail,) = cloned.project.sql(f"describe detail {{schema}}.{name}")
        assert detail.description == "all there is", name
        (column,) = cloned.project.sql(f"describe {{schema}}.{name}")
        assert (column.col_name, column.comment) == ("id", "a number")
