"""The settings with which a driver starts."""

import os
import sys
from pathlib import Path

import pytest

from dbt_delta.session import spark

CLASS_PATH = "spark.driver.extraClassPath"


def test_one_environment_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real" / "jars").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "link"))
    given = {CLASS_PATH: f"/mine/a.jar:{tmp_path}/real/jars/*", "spark.a": "b"}
    assert spark.named_as_python(given) == {
        CLASS_PATH: f"/mine/a.jar:{tmp_path}/link/jars/*",
        "spark.a": "b",
    }


@pytest.mark.parametrize("given", [{}, {CLASS_PATH: "/mine/*"}])
def test_other_class_paths_stay(given: dict[str, str]) -> None:
    assert spark.named_as_python(given) == given


@pytest.mark.parametrize(
    ("codeset", "variables", "expected"),
    [
        ("UTF-8", {}, {}),
        # Names of files in that encoding.
        ("ISO-8859-1", {"LC_ALL": "de_DE"}, {}),
        ("ANSI_X3.4-1968", {"LC_ALL": "", "LC_CTYPE": "C"}, {"LC_ALL": "", "LC_CTYPE": "C.UTF-8"}),
        ("ANSI_X3.4-1968", {"LC_ALL": "en_US.UTF-8"}, {"LC_ALL": "C.UTF-8"}),
    ],
)
def test_java_reads_names_of_files_that_are_not_ascii(
    monkeypatch: pytest.MonkeyPatch,
    codeset: str,
    variables: dict[str, str],
    expected: dict[str, str],
) -> None:
    for name in ("LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(spark.locale, "nl_langinfo", lambda _: codeset)
    with spark.own_java():
        found = {name: os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE")}
    assert {name: value for name, value in found.items() if value is not None} == (
        expected or variables
    )
    assert os.environ.get("LC_ALL") == variables.get("LC_ALL")
