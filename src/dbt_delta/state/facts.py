"""What the relations of the catalog are, as of now: asked once per run, and again where it wrote.

A fact is ``{kind: delta, place, version, digest}``, ``{kind: view, digest}``, ``{kind: other}``, or
``{kind: source, at}`` of a source of another format that says when it was loaded.
"""

import threading
from typing import TYPE_CHECKING, Any

from dbt_delta.session import facts as session_facts
from dbt_delta.state import log
from dbt_delta.state.decide import Fact
from dbt_delta.state.node import deciding, digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Name = tuple[str, str]


class Facts:
    """Facts of an embedded session's own catalog; names in lower case.

    ``loaded`` has a query for each source that says when it was loaded.

    Threads share it: what one forgets after it wrote, no other may bring back.
    """

    def __init__(self, spark: "SparkSession", loaded: dict[Name, str]) -> None:
        self._spark = spark
        self._loaded = loaded
        self._guard = threading.RLock()
        self._entries: dict[str, dict[str, dict[str, Any]]] = {}
        self._facts: dict[Name, Fact] = {}
        self._changes: dict[tuple[Any, ...], str] = {}

    def of(self, schema: str, name: str) -> Fact:
        """What a relation is; None if the catalog does not have it."""
        key = (schema.lower(), name.lower())
        with self._guard:
            if key not in self._facts:
                self._facts[key] = self._fact(key, self._entry(key))
            return self._facts[key]

    def change(self, old: dict[str, Any], new: dict[str, Any]) -> str:
        """How the rows of a Delta table changed between two facts; see ``log.change``."""
        if (old["version"], old["digest"]) == (new["version"], new["digest"]):
            return ""
        key = (new["place"], old["version"], old["digest"], new["version"], new["digest"])
        with self._guard:
            if key not in self._changes:
                self._changes[key] = log.change(self._log(new["place"]), old, new)
            return self._changes[key]

    def is_own(self, before: Fact, after: dict[str, Any], run: str) -> bool:
        """Whether all that changed a table's rows since ``before`` was a run of dbt."""
        first = 0
        if before is not None and before.get("place") == after["place"]:
            # A table that takes another's place begins anew.
            is_same = self.change(before, after) != log.ANEW
            first = before["version"] + 1 if is_same else 0
        return log.is_tagged(self._log(after["place"]), first, after["version"], run)

    def forget(self, name: Name | None) -> None:
        """What was written by a node is asked again; without a name, everything."""
        with self._guard:
            if name is None:
                self._entries, self._facts = {}, {}
                return
            key = (name[0].lower(), name[1].lower())
            self._facts.pop(key, None)
            if key[0] in self._entries:
                self._entries[key[0]].pop(key[1], None)
                found = session_facts.listing(self._spark, [key[0]], key[1]) or []
                own = {entry["name"].lower(): entry for entry in found}
                self._entries[key[0]].update({key[1]: own[key[1]]} if key[1] in own else {})

    def _entry(self, key: Name) -> dict[str, Any] | None:
        schema, name = key
        if schema not in self._entries:
            found = session_facts.listing(self._spark, [schema]) or []
            self._entries[schema] = {entry["name"].lower(): entry for entry in found}
        return self._entries[schema].get(name)

    def _fact(self, key: Name, entry: dict[str, Any] | None) -> Fact:
        if entry is None:
            return None
        if entry["type"] == "view":
            return {"kind": "view", "digest": digest_of_view(entry)}
        if entry["provider"] != "delta" or not entry["location"]:
            if key not in self._loaded:
                return {"kind": "other"}
            return {"kind": "source", "at": str(self._spark.sql(self._loaded[key]).first()[0])}
        version = log.newest(self._log(entry["location"]))
        if version is None:
            return {"kind": "other"}
        return {"kind": "delta", "place": entry["location"], **version}

    def _log(self, place: str) -> log.Log:
        return log.open_log(self._spark, place)


def digest_of_view(entry: dict[str, Any]) -> str:
    """A digest of a view as the catalog lists it.

    Its columns have names and types of their own: those of the text are others where the view was
    created with names, or before its table changed.
    """
    settings = deciding(entry["settings"])
    about = {
        **entry,
        "columns": log.plain_schema(entry["columns"]),
        # Delta's are for writing.
        "settings": {key: settings[key] for key in settings if key.startswith("spark.sql.")},
    }
    return digest(about)
