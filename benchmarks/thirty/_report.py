"""The report of the month: totals, aims, wrong rows by table, and plots by night."""

from pathlib import Path
from typing import Any

from benchmarks._plot import line_chart
from benchmarks.thirty import _deliveries as deliveries
from benchmarks.thirty._peers import CAREFUL, OURS

Run = dict[str, Any]
HEAD = (
    *("peer", "s", "CPU s", "s of a night", "GB read", "GB written", "MB of tables", "x live"),
    *("files", "MB of logs", "GB of the JVM", "nights failed", "wrong rows"),
)
PLOTS = {"wall": "seconds", "cpu": "CPU seconds", "bytes": "MB of the tables"}


def report(about: dict[str, Any]) -> str:
    """Markdown of what ``thirty.json`` holds."""
    peers = by_peer(about)
    delivered = sum(about["delivered"].values())
    rows = [_totals(name, runs) for name, runs in peers.items()]
    lines = [
        "# Thirty nights of a warehouse",
        "",
        f"`./run bench thirty --scale {about['scale']:g} --churn {about['churn']:g}`, "
        f"{about['date']}, {about['machine']}; {delivered / 1e6:.1f} MB delivered. "
        "What is delivered and compared, and how: [../README.md](../README.md).",
        "",
        *_table(
            HEAD,
            rows,
        ),
        "",
        "Seconds are of whole processes, one a night, with the start of Spark; a night's are the "
        "median (least - most) without the first. Bytes read and written are those handed to the "
        "kernel. Wrong rows are those of the last night, in all tables.",
        "",
        *_table(("aim", "measured", "met"), _aims(peers)),
        "",
        "## Wrong rows by table",
        "",
        "After the last night: missing + not true + doubled. In brackets are the nights after "
        "which some rows were wrong.",
        "",
        *_wrong(peers),
        "",
        "## The nights",
        "",
        _events(deliveries.Calendar(about["nights"])),
        "",
        " ".join(f"![{title}](thirty_{key}.svg)" for key, title in PLOTS.items()),
        "",
    ]
    return "\n".join(lines)


def plots(about: dict[str, Any], folder: Path) -> None:
    for key, title in PLOTS.items():
        unit = 1e6 if key == "bytes" else 1
        series = {
            name: [(run["night"], run[key] / unit) for run in runs if run["night"] > 1]
            for name, runs in by_peer(about).items()
        }
        svg = line_chart(f"Each night: {title}", "night", title, series)
        (folder / f"thirty_{key}.svg").write_text(svg)


def _events(calendar: deliveries.Calendar) -> str:
    events = (
        (calendar.new_column, "customers get a column"),
        (calendar.bad, "bad rows and lines"),
        (calendar.corrected, "half of the bad orders corrected"),
        (calendar.again, f"the orders of night {calendar.copied} a second time"),
        (calendar.crash, "the job is killed and started again"),
        (calendar.skipped, "no job"),
        (calendar.restore, "orders and lines restored to two runs ago"),
    )
    return ", ".join(f"{night}: {what}" for night, what in events) + "."


def by_peer(about: dict[str, Any]) -> dict[str, list[Run]]:
    names = dict.fromkeys(run["peer"] for run in about["runs"])
    return {name: [run for run in about["runs"] if run["peer"] == name] for name in names}


def live(run: Run) -> int:
    """Bytes of the data files that the newest versions of the tables have."""
    return sum(table["live"] for table in run["tables"].values())


def wrong(run: Run) -> int:
    return sum(table["total"] for table in run["wrong"].values())


def _totals(name: str, runs: list[Run]) -> tuple[str, ...]:
    last = runs[-1]
    nights = sorted(run["wall"] for run in runs[1:]) or [runs[0]["wall"]]
    median = nights[len(nights) // 2]
    return (
        name,
        f"{sum(run['wall'] for run in runs):.0f}",
        f"{sum(run['cpu'] for run in runs):.0f}",
        f"{median:.0f} ({nights[0]:.0f} - {nights[-1]:.0f})",
        *(f"{sum(run[key] for run in runs) / 1e9:.2f}" for key in ("read", "written")),
        f"{last['bytes'] / 1e6:.1f}",
        f"{last['bytes'] / live(last):.2f}",
        str(last["files"]),
        f"{last['log bytes'] / 1e6:.1f}",
        f"{max(run['memory'] for run in runs) / 1e9:.2f}",
        str(sum(bool(run["failed"]) for run in runs)),
        f"{wrong(last):,}" if "wrong" in last else "",
    )


def _aims(peers: dict[str, list[Run]]) -> list[tuple[str, ...]]:
    """The aims that the peers of this run can show."""
    ours = peers.get(OURS)
    if not ours:
        return []
    compared = [wrong(run) for run in ours if "wrong" in run]
    found = [_aim("0 wrong rows", max(compared), 0, f"{max(compared):,}")]
    if len(ours) > 2:
        found.append(
            _aim("last night <= 1.15 x night 2, s", ours[-1]["wall"] / ours[1]["wall"], 1.15)
        )
        found.append(
            _aim("last night <= 1.15 x night 2, CPU", ours[-1]["cpu"] / ours[1]["cpu"], 1.15)
        )
    found.append(_aim("storage <= 2 x live data", ours[-1]["bytes"] / live(ours[-1]), 2))
    for key, limit, unit in (("cpu", 0.4, "CPU"), ("wall", 0.5, "s")):
        if CAREFUL in peers:
            ratio = _sum(ours, key) / _sum(peers[CAREFUL], key)
            found.append(_aim(f"all nights <= {limit} x {CAREFUL}, {unit}", ratio, limit))
    late = [run["memory"] for run in ours if run["night"] > 5]
    if late:
        spread = max(late) / min(late) - 1
        found.append(_aim("memory after night 5 within 10 %", spread, 0.1, f"{spread:.0%}"))
    return found


def _aim(text: str, value: float, limit: float, shown: str = "") -> tuple[str, ...]:
    return text, shown or f"{value:.2f}", "yes" if value <= limit else "**no**"


def _sum(runs: list[Run], key: str) -> float:
    return sum(run[key] for run in runs)


def _wrong(peers: dict[str, list[Run]]) -> list[str]:
    compared = {name: [run for run in runs if "wrong" in run] for name, runs in peers.items()}
    tables = dict.fromkeys(t for runs in compared.values() for run in runs for t in run["wrong"])
    rows = [(table, *(_cell(runs, table) for runs in compared.values())) for table in tables]
    return _table(("table", *compared), rows)


def _cell(runs: list[Run], table: str) -> str:
    last = runs[-1]["wrong"][table]
    nights = [run["night"] for run in runs if run["wrong"][table]["total"]]
    if not nights:
        return "0"
    parts = " + ".join(f"{last[key]:,}" for key in ("missing", "extra", "doubled"))
    return f"{parts} of {last['rows']:,} ({_ranges(nights)})"


def _ranges(nights: list[int]) -> str:
    """1, 2, 3, 7 is "1-3, 7"."""
    groups: list[list[int]] = []
    for night in nights:
        if groups and night == groups[-1][-1] + 1:
            groups[-1].append(night)
        else:
            groups.append([night])
    return ", ".join(f"{g[0]}-{g[-1]}" if len(g) > 1 else str(g[0]) for g in groups)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
