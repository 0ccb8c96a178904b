"""Folders that a killed CREATE TABLE AS leaves: its files, and nothing that the catalog knows."""

import os
import shutil
import time
from pathlib import Path

from tests.functional import tables
from tests.functional.harness import Project, is_session

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


def leave_files(folder: Path) -> None:
    """Leaves what a job wrote that was killed before its commit."""
    folder.mkdir(parents=True)
    (folder / "part-0.snappy.parquet").write_text("half a file")


def test_a_first_build_that_was_killed_is_built_again(project: Project) -> None:
    project.write(
        {
            "models/m.sql": TABLE,
            "models/i.sql": STAGED,
            "snapshots/h.sql": SNAPSHOT,
            "seeds/s.csv": SEED,
        }
    )
    project.sql("create schema {schema}")
    for name in NAMES:
        leave_files(project.warehouse / name)
    # Killed before its commit, and between commit and catalog.
    for version in (0, 1):
        project.dbt("build")
        for name in NAMES:
            assert [row["id"] for row in project.rows(name)] == [1], name
            assert tables.version(project, name) == version
            if version == 0:
                forget(project, name)

    if not is_session():
        return
    # What was staged goes with the next run.
    left = [project.warehouse / f"{name}__dbt_tmp_0123456789" for name in ("i", "h", "m")]
    kept = [project.warehouse / name for name in ("i__dbt_tmp_mine", "other__dbt_tmp_0123456789")]
    # A run that lives may be writing to it.
    young = project.warehouse / "i__dbt_tmp_9876543210"
    for folder in (*left, *kept, young):
        leave_files(folder)
        for path in (folder / "part-0.snappy.parquet", folder) if folder != young else ():
            os.utime(path, (time.time() - 13 * 3600,) * 2)
    project.dbt("build")
    assert [folder for folder in left if folder.exists()] == []
    assert [folder for folder in (*kept, young) if not folder.exists()] == []


def test_a_table_that_the_catalog_lost_is_not_built_over(project: Project) -> None:
    project.write({"models/i.sql": STAGED})
    project.dbt("run")
    project.sql(f"insert into {project.relation('i')} values (2)")
    folder = forget(project, "i")
    before = sorted(folder.rglob("*"))
    failed = project.dbt("build", "-s", "i", check=False)
    assert f"{folder}, holds a Delta table that is not in the catalog" in failed.output
    assert sorted(folder.rglob("*")) == before
    _, _, advice = failed.results[0].message.partition("register it: ")
    project.sql(advice.partition(". If not")[0])
    project.dbt("build", "-s", "i")
    assert [row["id"] for row in project.rows("i")] == [1, 2]
