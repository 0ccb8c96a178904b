"""What is stored is what the batch holds, or the run is refused: keys, values, partitions, and
columns that Delta computes. What Delta would refuse after an ALTER is refused before it.

All models are one project, run three times: built, run with what changed, run once more.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    FIRST,
    Built,
    columns,
    messages,
    model,
    tables,
    values,
    write_models,
)
from tests.functional.tables import metadata, operations, version, versions

KEYED = {"unique_key": "id"}
SKIPPED = {**KEYED, "merge_skip_unchanged": True}
APPENDED = {"incremental_strategy": "append"}
OVERWRITTEN = {"incremental_strategy": "insert_overwrite", "partition_by": "p"}
WHERE = {"incremental_strategy": "replace_where"}
SUBQUERY = {**WHERE, "incremental_predicates": "id in (select 1)"}
ADDED = {"on_schema_change": "append_new_columns"}
SET = {"tblproperties": {"x": "1"}}

# First SELECT, second SELECT, configuration, and the rows after the second and the third run.
STORED: dict[str, tuple[str, str, dict[str, Any], list[tuple[Any, ...]]]] = {
    "struct_key": (
        "select named_struct('a', 1, 'b', 2) as id, 'old' as v",
        "select named_struct('b', 2, 'a', 1) as id, 'new' as v",
        SKIPPED,
        [({"a": 1, "b": 2}, "new")],
    ),
    "struct_key_of_type": (
        "select named_struct('a', 1) as id, 'old' as v",
        "select named_struct('a', 1L) as id, 'new' as v",
        KEYED,
        [({"a": 1}, "new")],
    ),
    "number_in_text": ("select 1 as id, '007' as v", "select 1 as id, 7 as v", SKIPPED, [(1, "7")]),
    "text_of_boolean": (
        "select 1 as id, 'yes' as v",
        "select 1 as id, true as v",
        SKIPPED,
        [(1, "true")],
    ),
    "variants": (
        "select 1 as id, to_variant_object(named_struct('t', '2024-01-01')) as v",
        "select 1 as id, to_variant_object(named_struct('t', date'2024-01-01')) as v",
        SKIPPED,
        [(1, {"t": "2024-01-01"})],
    ),
    "narrow_float": (
        "select 1 as id, cast(0.1 as float) as v",
        "select 1 as id, 0.1D as v",
        SKIPPED,
        [(1, 0.1)],
    ),
    "fields_stay": (
        "select 1 as id, named_struct('a', 1, 'b', named_struct('c', 2, 'd', 3)) as s",
        "select 1 as id, named_struct('b', named_struct('d', 4)) as s",
        SKIPPED,
        [(1, {"a": 1, "b": {"c": 2, "d": 4}})],
    ),
    "fields_stay_and_come": (
        "select 1 as id, named_struct('a', 1, 'b', named_struct('c', 2, 'd', 3)) as s",
        "select 1 as id, named_struct('b', named_struct('e', 5, 'd', 4)) as s",
        {**SKIPPED, "merge_with_schema_evolution": True},
        [(1, {"a": 1, "b": {"c": 2, "d": 4, "e": 5}})],
    ),
    "new_by_merge": (
        FIRST,
        values("id, v, n", "1, 'a', 5", "2, 'b', null"),
        {**SKIPPED, "merge_with_schema_evolution": True},
        [(1, "a", 5), (2, "b", None)],
    ),
    "limited_by_text": (
        FIRST,
        FIRST,
        {
            **SKIPPED,
            "incremental_strategy": "delete+insert",
            "incremental_predicates": "v = 'a'",
        },
        [(1, "a"), (2, "b")],
    ),
    "nothing_to_replace": (
        FIRST,
        f"{FIRST} where false",
        {**WHERE, "incremental_predicates": "id in (select 7)"},
        [(1, "a"), (2, "b")],
    ),
    "between_cases": (
        FIRST,
        "select 1 as id, 'A' as v",
        {**WHERE, "incremental_predicates": "case when id > 1 then 0 else id end between 1 and 5"},
        [(1, "A"), (2, "b")],
    ),
    "spelled_features": (
        FIRST,
        FIRST,
        {
            **SKIPPED,
            "tblproperties": {
                "delta.feature.deletionVectors": "enabled",
                "delta.feature.appendOnly": "Supported",
                "delta.minReaderVersion": 1,
                "delta.minWriterVersion": 2,
            },
        },
        [(1, "a"), (2, "b")],
    ),
}
# The second run of these commits once, the third not at all.
COMMITS = {"narrow_float": 0, "limited_by_text": 0, "nothing_to_replace": 0, "spelled_features": 0}
COMMITS_AGAIN = {"between_cases", "struct_key_of_type"}

# First SELECT, second SELECT, configuration, and what the refusal says.
REFUSED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "large_key": (
        "select double(9007199254740992) as id, 1 as v",
        "select 9007199254740993 as id, 2 as v",
        KEYED,
        "is bigint in the model and double in the table",
    ),
    # Delta ends in an internal error.
    "between_partitions": (
        FIRST,
        FIRST,
        {**WHERE, "partition_by": "id", "incremental_predicates": "not ID between 1 and 5"},
        "Write id >= .. and id <= .. instead.",
    ),
    "time_in_text_key": (
        "select date'2024-01-01' as id, 1 as v",
        "select '2024-01-01 10:00:00' as id, 2 as v",
        KEYED,
        "is string in the model and date in the table",
    ),
    "fraction": (
        "select 1 as id",
        "select 1.9D as id",
        APPENDED,
        "Column id is double in the model and int in",
    ),
    "digits": (
        "select 1 as id, cast(1 as decimal(5,2)) as v",
        "select 1 as id, 1.239 as v",
        KEYED,
        'The value of 1 rows of the batch would change, for example {"v":1.239}',
    ),
    "time_of_day": (
        "select date'2024-01-01' as d",
        "select timestamp'2024-01-01 10:00:00' as d",
        APPENDED,
        "Column d is timestamp in the model and date in",
    ),
    "in_an_array": (
        "select 1 as id, array(named_struct('n', 1)) as l",
        "select 1 as id, array(named_struct('n', 1.7D)) as l",
        KEYED,
        "in the model and array<struct<n:int>> in",
    ),
    # Delta casts what Spark would refuse to store: to whole seconds, and 2 to true.
    "seconds": (
        "select 1 as id, 1L as v",
        "select 1 as id, timestamp'2024-01-01 10:00:00' as v",
        KEYED,
        "Column v is timestamp in the model and bigint in",
    ),
    "seconds_in_a_struct": (
        "select 1 as id, named_struct('at', 1L) as s",
        "select 2 as id, named_struct('at', timestamp'2024-01-01 10:00:00') as s",
        APPENDED,
        "in the model and struct<at:bigint> in",
    ),
    "two_is_true": (
        "select 1 as id, array(true) as l",
        "select 1 as id, array(1, 2) as l",
        KEYED,
        "in the model and array<boolean> in",
    ),
    "empty_partition": (
        values("id, p", "1, null", "2, 'x'"),
        "select 3 as id, '' as p",
        OVERWRITTEN,
        "Partition column p of the model has an empty text",
    ),
    "hive_partition": (
        values("id, p", "1, null", "2, 'x'"),
        "select 3 as id, '__HIVE_DEFAULT_PARTITION__' as p",
        {**KEYED, "partition_by": "p"},
        "Partition column p of the model has an empty text",
    ),
    "hive_key": (
        values("id, p", "1, null", "2, 'x'"),
        "select 3 as id, '__HIVE_DEFAULT_PARTITION__' as p",
        {"unique_key": ["id", "p"], "partition_by": "p"},
        "which Delta stores as NULL in a partition column",
    ),
    "excluded": (
        FIRST,
        FIRST,
        {**KEYED, "merge_exclude_columns": ["craeted"]},
        "merge_exclude_columns names 'craeted'",
    ),
    "condition": (
        FIRST,
        values("id, v, n", "1, 'A', 5"),
        {**KEYED, **ADDED, "matched_condition": "DBT_INTERNAL_SOURCE.bogus > 1"},
        "matched_condition of",
    ),
    "text_predicate": (
        FIRST,
        values("id, v, n", "1, 'A', 5"),
        {
            **KEYED,
            **ADDED,
            "incremental_strategy": "delete+insert",
            "incremental_predicates": "bogus = 1",
        },
        "incremental_predicates of",
    ),
    "clustering": (
        FIRST,
        FIRST,
        {**KEYED, "liquid_clustered_by": "bogus"},
        "liquid_clustered_by names 'bogus'",
    ),
    "blank_name": (
        FIRST,
        "select 1 as id, 'A' as v, 5 as `a b`",
        {**KEYED, **ADDED, **SET},
        "only with column mapping",
    ),
    "feed_name": (
        FIRST,
        "select 1 as id, 'A' as v, 5 as _change_type",
        {**KEYED, **ADDED, "tblproperties": {"x": "1", "delta.enableChangeDataFeed": "true"}},
        "the change feed has a column with this name",
    ),
    "kept_property": (
        FIRST,
        FIRST,
        {**KEYED, "tblproperties": {"comment": "x"}},
        "which Spark reserves",
    ),
}
# Tables that dbt did not make: what their columns ask is asked before the table is altered.
MADE = {
    "not_null": "(id int, v string not null)",
    "sized": "(id int, v varchar(3))",
    "computed": "(id int, v string, g int generated always as (id * 2))",
    "identity": "(id int, v string, seq bigint generated by default as identity)",
    "char_column": "(id int, v char(3))",
}
ON_MADE = {
    "not_null": (
        "select 3 as id, cast(null as string) as v, 1 as n",
        {**APPENDED, **ADDED},
        "not_null_v",
    ),
    "sized": ("select 3 as id, 'abcd' as v, 1 as n", {**KEYED, **ADDED}, "length_v"),
    "computed": ("select 3 as id, 'c' as v, 7 as g, 1 as n", {**APPENDED, **ADDED}, "generated_g"),
    "identity": ("select 1 as id, 'c' as v", SUBQUERY, "which is an identity"),
    "char_column": ("select 1 as id, 'c' as v", KEYED, "Delta cannot MERGE"),
}
BUILDS = {
    "first_empty": (
        "{{ config(materialized='incremental', partition_by='p') }} select 1 as id, '' as p",
        "Partition column p of the model has an empty text",
    ),
    "table_empty": (
        "{{ config(materialized='table', partition_by='p') }} select 1 as id, '' as p",
        "Partition column p of the model has an empty text",
    ),
    "parquet_empty": (
        "{{ config(materialized='table', file_format='parquet', partition_by='p') }} "
        "select 1 as id, '' as p",
        "Partition column p of the model has an empty text",
    ),
    "twice_deleted": (
        model(
            values("id, op", "1, 'I'", "1, 'D'"),
            **KEYED,
            matched_delete_condition="DBT_INTERNAL_SOURCE.op = 'D'",
        ),
        "duplicate keys of unique_key id: 1",
    ),
}
CAPITAL = "{{ config(materialized='table', file_format='Delta') }} select 1 as id"
# A generated column is left to Delta, of the rows that stay, too.
GENERATING = model("select 1", "select 1 as id, 'A' as v", **SUBQUERY)


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    project = new_shared_project("stored")
    write_models(
        project,
        {
            **{name: model(first, **config) for name, (first, _, config, _) in STORED.items()},
            **{name: model(one, **early(config)) for name, (one, _, config, _) in REFUSED.items()},
            **{name: text for name, (text, _) in BUILDS.items()},
            "capital": CAPITAL,
        },
    )
    first = project.dbt("run", check=False)
    for name, listed in {**MADE, "generating": MADE["computed"]}.items():
        project.sql(f"create table {{schema}}.{name} {listed} using delta")
        project.sql(f"insert into {{schema}}.{name} (id, v) values (1, 'a'), (2, 'b')")
    write_models(
        project,
        {
            **{name: model(one, two, **config) for name, (one, two, config, _) in STORED.items()},
            **{name: model(one, two, **config) for name, (one, two, config, _) in REFUSED.items()},
            **{
                name: model("select 1", two, **config) for name, (two, config, _) in ON_MADE.items()
            },
            "generating": GENERATING,
        },
    )
    return Built(project, first, project.dbt("run", check=False))


def early(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a first build: without what only the second run has."""
    late = (
        "tblproperties",
        "matched_condition",
        "incremental_predicates",
        "merge_exclude_columns",
        "liquid_clustered_by",
    )
    return {name: value for name, value in config.items() if name not in late}


