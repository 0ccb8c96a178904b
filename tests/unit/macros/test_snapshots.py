"""The SQL of snapshots."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

SETTINGS: dict[str, Any] = {
    "strategy": "check", "hard_deletes": "ignore", "current": None, "late": "ignore",
    "from": "dbt_valid_from", "to": "dbt_valid_to", "id": "dbt_scd_id",
    "updated": "dbt_updated_at", "deleted": "dbt_is_deleted", "scd_type": 2, "check_cols": "all",
    "marks_deletions": True, "fills_deletions": False, "sequence": [],
}  # fmt: skip
KEY = {"text": "`id`", "name": "id", "label": "id", "type": "int", "given": "`id`", "altered": ""}
TABLE = {"name": "`s`.`t`"}
MACROS: dict[str, Any] = {
    "snapshot_hash_arguments": lambda parts: f"md5({' | '.join(parts)})",
    "this": SimpleNamespace(schema="s", identifier="t"),
}


def batch(**entries: Any) -> dict[str, Any]:
    nothing = {
        "keys": [KEY], "bounds": [],
        "columns": [{"name": "id"}, {"name": "name"}],
        "time": "timestamp", "updated_type": "timestamp", "deleted_type": None, "from": "staged",
        "has_deletions": False, "has_ended_keys": False, "scd_id": None, "sequence": [],
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
    stored = [
        {"name": "A", "type": "int"}, {"name": "m", "type": "map<string,int>"},
        {"name": "s", "type": "struct<x:int>"},
    ]  # fmt: skip
    checked = [
        {"name": name, "type": type, "source": source, "source_type": source_type}
        for name, type, source, source_type in (
            ("A", "int", "a", "bigint"), ("m", "map<string,int>", "m", "map<string,int>"),
            ("s", "struct<x:int,y:int>", "s", "struct<x:int,y:int>"),
            ("fresh", "int", "fresh", "int"),
        )
    ]  # fmt: skip
    sql = macros()._any_differs(checked, stored)
    assert "snapshotted_data.`A` <=> try_cast(source_data.`a` as int)" in sql
    # A value that the table would store as another one is a change, to be refused.
    assert "(not (try_cast(try_cast(source_data.`a` as int) as bigint) <=> source_data.`a`)" in sql
    assert "array_sort(transform(map_entries(snapshotted_data.`m`)" in sql
    assert "snapshotted_data.`s`.`x`, 'y', cast(null as int)) end <=> source_data.`s`" in sql
    assert "source_data.`fresh` is null" in sql


def test_open_rows_are_those_of_both_spellings(macros) -> None:
    current = {**SETTINGS, "current": "date'9999-12-31'"}
    assert macros()._is_open(batch(), SETTINGS, "h") == "h.`dbt_valid_to` is null"
    assert macros()._is_open(batch(), current) == (
        "(`dbt_valid_to` is null or `dbt_valid_to` = cast(date'9999-12-31' as timestamp))"
    )


AT = {"text": "at", "type": "timestamp"}
UTC = "timestampadd(microsecond, unix_micros({}), timestamp_ntz'1970-01-01 00:00:00')"


def test_the_id_is_dbts_unless_that_would_not_be_unique(macros) -> None:
    sql = macros(**MACROS)._scd_id(batch(), [AT])
    assert sql.startswith(
        "md5(cast(__dbt_key_1 as string) | concat(cast(timestampadd(microsecond, unix_micros(at), "
    )
    assert "case when __dbt_key_1 is null then concat('|', to_json(" in sql
    two = macros(**MACROS)._scd_id(batch(keys=[KEY, KEY]), [AT])
    assert "contains(cast(__dbt_key_2 as string), '|')" in two
    text = macros(**MACROS)._scd_id(batch(), [{"text": "note", "type": "string"}, AT])
    assert "case when contains(note, '|') then concat('|', to_json(array(" in text


@pytest.mark.parametrize(
    ("type", "wanted", "expected"),
    [
        ("timestamp", "date", f"cast({UTC.format('x')} as date)"),
        ("timestamp", "timestamp_ntz", f"cast({UTC.format('x')} as timestamp_ntz)"),
        (
            "date",
            "timestamp",
            "cast(concat(cast(cast(x as timestamp_ntz) as string), 'Z') as timestamp)",
        ),
        ("timestamp", "timestamp", "cast(x as timestamp)"),
        ("int", "string", "cast(x as string)"),
    ],
)
def test_no_time_depends_on_the_session(macros, type: str, wanted: str, expected: str) -> None:
    assert macros()._as_time("x", type, wanted) == expected


def test_histories_and_feeds_become_the_same_operations(macros) -> None:
    """Of names that are no column's of a table, in which a key may be an expression."""
    more = {
        "updated": {"type": "timestamp"}, "has_own_time": False, "row_changed": "true",
        "sequence": [], "sequence_types": [],
    }  # fmt: skip
    feed = {"sequence": ["`at`"], "sequence_types": ["timestamp"]}
    id = {"name": "id", "type": "int", "source": "id", "source_type": "int"}
    found = {
        inline(
            macros(**MACROS, snapshot_get_time=lambda: "now()").get_snapshot_operations_sql(
                {**TABLE, "columns": [id]}, batch(**{**more, "columns": [id], **own}), settings
            )
        )
        .partition(") select ")[2]
        .partition("from (")[0]
        for own, settings in (
            ({}, {**SETTINGS, "keeps_deletions": False}),
            ({}, {**SETTINGS, "strategy": "timestamp", "late": "insert", "keeps_deletions": True}),
            (feed, {**SETTINGS, "strategy": "cdc", "keeps_deletions": True}),
        )
    }
    assert found == {
        "__dbt_key_1, __dbt_found_id, __dbt_at, __dbt_id, __dbt_updated, __dbt_is_delete,"
        " __dbt_operation, coalesce(__dbt_next, cast(null as timestamp)) as __dbt_to, __dbt_values "
    }


