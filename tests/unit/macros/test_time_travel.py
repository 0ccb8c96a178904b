"""Which table, which version and which run a person means, and what cannot be meant."""

import json
import re
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

RELATION = SimpleNamespace(schema="s", identifier="t")


def commits(*operations: str) -> list[dict[str, Any]]:
    """The commits of a table, newest first as Delta gives them, from their operations in order."""
    return [{"version": n, "operation": o} for n, o in enumerate(operations)][::-1]


@pytest.mark.parametrize(
    ("later", "version"),
    [
        (["MERGE"], 1),
        (["MERGE", "OPTIMIZE"], 1),
        (["MERGE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES"], 1),
        (["MERGE", "OPTIMIZE", "DELETE", "OPTIMIZE"], 3),
        # Rows came once only: there is nothing before them.
        (["OPTIMIZE"], 2),
        ([], 1),
    ],
)
def test_previous_is_before_the_last_commit_that_changed_rows(
    macros, later: list[str], version: int
) -> None:
    of_table = commits("CREATE TABLE AS SELECT", "OPTIMIZE", *later)
    assert macros()._version_named(RELATION, "previous", of_table, "restore: to") == version


RUNS = {"ab1-first": 1, "ab2-second": 2, "c-third": 3}


@pytest.mark.parametrize(
    ("run", "id"),
    [("last", "c-third"), ("ab1", "ab1-first"), ("ab2-second", "ab2-second"), ("c", "c-third")],
)
def test_a_run_is_known_by_the_beginning_of_its_id(macros, run: str, id: str) -> None:
    assert macros()._run_id(run, RUNS, "history: this project") == id


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("ab", "Run 'ab' may be ab2-second or ab1-first. Give more characters of its id."),
        ("d", "this project has no commit of run 'd'. The last runs are c-third, ab2-second, "),
    ],
)
def test_a_beginning_of_two_runs_or_of_none_is_refused(macros, run: str, said: str) -> None:
    with pytest.raises(CompilationError, match=said):
        macros()._run_id(run, RUNS, "history: this project")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("7", "restore: to is 7: `s`.`t` has versions 0 to 2."),
        ("soon", "restore: to is 'soon'. Use a version, a time such as"),
        ("2001-01-01", "restore: to is '2001-01-01', which is before the oldest version of"),
        ("run:none", "restore: to: `s`.`t` has no commit of run 'none'."),
        ("run:c", "restore: to is run:c: that run created `s`.`t`, so there is no"),
    ],
)
def test_a_version_that_is_not_there_is_refused(macros, wanted: str, said: str) -> None:
    of_table = commits("CREATE TABLE AS SELECT", "MERGE", "MERGE")
    for commit in of_table:
        commit |= {"time": datetime(2024, 1, 1 + commit["version"]), "run": "c-third"}
    asked = datetime(2001, 1, 1) if "2001" in wanted else None
    package = macros(
        run_query=lambda sql: SimpleNamespace(rows=[{"time": asked, "is_twice": None}])
    )
    with pytest.raises(CompilationError, match=re.escape(said)):
        package._version_named(RELATION, wanted, of_table, "restore: to")


@pytest.mark.parametrize(("day", "version"), [("01", 0), ("02", 1), ("09", 2)])
def test_a_time_is_the_version_that_was_the_newest_then(macros, day: str, version: int) -> None:
    of_table = commits("CREATE TABLE AS SELECT", "MERGE", "MERGE")
    for commit in of_table:
        commit["time"] = datetime(2024, 1, 1 + commit["version"])
    asked = {"time": datetime(2024, 1, int(day), 12), "is_twice": False}
    package = macros(run_query=lambda sql: SimpleNamespace(rows=[asked]))
    text = f"2024-01-{day} 12:00"
    assert package._version_named(RELATION, text, of_table, "restore: to") == version


def test_a_time_that_the_clock_shows_twice_is_refused(macros) -> None:
    """Commits come with what the clock of the session showed."""
    found = {"time": datetime(2026, 10, 25, 2, 30), "is_twice": True}
    package = macros(run_query=lambda sql: SimpleNamespace(rows=[found]))
    with pytest.raises(CompilationError, match="the clock of the session's time zone shows twice"):
        package._version_named(RELATION, "2026-10-25 02:30:00+02:00", [], "restore: to")


