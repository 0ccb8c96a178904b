"""What each strategy writes: the rows, and one commit per run.

All models are one project, which runs twice; a test looks at its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.functional.harness import Project, is_session
from tests.functional.incremental.models import (
    FIRST,
    THEN,
    Built,
    build_twice,
    messages,
    metrics,
    model,
    nothing,
    relations,
    statements,
    tables,
    tuples,
    values,
)
from tests.functional.tables import log, operations, versions


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    project = new_shared_project("strategies")
    project.write({"macros/own.sql": OWN_STRATEGY, "macros/note_mode.sql": NOTE_MODE})
    refused = {n: model(FIRST, THEN, unique_key="id") for n in CONTRADICTING}
    contradicting = {
        name: model(FIRST, THEN, unique_key="id", **config)
        for name, (config, _) in CONTRADICTING.items()
    }
    return build_twice(
        project,
        {
            **APPENDED,
            **MERGED_BY_KEY,
            **OWN_TABLE,
            **MERGE_OPTIONS,
            **refused,
            **OVERWRITTEN,
            **CLUSTERED,
            **MODES,
            **OTHER_PARTITIONS,
            **REPLACE_WHERE,
            **OUTSIDE,
            **DELETE_INSERT,
            **SIZES,
            **UNCHANGED,
            **CHANGED,
            **{name: _merge() for name in MISTYPED},
            **COMMENTED,
            **NOTHING_TO_WRITE,
            **DEFAULTS,
            **OWN,
            **FAILING_WRITES,
        },
        later={
            **contradicting,
            **OTHER_PARTITIONS_LATER,
            **{name: _merge(**config) for name, config in MISTYPED.items()},
        },
    )


def test_only_what_is_refused_fails_and_nothing_is_left_behind(built: Built) -> None:
    assert [*messages(built.first)] == ["unknown"]
    refused = [
        *CONTRADICTING, *OTHER_PARTITIONS, *OUTSIDE, *FAILING_WRITES, *MISTYPED, *NOTHING_TO_WRITE
    ]  # fmt: skip
    assert sorted(messages(built.second)) == sorted([*refused, "unknown"])
    # Nothing was written for any of them; a staging table that fails does not come to be.
    assert versions(built.project, refused) == dict.fromkeys(refused, 0)
    models = {result.node.name.lower() for result in built.second.results}
    assert relations(built.project) == sorted(models - {"unknown"})


def test_a_plain_model_sends_few_statements(built: Built) -> None:
    """view, check and the write; a server, which is no session to ask, describes three times."""
    described = 0 if is_session() else 3
    plain = ("select", "by_partition", "other_case", "lacking", "append_reordered", "by_cluster")
    for name in plain:
        sent = statements(built.second, name)
        assert sent, name
        assert len(sent) - described <= (4 if name == "lacking" else 3), (name, sent)
        assert sum(sql.startswith("describe") for sql in sent) == described, (name, sent)


def _by_one_commit(built: Built, expected: Mapping[str, Any], *unmoved: str) -> None:
    """The rows of tables after the second run; those unmoved may be at the first version still."""
    assert tables(built.project, expected) == expected
    found = versions(built.project, expected)
    assert {found.pop(name) for name in unmoved} <= {0, 1}
    assert found == dict.fromkeys(found, 1)


APPEND = {"incremental_strategy": "append"}
APPENDED = {
    "append_reordered": model(FIRST, f"select v as V, id as ID from ({THEN})", **APPEND),
    "append_odd_names": model(
        "select 1L as `a b`, 2.5d as `select`, 3 as `x.y`",
        "select 6 as `x.y`, 5 as `select`, 4 as `a b`",
        tblproperties={"delta.columnMapping.mode": "name"},
        **APPEND,
    ),
    "append_empty": model(FIRST, nothing("id, v", "3, 'c'"), **APPEND),
    "append_defaults": model(
        values("id, v, w", "1, 'a', 'x'", "2, 'b', 'y'"),
        "select 3 as id, 0 as further",
        tblproperties={"delta.feature.allowColumnDefaults": "supported"},
        post_hook="alter table {{ this }} alter column v set default 'none'",
        **APPEND,
    ),
}


def test_append_matches_columns_by_name(built: Built) -> None:
    expected = {
        "append_reordered": [(1, "a"), (2, "B"), (2, "b"), (3, "c")],
        "append_odd_names": [(1, 2.5, 3), (4, 5.0, 6)],
        "append_empty": [(1, "a"), (2, "b")],
    }
    _by_one_commit(built, expected, "append_empty")
    assert tuples(built.project, "append_defaults") == [
        (1, "a", "x"),
        (2, "b", "y"),
        (3, "none", None),
    ]
    # The hook is a commit, too.
    done = operations(built.project, "append_defaults")
    assert (done.count("WRITE"), done[2:]) == (1, ["WRITE", done[1]])


# The first and the last name need quotes.
MERGED_BY_KEY = {
    "select": model(
        values("id, v, w", "1, 'a', 'x'", "2, 'b', 'y'"),
        f"select v, id, 0 as further from ({THEN})",
        unique_key="id",
    ),
    "no_key": model(FIRST, THEN),
    "MixedCase": model("select 1 as id", "select explode(array(1, 2)) as id", unique_key="id"),
}


def test_merge_writes_one_commit(built: Built) -> None:
    expected = {
        "select": [(1, "a", "x"), (2, "B", "y"), (3, "c", None)],
        "no_key": [(1, "a"), (2, "B"), (2, "b"), (3, "c")],
        "mixedcase": [(1,), (2,)],
    }
    _by_one_commit(built, expected)
    assert {operations(built.project, name)[-1] for name in expected} == {"MERGE"}


SOURCE = values("id, v", *(f"{n}, 'v{n}'" for n in range(1, 7)))
# The odd ones by subqueries, the even ones by a join.
NEWER = (
    f"select * from ({SOURCE}) where id % 2 = 1 and id > (select max(id) from {{{{ this }}}})"
    " and id not in (select id from {{ this }})"
    " and exists (select 1 from {{ this }} as t where t.id < 3) union all"
    f" select s.* from ({SOURCE}) as s left anti join {{{{ this }}}} as t on s.id = t.id"
    " where s.id % 2 = 0"
)
OWN_TABLE = {
    f"own_table_{name}": model(SOURCE + " where id <= 3", NEWER, **{"stage": "view", **config})
    for name, config in {
        "merged": {"unique_key": "id"},
        "staged": {"unique_key": "id", "stage": "table"},
        "no_key": {},
        "copied": {
            "unique_key": "id",
            "tblproperties": {"delta.enableDeletionVectors": "false"},
            "merge_skip_unchanged": True,
        },
        "appended": APPEND,
        "deleted": {"incremental_strategy": "delete+insert", "unique_key": "id"},
        "partitions": {"incremental_strategy": "insert_overwrite", "partition_by": "id"},
        "clusters": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "id"},
        "swapped": {"incremental_strategy": "replace_where", "incremental_predicates": ["id > 3"]},
    }.items()
}


def test_a_select_may_ask_its_own_table(built: Built) -> None:
    """The newest row by a subquery, and rows that are there by joins: with every strategy."""
    expected = {name: [(n, f"v{n}") for n in range(1, 7)] for name in OWN_TABLE}
    assert tables(built.project, OWN_TABLE) == expected
    built.project.dbt("run", "-s", *OWN_TABLE)
    # Of a replace_where nothing is left of what it replaces when nothing is newer.
    expected["own_table_swapped"] = expected["own_table_swapped"][:3]
    assert tables(built.project, OWN_TABLE) == expected


SOURCE_ALIAS, DEST_ALIAS = "DBT_INTERNAL_SOURCE", "DBT_INTERNAL_DEST"


def _merge(**config: object) -> str:
    return model(
        values("id, v, n", "1, 'a', 1", "2, 'b', 2", "3, 'c', 3"),
        values("id, v, n", "2, 'B', 20", "3, 'C', 30", "4, 'D', 40", "5, 'E', 50"),
        unique_key="id",
        **config,
    )


# Of several options each is about other rows: that match, in the batch only, in the table only.
MERGE_OPTIONS = {
    "update_columns": _merge(
        merge_update_columns=["N"],
        not_matched_condition=f"{SOURCE_ALIAS}.n > 40 or {SOURCE_ALIAS}.n is null",
    ),
    "exclude_columns": _merge(merge_exclude_columns=["V"]),
    "matched": _merge(
        matched_condition=f"{SOURCE_ALIAS}.n > {DEST_ALIAS}.n * 9 and {SOURCE_ALIAS}.id = 3",
        skip_not_matched_step="true",
        not_matched_by_source_action="delete",
    ),
    "by_source_update": _merge(
        skip_matched_step=True,
        not_matched_by_source_action=f"update set {DEST_ALIAS}.v = 'gone', {DEST_ALIAS}.n = 0",
        not_matched_by_source_condition=f"{DEST_ALIAS}.n < 10",
    ),
    "aliases": _merge(
        source_alias="src",
        target_alias="tgt",
        matched_condition="src.n > 25 and tgt.n > 0",
        not_matched_condition="src.n < 45",
        not_matched_by_source_action="DELETE",
        not_matched_by_source_condition="tgt.n > 10",
    ),
    "only_by_source": _merge(
        skip_matched_step=True,
        skip_not_matched_step=True,
        not_matched_by_source_action="delete",
    ),
    "predicate_text": _merge(
        incremental_predicates=f"{DEST_ALIAS}.n > 2 or {DEST_ALIAS}.n is null"
    ),
    "predicate_list": _merge(predicates=[f"{DEST_ALIAS}.n > 1", f"{DEST_ALIAS}.n < 3 or false"]),
    "or_in_conditions": _merge(
        matched_condition=f"{SOURCE_ALIAS}.n = 20 or {SOURCE_ALIAS}.n = 30",
        not_matched_condition=f"{SOURCE_ALIAS}.n = 40 or {SOURCE_ALIAS}.n = 0",
        merge_skip_unchanged=True,
    ),
    "evolution": model(
        "select id, named_struct('a', 1) as s, array(named_struct('a', 1)) as l, 5 as old"
        " from values (1), (3) as t(id)",
        "select id, named_struct('a', 2, 'b', 'new') as s,"
        " array(named_struct('b', 'new', 'a', 2)) as l, named_struct('x', 1) as further"
        " from values (1), (2) as t(id)",
        unique_key="id",
        merge_with_schema_evolution=True,
    ),
}


def test_merge_options(built: Built) -> None:
    """dbt-databricks' options with dbt-databricks' meaning."""
    one, two, three = (1, "a", 1), (2, "b", 2), (3, "c", 3)
    new_two, new_three, four, five = (2, "B", 20), (3, "C", 30), (4, "D", 40), (5, "E", 50)
    before, after = {"a": 1, "b": None}, {"a": 2, "b": "new"}
    expected = {
        "update_columns": [one, (2, "b", 20), (3, "c", 30), five],
        "exclude_columns": [one, (2, "b", 20), (3, "c", 30), four, five],
        "matched": [two, new_three],
        "by_source_update": [(1, "gone", 0), two, three, four, five],
        "aliases": [one, two, new_three, four],
        "only_by_source": [two, three],
        "predicate_text": [one, new_two, two, new_three, four, five],
        "predicate_list": [one, new_two, new_three, three, four, five],
        "or_in_conditions": [one, new_two, new_three, four],
        "evolution": [
            (1, after, [after], 5, {"x": 1}),
            (2, after, [after], None, {"x": 1}),
            (3, before, [before], 5, None),
        ],
    }
    _by_one_commit(built, expected)


CONTRADICTING = {
    "both": (
        {"merge_update_columns": ["v"], "merge_exclude_columns": ["v"]},
        "cannot specify merge_update_columns and merge_exclude_columns",
    ),
    "unknown_update": ({"merge_update_columns": ["nope"]}, "'nope'"),
}


def test_merge_options_that_contradict_are_refused(built: Built) -> None:
    for name, (_, text) in CONTRADICTING.items():
        assert text in messages(built.second)[name]


OVERWRITE = {"incremental_strategy": "insert_overwrite"}
ROWS = values("id, p", "1, 'x'", "2, 'x'", "3, 'y'", "4, null", "5, null")
# Partition columns come last in Spark's own order of columns in a table.
LEVELS = values("id, p, q", "1, 1, 'x'", "2, 1, 'y'", "3, 2, 'x'")
NEW_LEVELS = values("id, q, p", "9, 'x', 1", "8, 'z', 2")
OVERWRITTEN = {
    "by_partition": model(ROWS, "select 9 as id, 'x' as p", partition_by="p", **OVERWRITE),
    "by_null": model(ROWS, values("id, p", "9, null", "8, 'new'"), partition_by="P", **OVERWRITE),
    "two_levels": model(LEVELS, NEW_LEVELS, partition_by=["p", "q"], **OVERWRITE),
    "by_cluster": model(
        ROWS, values("id, p", "9, 'x'", "8, 'x'"), liquid_clustered_by="p", **OVERWRITE
    ),
    "cluster_two": model(
        f"select id, p, named_struct('q', q) as s from ({LEVELS})",
        f"select named_struct('q', q) as s, p, id from ({NEW_LEVELS})",
        liquid_clustered_by=["p", "s.q"],
        **OVERWRITE,
    ),
    "whole": model(ROWS, "select 9 as id, 'x' as p", **OVERWRITE),
    "whole_empty": model(ROWS, nothing("id, p", "9, 'x'"), **OVERWRITE),
    "partition_empty": model(ROWS, nothing("id, p", "9, 'x'"), partition_by="p", **OVERWRITE),
    "cluster_empty": model(ROWS, nothing("id, p", "9, 'x'"), liquid_clustered_by="p", **OVERWRITE),
}


def test_insert_overwrite_replaces_what_the_batch_has_rows_of(built: Built) -> None:
    untouched = [(4, None), (5, None)]
    expected = {
        "by_partition": [(3, "y"), *untouched, (9, "x")],
        "by_null": [(1, "x"), (2, "x"), (3, "y"), (8, "new"), (9, None)],
        "two_levels": [(2, 1, "y"), (3, 2, "x"), (8, 2, "z"), (9, 1, "x")],
        "by_cluster": [(3, "y"), *untouched, (8, "x"), (9, "x")],
        "cluster_two": [
            (2, 1, {"q": "y"}),
            (3, 2, {"q": "x"}),
            (8, 2, {"q": "z"}),
            (9, 1, {"q": "x"}),
        ],
        "whole": [(9, "x")],
        "whole_empty": [],
        "partition_empty": [(1, "x"), (2, "x"), (3, "y"), *untouched],
        "cluster_empty": [(1, "x"), (2, "x"), (3, "y"), *untouched],
    }
    _by_one_commit(built, expected, "partition_empty", "cluster_empty")
    *_, (_, actions) = log(built.project, "by_partition")
    removed = [action["remove"]["path"] for action in actions if "remove" in action]
    assert {path.split("/")[0] for path in removed} == {"p=x"}


CHECKED = {
    "liquid_clustered_by": "K",
    "unique_key": "id",
    "null_keys": "error",
    "duplicate_keys": "error",
    **OVERWRITE,
}
KEYED_ROWS = values("k, id, v", "1, 1, 'a'", "1, 2, 'b'", "2, 3, 'c'", "null, 4, 'd'")
CLUSTERED = {
    "checked": model(KEYED_ROWS, values("k, id, v", "1, 900, 'A'", "null, 7, 'D'"), **CHECKED),
    "checked_empty": model(KEYED_ROWS, nothing("k, id, v", "1, 1, 'a'"), **CHECKED),
}


def test_insert_overwrite_by_clustering_goes_by_those_columns_alone(built: Built) -> None:
    """A unique_key is checked, and neither finds the rows to replace nor limits them."""
    assert tables(built.project, CLUSTERED) == {
        "checked": [(None, 7, "D"), (1, 900, "A"), (2, 3, "c")],
        "checked_empty": [(None, 4, "d"), (1, 1, "a"), (1, 2, "b"), (2, 3, "c")],
    }


NOTE_MODE = """
    {% macro note_mode() %}
        {% if execute %}
            {% set key = 'spark.sql.sources.partitionOverwriteMode' %}
            {% set mode = run_query('set ' ~ key).rows[0][1] %}
            insert into {{ this }} by name select 99 as id, '{{ mode }}' as p
        {% endif %}
    {% endmacro %}
