"""CHECK and NOT NULL: no reader ever sees a row that breaks them; they follow the YAML."""

from typing import Any

import pytest

from tests.functional.harness import Project

COLUMNS = """
        columns:
          - {name: id, data_type: int, constraints: [{type: not_null}]}
          - {name: v, data_type: string}
"""


POSITIVE = "id is null or id > 0"


def yml(
    constraints: str, columns: str = COLUMNS, *, enforced: str = "contract: {enforced: true}"
) -> str:
    return f"""
    models:
      - name: m
        config: {{{enforced}}}
        constraints: {constraints}{columns}"""


def model(kind: str, rows: str, **config: Any) -> str:
    if kind == "incremental":  # dbt wants it of a model with a contract
        config = {"unique_key": "id", "on_schema_change": "append_new_columns", **config}
    options = "".join(f", {key}={value!r}" for key, value in config.items())
    head = f"{{{{ config(materialized='{kind}'{options}) }}}}"
    return f"{head} select id, v from values {rows} as t(id, v)"


def checks(project: Project, name: str = "m") -> dict[str, str]:
    prefix = "delta.constraints."
    rows = project.sql(f"show tblproperties {project.relation(name)}")
    return {r.key.removeprefix(prefix): r.value for r in rows if r.key.startswith(prefix)}


@pytest.mark.parametrize("kind", ["table", "incremental"])
def test_a_bad_row_is_never_visible(project: Project, kind: str) -> None:
    project.write(
        {
            "models/m.sql": model(kind, "(1, 'a'), (2, 'b')"),
            "models/s.yml": yml(f"[{{type: check, name: Positive, expression: '{POSITIVE}'}}]"),
        }
    )
    project.dbt("run")
    promised = {"not_null_id": "`id` is not null", "positive": POSITIVE}
    assert checks(project) == promised
    before = project.version("m")
    for bad, said in {"(-1, 'x')": "positive", "(null, 'x')": "not_null_id"}.items():
        for flag in ((), ("--full-refresh",)):
            project.write({"models/m.sql": model(kind, f"(1, 'A'), {bad}")})
            run = project.dbt("run", *flag, check=False)
            message = run.result("m").message
            assert f"CHECK constraint {said}" in message, run.output
            assert "violated by row with values:" in message
            assert " - id : " in message
    assert project.version("m") == before
    assert [row["v"] for row in project.rows("m")] == ["a", "b"]
    project.write({"models/m.sql": model(kind, "(3, 'c')")})
    project.dbt("run")
    assert checks(project) == promised


def test_a_violating_first_build_leaves_nothing(project: Project) -> None:
    project.write(
        {
            "models/m.sql": model("table", "(-1, 'a')"),
            "models/s.yml": yml("[{type: check, expression: 'id > 0'}]"),
        }
    )
    assert not project.dbt("run", check=False).success
    assert project.sql("show tables in {schema}") == []


def test_constraints_follow_the_yaml(project: Project) -> None:
    project.write({"models/m.sql": model("incremental", "(1, 'a')")})
    project.dbt("run")
    project.write({"models/s.yml": yml("[{type: check, name: c, expression: 'id > 0'}]")})
    project.dbt("run")
    assert checks(project) == {"not_null_id": "`id` is not null", "c": "id > 0"}

    settled = project.version("m")
    project.write({"models/m.sql": model("incremental", "(1, 'b')")})
    project.dbt("run")
    assert [h["operation"] for h in project.history("m")][: project.version("m") - settled] == [
        "MERGE"
    ]

    # Another expression, and one that is gone.
    columns = COLUMNS.replace(", constraints: [{type: not_null}]", "")
    project.write(
        {"models/s.yml": yml("[{type: check, name: c, expression: 'id >= 0'}]", columns=columns)}
    )
    project.dbt("run")
    assert checks(project) == {"c": "id >= 0"}

    # Rows that are there already.
    before = project.version("m")
    added = "{type: check, name: d, expression: 'id > 0'}"
    project.write(
        {"models/s.yml": yml(f"[{added}, {{type: check, name: c, expression: 'id > 5'}}]")}
    )
    run = project.dbt("run", check=False)
    assert run.result("m").message.splitlines()[1].strip() == (
        "CHECK constraint c (id > 5) is violated by 1 of the rows in "
        f'`{project.schema}`.`m`, for example by {{"id":1,"v":"b"}}. '
        "Nothing was changed. Correct the rows, or remove the constraint."
    )
    assert project.version("m") == before
    assert checks(project) == {"c": "id >= 0"}


