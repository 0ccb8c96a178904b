"""The checkpoints of streams, beside the tables of their schema, and whether a table fits to one.

Spark's checkpoint says which batches were planned, and the table which it has. Either may have come
from a copy, older than the other: then rows would be left out silently.
"""

import json
from typing import TYPE_CHECKING

from dbt_delta.session import facts, folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A folder of ours. The name of its empty file is the number of the last batch that the table has.
# A kill cannot leave it with another number.
_NOTE = "dbt_delta_written"


def place(spark: "SparkSession", schema: str, name: str) -> str:
    """The folder of the checkpoints of a model's streams."""
    return f"{folders.of_schema(spark, schema)}/_dbt_delta_streams/{name}"


def problem(spark: "SparkSession", checkpoint: str, name: tuple[str, str]) -> str:
    """Why a stream cannot go on with the table ``name`` (schema, name); empty if it can."""
    about = text(spark, f"{checkpoint}/metadata")
    if about is None:
        return "the checkpoint of its stream is gone"
    written = facts.transaction(spark, *name, application(json.loads(about)["id"]))
    last = -1 if written is None else written
    # Of each batch Spark notes what it reads before it is written.
    if last > _newest(spark, f"{checkpoint}/offsets"):
        return "the checkpoint of its stream is older than the last batch that it has"
    if last < _newest(spark, f"{checkpoint}/{_NOTE}"):
        return "it lacks batches that its stream has written"
    return ""


def application(identity: str) -> str:
    """The name of a stream in Delta's transactions."""
    return f"dbt_delta_stream_{identity}"


def note(spark: "SparkSession", checkpoint: str, number: int) -> None:
    """Keeps the number of the last batch that the table has."""
    folder = f"{checkpoint}/{_NOTE}"
    system, path = folders.open_path(spark, f"{folder}/{number}")
    system.create(path, True).close()
    keep(spark, folder, str(number))


def keep(spark: "SparkSession", folder: str, kept: str) -> None:
    """Removes all but one of what is in a folder: checkpoints of earlier streams, earlier notes."""
    system, path = folders.open_path(spark, folder)
    if not system.exists(path):
        return
    for status in system.listStatus(path):
        if status.getPath().getName() != kept:
            system.delete(status.getPath(), True)


def _newest(spark: "SparkSession", folder: str) -> int:
    """The largest number that is the name of a file in a folder; -1 if there is none."""
    system, path = folders.open_path(spark, folder)
    if not system.exists(path):
        return -1
    names: list[str] = [status.getPath().getName() for status in system.listStatus(path)]
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def text(spark: "SparkSession", path: str) -> str | None:
    """The text of a small file; None if there is none."""
    system, place = folders.open_path(spark, path)
    if not system.exists(place):
        return None
    return folders.read(spark._jvm, system, place).decode(errors="replace")
