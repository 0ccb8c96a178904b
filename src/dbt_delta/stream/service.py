"""``./run stream``: a process that runs the project's streams again and again.

A turn is one ``dbt run`` in this process, of the models whose time has come, so that everything
that holds of such a run holds here: the streams, and incremental models that land files or follow
the changes of a table, if a stream reads them. A stream that has more to read after TURN_SECONDS
goes on in the next turn, and a model that failed waits longer each time. Nothing is tested,
published or recorded for state-aware builds: the next build does that.

The embedded home serves one process at a time. A command that needs it asks for it (lock.py); then
this process ends its turn after the present batches, leaves Spark to the command, starts itself
anew and waits.

What it does is in ``status.json`` of the folder ``stream`` of the home: {format, pid, since, every,
state, models}. ``since`` is in seconds since 1970, ``every`` in seconds. A model is {id, model,
batches, rows, batch_seconds, batch_rows, complete, failures, problem}: batches and rows since the
service began, seconds and rows of the last batches, until when everything that was written to its
inputs was read (seconds since 1970), how often it failed one after the other, and why. A batch of
a model that is no stream is a run that wrote.
"""

import argparse
import json
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from logging.handlers import RotatingFileHandler
from pathlib import Path
from statistics import median
from typing import Any

from dbt_delta.console import Parser
from dbt_delta.home import home, project_dir, write_private
from dbt_delta.night import GOOD
from dbt_delta.server import ServerError, daemon
from dbt_delta.session import facts, lock, spark, warm

FORMAT = 1
NAME = "service"
START_SECONDS = 300
# After so long a stream that has more to read lets the others run.
TURN_SECONDS = 60
# Between two tries of a stream that fails, at most.
PATIENCE = 300
KEPT_BATCHES = 100
# For how long Spark is kept for the command to which the service gives way.
KEPT_SPARK = "60s"
LOG_BYTES = 5_000_000
_LOOK = 0.1
# An error is in the result, and is logged here.
_SILENT = ("--log-level", "none")
# What an incremental model calls to read what is new.
_READING = {
    f"macro.dbt_delta.{name}" for name in ("landed_files", "landed_csv", "new_changes", "new_rows")
}
# dbt's headings of an error.
_HEADING = re.compile(r"^\w+ Error\b.*$")

logger = logging.getLogger(__name__)


@dataclass
class Model:
    """What the service knows of one model; see the module."""

    id: str
    model: str
    batches: int = 0
    rows: int = 0
    batch_seconds: list[float] = field(default_factory=list)
    batch_rows: list[int] = field(default_factory=list)
    complete: float | None = None
    failures: int = 0
    problem: str = ""

    def read(self, rows: int, seconds: float) -> None:
        """Notes a batch that is done."""
        self.batches += 1
        self.rows += rows
        self.batch_seconds = [*self.batch_seconds, round(seconds, 3)][-KEPT_BATCHES:]
        self.batch_rows = [*self.batch_rows, rows][-KEPT_BATCHES:]

    def ended(self, began: float, problem: str, has_more: bool) -> None:
        """Notes the end of a turn that began at a time."""
        self.problem = problem
        self.failures = self.failures + 1 if problem else 0
        if not problem and not has_more:
            self.complete = began

    def pause(self, every: float) -> float:
        """Seconds between the beginnings of its turns."""
        return every if not self.failures else min(PATIENCE, max(1, every) * 2**self.failures)


