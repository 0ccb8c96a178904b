"""What a snapshot refuses, what it promises of its table, and histories of other makers."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.relations.test_relations_promises import described, properties
from tests.functional.snapshots.test_snapshots_strategies import (
    CHECKED,
    SPAN,
    day,
    history,
    load,
    snapshot,
    take,
)

TIMED = "strategy='timestamp', unique_key='id', updated_at='at'"
FEED = "strategy='cdc', unique_key='id'"


def refused(project: Project) -> str:
    """The one line by which the run of s fails, leaving its table as it was."""
    before = project.version("s") if project.sql("show tables in {schema} like 's'") else None
    run = project.dbt("snapshot", check=False)
    assert run.result("s").status == "error", run.output
    if before is not None:
        assert project.version("s") == before
    assert not project.sql("show tables in {schema} like '*__dbt_*'")
    lines = [line.strip() for line in run.result("s").message.splitlines()]
    return lines[1]


@pytest.mark.parametrize("dear", [False, True])
@pytest.mark.parametrize("config", [TIMED, CHECKED])
def test_keys_that_come_twice(project: Project, config: str, dear: bool) -> None:
    """Also where one of the two rows is no change."""
    select = "select distinct * from {{ target.schema }}.source" if dear else None
    project.write(snapshot(config, *([select] if select else [])))
    rows = [f"1, 'a', {day(1)}", f"2, 'b', {day(1)}"]
    load(project, *rows, f"2, 'c', {day(2)}")
    assert refused(project) == (
        f"The source of snapshot `{project.schema}`.`s` has duplicate keys: 1, the first "
        '{"id":2}. Nothing was written. Make it give one row per key.'
    )
    take(project, *rows)
    load(project, *rows, f"2, 'c', {day(2)}")
    assert "duplicate keys: 1" in refused(project)


@pytest.mark.parametrize(
    ("config", "rows", "expected"),
    [
        (f"{TIMED}, null_keys='error'", [f"cast(null as int), 'a', {day(1)}"], "null keys: 1"),
        (TIMED, ["1, 'a', cast(null as timestamp)"], 'keys without at: 1, the first {"id":1}'),
        (f"{CHECKED[:-5]}['nam']", [f"1, 'a', {day(1)}"], "check_cols names 'nam', which"),
        (f"{TIMED}, scd2_late='later'", [f"1, 'a', {day(1)}"], "scd2_late is 'later'. It is one"),
        (f"{CHECKED}, scd2_late='insert'", [f"1, 'a', {day(1)}"], "needs strategy timestamp"),
        (f"{TIMED}, cdc_scd_type=1", [f"1, 'a', {day(1)}"], "cdc_scd_type is for strategy cdc"),
        (FEED, [f"1, 'a', {day(1)}"], "strategy cdc needs cdc_sequence_by"),
        (f"{FEED}, cdc_sequence_by='no'", [f"1, 'a', {day(1)}"], "cdc_sequence_by names 'no'"),
        (f"{FEED}, cdc_sequence_by='name'", [f"1, 'a', {day(1)}"], "name is of type string"),
        (
            f"{FEED}, cdc_sequence_by='at'",
            [f"1, 'a', {day(1)}", f"1, 'b', {day(1)}"],
            "different changes of one sequence: 1",
        ),
        (
            "strategy='timestamp', unique_key='id', updated_at='name', hard_deletes='invalidate'",
            [f"1, 'a', {day(1)}"],
            "name is of type string",
        ),
    ],
)
def test_bad_configuration_and_bad_rows(
    project: Project, config: str, rows: list[str], expected: str
) -> None:
    project.write(snapshot(config))
    load(project, *rows)
    assert expected in refused(project)


def test_what_stands_in_its_place(project: Project) -> None:
    project.write(snapshot(CHECKED))
    load(project, "1, 'a', 1")
    project.sql("create view {schema}.s as select 1 as id")
    run = project.dbt("snapshot", check=False)
    assert "is a view, not a Delta table" in run.output
    project.sql("drop view {schema}.s")
    project.sql("create table {schema}.s using delta as select 1 as id")
    assert "Snapshot target is missing configured columns" in refused(project)
    project.sql("drop table {schema}.s")
    take(project, "1, 'a', 1")
    load(project, "1, 2, 1")
    assert "Column name is int in the source and string in" in refused(project)
    load(project, "1, 'a', 1", columns="id, name, dbt_valid_to")
    assert "The source gives a column 'dbt_valid_to', which the snapshot adds itself" in refused(
        project
    )
    project.sql("insert into {schema}.s select * from {schema}.s")
    load(project, "1, 'b', 1")
    assert "has more than one open row of keys: 1" in refused(project)


def test_another_run_at_the_same_time(project: Project) -> None:
    """The other one comes after the source was judged, and before the MERGE."""
    between = """
        {% macro spark__snapshot_hash_arguments(args) %}
            {%- if execute and var('meanwhile', none) -%}
                {%- do run_query(var('meanwhile')) -%}
            {%- endif -%}
            {{ return(dbt.spark__snapshot_hash_arguments(args)) }}
        {% endmacro %}
    """
    project.write(snapshot(CHECKED) | {"macros/between.sql": between})
    take(project, "1, 'a', 1", "2, 'a', 1")
    table = f"{project.schema}.s"
    changed = ["1, 'b', 1", "2, 'a', 1"]
    added = ["1, 'a', 1", "2, 'a', 1", "3, 'a', 1"]
    for rows, meanwhile in (
        (changed, f"update {table} set dbt_valid_to = now() where id = 1"),
        (changed, f"update {table} set dbt_scd_id = 'x' where id = 1"),
        (added, f"insert into {table} select 3, 'z', 1, 'y', now(), now(), null"),
    ):
        load(project, *rows)
        before = project.version("s")
        run = project.dbt("snapshot", vars={"meanwhile": meanwhile}, check=False)
        assert "was changed by another run at the same time. Nothing was written" in run.output
        assert project.version("s") == before + 1
        project.sql(f"restore table {{schema}}.s to version as of {before}")


def test_promises(project: Project) -> None:
    yml = """
        snapshots:
          - name: s
            description: "{text}"
            config:
              contract: {{enforced: true}}
              persist_docs: {{relation: true, columns: true}}
              tblproperties: {{mine: "{text}"}}
              liquid_clustered_by: id
            columns:
              - {{name: id, data_type: int, constraints: [{{type: not_null}}]}}
              - {{name: name, data_type: string, description: "{text} name"}}
              - {{name: dbt_valid_to, data_type: timestamp, description: end}}
    """
    select = "select id, name from {{ target.schema }}.source"
    project.write(snapshot(CHECKED, select) | {"snapshots/s.yml": yml.format(text="first")})
    take(project, f"1, 'a', {day(1)}")
    assert project.version("s") == 0
    expected = {"": "first", "name": "first name", "dbt_valid_to": "end"}
    assert {k: v for k, v in described(project, "s").items() if v} == expected
    assert properties(project, "s")["mine"] == "first"
    assert project.sql("describe detail {schema}.s")[0].clusteringColumns == ["id"]
    project.write({"snapshots/s.yml": yml.format(text="second")})
    take(project, f"1, 'a', {day(1)}")
    assert described(project, "s")[""] == "second"
    load(project, f"cast(null as int), 'b', {day(1)}")
    assert "not_null_id" in project.dbt("snapshot", check=False).output
    project.write(snapshot(CHECKED, "select id, id as name from {{ target.schema }}.source"))
    load(project, f"1, 'a', {day(1)}")
    assert (
        "This model has an enforced contract that failed"
        in project.dbt("snapshot", check=False).output
    )


@pytest.fixture
def stock(new_project: Callable[..., Project]) -> Project:
    """A project without this package, whose snapshots are dbt-spark's own."""
    project = new_project("stock")
    project.configure(dispatch=[])
    project.write({"macros/materializations.sql": None})
    return project


