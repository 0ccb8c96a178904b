"""How much of this machine the embedded Spark takes, where nobody says.

Two cores and 4 GB or more get what this project always had: 2 GB and 4 parts of a shuffle.
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

GB = 2**30
# A heap of more has pointers of twice the size.
_MOST_GB = 31
# Spark's own default, made for clusters.
_MOST_PARTITIONS = 200


def settings(cores: int, memory: int | None) -> dict[str, str]:
    """The variables that the session profile reads, for that many cores and bytes of memory.

    A gigabyte per core, and never more than half of what there is: Python, the code of the JVM and
    the system's file cache need the rest. Two parts of a shuffle per core, so that a core which is
    done early has more to do.
    """
    heap = min(max(2, cores), _MOST_GB) * GB
    if memory is not None:
        heap = max(min(heap, memory // 2), GB)
    return {
        "DBT_DELTA_MEMORY": f"{heap // GB}g" if heap % GB == 0 else f"{heap // 2**20}m",
        "DBT_DELTA_PARTITIONS": str(min(max(4, 2 * cores), _MOST_PARTITIONS)),
    }


def cores(root: Path = Path("/")) -> int:
    """The cores that this process may use: as Java counts them, a part of one is one."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        found = os.cpu_count() or 1
    quotas = [quota for folder in _groups(root, "cpu") if (quota := _quota(folder))]
    return max(1, min([found, *map(math.ceil, quotas)]))


def memory(root: Path = Path("/")) -> int | None:
    """The bytes of memory that this process may use; None where the system does not tell."""
    found = []
    with contextlib.suppress(ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for folder in _groups(root, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            found.extend(_numbers(folder / name)[:1])
    return min((amount for amount in found if amount > 0), default=None)


def _quota(folder: Path) -> float | None:
    """The cores that a control group may use, of version 2 or 1; None without a limit."""
    numbers = _numbers(folder / "cpu.max") or [
        *_numbers(folder / "cpu.cfs_quota_us"),
        *_numbers(folder / "cpu.cfs_period_us"),
    ]
    if len(numbers) != 2 or min(numbers) <= 0:
        return None
    return numbers[0] / numbers[1]


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control groups: its own and all above, which limit it too.

    In a container a group's path may be that of the host: then only the uppermost is there.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        mount = root / "sys/fs/cgroup"
        if number != "0":
            if controller not in controllers.split(","):
                continue
            mount = mount / controller
        group = mount / path.strip("/")
        for folder in (group, *group.parents):
            yield folder
            if folder == mount:
                break


def _numbers(file: Path) -> list[int]:
    """The numbers in a file; none where it is missing, or says max."""
    try:
        return [int(word) for word in file.read_text().split()]
    except (OSError, ValueError):
        return []
