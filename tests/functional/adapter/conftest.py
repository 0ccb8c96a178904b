"""dbt's public test bases (PyPI dbt-tests-adapter), each project with this package installed."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import reset_adapters

# dbt's own fixtures, here in the place of those one folder up.
from dbt.tests.fixtures.project import *  # noqa: F403
from dbt.tests.fixtures.project import write_project_files
from dbt_common.utils import deep_merge

from tests.functional import harness

# Bases that read manifest.json, catalog.json or what else dbt writes only then.
WITH_ARTIFACTS = ("test_adapter_basic.py", "test_adapter_clone.py", "test_adapter_persist_docs.py")


@pytest.fixture(scope="class", autouse=True)
def artifacts(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    """No manifest.json where no base reads it: writing it takes longer than parsing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_LOG_LEVEL_FILE", "none")
        if request.path.name not in WITH_ARTIFACTS:
            patch.setenv("DBT_WRITE_JSON", "false")
        yield


@pytest.fixture(scope="class")
def dbt_profile_target(home: Path) -> Generator[dict[str, Any], None, None]:
    """The shared driver or server, and no adapter that an earlier test left."""
    reset_adapters()
    harness.session()
    target: dict[str, Any] = {"type": "spark", "threads": 4}
    if harness.is_session():
        settings = {**harness.settings(), **harness.QUICK}
        target |= {"method": "session", "host": "localhost", "server_side_parameters": settings}
    else:
        target |= {"method": "thrift", "host": "127.0.0.1", "server_side_parameters": harness.QUICK}
        target |= {"port": int(os.environ["DBT_DELTA_PORT"]), "poll_interval": 1}
    with pytest.MonkeyPatch.context() as patch:
        # The profiles of the bases have a target named "default".
        patch.delenv("DBT_TARGET", raising=False)
        yield target


@pytest.fixture(scope="class")
def spelling() -> dict[str, str]:
    """What Spark spells differently in the project of a base: its text, and Spark's."""
    return {}


@pytest.fixture(scope="class")
def dbt_project_yml(
    project_root: Any, project_config_update: Any, spelling: dict[str, str]
) -> dict[str, Any]:
    """The project of the test, which lets this package's macros in, with Delta as the default."""
    update = project_config_update
    update = (yaml.safe_load(update) if isinstance(update, str) else update) or {}
    name = update.get("name", "test")
    consumer = {
        "name": name,
        "profile": "test",
        "flags": {"send_anonymous_usage_stats": False},
        "dispatch": [{"macro_namespace": "dbt", "search_order": [name, "dbt_delta", "dbt"]}],
        "models": {"+file_format": "delta"},
        "snapshots": {"+file_format": "delta"},
        "seeds": {"+file_format": "delta"},
    }
    project = deep_merge(consumer, _spelled(update, spelling))
    Path(project_root, "dbt_project.yml").write_text(yaml.safe_dump(project))
    return project


@pytest.fixture(scope="class")
def project_files(
    project_root: Any,
    models: dict[str, Any],
    macros: dict[str, Any],
    snapshots: dict[str, Any],
    properties: dict[str, Any],
    seeds: dict[str, Any],
    tests: dict[str, Any],
    analyses: dict[str, Any],
    functions: dict[str, Any],
    spelling: dict[str, str],
    selectors_yml: None,
    dbt_project_yml: dict[str, Any],
    installed_packages: Path,
) -> None:
    """The test's files, and this package as a consumer has it."""
    Path(project_root, "dbt_packages").symlink_to(installed_packages)
    packages = {"packages": [{"local": str(harness.REPOSITORY)}]}
    Path(project_root, "packages.yml").write_text(yaml.safe_dump(packages))
    wrappers = {"dbt_delta_materializations.sql": harness.materialization_wrappers()}
    folders = {
        "models": {**models, **properties},
        "macros": {**macros, **wrappers},
        "snapshots": snapshots,
        "seeds": seeds,
        "tests": tests,
        "analyses": analyses,
        "functions": functions,
    }
    for folder, files in folders.items():
        write_project_files(project_root, folder, _spelled(files, spelling))


def _spelled(files: Any, spelling: dict[str, str]) -> Any:
    if isinstance(files, dict):
        return {name: _spelled(content, spelling) for name, content in files.items()}
    if isinstance(files, list):
        return [_spelled(content, spelling) for content in files]
    if isinstance(files, str):
        for text, spark in spelling.items():
            files = files.replace(text, spark)
    return files


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Generator[str, None, None]:
    """Logs beside the project; dbt's own fixture writes them into the repository."""
    folder = tmp_path_factory.mktemp("logs")
    os.environ["DBT_LOG_PATH"] = str(folder)
    yield str(folder)
    del os.environ["DBT_LOG_PATH"]