def test_only_what_is_refused_fails(built: Built) -> None:
    assert set(messages(built.first)) == set(BUILDS)
    assert set(messages(built.second)) == {*BUILDS, *REFUSED, *ON_MADE}


@pytest.mark.parametrize("name", BUILDS)
def test_a_build_is_refused(built: Built, name: str) -> None:
    assert BUILDS[name][1] in messages(built.first)[name]


@pytest.mark.parametrize("name", REFUSED)
def test_another_value_is_refused_and_nothing_is_altered(built: Built, name: str) -> None:
    assert REFUSED[name][3] in messages(built.second)[name]
    assert version(built.project, name) == 0


@pytest.mark.parametrize("name", ON_MADE)
def test_what_a_table_asks_is_asked_before_it_is_altered(built: Built, name: str) -> None:
    assert ON_MADE[name][2] in messages(built.second)[name]
    assert version(built.project, name) == 1
    assert set(columns(built.project, name)) == {
        column.strip().split()[0] for column in MADE[name].strip("()").split(",")
    }


def test_rows_are_what_the_batch_holds_and_a_run_more_commits_nothing(built: Built) -> None:
    expected = {name: rows for name, (_, _, _, rows) in STORED.items()}
    assert tables(built.project, expected) == expected
    before = versions(built.project, expected)
    assert before == {name: COMMITS.get(name, 1) for name in expected}
    generated = [(1, "A", 2), (2, "b", 4)]
    assert tables(built.project, ["generating"]) == {"generating": generated}
    (row,) = built.project.sql("select schema_of_variant(v) as of_v from {schema}.variants")
    assert row.of_v == "OBJECT<t: DATE>"
    built.project.dbt("run", "-s", *expected, "generating")
    assert tables(built.project, expected) == expected
    assert versions(built.project, expected) == {
        name: number + (name in COMMITS_AGAIN) for name, number in before.items()
    }
    assert tables(built.project, ["generating"]) == {"generating": generated}


def test_the_format_may_be_written_in_capitals(built: Built) -> None:
    assert version(built.project, "capital") == 1
    first, second = (built.project.sql("describe detail {schema}.capital")[0].id for _ in range(2))
    assert first == second
    assert len(operations(built.project, "capital")) == 2
    assert metadata(built.project, "capital")["id"] == first
