"""restore: a table as it was, with what others rely on as it is."""

import pytest

from tests.functional.harness import Invocation, Project

MODEL = {
    "models/a.sql": (
        "{{ config(materialized='table', tblproperties={'delta.logRetentionDuration':"
        " 'interval ' ~ (30 + var('step')) ~ ' days', 'of_step': var('step')}) }}"
        " select {{ var('step') }} as id{% if var('step') > 1 %}, 'x' as more{% endif %}"
    )
}


@pytest.fixture
def built(project: Project) -> Project:
    project.write(MODEL)
    for step in (1, 2, 3):
        project.dbt("run", vars={"step": step})
    return project


def _restore(project: Project, arguments: str, check: bool = True) -> Invocation:
    return project.dbt(
        "run-operation", "restore", "--args", arguments, vars={"step": 3}, check=check
    )


@pytest.mark.parametrize(("to", "found"), [("0", 1), ("previous", 2), ("'run:last'", 2), ("1", 2)])
def test_a_table_is_what_it_was(built: Project, to: str, found: int) -> None:
    planned = _restore(built, f"{{model: a, to: {to}, dry_run: true}}")
    assert "Dry run: nothing was changed." in planned.output
    assert ("column - more" in planned.output) == (found == 1)
    assert built.version("a") == 2
    _restore(built, f"{{model: a, to: {to}}}")
    (row,) = built.rows("a")
    assert (row["id"], "more" in row) == (found, found > 1)
    history = built.history("a")
    assert history[1]["operation"] == "RESTORE"
    assert '"dbt_node_id": "macro_restore"' in history[1]["userMetadata"]
    properties = {r.key: r.value for r in built.sql("show tblproperties {schema}.a")}
    assert properties["of_step"] == str(found)
    assert properties["delta.logRetentionDuration"] == "interval 33 days"


def test_a_time_is_a_version(built: Project) -> None:
    times = [str(commit["timestamp"]) for commit in built.history("a")]
    _restore(built, f"{{model: {built.schema}.a, to: '{times[1]}'}}")
    assert [row["id"] for row in built.rows("a")] == [2]


REFUSED = [
    ("{model: a, to: 7}", "restore: to is 7: `SCHEMA`.`a` has versions 0 to 2."),
    ("{model: a, to: soon}", "restore: to is 'soon'. Give a version, a time such as"),
    ("{model: a, to: '2001-01-01'}", "before the oldest version of `SCHEMA`.`a`"),
    ("{model: a, to: 'run:none'}", "`SCHEMA`.`a` has no commit of run 'none'."),
    ("{model: b, to: 1}", "there is no model, seed or snapshot 'b'. Give one of a,"),
]


def test_what_cannot_be_is_refused(built: Project) -> None:
    for arguments, said in REFUSED:
        refused = _restore(built, arguments, check=False)
        assert not refused.success, arguments
        assert said.replace("SCHEMA", built.schema) in refused.output
        assert built.version("a") == 2
    same = _restore(built, "{model: a, to: 2}")
    assert "is at version 2 already" in same.output


def test_lost_files_are_found_before_anything_is_changed(built: Project) -> None:
    old = built.sql("select distinct _metadata.file_name from {schema}.a version as of 0")
    (built.warehouse / "a" / old[0].file_name).unlink()
    refused = _restore(built, "{model: a, to: 0}", check=False)
    assert "version 0 of" in refused.output
    assert "has lost data files, most likely to VACUUM." in refused.output
    assert built.version("a") == 2
