"""CHECK and NOT NULL: no reader ever sees a row that breaks them; they follow the YAML."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Invocation, Project

COLUMNS = """
        columns:
          - {name: id, data_type: int, constraints: [{type: not_null}]}
          - {name: v, data_type: string}
"""


POSITIVE = "id is null or id > 0"


def yml(
    constraints: str,
    columns: str = COLUMNS,
    *,
    enforced: str = "contract: {enforced: true}",
    name: str = "m",
) -> str:
    return f"""
    models:
      - name: {name}
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


def test_a_bad_row_is_never_visible(project: Project) -> None:
    kinds = {"a_table": "table", "an_incremental": "incremental"}
    check = f"[{{type: check, name: Positive, expression: '{POSITIVE}'}}]"
    promised = {"not_null_id": "`id` is not null", "positive": POSITIVE}

    def write(rows: str) -> None:
        project.write({f"models/{name}.sql": model(kind, rows) for name, kind in kinds.items()})

    project.write({f"models/{name}.yml": yml(check, name=name) for name in kinds})
    write("(1, 'a'), (2, 'b')")
    project.dbt("run")
    before = tables.versions(project, kinds)
    for bad, said, flags in (
        ("(-1, 'x')", "positive", ()),
        ("(null, 'x')", "not_null_id", ()),
        ("(null, 'x')", "not_null_id", ("--full-refresh",)),
    ):
        write(f"(1, 'A'), {bad}")
        run = project.dbt("run", *flags, check=False)
        for name in kinds:
            message = run.result(name).message
            assert f"CHECK constraint {said}" in message, run.output
            assert "violated by row with values:" in message
            assert " - id : " in message
    assert tables.versions(project, kinds) == before
    for name in kinds:
        assert checks(project, name) == promised
        assert [row["v"] for row in project.rows(name)] == ["a", "b"]
    write("(3, 'c')")
    project.dbt("run")
    for name in kinds:
        assert checks(project, name) == promised


def test_constraints_follow_the_yaml(project: Project) -> None:
    project.write({"models/m.sql": model("incremental", "(1, 'a')")})
    project.dbt("run")
    project.write({"models/s.yml": yml("[{type: check, name: c, expression: 'id > 0'}]")})
    project.dbt("run")
    assert checks(project) == {"not_null_id": "`id` is not null", "c": "id > 0"}

    settled = tables.version(project, "m")
    project.write({"models/m.sql": model("incremental", "(1, 'b')")})
    project.dbt("run")
    assert tables.operations(project, "m", settled) == ["MERGE"]

    # Another expression, and one that is gone.
    columns = COLUMNS.replace(", constraints: [{type: not_null}]", "")
    project.write(
        {"models/s.yml": yml("[{type: check, name: c, expression: 'id >= 0'}]", columns=columns)}
    )
    project.dbt("run")
    assert checks(project) == {"c": "id >= 0"}

    # Rows that are there already.
    project.write({"models/m.sql": model("incremental", "(7, 'c')")})
    before = tables.version(project, "m")
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
    assert tables.version(project, "m") == before
    assert checks(project) == {"c": "id >= 0"}


_LEGACY = """
    models:
      - name: NAME
        meta: {constraints: [{name: id_greater_than_zero, condition: id > 0}]}
        columns:
          - {name: id}
          - {name: v, meta: {constraint: not_null}}
"""
_KEYS = "[{type: primary_key, columns: [id]WARN}, {type: unique, columns: [v]WARN}]"
# What the first build refuses, by the name of its model.
REFUSED = {
    "violating": ("[{type: check, name: c, expression: 'id > 1'}]", "CHECK constraint c"),
    "subquery": (
        "[{type: check, name: c, expression: 'id in (select 1)'}]",
        "c contains a subquery",
    ),
    "unknown": ("[{type: check, name: c, expression: 'nope > 1'}]", "`nope` cannot be resolved"),
    "empty": ("[{type: check, name: c, expression: ''}]", "c has no expression"),
    "custom": ("[{type: custom, expression: 'foo'}]", "foo is of type custom"),
}
SIZED = COLUMNS.replace("v, data_type: string", "v, data_type: VARCHAR(2)")
ODD_NAMES = """
        columns:
          - {name: "2024", data_type: int}
          - {name: "true", data_type: boolean}
"""
LEGACY_REFUSED = {
    "legacy_empty": (
        _LEGACY.replace("condition: id > 0", "condition: "),
        "Invalid check constraint condition",
    ),
    "legacy_other": (
        _LEGACY.replace("constraint: not_null", "constraint: other"),
        "Invalid constraint for column v. Only `not_null` is supported.",
    ),
}


