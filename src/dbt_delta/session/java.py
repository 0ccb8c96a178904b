"""Java's classes by their names, looked up once."""

from functools import cache
from typing import Any


@cache
def java(jvm: Any, name: str) -> Any:
    """A class by its full name; Py4J asks the JVM anew for each part of a name, 3 ms in all."""
    found = jvm
    for part in name.split("."):
        found = getattr(found, part)
    return found


def hadoop_path(jvm: Any, *parts: Any) -> Any:
    """A path as Hadoop has it: of a text or URI, or of a folder and a name in it."""
    return java(jvm, "org.apache.hadoop.fs.Path")(*parts)