"""
MODES = {
    "modes": model(
        "select 1 as id, 'x' as p", partition_by="p", post_hook="{{ note_mode() }}", **OVERWRITE
    )
}


def test_insert_overwrite_leaks_no_session_setting(built: Built) -> None:
    modes = {row["p"].lower() for row in built.project.rows("modes") if row["id"] == 99}
    assert "dynamic" not in modes
    assert len(modes) == 1


PARTITIONED = values("id, p, q", "1, 'x', 'u'", "2, 'y', 'u'")
OTHER_PARTITIONS = dict.fromkeys(
    ("partition_other", "partition_further", "partition_none"),
    model(PARTITIONED, partition_by="p", **OVERWRITE),
)
OTHER_PARTITIONS_LATER = {
    "partition_other": model(PARTITIONED, partition_by="q", **OVERWRITE),
    "partition_further": model(PARTITIONED, partition_by=["p", "q"], **OVERWRITE),
    "partition_none": model(PARTITIONED, **OVERWRITE),
}


def test_insert_overwrite_refuses_other_partitions_than_the_tables(built: Built) -> None:
    for name in OTHER_PARTITIONS:
        message = messages(built.second)[name]
        assert "partition_by" in message
        assert "--full-refresh" in message


REPLACE = {"incremental_strategy": "replace_where"}
FOUR = values("id, p", "1, 'x'", "2, 'y'", "3, 'Y'", "4, null")
REPLACE_WHERE = {
    "ranges": "{{ config(materialized='table') }}" + values("p", "'x'", "'Y'"),
    "a_list": model(
        FOUR,
        "select 3 as id, 'new' as p",
        incremental_predicates=["id >= 2", "id < 4 or false"],
        **REPLACE,
    ),
    "by_expressions": model(
        FOUR,
        "select 9 as id, 'y' as p",
        predicates=["id % 2 = 1", "upper(p) = 'Y'"],
        **REPLACE,
    ),
    "by_subquery": "-- depends_on: {{ ref('ranges') }}\n"
    + model(
        FOUR,
        values("p, id", "'x', 9"),
        incremental_predicates=["id > 1", "p in (select p from {schema}.ranges)"],
        **REPLACE,
    ),
    "by_subquery_typed": model(
        values("id, p", "1, '007'", "2, 'x'"),
        "select 2L as id, 7 as p",
        incremental_predicates="id in (select 2)",
        **REPLACE,
    ),
    "by_subquery_clustered": model(
        FOUR,
        values("p, id", "'x', 9"),
        incremental_predicates="id in (select max(id) from values (3), (9) as t(id))",
        liquid_clustered_by="p",
        **REPLACE,
    ),
    "replace_empty": model(
        FOUR, nothing("id, p", "9, 'x'"), incremental_predicates="id < 3", **REPLACE
    ),
    "quotes": model(
        values("id, p", r"1, 'it\'s'", r"2, 'back\\slash'", "3, 'plain'"),
        values("id, p", r"9, 'it\'s'"),
        incremental_predicates=[r"p in ('it\'s', 'back\\slash')"],
        **REPLACE,
    ),
    "no_predicate": model(FOUR, "select 9 as id, 'x' as p", **REPLACE),
    "partitions": model(
        FOUR,
        "select 3 as id, 'new' as p",
        partition_by="id",
        incremental_predicates=["id >= 2 and id <= 1 + 2"],
        **REPLACE,
    ),
    "lacking": model(FOUR, "select 9 as id", incremental_predicates="id in (2, 9)", **REPLACE),
}


def test_replace_where_replaces_the_rows_of_any_predicate(built: Built) -> None:
    expected = {
        "a_list": [(1, "x"), (3, "new"), (4, None)],
        "by_expressions": [(1, "x"), (2, "y"), (4, None), (9, "y")],
        "by_subquery": [(1, "x"), (2, "y"), (4, None), (9, "x")],
        "by_subquery_typed": [(1, "007"), (2, "7")],
        "by_subquery_clustered": [(1, "x"), (2, "y"), (3, "Y"), (4, None), (9, "x")],
        "replace_empty": [(3, "Y"), (4, None)],
        "quotes": [(3, "plain"), (9, "it's")],
        "partitions": [(1, "x"), (3, "new"), (4, None)],
        "no_predicate": [(1, "x"), (2, "y"), (3, "Y"), (4, None), (9, "x")],
        "lacking": [(1, "x"), (3, "Y"), (4, None), (9, None)],
    }
    _by_one_commit(built, expected)
    clustered = built.project.sql("describe detail {schema}.by_subquery_clustered")[0]
    assert clustered.clusteringColumns == ["p"]


TWO = values("id, p", "1, 'x'", "2, 'y'")
TWO_OUTSIDE = values("id, p", "7, 'x'", "8, 'y'", "9, null")
OUTSIDE = {
    "outside": model(TWO, TWO_OUTSIDE, incremental_predicates="p = 'x'", **REPLACE),
    "outside_staged": model(
        TWO, TWO_OUTSIDE, incremental_predicates="upper(p) = 'X'", stage="table", **REPLACE
    ),
    "outside_subquery": model(
        TWO,
        TWO_OUTSIDE,
        incremental_predicates="p in (select max(p) from {schema}.outside where id = 1)",
        **REPLACE,
    ),
}


def test_replace_where_refuses_rows_outside_with_their_number(built: Built) -> None:
    for name in OUTSIDE:
        assert "2 of 3 rows" in messages(built.second)[name]
        assert "Nothing was written" in messages(built.second)[name]


DELETE = {"incremental_strategy": "delete+insert", "unique_key": "k"}
OLD = values("k, n, v", "1, 1, 'a'", "1, 2, 'b'", "2, 1, 'c'", "null, 1, 'd'")
NEW = values("k, n, v", "1, 7, 'X'", "1, 7, 'X'", "null, 8, 'Y'", "3, 9, 'Z'")
# The column of the partitions comes last.
ORDERED = "select k, v, n from ({})"
DELETE_INSERT = {
    "other_case": model(OLD, NEW, **{**DELETE, "unique_key": "K"}),
    "staged": model(OLD, NEW, stage="table", **DELETE),
    "copied_partitions": model(
        ORDERED.format(OLD),
        NEW,
        partition_by="n",
        tblproperties={"delta.enableDeletionVectors": "false"},
        **DELETE,
    ),
    "composite": model(
        values("`select`, `a b`, v", "1, 1, 'a'", "1, 2, 'b'", "1, null, 'c'", "null, null, 'd'"),
        values("v, `a b`, `select`", "'X', 2, 1", "'Y', null, 1", "'Z', null, null"),
        **{**DELETE, "unique_key": ["select", "a b"]},
        tblproperties={"delta.columnMapping.mode": "name"},
    ),
    "as_list": model(OLD, NEW, incremental_predicates=["n = 1"], **DELETE),
    "as_text": model(OLD, NEW, incremental_predicates="n < 9", merge_prune="off", **DELETE),
    "delete_empty": model(OLD, nothing("k, n, v", "1, 1, 'a'"), **DELETE),
    "reads_itself": model(OLD, "select k, n + 1 as n, v from {{ this }} where k = 1", **DELETE),
}


def test_delete_insert_replaces_all_rows_of_a_key(built: Built) -> None:
    null, one, three = (None, 8, "Y"), (1, 7, "X"), (3, 9, "Z")
    both = [null, one, one, (2, 1, "c"), three]
    expected = {
        "other_case": both,
        "staged": both,
        "copied_partitions": [(k, v, n) for k, n, v in both],
        "composite": [(None, None, "Z"), (1, None, "Y"), (1, 1, "a"), (1, 2, "X")],
        # A list is dbt's form: it limits what is deleted.
        "as_list": [null, (1, 2, "b"), one, one, (2, 1, "c"), three],
        # A text is dbt-databricks' form: it limits the batch.
        "as_text": [null, one, one, (2, 1, "c")],
        "delete_empty": [(None, 1, "d"), (1, 1, "a"), (1, 2, "b"), (2, 1, "c")],
        "reads_itself": [(None, 1, "d"), (1, 2, "a"), (1, 3, "b"), (2, 1, "c")],
    }
    _by_one_commit(built, expected, "delete_empty")
    assert versions(built.project, ["delete_empty"]) == {"delete_empty": 0}


# Digests do not compress: each row takes 64 bytes.
LARGE = "select id, sha2(string(id), 256) as v from range({})"
SIZES = {
    "small_merged": model(LARGE.format(30), LARGE.format(3), unique_key="id"),
    "small_deleted": model(OLD, NEW, **DELETE),
    "small_vectors": model(
        LARGE.format(30),
        LARGE.format(3),
        unique_key="id",
        tblproperties={"delta.enableDeletionVectors": "true"},
    ),
    "large": model(LARGE.format(300_000), LARGE.format(3), unique_key="id"),
}


def test_a_small_table_gets_new_files_and_a_large_one_deletion_vectors(built: Built) -> None:
    """As the commits say; a property of the model decides for itself."""
    added = {name: metrics(built.project, name)["numTargetDeletionVectorsAdded"] for name in SIZES}
    assert [name for name, count in added.items() if count] == ["small_vectors", "large"]


SAME = {"merge_skip_unchanged": True}
OF_K = "select * from ({}) where k is null or k = 1"
UNCHANGED = {
    "same_delete": model(OLD, OF_K.format(OLD), **DELETE, **SAME),
    "same_delete_list": model(
        OLD,
        values("k, n, v", "1, 1, 'a'", "null, 1, 'd'"),
        incremental_predicates=["DBT_INTERNAL_DEST.n = 1"],
        **DELETE,
        **SAME,
    ),
    "same_clusters": model(OLD, OF_K.format(OLD), liquid_clustered_by="k", **OVERWRITE, **SAME),
    "same_partitions": model(
        ORDERED.format(OLD).replace("k, v, n", "v, n, k"),
        OF_K.format(OLD),
        partition_by="k",
        **OVERWRITE,
        **SAME,
    ),
}
CHANGED = {
    "fewer_delete": model(OLD, values("k, n, v", "1, 1, 'a'"), **DELETE, **SAME),
    "fewer_clusters": model(
        OLD, values("k, n, v", "1, 1, 'a'"), liquid_clustered_by="k", **OVERWRITE, **SAME
    ),
    "fewer_partitions": model(
        values("n, v, k", "1, 'a', null", "2, 'b', null"),
        values("n, v, k", "1, 'a', null"),
        partition_by="k",
        **OVERWRITE,
        **SAME,
    ),
}


def test_rows_that_are_there_are_not_replaced_by_themselves(built: Built) -> None:
    assert versions(built.project, UNCHANGED) == dict.fromkeys(UNCHANGED, 0)
    expected = {
        "fewer_delete": [(None, 1, "d"), (1, 1, "a"), (2, 1, "c")],
        "fewer_clusters": [(None, 1, "d"), (1, 1, "a"), (2, 1, "c")],
        "fewer_partitions": [(1, "a", None)],
    }
    _by_one_commit(built, expected)


MISTYPED = {
    "typed_matched": {"matched_condition": f"{SOURCE_ALIAS}.nope > 1"},
    "typed_not_matched": {"not_matched_condition": f"{SOURCE_ALIAS}.nope > 1"},
    "typed_by_source": {
        "not_matched_by_source_action": "delete",
        "not_matched_by_source_condition": "nope > 1",
    },
    "typed_delete": {"matched_delete_condition": "n > > 1"},
    "typed_predicate": {"incremental_predicates": [f"{DEST_ALIAS}.nope > 1"]},
    "typed_replace": {"incremental_predicates": "nope > 1", **REPLACE},
}
COMMENTED = {
    "commented": _merge(
        matched_condition=f"{SOURCE_ALIAS}.n > 20 -- the big ones",
        not_matched_condition=f"{SOURCE_ALIAS}.n < 45 /* and */ -- the small ones;",
    ),
    "commented_list": model(OLD, NEW, incremental_predicates=["n = 1 -- the first"], **DELETE),
}
NOTHING_TO_WRITE = {"no_column": model(FIRST, "select 1 as other", **APPEND)}
DEFAULTS = {
    "default_kept": model(
        values("id, p", "1, 'x'", "2, 'y'"),
        "select 9 as id",
        incremental_predicates=["id in (select max(id) + 7 from {schema}.default_kept)"],
        tblproperties={"delta.feature.allowColumnDefaults": "supported"},
        post_hook="alter table {{ this }} alter column p set default 'none'",
        **REPLACE,
    ),
}


def test_a_condition_that_cannot_be_read_is_named(built: Built) -> None:
    names = {"not_matched_by_source_action"}
    for name, config in MISTYPED.items():
        option = next(o for o in config if o not in names)
        said = messages(built.second)[name]
        assert f"{option} of {built.project.relation(name)} is {_text(config[option])}" in said
        assert "Spark refuses it: [" in said
        assert "Nothing was written" in said


def _text(value: object) -> str:
    return str(value[0] if isinstance(value, list) else value)


def test_a_condition_may_end_in_a_comment(built: Built) -> None:
    expected = {
        "commented": [(1, "a", 1), (2, "b", 2), (3, "C", 30), (4, "D", 40)],
        "commented_list": [
            (None, 8, "Y"), (1, 2, "b"), (1, 7, "X"), (1, 7, "X"), (2, 1, "c"), (3, 9, "Z"),
        ],
    }  # fmt: skip
    _by_one_commit(built, expected)


def test_a_batch_without_a_column_of_the_table_is_refused(built: Built) -> None:
    assert "has none of the columns of" in messages(built.second)["no_column"]


@pytest.mark.session
def test_a_default_is_kept_where_rows_are_written_anew(built: Built) -> None:
    rows = [(1, "x"), (2, "y"), (9, "none")]
    assert tables(built.project, ["default_kept"]) == {"default_kept": rows}


OWN_STRATEGY = """
    {% macro get_incremental_newest_only_sql(arg_dict) %}
        insert overwrite table {{ arg_dict.target_relation }} by name
        select {% for column in arg_dict.dest_columns %}
            {{- column.name }}{{ ', ' if not loop.last }}
        {%- endfor %}
        from {{ arg_dict.temp_relation }}
        where {{ arg_dict.unique_key }} >= 3
            and {{ arg_dict.incremental_predicates[0] }}
    {% endmacro %}
