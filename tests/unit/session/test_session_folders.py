"""Which staged folders are removed."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.session import folders

STAGED = "/w/t__dbt_tmp_0123456789"
HOUR = 3600


def _status(hours: float) -> SimpleNamespace:
    """That of a file which changed that many hours ago."""
    changed = int((time.time() - hours * HOUR) * 1000)
    return SimpleNamespace(getModificationTime=lambda: changed)


class System:
    """A file system with one folder, and what was deleted from it."""

    def __init__(self, folder: float, *files: float) -> None:
        self.folder, self.files = folder, files
        self.deleted: list[str] = []

    def getFileStatus(self, path: str) -> SimpleNamespace:
        return _status(self.folder)

    def listFiles(self, path: str, recursive: bool) -> SimpleNamespace:
        if not self.files:
            raise FileNotFoundError(path)
        left = [_status(hours) for hours in self.files]
        return SimpleNamespace(hasNext=lambda: bool(left), next=left.pop)

    def delete(self, path: str, recursive: bool) -> None:
        self.deleted.append(path)


@pytest.mark.parametrize(
    ("system", "idle_hours", "goes"),
    [
        (System(13, 14, 15), 12, True),
        # A folder does not show that a file in it changes, nor a file that others come.
        (System(13, 14, 0.1, 15), 12, False),
        (System(1, 14), 12, False),
        # It changes while it is listed.
        (System(13), 12, False),
        # The run's own.
        (System(0, 0), 0, True),
    ],
)
def test_a_folder_to_which_a_run_may_be_writing_stays(
    monkeypatch, system: System, idle_hours: float, goes: bool
) -> None:
    monkeypatch.setattr(folders, "open_path", lambda spark, path: (system, path))
    spark: Any = None
    folders.drop(spark, STAGED, idle_hours)
    assert system.deleted == ([STAGED] if goes else [])


def test_only_what_a_run_creates_is_removed() -> None:
    spark: Any = None
    for path in ("/w/t", "/w/t__dbt_new_0123456789", "/w/t__dbt_tmp_mine"):
        with pytest.raises(ValueError, match="is not a folder in which a run"):
            folders.drop(spark, path)
