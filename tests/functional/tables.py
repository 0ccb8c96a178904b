"""What a project's tables are on disk, many at once, read without macros."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dbt_delta.state.log import HadoopLog, LocalLog, Log
from tests.functional.harness import Project, read, session


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
    return read(" union all ".join(parts))


def log(project: Project, name: str) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Versions and actions of a table's Delta log, oldest first; none without the table."""
    files = _log(project, name)
    for number in _numbers(files):
        text = files.read(f"{number:020d}.json")
        yield number, [json.loads(line) for line in text.splitlines()]


def _log(project: Project, name: str) -> Log:
    if store := os.environ.get("DBT_DELTA_STORE"):
        return HadoopLog(session(), f"{store}/{project.schema}.db/{name}")
    return LocalLog(project.warehouse / name)


def _numbers(files: Log) -> list[int]:
    names = (file.partition(".") for file in files.names())
    return sorted(int(stem) for stem, _, kind in names if kind == "json" and stem.isdigit())


def version(project: Project, name: str) -> int:
    """The newest version, without a statement."""
    return max(_numbers(_log(project, name)))


def versions(project: Project, some: Iterable[str]) -> dict[str, int]:
    return {name: version(project, name) for name in some}


def commits(project: Project, name: str) -> list[dict[str, Any]]:
    """What the commits say of themselves, oldest first: operation, userMetadata, .."""
    return [
        action["commitInfo"]
        for _, actions in log(project, name)
        for action in actions
        if "commitInfo" in action
    ]


def metadata(project: Project, name: str) -> dict[str, Any]:
    """Schema, partition columns, properties and comment of the newest version."""
    found: dict[str, Any] = {}
    for _, actions in log(project, name):
        for action in actions:
            found = action.get("metaData", found)
    return found


def file_sizes(project: Project, name: str) -> dict[str, int]:
    """The data files of the newest version, with their bytes."""
    sizes: dict[str, int] = {}
    for _, actions in log(project, name):
        # A deletion vector comes as the removal and the addition of one path.
        for action in actions:
            if "remove" in action:
                sizes.pop(action["remove"]["path"], None)
        sizes.update((a["add"]["path"], a["add"]["size"]) for a in actions if "add" in a)
    return sizes


def operations(project: Project, name: str, since: int = -1) -> list[str]:
    """What the commits after a version did, oldest first, as DESCRIBE HISTORY says it."""
    return [commit["operation"] for commit in commits(project, name)[since + 1 :]]


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
