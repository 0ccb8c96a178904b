"""Nodes whose inputs did not change are not run: what runs after which change."""

import time
from typing import Any

import pytest

from tests.functional.harness import Invocation, Project

FILES = {
    "seeds/codes.csv": "code,label\n0,zero\n1,one\n2,two\n",
    "models/raw.sql": """
        {{ config(materialized='table', build_when='always') }}
        select id, id % 3 as code from range(10) where {{ var('build_raw', 'true') }}
    """,
    "models/seen.sql": "{{ config(materialized='view') }} select * from {{ ref('raw') }}",
    "models/inlined.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('seen') }}",
    "models/merged.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select * from {{ ref('inlined') }}
        {% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
    """,
    "models/counted.sql": """
        {{ config(materialized='table') }}
        select label, count(*) as n from {{ ref('merged') }} join {{ ref('codes') }} using (code)
        group by label
    """,
    "models/clocked.sql": """
        {{ config(materialized='table') }} select current_date() as day, count(*) as n
        from {{ ref('codes') }}
    """,
    "models/hooked.sql": """
        {{ config(materialized='table', post_hook='select 1') }} select * from {{ ref('codes') }}
    """,
    "models/kept.sql": "{{ config(materialized='table') }} select * from {{ ref('codes') }}",
    "snapshots/past.yml": """
        snapshots:
          - name: past
            relation: ref('codes')
            config: {strategy: check, unique_key: code, check_cols: all, file_format: delta}
    """,
    "models/schema.yml": """
        models:
          - name: counted
            columns:
              - name: label
                data_tests: [not_null, unique]
          - name: codes_are_few
            data_tests: []
        unit_tests:
          - name: few
            model: counted
            given:
              - input: ref('merged')
                rows: [{id: 1, code: 1}]
              - input: ref('codes')
                rows: [{code: 1, label: one}]
            expect: {rows: [{label: one, n: 1}]}
    """.replace("          - name: codes_are_few\n            data_tests: []\n", ""),
    "tests/kept_failures.sql": """
        {{ config(store_failures=true) }} select * from {{ ref('kept') }} where code > 7
    """,
}


def ran(run: Invocation) -> set[str]:
    """The nodes that ran, tests too."""
    return {r.node.name for r in run.results if r.message not in ("unchanged", "not due")}


def show(run: Invocation, t: float) -> None:
    print(run.output, round(time.time() - t, 2))
    for e in run.events:
        if any(x in e.info.msg for x in (" runs: ", "recorded", "looked at", "cannot")):
            print("   >>", e.info.msg[:300])


def test_what_runs(new_project: Any) -> None:
    project = new_project()
    project.write(FILES)
    same = {"+build_when": "inputs_changed"}
    project.configure(
        models={"+file_format": "delta", **same},
        seeds={"+file_format": "delta", **same},
        snapshots=same,
        data_tests=same,
        unit_tests=same,
    )
    always = {"clocked", "hooked"}

    def build(*args: str) -> set[str]:
        t = time.time()
        run = project.dbt("build", "--exclude", "raw", *args)
        show(run, t)
        return ran(run)

    t = time.time()
    show(project.dbt("build"), t)
    steps = []

    def step(name: str, found: set[str], expected: set[str]) -> None:
        steps.append((name, sorted(found), sorted(always | expected)))

    step("nothing", build(), set())
    step("nothing 2", build(), set())
    below = {"merged", "counted", "not_null_counted_label", "unique_counted_label"}
    project.sql("insert into {schema}.raw values (100, 1)")
    step("rows", build(), {"seen", *below})
    step("nothing after rows", build(), set())
    project.sql("optimize {schema}.raw")
    project.sql("comment on table {schema}.raw is 'x'")
    project.sql("alter table {schema}.raw set tblproperties ('a'='b')")
    step("optimize", build(), set())
    project.sql("delete from {schema}.kept where code = 0")
    step("own delete", build(), {"kept", "kept_failures"})
    step("nothing after delete", build(), set())
    project.sql("drop table {schema}.merged")
    step("own drop", build(), below)
    project.sql("drop table {schema}_dbt_test__audit.kept_failures")
    step("failures gone", build(), {"kept_failures"})
    project.write({"seeds/codes.csv": "code,label\n0,zero\n1,one\n2,two\n3,three\n"})
    step(
        "seed",
        build(),
        {
            "codes",
            "past",
            "kept",
            "kept_failures",
            "counted",
            "not_null_counted_label",
            "unique_counted_label",
        },
    )
    project.write(
        {
            "models/kept.sql": "{{ config(materialized='table') }} select code from {{ ref('codes') }}"
        }
    )
    step("code", build(), {"kept", "kept_failures"})
    full = build("--full-refresh")
    step("after full refresh", build(), set())
    run = project.dbt("run-operation", "state", check=False)
    print(run.output)
    print(project.sql("select version, operation from (describe history {schema}.dbt_delta_state)"))
    print("FULL", sorted(full))
    for s in steps:
        print(
            s[0],
            "OK"
            if s[1] == s[2]
            else f"WRONG more {set(s[1]) - set(s[2])} less {set(s[2]) - set(s[1])}",
        )
    assert all(s[1] == s[2] for s in steps)
