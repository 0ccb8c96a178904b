"""The text of the incremental strategies, and what their configuration refuses."""

import datetime as dt
import sqlite3
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

TARGET = {
    "name": "`s`.`t`",
    "columns": [
        {"name": "id", "type": "bigint", "comment": ""},
        {"name": "day", "type": "date", "comment": ""},
        {"name": "v", "type": "string", "comment": ""},
    ],
    "partitions": [],
    "clustering": [],
    "properties": {"delta.enableDeletionVectors": "true"},
}


def settings(macros: Any, **config: Any) -> Any:
    """The settings of a model with that configuration."""
    return load(macros, **config)._incremental_settings()


def load(macros: Any, **config: Any) -> SimpleNamespace:
    """The macros in a model with that configuration."""
    return macros(
        config=SimpleNamespace(get=config.get),
        model=SimpleNamespace(columns={}, config=config, constraints=[], language="sql"),
        context={"get_incremental_mine_sql": "a macro"},
    )


def batch(**entries: Any) -> dict[str, Any]:
    """A batch with the target's columns."""
    columns = [
        {**column, "source": column["name"], "source_type": column["type"]}
        for column in TARGET["columns"]
    ]
    found = {"from": "`batch`", "staging": None, "bounds": [], "rows": 1, "null_rows": 0}
    return {**found, "columns": columns, "source_columns": TARGET["columns"], **entries}


def flat(sql: str) -> str:
    """SQL on one line."""
    return " ".join(sql.split())


def test_defaults(macros) -> None:
    found = settings(macros)
    assert (found["strategy"], found["on_schema_change"]) == ("merge", "ignore")
    assert (found["prune"], found["stage"], found["null_keys"]) == ("auto", "auto", "match")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"incremental_strategy": "upsert"}, "get_incremental_upsert_sql"),
        ({"incremental_strategy": "delete+insert"}, "needs unique_key"),
        ({"incremental_strategy": "microbatch"}, "needs event_time"),
        ({"on_schema_change": "append"}, "append_new_columns"),
        ({"duplicate_keys": "first", "unique_key": "id"}, "error, latest"),
        ({"duplicate_keys": "latest", "unique_key": "id"}, "duplicate_keys_order_by"),
        ({"duplicate_keys": "error"}, "need unique_key"),
        ({"null_keys": "error"}, "need unique_key"),
        ({"null_keys": "drop", "unique_key": "id"}, "match, error"),
        ({"merge_prune": ["day"], "unique_key": "id"}, "not in unique_key"),
        ({"merge_prune": "day", "unique_key": "id"}, "not in unique_key"),
        ({"stage": "cache"}, "auto, view, table"),
        ({"not_matched_by_source_action": "drop"}, "'delete' or 'update set"),
        ({"not_matched_by_source_action": "delete from t"}, "'delete' or 'update set"),
        ({"not_matched_by_source_action": "update set"}, "'delete' or 'update set"),
        ({"not_matched_by_source_condition": "true"}, "not_matched_by_source_action"),
        ({"skip_matched_step": True, "skip_not_matched_step": "true"}, "nothing to do"),
        ({"row_filter": {"function": "f"}}, "row_filter needs Databricks"),
        ({"grants": {"select": ["me"]}}, "grants needs a catalog"),
    ],
)
def test_refused_configuration(macros, config: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilationError, match=message):
        settings(macros, **config)


@pytest.mark.parametrize(
    ("given", "order"), [("a desc, b", "a desc, b"), (["a desc", "b"], "a desc, b")]
)
def test_the_order_of_duplicate_keys_may_be_a_list(macros, given: Any, order: str) -> None:
    config = {"duplicate_keys": "latest", "duplicate_keys_order_by": given, "unique_key": "id"}
    assert settings(macros, **config)["duplicate_keys_order_by"] == order


def test_strategy_of_the_project(macros) -> None:
    assert settings(macros, incremental_strategy="mine")["strategy"] == "mine"


MASK = {"column_mask": {"function": "full_mask"}}


@pytest.mark.parametrize("given", [MASK, {"config": MASK}])
def test_a_mask_is_refused_wherever_the_yaml_gives_it(macros, given: dict[str, Any]) -> None:
    package = macros(
        config=SimpleNamespace(get={}.get),
        model=SimpleNamespace(columns={"v": {"name": "v", **given}}),
    )
    with pytest.raises(CompilationError, match="column_mask of column v needs Databricks"):
        package._validate_platform()


