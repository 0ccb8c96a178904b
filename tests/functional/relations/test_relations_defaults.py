"""The DEFAULTs of a table's columns stay there: what is built from the table does not get them."""

import json

import pytest

from tests.functional import tables
from tests.functional.harness import Project, is_session

FEATURE = {"delta.feature.allowColumnDefaults": "supported"}
SOURCE = "{{ source('s', 'given') }}"
ALL = f"select * from {SOURCE}"
EXPECTED = [{"name": "positive", "expression": "a > 0", "action": "quarantine"}]


def model(kind: str, select: str = ALL, **config: object) -> str:
    options = "".join(f", {key}={value!r}" for key, value in config.items())
    return f"{{{{ config(materialized='{kind}'{options}) }}}} {select}"


MODELS = {
    "a_view": model("view"),
    "plain": model("table"),
    "promised": model("table", tblproperties=FEATURE),
    "through": model("table", "select b, a from {{ ref('a_view') }} group by b, a"),
    "parted": model("table", partition_by=["b"]),
    "unchanged": model("table", ALL + " group by all", skip_unchanged=True),
    "as_parquet": model("table", file_format="parquet"),
    "judged": model("table", expectations=EXPECTED),
    "merged": model("incremental", unique_key="b"),
    "checked": model("incremental", unique_key="b", duplicate_keys="error"),
    "staged": model("incremental", unique_key="b", stage="table"),
    "fed": model("incremental", incremental_strategy="insert_overwrite", partition_by="b"),
    # The first batch has no a; the MERGE brings it.
    "evolved": model(
        "incremental",
        f"select b {{{{ ', a' if is_incremental() }}}} from {SOURCE}",
        unique_key="b",
        merge_with_schema_evolution=True,
    ),
}
SNAPSHOT = "{% snapshot h %}{{ config(unique_key='b', strategy='check', check_cols='all') }}"
PYTHON = """
    def model(dbt, session):
        dbt.config(materialized="table")
        return dbt.source("s", "given")
"""
SCHEMA = """
    sources:
      - {name: s, schema: "{{ target.schema }}", tables: [{name: given}]}
    models:
      - name: plain
        columns:
          - name: a
            data_tests: [{not_null: {config: {store_failures: true, severity: warn}}}]
    unit_tests:
      - name: after
        model: merged
        config: {meta: {expect_table: this}}
        given:
          - {input: "source('s', 'given')", rows: [{a: 2, b: x}]}
        expect: {rows: [{a: 2, b: x}]}
"""


def defaults(project: Project, name: str) -> list[str]:
    """The columns that have a DEFAULT, in Delta's log."""
    fields = json.loads(tables.metadata(project, name)["schemaString"])["fields"]
    return [one["name"] for one in fields if "CURRENT_DEFAULT" in one["metadata"]]


@pytest.mark.long
def test_a_default_stays_with_its_table(project: Project) -> None:
    project.sql("create schema {schema}")
    project.sql(
        "create table {schema}.given (a int default 7, b string default 'x') using delta"
        " tblproperties ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    project.sql("insert into {schema}.given values (1, 'p'), (null, 'q')")
    project.write(
        {f"models/{name}.sql": text for name, text in MODELS.items()}
        | {"snapshots/h.sql": SNAPSHOT + ALL + "{% endsnapshot %}", "models/schema.yml": SCHEMA}
    )
    built = [name for name in MODELS if name not in ("a_view", "as_parquet")]
    if is_session():
        project.write({"models/coded.py": PYTHON})
        built.append("coded")
    for value in ("(1, 'p'), (null, 'q')", "(2, 'p'), (null, 'q'), (3, 'r')"):
        project.sql(f"insert overwrite {{schema}}.given values {value}")
        project.dbt("build")
        given = tables.json_rows(project, ["given"])["given"]
        good = [row for row in given if "null" not in row]
        rows = tables.json_rows(project, [name for name in built if name != "evolved"])
        for name, found in rows.items():
            expected = good if name == "judged" else given
            assert {tuple(sorted(json.loads(row).items())) for row in found} == {
                tuple(sorted(json.loads(row).items())) for row in expected
            }, name
    assert project.rows("evolved") == [
        {"b": "p", "a": 2}, {"b": "q", "a": None}, {"b": "r", "a": 3}
    ]  # fmt: skip
    stored = f"{project.schema}_dbt_test__audit.not_null_plain_a"
    assert project.rows(stored) == [{"a": None, "b": "q"}]
    assert project.rows("judged__quarantine", "b")[0]["b"] == "q"
    history = [(row["b"], row["a"], row["dbt_valid_to"] is None) for row in project.rows("h")]
    assert sorted(history, key=str) == [
        ("p", 1, False), ("p", 2, True), ("q", None, True), ("r", 3, True)
    ]  # fmt: skip
    for name in (*built, "h", "judged__quarantine"):
        assert not defaults(project, name), name
    (parquet,) = project.sql("show create table {schema}.as_parquet")
    assert "DEFAULT" not in parquet[0]
    # A column that another writer leaves out is NULL.
    project.sql("insert into {schema}.promised (b) values ('z')")
    project.sql("insert into {schema}.evolved (b) values ('z')")
    for name in ("promised", "evolved"):
        assert {"b": "z", "a": None} in project.rows(name)
