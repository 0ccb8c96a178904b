"""What each strategy does, told as stories; random ones are in test_snapshots_oracle.py."""

from typing import Any

from tests.functional.harness import Invocation, Project

SOURCE = "select * from {{ target.schema }}.source"


def snapshot(config: str, select: str = SOURCE, name: str = "s") -> dict[str, str]:
    return {
        f"snapshots/{name}.sql": f"{{% snapshot {name} %}}\n{{{{ config({config}) }}}}\n{select}\n"
        "{% endsnapshot %}\n"
    }


def load(project: Project, *rows: str, columns: str = "id, name, at") -> None:
    """Makes the source of these rows, each the text of a VALUES tuple."""
    project.sql("create schema if not exists {schema}")
    values = ", ".join(f"({row})" for row in rows)
    project.sql(
        f"create or replace table {{schema}}.source using delta as "
        f"select * from values {values} as t({columns})"
    )


def take(project: Project, *rows: str, columns: str = "id, name, at", **vars: Any) -> Invocation:
    """Loads the source and runs the snapshots."""
    load(project, *rows, columns=columns)
    return project.dbt("snapshot", vars=vars or None)


def history(project: Project, columns: str, name: str = "s") -> list[tuple[Any, ...]]:
    """Rows in order of key and time; days instead of timestamps of 2024, 'run' for run times."""
    rows = project.sql(
        f"select {columns} from {{schema}}.{name} order by id, dbt_valid_from, dbt_valid_to"
    )
    return [tuple(_told(value) for value in row) for row in rows]


def _told(value: Any) -> Any:
    if not hasattr(value, "year"):
        return value
    return value.day if value.year == 2024 else "run"


def day(number: int) -> str:
    return f"timestamp'2024-01-{number:02d}'"


CHECKED = "strategy='check', unique_key='id', check_cols='all'"
SPAN = "id, name, dbt_valid_from, dbt_valid_to"


def test_deleted_returned_and_deleted_again(project: Project) -> None:
    project.write(
        snapshot(
            "strategy='timestamp', unique_key='id', updated_at='at', hard_deletes='new_record'"
        )
    )
    one = f"1, 'a', {day(1)}"
    take(project, one, f"2, 'b', {day(1)}")
    take(project, one)
    take(project, one)
    assert project.version("s") == 1
    take(project, one, f"2, 'b', {day(1)}")
    take(project, one)
    told = history(project, f"{SPAN}, dbt_is_deleted")
    assert told == [
        (1, "a", 1, None, "False"),
        (2, "b", 1, "run", "False"),
        (2, "b", "run", "run", "True"),
        # It did not change while it was away: it is here again since the run that saw it.
        (2, "b", "run", "run", "False"),
        (2, "b", "run", None, "True"),
    ]
    assert [h["operation"] for h in project.history("s")[:-1]] == ["MERGE"] * 3
    spans = project.sql(
        "select dbt_valid_from, dbt_valid_to from {schema}.s where id = 2 order by 1"
    )
    assert [r.dbt_valid_to for r in spans[:-1]] == [r.dbt_valid_from for r in spans[1:]]


def test_times_that_stand_still_or_go_back(project: Project) -> None:
    """With check the columns say that a row changed; its time then counts from the run."""
    project.write(
        snapshot("strategy='check', unique_key='id', check_cols=['name'], updated_at='at'")
    )
    take(project, f"1, 'a', {day(5)}", f"2, 'a', {day(5)}", f"3, 'a', {day(5)}")
    take(project, f"1, 'b', {day(5)}", f"2, 'b', {day(3)}", f"3, 'a', {day(9)}")
    assert history(project, f"{SPAN}, dbt_updated_at") == [
        (1, "a", 5, "run", 5),
        (1, "b", "run", None, 5),
        (2, "a", 5, "run", 5),
        (2, "b", "run", None, 3),
        (3, "a", 5, None, 5),
    ]


def test_late_changes_take_their_place(project: Project) -> None:
    settings = "strategy='timestamp', unique_key='id', updated_at='at'"
    project.write(snapshot(f"{settings}, scd2_late='insert'") | snapshot(settings, name="stock"))
    take(project, f"1, 'a', {day(1)}")
    take(project, f"1, 'd', {day(9)}")
    take(project, f"1, 'b', {day(3)}")
    run = take(project, f"1, 'b', {day(3)}")
    assert run.result("s").message == "nothing new"
    take(project, f"1, 'c', {day(5)}")
    assert history(project, SPAN) == [
        (1, "a", 1, 3), (1, "b", 3, 5), (1, "c", 5, 9), (1, "d", 9, None),
    ]  # fmt: skip
    assert [h["operation"] for h in project.history("s")[:-1]] == ["MERGE"] * 3
    assert history(project, SPAN, "stock") == [(1, "a", 1, 9), (1, "d", 9, None)]


def test_a_key_that_went_away_as_it_changed_stays_away(project: Project) -> None:
    project.write(
        snapshot(
            "strategy='cdc', unique_key='id', cdc_sequence_by='seq', cdc_valid_from='at', "
            "cdc_delete_when=\"op = 'D'\""
        )
    )
    columns = "id, name, seq, at, op"
    changed = f"1, 'c', 6, {day(4)}, 'U'"
    take(
        project,
        *(f"1, 'a', 1, {day(1)}, 'I'", changed, f"1, null, 7, {day(4)}, 'D'"),
        columns=columns,
    )
    assert history(project, SPAN) == [(1, "a", 1, 4), (1, "c", 4, 4)]
    # Late, again, and after it.
    take(project, f"1, 'b', 2, {day(2)}, 'U'", changed, columns=columns)
    assert history(project, SPAN) == [(1, "a", 1, 2), (1, "b", 2, 4), (1, "c", 4, 4)]
    take(project, f"1, 'd', 9, {day(8)}, 'I'", columns=columns)
    assert history(project, SPAN)[2:] == [(1, "c", 4, 4), (1, "d", 8, None)]