def test_latest_is_one_row_per_key_though_the_order_leaves_it_open(macros) -> None:
    rows = "1, 5, 'a'", "1, 5, 'a'", "2, 7, 'b'", "2, 7, 'c'", "2, 6, 'd'", "null, 1, 'e'"
    batch = f"select column1 as id, column2 as n from (values ({'), ('.join(rows)}))"
    sql = macros().get_latest_sql(batch, ["id"], "n desc")
    # SQLite cannot leave a column out.
    sql = sql.replace("* except (__dbt_rank)", "id, n")
    found = sqlite3.connect(":memory:").execute(sql + " order by id").fetchall()
    assert found == [(None, 1), (1, 5), (2, 7)]


def test_merge(macros) -> None:
    package = load(macros, unique_key=["id", "day"])
    sql = package.get_merge_sql(TARGET, batch(), package._incremental_settings())
    assert flat(sql) == (
        "merge into `s`.`t` as DBT_INTERNAL_DEST using `batch` as DBT_INTERNAL_SOURCE on"
        " DBT_INTERNAL_DEST.`id` <=> DBT_INTERNAL_SOURCE.`id`"
        " and DBT_INTERNAL_DEST.`day` <=> DBT_INTERNAL_SOURCE.`day`"
        " when matched then update set `v` = DBT_INTERNAL_SOURCE.`v`"
        " when not matched then insert (`id`, `day`, `v`) values (DBT_INTERNAL_SOURCE.`id`,"
        " DBT_INTERNAL_SOURCE.`day`, DBT_INTERNAL_SOURCE.`v`)"
    )


def test_merge_without_key_inserts(macros) -> None:
    package = load(macros)
    sql = flat(package.get_merge_sql(TARGET, batch(), package._incremental_settings()))
    assert " on false when not matched then insert " in sql
    assert "when matched" not in sql


@pytest.mark.parametrize("alias", ["DBT_INTERNAL_DEST", "t"])
def test_delete_insert(macros, alias: str) -> None:
    config = {"target_alias": alias} if alias == "t" else {}
    config |= {"unique_key": "id", "incremental_predicates": [f"{alias}.day > '2024-01-01'"]}
    package = load(macros, incremental_strategy="delete+insert", **config)
    bounds = [{"name": "id", "nulls": False, "values": [], "low": "1", "high": "9"}]
    read = batch(bounds=bounds, staging="a table")
    sql = flat(package.get_delete_insert_sql(TARGET, read, package._incremental_settings()))
    assert sql == (
        f"merge into `s`.`t` as {alias} using ("
        " -- The names of the batch differ from the table's, so a predicate means the table."
        " select explode(array(true, false)) as __dbt_delete,"
        " `id` as `__dbt_of_id`, `day` as `__dbt_of_day`, `v` as `__dbt_of_v` from `batch`"
        f" ) as source on source.__dbt_delete and {alias}.`id` <=> source.`__dbt_of_id`"
        f" and {alias}.`id` >= 1 and {alias}.`id` <= 9 and ({alias}.day > '2024-01-01')"
        " when matched then delete when not matched and not source.__dbt_delete then"
        " insert (`id`, `day`, `v`)"
        " values (source.`__dbt_of_id`, source.`__dbt_of_day`, source.`__dbt_of_v`)"
    )


def test_a_users_columns_do_not_clash_with_those_of_delete_insert(macros) -> None:
    names = ["delete", "Matchable", "__dbt_delete", "__dbt_matchable", "dbt_of_delete"]
    columns = [{"name": name, "type": "int", "comment": ""} for name in names]
    read = batch(
        columns=[{**c, "source": c["name"], "source_type": c["type"]} for c in columns],
        null_rows=1,
    )
    package = load(macros, incremental_strategy="delete+insert", unique_key="delete")
    sql = package.get_delete_insert_sql(
        {**TARGET, "columns": columns}, read, package._incremental_settings()
    )
    given = sql[sql.index("explode(") : sql.index("from (")]
    found = [line.strip(" ,").rpartition(" as ")[2].strip("`") for line in given.splitlines()]
    found = [name for name in found if name]
    assert found[0] == "__dbt_delete"
    assert found[-1] == "__dbt_matchable"
    assert len(found) == len({name.lower() for name in found}) == len(names) + 2


