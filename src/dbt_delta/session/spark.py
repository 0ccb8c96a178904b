"""The one Spark driver of this process, and sessions on it."""

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_delta.session import lock, properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLASS_PATH = "spark.driver.extraClassPath"
# What decides where the data lies: a second value in one process would silently be the first.
_METASTORE_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"
PLACES = ("spark.sql.warehouse.dir", _METASTORE_URL)

# A Thrift server's sessions read a date as a java.time.LocalDate, and Delta, where it answers from
# its statistics, takes it for a java.sql.Date: select max(day) fails (Delta 4.4).
ON_SERVERS = {"spark.databricks.delta.optimizeMetadataQuery.enabled": "false"}

METASTORE_FILE = "metastore.conf"
# As Spark's redaction has it: what may not be read in a list of processes.
_SECRET = re.compile(r"password|secret|token|access[.]?key", re.IGNORECASE)

_guard = threading.Lock()
_root: "SparkSession | None" = None
_root_settings: dict[str, str] = {}
# The names among them that a profile gave; none for a driver that somebody else started here.
_started_with: set[str] = set()


def new_session(settings: dict[str, str]) -> "SparkSession":
    """A Spark session that shares the driver, the catalog and nothing else with its siblings.

    The first call starts the driver with ``settings``; a session inherits those. Later settings
    that differ are applied to the new session where Spark allows it at run time, and those that
    are no longer named get Spark's defaults.

    Raises:
        lock.MetastoreInUse: the embedded metastore belongs to another process.
        ValueError: other settings of where the data lies than the running driver's.
    """
    settings = {**settings, **shared_metastore(settings)}
    root = start(settings)
    session = root.newSession()
    for key, value in settings.items():
        if _plain(_root_settings.get(key)) == _plain(value):
            continue
        if key in PLACES:
            raise ValueError(
                f"{key} is {value!r} in this profile, but this process runs Spark with "
                f"{_root_settings.get(key)!r}: use another process"
            )
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    for key in _started_with - settings.keys():
        if session.conf.isModifiable(key):
            session.conf.unset(key)
    return session


def start(settings: dict[str, str]) -> "SparkSession":
    """The driver of this process, with exactly these settings unless it runs already.

    Raises:
        lock.MetastoreInUse: the embedded metastore belongs to another process.
    """
    with _guard:
        return _start(settings)


def shared_metastore(settings: Mapping[str, str]) -> dict[str, str]:
    """What takes the place of the embedded metastore; nothing where it is in use.

    Beside it lies a file of properties then: one home has one catalog, or tables would be known
    here and not there.
    """
    embedded = lock.metastore_dir(settings)
    if embedded is None:
        return {}
    try:
        lines = embedded.with_name(METASTORE_FILE).read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.split(" ", 1) for line in lines)
    return {name: properties.value(value) for name, value in pairs}


def is_secret(name: str) -> bool:
    """Whether a setting's value may be shown to nobody."""
    return _SECRET.search(name) is not None


def _plain(value: str | None) -> str | None:
    """A setting as the profile writes it: Spark makes a URI of the warehouse's path."""
    return None if value is None else value.removeprefix("file:")


def driver_exit_code() -> int | None:
    """The exit code of the driver's JVM; None while it runs or where this process has none."""
    process = _jvm()
    if process is None:
        return None
    try:
        # A broken connection is seen a moment before the end of the process.
        return process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        return None


def _start(settings: dict[str, str]) -> "SparkSession":
    global _root
    if _root is not None:
        return _root
    metastore = lock.metastore_dir(settings)
    if metastore is not None:
        lock.acquire(metastore)
    else:
        check_shared_metastore(settings)
    # pyspark prints each failed statement with its JVM trace as JSON; dbt reports it in words.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)

    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().appName("dbt_delta").enableHiveSupport()
    # pyspark puts every setting that it starts the JVM with on the command line.
    shown = SparkConf(loadDefaults=False)
    for key, value in named_as_python(settings).items():
        builder = builder.config(key, value)
        if not is_secret(key):
            shown.set(key, value)
    found = SparkContext._active_spark_context
    with own_java(), _interrupts_kept():
        SparkContext._ensure_initialized(conf=shown)
        root = builder.getOrCreate()
    if found is None:
        _root_settings.update(settings)
        _started_with.update(settings)
    else:
        _root_settings.update(dict(root.sparkContext.getConf().getAll()))
    _root = root
    process = _jvm()
    if metastore is not None and process is not None:
        lock.record_jvm(metastore, process.pid)
    return root


def check_shared_metastore(settings: Mapping[str, str]) -> None:
    """Says in a line what takes Hive's client minutes and a page.

    Raises:
        ValueError: nobody answers where the shared metastore should be.
    """
    url = settings.get(_METASTORE_URL, "")
    place = re.match(r"jdbc:postgresql://([^:/]+)(?::(\d+))?/", url)
    if place is None:
        return
    try:
        socket.create_connection((place[1], int(place[2] or 5432)), timeout=10).close()
    except OSError as error:
        raise ValueError(
            f"The metastore of this home, {url}, does not answer ({error.strerror or error}). "
            "./run server start starts it where it is the home's own"
        ) from None


def named_as_python(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with the environment's JARs where Python finds pyspark's.

    Through a link the environment has two names; a class archive is good for one at a time, and
    with both Java refuses classes of sealed packages (Derby's, when it recovers after a kill).
    """
    if _CLASS_PATH not in settings:
        return dict(settings)
    own = Path(sys.prefix) / "jars"
    places = [
        f"{own}/*" if Path(place.removesuffix("/*")).resolve() == own.resolve() else place
        for place in settings[_CLASS_PATH].split(os.pathsep)
    ]
    return {**settings, _CLASS_PATH: os.pathsep.join(places)}


@contextmanager
def own_java() -> Generator[None, None, None]:
    """Set-up's Java for the driver, where there is one; other child processes keep the user's."""
    java = Path(sys.prefix) / "java"
    if not java.is_dir():
        yield
        return
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


@contextmanager
def _interrupts_kept() -> Generator[None, None, None]:
    """Leaves Ctrl-C to dbt: pyspark's handler cancels every job of the process in its midst."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _jvm() -> "subprocess.Popen[bytes] | None":
    if _root is None:
        return None
    return getattr(_root.sparkContext._gateway, "proc", None)
