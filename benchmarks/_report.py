"""The incremental benchmark's report: medians, paired ratios with their spread, and plots."""

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._peers import FLOOR, HAND, LOOK, OURS, STOCK
from benchmarks._plot import line_chart

Run = dict[str, Any]
Row = Sequence[str]
PEERS = (OURS, STOCK, HAND, FLOOR)


def write(found: dict[str, Any], folder: Path) -> None:
    """Writes incremental.md and its plots; ``found`` is what incremental.json holds."""
    targets: list[Row] = []
    parts = []
    for name, section in SECTIONS.items():
        if found.get(name, {}).get("runs"):
            about = found[name]
            parts += [*section(about["runs"], targets, folder), "", _origin(about), ""]
    head = [
        "# Incremental models: ours, stock dbt-spark, by hand, and the floor",
        "",
        "What is compared and how: [../README.md](../README.md). Medians of the rounds; a ratio is "
        "taken within each round, shown as median (least - most).",
        "",
        *_table(("work", "target", "measured", "met"), targets),
        "",
    ]
    (folder / "incremental.md").write_text("\n".join(head + parts))


def _merge(runs: list[Run], targets: list[Row], folder: Path) -> list[str]:
    sizes = sorted({(run["rows"], run["table"]) for run in runs})
    (_, small), (_, large) = sizes[0], sizes[-1]
    rows, ratios = [], []
    for _, table in sizes:
        here = _pick(runs, table=table)
        rows += [_row(here, peer, table, bytes_=True) for peer in PEERS]
        ratios.append(
            (
                table,
                *(_ratio(here, OURS, peer, "wall") for peer in (STOCK, HAND, FLOOR)),
                *(_ratio(here, OURS, peer, "cpu") for peer in (STOCK, HAND)),
            )
        )
        _target(targets, here, f"merge, {table}", "wall", HAND, 1.10)
    _target(targets, _pick(runs, table=small), f"merge, {small}", "wall", STOCK, 1.1)
    _target(targets, _pick(runs, table=large), f"merge, {large}", "wall", STOCK, 0.5)
    _target(targets, _pick(runs, table=large), f"merge, {large}", "files opened", STOCK, 0.1)
    growth = {}
    for peer in (OURS, STOCK, HAND):
        growth[peer] = _quotients(
            _pick(runs, table=large, peer=peer), _pick(runs, table=sizes[-2][1], peer=peer), "wall"
        )
    title = f"merge, {large} / {sizes[-2][1]}"
    _verdict(targets, title, "<= 1.3 x the time", growth[OURS], 1.3)
    for name, key, log in (("seconds", "wall", "x"), ("files opened", "files opened", "xy")):
        lines = {
            peer: [(size, _median(_pick(runs, table=t, peer=peer), key)) for size, t in sizes]
            for peer in (PEERS if key == "wall" else (OURS, STOCK, HAND))
        }
        svg = line_chart(f"Merge of the 1,500 newest rows: {name}", "rows", name, lines, log)
        (folder / f"incremental_merge_{key.split()[0]}.svg").write_text(svg)
    return [
        "## The 1,500 newest rows into tables of several sizes",
        "",
        *_table(("table", *HEAD), rows),
        "",
        *_table(
            ("ours /", "stock, s", "hand, s", "floor, s", "stock, CPU", "hand, CPU"),
            ratios,
        ),
        "",
        f"{large} / {sizes[-2][1]}, s: "
        + "; ".join(f"{peer} {_spread(values)}" for peer, values in growth.items()),
        "",
        "![seconds](incremental_merge_wall.svg) ![files opened](incremental_merge_files.svg)",
        *_steps(runs, "table"),
    ]


