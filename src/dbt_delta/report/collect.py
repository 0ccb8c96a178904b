"""Makes the report's document: plain values, and None for what is not known, never 0.

The document is {format, project, target, made, since, selection, runs, nodes, tests, expectations,
publish, erasures, attention, problems}. Times are seconds since 1970 in UTC, durations seconds,
sizes bytes.

- ``runs``, oldest first: {id, command, started, seconds, status, counts, cost}. ``status`` is ok,
  warn, error, or None of a run that is known by its commits only; ``counts`` are nodes by letter;
  ``cost`` is {cpu, read, written} or None.
- ``nodes``: {name, kind, what, table, path, parents, tests, runs, odd, usual, rows, fresh, store,
  problem}. ``parents`` and ``tests`` are positions in ``nodes`` and ``tests``. ``runs`` has columns
  of equal length: run (a position in ``runs``), status (letters), at, seconds, cpu, read, written,
  inserted, updated, deleted; a column of which nothing is known is left out. ``odd`` are positions
  that stand out, by column, ``usual`` the medians. ``rows`` is {at, rows} after each change.
  ``fresh`` is {changed, gap, limit, state}, ``store`` what maintenance_plan says.
- ``tests``: {name, of, results, failures, flips, state}: a letter per run, a dot where it did not
  run; ``state`` is ok, failing, warning, flaky or None.
- ``expectations``: {node, name, action, at, broken, rows, quarantined, dropped}, columns over runs.
- ``attention``: {level, text, node or test or part}, what somebody should look at.

The letters: p passed or succeeded, e error, f failed, w warned, k skipped, u unchanged, ? other.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from dbt_delta.report import figures
from dbt_delta.report.nodes import DRAWN

FORMAT = 1
LETTERS = {
    "success": "p",
    "pass": "p",
    "error": "e",
    "runtime error": "e",
    "fail": "f",
    "warn": "w",
    "partial success": "w",
    "skipped": "k",
    "unchanged": "u",
    "no-op": "u",
}
# A test is flaky that changed between passing and not so often.
FLAKY_FLIPS = 3
# A table is late after so many of its usual gaps between changes, and no sooner than an hour.
_LATE_GAPS = 3
_LATE_LEAST = 3600
# What does not stand out, however unusual: seconds, CPU seconds, bytes.
_NOISE = {"seconds": 5.0, "cpu": 5.0, "read": 2.0**24, "written": 2.0**24}
_COST = ("cpu", "read", "written")
_ROWS = ("inserted", "updated", "deleted")


def document(
    about: dict[str, Any],
    nodes: list[dict[str, Any]],
    facts: dict[str, Any],
    runs: list[dict[str, Any]],
    erasures: list[dict[str, Any]],
) -> dict[str, Any]:
    """The document.

    Args:
        about: {project, target, made, since, selection, problems}.
        nodes: as of ``nodes.nodes``.
        facts: what the macro _report_facts found.
        runs: as of ``runs.read``.
        erasures: {request, kind, begun, state, tables, open, until}.
    """
    runs = [
        {**run, "by_id": {node["id"]: node for node in run["nodes"] or []}}
        for run in with_runs_of_commits(runs, facts["commits"])
    ]
    drawn = [node for node in nodes if node["kind"] in DRAWN]
    place = {node["id"]: position for position, node in enumerate(drawn)}
    made = about["made"]
    tests = [_test(node, runs, place) for node in nodes if node["kind"] not in DRAWN]
    tests.sort(key=lambda test: test["name"])
    tested: dict[int, list[int]] = defaultdict(list)
    for position, test in enumerate(tests):
        for of in test["of"]:
            tested[of].append(position)
    tables = {table["node"]: table for table in facts["tables"]}
    found = [
        {
            **_node(node, runs, facts["commits"].get(node["id"], []), tables.get(node["id"]), made),
            "parents": [place[parent] for parent in node["parents"] if parent in place],
            "tests": tested[position],
        }
        for position, node in enumerate(drawn)
    ]
    made_of = {
        "format": FORMAT,
        **{key: about[key] for key in ("project", "target", "made", "since", "selection")},
        "runs": [_run(run) for run in runs],
        "nodes": found,
        "tests": tests,
        "expectations": _expectations(facts["expectations"], place),
        "publish": facts["publish"],
        "erasures": erasures,
        "problems": [*about["problems"], *facts["problems"]],
    }
    return {**made_of, "attention": list(_attention(made_of))}


def with_runs_of_commits(
    runs: list[dict[str, Any]], commits: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Runs, oldest first, also those of which only the tables' commits tell."""
    known = {run["id"]: run for run in runs}
    others: dict[str, dict[str, Any]] = {}
    for commit in (one for own in commits.values() for one in own):
        if commit["run"] and commit["run"] not in known and commit["at"] is not None:
            at = commit["at"] / 1000
            run = others.setdefault(
                commit["run"],
                {"id": commit["run"], "command": None, "started": at, "ended": None, "nodes": None},
            )
            run["started"] = min(run["started"], at)
    return sorted([*runs, *others.values()], key=lambda run: float(run["started"]))


