"""What a run knows of its table and its batch: names that Spark redacts or that need quotes, hooks,
configuration that changes, tables that dbt did not make.

All models are one project, run three times: built, run with what changed, run with nothing new.
"""

from collections.abc import Callable

import pytest
import yaml

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    FIRST,
    Built,
    messages,
    model,
    statements,
    tables,
    values,
    write_models,
)
from tests.functional.tables import metadata, operations, version, versions

URLS = values("url, v", "'a', 1", "'b', 2", "'c', 3")
NEW_URLS = values("url, v", "'b', 20")
# Names that a type's text must not be taken apart at, and those that SQL takes in quotes only.
ODD = ("<18", ">65", "x)y(", "a:int,b", "user-id", "@type", "größe", "1x", "a b", "tick`", "`<`")
REDACTED = {"my.url": "http://x", "api.token": "t", "plain": "my secret, and=more"}
NOT_NULL = [{"type": "not_null"}]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _odd_columns(number: int) -> str:
    return ", ".join(f"{number} as {_quoted(name)}" for name in ODD)


def _fields(names: tuple[str, ...], number: int) -> str:
    pairs = ", ".join(f"'{name}', {number}" for name in names)
    return f"named_struct({pairs})"


def _odd(number: int, fields: tuple[str, ...] = ODD) -> str:
    struct = _fields(fields, number)
    return (
        f"select 1 as id, {_odd_columns(number)}, {struct} as s, array({struct}) as l,"
        f" map('k', {struct}) as m"
    )


