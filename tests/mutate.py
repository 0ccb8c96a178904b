"""Plants one fault after the other and says whether the tests of its area notice it.

``./run mutate [NAME or part of one ..]``: the faults of tests/faults, all without a name. Each is
applied to a copy of the working tree, two at a time; the tree itself is not touched. A fault is
``caught`` when a test fails, ``MISSED`` when all pass; ``broken`` ones say nothing of the tests.
A fault with ``long: true`` is noticed by long tests only, which are named (``file::test``).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import yaml

ROOT = Path(__file__).parents[1]
FAULTS = ROOT / "tests" / "faults"
AT_ONCE = 2
# A fault that makes a test wait for ever is noticed, too.
SECONDS = 900


@dataclass(frozen=True)
class Fault:
    """A change of one place in one file, and the tests that should fail then."""

    name: str
    fault: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    long: bool = False

    def applied(self, text: str) -> str:
        """The file's text with the fault in it.

        Raises:
            ValueError: the place is not there once.
        """
        count = text.count(self.find)
        if count != 1 or self.find == self.replace:
            raise ValueError(f"{self.name}: its place is {count} times in {self.file}, not once")
        return text.replace(self.find, self.replace)


def faults() -> Iterator[Fault]:
    """All faults, by file of their area."""
    for path in sorted(FAULTS.glob("*.yml")):
        for entry in yaml.safe_load(path.read_text()):
            yield Fault(**{**entry, "tests": tuple(entry["tests"])})


def main(names: list[str]) -> int:
    chosen = [f for f in faults() if not names or any(name in f.name for name in names)]
    if not chosen:
        print(f"mutate: no fault has {' or '.join(names)} in its name", file=sys.stderr)
        return 2
    started = time.monotonic()
    counts = {"caught": 0, "MISSED": 0, "broken": 0}
    with tempfile.TemporaryDirectory(prefix="dbt_delta_mutate_") as folder:
        copies: Queue[Path] = Queue()
        for number in range(min(AT_ONCE, len(chosen))):
            copies.put(_copy(Path(folder) / str(number)))

        def try_one(fault: Fault) -> tuple[Fault, str, str, float]:
            copy = copies.get()
            try:
                return fault, *tried(fault, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for fault, verdict, said, seconds in pool.map(try_one, chosen):
                counts[verdict] += 1
                print(f"{verdict}  {seconds:4.0f} s  {fault.name}: {said}", flush=True)
    seconds = time.monotonic() - started
    print(
        f"{counts['caught']} of {len(chosen)} faults caught, {counts['MISSED']} missed, "
        f"{counts['broken']} broken; {sum(f.long for f in chosen)} have long tests only; "
        f"{seconds:.0f} s, {seconds / len(chosen):.0f} s per fault"
    )
    return int(counts["caught"] < len(chosen))


def _copy(folder: Path) -> Path:
    """The working tree in another folder, with this environment."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    environment = folder / ".venv"
    environment.mkdir()
    for path in Path(sys.prefix).iterdir():
        if not path.name.startswith("ready"):
            (environment / path.name).symlink_to(path)
    # ./run installs nothing there.
    for name in ("ready", "ready-test"):
        script = f"source setup/install.sh; fingerprint > .venv/{name}"
        subprocess.run(["bash", "-c", script], cwd=folder, check=True)
    return folder


def tried(fault: Fault, copy: Path) -> tuple[str, str, float]:
    """The verdict on a fault, the test that noticed it, and the seconds that took."""
    path = copy / fault.file
    before = path.read_text()
    started = time.monotonic()
    try:
        path.write_text(fault.applied(before))
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", *fault.tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except ValueError as error:
        return "broken", str(error), 0.0
    except subprocess.TimeoutExpired:
        return "caught", f"no end after {SECONDS} s", SECONDS
    finally:
        path.write_text(before)
    seconds = time.monotonic() - started
    if ran.returncode == 0:
        return "MISSED", fault.fault, seconds
    noticed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    if ran.returncode != 1 or noticed is None:
        return "broken", (ran.stdout + ran.stderr)[-2000:], seconds
    return "caught", noticed[1], seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
