"""Readers see the tables of one build: all of the last that succeeded, whatever happens meanwhile.

DBT_DELTA_EXAMPLES=50    before how many statements a publication is broken off (default 1, with
                         --long all), and how many publications more readers see (with --long 20)
DBT_DELTA_SEED           before which ones; see drawing.py
"""

import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt_delta.session import publish
from tests.functional.drawing import IS_LONG, SEED, examples
from tests.functional.harness import Breaking, Invocation, Project, session
from tests.functional.operations import operations

# `gone` becomes `come` in a step; step 7 is one that a test refuses.
FILES = {
    "models/base.sql": "{{ config(materialized='table') }} select {{ var('step') }} as step",
    "models/inlined.sql": """
        {{ config(materialized='ephemeral') }} select * from {{ ref('base') }}
        """,
    "models/marts/orders.sql": """
        {{ config(
            materialized='incremental', unique_key='id', on_schema_change='append_new_columns'
        ) }}
        select id, (select step from {{ ref('inlined') }}) as step
        {%- if var('step') >= 3 %}, 'new' as extra{% endif %}
        from range(3)
        """,
    "models/marts/customers.sql": """
        {{ config(materialized='table') }}
        select id, step from {{ ref('orders') }} where id < 2
        """,
    "models/marts/gone.sql": """
        {{ config(materialized='table') }} select 1 as id, {{ var('step') }} as step
        """,
    "models/schema.yml": """
        models:
          - name: customers
            columns:
              - name: step
                data_tests: [{accepted_values: {arguments: {values: [1, 2, 3, 4, 5, 8, 9]}}}]
        """,
}
# As a project has them that has no Python side.
HOOKS = {
    "on-run-start": "{{ dbt_delta.publish_check() }}",
    "on-run-end": "{{ dbt_delta.publish_run(results) }}",
}
WRITE = re.compile(
    r"\s*(/\*.*?\*/\s*)?(create|alter|insert|drop) (view|table|schema|into)", re.DOTALL
)


class Readers:
    """Threads that join the views all the time; what each query saw, or the error it ended in."""

    def __init__(self, schema: str, count: int) -> None:
        names = ("orders", "customers", "orders")
        self._sql = "select * from " + " join ".join(
            f"(select max(step) as s{n} from {schema}.{name})" for n, name in enumerate(names)
        )
        self.seen: list[tuple[int, ...]] = []
        self.errors: list[str] = []
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._read) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _read(self) -> None:
        own = session().newSession()
        while not self._done.wait(0.02 if IS_LONG else 2):
            try:
                self.seen.append(tuple(own.sql(self._sql).collect()[0]))
            except Exception as error:
                self.errors.append(str(error).partition("\n")[0])


class Published:
    """A project that publishes, and its readers."""

    def __init__(self, project: Project, hooks: dict[str, str] | None = None) -> None:
        self.project = project
        self.schema = f"{project.schema}_read"
        self.settings: dict[str, Any] = {"schema": self.schema, "select": "path:models/marts"}
        self.readers: Readers | None = None
        project.write(FILES)
        project.configure(**hooks or {})

    def build(self, step: int, *arguments: str, check: bool = True, **settings: Any) -> Invocation:
        wanted = {"step": step, "dbt_delta_publish": {**self.settings, **settings}}
        return self.project.dbt(*(arguments or ("build",)), vars=wanted, check=check)

    def operation(self, name: str, check: bool = True, **arguments: Any) -> Invocation:
        wanted = {
            "step": 1,
            "dbt_delta_publish": self.settings,
            "dbt_delta_short_retention": [f"{self.project.schema}.orders"],
        }
        return operations(self.project, (name, arguments), vars=wanted, check=check)

    def shown(self) -> dict[str, list[Any]]:
        """What readers see of each view: the build that its rows are of, and columns that came."""
        found = {}
        for row in session().sql(f"show views in {self.schema}").collect():
            if row.viewName != "dbt_delta_published":
                rows = session().sql(f"select * from {self.schema}.{row.viewName}")
                found[row.viewName] = sorted({r.step for r in rows.collect()}) + rows.columns[2:]
        return found

    def versions(self) -> dict[str, int]:
        names = ("base", "orders", "customers")
        return {name: self.project.version(name) for name in names}


@pytest.fixture(scope="module")
def published(new_shared_project: Callable[[str], Project]) -> Iterator[Published]:
    made = Published(new_shared_project("publish"))
    yield made
    if made.readers:
        made.readers.stop()


