"""Functions of a project are in the catalog before the models that call them."""

import pytest

from tests.functional.harness import Project

FILES = {
    "functions/doubled.sql": "select amount * 2 ; -- twice",
    "functions/sum_of.sql": "(select sum(v) from {{ ref('raw') }} where id <= n)",
    "functions/chance.sql": "rand()",
    "functions/schema.yml": """
        functions:
          - name: doubled
            description: Twice, it's said.
            config: {volatility: deterministic}
            arguments: [{name: amount, data_type: 'decimal(9,2)', default_value: 1.5}]
            returns: {data_type: 'decimal(9,2)'}
          - name: sum_of
            arguments: [{name: n, data_type: bigint, description: the last id}]
            returns: {data_type: bigint}
          - name: chance
            config: {volatility: non-deterministic}
            returns: {data_type: double}
        """,
    "models/raw.sql": """
        {{ config(materialized='table') }} select id, id * 10 as v from range(3)
        """,
    "models/seen.sql": """
        {{ config(materialized='view') }}
        select id, {{ function('doubled') }}(id) as d, {{ function('doubled') }}() as s
        from {{ ref('raw') }}
        """,
    "models/counted.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select id, d, s, {{ function('sum_of') }}(id) as total, {{ function('chance') }}() as x
        from {{ ref('seen') }}
        """,
}


def rows(project: Project) -> list[tuple[str, ...]]:
    found = project.sql("select id, d, s, total from {schema}.counted order by id")
    return [tuple(map(str, row)) for row in found]


def test_functions_are_built_before_their_models_and_again_when_they_change(
    project: Project,
) -> None:
    project.write(FILES)
    project.dbt("build")
    assert rows(project) == [
        ("0", "0.00", "3.00", "0"),
        ("1", "2.00", "3.00", "10"),
        ("2", "4.00", "3.00", "30"),
    ]
    told = "\n".join(row[0] for row in project.sql("describe function extended {schema}.doubled"))
    assert "Twice, it's said." in told
    project.write({"functions/doubled.sql": "amount * 3"})
    project.dbt("build")
    assert rows(project)[2] == ("2", "6.00", "4.50", "30")
    # A merge reads its batch more than once: what a function returns is stored first.
    kept = project.sql("select count(distinct x) as n from {schema}.counted")
    assert kept[0].n == 3


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("functions/doubled.py", "def doubled(amount):\n    return amount", "doubled is in Python"),
        ("functions/doubled.sql", "sum(amount)", "aggregate/window/generate functions"),
    ],
)
def test_refusals(project: Project, file: str, text: str, message: str) -> None:
    about = FILES["functions/schema.yml"].partition("          - name: sum_of")[0]
    if file.endswith(".py"):
        about = about.replace(
            "deterministic}", "deterministic, entry_point: a, runtime_version: '3'}"
        )
    project.write({"functions/schema.yml": about, file: text})
    run = project.dbt("build", check=False)
    assert not run.success
    assert message in run.output
