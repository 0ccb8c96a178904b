"""``./run doctor``: what keeps Spark from starting, and what the run operation ``doctor`` finds.

Usage: python -m dbt_delta.doctor [dbt arguments, such as --target]. One line for each fault; exit
code 1 if there is one.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dbt_delta.session import errors, lock, plugin, profile, spark, versions

OLDEST_JAVA = 17
# What the JVM says if classes are missing or differ from those that a JAR was compiled with.
_MISFIT = re.compile(r"ClassNotFoundException|\w+Error: ")
_DELTA_JAR = re.compile(r"delta-(?:core|spark)[^/:]*\.jar")
# dbt's headings, and py4j's in the words of dbt-spark's own session.
_PREFIXES = re.compile(r"^(?:\s*\w+ Error\b.*\n|\s*An error occurred while calling .*\n\s*: )+")


def before_start(credentials: Any) -> list[str]:
    """The faults of a target that a session cannot report."""
    if credentials.method == profile.SESSION:
        return [*java_faults(), *metastore_faults(credentials.server_side_parameters)]
    if credentials.method == profile.THRIFT:
        return server_faults(credentials.host, credentials.port)
    return []


def java_faults() -> list[str]:
    is_stock = plugin.is_off() or versions.obstacle()
    with nullcontext() if is_stock else spark.own_java():
        home = os.environ.get("JAVA_HOME")
    remedy = f"Install Java {OLDEST_JAVA} or 21 and name it in JAVA_HOME"
    java = f"{home}/bin/java" if home else "java"
    if shutil.which(java) is None:
        return [f"Java: no {java} (JAVA_HOME is {home}). {remedy}."]
    shown = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "((\d+)[^"]*)"', shown)
    if found is None:
        return [f"Java: {java} -version says {shown.strip()[:200]!r}. {remedy}."]
    if int(found[2]) < OLDEST_JAVA:
        return [f"Java: {found[1]} at {java} is too old for Spark. {remedy}."]
    return []


def metastore_faults(settings: dict[str, str]) -> list[str]:
    folder = lock.metastore_dir(settings)
    if folder is None:
        return []
    shared = spark.shared_metastore(settings)
    try:
        if shared:
            spark.check_shared_metastore(shared)
            return []
        lock.acquire(folder)
    except (lock.MetastoreInUse, ValueError) as error:
        return [f"Metastore: {error}"]
    if lock.is_open(folder):
        return [
            f"Metastore: {folder} is open in a process without dbt_delta's plugin, such as a Spark "
            "server. Stop it, or use another home with its own metastore (DBT_DELTA_HOME)."
        ]
    return []


def server_faults(host: str, port: int) -> list[str]:
    try:
        socket.create_connection((host, port), timeout=10).close()
    except OSError as error:
        return [
            f"Spark server: no answer at {host}:{port} ({error.strerror or error}). Start it, "
            "or correct host and port of the target in profiles.yml."
        ]
    return []


def failure(text: str) -> str:
    """One line for a session that did not start, or that runs no statement."""
    text = " ".join(errors.tidy(_PREFIXES.sub("", text)).split())
    if text.startswith("Store "):
        return text
    jars = sorted(set(_DELTA_JAR.findall(_class_path())))
    if not jars or not _MISFIT.search(text):
        return f"Spark: {text}"
    from pyspark import __version__ as found

    wanted = f"delta-spark_{'.'.join(found.split('.')[:2])}_2.13"
    return (
        f"Delta: {', '.join(jars)} on the class path does not fit Spark {found}: {text}. "
        f"Put {wanted} and delta-storage of the same version there, and no other."
    )


def _class_path() -> str:
    """The class path, without SQL, because statements may fail; empty if no JVM runs here."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return "" if context is None else context._jvm.System.getProperty("java.class.path")


def main(arguments: list[str]) -> int:
    """Prints what was found, and returns the exit code."""
    from dbt.cli.main import dbtRunner

    lines: list[str] = []
    failures: list[str] = []

    def listen(event: Any) -> None:
        if event.info.name == "PrintEvent":
            lines.append(event.data.msg)
        elif event.info.name in ("RunningOperationCaughtError", "RunningOperationUncaughtError"):
            failures.append(event.data.exc)

    _examine_target(lines)
    command = ["--log-level", "none", "run-operation", "dbt_delta.doctor", *arguments]
    ran = dbtRunner(callbacks=[listen]).invoke(command)
    if not ran.success and not lines:
        lines.append(failure(failures[0] if failures else str(ran.exception)))
    print("\n".join(lines))
    return 0 if ran.success else 1


def _examine_target(lines: list[str]) -> None:
    """Makes dbt create an adapter that adds the faults of its target and fails if there are any.

    dbt itself knows best which target is meant.
    """
    from dbt.adapters import spark as dbt_spark
    from dbt_common.exceptions import DbtRuntimeError

    # Without the warning: the run operation has a line for it.
    plugin.choose_adapter()

    class ExaminedAdapter(dbt_spark.Plugin.adapter):
        def __init__(self, config: Any, *arguments: Any) -> None:
            lines.extend(before_start(config.credentials))
            if lines:
                raise DbtRuntimeError("doctor")
            super().__init__(config, *arguments)

    dbt_spark.Plugin.adapter = ExaminedAdapter


if __name__ == "__main__":
    # dbt reads its folders from the environment; see startup.py.
    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    sys.exit(main(sys.argv[1:]))