def test_the_last_run_is_known_in_the_hour_that_comes_twice(macros) -> None:
    first = {**NO_TAG, "run": "a", "time": datetime(2026, 10, 25, 2, 40), "written": 1}
    later = {**first, "run": "b", "time": datetime(2026, 10, 25, 2, 20), "written": 2}
    times = macros()._run_times([[first], [later]])
    assert macros()._run_id("last", times, "history: this project") == "b"
    commits = [{**one, "operation": "WRITE", "parameters": {}} for one in (first, later)]
    tables = [{"node": node("t"), "tagged": [commit]} for commit in commits]
    runs = macros(project_name="p")._runs_of(tables)
    assert {id: run["written"] for id, run in runs.items()} == {"a": 1, "b": 2}


TAG = {"dbt_invocation_id": "ab1", "dbt_node_id": "model.p.a", "dbt_started_at": "2024-01-01"}
NO_TAG = {
    "node": None, "run": None, "project": None, "started": "", "undo_of": None, "replaced": None,
    "kept": {}, "undo_cascade": False, "expectations": {}, "released": {}, "inputs": {},
    "carrier": None, "is_hook": False, "stream": {}, "erased": None, "undo_exclude": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [None, "", "7", "[1]", "null", "true", "{", '"x"', "not json", '{"dbt_invocation_id": 7}',
     '{"dbt_invocation_id": ["ab1"], "dbt_node_id": "n"}', '{"dbt_invocation_id": ""}',
     '{"dbt_node_id": "n", "dbt_kept_properties": {"a": "b"}}'],
)  # fmt: skip
def test_metadata_of_others_is_no_tag(macros, text: str | None) -> None:
    assert macros()._tag(text) == NO_TAG


def test_an_erasure_after_a_version_is_found(macros) -> None:
    commits = [{"version": 3, "erased": None}, {"version": 2, "erased": "e1"}]
    since = [macros()._erased_since(commits, version) for version in (None, 0, 1, 2, 3)]
    assert since == ["e1", "e1", "e1", None, None]


def test_a_tag_is_read_as_it_was_written(macros) -> None:
    ours = {**NO_TAG, "run": "ab1", "node": "model.p.a", "started": "2024-01-01"}
    assert macros()._tag(json.dumps(TAG)) == ours
    undo = {"dbt_undo_of": "c", "dbt_undo_cascade": True, "dbt_undo_exclude": ["t", 1]}
    undo["dbt_kept_properties"] = {"a": "b", "c": 1, "d": None}
    of_undo = {**ours, "undo_of": "c", "undo_cascade": True, "undo_exclude": ["t"]}
    of_undo["kept"] = {"a": "b", "d": None}
    assert macros()._tag(json.dumps({**TAG, **undo})) == of_undo
    odd = {"dbt_started_at": 5, "dbt_undo_of": [], "dbt_undo_cascade": "x", "dbt_replaced": {}}
    odd |= {"dbt_erased": 7, "dbt_undo_exclude": "t"}
    assert macros()._tag(json.dumps({**TAG, "dbt_erased": "e1"})) == {**ours, "erased": "e1"}
    assert macros()._tag(json.dumps({**TAG, **odd})) == {**ours, "started": ""}