def test_what_was_looked_at_is_asked_again_of_a_batch_that_was_not_staged(macros) -> None:
    package = load(macros, unique_key="id", null_keys="error")
    bounds = [{"name": "id", "nulls": True, "values": [], "low": "cast(1 as int)", "high": "9"}]
    read = batch(bounds=bounds)
    sql = flat(package.get_merge_sql(TARGET, read, package._incremental_settings()))
    limits = "({0} is null or ({0} >= cast(1 as int) and {0} <= 9))"
    assert "and " + limits.format("DBT_INTERNAL_DEST.`id`") in sql
    sql = flat(package.get_unchanged_batch_sql(TARGET, read, package._incremental_settings()))
    looks = (
        f"count(*) over (partition by `id`) = 1 and `id` is not null and {limits.format('`id`')}"
    )
    assert f"select if({looks}, `id`, raise_error(" in sql
    assert sql.count("raise_error") == 1
    appended = load(macros, incremental_strategy="append", unique_key="id")
    assert (
        appended.get_unchanged_batch_sql(TARGET, batch(), appended._incremental_settings())
        == "select * from `batch`"
    )


def test_null_keys_that_come_late_fail_where_the_write_is_not_made_for_them(macros) -> None:
    package = load(macros, incremental_strategy="delete+insert", unique_key="id")
    settings = package._incremental_settings()
    for null_rows, vectors, asks in ((0, True, True), (1, True, False), (0, False, False)):
        table = {**TARGET, "properties": {"delta.enableDeletionVectors": str(vectors).lower()}}
        sql = package.get_unchanged_batch_sql(table, batch(null_rows=null_rows), settings)
        assert ("`id` is not null" in sql) == asks, (null_rows, vectors)


def test_a_batch_that_replaces_by_a_subquery_is_staged(macros) -> None:
    """Nothing looks at the rows while they are written."""
    for predicate, expected in (("id in (select 1)", True), ("id = 1", False)):
        package = load(
            macros, incremental_strategy="replace_where", incremental_predicates=[predicate],
            stage="view",
        )  # fmt: skip
        found = package._is_staged(TARGET, "select 1 as id", package._incremental_settings())
        assert found == expected


def test_keys_that_were_not_looked_at_are_not_asked_for_again(macros) -> None:
    table = {**TARGET, "partitions": ["v"]}
    found = {}
    for strategy in ("append", "merge"):
        package = load(macros, incremental_strategy=strategy, unique_key="v")
        columns = [{**c, "type": "string", "source_type": "string"} for c in batch()["columns"]]
        found[strategy] = package.get_unchanged_batch_sql(
            table, batch(columns=columns), package._incremental_settings()
        )
    assert "__HIVE_DEFAULT_PARTITION__" in found["merge"]
    assert found["append"] == "select * from `batch`"


def test_values_that_the_table_would_alter_fail_though_the_source_changed(macros) -> None:
    package = load(macros, incremental_strategy="append")
    columns = batch()["columns"]
    columns[2]["source_type"] = "double"
    columns[2]["type"] = "int"
    sql = package.get_unchanged_batch_sql(
        TARGET,
        batch(columns=columns, source_columns=[{"name": "v", "type": "double"}]),
        package._incremental_settings(),
    )
    assert ") is not true, `v`, raise_error(" in sql


def test_unchanged_rows_are_left_out_without_deletion_vectors(macros) -> None:
    package = load(macros, unique_key="id", merge_skip_unchanged=True)
    found = package._incremental_settings()
    with_vectors = flat(package.get_merge_sql(TARGET, batch(), found))
    assert "left anti join" not in with_vectors
    assert "when matched and not (" in with_vectors
    plain = package.get_merge_sql({**TARGET, "properties": {}}, batch(), found)
    assert "left anti join (" in plain


@pytest.mark.parametrize(
    ("type", "low", "high"),
    [
        ("timestamp", "'2024-01-01 10:00:00+00:00'", "'2024-01-02 00:00:00+00:00'"),
        ("timestamp_ntz", "'2024-01-01 10:00:00'", "'2024-01-02 00:00:00'"),
        ("date", "'2024-01-02'", "'2024-01-02'"),
    ],
)
def test_window(macros, type: str, low: str, high: str) -> None:
    package = load(
        macros,
        event_time="day",
        __dbt_internal_microbatch_event_time_start=dt.datetime(2024, 1, 1, 10),
        __dbt_internal_microbatch_event_time_end=dt.datetime(2024, 1, 2),
    )
    target = {**TARGET, "columns": [{"name": "Day", "type": type}]}
    assert package._window(target) == [f"`Day` >= {type}{low}", f"`Day` < {type}{high}"]


