"""What each run of dbt did: a small file per run, in the folder ``runs`` beside dbt's log.

dbt's run_results.json has the last run only. A file here is the part of it that a report shows,
with what Spark's executors did. It has no message and no SQL, as these may show values of rows:
{format, id, command, target, started, ended, nodes, other}. Times are seconds since 1970. A node is
{id, status, at, seconds, failures, age, cost}; ``at`` are seconds since the run began, ``age`` is
that of a source's rows, ``cost`` is as in session/cost.py; each is left out where it is not known.
``other`` is the cost of what no node asked for, such as hooks.
"""

import datetime as dt
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbt.adapters.events.logging import AdapterLogger

from dbt_delta.session.cost import FIGURES

FORMAT = 1
# Runs that are older are removed when the next one is kept.
KEPT_DAYS = 400
# The commands whose nodes do something.
COMMANDS = ("build", "run", "test", "seed", "snapshot", "clone", "freshness")

logger = AdapterLogger("dbt_delta")


@contextmanager
def kept(task: Any, adapter: Any) -> Iterator[None]:
    """Keeps what the nodes of a task did, also of one that fails. Never fails itself.

    dbt's ``--no-write-json`` is for this file, too.
    """
    from dbt.flags import get_flags

    if task.args.which not in COMMANDS or not get_flags().WRITE_JSON:
        yield
        return
    meter = None
    with suppress(Exception):
        meter = adapter.new_meter()
    adapter.meter = meter
    try:
        yield
    finally:
        adapter.meter = None
        try:
            _keep(task, meter)
        except Exception as error:
            logger.debug(f"This run is not kept for reports: {error}")


def folder(log_path: str | Path) -> Path:
    """Where runs are kept."""
    return Path(log_path) / "runs"


def record(
    about: dict[str, Any], results: Iterable[Any], costs: dict[str, dict[str, float]] | None
) -> dict[str, Any]:
    """A run as it is kept.

    Args:
        about: {id, command, target, started, ended}.
        results: dbt's results.
        costs: as of ``Meter.by_name``; None where Spark could not be asked. A node without
            figures had no job, unless it did not run.
    """
    left, nodes = dict(costs or {}), []
    for result in results:
        own = left.pop(result.node.unique_id, None)
        if own is None and costs is not None and result.execution_time:
            own = dict.fromkeys(FIGURES, 0)
        timing = [t for t in result.timing if t.name == "execute" and t.started_at]
        at = timing[0].started_at.replace(tzinfo=dt.timezone.utc).timestamp() if timing else None
        node = {
            "id": result.node.unique_id,
            "status": "unchanged" if _is_unchanged(result) else str(result.status),
            "seconds": round(result.execution_time, 3),
            "at": None if at is None else round(at - about["started"], 3),
            "failures": getattr(result, "failures", None),
            "age": getattr(result, "age", None),
            "cost": None if own is None else _rounded(own),
        }
        nodes.append({key: value for key, value in node.items() if value is not None})
    other = {key: sum(one[key] for one in left.values()) for one in left.values() for key in one}
    return {"format": FORMAT, **about, "nodes": nodes, "other": _rounded(other)}


def of_artifact(artifact: dict[str, Any]) -> dict[str, Any] | None:
    """A run from dbt's run_results.json; None of a command that is not kept."""
    metadata, arguments = artifact["metadata"], artifact.get("args", {})
    if arguments.get("which") not in COMMANDS:
        return None
    ended = _seconds(metadata["generated_at"])
    started = _seconds(metadata.get("invocation_started_at"))
    if started is None:
        started = ended - artifact["elapsed_time"]
    nodes = []
    for result in artifact["results"]:
        times = [t for t in result["timing"] if t["name"] == "execute" and t["started_at"]]
        node = {
            "id": result["unique_id"],
            "status": result["status"],
            "seconds": round(result["execution_time"], 3),
            "at": round(_seconds(times[0]["started_at"]) - started, 3) if times else None,
            "failures": result.get("failures"),
        }
        nodes.append({key: value for key, value in node.items() if value is not None})
    about = {
        "id": metadata["invocation_id"],
        "command": arguments["which"],
        "target": arguments.get("target"),
        "started": started,
        "ended": ended,
    }
    return {"format": FORMAT, **about, "nodes": nodes, "other": {}}


def read(kept_in: Path, artifact: Path, since: float) -> tuple[list[dict[str, Any]], list[str]]:
    """The runs since a time, oldest first, and what could not be read.

    The newest run_results.json counts, too, if its run was not kept.
    """
    runs: dict[str, dict[str, Any]] = {}
    problems = []
    for path in sorted(kept_in.glob("*.json")):
        try:
            run = parsed(path)
            if run["started"] >= since:
                runs[run["id"]] = run
        except (OSError, ValueError, KeyError, TypeError):
            problems.append(f"runs/{path.name} is damaged: the page is without this run")
    with suppress(OSError, ValueError, KeyError, TypeError):
        run = of_artifact(json.loads(artifact.read_text()))
        if run is not None and run["started"] >= since:
            runs.setdefault(run["id"], run)
    return sorted(runs.values(), key=lambda run: run["started"]), problems


def parsed(path: Path) -> dict[str, Any]:
    """A kept run.

    Raises:
        OSError, ValueError, KeyError, TypeError: the file is damaged, or of a newer version.
    """
    run = json.loads(path.read_text())
    if run["format"] > FORMAT:
        raise ValueError(f"format {run['format']}")
    return dict(run)


def write(kept_in: Path, run: dict[str, Any]) -> None:
    """Keeps a run, and removes old ones."""
    kept_in.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(run["started"]))
    path = kept_in / f"{stamp}_{run['id'][:8]}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(run, separators=(",", ":")))
    os.replace(part, path)
    oldest = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - KEPT_DAYS * 86400))
    for other in kept_in.glob("*.json"):
        if other.name < oldest:
            other.unlink(missing_ok=True)


def _keep(task: Any, meter: Any) -> None:
    from dbt.flags import get_flags
    from dbt_common.invocation import get_invocation_id, get_invocation_started_at

    if not task.node_results:
        return
    costs = None
    if meter is not None:
        with suppress(Exception):  # the JVM may be gone: then the cost is not known
            costs = meter.by_name()
    started = get_invocation_started_at().replace(tzinfo=dt.timezone.utc).timestamp()
    about = {
        "id": get_invocation_id(),
        "command": task.args.which,
        "target": task.config.target_name,
        "started": round(started, 3),
        "ended": round(time.time(), 3),
    }
    write(folder(get_flags().LOG_PATH), record(about, task.node_results, costs))


def _is_unchanged(result: Any) -> bool:
    """Whether a node was left out because its inputs did not change; see state/hooks.py."""
    from dbt_delta.state.decide import NOT_DUE, UNCHANGED

    return result.message in (UNCHANGED, NOT_DUE)


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {k: round(v, 3) if k == "cpu" else int(v) for k, v in figures.items()}


def _seconds(text: str | None) -> Any:
    if text is None:
        return None
    time_of = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time_of.replace(tzinfo=time_of.tzinfo or dt.timezone.utc).timestamp()