def run_tables(macros, exclude: list[str], project: str = "p") -> tuple[Any, SimpleNamespace]:
    """What _run_tables finds of a schema in which one table is a model's and one is not."""
    names = ("a_2", "b_2", "gone", "empty")
    tag = json.dumps({**TAG, "dbt_project": project})
    rows = [
        {"id": n, "version": 0, "timestamp": datetime(2024, 1, 1), "operation": "WRITE",
         "operationParameters": None, "operationMetrics": None, "userMetadata": tag,
         "written": 1_704_067_200_000, "problem": None}
        for n in range(3 - len(exclude))
    ]  # fmt: skip
    nodes = {one.name: one for one in (node("a"), node("b", materialized="view"))}
    package = macros(
        graph=SimpleNamespace(nodes=nodes, get=lambda name, value: value),
        project_name="p",
        target=SimpleNamespace(schema="t"),
        api=SimpleNamespace(
            Relation=SimpleNamespace(create=lambda **names: SimpleNamespace(**names))
        ),
        run_query=lambda sql: SimpleNamespace(rows=[("s",)]),
        adapter=SimpleNamespace(
            dbt_delta_listing=lambda schemas: [
                {"schema": schema, "name": name, "type": "table", "provider": "delta",
                 "location": f"file:/w/{schema}/{name}"}
                for schema in schemas for name in names
            ],
            dbt_delta_attempt=lambda sql: (
                "", SimpleNamespace(rows=rows if "commitInfo" in sql else [])
            ),
        ),
    )  # fmt: skip
    return package._run_tables(exclude), package


def test_the_tables_of_a_run_are_those_of_the_schemas(macros) -> None:
    """Whatever dbt makes of them today; what has no log is named."""
    found, package = run_tables(macros, [])
    tables = {table["relation"].identifier: table["node"] for table in found["tables"]}
    assert list(tables) == ["a_2", "b_2", "gone"]
    assert (tables["a_2"].name, tables["b_2"].name, tables["gone"]) == ("a", "b", None)
    assert found["lost"] == ["s.empty has lost its log, so it is not known what runs wrote there"]
    assert list(package._runs_of(found["tables"])) == ["ab1"]


def test_another_projects_run_is_that_of_models_only(macros) -> None:
    found, package = run_tables(macros, ["a", "b"], project="other")
    assert [table["relation"].identifier for table in found["tables"]] == ["gone"]
    assert package._runs_of(found["tables"]) == {}


@pytest.mark.parametrize("name", ["s.gone", "gone", "a", "a_2"])
def test_a_table_is_left_out_by_any_name(macros, name: str) -> None:
    found, _ = run_tables(macros, [name])
    left = {table["relation"].identifier for table in found["tables"]}
    assert len(left) == 2
    assert not left & {"gone" if "gone" in name else "a_2"}


def test_who_leaves_out_what_is_not_there_is_told(macros) -> None:
    with pytest.raises(CompilationError, match="exclude names 'nope', which is neither a model"):
        run_tables(macros, ["nope"])


def node(name: str, **config: str) -> SimpleNamespace:
    about = {"resource_type": "model", "package_name": "p", "schema": "S", "alias": f"{name}_2"}
    return SimpleNamespace(
        name=name, config=SimpleNamespace(**{"materialized": "table"} | config), **about
    )


def with_models(macros) -> SimpleNamespace:
    """Macros that know of the tables a and b and of the view v."""
    nodes = [node("b"), node("a", materialized="incremental"), node("v", materialized="view")]
    return macros(
        graph=SimpleNamespace(nodes={one.name: one for one in nodes}),
        project_name="p",
        api=SimpleNamespace(Relation=SimpleNamespace(create=lambda **names: names)),
    )


def test_a_table_is_named_by_its_model_or_by_its_schema(macros) -> None:
    package = with_models(macros)
    assert package._relation_named("a", "diff") == {"schema": "S", "identifier": "a_2"}
    assert package._relation_named("s.`v`", "diff") == {"schema": "s", "identifier": "v"}


