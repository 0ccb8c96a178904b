"""A standalone Spark cluster on this machine: a master and workers, for trials and tests."""

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

from dbt_delta.home import home
from dbt_delta.server import ServerError, daemon
from dbt_delta.session import spark

DEFAULT_PORT = 7077
START_SECONDS = 120
HOST = "127.0.0.1"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


def folder() -> Path:
    return home() / "cluster"


def start(workers: int, cores: int, memory: str, port: int) -> str:
    """Starts the master and its workers, and waits until all have signed on.

    Args:
        cores: of each worker.
        memory: of each worker, for its executors.

    Raises:
        ServerError: the reason why it cannot start; nothing new runs then.
    """
    with daemon.exclusively(folder()):
        if daemon.is_running(daemon.record(folder(), "master")):
            is_right, line = status()
            if is_right:
                return f"already {line}"
            raise ServerError(f"{line}: ./run cluster stop, then start")
        if daemon.port_problem(HOST, port):
            raise ServerError(
                f"port {port} of {HOST} is in use. Use another one: ./run cluster start --port "
                f"{port + 1}"
            )
        try:
            return _start(workers, cores, memory, port)
        except BaseException:
            _stop()
            raise


def stop() -> str:
    with daemon.exclusively(folder()):
        return "stopped" if _stop() else "was not running"


def status() -> tuple[bool, str]:
    """Whether master and all workers are there, and a line that says so."""
    found = daemon.record(folder(), "master")
    if found is None:
        return False, "not running: ./run cluster start"
    if not daemon.is_running(found):
        return False, f"process {found['pid']}, the master, is gone: ./run cluster stop, then start"
    alive, wanted = _workers(found), found["workers"]
    place = f"spark://{HOST}:{found['port']}, {alive} of {wanted} workers"
    return alive == wanted, f"running at {place}"


def _start(workers: int, cores: int, memory: str, port: int) -> str:
    spark_home, ui = daemon.spark_home(), daemon.free_port()
    logs = home() / "logs" / "cluster"
    logs.mkdir(parents=True, exist_ok=True)
    options = [
        f'-Dlog4j2.configurationFile="{os.environ["DBT_PROFILES_DIR"]}/profiles/log4j2.properties"',
        # Anybody on this machine could submit work through it without a login.
        "-Dspark.master.rest.enabled=false",
        "-Dspark.worker.cleanup.enabled=true",
        "-XX:+UseSerialGC",
    ]
    environment = {
        "SPARK_HOME": str(spark_home),
        "SPARK_CONF_DIR": str(folder()),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(folder() / "work"),
    }
    run = f"{spark_home}/bin/spark-class"
    address = ["--host", HOST, "--port"]
    commands = {"master": [run, MASTER, *address, str(port), "--webui-port", str(ui)]}
    for number in range(1, workers + 1):
        size = ["--cores", str(cores), "--memory", memory]
        command = [run, WORKER, *address, "0", "--webui-port", "0", *size, f"spark://{HOST}:{port}"]
        commands[f"worker-{number}"] = command
    with spark.own_java():
        for name, command in commands.items():
            log = f'-Ddbt_delta.logs="{logs}/{name}"'
            variables = {**environment, "SPARK_DAEMON_JAVA_OPTS": " ".join([*options, log])}
            about = {"port": port, "ui": ui, "workers": workers}
            daemon.spawn(command, folder(), name, variables, **about)
    titles = {name: f"the {name}" for name in commands}
    daemon.wait(folder(), titles, lambda: status()[0], START_SECONDS, "cluster", logs)
    return (
        f"ready: {workers} workers of {cores} core and {memory}. "
        f"SPARK_MASTER=spark://{HOST}:{port} ./run server start"
    )


def _stop() -> bool:
    """Workers first, because they would look for a master that is gone."""
    names = sorted((path.stem for path in folder().glob("*.json")), reverse=True)
    return any([daemon.stop(folder(), name) for name in names])


def _workers(found: dict[str, Any]) -> int:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{found['ui']}/json/", timeout=10) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (OSError, ValueError):
        return 0
