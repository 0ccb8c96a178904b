"""Folders that a killed CREATE TABLE AS leaves: its files, and nothing that the catalog knows."""

import shutil
from pathlib import Path

import pytest

from tests.functional.harness import Project

TABLE = "{{ config(materialized='table') }} select 1 as id"
STAGED = "{{ config(materialized='incremental', unique_key='id', stage='table') }} select 1 as id"
SNAPSHOT = """
{% snapshot h %}{{ config(unique_key='id', strategy='check', check_cols='all') }}
select 1 as id
{% endsnapshot %}
"""
SEED = "id\n1\n"
NAMES = ("m", "i", "h", "s")


def forget(project: Project, name: str) -> Path:
    """Leaves a table's folder where it is, and the catalog without it."""
    folder = project.warehouse / name
    aside = folder.with_name(f"{name}_aside")
    shutil.copytree(folder, aside)
    project.sql(f"drop table {project.relation(name)}")
    shutil.rmtree(folder, ignore_errors=True)
    aside.rename(folder)
    return folder


def build(project: Project) -> None:
    project.write(
        {
            "models/m.sql": TABLE,
            "models/i.sql": STAGED,
            "snapshots/h.sql": SNAPSHOT,
            "seeds/s.csv": SEED,
        }
    )
    project.dbt("build")


def test_a_first_build_that_was_killed_is_built_again(project: Project) -> None:
    build(project)
    for committed in (True, False):
        for name in NAMES:
            folder = forget(project, name)
            if not committed:
                shutil.rmtree(folder / "_delta_log")
        project.dbt("build")
        for name in NAMES:
            assert [row["id"] for row in project.rows(name)] == [1], name
            assert project.version(name) == (1 if committed else 0)


def test_a_table_that_the_catalog_lost_is_not_built_over(project: Project) -> None:
    build(project)
    project.sql(f"insert into {project.relation('i')} values (2)")
    folder = forget(project, "i")
    before = sorted(folder.rglob("*"))
    failed = project.dbt("build", "-s", "i", check=False)
    assert f"{folder} holds a Delta table that the catalog does not know" in failed.output
    assert sorted(folder.rglob("*")) == before
    _, _, advice = failed.results[0].message.partition("register it: ")
    project.sql(advice.partition(". If not")[0])
    project.dbt("build", "-s", "i")
    assert [row["id"] for row in project.rows("i")] == [1, 2]


@pytest.mark.session
def test_what_was_staged_goes_with_the_next_run(project: Project) -> None:
    build(project)
    left = [project.warehouse / f"{name}__dbt_tmp_0123456789" for name in ("i", "h", "m")]
    kept = [project.warehouse / name for name in ("i__dbt_tmp_mine", "other__dbt_tmp_0123456789")]
    for folder in (*left, *kept):
        folder.mkdir()
        (folder / "part-0.snappy.parquet").write_text("half a file")
    project.dbt("build")
    assert [folder for folder in left if folder.exists()] == []
    assert [folder for folder in kept if not folder.exists()] == []
