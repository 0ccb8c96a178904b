"""Four threads, one name for everything: settings, temp views and current schemas never mix."""

import pytest

from tests.functional import drawing, harness

MODELS, RUNS = (50, 4) if drawing.IS_LONG else (20, 2)
TABLES = 3
SCHEMAS = 3
# Each model shifts the session's time zone by its number, leaves its number in a temp view that
# all call `clash`, and makes its schema the current one; then it looks at what it finds.
MODEL = """
    {{ config(materialized='__materialized__', schema='s__schema__', pre_hook=[
        "set time zone interval '__number__' minute",
        "create or replace temp view clash as select __number__ as number",
        "use {{ this.schema }}",
    ]) }}
    select
        number, current_timezone() as zone, current_schema() as current,
        java_method('java.lang.Thread', 'sleep', 20L) as slept
    from clash
"""
PROBE = """
    {% materialization probe, adapter='spark' %}
        {% do run_hooks(pre_hooks) %}
        {% call statement('main', fetch_result=True) %}{{ sql }}{% endcall %}
        {% set found = (load_result('main')['table'].rows[0] | list)[:3] %}
        {% set number = model.name[1:] | int %}
        {% set expected = [number, '+00:%02d' | format(number), this.schema] %}
        {% if found != expected %}
            {% do exceptions.raise_compiler_error('found ' ~ found ~ ', not ' ~ expected) %}
        {% endif %}
        {{ return({'relations': []}) }}
    {% endmaterialization %}
"""


def test_many_model_runs_on_four_threads(project):
    project.write({"macros/probe.sql": PROBE})
    for number in range(1, MODELS + 1):
        text = MODEL.replace("__materialized__", "table" if number <= TABLES else "probe")
        text = text.replace("__schema__", str(number % SCHEMAS))
        project.write({f"models/m{number}.sql": text.replace("__number__", str(number))})
    ran = 0
    for _ in range(RUNS):
        run = project.dbt("run", threads=4)
        ran += sum(result.status == "success" for result in run.results)
    assert ran == MODELS * RUNS
    for number in range(1, TABLES + 1):
        schema = f"{project.schema}_s{number % SCHEMAS}"
        (row,) = project.rows(f"{schema}.m{number}")
        row.pop("slept")
        assert row == {"number": number, "zone": f"+00:{number:02d}", "current": schema}
        assert project.version(f"{schema}.m{number}") == RUNS - 1


def test_profile_settings_hold_in_every_connection(project):
    """A model's SET is gone for the next model; the profile's are there, ANSI mode as written."""
    project.write(
        {
            "models/a.sql": """
                {{ config(materialized='table', pre_hook=[
                    'set spark.sql.ansi.enabled=false', 'set time zone \\'Asia/Tokyo\\'',
                ]) }}
                select current_timezone() as zone, cast('x' as int) as n
            """,
            "models/b.sql": """
                {{ config(materialized='table') }}
                -- depends_on: {{ ref('a') }}
                select current_timezone() as zone, try_cast('x' as int) as n
            """,
            "models/strict.sql": """
                {{ config(materialized='table') }}
                -- depends_on: {{ ref('b') }}
                select int('x') as n
            """,
        }
    )
    strict = project.dbt("run", threads=1, check=False)
    assert project.rows("a") == [{"zone": "Asia/Tokyo", "n": None}]
    assert project.rows("b") == [{"zone": "UTC", "n": None}]
    assert "[CAST_INVALID_INPUT]" in strict.output

    profile = (project.path / "profiles.yml").read_text()
    on = 'spark.sql.ansi.enabled: "true"'
    assert on in profile
    project.write({"profiles.yml": profile.replace(on, 'spark.sql.ansi.enabled: "false"')})
    project.dbt("run", "-s", "strict")
    assert project.rows("strict") == [{"n": None}]

    # Spark's own default, not dbt-spark's.
    project.write({"profiles.yml": profile.replace(on, "")})
    strict = project.dbt("run", "-s", "strict", check=False)
    assert "[CAST_INVALID_INPUT]" in strict.output


def test_settings_for_a_block_are_as_before_after_it():
    """Also after an error: one that the profile sets, and one that nobody set."""
    from dbt.adapters.contracts.connection import Connection

    from dbt_delta.session.connection import SessionConnection

    named, unset = "spark.sql.shuffle.partitions", "spark.databricks.delta.merge.some"
    record = Connection(type="spark", name="settings", credentials=None)
    own = SessionConnection({**harness.settings(), named: "3"}, record)
    other = SessionConnection(harness.settings(), record)

    def seen(connection):
        return [connection.session.conf.get(key, None) for key in (named, unset)]

    before = seen(other)
    with own.configured({named: "7", unset: "x"}):
        assert seen(own) == ["7", "x"]
        assert seen(other) == before
    assert seen(own) == ["3", None]
    with pytest.raises(ZeroDivisionError), own.configured({named: "7", unset: "x"}):
        raise ZeroDivisionError
    assert seen(own) == ["3", None]


def test_settings_that_a_later_profile_does_not_name_are_sparks_defaults():
    from dbt_delta.session.spark import new_session

    named = "spark.sql.shuffle.partitions"
    settings = harness.settings()
    assert new_session(settings).conf.get(named) == settings.pop(named)
    assert new_session(settings).conf.get(named) == "200"
