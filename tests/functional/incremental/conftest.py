"""Settings under which hundreds of small statements take minutes, not an hour."""

from collections.abc import Callable

import pytest

from tests.functional import harness

# Tables of three rows: compiling a plan to Java takes longer than interpreting it.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture
def new_project(
    new_project: Callable[..., harness.Project],
) -> Callable[..., harness.Project]:
    """Projects as the other tests have, with the settings above."""

    def make(name: str = "project") -> harness.Project:
        project = new_project(name)
        place = "      server_side_parameters:\n"
        profile = (project.path / "profiles.yml").read_text()
        assert place in profile
        lines = "".join(f"        {key}: {value!r}\n" for key, value in SETTINGS.items())
        (project.path / "profiles.yml").write_text(profile.replace(place, place + lines))
        return project

    return make
