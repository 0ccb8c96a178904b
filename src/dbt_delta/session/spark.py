"""The one Spark driver of this process, and sessions on it."""

import atexit
import locale
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_delta.session import formats, keeper, lock, properties, store, warm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLASS_PATH = "spark.driver.extraClassPath"
# Settings that may name files of this machine.
_FILES = (_CLASS_PATH, "spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
# Settings that decide where the data is: in one process Spark would silently ignore a second value.
_METASTORE_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"
PLACES = (store.WAREHOUSE, _METASTORE_URL)
# Those that another format than Delta needs are there from the start of a driver, or never.
EXTENSIONS = "spark.sql.extensions"

# A Thrift server reads a date as a java.time.LocalDate, but Delta expects a java.sql.Date when it
# answers from its statistics: select max(day) fails (Delta 4.4).
ON_SERVERS = {"spark.databricks.delta.optimizeMetadataQuery.enabled": "false"}

METASTORE_FILE = "metastore.conf"
# As in Spark's redaction: what a list of processes must not show.
_SECRET = re.compile(r"password|secret|token|access[.]?key", re.IGNORECASE)

_guard = threading.Lock()
_root: "SparkSession | None" = None
_root_settings: dict[str, str] = {}
# The settings that a profile gave; empty for a driver that other code started here.
_started_with: set[str] = set()
# The metastore, and what the next command must know, of a Spark that is kept for it.
_kept: tuple[Path, dict[str, Any]] | None = None
# One entry for each statement that runs.
in_flight: set[object] = set()
# Names of Python models that ran: they may change whatever Spark's JVM has.
coded: set[str] = set()


def new_session(settings: dict[str, str]) -> "SparkSession":
    """A Spark session that shares only the driver and the catalog with other sessions.

    The first call starts the driver with ``settings``; a session inherits those. Later settings
    that differ are applied to the new session if Spark allows it at run time. Settings that are no
    longer there get Spark's defaults.

    Raises:
        lock.MetastoreInUse: the embedded metastore belongs to another process.
        ValueError: the data is somewhere else than the running driver's, or cannot be reached.
    """
    settings = {**settings, **shared_metastore(settings)}
    root = start(settings)
    session = root.newSession()
    for key, value in settings.items():
        if _plain(_root_settings.get(key)) == _plain(value):
            continue
        if key in PLACES or (key == EXTENSIONS and formats.asked(settings) != formats.DELTA):
            raise ValueError(
                f"{key} is {value!r} in this profile, but this process runs Spark with "
                f"{_root_settings.get(key)!r}. Use another process"
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
        ValueError: the store of the tables cannot be used.
    """
    with _guard:
        return _start(settings)


def shared_metastore(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a shared metastore; empty if the embedded one is in use.

    A file of properties says so: one home has one catalog, or tables would be known in one process
    and not in another.
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
    """Whether a setting's value must not be shown."""
    return _SECRET.search(name) is not None


def _plain(value: str | None) -> str | None:
    """A setting as in the profile: Spark turns the warehouse's path into a URI."""
    return None if value is None else value.removeprefix("file:")


def driver_exit_code() -> int | None:
    """The exit code of the driver's JVM; None while it runs, or if it is not known."""
    process = _jvm()
    return process.returncode if process is not None and is_driver_gone() else None


def is_driver_gone(within: float = 2) -> bool:
    """Whether the driver's JVM has ended, or ends within seconds; False if there is none."""
    process = _jvm()
    if process is None:
        return False
    try:
        # A broken connection shows a moment before the process ends.
        process.wait(timeout=within)
    except subprocess.TimeoutExpired:
        return False
    return True


def _start(settings: dict[str, str]) -> "SparkSession":
    global _root, _kept
    if _root is not None:
        return _root
    formats.prepare(settings)
    metastore = lock.metastore_dir(settings)
    place, wait, identity = None, 0, ""
    if metastore is None:
        check_shared_metastore(settings)
    else:
        wait = warm.seconds(settings)
        identity = warm.identity(settings, _read_at_start(settings)) if wait else ""
        place = lock.acquire(metastore, identity)
    _quiet()

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().appName("dbt_delta").enableHiveSupport()
    for key, value in named_as_python(settings).items():
        builder = builder.config(key, value)
    found = SparkContext._active_spark_context
    with own_java(formats.jar_folders(settings)), _interrupts_kept():
        if place is not None:
            _attach(place)
        else:
            _launch(settings, metastore if wait else None)
        root = builder.getOrCreate()
    store.check(root, settings)
    if found is None:
        _root_settings.update(settings)
        _started_with.update(settings)
    else:
        _root_settings.update(dict(root.sparkContext.getConf().getAll()))
    _root = root
    process = _jvm()
    if metastore is not None and process is not None:
        lock.record_jvm(metastore, process.pid)
        if wait:
            about = {"identity": identity, "wait": wait, "added": keeper.added(_context())}
            _kept = (metastore, about)
            atexit.register(leave)
    return root


def _quiet() -> None:
    """Leaves errors to dbt, which reports them: pyspark and py4j print them with their traces."""
    for name in ("SQLQueryContextLogger", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    # What py4j says of a JVM that has ended goes to the root logger.
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _launch(settings: Mapping[str, str], kept_in: Path | None) -> None:
    """Starts the JVM of this process, unless it has one.

    Args:
        kept_in: the metastore of a JVM that outlives this process, and must not have its console.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    # pyspark puts every setting that it starts the JVM with on the command line.
    shown = SparkConf(loadDefaults=False)
    for key, value in named_as_python(settings).items():
        if not is_secret(key):
            shown.set(key, value)
    if kept_in is None or SparkContext._gateway is not None:
        SparkContext._ensure_initialized(conf=shown)
        return
    with warm.log(kept_in).open("a+b") as log:
        before = log.tell()
        try:
            gateway = launch_gateway(shown, {"stdout": log, "stderr": log})
        except Exception:
            log.seek(before)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
    SparkContext._ensure_initialized(gateway=gateway)


def _attach(place: warm.Warm) -> None:
    """Makes the Spark that an earlier command has left this process's own."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    variables = {
        "PYSPARK_GATEWAY_PORT": str(place.port),
        "PYSPARK_GATEWAY_SECRET": place.secret,
    }
    os.environ.update(variables)
    try:
        gateway = launch_gateway()
    finally:
        for name in variables:
            del os.environ[name]
    gateway.proc = place
    SparkContext._ensure_initialized(gateway=gateway)
    context = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    context = gateway.jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(context)
    SparkContext(gateway=gateway, jsc=context, conf=SparkConf(_jconf=context.getConf()))


def session() -> "SparkSession | None":
    """The first session of this process; None if it has no driver."""
    return _root


def leave_nothing() -> None:
    """Spark ends with this process, and is not kept for the next command."""
    global _kept
    _kept = None


def leave() -> None:
    """Leaves Spark to the next command, if the settings say so.

    It ends as always if a statement still runs, and after Python models. This process can do
    nothing with Spark any more.
    """
    process = _jvm()
    if _kept is None or in_flight or coded or process is None or is_driver_gone(within=0):
        return
    metastore, about = _kept
    leave_nothing()
    if isinstance(process, warm.Warm):
        process.leave(about["wait"])
        return
    gate = _root.sparkContext._gateway.java_parameters
    about = {**about, "port_of_java": gate.port, "secret": gate.auth_token}
    try:
        warm.hand_over(metastore, process, about)
    except OSError as error:
        sys.stderr.write(f"Spark is not kept for the next command: {error}\n")


def _context() -> Any:
    """The JVM's SparkContext."""
    return _root.sparkContext._jsc.sc()


def _read_at_start(settings: Mapping[str, str]) -> list[Path]:
    """The local files and folders that a JVM takes code and settings from."""
    import importlib.util

    spec = importlib.util.find_spec("pyspark")
    installed = str(Path(spec.origin).parent) if spec and spec.origin else ""
    spark = os.environ.get("SPARK_HOME") or installed
    places = [f"{spark}/jars", os.environ.get("SPARK_CONF_DIR") or f"{spark}/conf"]
    places += [os.environ.get("HADOOP_CONF_DIR", ""), os.environ.get("YARN_CONF_DIR", "")]
    folders = [*store.jar_folders(), *formats.jar_folders(settings)]
    places += [str(folder) for folder in folders]
    for name in _FILES:
        local = re.sub(r"\bfile:/*", "/", settings.get(name, ""))
        places += [place.partition("#")[0].removesuffix("*") for place in re.split("[,:]", local)]
    return [Path(place) for place in places if place]


def check_shared_metastore(settings: Mapping[str, str]) -> None:
    """Says in one line what Hive's client says after minutes in a page.

    Raises:
        ValueError: the shared metastore does not answer.
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
            "If it is the home's own, ./run server start starts it"
        ) from None


def named_as_python(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings, with the environment's JARs in the path where Python finds pyspark's.

    Through a link the environment has two paths. A class archive works only for one of them, and
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
def own_java(more: Sequence[Path] = ()) -> Generator[None, None, None]:
    """Uses the Java and the stores of the set-up for the driver; others use the user's.

    Args:
        more: further folders of JARs.
    """
    java = Path(sys.prefix) / "java"
    ours = {"JAVA_HOME": str(java)} if java.is_dir() else {}
    ours = {**ours, **store.class_path(more), **_names_of_files()}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _names_of_files() -> dict[str, str]:
    """Variables by which Java reads names of files as UTF-8 where it would only read ASCII.

    Without a locale, or with one that is not installed, Java lists a file such as é.csv under a
    name that it cannot open, and Spark leaves it out without a word.
    """
    if locale.nl_langinfo(locale.CODESET) not in ("ANSI_X3.4-1968", "US-ASCII", "646"):
        return {}
    return {"LC_ALL" if os.environ.get("LC_ALL") else "LC_CTYPE": "C.UTF-8"}


@contextmanager
def _interrupts_kept() -> Generator[None, None, None]:
    """Leaves Ctrl-C to dbt: pyspark's handler would cancel every running job of the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _jvm() -> "subprocess.Popen[bytes] | warm.Warm | None":
    if _root is None:
        return None
    return getattr(_root.sparkContext._gateway, "proc", None)
