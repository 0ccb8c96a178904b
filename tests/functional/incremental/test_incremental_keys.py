"""Keys: how rows find each other, duplicates and nulls, and rows that did not change.

All models are one project, which runs twice; a test looks at its own.
"""

from collections.abc import Callable

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    Built,
    build_twice,
    messages,
    metrics,
    model,
    relations,
    tables,
    tuples,
    values,
    write_models,
)
from tests.functional.tables import versions


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    return build_twice(
        new_shared_project("keys"),
        {
            **FOUND_BY_KEY,
            **NO_COLUMN,
            **REFUSED_KEYS,
            **FIRST_BUILDS,
            **{name: model(ONCE, **config) for name, (config, _) in NO_SENSE.items()},
            **REFRESHED,
            **LATEST,
            **UNCHANGED,
            **GONE,
            **NO_PARTNER,
        },
        later=NO_COLUMN_LATER,
    )


def test_only_what_is_refused_fails_and_nothing_is_left_behind(built: Built) -> None:
    never_built = {"duplicates", "nulls", *NO_SENSE}
    assert set(messages(built.first)) == never_built
    refused = {*NO_COLUMN, *REFUSED_KEYS}
    assert set(messages(built.second)) == refused | never_built
    assert versions(built.project, refused) == dict.fromkeys(refused, 0)
    models = {result.node.name for result in built.second.results}
    assert relations(built.project) == sorted(models - never_built)


# Each type is a column of one key: a row that one of them does not find is inserted.
TYPES = (
    "select id, timestamp'2024-01-01 00:00:00.123456' as t,"
    " timestamp_ntz'2024-03-31 02:30:00' as n, date'0001-01-01' as d, {0} as c, true as b,"
    " x'00ff' as x, if(v = {1}, double('NaN'), {2}) as f, {3} as k, v from ({4})"
)
FOUND_BY_KEY = {
    "composite": model(
        values("a, b, v", "1, 1, 'a'", "1, null, 'b'", "null, null, 'c'", "null, 1, 'd'"),
        values("a, b, v", "1, null, 'B'", "null, null, 'C'", "2, null, 'e'"),
        unique_key=["a", "b"],
    ),
    "odd_names": model(
        "select 1 as `a b`, 2 as `x.y`, 3 as `ti``ck`, 4 as `ünï`, 5 as `select`, 6 as `Id`,"
        " 7 as `order`",
        "select 70 as `ORDER`, 6 as `iD`, 1 as `a b`, 40 as `ünï`, 30 as `ti``ck`, 2 as `x.y`,"
        " 5 as `SELECT` union all select 70, 9, 1, 40, 30, 2, 5",
        unique_key=["`a b`", "x.y", "select", "ID"],
        merge_update_columns=["ti`ck", "order"],
        tblproperties={"delta.columnMapping.mode": "name"},
    ),
    "of_types": model(
        TYPES.format(
            *("1.50bd", 1, "-0.0d", 3),
            values("id, v", r"'it\'s', 1", r"'b\\s', 2", "'é', 3", "'', 4"),
        ),
        TYPES.format(
            *("1.5bd", 10, "0.0d", "3L"),
            values("id, v", r"'it\'s', 10", r"'b\\s', 20", "'é', 30", "'', 40"),
        ),
        unique_key=["id", "t", "n", "d", "c", "b", "x", "f", "k"],
    ),
    # 0.1 as float is another number than as double.
    "of_a_field": model(
        "select named_struct('k', 0.1f) as s, 1 as v",
        "select named_struct('k', 0.1d) as s, 2 as v",
        incremental_strategy="insert_overwrite",
        liquid_clustered_by="s.k",
    ),
}


