"""history, as_of and changes: what they show, in the terminal and in models."""

import json
from collections.abc import Callable

import pytest

from tests.functional.harness import Invocation, Project
from tests.functional.operations import operations

MODELS = {
    "models/a.sql": (
        "{{ config(materialized='incremental', unique_key='id') }}"
        " select int(id) as id, 'x{{ var('step') }}' as name from range({{ var('step') }})"
    ),
    "models/b.sql": "{{ config(materialized='table') }} select * from {{ ref('a') }}",
    "models/v.sql": "select 1 as id",
}
STEP = {"step": 3}


@pytest.fixture(scope="module")
def shared(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("history")
    project.write(MODELS)
    return project


def test_history_of_a_model_and_of_a_run(shared: Project) -> None:
    built = shared.dbt("run", "-s", "a", "b", "v", vars={"step": 1})
    first = next(event.info.invocation_id for event in built.events)
    shared.dbt("run", "-s", "a", vars=STEP)
    shared.sql("delete from {schema}.a where id = 2")
    shared.sql("optimize {schema}.a")
    as_json = {"output": "json"}
    shown = operations(
        shared,
        ("history", {"model": "a", **as_json}),
        ("history", {"model": "a", **as_json, "limit": 2}),
        ("history", {"run": "last", **as_json}),
        ("history", {"run": first[:13], **as_json}),
        ("history", {"model": "a"}),
        vars=STEP,
    ).printed.splitlines()
    all_commits, newest, last, of_first = (json.loads(line) for line in shown[:4])
    commits = {line["version"]: line for line in all_commits}
    assert {v: line["operation"] for v, line in commits.items()}[0] == "CREATE TABLE AS SELECT"
    assert (commits[1]["inserted"], commits[1]["updated"]) == (2, 1)
    assert commits[2]["deleted"] == 1
    assert len(newest) == 2
    assert [(line["table"], line["version"]) for line in last] == [(f"{shared.schema}.a", 1)]
    assert {line["node"] for line in of_first} == {"model.consumer.a", "model.consumer.b"}
    assert {line["run"] for line in of_first} == {first}
    assert "model.consumer.a" in next(line for line in shown[4:] if "MERGE" in line)
    assert "consumer" not in next(line for line in shown[4:] if "DELETE" in line)


def test_history_says_what_is_wrong(shared: Project) -> None:
    # Before the first run of a project its schema is not there either.
    arguments = "{model: never_built.a}"
    refused = shared.dbt("run-operation", "history", "--args", arguments, vars=STEP, check=False)
    assert not refused.success
    assert (
        "history: `never_built`.`a` is not in the catalog; only a Delta table has versions."
        in refused.output
    )


KINDS = {"fed": "true", "plain": "false"}
IN_MODELS = {
    "first": "select * from {{ dbt_delta.as_of(ref('KIND'), version=0) }}",
    # Tables: Spark reads a change feed in no view.
    "changed": "{{ config(materialized='table') }} {{ dbt_delta.changes(ref('KIND'), 0) }}",
    "second": "{{ config(materialized='table') }} {{ dbt_delta.changes(ref('KIND'), 1, 2) }}",
    "broken": "{{ dbt_delta.changes(ref('KIND'), 5) }}",
}


@pytest.fixture(scope="module")
def read(shared: Project) -> Invocation:
    """A run of models that read versions of tables, with and without a change feed.

    Version 0 has a row, 1 another value of it and one row more, 2 the same rows written again,
    3 not the first one.
    """
    shared.sql("create schema if not exists {schema}")
    for kind, feed in KINDS.items():
        for statement in (
            "create table {name} using delta tblproperties"
            f" ('delta.enableChangeDataFeed' = '{feed}') as select 0 as id, 'x1' as name",
            "merge into {name} as t using (select int(id) as id, 'x2' as name from range(2)) as s"
            " on t.id = s.id when matched then update set * when not matched then insert *",
            "update {name} set name = 'x2'",
            "delete from {name} where id = 0",
        ):
            shared.sql(statement.replace("{name}", shared.relation(kind)))
        # A model that never runs: ref() takes the table above for its own.
        shared.write({f"models/{kind}.sql": "select 1 as id"})
        for name, text in IN_MODELS.items():
            shared.write({f"models/{kind}_{name}.sql": text.replace("KIND", kind)})
    return shared.dbt("run", "-s", *(f"{kind}_*" for kind in KINDS), vars=STEP, check=False)


@pytest.mark.parametrize("kind", KINDS)
def test_versions_in_models(shared: Project, read: Invocation, kind: str) -> None:
    assert [row["name"] for row in shared.rows(f"{kind}_first")] == ["x1"]
    rows = shared.sql(f"select id, name, _change_type from {{schema}}.{kind}_changed")
    ends = {(r.id, r.name, r._change_type.removesuffix("_preimage")) for r in rows}
    assert (0, "x1", "update" if kind == "fed" else "delete") in ends
    assert (1, "x2", "insert") in ends
    kinds = {row["_change_type"] for row in shared.rows(f"{kind}_second")}
    # Version 2 has the same rows again.
    assert kinds == ({"update_preimage", "update_postimage"} if kind == "fed" else set())


def test_versions_that_cannot_be(read: Invocation) -> None:
    failed = {result.node.name for result in read.results if result.status != "success"}
    assert failed == {f"{kind}_broken" for kind in KINDS}
    for name in failed:
        message = read.result(name).message
        assert "has from_version 5 and to_version 3. The newest version is 3" in message, name
