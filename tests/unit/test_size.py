"""What the embedded Spark takes of a machine, with the limits of containers."""

import os
from pathlib import Path

import pytest

from dbt_delta import size

GB = 2**30
UNLIMITED = 9223372036854771712


@pytest.mark.parametrize(
    ("cores", "memory", "heap", "partitions"),
    [
        (2, 23 * GB, "2g", "4"),
        (2, 4 * GB, "2g", "4"),
        (1, 8 * GB, "2g", "4"),
        (2, 3 * GB, "1536m", "4"),
        (2, GB, "1g", "4"),
        (4, 16 * GB, "4g", "8"),
        (16, 64 * GB, "16g", "32"),
        (16, 16 * GB, "8g", "32"),
        (128, 512 * GB, "31g", "200"),
        (16, None, "16g", "32"),
    ],
)
def test_it_follows_cores_and_memory(
    cores: int, memory: int | None, heap: str, partitions: str
) -> None:
    assert size.settings(cores, memory) == {
        "DBT_DELTA_MEMORY": heap,
        "DBT_DELTA_PARTITIONS": partitions,
    }


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a machine of 16 cores and 64 GB."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


V1 = "9:name=systemd:/\n4:memory:/job/a\n1:cpu,cpuacct:/job\n0::/"
UNIFIED = "sys/fs/cgroup"


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        pytest.param({}, 16, 64 * GB, id="no-groups"),
        pytest.param(
            {
                "proc/self/cgroup": "0::/",
                f"{UNIFIED}/cpu.max": "250000 100000",
                f"{UNIFIED}/memory.max": str(8 * GB),
            },
            3,
            8 * GB,
            id="v2",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "0::/",
                f"{UNIFIED}/cpu.max": "max 100000",
                f"{UNIFIED}/memory.max": "max",
            },
            16,
            64 * GB,
            id="v2-no-limit",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "0::/user/dbt",
                f"{UNIFIED}/user/cpu.max": "50000 100000",
                f"{UNIFIED}/user/dbt/cpu.max": "400000 100000",
                f"{UNIFIED}/user/dbt/memory.max": "max",
                f"{UNIFIED}/user/memory.max": str(2 * GB),
            },
            1,
            2 * GB,
            id="v2-of-a-group-above",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "0::/docker/of-the-host",
                f"{UNIFIED}/cpu.max": "400000 100000",
                f"{UNIFIED}/memory.max": str(4 * GB),
            },
            4,
            4 * GB,
            id="v2-path-of-the-host",
        ),
        pytest.param(
            {
                "proc/self/cgroup": V1,
                f"{UNIFIED}/cpu/job/cpu.cfs_quota_us": "200000",
                f"{UNIFIED}/cpu/job/cpu.cfs_period_us": "100000",
                f"{UNIFIED}/memory/job/a/memory.limit_in_bytes": str(UNLIMITED),
                f"{UNIFIED}/memory/job/memory.limit_in_bytes": str(6 * GB),
            },
            2,
            6 * GB,
            id="v1",
        ),
        pytest.param(
            {
                "proc/self/cgroup": V1,
                f"{UNIFIED}/cpu/cpu.cfs_quota_us": "-1",
                f"{UNIFIED}/cpu/cpu.cfs_period_us": "100000",
                f"{UNIFIED}/memory/memory.limit_in_bytes": str(UNLIMITED),
            },
            16,
            64 * GB,
            id="v1-no-limit",
        ),
    ],
)
def test_the_limits_of_its_control_groups_count(
    machine: Path, files: dict[str, str], cores: int, memory: int
) -> None:
    write(machine, files)
    assert (size.cores(machine), size.memory(machine)) == (cores, memory)


def test_what_a_process_may_not_use_does_not_count(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    assert size.cores(machine) == 2


def test_a_system_that_does_not_tell(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(f"unrecognized configuration name {name}")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert size.memory(machine) is None
