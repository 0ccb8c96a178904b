"""The SQL of snapshots."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

SETTINGS: dict[str, Any] = {
    "strategy": "check", "hard_deletes": "ignore", "current": None, "late": "ignore",
    "from": "dbt_valid_from", "to": "dbt_valid_to", "id": "dbt_scd_id",
    "updated": "dbt_updated_at", "deleted": "dbt_is_deleted", "scd_type": 2, "check_cols": "all",
}  # fmt: skip
KEY = {"text": "`id`", "name": "id", "label": "id", "type": "int"}
TARGET = {"name": "`s`.`t`"}
MACROS: dict[str, Any] = {
    "snapshot_hash_arguments": lambda parts: f"md5({' | '.join(parts)})",
    "this": SimpleNamespace(schema="s", identifier="t"),
}


def batch(**entries: Any) -> dict[str, Any]:
    nothing = {
        "keys": [KEY], "columns": [{"name": "id"}, {"name": "name"}], "bounds": [],
        "time": "timestamp", "updated_type": "timestamp", "deleted_type": None, "from": "staged",
        "has_deletions": False, "has_ended_keys": False, "scd_id": None,
    }  # fmt: skip
    return {**nothing, **entries}


def inline(sql: str) -> str:
    return " ".join(sql.split())


@pytest.mark.parametrize(
    ("text", "expected", "name"),
    [
        ("ID", "`id`", "id"),
        ("`my col`", "`my col`", "my col"),
        ("id || '-' || `my col`", "(id || '-' || `my col`)", None),
        ("`id` || `my col`", "(`id` || `my col`)", None),
    ],
)
def test_a_key_is_a_column_or_an_expression(
    macros, text: str, expected: str, name: str | None
) -> None:
    columns = [{"name": "id", "type": "int"}, {"name": "my col", "type": "string"}]
    found = macros()._column_or_expression(columns, text)
    assert (found["text"], found["name"]) == (expected, name)


def test_what_differs_is_compared_as_the_table_stores_it(macros) -> None:
    source = [{"name": "a", "type": "bigint"}, {"name": "m", "type": "map<string,int>"}]
    source += [{"name": "fresh", "type": "int"}]
    stored = [{"name": "A", "type": "int"}, {"name": "m", "type": "map<string,int>"}]
    sql = macros()._any_differs(source, stored)
    assert "snapshotted_data.`A` <=> try_cast(source_data.`a` as int)" in sql
    assert "array_sort(transform(map_entries(snapshotted_data.`m`)" in sql
    assert "source_data.`fresh` is null" in sql


def test_open_rows_are_those_of_both_spellings(macros) -> None:
    current = {**SETTINGS, "current": "date'9999-12-31'"}
    assert macros()._is_open(batch(), SETTINGS, "h") == "h.`dbt_valid_to` is null"
    assert macros()._is_open(batch(), current) == (
        "(`dbt_valid_to` is null or `dbt_valid_to` = cast(date'9999-12-31' as timestamp))"
    )


def test_the_id_is_dbts_unless_that_would_not_be_unique(macros) -> None:
    sql = macros(**MACROS)._scd_id(batch(), ["__dbt_at"])
    assert sql.startswith("md5(__dbt_key_1 | concat(cast(__dbt_at as string), case when ")
    assert "case when __dbt_key_1 is null then concat('|', to_json(" in sql
    two = macros(**MACROS)._scd_id(batch(keys=[KEY, KEY]), ["__dbt_at"])
    assert "contains(cast(__dbt_key_2 as string), '|')" in two


def test_the_merge_stops_at_the_work_of_another_run(macros) -> None:
    sql = inline(macros(**MACROS).get_snapshot_merge_sql(TARGET, batch(), SETTINGS, "`v`"))
    assert "on history.`id` <=> source.__dbt_key_1 and (" in sql
    assert "history.`dbt_valid_to` is null" in sql
    assert sql.count("raise_error('`s`.`t` was changed by another run at the same time.") == 2
    assert (
        "insert (`id`, `name`, `dbt_scd_id`, `dbt_updated_at`, `dbt_valid_from`, `dbt_valid_to`)"
        in sql
    )


def test_the_merge_of_a_feed_sees_the_history_itself(macros) -> None:
    settings = {**SETTINGS, "strategy": "cdc"}
    sql = inline(
        macros(**MACROS).get_snapshot_merge_sql(
            TARGET, batch(deleted_type="string"), settings, "`v`"
        )
    )
    assert "raise_error" not in sql
    assert "initcap(cast(source.__dbt_deleted as string))" in sql


@pytest.mark.parametrize(
    ("source", "stored", "refused"),
    [
        ("int", "bigint", False),
        ("bigint", "int", False),
        ("void", "int", False),
        ("date", "timestamp", False),
        ("string", "int", True),
        ("int", "string", True),
        ("array<int>", "struct<a:int>", True),
        ("struct<a:int,b:int>", "struct<a:int>", False),
    ],
)
def test_one_type_per_column(macros, source: str, stored: str, refused: bool) -> None:
    package = macros(**MACROS)
    arguments = {"name": "c", "type": source}, {"name": "c", "type": stored}
    if not refused:
        package._refuse_other_type(*arguments)
        return
    with pytest.raises(CompilationError, match="a history has one type per column"):
        package._refuse_other_type(*arguments)


KEPT = {"delta.constraints.c": "id > 0", "my.url": "http://x", "k": "a=b, c"}


def repaired(macros: Any, properties: dict[str, str | None]) -> tuple[str, list[Any]]:
    """The statement that drops a helper column, and what the view is made of that it reads."""
    view: list[Any] = []
    package = macros(**MACROS, run_query=lambda sql: None)
    package.get_create_view_sql = lambda name, sql, columns, promises, temporary: view.extend(
        [name, sql, promises]
    )
    existing = {
        "relation": MACROS["this"], "properties": properties, "partitions": ["id"],
        "clustering": [], "comment": "all", "columns": [
            {"name": "id", "type": "int", "comment": "the key"},
            {"name": "dbt_change_type", "type": "string", "comment": ""},
        ],
    }  # fmt: skip
    return inline(package.get_drop_columns_sql(existing, ["dbt_change_type"])), view


@pytest.mark.parametrize("mode", ["name", "id"])
def test_a_helper_column_goes_by_alter_where_columns_are_mapped(macros, mode: str) -> None:
    sql, view = repaired(macros, {"delta.columnMapping.mode": mode})
    assert (sql, view) == ("alter table `s`.`t` drop columns (`dbt_change_type`)", [])


def test_a_table_without_its_helper_column_keeps_its_properties(macros) -> None:
    """Delta sets those of features itself."""
    sql, view = repaired(macros, {**KEPT, "delta.feature.invariants": "supported"})
    assert sql == (
        "create or replace table `s`.`t` using delta partitioned by (`id`) comment 'all'"
        " tblproperties ('delta.constraints.c' = 'id > 0', 'my.url' = 'http://x', 'k' = 'a=b, c')"
        " as select * from `t__dbt_documented`"
    )
    comments = {"column_comments": {"id": "the key"}}
    assert view == ["`t__dbt_documented`", "select `id` from `s`.`t`", comments]


def test_a_property_that_spark_does_not_tell_is_not_lost(macros) -> None:
    with pytest.raises(CompilationError, match=r"the property my.url of `s`.`t`, which the table"):
        repaired(macros, {**KEPT, "my.url": None})
