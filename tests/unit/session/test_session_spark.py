"""The settings with which a driver starts."""

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