SAMPLED = SimpleNamespace(start=dt.datetime(2024, 1, 2, 10, tzinfo=dt.UTC))


def batch_of(macros: Any, start: str, end: str, args: dict[str, Any], **config: Any) -> Any:
    """The macros in a microbatch, as dbt was called."""
    own = {
        "event_time": "day",
        "__dbt_internal_microbatch_event_time_start": dt.datetime.fromisoformat(start),
        "__dbt_internal_microbatch_event_time_end": dt.datetime.fromisoformat(end),
        **config,
    }
    return macros(
        config=SimpleNamespace(get=own.get),
        invocation_args_dict=args,
        model=SimpleNamespace(config=own, name="m"),
        this=SimpleNamespace(schema="s", identifier="m"),
    )


def test_a_sample_makes_the_window_smaller(macros) -> None:
    sample = SimpleNamespace(
        start=dt.datetime(2024, 1, 1, 10, 0, 0, 500), end=dt.datetime(2025, 1, 1)
    )
    package = batch_of(macros, "2024-01-01", "2024-01-02", {"sample": sample})
    target = {**TARGET, "columns": [{"name": "day", "type": "timestamp_ntz"}]}
    assert package._window(target) == [
        "`day` >= timestamp_ntz'2024-01-01 10:00:00.000500'",
        "`day` < timestamp_ntz'2024-01-02 00:00:00'",
    ]


@pytest.mark.parametrize(
    ("args", "plugin", "refused"),
    [
        ({}, {}, True),
        ({"event_time_start": "2024-01-01"}, {}, True),
        ({"event_time_end": "2024-01-02"}, {}, False),
        ({"sample": SAMPLED}, {}, False),
        ({}, {"dbt_delta_select": None}, False),
    ],
)
def test_without_the_plugin_nothing_is_counted_back_from_inputs(
    macros, args: dict[str, Any], plugin: dict[str, Any], refused: bool
) -> None:
    own = {"event_time": "day", "lookback_from": "inputs"}
    package = macros(
        config=SimpleNamespace(get=own.get),
        invocation_args_dict=args,
        adapter=SimpleNamespace(**plugin),
    )
    said = "back from now. Name them by --event-time-start and --event-time-end."
    with pytest.raises(CompilationError, match=said) if refused else nullcontext():
        package._validate_microbatch()


@pytest.mark.parametrize(
    ("start", "begin", "given", "refused"),
    [
        ("2024-01-01", "2024-01-01", None, False),
        # dbt cuts the beginning to the batch's size.
        ("2024-01-01", dt.datetime(2024, 1, 1, 5), None, False),
        ("2024-01-02", "2024-01-01", None, True),
        ("2024-01-02", "2024-01-01", dt.datetime(2024, 1, 2, tzinfo=dt.UTC), False),
        ("2024-01-03", "2024-01-01", "2024-01-02 00:00:00", True),
        # A sample has a beginning of its own.
        ("2024-01-02", "2024-01-01", {"sample": SAMPLED}, False),
        ("2024-01-03", "2024-01-01", {"sample": SAMPLED}, True),
    ],
)
def test_a_table_is_built_of_its_first_batch(
    macros, start: str, begin: object, given: object, refused: bool
) -> None:
    args = given if isinstance(given, dict) else {"event_time_start": given}
    package = batch_of(macros, start, "2024-01-04", args, begin=begin)
    said = f"--event-time-start '{start} 00:00:00' --event"
    with pytest.raises(CompilationError, match=said) if refused else nullcontext():
        package._check_first_batch()


@pytest.mark.parametrize(
    ("config", "refused"),
    [
        ({"incremental_strategy": "insert_overwrite"}, True),
        ({"incremental_strategy": "delete+insert", "unique_key": "id"}, True),
        ({"incremental_strategy": "replace_where", "incremental_predicates": ["id > 1"]}, True),
        ({"unique_key": "id", "not_matched_by_source_action": "delete"}, True),
        ({"unique_key": "id"}, False),
        ({"incremental_strategy": "append"}, False),
    ],
)
def test_what_a_sample_must_not_replace(macros, config: dict[str, Any], refused: bool) -> None:
    package = load(macros, **config)
    found = package._incremental_settings()
    said = "and --sample leaves out rows"
    with pytest.raises(CompilationError, match=said) if refused else nullcontext():
        package._check_sample(TARGET, found)