def test_merge_finds_rows_by_any_key(built: Built) -> None:
    expected = {
        "composite": [
            (None, None, "C"),
            (None, 1, "d"),
            (1, None, "B"),
            (1, 1, "a"),
            (2, None, "e"),
        ],
        "odd_names": [(1, 2, 30, 4, 5, 6, 70), (1, 2, 30, 40, 5, 9, 70)],
    }
    assert tables(built.project, expected) == expected
    found = [(row["id"], row["v"]) for row in built.project.rows("of_types")]
    assert found == [("", 40), ("b\\s", 20), ("it's", 10), ("é", 30)]
    assert [row["v"] for row in built.project.rows("of_a_field")] == [2]
    names = [*expected, "of_types", "of_a_field"]
    assert versions(built.project, names) == dict.fromkeys(names, 1)


PAIR = values("id, v", "1, 'a'", "2, 'b'")
NO_COLUMN = dict.fromkeys(("nowhere", "not_in_batch"), model(PAIR, unique_key="id"))
NO_COLUMN_LATER = {
    "nowhere": model(PAIR, unique_key=["id", "nope"]),
    "not_in_batch": model("select 1 as v", unique_key="id"),
}


def test_key_that_is_no_column_is_refused(built: Built) -> None:
    found = messages(built.second)
    assert "'nope' is not a column" in found["nowhere"]
    assert "unique_key names 'id', which is not a column that the" in found["not_in_batch"]
    assert versions(built.project, NO_COLUMN) == dict.fromkeys(NO_COLUMN, 0)


MANY = "select id % 7 as id, 0 as k, string(id) as v from range(14)"
NULLS = "select if(id < 6, null, id) as id, id as k, string(id) as v from range(8)"
PAIRS = values("id, k, v", "null, 2, 'x'", "null, 2, 'y'", "1, 1, 'z'")
REFUSED_KEYS = {
    name: model(values("id, k, v", "1, 1, 'a'"), then, **{"unique_key": "id", **config})
    for name, (then, config) in {
        "by_default": (MANY, {}),
        "as_table": (MANY, {"duplicate_keys": "error", "stage": "table"}),
        "delete_insert": (
            MANY,
            {"duplicate_keys": "error", "incremental_strategy": "delete+insert"},
        ),
        "append": (MANY, {"duplicate_keys": "error", "incremental_strategy": "append"}),
        "of_two": (PAIRS, {"unique_key": ["id", "k"], "duplicate_keys": "error", "stage": "view"}),
        "null_keys": (NULLS, {"null_keys": "error"}),
        "null_of_two": (
            PAIRS,
            {
                "null_keys": "error",
                "unique_key": ["k", "id"],
                "duplicate_keys": "error",
                "stage": "table",
            },
        ),
    }.items()
}


def test_duplicate_and_null_keys_are_refused_with_the_first_five(built: Built) -> None:
    found = messages(built.second)
    five = ", ".join(f'{{"id":{n}}} (2 rows)' for n in range(5))
    for name in ("by_default", "as_table", "delete_insert", "append"):
        assert "duplicate keys of unique_key id: 7, the first " + five + "." in found[name]
        assert "Nothing was written" in found[name]
    assert '1, the first {"id":null,"k":2} (2 rows).' in found["of_two"]
    assert 'null keys of unique_key id: 6, the first {"id":null} (6 rows).' in found["null_keys"]
    assert (
        'null keys of unique_key k, id: 2, the first {"k":2,"id":null} (2 rows).'
        in found["null_of_two"]
    )


ONCE, TWICE = values("id, v", "1, 'a'"), values("id, v", "1, 'a'", "1, 'b'")
WITH_NULL = values("id, v", "null, 'a'", "1, 'b'")
FIRST_BUILDS = {
    "duplicates": model(TWICE, unique_key="id", duplicate_keys="error"),
    "nulls": model(WITH_NULL, unique_key="id", null_keys="error"),
    # Without an explicit duplicate_keys a first build is what it is with dbt-databricks.
    "not_asked": model(TWICE, values("id, v", "2, 'c'"), unique_key="id"),
    "fine": model(WITH_NULL, unique_key="id", duplicate_keys="error"),
}


