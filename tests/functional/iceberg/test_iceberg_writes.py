"""What dbt leaves on Iceberg: rows, snapshots, properties; and what is refused before it writes.

Run it with --target iceberg; what is marked core runs with all other tests, too
(setup/test_setup_iceberg.py). One project for all: a case is a model.
"""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.functional.harness import Invocation, Project

FIRST = """
    {{ config(materialized='incremental', %s) }}
    {%% if var('step') == 0 -%%}
    select * from values %s as t(id, p, v)
    {%%- else -%%}
    select * from values %s as t(id, p, v)
    {%%- endif %%}
"""
# name: (configuration, first rows, second rows, rows after it)
STRATEGIES = {
    "appended": ("incremental_strategy='append'", "(1, 'a', 1)", "(1, 'a', 1)", {(1, "a", 1)}),
    "merged": (
        "unique_key=['id', 'p']",
        "(1, 'a', 1), (2, null, 2)",
        "(2, null, 3), (3, 'c', 3)",
        {(1, "a", 1), (2, None, 3), (3, "c", 3)},
    ),
    "copied": (
        "unique_key='id', write_mode='copy_on_write', merge_skip_unchanged=true",
        "(1, 'a', 1), (2, 'b', 2)",
        "(1, 'a', 1), (2, 'b', 3)",
        {(1, "a", 1), (2, "b", 3)},
    ),
    "replaced_keys": (
        "incremental_strategy='delete+insert', unique_key='p'",
        "(1, 'a', 1), (2, 'a', 2), (3, null, 3), (4, 'b', 4)",
        "(5, 'a', 5), (6, null, 6)",
        {(5, "a", 5), (6, None, 6), (4, "b", 4)},
    ),
    "overwritten": (
        "incremental_strategy='insert_overwrite', partition_by='p'",
        "(1, 'a', 1), (2, 'b', 2), (3, null, 3)",
        "(4, 'a', 4), (5, null, 5)",
        {(4, "a", 4), (2, "b", 2), (5, None, 5)},
    ),
    "by_bucket": (
        "incremental_strategy='insert_overwrite', partition_by='truncate(1, p)'",
        "(1, 'ax', 1), (2, 'bx', 2), (3, 'ay', 3)",
        "(4, 'az', 4)",
        {(4, "az", 4), (2, "bx", 2)},
    ),
    "whole": (
        "incremental_strategy='insert_overwrite'",
        "(1, 'a', 1), (2, 'b', 2)",
        "(3, 'c', 3)",
        {(3, "c", 3)},
    ),
    "by_predicate": (
        "incremental_strategy='replace_where', incremental_predicates=\"v % 2 = 1\"",
        "(1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', null)",
        "(5, 'e', 5)",
        {(5, "e", 5), (2, "b", 2), (4, "d", None)},
    ),
    "by_subquery": (
        "incremental_strategy='replace_where', "
        "incremental_predicates=\"p in (select 'a' as p)\", partition_by='p'",
        "(1, 'a', 1), (2, 'b', 2), (3, null, 3)",
        "(4, 'a', 4)",
        {(4, "a", 4), (2, "b", 2), (3, None, 3)},
    ),
    "ends_in_a_`backtick": (
        "unique_key='id'", "(1, 'a', 1)", "(1, 'b', 2)", {(1, "b", 2)},
    ),
}  # fmt: skip
OTHERS = {
    "models/table_of_rows.sql": """
        {{ config(materialized='table', alias='Tëble with `url`',
                  persist_docs={'relation': true, 'columns': true}) }}
        select cast(1 as smallint) as id, cast(null as void) as nothing, 'x' as `a b`
        {% if var('step', 0) >= 2 %} , 5 as more {% endif %}
    """,
    # dbt-spark does not quote what ref() gives.
    "models/view_of_it.sql": """
        -- depends_on: {{ ref('table_of_rows') }}
        select `a b` as v from {{ this.schema }}.`Tëble with ``url```
    """,
    "seeds/named.csv": "id,name\n1,one\n2,\n",
    "seeds/named.yml": "seeds: [{name: named, config: {column_types: {id: smallint}}}]",
    "models/checked.sql": """
        {{ config(materialized='incremental', unique_key='id', contract={'enforced': true},
                  on_schema_change='fail',
                  tblproperties={'delta.constraints.small': 'v < 100'}) }}
        select 1 as id, {{ var('v', 1) }} as v
    """,
    "models/checked_append.sql": """
        {{ config(materialized='incremental', incremental_strategy='append', stage='table',
                  tblproperties={'delta.constraints.small': 'v < 100'}) }}
        select 1 as id, {{ var('v', 1) }} as v
    """,
    "models/checked_window.sql": """
        {{ config(materialized='incremental', incremental_strategy='replace_where',
                  incremental_predicates='id = 1',
                  tblproperties={'delta.constraints.small': 'v < 100'}) }}
        select 1 as id, {{ var('v', 1) }} as v
    """,
    "models/schema.yml": """
        models:
          - name: table_of_rows
            description: What `url` it is.
            columns: [{name: a b, description: "A 'blank'."}]
          - name: checked
            columns:
              - {name: id, data_type: int, constraints: [{type: not_null}]}
              - {name: v, data_type: int}
    """,
    "models/of_delta.sql": "{{ config(materialized='table', file_format='delta') }} select 1 as id",
    "models/clusters.sql": """
        {{ config(materialized='table', liquid_clustered_by='id') }} select 1 as id
    """,
    "models/names_a_file.sql": "{{ config(materialized='table') }} select 1 as id, 'x' as _File",
    "models/duplicates.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select * from values (1, 1), (1, 2) as t(id, v)
    """,
    "snapshots/kept.yml": """
        snapshots:
          - name: kept
            relation: ref('source_of_it')
            config: {unique_key: id, strategy: check, check_cols: all, hard_deletes: invalidate}
    """,
    "models/source_of_it.sql": """
        {{ config(materialized='view') }}
        {% if var('step') == 0 -%}
        select * from values (1, 'a'), (cast(null as int), 'n'), (3, 'c') as t(id, v)
        {%- else -%}
        select * from values (1, 'b'), (cast(null as int), 'n') as t(id, v)
        {%- endif %}
    """,
}
REFUSED = ["of_delta", "clusters", "names_a_file"]


def _as_name(name: str) -> str:
    return name.replace(" ", "_").replace("`", "")


@pytest.fixture(scope="module")
def ran(new_shared_project: Callable[[str], Project]) -> Any:
    """The runs 0, 1 (other rows), 2 (a new column) and 3 (as 2) of all models."""
    project = new_shared_project("iceberg")
    models = {
        f"models/{_as_name(name)}.sql": FIRST % (f"alias='{name}', {config}", first, second)
        for name, (config, first, second, _) in STRATEGIES.items()
    }
    project.write({**models, **OTHERS})
    found = SimpleNamespace(project=project, runs=[], versions=[])
    for step in range(4):
        run = project.dbt("build", vars={"step": step}, check=False)
        assert run.results, run.exception
        found.runs.append(run)
        found.versions.append(
            {name: len(_snapshots(project, name)) for name in [*STRATEGIES, "checked", "kept"]}
        )
    return found


def _snapshots(project: Project, name: str) -> list[dict[str, Any]]:
    return project.snapshots(name.replace("`", "``"))


def _error(run: Invocation, name: str) -> str:
    return str(run.result(name).message)


@pytest.mark.core
def test_only_what_is_refused_fails(ran) -> None:
    for run in ran.runs:
        expected = sorted(REFUSED if run is ran.runs[0] else [*REFUSED, "duplicates"])
        failed = sorted(r.node.name for r in run.results if r.status in ("error", "fail"))
        assert failed == expected, run.output


@pytest.mark.core
def test_what_is_refused_says_why_and_is_not_there(ran) -> None:
    said = {
        "of_delta": "file_format of of_delta is delta, but target iceberg builds Iceberg tables",
        "clusters": "liquid_clustered_by of clusters has no counterpart on Iceberg",
        "names_a_file": "has the name of a column that each Iceberg table has",
    }
    tables = {row.tableName for row in ran.project.sql("show tables in {schema}")}
    for name, text in said.items():
        assert text in _error(ran.runs[0], name)
        assert name not in tables
    assert not [name for name in tables if "__dbt_" in name]


@pytest.mark.core
@pytest.mark.parametrize("name", STRATEGIES)
def test_rows_of_a_strategy(ran, name: str) -> None:
    rows = [tuple(row.values()) for row in ran.project.rows(name.replace("`", "``"))]
    times = 4 if name == "appended" else 1
    assert sorted(rows, key=str) == sorted(list(STRATEGIES[name][3]) * times, key=str)


@pytest.mark.core
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_run_is_one_commit(ran, name: str) -> None:
    counts = [versions[name] for versions in ran.versions]
    assert counts[:2] == [1, 2]
    if name == "copied":  # which looks whether rows are unchanged
        assert counts == [1, 2, 2, 2]


@pytest.mark.core
def test_commits_say_run_and_node(ran) -> None:
    newest = ran.project.snapshots("merged")[0]
    tag = json.loads(newest["userMetadata"])
    assert tag["dbt_node_id"] == "model.consumer.merged"
    assert tag["dbt_invocation_id"]
    assert tag["dbt_project"] == "consumer"


@pytest.mark.core
def test_keyed_tables_mark_rows_in_version_3(ran) -> None:
    found = {
        name: dict(ran.project.sql(f"show tblproperties {{schema}}.{name}"))
        for name in ("merged", "copied", "appended")
    }
    assert found["merged"]["format-version"] == "3"
    assert found["merged"]["write.merge.mode"] == "merge-on-read"
    assert found["copied"]["write.merge.mode"] == "copy-on-write"
    assert found["appended"]["format-version"] == "2"
    summary = ran.project.snapshots("merged")[1]["operationMetrics"]
    assert summary["added-dvs"] == "1", summary


@pytest.mark.core
def test_a_table_keeps_its_history_unless_its_columns_change(ran) -> None:
    name = ran.project.relation("Tëble with ``url``".replace("``", "``"))
    parents = ran.project.sql(f"select parent_id from {name}.snapshots order by committed_at")
    # The third run brings a column: the table is replaced, and begins anew.
    assert [row.parent_id is None for row in parents] == [True, False, True, False]
    (row,) = ran.project.sql(f"select * from {name}")
    assert row.asDict() == {"id": 1, "nothing": None, "a b": "x", "more": 5}
    assert ran.project.rows("view_of_it") == [{"v": "x"}]
    assert {"id": 2, "name": None} in ran.project.rows("named")
    assert len(ran.project.snapshots("named")) == 1
    described = {row.col_name: row.comment for row in ran.project.sql(f"describe {name}")}
    assert described["a b"] == "A 'blank'."


@pytest.mark.parametrize("name", ["checked", "checked_append", "checked_window"])
def test_a_row_that_breaks_a_constraint_fails_its_write(ran, home: Path, name: str) -> None:
    before, rows = len(ran.project.snapshots(name)), ran.project.rows(name)
    failed = ran.project.dbt("run", "-s", name, vars={"step": 3, "v": 100}, check=False)
    assert "violates small: v < 100" in _error(failed, name)
    assert len(ran.project.snapshots(name)) == before
    assert ran.project.rows(name) == rows
    tables = home / "iceberg/warehouse" / ran.project.schema
    assert list(tables.glob(f"{name}/data/*.parquet"))
    # The rows of the failed run are in no file.
    assert not list(tables.glob("*__dbt_tmp_*/data/*.parquet"))
    ran.project.dbt("run", "-s", name, vars={"step": 3, "v": 99})
    assert {"id": 1, "v": 99} in ran.project.rows(name)


@pytest.mark.core
def test_duplicate_keys_are_named(ran) -> None:
    assert 'duplicate keys of unique_key id: 1, the first {"id":1} (2 rows)' in _error(
        ran.runs[1], "duplicates"
    )


@pytest.mark.core
def test_snapshots_are_null_safe(ran) -> None:
    assert [versions["kept"] for versions in ran.versions] == [1, 2, 2, 2]
    rows = ran.project.rows("kept")
    found = sorted(((r["id"], r["v"], r["dbt_valid_to"] is None) for r in rows), key=str)
    assert found == [(1, "a", False), (1, "b", True), (3, "c", False), (None, "n", True)]


@pytest.mark.core
def test_another_writer_is_not_overwritten(ran, monkeypatch) -> None:
    """It commits after the run has looked at the table, and before the run writes."""
    from dbt.adapters.spark.connections import SparkConnectionManager

    stock = SparkConnectionManager.execute

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if "replace where true" in sql:
            ran.project.sql("insert into {schema}.whole values (7, 'theirs', 7)")
        return stock(self, sql, *arguments, **named)

    monkeypatch.setattr(SparkConnectionManager, "execute", execute)
    failed = ran.project.dbt("run", "-s", "whole", vars={"step": 1}, check=False)
    assert not failed.success
    assert {"id": 7, "p": "theirs", "v": 7} in ran.project.rows("whole")


def test_versions_are_found_by_the_ids_of_snapshots(ran) -> None:
    ids = [str(one["snapshot"]) for one in ran.project.snapshots("merged")]
    arguments = "{model: merged}"
    shown = ran.project.dbt("--quiet", "run-operation", "history", "--args", arguments).printed
    assert all(one in shown for one in ids)
    old = ran.project.sql(f"select id from {{schema}}.merged version as of {ids[-1]} order by id")
    assert [row.id for row in old] == [1, 2]
    arguments = f"{{model: merged, from: {ids[-1]}, to: {ids[-2]}, unique_key: [id, p]}}"
    said = ran.project.dbt("--quiet", "run-operation", "diff", "--args", arguments).printed
    assert "added" in said
    assert "changed" in said


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merged", [(2, None, None), (1, 1, 0)]),
        # Its files are written anew, with rows that did not change.
        ("copied", [(2, None, None), (0, 1, 0)]),
        ("overwritten", [(3, None, None), (2, None, 2)]),
        ("whole", [(2, None, None), (1, None, 2)]),
        ("by_subquery", [(3, None, None), (None, None, None)]),
    ],
)
def test_history_counts_rows_that_changed(ran, name: str, expected: list[tuple[Any, ...]]) -> None:
    arguments = f"{{model: {name}, output: json}}"
    shown = ran.project.dbt("--quiet", "run-operation", "history", "--args", arguments).printed
    lines = json.loads(shown)[::-1][:2]
    assert [(one["inserted"], one["updated"], one["deleted"]) for one in lines] == expected


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [("restore", "{model: merged}"), ("maintain", "{}"), ("undo_run", "{run: last}")],
)
def test_what_is_not_there_yet_is_refused_by_name(ran, operation: str, arguments: str) -> None:
    failed = ran.project.dbt("run-operation", operation, "--args", arguments, check=False)
    assert not failed.success
    assert f"{operation} is not there yet on Iceberg" in failed.log


def test_a_table_of_delta_is_read_as_a_source(ran) -> None:
    schema = f"{ran.project.schema}_delta"
    rows = "using delta as select 1 as id, 'd' as v"
    ran.project.sql(f"create schema spark_catalog.{schema}")
    ran.project.sql(f"create table spark_catalog.{schema}.t {rows}")
    ran.project.write(
        {
            "models/sources.yml": f"""
                sources:
                  - name: delta
                    schema: spark_catalog.{schema}
                    tables: [{{name: t}}]
            """,
            "models/from_delta.sql": """
                {{ config(materialized='incremental', unique_key='id') }}
                select * from {{ source('delta', 't') }}
            """,
        }
    )
    for _ in range(2):
        ran.project.dbt("build", "-s", "from_delta", vars={"step": 3})
    assert ran.project.rows("from_delta") == [{"id": 1, "v": "d"}]


def test_quarantines_follow_partitions_and_views(new_project) -> None:
    """Each run has other bad rows; the second one replaces those of its day."""
    project = new_project()
    good = "{'name': 'good', 'expression': 'id > ' ~ var('least'), 'action': 'quarantine'}"
    config = f"expectations=[{good}]"
    rows = "select * from values %s as t(id, ts)"
    both = (
        "(1, timestamp'2024-01-01 10:00'), (2, timestamp'2024-01-02 10:00'), "
        "(9, timestamp'2024-01-02 11:00')"
    )
    project.write(
        {
            "models/daily.sql": f"""
                {{{{ config(materialized='incremental', incremental_strategy='insert_overwrite',
                          partition_by='days(ts)', {config}) }}}}
                {{% if is_incremental() -%}} {rows % "(3, timestamp'2024-01-02 12:00')"}
                {{%- else -%}} {rows % both} {{%- endif %}}
            """,
            "models/shown.sql": f"""
                {{{{ config(materialized='view', {config}) }}}}
                {rows % both}
            """,
        }
    )
    found = []
    for least in (2, 3, 3):
        project.dbt("run", vars={"least": least})
        found.append(
            [
                sorted(row["id"] for row in project.rows(name))
                for name in ("daily", "daily__quarantine", "shown", "shown__quarantine")
            ]
        )
    assert found[0] == [[9], [1, 2], [9], [1, 2]]
    # An overwrite by no rows replaces no partition, and the rows that were bad then are those.
    assert found[1] == found[2] == [[9], [1, 3], [9], [1, 2]]


def test_constraints_on_columns_that_a_model_lost_are_refused(new_project) -> None:
    project = new_project()
    project.write(
        {
            "models/m.sql": """
                {{ config(materialized='incremental', unique_key='id',
                          tblproperties={'delta.constraints.ordered': 'hi is null or lo <= hi'}) }}
                select 1 as id, {% if is_incremental() %} 9 as lo {% else %} 1 as lo, 5 as hi
                {% endif %}
            """
        }
    )
    project.dbt("run")
    failed = project.dbt("run", check=False)
    assert not failed.success, project.rows("m")
    assert "Constraint ordered of" in _error(failed, "m")
    assert project.rows("m") == [{"id": 1, "lo": 1, "hi": 5}]


def test_days_of_utc_are_not_overwritten_by_days_of_another_zone(new_project) -> None:
    """The batch of the 2nd of January in Berlin begins in the last hour of the 1st in UTC."""
    project = new_project()
    project.set_spark({"spark.sql.session.timeZone": "Europe/Berlin"})
    project.write(
        {
            "models/daily.sql": """
                {{ config(materialized='incremental', incremental_strategy=var('how'),
                          incremental_predicates=var('where', []), partition_by='days(ts)') }}
                select *
                from values
                    (1, timestamp'2024-01-01 10:00'), (2, timestamp'2024-01-02 00:30') as t(id, ts)
                {% if is_incremental() %} where to_date(ts) = date'2024-01-02' {% endif %}
            """
        }
    )
    project.dbt("run", vars={"how": "insert_overwrite"})
    failed = project.dbt("run", vars={"how": "insert_overwrite"}, check=False)
    assert not failed.success, project.rows("daily")
    assert "the time zone of this session is Europe/Berlin" in _error(failed, "daily")
    project.dbt("run", vars={"how": "replace_where", "where": "to_date(ts) = date'2024-01-02'"})
    assert [row["id"] for row in project.rows("daily")] == [1, 2]


@pytest.mark.parametrize(
    "config",
    [
        "incremental_strategy='insert_overwrite'",
        "incremental_strategy='replace_where', incremental_predicates='id in (select 1 as id)'",
    ],
)
def test_columns_go_and_come_in_a_table_that_is_written_anew(new_project, config: str) -> None:
    """Iceberg takes these columns by position, and one goes only after the rows are there."""
    project = new_project()
    model = """
        {{ config(materialized='incremental', on_schema_change='sync_all_columns', %s) }}
        {%% if is_incremental() -%%} select 4 as new, 'c' as c, 1 as id
        {%%- else -%%} select 1 as id, 'b' as b, 'c0' as c union all select 2, 'b', 'c'
        {%%- endif %%}
    """
    project.write({"models/m.sql": model % config})
    for _ in range(2):
        project.dbt("run")
    kept = [] if "overwrite" in config else [{"id": 2, "c": "c", "new": None}]
    assert project.rows("m") == [{"id": 1, "c": "c", "new": 4}, *kept]
