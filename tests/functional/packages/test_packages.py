"""Packages that users have already, by their own integration projects, on Delta.

They come from no registry that pip knows: DBT_DELTA_PACKAGES names a folder with clones of their
repositories (see PACKAGES). What is not there is skipped.

    DBT_DELTA_PACKAGES=~/packages ./run test --long tests/functional/packages
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.functional import harness

FOLDER = Path(os.environ.get("DBT_DELTA_PACKAGES", "/nowhere"))
pytestmark = [pytest.mark.long, pytest.mark.session]


@dataclass(frozen=True)
class Package:
    """A repository, others that it needs, and what of its integration project cannot work here.

    ``without`` has a reason for selectors of nodes; ``first`` is an operation that comes before.
    """

    repository: str
    needs: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    first: str = ""


UTILS, DATE = "dbt-labs/dbt-utils", "godatadriven/dbt-date"
PACKAGES = {
    "dbt_utils": Package(
        UTILS,
        without={
            "test_groupby": "Spark takes no star beside GROUP BY with numbers",
            "data_test_equality_floats_a+": "cells with more digits than a float has are refused",
            "data_test_equality_floats_b+": "the same",
            "data_test_equality_floats_columns_a+": "the same",
            "data_test_equality_floats_columns_b+": "the same",
        },
    ),
    "dbt_date": Package(DATE),
    "dbt_expectations": Package("metaplane/dbt-expectations", (DATE,)),
    "audit_helper": Package(
        "dbt-labs/dbt-audit-helper",
        (UTILS,),
        {
            "unit_test_struct_model_a+": "the project has no JSON of Spark",
            "unit_test_struct_model_b+": "the same",
            "unit_quick_are_queries_identical+": "the package has it for two databases only",
        },
    ),
    "codegen": Package(
        "dbt-labs/dbt-codegen",
        (UTILS,),
        {
            "test_generate_source_all_args": "it expects the types of another database",
            "test_generate_model_repeated_yaml": "the same",
            "test_generate_model_yaml": "the same",
        },
        first="create_source_table",
    ),
    "dbt_project_evaluator": Package(
        "dbt-labs/dbt-project-evaluator",
        (UTILS,),
        {"equality_fct_test_coverage": "it compares with a float, which has 32 bits on Spark"},
    ),
}


def clone(repository: str) -> Path:
    """The folder of a repository; skips the test if it is not there."""
    folder = FOLDER / repository.partition("/")[2]
    if not folder.exists():
        pytest.skip(f"needs {folder.name} in the folder that DBT_DELTA_PACKAGES names")
    return folder


def lay_over(project: harness.Project, name: str) -> None:
    """Makes a package's integration project one of this Spark, with dbt_delta beside it."""
    package = PACKAGES[name]
    source, *needed = [clone(one) for one in (package.repository, *package.needs)]
    own = yaml.safe_load((project.path / "dbt_project.yml").read_text())
    shutil.copytree(source / "integration_tests", project.path, dirs_exist_ok=True)
    installed = project.path / "dbt_packages"
    ours = (installed / "dbt_delta").resolve()
    installed.unlink()
    installed.mkdir()
    (installed / "dbt_delta").symlink_to(ours)
    for one in (source, *needed):
        title = yaml.safe_load((one / "dbt_project.yml").read_text())["name"]
        shutil.copytree(one, installed / title, ignore=shutil.ignore_patterns("integration_tests*"))
        (installed / title / "packages.yml").unlink(missing_ok=True)
    for file in ("package-lock.yml", "packages.yml"):
        (project.path / file).unlink(missing_ok=True)
    given = yaml.safe_load((project.path / "dbt_project.yml").read_text())
    orders = {one["macro_namespace"]: one["search_order"] for one in given.get("dispatch", [])}
    for space in {"dbt", "dbt_utils", name, *orders}:
        names = [given["name"], "dbt_delta", *orders.get(space, []), space]
        orders[space] = list(dict.fromkeys(names))
    merged = {**given, "profile": own["profile"]}
    for kind in ("models", "snapshots", "seeds"):
        merged[kind] = {**given.get(kind, {}), **own[kind]}
    merged["dispatch"] = [{"macro_namespace": s, "search_order": o} for s, o in orders.items()]
    files = harness.consumer_files(project.schema)
    project.write(
        {
            "dbt_project.yml": yaml.safe_dump(merged, sort_keys=False),
            "profiles.yml": files["profiles.yml"],
        }
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_its_own_tests_pass(name: str, project: harness.Project) -> None:
    lay_over(project, name)
    excluded = [part for selector in PACKAGES[name].without for part in ("--exclude", selector)]
    if PACKAGES[name].first:
        project.dbt("run-operation", PACKAGES[name].first)
    run = project.dbt("build", *excluded, check=False)
    wrong = {
        result.node.name: str(result.message).partition("\n")[0]
        for result in run.results
        if result.status not in ("success", "pass", "no-op")
    }
    assert run.results, run.output
    assert not wrong, wrong
