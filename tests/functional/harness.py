"""Runs dbt on real Spark and Delta, and reads what it left on the server.

All tests of a pytest process share one Spark driver, one warehouse and one metastore, in a
temporary folder; each test has its own dbt project and schema. The project uses this
repository as a package, the way a consumer does, with the settings of profiles/profiles.yml.

    def test_something(project):
        project.write({
            "models/a.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/schema.yml": "models: [{name: a}]",
        })
        run = project.dbt("run", "-s", "a", vars={"day": "2013-01-01"})  # or fails the test
        assert run.results[0].status == "success"
        assert project.rows("a") == [{"id": 1}]
        assert project.version("a") == 0
        assert project.history("a")[0]["operation"] == "CREATE OR REPLACE TABLE AS SELECT"
        assert project.sql("select max(id) as top from {schema}.a")[0].top == 1

        failed = project.dbt("run", "-s", "broken", check=False)
        assert "TABLE_OR_VIEW_NOT_FOUND" in failed.output   # what a person sees on the console

``project.process(...)`` starts the real ``dbt`` executable instead, with a Spark driver, a
its own warehouse and metastore: for signals, console text, start-up and locks. At most one
such process beside the shared driver keeps a small machine usable.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILE = "functional"
# Java's second compiler pays for what runs longer than a quarter of an hour, as the shared driver
# does: late, as in the profile. Without it the code cache is 48 MB by default, too small for
# Spark, which would go on without a compiler.
_JAVA_OPTIONS = (
    f'-XX:SharedArchiveFile="{REPOSITORY}/.venv/spark.jsa" -Xshare:auto -Xlog:cds=off '
    "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m "
    # Hadoop starts chmod and readlink for each file.
    "-Djdk.lang.Process.launchMechanism=VFORK "
)
SHORT = _JAVA_OPTIONS + "-XX:TieredStopAtLevel=1"
LONG = _JAVA_OPTIONS + (
    # Nobody needs this metastore after a power cut: it need not wait for the disk.
    "-Dderby.system.durability=test "
    # Room for what a statement leaves: fewer collections.
    "-Xms1500m -Xmn900m "
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
# Of a table of three rows, compiling a plan to Java and spreading it cost more than running it.
QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}
# See the fixture break_before.
Breaking = Callable[[Callable[[str], bool]], dict[str, int]]
_serial = itertools.count(1)


def is_session() -> bool:
    """Whether dbt runs Spark itself; on a Thrift server Python models cannot run."""
    return os.environ.get("DBT_TARGET") != "thrift"


def is_iceberg() -> bool:
    """Whether dbt builds Iceberg tables."""
    return os.environ.get("DBT_TARGET") == "iceberg"


@dataclass
class Invocation:
    """What one dbt command gave back."""

    success: bool
    results: list[Any]
    exception: BaseException | None
    events: list[Any] = field(repr=False)

    @property
    def output(self) -> str:
        """The console text: events from info up, without time stamps and colours."""
        shown = (e.info.msg for e in self.events if e.info.level not in ("debug", "test"))
        return _plain("\n".join(shown))

    @property
    def printed(self) -> str:
        """What macros printed; with --quiet nothing else is shown."""
        return "\n".join(e.info.msg for e in self.events if e.info.name == "PrintEvent")

    @property
    def log(self) -> str:
        """Everything, as the log file has it."""
        return _plain("\n".join(event.info.msg for event in self.events))

    @property
    def statements(self) -> list[str]:
        """The SQL sent to Spark, in order, without dbt's comment."""
        sent = (e.data.sql for e in self.events if e.info.name == "SQLQuery")
        return [re.sub(r"^\s*/\* .*? \*/\s*", "", sql, flags=re.DOTALL).strip() for sql in sent]

    def result(self, name: str) -> Any:
        """The result of the node with that name."""
        return next(r for r in self.results if r.node.name == name)


