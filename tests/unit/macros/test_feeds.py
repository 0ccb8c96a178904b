"""What a model has read of its inputs, and the last images of keys."""

import json
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError
from tests.unit.macros.test_incremental import TARGET, batch, flat, load, settings

NODE = "model.p.m"
READ = {"s.i": {"id": "x", "version": 3}}


def commit(version: int, operation: str = "MERGE", **more: Any) -> dict[str, Any]:
    found = {"version": version, "operation": operation, "parameters": {}, "node": None}
    return {**found, "inputs": {}, "carrier": None, "is_hook": False, **more}


def restore(version: int, to: int) -> dict[str, Any]:
    return commit(version, "RESTORE", parameters={"version": str(to)})


def built(version: int, **more: Any) -> dict[str, Any]:
    return commit(version, "CREATE TABLE AS SELECT", **more)


OTHER = {"s.i": {"id": "x", "version": 9}}


@pytest.mark.parametrize(
    ("commits", "found"),
    [
        ([built(0, inputs=READ, node=NODE)], (READ, 0)),
        # What others write does not matter.
        ([commit(2, "WRITE"), commit(1, "OPTIMIZE"), built(0, inputs=READ)], (READ, 0)),
        ([commit(1, inputs=OTHER), built(0, inputs=READ)], (OTHER, 1)),
        # Back to what the version said, as another state than it.
        ([restore(2, 0), commit(1, inputs=OTHER), built(0, inputs=READ)], (READ, 2)),
        ([restore(3, 2), restore(2, 0), commit(1, inputs=OTHER), built(0, inputs=READ)], (READ, 3)),
        ([commit(3, inputs=OTHER), restore(2, 0), built(0, inputs=READ)], (OTHER, 3)),
        # The table of somebody else, and rows of a model that did not say.
        ([built(1), built(0, inputs=READ)], None),
        ([commit(1, node=NODE), built(0, inputs=READ)], None),
        ([commit(1, "SET TBLPROPERTIES", node=NODE), built(0, inputs=READ)], (READ, 0)),
        ([commit(1, "DROP COLUMNS", node=NODE), built(0, inputs=READ)], (READ, 0)),
        ([commit(1, "DELETE", node=NODE, is_hook=True), built(0, inputs=READ)], (READ, 0)),
        # Restored or made anew between a run's look at it and its write.
        ([commit(3, inputs=OTHER, carrier=2), restore(2, 0), built(0, inputs=READ)], (OTHER, 3)),
        ([commit(3, inputs=OTHER, carrier=1), restore(2, 0), commit(1, inputs=READ)], None),
        ([commit(3, inputs=OTHER, carrier=1), built(2, inputs=READ)], None),
        ([commit(3, inputs=OTHER, carrier=1), commit(2, inputs=READ)], (OTHER, 3)),
        # The log has expired.
        ([commit(41, "OPTIMIZE")], None),
        ([restore(41, 7), commit(40, inputs=OTHER)], None),
        ([], None),
    ],
)
def test_what_was_read(macros, commits: list[Any], found: Any) -> None:
    read = macros()._watermark_in(commits, NODE)
    assert (read and (read["inputs"], read["carrier"])) == found


@pytest.mark.parametrize(("since", "found"), [(5, None), (6, OTHER)])
def test_a_restore_before_the_newest_commits_is_seen(macros, since: int, found: Any) -> None:
    own = commit(7, inputs=OTHER, carrier=since)
    upkeep = [commit(version, "OPTIMIZE") for version in range(26, 7, -1)]
    history, package = [*upkeep, own, restore(6, 2), commit(5, inputs=READ)], macros()
    package._attempt = lambda sql: {"rows": history[: int(sql.rpartition(" ")[2])]}
    package._commits_in = lambda rows: rows
    package._commits = lambda relation: history
    read = package._watermark(SimpleNamespace(schema="s", identifier="m"), NODE)
    assert (read and read["inputs"]) == found


