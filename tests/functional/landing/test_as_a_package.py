"""Installed into another project, the package adds macros and nothing else."""

from pathlib import Path

from tests.functional.harness import Project


def test_the_package_adds_no_node(project: Project, whole_packages: Path) -> None:
    (project.path / "dbt_packages").unlink()
    (project.path / "dbt_packages").symlink_to(whole_packages)
    listed = project.dbt("ls", "--resource-type", "all", check=False)
    assert "No nodes selected" in listed.output

    project.write({"models/mine.sql": "select 1 as id"})
    project.dbt("build")
    assert [row.tableName for row in project.sql("show tables in {schema}")] == ["mine"]