class Project:
    """A dbt project with its own folder and schema.

    Manifest and results are files only after ``writes_json`` was set: they take a third of a parse.
    Console and log file get something only after ``logs`` was set: an ``Invocation`` has it all.
    """

    writes_json = False
    logs = False

    def __init__(self, path: Path, home: Path, packages: Path, name: str) -> None:
        self.path = path
        self.home = home
        self.schema = f"{_slug(name)[:48]}_{next(_serial)}"
        path.mkdir(parents=True)
        (path / "dbt_packages").symlink_to(packages)
        self.write(consumer_files(self.schema))

    def write(self, files: Mapping[str, str | None]) -> None:
        """Writes text files, dedented; None removes one."""
        for name, text in files.items():
            target = self.path / name
            if text is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(dedent(text).lstrip("\n"))

    def configure(self, **entries: Any) -> None:
        """Adds entries to dbt_project.yml, replacing those of the same name."""
        path = self.path / "dbt_project.yml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **entries}))

    def set_spark(self, settings: Mapping[str, str]) -> None:
        """Adds Spark settings to the project's profile."""
        path = self.path / "profiles.yml"
        profile = yaml.safe_load(path.read_text())
        for target in profile[PROFILE]["outputs"].values():
            target.setdefault("server_side_parameters", {}).update(settings)
        path.write_text(yaml.safe_dump(profile, sort_keys=False))

    def dbt(
        self,
        *arguments: str,
        vars: Mapping[str, Any] | None = None,
        check: bool = True,
        threads: int | None = None,
    ) -> Invocation:
        """Runs a dbt command in this process.

        Raises:
            AssertionError: dbt failed, and ``check`` is on; with the console text.
        """
        from dbt.cli.main import dbtRunner

        events: list[Any] = []
        command = self._command(arguments, vars)
        if threads:
            command += ["--threads", str(threads)]
        if not self.writes_json:
            command.append("--no-write-json")
        if not self.logs:
            command += ["--log-level", "none", "--log-level-file", "none"]
        ran = dbtRunner(callbacks=[events.append]).invoke(command)
        results = getattr(ran.result, "results", None) or []
        invocation = Invocation(ran.success, list(results), ran.exception, events)
        if check and not ran.success:
            raise AssertionError(
                f"dbt {' '.join(arguments)} failed: {ran.exception or ''}\n{invocation.output}"
            )
        return invocation

    def process(
        self,
        *arguments: str,
        vars: Mapping[str, Any] | None = None,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> "Process":
        """Starts the ``dbt`` executable; see ``Process``. ``home`` defaults to one per project."""
        home = home or self.path / "home"
        return dbt_subprocess(self.path, *self._command(arguments, vars), home=home, env=env)

    def sql(self, text: str) -> list[Any]:
        """Rows of a statement, run in a separate Spark session."""
        return session().sql(text.replace("{schema}", self.schema)).collect()

    def rows(self, name: str, order_by: str | None = None) -> list[dict[str, Any]]:
        """All rows of a table or view of this project, ordered by all columns, NULLs first."""
        text = f"select * from {self.relation(name)}"
        if order_by:
            text += f" order by {order_by}"
        found = [row.asDict(recursive=True) for row in read(text)]
        return found if order_by else sorted(found, key=lambda row: _rank(list(row.values())))

    def history(self, name: str) -> list[dict[str, Any]]:
        """Delta's history of a table, newest first; ``userMetadata`` as written.

        On Iceberg a version is the number of a snapshot, from 0.
        """
        if is_iceberg():
            return self.snapshots(name)
        found = self.sql(f"describe history {self.relation(name)}")
        return [row.asDict(recursive=True) for row in found]

    def version(self, name: str) -> int:
        """The table's newest version."""
        return self.history(name)[0]["version"]

    def snapshots(self, name: str) -> list[dict[str, Any]]:
        """The snapshots of an Iceberg table, newest first, in words of Delta's history."""
        found = self.sql(
            f"select snapshot_id, operation, summary from {self.relation(name)}.snapshots "
            "order by committed_at"
        )
        return [
            {
                "version": number,
                "snapshot": row.snapshot_id,
                "operation": row.operation,
                "userMetadata": row.summary.get("dbt"),
                "operationMetrics": row.summary,
            }
            for number, row in enumerate(found)
        ][::-1]

    @property
    def warehouse(self) -> Path:
        """The folder of its schema's tables; skips the test if they are in a store."""
        if os.environ.get("DBT_DELTA_STORE"):
            pytest.skip("it looks into folders of this machine")
        return self.home / "warehouse" / f"{self.schema}.db"

    def relation(self, name: str) -> str:
        """``name`` as SQL reads it; with this project's schema unless it names one."""
        parts = name.split(".") if "." in name else [self.schema, name]
        return ".".join(f"`{part}`" for part in parts)

    def _command(self, arguments: Iterable[str], vars: Mapping[str, Any] | None) -> list[str]:
        command = [
            *arguments,
            *("--project-dir", str(self.path), "--profiles-dir", str(self.path)),
            *("--target-path", str(self.path / "target"), "--log-path", str(self.path / "logs")),
        ]
        return command if vars is None else [*command, "--vars", json.dumps(dict(vars))]


class Process:
    """A running ``dbt`` executable; console text of both streams in ``output`` as it comes."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        self._popen = popen
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def output(self) -> str:
        return _plain("".join(self._lines))

    def wait(self, timeout: float = 180) -> int:
        """The exit code.

        Raises:
            AssertionError: it still runs after ``timeout`` seconds; it is killed then.
        """
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"dbt still ran after {timeout} s\n{self.output}") from None
        self._reader.join(timeout=30)
        return code

    def wait_for(self, pattern: str, timeout: float = 120) -> None:
        """Waits until the console shows ``pattern``."""
        wait_until(
            lambda: re.search(pattern, self.output) or self._popen.poll() is not None,
            timeout,
            f"dbt to show {pattern!r}",
        )
        assert re.search(pattern, self.output), f"dbt ended without {pattern!r}:\n{self.output}"

    def interrupt(self) -> None:
        """Ctrl-C: the signal reaches the whole process group, as from a terminal."""
        os.killpg(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Ends the process and its JVM at once."""
        if self._popen.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self._popen.wait()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._lines.append(line)


def dbt_subprocess(
    folder: Path, *arguments: str, home: Path, env: Mapping[str, str] | None = None
) -> Process:
    """Starts the real ``dbt`` in ``folder`` with warehouse, metastore and logs in ``home``."""
    (home / "logs").mkdir(parents=True, exist_ok=True)
    return Process(
        subprocess.Popen(
            [Path(sys.executable).with_name("dbt"), *arguments],
            cwd=folder,
            env={**os.environ, **environment(home), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A separate process group, so that a signal reaches dbt and its JVM and not pytest.
            start_new_session=True,
        )
    )


def environment(home: Path, java_options: str = SHORT) -> dict[str, str]:
    """Variables that keep dbt and Spark out of the repository and of the user's home."""
    return {
        "DBT_DELTA_HOME": str(home),
        "DBT_DELTA_MEMORY": "2g",
        "DBT_DELTA_JAVA_OPTIONS": java_options,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_USE_COLORS": "false",
        "COLUMNS": "200",
    }


@dataclass
class Run:
    """A finished ./run command."""

    code: int
    output: str


def run_command(*arguments: str, env: Mapping[str, str] | None = None) -> Run:
    """Runs ./run to its end, with variables beside this process's."""
    done = subprocess.run(
        [REPOSITORY / "run", *arguments],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=900,
    )
    return Run(done.returncode, done.stdout + done.stderr)


def consumer_files(schema: str, profile: str = PROFILE) -> dict[str, str]:
    """The files of a project that uses this repository as a package."""
    settings = (REPOSITORY / "profiles" / "profiles.yml").read_text()
    settings = settings.replace("flags.PROFILES_DIR", f"'{REPOSITORY}'")
    settings = settings.replace("flags.LOG_PATH", "(env_var('DBT_DELTA_HOME') ~ '/logs')")
    settings = re.sub(r"schema: .*DBT_SCHEMA.*", f"schema: {schema}", settings)
    project = {
        "name": "consumer",
        "version": "1.0.0",
        "profile": profile,
        "flags": {"send_anonymous_usage_stats": False},
        "dispatch": [
            {"macro_namespace": "dbt", "search_order": ["consumer", "dbt_delta", "dbt"]},
        ],
    }
    if not is_iceberg():
        kinds = ("models", "snapshots", "seeds")
        project.update({kind: {"+file_format": "delta"} for kind in kinds})
    return {
        "profiles.yml": re.sub(r"^dbt_delta:", f"{profile}:", settings, flags=re.MULTILINE),
        "dbt_project.yml": yaml.safe_dump(project, sort_keys=False),
        "packages.yml": yaml.safe_dump({"packages": [{"local": str(REPOSITORY)}]}),
        "macros/materializations.sql": materialization_wrappers(),
    }


def materialization_wrappers() -> str:
    """The file by which a consumer lets this package's materializations in: theirs, copied."""
    block = r"{%-?\s*materialization .*?endmaterialization\s*-?%}"
    files = sorted((REPOSITORY / "macros" / "materializations").glob("*.sql"))
    found = [re.findall(block, file.read_text(), re.DOTALL) for file in files]
    return "\n\n".join(itertools.chain.from_iterable(found)) + "\n"


def install_packages(folder: Path, home: Path) -> Path:
    """Runs ``dbt deps`` once; the folder of installed packages."""
    project = folder / "packages"
    project.mkdir(parents=True)
    for name, text in consumer_files("none").items():
        target = project / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
    deps = dbt_subprocess(project, "deps", home=home)
    assert deps.wait() == 0, deps.output
    return project / "dbt_packages"


def macros_only(packages: Path) -> Path:
    """The installed package without its own models: dbt parses them in half of its time.

    Its project turns them off in every other project (test_as_a_package.py).
    """
    folder = packages.with_name("macros_only")
    package = folder / "dbt_delta"
    package.mkdir(parents=True)
    for name in ("dbt_project.yml", "macros"):
        (package / name).symlink_to((packages / "dbt_delta" / name).resolve())
    return folder


@cache
def session() -> Any:
    """A Spark session beside dbt's, on the same driver."""
    from dbt_delta.session.spark import new_session

    return new_session({**settings(), **QUICK})


@cache
def _reader() -> Any:
    """A session that reads Delta tables by Delta's Kernel: another reader than dbt's session has.

    It takes a quarter of the time, as it plans no Spark jobs to list a table's files.
    """
    own = session().newSession()
    for key, value in {**settings(), **QUICK}.items():
        if own.conf.isModifiable(key):
            own.conf.set(key, value)
    own.conf.set("spark.databricks.delta.v2.enableMode", "STRICT")
    return own


# The Kernel lacks some types (void), names of fields that need quotes, and columns that are called
# as those of a change feed.
KERNEL_FAILS = ("KernelException", "INVALID_IDENTIFIER", "PARSE_SYNTAX_ERROR", "INTERNAL_ERROR")


def read(text: str) -> list[Any]:
    """Rows of a query by Delta's Kernel; by Spark's own reader where the Kernel cannot."""
    if is_iceberg():
        return list(session().sql(text).collect())
    try:
        return list(_reader().sql(text).collect())
    except Exception as error:
        if not any(reason in str(error) for reason in KERNEL_FAILS):
            raise
        return list(session().sql(text).collect())


def settings() -> dict[str, str]:
    """The Spark settings of the test profile as dbt renders them."""
    from jinja2 import Template

    text = consumer_files("none")["profiles.yml"]
    # Rendered per value, as dbt does: a value may hold what YAML reads differently.
    name = "iceberg" if is_iceberg() else "session"
    target = yaml.safe_load(text)[PROFILE]["outputs"][name]
    flags = SimpleNamespace(PROFILES_DIR=REPOSITORY)
    return {
        key: Template(str(value)).render(env_var=os.environ.get, flags=flags).strip()
        for key, value in target["server_side_parameters"].items()
    }


def wait_until(condition: Any, timeout: float, what: str) -> None:
    """Polls until ``condition()`` is true.

    Raises:
        AssertionError: it is not after ``timeout`` seconds.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout} s for {what}"
        time.sleep(0.05)


def _rank(value: Any) -> Any:
    """Orders values as Spark does, those within others too: NULL first, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return (1, [_rank(one) for one in value])
    return (2,) if value != value else (1, value)


def _slug(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()


def _plain(text: str) -> str:
    """Text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