class Service:
    """The loop; ``every`` is the time between the beginnings of two turns, in seconds."""

    def __init__(self, folder: Path, selection: list[str], every: float) -> None:
        self._folder, self._selection, self._every = folder, selection, every
        before = self._before()
        self._since = before.get("since", time.time())
        self._known = {one["id"]: one for one in before.get("models", [])}
        self._models: dict[tuple[str, str], Model] = {}
        self._selectors: dict[str, str] = {}
        # Those that are no streams.
        self._others: set[str] = set()
        self._due: dict[str, float] = {}
        self._state = ""
        self._is_ended = False
        self._turn_until = 0.0

    def run(self) -> None:
        """Runs until a signal ends it.

        Raises:
            ServerError: the project has an error, or no stream.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        lock.service = self._goes_on_waiting
        self._write("starts")
        self._find()
        while not self._is_ended:
            if due := [one for one in self._models.values() if self._is_due(one)]:
                self._write("runs")
                self._turn(due)
            if not self._is_ended and (lock.is_wanted() or spark.is_driver_gone(within=0)):
                self._start_anew()
            self._write("waits")
            while (
                not self._is_ended
                and not lock.is_wanted()
                and not any(map(self._is_due, self._models.values()))
            ):
                time.sleep(_LOOK)
        spark.leave_nothing()

    def _end(self, *_: Any) -> None:
        self._is_ended = True

    def _goes_on_waiting(self) -> bool:
        """Asked again and again while another process has the embedded home."""
        if self._state != "waits for the home":
            self._write("waits for the home")
        return not self._is_ended

    def _is_due(self, model: Model) -> bool:
        return self._due.get(model.id, 0) <= time.monotonic()

    def _find(self) -> None:
        """Parses the project, and finds what it runs."""
        from dbt.cli.main import dbtRunner

        from dbt_delta.state import build
        from dbt_delta.stream.available import watch

        build.is_off = True
        watch.is_over, watch.told = self._is_over, self._told
        self._watch = watch
        parsed = dbtRunner().invoke([*_SILENT, "parse"])
        _require(parsed)
        self._dbt = dbtRunner(manifest=parsed.result)
        wanted = ["--select", *self._selection] if self._selection else []
        output = ["--output", "json", "--output-keys", "unique_id"]
        listed = self._dbt.invoke(
            ["--quiet", *_SILENT, "ls", "--resource-type", "model", *output, *wanted]
        )
        _require(listed)
        names = [json.loads(line)["unique_id"] for line in listed.result]
        to_run = wanted_models(parsed.result, names, bool(self._selection))
        for number, name in enumerate(to_run):
            node = parsed.result.nodes[name]
            about = self._known.get(name, {"id": name, "model": node.name})
            self._models[node.schema, node.alias] = Model(**about)
            self._selectors[name] = selector_of(node, number)
            if node.config.materialized != "stream":
                self._others.add(name)
        if len(self._models) == len(self._others):
            among = f" among {' '.join(self._selection)}" if self._selection else ""
            raise ServerError(f"there is no model with materialized: stream{among}")

    def _turn(self, due: list[Model]) -> None:
        """Runs the models that are due, once."""
        began, clock = time.time(), time.monotonic()
        self._turn_until = clock + TURN_SECONDS
        self._watch.ended.clear()
        before = {one.id: (one.batches, one.rows, one.problem) for one in due}
        selected = [self._selectors[one.id] for one in due]
        flags = ["--log-level-file", "none", "run", "--no-write-json"]
        ran = self._dbt.invoke([*_SILENT, *flags, "--select", *selected])
        results = {one.node.unique_id: one for one in getattr(ran.result, "results", None) or []}
        has_more = {self._models[table].id for table in self._watch.ended}
        self._count_others(results)
        for model in due:
            problem = "" if ran.exception is None else first_line(str(ran.exception))
            one = results.get(model.id)
            if one is not None and str(one.status) not in GOOD:
                said = one.message or "a model before it failed"
                problem = "" if model.id in has_more else first_line(said)
            model.ended(began, problem, model.id in has_more)
            self._due[model.id] = 0 if model.id in has_more else clock + model.pause(self._every)
            self._log(model, *before[model.id], time.time() - began)

    def _count_others(self, results: Mapping[str, Any]) -> None:
        """Notes what the models that are no streams have written in this turn."""
        from dbt_common.invocation import get_invocation_id

        session = spark.session()
        for table, model in self._models.items():
            one = results.get(model.id)
            if model.id not in self._others or one is None or str(one.status) not in GOOD:
                continue
            with suppress(Exception):  # the driver may be gone; these are figures only
                rows = facts.rows_written(session, *table, run=get_invocation_id())
                if rows is not None:
                    model.read(rows, one.execution_time)

    def _log(self, model: Model, batches: int, rows: int, problem: str, seconds: float) -> None:
        """A line for what a turn wrote, and for a failure that is new or gone."""
        if model.batches > batches:
            done = (
                f"{_count(model.batches - batches, 'batch', 'batches')}, {model.rows - rows} rows"
            )
            logger.info(f"{model.model}: {done} in {seconds:.1f} s")
        if model.problem and model.problem != problem:
            logger.error(f"{model.model}: {model.problem}")
        elif problem and not model.problem:
            logger.info(f"{model.model} works again")

    def _is_over(self) -> bool:
        """Whether streams end after their present batches."""
        return self._is_ended or lock.is_wanted() or time.monotonic() > self._turn_until

    def _told(self, table: tuple[str, str], rows: int, seconds: float) -> None:
        self._models[table].read(rows, seconds)
        self._write("runs")

    def _before(self) -> dict[str, Any]:
        """What this process had written before it started itself anew."""
        found = read_status(self._folder)
        return found if found and found["pid"] == os.getpid() else {}

    def _start_anew(self) -> None:
        """Leaves Spark and the home to others, and begins again in this process."""
        self._write("waits")
        spark.leave()
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]])

    def _write(self, state: str) -> None:
        self._state = state
        about = {
            "format": FORMAT,
            "pid": os.getpid(),
            "since": self._since,
            "every": self._every,
            "state": state,
            # Before it has found them again: what it knew of them.
            "models": [asdict(one) for one in self._models.values()] or list(self._known.values()),
        }
        part = write_private(self._folder / "status.part", json.dumps(about, indent=1))
        os.replace(part, self._folder / "status.json")


def wanted_models(manifest: Any, names: list[str], is_selected: bool) -> list[str]:
    """Of some models those that the service runs: streams, and models that read what is new.

    Of the latter those that were selected, or without a selection those that a stream reads.
    """
    streams = [n for n in names if manifest.nodes[n].config.materialized == "stream"]
    read, waiting = set(names) if is_selected else set(), [] if is_selected else list(streams)
    while waiting:
        node = manifest.nodes.get(waiting.pop())
        new = set(node.depends_on.nodes) - read if node else set()
        read |= new
        waiting.extend(new)

    def reads_news(name: str) -> bool:
        node = manifest.nodes.get(name)
        is_incremental = node is not None and node.config.get("materialized") == "incremental"
        return is_incremental and not _READING.isdisjoint(node.depends_on.macros)

    return [*streams, *sorted(filter(reads_news, read))]


def selector_of(node: Any, number: int) -> str:
    """What selects one node of this process and no other, by a tag that only it gets.

    dbt takes an fqn for a prefix: that of ``orders.sql`` is also that of a folder ``orders``.
    """
    tag = f"dbt_delta_stream_service_{number}"
    node.tags = [*node.tags, tag]
    return f"tag:{tag}"


def read_status(folder: Path) -> dict[str, Any] | None:
    """What a service has written of itself last; None if there was none."""
    try:
        return dict(json.loads((folder / "status.json").read_text()))
    except (FileNotFoundError, ValueError):
        return None


def first_line(text: str) -> str:
    """The first line of an error that is not dbt's heading."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not _HEADING.match(line)), text.strip())


