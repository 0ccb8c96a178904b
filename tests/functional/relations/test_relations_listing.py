"""What dbt sees of a schema: names, kinds, docs; how names are written."""

import json
from typing import Any

import pytest

from tests.functional.harness import Project


def test_docs_show_columns_and_comments_of_the_project_only(project: Project) -> None:
    project.write(
        {
            "models/Big.sql": "{{ config(materialized='table', alias='Big_One', persist_docs={"
            "'relation': true, 'columns': true}) }} select 1 as id, struct(2 as a) as s",
            "models/v.sql": "{{ config(materialized='view') }} select * from {{ ref('Big') }}",
            "models/i.sql": "{{ config(materialized='incremental') }} select 1 as id",
            "models/s.yml": """
                models:
                  - {name: Big, description: the table, columns: [{name: id, description: "007"}]}
                sources:
                  - {name: raw, schema: SCHEMA, tables: [{name: raw}]}
            """.replace("SCHEMA", project.schema),
        }
    )
    project.dbt("run")
    for name in ("foreign_a", "foreign_b"):
        project.sql(f"create table {{schema}}.{name} using delta as select 1 as x")
    project.sql("create table {schema}.raw using csv as select 1 as r")
    project.writes_json = True
    run = project.dbt("docs", "generate")
    catalog = json.loads((project.path / "target" / "catalog.json").read_text())
    nodes = {key.split(".")[-1]: node for key, node in catalog["nodes"].items()}
    assert sorted(nodes) == ["Big", "i", "v"]
    assert [key.split(".")[-1] for key in catalog["sources"]] == ["raw"]

    def columns(node: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(c["name"], c["type"], c["comment"]) for c in node["columns"].values()]

    assert columns(nodes["Big"]) == [("id", "int", "007"), ("s", "struct<a:int>", None)]
    assert columns(nodes["v"]) == [("id", "int", "007"), ("s", "struct<a:int>", None)]
    assert nodes["Big"]["metadata"]["comment"] == "the table"
    assert nodes["v"]["metadata"]["type"] == "view"
    described = [s for s in run.statements if s.startswith("describe")]
    assert len(described) == 4
    assert not any("foreign" in s for s in run.statements)


def test_a_broken_view_does_not_stop_the_docs(project: Project) -> None:
    project.write({"models/v.sql": "select 1 as id", "models/t.sql": "select 2 as id"})
    project.dbt("run")
    project.sql("create table {schema}.gone using delta as select 1 as id")
    project.sql("create or replace view {schema}.v as select * from {schema}.gone")
    project.sql("drop table {schema}.gone")
    project.writes_json = True
    assert project.dbt("docs", "generate").success
    catalog = json.loads((project.path / "target" / "catalog.json").read_text())
    assert "model.consumer.t" in catalog["nodes"]


def test_names(project: Project) -> None:
    """Upper case, a schema of one's own, names that SQL knows."""
    project.write(
        {
            "macros/schema.sql": """
                {% macro generate_schema_name(name, node) %}{{
                    (target.schema ~ '_' ~ name) if name else target.schema
                }}{% endmacro %}
            """,
            "models/Upper.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/order.sql": "{{ config(materialized='incremental', unique_key='id') }}"
            " select id, 1 as v from {{ ref('Upper') }}",
            "models/select.sql": "{{ config(materialized='view', schema='OTHER') }} select 1 as id",
        }
    )
    for _ in range(2):
        project.dbt("run")
    assert len(project.history("upper")) == 2
    assert project.history("order")[0]["operation"] == "MERGE"
    assert project.rows(f"{project.schema}_other.select") == [{"id": 1}]


def test_database(project: Project) -> None:
    """dbt-databricks' catalog has no place here: the schema's own name is harmless."""
    select = "{{ config(materialized='table', database='NAME') }} select 1 as id"
    project.write({"models/m.sql": select.replace("NAME", project.schema)})
    project.dbt("run")
    assert project.rows("m") == [{"id": 1}]
    project.write({"models/m.sql": select.replace("NAME", "other")})
    version = project.version("m")
    said = "database is 'other': Spark's Hive catalog has schemas only."
    assert said in project.dbt("run", check=False).output
    assert project.version("m") == version


@pytest.mark.parametrize("kind", ["table", "view", "incremental"])
def test_commands(project: Project, kind: str) -> None:
    """--empty, show, retry, ephemeral and stored failures."""
    project.writes_json = True
    project.write(
        {
            "models/source.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/e.sql": "{{ config(materialized='ephemeral') }} from {{ ref('source') }}",
            "models/m.sql": f"{{{{ config(materialized='{kind}') }}}} "
            "select * from {{ ref('e') }}",
            "models/s.yml": """
                models:
                  - name: m
                    columns:
                      - name: id
                        data_tests:
                          - accepted_values:
                              arguments: {values: [2]}
                              config: {store_failures: true}
            """,
        }
    )
    project.dbt("run")
    assert project.rows("m") == [{"id": 1}]
    run = project.dbt("test", check=False)
    assert not run.success
    failures = run.results[0].node
    stored = project.sql(f"select * from `{failures.schema}`.`{failures.alias}`")
    assert [row.asDict() for row in stored] == [{"value_field": 1, "n_records": 1}]
    assert not project.dbt("test", check=False).success
    shown = project.dbt("show", "-s", "m")
    assert "|  1 |" in shown.output
    project.dbt("run", "--empty", "--full-refresh")
    assert project.rows("m") == []
    broken = "{{ config(materialized='table') }} select int('x') as id"
    project.write({"models/source.sql": broken})
    assert not project.dbt("build", check=False).success
    project.write({"models/source.sql": broken.replace("'x'", "'2'")})
    project.dbt("retry")
    assert project.rows("m") == [{"id": 2}]