def letter(status: str) -> str:
    return LETTERS.get(status, "?")


def _run(run: dict[str, Any]) -> dict[str, Any]:
    counts: dict[str, int] = defaultdict(int)
    for node in run["nodes"] or []:
        counts[letter(node["status"])] += 1
    status = "error" if counts.keys() & {"e", "f"} else "warn" if "w" in counts else "ok"
    costs = [node["cost"] for node in run["nodes"] or [] if "cost" in node]
    costs += [run["other"]] if run.get("other") else []
    return {
        "id": run["id"],
        "command": run["command"],
        "started": round(run["started"]),
        "seconds": None if run["ended"] is None else round(run["ended"] - run["started"], 1),
        "status": None if run["nodes"] is None else status,
        "counts": dict(counts),
        "cost": {key: _short(sum(c[key] for c in costs)) for key in _COST} if costs else None,
    }


def _node(
    node: dict[str, Any],
    runs: list[dict[str, Any]],
    commits: list[dict[str, Any]],
    table: dict[str, Any] | None,
    made: float,
) -> dict[str, Any]:
    """A node of the lineage, without its parents and tests; ``commits`` newest first."""
    series = _series(node["id"], runs, commits)
    oldest_first = commits[::-1]
    after = figures.rows_after(oldest_first, _live_rows(table))
    moved = [i for i, commit in enumerate(oldest_first) if commit["moves_rows"]]
    known = {key: column for key, column in series.items() if key in _NOISE}
    odd = {key: figures.outliers(column, _NOISE[key]) for key, column in known.items()}
    usual = {key: _short(figures.usual(column)) for key, column in known.items()}
    return {
        "name": node["name"],
        "kind": node["kind"],
        "what": node["what"],
        "table": node["table"],
        "path": node["path"],
        "runs": series,
        "odd": {key: positions for key, positions in odd.items() if positions},
        "usual": {key: value for key, value in usual.items() if value is not None},
        "rows": {
            "at": [round(oldest_first[i]["at"] / 1000) for i in moved],
            "rows": [after[i] for i in moved],
        },
        "fresh": _fresh(node, runs, oldest_first, made),
        "store": None if table is None or "files" not in table else _store(table),
        "problem": None if table is None else table["problem"],
    }


def _series(
    id: str, runs: list[dict[str, Any]], commits: list[dict[str, Any]]
) -> dict[str, list[Any] | str]:
    written: dict[str, dict[str, int | None]] = {}
    for commit in commits:
        if commit["run"] and commit["moves_rows"]:
            own = written.setdefault(commit["run"], dict.fromkeys(_ROWS))
            for key in _ROWS:
                if commit[key] is not None:
                    own[key] = (own[key] or 0) + commit[key]
    columns: dict[str, list[Any]] = defaultdict(list)
    for position, run in enumerate(runs):
        result = run["by_id"].get(id)
        rows = written.get(run["id"])
        if result is None and rows is None:
            continue
        result, cost = result or {}, (result or {}).get("cost") or {}
        columns["run"].append(position)
        columns["status"].append(letter(result["status"]) if result else "?")
        did = letter(result.get("status", "")) not in "uk"
        columns["at"].append(_short(result.get("at")))
        columns["seconds"].append(_short(result.get("seconds")) if did else None)
        for key in _COST:
            columns[key].append(_short(cost.get(key)))
        for key in _ROWS:
            columns[key].append((rows or {}).get(key))
    kept = {key: column for key, column in columns.items() if any(v is not None for v in column)}
    return {**kept, "status": "".join(kept["status"])} if kept else {}


def _live_rows(table: dict[str, Any] | None) -> int | None:
    """Rows of the newest version; None if its files do not say."""
    if table is None or "files" not in table or (table["files"] and not table["rows"]):
        return None
    return int(table["rows"] - table["deleted_rows"])


def _store(table: dict[str, Any]) -> dict[str, Any]:
    names = ("files", "bytes", "small_files", "deleted_rows", "unordered_bytes", "versions")
    names += ("dead_bytes", "reclaimable_bytes", "last_optimize", "last_vacuum", "retention_hours")
    return {
        **{name: table.get(name) for name in names},
        "rows": _live_rows(table),
        "steps": table["steps"],
    }


