"""stage and merge_prune: one evaluation of an expensive SELECT, only files that can match.

All models are one project, which runs twice; a test looks at its own.
"""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.session import retry
from tests.functional.harness import Project
from tests.functional.incremental.models import (
    FIRST,
    MERGED,
    THEN,
    Built,
    data_files,
    messages,
    model,
    relations,
    statements,
    tables,
    values,
    write_models,
)
from tests.functional.tables import json_rows, versions


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    """Between the runs the data of old days is lost, and others leave relations beside a model."""
    project = new_shared_project("staging")
    raced = {name: text.replace("{schema}", project.schema) for name, text in RACED.items()}
    write_models(
        project,
        {**EVALUATED_ONCE, **CHANGING, **raced, **PLAIN, **PRUNED, **NO_MATCH_HIDDEN, **SWEPT},
    )
    first = project.dbt("run")
    for name in RACED:
        project.sql(f"create table {{schema}}.of_{name} using delta as {RACED_FIRST}")
    for name in PRUNED:
        old = data_files(project, name, "day < '2024-01-03'")
        new = data_files(project, name, "day > '2024-01-03'")
        assert old, name
        assert not old & new, name
        for file in old:
            Path(file).unlink()
    project.sql("create table {schema}.a__dbt_tmp_0123456789 using delta as select 1 as id")
    # No model: a run would build it again if another model had dropped it.
    project.sql("create view {schema}.a__dbt_tmp_b as select 1 as id")
    with _other_writer(project):
        return Built(project, first, project.dbt("run", check=False))


@contextmanager
def _other_writer(project: Project) -> Generator[None, None, None]:
    """The sources of RACED get a row when their model has been looked at and is about to write."""
    repeatedly = retry.repeatedly

    def racing(sql: str, *arguments: Any) -> Any:
        written = re.search(r"(?:merge into|insert into|overwrite table) \S*`(raced_\w+)`", sql)
        if written and written.group(1) in RACED:
            name = written.group(1)
            project.sql(f"insert into {{schema}}.of_{name} values ({RACED_LATE[name]})")
        return repeatedly(sql, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "repeatedly", racing)
        yield


def test_only_what_is_refused_fails_and_nothing_is_left_behind(built: Built) -> None:
    refused = {"changing", *RACED, *UNPRUNED}
    assert set(messages(built.second)) == refused
    assert versions(built.project, refused) == dict.fromkeys(refused, 0)
    models = {result.node.name for result in built.second.results}
    assert relations(built.project) == sorted(
        {*models, "a__dbt_tmp_b", *(f"of_{name}" for name in RACED)}
    )


def _is_staged(built: Built, name: str) -> bool:
    sent = statements(built.second, name)
    assert sent, name
    return any(sql.startswith("create table") for sql in sent)


# Never the same twice: evaluated once for the check and again for the write, keys would differ.
RANDOM = "select bigint(rand() * 1e15) as id, 1 as run from range(20)"
EVALUATED_ONCE = {
    name: model("select bigint(-1) as id, 0 as run", RANDOM, **config)
    for name, config in {
        "merged": {"unique_key": "id"},
        "replaced": {"unique_key": "id", "incremental_strategy": "delete+insert"},
        "clustered": {"incremental_strategy": "insert_overwrite", "liquid_clustered_by": "id"},
        "checked": {
            "incremental_strategy": "append",
            "unique_key": "id",
            "duplicate_keys": "error",
        },
    }.items()
}


def test_a_select_that_is_expensive_is_evaluated_once(built: Built) -> None:
    rows = json_rows(built.project, [*EVALUATED_ONCE])
    assert {name: len(found) for name, found in rows.items()} == dict.fromkeys(EVALUATED_ONCE, 21)
    assert versions(built.project, EVALUATED_ONCE) == dict.fromkeys(EVALUATED_ONCE, 1)
    for name in EVALUATED_ONCE:
        sent = statements(built.second, name)
        assert sum(sql.startswith("create table") for sql in sent) == 1, name


