"""What dbt sees of a schema: names, kinds, docs; how names are written."""

import json
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Project, is_session


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
    assert len([s for s in run.statements if s.startswith("describe")]) == (
        0 if is_session() else 4
    )
    assert not any("foreign" in s for s in run.statements)

    # A broken view does not stop the docs.
    project.sql("create or replace view {schema}.v as select * from {schema}.foreign_a")
    project.sql("drop table {schema}.foreign_a")
    (project.path / "target" / "catalog.json").unlink()
    assert project.dbt("docs", "generate").success
    catalog = json.loads((project.path / "target" / "catalog.json").read_text())
    assert {"model.consumer.Big", "model.consumer.i"} <= set(catalog["nodes"])


@pytest.mark.session
def test_columns_have_the_length_that_they_were_declared_with(project: Project) -> None:
    """DESCRIBE prints string. A server tells it nowhere."""
    project.write(
        {
            "models/types.sql": """
                {{ config(materialized='table') }}
                {%- set names = ((this.schema, 'raw'), ('delta', var('path', 'none'))) %}
                {%- for schema, name in names %}
                {%- set relation = api.Relation.create(schema=schema, identifier=name) %}
                {%- set columns = adapter.get_columns_in_relation(relation) %}
                select '{{ columns | map(attribute='dtype') | list | join(' ') }}' as types
                {{ 'union all' if not loop.last }}
                {%- endfor %}
            """
        }
    )
    project.sql("create schema if not exists {schema}")
    declared = "v varchar(5), c char(3), s string, m array<varchar(2)>, n int"
    project.sql(f"create table {{schema}}.raw ({declared}) using delta")
    path = project.sql("describe detail {schema}.raw")[0].location
    project.dbt("run", vars={"path": f"`{path}`"})
    printed = "string string string array<string> int"
    known = "varchar(5) char(3) string array<varchar(2)> int"
    assert project.rows("types") == [{"types": printed}, {"types": known}]


def test_names(project: Project) -> None:
    """Upper case, a schema of one's own, names that SQL knows, and dbt-databricks' catalog.

    That has no place here: as a database the schema's own name is harmless.
    """
    database = "{{ config(materialized='table', database='NAME') }} select 1 as id"
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
            "models/m.sql": database.replace("NAME", project.schema),
        }
    )
    project.dbt("run")
    assert project.rows("m") == [{"id": 1}]
    project.write({"models/m.sql": database.replace("NAME", "other")})
    run = project.dbt("run", check=False)
    said = "database is 'other': Spark's Hive catalog has only schemas."
    assert [r.node.name for r in run.results if r.status != "success"] == ["m"]
    assert said in run.output
    assert tables.versions(project, ("m", "upper")) == {"m": 0, "upper": 1}
    assert tables.operations(project, "order")[-1] == "MERGE"
    assert project.rows(f"{project.schema}_other.select") == [{"id": 1}]


@pytest.mark.long
def test_commands(project: Project) -> None:
    """--empty, show, retry, ephemeral and stored failures."""
    project.writes_json = True
    names = [f"a_{kind}" for kind in ("table", "view", "incremental")]
    tests = "".join(
        f"""
          - name: {name}
            columns:
              - name: id
                data_tests:
                  - accepted_values:
                      arguments: {{values: [2]}}
                      config: {{store_failures: true}}"""
        for name in names
    )
    project.write(
        {
            "models/source.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/e.sql": "{{ config(materialized='ephemeral') }} from {{ ref('source') }}",
            "models/s.yml": "models:" + tests,
        }
        | {
            f"models/{name}.sql": f"{{{{ config(materialized='{name.partition('_')[2]}') }}}} "
            "select * from {{ ref('e') }}"
            for name in names
        }
    )

    def rows() -> dict[str, list[str]]:
        return tables.json_rows(project, names)

    project.dbt("run")
    assert rows() == {name: ['{"id":1}'] for name in names}
    for _ in range(2):
        run = project.dbt("test", check=False)
        assert [result.status for result in run.results] == ["fail"] * len(names)
    for result in run.results:
        stored = project.sql(f"select * from `{result.node.schema}`.`{result.node.alias}`")
        assert [row.asDict() for row in stored] == [{"value_field": 1, "n_records": 1}]
    # dbt shows the first of its selection.
    assert "|  1 |" in project.dbt("show", "-s", "a_incremental").output
    project.dbt("run", "--empty", "--full-refresh")
    assert rows() == {}
    broken = "{{ config(materialized='table') }} select int('x') as id"
    project.write({"models/source.sql": broken})
    assert not project.dbt("build", check=False).success
    project.write({"models/source.sql": broken.replace("'x'", "'2'")})
    project.dbt("retry")
    assert rows() == {name: ['{"id":2}'] for name in names}
