"""How deliveries become files: whole, once, and in order. The same for every source.

A file of the landing is either absent or complete. It is written under a hidden name in the same
folder and then renamed, so nobody sees a part of it. After that it is never written again: readers,
and a stream that remembers what it has read, can rely on it.

``<landing>/<source>/_landed.json`` lists what has landed, with sizes in bytes. A run with
nothing to do compares these with the sizes on disk and asks the source for nothing. A file that
is missing or has another size (deleted, or cut off by a full disk or a power cut) lands again. The
list is only a shortcut: without it, or if the source now has another version, the contents are
compared.

Whenever a run ends, even by ``kill -9``, the deliveries up to some point have landed, and the next
run continues from there. Two runs at once wait for each other.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from dbt_delta.ingest.contract import IngestError, Source
from dbt_delta.ingest.sources import find

INDEX = "_landed.json"
"""Spark skips names that start with an underscore or a dot."""

PART = ".part"
"""The end of a file's hidden name until it is complete: ``.2013-01-01.csv.part``."""


class Landed(NamedTuple):
    """What one source has in the landing."""

    source: str
    new_files: int
    """Files this run has written."""

    total_files: int
    """Files delivered up to the day ``until``, all of them in the landing now."""

    bytes: int
    """The size of the new files."""

    until: date
    """The last day asked for, but not later than the last day of the source."""

    def __str__(self) -> str:
        if not self.new_files:
            return f"{self.source}: nothing new, {_files(self.total_files)} up to {self.until}"
        new, size = _files(self.new_files, "new "), f"{self.bytes / 1e6:.1f} MB"
        return f"{self.source}: landed {new} ({size}) up to {self.until}"


class Report(NamedTuple):
    """What a run has done, source by source and as a whole. ``str`` is one line per source."""

    sources: tuple[Landed, ...]

    @property
    def new_files(self) -> int:
        """Files this run has written."""
        return sum(landed.new_files for landed in self.sources)

    @property
    def total_files(self) -> int:
        """Files delivered up to the day ``until``, all of them in the landing now."""
        return sum(landed.total_files for landed in self.sources)

    @property
    def bytes(self) -> int:
        """The size of the new files."""
        return sum(landed.bytes for landed in self.sources)

    @property
    def until(self) -> date | None:
        """The last day of all sources; None if there is no source."""
        return max((landed.until for landed in self.sources), default=None)

    def __str__(self) -> str:
        return "\n".join(map(str, self.sources))


def land(
    sources: Iterable[str | Source], landing: str | os.PathLike[str], until: date | None = None
) -> Report:
    """Land what the sources deliver up to and including the day ``until``.

    What has landed already stays unchanged, even if it is from a later day.

    Args:
        sources: sources or their names.
        landing: the folder of the landing; made if missing. Each source has a folder in it.
        until: None for all days.

    Raises:
        IngestError: a source is unknown or not as expected, or a file cannot be written.
    """
    found = [find(source) for source in sources]
    return Report(tuple(_land(source, Path(landing), until) for source in found))


def _land(source: Source, landing: Path, until: date | None) -> Landed:
    last = source.days()[1]
    until = last if until is None else min(until, last)
    version = source.version
    deliveries = list(source.deliveries(until))
    folder = landing / source.name
    new_files = new_bytes = 0

    with _locked(folder):
        sizes = _sizes(folder)
        index = _read_index(folder, version)
        files = dict(index["files"])
        for delivery in deliveries:
            size = sizes.get(delivery.path)
            if size is not None and size == files.get(delivery.path):
                continue
            path, content = folder / delivery.path, delivery.read()
            if size != len(content) or not _holds(path, content):
                _write(path, content)
                new_files += 1
                new_bytes += len(content)
            files[delivery.path] = len(content)

        reached = max(index["until"], until.isoformat())
        new_index = {"version": version, "until": reached, "files": dict(sorted(files.items()))}
        if new_index != index:
            _write(folder / INDEX, json.dumps(new_index, indent=1).encode() + b"\n")

    return Landed(source.name, new_files, len(deliveries), new_bytes, until)


def _read_index(folder: Path, version: str) -> dict[str, Any]:
    """What has landed of this version of the source: ``version``, ``until``, sizes of ``files``.

    Without a list, or if it is of another version or cannot be read: nothing.
    """
    with suppress(OSError, ValueError):
        index = json.loads((folder / INDEX).read_bytes())
        if (
            isinstance(index, dict)
            and index.get("version") == version
            and isinstance(index.get("until"), str)
            and isinstance(index.get("files"), dict)
        ):
            return index
    return {"version": version, "until": "", "files": {}}


def _sizes(folder: Path) -> dict[str, int]:
    """The sizes in bytes of all files, by path below the folder. Removes left-over parts."""
    with _naming(folder):
        sizes = dict(_scan(folder))
        for path in list(sizes):
            name = path.rpartition("/")[2]
            if name.startswith(".") and name.endswith(PART):
                del sizes[path]
                os.unlink(folder / path)
    return sizes


def _scan(folder: str | os.PathLike[str], prefix: str = "") -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _scan(entry.path, f"{prefix}{entry.name}/")
            elif entry.is_file():
                yield prefix + entry.name, entry.stat().st_size


def _holds(path: Path, content: bytes) -> bool:
    with _naming(path):
        return path.read_bytes() == content


def _write(path: Path, content: bytes) -> None:
    """Make the complete file appear at once."""
    part = path.with_name(f".{path.name}{PART}")
    with _naming(path):
        path.parent.mkdir(exist_ok=True)
        try:
            part.write_bytes(content)
            os.replace(part, path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make the folder and lock it against other runs. The lock ends with the process."""
    with _naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some network file systems have no locks.
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say which path an error is about. The operating system does not always do this."""
    try:
        yield
    except OSError as error:
        raise IngestError(f"cannot land {path}: {error.strerror or error}") from error


def _files(number: int, new: str = "") -> str:
    return f"{number} {new}file{'' if number == 1 else 's'}"
