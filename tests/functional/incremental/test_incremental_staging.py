"""stage and merge_prune: one evaluation of what is dear, and only files that can match are read."""

from pathlib import Path

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import (
    data_files,
    messages,
    model,
    relations,
    tuples,
    values,
    write_models,
)

# Never the same twice: evaluated once for the check and again for the write, keys would differ.
RANDOM = "select bigint(rand() * 1e15) as id, {0} as run from range(20)"
# Four files with one value of day each, and keys in order.
DAYS = (
    "select /*+ repartition_by_range(4, day) */"
    " id, date_add(date'2024-01-01', int(id div 100)) as day,"
    " id % 10 as part, concat('k', lpad(id, 6, '0')) as name, 'old' as v"
    " from (select int(id) as id from range(400))"
)
NEWEST = (
    "select int(id) as id, date'2024-01-04' as day, int(id % 10) as part,"
    " concat('k', lpad(id, 6, '0')) as name, 'new' as v from range(390, 410)"
)
KEYED = {"unique_key": ["id", "day"]}


def test_a_select_that_is_dear_is_evaluated_once(project: Project) -> None:
    first = "select bigint(-1) as id, 0 as run"
    once = {
        "merged": {"unique_key": "id"},
        "replaced": {"unique_key": "id", "incremental_strategy": "delete+insert"},
        "clustered": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "id"},
        "checked": {
            "incremental_strategy": "append",
            "unique_key": "id",
            "duplicate_keys": "error",
        },
    }
    write_models(project, {n: model(first, RANDOM.format(1), **c) for n, c in once.items()})
    project.dbt("run")
    run = project.dbt("run")
    for name in once:
        assert project.sql(f"select count(*) from {{schema}}.{name}")[0][0] == 21, name
        assert project.version(name) == 1
    assert relations(project) == sorted(once)
    staged = [sql for sql in run.statements if sql.startswith("create or replace table")]
    assert len(staged) == len(once)


def test_a_view_that_changes_while_it_is_merged_is_refused(project: Project) -> None:
    """The check has seen other keys than the merge: a match could be hidden by the bounds."""
    later = "select unix_micros(current_timestamp()) + id as id, 1 as run from range(20)"
    config = {"unique_key": "id", "stage": "view"}
    write_models(project, {"a": model("select bigint(-1) as id, 0 as run", later, **config)})
    project.dbt("run")
    found = messages(project.dbt("run", check=False))
    assert "changed while it was merged; nothing was written" in found["a"]
    assert project.version("a") == 0


def test_a_plain_select_is_not_staged(project: Project) -> None:
    project.write(
        {
            "models/source.sql": "{{ config(materialized='table') }} " + DAYS,
            "models/plain.sql": model(
                DAYS, "select * from {{ ref('source') }} where id > 9"
            ).replace("')", "', unique_key='id')", 1),
            "models/forced.sql": model(
                DAYS, "select * from {{ ref('source') }}", unique_key="id", stage="table"
            ),
            "models/joined_view.sql": "select a.* from {{ ref('source') }} a"
            " join {{ ref('source') }} using (id)",
            "models/of_view.sql": model(
                DAYS, "select * from {{ ref('joined_view') }}", unique_key="id"
            ),
        }
    )
    project.dbt("run")
    run = project.dbt("run")
    staged = [sql for sql in run.statements if sql.startswith("create or replace table")]
    names = sorted(sql.split("`")[3].split("__")[0] for sql in staged)
    assert names == ["forced", "of_view", "source"]


