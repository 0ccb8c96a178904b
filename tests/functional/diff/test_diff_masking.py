"""Values of columns with meta pii: in no report, no refusal, and nowhere in dbt's log."""

from collections.abc import Callable

import pytest

from tests.functional import tables
from tests.functional.harness import Project
from tests.functional.operations import operations
from tests.functional.seeds.conftest import write_csv

FROM_SOURCE = "select mail, n from {{ source('raw', 'people') }}"
MODELS = {
    # One alias in two schemas, and only one of them marks its column.
    "models/twin_a.sql": "{{ config(alias='twin', schema='a') }} select 'x' as mail",
    "models/twin_b.sql": "{{ config(alias='twin', schema='b') }} select 'x' as MAIL",
    "models/held.sql": "select named_struct('mail', 'x') as person, 1 as mail",
    "models/kept_v1.sql": "select 'x' as mail",
    "models/kept_v2.sql": "select 'x' as mail",
    # None of these marks anything: they read what is marked.
    "models/seen.sql": FROM_SOURCE,
    "models/twice.sql": (
        "{{ config(materialized='incremental', unique_key='mail', duplicate_keys='error') }}"
        f" {FROM_SOURCE} union all {FROM_SOURCE}"
    ),
    "models/merged.sql": "{{ config(materialized='incremental', unique_key='mail') }} "
    + FROM_SOURCE,
    "models/held_to.sql": (
        "{{ config(materialized='incremental', unique_key='mail',"
        " tblproperties={'delta.constraints.short': 'length(mail) < 3'}) }} " + FROM_SOURCE
    ),
    "models/checked.sql": (
        "{{ config(materialized='table', tblproperties={'delta.constraints.short':"
        " 'length(mail) < 3'}) }} " + FROM_SOURCE
    ),
    "models/cast.sql": (
        "{{ config(materialized='table') }}"
        " select cast(mail as int) as mail from {{ source('raw', 'people') }}"
    ),
    "models/s.yml": """
        sources:
          - name: raw
            schema: "{{ target.schema }}"
            tables:
              - name: people
                columns: [{name: Mail, meta: {pii: true}}, {name: N, meta: {pii: true}}]
        models:
          - name: twin_b
            columns: [{name: Mail, config: {meta: {pii: true}}}]
          - name: held
            columns: [{name: person.mail, meta: {pii: true}}]
          - name: kept
            latest_version: 2
            columns: [{name: mail, meta: {pii: true}}]
            versions: [{v: 1, columns: [{include: all}]}, {v: 2, columns: [{include: all}]}]
    """,
    "snapshots/s.yml": """
        snapshots:
          - name: history
            relation: source('raw', 'people')
            config: {strategy: check, unique_key: n, check_cols: all}
    """,
}
SECRET = "hush"
# Concatenated: the statements of the tests are no leak.
VALUE = "concat('hu', 'sh')"


@pytest.fixture(scope="module")
def masked(new_shared_project: Callable[[str], Project]) -> Project:
    project = new_shared_project("masked")
    project.write(MODELS)
    project.sql("create schema {schema}")
    project.sql(
        f"create table {{schema}}.people using delta as select {VALUE} || id as mail, {VALUE} as n"
        " from range(2)"
    )
    return project


@pytest.mark.long
def test_reports(masked: Project) -> None:
    ci = f"{masked.schema}_ci"
    masked.sql(f"create schema {ci}")
    one = f"{VALUE} || '1' as mail"
    for name, columns in {
        "people": one, "twin": one, "held": f"named_struct('mail', {VALUE}) as person, 1 as mail",
        "kept_v1": one, "kept_v2": one, "seen": one, "made_by_hand": one,
    }.items():  # fmt: skip
        masked.sql(f"create table {ci}.{name} using delta as select {columns}, 1 as x")
        masked.sql(f"insert into {ci}.{name} select {columns.replace('1', '2')}, 2 as x")
    named = ["people", "twin", "held", "kept_v1", "kept_v2", "seen", "made_by_hand"]
    calls = [("diff", {"model": f"{ci}.{name}", "output": "json"}) for name in named]
    source = {"a": f"{ci}.people", "b": f"{masked.schema}.people"}
    ran = operations(masked, *calls, ("diff", source), ("diff", {**source, "output": "markdown"}))
    assert SECRET not in ran.log
    # Each has a masked value, and one that is not.
    lines = ran.printed.splitlines()
    for line in lines[: len(named)]:
        assert "***" in line, line
        assert '"x": 2' in line, line


def test_refusals(masked: Project) -> None:
    masked.sql(f"create table {{schema}}.held_to using delta as select {VALUE} as mail, 'x' as n")
    masked.sql("create table {schema}.merged using delta as select 'x' as mail, 'x' as n")
    marked = "columns: [{name: MAIL, meta: {pii: true}}], "
    write_csv(*(masked, "bad", f"mail\n{SECRET}\n"), marked + "config: {column_types: {mail: int}}")
    write_csv(
        *(masked, "good", f"mail\n{SECRET}\n"), marked + "config: {column_types: {mail: binary}}"
    )
    names = ("twice", "merged", "held_to", "checked", "cast", "bad", "good", "history")
    ran = masked.dbt("build", "-s", *names, check=False)
    failed = {r.node.name: r.message for r in ran.results if r.status == "error"}
    assert set(failed) == {"twice", "held_to", "checked", "cast", "bad", "history"}
    assert '{"mail":"***"} (2 rows)' in failed["twice"]
    assert 'for example by {"mail":"***","n":"***"}' in failed["held_to"]
    assert "CHECK constraint short (length(mail) < 3) violated. The rest" in failed["checked"]
    assert "[CAST_INVALID_INPUT] The rest is not shown" in failed["cast"]
    assert "line 2, column mail: '***' is not a valid int" in failed["bad"]
    assert '{"n":"***"}' in failed["history"]
    assert SECRET not in ran.log
    assert len(masked.rows("merged")) == 3
    assert masked.rows("good") == [{"mail": SECRET.encode()}]
    assert tables.versions(masked, ("held_to", "good")) == {"held_to": 0, "good": 0}
