"""Stores that tests use: S3 by moto's server, HDFS by Hadoop's own cluster of one process."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dbt_delta.server.daemon import free_port
from tests.functional.harness import REPOSITORY, wait_until

# Whatever a path may have: blanks, other letters, and what an address would decode.
ODD = "wäre house 5%20"
BUCKET = "lake"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True)
class Store:
    """A store that runs: its address, the variables that reach it, and its log of requests."""

    address: str
    environment: dict[str, str]
    log: Path

    def requests(self) -> list[str]:
        """Method and path of each request that S3 has had."""
        found = re.findall(r'"(?:\x1b\[[0-9;]*m)*([A-Z]+ \S+) HTTP', self.log.read_text())
        return [each.replace("/?", "?") for each in found]

    def put(self, path: str, text: str) -> None:
        """Makes an object of the bucket of S3."""
        url = f"{self.environment['AWS_ENDPOINT_URL']}/{BUCKET}/{quote(path)}"
        # Moto reads the content of a form, urllib's default, as one.
        kind = {"Content-Type": "application/octet-stream"}
        made = urllib.request.Request(url, data=text.encode(), headers=kind, method="PUT")
        urllib.request.urlopen(made).close()

    @contextlib.contextmanager
    def counted(self) -> Iterator[list[str]]:
        """The requests while it is open; complete afterwards."""
        before, found = len(self.requests()), []
        yield found
        found.extend(self.requests()[before:])


@contextlib.contextmanager
def s3(folder: Path, extra: dict[str, str] | None = None) -> Generator[Store, None, None]:
    """A server of S3 on this machine, with one bucket.

    Args:
        extra: variables of the server.
    """
    port, log = free_port(), folder / "s3.log"
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _process(command, log, port, extra or {}):
        urllib.request.urlopen(urllib.request.Request(f"{url}/{BUCKET}", method="PUT")).close()
        environment = {**KEYS, "AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1"}
        yield Store(f"s3a://{BUCKET}/{ODD}", environment, log)


@contextlib.contextmanager
def hdfs(folder: Path) -> Generator[Store, None, None]:
    """A name node and a data node on this machine: ./run test --store hdfs installs them."""
    port, details = free_port(), folder / "hdfs.json"
    spark = next((REPOSITORY / ".venv" / "lib").glob("python*/site-packages/pyspark/jars"))
    java = (REPOSITORY / ".venv" / "java" / "real").read_text().strip()
    # The cluster's JAR has an older Hadoop client, and goes first.
    path = f"{REPOSITORY}/.venv/minicluster/*:{spark}/*"
    command = [java, "-Xmx512m", "-cp", path, "org.apache.hadoop.test.MiniDFSClusterManager"]
    command += ["-format", "-datanodes", "1", "-nnport", str(port), "-writeDetails", str(details)]
    for key, value in {
        "hdfs.minidfs.basedir": folder / "dfs",
        "dfs.namenode.rpc-bind-host": "127.0.0.1",
        "dfs.permissions.enabled": "false",
    }.items():
        command += ["-D", f"{key}={value}"]
    with _process(command, folder / "hdfs.log", port, {}):
        wait_until(details.exists, 90, "HDFS to start")
        yield Store(f"hdfs://localhost:{port}/{ODD}", {}, folder / "hdfs.log")


@contextlib.contextmanager
def _process(
    command: list[str], log: Path, port: int, extra: dict[str, str]
) -> Generator[None, None, None]:
    """A process that listens on a port of this machine while the context is open."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **extra},
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 90
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"{command[0]} did not start:\n{log.read_text()[-2000:]}")
        yield
    finally:
        process.terminate()
        process.wait(30)


STORES = {"s3": s3, "hdfs": hdfs}
