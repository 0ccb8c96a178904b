"""Registers the tables of the embedded catalog in the shared catalog of the same home.

Two steps in two processes, because a JVM has one catalog. The entries are Spark's own Java objects
in between, so managed tables stay managed, and views, partitions and statistics are kept.

Usage: python -m dbt_delta.server.adopt read|write FOLDER
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dbt_delta.server import ServerError, settings
from dbt_delta.session import lock, spark


def adopt() -> str:
    """Copies entries that are missing in the shared catalog; returns a line with counts.

    Raises:
        ServerError: there are not two catalogs, or one cannot be used.
    """
    profile = settings.of_profile()
    embedded = lock.metastore_dir(profile)
    if embedded is None or not spark.shared_metastore(profile):
        raise ServerError(
            "this home has one catalog: ./run server start --metastore postgres makes a shared one"
        )
    if not embedded.is_dir():
        raise ServerError(f"there is no embedded catalog to adopt from ({embedded})")
    with tempfile.TemporaryDirectory() as folder:
        for step in ("read", "write"):
            done = subprocess.run(
                [sys.executable, "-m", "dbt_delta.server.adopt", step, folder],
                capture_output=True,
                text=True,
            )
            if done.returncode != 0:
                words = [line for line in done.stderr.splitlines() if line.strip()]
                raise ServerError(f"{step}: {words[-1] if words else 'no reason given'}")
    return done.stdout.splitlines()[-1]


def _read(folder: Path) -> None:
    """Every entry of the embedded catalog, in an order in which they can be made."""
    session = spark.start(settings.of_profile())
    catalog = session._jsparkSession.sharedState().externalCatalog()
    none = session._jvm.scala.Option.empty()
    entries = session._jvm.java.util.ArrayList()

    def add(kind: str, *values: Any) -> None:
        entry = session._jvm.java.util.ArrayList()
        for value in (kind, *values):
            entry.add(value)
        entries.add(entry)

    for schema in _each(catalog.listDatabases()):
        add("schema", catalog.getDatabase(schema))
        for name in _each(catalog.listTables(schema)):
            table = catalog.getTable(schema, name)
            add("table", schema, name, table)
            if table.tracksPartitionsInCatalog() and not table.partitionColumnNames().isEmpty():
                add("partitions", schema, name, catalog.listPartitions(schema, name, none))
        for name in _each(catalog.listFunctions(schema, "*")):
            add("function", schema, catalog.getFunction(schema, name))
    stream = session._jvm.java.io.FileOutputStream(str(folder / "entries"))
    objects = session._jvm.java.io.ObjectOutputStream(stream)
    objects.writeObject(entries)
    objects.close()


def _write(folder: Path) -> None:
    """Makes the entries that the shared catalog does not have; prints the counts."""
    session = spark.new_session(settings.of_profile())
    catalog = session._jsparkSession.sharedState().externalCatalog()
    stream = session._jvm.java.io.FileInputStream(str(folder / "entries"))
    entries = session._jvm.java.io.ObjectInputStream(stream).readObject()
    made, there = 0, 0
    fresh: set[tuple[str, str]] = set()
    for kind, *values in entries:
        if kind == "schema":
            catalog.createDatabase(values[0], True)
        elif kind == "table":
            schema, name, table = values
            if catalog.tableExists(schema, name):
                there += 1
                continue
            catalog.createTable(table, False)
            fresh.add((schema, name))
            made += 1
        elif kind == "partitions" and tuple(values[:2]) in fresh:
            catalog.createPartitions(*values, True)
        elif kind == "function" and not catalog.functionExists(
            values[0], values[1].identifier().funcName()
        ):
            catalog.createFunction(*values)
    known = f"; {there} were already there, and stay unchanged" if there else ""
    print(f"{made} tables and views registered{known}")


def _each(found: Any) -> list[Any]:
    """A Scala Seq as a list."""
    return [found.apply(position) for position in range(found.size())]


if __name__ == "__main__":
    {"read": _read, "write": _write}[sys.argv[1]](Path(sys.argv[2]))