SEEN = {"id": "x", "version": 3}


@pytest.mark.parametrize(
    ("read", "seen", "ids", "newest", "gap"),
    [
        ({}, SEEN, {3: "x"}, 3, None),
        ({}, SEEN, {3: "x", 8: "y"}, 8, None),
        # Nothing was read with --empty.
        ({}, {"id": None, "version": -1}, {8: "y"}, 8, None),
        (None, None, {8: "y"}, 8, "does not say what was read"),
        ({}, None, {8: "y"}, 8, "does not have its rows yet"),
        ({}, SEEN, {3: "z", 8: "y"}, 8, "another table"),
        ({}, SEEN, {2: "y"}, 2, "another table"),
        ({}, SEEN, {8: "y"}, 8, "no longer has version 3"),
    ],
)
def test_gaps_before(macros, read: Any, seen: Any, ids: Any, newest: int, gap: str | None) -> None:
    found = macros()._gap_before(read, seen, ids, newest)
    assert found is None if gap is None else gap in found


@pytest.mark.parametrize(
    ("operations", "gap"),
    [
        (["MERGE", "WRITE"], None),
        # Of version 4 nothing is known.
        (["MERGE"], "no longer has the commits after version 3"),
        (["RENAME COLUMN", "WRITE"], "renamed or dropped"),
        (["WRITE", "DROP COLUMNS"], "renamed or dropped"),
        (["RESTORE", "WRITE", "WRITE", "RENAME COLUMN"], "renamed or dropped"),
        (["WRITE", "RESTORE", "WRITE"], None),
    ],
)
def test_gaps_between(macros, operations: list[str], gap: str | None) -> None:
    commits = [commit(5 - n, operation) for n, operation in enumerate(operations)]
    found = macros()._gap_between(commits, 3, 5)
    assert found is None if gap is None else gap in found


@pytest.mark.parametrize(
    ("metrics", "gap"),
    [
        ({"numRestoredFiles": "2", "numRemovedFiles": "0"}, "its version 4 restored rows"),
        # What also removes rows is refused or skipped as a whole.
        ({"numRestoredFiles": "2", "numRemovedFiles": "1"}, None),
        ({"numRestoredFiles": "0", "numRemovedFiles": "1"}, None),
        ({}, "its version 4 restored rows"),
    ],
)
def test_rows_of_an_input_that_come_back(macros, metrics: Any, gap: str | None) -> None:
    commits = [commit(5, "WRITE"), {**restore(4, 2), "metrics": metrics}, commit(3, "DELETE")]
    assert macros()._gap_of_restore(commits, 4, 5) is None
    found = macros()._gap_of_restore(commits, 3, 5)
    assert found is None if gap is None else gap in found


@pytest.mark.parametrize(
    ("macro", "gap"), [("new_rows", "its version 5 restored"), ("new_changes", None)]
)
def test_only_models_of_new_rows_mind_them(macros, macro: str, gap: str | None) -> None:
    package = macros()
    package._commits_since = lambda *_: [{**restore(5, 2), "metrics": {}}, commit(4, "DELETE")]
    package._input_changes = lambda *_: {"gap": None}
    found = package._input_since({"macro": macro, "relation": None, "to": 5}, SEEN)
    assert found["gap"] is None if gap is None else gap in found["gap"]


