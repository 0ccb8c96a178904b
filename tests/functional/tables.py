"""What a project's tables are on disk, many at once, read without the package."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.functional.harness import Project, session


def names(project: Project) -> list[str]:
    return [row.tableName for row in project.sql("show tables in {schema}")]


def json_rows(project: Project, tables: Sequence[str]) -> dict[str, list[str]]:
    """All rows of tables as JSON, NULLs and microseconds included."""
    slices = [tables[at : at + 10] for at in range(0, len(tables), 10)]
    rows: dict[str, list[str]] = defaultdict(list)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda some: _rows(project, some), slices):
            for row in found:
                rows[row.name].append(row.row)
    return rows


def _rows(project: Project, tables: Sequence[str]) -> list[Any]:
    options = "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
    options += "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    parts = [
        f"select '{name}' as name, to_json(struct(*), {options}) as row "
        f"from {project.relation(name)}"
        for name in tables
    ]
    return list(session().sql(" union all ".join(parts)).collect())


def log(project: Project, name: str) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Versions and actions of a table's Delta log, oldest first; none without the table."""
    folder = project.warehouse / name / "_delta_log"
    for file in sorted(folder.glob("*.json")):
        if file.stem.isdigit():
            yield int(file.stem), [json.loads(line) for line in file.read_text().splitlines()]


def data_files(project: Project) -> set[Path]:
    """The data files of all tables, those of old versions too."""
    found = project.warehouse.rglob("*.parquet")
    return {path for path in found if "_delta_log" not in path.parts}


def data_commits(project: Project, name: str) -> int:
    """How many commits changed rows."""
    return sum(changes_data(actions) for _, actions in log(project, name))


def changes_data(actions: Sequence[dict[str, Any]]) -> bool:
    changes = [action.get("add") or action.get("remove") for action in actions]
    return any(change and change["dataChange"] for change in changes)