@pytest.mark.parametrize("strategy", ["merge", "delete+insert"])
def test_files_that_cannot_match_are_not_read(project: Project, strategy: str) -> None:
    """Their data is gone, and the run does not notice; without pruning it does."""
    kinds = {
        "clustered": {"liquid_clustered_by": "day"},
        "partitioned": {"partition_by": "day"},
        "by_name": {"unique_key": "name"},
        "unpruned": {"merge_prune": "off"},
    }
    write_models(
        project,
        {
            n: model(DAYS, NEWEST, incremental_strategy=strategy, **{**KEYED, **c})
            for n, c in kinds.items()
        },
    )
    project.dbt("run")
    for name in kinds:
        old = data_files(project, name, "day < '2024-01-03'")
        new = data_files(project, name, "day > '2024-01-03'")
        assert old, name
        assert not old & new, name
        for file in old:
            Path(file).unlink()
    run = project.dbt("run", check=False)
    assert sorted(messages(run)) == ["unpruned"], run.output
    assert project.version("unpruned") == 0
    for name in sorted(set(kinds) - {"unpruned"}):
        assert project.version(name) == 1
        found = project.sql(
            f"select count(*), count_if(v = 'new') from {{schema}}.{name} where day > '2024-01-03'"
        )
        assert tuple(found[0]) == (110, 20), name


def test_pruning_hides_no_match(project: Project) -> None:
    """Keys at the very bounds, null keys, other types, values that order oddly."""
    cases = {
        "of_nulls": ("id, v", ["null, 'a'", "5, 'b'"], ["null, 'A'", "7, 'C'"]),
        "only_null": ("id, v", ["null, 'a'", "5, 'b'"], ["null, 'A'"]),
        "other_type": ("id, v", ["1, 'a'", "3, 'b'"], ["1L, 'A'", "3L, 'B'"]),
        "of_text": ("id, v", ["'10', 'a'", "'9', 'b'"], ["9, 'B'", "10, 'A'"]),
        "of_floats": (
            "id, v",
            ["double('NaN'), 'a'", "-0.0d, 'b'"],
            ["double('NaN'), 'A'", "0.0d, 'B'"],
        ),
        "of_emoji": ("id, v", ["'😀', 'a'", "'￿', 'b'"], ["'￿', 'B'", "'😀', 'A'"]),
        "of_times": (
            "id, v",
            ["timestamp'2024-10-27 01:30:00+02:00', 'a'", "timestamp'2024-10-27 01:30:00Z', 'b'"],
            ["timestamp'2024-10-27 01:30:00Z', 'B'"],
        ),
        "of_decimals": ("id, v", ["1.10bd, 'a'", "2.20bd, 'b'"], ["1.1bd, 'A'", "2.2bd, 'B'"]),
        "of_long_text": (
            "id, v",
            [f"repeat('x', {n}), '{n}'" for n in (31, 32, 33, 500)],
            [f"repeat('x', {n}), 'new'" for n in (32, 33, 500)],
        ),
    }
    write_models(
        project,
        {
            name: model(values(names, *first), values(names, *then), unique_key="id")
            for name, (names, first, then) in cases.items()
        },
    )
    project.dbt("run")
    project.dbt("run")
    found = {name: {row[1] for row in tuples(project, name)} for name in cases}
    assert found == {
        "of_nulls": {"A", "b", "C"},
        "only_null": {"A", "b"},
        "other_type": {"A", "B"},
        "of_text": {"A", "B"},
        "of_floats": {"A", "B"},
        "of_emoji": {"A", "B"},
        "of_times": {"a", "B"},
        "of_decimals": {"A", "B"},
        "of_long_text": {"31", "new"},
    }
    counts = {name: len(tuples(project, name)) for name in cases}
    assert counts == {**dict.fromkeys(cases, 2), "of_nulls": 3, "of_long_text": 4}


def test_what_earlier_runs_left_is_swept(project: Project) -> None:
    config = {"unique_key": "id", "stage": "table"}
    first, then = values("id, v", "1, 'a'"), values("id, v", "1, 'A'")
    write_models(project, {"a": model(first, then, **config), "a__dbt_tmp_b": "select 1 as id"})
    project.dbt("run")
    project.sql("create table {schema}.a__dbt_tmp_0123456789 using delta as select 1 as id")
    project.dbt("run", "-s", "a")
    assert tuples(project, "a") == [(1, "A")]
    assert relations(project) == ["a", "a__dbt_tmp_b"]
