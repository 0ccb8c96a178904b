"""Incremental models as text, and what the tests ask of the tables they left."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.functional.harness import Invocation, Project, session
from tests.functional.tables import commits, json_rows


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


@dataclass
class Built:
    """A project that the tests of a module share, and its two runs."""

    project: Project
    first: Invocation
    second: Invocation


def build_twice(
    project: Project, models: Mapping[str, str], later: Mapping[str, str] | None = None
) -> Built:
    """Runs all models, and again with those that ``later`` has in their place.

    ``{schema}`` in a model is the project's. Models may fail: a test says which ones do.
    """
    runs = []
    for texts in (models, later or {}):
        named = {name: text.replace("{schema}", project.schema) for name, text in texts.items()}
        write_models(project, named)
        runs.append(project.dbt("run", check=False))
    return Built(project, *runs)


def tuples(project: Project, name: str) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples, in the table's order of columns, NULLs first."""
    return [tuple(row.values()) for row in project.rows(name)]


def tables(project: Project, names: Iterable[str]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of many tables, as ``tuples`` has them: compare with a dictionary of such names.

    They are read as JSON, by few queries: numbers, texts, booleans, and structs, lists and maps
    of those are as expected; other types are texts.
    """
    found = json_rows(project, list(names))
    return {
        name: sorted((tuple(json.loads(row).values()) for row in found.get(name, [])), key=_order)
        for name in names
    }


def _order(row: tuple[Any, ...]) -> list[Any]:
    nested = (dict, list)
    return [
        (value is not None, str(value) if isinstance(value, nested) else value) for value in row
    ]


def metrics(project: Project, name: str) -> dict[str, int]:
    """The operation metrics of the newest commit that are numbers."""
    found = commits(project, name)[-1]["operationMetrics"]
    return {key: int(value) for key, value in found.items() if value.isdigit()}


def relations(project: Project, schema: str | None = None) -> list[str]:
    """The names of all tables and views of the project's schema."""
    found = project.sql(f"show tables in `{schema or project.schema}`")
    return sorted(row.tableName for row in found if not row.isTemporary)


def messages(run: Invocation) -> dict[str, str]:
    """The message of each model that failed."""
    return {result.node.name: result.message for result in run.results if result.status == "error"}


def statements(run: Invocation, name: str) -> list[str]:
    """The SQL that a run sent to Spark for one model, without dbt's comment."""
    queries = [event.data for event in run.events if event.info.name == "SQLQuery"]
    sent = [query.sql for query in queries if query.node_info.node_name == name]
    return [re.sub(r"^\s*/\* .*? \*/\s*", "", sql, flags=re.DOTALL).strip() for sql in sent]


def columns(project: Project, name: str) -> dict[str, str]:
    """Names and types of a table's columns, in order."""
    return dict(session().table(project.relation(name)).dtypes)


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
