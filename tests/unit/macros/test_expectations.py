"""What an expectation may be, and what it lets through, without Spark."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError, load

GOOD = {"name": "positive", "expression": "amount >= 0", "action": "quarantine"}


def node(expectations: Any, columns: Any = None, **config: Any) -> dict[str, Any]:
    return {
        "name": "orders", "alias": "orders", "schema": "s", "columns": columns or {},
        "config": {"materialized": "table", "expectations": expectations, **config},
    }  # fmt: skip


def read(of: dict[str, Any], *others: dict[str, Any]) -> list[dict[str, Any]]:
    nodes = {one["unique_id"]: SimpleNamespace(**one, get=one.get) for one in others}
    return load(graph=SimpleNamespace(nodes=nodes))._expectations(of)


def test_the_record() -> None:
    column = {"name": "id", "meta": {}, "config": {"meta": {"expectations": [
        {"name": "known", "expression": "id is not null -- always", "action": "fail", "max_rows": 3}
    ]}}}  # fmt: skip
    assert read(node([{**GOOD, "enforce": "table"}], {"id": column})) == [
        {**GOOD, "max_rows": None, "max_percent": None, "is_enforced": True},
        {"name": "known", "expression": "id is not null", "action": "fail", "max_rows": 3,
         "max_percent": None, "is_enforced": False},
    ]  # fmt: skip


@pytest.mark.parametrize("none", [None, [], ()])
def test_none_is_none(none: Any) -> None:
    assert read(node(none)) == []
    assert read(node(none, materialized="ephemeral")) == []


@pytest.mark.parametrize(
    ("given", "config", "message"),
    [
        ("amount > 0", {}, "expectations of orders is amount > 0. Use a list"),
        (GOOD, {}, "Use a list such as"),
        (["amount > 0"], {}, "An expectation of orders is amount > 0. It needs a name"),
        ([{**GOOD, "name": "a b"}], {}, "It needs a name of letters, digits and underscores"),
        ([{**GOOD, "name": 7}], {}, "It needs a name"),
        ([{**GOOD, "acton": "drop"}], {}, "Expectation positive of orders has 'acton'. It may"),
        ([GOOD, {**GOOD, "name": "Positive"}], {}, "Expectation Positive of orders is there twice"),
        ([{**GOOD, "action": "skip"}], {}, "action is 'skip'. Use one of warn, drop, quarantine"),
        ([{**GOOD, "action": None}], {}, "action is 'None'. Use one of"),
        ([{**GOOD, "expression": " -- "}], {}, "positive of orders has no expression"),
        ([{**GOOD, "expression": None}], {}, "positive of orders has no expression"),
        ([{**GOOD, "expression": "a) or (b"}], {}, "the brackets of a) or (b do not match"),
        ([{**GOOD, "expression": "a in (select 1)"}], {}, "has a subquery: a in (select 1)"),
        ([{**GOOD, "expression": "a in (table t)"}], {}, "has a subquery: a in (table t)"),
        ([{**GOOD, "max_rows": 1}], {}, "has max_rows and action quarantine. Only 'fail'"),
        ([{**GOOD, "action": "fail", "max_rows": 1.5}], {}, "max_rows is 1.5. Use a whole number"),
        ([{**GOOD, "action": "fail", "max_rows": -1}], {}, "max_rows is -1. Use a whole number"),
        ([{**GOOD, "action": "fail", "max_rows": True}], {}, "max_rows is True"),
        ([{**GOOD, "action": "fail", "max_percent": 101}], {}, "max_percent is 101. Use a number"),
        ([{**GOOD, "action": "fail", "max_percent": "x"}], {}, "max_percent is x. Use a number"),
        ([{**GOOD, "enforce": "view"}], {}, "enforce is 'view'. Use one of None, table"),
        ([{**GOOD, "enforce": "table", "action": "warn"}], {}, "lets rows through (action warn)"),
        ([{**GOOD, "enforce": "table", "action": "fail", "max_rows": 2}], {},
         "has enforce: table, but lets rows through (max_rows)"),
        ([{**GOOD, "enforce": "table"}], {"materialized": "view"}, "a view has no constraints"),
        ([GOOD], {"materialized": "ephemeral"}, "an ephemeral model has no table"),
        ([GOOD], {"file_format": "parquet"}, "needs file_format delta; it is parquet"),
        ([GOOD], {"not_matched_by_source_action": "delete"}, "would take their keys for deleted"),
    ],
)  # fmt: skip
def test_mistakes(given: Any, config: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilationError) as refused:
        read(node(given, **config))
    assert message in str(refused.value)


def test_a_quarantine_with_the_name_of_a_model_is_refused() -> None:
    other = {"unique_id": "model.p.x", "alias": "ORDERS__quarantine", "schema": "S",
             "resource_type": "model"}  # fmt: skip
    with pytest.raises(
        CompilationError, match=r"s\.orders__quarantine has the name of model\.p\.x"
    ):
        read(node([GOOD]), other)
    assert read(node([GOOD]), {**other, "schema": "t"})


def test_an_ephemeral_input_is_refused() -> None:
    inner = node([GOOD], materialized="ephemeral")
    config = SimpleNamespace(materialized="ephemeral")
    known = {"model.p.inner": SimpleNamespace(config=config, get=inner.get, **{
        key: value for key, value in inner.items() if key != "config"
    })}  # fmt: skip
    package = load(graph=SimpleNamespace(nodes=known))
    with pytest.raises(CompilationError, match="an ephemeral model has no table"):
        package._check_ephemeral_inputs({"depends_on": {"nodes": ["model.p.inner"]}})


@pytest.mark.parametrize(
    ("limits", "broken", "passes"),
    [
        ({}, 0, True),
        ({}, 1, False),
        ({"max_rows": 2}, 2, True),
        ({"max_rows": 2}, 3, False),
        ({"max_percent": 2.5}, 5, True),
        ({"max_percent": 2.5}, 6, False),
        ({"max_rows": 9, "max_percent": 1}, 3, False),
        ({"max_rows": 2, "max_percent": 9}, 3, False),
    ],
)
def test_limits(limits: dict[str, float], broken: int, passes: bool) -> None:
    asked = []

    def run_query(sql: str) -> SimpleNamespace:
        asked.append(sql)
        return SimpleNamespace(rows=[{"row_text": '{"id":1}'}])

    model = {"name": "orders", "unique_id": "model.p.orders", "columns": {}}
    package = load(
        run_query=run_query,
        model=SimpleNamespace(**model, get=model.get),
        graph=SimpleNamespace(nodes={}, sources={}),
    )
    fails = [
        {"name": "a", "expression": "x > 0", "action": "fail", "max_rows": None,
         "max_percent": None, **limits}
    ]  # fmt: skip
    judged = {
        "expectations": fails, "counts": {"rows": 200, "broken": {"a": broken}}, "from": "s",
        "columns": [{"name": "id", "type": "int"}], "staging": None,
    }  # fmt: skip
    if passes:
        package._check_limits(judged)
        assert not asked
        return
    with pytest.raises(CompilationError, match=rf"{broken} of 200 rows of orders break .* a \(x"):
        package._check_limits(judged)


def test_a_constraint_is_broken_by_null() -> None:
    package = load()
    one = {"name": "Pos", "expression": "v > 0", "is_enforced": True}
    other = {"name": "b", "expression": "v < 9", "is_enforced": False}
    assert package._enforced_checks([one, other]) == {"expect_pos": "coalesce(v > 0, false)"}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("at <= now() and 1 = 1", "at <= {} and 1 = 1"),
        ("at <= Current_Timestamp", "at <= {}"),
        ("day < date_sub(current_date( ), 1)", "day < date_sub(date({}), 1)"),
        ("at < localtimestamp", "at < cast({} as timestamp_ntz)"),
        ("s.current_date > now or `now`() = 'now()' -- now()", None),
        ("current_time is not null", None),
        ("unix_timestamp(at) < 5", None),
    ],
)
def test_a_release_stops_the_clock(sql: str, expected: str | None) -> None:
    columns = [{"name": "CURRENT_TIME"}]
    found = load()._at_time(sql, 7, columns)
    assert found == (expected or sql).format("timestamp_micros(7)")


@pytest.mark.parametrize(
    ("sql", "has"),
    [
        ("exists (select 1)", True),
        ("a in (table t)", True),
        ("a in ( /* all */ FROM `t`)", True),
        ("a in (values 1, 2)", True),
        ("a in (values (1))", True),
        ("extract(year from at) > 2000 and trim(both ' ' from word) is distinct from ''", False),
        ("(table is null) or (values > 1) or (table)", False),
        ("a = '(select 1)' -- (table t)", False),
    ],
)
def test_subqueries(sql: str, has: bool) -> None:
    assert load()._has_subquery(sql) is has


DELETES = "DBT_INTERNAL_SOURCE.op = 'D' -- gone"


@pytest.mark.parametrize(
    ("config", "action", "expected"),
    [
        ({}, "quarantine", "x > 0"),
        ({"matched_delete_condition": DELETES}, "quarantine", "(op = 'D' -- gone\n) is true or"),
        ({"matched_delete_condition": "s.`s`.op = 1", "source_alias": "S"}, "drop", "(`s`.op = 1"),
        ({"matched_delete_condition": "DBT_INTERNAL_DEST.v > 1"}, "warn", "x > 0"),
        ({"matched_delete_condition": "DBT_INTERNAL_DEST.v > 1"}, "drop", None),
        ({"cdc_delete_when": "op = 'D'"}, "quarantine", "(op = 'D'\n) is true or (x > 0"),
        ({"incremental_strategy": "changes"}, "drop", "`_change_type` = 'delete' or (x > 0"),
    ],
)
def test_a_deletion_keeps_every_expectation(
    config: dict[str, Any], action: str, expected: str | None
) -> None:
    package = load(config=config, model=SimpleNamespace(name="orders"))
    given = [{"name": "positive", "expression": "x > 0", "action": action}]
    if expected is None:
        with pytest.raises(CompilationError, match="and with them deletions: matched_delete_cond"):
            package._of_images(given)
        return
    (found,) = package._of_images(given)
    assert found["expression"].startswith(expected)
    assert package._of_images([]) == []


def test_a_run_has_written_its_table_where_a_commit_says_what_became_of_its_rows() -> None:
    def commit(run: str, **expectations: Any) -> dict[str, Any]:
        return {"run": run, "expectations": expectations}

    has_written = load()._has_written
    of = commit("a", kept=3, batch="1")
    assert has_written([commit("b", batch="1"), commit("a", batch="1")], of)
    # Its hook, another batch, another run.
    assert not has_written([commit("a"), commit("a", batch="0"), commit("b", batch="1")], of)
