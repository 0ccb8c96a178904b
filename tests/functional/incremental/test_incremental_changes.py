"""Models that follow the changes of their inputs: new_changes, new_rows, strategy changes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dbt_delta.session.connection import SessionConnection
from tests.functional.harness import Project
from tests.functional.incremental.models import messages, statements, tuples, write_models
from tests.functional.tables import commits, data_commits, version

FED = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name')"
ROWS = "(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (null, 'n')"
# All that can happen to a row, in one range: an update, a deletion, an insert, a key that changes,
# one that goes and comes back, one that comes and goes, NULL as a key.
HISTORY = (
    "update {schema}.{name} set v = 'A' where id = 1",
    "delete from {schema}.{name} where id = 2 or id is null",
    "update {schema}.{name} set id = 9 where id = 3",
    "insert into {schema}.{name} values (5, 'e'), (6, 'f'), (null, 'N')",
    "delete from {schema}.{name} where id in (4, 6)",
    "insert into {schema}.{name} values (4, 'D')",
    "update {schema}.{name} set v = 'AA' where id = 1",
)
REPLACED = (
    "create or replace table {schema}.{name} using delta " + FED + " as "
    "select * from values (1, 'a'), (2, 'B'), (3, 'c'), (7, 'g') as t(id, v)",
)
RECREATED = (
    "drop table {schema}.{name}",
    "create table {schema}.{name} using delta as select 1 id, 'z' v",
)
# What happens to the input of each model, and the properties with which it is made.
INPUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fed": (FED, HISTORY),
    "plain": ("", HISTORY),
    "replaced": (FED, REPLACED),
    "restored": (
        FED,
        (*HISTORY[:2], "restore table {schema}.{name} to version as of 1", HISTORY[0]),
    ),
    "switched": (
        FED,
        (
            HISTORY[0],
            "alter table {schema}.{name} set tblproperties ('delta.enableChangeDataFeed'='false')",
            *HISTORY[1:],
        ),
    ),
    "widened": (
        FED,
        (
            "alter table {schema}.{name} add columns (w int)",
            "insert into {schema}.{name} values (8, 'h', 1)",
        ),
    ),
    "recreated": ("", RECREATED),
    "rebuilt": ("", RECREATED),
    "asked": ("", RECREATED),
    "renamed": (MAPPED, ("alter table {schema}.{name} rename column v to u",)),
    "touched": (FED, ("alter table {schema}.{name} set tblproperties ('c' = 'd')",)),
    "filtered": (FED, HISTORY[:1]),
    "doubled": (FED, ("insert into {schema}.{name} values (7, 'g'), (7, 'h')",)),
    "deduplicated": (
        FED,
        (
            "insert into {schema}.{name} values (1, 'x'), (2, 'x'), (7, 'g')",
            "delete from {schema}.{name} where v = 'x' and id = 1",
            "delete from {schema}.{name} where v = 'b' or id = 7",
        ),
    ),
    "hooked": (FED, HISTORY[:1]),
    "vacuumed": ("", HISTORY[:2]),
    "expected": (FED, (*HISTORY, "update {schema}.{name} set v = 'bad' where id = 5")),
}
CHANGES = (
    "{{{{ config(materialized='incremental', incremental_strategy='changes', "
    "unique_key='id'{more}) }}}}\n"
    "select {select} from {{{{ dbt_delta.new_changes(source('raw', '{name}'), 'id'{gap}) }}}} as c"
)
ADDED = (
    "{{{{ config(materialized='incremental', incremental_strategy='append') }}}}\n"
    "select * from {{{{ dbt_delta.new_rows(source('raw', '{name}'){more}) }}}}"
)
APPENDED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "added": (FED, "", ("insert into {schema}.{name} values (1, 'a')", "optimize {schema}.{name}")),
    "added_plain": (
        "",
        "",
        ("insert into {schema}.{name} values (1, 'a')", "optimize {schema}.{name}"),
    ),
    "added_changed": (FED, "", ("update {schema}.{name} set v = 'A' where id = 1",)),
    "added_deleted": (FED, ", ignore_deletes=true", ("delete from {schema}.{name}", HISTORY[3])),
    "added_skipped": (FED, ", skip_change_commits=true", (HISTORY[0], HISTORY[3])),
    "added_restored": (
        FED,
        ", ignore_deletes=true",
        ("delete from {schema}.{name}", "restore table {schema}.{name} to version as of 1"),
    ),
    "added_half": (FED, ", ignore_deletes=true", (HISTORY[0],)),
    "added_unfed": ("", ", skip_change_commits=true", (HISTORY[0],)),
    "added_noted": (FED, "", ("insert into {schema}.{name} values (1, 'a')",)),
}
# What a model does besides.
DELETES = ", post_hook='delete from {{ this }} where id = 4'"
NOTES = ', pre_hook=\'set `spark.databricks.delta.commitInfo.userMetadata`=`{"ticket": "T-1"}`\''
ASKS = (
    "{% macro newer() %}{% if is_incremental() %}"
    "where id > (select max(id) from {{ this }}){% endif %}{% endmacro %}"
)
TRUTH = [(None, "N"), (1, "AA"), (4, "D"), (5, "e"), (9, "c")]
FIRST = [(None, "n"), (1, "a"), (2, "b"), (3, "c"), (4, "d")]


def _model(name: str, more: str = "", gap: str = "", select: str = "*") -> str:
    return CHANGES.format(name=f"in_{name}", more=more, gap=gap, select=select)


def _sources(names: Any) -> str:
    tables = ", ".join(f"{{name: in_{name}}}" for name in names)
    return f'sources: [{{name: raw, schema: "{{{{ target.schema }}}}", tables: [{tables}]}}]\n'


def _happens(project: Project, name: str, steps: tuple[str, ...]) -> None:
    for step in steps:
        project.sql(step.replace("{name}", f"in_{name}"))


@pytest.fixture(scope="module")
def played(new_shared_project: Callable[[str], Project]) -> dict[str, Any]:
    """All models built, then their inputs change and they run twice."""
    project = new_shared_project("changes")
    project.sql("create schema if not exists {schema}")
    made = {**{n: p for n, (p, _) in INPUTS.items()}, **{n: p for n, (p, _, _) in APPENDED.items()}}
    for name, properties in made.items():
        project.sql(
            f"create table {{schema}}.in_{name} using delta {properties} as "
            f"select id, v from values {ROWS} as t(id, v)"
        )
        # Version 1 changes no row.
        project.sql(f"alter table {{schema}}.in_{name} set tblproperties ('a' = 'b')")
    models = {name: _model(name) for name in INPUTS}
    models["rebuilt"] = _model("rebuilt", gap=", on_gap='full_refresh'")
    models["asked"] = _model("asked", gap=", on_gap='full_refresh'") + " {{ newer() }}"
    models["hooked"] = _model("hooked", more=DELETES)
    models["filtered"] = _model("filtered") + " where id > 1"
    models["widened"] = _model("widened", more=", on_schema_change='append_new_columns'")
    models["joined"] = (
        _model("plain")
        + "\nunion all\n"
        + (
            "select id + 100, v, _change_type from"
            " {{ dbt_delta.new_changes(source('raw', 'in_fed'), unique_key=['id']) }}"
            " where id is not null"
        )
    )
    models["chosen"] = _model("fed", select="v as name, id, _change_type")
    models["expected"] = _model(
        "expected",
        more=", expectations=[{'name': 'good', 'expression': \"v <> 'bad'\", 'action': 'drop'}]",
    )
    for name, (_, more, _) in APPENDED.items():
        models[name] = ADDED.format(name=f"in_{name}", more=more)
    models["added_noted"] = models["added_noted"].replace("'append'", "'append'" + NOTES)
    write_models(project, models)
    project.write({"models/sources.yml": _sources(made), "macros/newer.sql": ASKS})
    first = project.dbt("run", check=False)
    assert not messages(first), messages(first)
    built = {name: tuples(project, name) for name in models}
    for name, (_, steps) in INPUTS.items():
        _happens(project, name, steps)
    for name, (_, _, steps) in APPENDED.items():
        _happens(project, name, steps)
    project.sql(
        "alter table {schema}.in_vacuumed set tblproperties "
        "('delta.deletedFileRetentionDuration' = 'interval 0 hours')"
    )
    project.sql("vacuum {schema}.in_vacuumed retain 0 hours")
    second = project.dbt("run", check=False)
    at = {name: version(project, name) for name in models}
    rows = {name: tuples(project, name) for name in models}
    third = project.dbt("run", check=False)
    return {
        "project": project,
        "built": built,
        "second": second,
        "third": third,
        "at": at,
        "rows": rows,
        "models": models,
    }


STOPPED = {
    "recreated": "it is another table than the one that was read. Nothing was written. Build `",
    "renamed": "columns were renamed or dropped after version 1.",
    "asked": "but not of a model that asks is_incremental()",
    "doubled": 'has duplicate keys of unique_key id: 1, the first {"id":7} (2 rows).',
    "vacuumed": "new_changes of `",
    "added_changed": "version 2 changes rows, but new_rows gives only rows that were added.",
    "added_restored": "its version 3 restored rows, which may have been read before they went.",
    "added_half": "version 2 changes rows",
    "added_unfed": "version 2 is to be skipped, which needs a change feed",
}


def test_the_first_build_reads_the_table(played: dict[str, Any]) -> None:
    for name, rows in played["built"].items():
        expected = FIRST
        if name == "filtered":
            expected = [(2, "b"), (3, "c"), (4, "d")]
        elif name == "joined":
            expected = sorted(
                [*FIRST, *((100 + id, v) for id, v in FIRST if id)], key=lambda r: r[0] or -1
            )
        elif name == "chosen":
            expected = sorted(((v, id) for id, v in FIRST))
        elif name == "hooked":
            expected = FIRST[:-1]
        assert rows == expected, name
    tag = json.loads(commits(played["project"], "fed")[0]["userMetadata"])["dbt_inputs"]
    assert [seen["version"] for seen in tag.values()] == [1]


def test_changes_make_the_table_what_the_input_is(played: dict[str, Any]) -> None:
    rows = played["rows"]
    for name in ("fed", "plain", "switched"):
        assert rows[name] == TRUTH, name
    assert rows["replaced"] == [(1, "a"), (2, "B"), (3, "c"), (7, "g")]
    assert rows["restored"] == [(None, "n"), (1, "A"), (2, "b"), (3, "c"), (4, "d")]
    assert rows["widened"] == [(*row, None) for row in FIRST] + [(8, "h", 1)]
    assert rows["rebuilt"] == [(1, "z")]
    assert rows["deduplicated"] == [(None, "n"), (1, "a"), (2, "x"), (3, "c"), (4, "d")]
    assert rows["hooked"] == [(None, "n"), (1, "A"), (2, "b"), (3, "c")]
    assert rows["filtered"] == [(2, "b"), (3, "c"), (4, "d")]
    assert rows["chosen"] == sorted((v, id) for id, v in TRUTH)
    others = [(100 + id, v) for id, v in TRUTH if id]
    assert rows["joined"] == TRUTH + others
    # The row that goes is not judged, and what is dropped leaves the row as it was.
    assert rows["expected"] == [(None, "N"), (1, "AA"), (4, "D"), (9, "c")]
    for name in ("fed", "plain", "switched", "restored", "joined", "chosen"):
        assert data_commits(played["project"], name) == 2, name
        # In one commit, which says what was read.
        assert played["at"][name] == 1, name
        assert "dbt_inputs" in commits(played["project"], name)[1]["userMetadata"], name


def test_only_rows_that_changed_are_written(played: dict[str, Any]) -> None:
    metrics = commits(played["project"], "replaced")[-1]["operationMetrics"]
    written = [int(metrics[f"numTargetRows{what}"]) for what in ("Inserted", "Updated", "Deleted")]
    assert written == [1, 1, 2]


def test_new_rows_come_once(played: dict[str, Any]) -> None:
    rows = played["rows"]
    for name in ("added", "added_plain", "added_noted"):
        assert rows[name] == sorted([*FIRST, (1, "a")], key=lambda r: r[0] or -1), name
    more = [(None, "N"), (5, "e"), (6, "f")]
    for name in ("added_deleted", "added_skipped"):
        assert rows[name] == sorted([*FIRST, *more], key=lambda r: (r[0] or -1, r[1])), name


def test_what_cannot_be_followed_stops(played: dict[str, Any]) -> None:
    found = messages(played["second"])
    assert set(found) == set(STOPPED), found
    for name, text in STOPPED.items():
        assert text in found[name], found[name]
        assert played["rows"][name] == FIRST, name
        assert played["at"][name] == 0, name
    for name in ("recreated", "renamed", "vacuumed"):
        assert "anew with --full-refresh; with on_gap='full_refresh'" in found[name], found[name]


def test_nothing_new_makes_no_commit_and_reads_no_row(played: dict[str, Any]) -> None:
    project = played["project"]
    assert set(messages(played["third"])) == set(STOPPED)
    for name in played["models"]:
        assert version(project, name) == played["at"][name], name
        assert tuples(project, name) == played["rows"][name], name
        if name not in STOPPED:
            sent = "\n".join(statements(played["third"], name))
            assert "table_changes" not in sent, name
            assert "version as of" not in sent, name
    assert played["at"]["touched"] == 0
    # What was read and changed nothing is kept in a commit of its own.
    assert [c["operation"] for c in commits(project, "filtered")][1:] == ["SET TBLPROPERTIES"]


@pytest.mark.long
def test_what_happens_to_the_table_itself(played: dict[str, Any]) -> None:
    project = played["project"]
    project.sql("restore table {schema}.fed to version as of 0")
    project.sql("restore table {schema}.added to version as of 0")
    project.sql("optimize {schema}.plain")
    project.sql("insert into {schema}.plain values (50, 'x')")
    project.sql("update {schema}.in_plain set v = 'E' where id = 5")
    project.sql("create or replace table {schema}.filtered using delta as select 1 as id, 'q' as v")
    names = ("fed", "added", "plain", "filtered")
    found = messages(project.dbt("run", "-s", *names, check=False))
    assert set(found) == {"filtered"}
    assert "the history of the table does not say what was read" in found["filtered"]
    assert tuples(project, "fed") == TRUTH
    assert tuples(project, "added") == played["rows"]["added"]
    followed = [(id, "E" if id == 5 else v) for id, v in TRUTH]
    assert tuples(project, "plain") == sorted([*followed, (50, "x")], key=lambda r: r[0] or -1)
    at = {name: version(project, name) for name in names}
    project.dbt("run", "-s", "fed", "added", "plain", "filtered", "--full-refresh")
    assert (
        tuples(project, "filtered") == [(4, "d")] or version(project, "filtered") > at["filtered"]
    )
    assert tuples(project, "plain") == followed


VIEW = "{{ config(materialized='view') }} select 1 as id"
BAD: dict[str, tuple[str, str]] = {
    "no_such_key": (
        CHANGES.format(name="in_fed", more="", gap=", unique_key='idd'", select="*").replace(
            ", 'id'", ""
        ),
        "unique_key of new_changes names 'idd', which is not a column of",
    ),
    "of_a_view": (
        CHANGES.format(name="x", more="", gap="", select="*").replace(
            "source('raw', 'x')", "ref('a_view')"
        ),
        "is a view; only a Delta table has versions.",
    ),
    "no_model_of_changes": (
        CHANGES.format(name="in_fed", more="", gap="", select="*").replace(
            "'incremental'", "'table'", 1
        ),
        "only an incremental model keeps what it has read.",
    ),
    "another_strategy": (
        CHANGES.format(name="in_fed", more="", gap="", select="*").replace("'changes'", "'merge'"),
        "incremental_strategy is merge. Use changes.",
    ),
    "another_gap": (
        CHANGES.format(name="in_fed", more="", gap=", 'skip'", select="*"),
        "on_gap is 'skip'. Use one of fail, full_refresh.",
    ),
    "added_without_key": (
        ADDED.format(name="in_fed", more="").replace("'append'", "'merge'"),
        "incremental_strategy merge without unique_key only adds rows",
    ),
    "no_key": (
        CHANGES.format(name="in_fed", more="", gap="", select="*").replace(", unique_key='id'", ""),
        "incremental_strategy changes needs unique_key",
    ),
    "no_change_type": (
        CHANGES.format(name="in_fed", more="", gap="", select="id"),
        "incremental_strategy changes names '_change_type', which is not a column of the model.",
    ),
    "own_delete": (
        CHANGES.format(name="in_fed", more=", matched_delete_condition='true'", gap="", select="*"),
        "matched_delete_condition has no meaning for incremental_strategy changes",
    ),
    "rows_overwritten": (
        ADDED.format(name="in_fed", more="").replace("'append'", "'insert_overwrite'"),
        "incremental_strategy is insert_overwrite. Use append or merge or delete+insert.",
    ),
    "quarantined": (
        CHANGES.format(
            name="in_fed",
            gap="",
            select="*",
            more=", expectations=[{'name': 'good', 'expression': 'id > 0', "
            "'action': 'quarantine'}]",
        ),
        "With incremental_strategy changes use warn, drop or fail.",
    ),
}


def test_what_makes_no_sense_is_refused(played: dict[str, Any]) -> None:
    project = played["project"]
    write_models(project, {"a_view": VIEW, **{name: text for name, (text, _) in BAD.items()}})
    project.dbt("run", "-s", "a_view")
    found = messages(project.dbt("run", "-s", *BAD, check=False))
    assert set(found) == set(BAD)
    for name, (_, message) in BAD.items():
        assert message in found[name], found[name]
        assert len([line for line in found[name].splitlines() if message in line]) == 1


@pytest.mark.session
def test_it_runs_when_its_input_changed(played: dict[str, Any]) -> None:
    project = played["project"]
    write_models(project, {"stated": _model("fed", more=", build_when='inputs_changed'")})
    reports = [project.dbt("run", "-s", "stated").results[0].message for _ in range(3)]
    assert [report == "unchanged" for report in reports] == [False, True, True]
    project.sql("update {schema}.in_fed set v = 'X' where id = 1")
    reports = [project.dbt("run", "-s", "stated").results[0].message for _ in range(2)]
    assert [report == "unchanged" for report in reports] == [False, True]
    assert (1, "X") in tuples(project, "stated")
    assert version(project, "stated") == 1


def test_an_empty_run_has_read_nothing(played: dict[str, Any]) -> None:
    project = played["project"]
    write_models(
        project,
        {"emptied": _model("switched"), "emptied_rows": ADDED.format(name="in_switched", more="")},
    )
    project.dbt("run", "-s", "emptied", "emptied_rows", "--empty")
    for name in ("emptied", "emptied_rows"):
        assert tuples(project, name) == []
    for _ in range(2):
        project.dbt("run", "-s", "emptied", "emptied_rows")
        for name in ("emptied", "emptied_rows"):
            assert tuples(project, name) == TRUTH
            assert version(project, name) == 1
    failed = project.dbt("run", "-s", "emptied", "--sample", "1 day", check=False)
    assert "--sample leaves out rows, which would count as read." in messages(failed)["emptied"]


@pytest.mark.long
@pytest.mark.session
def test_a_table_that_is_restored_beside_a_run(
    played: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, send = played["project"], SessionConnection.execute
    write_models(project, {"beside": _model("switched")})
    project.dbt("run", "-s", "beside")
    project.sql("update {schema}.in_switched set v = 'Y' where id = 5")
    project.dbt("run", "-s", "beside")
    project.sql("update {schema}.in_switched set v = 'Z' where id = 9")

    def execute(self: SessionConnection, sql: str, bindings: Any = None) -> None:
        if "merge into" in sql:
            project.sql("restore table {schema}.beside to version as of 0")
        send(self, sql, bindings)

    monkeypatch.setattr(SessionConnection, "execute", execute)
    found = messages(project.dbt("run", "-s", "beside", check=False))
    assert "was restored or made anew while this run wrote" in found["beside"]
    monkeypatch.undo()
    found = messages(project.dbt("run", "-s", "beside", check=False))
    assert "does not say what was read" in found["beside"]
    project.dbt("run", "-s", "beside", "--full-refresh")
    assert tuples(project, "beside") == tuples(project, "in_switched")


UNIT = """
unit_tests:
  - name: named
    model: chosen
    given: [{input: "source('raw', 'in_fed')", rows: [{id: 1, v: a}]}]
    expect: {rows: [{id: 1, name: a, _change_type: upsert}]}
"""


def test_a_unit_test_gives_upserts(played: dict[str, Any]) -> None:
    project = played["project"]
    project.write({"models/unit.yml": UNIT})
    assert [r.status for r in project.dbt("test", "-s", "named").results] == ["pass"]