def test_first_build_with_refused_keys_leaves_no_table(built: Built) -> None:
    found = messages(built.first)
    assert 'duplicate keys of unique_key id: 1, the first {"id":1} (2 rows)' in found["duplicates"]
    assert 'null keys of unique_key id: 1, the first {"id":null} (1 rows)' in found["nulls"]
    expected = {"not_asked": [(1, "a"), (1, "b"), (2, "c")], "fine": [(None, "a"), (1, "b")]}
    assert tables(built.project, expected) == expected


NO_SENSE: dict[str, tuple[dict[str, object], str]] = {
    "no_order": ({"unique_key": "id", "duplicate_keys": "latest"}, "needs duplicate_keys_order_by"),
    "no_key": ({"duplicate_keys": "error"}, "need unique_key"),
    "no_null_key": ({"null_keys": "error"}, "need unique_key"),
    "appended": ({"unique_key": "id", "file_format": "parquet"}, "a key comes again with each run"),
    "unlooked": (
        {"unique_key": "id", "file_format": "parquet", "null_keys": "error"},
        "duplicate_keys and null_keys need file_format delta; it is parquet",
    ),
    "unknown": (
        {"unique_key": "id", "duplicate_keys": "first"},
        "'first'. Use one of error, latest",
    ),
    "unknown_null": (
        {"unique_key": "id", "null_keys": "drop"},
        "'drop'. Use one of match, error",
    ),
    "unknown_stage": (
        {"unique_key": "id", "stage": "file"},
        "'file'. Use one of auto, view, table",
    ),
    "pruned_by_other": (
        {"unique_key": "id", "merge_prune": ["v"]},
        "'v', which is not in unique_key",
    ),
}


def test_key_options_that_make_no_sense_are_refused(built: Built) -> None:
    found = messages(built.first)
    for name, (_, text) in NO_SENSE.items():
        assert text in found[name], name


REFRESHED = {"refreshed": model(ONCE, unique_key="id", duplicate_keys="error")}


def test_a_full_refresh_with_refused_keys_keeps_the_old_table(built: Built) -> None:
    project = built.project
    before = relations(project)
    write_models(project, {"refreshed": model(TWICE, unique_key="id", duplicate_keys="error")})
    run = project.dbt("run", "--full-refresh", "-s", "refreshed", check=False)
    assert "duplicate keys" in messages(run)["refreshed"]
    assert tuples(project, "refreshed") == [(1, "a")]
    assert versions(project, ["refreshed"]) == {"refreshed": 1}
    assert relations(project) == before


SEVERAL = values("id, n, v", "1, 1, 'a'", "1, 2, 'b'", "null, 1, 'c'", "null, 3, 'd'")
SEVERAL_LATER = values(
    "id, n, v", "1, 9, 'X'", "1, 8, 'Y'", "null, 4, 'Z'", "2, 1, 'n'", "2, null, 'm'"
)
LATEST = {
    "latest_replaced": model(
        SEVERAL,
        SEVERAL_LATER,
        unique_key="ID",
        duplicate_keys="latest",
        duplicate_keys_order_by="n desc nulls last, v",
        incremental_strategy="delete+insert",
    ),
    "latest_merged": model(
        SEVERAL,
        SEVERAL_LATER + " -- the rows of today;",
        unique_key="ID",
        duplicate_keys="latest",
        duplicate_keys_order_by="n nulls first",
    ),
}


def test_latest_keeps_one_row_per_key(built: Built) -> None:
    project = built.project
    built_first = project.sql("select * from {schema}.latest_merged version as of 0 order by all")
    assert [tuple(row) for row in built_first] == [(None, 1, "c"), (1, 1, "a")]
    expected = {
        "latest_replaced": [(None, 4, "Z"), (1, 9, "X"), (2, 1, "n")],
        "latest_merged": [(None, 4, "Z"), (1, 8, "Y"), (2, None, "m")],
    }
    assert tables(project, expected) == expected
    assert versions(project, expected) == dict.fromkeys(expected, 1)


