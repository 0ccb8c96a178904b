"""Random projects and changes: a build that leaves nodes out beside a full build of a twin.

After each change both have equal tables and results, what ran lies below what changed, and a second
build runs nothing.

    DBT_DELTA_EXAMPLES=20     changes, in projects of 8 each (default 2, with --long 16)
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dbt_delta.state.build import Build
from tests.functional.drawing import SEED, examples
from tests.functional.harness import Invocation, Project
from tests.functional.state.running import SAME, ran

PER_PROJECT = 8
RAW = ("raw_a", "raw_b")
KINDS = ("view", "table", "incremental", "snapshot", "ephemeral")


@dataclass
class Model:
    """A node of a random project: its kind, what it reads, and a number in its code."""

    name: str
    kind: str
    reads: list[str]
    number: int = 0
    comment: str = ""

    def files(self) -> dict[str, str]:
        if self.kind == "snapshot":
            relation = f"ref('{self.reads[0]}')"
            return {
                f"snapshots/{self.name}.yml": f"""
                    snapshots:
                      - name: {self.name}
                        relation: {relation}
                        config:
                          strategy: check
                          unique_key: id
                          check_cols: [v]
                          hard_deletes: invalidate
                """
            }
        unions = " union all ".join(
            f"select id, v from {{{{ {_reference(name)} }}}}" for name in self.reads
        )
        config = f"materialized='{self.kind}', tblproperties={{'about': '{self.comment}'}}"
        if self.kind == "incremental":
            config += ", unique_key='id'"
        if self.kind == "ephemeral":
            config = "materialized='ephemeral'"
        return {
            f"models/{self.name}.sql": f"{{{{ config({config}) }}}}\n"
            f"select id, sum(v) + {self.number} as v from ({unions}) group by id\n"
        }


@dataclass
class Pair:
    """A project that leaves nodes out, and its twin that builds all."""

    chance: random.Random
    project: Project
    twin: Project
    models: list[Model] = field(default_factory=list)

    @property
    def stored(self) -> list[Model]:
        return [model for model in self.models if model.kind not in ("view", "ephemeral")]

    @property
    def plain(self) -> set[str]:
        return {model.name for model in self.models if model.kind in KINDS[:3]}

    def both(self) -> Iterator[Project]:
        yield self.project
        yield self.twin

    def sql(self, text: str) -> None:
        for one in self.both():
            one.sql(text)

    def write(self, model: Model) -> None:
        for one in self.both():
            one.write(model.files())

    def below(self, names: set[str]) -> set[str]:
        """Nodes that depend on some, these included, and the tests of all of them."""
        found = set(names)
        for model in self.models:  # in the order of the graph
            if found & set(model.reads):
                found.add(model.name)
        return found | {f"few_{name}" for name in found}


def _reference(name: str) -> str:
    return f"source('raw', '{name}')" if name in RAW else f"ref('{name}')"


@pytest.mark.long
def test_equal_tables_and_no_needless_run(
    new_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    left, number = examples(2, 16), 0
    while left > 0:
        chance = random.Random(SEED * 1000 + number)
        pair = _pair(chance, new_project(f"left_{number}"), new_project(f"twin_{number}"))
        _build_both(pair, "the first build", {model.name for model in pair.models})
        for _ in range(min(left, PER_PROJECT)):
            change = chance.choice(CHANGES)
            about, changed = change(pair, monkeypatch)
            _build_both(pair, f"project {number}, {about}", changed)
        left, number = left - PER_PROJECT, number + 1


def _pair(chance: random.Random, project: Project, twin: Project) -> Pair:
    pair = Pair(chance, project, twin)
    known: list[str] = list(RAW)
    for number in range(chance.randint(5, 7)):
        kind = chance.choice(KINDS[:3] if number < 2 else KINDS)
        sources = [name for name in known if kind != "snapshot" or name in pair.plain]
        reads = chance.sample(sources, 1 if kind == "snapshot" else min(2, chance.randint(1, 2)))
        model = Model(f"m{number}", kind, reads)
        pair.models.append(model)
        pair.write(model)
        # A snapshot has other columns, and an ephemeral model none that a snapshot could track.
        if kind not in ("snapshot",):
            known.append(model.name)
    tests = "".join(
        f"\n  - name: {model.name}\n    data_tests: [{{few: {{name: few_{model.name}}}}}]"
        for model in pair.models
        if model.kind not in ("snapshot", "ephemeral")
    )
    names = ", ".join(f"{{name: {name}}}" for name in RAW)
    sources = "sources: [{name: raw, schema: '{{ target.schema }}', tables: [" + names + "]}]"
    for one in pair.both():
        one.write(
            {
                "models/schema.yml": f"{sources}\nmodels:{tests}\n",
                "macros/few.sql": "{% test few(model) %} select * from {{ model }} where v > 900 "
                "{% endtest %}\n",
            }
        )
        one.sql("create schema if not exists {schema}")
        for name in RAW:
            rows = "select id, id * 10 as v from range(5)"
            one.sql(f"create or replace table {{schema}}.{name} using delta as {rows}")
    project.configure(**SAME)
    return pair


def _build_both(pair: Pair, about: str, changed: set[str]) -> None:
    mine = pair.project.dbt("build", check=False)
    full = pair.twin.dbt("build", check=False)
    assert _states(mine) == _states(full), f"{about}\n{mine.output}\n{full.output}"
    for model in pair.models:
        if model.kind != "ephemeral":
            assert _rows(pair.project, model) == _rows(pair.twin, model), f"{about}: {model.name}"
    needless = ran(mine) - pair.below(changed) - _failed(pair)
    assert not needless, f"{about}: {needless} ran, changed were {changed}\n{mine.log[-3000:]}"
    again = pair.project.dbt("build", check=False)
    failing = {r.node.name for r in again.results if r.status == "fail"}
    assert ran(again) <= failing | _skipped(again), f"{about}, again\n{again.output}"
    FAILED[id(pair)] = failing


FAILED: dict[int, set[str]] = {}


def _failed(pair: Pair) -> set[str]:
    """The tests that failed last time: they run again, as does what they kept from running."""
    names = {name.removeprefix("few_") for name in FAILED.get(id(pair), set())}
    return pair.below(names)


def _skipped(run: Invocation) -> set[str]:
    return {r.node.name for r in run.results if r.status == "skipped"}


def _states(run: Invocation) -> dict[str, str]:
    return {r.node.name: str(r.status) for r in run.results}


def _rows(project: Project, model: Model) -> list[Any]:
    columns = "id, v, dbt_valid_to is null as is_open" if model.kind == "snapshot" else "id, v"
    found = project.sql(f"select {columns} from {{schema}}.{model.name}")
    return sorted(tuple(row) for row in found)


def _rows_of_source(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    name = pair.chance.choice(RAW)
    text = pair.chance.choice(
        [
            f"insert into {{schema}}.{name} values ({pair.chance.randint(0, 9)}, 7)",
            f"update {{schema}}.{name} set v = v + 1 where id = {pair.chance.randint(0, 4)}",
            f"delete from {{schema}}.{name} where id = 3",
        ]
    )
    pair.sql(text)
    return text, {name}


def _no_rows(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    name = pair.chance.choice([*RAW, *(model.name for model in pair.stored)])
    text = pair.chance.choice(
        [
            f"optimize {{schema}}.{name}",
            f"alter table {{schema}}.{name} set tblproperties ('data_owner' = 'x')",
            f"comment on table {{schema}}.{name} is 'x'",
        ]
    )
    pair.sql(text)
    return text, set()


def _code(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    model = pair.chance.choice([model for model in pair.models if model.kind != "snapshot"])
    model.number += 1
    pair.write(model)
    return f"code of {model.name}", {model.name}


def _config(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    model = pair.chance.choice([model for model in pair.models if model.kind != "snapshot"])
    model.comment += "x"
    pair.write(model)
    # Who reads an ephemeral model has the same code as before.
    return f"config of {model.name}", {model.name}


def _own(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    model = pair.chance.choice(pair.stored or pair.models)
    if not pair.stored:
        return _no_rows(pair, monkeypatch)
    text = pair.chance.choice(
        [
            f"delete from {{schema}}.{model.name} where id = 1",
            f"restore table {{schema}}.{model.name} to version as of 0",
            f"drop table {{schema}}.{model.name}",
        ]
    )
    pair.sql(text)
    return text, {model.name}


def _made_anew(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    name = pair.chance.choice(RAW)
    for one in pair.both():
        rows = one.sql(f"select * from {{schema}}.{name}")
        values = ", ".join(f"({row.id}, {row.v})" for row in rows) or "(1, 1)"
        one.sql(f"drop table {{schema}}.{name}")
        one.sql(
            f"create table {{schema}}.{name} using delta as "
            f"select cast(col1 as bigint) as id, cast(col2 as bigint) as v from values {values}"
        )
    return f"{name} made anew", {name}


def _refreshed(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    for one in pair.both():
        one.dbt("build", "--full-refresh", check=False)
    return "full refresh", set()


def _killed(pair: Pair, monkeypatch: Any) -> tuple[str, set[str]]:
    """The run ends after its commits and before its record."""
    about, changed = _rows_of_source(pair, monkeypatch)
    with monkeypatch.context() as context:
        context.setattr(Build, "end", lambda self: None)
        for one in pair.both():
            one.dbt("build", check=False)
    return f"killed after {about}", changed


CHANGES = (_rows_of_source, _no_rows, _code, _config, _own, _made_anew, _refreshed, _killed)
