"""Random histories against a brute-force oracle: rows, refusals and commits of every run.

Many random snapshots (histories.py) are one dbt project; dbt runs once per step, in a session of
another time zone each, and after each run every table is compared with what plain Python says. One
more run brings nothing new. A feed comes a second time in another order, and must give the same
table. The test scd2_valid then judges them too.

    DBT_DELTA_EXAMPLES=1000   snapshots, in projects of 60 each (default 8, with --long 90)
    DBT_DELTA_SEED, DBT_DELTA_ONLY   which ones; see drawing.py
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from random import Random
from typing import Any

import pytest
import yaml

from tests.functional import tables
from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import Invocation, Project
from tests.functional.snapshots import histories
from tests.functional.snapshots.histories import (
    META,
    STEPS,
    ZONES,
    Case,
    Row,
    Table,
    cases,
    in_another_order,
)

SLICE = 60
Window = tuple[datetime, datetime]


@dataclass
class Outcome:
    """How a snapshot of a project fared."""

    case: Case
    table: Table | None = None
    commits: int = 0
    version: int = -1
    refused: int = 0
    wrong: str = ""


@pytest.mark.long
def test_every_history_is_what_the_oracle_says(new_project: Callable[..., Project]) -> None:
    wrong: list[str] = []
    started = time.monotonic()
    count = examples(8, 90)
    for number, at in enumerate(range(0, count, SLICE)):
        own_seed = SEED + number
        drawn = draw(cases(), own_seed, min(SLICE, count - at))
        drawn = [c for n, c in enumerate(drawn) if not ONLY or n in ONLY]
        found = _play(new_project(f"slice_{number}"), drawn, Random(own_seed))
        bad = [
            f"DBT_DELTA_SEED={own_seed} case {n}: {o.wrong}\n{o.case.model()}"
            for n, o in enumerate(found)
            if o.wrong
        ]
        print("\n\n".join(bad), flush=True)
        wrong += bad
        print(
            f"seed {own_seed}: {len(found)} snapshots, "
            f"{sum(len(o.case.batches) for o in found)} runs, "
            f"{sum(o.refused for o in found)} refused as they must be, {len(bad)} wrong; "
            f"{time.monotonic() - started:.0f} s so far",
            flush=True,
        )
    assert not wrong, "\n\n".join([f"{len(wrong)} wrong", *wrong])


def _play(project: Project, drawn: Sequence[Case], source: Random) -> list[Outcome]:
    outcomes = {f"case_{n:04}": Outcome(case) for n, case in enumerate(drawn)}
    twins = {
        f"{name}_again": Outcome(in_another_order(o.case, source))
        for name, o in outcomes.items()
        if o.case.same_in_any_order
    }
    played = outcomes | twins
    project.write(
        {f"snapshots/{n}.sql": o.case.model().replace("NAME", n) for n, o in played.items()}
    )
    windows: list[Window] = []
    found: dict[str, list[str]] = {}
    for step in (*range(max(len(case.batches) for case in drawn)), STEPS):
        is_new = step < STEPS
        due = {
            n: o
            for n, o in played.items()
            if not o.wrong and (step < len(o.case.batches) or not is_new)
        }
        if not due:
            break
        project.set_spark({"spark.sql.session.timeZone": source.choice(ZONES)})
        began = datetime.now(UTC).replace(tzinfo=None)
        run = project.dbt("snapshot", "-s", *due, vars={"step": step}, check=False, threads=4)
        windows.append((began, datetime.now(UTC).replace(tzinfo=None)))
        there = tables.names(project)
        found = tables.json_rows(project, [n for n in due if n in there])
        for name, outcome in due.items():
            last = step if is_new else len(outcome.case.batches) - 1
            rows = found.get(name, [])
            outcome.wrong = _judge(project, run, name, outcome, last, windows, rows, is_new)
            if outcome.wrong:
                outcome.wrong = f"run {step}: {outcome.wrong}"
    for name, twin in twins.items():
        outcome = outcomes[name.removesuffix("_again")]
        one, other = Counter(found.get(name, [])), Counter(found.get(name[:-6], []))
        if not outcome.wrong and (twin.wrong or one != other):
            outcome.wrong = (
                f"in another order: {twin.wrong}\n{twin.case.model()}\n"
                f"has\n  {_listed(one - other)}\nand else\n  {_listed(other - one)}"
            )
    left = [name for name in tables.names(project) if name not in played]
    assert not left or any(o.wrong for o in outcomes.values()), f"left behind: {left}"
    project.set_spark({"spark.sql.session.timeZone": "UTC"})
    _test_invariants(project, outcomes)
    return list(outcomes.values())


def _judge(
    project: Project,
    run: Invocation,
    name: str,
    outcome: Outcome,
    step: int,
    windows: Sequence[Window],
    rows: Sequence[str],
    is_new: bool,
) -> str:
    """What is wrong with one run of one snapshot, empty if nothing; the last repeats one."""
    case, before = outcome.case, outcome.table
    assert run.results, f"dbt ran nothing: {run.exception}\n{run.output}"
    result = run.result(name)
    commits = tables.data_commits(project, name)
    made = commits - outcome.commits
    outcome.commits = commits
    version = max((number for number, _ in tables.log(project, name)), default=-1)
    outcome.version, was = version, outcome.version
    try:
        outcome.table = histories.run(case, before, step)
    except histories.Refused as refusal:
        outcome.refused += 1
        if result.status == "success":
            return f"succeeded, and must be refused: {refusal}"
        if str(refusal) not in result.message:
            return f"was refused without saying '{refusal}': {result.message}"
        if made:
            return f"was refused, and made {made} commits"
    else:
        if result.status != "success":
            return f"failed: {result.message}"
    if outcome.table is None:
        return ""
    expected = Counter(_expected(case, outcome.table))
    found = [json.loads(row) for row in rows]
    actual = Counter(_actual(case, outcome.table, row, windows) for row in found)
    if expected != actual:
        return (
            f"has\n  {_listed(actual - expected)}\nand should have\n  {_listed(expected - actual)}"
        )
    if version > was and not is_new:
        return f"had nothing new, and made {version - was} commits"
    if made > (expected != Counter(_expected(case, before) if before else []) or before is None):
        return f"made {made} commits"
    identity = "scd_id" if case.renamed else "dbt_scd_id"
    ids = [row.get(identity) for row in found]
    if case.scd_type == 2 and (None in ids or len(set(ids)) < len(ids)):
        return f"has one {identity} twice: {found}"
    return ""


def _listed(rows: Mapping[Any, int]) -> str:
    return "\n  ".join(f"{n} x {row}" for row, n in sorted(rows.items(), key=repr))


def _expected(case: Case, table: Table) -> list[Any]:
    return [_row(case, table, row) for row in table.rows]


def _row(case: Case, table: Table, row: Row) -> Any:
    values = [
        _text(case.time, row.values[n]) if n == "at" else row.values[n] for n in table.columns
    ]
    flag = [str(row.deleted) if row.deleted is not None else None] if table.has_flag else []
    if case.scd_type == 1:
        return (*values, *flag)
    updated = "timestamp" if case.strategy == "check" and not case.updated_at else case.time
    times = [_text(updated, row.updated), _text(case.table_time(), row.start)]
    end = row.to if row.to is not None else row.open_as
    return (*values, *times, _text(case.table_time(), end), *flag)


def _text(kind: str, value: date | None) -> str | None:
    if value is None:
        return None
    text = value.isoformat(" ", "microseconds") if isinstance(value, datetime) else f"{value}"
    text = text[:10] if kind == "date" else text if " " in text else f"{text} 00:00:00.000000"
    return "today" if kind == "date" and text.startswith("2500") else text


def _actual(case: Case, table: Table, row: Mapping[str, Any], windows: Sequence[Window]) -> Any:
    names = [n[4:] if case.renamed else n for n in META]
    times = [] if case.scd_type == 1 else [_settled(row[name], windows) for name in names[1:4]]
    flag = [row[names[4]]] if table.has_flag else []
    return (*(row[case.name(column)] for column in table.columns), *times, *flag)


def _settled(text: str | None, windows: Sequence[Window]) -> str | None:
    """A time, that of a run as histories.run_time has it."""
    if text is None:
        return None
    if len(text) == 10:
        return (
            "today" if any(text == f"{t:%Y-%m-%d}" for window in windows for t in window) else text
        )
    value = datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f")
    for step, (began, ended) in enumerate(windows):
        if began <= value <= ended:
            return f"{histories.run_time(step):%Y-%m-%d %H:%M:%S.%f}"
    return text


def _test_invariants(project: Project, outcomes: Mapping[str, Outcome]) -> None:
    """What holds for the oracle's tables, dbt's own test says too."""
    judged = {
        name: o for name, o in outcomes.items() if o.table and not o.wrong and o.case.scd_type == 2
    }
    entries = []
    for name, outcome in judged.items():
        names = {n: n[4:] if outcome.case.renamed else n for n in META}
        arguments: dict[str, Any] = {
            "unique_key": outcome.case.key_expressions(),
            "valid_from": names["dbt_valid_from"],
            "valid_to": names["dbt_valid_to"],
            "scd_id": names["dbt_scd_id"],
        }
        if any(outcome.case.current):
            arguments["valid_to_current"] = (
                f"cast({outcome.case.current_expression()} as {outcome.case.table_time()})"
            )
        entries.append(
            {"name": name, "data_tests": [{"dbt_delta.scd2_valid": {"arguments": arguments}}]}
        )
    project.write({"snapshots/tests.yml": yaml.safe_dump({"snapshots": entries})})
    run = project.dbt("test", vars={"step": 0}, check=False, threads=4)
    assert len(run.results) == len(judged)
    for result in run.results:
        if result.status != "pass":
            name = result.node.attached_node.split(".")[-1]
            outcomes[name].wrong = f"scd2_valid: {result.message} {result.node.compiled_code}"
