"""Keys: how rows find each other, duplicates and nulls, and rows that did not change."""

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    messages,
    metrics,
    model,
    relations,
    tables,
    tuples,
    values,
    versions,
    write_models,
)

MAPPED = {"tblproperties": {"delta.columnMapping.mode": "name"}}


def test_merge_finds_rows_by_any_key(project: Project) -> None:
    write_models(
        project,
        {
            "with_nulls": model(
                values("id, v", "1, 'a'", "null, 'b'"),
                values("id, v", "null, 'B'", "2, 'c'"),
                unique_key="id",
            ),
            "composite": model(
                values("a, b, v", "1, 1, 'a'", "1, null, 'b'", "null, null, 'c'", "null, 1, 'd'"),
                values("a, b, v", "1, null, 'B'", "null, null, 'C'", "2, null, 'e'"),
                unique_key=["a", "b"],
            ),
            "other_case": model(
                values("Id, V", "1, 'a'", "2, 'b'"),
                values("iD, v", "2, 'B'", "3, 'c'"),
                unique_key="ID",
            ),
            "reserved": model(
                "select 1 as `select`, 2 as `from`, 3 as `order`",
                "select 4 as `order`, 1 as `select`, 2 as `from`",
                unique_key=["select", "from"],
            ),
            "odd_names": model(
                "select 1 as `a b`, 2 as `x.y`, 3 as `ti``ck`, 4 as `ünï`",
                "select 1 as `a b`, 2 as `x.y`, 30 as `ti``ck`, 40 as `ünï`",
                unique_key=["`a b`", "x.y"],
                merge_update_columns=["ti`ck"],
                **MAPPED,
            ),
            "of_text": model(
                values("id, v", r"'it\'s', 1", r"'b\\s', 2", "'é', 3", "'', 4"),
                values("id, v", r"'it\'s', 10", r"'b\\s', 20", "'é', 30", "'', 40"),
                unique_key="id",
            ),
            "of_times": model(
                "select timestamp'2024-01-01 00:00:00.123456' as t, "
                "timestamp_ntz'2024-03-31 02:30:00' as n, date'0001-01-01' as d, 1 as v",
                "select timestamp'2024-01-01 00:00:00.123456' as t, "
                "timestamp_ntz'2024-03-31 02:30:00' as n, date'0001-01-01' as d, 2 as v",
                unique_key=["t", "n", "d"],
            ),
            "of_other_types": model(
                "select 1.50bd as c, true as t, x'00ff' as b, double('NaN') as f, -1 as v",
                "select 1.5bd as c, true as t, x'00ff' as b, double('NaN') as f, 2 as v",
                unique_key=["c", "t", "b", "f"],
            ),
            "of_wider_source": model(
                values("id, v", "1, 'a'", "2, 'b'"),
                values("id, v", "2L, 'B'", "3L, 'c'"),
                unique_key="id",
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    expected = {
        "with_nulls": [(None, "B"), (1, "a"), (2, "c")],
        "composite": [
            (None, None, "C"),
            (None, 1, "d"),
            (1, None, "B"),
            (1, 1, "a"),
            (2, None, "e"),
        ],
        "other_case": [(1, "a"), (2, "B"), (3, "c")],
        "reserved": [(1, 2, 4)],
        "odd_names": [(1, 2, 30, 4)],
        "of_text": [("", 40), ("b\\s", 20), ("it's", 10), ("é", 30)],
        "of_wider_source": [(1, "a"), (2, "B"), (3, "c")],
    }
    assert tables(project, expected) == expected
    assert [row["v"] for row in project.rows("of_times")] == [2]
    assert [row["v"] for row in project.rows("of_other_types")] == [2]
    assert set(versions(project, [*expected, "of_times", "of_other_types"]).values()) == {1}


def test_key_that_is_no_column_is_refused(project: Project) -> None:
    two = values("id, v", "1, 'a'", "2, 'b'")
    write_models(
        project,
        {
            "nowhere": model(two, unique_key="id"),
            "not_in_batch": model(two, unique_key="id"),
            "pruned_by_other": model(two, unique_key="id"),
        },
    )
    project.dbt("run")
    write_models(
        project,
        {
            "nowhere": model(two, unique_key=["id", "nope"]),
            "not_in_batch": model("select 1 as v", unique_key="id"),
            "pruned_by_other": model(two, unique_key="id", merge_prune=["v"]),
        },
    )
    found = messages(project.dbt("run", check=False))
    assert "'nope' is not a column" in found["nowhere"]
    assert "name `id` cannot be resolved. Did you mean" in found["not_in_batch"]
    assert "'v', which is not in unique_key" in found["pruned_by_other"]
    assert set(versions(project, found).values()) == {0}
    assert relations(project) == sorted(found)


def test_duplicate_and_null_keys_are_refused_with_the_first_five(project: Project) -> None:
    first = values("id, k, v", "1, 1, 'a'")
    many = "select id % 7 as id, 0 as k, string(id) as v from range(14)"
    nulls = "select if(id < 6, null, id) as id, id as k, string(id) as v from range(8)"
    pairs = values("id, k, v", "null, 2, 'x'", "null, 2, 'y'", "1, 1, 'z'")
    refused = {
        "by_default": (many, {}),
        "as_view": (many, {"duplicate_keys": "error", "stage": "view"}),
        "as_table": (many, {"duplicate_keys": "error", "stage": "table"}),
        "delete_insert": (
            many,
            {"duplicate_keys": "error", "incremental_strategy": "delete+insert"},
        ),
        "append": (many, {"duplicate_keys": "error", "incremental_strategy": "append"}),
        "composite": (pairs, {"unique_key": ["id", "k"]}),
        "null_keys": (nulls, {"null_keys": "error"}),
        "null_keys_staged": (nulls, {"null_keys": "error", "stage": "table"}),
        "null_composite": (
            pairs,
            {"null_keys": "error", "unique_key": ["k", "id"], "duplicate_keys": "error"},
        ),
    }
    write_models(
        project,
        {
            name: model(first, then, **{"unique_key": "id", **config})
            for name, (then, config) in refused.items()
        },
    )
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == sorted(refused)
    five = ", ".join(f'{{"id":{n}}} (2 rows)' for n in range(5))
    for name in ("by_default", "as_view", "as_table", "delete_insert", "append"):
        assert "duplicate keys of unique_key id: 7, the first " + five + "." in found[name]
        assert "Nothing was written" in found[name]
    assert '1, the first {"id":null,"k":2} (2 rows).' in found["composite"]
    assert 'null keys of unique_key id: 6, the first {"id":null} (6 rows).' in found["null_keys"]
    assert "null keys of unique_key id: 6" in found["null_keys_staged"]
    assert (
        'null keys of unique_key k, id: 2, the first {"k":2,"id":null} (2 rows).'
        in found["null_composite"]
    )
    assert set(versions(project, refused).values()) == {0}
    assert relations(project) == sorted(refused)


def test_first_build_with_refused_keys_leaves_no_table(project: Project) -> None:
    twice = values("id, v", "1, 'a'", "1, 'b'")
    null = values("id, v", "null, 'a'", "1, 'b'")
    write_models(
        project,
        {
            "duplicates": model(twice, unique_key="id", duplicate_keys="error"),
            "nulls": model(null, unique_key="id", null_keys="error"),
            "not_asked": model(twice, unique_key="id"),
            "fine": model(null, unique_key="id", duplicate_keys="error"),
        },
    )
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == ["duplicates", "nulls"]
    assert 'duplicate keys of unique_key id: 1, the first {"id":1} (2 rows)' in found["duplicates"]
    assert 'null keys of unique_key id: 1, the first {"id":null} (1 rows)' in found["nulls"]
    # Without an explicit duplicate_keys a first build is what it is with dbt-databricks.
    assert len(project.rows("not_asked")) == 2
    assert relations(project) == ["fine", "not_asked"]


def test_a_full_refresh_with_refused_keys_keeps_the_old_table(project: Project) -> None:
    once, twice = values("id, v", "1, 'a'"), values("id, v", "1, 'a'", "1, 'b'")
    write_models(project, {"a": model(once, unique_key="id", duplicate_keys="error")})
    project.dbt("run")
    write_models(project, {"a": model(twice, unique_key="id", duplicate_keys="error")})
    assert "duplicate keys" in messages(project.dbt("run", "--full-refresh", check=False))["a"]
    assert tuples(project, "a") == [(1, "a")]
    assert project.version("a") == 0
    assert relations(project) == ["a"]


def test_latest_keeps_one_row_per_key(project: Project) -> None:
    first = values("id, n, v", "1, 1, 'a'", "1, 2, 'b'", "null, 1, 'c'", "null, 3, 'd'")
    then = values("id, n, v", "1, 9, 'X'", "1, 8, 'Y'", "null, 4, 'Z'", "2, 1, 'n'", "2, null, 'm'")
    latest = {"duplicate_keys": "latest", "unique_key": "ID"}
    write_models(
        project,
        {
            "merged": model(first, then, duplicate_keys_order_by="n desc", **latest),
            "replaced": model(
                first,
                then,
                duplicate_keys_order_by="n desc nulls last, v",
                incremental_strategy="delete+insert",
                **latest,
            ),
            "by_case": model(
                first,
                then + " -- the rows of today;",
                duplicate_keys_order_by="n nulls first",
                **latest,
            ),
        },
    )
    project.dbt("run")
    assert tuples(project, "merged") == [(None, 3, "d"), (1, 2, "b")]
    project.dbt("run")
    expected = {
        "merged": [(None, 4, "Z"), (1, 9, "X"), (2, 1, "n")],
        "replaced": [(None, 4, "Z"), (1, 9, "X"), (2, 1, "n")],
        "by_case": [(None, 4, "Z"), (1, 8, "Y"), (2, None, "m")],
    }
    assert tables(project, expected) == expected
    assert set(versions(project, expected).values()) == {1}


def test_key_options_that_make_no_sense_are_refused(project: Project) -> None:
    one = values("id, v", "1, 'a'")
    write_models(
        project,
        {
            "no_order": model(one, unique_key="id", duplicate_keys="latest"),
            "no_key": model(one, duplicate_keys="error"),
            "no_null_key": model(one, null_keys="error"),
            "unknown": model(one, unique_key="id", duplicate_keys="first"),
            "unknown_null": model(one, unique_key="id", null_keys="drop"),
            "unknown_stage": model(one, unique_key="id", stage="file"),
        },
    )
    found = messages(project.dbt("run", check=False))
    assert "needs duplicate_keys_order_by" in found["no_order"]
    assert "need unique_key" in found["no_key"]
    assert "need unique_key" in found["no_null_key"]
    assert "'first'. It is one of error, latest" in found["unknown"]
    assert "'drop'. It is one of match, error" in found["unknown_null"]
    assert "'file'. It is one of auto, view, table" in found["unknown_stage"]
    assert relations(project) == []


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


def test_rows_that_did_not_change_are_not_written(project: Project) -> None:
    # The same maps with their entries in another order are equal.
    same = ALL_TYPES.replace("map('b', 2, 'a', id)", "map('a', id, 'b', 2)")
    changed = same.replace("array(1, null, id)", "array(1, if(id = 2, 7, null), id)")
    further = same.replace("range(1, 4)", "range(3, 5)")
    copied = {"tblproperties": {"delta.enableDeletionVectors": "false"}}
    skip = {"merge_skip_unchanged": True, "unique_key": "id"}
    both = {
        f"{name}_{kind}": model(ALL_TYPES, then, **config, **skip)
        for kind, config in {"vectors": {}, "copied": copied}.items()
        for name, then in {"same": same, "changed": changed, "further": further}.items()
    }
    write_models(
        project,
        {
            **both,
            "excluded": model(ALL_TYPES, changed, merge_exclude_columns=["in_array"], **skip),
            "vectors_off_later": model(
                values("id, v", "1, 'a'"),
                values("id, v", "1, 'a'"),
                **copied,
                **skip,
                matched_condition="DBT_INTERNAL_SOURCE.id > 0",
            ),
            **{
                f"several_{kind}": model(
                    values("id, v", "1, 'a'", "1, 'b'", "2, 'c'", "2, 'c'"),
                    values("id, v", "1, 'a'", "2, 'c'"),
                    **config,
                    **skip,
                )
                for kind, config in {"vectors": {}, "copied": copied}.items()
            },
            "conditional": model(
                values("id, v", "1, 'b'"),
                values("id, v", "1, 'a'"),
                **copied,
                **skip,
                matched_condition="DBT_INTERNAL_DEST.v < DBT_INTERNAL_SOURCE.v",
            ),
            "outside_copied": model(
                values("id, v", "1, 'a'", "2, 'b'"),
                values("id, v", "1, 'a'", "2, 'b'"),
                **copied,
                **skip,
                incremental_predicates=["DBT_INTERNAL_DEST.id > 1"],
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    for kind in ("vectors", "copied"):
        # A row that equals one of its matches still updates the others.
        assert tuples(project, f"several_{kind}") == [(1, "a"), (1, "a"), (2, "c"), (2, "c")]
        assert metrics(project, f"several_{kind}")["numTargetRowsUpdated"] == 1
    # A row outside the predicates is none that a row of the batch can be equal to.
    assert tuples(project, "outside_copied") == [(1, "a"), (1, "a"), (2, "b")]
    assert versions(project, both) == {name: 0 if name.startswith("same") else 1 for name in both}
    quiet = ["excluded", "vectors_off_later", "conditional"]
    assert versions(project, quiet) == dict.fromkeys(quiet, 0)
    for name in ("changed_vectors", "changed_copied"):
        found = metrics(project, name)
        assert (found["numTargetRowsUpdated"], found["numTargetRowsInserted"]) == (1, 0), name
        listed = project.sql(f"select id, in_array[1] as n from {{schema}}.{name} order by id")
        assert [tuple(row) for row in listed] == [(1, None), (2, 7), (3, None)]
    for name in ("further_vectors", "further_copied"):
        found = metrics(project, name)
        assert (found["numTargetRowsUpdated"], found["numTargetRowsInserted"]) == (0, 1), name


def test_an_unchanged_row_that_is_gone_from_the_source_is_still_deleted(project: Project) -> None:
    first = values("id, v", "1, 'a'", "2, 'b'", "3, null")
    delete = {"not_matched_by_source_action": "delete", "unique_key": "id"}
    write_models(
        project,
        {
            "a": model(first, first + " where id > 1", merge_skip_unchanged=True, **delete),
            "b": model(
                first,
                first + " where false",
                merge_skip_unchanged=True,
                **delete,
                tblproperties={"delta.enableDeletionVectors": "false"},
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    assert tuples(project, "a") == [(2, "b"), (3, None)]
    assert tuples(project, "b") == []
    assert "numTargetRowsUpdated" in metrics(project, "a")
    assert metrics(project, "a")["numTargetRowsUpdated"] == 0


def test_null_keys_without_a_partner(project: Project) -> None:
    """Delta 4.4 fails on them with deletion vectors, where a clause has a condition."""
    first = values("k, j, v", "1, 1, 'a'", "null, 1, 'n'")
    new = values("k, j, v", "null, 2, 'new'", "2, null, 'b'", "null, 1, 'N'", "null, null, 'zz'")
    keyed = {"unique_key": ["k", "j"]}
    models = {
        "condition": {**keyed, "not_matched_condition": "DBT_INTERNAL_SOURCE.v >= 'z'"},
        "replaced": {**keyed, "incremental_strategy": "delete+insert"},
        "limited": {
            **keyed,
            "incremental_strategy": "delete+insert",
            "incremental_predicates": ["j > 0"],
        },
        "clustered": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "k"},
        "by_source": {
            **keyed,
            "not_matched_by_source_action": "delete",
            "not_matched_by_source_condition": "DBT_INTERNAL_DEST.v = 'a'",
        },
        "both": {
            **keyed,
            "merge_skip_unchanged": True,
            "not_matched_condition": "DBT_INTERNAL_SOURCE.v >= 'z'",
            "not_matched_by_source_action": "update set v = 'gone'",
            "not_matched_by_source_condition": "DBT_INTERNAL_DEST.k = 5",
        },
    }
    for vectors in ("true", "false"):
        properties = {"tblproperties": {"delta.enableDeletionVectors": vectors}}
        write_models(
            project,
            {f"{n}_{vectors}": model(first, new, **c, **properties) for n, c in models.items()},
        )
    # Rows of the table that nothing matches, with a NULL key.
    write_models(
        project,
        {
            "left_alone": model(
                first,
                values("k, j, v", "1, 1, 'A'"),
                **keyed,
                not_matched_by_source_action="delete",
                not_matched_by_source_condition="DBT_INTERNAL_DEST.v = 'x'",
            )
        },
    )
    project.dbt("run")
    project.dbt("run")
    inserted = [(None, None, "zz"), (None, 1, "N"), (None, 2, "new"), (1, 1, "a"), (2, None, "b")]
    expected = {
        "condition": [(None, None, "zz"), (None, 1, "N"), (1, 1, "a")],
        "replaced": inserted,
        "limited": inserted,
        "clustered": inserted,
        "by_source": [row for row in inserted if row[2] != "a"],
        "both": [(None, None, "zz"), (None, 1, "N"), (1, 1, "a")],
    }
    for name, rows in expected.items():
        for vectors in ("true", "false"):
            assert tuples(project, f"{name}_{vectors}") == rows, (name, vectors)
    assert tuples(project, "left_alone") == [(None, 1, "n"), (1, 1, "A")]
