"""What the doctor says where no session starts."""

import socket
from pathlib import Path

import pytest

from dbt_delta import doctor


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a Java that says this into JAVA_HOME."""
    monkeypatch.setenv("DBT_DELTA_PLUGIN", "off")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    def make(says: str) -> Path:
        path = tmp_path / "bin" / "java"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        path.chmod(0o755)
        return path

    return make


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', None),
        ('openjdk version "21" 2023-09-19', None),
        ('openjdk version "11.0.2" 2019-01-15', "11.0.2"),
        ('java version "1.8.0_392"', "1.8.0_392"),
    ],
)
def test_java(java, says: str, version: str | None) -> None:
    path = java(says)
    remedy = "Install Java 17 or 21 and name it in JAVA_HOME."
    expected = [f"Java: {version} at {path} is too old for Spark. {remedy}"] if version else []
    assert doctor.java_faults() == expected


def test_broken_java(java) -> None:
    path = java("cannot open shared object file")
    (fault,) = doctor.java_faults()
    assert fault.startswith(f"Java: {path} -version says 'cannot open shared object file'. Install")


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_DELTA_PLUGIN", "off")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (fault,) = doctor.java_faults()
    assert fault.startswith(f"Java: no {tmp_path}/bin/java (JAVA_HOME is {tmp_path}). Install")


def test_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert doctor.server_faults("127.0.0.1", port) == []
    (fault,) = doctor.server_faults("127.0.0.1", port)
    assert fault.startswith(f"Spark server: no answer at 127.0.0.1:{port} (Connection refused).")


def test_another_metastore_is_not_examined() -> None:
    url = {"spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:postgresql://server/metastore"}
    assert doctor.metastore_faults(url) == []


STOCK = """Runtime Error
  Runtime Error
    An error occurred while calling o60.sql.
    : java.lang.NoClassDefFoundError: org/apache/spark/sql/A
    \tat org.apache.spark.sql.delta.B.c(B.scala:1)
    \tat java.base/java.lang.Thread.run(Thread.java:1)
"""


@pytest.mark.parametrize(
    ("text", "jars", "line"),
    [
        (
            STOCK,
            "/j/delta-spark_4.0_2.13-4.4.0.jar:/j/delta-storage-4.4.0.jar:/j/hive.jar",
            "Delta: delta-spark_4.0_2.13-4.4.0.jar on the class path does not fit Spark 4.1.4: "
            "NoClassDefFoundError: org/apache/spark/sql/A. Put delta-spark_4.1_2.13 and "
            "delta-storage of the same version there, and no other.",
        ),
        (STOCK, "/j/hive.jar", "Spark: NoClassDefFoundError: org/apache/spark/sql/A"),
        (
            "Database Error\n  Spark's JVM did not start: it needs Java.\n  [A] b",
            "",
            "Spark: Spark's JVM did not start: it needs Java. [A] b",
        ),
    ],
)
def test_failure(monkeypatch: pytest.MonkeyPatch, text: str, jars: str, line: str) -> None:
    monkeypatch.setattr(doctor, "_class_path", lambda: jars)
    assert doctor.failure(text) == line
