"""Unit tests of the table after a run."""

from tests.functional.harness import Project
from tests.functional.tables import names, versions

INPUT = (
    "select 1 as id, 'a' as name, date'2024-01-01' as day, "
    "cast(1.5 as decimal(9, 2)) as amount, false as gone"
)


def _model(**configs: object) -> str:
    options = ", ".join(f"{name}={value!r}" for name, value in configs.items())
    config = f"{{{{ config(materialized='incremental', {options}) }}}}"
    return config + " select * from {{ ref('given') }}"


MODELS = {
    "merged": _model(unique_key="id", merge_update_columns=["name"]),
    "deleting": _model(unique_key="id", matched_delete_condition="DBT_INTERNAL_SOURCE.gone"),
    "replaced": _model(incremental_strategy="delete+insert", unique_key="day"),
    "overwritten": _model(incremental_strategy="insert_overwrite", partition_by="day"),
    "appended": _model(incremental_strategy="append", on_schema_change="append_new_columns"),
    "bounded": _model(
        incremental_strategy="replace_where", incremental_predicates=["day >= '2024-01-02'"]
    ),
}
BEFORE = """
      - input: this
        rows:
          - {id: 1, name: a, day: 2024-01-01, amount: 1}
          - {id: 2, name: "it's", day: 2024-01-02, amount: 2}
          - {id: 3, name: null, day: 2024-01-02, amount: 3}
"""
BATCH = """
      - input: ref('given')
        rows:
          - {id: 2, name: B, day: 2024-01-02, amount: 20, gone: true}
          - {id: 4, name: d, day: 2024-01-03, amount: 4, gone: false}
"""
A = "{id: 1, name: a, day: 2024-01-01, amount: 1.0}"
B = "{id: 2, name: B, day: 2024-01-02, amount: 20.0}"
OLD_B = '{id: 2, name: "it\'s", day: 2024-01-02, amount: 2.0}'
C = "{id: 3, name: null, day: 2024-01-02, amount: 3.0}"
D = "{id: 4, name: d, day: 2024-01-03, amount: 4.0}"
EXPECTED = {
    "merged": [A, "{id: 2, name: B, day: 2024-01-02, amount: 2.0}", C, D],
    "deleting": [A, C, D],
    "replaced": [A, B, D],
    "overwritten": [A, B, D],
    "appended": [A, OLD_B, C, B, D],
    "bounded": [A, B, D],
}
WIDENED = """
  - name: widened
    model: appended
    config: {meta: {expect_table: this}}
    given:
      - input: this
        format: sql
        rows: select 7 as id, 'old' as name
%s
    expect:
      rows:
        - {id: 7, name: old, day: null}
        - {id: 2, name: B, day: 2024-01-02}
        - {id: 4, name: d, day: 2024-01-03}
"""
HISTORY = """
  - name: history
    model: given_view
    config: {meta: {expect_table: histories}}
    given:
      - input: ref('histories')
        rows:
          - {id: 1, name: a, dbt_valid_from: 2024-01-01 00:00:00}
          - {id: 2, name: b, dbt_valid_from: 2024-01-01 00:00:00}
      - input: ref('given')
        rows:
          - {id: 2, name: B, day: 2024-01-02}
          - {id: 3, name: c, day: 2024-01-02}
    overrides:
      macros: {snapshot_get_time: "timestamp'2024-02-01'"}
    expect:
      rows:
        - {id: 1, name: a, dbt_valid_to: 2024-02-01 00:00:00}
        - {id: 2, name: b, dbt_valid_to: 2024-02-01 00:00:00}
        - {id: 2, name: B, dbt_valid_to: null}
        - {id: 3, name: c, dbt_valid_to: null}
"""


def _test(name: str, model: str, rows: list[str]) -> str:
    expected = "".join(f"        - {row}\n" for row in rows)
    return (
        f"  - name: {name}\n    model: {model}\n    config: {{meta: {{expect_table: this}}}}\n"
        f"    given:{BEFORE.rstrip()}{BATCH.rstrip()}\n    expect:\n      rows:\n{expected}"
    )


def test_the_table_after_a_run(project: Project) -> None:
    tests = [_test(f"{name}_rows", name, rows) for name, rows in EXPECTED.items()]
    tests.append(_test("wrong", "merged", [A, B, C, D]))
    tests.append(WIDENED % BATCH.rstrip())
    tests.append(HISTORY)
    project.write(
        {
            "models/given.sql": f"{{{{ config(materialized='table') }}}} {INPUT}",
            "models/given_view.sql": "select * from {{ ref('given') }}",
            **{f"models/{name}.sql": text for name, text in MODELS.items()},
            "snapshots/histories.yml": """
                snapshots:
                  - name: histories
                    relation: ref('given_view')
                    config:
                      strategy: check
                      unique_key: id
                      check_cols: [name]
                      hard_deletes: invalidate
                """,
        }
    )
    project.dbt("build")
    project.write({"models/unit.yml": "placeholder"})
    (project.path / "models/unit.yml").write_text("unit_tests:\n" + "".join(tests))
    tables = ["given", *MODELS, "histories"]
    before, all_names = versions(project, tables), sorted(names(project))
    ran = project.dbt("test", check=False)
    failed = {r.node.name: r.message for r in ran.results if r.status != "pass"}
    assert set(failed) == {"wrong"}, "\n".join(f"{k}: {v}" for k, v in failed.items())
    assert "actual differs from expected" in failed["wrong"]
    assert "→" in failed["wrong"] or "->" in failed["wrong"]
    assert versions(project, tables) == before
    assert sorted(names(project)) == all_names
    folders = {path.name for path in project.warehouse.iterdir() if path.is_dir()}
    assert not [name for name in folders if "__unit_" in name]