@pytest.mark.parametrize(
    ("sql", "expensive"),
    [
        ("select * from a where id > 1", False),
        ("select * except (b) from a union all select * from c", False),
        ("select 'group by' as x -- join\nfrom a /* over */", False),
        ("select * from a join b", True),
        ("select count(*) from a group\n by b", True),
        ("select row_number() over (order by a) from b", True),
        ("select a from b except select a from c", True),
        ("select rand() from a", True),
        ("select Random () from a", True),
        ("select randstr(3), monotonically_increasing_id() from a", True),
        ("select random_id from a", False),
        ("select * from a limit 5", True),
        ("select first(x) as x from a", True),
        ("select histogram_numeric (x, 5) from a", True),
        ("select first, last, unlimited from a", False),
        ("select shop.price(a) from b", True),
        ("select `shop` . `price` (a) from b", True),
        ("select {{ function('price') }}(a) from b", True),
        ("select `rand` () from a", True),
        ("select try_reflect('java.lang.Math', 'random') from a", True),
        ("select current_date as d from a", True),
        ("select a from b where c < CURDATE()", True),
        ("select a from b where c < date ' Today'", True),
        ('select timestamp_ntz"now" from b', True),
        ("select a from b where c < date '2026-01-01' or current_dates = 'today'", False),
        ("select `rand` from `shop`.`a` where (`limit` > 1)", False),
        ("select a from stream `shop`.`a` with ('maxFilesPerTrigger' = 4)", False),
        ("select a.b, 1.5 * (a.c + 1), a.* from b as a where a.b in (1, 2)", False),
    ],
)
def test_is_expensive(macros, sql: str, expensive: bool) -> None:
    assert macros(graph=SimpleNamespace(nodes={}))._is_expensive(sql) is expensive


def test_is_expensive_looks_through_views(macros) -> None:
    nodes = {
        "a": SimpleNamespace(
            config=SimpleNamespace(materialized="view"),
            raw_code="select * from {{ ref('b') }}",
            depends_on=SimpleNamespace(nodes=["b"]),
        ),
        "b": SimpleNamespace(
            config=SimpleNamespace(materialized="view"),
            raw_code="select distinct x from y",
            depends_on=SimpleNamespace(nodes=[]),
        ),
    }
    package = macros(graph=SimpleNamespace(nodes=nodes))
    assert package._is_expensive("select * from a", ["a"]) is True
    nodes["b"].config.materialized = "table"
    assert package._is_expensive("select * from a", ["a"]) is False


COPIED = {**TARGET, "properties": {"delta.enableDeletionVectors": "false"}}
CONDITION = {"unique_key": "id", "not_matched_condition": "DBT_INTERNAL_SOURCE.v > 'a'"}
BY_SOURCE = {
    "unique_key": "id",
    "not_matched_by_source_action": "delete",
    "not_matched_by_source_condition": "DBT_INTERNAL_DEST.v > 'a'",
}


@pytest.mark.parametrize(
    ("target", "config", "null_rows", "marker"),
    [
        (TARGET, {"unique_key": "id"}, 1, None),
        (TARGET, CONDITION, 0, None),
        (TARGET, CONDITION, 1, "nulls"),
        (TARGET, CONDITION, None, "nulls"),
        (COPIED, CONDITION, 1, None),
        (TARGET, BY_SOURCE, 0, "present"),
        (TARGET, {"unique_key": "id", "incremental_strategy": "delete+insert"}, 1, "nulls"),
        (TARGET, {"unique_key": "id", "incremental_strategy": "delete+insert"}, 0, None),
    ],
)
def test_marker(
    macros, target: dict[str, Any], config: dict[str, Any], null_rows: int | None, marker: str
) -> None:
    package = load(macros, **config)
    found = package._marker(target, {"null_rows": null_rows}, package._incremental_settings())
    assert found == marker


def test_marked_asks_the_target_for_null_keys_only(macros) -> None:
    found = flat(load(macros)._marked(TARGET, batch(), "`batch`", ["id", "day"], "nulls"))
    assert "where `id` is null or `day` is null" in found
    assert "on batch.`id` <=> found.key_1 and batch.`day` <=> found.key_2" in found
    assert load(macros)._marked(TARGET, batch(), "`batch`", ["id"], None) == "`batch`"