# Commit, key, value and image of each change; in one commit in any order.
CHANGES = [
    (1, 1, "a", "update_preimage"), (1, 1, "b", "update_postimage"),
    (2, 1, "b", "update_preimage"), (2, 1, "c", "update_postimage"),
    (1, 2, "a", "delete"),
    (1, 3, "a", "delete"), (2, 3, "b", "insert"),
    (1, 4, "a", "insert"), (2, 4, "a", "delete"),
    # A key that changes, and one commit that replaces all.
    (1, 5, "a", "update_preimage"), (1, 6, "a", "update_postimage"),
    (2, 7, "b", "insert"), (2, 7, "a", "delete"),
    (1, None, "a", "insert"),
    # Two rows of a key that had one or none.
    (1, 8, "a", "insert"), (2, 8, "b", "insert"),
    # A second row of a key that had one came, and one of both went, or all but one.
    (1, 9, "b", "insert"), (2, 9, "b", "delete"),
    (1, 10, "b", "insert"), (2, 10, "a", "delete"),
    (1, 11, "a", "delete"), (1, 11, "b", "delete"), (1, 11, "a", "insert"),
    # Two rows of a key changed, although it is no key; and one that is as it was.
    (1, 12, "a", "update_preimage"), (1, 12, "A", "update_postimage"),
    (1, 12, "b", "update_preimage"), (1, 12, "B", "update_postimage"),
    (1, 13, "a", "update_preimage"), (1, 13, "b", "update_postimage"),
    (2, 13, "b", "update_preimage"), (2, 13, "a", "update_postimage"),
]  # fmt: skip


@pytest.mark.parametrize("is_reversed", [False, True])
def test_last_images(macros, is_reversed: bool) -> None:
    columns = [{"name": "id", "type": "int"}, {"name": "v", "type": "string"}]
    sql = macros()._netted_sql("select * from changes", columns, ["ID"])
    database = sqlite3.connect(":memory:")
    database.create_function("if", 3, lambda condition, one, other: one if condition else other)
    database.execute("create table changes (_commit_version, id, v, _change_type)")
    rows = CHANGES[::-1] if is_reversed else CHANGES
    database.executemany("insert into changes values (?, ?, ?, ?)", rows)
    assert sorted(database.execute(sql), key=lambda row: (row[0] or 0, row[1])) == [
        (None, "a", "upsert"), (1, "c", "upsert"), (2, "a", "delete"), (3, "b", "upsert"),
        (5, "a", "delete"), (6, "a", "upsert"), (7, "b", "upsert"),
        (8, "a", "upsert"), (8, "b", "upsert"), (10, "b", "upsert"), (11, "a", "upsert"),
        (12, "A", "upsert"), (12, "B", "upsert"), (13, "a", "upsert"),
    ]  # fmt: skip


def test_keys_that_a_collation_calls_equal_are_one_key(macros) -> None:
    columns = [{"name": name, "type": "string collate UTF8_LCASE"} for name in ("id", "v")]
    sql = macros()._netted_sql("select * from changes", columns, ["id"])
    assert "over (partition by `id`)" in sql
    assert "over (partition by collate(`id`, 'UTF8_BINARY'), collate(`v`, 'UTF8_BINARY'))" in sql


def test_the_text_says_what_was_read(macros) -> None:
    package = macros(tojson=lambda value, sort_keys: json.dumps(value, sort_keys=sort_keys))
    name = "s.it's */ ${a}; `b`"
    about = {"name": name, "id": "x", "from": 3, "to": 5, "moved": True, "rebuild": False}
    about["macro"] = "new_rows"
    sql = package._marked_input({**about, "kind": "rows", "changes": {}}, "select 1 as id")
    inner = sql[sql.index("/*") + 2 : sql.rindex("*/")]
    assert not set("*/$;`'") & set(inner)
    assert package._inputs_in("with a as " + sql + " select * from a") == {name: about}
    other = package._marked_input({**about, "to": 6}, "select 1 as id")
    with pytest.raises(CompilationError, match="changed while dbt compiled"):
        package._inputs_in(sql + other)
    assert package._inputs_in("select 1 /* dbt_delta */") == {}
    # What is in a comment or a text is not read.
    assert package._inputs_in("select 1 /* union all " + sql + " */ -- it's") == {}
    assert package._inputs_in('select "' + sql + '"') == {}


ADDS, REMOVES, BOTH, NOTHING = [
    {"version": 4, "adds": adds, "removes": removes}
    for adds, removes in ((True, False), (False, True), (True, True), (False, False))
]