MAPPED = {"tblproperties": {"delta.columnMapping.mode": "name"}}
KEYED = {"unique_key": "id"}
CLUSTERED = {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "url"}
SYNCED = {
    **KEYED,
    "on_schema_change": "sync_all_columns",
    "tblproperties": {"delta.columnMapping.mode": "name", "delta.constraints.low": "id < 10"},
}
# A column goes, another one comes, and then the run fails: each in another place.
FAILING = {
    "failing_select": "select int(id / 0) as id, 1 as n from values (1) as t(id)",
    "failing_check": "select 99 as id, 1 as n",
    "failing_drop": "select 'x' as v, 1 as n",
}
FAILS = {
    "failing_select": "DIVIDE_BY_ZERO",
    "failing_check": "CHECK constraint low (id < 10) is violated by 1 of the rows of the batch",
    "failing_drop": "CHECK constraint low uses it",
}
APPENDED = {"unique_key": None, "incremental_strategy": "append"}
# Keys that would be inserted again in each run: what is stored is not what the batch holds.
KEYS = {
    "empty_in_partition": ("select '' as k, 1 as v", {"partition_by": "k"}, "are an empty text or"),
    "no_utf8": ("select string(unhex('41FF')) as k, 1 as v", {}, "are not valid UTF-8"),
    "time_of_date": (
        "select timestamp'2024-01-01 10:00:00' as k, 1 as v",
        {},
        "1 keys of the batch for {name} (unique_key k) would change: k is timestamp in",
    ),
    "fraction_of_number": ("select 7.5 as k, 1 as v", {}, "would change: k is decimal(2,1)"),
    "float_of_decimal": ("select '1.234' as k, 1 as v", {}, "would change: k is string in the"),
    "evolving": (
        "select 7.5 as k, 1 as v",
        {"merge_with_schema_evolution": True},
        "would change: k is decimal(2,1) in the model and int in",
    ),
    "one_number_twice": (
        "select * from values ('8', 1), ('08', 2) as t(k, v)",
        {},
        "1 keys of the batch for {name} (unique_key k) would become equal to another key",
    ),
    "no_number": ("select 'abc' as k, 1 as v", {}, "would change: k is string in the model"),
}
TEXT = "'a'"
DAY = "date'2024-01-02'"
KEY_TYPES = {
    "time_of_date": DAY,
    "fraction_of_number": "7",
    "float_of_decimal": "cast(1.23 as decimal(5,2))",
    "evolving": "7",
    "one_number_twice": "7",
    "no_number": "7",
    "midnight_of_date": DAY,
    "text_of_number": "7",
    "text_of_date": DAY,
    "long_of_int": "7",
}
# Keys of another type whose values are the same.
SAME_KEYS = {
    "midnight_of_date": "timestamp'2024-01-02 00:00:00'",
    "text_of_number": "'07'",
    "text_of_date": "'2024-01-02'",
    "long_of_int": "7L",
}
OF_DAY = {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "k"}
BY_DAY = "2, 'x', date'2024-01-02'"
FIRST_MODELS = {
    "by_url": model(URLS, NEW_URLS, **CLUSTERED),
    "clustered_now": model(URLS, incremental_strategy="insert_overwrite"),
    "clustered_anew": model(URLS, incremental_strategy="insert_overwrite", liquid_clustered_by="v"),
    "contracted": model(
        URLS,
        NEW_URLS,
        unique_key="url",
        on_schema_change="fail",
        merge_skip_unchanged=True,
    ),
    "redacted": "{{ config(materialized='table', skip_unchanged=true, liquid_clustered_by='token',"
    f" tblproperties={REDACTED}) }}}} select 1 as token",
    "shown": f"{{{{ config(tblproperties={REDACTED}) }}}} select 1 as token",
    "odd_names": model(_odd(1), _odd(2), **KEYED, **MAPPED, merge_skip_unchanged=True),
    "odd_fields": model(
        _odd(1, ODD[:5]),
        _odd(2),
        **KEYED,
        **MAPPED,
        on_schema_change="append_new_columns",
        merge_skip_unchanged=True,
    ),
    "column_by_hook": model(FIRST, **KEYED),
    "dropped_by_hook": model(FIRST, **KEYED),
    "made_by_hook": "select 1 as id",
    "without_partition": model(values("id, v, day", BY_DAY), partition_by="day"),
    **{
        name: model(FIRST, **(SYNCED if name != "failing_drop" else {**SYNCED, **APPENDED}))
        for name in FAILING
    },
}
FIRST_MODELS |= {
    "marked_first": model(
        values("id, v, gone", "1, 'a', false", "2, 'b', true", "3, 'c', null"),
        unique_key="id",
        matched_delete_condition="DBT_INTERNAL_SOURCE.gone",
        merge_control_columns="gone",
    ),
    "marked_twice": model(
        values("id, v, gone", "1, 'a', false", "1, 'b', true"),
        unique_key="id",
        matched_delete_condition="DBT_INTERNAL_SOURCE.gone",
        merge_control_columns="gone",
        duplicate_keys="error",
    ),
    "clustered_by_gone": model(URLS, **CLUSTERED),
    "of_another_time": model(f"select {DAY} as k, 1 as v", **OF_DAY),
    "untyped": model("select 1 as id, array(1) as l", **APPENDED),
    "wide_key": model(values("k, v", f"{2**53}, 1", f"{2**53 + 1}, 1"), unique_key="k"),
    "untyped_column": model(FIRST, on_schema_change="append_new_columns", **KEYED),
    "untyped_same": model("select 1 as id, null as v", on_schema_change="fail", **KEYED),
    "fixed": model(FIRST, **KEYED, **MAPPED),
    "mine": model(FIRST, **{**APPENDED, "incremental_strategy": "mine"}, **MAPPED),
}
FIRST_MODELS |= {
    name: model(f"select {KEY_TYPES[name]} as k, 1 as v", unique_key="k") for name in SAME_KEYS
}
FIRST_MODELS |= {
    name: model(f"select {KEY_TYPES.get(name, TEXT)} as k, 1 as v", unique_key="k", **config)
    for name, (_, config, _) in KEYS.items()
}
ADD = "{% if is_incremental() %}alter table {{ this }} add columns (n int){% endif %}"
THEN_MODELS = {
    "clustered_now": model(URLS, NEW_URLS, **CLUSTERED),
    "clustered_anew": model(URLS, NEW_URLS, **CLUSTERED),
    "column_by_hook": model(FIRST, values("id, v, n", "2, 'B', 5"), pre_hook=ADD, **KEYED),
    "dropped_by_hook": model(
        FIRST, values("id, v", "3, 'c'"), pre_hook="drop table if exists {{ this }}", **KEYED
    ),
    "made_by_hook": model(
        FIRST,
        values("id, v", "2, 'B'"),
        pre_hook=[
            "drop view if exists {{ this }}",
            "create table if not exists {{ this }} using delta as select 7 as id, 'x' as v",
        ],
        **KEYED,
    ),
    "without_partition": model(
        values("id, v, day", BY_DAY), values("id, v", "3, 'y'"), partition_by="day"
    ),
    **{
        name: model(
            FIRST,
            select,
            stage="view",
            **(SYNCED if name != "failing_drop" else {**SYNCED, **APPENDED}),
        )
        for name, select in FAILING.items()
    },
    **{
        name: model("select 1", select, unique_key="k", **config)
        for name, (select, config, _) in KEYS.items()
    },
    **{
        name: model("select 1", f"select {key} as k, 2 as v", unique_key="k")
        for name, key in SAME_KEYS.items()
    },
    "clustered_by_gone": model(URLS, values("v", "1"), **CLUSTERED),
    "of_another_time": model(
        "select 1", "select timestamp'2024-01-02 10:00:00' as k, 2 as v", **OF_DAY
    ),
    "untyped": model(
        "select 1", "select 2 as id, array() as l", **APPENDED, tblproperties={"x": 1}
    ),
    "wide_key": model("select 1", f"select double({2**53}) as k, 2 as v", unique_key="k"),
    "untyped_column": model(
        FIRST,
        "select 2 as id, 'B' as v, array() as tags, struct(null as a) as s",
        on_schema_change="append_new_columns",
        **KEYED,
    ),
    "untyped_same": model(
        "select 1", "select 2 as id, null as v", on_schema_change="fail", **KEYED
    ),
    "generating": model(
        FIRST,
        "select 3 as id",
        **{**APPENDED, "on_schema_change": "sync_all_columns"},
        **MAPPED,
    ),
    # The configuration that would allow the drop is not applied.
    "fixed": model(
        FIRST,
        "select 1 as id",
        incremental_apply_config_changes=False,
        **{**SYNCED, "tblproperties": {"delta.constraints.low": "id < 10"}},
    ),
    "mine": model(
        FIRST,
        "select 3 as id",
        **{**APPENDED, "incremental_strategy": "mine"},
        **MAPPED,
        on_schema_change="sync_all_columns",
    ),
    "needed": model(FIRST, "select 2 as id", **SYNCED),
    "by_default": model(FIRST, "select 2 as id", unique_key="id", partition_by="day"),
    "provided": model(FIRST, values("id, Provider", "1, 'B'"), merge_skip_unchanged=True, **KEYED),
    **{
        f"of_{kind}": model(FIRST, values("id, v", "3, 'c'"), full_refresh=full_refresh, **KEYED)
        for kind, full_refresh in {"parquet": False, "csv": None}.items()
    },
}
REFUSED = {
    "without_partition",
    "clustered_by_gone",
    "of_another_time",
    "marked_twice",
    "of_parquet",
    "of_csv",
    "generating",
    *FAILING,
    *KEYS,
}
# By position, as dbt's own does.
MINE = """
{% macro get_incremental_mine_sql(arguments) %}
    {% set columns = arguments.dest_columns | map(attribute='quoted') | join(', ') %}
    insert into {{ arguments.target_relation }}
    select {{ columns }} from {{ arguments.temp_relation }}
{% endmacro %}
"""
SCHEMA = {
    "models": [
        {
            "name": "contracted",
            "config": {"contract": {"enforced": True}},
            "columns": [
                {"name": "url", "data_type": "string", "constraints": NOT_NULL},
                {"name": "v", "data_type": "int", "constraints": NOT_NULL},
            ],
        }
    ]
}
QUIET = ("contracted", "redacted", "odd_names", "odd_fields", "provided")


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    project = new_shared_project("facts")
    project.write({"models/schema.yml": yaml.safe_dump(SCHEMA), "macros/mine.sql": MINE})
    write_models(project, FIRST_MODELS)
    first = project.dbt("run", check=False)
    project.sql(
        "create table {schema}.needed (id int, v string not null) using delta"
        " tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    project.sql("insert into {schema}.needed values (1, 'a')")
    project.sql(
        "create table {schema}.generating (id int, v int, g int generated always as (v + 1))"
        " using delta tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    project.sql("insert into {schema}.generating (id, v) values (1, 1)")
    project.sql(
        "create table {schema}.by_default (id int, day string default 'x') using delta"
        " partitioned by (day) tblproperties ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    project.sql("insert into {schema}.by_default values (1, 'a')")
    project.sql(
        "create table {schema}.provided (id int, Provider string default 'x') using delta"
        " tblproperties ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    project.sql("insert into {schema}.provided values (1, 'a'), (2, 'b')")
    for kind in ("parquet", "csv"):
        project.sql(f"create table {{schema}}.of_{kind} using {kind} as {FIRST}")
    write_models(project, THEN_MODELS)
    return Built(project, first, project.dbt("run", check=False))


def test_only_what_is_refused_fails(built: Built) -> None:
    assert set(messages(built.first)) == {"marked_twice"}
    assert set(messages(built.second)) == REFUSED


def test_a_first_build_leaves_out_what_only_deletes(built: Built) -> None:
    assert tables(built.project, ["marked_first"]) == {"marked_first": [(1, "a"), (3, "c")]}
    assert "has duplicate keys of unique_key id: 1" in messages(built.first)["marked_twice"]


def test_a_key_of_another_type_finds_its_row(built: Built) -> None:
    rows = tables(built.project, SAME_KEYS)
    assert {name: [row[1] for row in found] for name, found in rows.items()} == {
        name: [2] for name in SAME_KEYS
    }


def test_columns_by_which_rows_are_replaced(built: Built) -> None:
    assert "no column 'url', but" in messages(built.second)["clustered_by_gone"]
    assert "is timestamp in the model and date in" in messages(built.second)["of_another_time"]
    assert version(built.project, "of_another_time") == 0


def test_columns_are_dropped_whatever_they_need(built: Built) -> None:
    expected = {"needed": [(1,), (2,)], "mine": [(1,), (2,), (3,)], "fixed": [(1,), (2,)]}
    assert tables(built.project, expected) == expected
    assert "delta.constraints.low" not in metadata(built.project, "fixed")["configuration"]


def test_a_default_fills_a_partition_column(built: Built) -> None:
    assert tables(built.project, ["by_default"]) == {"by_default": [(1, "a"), (2, "x")]}


def test_what_has_no_type_is_staged(built: Built) -> None:
    assert tables(built.project, ["untyped"]) == {"untyped": [(1, [1]), (2, [])]}


def test_a_column_that_is_empty_yet_is_text(built: Built) -> None:
    expected = {
        "untyped_column": [(1, "a", None, None), (2, "B", [], {"a": None})],
        "untyped_same": [(1, None), (2, None)],
    }
    assert tables(built.project, expected) == expected
    kinds = built.project.sql("describe {schema}.untyped_column")
    assert [row.data_type for row in kinds][2:] == ["array<string>", "struct<a:string>"]


def test_a_key_is_compared_as_it_is_stored(built: Built) -> None:
    assert tables(built.project, ["wide_key"]) == {"wide_key": [(2**53, 2), (2**53 + 1, 1)]}


@pytest.mark.session
def test_a_column_that_another_is_generated_from_stays(built: Built) -> None:
    assert "column g is computed from it" in messages(built.second)["generating"]
    assert tables(built.project, ["generating"]) == {"generating": [(1, 1, 2)]}
    assert version(built.project, "generating") == 1


def test_insert_overwrite_replaces_what_it_is_clustered_by_now(built: Built) -> None:
    expected = [("a", 1), ("b", 20), ("c", 3)]
    names = ("by_url", "clustered_now", "clustered_anew")
    assert tables(built.project, names) == dict.fromkeys(names, expected)


def test_names_that_need_quotes_are_columns_and_fields_like_any_other(built: Built) -> None:
    for name in ("odd_names", "odd_fields"):
        (row,) = tables(built.project, [name])[name]
        struct = dict.fromkeys(ODD, 2)
        assert row == (1, *[2] * len(ODD), struct, [struct], {"k": struct}), name
        assert version(built.project, name) >= 1


def test_a_hook_that_changes_the_table_is_seen(built: Built) -> None:
    names = ("column_by_hook", "dropped_by_hook", "made_by_hook")
    assert tables(built.project, names) == {
        "column_by_hook": [(1, "a", None), (2, "B", 5)],
        "dropped_by_hook": [(1, "a"), (2, "b")],
        "made_by_hook": [(2, "B"), (7, "x")],
    }


def test_a_table_with_defaults_is_not_rebuilt(built: Built) -> None:
    assert tables(built.project, ["provided"]) == {"provided": [(1, "B"), (2, "b")]}
    assert operations(built.project, "provided") == ["CREATE TABLE", "WRITE", "MERGE"]


def test_a_partition_column_that_is_gone_is_refused(built: Built) -> None:
    assert "no column 'day', but" in messages(built.second)["without_partition"]
    assert version(built.project, "without_partition") == 0


def test_a_table_of_another_format_keeps_its_rows(built: Built) -> None:
    found = messages(built.second)
    for kind in ("parquet", "csv"):
        assert f"is a {kind} table, but the model builds a Delta table" in found[f"of_{kind}"]
        rows = built.project.sql(f"select * from {{schema}}.of_{kind} order by id")
        assert [tuple(row) for row in rows] == [(1, "a"), (2, "b")]
    assert "convert_to_delta --args" in found["of_parquet"]
    assert "convert_to_delta" not in found["of_csv"]
    built.project.dbt("run", "--full-refresh", "-s", "of_csv")
    assert tables(built.project, ["of_csv"]) == {"of_csv": [(1, "a"), (2, "b")]}
    assert version(built.project, "of_csv") == 0


def test_a_run_that_fails_leaves_the_table_as_it_was(built: Built) -> None:
    found = messages(built.second)
    for name, said in FAILS.items():
        assert said in found[name], name
        assert version(built.project, name) == 0, name
    expected = [(1, "a"), (2, "b")]
    assert tables(built.project, FAILING) == dict.fromkeys(FAILING, expected)
    left = [row.tableName for row in built.project.sql("show tables in {schema}")]
    assert not [name for name in left if "__dbt_tmp" in name]


def test_a_key_that_would_not_be_found_again_is_refused(built: Built) -> None:
    found = messages(built.second)
    for name, (_, _, said) in KEYS.items():
        assert said.format(name=built.project.relation(name)) in found[name], name
        assert version(built.project, name) == 0, name


def test_nothing_new_is_no_commit_and_no_new_view(built: Built) -> None:
    project = built.project
    before = versions(project, QUIET)
    again = project.dbt("run", "-s", *QUIET, "shown")
    assert versions(project, QUIET) == before
    for name in (*QUIET, "shown"):
        sent = statements(again, name)
        made = ("alter table", "create or replace view", "create or replace table")
        assert not [sql for sql in sent if sql.startswith(made)], sent
    found = metadata(project, "redacted")["configuration"]
    assert {key: found[key] for key in REDACTED} == REDACTED
    properties = {row.key: row.value for row in project.sql("show tblproperties {schema}.shown")}
    assert REDACTED.keys() <= properties.keys()


WINDOWED = (
    "{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',"
    " begin='2024-01-01', batch_size='day') }} select id, at from {{ ref('events') }}"
)
FROM_EVENTS = "select id, at from {{ ref('events') }}"
EMPTIED = {
    "windowed": WINDOWED,
    "replaced": model(
        FROM_EVENTS, incremental_strategy="replace_where", incremental_predicates=["id >= 0"]
    ),
    "overwritten": model(FROM_EVENTS, incremental_strategy="insert_overwrite"),
    "deleted": model(
        FROM_EVENTS, unique_key="id", not_matched_by_source_action="delete", merge_prune="off"
    ),
    "kept": model(FROM_EVENTS, unique_key="id"),
}


def test_empty_touches_no_row(project: Project) -> None:
    events = (
        "{{ config(materialized='table', event_time='at') }} select int(id) as id,"
        " timestamp'2024-01-01 12:00:00' as at from range(3)"
    )
    write_models(project, {"events": events, **EMPTIED})
    days = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
    project.dbt("run", *days)
    before = tables(project, EMPTIED)
    assert all(len(rows) == 3 for rows in before.values())
    wider = {
        name: text.replace("id, at from", "id, at, 1 as more from").replace(
            "materialized='incremental'",
            "materialized='incremental', on_schema_change='append_new_columns'",
        )
        for name, text in EMPTIED.items()
    }
    write_models(project, wider)
    project.dbt("run", "--empty", *days, "--exclude", "events")
    assert tables(project, EMPTIED) == {
        name: [(*row, None) for row in rows] for name, rows in before.items()
    }
    for name in EMPTIED:
        assert operations(project, name)[1:] == ["ADD COLUMNS"], name
    project.dbt("run", *days, "--exclude", "events")
    assert tables(project, EMPTIED) == {
        name: [(*row, 1) for row in rows] for name, rows in before.items()
    }