@pytest.mark.parametrize(
    ("config", "has"),
    [
        ({"unique_key": "id"}, True),
        ({"skip_not_matched_step": True}, False),
        ({"unique_key": "id", "skip_not_matched_step": True}, True),
        (
            {
                "unique_key": "id",
                "skip_not_matched_step": True,
                "merge_exclude_columns": ["day", "V"],
            },
            False,
        ),
        ({**BY_SOURCE, "skip_not_matched_step": True, "skip_matched_step": True}, True),
    ],
)
def test_has_clause(macros, config: dict[str, Any], has: bool) -> None:
    package = load(macros, **config)
    assert bool(package._has_clause(batch(), package._incremental_settings())) == has


@pytest.mark.parametrize(
    ("type", "properties", "feature"),
    [
        ("timestamp_ntz", {}, "timestampNtz"),
        ("array<struct<a:timestamp_ntz>>", {}, "timestampNtz"),
        ("struct<timestamp_ntz_like:int>", {}, None),
        ("timestamp", {}, None),
        ("variant", {}, "variantType"),
        ("timestamp_ntz", {"delta.feature.timestampNtz": "supported"}, None),
    ],
)
def test_missing_feature(
    macros, type: str, properties: dict[str, str], feature: str | None
) -> None:
    found = load(macros)._missing_feature(type, {"properties": properties}, {"properties": {}})
    assert found == feature


@pytest.mark.parametrize(
    ("sql", "path", "mentions"),
    [
        ("id > 0", "id", True),
        ("ID>0", "iD", True),
        ("`a b` > 0", "a b", True),
        ("`A``b` > 0", "a`b", True),
        ("größe > 0", "größe", True),
        ("ids > 0 and an_id > 0 and `id ` > 0", "id", False),
        ("v != 'id' -- id\n and v != 'it''s id' /* id */", "id", False),
        ("", "id", False),
        # A function, a type, and a field are no columns of that name.
        ("year(day) > 2000 and day > date'2000-01-01'", "year", False),
        ("year(day) > 2000 and day > date '2000-01-01'", "date", False),
        ("`date` > '2000-01-01'", "date", True),
        ("`year`(day) > 2000 and year > 1", "year", True),
        ("s.`low` > 0", "low", False),
        ("s.`low` > 0", "s", True),
        ("s.`low` > 0", "s.LOW", True),
        ("s > t and t.low > 0", "s.low", True),
        ("s.high > 0", "s.low", False),
        ("s.a.b > 0", "s.a", True),
        ("s.a > t.b", "s.a.c", True),
        ("s.a.b > 0", "s.a.c", False),
        ("DBT_INTERNAL_DEST.v > 1", "dbt_internal_dest", True),
    ],
)
def test_mentions(macros, sql: str, path: str, mentions: bool) -> None:
    assert macros()._mentions(sql, path.split(".")) is mentions


def promised(**entries: Any) -> dict[str, Any]:
    """A layout that promises no more than these."""
    return {"checks": {}, "follows_checks": False, "properties": {}, **entries}


HELD = {
    **TARGET,
    "relation": SimpleNamespace(schema="s", identifier="t"),
    "properties": {
        "delta.columnMapping.mode": "name",
        "delta.constraints.old": "v > 'a'",
        "delta.constraints.untold": None,
    },
}


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        # What Spark does not tell may name any column.
        (promised(), ["old", "untold"]),
        (
            promised(checks={"new": "`V` is not null", "other": "id > 0"}),
            ["new", "old", "untold"],
        ),
        (promised(checks={"old": "id > 0", "untold": "id > 1"}), []),
        (promised(follows_checks=True), []),
        (promised(checks={"old": "V>'a'"}, follows_checks=True), ["old"]),
    ],
)
def test_constraints_on(macros, layout: dict[str, Any], names: list[str]) -> None:
    assert macros()._constraints_on(["V"], HELD, layout) == names


def test_a_column_that_a_check_names_is_not_dropped(macros) -> None:
    changes = [{"kind": "drop", "path": [name], "was": "string"} for name in ("v", "day")]
    package = load(macros)
    told = {k: v for k, v in HELD["properties"].items() if v}
    held = {**HELD, "properties": told}
    said = (
        r"removed column v of `s`.`t`: CHECK constraint old uses it. Nothing was changed. [^\n]*$"
    )
    with pytest.raises(CompilationError, match=said):
        package._refuse_impossible(changes, held, promised())
    package._refuse_impossible(changes, HELD, promised(follows_checks=True))


