"""What the tests of the last run took, against the record: ``./run test --durations [--record]``.

The record, ``seconds.json``, has the seconds of each test on two cores; a test is listed where it
took half as long again, and three seconds more. ``--record`` makes the last run the record, for
the tests that it ran.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

RECORD = Path(__file__).with_name("seconds.json")
LAST = Path(__file__).parents[1] / ".pytest_cache" / "seconds.json"
SHARE, SECONDS = 1.5, 3.0


def recorded() -> dict[str, float]:
    """Seconds by test, of the record; none without one."""
    return _read(RECORD)


def by_file(seconds: Mapping[str, float]) -> Counter[str]:
    """Seconds by test file."""
    found: Counter[str] = Counter()
    for name, value in seconds.items():
        found[name.partition("::")[0]] += value
    return found


def keep(seconds: Mapping[str, float]) -> None:
    """Keeps the seconds of a run beside those of other tests."""
    LAST.parent.mkdir(exist_ok=True)
    _write(LAST, {**_read(LAST), **seconds})


def grown(now: Mapping[str, float], before: Mapping[str, float]) -> Iterator[str]:
    """A line for each test that took longer than the record says, and for the sums."""
    for name in sorted(now, key=lambda name: before.get(name, 0.0) - now[name]):
        last = before.get(name, 0.0)
        if now[name] > last * SHARE and now[name] > last + SECONDS:
            yield f"{now[name]:6.0f}  {last:6.0f} before  {name}"
    both = now.keys() & before.keys()
    yield (
        f"{sum(now.values()):6.0f}  in all, of {len(now)} tests. Those {len(both)} on record: "
        f"{sum(now[name] for name in both):.0f}, {sum(before[name] for name in both):.0f} before"
    )


def main(arguments: list[str]) -> int:
    now = _read(LAST)
    if arguments not in ([], ["--record"]):
        print(f"durations: only --record may follow. Got: {' '.join(arguments)}", file=sys.stderr)
        return 2
    if not now:
        print("durations: no run of ./run test is on record here yet", file=sys.stderr)
        return 2
    for line in grown(now, recorded()):
        print(line)
    if arguments:
        _write(RECORD, {**recorded(), **now})
    return 0


def _read(path: Path) -> dict[str, float]:
    return json.loads(path.read_text()) if path.exists() else {}


def _write(path: Path, seconds: Mapping[str, float]) -> None:
    shown = {name: round(value, 1) for name, value in sorted(seconds.items()) if value >= 0.05}
    path.write_text(json.dumps(shown, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
