"""Random histories of inputs: a model that follows them is what the input is, after each run.

DBT_DELTA_EXAMPLES=200   how many inputs (default 3, --long 40); see drawing.py
"""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import Project
from tests.functional.incremental.models import messages, tables, write_models
from tests.functional.tables import versions

COUNT = examples(3, 40)
ROWS = "select if(id = 0, null, id) as id, concat('a', id) as v from range(7)"
ONE = "(select int({key}) as id, '{text}' as v union all select {key} + 1, '{text}') as n"
# What happens to an input; {key} and {text} differ each time. Keys stay unique.
HAPPENS = {
    "insert": f"insert into {{t}} select id, v from {ONE}"
    " where not exists (select 1 from {t} as o where o.id <=> n.id)",
    "merge": f"merge into {{t}} as t using {ONE} on t.id <=> n.id when matched then update set *"
    " when not matched then insert *",
    "update": "update {t} set v = '{text}' where id % 3 = {key} % 3 or id is null",
    "delete": "delete from {t} where id % 4 = {key} % 4",
    "delete the null": "delete from {t} where id is null",
    "add a null": "insert into {t} select null, '{text}'"
    " where not exists (select 1 from {t} where id is null)",
    "change keys": "update {t} set id = id + 1000 * {step} where id % 5 = {key} % 5",
    "replace": "create or replace table {t} using delta {made} as {rows}",
    "overwrite": "insert overwrite {t} select id, '{text}' from ({rows})",
    # The version may lie between two statements of one event, where keys have two rows.
    "restore": "restore table {t} to version as of {version}; merge into {t} as t using"
    " (select id, max(v) as v from {t} group by id having count(*) > 1) as n"
    " on t.id <=> n.id and t.v < n.v when matched then delete",
    "make anew": "drop table {t}; create table {t} using delta {made} as {rows}",
    # Between the two statements keys have two rows.
    "double and undo": "insert into {t} select id, '{text}' from {t} where id % 3 = {key} % 3"
    "; delete from {t} where v = '{text}'",
    "double and replace": "insert into {t} select id, '{text}' from {t} where id % 3 = {key} % 3"
    "; delete from {t} where id % 3 = {key} % 3 and v <> '{text}'",
    "optimize": "optimize {t}",
    "feed off": "alter table {t} set tblproperties ('delta.enableChangeDataFeed' = 'false')",
    "feed on": "alter table {t} set tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "own restore": "restore table {m} to version as of {own}",
    "own optimize": "optimize {m}",
}
MADE = (
    "",
    "tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')",
)
MODEL = (
    "{{{{ config(materialized='incremental', incremental_strategy='changes', unique_key='id') }}}}"
    " select * from {{{{ dbt_delta.new_changes(source('raw', '{name}'), 'id', 'full_refresh') }}}}"
)


@dataclass(frozen=True)
class Event:
    """One thing that happens, and the numbers that it takes."""

    kind: str
    key: int
    share: int


@dataclass(frozen=True)
class Case:
    """An input: how it is made, and what happens to it before each run."""

    made: str
    steps: tuple[tuple[Event, ...], ...]


EVENTS = st.builds(Event, st.sampled_from(sorted(HAPPENS)), st.integers(0, 12), st.integers(0, 99))
CASES = st.builds(
    Case,
    st.sampled_from(MADE),
    st.tuples(*[st.lists(EVENTS, min_size=1, max_size=4).map(tuple) for _ in range(3)]),
)


@pytest.mark.long
def test_a_model_follows_its_input(project: Project) -> None:
    drawn = dict(enumerate(draw(CASES, SEED, COUNT)))
    cases = {f"m{n}": case for n, case in drawn.items() if not ONLY or n in ONLY}
    print(f"{len(cases)} inputs by seed {SEED}")
    project.sql("create schema if not exists {schema}")
    for name, case in cases.items():
        project.sql(f"create table {{schema}}.in_{name} using delta {case.made} as {ROWS}")
    listed = ", ".join(f"{{name: in_{name}}}" for name in cases)
    schema = '"{{ target.schema }}"'
    project.write(
        {"models/s.yml": f"sources: [{{name: raw, schema: {schema}, tables: [{listed}]}}]"}
    )
    write_models(project, {name: MODEL.format(name=f"in_{name}") for name in cases})
    _follow(project, cases, "first build")
    for step in range(3):
        for name, case in cases.items():
            for at, event in enumerate(case.steps[step]):
                _happen(project, name, case, event, 10 * step + at + 1)
        _follow(project, cases, f"step {step}")


def _happen(project: Project, name: str, case: Case, event: Event, step: int) -> None:
    table, model = f"{{schema}}.in_{name}", f"{{schema}}.{name}"
    newest = versions(project, (f"in_{name}", name))
    text = HAPPENS[event.kind].format(
        t=table, m=model, key=event.key, text=f"x{step}", step=step, made=case.made, rows=ROWS,
        version=event.share % (newest[f"in_{name}"] + 1), own=event.share % (newest[name] + 1),
    )  # fmt: skip
    for statement in text.split("; "):
        project.sql(statement)


def _follow(project: Project, cases: dict[str, Case], when: str) -> None:
    """Runs twice: the rows are those of the input, and the second run makes no commit."""
    run = project.dbt("run", check=False)
    assert not messages(run), (SEED, when, messages(run))
    _compare(project, cases, when)
    before = versions(project, cases)
    assert not messages(project.dbt("run", check=False))
    assert versions(project, cases) == before, (SEED, when)
    _compare(project, cases, when + ", again")


def _compare(project: Project, cases: dict[str, Case], when: str) -> None:
    rows: dict[str, list[tuple[Any, ...]]] = tables(
        project, [*cases, *(f"in_{name}" for name in cases)]
    )
    for name, case in cases.items():
        assert rows[name] == rows[f"in_{name}"], (SEED, name, when, case)