def _ours(project: Project) -> None:
    from tests.functional import harness

    project.configure(
        dispatch=[{"macro_namespace": "dbt", "search_order": ["consumer", "dbt_delta", "dbt"]}]
    )
    project.write({"macros/materializations.sql": harness.materialization_wrappers()})


def test_a_history_of_dbt_spark_goes_on(stock: Project) -> None:
    """With two keys its second run fails, and leaves helper columns in the table."""
    keyed = "strategy='timestamp', unique_key=['id', 'name'], updated_at='at'"
    stock.write(snapshot(f"{keyed}, hard_deletes='invalidate'"))
    take(stock, f"1, 'a', {day(1)}", f"2, 'b', {day(1)}")
    assert "AMBIGUOUS_REFERENCE" in stock.dbt("snapshot", check=False).output
    assert "dbt_unique_key_2" in stock.rows("s")[0]
    _ours(stock)
    take(stock, f"1, 'a', {day(4)}")
    assert history(stock, SPAN) == [(1, "a", 1, 4), (1, "a", 4, None), (2, "b", 1, "run")]
    stock.dbt("run-operation", "repair_snapshot", "--args", "{snapshot: s, dry_run: false}")
    assert "dbt_unique_key_2" not in stock.rows("s")[0]
    assert len(stock.rows("s")) == 3


