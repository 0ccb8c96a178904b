"""Packages that users have already, by their own integration projects, on Delta.

They come from no registry that pip knows: DBT_DELTA_PACKAGES names a folder with clones of their
repositories (see PACKAGES). What is not there is skipped.

    DBT_DELTA_PACKAGES=~/packages ./run test --long tests/functional/packages
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.functional import harness

FOLDER = Path(os.environ.get("DBT_DELTA_PACKAGES", "/nowhere"))
pytestmark = [pytest.mark.long, pytest.mark.session]


@dataclass(frozen=True)
class Package:
    """A repository, what it needs beside it, and what of its integration project cannot work.

    ``without`` are selectors of nodes, each with its reason; ``fails`` tests that fail, with theirs.
    """

    repository: str
    needs: tuple[str, ...] = ()
    project: str = "integration_tests"
    without: dict[str, str] | None = None
    fails: dict[str, str] | None = None
    flags: tuple[str, ...] = ()


PACKAGES = {
    "dbt_utils": Package("dbt-labs/dbt-utils"),
    "dbt_date": Package("godatadriven/dbt-date"),
    "dbt_expectations": Package("metaplane/dbt-expectations", ("godatadriven/dbt-date",)),
    "audit_helper": Package("dbt-labs/dbt-audit-helper", ("dbt-labs/dbt-utils",)),
    "codegen": Package("dbt-labs/dbt-codegen", ("dbt-labs/dbt-utils",)),
    "dbt_project_evaluator": Package("dbt-labs/dbt-project-evaluator", ("dbt-labs/dbt-utils",)),
}


def clone(repository: str) -> Path:
    """The folder of a repository; skips the test if it is not there."""
    folder = FOLDER / repository.partition("/")[2]
    if not folder.exists():
        pytest.skip(f"needs {folder.name} in the folder that DBT_DELTA_PACKAGES names")
    return folder


def lay_over(project: harness.Project, package: Package, folder: Path) -> None:
    """Makes a package's integration project one of this Spark, with dbt_delta beside it."""
    source = clone(package.repository)
    needed = [clone(name) for name in package.needs]
    own = yaml.safe_load((project.path / "dbt_project.yml").read_text())
    shutil.copytree(source / package.project, project.path, dirs_exist_ok=True)
    packages = project.path / "dbt_packages"
    installed = packages.resolve() / "dbt_delta"
    packages.unlink()
    packages.mkdir()
    (packages / "dbt_delta").symlink_to(installed)
    for one in (source, *needed):
        name = yaml.safe_load((one / "dbt_project.yml").read_text())["name"]
        shutil.copytree(one, packages / name, ignore=shutil.ignore_patterns("integration_tests*"))
        (packages / name / "packages.yml").unlink(missing_ok=True)
    for file in ("package-lock.yml", "profiles.yml"):
        (project.path / file).unlink(missing_ok=True)
    given = yaml.safe_load((project.path / "dbt_project.yml").read_text())
    orders = {one["macro_namespace"]: one["search_order"] for one in given.get("dispatch", [])}
    for space in {"dbt", "dbt_utils", *orders}:
        names = [given["name"], "dbt_delta", *orders.get(space, []), space]
        orders[space] = list(dict.fromkeys(names))
    kinds = {kind: {**given.get(kind, {}), **own[kind]} for kind in ("models", "snapshots", "seeds")}
    merged = {**given, **kinds, "profile": own["profile"], "flags": own["flags"]}
    merged["dispatch"] = [{"macro_namespace": s, "search_order": o} for s, o in orders.items()]
    project.write({"dbt_project.yml": yaml.safe_dump(merged, sort_keys=False)})
    project.write({"packages.yml": None})
    project.write(
        {
            **{
                name: text
                for name, text in harness.consumer_files(project.schema).items()
                if name in ("profiles.yml", "macros/materializations.sql")
            }
        }
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_its_own_tests_pass(name: str, new_project: Callable[..., harness.Project]) -> None:
    package, project = PACKAGES[name], new_project()
    lay_over(project, package, FOLDER)
    excluded = [part for selector in package.without or {} for part in ("--exclude", selector)]
    run = project.dbt("build", *excluded, check=False)
    failed = _failed(run)
    assert not run.exception, run.exception
    assert failed.keys() == (package.fails or {}).keys(), failed


def _failed(run: harness.Invocation) -> dict[str, Any]:
    return {
        result.node.name: str(result.message).partition("\n")[0]
        for result in run.results
        if result.status in ("error", "fail", "runtime error")
    }
