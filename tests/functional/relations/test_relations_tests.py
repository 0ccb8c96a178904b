"""The tests of a table in one scan: what dbt reports is what its own SQL for each test gives."""

import json
from typing import Any


from tests.functional.harness import Invocation, Project

OFF = {"dbt_delta_fused_tests": False}


def reported(run: Invocation) -> dict[str, tuple[Any, ...]]:
    """All that dbt says of a test but its time."""
    return {
        r.node.name: (str(r.status), r.failures, r.message, r.adapter_response, r.node.compiled_code)
        for r in run.results
    }


def test_smoke(project: Project) -> None:
    project.sql("create schema if not exists {schema}")
    project.sql(
        "create table {schema}.t using delta tblproperties('delta.columnMapping.mode'='name') as "
        "select id, id % 3 as `a b`, string(id) as s, if(id = 3, null, id) as n from range(100)"
    )
    project.write(
        {
            "models/s.yml": f"""
            sources:
              - name: src
                schema: {project.schema}
                tables:
                  - name: t
                    data_tests:
                      - dbt_delta.row_count_between: {{arguments: {{min: 1, max: 1000}}}}
                    columns:
                      - name: id
                        data_tests: [unique, not_null]
                      - name: "a b"
                        quote: true
                        data_tests:
                          - not_null
                          - accepted_values: {{arguments: {{values: [0, 1, 2], quote: false}}}}
                      - name: s
                        data_tests: [unique, not_null]
                      - name: n
                        data_tests:
                          - not_null
                          - not_null: {{name: warned, config: {{severity: warn}}}}
                          - not_null: {{name: filtered, config: {{where: "id > 3"}}}}
            """
        }
    )
    plain = project.dbt("test", vars=OFF, check=False)
    fused = project.dbt("test", check=False)
    print(json.dumps(reported(plain), indent=1, default=str))
    for x in fused.statements:
        print("--", x)
    assert reported(fused) == reported(plain)
    assert len(fused.statements) < len(plain.statements), (len(fused.statements), len(plain.statements))
    print(fused.log[-6000:])
    assert 0
