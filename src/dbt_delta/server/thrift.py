"""The Spark Thrift server of this home: one at a time, with the settings of the session target."""

import contextlib
import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

from dbt_delta.home import home, write_private
from dbt_delta.server import ServerError, daemon, metastore, settings
from dbt_delta.session import lock, properties, spark, store, warm

NAME = "thrift"
MAIN = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
IDENTITY = "spark.dbt_delta.identity"
START_SECONDS = 180
# A query of no table; a busy server still answers it.
ANSWER_SECONDS = 30
DEFAULT_PORT = 10000
# Java itself, threads and class data, beside the heap.
OVERHEAD_MB = 512
_MEMORY = re.compile(r"(\d+)([kmgt]?)b?", re.IGNORECASE)


def folder() -> Path:
    return home() / "server"


def start(conf: Path | None, kind: str | None, host: str | None, port: int | None) -> str:
    """Starts the server if it does not run, and waits until it has answered a query.

    Args:
        conf: a file of Spark properties that win over all others.
        kind: the metastore, ``derby`` or ``postgres``; default: what this home has.

    Returns:
        One line for the user.

    Raises:
        ServerError: the reason why it cannot start; nothing new runs then.
    """
    with daemon.exclusively(folder()):
        found = daemon.record(folder(), NAME)
        if found is not None and daemon.is_running(found):
            if not answers(found):
                problem = f"{_place(found)} runs as process {found['pid']}, but does not answer"
                raise ServerError(f"{problem}: ./run server stop, then start")
            return f"already running at {_place(found)} (process {found['pid']})"
        if found is not None:
            print(f"server: process {found['pid']}, the last server, is gone", flush=True)
        wanted = _settings(conf, host, port)
        settings.check_door(wanted)
        _check_port(wanted[settings.HOST], int(wanted[settings.PORT]))
        _check_memory(wanted)
        wanted.update(metastore.prepare(kind, wanted))
        _check_store(wanted)
        return _start(wanted)


def stop() -> str:
    """Stops the server, and the PostgreSQL that a start began."""
    with daemon.exclusively(folder()):
        was_running = daemon.stop(folder(), NAME)
        (folder() / "spark.conf").unlink(missing_ok=True)
        shutil.rmtree(folder() / "conf", ignore_errors=True)
        stopped = ["stopped"] if was_running else ["was not running"]
        if metastore.stop_local():
            stopped.append("PostgreSQL stopped")
        if _end_warm():
            stopped.append("the Spark that waited for the next command stopped")
        return ", ".join(stopped)


def _end_warm() -> bool:
    """Whether an idle Spark was kept, and is ended; one that a command uses is not."""
    kept = [path.with_suffix("") for path in home().glob("*.warm")]
    for embedded in kept:
        try:
            lock.take(embedded).close()
        except lock.MetastoreInUse:
            return False
    return bool(kept)


def status() -> tuple[bool, str]:
    """Whether the server answers, and a line that says so."""
    found = daemon.record(folder(), NAME)
    if found is None:
        return False, "not running: ./run server start"
    if not daemon.is_running(found):
        return False, f"process {found['pid']} is gone (killed?): ./run server start"
    if not answers(found):
        problem = f"process {found['pid']} runs, but does not answer at {_place(found)}"
        return False, f"{problem}: ./run server logs, or stop and start it"
    details = f"process {found['pid']}, {found['master']}, metastore {found['metastore']}"
    return True, f"running at {_place(found)} ({details})"


def answers(found: Mapping[str, Any]) -> bool:
    """Whether the server on record runs a query, or asks for a login if it needs one."""
    import thrift.transport.TTransport as transports

    if found["authentication"] == "KERBEROS":
        return daemon.port_problem(found["host"], found["port"]) != ""
    try:
        with contextlib.closing(_connect(found)) as connection:
            cursor = connection.cursor()
            cursor.execute(f"set {IDENTITY}")
            return cursor.fetchall() == [(IDENTITY, found["identity"])]
    except transports.TTransportException as error:
        return "Error validating the login" in str(error) and found["authentication"] != "NONE"
    except Exception:
        return False


def _connect(found: Mapping[str, Any]) -> Any:
    from dbt_delta.session.thrift import connect

    return connect(
        host="127.0.0.1" if found["host"] in ("0.0.0.0", "::") else found["host"],
        port=found["port"],
        user=os.environ.get("DBT_DELTA_USER", "dbt"),
        password=os.environ.get("DBT_ENV_SECRET_PASSWORD"),
        auth=found["authentication"],
        tls=_trusting() if found["tls"] else None,
        timeout=ANSWER_SECONDS,
    )


