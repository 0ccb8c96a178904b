"""on_schema_change: what becomes of new, missing and retyped columns, on every strategy."""

from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    columns,
    messages,
    model,
    relations,
    tuples,
    values,
    versions,
    write_models,
)

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
FIRST = values("id, v, gone", "1, 'a', 10")
THEN = "select 2 as id, 7L as further, 'b' as v"


def test_every_mode_on_every_strategy(project: Project) -> None:
    models = {}
    for name, config in STRATEGIES.items():
        for mode in ("ignore", "append_new_columns", "sync_all_columns"):
            models[f"{name}__{mode}"] = model(
                FIRST, THEN, on_schema_change=mode, tblproperties=MAPPED, **config
            )
    write_models(project, models)
    project.dbt("run")
    project.dbt("run")
    expected = {
        "ignore": ("id v gone", [(1, "a", 10), (2, "b", None)]),
        "append_new_columns": ("id v gone further", [(1, "a", 10, None), (2, "b", None, 7)]),
        "sync_all_columns": ("id v further", [(1, "a", None), (2, "b", 7)]),
    }
    for name in models:
        names, rows = expected[name.split("__")[1]]
        assert " ".join(columns(project, name)) == names, name
        assert tuples(project, name) == rows, name
    assert relations(project) == sorted(models)


def test_fail_names_the_differences_and_changes_nothing(project: Project) -> None:
    models = {
        name: model(FIRST, THEN, on_schema_change="fail", **config)
        for name, config in STRATEGIES.items()
    }
    same = model(FIRST, "select 11 as gone, 2 as ID, 'b' as v", on_schema_change="fail")
    write_models(project, {**models, "same": same})
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == sorted(models)
    for message in found.values():
        assert "new column further bigint, removed column gone" in message
    assert set(versions(project, models).values()) == {0}
    assert tuples(project, "same") == [(1, "a", 10), (2, "b", 11)]


def test_columns_are_dropped_and_widened_if_the_properties_allow_it(project: Project) -> None:
    first = "select 1 as id, 2 as n, cast(1.25 as decimal(9, 2)) as d, date'2024-01-02' as day"
    then = (
        "select 2 as id, 3000000000L as n, cast(1.2345 as decimal(12, 4)) as d,"
        " timestamp_ntz'2024-01-02 03:04:05' as day"
    )
    sync = {"unique_key": "id", "on_schema_change": "sync_all_columns"}
    write_models(
        project,
        {
            "from_the_start": model(first, then, tblproperties={**WIDENING, **NTZ}, **sync),
            "without_feature": model(first, then, tblproperties=WIDENING, **sync),
            "added": model(first, first + ", timestamp_ntz'2024-01-02 03:04:05' as t", **sync),
            "added_variant": model(first, first + ", parse_json('1') as t", **sync),
            "later": model(first, then, **sync),
            "narrower": model(then.replace("3000000000L", "3L"), first, **sync),
            "to_text": model(first, first.replace("2 as n", "'2' as n"), **sync),
            "dropped": model(first, "select 2 as id", **sync),
            "dropped_later": model(first, "select 2 as id", **sync),
            "partitioned": model(
                first, "select 2 as id", partition_by="n", tblproperties=MAPPED, **sync
            ),
            "clustered": model(
                first, "select 2 as id", liquid_clustered_by="n", tblproperties=MAPPED, **sync
            ),
        },
    )
    project.dbt("run")
    refused = {
        "without_feature": ("column day from date", "{'delta.feature.timestampNtz': 'supported'}"),
        "added": ("new column t timestamp_ntz", "{'delta.feature.timestampNtz': 'supported'}"),
        "added_variant": ("new column t variant", "{'delta.feature.variantType': 'supported'}"),
        "later": ("column n from int to bigint", "delta.enableTypeWidening"),
        "to_text": ("column n from int to string", "Cast the column to int"),
        "dropped": ("removed column n", "delta.columnMapping.mode"),
        "dropped_later": ("removed column n", "delta.columnMapping.mode"),
        "partitioned": ("removed column n", "partitioned or clustered by it"),
        "clustered": ("removed column n", "partitioned or clustered by it"),
    }
    before = versions(project, refused)
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == sorted(refused)
    for name, texts in refused.items():
        for text in (*texts, "Nothing was changed"):
            assert text in found[name], (name, text)
    assert versions(project, before) == before
    # The properties in the model switch the feature on first, in the same run.
    write_models(
        project,
        {
            "later": model(first, then, tblproperties={**WIDENING, **NTZ}, **sync),
            "dropped_later": model(first, "select 2 as id", tblproperties=MAPPED, **sync),
        },
    )
    project.dbt("run", "-s", "from_the_start", "later", "narrower", "dropped_later")
    for name in ("from_the_start", "later"):
        assert columns(project, name) == {
            "id": "int",
            "n": "bigint",
            "d": "decimal(12,4)",
            "day": "timestamp_ntz",
        }
        listed = project.sql(f"select id, n, string(d), string(day) from {{schema}}.{name}")
        assert sorted(tuple(row) for row in listed) == [
            (1, 2, "1.2500", "2024-01-02 00:00:00"),
            (2, 3000000000, "1.2345", "2024-01-02 03:04:05"),
        ]
    assert columns(project, "narrower")["n"] == "bigint"
    assert tuples(project, "dropped_later") == [(1,), (2,)]


