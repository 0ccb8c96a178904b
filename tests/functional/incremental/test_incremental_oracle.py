"""Random models against a brute-force oracle: rows, columns, refusals and commits of every run.

Many random models (cases.py) are one dbt project; dbt runs once per step with the variable
``step``, and after each run every table is compared with what plain Python says (oracle.py).

    DBT_DELTA_EXAMPLES=3000   models, in projects of 150 each (default 20, with --long 150)
    DBT_DELTA_SEED, DBT_DELTA_ONLY   which ones; see drawing.py
    DBT_DELTA_SHRINK=3        look for smaller cases that fail too, of that many failing ones (slow)
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.functional import tables
from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import Invocation, Project, is_iceberg, session
from tests.functional.incremental import oracle
from tests.functional.incremental.cases import BASE, WINDOWS, Case, Column, Type, cases, smaller

SLICE = 150
SHRINK = int(os.environ.get("DBT_DELTA_SHRINK", "0"))
SPARK_NAMES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}


@dataclass
class State:
    """What a table is, read without the package."""

    version: int
    columns: list[Column]
    data_commits: int
    commits: list[Any] = field(default_factory=list)
    rows: Counter[Any] = field(default_factory=Counter)


@dataclass
class Outcome:
    """How a model of a project fared."""

    case: Case
    runs: int = 0
    refused: int = 0
    wrong: str = ""


def test_every_run_does_what_the_oracle_says(new_project: Callable[..., Project]) -> None:
    outcomes: list[Outcome] = []
    wrong: list[str] = []
    started = time.monotonic()
    for number, count in enumerate(_slices(examples(4, 150))):
        own_seed = SEED + number
        drawn = [c for n, c in enumerate(draw(cases(), own_seed, count)) if not ONLY or n in ONLY]
        drawn = [_on_iceberg(case) for case in drawn] if is_iceberg() else drawn
        found = _play(new_project(f"slice_{number}"), drawn)
        outcomes += found
        for n, outcome in enumerate(found):
            if outcome.wrong:
                text = _report(new_project, outcome, len(wrong), f"{own_seed}_{n}")
                drawn_by = f"DBT_DELTA_SEED={own_seed} DBT_DELTA_EXAMPLES={count}"
                wrong.append(f"{drawn_by} case {n}: {text}")
                print(f"\n{wrong[-1]}\n", flush=True)
        print(
            f"seed {own_seed}: {len(found)} models, {sum(o.runs for o in found)} runs, "
            f"{sum(o.refused for o in found)} refused as they must be, "
            f"{sum(bool(o.wrong) for o in found)} wrong; "
            f"{time.monotonic() - started:.0f} s so far",
            flush=True,
        )
    assert not wrong, "\n\n".join([f"{len(wrong)} of {len(outcomes)} models are wrong", *wrong])


def _on_iceberg(case: Case) -> Case:
    """The case without clustering; columns can always be dropped there, and types widen."""
    widens = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}
    return replace(case, clustered_by=(), properties={**case.properties, **widens})


def _slices(count: int) -> list[int]:
    return [min(SLICE, count - at) for at in range(0, count, SLICE)]


def _play(project: Project, drawn: Sequence[Case]) -> list[Outcome]:
    """Runs all cases as the models of one project, step by step."""
    models = {f"case_{n:04}": Outcome(case) for n, case in enumerate(drawn)}
    project.write({f"models/{name}.sql": o.case.model() for name, o in models.items()})
    expected_tables: dict[str, oracle.Table | None] = dict.fromkeys(models)
    before: dict[str, State] = {}
    # Each case runs once more than it has batches: nothing new.
    for step in range(1 + max(len(case.batches) for case in drawn)):
        due = {n: o for n, o in models.items() if not o.wrong and step <= len(o.case.batches)}
        if not due:
            break
        window = WINDOWS[step]
        started = time.monotonic()
        run = _run(project, list(due), step, window)
        ran = time.monotonic()
        now = _states(project, list(models), before)
        print(
            f"run {step}: {len(due)} models in {ran - started:.0f} s, "
            f"read in {time.monotonic() - ran:.0f} s",
            flush=True,
        )
        for name, outcome in due.items():
            outcome.runs += 1
            error = _error(run, name)
            last = before.get(name)
            try:
                expected = oracle.run(outcome.case, expected_tables[name], step, window)
            except oracle.Refused as refusal:
                outcome.refused += 1
                outcome.wrong = _judge_refusal(refusal, error, last, now.get(name))
                expected_tables[name] = refusal.after or expected_tables[name]
            else:
                outcome.wrong = _judge(expected, error, last, now.get(name))
                expected_tables[name] = expected.table
                if step == len(outcome.case.batches):
                    outcome.wrong = outcome.wrong or _judge_again(last, now[name])
            if outcome.wrong:
                outcome.wrong = f"run {step}: {outcome.wrong}"
        before = now
        left = _leftovers(project, list(models), run)
        for name, text in left.items():
            models[name].wrong = models[name].wrong or f"run {step}: {text}"
    return list(models.values())


def _run(project: Project, names: list[str], step: int, window: tuple[int, int]) -> Invocation:
    days = [BASE.replace(day=1 + day).date().isoformat() for day in window]
    return project.dbt(
        "run",
        *("--event-time-start", days[0], "--event-time-end", days[1]),
        *("-s", *names),
        vars={"step": step},
        check=False,
        threads=4,
    )


def _error(run: Invocation, name: str) -> str | None:
    """The message of a model that failed."""
    assert run.results, f"dbt ran nothing: {run.exception}\n{run.output}"
    result = run.result(name)
    if result.status == "success":
        return None
    # Of a microbatch model the batches' messages are in the log only.
    said = [e.info.msg for e in run.events if e.info.level == "error" and name in e.info.msg]
    return "\n".join([str(result.message), *said])


def _judge(
    expected: oracle.Expected, error: str | None, before: State | None, now: State | None
) -> str:
    """What is wrong with a run that must succeed."""
    if error is not None:
        return f"failed, and must not: {error}"
    if now is None:
        return "gave no table"
    wanted = expected.table
    if [str(c.type) for c in now.columns] != [str(c.type) for c in wanted.columns] or [
        c.name for c in now.columns
    ] != [c.name for c in wanted.columns]:
        return f"columns are {_listed(now.columns)}, expected {_listed(wanted.columns)}"
    rows = oracle.contents(wanted)
    if rows != now.rows:
        return (
            f"{now.rows.total()} rows, expected {rows.total()}"
            f"\nmissing: {list((rows - now.rows).elements())[:5]}"
            f"\nsurplus: {list((now.rows - rows).elements())[:5]}"
        )
    commits = now.data_commits - (before.data_commits if before else 0)
    if commits > expected.commits:
        return f"{commits} data commits, expected at most {expected.commits}"
    return ""


def _judge_again(before: State | None, now: State) -> str:
    """What is wrong with a run that has the configuration of the one before."""
    if before is None or not before.columns:
        return ""
    further = (now.version - before.version) - (now.data_commits - before.data_commits)
    if not further:
        return ""
    return f"{further} commits that change no data: {now.commits[before.version + 1 :]}"


def _judge_refusal(
    refusal: oracle.Refused, error: str | None, before: State | None, now: State | None
) -> str:
    """What is wrong with a run that must fail."""
    if error is None:
        return f"succeeded, and must be refused because of {refusal.args}"
    for text in refusal.args:
        if not any(one in error for one in (text if isinstance(text, tuple) else (text,))):
            return f"was refused without saying {text!r}: {error}"
    if refusal.after is not None:
        return _judge(oracle.Expected(refusal.after, len(WINDOWS)), None, before, now)
    if (before is None) != (now is None):
        return "was refused, and made a table" if now else "was refused, and the table is gone"
    if before and now and (before.version, before.rows) != (now.version, now.rows):
        return f"was refused, and changed the table: version {before.version} to {now.version}"
    return ""


def _listed(columns: Sequence[Column]) -> str:
    return ", ".join(f"{c.name} {c.type}" for c in columns)


# What is on disk -------------------------------------------------------------------------------


def _states(
    project: Project, names: Sequence[str], before: Mapping[str, State]
) -> dict[str, State]:
    """All tables: columns, versions and commits from the log, rows from Spark if it has more."""
    states = {name: _log(project, name) for name in tables.names(project) if name in names}
    moved = []
    for name, state in states.items():
        last = before.get(name)
        if last is not None and last.version == state.version:
            state.rows = last.rows
        else:
            moved.append(name)
    for name, rows in tables.json_rows(project, moved).items():
        for row in rows:
            states[name].rows[oracle.frozen(json.loads(row, parse_float=Decimal))] += 1
    return states


def _log(project: Project, name: str) -> State:
    if is_iceberg():
        return _snapshots(project, name)
    state = State(-1, [], 0)
    for version, actions in tables.log(project, name):
        state.version = version
        state.data_commits += tables.changes_data(actions)
        state.commits += [action["commitInfo"] for action in actions if "commitInfo" in action]
        for action in actions:
            if "metaData" in action:
                schema = json.loads(action["metaData"]["schemaString"])
                state.columns = list(_type(schema).fields)
    return state


def _snapshots(project: Project, name: str) -> State:
    """The same of an Iceberg table: a commit is a file of metadata, with data a snapshot, too."""
    commits = project.snapshots(name)[::-1]
    name_sql = f"{project.relation(name)}.metadata_log_entries"
    (files,) = project.sql(f"select count(*) as found from {name_sql}")
    schema = session().table(project.relation(name)).schema.json()
    return State(files.found - 1, list(_type(json.loads(schema)).fields), len(commits), commits)


def _type(schema: Any) -> Type:
    """A type from JSON as Spark and Delta write it."""
    if isinstance(schema, str):
        return Type(SPARK_NAMES.get(schema, schema))
    if schema["type"] == "struct":
        return Type("struct", tuple(Column(f["name"], _type(f["type"])) for f in schema["fields"]))
    if schema["type"] == "array":
        return Type("array", (Column("element", _type(schema["elementType"])),))
    types = (Column("key", _type(schema["keyType"])), Column("value", _type(schema["valueType"])))
    return Type("map", types)


def _leftovers(project: Project, names: Sequence[str], run: Invocation) -> dict[str, str]:
    """Tables that a run left beside its models; they are dropped, to be counted once."""
    found = {}
    for table in tables.names(project):
        if table not in names:
            project.sql(f"drop table {project.relation(table)}")
            name = table.split("__dbt_")[0]
            if name in names and _error(run, name) is None:
                found[name] = f"left {table} behind"
    return found


# A smaller case that fails too -----------------------------------------------------------------


def _report(new_project: Callable[..., Project], outcome: Outcome, place: int, name: str) -> str:
    """What is wrong, with the smallest case that shows it."""
    if place < SHRINK:
        for attempt in range(8):
            smaller_ones = list(smaller(outcome.case))[:60]
            if not smaller_ones:
                break
            played = _play(new_project(f"shrink_{name}_{attempt}"), smaller_ones)
            still = [o for o in played if _is_alike(o, outcome)]
            if not still:
                break
            outcome = still[0]
    return f"{outcome.wrong}\n{outcome.case.described()}"


def _is_alike(one: Outcome, other: Outcome) -> bool:
    """Wrong in the same way, as far as one can tell."""
    return bool(one.wrong) and one.wrong.split(":")[1][:25] == other.wrong.split(":")[1][:25]