def _fresh(
    node: dict[str, Any], runs: list[dict[str, Any]], commits: list[dict[str, Any]], made: float
) -> dict[str, Any] | None:
    """{changed, gap, limit, state}: fresh, late, or None where nothing says so.

    ``changed`` is when rows last changed, ``gap`` the usual time between changes, ``limit`` the
    seconds after which it counts as late.
    """
    times = [commit["at"] / 1000 for commit in commits if commit["moves_rows"]]
    limits, changed = node["limits"], times[-1] if times else None
    if node["kind"] == "source":
        for run in runs:
            if (age := run["by_id"].get(node["id"], {}).get("age")) is not None:
                changed = run["started"] - age
    if changed is None and limits is None:
        return None
    gap = figures.usual_gap(times)
    limit = None if gap is None else max(_LATE_LEAST, _LATE_GAPS * gap)
    if limits:
        limit = min(limits.values()) * 3600
    state = None
    if limit is not None and changed is not None:
        state = "late" if made - changed > limit else "fresh"
    return {
        "changed": None if changed is None else round(changed),
        "gap": None if gap is None else round(gap),
        "limit": None if limit is None else round(limit),
        "state": state,
    }


def _test(
    node: dict[str, Any], runs: list[dict[str, Any]], place: dict[str, int]
) -> dict[str, Any]:
    results, failures = "", None
    for run in runs:
        found = run["by_id"].get(node["id"])
        results += "." if found is None else letter(found["status"])
        if found is not None and "failures" in found:
            failures = found["failures"]
    told = [one for one in results if one in "pfwe"]
    flips = figures.flips(results)
    state = None if not told else {"p": "ok", "w": "warning"}.get(told[-1], "failing")
    return {
        "name": node["name"],
        "kind": node["kind"],
        "of": [place[parent] for parent in node["parents"] if parent in place],
        "results": results,
        "failures": failures if told and told[-1] in "fw" else None,
        "flips": flips,
        "state": "flaky" if state == "ok" and flips >= FLAKY_FLIPS else state,
    }


def _expectations(
    lines: dict[str, list[dict[str, Any]]], place: dict[str, int]
) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for id, own in lines.items():
        for line in own[::-1]:
            one = found.setdefault(
                (id, line["expectation"]),
                {
                    "node": place.get(id),
                    "name": line["expectation"],
                    "action": line["action"],
                    **{key: [] for key in ("at", "broken", "rows", "quarantined", "dropped")},
                },
            )
            one["at"].append(line["at"])
            for key in ("broken", "rows", "quarantined", "dropped"):
                one[key].append(line[key])
            one["action"] = line["action"]
    return [one for one in found.values() if one["node"] is not None]


def _attention(made_of: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for position, node in enumerate(made_of["nodes"]):
        for level, text in _of_node(node):
            yield {"level": level, "text": text, "node": position}
    for position, test in enumerate(made_of["tests"]):
        level, text = {
            "failing": ("error", f"{test['name']} fails"),
            "warning": ("warn", f"{test['name']} warns"),
            "flaky": ("warn", f"{test['name']} is flaky: it changed sides {test['flips']} times"),
        }.get(test["state"], ("", ""))
        if level:
            yield {"level": level, "text": text, "test": position}
    for line in made_of["publish"] or []:
        if line["held back by"]:
            text = f"{line['view']} is held back by {line['held back by']}"
            yield {"level": "warn", "text": text, "part": "publish"}
    for one in made_of["erasures"]:
        if one["state"] != "closed":
            text = f"erasure {one['request']} is {one['state']}"
            yield {"level": "warn", "text": text, "part": "erasures"}
    for problem in made_of["problems"]:
        yield {"level": "warn", "text": problem, "part": "problems"}


def _of_node(node: dict[str, Any]) -> Iterable[tuple[str, str]]:
    did = [(i, one) for i, one in enumerate(node["runs"].get("status", "")) if one in "pefw"]
    if did and did[-1][1] in "ef":
        yield "error", f"{node['name']} failed in its last run"
    elif did:
        for key, what in (("seconds", "took"), ("cpu", "used CPU for")):
            if did[-1][0] in node["odd"].get(key, []):
                last, usual = node["runs"][key][did[-1][0]], node["usual"][key]
                text = f"{node['name']} {what} {_duration(last)}, usually {_duration(usual)}"
                yield "warn", text
                break
    if (node["fresh"] or {}).get("state") == "late":
        yield "warn", f"{node['name']} is late"
    if node["problem"]:
        yield "warn", f"{node['name']}: {node['problem']}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _short(number: float | None) -> float | int | None:
    """A number with as many digits as a page shows."""
    if number is None or isinstance(number, int):
        return number
    return int(number) if number >= 1000 else round(number, 2)
