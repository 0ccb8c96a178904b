"""Incremental models as text, and what the tests ask of the tables they left."""

import re
from typing import Any

from tests.functional.harness import Invocation, Project


def model(first: str, then: str | None = None, **config: Any) -> str:
    """A model that selects ``first`` in its first build and ``then`` in later runs.

    dbt sees only the references of the branch that it parses: all are named before.
    """
    options = "".join(f", {name}={value!r}" for name, value in config.items())
    head = f"{{{{ config(materialized='incremental'{options}) }}}}\n"
    if then is None:
        return head + first
    head += "".join(f"-- depends_on: {ref}\n" for ref in re.findall(r"{{ ref\(.*?\) }}", then))
    return f"{head}{{% if not is_incremental() %}}\n{first}\n{{% else %}}\n{then}\n{{% endif %}}\n"


def write_models(project: Project, models: dict[str, str]) -> None:
    """Writes one file per model, named as the model."""
    project.write({f"models/{name}.sql": text for name, text in models.items()})


def values(columns: str, *rows: str) -> str:
    """A SELECT of rows: ``values("id, v", "1, 'a'", "2, 'b'")``."""
    listed = ", ".join(f"({row})" for row in rows)
    return f"select * from values {listed} as t({columns})"


def nothing(columns: str, row: str) -> str:
    """A SELECT of no row with the columns and types of one."""
    return f"{values(columns, row)} where false"


def tuples(project: Project, name: str, order_by: str = "all") -> list[tuple[Any, ...]]:
    """The rows of a table as tuples, in the table's order of columns."""
    return [tuple(row.values()) for row in project.rows(name, order_by)]


def tables(project: Project, expected: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all tables that are keys of ``expected``: compare the two dictionaries."""
    return {name: tuples(project, name) for name in expected}


def versions(project: Project, names: Any) -> dict[str, int]:
    """The newest version of each table: one commit per run if it grew by one."""
    return {name: project.version(name) for name in names}


def metrics(project: Project, name: str) -> dict[str, int]:
    """The operation metrics of the newest commit that are numbers."""
    found = project.history(name)[0]["operationMetrics"]
    return {key: int(value) for key, value in found.items() if value.isdigit()}


def relations(project: Project, schema: str | None = None) -> list[str]:
    """The names of all tables and views of the project's schema."""
    found = project.sql(f"show tables in `{schema or project.schema}`")
    return sorted(row.tableName for row in found if not row.isTemporary)


def messages(run: Invocation) -> dict[str, str]:
    """The message of each model that failed."""
    return {result.node.name: result.message for result in run.results if result.status == "error"}


def columns(project: Project, name: str) -> dict[str, str]:
    """Names and types of a table's columns, in order."""
    described = project.sql(f"describe {project.relation(name)}")
    listed = {}
    for row in described:
        if row.col_name.startswith("#") or not row.col_name:
            break
        listed[row.col_name] = row.data_type
    return listed


def data_files(project: Project, name: str, where: str = "true") -> set[str]:
    """The names of the data files that hold rows for which ``where`` holds."""
    found = project.sql(
        f"select distinct _metadata.file_path as path from {project.relation(name)} where {where}"
    )
    return {row.path.removeprefix("file:") for row in found}


# Two runs of the same model: an update, an insert, and what a merge by `id` makes of them.
FIRST = values("id, v", "1, 'a'", "2, 'b'")
THEN = values("id, v", "2, 'B'", "3, 'c'")
MERGED = [(1, "a"), (2, "B"), (3, "c")]
