"""Results of a benchmark: as JSON, and as a report in Markdown that is also printed."""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


def parser(name: str) -> argparse.ArgumentParser:
    """The arguments that benchmarks have in common."""
    made = argparse.ArgumentParser(prog=f"./run bench {name}")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--results", type=Path, default=RESULTS)
    return made


def spread(values: Sequence[float]) -> str:
    """The median of values, with the lowest and the highest."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} - {max(values):.2f})"


def publish(folder: Path, name: str, about: dict[str, Any], report: Callable[..., str]) -> None:
    """Writes ``name``.json and .md; the report is made of ``about`` with date and machine."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    about = {"date": time.strftime("%Y-%m-%d"), "machine": machine, **about}
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
    text = report(about)
    (folder / f"{name}.md").write_text(text)
    print(text)
