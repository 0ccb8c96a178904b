"""Readings of a benchmark: CPU seconds, data files opened, bytes written. Linux only."""

import ctypes
import os
import struct
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.startup import cpu_seconds

_OPENED = 0x20
_OVERFLOW = 0x4000
_EVENT = struct.Struct("iIII")


@dataclass(frozen=True)
class Reading:
    """A point in time: wall clock, and CPU seconds of this process and its JVM."""

    wall: float
    cpu: float

    @classmethod
    def now(cls, jvm: int) -> "Reading":
        return cls(time.perf_counter(), time.process_time() + cpu_seconds(jvm))

    def until(self, end: "Reading") -> dict[str, float]:
        return {"wall": end.wall - self.wall, "cpu": end.cpu - self.cpu}


@contextmanager
def opened_files(folder: Path) -> Generator[set[str], None, None]:
    """The names of the files of a folder that any process opens meanwhile, known at the end.

    By inotify: what is counted is the kernel's open(2), whatever engine or plan asked for it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    names: set[str] = set()
    try:
        if queue < 0 or libc.inotify_add_watch(queue, os.fsencode(folder), _OPENED) < 0:
            raise OSError(ctypes.get_errno(), f"inotify cannot watch {folder}")
        yield names
        names.update(_events(queue))
    finally:
        os.close(queue)


def _events(queue: int) -> Generator[str, None, None]:
    while True:
        try:
            block = os.read(queue, 1 << 20)
        except BlockingIOError:
            return
        at = 0
        while at < len(block):
            _, mask, _, size = _EVENT.unpack_from(block, at)
            at += _EVENT.size
            if mask & _OVERFLOW:
                raise OSError("inotify lost events: fs.inotify.max_queued_events is too small")
            yield os.fsdecode(block[at : at + size].rstrip(b"\0"))
            at += size


def data_files(folder: Path) -> dict[str, int]:
    """Size by name of a table's data files and deletion vectors; its log is left out."""
    return {
        entry.name: entry.stat().st_size
        for entry in os.scandir(folder)
        if entry.is_file() and entry.name[0] not in "._"
    }