def test_a_change_log(project: Project) -> None:
    settings = "strategy='cdc', unique_key='id', cdc_sequence_by='at', cdc_delete_when=\"op = 'D'\""
    project.write(
        snapshot(settings)
        | snapshot(f"{settings}, hard_deletes='new_record'", name="kept")
        | snapshot(f"{settings}, cdc_scd_type=1", name="latest")
    )
    columns = "id, name, at, op"
    first = (f"1, 'a', {day(1)}, 'I'", f"1, 'c', {day(5)}, 'U'", f"2, 'x', {day(2)}, 'I'")
    take(project, *first, first[0], columns=columns)
    take(project, f"1, 'b', {day(3)}, 'U'", f"2, null, {day(4)}, 'D'", columns=columns)
    assert history(project, SPAN) == [
        (1, "a", 1, 3), (1, "b", 3, 5), (1, "c", 5, None), (2, "x", 2, 4),
    ]  # fmt: skip
    assert history(project, f"{SPAN}, dbt_is_deleted", "kept")[-2:] == [
        (2, "x", 2, 4, "False"),
        (2, "x", 4, None, "True"),
    ]
    assert project.rows("latest")[0]["name"] == "c"
    assert len(project.rows("latest")) == 1
    versions = {name: project.version(name) for name in ("s", "kept", "latest")}
    run = take(project, f"1, 'b', {day(3)}, 'U'", f"2, null, {day(4)}, 'D'", columns=columns)
    assert {r.message for r in run.results} == {"nothing new"}
    assert versions == {name: project.version(name) for name in versions}
    take(project, f"2, 'y', {day(6)}, 'I'", columns=columns)
    assert history(project, SPAN)[-2:] == [(2, "x", 2, 4), (2, "y", 6, None)]
    assert [row["name"] for row in project.rows("latest", "id")] == ["c", "y"]


def test_new_dropped_and_retyped_columns(project: Project) -> None:
    project.write(snapshot(CHECKED))
    take(project, "1, 'a', 1", "2, 'b', 2", columns="id, name, size")
    # A column that comes was NULL until then: a row in which it still is did not change.
    take(project, "1, 'a', 1L, null", "2, 'b', 2L, 'red'", columns="id, name, size, colour")
    assert history(project, "id, name, size, colour") == [
        (1, "a", 1, None), (2, "b", 2, None), (2, "b", 2, "red"),
    ]  # fmt: skip
    take(project, "1, 'a'", "2, 'z'", columns="id, name")
    assert history(project, "id, name, size, colour")[-1] == (2, "z", None, None)
    assert len(project.rows("s")) == 4


def test_a_key_of_an_expression_and_a_column(project: Project) -> None:
    project.write(
        snapshot("strategy='check', unique_key=[\"id || '-'\", 'name'], check_cols=['size']")
    )
    take(project, "1, 'a', 1", "1, 'b', 1", columns="id, name, size")
    take(project, "1, 'a', 1", "1, 'b', 2", "2, 'b', 1", columns="id, name, size")
    assert history(project, "id, name, size, dbt_valid_to") == [
        (1, "a", 1, None), (1, "b", 1, "run"), (1, "b", 2, None), (2, "b", 1, None),
    ]  # fmt: skip


def test_a_strategy_of_ones_own(project: Project) -> None:
    project.write(
        snapshot("strategy='louder', unique_key='id'")
        | {
            "macros/louder.sql": """
                {% macro snapshot_louder_strategy(node, found, new, config, exists) %}
                {{ return({
                    'unique_key': 'id', 'updated_at': 'at', 'hard_deletes': 'ignore',
                    'row_changed': found ~ '.name < ' ~ new ~ '.name',
                    'scd_id': snapshot_hash_arguments(['id', 'at', "'louder'"]),
                }) }}
                {% endmacro %}
            """
        }
    )
    take(project, f"1, 'b', {day(1)}")
    take(project, f"1, 'a', {day(2)}")
    take(project, f"1, 'c', {day(3)}")
    assert history(project, SPAN) == [(1, "b", 1, 3), (1, "c", 3, None)]
    expected = "md5('1|2024-01-03 00:00:00|louder')"
    assert project.sql(f"select 1 from {{schema}}.s where dbt_scd_id = {expected}")


def test_an_empty_run_ends_nothing(project: Project) -> None:
    project.write(
        {
            "models/m.sql": "{{ config(materialized='ephemeral') }} select 1 as id, 'a' as name",
            "snapshots/s.yml": """
                snapshots:
                  - name: s
                    relation: ref('m')
                    config:
                      strategy: check
                      unique_key: id
                      check_cols: all
                      hard_deletes: invalidate
            """,
            **snapshot(
                f"{CHECKED}, hard_deletes='new_record'", "select * from {{ ref('table') }}", "t"
            ),
            "models/table.sql": "{{ config(materialized='table') }} select 1 as id",
        }
    )
    project.dbt("build")
    project.dbt("snapshot", "--empty")
    assert [row["dbt_valid_to"] for name in "st" for row in project.rows(name)] == [None, None]
    assert project.version("t") == 0