def _scattered(runs: list[Run], targets: list[Row], folder: Path) -> list[str]:
    reads = [run for run in runs if "read" in run]
    cycles = [run for run in runs if "cycle" in run]
    totals = [
        {
            "round": number,
            "peer": peer,
            **{
                key: sum(run[key] for run in _pick(cycles, round=number, peer=peer))
                for key in ("wall", "cpu", "bytes written", "commits", "files opened", "files")
            },
            "copied": sum(_copied(run) for run in _pick(cycles, round=number, peer=peer)),
        }
        for number in sorted({run["round"] for run in cycles})
        for peer in PEERS
    ]
    work = "scattered keys"
    _target(targets, totals, work, "wall", STOCK, 0.35)
    _target(targets, totals, work, "wall", HAND, 1.10)
    _target(targets, totals, work, "bytes written", STOCK, 0.02)
    lines = {
        peer: [
            (number, _median(_pick(cycles, cycle=number - 1, peer=peer), "wall"))
            for number in range(1, max(run["cycle"] for run in cycles) + 2)
        ]
        for peer in PEERS
    }
    svg = line_chart("1,500 keys scattered over all files", "cycle", "seconds", lines)
    (folder / "incremental_scattered.svg").write_text(svg)
    text = [
        "## Keys scattered over all files",
        "",
        "Sums over all cycles of a round.",
        "",
        *_table(("", *HEAD), [_row(totals, peer, "", bytes_=True) for peer in PEERS]),
        "",
        *_ratio_list(totals, (STOCK, HAND, FLOOR), ("wall", "cpu", "bytes written")),
        "",
        "![seconds per cycle](incremental_scattered.svg)",
    ]
    if reads:
        by = ("round", "turn")
        clean = _pick(reads, read="clean")
        after = {
            peer: _quotients(_pick(reads, read=peer), clean, "wall", by)
            for peer in (OURS, STOCK, HAND)
        }
        _verdict(targets, "reading after the cycles", "<= 1.10 x clean", after[OURS], 1.10)
        text += [
            "",
            "Reading five columns of all rows afterwards, against a clean copy "
            f"({_median(clean, 'wall'):.2f} s): "
            + "; ".join(f"{peer} {_spread(values)}" for peer, values in after.items()),
        ]
    return [*text, *_steps(cycles)]


def _mart(runs: list[Run], targets: list[Row], folder: Path) -> list[str]:
    work = "4-way join + window"
    _target(targets, runs, work, "wall", STOCK, 0.6)
    _target(targets, runs, work, "wall", FLOOR, 1.35)
    _target(targets, runs, work, "wall", HAND, 1.10)
    return [
        "## An expensive SELECT, 0.12 % of the rows changed",
        "",
        *_table(("", *HEAD), [_row(runs, peer, "", bytes_=True) for peer in PEERS]),
        "",
        *_ratio_list(runs, (STOCK, HAND, FLOOR), ("wall", "cpu")),
        *_steps(runs),
    ]


def _idle(runs: list[Run], targets: list[Row], folder: Path) -> list[str]:
    rows = []
    for count in sorted({run["models"] for run in runs}):
        here = _pick(runs, models=count)
        work = f"nothing new, {count} models"
        commits = max(run["commits"] for run in _pick(here, peer=OURS))
        targets.append((work, "0 commits", str(commits), _met(commits == 0)))
        _target(targets, here, work, "wall", FLOOR, 1.5)
        _target(targets, here, work, "command wall", FLOOR, 1.5)
        _target(targets, here, work, "wall", STOCK, 0.25)
        for peer in (OURS, STOCK, LOOK, FLOOR):
            mine = _pick(here, peer=peer)
            rows.append(
                (
                    str(count),
                    {FLOOR: "`select 1`", LOOK: "the SELECT alone"}.get(peer, peer),
                    *(_shown(mine, key) for key in ("wall", "cpu", "command wall")),
                    f"{_median(mine, 'statements') / count:.0f}",
                    f"{_median(mine, 'commits'):.0f}",
                    *(
                        "" if peer == OURS else _ratio(here, OURS, peer, key)
                        for key in ("wall", "command wall")
                    ),
                )
            )
    return [
        "## Nothing new",
        "",
        *_table(
            (
                *("models", "peer", "s", "CPU s", "whole command, s"),
                *("statements per model", "commits", "ours / peer, s", "command"),
            ),
            rows,
        ),
        *_steps(runs, "models"),
    ]


def _statements(runs: list[Run], targets: list[Row], folder: Path) -> list[str]:
    rows = []
    for model in ("plain", "documented"):
        for peer in (OURS, STOCK):
            mine = _pick(runs, model=model, peer=peer)
            count = _median(mine, "statements")
            if peer == OURS:
                work = f"statements, {model} model"
                targets.append((work, "<= 4", f"{count:.0f}", _met(count <= 4)))
            words = ", ".join(_words(text) for text, _ in mine[-1]["steps"][1:] if text)
            rows.append((model, peer, f"{count:.0f}", words))
    return [
        "## Statements of a merge run whose YAML did not change",
        "",
        "The documented model has descriptions of table and column, `persist_docs`, and a table "
        "property.",
        "",
        *_table(("model", "peer", "statements", "which"), rows),
    ]


SECTIONS: dict[str, Callable[[list[Run], list[Row], Path], list[str]]] = {
    "merge": _merge,
    "scattered": _scattered,
    "mart": _mart,
    "idle": _idle,
    "statements": _statements,
}
HEAD = ("peer", "s", "CPU s", "files opened", "of", "MB written", "rows copied", "commits")


def _row(runs: list[Run], peer: str, first: str, bytes_: bool) -> Row:
    mine = _pick(runs, peer=peer)
    return (
        first,
        peer,
        _shown(mine, "wall"),
        _shown(mine, "cpu"),
        *(f"{_median(mine, key):,.0f}" for key in ("files opened", "files")),
        f"{_median(mine, 'bytes written') / 1e6:,.2f}",
        f"{statistics.median(map(_copied, mine)):,.0f}",
        f"{_median(mine, 'commits'):.0f}",
    )