"""
NEWEST = {
    "incremental_strategy": "newest_only",
    "unique_key": "id",
    "incremental_predicates": ["v = 'c'"],
}
OWN = {
    "own": model(FIRST, THEN, **NEWEST),
    "own_staged": model(FIRST, THEN, stage="table", **NEWEST),
    "unknown": model(FIRST, THEN, incremental_strategy="upsert", unique_key="id"),
}


def test_unknown_strategy_is_refused_and_an_own_one_is_used(built: Built) -> None:
    assert "'upsert'" in messages(built.first)["unknown"]
    assert "get_incremental_upsert_sql" in messages(built.first)["unknown"]
    _by_one_commit(built, {"own": [(3, "c")], "own_staged": [(3, "c")]})


FAILING_WRITES = {
    name: model(
        FIRST,
        f"select id, if(id = 2, raise_error('broken row'), v) as v from ({THEN})",
        **{"stage": "view", **config},
    )
    for name, config in {
        "fails_append": APPEND,
        "fails_merge": {"unique_key": "id"},
        # Whatever the strategy: CREATE TABLE AS fails.
        "fails_staged": {"unique_key": "id", "stage": "table"},
        "fails_overwrite": OVERWRITE,
        "fails_replace": {"incremental_predicates": "id > 1", **REPLACE},
        "fails_delete": {"incremental_strategy": "delete+insert", "unique_key": "id"},
    }.items()
}


def test_a_failing_write_leaves_the_table_as_it_was(built: Built) -> None:
    """An error in the batch itself, for each strategy and both kinds of staging."""
    for name in FAILING_WRITES:
        assert "broken row" in messages(built.second)[name]
    expected = {name: [(1, "a"), (2, "b")] for name in FAILING_WRITES}
    assert tables(built.project, FAILING_WRITES) == expected
