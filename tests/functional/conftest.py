"""Fixtures of the functional tests; harness.py says how to use them."""

import os
import signal
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.tests import enable_test_caching

from dbt_delta.server.daemon import free_port
from tests.functional import harness
from tests.functional.stores import serving

# Many small statements; the other tests run plans as users do.
QUICK_FOLDERS = (
    "ci",
    "cross_db",
    "diff",
    "erasure",
    "expectations",
    "functions",
    "iceberg",
    "incremental",
    "landing",
    "maintenance",
    "publish",
    "relations",
    "seeds",
    "snapshots",
    "state",
    "stream",
    "time_travel",
)
# What they prove is the embedded session itself, or they start it in other processes.
SESSION_FOLDERS = ("doctor", "landing", "reference", "server", "session", "setup", "state")
# What starts dbt, servers or stores in other processes.
PROCESS_FOLDERS = ("doctor", "landing", "reference", "server", "setup", "stores")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target",
        choices=["session", "thrift", "iceberg"],
        default="session",
        help="where dbt runs its models in the functional tests",
    )
    parser.addoption(
        "--store",
        choices=["local", *serving.STORES],
        default="local",
        help="where the functional tests have their tables",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--store") != "local":
        skip = pytest.mark.skip(reason="it starts processes with tables of their own")
        for item in items:
            if item.path.parent.name in PROCESS_FOLDERS or "_process_" in item.path.name:
                item.add_marker(skip)
    if config.getoption("--target") == "iceberg":
        _skip_what_is_deltas(items)
    else:
        skip = pytest.mark.skip(reason="it needs --target iceberg")
        for item in items:
            if item.path.parent.name == "iceberg":
                item.add_marker(skip)
    if config.getoption("--target") != "thrift":
        return
    skip = pytest.mark.skip(reason="it is about a session, or starts its servers itself")
    for item in items:
        if item.path.parent.name in SESSION_FOLDERS or item.get_closest_marker("session"):
            item.add_marker(skip)


def _skip_what_is_deltas(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="it is about Delta itself, or starts processes on it")
    for item in items:
        if item.path.parent.name in PROCESS_FOLDERS:
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> None:
    """Ctrl-C works, here and in child processes: a shell turns it off for background jobs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[serving.Store | None, None, None]:
    """The store that ``--store`` asks for; None for folders of this machine."""
    kind = request.config.getoption("--store")
    if kind == "local":
        yield None
        return
    with serving.STORES[kind](tmp_path_factory.mktemp("store")) as running:
        yield running


@pytest.fixture(scope="session")
def home(request: pytest.FixtureRequest) -> Generator[Path, None, None]:
    """Warehouse, metastore and logs of the driver that all tests share.

    With ``--store`` the warehouse is in a store that runs on this machine.
    With ``--target thrift`` dbt works on a server with its catalog in PostgreSQL; what it did is
    read by a session of this process, on the same catalog.
    """
    before = dict(os.environ)
    # If we are root, PostgreSQL runs as another user, which must be able to enter, too.
    with tempfile.TemporaryDirectory(prefix="dbt_delta_") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "logs").mkdir()
        os.environ.update(harness.environment(folder, harness.LONG))
        store = request.getfixturevalue("store")
        if store is not None:
            os.environ.update(store.environment, DBT_DELTA_STORE=store.address)
        # The same macros in every project: dbt need not read them again.
        enable_test_caching()
        # For each of its flags dbt searches the call stack for the adapter, a tenth of a run.
        BehaviorFlagRendered._default_source = staticmethod(lambda: "dbt.adapters.spark.impl")
        target = request.config.getoption("--target")
        if target != "thrift":
            os.environ["DBT_TARGET"] = target
            yield folder
        else:
            os.environ.update(DBT_TARGET="thrift", DBT_DELTA_PORT=str(free_port()))
            started = harness.run_command("server", "start", "--metastore", "postgres")
            assert started.code == 0, started.output
            yield folder
            harness.run_command("server", "stop")
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def whole_packages(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    """The installed packages of a consumer: this repository."""
    return harness.install_packages(tmp_path_factory.mktemp("deps"), home)


@pytest.fixture(scope="session")
def installed_packages(whole_packages: Path) -> Path:
    """What a consumer has of them."""
    return harness.macros_only(whole_packages)


def _project(path: Path, home: Path, packages: Path, name: str, folder: str) -> harness.Project:
    project = harness.Project(path, home, packages, name)
    if folder in QUICK_FOLDERS:
        project.set_spark(harness.QUICK)
    return project


@pytest.fixture(scope="module")
def new_shared_project(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    home: Path,
    installed_packages: Path,
) -> Callable[[str], harness.Project]:
    """Makes projects by a name that all tests of a module share."""

    def make(name: str) -> harness.Project:
        folder = tmp_path_factory.mktemp(name)
        packages, area = installed_packages, request.path.parent.name
        return _project(folder / "project", home, packages, name, area)

    return make


@pytest.fixture
def new_project(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    home: Path,
    installed_packages: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., harness.Project]:
    """Makes projects: a test that needs two gives each a name."""
    monkeypatch.chdir(tmp_path)

    def make(name: str = "project") -> harness.Project:
        full, area = f"{request.node.name}_{name}", request.path.parent.name
        return _project(tmp_path / name, home, installed_packages, full, area)

    return make


@pytest.fixture
def project(new_project: Callable[..., harness.Project]) -> harness.Project:
    """A fresh dbt project with its own schema."""
    return new_project()


@pytest.fixture
def break_before(monkeypatch: pytest.MonkeyPatch) -> harness.Breaking:
    """Lets dbt fail before the `step`th statement that a test counts, as if it were killed there.

    Given which statements count, it returns {step, writes}; `writes` is how many there were.
    """
    from dbt.adapters.spark.connections import SparkConnectionManager
    from dbt_common.exceptions import DbtDatabaseError

    def counting(counts: Callable[[str], bool]) -> dict[str, int]:
        state = {"step": 0, "writes": 0}
        stock = SparkConnectionManager.execute

        def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
            if counts(sql):
                state["writes"] += 1
                if state["writes"] == state["step"]:
                    raise DbtDatabaseError("injected")
            return stock(self, sql, *arguments, **named)

        monkeypatch.setattr(SparkConnectionManager, "execute", execute)
        return state

    return counting