@pytest.mark.parametrize(
    ("kind", "options", "skipped"),
    [
        (ADDS, {}, []),
        (NOTHING, {}, []),
        (REMOVES, {}, "version 4 deletes rows.*ignore_deletes=true or skip_change_commits=true"),
        (REMOVES, {"ignore_deletes": True}, [4]),
        (REMOVES, {"skip_change_commits": True}, [4]),
        (BOTH, {}, "version 4 changes rows.*or skip_change_commits=true"),
        (BOTH, {"ignore_deletes": True}, "version 4 changes rows"),
        (BOTH, {"skip_change_commits": True}, [4]),
    ],
)
def test_commits_that_do_more_than_add(macros, kind: Any, options: Any, skipped: Any) -> None:
    options = {"ignore_deletes": False, "skip_change_commits": False, **options}
    given = {**options, "relation": SimpleNamespace(schema="s", identifier="i")}
    if isinstance(skipped, list):
        assert macros()._skipped_versions([kind], given) == skipped
    else:
        with pytest.raises(CompilationError, match=skipped):
            macros()._skipped_versions([kind], given)


def test_strategy_changes_is_a_merge_that_deletes(macros) -> None:
    found = settings(macros, incremental_strategy="changes", unique_key="id", source_alias="s")
    assert found["strategy"] == "merge"
    assert found["delete_condition"] == "s.`_change_type` = 'delete'"
    assert found["not_matched_condition"] == "(s.`_change_type` = 'delete') is not true"
    assert found["control_columns"] == ["_change_type"]
    assert found["skip_unchanged"] is True
    kept = {"incremental_strategy": "changes", "unique_key": "id", "merge_skip_unchanged": False}
    assert settings(macros, **kept)["skip_unchanged"] is False
    assert settings(macros, unique_key="id")["skip_unchanged"] is False


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "changes needs unique_key"),
        ({"unique_key": "id", "matched_delete_condition": "true"}, "matched_delete_condition has"),
        ({"unique_key": "id", "merge_control_columns": "op"}, "merge_control_columns has no"),
        ({"unique_key": "id", "not_matched_by_source_action": "delete"}, "by_source_action has no"),
    ],
)
def test_what_strategy_changes_sets_itself(macros, config: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilationError, match=message):
        settings(macros, incremental_strategy="changes", **config)


@pytest.mark.parametrize(("carrier", "options"), [(None, ""), (0, "0"), (7, "7")])
def test_of_two_appends_that_go_on_from_one_commit_one_is_written(
    macros, carrier: int | None, options: str
) -> None:
    package = load(macros, incremental_strategy="append")
    given = {**package._incremental_settings(), "carrier": carrier}
    sql = flat(package.get_append_sql(TARGET, batch(), given))
    named = f" with ('txnAppId' = 'dbt_delta', 'txnVersion' = '{options}')" if options else ""
    assert sql.startswith(f"insert into `s`.`t`{named} by name select ")


@pytest.mark.parametrize(
    ("version", "moved", "carrier"), [(3, True, 5), (3, False, None), (4, True, "another run")]
)
def test_the_select_goes_on_from_the_watermark(macros, version, moved, carrier) -> None:
    history = [commit(5, inputs={"s.i": {"id": "x", "version": 3}})]
    package = macros(
        model=SimpleNamespace(unique_id=NODE), this=SimpleNamespace(schema="s", identifier="m")
    )
    package._watermark = lambda relation, node: package._watermark_in(history, node)
    read = {"name": "s.i", "id": "y", "from": version, "to": 8, "moved": moved}
    if carrier == "another run":
        with pytest.raises(CompilationError, match="written by another run"):
            package._from_watermark({"inputs": [read], "tag": {}})
    else:
        found = package._from_watermark({"inputs": [read], "tag": {}})
        assert found["carrier"] == found["tag"].get("dbt_carrier") == carrier
