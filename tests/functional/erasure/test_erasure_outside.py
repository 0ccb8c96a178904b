"""The test no_pii_outside: personal data in columns that nobody has declared."""

import pytest

from tests.functional.harness import Project

MODELS = {
    "models/people.sql": """
        {{ config(materialized='table') }}
        select id as person, concat('mail', id, '@example.org') as `E-mail` from range(50)
        """,
    "models/declared.sql": """
        {{ config(materialized='table') }} select `E-mail` as contact from {{ ref('people') }}
        """,
    "models/renamed.sql": """
        {{ config(materialized='table') }}
        select person, `E-mail` as the_contact, 'mail1@example.org' as one
        from {{ ref('people') }}
        """,
    "models/shown.sql": "select 1 as `e-MAIL`, `E-mail` as through_a_view from {{ ref('people') }}",
    "models/gone.sql": "select 1 as id",
    "models/schema.yml": """
        models:
          - name: people
            columns:
              - name: E-mail
                quote: true
                config: {meta: {pii: true}}
                data_tests: [dbt_delta.no_pii_outside]
          - name: declared
            columns: [{name: contact, config: {meta: {pii: true}}}]
        """,
}


@pytest.mark.long
def test_names_and_values_that_nobody_has_declared(project: Project) -> None:
    project.write(MODELS)
    project.dbt("run", "--exclude", "gone")
    failed = project.dbt("test", "--store-failures", check=False)
    assert [result.failures for result in failed.results] == [2]
    (name,) = (result.node.relation_name for result in failed.results)
    found = [tuple(row) for row in project.sql(f"select * from {name} order by 2")]
    assert found == [
        (f"{project.schema}.shown", "e-MAIL", "name", None),
        (f"{project.schema}.renamed", "the_contact", "values", 50),
    ]
    project.write({"models/renamed.sql": None, "models/shown.sql": None})
    assert project.dbt("test").results[0].status == "pass"
    where = MODELS["models/schema.yml"].replace(
        "[dbt_delta.no_pii_outside]",
        "[{dbt_delta.no_pii_outside: {config: {where: person > 1}}}]",
    )
    project.write({"models/schema.yml": where})
    assert "Remove `where` from its config" in project.dbt("test", check=False).output