@pytest.mark.parametrize("path", [["S"], ["s", "a"]])
def test_what_holds_a_clustering_column_is_not_dropped(macros, path: list[str]) -> None:
    held = {**HELD, "clustering": ["s.A.b"], "properties": {"delta.columnMapping.mode": "name"}}
    package = load(macros)
    changes = [{"kind": "drop", "path": path, "was": "struct<a:struct<b:int>>"}]
    with pytest.raises(CompilationError, match="partitioned or clustered by it"):
        package._refuse_impossible(changes, held, promised())
    changes = [{"kind": "drop", "path": ["s", "ab"], "was": "int"}]
    package._refuse_impossible(changes, held, promised())


@pytest.mark.parametrize(
    ("config", "layout", "columns", "checked"),
    [
        ({}, promised(), "id day v", ["v > 'a'"]),
        ({}, None, "id day v", ["v > 'a'"]),
        ({}, promised(checks={"n": "id > 0"}), "id day v", ["id > 0", "v > 'a'"]),
        ({}, promised(checks={"old": "id > 0"}), "id day v", ["id > 0"]),
        ({}, promised(follows_checks=True), "id day v", []),
        # The table's own value or default is what counts then.
        ({}, promised(checks={"n": "id > 0"}), "id day", ["id > 0"]),
        ({"incremental_strategy": "append"}, promised(), "id day v", ["v > 'a'"]),
        # Which rows are written only the MERGE knows, or the project's own strategy.
        ({"incremental_strategy": "mine"}, promised(), "id day v", []),
        (
            {"incremental_strategy": "delete+insert", "incremental_predicates": "id > 1"},
            promised(),
            "id day v",
            [],
        ),
        ({"matched_delete_condition": "true"}, promised(), "id day v", []),
        ({"incremental_predicates": ["id > 1"]}, promised(), "id day v", []),
        ({"matched_condition": "true"}, promised(), "id day v", []),
        ({"not_matched_condition": "true"}, promised(), "id day v", []),
        ({"skip_matched_step": True}, promised(), "id day v", []),
        ({"skip_not_matched_step": True}, promised(), "id day v", []),
        ({"merge_update_columns": ["v"]}, promised(), "id day v", []),
        ({"merge_exclude_columns": ["v"]}, promised(), "id day v", []),
    ],
)
def test_check_constraints(
    macros, config: dict[str, Any], layout: Any, columns: str, checked: list[str]
) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        sent.append(flat(sql))
        return SimpleNamespace(rows=[(0, None) * 3])

    package = load(macros, unique_key="id", **config)
    found = package._incremental_settings()
    package = macros(run_query=run_query)
    written = [column for column in batch()["columns"] if column["name"] in columns.split()]
    read = batch(columns=written, target_columns=TARGET["columns"])
    package._check_constraints(HELD, read, found, layout)
    counts = [f"count_if(({sql}) is not true)" for sql in checked]
    assert all(count in sent[0] for count in counts) if checked else sent == []
    assert len(sent) == bool(checked)
    if checked:
        assert sent[0].count("count_if(") == len(checked)
        last = "`v`" if "v" in columns.split() else "cast(null as string)"
        assert sent[0].endswith(
            f" from (select `id` as `id`, `day` as `day`, {last} as `v` from `batch`)"
        )


def test_constraints_are_checked_on_values_as_the_table_stores_them(macros) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        sent.append(sql)
        return SimpleNamespace(rows=[(2, '{"v":"0"}')])

    (*others, v) = batch()["columns"]
    read = batch(columns=[*others, {**v, "source_type": "int"}], target_columns=TARGET["columns"])
    found = settings(macros, incremental_strategy="append")
    package = macros(run_query=run_query)
    said = (
        r"old \(v > 'a'\) is violated by 2 of the rows of the batch for `s`.`t`, for example by {"
    )
    with pytest.raises(CompilationError, match=said):
        package._check_constraints(HELD, read, found, None)
    assert "cast(`v` as string) as `v`" in sent[0]


