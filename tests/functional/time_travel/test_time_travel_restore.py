"""restore: a table as it was, with what others rely on as it is."""

import shutil
from collections.abc import Callable

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project
from tests.functional.operations import operations

MODEL = {
    "models/a.sql": (
        "{{ config(materialized='table', tblproperties={'delta.logRetentionDuration':"
        " 'interval ' ~ (30 + var('step')) ~ ' days', 'of_step': var('step'),"
        " 'delta.enableChangeDataFeed': var('step') == 3}) }}"
        " select {{ var('step') }} as id{% if var('step') > 1 %}, 'x' as more{% endif %}"
    ),
    "models/pinned.sql": "{{ config(materialized='table') }} select {{ var('step') }} as id",
}
VARS = {"step": 3}
PIN = {"dbt_delta.pin.report": "0", "delta.deletedFileRetentionDuration": "interval 20 days"}


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Project:
    """Model a: version 0 has id 1 and a column less, version 1 id 2, version 2 id 3.

    Model pinned has a pin, and another retention, since its version 1.
    """
    project = new_shared_project("restored")
    project.write(MODEL)
    for step in (1, 2, 3):
        project.dbt("run", vars={"step": step})
        if step == 1:
            pairs = ", ".join(f"'{key}' = '{value}'" for key, value in PIN.items())
            project.sql(f"alter table {{schema}}.pinned set tblproperties ({pairs})")
    return project


def _copy(project: Project, name: str) -> str:
    """Another table with the files and versions of model a."""
    folder = project.warehouse / name
    shutil.copytree(project.warehouse / "a", folder)
    project.sql(f"create table {{schema}}.{name} using delta location '{folder}'")
    return f"{project.schema}.{name}"


def _restore(project: Project, arguments: str) -> Invocation:
    return project.dbt("run-operation", "restore", "--args", arguments, vars=VARS, check=False)


def test_a_table_is_what_it_was(built: Project) -> None:
    # The time of version 1; Delta tells it by the file of the commit.
    at = str(built.history("a")[1]["timestamp"])
    found = {"0": 1, "1": 2, "previous": 2, "run:last": 2, at: 2}
    names = [f"to_{n}" for n in range(len(found))]
    calls = [
        ("restore", {"model": _copy(built, name), "to": to})
        for name, to in zip(names, found, strict=True)
    ]
    planned = operations(
        built,
        *[(macro, {**arguments, "dry_run": True}) for macro, arguments in calls],
        ("restore", {"model": "a", "to": 2}),
        vars=VARS,
    ).printed
    assert planned.count("Dry run: nothing was changed.") == len(calls)
    # Of those versions one has not the column.
    (line,) = [line for line in planned.splitlines() if "column - more" in line]
    assert line.split()[:4] == [f"{built.schema}.to_0", "restore", "2", "0"]
    assert f"`{built.schema}`.`a` is already at version 2." in planned
    assert set(tables.versions(built, ["a", *names]).values()) == {2}

    operations(built, *calls, vars=VARS)
    for name, (to, id) in zip(names, found.items(), strict=True):
        (row,) = built.rows(name)
        assert (row["id"], "more" in row) == (id, id > 1), to
        assert [c["operation"] for c in tables.commits(built, name)[3:]] == [
            "RESTORE",
            "SET TBLPROPERTIES",
        ]
        properties = tables.metadata(built, name)["configuration"]
        assert properties["of_step"] == str(id), to
        # What feeds and later restores rely on is as it was today.
        assert properties["delta.logRetentionDuration"] == "interval 33 days"
        assert properties["delta.enableChangeDataFeed"] == "true"


def test_pins_and_retention_outlive_builds_and_restores(built: Project) -> None:
    assert tables.metadata(built, "pinned")["configuration"].items() >= PIN.items()
    assert _restore(built, "{model: pinned, to: 0}").success
    assert built.rows("pinned") == [{"id": 1}]
    assert tables.metadata(built, "pinned")["configuration"].items() >= PIN.items()
    # What was taken away does not come back.
    built.sql(f"alter table {{schema}}.pinned unset tblproperties ({str([*PIN])[1:-1]})")
    assert _restore(built, "{model: pinned, to: 3}").success
    assert built.rows("pinned") == [{"id": 3}]
    assert not tables.metadata(built, "pinned")["configuration"].keys() & PIN.keys()


def test_a_restore_is_tagged(built: Project) -> None:
    tagged = _copy(built, "tagged")
    assert _restore(built, f"{{model: {tagged}, to: 1}}").success
    assert '"dbt_node_id": "macro_restore"' in tables.commits(built, "tagged")[3]["userMetadata"]


REFUSED = [
    ("a", "7", "restore: to is 7: `SCHEMA`.`a` has versions 0 to 2."),
    ("a", "soon", "restore: to is 'soon'. Use a version, a time such as"),
    ("a", "2001-01-01", "before the oldest version of `SCHEMA`.`a`"),
    ("a", "run:none", "`SCHEMA`.`a` has no commit of run 'none'."),
    ("b", "1", "there is no model, seed or snapshot 'b'. Use one of a,"),
]


def test_what_cannot_be_is_refused(built: Project) -> None:
    # The first operation that fails ends an invocation; models fail side by side.
    for n, (model, to, _) in enumerate(REFUSED):
        call = f"{{% if execute %}}{{% do dbt_delta.restore('{model}', '{to}') %}}{{% endif %}}"
        built.write({f"models/refused_{n}.sql": f"{call} select 1 as id"})
    run = built.dbt("run", "-s", "refused_*", vars=VARS, check=False)
    for n, (_, to, said) in enumerate(REFUSED):
        refused = run.result(f"refused_{n}")
        assert refused.status == "error", to
        assert said.replace("SCHEMA", built.schema) in refused.message
    assert tables.version(built, "a") == 2


def test_lost_files_are_found_before_anything_is_changed(built: Project) -> None:
    lost = _copy(built, "lost")
    old = built.sql("select distinct _metadata.file_name from {schema}.lost version as of 0")
    (built.warehouse / "lost" / old[0].file_name).unlink()
    refused = _restore(built, f"{{model: {lost}, to: 0}}")
    assert not refused.success
    assert "version 0 of" in refused.output
    assert "has lost data files, most likely to VACUUM." in refused.output
    assert tables.version(built, "lost") == 2
