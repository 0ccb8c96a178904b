"""What each strategy writes: the rows, and one commit per run."""

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    FIRST,
    THEN,
    columns,
    data_files,
    messages,
    model,
    nothing,
    relations,
    tables,
    tuples,
    values,
    versions,
    write_models,
)


def test_append_matches_columns_by_name(project: Project) -> None:
    append = {"incremental_strategy": "append"}
    write_models(
        project,
        {
            "plain": model(FIRST, THEN, **append),
            "reordered": model(FIRST, "select 'c' as v, 3 as id", **append),
            "lacking": model(FIRST, "select 3 as id", **append),
            "further": model(FIRST, "select 3 as id, 'c' as v, 0 as further", **append),
            "other_case": model(FIRST, "select 'c' as V, 3 as ID", **append),
            "odd_names": model(
                "select 1 as `a b`, 2 as `select`, 3 as `x.y`",
                "select 6 as `x.y`, 5 as `select`, 4 as `a b`",
                tblproperties={"delta.columnMapping.mode": "name"},
                **append,
            ),
            "widened": model("select 1L as id, 1.5d as v", "select 2 as id, 3 as v", **append),
            "empty": model(FIRST, nothing("id, v", "3, 'c'"), **append),
            "with_default": model(
                FIRST,
                "select 3 as id",
                tblproperties={"delta.feature.allowColumnDefaults": "supported"},
                post_hook="alter table {{ this }} alter column v set default 'none'",
                **append,
            ),
        },
    )
    project.dbt("run")
    before = versions(project, ["with_default"])["with_default"]
    project.dbt("run")
    expected = {
        "plain": [(1, "a"), (2, "B"), (2, "b"), (3, "c")],
        "reordered": [(1, "a"), (2, "b"), (3, "c")],
        "lacking": [(1, "a"), (2, "b"), (3, None)],
        "further": [(1, "a"), (2, "b"), (3, "c")],
        "other_case": [(1, "a"), (2, "b"), (3, "c")],
        "odd_names": [(1, 2, 3), (4, 5, 6)],
        "widened": [(1, 1.5), (2, 3.0)],
        "empty": [(1, "a"), (2, "b")],
        "with_default": [(1, "a"), (2, "b"), (3, "none")],
    }
    assert tables(project, expected) == expected
    found = versions(project, expected)
    assert found.pop("with_default") - before == 2
    assert found.pop("empty") <= 1
    assert set(found.values()) == {1}
    assert relations(project) == sorted(expected)


