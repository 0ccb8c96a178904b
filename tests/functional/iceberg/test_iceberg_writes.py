"""Tables, views, seeds and incremental models on Iceberg: rows and snapshots."""


def test_table(project) -> None:
    project.write(
        {
            "models/a.sql": "{{ config(materialized='table') }} select 1 as id, 'x' as v",
            "models/b.sql": "{{ config(materialized='view') }} select * from {{ ref('a') }}",
            "seeds/s.csv": "id,name\n1,one\n2,\n",
            "models/m.sql": """
                {{ config(materialized='incremental', unique_key='id', merge_skip_unchanged=true) }}
                select id, name as v from {{ ref('s') }}
            """,
        }
    )
    project.dbt("build")
    assert project.rows("b") == [{"id": 1, "v": "x"}]
    print(project.history("m"))
    assert len(project.history("m")) == 1
    again = project.dbt("build")
    print(again.output)
    assert len(project.history("m")) == 1
    assert len(project.history("s")) == 1
    assert len(project.history("a")) == 2
    project.write({"seeds/s.csv": "id,name\n1,one\n2,two\n3,three\n"})
    project.dbt("build")
    assert len(project.history("m")) == 2
    print(project.history("m")[0])
    assert len(project.rows("m")) == 3