@pytest.mark.parametrize(
    ("columns", "sql"),
    [
        ({"id": "int", "v": "array<struct<void:int>>"}, "select 1"),
        (
            {"d": "int", "e": "int"},
            "select cast(`d` as int) as `d`, `e` from ( select 1 ) as batch",
        ),
        (
            {"id": "int", "a b": "void"},
            "select `id`, cast(`a b` as string) as `a b` from ( select 1 ) as batch",
        ),
        (
            {"v": "array<void>", "s": "struct<`a:void,b`:int,c:map<int,void>>"},
            "select cast(`v` as array<string>) as `v`, "
            "cast(`s` as struct<`a:void,b`:int,c:map<int,string>>) as `s` "
            "from ( select 1 ) as batch",
        ),
    ],
)
def test_a_column_without_a_type_is_text_and_none_has_a_foreign_default(
    macros, columns: dict[str, str], sql: str
) -> None:
    package = macros()
    package._columns_of = lambda sql, stored: [
        {"name": n, "type": t, "carried": n == "d"} for n, t in columns.items()
    ]
    assert flat(package._typed("select 1\n")) == sql


@pytest.mark.parametrize(
    ("predicates", "is_refused"),
    [
        (["day between 1 and 2"], True),
        (["id = 1", "id > 1 or DAY not Between 1 and 2"], True),
        (["id between 1 and 2", "day = 1"], False),
        (["day = 'a between b'"], False),
        (["day between 1 and 2", "id in (select 1)"], False),
    ],
)
def test_between_on_a_partition_column_is_refused(
    macros, predicates: list[str], is_refused: bool
) -> None:
    package = load(macros, incremental_strategy="replace_where", incremental_predicates=predicates)
    table = {"name": "`t`", "partitions": ["day"]}
    if is_refused:
        with pytest.raises(CompilationError, match="BETWEEN on the partition column day"):
            package._delta__check_strategy(table, package._incremental_settings())
    else:
        assert not package._delta__check_strategy(table, package._incremental_settings())


@pytest.mark.parametrize(
    ("properties", "told", "said"),
    [
        ({"delta.feature.allowColumnDefaults": "supported"}, {}, "may have a DEFAULT"),
        ({"delta.feature.generatedColumns": "supported"}, {}, "may have a DEFAULT or be computed"),
        ({"delta.minWriterVersion": "4"}, {}, "may have a DEFAULT or be computed"),
        ({}, {"default": None, "is_generated": True, "generation": None}, "is an identity"),
        ({"delta.feature.allowColumnDefaults": "supported"}, {"default": None}, None),
        ({}, {}, None),
    ],
)
def test_what_may_have_a_value_of_its_own_is_not_written_as_null(
    macros, properties: dict[str, str], told: dict[str, Any], said: str | None
) -> None:
    columns = [{"name": "id", "type": "int"}, {"name": "v", "type": "int", **told}]
    target = {
        "name": "`s`.`t`",
        "columns": columns,
        "properties": {"delta.minWriterVersion": "7", **properties},
    }
    written = {"columns": [{"name": "id", "type": "int"}], "staging": None}
    if said is None:
        macros()._check_defaults(target, written)
        return
    with pytest.raises(CompilationError, match=said):
        macros()._check_defaults(target, written)


def test_bytes_that_are_no_text_bound_nothing(macros) -> None:
    """A client reads another character in their place. Snapshots have such keys."""
    key = {"name": "id", "type": "string", "expression": "`id`", "is_partition": False}
    for low, high, is_bound in (("a", "b", True), ("\ufffdA", "b", False), ("a", "\ufffd", False)):
        found = {"low_0": low, "high_0": high, "nulls_0": 0, "values_0": None}
        bounds = macros()._found_bounds([key], found, [{"name": "id", "type": "string"}])
        assert bool(bounds) == is_bound, (low, high)


@pytest.mark.parametrize(
    ("text", "type", "literal"),
    [
        ("5", "int", "cast(5 as int)"),
        ("a'b", "string", r"'a\'b'"),
        ("2024-01-01", "date", "date'2024-01-01'"),
        # As a number it is a double, and the bound another one than the key.
        ("1.23456789012345678901234E-7", "decimal(38,30)",
         "cast('1.23456789012345678901234E-7' as decimal(38,30))"),
    ],
)  # fmt: skip
def test_a_bound_is_the_key_itself(macros, text: str, type: str, literal: str) -> None:
    assert macros()._bound_literal(text, type) == literal
