"""Hooks, limits, conflicts and Python models."""

import time

SLEEP = "java_method('java.lang.Thread', 'sleep', 1500L)"
TOP = """
    {% macro top() %}
        {% set found = adapter.execute('select id from range(999999999999)', true, true, 3) %}
        {% do print('rows: ' ~ found[1].columns[0].values() | join(',')) %}
    {% endmacro %}
"""
NOW = """
    {% macro now() %}
        {% do run_query("set time zone 'Asia/Tokyo'") %}
        {% do print('at ' ~ run_query("select timestamp'2024-01-01 00:00:00 UTC'")[0][0]) %}
    {% endmacro %}
"""


def test_select_in_a_hook_is_executed(project):
    project.write(
        {
            "models/a.sql": """
                {{ config(
                    materialized='table',
                    post_hook="select assert_true(count(*) = 2, 'two rows wanted') from {{ this }}",
                ) }}
                select * from range({{ var('rows') }})
            """
        }
    )
    project.dbt("run", vars={"rows": 2})
    failed = project.dbt("run", vars={"rows": 3}, check=False)
    assert "[USER_RAISED_EXCEPTION] two rows wanted" in failed.output


def test_command_in_a_hook_runs_once(project):
    project.write(
        {
            "models/a.sql": """
                {{ config(materialized='table', post_hook=[
                    "insert into {{ this }} values (1)", "insert into {{ this }} values (1);",
                    "-- last\\ninsert into {{ this }} values (1) -- end",
                ]) }}
                select 0 as id;
            """
        }
    )
    project.dbt("run")
    assert [row["id"] for row in project.rows("a")] == [0, 1, 1, 1]
    assert project.version("a") == 3


def test_limit_bounds_what_is_fetched(project):
    project.write({"macros/top.sql": TOP})
    started = time.monotonic()
    assert "rows: 0,1,2" in project.dbt("run-operation", "top").output
    shown = project.dbt("show", "--inline", "select id from range(1000000000000)", "--limit", "2")
    assert "| 1 |" in shown.output.replace("  ", " ")
    assert time.monotonic() - started < 30


def test_timestamps_are_shown_in_the_sessions_zone(project):
    project.write({"macros/now.sql": NOW})
    assert "at 2024-01-01 09:00:00" in project.dbt("run-operation", "now").output


def test_conflicting_writers_are_repeated(project):
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.counter using delta as select 0 as n")
    counted = f"select 1 as one, {SLEEP} as slept"
    for name in "abc":
        project.write(
            {
                f"models/{name}.sql": f"""
                    {{{{ config(post_hook="
                        merge into {{{{ this.schema }}}}.counter as c using ({counted}) as s
                        on s.one = 1 when matched then update set n = c.n + s.one
                    ") }}}}
                    select 1 as id
                """
            }
        )
    run = project.dbt("run", threads=4)
    assert "another writer was faster [DELTA_CONCURRENT_" in run.output
    assert project.rows("counter") == [{"n": 3}]
    assert project.version("counter") == 3


def test_conflict_in_a_script_is_reported_not_repeated(project):
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.counter using delta as select 0 as n")
    counted = f"select 1 as one, {SLEEP} as slept"
    for name in "ab":
        project.write(
            {
                f"models/{name}.sql": f"""
                    {{{{ config(post_hook="
                        begin
                            merge into {{{{ this.schema }}}}.counter as c using ({counted}) as s
                            on s.one = 1 when matched then update set n = c.n + s.one;
                        end
                    ") }}}}
                    select 1 as id
                """
            }
        )
    run = project.dbt("run", threads=4, check=False)
    assert sorted(result.status for result in run.results) == ["error", "success"]
    assert "\n  [DELTA_CONCURRENT_" in run.output
    assert project.rows("counter") == [{"n": 1}]


def test_python_model_runs_in_its_connections_session(project):
    project.write(
        {
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
        }
    )
    run = project.dbt("run", check=False)
    assert run.result("p").status == "success", run.output
    assert project.rows("p") == [{"id": n, "zone": "Asia/Tokyo"} for n in (0, 2, 4)]
    assert "KeyError: 'nothing'\n  models/broken.py, line 4\n" in run.output
    assert "[UNRESOLVED_COLUMN.WITH_SUGGESTION]" in run.result("refused").message
    assert "models/refused.py, line 3\n" in run.result("refused").message
