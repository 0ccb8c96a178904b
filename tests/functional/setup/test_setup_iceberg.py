"""The tests of Iceberg that run beside all others, in a Spark of their own with Iceberg's JARs.

The others of tests/functional/iceberg run with ``--target iceberg`` only.
"""

import subprocess
import sys

import pytest

from tests.functional.harness import REPOSITORY


@pytest.mark.long
def test_the_core_of_iceberg() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("--target", "iceberg", "-m", "core", "tests/functional/iceberg"),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
    )
    # It is another code if no test was found.
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