@pytest.mark.parametrize("name", ["v", "nope", "x.y.z"])
def test_a_view_or_an_unknown_name_is_refused(macros, name: str) -> None:
    said = f"restore: there is no model, seed or snapshot '{name}'. Use one of a, b, or a table"
    with pytest.raises(CompilationError, match=re.escape(said)):
        with_models(macros)._relation_named(name, "restore")


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (None, "not in the catalog"),
        ({"type": "view", "provider": None}, "a view"),
        ({"type": "table", "provider": "parquet"}, "a parquet table"),
    ],
)
def test_only_a_delta_table_has_versions(macros, entry: Any, what: str) -> None:
    package = macros()
    package._entry = lambda relation: entry
    said = f"history: `s`.`t` is {what}; only a Delta table has versions."
    with pytest.raises(CompilationError, match=re.escape(said)):
        package._delta_table(RELATION, "history")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "history has model None and run None. Use exactly one of them"),
        ({"model": "a", "run": "last"}, "history has model a and run last. Use exactly"),
        ({"model": "a", "output": "xml"}, "history: output is 'xml'. Use one of text, json."),
    ],
)
def test_history_says_what_it_takes(macros, arguments: dict[str, str], said: str) -> None:
    with pytest.raises(CompilationError, match=re.escape(said)):
        macros().history(**arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "has version None and timestamp None. Use exactly one of them"),
        ({"version": 1, "timestamp": "2024-01-01"}, "and timestamp 2024-01-01. Use exactly one"),
        ({"version": "-1"}, "has version '-1'. A version is a whole number from 0"),
    ],
)
def test_as_of_takes_a_version_or_a_time(macros, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(CompilationError, match=said):
        macros().as_of(RELATION, **arguments)


@pytest.mark.parametrize(
    ("between", "said"),
    [
        ((3, None), "has from_version 3 and to_version 2. The newest version is 2"),
        ((1, 0), "has from_version 1 and to_version 0. The newest version is 2"),
        ((0, 3), "has from_version 0 and to_version 3. The newest version is 2"),
        (("x", None), "has from_version 'x'. A version is a whole number"),
        ((0, "-1"), "has to_version '-1'. A version is a whole number"),
    ],
)
def test_changes_are_between_two_versions(macros, between: tuple[Any, Any], said: str) -> None:
    package = macros()
    package._commits = lambda relation, limit: [{"version": 2}]
    with pytest.raises(CompilationError, match=said):
        package.changes(RELATION, *between)


def _commit(version: int, operation: str, **parameters: str) -> dict[str, Any]:
    return {"version": version, "operation": operation, "parameters": parameters}


RENAMED = [
    _commit(5, "RENAME COLUMN", oldColumnPath="`q.r`", newColumnPath="My col"),
    _commit(4, "DROP COLUMNS", columns='["x`y", "s.a"]'),
    _commit(3, "RENAME COLUMN", oldColumnPath="s.a", newColumnPath="s.b"),
    _commit(2, "RENAME COLUMN", oldColumnPath="x", newColumnPath="x`y"),
    _commit(1, "ADD COLUMNS", columns="[]"),
]


@pytest.mark.parametrize(
    ("name", "since", "until", "former"),
    [
        ("my col", 0, 5, "q.r"),
        ("my col", 0, 4, "my col"),
        ("q.r", 0, 4, "q.r"),
        # Dropped since: another column of that name.
        ("X`Y", 1, 5, None),
        ("x`y", 1, 3, "x"),
        ("a", 0, 5, "a"),
        ("id", 0, 5, "id"),
    ],
)
def test_a_column_is_known_by_its_former_name(
    macros, name: str, since: int, until: int, former: str | None
) -> None:
    assert macros()._former_name(name, RENAMED, since, until) == former


def test_a_restore_brings_names_back(macros) -> None:
    commits = [
        _commit(4, "RENAME COLUMN", oldColumnPath="b", newColumnPath="c"),
        _commit(3, "RESTORE"),
        _commit(2, "DROP COLUMNS", columns='["a"]'),
        _commit(1, "RENAME COLUMN", oldColumnPath="a", newColumnPath="b"),
    ]
    assert macros()._former_name("c", commits, 0, 4) == "b"
    assert macros()._former_name("a", commits, 0, 4) == "a"
    assert macros()._former_name("b", commits, 0, 2) == "a"


@pytest.mark.parametrize(
    ("operations", "since", "until", "reuses"),
    [
        (("WRITE", "ADD COLUMNS"), 0, 2, False),
        (("WRITE", "RENAME COLUMN"), 0, 2, True),
        (("DROP COLUMNS", "WRITE"), 1, 2, False),
        (("DROP COLUMNS", "WRITE"), 0, 1, True),
        # RESTORE brings names of another version back.
        (("RENAME COLUMN", "RESTORE"), 1, 2, True),
        (("WRITE", "RESTORE"), 1, 2, False),
    ],
)
def test_names_that_are_reused(
    macros, operations: tuple[str, ...], since: int, until: int, reuses: bool
) -> None:
    commits = [{"version": n, "operation": said} for n, said in enumerate(operations, 1)]
    assert macros()._reuses_names(commits, since, until) is reuses


def written(version: int, run: str | None, operation: str = "MERGE", **more: Any) -> dict[str, Any]:
    """A commit."""
    return {
        **NO_TAG, "version": version, "operation": operation, "run": run, "parameters": {},
        "time": datetime(2024, 1, 1 + version), **more,
    }  # fmt: skip


OURS = [written(2, "r"), written(1, "q"), written(0, "q", "WRITE")]


@pytest.mark.parametrize(
    ("later", "commits", "comments", "action", "said"),
    [
        ([], OURS, [], ("restore", 1), None),
        ([written(3, None, "OPTIMIZE")], OURS, [], ("restore", 1), None),
        ([written(3, None)], OURS, [], None, "version 3, MERGE by a writer other than dbt"),
        ([written(3, None, "CHANGE COLUMN")], OURS, [3], ("restore", 1), None),
        ([written(3, "later")], OURS, [], None, "Set cascade: true to undo later runs, too."),
        ([written(3, "cascaded")], OURS, [], ("restore", 1), None),
        ([written(3, "u", "RESTORE", undo_of="r", kept={"a": "b"})], OURS, [], ("properties", None),
         None),
        # A later run to undo wrote on top of the undo: back to the state that the undo gave.
        ([written(5, "cascaded"), written(4, "cascaded"), written(3, "u", "RESTORE", undo_of="r")],
         OURS, [], ("restore", 3), None),
        # What came after the undo is nobody's loss.
        ([written(4, None), written(3, "u", "RESTORE", undo_of="r")], OURS, [], None,
         "version 4, MERGE by a writer"),
        ([], [written(0, "r", "WRITE")], [], ("drop", None), None),
        ([], [written(0, "r", "WRITE", replaced="view")], [], None, "replaced a view in that run"),
        # The rows are older than the run.
        ([], [written(0, "r", "CONVERT")], [], None, "s.t was converted to Delta in that run, and"),
        # The version before the run is not in the log any more.
        ([], [written(5, "r")], [], None, "version 4 of s.t left the log."),
        ([], [written(0, None, "WRITE")], [], None, "after the run, by a writer other than dbt"),
        ([], [written(0, "q", "WRITE")], [], (None, None), None),
    ],
)  # fmt: skip
def test_what_undoing_a_run_means_for_a_table(
    macros, later: list[Any], commits: list[Any], comments: list[int], action: Any, said: str | None
) -> None:
    package = macros()
    package._age = lambda time: "2 h"
    tagged = [commit for commit in commits if commit["run"]]
    table = {"relation": RELATION, "node": node("t"), "tagged": tagged, "first": commits[-1]}
    undone = ["r", "cascaded"]
    first = package._first_undone(table, undone)
    about = {"time": datetime(2023, 1, 1)}
    verdict = package._undo_verdict(table, first, later + commits, "r", about, undone, comments)
    if said is None:
        assert (verdict["action"], verdict["version"], verdict["reason"]) == (*action, None)
    else:
        assert said in verdict["reason"]


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ([], {"retention": "9", "feed": None}),
        # The undo set it itself, or somebody chose it since.
        ([('{"retention": "9"}', "u"), ('["feed"]', "u")], {}),
        ([('{"retention": "90"}', None)], {"feed": None}),
    ],
)
def test_a_restore_that_was_finished_keeps_no_property_again(
    macros, later: list[tuple[str, str]], left: dict[str, Any]
) -> None:
    undo = written(3, "u", "RESTORE", undo_of="r", kept={"retention": "9", "feed": None})
    sets = [
        written(4 + n, run, "SET TBLPROPERTIES", parameters={"properties": text})
        | {"undo_of": "r" if run else None}
        for n, (text, run) in enumerate(later)
    ]
    assert macros()._left_to_set(undo, [*sets[::-1], undo, *OURS]) == left


