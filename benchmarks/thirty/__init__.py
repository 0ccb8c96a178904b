"""Thirty nights of a warehouse: what each peer takes, and how many of its rows are wrong.

    ./run bench thirty [--scale 0.1] [--churn 1] [--nights 30] [--peers ours careful plain hand]
                       [--compare 1 9 13 ..] [--warm 1] [--data FOLDER] [--results FOLDER]

Deliveries of TPC-H rows (_deliveries.py) arrive as files each night, and a dbt project takes them
in. Each night is one process that runs `dbt build` and the maintenance, as ./run nightly does.
After the nights of --compare (all by default) each table is compared with what DuckDB makes of the
raw deliveries (_truth.py). Peers take turns night by night, so that all meet the same load. Writes
results/thirty.json, .md and plots. --data keeps deliveries, tables and what was measured: the same
command again goes on after the last night that was done.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks.thirty import _deliveries as deliveries
from benchmarks.thirty import _report
from benchmarks.thirty._peers import PEERS, SCHEMA, Peer
from benchmarks.thirty._truth import TABLES, Truth

# The tables of the month that are restored together.
RESTORED = (f"{SCHEMA}.all_orders", f"{SCHEMA}.all_lines")
ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("thirty")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--churn", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nights", type=int, default=deliveries.NIGHTS)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--compare", type=int, nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--warm", type=int, default=1, help="nights in one process")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        _month(options, (options.data or Path(folder)).resolve())


def _month(options: argparse.Namespace, folder: Path) -> None:
    source = deliveries.Deliveries(
        folder, options.scale, options.seed, options.churn, options.nights
    )
    source.make()
    written = folder / "thirty.json"
    before = json.loads(written.read_text())["runs"] if written.exists() else []
    months = []
    for name in options.peers:
        own = [run for run in before if run["peer"] == PEERS[name].name]
        months.append(Month(PEERS[name], folder / f"home_{name}", source, options, own))
    names = {month.peer.name for month in months}
    others = [run for run in before if run["peer"] not in names]
    for night in range(1, options.nights + 1):
        for month in months if night % 2 else reversed(months):
            if night > month.last:
                month.night(night)
        about = {
            "scale": options.scale,
            "churn": options.churn,
            "nights": options.nights,
            "delivered": {
                night: sum(file.stat().st_size for file in source.files(night))
                for night in range(1, options.nights + 1)
            },
            "runs": [*others, *(run for month in months for run in month.runs)],
        }
        # After each night: a month is long, and what was measured is kept if it ends early.
        written.write_text(json.dumps(about, indent=1))
    for month in months:
        month.end()
    results.publish(options.results, "thirty", about, _report.report)
    _report.plots(about, options.results)


class Month:
    """A peer's nights so far; ``before`` are those of a run of the same --data that ended early."""

    def __init__(
        self,
        peer: Peer,
        home: Path,
        source: deliveries.Deliveries,
        options: argparse.Namespace,
        before: list[dict[str, Any]],
    ) -> None:
        self.peer, self.home, self._source, self._options = peer, home, source, options
        self._project = home / "project"
        if not home.exists():
            (home / "logs").mkdir(parents=True)
            peer.prepare(home)
        self._chance = random.Random(f"{options.seed}/crash")
        self.runs = before
        self._ran: list[int] = [run["night"] for run in before]
        self._output = home / "logs" / "nights.txt"
        self._process: subprocess.Popen[str] | None = None
        self._nights = 0

    @property
    def last(self) -> int:
        """The last night that is done."""
        return max(self._ran, default=0)

    def night(self, night: int) -> None:
        """Delivers a night's files, and does what the job does then."""
        self._source.deliver(night, self.home / "landing")
        if night == self._source.calendar.skipped:
            return
        answers = []
        kill_at = None
        if night == self._source.calendar.crash:
            share = self._chance.uniform(0.1, 0.9)
            kill_at = max(1, round(share * self.runs[-1]["statements"]))
        restore = {}
        if night == self._source.calendar.restore:
            tables = self.runs[-2]["tables"]
            restore = {name: tables[name]["version"] for name in RESTORED if name in tables}
        answers.append(self._ask(night, restore, kill_at))
        if kill_at:
            answers.append(self._ask(night, {}, None))
        self._ran.append(night)
        run = {"peer": self.peer.name, "night": night, **_summed(answers), **self._storage()}
        if self._is_compared(night):
            run["wrong"] = self._wrong(night)
        self.runs.append(run)
        wrong = {name: w for name, w in run.get("wrong", {}).items() if w["total"]}
        print(
            f"{time.strftime('%H:%M:%S')} night {night}, {self.peer.name}: {run['wall']:.1f} s, "
            f"{run['cpu']:.1f} s CPU, failed {run['failed'] or 'nothing'}, wrong {wrong or 'none'}",
            flush=True,
        )

    def _is_compared(self, night: int) -> bool:
        compare = self._options.compare
        return compare is None or night in compare or night == self._options.nights

    def _ask(self, night: int, restore: dict[str, int], kill_at: int | None) -> dict[str, Any]:
        commands = [list(command) for command in self.peer.commands]
        commands = [*self.peer.restoring(restore), *commands]
        request = {
            "project": str(self._project),
            "commands": self.peer.dated(commands, deliveries.day(night)),
            "night": night,
            "exports": self.peer.exports() if self._is_compared(night) else {},
            "exported": str(self.home / "exported"),
            "schema": SCHEMA,
            "kill_at": kill_at,
        }
        asked, answered = self.home / "request.json", self.home / "answer.json"
        asked.write_text(json.dumps(request))
        answered.unlink(missing_ok=True)
        shutil.rmtree(self.home / "exported", ignore_errors=True)
        if self._process is None:
            self._process = self._start(asked, answered)
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("night\n")
        self._process.stdin.flush()
        over = self._process.stdout.readline()
        if not answered.exists():
            sys.exit(f"night {night} of {self.peer.name} did not end: see {self._output}")
        found: dict[str, Any] = json.loads(answered.read_text())
        self._nights += 1
        if not over or self._nights >= self._options.warm:
            self.end()
        return found

    def _start(self, asked: Path, answered: Path) -> "subprocess.Popen[str]":
        with self._output.open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "benchmarks.thirty._night", asked, answered],
                cwd=ROOT,
                env=self.peer.environment(self.home),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def end(self) -> None:
        """Ends the process of the last nights."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
        self._process, self._nights = None, 0

    def _warehouse(self) -> Path:
        return self.home / "warehouse" / f"{SCHEMA}.db"

    def _storage(self) -> dict[str, int]:
        """Bytes and files of the tables' folders, those of the logs apart."""
        files = [
            (path, path.stat().st_size) for path in self._warehouse().rglob("*") if path.is_file()
        ]
        logs = [size for path, size in files if "_delta_log" in path.parts]
        return {
            "bytes": sum(size for _, size in files),
            "files": len(files),
            "log bytes": sum(logs),
            "log files": len(logs),
        }

    def _wrong(self, night: int) -> dict[str, Any]:
        truth = Truth(self._source.landing, self._ran)
        found = {}
        for table in TABLES:
            rows = self.home / "exported" / table
            wrong = truth.wrong(table, rows if rows.exists() else None)
            found[table] = {**asdict(wrong), "total": wrong.total}
            if wrong.total:
                examples = truth.examples(table) if rows.exists() else ["no such table"]
                with (self.home / "logs" / f"wrong_{night:02}.txt").open("a") as file:
                    file.write("\n".join([f"{table}: {wrong}", *examples, ""]))
        return found


def _summed(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """One night of two processes, if the first was killed."""
    last = answers[-1]
    sums = {key: sum(one[key] for one in answers) for key in ("wall", "cpu", "read", "written")}
    return {**last, **sums, "memory": max(one["memory"] for one in answers), "tries": len(answers)}
