"""Hooks, limits, conflicts and Python models."""

from collections.abc import Callable

import pytest

from tests.functional.harness import Invocation, Project

SLEEP = "java_method('java.lang.Thread', 'sleep', 1500L)"
# Rows that fail when they are computed to the end.
MANY = "select if(id < 900000, id, raise_error('read to the end')) as id from range(1000000)"
WANTED = """
    {{ config(
        materialized='table',
        post_hook="select assert_true(count(*) = 2, 'two rows wanted') from {{ this }}",
    ) }}
    select * from range(__rows__)
"""
MODELS = {
    "models/two_rows.sql": WANTED.replace("__rows__", "2"),
    "models/three_rows.sql": WANTED.replace("__rows__", "3"),
    "models/hooked.sql": """
        {{ config(materialized='table', post_hook=[
            "insert into {{ this }} values (1)", "insert into {{ this }} values (1);",
            "-- last\\ninsert into {{ this }} values (1) -- end",
        ]) }}
        select 0 as id;
    """,
    "models/a.sql": "{{ config(materialized='table') }} select * from range(3)",
    "models/p.py": """
        def model(dbt, session):
            dbt.config(materialized="table")
            session.sql("set time zone 'Asia/Tokyo'")
            return dbt.ref("a").selectExpr("id * 2 as id", "current_timezone() as zone")
    """,
    "models/broken.py": """
        def model(dbt, session):
            dbt.config(materialized="table")
            found = {}
            return found["nothing"]
    """,
    "models/refused.py": """
        def model(dbt, session):
            dbt.config(materialized="table")
            return dbt.ref("a").select("nope")
    """,
    "macros/look.sql": """
        {% macro look() %}
            {% set found = adapter.execute("__many__", true, true, 3) %}
            {% do print('rows: ' ~ found[1].columns[0].values() | join(',')) %}
            {% do run_query("set time zone 'Asia/Tokyo'") %}
            {% do print('at ' ~ run_query("select timestamp'2024-01-01 00:00:00 UTC'")[0][0]) %}
        {% endmacro %}
    """.replace("__many__", MANY),
}


@pytest.fixture(scope="module")
def ran(new_shared_project: Callable[[str], Project]) -> tuple[Project, Invocation]:
    """A project whose models ran, three of them in vain."""
    project = new_shared_project("statements")
    project.write(MODELS)
    run = project.dbt("run", check=False)
    failed = {result.node.name for result in run.results if result.status != "success"}
    assert failed == {"three_rows", "broken", "refused"}, run.output
    return project, run


def test_select_in_a_hook_is_executed(ran: tuple[Project, Invocation]) -> None:
    _, run = ran
    assert "[USER_RAISED_EXCEPTION] two rows wanted" in run.result("three_rows").message
    assert "[USER_RAISED_EXCEPTION] two rows wanted" in run.output


def test_command_in_a_hook_runs_once(ran: tuple[Project, Invocation]) -> None:
    project, _ = ran
    assert [row["id"] for row in project.rows("hooked")] == [0, 1, 1, 1]
    assert project.version("hooked") == 3


def test_python_model_runs_in_its_connections_session(ran: tuple[Project, Invocation]) -> None:
    project, run = ran
    assert project.rows("p") == [{"id": n, "zone": "Asia/Tokyo"} for n in (0, 2, 4)]
    assert "KeyError: 'nothing'\n  models/broken.py, line 4\n" in run.output
    assert "[UNRESOLVED_COLUMN.WITH_SUGGESTION]" in run.result("refused").message
    assert "models/refused.py, line 3\n" in run.result("refused").message


def test_limit_bounds_what_is_fetched_and_zone_shows_timestamps(
    ran: tuple[Project, Invocation],
) -> None:
    project, _ = ran
    looked = project.dbt("run-operation", "look").output
    assert "rows: 0,1,2" in looked
    assert "at 2024-01-01 09:00:00" in looked
    shown = project.dbt("show", "--inline", MANY, "--limit", "2")
    assert "| 1 |" in shown.output.replace("  ", " ")


def counting(counter: str, before: str = "", after: str = "") -> str:
    """A model whose hook takes a while to count up by one."""
    return f"""
        {{{{ config(post_hook="
            {before}
            merge into {{{{ this.schema }}}}.{counter} as c
            using (select 1 as one, {SLEEP} as slept) as s
            on s.one = 1 when matched then update set n = c.n + s.one
            {after}
        ") }}}}
        select 1 as id
    """


def test_conflicting_writers_are_repeated_and_scripts_only_reported(project: Project) -> None:
    project.sql("create schema if not exists {schema}")
    for counter in ("counter", "scripts"):
        project.sql(f"create table {{schema}}.{counter} using delta as select 0 as n")
    project.write({f"models/{name}.sql": counting("counter") for name in "abc"})
    script = counting("scripts", "begin", "; end")
    project.write({f"models/{name}.sql": script for name in "de"})
    run = project.dbt("run", threads=5, check=False)
    assert "another writer was faster [DELTA_CONCURRENT_" in run.output
    assert {run.result(name).status for name in "abc"} == {"success"}
    assert project.rows("counter") == [{"n": 3}]
    assert project.version("counter") == 3

    assert sorted(run.result(name).status for name in "de") == ["error", "success"]
    assert "\n  [DELTA_CONCURRENT_" in run.output
    assert project.rows("scripts") == [{"n": 1}]
