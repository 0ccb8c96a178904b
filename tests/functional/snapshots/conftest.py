"""Settings under which hundreds of tiny statements take minutes on two cores."""

from collections.abc import Callable

import pytest
import yaml

from tests.functional import harness

# Of a table of three rows, compiling a plan to Java and planning it anew cost more than running it.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture
def new_project(
    new_project: Callable[..., harness.Project],
) -> Callable[..., harness.Project]:
    """Projects as the other tests have them, with the settings above."""

    def make(name: str = "project") -> harness.Project:
        project = new_project(name)
        set_profile(project, SETTINGS)
        return project

    return make


def set_profile(project: harness.Project, settings: dict[str, str]) -> None:
    """Adds Spark settings to the project's profile."""
    path = project.path / "profiles.yml"
    profile = yaml.safe_load(path.read_text())
    profile[harness.PROFILE]["outputs"]["session"]["server_side_parameters"].update(settings)
    path.write_text(yaml.safe_dump(profile, sort_keys=False))