def test_fields_of_structs_evolve(project: Project) -> None:
    first = (
        "select 1 as id, named_struct('a', 1, 'old', 'x') as s,"
        " array(named_struct('a', 1, 'old', 'x')) as l, map('k', named_struct('a', 1)) as m"
    )
    then = (
        "select 2 as id, named_struct('b', named_struct('c', 7), 'a', 2L) as s,"
        " array(named_struct('b', 8, 'a', 2), null) as l,"
        " map('k', named_struct('a', 2, 'b', 9)) as m"
    )
    properties = {**MAPPED, **WIDENING}
    models = {
        f"{name}__{mode}": model(
            first, then, on_schema_change=mode, tblproperties=properties, **config
        )
        for name, config in STRATEGIES.items()
        for mode in ("ignore", "append_new_columns", "sync_all_columns")
    }
    write_models(project, models)
    project.dbt("run")
    project.dbt("run")
    types = {
        "ignore": ("struct<a:int,old:string>", "array<struct<a:int,old:string>>"),
        "append_new_columns": (
            "struct<a:int,old:string,b:struct<c:int>>",
            "array<struct<a:int,old:string,b:int>>",
        ),
        "sync_all_columns": ("struct<a:bigint,b:struct<c:int>>", "array<struct<a:int,b:int>>"),
    }
    for name in models:
        mode = name.split("__")[1]
        found = columns(project, name)
        assert (found["s"], found["l"]) == types[mode], name
        field = "s.b.c" if mode != "ignore" else "null"
        listed = project.sql(
            f"select id, s.a, {field}, l[0].a, size(l), m.k.a from {{schema}}.{name} order by id"
        )
        assert [tuple(row) for row in listed] == [
            (1, 1, None, 1, 1, 1),
            (2, 2, 7 if mode != "ignore" else None, 2, 2, 2),
        ], name


def test_wide_structs_keep_all_fields(project: Project) -> None:
    """DESCRIBE shows the first 25 of their fields only."""
    fields = ", ".join(f"'f{n}', id * {n}" for n in range(40))
    select = f"select id, named_struct({fields}) as s, array(named_struct({fields})) as l from "
    further = select.replace("'f39', id * 39)) as l", "'f39', id * 39, 'f40', 7)) as l")
    models = {
        name: model(
            select + "range(2)",
            (further if mode != "ignore" else select) + "range(1, 3)",
            on_schema_change=mode,
            **{
                **config,
                **({"incremental_predicates": ["id >= 1"]} if name == "replace_where" else {}),
            },
        )
        for name, config in STRATEGIES.items()
        for mode in (["append_new_columns"] if name == "merge" else ["ignore"])
    }
    write_models(project, models)
    project.dbt("run")
    project.dbt("run")
    for name in models:
        listed = project.sql(
            f"select id, s.f39, l[0].f38, l[0].f39 from {{schema}}.{name} where id = 2"
        )
        assert [tuple(row) for row in listed] == [(2, 78, 76, 78)], name
    assert project.sql("select max(l[0].f40) from {schema}.merge")[0][0] == 7


def test_merge_with_schema_evolution_takes_what_is_new(project: Project) -> None:
    write_models(
        project,
        {
            "a": model(
                values("id, v", "1, 'a'"),
                "select 1 as id, 'A' as v, named_struct('x', 1) as further",
                unique_key="id",
                merge_with_schema_evolution=True,
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    assert project.rows("a") == [{"id": 1, "v": "A", "further": {"x": 1}}]
    assert project.version("a") == 1


@pytest.mark.parametrize("mode", ["append_new_columns", "sync_all_columns"])
def test_a_refused_batch_leaves_the_schema_as_it_was(project: Project, mode: str) -> None:
    """Keys are checked before columns are added, not after."""
    twice = "select 1 as id, 5 as further from range(2)"
    write_models(
        project,
        {
            "viewed": model("select 1 as id", twice, unique_key="id", on_schema_change=mode),
            "staged": model(
                "select 1 as id", twice, unique_key="id", on_schema_change=mode, stage="table"
            ),
            "typeless": model("select 1 as id", "select 1 as id, null as x", on_schema_change=mode),
        },
    )
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert "duplicate keys" in found["viewed"]
    assert "duplicate keys" in found["staged"]
    assert "cast(null as <type>)" in found["typeless"]
    for name in found:
        assert list(columns(project, name)) == ["id"], name
    assert set(versions(project, found).values()) == {0}
    assert relations(project) == sorted(found)


def test_a_value_that_does_not_fit_leaves_the_schema_as_it_was(project: Project) -> None:
    """Values are cast before columns are added, in fields of structs too."""
    then = "select 1 as id, 2147483648L as v, named_struct('a', 2147483648L) as s, 5 as further"
    first = "select 1 as id, 1 as v, named_struct('a', 1) as s"
    nested = then.replace("2147483648L as v", "1 as v")
    mode = {"on_schema_change": "append_new_columns"}
    write_models(
        project,
        {
            "plain": model(first, then, unique_key="id", **mode),
            "nested": model(first, nested, incremental_strategy="append", **mode),
        },
    )
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert set(found) == {"plain", "nested"}
    for name, message in found.items():
        assert "CAST_OVERFLOW" in message
        assert list(columns(project, name)) == ["id", "v", "s"], name
    assert set(versions(project, found).values()) == {0}


def test_column_order_and_case_never_swap_values(project: Project) -> None:
    """The defect of stock dbt-spark: inserted by position after a schema change."""
    first = "select 1 as id, 'name' as name, 'status' as status"
    then = "select 9 as score, 'status 2' as STATUS, 'name 2' as Name, 2 as Id"
    models = {
        f"{name}__{mode}": model(first, then, on_schema_change=mode, **config)
        for name, config in STRATEGIES.items()
        for mode in ("ignore", "append_new_columns")
    }
    write_models(project, models)
    project.dbt("run")
    project.dbt("run")
    for name in models:
        rows = [(1, "name", "status"), (2, "name 2", "status 2")]
        if name.endswith("append_new_columns"):
            rows = [(*row, score) for row, score in zip(rows, (None, 9), strict=True)]
        assert tuples(project, name) == rows, name