def test_a_constraint_comes_with_its_new_column_and_goes_with_it(project: Project) -> None:
    legacy = "persist_constraints: true"
    options = {
        "on_schema_change": "sync_all_columns",
        "tblproperties": {"delta.columnMapping.mode": "name"},
    }
    project.write(
        {
            "models/m.sql": model("incremental", "(1, 'a')", **options),
            "models/s.yml": yml("[{type: check, expression: \"v <> 'x'\"}]", enforced=legacy),
        }
    )
    project.dbt("run")
    wider = model("incremental", "(1, 'a')", **options).replace("select id, v", "select id, 7 as w")
    project.write(
        {
            "models/m.sql": wider,
            "models/s.yml": yml(
                "[{type: check, name: w, expression: 'w is null or w > 0'}]",
                COLUMNS.replace("{name: v, data_type: string}", "{name: w, data_type: int}"),
                enforced=legacy,
            ),
        }
    )
    project.dbt("run")
    assert checks(project) == {"not_null_id": "`id` is not null", "w": "w is null or w > 0"}
    assert project.rows("m") == [{"id": 1, "w": 7}]


def test_legacy_form_of_dbt_databricks(project: Project) -> None:
    schema = """
        models:
          - name: m
            meta: {constraints: [{name: id_greater_than_zero, condition: id > 0}]}
            columns:
              - {name: id}
              - {name: v, meta: {constraint: not_null}}
    """
    project.write(
        {
            "models/m.sql": model("table", "(1, 'a')", persist_constraints=True),
            "models/s.yml": schema,
        }
    )
    project.dbt("run")
    assert checks(project) == {"id_greater_than_zero": "id > 0", "not_null_v": "`v` is not null"}
    project.write({"models/s.yml": schema.replace("condition: id > 0", "condition: ")})
    assert "Invalid check constraint condition" in project.dbt("run", check=False).output
    project.write({"models/s.yml": schema.replace("constraint: not_null", "constraint: other")})
    refused = project.dbt("run", check=False).output
    assert "Invalid constraint for column v. Only `not_null` is supported." in refused
    project.write({"models/m.sql": model("table", "(-1, null)"), "models/s.yml": schema})
    project.dbt("run")
    assert checks(project) == {}


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        ("{type: check, name: c, expression: 'id in (select 1)'}", "c holds a subquery"),
        ("{type: check, name: c, expression: 'nope > 1'}", "`nope` cannot be resolved"),
        ("{type: check, name: c, expression: ''}", "c has no expression"),
        ("{type: custom, expression: 'foo'}", "foo is of type custom"),
    ],
)
def test_what_cannot_be_enforced_is_refused(project: Project, constraint: str, said: str) -> None:
    project.write(
        {"models/m.sql": model("table", "(1, 'a')"), "models/s.yml": yml(f"[{constraint}]")}
    )
    assert said in project.dbt("run", check=False).output
    assert project.sql("show tables in {schema}") == []


def test_keys_are_not_enforced_and_say_so(project: Project) -> None:
    keys = "[{type: primary_key, columns: [id]WARN}, {type: unique, columns: [v]WARN}]"
    project.write(
        {
            "models/m.sql": model("table", "(1, 'a')"),
            "models/s.yml": yml(keys.replace("WARN", "")),
        }
    )
    said = project.dbt("run").output.replace("\n", " ")
    assert "The constraint type primary_key is not enforced by spark" in said
    assert "The constraint type unique is not enforced by spark" in said
    project.write({"models/s.yml": yml(keys.replace("WARN", ", warn_unenforced: false"))})
    assert "not enforced" not in project.dbt("run").output