def test_a_history_that_cannot_be_read_is_a_reason_with_a_way_out(macros) -> None:
    problem = "[DELTA_LOG_FILE_NOT_FOUND] Unable to retrieve the files."
    package = macros()
    package._attempt = lambda sql: {"problem": problem, "rows": [], "table": None}
    table = {"relation": RELATION, "node": node("t"), "tagged": OURS[:1], "first": OURS[-1]}
    found = package._undo_step(table, "r", {"time": datetime(2023, 1, 1)}, ["r"])
    said = f"the history of s.t cannot be read: {problem} Leave it out with exclude: ['s.t']."
    assert found == {"step": None, "reason": said}


def test_cascade_undoes_what_began_later_and_is_no_undo_of_it(macros) -> None:
    runs = {
        "r": {"started": "2", "undo_of": None},
        "before": {"started": "1", "undo_of": None},
        "after": {"started": "3", "undo_of": None},
        "undo": {"started": "4", "undo_of": "r"},
    }
    assert macros()._undone_runs("r", runs, False) == ["r"]
    assert macros()._undone_runs("r", runs, True) == ["r", "after"]


def test_without_the_plugin_tables_come_one_after_the_other(macros) -> None:
    calls = {f"s.t{n}": {"n": n} for n in range(3)}
    done: list[int] = []

    def does(n: int) -> int:
        done.append(n)
        return n * 10

    package = macros(adapter=SimpleNamespace())
    assert package._each(does, calls) == {"s.t0": 0, "s.t1": 10, "s.t2": 20}
    assert done == [0, 1, 2]


