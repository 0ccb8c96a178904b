"""The plugin switched off, beside an unknown dbt-spark, and where Spark is not needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functional.harness import QUICK, Project, environment

CORE = {
    "models/people.sql": """
        {{ config(materialized='table') }}
        select * from values (1L, 'Ann', date'2024-01-01'), (2L, 'Bob', date'2024-01-02')
        as people(id, name, day)
    """,
    "models/names.sql": """
        select id, {{ dbt_delta._literal("it's") }} as name from {{ ref('people') }}
    """,
    "models/merged.sql": """
        {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
        select * from {{ ref('people') }}
        {% if is_incremental() %} union all select 3L, 'Cy', date'2024-01-03' {% endif %}
    """,
    "models/overwritten.sql": """
        {{ config(
            materialized='incremental', incremental_strategy='insert_overwrite',
            partition_by='day',
        ) }}
        select id, day from {{ ref('people') }}
        {% if is_incremental() %} where id = 2 {% endif %}
    """,
    "models/schema.yml": """
        models:
          - name: people
            columns: [{name: id, data_tests: [unique, not_null]}]
    """,
    "tests/three_people.sql": "select 1 from {{ ref('merged') }} having count(*) != {{ var('n') }}",
    "tests/two_days.sql": "select 1 from {{ ref('overwritten') }} having count(*) != 2",
}


@pytest.mark.long
def test_core_selection_without_the_plugin(project: Project):
    project.set_spark(QUICK)
    project.write(CORE)
    home = project.path / "home"
    (home / "logs").mkdir(parents=True)
    builds = [project._command(["build"], {"n": people}) for people in (2, 3)]
    program = f"""
from dbt.cli.main import dbtRunner
for build in {builds!r}:
    result = dbtRunner().invoke(build)
    bad = [r.node.name for r in result.result.results if r.status not in ("success", "pass")]
    print("built", bad)
from dbt.adapters import spark
print("adapter", spark.Plugin.adapter.__name__)
"""
    # Java comes from the plugin where set-up has made one.
    java = {"JAVA_HOME": str(Path(sys.prefix) / "java")}
    shown = _python(program, {**environment(home), **java, "DBT_DELTA_PLUGIN": "off"})
    assert shown.count("built []") == 2, shown
    assert shown.endswith("adapter SparkAdapter")
    assert not (home / "metastore.lock").exists()


@pytest.mark.long
def test_parse_imports_what_dbt_imports_and_an_unknown_dbt_spark_is_left_as_it_is(
    project: Project, tmp_path: Path
):
    project.write(CORE)
    metadata = tmp_path / "newer" / "dbt_spark-99.0.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dbt-spark\nVersion: 99.0.0\n")
    newer = {"PYTHONPATH": str(metadata.parent)}
    program = f"""
import sys
from dbt.cli.main import dbtRunner
result = dbtRunner().invoke({project._command(["parse"], {"n": 1})!r} + sys.argv[1:])
assert result.success, result.exception
print("imported", *sorted(sys.modules))
"""

    def parse(variables: dict[str, str], *arguments: str) -> tuple[str, set[str]]:
        """What the console shows, and the modules that are imported then."""
        shown, _, modules = _python(program, variables, *arguments).partition("imported")
        return shown, set(modules.split())

    silent, stock = parse({**newer, "DBT_DELTA_PLUGIN": "off"}, "--no-partial-parse")
    assert "dbt_delta's session" not in silent
    _, ours = parse({}, "--no-partial-parse")
    assert {name for name in ours - stock if not name.startswith("dbt_delta.")} == set()
    assert "dbt_delta.session.spark" not in ours

    shown, _ = parse(newer)
    warning = "dbt_delta's session is not used: dbt-spark 99.0.0 is not a tested version (1.11.0)"
    assert shown.count(warning) == 1


def test_import_costs_nothing():
    program = "import sys, dbt_delta; print([m for m in sys.modules if m.startswith('dbt.')])"
    assert _python(program) == "[]"


def _python(program: str, variables: dict[str, str] | None = None, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **(variables or {})},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.strip()