def test_merge_writes_one_commit(project: Project) -> None:
    write_models(
        project,
        {
            "default_strategy": model(FIRST, THEN, unique_key="id"),
            "no_key": model(FIRST, THEN),
            "lacking": model(
                values("id, v, w", "1, 'a', 'x'", "2, 'b', 'y'"), THEN, unique_key="id"
            ),
            "further": model(FIRST, "select 2 as id, 'B' as v, 0 as further", unique_key="id"),
            "reordered": model(FIRST, "select 'B' as v, 2 as id", unique_key="id"),
            "only_keys": model(
                "select 1 as id", "select explode(array(1, 2)) as id", unique_key="id"
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    expected = {
        "default_strategy": [(1, "a"), (2, "B"), (3, "c")],
        "no_key": [(1, "a"), (2, "B"), (2, "b"), (3, "c")],
        "lacking": [(1, "a", "x"), (2, "B", "y"), (3, "c", None)],
        "further": [(1, "a"), (2, "B")],
        "reordered": [(1, "a"), (2, "B")],
        "only_keys": [(1,), (2,)],
    }
    assert tables(project, expected) == expected
    assert set(versions(project, expected).values()) == {1}
    assert {project.history(name)[0]["operation"] for name in expected} == {"MERGE"}
    assert relations(project) == sorted(expected)


def test_a_select_may_ask_its_own_table(project: Project) -> None:
    """The newest row by a subquery, and rows that are there by joins: with every strategy."""
    source = values("id, v", *(f"{n}, 'v{n}'" for n in range(1, 6)))
    newer = (
        f"select * from ({source}) where id > (select max(id) from {{{{ this }}}})"
        " and id not in (select id from {{ this }})"
        " and exists (select 1 from {{ this }} as t where t.id < 3)"
    )
    joined = f"select s.* from ({source}) as s left anti join {{{{ this }}}} as t on s.id = t.id"
    strategies: dict[str, dict[str, object]] = {
        "merge": {"unique_key": "id"},
        "no_key": {},
        "copied": {
            "unique_key": "id",
            "tblproperties": {"delta.enableDeletionVectors": "false"},
            "merge_skip_unchanged": True,
        },
        "append": {"incremental_strategy": "append"},
        "deleted": {"incremental_strategy": "delete+insert", "unique_key": "id"},
        "partitions": {"incremental_strategy": "insert_overwrite", "partition_by": "id"},
        "clusters": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "id"},
        "swapped": {
            "incremental_strategy": "replace_where",
            "incremental_predicates": ["id > 3"],
        },
    }
    first = source + " where id <= 3"
    models = {
        f"{name}_{kind}_{stage}": model(first, then, stage=stage, **config)
        for name, config in strategies.items()
        for kind, then in {"newer": newer, "joined": joined}.items()
        for stage in (("view", "table") if (name, kind) == ("merge", "newer") else ("view",))
    }
    write_models(project, models)
    for number in range(3):
        project.dbt("run")
        expected = [(n, f"v{n}") for n in range(1, 6 if number else 4)]
        for name in models:
            # Of a replace_where nothing is left of what it replaces when nothing is newer.
            rows = expected[:3] if number == 2 and name.startswith("swapped") else expected
            assert tuples(project, name) == rows, (name, number)


def test_merge_options(project: Project) -> None:
    """dbt-databricks' options with dbt-databricks' meaning."""
    first = values("id, v, n", "1, 'a', 1", "2, 'b', 2", "3, 'c', 3")
    then = values("id, v, n", "2, 'B', 20", "3, 'C', 30", "4, 'D', 40", "5, 'E', 50")
    source, dest = "DBT_INTERNAL_SOURCE", "DBT_INTERNAL_DEST"

    def merge(**config: object) -> str:
        return model(first, then, unique_key="id", **config)

    write_models(
        project,
        {
            "update_columns": merge(merge_update_columns=["N"]),
            "exclude_columns": merge(merge_exclude_columns=["V"]),
            "matched": merge(matched_condition=f"{source}.n > {dest}.n * 9 and {source}.id = 3"),
            "not_matched": merge(not_matched_condition=f"{source}.n > 40 or {source}.n is null"),
            "skip_matched": merge(skip_matched_step=True),
            "skip_not_matched": merge(skip_not_matched_step="true"),
            "by_source_delete": merge(not_matched_by_source_action="delete"),
            "by_source_update": merge(
                not_matched_by_source_action=f"update set {dest}.v = 'gone', {dest}.n = 0",
                not_matched_by_source_condition=f"{dest}.n < 10",
            ),
            "by_source_kept": merge(
                not_matched_by_source_action="DELETE",
                not_matched_by_source_condition="t.n > 10",
                target_alias="t",
            ),
            "only_by_source": merge(
                skip_matched_step=True,
                skip_not_matched_step=True,
                not_matched_by_source_action="delete",
            ),
            "aliases": merge(
                source_alias="src",
                target_alias="tgt",
                matched_condition="src.n > 25 and tgt.n > 0",
                not_matched_condition="src.n < 45",
            ),
            "predicate_text": merge(incremental_predicates=f"{dest}.n > 2 or {dest}.n is null"),
            "predicate_list": merge(predicates=[f"{dest}.n > 1", f"{dest}.n < 3 or false"]),
            "or_in_conditions": merge(
                matched_condition=f"{source}.n = 20 or {source}.n = 30",
                not_matched_condition=f"{source}.n = 40 or {source}.n = 0",
                merge_skip_unchanged=True,
            ),
            "evolution": model(
                "select 1 as id, named_struct('a', 1) as s",
                "select 1 as id, named_struct('a', 2, 'b', 'new') as s, 'x' as further",
                unique_key="id",
                merge_with_schema_evolution=True,
            ),
            "evolution_inserts": model(
                "select 1 as id, array(named_struct('a', 1)) as s, 5 as old",
                "select 2 as id, array(named_struct('b', 'new', 'a', 2)) as s, 'x' as further",
                unique_key="id",
                merge_with_schema_evolution="true",
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    one, two, three = (1, "a", 1), (2, "b", 2), (3, "c", 3)
    new_two, new_three, four, five = (2, "B", 20), (3, "C", 30), (4, "D", 40), (5, "E", 50)
    expected = {
        "update_columns": [one, (2, "b", 20), (3, "c", 30), four, five],
        "exclude_columns": [one, (2, "b", 20), (3, "c", 30), four, five],
        "matched": [one, two, new_three, four, five],
        "not_matched": [one, new_two, new_three, five],
        "skip_matched": [one, two, three, four, five],
        "skip_not_matched": [one, new_two, new_three],
        "by_source_delete": [new_two, new_three, four, five],
        "by_source_update": [(1, "gone", 0), new_two, new_three, four, five],
        "by_source_kept": [one, new_two, new_three, four, five],
        "only_by_source": [two, three],
        "aliases": [one, two, new_three, four],
        "predicate_text": [one, new_two, two, new_three, four, five],
        "predicate_list": [one, new_two, new_three, three, four, five],
        "or_in_conditions": [one, new_two, new_three, four],
        "evolution": [(1, {"a": 2, "b": "new"}, "x")],
        "evolution_inserts": [
            (1, [{"a": 1, "b": None}], 5, None),
            (2, [{"a": 2, "b": "new"}], None, "x"),
        ],
    }
    assert tables(project, expected) == expected
    assert set(versions(project, expected).values()) == {1}
    assert relations(project) == sorted(expected)


def test_merge_options_that_contradict_are_refused(project: Project) -> None:
    refused = {
        "both": (
            {"merge_update_columns": ["v"], "merge_exclude_columns": ["v"]},
            "cannot specify merge_update_columns and merge_exclude_columns",
        ),
        "action": ({"not_matched_by_source_action": "truncate"}, "'truncate'. It is 'delete' or"),
        "no_action": (
            {"not_matched_by_source_condition": "true"},
            "needs not_matched_by_source_action",
        ),
        "no_steps": (
            {"skip_matched_step": True, "skip_not_matched_step": True},
            "leave the merge nothing to do",
        ),
        "unknown_update": ({"merge_update_columns": ["nope"]}, "'nope'"),
    }
    write_models(project, {name: model(FIRST, THEN, unique_key="id") for name in refused})
    project.dbt("run")
    write_models(
        project,
        {name: model(FIRST, THEN, unique_key="id", **c) for name, (c, _) in refused.items()},
    )
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == sorted(refused)
    assert {n: text in found[n] for n, (_, text) in refused.items()} == dict.fromkeys(refused, True)
    assert set(versions(project, refused).values()) == {0}
    assert relations(project) == sorted(refused)


def test_insert_overwrite_replaces_what_the_batch_has_rows_of(project: Project) -> None:
    overwrite = {"incremental_strategy": "insert_overwrite"}
    first = values("id, p", "1, 'x'", "2, 'x'", "3, 'y'", "4, null", "5, null")
    write_models(
        project,
        {
            "by_partition": model(first, "select 9 as id, 'x' as p", partition_by="p", **overwrite),
            "by_null": model(
                first, "select 9 as id, cast(null as string) as p", partition_by=["p"], **overwrite
            ),
            "new_partition": model(
                first, "select 9 as id, 'new' as p", partition_by="P", **overwrite
            ),
            "two_levels": model(
                values("p, q, id", "1, 'x', 1", "1, 'y', 2", "2, 'x', 3"),
                values("id, q, p", "9, 'x', 1", "8, 'z', 2"),
                partition_by=["p", "q"],
                **overwrite,
            ),
            "by_cluster": model(
                first, "select 9 as id, 'x' as p", liquid_clustered_by="p", **overwrite
            ),
            "cluster_null": model(
                first,
                values("id, p", "9, null", "8, 'y'", "7, 'y'"),
                liquid_clustered_by=["p"],
                **overwrite,
            ),
            "cluster_two": model(
                values("p, q, id", "1, 'x', 1", "1, 'y', 2", "2, 'x', 3"),
                values("id, q, p", "9, 'x', 1", "8, 'z', 2"),
                liquid_clustered_by=["p", "q"],
                **overwrite,
            ),
            "whole": model(first, "select 9 as id, 'x' as p", **overwrite),
            "whole_empty": model(first, nothing("id, p", "9, 'x'"), **overwrite),
            "partition_empty": model(
                first, nothing("id, p", "9, 'x'"), partition_by="p", **overwrite
            ),
            "cluster_empty": model(
                first, nothing("id, p", "9, 'x'"), liquid_clustered_by="p", **overwrite
            ),
            "cluster_nested": model(
                "select id, named_struct('p', p) as s from "
                "(values (1, 'x'), (2, 'y'), (3, 'y')) as t(id, p)",
                "select 9 as id, named_struct('p', 'y') as s",
                liquid_clustered_by="s.p",
                **overwrite,
            ),
        },
    )
    project.dbt("run")
    kept = data_files(project, "by_partition", "p is null or p = 'y'")
    project.dbt("run")
    expected = {
        "by_partition": [(3, "y"), (4, None), (5, None), (9, "x")],
        "by_null": [(1, "x"), (2, "x"), (3, "y"), (9, None)],
        "new_partition": [(1, "x"), (2, "x"), (3, "y"), (4, None), (5, None), (9, "new")],
        "two_levels": [(1, "x", 9), (1, "y", 2), (2, "x", 3), (2, "z", 8)],
        "by_cluster": [(3, "y"), (4, None), (5, None), (9, "x")],
        "cluster_null": [(1, "x"), (2, "x"), (7, "y"), (8, "y"), (9, None)],
        "cluster_two": [(1, "x", 9), (1, "y", 2), (2, "x", 3), (2, "z", 8)],
        "whole": [(9, "x")],
        "whole_empty": [],
        "partition_empty": [(1, "x"), (2, "x"), (3, "y"), (4, None), (5, None)],
        "cluster_empty": [(1, "x"), (2, "x"), (3, "y"), (4, None), (5, None)],
        "cluster_nested": [(1, {"p": "x"}), (9, {"p": "y"})],
    }
    found = tables(project, expected)
    # Partition columns come last in Spark's own order of columns in a table.
    found["two_levels"] = sorted(
        (row["p"], row["q"], row["id"]) for row in project.rows("two_levels")
    )
    assert found == expected
    assert data_files(project, "by_partition", "p is null or p = 'y'") == kept
    numbers = versions(project, expected)
    assert {numbers.pop("partition_empty"), numbers.pop("cluster_empty")} <= {0, 1}
    assert set(numbers.values()) == {1}
    assert relations(project) == sorted(expected)


def test_insert_overwrite_by_clustering_goes_by_those_columns_alone(project: Project) -> None:
    """A unique_key is checked, and neither finds the rows to replace nor limits them."""
    first = values("k, id, v", "1, 1, 'a'", "1, 2, 'b'", "2, 3, 'c'", "null, 4, 'd'")
    checked = {
        "incremental_strategy": "insert_overwrite",
        "liquid_clustered_by": "K",
        "unique_key": "id",
        "null_keys": "error",
        "duplicate_keys": "error",
    }
    write_models(
        project,
        {
            "replaced": model(first, values("k, id, v", "1, 900, 'A'", "null, 7, 'D'"), **checked),
            "empty": model(first, nothing("k, id, v", "1, 1, 'a'"), **checked),
        },
    )
    project.dbt("run")
    project.dbt("run")
    assert tuples(project, "replaced") == [(None, 7, "D"), (1, 900, "A"), (2, 3, "c")]
    assert tuples(project, "empty") == [(None, 4, "d"), (1, 1, "a"), (1, 2, "b"), (2, 3, "c")]


def test_insert_overwrite_leaks_no_session_setting(project: Project) -> None:
    project.write(
        {
            "macros/note_mode.sql": """
                {% macro note_mode() %}
                    {% if execute %}
                        {% set key = 'spark.sql.sources.partitionOverwriteMode' %}
                        {% set mode = run_query('set ' ~ key).rows[0][1] %}
                        insert into {{ this }} by name select 99 as id, '{{ mode }}' as p
                    {% endif %}
                {% endmacro %}
            """,
            "models/modes.sql": model(
                "select 1 as id, 'x' as p",
                incremental_strategy="insert_overwrite",
                partition_by="p",
                post_hook="{{ note_mode() }}",
            ),
        }
    )
    project.dbt("run")
    project.dbt("run")
    modes = {row["p"].lower() for row in project.rows("modes") if row["id"] == 99}
    assert "dynamic" not in modes
    assert len(modes) == 1


def test_insert_overwrite_refuses_other_partitions_than_the_tables(project: Project) -> None:
    first = values("id, p, q", "1, 'x', 'u'", "2, 'y', 'u'")
    overwrite = {"incremental_strategy": "insert_overwrite"}
    write_models(project, {"a": model(first, partition_by="p", **overwrite)})
    project.dbt("run")
    for partitions in ("q", ["p", "q"], None):
        config = {"partition_by": partitions} if partitions else {}
        write_models(project, {"a": model(first, **config, **overwrite)})
        message = messages(project.dbt("run", check=False))["a"]
        assert "partition_by" in message
        assert "--full-refresh" in message
    assert len(project.rows("a")) == 2
    assert project.version("a") == 0
    assert relations(project) == ["a"]


def test_replace_where_replaces_the_rows_of_any_predicate(project: Project) -> None:
    first = values("id, p", "1, 'x'", "2, 'y'", "3, 'Y'", "4, null")
    replace = {"incremental_strategy": "replace_where"}
    write_models(
        project,
        {
            "ranges": "{{ config(materialized='table') }} select 2 as id union all select 3",
            "plain": model(
                first, "select 9 as id, 'x' as p", incremental_predicates="p = 'x'", **replace
            ),
            "a_list": model(
                first,
                "select 3 as id, 'new' as p",
                incremental_predicates=["id >= 2", "id < 4 or false"],
                **replace,
            ),
            "by_function": model(
                first,
                "select 9 as id, 'y' as p",
                incremental_predicates=["upper(p) = 'Y'"],
                **replace,
            ),
            "by_arithmetic": model(
                first, "select 9 as id, 'odd' as p", predicates="id % 2 = 1", **replace
            ),
            "by_subquery": model(
                first,
                values("p, id", "'new', 2"),
                incremental_predicates=f"id in (select id from {project.schema}.ranges)",
                **replace,
            ),
            "by_subquery_and_null": model(
                first,
                values("id, p", "9, 'x'"),
                incremental_predicates=["id > 0", "p in (select * from values ('x'), ('y'))"],
                **replace,
            ),
            "empty": model(
                first, nothing("id, p", "9, 'x'"), incremental_predicates="id < 3", **replace
            ),
            "quotes": model(
                values("id, p", r"1, 'it\'s'", r"2, 'back\\slash'", "3, 'plain'"),
                values("id, p", r"9, 'it\'s'"),
                incremental_predicates=[r"p in ('it\'s', 'back\\slash')"],
                **replace,
            ),
            "no_predicate": model(first, "select 9 as id, 'x' as p", **replace),
            # Of a partition column, Delta fails at BETWEEN.
            "between": model(
                first,
                "select 3 as id, 'new' as p",
                partition_by="id",
                incremental_predicates=["id between 2 and 1 + 2 and not id not between 0 and 9"],
                **replace,
            ),
            "lacking": model(
                first, "select 9 as id", incremental_predicates="id in (2, 9)", **replace
            ),
        },
    )
    project.write(
        {
            "models/by_subquery.sql": "-- depends_on: {{ ref('ranges') }}\n"
            + (project.path / "models/by_subquery.sql").read_text()
        }
    )
    project.dbt("run")
    project.dbt("run")
    expected = {
        "plain": [(2, "y"), (3, "Y"), (4, None), (9, "x")],
        "a_list": [(1, "x"), (3, "new"), (4, None)],
        "by_function": [(1, "x"), (4, None), (9, "y")],
        "by_arithmetic": [(2, "y"), (4, None), (9, "odd")],
        "by_subquery": [(1, "x"), (2, "new"), (4, None)],
        "by_subquery_and_null": [(3, "Y"), (4, None), (9, "x")],
        "empty": [(3, "Y"), (4, None)],
        "quotes": [(3, "plain"), (9, "it's")],
        "between": [(1, "x"), (3, "new"), (4, None)],
        "no_predicate": [(1, "x"), (2, "y"), (3, "Y"), (4, None), (9, "x")],
        "lacking": [(1, "x"), (3, "Y"), (4, None), (9, None)],
    }
    assert tables(project, expected) == expected
    assert set(versions(project, expected).values()) == {1}
    assert relations(project) == sorted([*expected, "ranges"])


def test_replace_where_refuses_rows_outside_with_their_number(project: Project) -> None:
    first = values("id, p", "1, 'x'", "2, 'y'")
    replace = {"incremental_strategy": "replace_where"}
    outside = values("id, p", "7, 'x'", "8, 'y'", "9, null")
    listed = f"{project.schema}.plain"
    write_models(
        project,
        {
            "plain": model(first, outside, incremental_predicates="p = 'x'", **replace),
            "by_function": model(
                first, outside, incremental_predicates="upper(p) = 'X'", **replace
            ),
            "by_subquery": model(
                first,
                outside,
                **replace,
                incremental_predicates=f"p in (select max(p) from {listed} where id = 1)",
            ),
            "staged": model(
                first, outside, incremental_predicates="p = 'x'", stage="table", **replace
            ),
        },
    )
    names = ["plain", "by_function", "by_subquery", "staged"]
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert sorted(found) == sorted(names)
    for message in found.values():
        assert "2 of 3 rows" in message
        assert "Nothing was written" in message
    assert set(versions(project, names).values()) == {0}
    assert relations(project) == sorted(names)


def test_delete_insert_replaces_all_rows_of_a_key(project: Project) -> None:
    first = values("k, n, v", "1, 1, 'a'", "1, 2, 'b'", "2, 1, 'c'", "null, 1, 'd'")
    then = values("k, n, v", "1, 7, 'X'", "1, 7, 'X'", "null, 8, 'Y'", "3, 9, 'Z'")
    replace = {"incremental_strategy": "delete+insert"}
    both = [*sorted([(1, 7, "X")] * 2), (2, 1, "c"), (3, 9, "Z"), (None, 8, "Y")]
    write_models(
        project,
        {
            "single": model(first, then, unique_key="k", **replace),
            "other_case": model(first, then, unique_key="K", **replace),
            "staged": model(first, then, unique_key="k", stage="table", **replace),
            "unpruned": model(first, then, unique_key="k", merge_prune="off", **replace),
            "copy_on_write": model(
                first,
                then,
                unique_key="k",
                tblproperties={"delta.enableDeletionVectors": "false"},
                **replace,
            ),
            "composite": model(
                values("k, n, v", "1, 1, 'a'", "1, 2, 'b'", "1, null, 'c'", "null, null, 'd'"),
                values("k, n, v", "1, 2, 'X'", "1, null, 'Y'", "null, null, 'Z'"),
                unique_key=["k", "n"],
                **replace,
            ),
            "as_list": model(
                first, then, unique_key="k", incremental_predicates=["n = 1"], **replace
            ),
            "as_text": model(
                first, then, unique_key="k", incremental_predicates="n < 9", **replace
            ),
            "empty": model(first, nothing("k, n, v", "1, 1, 'a'"), unique_key="k", **replace),
            "partitioned": model(first, then, unique_key="k", partition_by="n", **replace),
            "reads_itself": model(
                first,
                "select k, n + 1 as n, v from {{ this }} where k = 1",
                unique_key="k",
                **replace,
            ),
            "odd_names": model(
                "select 1 as `select`, 2 as `a b`",
                "select 3 as `a b`, 1 as `select`",
                unique_key="select",
                tblproperties={"delta.columnMapping.mode": "name"},
                **replace,
            ),
        },
    )
    project.dbt("run")
    project.dbt("run")
    expected = {
        "single": both,
        "other_case": both,
        "staged": both,
        "unpruned": both,
        "copy_on_write": both,
        "composite": [(1, 1, "a"), (1, 2, "X"), (1, None, "Y"), (None, None, "Z")],
        # A list is dbt's form: it limits what is deleted.
        "as_list": [
            (1, 2, "b"),
            (1, 7, "X"),
            (1, 7, "X"),
            (2, 1, "c"),
            (3, 9, "Z"),
            (None, 8, "Y"),
        ],
        # A text is dbt-databricks' form: it limits the batch.
        "as_text": [(1, 7, "X"), (1, 7, "X"), (2, 1, "c"), (None, 8, "Y")],
        "empty": [(1, 1, "a"), (1, 2, "b"), (2, 1, "c"), (None, 1, "d")],
        "partitioned": [(1, "X", 7), (1, "X", 7), (2, "c", 1), (3, "Z", 9), (None, "Y", 8)],
        "reads_itself": [(1, 2, "a"), (1, 3, "b"), (2, 1, "c"), (None, 1, "d")],
        "odd_names": [(1, 3)],
    }
    found = {
        name: sorted(rows, key=lambda row: [(value is None, value) for value in row])
        for name, rows in tables(project, expected).items()
    }
    if [*columns(project, "partitioned")] == ["k", "n", "v"]:
        expected["partitioned"] = both
    assert found == expected
    numbers = versions(project, expected)
    assert numbers.pop("empty") == 0
    assert set(numbers.values()) == {1}
    assert relations(project) == sorted(expected)


def test_delete_insert_without_key_is_refused(project: Project) -> None:
    write_models(project, {"a": model(FIRST, THEN, incremental_strategy="delete+insert")})
    message = messages(project.dbt("run", check=False))["a"]
    assert "needs unique_key" in message
    assert relations(project) == []


def test_unknown_strategy_is_refused_and_an_own_one_is_used(project: Project) -> None:
    project.write(
        {
            "macros/own.sql": """
                {% macro get_incremental_newest_only_sql(arg_dict) %}
                    insert overwrite table {{ arg_dict.target_relation }} by name
                    select {% for column in arg_dict.dest_columns %}
                        {{- column.name }}{{ ', ' if not loop.last }}
                    {%- endfor %}
                    from {{ arg_dict.temp_relation }}
                    where {{ arg_dict.unique_key }} >= 3
                        and {{ arg_dict.incremental_predicates[0] }}
                {% endmacro %}
            """,
        }
    )
    own = {"unique_key": "id", "incremental_predicates": ["v = 'c'"]}
    write_models(
        project,
        {
            "own": model(FIRST, THEN, incremental_strategy="newest_only", **own),
            "own_staged": model(
                FIRST, THEN, incremental_strategy="newest_only", stage="table", **own
            ),
            "unknown": model(FIRST, THEN, incremental_strategy="upsert", unique_key="id"),
        },
    )
    first = messages(project.dbt("run", check=False))
    assert [*first] == ["unknown"]
    assert "'upsert'" in first["unknown"]
    assert "get_incremental_upsert_sql" in first["unknown"]
    project.dbt("run", check=False)
    assert tuples(project, "own") == [(3, "c")]
    assert tuples(project, "own_staged") == [(3, "c")]
    assert versions(project, ["own", "own_staged"]) == {"own": 1, "own_staged": 1}
    assert relations(project) == ["own", "own_staged"]


def test_a_failing_write_leaves_table_and_schema_as_they_were(project: Project) -> None:
    """An error in the batch itself, for each strategy and both kinds of staging."""
    strategies: dict[str, dict[str, object]] = {
        "append": {},
        "merge": {"unique_key": "id"},
        "insert_overwrite": {},
        "replace_where": {"incremental_predicates": "id > 1"},
        "delete+insert": {"unique_key": "id"},
    }
    broken = "select id, if(id = 2, raise_error('broken row'), v) as v from (" + THEN + ")"
    models = {
        f"{strategy.replace('+', '_')}_{stage}": model(
            FIRST, broken, incremental_strategy=strategy, stage=stage, **config
        )
        for strategy, config in strategies.items()
        for stage in ("view", "table")
    }
    write_models(project, models)
    project.dbt("run")
    run = project.dbt("run", check=False)
    assert sorted(messages(run)) == sorted(models)
    assert set(versions(project, models).values()) == {0}
    left = [name for name in relations(project) if name not in models]
    # The staging table of a failed CREATE TABLE AS does not come to be.
    assert left == []