RETENTION = "delta.deletedFileRetentionDuration"
LOG = "delta.logRetentionDuration"
PIN = "dbt_delta.pin.report"


def with_properties(macros, properties: dict[str, str | None]) -> tuple[Any, list[str]]:
    """Macros of a table with these properties, and the statements that they send."""
    sent: list[str] = []
    package = macros(
        run_query=lambda sql: sent.append(sql),
        adapter=SimpleNamespace(
            dbt_delta_setting=lambda key: "{}", dbt_delta_with=lambda settings, do: do()
        ),
        invocation_id="i", project_name="p", run_started_at=datetime(2024, 1, 1), model=None,
        tojson=json.dumps,
    )  # fmt: skip
    package._describe = lambda relation: {"properties": properties}
    package._commits = lambda relation, limit: [written(9, None)]
    return package, sent


def test_a_restore_keeps_pins_and_what_others_rely_on(macros) -> None:
    """What the table has now stays, and what it has no more does not come back."""
    package, sent = with_properties(macros, {PIN: "3", LOG: "interval 60 days", "own": "x"})
    set_before = written(4, None, parameters={"properties": '{"dbt_delta.pin.old": "1", "b": "2"}'})
    keeps = package._kept_properties(RELATION, [set_before])
    assert keeps == {
        RETENTION: None, LOG: "interval 60 days", "delta.enableChangeDataFeed": None, PIN: "3",
        "delta.enableInCommitTimestamps": None, "dbt_delta.retention": None,
        "dbt_delta.pin.old": None,
    }  # fmt: skip
    # What RESTORE brought back.
    package._describe = lambda relation: {
        "properties": {
            RETENTION: "interval 9 days", LOG: "interval 9 days", "dbt_delta.pin.old": "1",
            "dbt_delta.retention": "{}", "own": "y",
        }
    }  # fmt: skip
    step = {"relation": RELATION, "table": "s.t", "newest": 9, "version": 3, "keeps": keeps}
    package._take_step({**step, "at": written(9, None)["time"]})
    # Both parts of the retention in one statement: Delta refuses a log shorter than the files.
    assert sent == [
        "restore table `s`.`t` to version as of 3",
        f"alter table `s`.`t` set tblproperties ('{RETENTION}' = 'interval 7 days',"
        f" '{LOG}' = 'interval 60 days', '{PIN}' = '3')",
        f"alter table `s`.`t` unset tblproperties if exists ('{RETENTION}', 'dbt_delta.retention',"
        " 'dbt_delta.pin.old')",
    ]


