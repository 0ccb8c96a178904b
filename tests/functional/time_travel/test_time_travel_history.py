"""history, as_of and changes: what they show, in the terminal and in models."""

import json

import pytest

from tests.functional.harness import Project

MODELS = {
    "models/a.sql": (
        "{{ config(materialized='incremental', unique_key='id', tblproperties="
        "{'delta.enableChangeDataFeed': var('feed', 'false')}) }}"
        " select int(id) as id, 'x{{ var('step') }}' as name from range({{ var('step') }})"
    ),
    "models/b.sql": "{{ config(materialized='table') }} select * from {{ ref('a') }}",
    "models/v.sql": "select 1 as id",
}


def _run(project: Project, step: int, *select: str, feed: str = "false") -> None:
    project.dbt("run", *(["-s", *select] if select else []), vars={"step": step, "feed": feed})


def test_history_of_a_model_and_of_a_run(project: Project) -> None:
    project.write(MODELS)
    _run(project, 1)
    _run(project, 3, "a")
    project.sql("delete from {schema}.a where id = 2")
    project.sql("optimize {schema}.a")
    variables = {"step": 3}
    lines = project.dbt("run-operation", "history", "--args", "{model: a}", vars=variables)
    shown = [line for line in lines.output.splitlines() if "MERGE" in line or "DELETE" in line]
    assert len(shown) >= 2
    assert "model.consumer.a" in next(line for line in shown if "MERGE" in line)
    assert "consumer" not in next(line for line in shown if "DELETE" in line)

    def found(arguments: str) -> list[dict[str, object]]:
        run = project.dbt(
            "--quiet", "run-operation", "history", "--args", arguments, vars=variables
        )
        return json.loads(run.printed)

    commits = {line["version"]: line for line in found("{model: a, output: json}")}
    assert {v: line["operation"] for v, line in commits.items()}[0] == "CREATE TABLE AS SELECT"
    assert (commits[1]["inserted"], commits[1]["updated"]) == (2, 1)
    assert commits[2]["deleted"] == 1
    assert len(found("{model: a, output: json, limit: 2}")) == 2
    last = found("{run: last, output: json}")
    assert [(line["table"], line["version"]) for line in last] == [(f"{project.schema}.a", 1)]
    first = str(commits[0]["run"])
    assert {line["node"] for line in found(f"{{run: '{first[:13]}', output: json}}")} == {
        "model.consumer.a", "model.consumer.b",
    }  # fmt: skip


REFUSED = [
    ("{}", "history has model None and run None: give one of them"),
    ("{model: a, output: xml}", "history has output 'xml'. It is one of text, json."),
    ("{model: nope}", "history: there is no model, seed or snapshot 'nope'. Give one of a, b"),
    ("{model: a}", "is not in the catalog; only a Delta table has versions"),
    ("{run: 12ab}", "this project has no commit of run '12ab'."),
]


def test_history_says_what_is_wrong(project: Project) -> None:
    project.write(MODELS)
    for arguments, said in REFUSED:
        run = project.dbt(
            "run-operation", "history", "--args", arguments, vars={"step": 1}, check=False
        )
        assert not run.success, arguments
        assert said in run.output


@pytest.mark.parametrize("feed", ["false", "true"])
def test_versions_in_models(project: Project, feed: str) -> None:
    project.write(
        MODELS
        | {
            "models/first.sql": "select * from {{ dbt_delta.as_of(ref('a'), version=0) }}",
            "models/changed.sql": (
                "{{ config(materialized='table') }} {{ dbt_delta.changes(ref('a'), 0) }}"
            ),
            "models/second.sql": (
                "{{ config(materialized='table') }} {{ dbt_delta.changes(ref('a'), 1, 2) }}"
            ),
        }
    )
    for step in (1, 2, 2):
        _run(project, step, "a", feed=feed)
    project.sql("delete from {schema}.a where id = 0")
    _run(project, 2, "first", "changed", "second", feed=feed)
    assert [row["name"] for row in project.rows("first")] == ["x1"]
    rows = project.sql("select id, name, _change_type from {schema}.changed")
    ends = {(r.id, r.name, r._change_type.removesuffix("_preimage")) for r in rows}
    assert (0, "x1", "delete" if feed == "false" else "update") in ends
    assert (1, "x2", "insert") in ends
    kinds = {row["_change_type"] for row in project.rows("second")}
    if feed == "true":
        # The second run of step 2 wrote the same rows again.
        assert kinds == {"update_preimage", "update_postimage"}
    else:
        assert kinds == set()


NO_VERSIONS = [
    ("as_of(this)", "has version None and timestamp None: give one of them"),
    ("as_of(this, version=1, timestamp='2024-01-01')", "give one of them"),
    ("as_of(this, version='-1')", "has version '-1': a version is 0 or a whole number above"),
    ("changes(ref('a'), 3)", "goes from version 3 to 0; its newest version is 0"),
    ("changes(ref('a'), 'x')", "has from_version 'x': a version is 0 or a whole number"),
]


def test_versions_that_cannot_be(project: Project) -> None:
    project.write(MODELS)
    _run(project, 1, "a")
    for call, said in NO_VERSIONS:
        broken = f"-- {{{{ ref('a') }}}}\nselect * from {{{{ dbt_delta.{call} }}}}"
        project.write({"models/broken.sql": broken})
        run = project.dbt("run", "-s", "broken", vars={"step": 1}, check=False)
        assert said in run.output
