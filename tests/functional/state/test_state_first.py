import time
def test_first(project):
    project.write({
        "models/src.sql": "{{ config(materialized='table') }} select id, id % 3 as k from range(10)",
        "models/v.sql": "{{ config(materialized='view', build_when='inputs_changed') }} select * from {{ ref('src') }}",
        "models/m.sql": "{{ config(materialized='incremental', unique_key='id', build_when='inputs_changed') }} select * from {{ ref('v') }} {% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}",
        "models/t.sql": "{{ config(materialized='table', build_when='inputs_changed') }} select k, count(*) as n from {{ ref('m') }} group by k",
        "models/schema.yml": """
            models:
              - name: t
                columns:
                  - name: k
                    data_tests: [{not_null: {config: {build_when: inputs_changed}}}, {unique: {config: {build_when: inputs_changed}}}]
            """,
        "seeds/s.csv": "a\n1\n",
    })
    project.configure(seeds={"+build_when": "inputs_changed", "+file_format": "delta"}, models={"+file_format": "delta"})
    for i in range(3):
        t = time.time()
        run = project.dbt("build", "--exclude", "src") if i else project.dbt("build")
        print(run.output, time.time() - t)
        for e in run.events:
            if "unchanged" in e.info.msg or "runs:" in e.info.msg or "nothing recorded" in e.info.msg or "looked at" in e.info.msg: print("   >>", e.info.msg)
    print(project.sql("select node, record from {schema}.dbt_delta_state"))
    project.sql("insert into {schema}.src values (100, 7)")
    run = project.dbt("build", "--exclude", "src"); print(run.output)
    run = project.dbt("build", "--exclude", "src"); print(run.output)
    assert 0