def test_what_spark_hides_is_not_taken_away(macros) -> None:
    package, _ = with_properties(macros, {"dbt_delta.pin.token": None})
    assert "dbt_delta.pin.token" not in package._kept_properties(RELATION, [])


LENT = json.dumps({RETENTION: "interval 40 days", LOG: None, "by": "x"})


@pytest.mark.parametrize(
    ("found", "model", "handed_on"),
    [
        ({PIN: "3", "own": "x"}, {"own": "y"}, {PIN: "3", "own": "y"}),
        ({RETENTION: "interval 9 days"}, {}, {RETENTION: "interval 9 days"}),
        ({RETENTION: "interval 9 days"}, {RETENTION: "interval 8 days"},
         {RETENTION: "interval 8 days"}),
        # The log of the table is too short for the files of the model.
        ({LOG: "interval 9 days"}, {RETENTION: "interval 10 days"},
         {RETENTION: "interval 10 days"}),
        ({PIN: "3", RETENTION: "interval 0 seconds", LOG: "interval 50 days",
          "dbt_delta.retention": LENT}, {LOG: "interval 45 days"},
         {PIN: "3", RETENTION: "interval 40 days", LOG: "interval 45 days"}),
    ],
)  # fmt: skip
def test_a_new_version_of_a_table_has_its_pins_and_its_retention(
    macros, found: dict[str, str], model: dict[str, str], handed_on: dict[str, str]
) -> None:
    assert macros()._handed_on({"properties": found}, model) == handed_on


def test_a_table_with_a_pin_is_not_replaced_by_another(macros) -> None:
    package = macros()
    package._readers_of = lambda relation: []
    said = "s.t has to be replaced by another relation, but its property dbt_delta.pin.report"
    with pytest.raises(CompilationError, match=said):
        package._check_readers(RELATION, {"properties": {PIN: "3"}})
    package._check_readers(RELATION, {"properties": {"own": "3"}})
    package._check_readers(RELATION, None)


def test_an_undo_is_finished_without_what_it_left_out(macros) -> None:
    """A redo of it would otherwise drop a table that was kept on purpose."""
    planned: list[tuple[str, list[str]]] = []
    tags: list[dict[str, Any]] = []

    def plan(run: str, tables: list[Any], runs: Any, cascade: bool) -> dict[str, Any]:
        planned.append((run, [table["relation"].identifier for table in tables]))
        steps = [{"table": "s.a"}] if run == "u" else []
        return {"run": run, "cascade": cascade, "steps": steps, "reasons": []}

    package = macros(print=lambda text: None)
    undo = written(3, "u", "RESTORE", undo_of="r", undo_exclude=["new_dim"])
    tables = [
        {"relation": SimpleNamespace(schema="s", identifier=name), "node": node(name), "tagged": [
            {**one, "project": "p", "written": one["version"]} for one in (undo, written(2, "r"))
        ]}
        for name in ("fact", "new_dim")
    ]  # fmt: skip
    package._in_format = lambda name: lambda macro: None
    package._run_tables = lambda exclude: {"tables": tables, "lost": [], "broken": []}
    package._undo_plan = plan
    package._print_steps = lambda steps: None
    package._take_steps = lambda steps, tag: tags.append(tag)
    package.undo_run("last", exclude=["`by_hand`"])
    assert planned == [("r", ["fact"]), ("u", ["fact", "new_dim"])]
    assert tags == [
        {"dbt_undo_of": "u", "dbt_undo_cascade": False, "dbt_undo_exclude": ["by_hand"]}
    ]


def test_drops_wait_for_all_that_is_restored(macros) -> None:
    """Version 0 is a version."""
    taken: list[list[str]] = []
    adapter = SimpleNamespace(dbt_delta_each=lambda macro, calls: taken.append(list(calls)))
    steps = [{"table": "s.a", "version": 0}, {"table": "s.b", "version": None}]
    steps += [{"table": "s.c", "version": 3}]
    macros(adapter=adapter)._take_steps(steps, {"dbt_undo_of": "r"})
    assert taken == [["s.a", "s.c"], ["s.b"]]
