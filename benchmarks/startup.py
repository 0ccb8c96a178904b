"""What JVM options do to a cold dbt command: variants interleaved, wall and CPU seconds.

``./run bench startup [--rounds 5] [--full]``: a cold ``dbt run -s routes`` on a built project, or
with --full a whole first build. CPU is user + system of the command and of its JVM, read from
/proc until the JVM is gone; Linux only.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = f'-XX:SharedArchiveFile="{ROOT}/.venv/spark.jsa" -Xshare:auto'
# Without C2 Java reserves 48 MB for compiled code, which a build fills.
C1 = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
VARIANTS = {
    "base": "",
    "archive": ARCHIVE,
    "archive + C1": f"{ARCHIVE} {C1}",
    "archive + C1 + serial GC": f"{ARCHIVE} {C1} -XX:+UseSerialGC",
    "archive + late C2 + parallel GC": (
        f"{ARCHIVE} -XX:+UseParallelGC -XX:Tier4InvocationThreshold=50000 "
        "-XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000 "
        "-XX:Tier4BackEdgeThreshold=400000"
    ),
}


def cpu_seconds(pid: int) -> float:
    """User + system seconds of a live process, its reaped children included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def embedded_jvm(home: Path) -> int | None:
    """The process of the driver that a home's lock names; of a server it names none."""
    try:
        return json.loads((home / "metastore.lock").read_text() or "{}").get("jvm")
    except (FileNotFoundError, ValueError):
        return None


def measure(command: list[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall and CPU seconds of one command in its DBT_DELTA_HOME and the JVM it leaves behind."""
    home = Path(environment["DBT_DELTA_HOME"])
    last_jvm = embedded_jvm(home)
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    own = jvm = 0.0
    jvm_pid = None
    while True:
        try:
            own = max(own, cpu_seconds(process.pid)) if process.poll() is None else own
            if jvm_pid is None and embedded_jvm(home) != last_jvm:
                jvm_pid = embedded_jvm(home)
            if jvm_pid is not None:
                jvm = max(jvm, cpu_seconds(jvm_pid))
        except (FileNotFoundError, ProcessLookupError):
            pass
        if process.poll() is not None:
            break
        time.sleep(0.05)
    wall = time.monotonic() - started
    output = process.communicate()[0]
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    while jvm_pid is not None and Path(f"/proc/{jvm_pid}").exists():
        try:
            jvm = max(jvm, cpu_seconds(jvm_pid))
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(0.05)
    return wall, own + jvm


def variables(home: Path, options: str) -> dict[str, str]:
    return {**os.environ, "DBT_DELTA_HOME": str(home), "DBT_DELTA_JAVA_OPTIONS": options}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="./run bench startup")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    options = parser.parse_args(arguments)
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in options.only}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        build = [str(ROOT / "run"), "build"]
        command = build if options.full else [str(ROOT / ".venv/bin/dbt"), "run", "-s", "routes"]
        if not options.full:
            measure(build, variables(home, ""))
        for _ in range(options.rounds):
            for name in options.only:
                if options.full:
                    shutil.rmtree(home, ignore_errors=True)
                    home.mkdir()
                figures[name].append(measure(command, variables(home, VARIANTS[name])))
    base = figures[options.only[0]]
    print("| options | wall s | CPU s | wall ratio | CPU ratio |\n| --- | --- | --- | --- | --- |")
    for name, runs in figures.items():
        walls, cpus = zip(*runs, strict=True)
        ratios = [
            statistics.median(run[i] / first[i] for run, first in zip(runs, base, strict=True))
            for i in (0, 1)
        ]
        print(
            f"| {name} | {statistics.median(walls):.1f} ({min(walls):.1f} - {max(walls):.1f}) "
            f"| {statistics.median(cpus):.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
        )