def test_repairs_what_dbt_spark_left(stock: Project) -> None:
    keyed = f"{CHECKED}, hard_deletes='new_record'"
    stock.write(
        snapshot(keyed)
        | snapshot(f"{keyed}, tblproperties={{'delta.columnMapping.mode': 'name'}}", name="m")
    )
    take(stock, f"1, 'a', {day(1)}", f"2, 'b', {day(1)}")
    take(stock, f"1, 'a', {day(1)}")
    assert [r.id for r in stock.sql("select id from {schema}.s where dbt_is_deleted = 'True'")] == [
        None
    ]
    for name in "sm":
        stock.sql(f"alter table {{schema}}.{name} add columns (dbt_unique_key_1 int)")
    stock.sql("comment on table {schema}.s is 'mine'")
    stock.sql("alter table {schema}.s alter column name comment 'a name'")
    stock.sql("alter table {schema}.s set tblproperties ('own' = 'x')")
    stock.sql("alter table {schema}.s add constraint positive check (id > 0 or id is null)")
    _ours(stock)
    version = stock.version("s")
    arguments = "{snapshot: s}"
    told = stock.dbt("run-operation", "repair_snapshot", "--args", arguments)
    assert "1 deletion rows of" in told.output
    assert "loses the helper columns dbt_unique_key_1." in told.output
    assert stock.version("s") == version
    rows = stock.rows("s")
    stock.dbt("run-operation", "repair_snapshot", "--args", "{snapshot: s, dry_run: false}")
    assert stock.version("s") == version + 2
    kept = [{k: v for k, v in row.items() if "unique_key" not in k} for row in rows]
    kept = [
        row | {"id": 2, "name": "b", "at": kept[-1]["at"]} if row["id"] is None else row
        for row in kept
    ]
    assert sorted(map(str, stock.rows("s"))) == sorted(map(str, kept))
    assert described(stock, "s")[""] == "mine"
    assert described(stock, "s")["name"] == "a name"
    assert {"own": "x", "delta.constraints.positive": "id > 0 or id is null"}.items() <= properties(
        stock, "s"
    ).items()
    stock.dbt("run-operation", "repair_snapshot", "--args", "{snapshot: m, dry_run: false}")
    assert [h["operation"] for h in stock.history("m")[:2]] == ["DROP COLUMNS", "MERGE"]
    assert len([row for row in stock.rows("m") if row["id"] == 2]) == 2
    again = stock.dbt("run-operation", "repair_snapshot", "--args", arguments)
    assert "needs no repair" in again.output
    missing = stock.dbt("run-operation", "repair_snapshot", "--args", "{snapshot: x}", check=False)
    assert "there is no snapshot 'x' in the project. Its snapshots are m, s." in missing.output


def test_a_history_of_dbt_databricks_goes_on(project: Project) -> None:
    """Its dbt_is_deleted is a boolean."""
    project.write(snapshot(f"{TIMED}, hard_deletes='new_record'"))
    take(project, f"1, 'a', {day(1)}")
    project.sql(
        "create or replace table {schema}.s using delta as select * except (dbt_is_deleted), "
        "false as dbt_is_deleted from {schema}.s"
    )
    take(project, f"2, 'b', {day(1)}")
    take(project, f"1, 'a', {day(1)}")
    rows: list[tuple[Any, ...]] = history(project, "id, dbt_valid_to, dbt_is_deleted")
    assert rows == [
        (1, "run", False), (1, "run", True), (1, None, False), (2, "run", False), (2, None, True),
    ]  # fmt: skip


def test_scd2_valid_names_what_is_broken(project: Project) -> None:
    rows = {
        "fine": [("1", 1, 3, "a"), ("1", 3, 5, "b"), ("1", 7, None, "c"), ("2", 1, None, "d")],
        "overlaps": [("1", 1, 4, "a"), ("1", 3, None, "b")],
        "backwards": [("1", 4, 1, "a")],
        "twice_open": [("1", 1, None, "a"), ("1", 3, None, "b")],
        "timeless": [("1", None, 3, "a")],
        "unidentified": [("1", 1, 3, "a"), ("2", 1, 3, "a")],
        "gap": [("1", 1, 3, "a"), ("1", 4, None, "b")],
    }
    problems = {
        "overlaps": "overlaps the next row",
        "backwards": "ends before it begins",
        "twice_open": "is one of several open rows",
        "timeless": "valid_from is null",
        "unidentified": "scd_id is null or not unique",
        "gap": "ends, and no row follows",
    }
    models, tests = {}, []
    for name, values in rows.items():
        texts = [f"('{k}', {_int(f)}, {_int(t)}, '{i}')" for k, f, t, i in values]
        models[f"models/{name}.sql"] = (
            "select * from values " + ", ".join(texts)
            + " as t(id, dbt_valid_from, dbt_valid_to, dbt_scd_id)"
        )  # fmt: skip
        gaps = ", allow_gaps: false" if name == "gap" else ""
        tests.append(
            f"  - {{name: {name}, data_tests: [{{dbt_delta.scd2_valid: "
            f"{{arguments: {{unique_key: id{gaps}}}, config: {{store_failures: true}}}}}}]}}\n"
        )
    project.write(models | {"models/s.yml": "models:\n" + "".join(tests)})
    project.dbt("run")
    run = project.dbt("test", check=False)
    status = {r.node.attached_node.split(".")[-1]: r for r in run.results}
    assert status.pop("fine").status == "pass"
    assert {r.status for r in status.values()} == {"fail"}
    for name, result in status.items():
        found = project.sql(f"select problem from {result.node.relation_name}")
        assert problems[name] in {row.problem for row in found}, name


def _int(value: int | None) -> str:
    return "cast(null as int)" if value is None else str(value)