ALL_TYPES = """
    select
        id,
        named_struct('a', id, 'm', map('k', array(id))) as in_struct,
        array(1, null, id) as in_array,
        map('b', 2, 'a', id) as in_map,
        map('x', map('y', id, 'z', null)) as maps,
        array(map(id, 'v')) as map_in_array,
        cast(id as decimal(20, 4)) as number,
        cast(null as string) as nothing,
        double('NaN') as not_a_number,
        if(id = 1, 0d, -0d) as zero,
        x'00ff' as bytes,
        timestamp'2024-01-01 00:00:00.000001' as at
    from range(1, 4)
"""
# The same maps with their entries in another order are equal.
SAME = ALL_TYPES.replace("map('b', 2, 'a', id)", "map('a', id, 'b', 2)")
# Row 2 changed, and row 3, of which a NULL became a value; row 4 is new.
CHANGED = (
    SAME.replace("array(1, null, id)", "array(1, if(id = 2, 7, null), id)")
    .replace("cast(null as string)", "if(id = 3, 'x', null)")
    .replace("range(1, 4)", "range(1, 5)")
)
VECTORS = {"tblproperties": {"delta.enableDeletionVectors": "true"}}
NO_VECTORS = {"tblproperties": {"delta.enableDeletionVectors": "false"}}
SKIP = {"merge_skip_unchanged": True, "unique_key": "id"}
UNCHANGED = {
    **{
        f"{name}_{kind}": model(first, then, **config, **SKIP)
        for kind, config in {"vectors": {}, "copied": NO_VECTORS}.items()
        for name, first, then in (
            ("same", ALL_TYPES, SAME),
            ("changed", ALL_TYPES, CHANGED),
            (
                "several",
                values("id, v", "1, 'a'", "1, 'b'", "2, 'c'", "2, 'c'"),
                values("id, v", "1, 'a'", "2, 'c'"),
            ),
        )
    },
    "excluded": model(
        values("id, v, w", "1, 'a', 1", "2, 'b', 2"),
        values("id, v, w", "1, 'a', 7", "2, 'b', 7"),
        merge_exclude_columns=["w"],
        **SKIP,
    ),
    # Of one row the condition does not hold, the other is the same.
    "conditional": model(
        values("id, v", "1, 'b'", "2, 'a'"),
        values("id, v", "1, 'a'", "2, 'a'"),
        matched_condition="DBT_INTERNAL_DEST.v <= DBT_INTERNAL_SOURCE.v",
        **NO_VECTORS,
        **SKIP,
    ),
    "outside_copied": model(
        PAIR,
        PAIR,
        incremental_predicates=["DBT_INTERNAL_DEST.id > 1"],
        **NO_VECTORS,
        **SKIP,
    ),
}


def test_rows_that_did_not_change_are_not_written(built: Built) -> None:
    project = built.project
    expected = {
        # A row that equals one of its matches still updates the others.
        "several_vectors": [(1, "a"), (1, "a"), (2, "c"), (2, "c")],
        "several_copied": [(1, "a"), (1, "a"), (2, "c"), (2, "c")],
        # A row outside the predicates is none that a row of the batch can be equal to.
        "outside_copied": [(1, "a"), (1, "a"), (2, "b")],
    }
    assert tables(project, expected) == expected
    quiet = ["same_vectors", "same_copied", "excluded", "conditional"]
    assert versions(project, quiet) == dict.fromkeys(quiet, 0)
    for kind in ("vectors", "copied"):
        assert metrics(project, f"several_{kind}")["numTargetRowsUpdated"] == 1
        found = metrics(project, f"changed_{kind}")
        assert (found["numTargetRowsUpdated"], found["numTargetRowsInserted"]) == (2, 1), kind
        assert versions(project, [f"changed_{kind}"]) == {f"changed_{kind}": 1}
        rows = project.rows(f"changed_{kind}")
        listed = [(row["id"], row["in_array"][1], row["nothing"]) for row in rows]
        assert listed == [(1, None, None), (2, 7, None), (3, None, "x"), (4, None, None)], kind