def _copied(run: Run) -> int:
    return run["copied"] if "copied" in run else run["history"].get("numTargetRowsCopied", 0)


def _steps(runs: list[Run], by: str | None = None) -> list[str]:
    """Where the time of the dbt runs went: seconds from a statement to the next one."""
    text = []
    for group in dict.fromkeys(run[by] for run in runs) if by else [None]:
        for peer in (OURS, STOCK, LOOK, FLOOR):
            here = [
                run["steps"]
                for run in _pick(runs, peer=peer)
                if "steps" in run and (not by or run[by] == group)
            ]
            if not here or len({len(steps) for steps in here}) > 1:
                continue
            parts = [
                f"{_words(steps[0][0])} {statistics.median(seconds for _, seconds in steps):.2f}"
                for steps in zip(*here, strict=True)
            ]
            title = f"{peer}, {group}" if by else peer
            text.append(f"- {title}: {'; '.join(parts)}")
    return ["", "Seconds from each statement to the next:", "", *text] if text else []


def _words(statement: str) -> str:
    """A statement's kind."""
    text = statement.removeprefix("-- back compat for old kwarg name ")
    kinds = (
        *("describe extended", "create or replace temporary view", "create or replace table"),
        *("merge into", "drop table", "alter table", "comment on", "insert"),
    )
    for kind in kinds:
        if text.startswith(kind):
            return kind
    if text.startswith("select typeof"):
        return "select columns"
    return "select check" if text.startswith("select") else text


def _pick(runs: Iterable[Run], **where: Any) -> list[Run]:
    return [run for run in runs if all(run.get(key) == value for key, value in where.items())]


def _median(runs: list[Run], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def _shown(runs: list[Run], key: str) -> str:
    return _spread([run[key] for run in runs])


def _spread(values: Sequence[float]) -> str:
    numbers = (statistics.median(values), min(values), max(values))
    middle, low, high = (f"{n:.2f}" if n >= 0.1 else f"{n:.2g}" for n in numbers)
    return f"{middle} ({low} - {high})"


def _quotients(
    above: list[Run], below: list[Run], key: str, by: Sequence[str] = ("round",)
) -> list[float]:
    """Ratios of the runs of the same round."""
    bases = {tuple(run[name] for name in by): run[key] for run in below}
    pairs = [
        (run[key], bases[place]) for run in above if (place := tuple(run[n] for n in by)) in bases
    ]
    return [a / b for a, b in pairs]


def _ratio(runs: list[Run], peer: str, base: str, key: str) -> str:
    return _spread(_quotients(_pick(runs, peer=peer), _pick(runs, peer=base), key))


def _ratio_list(runs: list[Run], peers: Iterable[str], keys: Sequence[str]) -> list[str]:
    titles = {"wall": "s", "cpu": "CPU", "bytes written": "bytes"}
    rows = [(peer, *(_ratio(runs, OURS, peer, key) for key in keys)) for peer in peers]
    return _table(("ours /", *(titles[key] for key in keys)), rows)


def _target(
    targets: list[Row], runs: list[Run], work: str, key: str, peer: str, limit: float
) -> None:
    quotients = _quotients(_pick(runs, peer=OURS), _pick(runs, peer=peer), key)
    names = {"wall": "time", "command wall": "time of the command", "bytes written": "bytes"}
    base = "`select 1`" if peer == FLOOR and "nothing new" in work else peer
    _verdict(targets, work, f"<= {limit:g} x {base}, {names.get(key, key)}", quotients, limit)


def _verdict(
    targets: list[Row], work: str, wanted: str, values: Sequence[float], limit: float
) -> None:
    if values:
        met = statistics.median(values) <= limit
        targets.append((work, wanted, _spread(values), _met(met)))


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def _origin(about: dict[str, Any]) -> str:
    settings = ", ".join(
        f"{key.rpartition('.')[2]} {value}" for key, value in about["settings"].items()
    )
    rounds = len({run["round"] for run in about["runs"]})
    return f"{about['date']}, {about['machine']}, rounds: {rounds}; all peers: {settings}."


def _table(head: Row, rows: Iterable[Row]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def to_json(found: dict[str, Any]) -> str:
    """One run per line."""
    sections = []
    for name, about in found.items():
        runs = ",\n".join(f"  {json.dumps(_rounded(run))}" for run in about["runs"])
        facts = json.dumps({key: value for key, value in about.items() if key != "runs"})
        sections.append(f'"{name}": {facts[:-1]}, "runs": [\n{runs}\n]}}')
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