def _trusting() -> ssl.SSLContext:
    """Asks only whether our own server runs; dbt verifies the certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _settings(conf: Path | None, host: str | None, port: int | None) -> dict[str, str]:
    profile = settings.of_profile()
    options = "spark.driver.extraJavaOptions"
    wanted = {
        **profile,
        **spark.ON_SERVERS,
        # A server that has run out of memory does no more work and blocks all who wait for it.
        options: f"{profile.get(options, '')} -XX:+ExitOnOutOfMemoryError",
        "spark.app.name": "dbt_delta server",
        # Keeps the compiled plans of whole projects for their next run; Spark's default is 100.
        "spark.sql.codegen.cache.maxEntries": "1000",
        # A small statement gets its share beside a big one; each connection is a pool.
        "spark.scheduler.mode": "FAIR",
        # For another user than the last, Hive would close the one client of the metastore that all
        # statements share, and open it anew.
        settings.HIVE + "enable.doAs": "false",
        settings.HOST: "127.0.0.1",
        settings.PORT: str(_default_port()),
        IDENTITY: secrets.token_hex(16),
    }
    if os.environ.get("SPARK_MASTER"):
        wanted["spark.master"] = os.environ["SPARK_MASTER"]
    if not wanted["spark.master"].startswith("local"):
        places = [Path(sys.prefix) / "jars", *store.jar_folders()]
        jars = [jar for place in places for jar in sorted(place.glob("*.jar"))]
        wanted["spark.jars"] = ",".join(str(jar) for jar in jars)
    if conf is not None:
        wanted.update(settings.of_file(conf))
    if host is not None:
        wanted[settings.HOST] = host
    if port is not None:
        wanted[settings.PORT] = str(port)
    return wanted


def _default_port() -> int:
    text = os.environ.get("DBT_DELTA_PORT", str(DEFAULT_PORT))
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise ServerError(f"DBT_DELTA_PORT is a port, 1 to 65535. Got: {text!r}")
    return int(text)


def _check_port(host: str, port: int) -> None:
    problem = daemon.port_problem(host, port)
    if problem:
        raise ServerError(
            f"port {port} of {host} cannot be used ({problem}). Use another one: "
            f"./run server start --port {port + 1}, and DBT_DELTA_PORT={port + 1} for dbt"
        )


def _check_memory(wanted: Mapping[str, str]) -> None:
    """Refuses a heap that is too large for this machine: the system would kill the server."""
    text = wanted.get("spark.driver.memory", "1g")
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ServerError(f"spark.driver.memory is an amount such as 2g. Got: {text!r}")
    scale = {"": 2**20, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}[match[2].lower()]
    asked = int(match[1]) * scale + OVERHEAD_MB * 2**20
    available = _available_memory()
    if available is not None and asked > available:
        raise ServerError(
            f"too little memory: a heap of {text} needs {OVERHEAD_MB} MB more, and this machine "
            f"has {available / 2**30:.1f} GB available. Set DBT_DELTA_MEMORY to a smaller heap"
        )


def _available_memory() -> int | None:
    """Bytes that are available without swapping; None if the system does not say."""
    found: list[int] = []
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable"))
        found.append(int(line.split()[1]) * 1024)
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return min(found, default=None)


def _check_store(wanted: Mapping[str, str]) -> None:
    """Refuses a store of tables that the server could not use, or that is of another catalog."""
    if store.is_local(wanted[store.WAREHOUSE]):
        return
    print("server: looking at the store of the tables", flush=True)
    tried = subprocess.run(
        [sys.executable, "-m", "dbt_delta.session.store"],
        input=json.dumps({**wanted, "spark.master": "local[1]"}),
        env={**os.environ, warm.VARIABLE: "off"},
        capture_output=True,
        text=True,
    )
    if tried.returncode != 0:
        raise ServerError(tried.stderr.strip().splitlines()[-1])


def _start(wanted: Mapping[str, str]) -> str:
    settings.logs().mkdir(parents=True, exist_ok=True)
    conf = write_private(folder() / "spark.conf", properties.text(spark.named_as_python(wanted)))
    spark_home = daemon.spark_home()
    command = [f"{spark_home}/bin/spark-submit", "--class", MAIN]
    command += ["--properties-file", str(conf), "spark-internal"]
    about = {
        "host": wanted[settings.HOST],
        "port": int(wanted[settings.PORT]),
        "identity": wanted[IDENTITY],
        "authentication": wanted.get(settings.AUTHENTICATION, "NONE").upper(),
        "tls": wanted.get(settings.USE_TLS, "false").lower() == "true",
        "master": wanted["spark.master"],
        "metastore": metastore.name(wanted),
    }
    embedded = lock.metastore_dir(wanted)
    environment = {"SPARK_HOME": str(spark_home), **_hive_site(wanted)}
    begun = time.monotonic()
    with spark.own_java(), _taken(embedded) as taken:
        found = daemon.spawn(command, folder(), NAME, environment, taken, **about)
        for file in taken:
            use = "Use it: --target thrift"
            lock.note(file, pid=found["pid"], command="./run server start", remedy=use)
    ready, log = partial(answers, found), settings.logs() / "spark.log"
    try:
        daemon.wait(folder(), {NAME: "Spark"}, ready, START_SECONDS, "answer from Spark", log)
    except BaseException:
        daemon.stop(folder(), NAME)
        raise
    took = time.monotonic() - begun
    hint = "" if settings.is_loopback(about["host"]) else ", open to other machines"
    return (
        f"ready at {_place(about)} in {took:.0f} s (process {found['pid']}, metastore "
        f"{about['metastore']}{hint}): dbt build --target {NAME}"
    )


def _hive_site(wanted: Mapping[str, str]) -> dict[str, str]:
    """The variable with the path of a hive-site.xml, the only file that Hive's login reads.

    A folder on the class path would disable the class archive, which makes the start faster.
    """
    place = folder() / "conf"
    shutil.rmtree(place, ignore_errors=True)
    site = settings.as_hive_site(wanted)
    if not site:
        return {}
    write_private(daemon.private_folder(place) / "hive-site.xml", site)
    return {"SPARK_CONF_DIR": str(place)}


@contextlib.contextmanager
def _taken(embedded: Path | None) -> Generator[list[IO[str]], None, None]:
    """The lock on the embedded metastore, for the server to keep until it ends."""
    if embedded is None:
        yield []
        return
    try:
        file = lock.take(embedded)
    except lock.MetastoreInUse as error:
        raise ServerError(str(error)) from error
    with file:
        yield [file]


def _place(found: Mapping[str, Any]) -> str:
    return f"{found['host']}:{found['port']}"