@pytest.fixture
def broken_at(break_before: Breaking, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Before which change to the schema of readers dbt fails, as if it were killed."""
    state = break_before(lambda sql: WRITE.match(sql) is not None and "_read`" in sql)
    stock = publish.alter

    def alter(spark: Any, schema: str, texts: dict[str, Any]) -> list[str]:
        left = []
        for name, text in texts.items():
            state["writes"] += 1
            if state["writes"] == state["step"]:
                raise DbtDatabaseError("injected")
            left += stock(spark, schema, {name: text})
        return left

    monkeypatch.setattr(publish, "alter", alter)
    return state


def every(step: int, *names: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {
        name: [step] for name in names or ("customers", "gone", "orders")
    }
    return found if step < 3 else found | {"orders": [step, "extra"]}


def test_a_build_publishes_all_at_its_end(published: Published) -> None:
    run = published.build(1)
    assert re.search("Published in .*_read: customers 0, gone 0, orders 0", run.output)
    assert published.shown() == every(1)
    setting = "'delta.enableInCommitTimestamps'"
    found = published.project.sql(f"show tblproperties {{schema}}.orders ({setting})")
    assert found[0][1] == "true"
    # They read as long as the tests of this file run.
    published.readers = Readers(published.schema, 50 if IS_LONG else 1)
    published.build(2)
    assert published.shown() == every(2)
    # A hook of the project belongs to the run.
    published.project.configure(**{"on-run-end": "select raise_error('no')"})
    run = published.build(3, check=False)
    assert re.search(
        "Not published in .*: customers, gone, orders, as .*on-run-end.* failed", run.output
    )
    assert published.shown() == every(2)
    published.project.configure(**{"on-run-end": []})


def test_a_failed_test_leaves_everything(published: Published) -> None:
    before = published.versions()
    run = published.build(7, check=False)
    assert not run.success
    assert re.search(
        "Not published in .*: customers, gone, orders, as accepted_values_", run.output
    )
    assert published.shown() == every(2)
    assert all(version > before[name] for name, version in published.versions().items())
    # One model is right, and the test is not: what failed is not forgotten.
    part = published.build(7, "run", "-s", "gone")
    assert "accepted_values_" in part.output
    assert published.shown() == every(2)
    refused = published.operation("publish", check=False)
    assert "Nothing was changed" in refused.output
    assert published.shown() == every(2)


def test_parts_are_published_when_all_after_them_was_run(published: Published) -> None:
    part = published.build(3, "run", "-s", "base orders gone")
    assert "customers was not run after base" in part.output
    assert published.shown() == every(2)
    published.build(3, "build", "-s", "customers")
    assert published.shown() == every(3)


def test_readers_go_back_and_forth(published: Published) -> None:
    before = published.versions()
    back = published.operation("unpublish_to", run="previous")
    assert "see run" in back.output
    assert published.shown() == every(2)
    status = published.operation("publish_status")
    assert re.search(r"_read\.orders +\S+\.orders +1 +\d", status.printed)
    published.operation("publish")
    assert published.shown() == every(3)
    assert published.versions() == before
    wrong = published.operation("unpublish_to", check=False, run="nobody")
    assert "run 'nobody' published nothing" in wrong.output


@pytest.mark.long
def test_vacuum_keeps_what_is_published(published: Published) -> None:
    published.build(7, check=False)
    files = set(published.project.warehouse.glob("orders/*.parquet"))
    refused = published.operation("vacuum", check=False, relation="orders", retention_hours=0)
    assert "view" in refused.output
    assert "reads version" in refused.output
    assert set(published.project.warehouse.glob("orders/*.parquet")) == files
    assert published.shown() == every(3)


@pytest.mark.long
def test_a_publication_that_is_broken_off_shows_all_or_nothing(
    published: Published, broken_at: dict[str, int]
) -> None:
    published.build(4)
    writes = broken_at["writes"]
    assert writes >= 6
    steps = random.Random(SEED).sample(range(1, writes + 1), min(examples(1, 50), writes))
    for number, step in enumerate(sorted(steps)):
        old, new = (4, 5) if number % 2 == 0 else (5, 4)
        print(f"write {step} fails, by seed {SEED}", flush=True)
        broken_at.update(step=step, writes=0)
        assert not published.build(new, check=False).success
        broken_at["step"] = 0
        assert published.shown() in (every(old), every(new)), step
        published.build(new)
        assert published.shown() == every(new)
    if len(steps) % 2:
        published.build(4)


@pytest.mark.long
def test_what_readers_see_is_written_down_although_the_run_was_killed(
    published: Published, broken_at: dict[str, int]
) -> None:
    published.build(4)
    # After three views and the instant.
    broken_at.update(step=5, writes=0)
    assert not published.build(5, check=False).success
    broken_at["step"] = 0
    assert published.shown() == every(5)
    published.operation("publish", force=True)
    found = session().sql(
        f"select name, version from {published.schema}.dbt_delta_publications where name is not "
        "null and seq = (select seq from {}.dbt_delta_published)".format(published.schema)
    )
    versions = published.versions()
    assert {row.name: row.version for row in found.collect() if row.name != "gone"} == {
        name: versions[name] for name in ("orders", "customers")
    }
    published.operation("unpublish_to", run="previous")
    assert published.shown() == every(4)


def test_another_project_does_not_publish_in_the_same_schema(
    published: Published, new_shared_project: Callable[[str], Project]
) -> None:
    other = Published(new_shared_project("other"))
    other.schema = other.settings["schema"] = published.schema
    # Of all names none is the same.
    other.project.write({name: None for name in FILES if name != "models/base.sql"})
    other.settings["select"] = "base"
    before = published.shown()
    refused = other.build(1, check=False)
    assert f"was published by project consumer in schema {published.project.schema}" in (
        refused.output
    )
    assert published.shown() == before
    assert not refused.results


def test_a_renamed_model_and_one_that_is_gone(published: Published) -> None:
    published.project.write(
        {"models/marts/gone.sql": None, "models/marts/come.sql": FILES["models/marts/gone.sql"]}
    )
    run = published.build(4)
    assert "gone removed" in run.output
    assert published.shown() == every(4, "customers", "come", "orders")


@pytest.mark.long
def test_what_others_write_after_a_run_built_it_is_not_published(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They write to `orders` when the run tests `customers`, which is built from it."""
    from dbt.adapters.spark.connections import SparkConnectionManager

    stock, wrote = SparkConnectionManager.execute, threading.Event()

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if "dbt_internal_test" in sql and not wrote.is_set():
            wrote.set()
            session().sql(f"update {published.project.schema}.orders set step = 99")
        return stock(self, sql, *arguments, **named)

    before = published.shown()
    with monkeypatch.context() as patch:
        patch.setattr(SparkConnectionManager, "execute", execute)
        run = published.build(5)
    assert wrote.is_set()
    assert "orders has version" in run.output
    assert published.shown() == before
    # What another run has left while this one publishes is not forgotten.
    records = f"{published.schema}.dbt_delta_publications"
    left = json.dumps({"pending": {"model.consumer.customers": "failed"}, "seen": {}, "read_at": 0})

    def publish_beside(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if wrote.is_set() and re.match(r"\s*(/\*.*?\*/\s*)?alter view", sql, re.DOTALL):
            wrote.clear()
            values = f"1L, current_timestamp(), 'other', null, null, null, null, '{left}'"
            session().sql(f"insert into {records} select {values}")
        return stock(self, sql, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(SparkConnectionManager, "execute", publish_beside)
        assert "Published in" in published.build(4).output
    assert not wrote.is_set()
    assert published.shown()["orders"] == [4, "extra"]
    refused = published.operation("publish", check=False)
    assert "customers failed" in refused.output


def test_what_cannot_be_published_is_refused_before_anything_is_written(
    published: Published,
) -> None:
    before = published.versions()
    session().sql(f"create table {published.schema}.late (id int) using delta")
    published.project.write(
        {"models/marts/late.sql": "{{ config(materialized='table') }} select 1 as id"}
    )
    refused = published.build(5, check=False)
    assert f"{published.schema}.late is a table that dbt_delta did not make" in refused.output
    own = published.build(5, check=False, schema=published.project.schema)
    assert "Give readers another one" in own.output
    assert published.versions() == before
    assert published.shown() == every(4, "customers", "come", "orders")


def test_readers_never_saw_two_builds(published: Published) -> None:
    assert published.readers
    for number in range(examples(0, 20)):
        published.project.write({"models/marts/late.sql": "select 1 as id where false"})
        published.build(
            8 + number % 2, "build", "--exclude", "late", select="orders customers come"
        )
    published.readers.stop()
    builds = {steps[0] for steps in published.readers.seen}
    assert builds >= {1, 2, 3, 4}
    assert all(len(set(steps)) == 1 for steps in published.readers.seen)
    # The columns of `orders` changed twice: once on the way, and once back and forth.
    assert all("Planned while" in error for error in published.readers.errors), (
        published.readers.errors
    )
    print(len(published.readers.seen), "queries,", len(published.readers.errors), "to run again")


@pytest.mark.long
def test_a_table_that_was_made_anew_has_other_rows_at_the_same_version(project: Project) -> None:
    published = Published(project, HOOKS)
    run = published.build(1)
    assert run.output.count("Published in") == 1
    undo = published.operation("undo_run", check=False, run="last")
    assert f"readers see it through {published.schema}.customers: a drop would" in undo.output
    assert published.shown() == every(1)
    customers = FILES["models/marts/customers.sql"]
    project.sql("drop table {schema}.customers")
    project.write(
        {"models/marts/customers.sql": customers.replace("step from", "step, 9 as other from")}
    )
    published.build(2)
    assert project.version("customers") == 0
    names = session().sql(f"select * from {published.schema}.customers").columns
    assert names == ["id", "step", "other"]
    refused = published.operation("unpublish_to", check=False, run="previous")
    assert "customers was made anew since: its version 0 has other rows" in refused.output
    # By somebody else.
    project.sql("drop table {schema}.customers")
    project.sql("create table {schema}.customers using delta as select 1 as id, 2 as step")
    said = published.build(2, "test").output
    assert "customers has version 0, which no finished run has built" in said
    # Its new versions have the numbers of those that were published, and have not passed the test.
    project.sql("drop table {schema}.customers")
    assert "Its view" in published.build(7, check=False).output
    assert list(published.shown()) == ["gone", "orders"]


UNFINISHED = {
    "models/days.sql": """
        {{ config(materialized='table', event_time='day') }}
        select id, timestamp_ntz'2026-01-01' + make_dt_interval(id) as day from range(10)
        """,
    # Delta cannot partition a table that was clustered.
    "models/marts/placed.sql": """
        {{ config(materialized='table', liquid_clustered_by='id') if var('step') == 1
           else config(materialized='table', partition_by='id') }}
        select 1 as id, {{ var('step') }} as step
        """,
    "models/marts/unit_tested.sql": """
        {{ config(materialized='table') }}
        select id, {{ var('step') }} as step from {{ ref('days') }} where id = 1
        """,
    "models/marts/sampled.sql": """
        {{ config(materialized='incremental') }}
        select id, 1 as step, day from {{ ref('days') }}
        {% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %}
        """,
    "models/marts/renamed.sql": """
        {{ config(materialized='table', tblproperties={'delta.columnMapping.mode': 'name'}) }}
        select 1 as id, 2 as step, 3 as other
        """,
    "models/unit.yml": """
        unit_tests:
          - name: step_is_one
            model: unit_tested
            given: [{input: ref('days'), rows: [{id: 1}]}]
            expect: {rows: [{id: 1, step: 1}]}
        """,
}


@pytest.mark.long
def test_what_is_not_finished_is_not_published(
    project: Project, broken_at: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    published = Published(project)
    published.settings["unit"] = "model"
    project.write(dict.fromkeys(name for name in FILES if "models" in name))
    project.write(UNFINISHED)
    sample = {"start": "2026-01-08", "end": "2026-01-20"}
    published.build(1, "build", "--sample", json.dumps(sample))
    assert published.shown() == {}
    # An incremental model adds to what it has, and refuses that.
    run = published.build(1, check=False)
    assert "sampled was built with --sample, and later runs would not read" in run.output
    assert len(project.rows("sampled")) == 3
    assert "sampled, as sampled was built with --empty or --sample: it needs --full-r" in run.output
    first = {"placed": [1], "unit_tested": [1], "renamed": [2, "other"]}
    assert published.shown() == first
    # What --empty leaves as it is needs nothing.
    published.build(1, "run", "--empty", "-s", "sampled", "--full-refresh")
    # The publication of `renamed` fails, too; what failed before it is known all the same.
    broken_at.update(step=2, writes=0)
    run = published.build(2, check=False)
    broken_at["step"] = 0
    assert "readers see a version of it through" in run.output
    assert "injected" in run.output
    assert published.shown() == first
    # Nor does a run that publishes nothing take from readers what they see.
    with monkeypatch.context() as patch:
        patch.setenv("DBT_DELTA_PUBLISH", "never")
        run = published.build(2, "run", "-s", "placed", check=False)
    assert "readers see a version of it through" in run.output
    assert published.shown() == first
    # Somebody exchanges two columns.
    for old, new in (("step", "s"), ("other", "step"), ("s", "other")):
        project.sql(f"alter table {{schema}}.renamed rename column {old} to {new}")
    run = published.build(2, "run", "--full-refresh", "-s", "sampled unit_tested")
    assert "unit_tested, as step_is_one failed" in run.output
    assert "renamed has version" in run.output
    assert published.shown() == {**first, "sampled": [1, "day"]}
    read = session().sql(f"select * from {published.schema}.sampled")
    assert read.count() == 10
    # The unit test leaves the project, and a run that publishes nothing leaves a sample.
    project.write({"models/unit.yml": None})
    with monkeypatch.context() as patch:
        patch.setenv("DBT_DELTA_PUBLISH", "never")
        limit = ("--full-refresh", "--sample", json.dumps(sample))
        published.build(2, "run", *limit, "-s", "sampled")
    assert len(project.rows("sampled")) == 3
    run = published.build(2, "run", "-s", "renamed sampled", check=False)
    assert "sampled, as sampled was built with --empty or --sample: it needs --full-r" in run.output
    assert published.shown()["unit_tested"] == [2]
    assert read.count() == 10
    # Nor is the sample published after a run in which it was skipped.
    days = UNFINISHED["models/days.sql"]
    project.write(
        {"models/days.sql": days.replace("select id", "select bigint(raise_error('no')) as id")}
    )
    assert not published.build(2, "run", "-s", "days sampled", check=False).success
    project.write({"models/days.sql": days})
    run = published.build(2, "run", "-s", "days sampled", check=False)
    assert "sampled was built with --empty or --sample: it needs --full-refresh" in run.output
    assert read.count() == 10


@pytest.mark.long
def test_what_is_made_of_another_state_is_not_published(project: Project) -> None:
    published = Published(project)
    project.writes_json = True
    published.build(1)
    other, state = f"{project.schema}_other", project.path / "state"
    project.sql(f"create schema {other}")
    project.sql(f"create table {other}.orders using delta as select 1 as id, 9 as step")
    manifest = json.loads((project.path / "target" / "manifest.json").read_text())
    for node in manifest["nodes"].values():
        node.update(schema=other, relation_name=f"`{other}`.`{node['alias']}`")
    project.write({"state/manifest.json": json.dumps(manifest)})
    deferred = ("--defer", "--favor-state", "--state", str(state))
    run = published.build(1, "build", "-s", "customers", *deferred)
    assert [row["step"] for row in project.rows("customers")] == [9]
    assert "as customers was built with --defer" in run.output
    assert published.shown() == every(1)
    run = published.build(1, "build", "-s", "customers")
    assert re.search("Published in .*: customers 0 -> 2", run.output)
    assert published.shown() == every(1)


NESTED = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select {{ var('step') }} as step, named_struct('a', nullif({{ var('step') }}, 2)) as s
"""


@pytest.mark.long
def test_what_published_tables_are_made_of_is_watched(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = Published(project)
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.nested (step int, s struct<a: int not null>) using delta")
    project.write({"models/marts/nested.sql": NESTED})
    published.build(1)
    first = {**every(1), "nested": [1]}
    assert published.shown() == first
    # A view casts to its own types, and they change with those of the table.
    project.sql("alter table {schema}.nested alter column s.a drop not null")
    with monkeypatch.context() as patch:
        patch.setenv("DBT_DELTA_PUBLISH", "never")
        published.build(2, "run", "-s", "base")
    run = published.build(2, "build", "-s", "path:models/marts")
    assert re.search(
        "Not published in .*, as base has version 1, which no finished run", run.output
    )
    assert published.shown() == first
    published.build(2)
    assert published.shown() == {**every(2), "nested": [1, 2]}
    # While a run tests what it has built, another one ends that left `customers` to do.
    from dbt.adapters.spark.connections import SparkConnectionManager

    stock, is_over = SparkConnectionManager.execute, threading.Event()
    records = f"{published.schema}.dbt_delta_publications"
    state = session().sql(f"select max_by(state, written_at) from {records} where name is null")
    left = json.loads(state.first()[0])
    left["pending"] = {"model.consumer.customers": "was not run after a view"}

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if "dbt_internal_test" in sql and not is_over.is_set():
            is_over.set()
            values = (
                f"1L, current_timestamp(), 'other', null, null, null, null, '{json.dumps(left)}'"
            )
            session().sql(f"insert into {records} select {values}")
        return stock(self, sql, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(SparkConnectionManager, "execute", execute)
        run = published.build(3)
    assert is_over.is_set()
    assert "as customers was not run after a view" in run.output
    assert published.shown() == {**every(2), "nested": [1, 2]}
    published.build(4)
    assert published.shown() == {**every(4), "nested": [1, 2, 3, 4]}