CHANGING = {
    "changing": model(
        "select bigint(-1) as id, 0 as run",
        "select unix_micros(current_timestamp()) + id as id, 1 as run from range(20)",
        unique_key="id",
        stage="view",
    )
}


def test_a_view_that_changes_while_it_is_merged_is_refused(built: Built) -> None:
    """The check has seen other keys than the merge: a match could be hidden by the bounds."""
    message = messages(built.second)["changing"]
    assert "changed during the write. Nothing was written" in message


RACED_FIRST = "select * from values (1, 'a', 1D), (9, 'p', 2D) as _ (id, v, d)"
RACED_LATE = {
    "raced_merge": "9, 'q', 2",
    "raced_cast": "9, 'q', 2",
    "raced_delete": "9, 'q', 2",
    "raced_append": "9, 'q', 2",
    "raced_null": "null, 'q', 2",
    "raced_unmarked": "null, 'q', 2",
    "raced_value": "10, 'q', 2.5",
    "raced_scope": "9, 'q', 1",
}
RACED_KEY = {"unique_key": "id", "merge_prune": "off"}
RACED_LOOK = {**RACED_KEY, "duplicate_keys": "error"}


def _raced(name: str, columns: str, **config: Any) -> str:
    source = "{{ this.schema }}.of_" + name
    return model(
        "select 1 as id, '' as v, 1 as d",
        f"select {columns} from {source} where id is null or id > 1",
        **config,
    )


RACED = {
    "raced_merge": _raced("raced_merge", "id, v, int(d) as d", **RACED_KEY),
    "raced_cast": _raced("raced_cast", "string(id) as id, v, int(d) as d", **RACED_KEY),
    "raced_delete": _raced(
        "raced_delete", "id, v, int(d) as d", incremental_strategy="delete+insert", **RACED_LOOK
    ),
    "raced_append": _raced(
        "raced_append", "id, v, int(d) as d", incremental_strategy="append", **RACED_LOOK
    ),
    "raced_null": _raced(
        "raced_null", "id, v, int(d) as d", incremental_strategy="append", unique_key="id",
        null_keys="error",
    ),
    "raced_unmarked": _raced(
        "raced_unmarked", "id, v, int(d) as d", incremental_strategy="delete+insert", **RACED_KEY
    ),
    "raced_value": _raced("raced_value", "id, v, d", **RACED_KEY),
    # Row 9 would be removed, and the batch does not have it.
    "raced_scope": model(
        "select * from values (1, '', 1), (9, 'x', 1) as _ (id, v, d)",
        "select 1 as id, 'new' as v, 1 as d",
        incremental_strategy="replace_where",
        incremental_predicates="id in (select id from {schema}.of_raced_scope where d < 2)",
    ),
}  # fmt: skip


def test_rows_that_come_between_the_looks_and_the_write_are_refused(built: Built) -> None:
    """The looks of a batch that is not staged saw a source without them."""
    found = messages(built.second)
    for name in RACED:
        when = "run" if name == "raced_scope" else "write"
        assert f"changed during the {when}. Nothing was written" in found[name], name


PLAIN = {
    "source": "{{ config(materialized='table') }} " + FIRST,
    "plain": model(FIRST, "select * from {{ ref('source') }} where id > 1", unique_key="id"),
    "joined_view": "select a.* from {{ ref('source') }} a join {{ ref('source') }} using (id)",
    "of_view": model(FIRST, "select * from {{ ref('joined_view') }}", unique_key="id"),
}