def test_the_merge_stops_at_the_work_of_another_run(macros) -> None:
    sql = inline(macros(**MACROS).get_snapshot_merge_sql(TABLE, batch(), SETTINGS, "`v`"))
    assert "on history.`id` <=> source.__dbt_key_1 and (" in sql
    assert "history.`dbt_valid_to` is null" in sql
    assert sql.count("raise_error('Another run changed `s`.`t` at the same time.") == 2
    assert (
        "insert (`id`, `name`, `dbt_scd_id`, `dbt_updated_at`, `dbt_valid_from`, `dbt_valid_to`)"
        in sql
    )


def test_the_merge_of_a_feed_sees_the_history_itself(macros) -> None:
    settings = {**SETTINGS, "strategy": "cdc"}
    sql = inline(
        macros(**MACROS).get_snapshot_merge_sql(
            TABLE, batch(deleted_type="string"), settings, "`v`"
        )
    )
    assert "raise_error" not in sql
    assert "initcap(cast(source.__dbt_is_delete as string))" in sql


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
    columns = [{"name": "c", "type": stored, "source": "c", "source_type": source}]
    if not refused:
        package._refuse_other_types(columns)
        return
    with pytest.raises(CompilationError, match="a history has one type per column"):
        package._refuse_other_types(columns)


KEPT = {"delta.constraints.c": "id > 0", "my.url": "http://x", "k": "a=b, c"}


def column(name: str, type: str = "int", **facts: Any) -> dict[str, Any]:
    nothing = {"comment": "", "nullable": True, "default": None, "declared": None}
    return {"name": name, "type": type, **nothing, "is_generated": False, **facts}


def repaired(
    macros: Any, properties: dict[str, str | None], lost: Any = None, **facts: Any
) -> list[str]:
    """The statements of a repair that drops a helper column."""
    existing = {
        "relation": MACROS["this"], "properties": properties, "partitions": [],
        "clustering": ["a.b", "s.f"], "comment": "all", "columns": [
            column("id", comment="the key"), column("a.b", **facts),
            column("dbt_change_type", "string"),
        ],
    }  # fmt: skip
    found = macros(**MACROS).get_repair_sql(existing, lost, ["dbt_change_type"])
    return [inline(statement) for statement in found]


LOST = {"sql": "select lost", "id": "dbt_scd_id", "columns": ["id"]}


@pytest.mark.parametrize("mode", ["name", "id"])
def test_a_helper_column_goes_by_alter_where_columns_are_mapped(macros, mode: str) -> None:
    drop = "alter table `s`.`t` drop columns (`dbt_change_type`)"
    mapped: dict[str, str | None] = {"delta.columnMapping.mode": mode}
    assert repaired(macros, mapped, default="1") == [drop]
    filled = repaired(macros, mapped, LOST)
    assert (filled[-1], len(filled)) == (drop, 3)
    assert filled[1].startswith("merge into `s`.`t` as history using `t__dbt_repair`")


def test_a_table_without_its_helper_column_keeps_its_properties(macros) -> None:
    """Delta sets those of features itself."""
    kept = {**KEPT, "delta.feature.invariants": "supported", "delta.minReaderVersion": "3"}
    view, create = repaired(macros, {**kept, "delta.columnMapping.maxColumnId": "7"})
    assert create == (
        "create or replace table `s`.`t` using delta cluster by (`a.b`, `s`.`f`) comment 'all'"
        " tblproperties ('delta.constraints.c' = 'id > 0', 'my.url' = 'http://x', 'k' = 'a=b, c')"
        " as select * from `t__dbt_repair`"
    )
    assert view == (
        "create or replace temporary view `t__dbt_repair` ( `id` comment 'the key', `a.b` ) as"
        " select history.`id`, history.`a.b` from `s`.`t` as history"
    )


def test_deletions_get_their_values_in_the_same_commit(macros) -> None:
    view, create = repaired(macros, {}, LOST)
    assert "if(ended.__dbt_id is null, history.`id`, ended.`id`) as `id`, history.`a.b`" in view
    assert create.startswith("create or replace table")


def test_a_property_that_spark_does_not_tell_is_not_lost(macros) -> None:
    with pytest.raises(CompilationError, match=r"the property my.url of `s`.`t`, which the table"):
        repaired(macros, {**KEPT, "my.url": None})


@pytest.mark.parametrize(
    ("facts", "promise"),
    [
        ({"default": "1"}, "a default"),
        ({"nullable": False}, "NOT NULL"),
        ({"is_generated": True}, "values that Delta computes"),
        ({"declared": "varchar(3)"}, r"varchar\(3\)"),
    ],
)
def test_what_a_new_version_would_lose_is_refused(macros, facts: Any, promise: str) -> None:
    with pytest.raises(CompilationError, match=f"column a.b of `s`.`t` has {promise}, which a new"):
        repaired(macros, {}, **facts)
