"""Random cases for hours, with fresh seeds: ``./run test --campaign MINUTES``.

Plays the oracles in turn, each round with a seed of its own, and adds a line for each round to
``campaigns.csv``: time (UTC), commit, seed, test, cases, seconds and how it ended. What a failed
round printed is kept in ``.pytest_cache``; its seed and its number of cases play it again:

    DBT_DELTA_SEED=<seed> DBT_DELTA_EXAMPLES=<cases> ./run test --long <test>
"""

import csv
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "campaigns.csv"
OUTPUT = ROOT / ".pytest_cache" / "campaign"
# Cases of a round, which takes about five minutes.
ROUNDS = (
    ("landing/test_landing_oracle.py", 60),
    ("incremental/test_incremental_oracle.py", 60),
    ("diff/test_diff_oracle.py", 200),
    ("snapshots/test_snapshots_oracle.py", 60),
    ("landing/test_landed_files_oracle.py", 100),
    ("incremental/test_incremental_oracle.py", 60),
    ("maintenance/test_maintenance_oracle.py", 48),
    ("snapshots/test_snapshots_oracle.py", 60),
    ("incremental/test_incremental_changes_oracle.py", 40),
    ("relations/test_relations_tests.py", 30),
    ("seeds/test_seeds_values.py", 60),
    ("state/test_state_oracle.py", 8),
    ("incremental/test_incremental_oracle.py --target iceberg", 40),
)


def main(minutes: int) -> int:
    """Plays rounds until the time is over; 1 if one failed."""
    until, failed = time.monotonic() + minutes * 60, 0
    commit = _commit()
    # A campaign goes on where the last one ended.
    for name, cases in islice(cycle(ROUNDS), len(_rows()) % len(ROUNDS), None):
        if time.monotonic() > until:
            break
        failed += not _play(f"tests/functional/{name}", cases, commit)
    print("\n".join(totals()))
    return 1 if failed else 0


def totals() -> Iterator[str]:
    """A line for each test: cases and failed rounds, of all campaigns."""
    played: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for row in _rows():
        played[row["test"]] += int(row["cases"])
        failed[row["test"]] += row["ended"] != "passed"
    for name, cases in played.most_common():
        yield f"{cases:6}  {failed[name]} rounds failed  {name}"
    yield f"{played.total():6}  cases in all"


def _play(test: str, cases: int, commit: str) -> bool:
    seed, started = random.SystemRandom().randrange(10**6), time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "--long", "-p", "no:cacheprovider", *test.split()],
        cwd=ROOT,
        env={**os.environ, "DBT_DELTA_SEED": str(seed), "DBT_DELTA_EXAMPLES": str(cases)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    ended = "passed" if ran.returncode == 0 else "failed"
    if ran.returncode != 0:
        OUTPUT.mkdir(parents=True, exist_ok=True)
        (OUTPUT / f"{Path(test.split()[0]).stem}_{seed}.log").write_bytes(ran.stdout)
    seconds = round(time.monotonic() - started)
    _record([_now(), commit, seed, test, cases, seconds, ended])
    print(f"{test}: {cases} cases of seed {seed} {ended} in {seconds} s", flush=True)
    return ran.returncode == 0


def _rows() -> list[dict[str, str]]:
    if not RECORD.exists():
        return []
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime())


def _commit() -> str:
    """The commit that is played, with a mark if something else was changed since."""
    changed = _git("status", "--porcelain", "--", ".", f":!{RECORD.relative_to(ROOT)}")
    return _git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def _record(values: list[object]) -> None:
    is_new = not RECORD.exists()
    with RECORD.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(["at", "commit", "seed", "test", "cases", "seconds", "ended"])
        writer.writerow(values)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit("run: test --campaign takes how many minutes, for example 120.")
    sys.exit(main(int(sys.argv[1])))
