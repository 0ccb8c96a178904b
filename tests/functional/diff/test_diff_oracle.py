"""Random tables, version against version and table against table, against a brute-force oracle.

Each table is asked once more, by ``changes``, for the rows that went and came between two versions.

DBT_DELTA_EXAMPLES=1000   questions, some of each table (default 40, with --long 200)
DBT_DELTA_SEED, DBT_DELTA_ONLY   which tables; see drawing.py
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.functional.diff import pairs
from tests.functional.diff.pairs import Difference, History, Question
from tests.functional.drawing import ONLY, SEED, draw, examples
from tests.functional.harness import Project, session
from tests.functional.vocabulary import quoted

QUESTIONS = 5
SLICE = 20  # tables of one project


@st.composite
def _cases(draw_: st.DrawFn) -> tuple[History, list[Question]]:
    history = draw_(pairs.histories())
    # The last one is for changes, which goes forwards.
    asked = [draw_(pairs.questions(history)) for _ in range(QUESTIONS + 1)]
    last = asked[-1]
    before, after = sorted((last.before, last.after))
    return history, [*asked[:-1], replace(last, before=before, after=after)]


@pytest.mark.long
def test_every_difference_is_what_the_oracle_says(new_project: Callable[..., Project]) -> None:
    wrong: list[str] = []
    started, tables = time.monotonic(), examples(40, 200) // QUESTIONS
    for number, at in enumerate(range(0, tables, SLICE)):
        own_seed = SEED + number
        drawn = draw(_cases(), own_seed, min(SLICE, tables - at))
        found, ways = _play(
            new_project(f"slice_{number}"),
            [(n, case) for n, case in enumerate(drawn) if not ONLY or n in ONLY],
        )
        bad = [f"DBT_DELTA_SEED={own_seed} table {text}" for text in found]
        print("\n\n".join(bad), flush=True)
        wrong += bad
        print(
            f"seed {own_seed}: {len(drawn) * QUESTIONS} questions ({dict(ways)}), "
            f"{len(bad)} wrong; {time.monotonic() - started:.0f} s so far",
            flush=True,
        )
    assert not wrong, "\n\n".join([f"{len(wrong)} wrong", *wrong])


Case = tuple[int, tuple[History, list[Question]]]


def _play(project: Project, cases: Sequence[Case]) -> tuple[list[str], Counter[str]]:
    project.sql("create schema if not exists {schema}")
    with ThreadPoolExecutor(2) as pool:
        versions = dict(pool.map(lambda case: (case[0], _make(project, case)), cases))
    asked: dict[str, tuple[int, History, Question]] = {}
    files = {}
    for n, (history, (*questions, last)) in cases:
        asked[f"c_{n}"] = n, history, last
        files[f"analyses/c_{n}.sql"] = (
            "{{ dbt_delta.changes(api.Relation.create(schema=target.schema, "
            f"identifier='t{n}'), {versions[n][last.before]}, {versions[n][last.after]}) }}}}"
        )
        for m, question in enumerate(questions):
            asked[f"q_{n}_{m}"] = n, history, question
            at = (versions[n][question.before], versions[n][question.after])
            # Half of them are asked of two relations: views of the versions.
            call = (
                f"dbt_delta.get_diff_versions_sql(api.Relation.create(schema=target.schema, "
                f"identifier='t{n}'), {at[0]}, {at[1]}"
            )
            if m % 2:
                names = [f"v_{n}_{m}_{side}" for side in ("before", "after")]
                for name, version in zip(names, at, strict=True):
                    project.sql(
                        f"create view {{schema}}.{name} as "
                        f"select * from {{schema}}.t{n} version as of {version}"
                    )
                relations = ", ".join(
                    f"api.Relation.create(schema=target.schema, identifier='{name}')"
                    for name in names
                )
                call = f"dbt_delta.get_diff_relations_sql({relations}"
            files[f"analyses/q_{n}_{m}.sql"] = (
                f"{{{{ {call}, unique_key={list(question.keys)}, "
                f"exclude_columns={list(question.excluded)}, "
                f"tolerance={dict(question.tolerance)}) }}}}"
            )
    project.write(files)
    project.dbt("compile", threads=4)
    with ThreadPoolExecutor(2) as pool:
        texts = list(
            pool.map(
                lambda name: (_judge_changes if name[0] == "c" else _judge)(
                    project, name, *asked[name]
                ),
                asked,
            )
        )
    folder = project.path / "target" / "compiled" / "consumer" / "analyses"
    ways = Counter(_way((folder / f"{name}.sql").read_text()) for name in asked)
    return [text for text in texts if text], ways


def _way(sql: str) -> str:
    return (
        "feed" if "table_changes" in sql
        else "files" if "_metadata.file_name in" in sql
        else "nothing" if "where false" in sql else "all"
    )  # fmt: skip


def _make(project: Project, case: Case) -> list[int]:
    """Writes a table, and gives the version of each of its states."""
    n, (history, _) = case
    log = project.warehouse / f"t{n}" / "_delta_log"
    versions: list[int] = []
    for statement in history.statements:
        for number, version in enumerate(versions):
            statement = statement.replace(f"VERSION_{number}", str(version))
        session().sql(statement.replace("TABLE", f"{project.schema}.t{n}"))
        versions.append(max(int(file.stem) for file in log.glob("?????????*.json")))
    return versions


def _judge_changes(
    project: Project, name: str, n: int, history: History, question: Question
) -> str:
    if pairs.loses_track(history, question):
        return ""
    before, after = history.states[question.before], history.states[question.after]
    sql = (project.path / f"target/compiled/consumer/analyses/{name}.sql").read_text()
    columns = ", ".join(map(quoted, after.columns))
    rows = (
        session()
        .sql(
            f"select to_json(struct({columns}), map('ignoreNullFields', 'false')) as row, "
            f"_change_type as kind from (\n{sql}\n)"
        )
        .collect()
    )
    sides: dict[bool, Counter[Any]] = {False: Counter(), True: Counter()}
    for row in rows:
        own = pairs.answered(row.row, list(after.columns), after.columns)
        sides[row.kind in ("insert", "update_postimage")][own] += 1
    # A feed has all that happened between.
    found = (sides[False] - sides[True], sides[True] - sides[False])
    wanted = pairs.changes(before, after)
    if found == wanted and ("table_changes" in sql or found == (sides[False], sides[True])):
        return ""
    return (
        f"{n}, {name}: changes of versions {question.before} to {question.after}\n"
        f"{history.statements}\nbefore {before}\nafter  {after}\n"
        f"says   {found}\nshould {wanted}"
    )


def _judge(project: Project, name: str, n: int, history: History, question: Question) -> str:
    before, after = history.states[question.before], history.states[question.after]
    wanted = pairs.difference(question, before, after)
    sql = (project.path / f"target/compiled/consumer/analyses/{name}.sql").read_text()
    options = "map('ignoreNullFields', 'false')"
    keys = "".join(f"{quoted(key)}, " for key in question.keys)
    rows = (
        session()
        .sql(
            f"select {keys}_diff, _changed_columns, to_json(_before, {options}) as _before, "
            f"to_json(_after, {options}) as _after from (\n{sql}\n)"
        )
        .collect()
    )
    for row in rows:
        own = json.loads(row["_after"] or row["_before"])
        if any(row[key] != own[key] for key in question.keys):
            return f"{n}, {name}: {question}\n{row} has not the key of its rows"
    names = [
        name for name in after.columns if name in before.columns and name not in question.excluded
    ]
    types = {**before.columns, **after.columns}

    def side(which: str) -> Counter[Any]:
        return Counter(
            pairs.answered(row[which], names, types) for row in rows if row[which] is not None
        )

    found = Difference(
        side("_before"),
        side("_after"),
        Counter(row["_diff"] for row in rows),
        Counter(column for row in rows for column in row["_changed_columns"] or ()),
    )
    if wanted.columns is None:
        found = Difference(found.before, found.after, found.kinds, None)
    if found == wanted:
        return ""
    return (
        f"{n}, {name}: {question}\n{history.properties}\nbefore {before}\nafter  {after}\n"
        f"says   {found}\nshould {wanted}"
    )
