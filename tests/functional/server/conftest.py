"""Real Spark Thrift servers, started by ./run, each in a home and on a port of its own."""

import json
import urllib.request
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.server.daemon import free_port
from tests.functional import harness


class Server:
    """A home whose server ./run starts and stops; its UI tells which jobs run."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.port = free_port()
        self.ui = free_port()
        self.conf = home / "server.conf"
        conf = {"spark.ui.enabled": "true", "spark.ui.port": str(self.ui), **harness.QUICK}
        self.conf.write_text("".join(f"{name} {value}\n" for name, value in conf.items()))

    @property
    def environment(self) -> dict[str, str]:
        """For ./run, and for dbt with --target thrift."""
        return {
            **harness.environment(self.home),
            "DBT_DELTA_PORT": str(self.port),
            "DBT_DELTA_SERVER_CONF": str(self.conf),
        }

    def run(self, *arguments: str, **environment: str) -> harness.Run:
        """``./run server ..`` to its end."""
        return self.command("server", *arguments, **environment)

    def command(self, *arguments: str, **environment: str) -> harness.Run:
        """``./run ..`` in this home, to its end."""
        return harness.run_command(*arguments, env={**self.environment, **environment})

    def start(self, *arguments: str) -> "Server":
        """Starts it, or fails the test with what it said."""
        run = self.run("start", *arguments)
        assert run.code == 0, run.output
        return self

    @property
    def pid(self) -> int:
        return int(json.loads((self.home / "server" / "thrift.json").read_text())["pid"])

    def dbt(self, project: harness.Project, *arguments: str, **environment: str) -> Any:
        """Starts ``dbt ..`` on this server, as a process of its own."""
        variables = {**self.environment, "DBT_TARGET": "thrift", **environment}
        return project.process(*arguments, home=self.home, env=variables)

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """Rows of a statement."""
        return [tuple(row.values()) for row in self.rows(text)]

    def rows(self, text: str) -> list[dict[str, Any]]:
        """Rows of a statement by column name."""
        from dbt_delta.session.thrift import connect

        with closing(connect("127.0.0.1", self.port, "test")) as connection:
            cursor = connection.cursor()
            cursor.execute(text)
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def history(self, table: str) -> list[dict[str, Any]]:
        """Delta's history of a table, newest first."""
        return self.rows(f"describe history {table}")

    def version(self, table: str) -> int:
        """The table's newest version."""
        return self.history(table)[0]["version"]

    def jobs(self, status: str = "running") -> list[dict[str, Any]]:
        """Spark's jobs as its UI has them."""
        base = f"http://127.0.0.1:{self.ui}/api/v1/applications"
        application = _json(base)[0]["id"]
        return _json(f"{base}/{application}/jobs?status={status}")


def _json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def new_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[Callable[..., Server], None, None]:
    """Makes servers that are stopped when the module ends."""
    made: list[Server] = []

    def make(home: Path | None = None) -> Server:
        made.append(Server(home or tmp_path_factory.mktemp("server")))
        return made[-1]

    yield make
    for server in made:
        server.run("stop")


@pytest.fixture(scope="module")
def server(new_server: Callable[..., Server]) -> Server:
    """A running server that the tests of a module share."""
    return new_server().start()


@pytest.fixture(scope="module")
def dbt_on_server(server: Server, home: Path) -> Generator[None, None, None]:
    """``project.dbt(.., "--target", "thrift")`` uses the shared server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_DELTA_PORT", str(server.port))
        yield
