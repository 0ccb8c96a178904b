"""on_schema_change: what becomes of new, missing and retyped columns, on every strategy.

All models are one project, which runs twice; a test looks at its own.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    Built,
    build_twice,
    columns,
    messages,
    model,
    relations,
    tables,
    values,
    write_models,
)
from tests.functional.tables import versions

MAPPED = {"delta.columnMapping.mode": "name"}
WIDENING = {"delta.enableTypeWidening": "true"}
NTZ = {"delta.feature.timestampNtz": "supported"}
STRATEGIES: dict[str, dict[str, Any]] = {
    "append": {"incremental_strategy": "append"},
    "merge": {"incremental_strategy": "merge", "unique_key": "id"},
    "delete_insert": {"incremental_strategy": "delete+insert", "unique_key": "id"},
    "insert_overwrite": {"incremental_strategy": "insert_overwrite", "partition_by": "id"},
    "replace_where": {
        "incremental_strategy": "replace_where",
        "incremental_predicates": ["id >= 2"],
    },
}


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    return build_twice(
        new_shared_project("schema_change"),
        {**CHANGING, **FAILING, **ALLOWED, **IMPOSSIBLE, **WIDE, **REFUSED_BATCHES, **TOO_LARGE},
    )


def test_only_what_is_refused_fails_and_nothing_is_left_behind(built: Built) -> None:
    assert messages(built.first) == {}
    refused = {*FAILING, *IMPOSSIBLE, *REFUSED_BATCHES, *TOO_LARGE, "allowed_later"} - {"same"}
    assert set(messages(built.second)) == refused
    assert versions(built.project, refused) == dict.fromkeys(refused, 0)
    models = {result.node.name for result in built.second.results}
    assert relations(built.project) == sorted(models)


CHANGING = {
    f"{name}__{mode}": model(
        "select 1 as id, 'name' as name, 'a' as v, 10 as gone,"
        " named_struct('a', 1, 'old', 'x') as s,"
        " array(named_struct('a', 1, 'old', 'x')) as l, map('k', named_struct('a', 1)) as m",
        "select map('k', named_struct('a', 2, 'b', 9)) as m, 7L as further,"
        " array(named_struct('b', 8, 'a', 2), null) as l, 'b' as V,"
        " named_struct('b', named_struct('c', 7), 'a', 2L) as s, 'name 2' as Name, 2 as Id",
        on_schema_change=mode,
        **({"tblproperties": {**MAPPED, **WIDENING}} if mode == "sync_all_columns" else {}),
        **config,
    )
    for name, config in STRATEGIES.items()
    for mode in ("ignore", "append_new_columns", "sync_all_columns")
}
TYPES = {
    "ignore": {
        "gone": "int",
        "s": "struct<a:int,old:string>",
        "l": "array<struct<a:int,old:string>>",
        "m": "map<string,struct<a:int>>",
    },
    "append_new_columns": {
        "gone": "int",
        "s": "struct<a:int,old:string,b:struct<c:int>>",
        "l": "array<struct<a:int,old:string,b:int>>",
        "m": "map<string,struct<a:int,b:int>>",
        "further": "bigint",
    },
    "sync_all_columns": {
        "s": "struct<a:bigint,b:struct<c:int>>",
        "l": "array<struct<a:int,b:int>>",
        "m": "map<string,struct<a:int,b:int>>",
        "further": "bigint",
    },
}
ROWS = {
    "ignore": [
        (10, {"a": 1, "old": "x"}, [{"a": 1, "old": "x"}], {"k": {"a": 1}}),
        (None, {"a": 2, "old": None}, [{"a": 2, "old": None}, None], {"k": {"a": 2}}),
    ],
    "append_new_columns": [
        (
            10,
            {"a": 1, "old": "x", "b": None},
            [{"a": 1, "old": "x", "b": None}],
            {"k": {"a": 1, "b": None}},
            None,
        ),
        (
            None,
            {"a": 2, "old": None, "b": {"c": 7}},
            [{"a": 2, "old": None, "b": 8}, None],
            {"k": {"a": 2, "b": 9}},
            7,
        ),
    ],
    "sync_all_columns": [
        ({"a": 1, "b": None}, [{"a": 1, "b": None}], {"k": {"a": 1, "b": None}}, None),
        ({"a": 2, "b": {"c": 7}}, [{"a": 2, "b": 8}, None], {"k": {"a": 2, "b": 9}}, 7),
    ],
}


def test_every_mode_on_every_strategy(built: Built) -> None:
    """Columns and fields of structs, in another order and case than the table's.

    Stock dbt-spark inserts by position after a schema change: values are swapped.
    """
    kept = {"id": "int", "name": "string", "v": "string"}
    found = tables(built.project, CHANGING)
    for name in CHANGING:
        mode = name.split("__")[1]
        assert [*columns(built.project, name).items()] == [*{**kept, **TYPES[mode]}.items()], name
        first, second = ROWS[mode]
        assert found[name] == [(1, "name", "a", *first), (2, "name 2", "b", *second)], name


GONE = values("id, v, gone", "1, 'a', 10")
FAILING = {
    **{
        f"fail_{name}": model(
            GONE,
            "select 2 as id, 7L as further, 'b' as v",
            on_schema_change="fail",
            **config,
        )
        for name, config in STRATEGIES.items()
    },
    "same": model(GONE, "select 11 as gone, 2 as ID, 'b' as v", on_schema_change="fail"),
}


def test_fail_names_the_differences_and_changes_nothing(built: Built) -> None:
    for name in STRATEGIES:
        message = messages(built.second)[f"fail_{name}"]
        assert "new column further bigint, removed column gone" in message
    expected = {"same": [(1, "a", 10), (2, "b", 11)]}
    assert tables(built.project, expected) == expected


SYNC = {"unique_key": "id", "on_schema_change": "sync_all_columns"}
NUMBERS = (
    "select 1 as id, 2 as n, cast(1.25 as decimal(9, 2)) as d, date'2024-01-02' as day,"
    " 5000000000L as w, 0 as gone"
)
# All are wider, but w.
WIDER = (
    "select 2 as id, 3000000000L as n, cast(1.2345 as decimal(12, 4)) as d,"
    " timestamp_ntz'2024-01-02 03:04:05' as day, 7 as w"
)
ALL_ALLOWED = {"tblproperties": {**MAPPED, **WIDENING, **NTZ}}
ALLOWED = {
    # Values of x and y become narrower: their columns stay.
    "allowed": model(
        NUMBERS + ", cast(1.25 as decimal(12, 4)) as x, timestamp_ntz'2024-01-02 03:04:05' as y",
        WIDER + ", cast(2.5 as decimal(9, 2)) as x, date'2024-01-02' as y",
        **ALL_ALLOWED,
        **SYNC,
    ),
    "allowed_later": model(NUMBERS, WIDER, **SYNC),
}
IMPOSSIBLE = {
    "untyped": model(
        NUMBERS,
        NUMBERS.replace("2 as n", "'2' as n")
        + ", timestamp_ntz'2024-01-02 03:04:05' as t, parse_json('1') as u",
        **SYNC,
    ),
    "without_feature": model(NUMBERS, WIDER, tblproperties={**MAPPED, **WIDENING}, **SYNC),
    "partitioned": model(NUMBERS, "select 2 as id", partition_by="n", tblproperties=MAPPED, **SYNC),
    "clustered": model(
        NUMBERS, "select 2 as id", liquid_clustered_by="n", tblproperties=MAPPED, **SYNC
    ),
}


def test_columns_are_dropped_and_widened_if_the_properties_allow_it(built: Built) -> None:
    project = built.project
    ntz, variant = (
        f"{{'delta.feature.{name}': 'supported'}}" for name in ("timestampNtz", "variantType")
    )
    refused = {
        "without_feature": ("column day from date", ntz),
        "untyped": (
            *("new column t timestamp_ntz", ntz),
            *("new column u variant", variant),
            *("column n from int to string", "Cast the column to int"),
        ),
        "allowed_later": (
            *("column n from int to bigint", "delta.enableTypeWidening"),
            *("removed column gone", "delta.columnMapping.mode"),
        ),
        "partitioned": ("removed column n", "partitioned or clustered by it"),
        "clustered": ("removed column n", "partitioned or clustered by it"),
    }
    for name, texts in refused.items():
        for text in (*texts, "Nothing was changed"):
            assert text in messages(built.second)[name], (name, text)
    # The properties in the model switch the feature on first, in the same run.
    write_models(project, {"allowed_later": model(NUMBERS, WIDER, **ALL_ALLOWED, **SYNC)})
    project.dbt("run", "-s", "allowed_later")
    kept = {"x": "decimal(12,4)", "y": "timestamp_ntz"}
    for name, further in {"allowed": kept, "allowed_later": {}}.items():
        assert columns(project, name) == {
            "id": "int",
            "n": "bigint",
            "d": "decimal(12,4)",
            "day": "timestamp_ntz",
            "w": "bigint",
            **further,
        }
        listed = project.sql(f"select id, n, string(d), string(day), w from {{schema}}.{name}")
        assert sorted(tuple(row) for row in listed) == [
            (1, 2, "1.2500", "2024-01-02 00:00:00", 5000000000),
            (2, 3000000000, "1.2345", "2024-01-02 03:04:05", 7),
        ]
    (row,) = project.sql("select string(x), string(y) from {schema}.allowed where id = 2")
    assert tuple(row) == ("2.5000", "2024-01-02 00:00:00")


FIELDS = ", ".join(f"'f{n}', id * {n}" for n in range(40))
WIDE_ROW = f"select id, named_struct({FIELDS}) as s, array(named_struct({FIELDS})) as l from "
WIDE = {
    "wide": model(WIDE_ROW + "range(2)", WIDE_ROW + "range(2, 3)", **STRATEGIES["append"]),
    "wider": model(
        WIDE_ROW + "range(2)",
        WIDE_ROW.replace("'f39', id * 39)) as l", "'f39', id * 39, 'f40', 7)) as l")
        + "range(1, 3)",
        on_schema_change="append_new_columns",
        **STRATEGIES["merge"],
    ),
}


def test_wide_structs_keep_all_fields(built: Built) -> None:
    """DESCRIBE shows the first 25 of their fields only."""
    for name in WIDE:
        row = built.project.rows(name)[2]
        element = row["l"][0]
        assert (row["id"], row["s"]["f39"], element["f38"], element["f39"]) == (2, 78, 76, 78), name
    assert element["f40"] == 7


TWICE = "select 1 as id, 5 as further from range(2)"
APPENDING = {"on_schema_change": "append_new_columns"}
REFUSED_BATCHES = {
    "viewed": model("select 1 as id", TWICE, unique_key="id", **APPENDING),
    "staged": model("select 1 as id", TWICE, stage="table", **SYNC),
    "typeless": model("select 1 as id", "select 1 as id, null as x", **APPENDING),
}


def test_a_refused_batch_leaves_the_schema_as_it_was(built: Built) -> None:
    """Keys are checked before columns are added, not after."""
    found = messages(built.second)
    assert "duplicate keys" in found["viewed"]
    assert "duplicate keys" in found["staged"]
    assert "cast(null as <type>)" in found["typeless"]
    for name in REFUSED_BATCHES:
        assert list(columns(built.project, name)) == ["id"], name


FITTING = "select 1 as id, 1 as v, named_struct('a', 1) as s"
OVERFLOWING = "select 1 as id, 1 as v, named_struct('a', 2147483648L) as s, 5 as further"
TOO_LARGE = {
    "plain": model(
        FITTING, OVERFLOWING.replace("1 as v", "2147483648L as v"), unique_key="id", **APPENDING
    ),
    "nested": model(FITTING, OVERFLOWING, incremental_strategy="append", **APPENDING),
}


def test_a_value_that_does_not_fit_leaves_the_schema_as_it_was(built: Built) -> None:
    """Values are cast before columns are added, in fields of structs too."""
    for name in TOO_LARGE:
        assert "would change" in messages(built.second)[name]
        assert list(columns(built.project, name)) == ["id", "v", "s"], name