def seconds(text: str) -> float:
    """A time such as 10s, 5m or 0s.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    found = warm.duration(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"needs a time such as 10s, 5m or 0s. Got: {text!r}")
    return found


def table(models: Iterable[Mapping[str, Any]], now: float) -> list[str]:
    """Lines for people about the models of a status."""
    lines = [("model", "state", "batches", "rows", "rows/s", "last batch", "median", "lag")]
    for one in models:
        took, rows = one["batch_seconds"], sum(one["batch_rows"])
        lag = None if one["complete"] is None else now - one["complete"]
        lines.append(
            (
                one["model"],
                "fails" if one["problem"] else "works",
                str(one["batches"]),
                str(one["rows"]),
                f"{rows / sum(took):.0f}" if sum(took) else "",
                f"{took[-1]:.1f} s" if took else "",
                f"{median(took):.1f} s" if took else "",
                "" if lag is None else f"{lag:.0f} s",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return [*shown, *(f"{one['model']}: {one['problem']}" for one in models if one["problem"])]


def start(folder: Path, arguments: list[str]) -> str:
    """Starts a service and waits until it has found its streams; says so.

    Raises:
        ServerError: one runs already, or this one ends at once.
    """
    with daemon.exclusively(folder):
        if daemon.is_running(found := daemon.record(folder, NAME)):
            raise ServerError(f"it runs already (process {found['pid']})")
        command = [sys.executable, "-m", __spec__.name, "run", "--log", *arguments]
        environment = {"DBT_PROJECT_DIR": str(project_dir())}
        own = daemon.spawn(command, folder, NAME, environment)

        def is_ready() -> bool:
            status = read_status(folder)
            return bool(status and status["pid"] == own["pid"] and status["models"])

        try:
            lacking = "sign of the stream service"
            daemon.wait(folder, {NAME: "the service"}, is_ready, START_SECONDS, lacking, log_file())
        except ServerError:
            daemon.stop(folder, NAME)
            raise
        number = len((read_status(folder) or {})["models"])
        return f"process {own['pid']} runs {_count(number, 'model', 'models')}"


def status(folder: Path, as_json: bool) -> int:
    """Prints what the service does; the exit code is 1 if it does not run, or a stream fails."""
    found, is_running = read_status(folder), daemon.is_running(daemon.record(folder, NAME))
    models = found["models"] if found else []
    if as_json:
        print(json.dumps({"is_running": is_running, "now": time.time(), **(found or {})}))
    elif not is_running:
        print("stream: it does not run")
    else:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found["since"]))
        print(f"stream: process {found['pid']} since {since}: {found['state']}")
        print("\n".join(table(models, time.time())))
    return 0 if is_running and not any(one["problem"] for one in models) else 1


def log_file() -> Path:
    """Where a service that was started writes what it does."""
    return home() / "logs" / "stream.log"


def _run(folder: Path, options: argparse.Namespace) -> None:
    os.chdir(os.environ.get("DBT_PROJECT_DIR") or project_dir())
    os.environ["DBT_DELTA_PUBLISH"] = "never"
    os.environ.setdefault("DBT_DELTA_WARM", KEPT_SPARK)
    log_file().parent.mkdir(parents=True, exist_ok=True)
    to_file = RotatingFileHandler(log_file(), maxBytes=LOG_BYTES, backupCount=2)
    handler = to_file if options.log else logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    Service(daemon.private_folder(folder), options.select or [], options.every).run()


def _require(result: Any) -> None:
    """Raises what dbt says of a command that failed."""
    if not result.success:
        raise ServerError(first_line(str(result.exception)))


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _parser() -> Parser:
    parser = Parser(prog="./run stream", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("start", "start it and return"), ("run", "run it here, until Ctrl-C")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--select", "-s", nargs="+", metavar="MODEL", help="which streams")
        command.add_argument("--every", type=seconds, default=10, metavar="TIME", help="as in 10s")
        command.add_argument("--log", action="store_true", help=argparse.SUPPRESS)
    commands.add_parser("stop", help="end it after its present batches")
    shown = commands.add_parser("status", help="show what it does; exit code 1 if a stream fails")
    shown.add_argument("--json", action="store_true")
    return parser


def main(arguments: list[str]) -> int:
    """Runs the command, and returns the exit code.

    Raises:
        ServerError: it cannot be done.
    """
    options, folder = _parser().parse_args(arguments), home() / "stream"
    if options.command == "run":
        _run(folder, options)
        return 0
    if options.command == "status":
        return status(folder, options.json)
    if options.command == "start":
        print(f"stream: {start(folder, arguments[1:])}")
        return 0
    with daemon.exclusively(folder):
        print(f"stream: {'stopped' if daemon.stop(folder, NAME) else 'it did not run'}")
    return 0


if __name__ == "__main__":
    # dbt reads its folders from the environment; see startup.py.
    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    try:
        sys.exit(main(sys.argv[1:]))
    except (ServerError, FileNotFoundError) as error:
        print(f"stream: {error}", file=sys.stderr)
        sys.exit(2)