DELETED = {"not_matched_by_source_action": "delete", **SKIP}
THREE = values("id, v", "1, 'a'", "2, 'b'", "3, null")
GONE = {
    "gone": model(THREE, THREE + " where id > 1", **DELETED),
    "all_gone": model(THREE, THREE + " where false", **NO_VECTORS, **DELETED),
}


def test_an_unchanged_row_that_is_gone_from_the_source_is_still_deleted(built: Built) -> None:
    expected = {"gone": [(2, "b"), (3, None)], "all_gone": []}
    assert tables(built.project, expected) == expected
    assert metrics(built.project, "gone")["numTargetRowsUpdated"] == 0


OF_NULLS = {"unique_key": ["k", "j"]}
WITHOUT_PARTNER: dict[str, dict[str, object]] = {
    "condition": {**OF_NULLS, "not_matched_condition": "DBT_INTERNAL_SOURCE.v >= 'z'"},
    "replaced": {**OF_NULLS, "incremental_strategy": "delete+insert"},
    "limited": {
        **OF_NULLS,
        "incremental_strategy": "delete+insert",
        "incremental_predicates": ["j > 0"],
    },
    "clustered": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "k"},
    "by_source": {
        **OF_NULLS,
        "not_matched_by_source_action": "delete",
        "not_matched_by_source_condition": "DBT_INTERNAL_DEST.v = 'a'",
    },
    "both": {
        **OF_NULLS,
        "merge_skip_unchanged": True,
        "not_matched_condition": "DBT_INTERNAL_SOURCE.v >= 'z'",
        "not_matched_by_source_action": "update set v = 'gone'",
        "not_matched_by_source_condition": "DBT_INTERNAL_DEST.k = 5",
    },
}
NULL_ROWS = values("k, j, v", "1, 1, 'a'", "null, 1, 'n'")
NEW_NULL_ROWS = values(
    "k, j, v", "null, 2, 'new'", "2, null, 'b'", "null, 1, 'N'", "null, null, 'zz'"
)
NO_PARTNER = {
    **{n: model(NULL_ROWS, NEW_NULL_ROWS, **c, **VECTORS) for n, c in WITHOUT_PARTNER.items()},
    # Without deletion vectors Delta does not fail: one of each statement.
    **{
        f"{name}_copied": model(NULL_ROWS, NEW_NULL_ROWS, **WITHOUT_PARTNER[name], **NO_VECTORS)
        for name in ("limited", "both")
    },
    # Rows of the table that nothing matches, with a NULL key.
    "left_alone": model(
        NULL_ROWS,
        values("k, j, v", "1, 1, 'A'"),
        **OF_NULLS,
        not_matched_by_source_action="delete",
        not_matched_by_source_condition="DBT_INTERNAL_DEST.v = 'x'",
    ),
}


def test_null_keys_without_a_partner(built: Built) -> None:
    """Delta 4.4 fails on them with deletion vectors, where a clause has a condition."""
    inserted = [(None, None, "zz"), (None, 1, "N"), (None, 2, "new"), (1, 1, "a"), (2, None, "b")]
    conditional = [(None, None, "zz"), (None, 1, "N"), (1, 1, "a")]
    expected = {
        "condition": conditional,
        "replaced": inserted,
        "limited": inserted,
        "limited_copied": inserted,
        "clustered": inserted,
        "by_source": [row for row in inserted if row[2] != "a"],
        "both": conditional,
        "both_copied": conditional,
        "left_alone": [(None, 1, "n"), (1, 1, "A")],
    }
    assert tables(built.project, expected) == expected
