"""Installed into another project, the package adds macros and nothing else."""

from tests.functional.harness import Project


def test_the_package_adds_no_node(project: Project) -> None:
    listed = project.dbt("ls", "--resource-type", "all", check=False)
    assert "No nodes selected" in listed.output

    project.write({"models/mine.sql": "select 1 as id"})
    project.dbt("build")
    assert [row.tableName for row in project.sql("show tables in {schema}")] == ["mine"]
