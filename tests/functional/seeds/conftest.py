"""CSV files as bytes, and what a seed's table has."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.functional.harness import Project

Write = Callable[..., None]


def write_csv(project: Project, name: str, text: str | bytes, config: str = "") -> None:
    """Writes a seed's CSV file as it is, and its properties."""
    path = project.path / "seeds" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if config:
        project.write({f"seeds/{name}.yml": f"seeds: [{{name: {name}, {config}}}]"})


@pytest.fixture
def csv_file(project: Project) -> Write:
    """Writes a seed of the test's project: ``csv_file(name, text, config)``."""
    return partial(write_csv, project)
