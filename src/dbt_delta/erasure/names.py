"""The names that a declared column had: files and logs of old versions know it by these."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt_delta.erasure.logs import Column

# Delta's own columns in files.
_OWN = re.compile(r"_(change_type|row-id-col-.*|row-commit-version-col-.*)")


@dataclass(frozen=True)
class Field:
    """A column of a schema in the log."""

    name: str
    physical: str
    is_integer: bool
    is_partition: bool

    @property
    def key(self) -> str:
        return self.physical.lower()


def fields(metadata: dict[str, Any]) -> tuple[Field, ...]:
    """Those of an action metaData."""
    partitions = {name.lower() for name in metadata.get("partitionColumns") or ()}
    found = []
    for one in json.loads(metadata["schemaString"])["fields"]:
        name, about = one["name"], one.get("metadata") or {}
        physical = about.get("delta.columnMapping.physicalName", name)
        is_integer = one["type"] in ("byte", "short", "integer", "long")
        found.append(Field(name, physical, is_integer, name.lower() in partitions))
    return tuple(found)


def ever(columns: Iterable[Column], schemas: Sequence[Iterable[Field]]) -> list[Column]:
    """Declared columns under each name that files have for them, by schemas, newest last."""
    newest = {one.name.lower(): one for one in (schemas[-1] if schemas else ())}
    found: dict[Any, Column] = {}
    for column in columns:
        column = replace(column, of=column.of or column.name)
        now = newest.get(column.of.lower())
        if now is not None:
            column = replace(column, is_integer=now.is_integer)
        if column.emptied is not None:
            column = replace(column, emptied=_ever_in_files(column.emptied, newest, schemas))
        for one in [column, *_former(column, newest, schemas)]:
            found.setdefault((one.physical.lower(), one.group, one.of, one.start), one)
    return list(found.values())


def _ever_in_files(
    names: Iterable[str], newest: dict[str, Field], schemas: Sequence[Iterable[Field]]
) -> list[str]:
    """The names that files have for columns, by those of the newest files."""
    found = set(names)
    for one in newest.values():
        if one.physical in found:
            column = Column(one.name, one.physical, "", of=one.name)
            found |= {former.physical for former in _former(column, newest, schemas)}
    return sorted(found)


def _former(
    column: Column, newest: dict[str, Field], schemas: Sequence[Iterable[Field]]
) -> list[Column]:
    """Its names before RENAME, before it was replaced, and before a RENAME then, and so on."""
    others = {one.key for name, one in newest.items() if name != column.of.lower()}
    left = {one for schema in schemas for one in schema if one.key not in others}
    names, found = {column.name.lower()}, set()
    physical = {column.physical.lower()}
    while more := {one for one in left if one.name.lower() in names or one.key in physical}:
        names |= {one.name.lower() for one in more}
        physical |= {one.key for one in more}
        found |= more
        left -= more
    return [
        replace(column, name=one.name, physical=one.physical)
        for one in sorted(found, key=lambda one: (one.name, one.physical))
    ]


def unknown(names: Iterable[str], known: set[str]) -> set[str]:
    """The names of a file's columns, in lower case, that no schema has."""
    return {name.lower() for name in names if not _OWN.fullmatch(name)} - known