def test_a_plain_select_is_not_staged(built: Built) -> None:
    staged = {name: _is_staged(built, name) for name in ("plain", "of_view", "a")}
    assert staged == {"plain": False, "of_view": True, "a": True}


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
DELETE_INSERT = {"incremental_strategy": "delete+insert"}
PRUNED = {
    name: model(DAYS, NEWEST, **{"unique_key": ["id", "day"], **config})
    for name, config in {
        "clusters": {"liquid_clustered_by": "day"},
        "partitions": {"partition_by": "day"},
        "by_name": {"unique_key": "name"},
        "unpruned": {"merge_prune": "off"},
        "clusters_deleted": {"liquid_clustered_by": "day", **DELETE_INSERT},
        "partitions_deleted": {"partition_by": "day", **DELETE_INSERT},
        "unpruned_deleted": {"merge_prune": "off", **DELETE_INSERT},
    }.items()
}
UNPRUNED = {"unpruned", "unpruned_deleted"}


def test_files_that_cannot_match_are_not_read(built: Built) -> None:
    """Their data is gone, and the run does not notice; without pruning it does."""
    assert set(messages(built.second)) >= UNPRUNED
    for name in sorted(set(PRUNED) - UNPRUNED):
        assert versions(built.project, [name]) == {name: 1}
        found = built.project.sql(
            f"select count(*), count_if(v = 'new') from {{schema}}.{name} where day > '2024-01-03'"
        )
        assert tuple(found[0]) == (110, 20), name


# Keys of other types, at the very bounds, are in test_incremental_keys.py.
NO_MATCH_HIDDEN = {
    "of_nulls": model(
        values("id, v", "null, 'a'", "5, 'b'", "3, 'd'"),
        values("id, v", "null, 'A'", "7L, 'C'", "3L, 'D'"),
        unique_key="id",
    ),
    "only_null": model(
        values("id, v", "null, 'a'", "5, 'b'"), values("id, v", "null, 'A'"), unique_key="id"
    ),
    "of_types": model(
        values(
            "n, f, e, t, d, v",
            "'10', double('NaN'), '😀', timestamp'2024-10-27 01:30:00+02:00', 1.10bd, 'a'",
            "'9', -0.0d, '￿', timestamp'2024-10-27 01:30:00Z', 2.20bd, 'b'",
        ),
        values(
            "n, f, e, t, d, v",
            "9, 0.0d, '￿', timestamp'2024-10-27 01:30:00Z', 2.2bd, 'B'",
            "10, double('NaN'), '😀', timestamp'2024-10-27 01:30:00+02:00', 1.1bd, 'A'",
        ),
        unique_key=["n", "f", "e", "t", "d"],
    ),
    "of_long_text": model(
        values("id, v", *(f"repeat('x', {n}), '{n}'" for n in (31, 32, 33, 500))),
        values("id, v", *(f"repeat('x', {n}), 'new'" for n in (32, 33, 500))),
        unique_key="id",
    ),
    # The table has one of the batch's partitions: as text the last of them.
    "of_many_partitions": model(
        values("id, v", "99, 'a'", "1000, 'b'"),
        "select int(id) as id, 'A' as v from range(150)",
        unique_key="id",
        partition_by="id",
        skip_not_matched_step=True,
    ),
}


def test_pruning_hides_no_match(built: Built) -> None:
    """Keys at the very bounds, null keys, other types, odd orders, many partitions."""
    rows = tables(built.project, NO_MATCH_HIDDEN)
    assert {name: sorted(row[-1] for row in found) for name, found in rows.items()} == {
        "of_nulls": ["A", "C", "D", "b"],
        "only_null": ["A", "b"],
        "of_types": ["A", "B"],
        "of_long_text": ["31", "new", "new", "new"],
        "of_many_partitions": ["A", "b"],
    }


SWEPT = {"a": model(FIRST, THEN, unique_key="id", stage="table")}


def test_what_earlier_runs_left_is_swept(built: Built) -> None:
    left = [name for name in relations(built.project) if name.startswith("a__")]
    assert left == ["a__dbt_tmp_b"]
    assert tables(built.project, ["a"]) == {"a": MERGED}
