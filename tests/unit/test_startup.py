"""Plain dbt finds the project of its environment, and no other project notices."""

import os
from pathlib import Path

import pytest

from dbt_delta import size, startup

NAMES = ("DBT_DELTA_HOME", "DBT_PROFILES_DIR", "DBT_LOG_PATH", "DBT_TARGET_PATH")
SIZE = ("DBT_DELTA_MEMORY", "DBT_DELTA_PARTITIONS")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an environment; the current folder is elsewhere."""
    for name in (*NAMES, *SIZE, "DBT_PROJECT_DIR"):
        # Set and removed, so that what the code under test sets is undone too.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    folder = tmp_path / "clone"
    (folder / "models" / "marts").mkdir(parents=True)
    (folder / "dbt_project.yml").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return folder


def configured(project: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, str]:
    monkeypatch.setattr("sys.argv", ["dbt", *arguments])
    startup.configure(project / ".venv")
    return {name: os.environ[name] for name in NAMES if name in os.environ}


def expected(project: Path) -> dict[str, str]:
    var = project / "var"
    return dict(zip(NAMES, map(str, (var, project, var / "logs", var / "target")), strict=True))


@pytest.mark.parametrize("flag", [["--project-dir", "../clone"], ["--project-dir=../clone"]])
def test_asked_by_flag(project: Path, monkeypatch: pytest.MonkeyPatch, flag: list[str]) -> None:
    assert configured(project, monkeypatch, "build", *flag) == expected(project)


def test_asked_by_variable(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_PROJECT_DIR", str(project))
    assert configured(project, monkeypatch, "build") == expected(project)


def test_the_flag_beats_the_variable(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = str(project.parent / "elsewhere")
    monkeypatch.setenv("DBT_PROJECT_DIR", str(project))
    assert configured(project, monkeypatch, "build", "--project-dir", other) == {}
    monkeypatch.setenv("DBT_PROJECT_DIR", other)
    flag = f"--project-dir={project}"
    assert configured(project, monkeypatch, "build", flag) == expected(project)


@pytest.mark.parametrize("folder", [".", "models/marts"])
def test_asked_by_place(project: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.chdir(project / folder)
    assert configured(project, monkeypatch, "build") == expected(project)


def test_what_the_user_set_wins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("DBT_DELTA_HOME", "../data")
    monkeypatch.setenv("DBT_PROFILES_DIR", "/mine")
    home = project.parent / "data"
    assert configured(project, monkeypatch, "build") == {
        "DBT_DELTA_HOME": str(home),
        "DBT_PROFILES_DIR": "/mine",
        "DBT_LOG_PATH": str(home / "logs"),
        "DBT_TARGET_PATH": str(home / "target"),
    }


def test_spark_takes_what_this_machine_has_unless_the_user_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(size, "cores", lambda: 16)
    monkeypatch.setattr(size, "memory", lambda: 64 * size.GB)
    monkeypatch.chdir(project)
    monkeypatch.setenv("DBT_DELTA_MEMORY", "5g")
    configured(project, monkeypatch, "build")
    assert [os.environ[name] for name in SIZE] == ["5g", "32"]


def test_another_project_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "dbt_project.yml").touch()
    monkeypatch.chdir(other)
    assert configured(project, monkeypatch, "build") == {}
    assert not any(name in os.environ for name in SIZE)
    monkeypatch.chdir(project)
    assert configured(project, monkeypatch, "build", "--project-dir", str(other)) == {}
