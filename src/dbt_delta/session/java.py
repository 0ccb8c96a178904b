"""Java's classes by their names, looked up once, and one of our own."""

from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4


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


@cache
def bulk(jvm: Any) -> Any:
    """An object of ``Bulk.java``, which answers for many relations in one call of Py4J."""
    source = Path(__file__).with_name("Bulk.java").read_text()
    # Py4J knows methods by the name of their class; a warm JVM may have one of another command.
    name = f"Bulk_{uuid4().hex}"
    compiler = java(jvm, "org.codehaus.janino.SimpleCompiler")()
    compiler.cook(source.replace("class Bulk ", f"class {name} "))
    return compiler.getClassLoader().loadClass(name).newInstance()