Built = tuple[Project, Invocation, Invocation]


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    """A project with many models, run twice."""
    project = new_shared_project("constraints")
    growing = {
        "on_schema_change": "sync_all_columns",
        "tblproperties": {"delta.columnMapping.mode": "name"},
    }
    legacy = "persist_constraints: true"
    narrow = model("incremental", "(1, 'a')", **growing)
    plain, persisting = (
        model("table", "(1, 'a')", **config) for config in ({}, {"persist_constraints": True})
    )
    files = {}
    for name, (constraints, _) in REFUSED.items():
        files |= {f"{name}.sql": plain, f"{name}.yml": yml(constraints, name=name)}
    for name, (text, _) in LEGACY_REFUSED.items():
        files |= {f"{name}.sql": persisting, f"{name}.yml": text.replace("NAME", name)}
    for name in ("legacy", "legacy_gone"):
        files |= {f"{name}.sql": persisting, f"{name}.yml": _LEGACY.replace("NAME", name)}
    first = {
        **files,
        "keys.sql": plain,
        "keys.yml": yml(_KEYS.replace("WARN", ""), name="keys"),
        "too_long.sql": model("table", "(1, 'abc')"),
        "too_long.yml": yml("[]", SIZED, name="too_long"),
        "named.sql": "{{ config(materialized='table') }} select 7 as `2024`, false as `true`",
        "named.yml": yml("[]", ODD_NAMES, name="named"),
        "sized.sql": model("incremental", "(1, 'ab')"),
        "sized.yml": yml("[]", SIZED, name="sized"),
        "growing.sql": narrow,
        "growing.yml": yml(
            "[{type: check, expression: \"v <> 'x'\"}]", enforced=legacy, name="growing"
        ),
    }
    second = {
        "legacy_gone.sql": model("table", "(-1, null)"),
        "sized.sql": model("incremental", "(2, 'abc')"),
        "keys.yml": yml(_KEYS.replace("WARN", ", warn_unenforced: false"), name="keys"),
        "growing.sql": narrow.replace("select id, v", "select id, 7 as w"),
        "growing.yml": yml(
            "[{type: check, name: w, expression: 'w is null or w > 0'}]",
            COLUMNS.replace("{name: v, data_type: string}", "{name: w, data_type: int}"),
            enforced=legacy,
            name="growing",
        ),
    }
    project.write({f"models/{name}": text for name, text in first.items()})
    one = project.dbt("run", check=False)
    project.write({f"models/{name}": text for name, text in second.items()})
    selected = ("legacy_gone", "keys", "growing", "sized")
    return project, one, project.dbt("run", "-s", *selected, check=False)


@pytest.mark.parametrize("name", [*REFUSED, *LEGACY_REFUSED])
def test_what_cannot_be_enforced_leaves_nothing(built: Built, name: str) -> None:
    project, first, _ = built
    _, said = {**REFUSED, **LEGACY_REFUSED}[name]
    assert first.result(name).status == "error"
    assert said in first.result(name).message
    # No table of that name, and nothing beside it.
    assert sorted(tables.names(project)) == [
        "growing",
        "keys",
        "legacy",
        "legacy_gone",
        "named",
        "sized",
    ]


def test_a_text_longer_than_the_contract_says_is_refused(built: Built) -> None:
    project, first, second = built
    assert "CHECK constraint length_v" in first.result("too_long").message
    assert checks(project, "sized") == {
        "length_v": "`v` is null or length(`v`) <= 2",
        "not_null_id": "`id` is not null",
    }
    assert "CHECK constraint length_v" in second.result("sized").message
    assert project.rows("sized") == [{"id": 1, "v": "ab"}]
    assert project.version("sized") == 0


def test_a_column_may_have_any_name(built: Built) -> None:
    assert built[0].rows("named") == [{"2024": 7, "true": False}]


def test_a_constraint_comes_with_its_new_column_and_goes_with_it(built: Built) -> None:
    project, first, second = built
    assert [r.node.name for r in second.results if r.status == "error"] == ["sized"]
    assert first.result("growing").status == "success"
    assert checks(project, "growing") == {
        "not_null_id": "`id` is not null",
        "w": "w is null or w > 0",
    }
    assert project.rows("growing") == [{"id": 1, "w": 7}]


def test_legacy_form_of_dbt_databricks(built: Built) -> None:
    project, first, _ = built
    assert checks(project, "legacy") == {
        "id_greater_than_zero": "id > 0",
        "not_null_v": "`v` is not null",
    }
    assert first.result("legacy_gone").status == "success"
    assert checks(project, "legacy_gone") == {}


def test_keys_are_not_enforced_and_say_so(built: Built) -> None:
    _, first, second = built
    assert first.result("keys").status == "success"
    said = first.output.replace("\n", " ")
    assert "The constraint type primary_key is not enforced by spark" in said
    assert "The constraint type unique is not enforced by spark" in said
    assert "not enforced" not in second.output
