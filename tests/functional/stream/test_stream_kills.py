"""Models of files, change feeds and streams that end at any statement: the next run mends all.

A model that is killed sends no statement more, not even one that cleans up.

DBT_DELTA_EXAMPLES=400   kills (with --long 200)
DBT_DELTA_SEED           at which statements; see drawing.py
"""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.stream import available, checkpoint
from tests.functional.drawing import SEED, examples
from tests.functional.harness import Project
from tests.functional.incremental.models import messages

INCREMENTAL = "{{{{ config(materialized='incremental', incremental_strategy='{}') }}}} "
STREAM = "{{{{ config(materialized='stream'{}) }}}} select id, v from "
MODELS = {
    "landed": INCREMENTAL.format("append")
    + "{{ dbt_delta.landed_csv('shop/orders', {'id': 'bigint', 'v': 'string'}) }}",
    "staged": INCREMENTAL.format("append").replace("') }}", "', stage='table') }}")
    + "{{ dbt_delta.landed_csv('shop/orders', {'id': 'bigint', 'v': 'string'}) }}",
    "followed": INCREMENTAL.format("changes").replace("') }}", "', unique_key='id') }}")
    + "select * from {{ dbt_delta.new_changes(source('raw', 'kept'), 'id') }}",
    "appended": INCREMENTAL.format("append")
    + "select * from {{ dbt_delta.new_rows(source('raw', 'clicks')) }}",
    "added": STREAM.format("")
    + "{{ dbt_delta.stream(source('raw', 'clicks'), max_files_per_trigger=1) }}",
    "merged": STREAM.format(
        ", unique_key='id', expectations=[{'name': 'even', 'expression': 'id % 2 = 0', "
        "'action': 'quarantine'}]"
    )
    + "{{ dbt_delta.stream(source('raw', 'clicks'), max_files_per_trigger=1) }}",
    "counted": "{{ config(materialized='stream', unique_key='v', output_mode='update') }} "
    "select count(*) as id, v from {{ dbt_delta.stream(source('raw', 'clicks')) }} group by v",
}
SOURCES = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [{name: kept}, {name: clicks}]
"""
CHANGES = (
    "merge into {schema}.kept as t"
    " using (select * from values ({id}, 'm{id}'), (1, 'x{id}') as n(id, v)) as s on t.id = s.id"
    " when matched then update set * when not matched then insert *",
    "delete from {schema}.kept where id = {id} - 2 or id is null",
    "insert into {schema}.kept values ({id} + 1, 'i{id}'), (null, 'n{id}')",
    "update {schema}.kept set id = id + 1000 where id = {id} - 3",
)
KINDS = ("run", "run", "run", "refresh", "first build")


class Killed(DbtRuntimeError):
    """What a model hears that is told to end."""


class Kills:
    """Ends each model of the next run before one of its statements, by their number from 1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at: dict[str, int] = {}
        self.sent: Counter[str] = Counter()
        self.dead: set[str] = set()
        send, kills = SQLConnectionManager.add_query, self

        def add_query(self: Any, *arguments: Any, **named: Any) -> Any:
            kills.count((self.get_thread_connection().name or "").rpartition(".")[2])
            return send(self, *arguments, **named)

        monkeypatch.setattr(SQLConnectionManager, "add_query", add_query)
        # What keeps the number of a batch, and removes old checkpoints.
        for module, name in ((available, "note"), (checkpoint, "keep")):
            monkeypatch.setattr(module, name, self._counting(getattr(module, name)))

    def plan(self, at: dict[str, int]) -> None:
        self.at = at
        self.sent.clear()
        self.dead.clear()

    def count(self, model: str) -> None:
        self.sent[model] += 1
        if 0 < self.at.get(model, 0) <= self.sent[model]:
            self.dead.add(model)
            raise Killed("killed")

    def _counting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(spark: Any, folder: str, *arguments: Any) -> None:
            self.count(next(name for name in MODELS if f"/{name}" in folder))
            real(spark, folder, *arguments)

        return call


class Inputs:
    """Files and tables that grow, and the rows that models must have of them."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.folder, self.lines = project, folder / "shop" / "orders", 0
        self.folder.mkdir(parents=True)
        project.sql("create schema if not exists {schema}")
        for name in ("kept", "clicks"):
            project.sql(
                f"create table {{schema}}.{name} (id bigint, v string) using delta "
                "tblproperties ('delta.enableChangeDataFeed' = 'true')"
            )

    def grow(self, step: int) -> None:
        id = 10 * step
        (self.folder / f"{step}.csv").write_text(f"id,v\n{id},a\n{id + 1},b\nbad,c\n")
        self.lines += 3
        for text in CHANGES:
            self.project.sql(text.replace("{id}", str(id)))
        for values in (f"({id}, 'a'), ({id + 1}, 'b')", f"({id + 2}, 'c')"):
            self.project.sql("insert into {schema}.clicks values " + values)

    def check(self, when: str) -> None:
        rows = {
            name: self._rows(name) for name in (*MODELS, "kept", "clicks", "merged__quarantine")
        }
        assert rows["followed"] == rows["kept"], when
        for name in ("appended", "added"):
            assert rows[name] == rows["clicks"], (name, when)
        counts = Counter(v for _, v in rows["clicks"])
        assert rows["counted"] == sorted((str(n), v) for v, n in counts.items()), when
        parted = sorted(rows["merged"] + rows["merged__quarantine"])
        assert parted == rows["clicks"], when
        for name in ("landed", "staged"):
            found = self.project.sql(f"select _file, _line from {{schema}}.{name}")
            assert len(found) == len(set(map(tuple, found))) == self.lines, (name, when)

    def _rows(self, name: str) -> list[tuple[str, str]]:
        found = self.project.sql(f"select string(id), string(v) from {{schema}}.{name}")
        return sorted((str(id), str(v)) for id, v in found)


@pytest.mark.long
@pytest.mark.session
def test_whichever_statement_is_the_last_one(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, wanted, done = random.Random(SEED), examples(1, 200), 0
    inputs = Inputs(project, tmp_path / "landing")
    variables = {"dbt_delta_landing": str(tmp_path / "landing")}
    project.write({f"models/{name}.sql": text for name, text in MODELS.items()})
    project.write({"models/sources.yml": SOURCES})
    kills = Kills(monkeypatch)
    counts = {}
    for step, kinds in ((1, KINDS[-2:]), (2, KINDS[:1])):
        inputs.grow(step)
        kills.plan({})
        project.dbt("run", vars=variables)
        counts.update({kind: dict(kills.sent) for kind in kinds})
    told: Counter[str] = Counter()
    while done < wanted:
        step += 1
        inputs.grow(step)
        kind = KINDS[chance.randrange(len(KINDS))]
        for name in MODELS if kind == "first build" else ():
            project.sql(f"drop table {{schema}}.{name}")
            project.sql("drop table if exists {schema}.merged__quarantine")
        for _ in range(chance.randint(1, 2)):
            kills.plan({name: chance.randint(1, counts[kind][name]) for name in MODELS})
            more = ("--full-refresh",) if kind == "refresh" else ()
            run = project.dbt("run", *more, vars=variables, check=False)
            failed = messages(run)
            assert set(failed) == kills.dead, (SEED, step, failed)
            done += len(failed)
            told[kind] += len(failed)
        kills.plan({})
        failed = messages(project.dbt("run", vars=variables, check=False))
        assert not failed, (SEED, step, kind, failed)
        inputs.check(f"seed {SEED}, step {step}, {kind}")
    print(f"seed {SEED}: {done} kills {dict(told)} in {step} steps; statements {counts}")
