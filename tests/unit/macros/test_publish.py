"""What may be published, and what its views show, without Spark."""

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.state.decide import NOT_DUE, UNCHANGED
from tests.unit.macros import rendering

# raw -> orders -> customers; a test on each, and a model beside them.
PARENTS = {
    "model.p.raw": [],
    "model.p.orders": ["model.p.raw"],
    "model.p.customers": ["model.p.orders"],
    "model.p.beside": ["model.p.raw"],
    "test.p.not_null_raw.1": ["model.p.raw"],
    "test.p.unique_orders.2": ["model.p.orders"],
    "test.p.unique_beside.3": ["model.p.beside"],
}
NODES = {id: {"depends_on": {"nodes": parents}} for id, parents in PARENTS.items()}
PUBLISHED = ["model.p.orders", "model.p.customers"]
ALL = dict.fromkeys(PARENTS, "success")
SEEN = dict.fromkeys(PUBLISHED, 1)


def outcomes(results: dict[str, str], message: str = "", **given: Any) -> list[dict[str, str]]:
    """What the end of a run takes from dbt's results."""
    found = [
        SimpleNamespace(node=SimpleNamespace(unique_id=id), status=status, message=message)
        for id, status in results.items()
    ]
    return rendering.load()._outcomes(found, **given)


def pending(results: dict[str, str], **given: Any) -> dict[str, str]:
    macros = rendering.load()
    seen, moved = given.pop("seen", SEEN), given.pop("moved", {})
    nodes = given.pop("nodes", NODES)
    found = outcomes(results, is_limited=given.pop("is_limited", False))
    before = given.pop("before", {})
    edges = macros._edges(nodes)
    return macros._pending(PUBLISHED, nodes, edges, before, found, seen, moved, **given)


def test_what_others_wrote_after_the_run_is_left_to_do_although_it_was_built() -> None:
    moved = {"model.p.orders": 3}
    assert pending(ALL, moved=moved) == {}
    assert list(pending(ALL, moved=moved, overwritten=["model.p.orders"])) == ["model.p.orders"]


@pytest.mark.parametrize(
    ("runs", "is_overwritten"),
    [
        (["mine", None], False),
        ([None, "mine"], True),
        (["other", "mine"], True),
        (["other"], False),
    ],
)
def test_others_wrote_after_a_run(runs: list[str | None], is_overwritten: bool) -> None:
    commits = [
        {"version": 9 - number, "operation": "WRITE", "run": run} for number, run in enumerate(runs)
    ]
    upkeep = {"version": 10, "operation": "OPTIMIZE", "run": None}
    macros = rendering.load()
    assert macros._is_overwritten([upkeep, *commits], "mine") is is_overwritten
    assert macros._is_own([upkeep, *commits], "mine") is (runs[0] == "mine")
    assert macros._is_own([{**upkeep, "run": "mine"}, *commits], "mine") is (runs[0] == "mine")
    assert macros._is_own([{**upkeep, "run": "mine"}], "mine")
    assert not macros._is_own([upkeep], "mine")
    for commit in commits:
        commit["operation"] = "RENAME COLUMN"
    assert macros._is_overwritten([upkeep, *commits], "mine") is is_overwritten
    assert not macros._is_changed([upkeep], 9)
    assert macros._is_changed([upkeep, *commits], 8)


@pytest.mark.parametrize(
    ("commits", "is_limited"),
    [
        ([("WRITE", "--sample")], True),
        ([("WRITE", None)], False),
        ([("WRITE", None), ("CREATE OR REPLACE TABLE AS SELECT", "--empty")], True),
        ([("CREATE OR REPLACE TABLE AS SELECT", None), ("WRITE", "--sample")], False),
    ],
)
def test_rows_may_be_left_out_until_a_table_is_built_from_scratch(
    commits: list[tuple[str, str | None]], is_limited: bool
) -> None:
    found = [
        {"version": 9 - number, "operation": operation, "limited_by": limited_by}
        for number, (operation, limited_by) in enumerate(commits)
    ]
    macros = rendering.load()
    assert macros._is_limited(found, 7) is is_limited
    assert macros._is_limited(found, None) is is_limited
    assert not macros._is_limited(found, 9)


def test_an_ephemeral_model_is_not_waited_for() -> None:
    macros = rendering.load()
    nodes = {
        "model.p.raw": {},
        "model.p.between": {
            "config": {"materialized": "ephemeral"},
            "depends_on": {"nodes": ["model.p.raw"]},
        },
        "model.p.orders": {"depends_on": {"nodes": ["model.p.between"]}},
    }
    results = [{"id": id, "status": "success"} for id in ("model.p.raw", "model.p.orders")]
    seen = {"model.p.orders": 1}
    edges = macros._edges(nodes)
    assert macros._pending(["model.p.orders"], nodes, edges, {}, results, seen, {}) == {}
    left = macros._pending(["model.p.orders"], nodes, edges, {}, results[:1], seen, {})
    assert list(left) == ["model.p.orders"]


def test_a_unit_test_that_failed_is_left_until_it_passes() -> None:
    macros, ids = rendering.load(), ["unit_test.p.orders.adds_up", "unit_test.p.beside.counts"]
    nodes = macros._with_unit_tests({**NODES, "model.p.orders.v2": {}}, ids)
    assert nodes[ids[0]] == {"depends_on": {"nodes": ["model.p.orders", "model.p.orders.v2"]}}
    edges = macros._edges(nodes)

    def left(before: dict[str, str], *results: tuple[str, str]) -> dict[str, str]:
        found = [{"id": id, "status": status} for id, status in results]
        return macros._pending(PUBLISHED, nodes, edges, before, found, SEEN, {})

    failed = left({}, *((id, "fail") for id in ids))
    assert failed == {ids[0]: "failed"}
    assert macros._node_name(ids[0]) == "adds_up"
    assert left(failed, *ALL.items()) == failed
    assert left(failed, (ids[0], "pass")) == {}


def test_what_another_run_left_meanwhile_is_kept() -> None:
    before, now = {"a": "failed", "b": "failed"}, {"b": "failed", "c": "failed", "d": "failed"}
    left = rendering.load()._also_left({"d": "was skipped"}, {"pending": before}, {"pending": now})
    assert left == {"c": "failed", "d": "was skipped"}
    sampled = {"d": "was built with --empty or --sample"}
    left = rendering.load()._also_left(
        {"d": "was skipped"}, {"pending": before}, {"pending": sampled}
    )
    assert left == sampled


@pytest.mark.parametrize("kind", ["table", "incremental"])
def test_an_incremental_model_that_was_sampled_has_to_be_built_from_scratch(kind: str) -> None:
    macros = rendering.load()
    nodes = {"model.p.orders": {"config": {"materialized": kind}}}
    edges, seen = macros._edges(nodes), {"model.p.orders": 1}

    def left(
        before: dict[str, str], is_limited: bool = False, status: str = "success", **given: bool
    ) -> dict[str, str]:
        results = outcomes({"model.p.orders": status}, is_limited=is_limited)
        return macros._pending([*nodes], nodes, edges, before, results, seen, {}, **given)

    sampled = left({}, is_limited=True)
    assert sampled["model.p.orders"].startswith("was built with --empty or --sample")
    assert left(sampled) == (sampled if kind == "incremental" else {})
    for status in ("skipped", "error"):
        assert left(sampled, status=status) == sampled
    assert left(sampled, is_full=True) == {}
    nodes["model.p.orders"]["config"]["full_refresh"] = False
    assert left(sampled, is_full=True) == left(sampled)


def test_a_whole_build_leaves_nothing() -> None:
    assert pending(ALL, seen={}) == {}
    assert pending({**ALL, "test.p.unique_orders.2": "warn"}) == {}


@pytest.mark.parametrize(
    ("id", "status", "why"),
    [
        ("test.p.unique_orders.2", "fail", "failed"),
        ("test.p.not_null_raw.1", "error", "failed"),
        ("model.p.customers", "skipped", "was skipped"),
        ("model.p.customers", "runtime error", "failed"),
        ("model.p.customers", "partial success", "failed"),
    ],
)
def test_what_failed_is_left(id: str, status: str, why: str) -> None:
    assert pending({**ALL, id: status}) == {id: why}


def test_what_nobody_reads_holds_nothing_back() -> None:
    assert pending({**ALL, "test.p.unique_beside.3": "fail", "model.p.beside": "error"}) == {}


def test_what_comes_after_a_model_is_left_until_it_has_run() -> None:
    left = pending({"model.p.orders": "success"})
    assert left == {
        "model.p.customers": "was not run after orders",
        "test.p.unique_orders.2": "was not run after orders",
    }
    retried = {"model.p.customers": "success", "test.p.unique_orders.2": "pass"}
    assert pending(retried, before=left) == {}
    assert pending({"model.p.customers": "success"}, before=left) == {
        "test.p.unique_orders.2": "was not run after orders"
    }


def test_what_left_the_project_is_not_waited_for() -> None:
    before = {"model.p.gone": "failed", "test.p.unique_beside.3": "failed"}
    assert pending({}, before=before) == {}


def test_a_test_that_is_gone_may_have_another_id_now() -> None:
    before, why = {"test.p.gone.4": "failed"}, "was not run since gone is gone"
    left = pending({"test.p.not_null_raw.1": "pass"}, before=before)
    assert left == {"test.p.unique_orders.2": why}
    assert pending({}, before=left) == left
    assert pending({"test.p.unique_orders.2": "pass"}, before=left) == {}
    assert pending({"test.p.unique_orders.2": "fail"}, before=before) == {
        "test.p.unique_orders.2": "failed",
        "test.p.not_null_raw.1": why,
    }


@pytest.mark.parametrize(
    ("commits", "is_anew"),
    [
        ([(3, "30"), (2, "20")], False),
        ([(2, 20)], False),
        ([(2, "21")], True),
        ([(3, "30"), (2, "21")], True),
        ([(1, "30")], True),
        ([], False),
        ([(4, "40")], False),
    ],
)
def test_a_table_is_known_by_when_its_version_was_written(
    commits: list[tuple[int, Any]], is_anew: bool
) -> None:
    found = [{"version": version, "written": written} for version, written in commits]
    assert rendering.load()._is_made_anew(found, 2, "20") is is_anew


def test_a_table_that_others_wrote_waits_for_a_build() -> None:
    assert pending({}, moved={"model.p.orders": 7}) == {
        "model.p.orders": "has version 7, which no finished run has built"
    }
    assert pending(ALL, moved={"model.p.orders": 7}) == {}


def test_a_table_that_no_run_has_built_yet_is_left() -> None:
    why = "was not built since it is to be published"
    assert pending({}, seen={"model.p.orders": 1}) == {"model.p.customers": why}


def test_an_empty_build_is_no_build() -> None:
    why = "was built with --empty or --sample"
    built = {id: status for id, status in ALL.items() if id.startswith("model")}
    assert pending(built, is_limited=True) == {
        **dict.fromkeys(["model.p.raw", *PUBLISHED], why),
        "test.p.not_null_raw.1": "was not run after raw",
        "test.p.unique_orders.2": "was not run after raw",
    }
    # Nor does a test count that passed on no rows.
    assert pending(ALL, is_limited=True) == pending(built, is_limited=True)
    failed = {"test.p.unique_orders.2": "failed"}
    passed = {"test.p.unique_orders.2": "pass"}
    assert pending(passed, before=failed, is_limited=True) == failed
    assert pending(passed, before=failed) == {}
    assert outcomes({"unit_test.p.orders.adds_up": "pass"}, is_limited=True)


def test_a_sample_that_no_run_wrote_down_is_not_hidden_by_an_older_reason() -> None:
    head = {"version": 3, "written": "30", "is_moved": True, "is_overwritten": False}
    head["is_own"] = True
    orders = node("orders", materialized="incremental")
    before = {"pending": {"model.p.orders": "was skipped", "model.p.raw": "failed"}, "seen": {}}
    news = rendering.load()._news
    found = news({"orders": orders}, {"orders": {**head, "is_limited": True}}, before, before)
    sampled = "was built with --empty or --sample: it needs --full-refresh"
    assert found["left"] == {"model.p.orders": sampled, "model.p.raw": "failed"}
    assert found["moved"] == found["seen"] == {"model.p.orders": 3}
    found = news({"orders": orders}, {"orders": {**head, "is_limited": False}}, before, before)
    assert found["left"] == before["pending"]


def test_what_is_made_of_a_sample_lacks_rows() -> None:
    sampled = {"model.p.raw": "was built with --empty or --sample"}
    nodes = {
        **NODES,
        "model.p.between": {
            "config": {"materialized": "ephemeral"},
            "depends_on": {"nodes": ["model.p.raw"]},
        },
        "model.p.orders": {"depends_on": {"nodes": ["model.p.between"]}},
        "model.p.customers": {
            "config": {"materialized": "incremental"},
            "depends_on": {"nodes": ["model.p.orders"]},
        },
    }
    left = pending({id: "success" for id in PUBLISHED}, nodes=nodes, before=sampled)
    customers = f"{sampled['model.p.raw']}: it needs --full-refresh"
    assert left == {
        **sampled,
        "model.p.orders": sampled["model.p.raw"],
        "model.p.customers": customers,
        "test.p.unique_orders.2": "was not run after orders",
    }
    assert pending(ALL, nodes=nodes, before=left) == {"model.p.customers": customers}
    assert pending(ALL, nodes=nodes, before=left, is_full=True) == {}


def beside(start: dict[str, Any], before: dict[str, Any], is_own: bool = False) -> list[str]:
    """What a run that built and tested `customers` has of that, another one having ended."""
    macros = rendering.load()
    start, before = ({"pending": {}, "seen": {}, **left} for left in (start, before))
    head = {"version": 6, "written": "6", "is_moved": False, "is_overwritten": False}
    heads = {"orders": {**head, "is_own": is_own, "is_limited": False}}
    found = macros._news({"orders": node("orders")}, heads, before, start)["beside"]
    results = {
        "model.p.customers": "success",
        "test.p.unique_orders.2": "success",
        "test.p.not_null_raw.1": "success",
        "model.p.beside": "error",
    }
    edges = macros._edges(NODES)
    timely = macros._timely(outcomes(results), edges, start, before, found)
    return [result["id"] for result in timely]


def test_what_another_run_left_meanwhile_needs_a_newer_result() -> None:
    old, new = ({"seen": {"model.p.orders": version}} for version in (5, 6))
    every = [
        "model.p.customers",
        "test.p.unique_orders.2",
        "test.p.not_null_raw.1",
        "model.p.beside",
    ]
    assert beside(old, old) == every
    # It may have read orders before the other run built it, whether that leaves it to do or not.
    assert beside(old, new) == every[2:]
    assert beside({}, new) == every[2:]
    assert beside({**old, "written": {"model.p.orders": "1"}}, old) == every[2:]
    # This run has built orders itself, and the other one only looked at it.
    assert beside(old, new, is_own=True) == every
    left = {"pending": {"model.p.customers": "was not run after stg"}}
    assert beside({}, left) == every[1:]
    assert beside(left, left) == every
    assert beside(left, {"pending": {"model.p.customers": "failed"}}) == every[1:]
    # The other run saw what this one was building.
    for why in ("has version 6, which no finished run has built", "was not built since it is to"):
        assert beside({}, {"pending": {"model.p.customers": why}}) == every


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_run_remembers_what_was_left_when_it_began(is_recorded: bool) -> None:
    given, left = {"schema": "read"}, {"pending": {"model.p.orders": "failed"}}
    macros = rendering.load(graph={})
    macros._publish_settings = lambda: given
    macros._published = lambda settings: {"is_recorded": is_recorded}
    macros._check_way = macros._check_publisher = lambda settings, state: None
    macros._left = lambda settings: left if settings else {}
    macros.publish_check()
    assert macros._memory("publish") == {"start": left if is_recorded else {}}


def test_a_model_that_is_not_due_was_not_built() -> None:
    customers = {"model.p.customers": "success"}
    assert outcomes(customers, NOT_DUE) == []
    assert outcomes(customers, "--empty: no row was touched") == []
    assert outcomes(customers, UNCHANGED) == [{"id": "model.p.customers", "status": "success"}]


def deferred(**arguments: Any) -> dict[str, bool]:
    """What --defer gave tables of another state to, where `orders` is not selected."""
    other = SimpleNamespace(relation_name="prod.orders")
    orders = SimpleNamespace(
        relation_name="dev.orders", database=None, schema="dev", alias="orders"
    )
    orders.get = lambda key, default=None: {"defer_relation": other}.get(key, default)
    there = arguments.pop("there", [])
    other.relation_name = arguments.pop("other", other.relation_name)
    macros = rendering.load(
        graph={"nodes": {**NODES, "model.p.orders": orders}},
        selected_resources=arguments.pop("selected", ["model.p.customers"]),
        invocation_args_dict=arguments,
        adapter=SimpleNamespace(get_relation=lambda database, schema, name: name in there or None),
    )
    results = ["model.p.customers", "test.p.unique_orders.2", "model.p.beside"]
    found = [SimpleNamespace(node=SimpleNamespace(unique_id=id)) for id in results]
    return macros._deferred(found)


def test_what_was_read_in_another_state_is_no_build_and_no_test() -> None:
    readers = {"model.p.customers": True, "test.p.unique_orders.2": True}
    assert deferred(defer=True) == readers
    assert deferred(defer=True, there=["orders"]) == {}
    assert deferred(defer=True, there=["orders"], favor_state=True) == readers
    assert deferred(defer=True, selected=["model.p.orders"]) == {}
    # The other state may be of this target.
    assert deferred(defer=True, other="dev.orders") == {}
    assert deferred() == {}
    assert outcomes(dict.fromkeys(readers, "success"), deferred=readers) == [
        {"id": "model.p.customers", "status": "success", "limited_by": "--defer"}
    ]
    limited = {"id": "model.p.customers", "status": "success", "limited_by": "--defer"}
    macros = rendering.load()
    edges = macros._edges(NODES)
    left = macros._pending(PUBLISHED, NODES, edges, {}, [limited], SEEN, {})
    assert left == {"model.p.customers": "was built with --defer"}


def node(name: str, **config: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.p.{name}",
        "name": name,
        "alias": name,
        "schema": "prod",
        "resource_type": "model",
        "package_name": "p",
        "fqn": ["p", "marts", name],
        "tags": [],
        "config": {"materialized": "table", **config},
    }


def publication(
    unit: str,
    left: dict[str, str],
    failed: list[str],
    heads: Sequence[str] = ("orders", "customers"),
) -> Any:
    macros = rendering.load()
    nodes = {name: node(name, group=group) for name, group in (("orders", "a"), ("customers", "b"))}
    there = {name: {"relation": f"prod.{name}", "version": 2} for name in heads}
    old = {name: {"relation": f"prod.{name}", "version": 1} for name in nodes}
    return macros._publication(
        {"unit": unit, "nodes": nodes}, macros._edges(NODES), left, failed, there, old
    )


def versions(found: Any) -> dict[str, int]:
    return {name: target["version"] for name, target in found["targets"].items()}


@pytest.mark.parametrize("unit", ["build", "group", "model"])
def test_all_move_when_nothing_is_left(unit: str) -> None:
    found = publication(unit, {}, [])
    assert versions(found) == {"orders": 2, "customers": 2}
    assert found["held"] == {}


def test_a_unit_stays_as_long_as_something_in_it_or_before_it_is_left() -> None:
    left = {"model.p.customers": "failed"}
    assert versions(publication("build", left, [])) == {"orders": 1, "customers": 1}
    for unit in ("group", "model"):
        found = publication(unit, left, ["beside failed"])
        assert versions(found) == {"orders": 2, "customers": 1}
        assert found["held"] == {"customers": ["customers failed"]}
    assert versions(publication("model", {"test.p.not_null_raw.1": "failed"}, [])) == {
        "orders": 1,
        "customers": 1,
    }


def test_a_table_that_is_not_there_holds_a_build_back() -> None:
    found = publication("build", {}, [], heads=["orders"])
    assert versions(found) == {"orders": 1, "customers": 1}
    assert set(found["held"]) == {"orders", "customers"}
    assert versions(publication("model", {}, [], heads=["orders"])) == {"orders": 2, "customers": 1}


def test_any_failure_of_the_run_holds_a_build_back() -> None:
    found = publication("build", {}, ["beside failed"])
    assert found["held"] == {"orders": ["beside failed"], "customers": ["beside failed"]}


OLD = [{"since": 5, "version": 3}]


def test_a_view_learns_what_it_shows_next() -> None:
    steps = rendering.load()._steps_to
    new = {"since": 9, "version": 4}
    assert steps(OLD, 5, 9, 4, True) == [*OLD, new]
    assert steps(OLD, 5, 9, 4, False) == [new]
    assert steps([], 5, 9, 4, True) == [new]
    assert steps(OLD, 5, 9, 3, True) is None


def test_what_a_killed_publication_left_is_used_or_replaced() -> None:
    steps = rendering.load()._steps_to
    left = [*OLD, {"since": 7, "version": 4}]
    assert steps(left, 5, 9, 4, True) is None
    assert steps(left, 5, 9, 3, True) == [*OLD, {"since": 9, "version": 3}]
    assert steps(left, 5, 9, 6, True) == [*OLD, {"since": 9, "version": 6}]


def relation(schema: str, identifier: str) -> SimpleNamespace:
    return SimpleNamespace(schema=schema, identifier=identifier)


def load(**context: Any) -> SimpleNamespace:
    return rendering.load(tojson=rendering.json.dumps, **context)


def test_a_view_says_what_it_shows() -> None:
    macros = load()
    steps = [*OLD, {"since": 9, "version": 4}]
    view = macros.get_published_view_sql(
        relation("read", "orders"),
        relation("prod", "ord`*/ers"),
        steps,
        relation("read", "now"),
        "me",
    )
    about = {"relation": "prod.ord`*/ers", "steps": steps, "by": "me"}
    assert macros._published_view(view.strip()) == about
    assert view.count("*/") == 1 + 2  # the comment, and the name twice
    assert macros._published_view("select 1") is None
    assert macros._time_travels(view) == [
        {"name": ["prod", "ord`*/ers"], "version": "3"},
        {"name": ["prod", "ord`*/ers"], "version": "4"},
    ]


def test_a_view_shows_one_version_at_a_time() -> None:
    macros = load()
    steps = [*OLD, {"since": 9, "version": 4}]
    view = macros.get_published_view_sql(
        relation("read", "orders"), relation("prod", "orders"), steps, relation("read", "now"), "me"
    )
    text = re.sub(r"/\*.*?\*/ ", "", " ".join(view.split())).replace(
        "(select seq from `read`.`now`)", "at"
    )
    assert text == (
        "select * from `prod`.`orders` version as of 3 where case when at >= 9L then false "
        "when at >= 5L then true else raise_error('Planned while read.orders was published: "
        "run the query again.') end union all "
        "select * from `prod`.`orders` version as of 4 where case when at >= 9L then true "
        "else false end"
    )


def settings(
    given: Any, *nodes: dict[str, Any], target: str = "prod", switch: str = "", **context: Any
) -> Any:
    graph = {"nodes": {one["unique_id"]: one for one in nodes}}
    adapter = rendering.through("session", **context)
    macros = load(
        var=lambda name, default=None: given,
        env_var=lambda name, default=None: switch or default,
        # Jinja of dbt's own.
        render=lambda text: (
            text.replace("{{ at_home }}", "read")
            .replace("{{ nowhere }}", "")
            .replace("{{ none }}", "None")
        ),
        graph=graph,
        target=SimpleNamespace(name=target, schema="prod"),
        adapter=adapter,
        project_name="p",
        api=SimpleNamespace(Relation=SimpleNamespace(create=relation)),
    )
    return macros._publish_settings()


def test_what_is_published_is_what_select_takes() -> None:
    nodes = [node("orders"), node("customers"), {**node("other"), "fqn": ["p", "core", "other"]}]
    found = settings({"schema": "read", "select": "marts"}, *nodes)
    assert list(found["nodes"]) == ["customers", "orders"]
    assert found["unit"] == "build"
    assert settings({"schema": "read", "targets": ["prod"]}, *nodes) is not None
    assert settings({"schema": "read", "targets": "ci"}, *nodes) is None
    assert settings(None) is None
    assert settings({"schema": "read"}, *nodes, switch="never") is None
    assert settings({"schema": "{{ at_home }}"}, *nodes)["schema"] == "read"
    assert settings({"schema": "{{ nowhere }}"}, *nodes) is None
    assert settings({"schema": "{{ none }}"}, *nodes) is None
    with pytest.raises(rendering.CompilationError, match=r"DBT_DELTA_PUBLISH .* is 'off'"):
        settings({"schema": "read"}, *nodes, switch="off")
    chosen = lambda selection, state: ["model.p.other"]  # noqa: E731
    found = settings({"schema": "read", "select": "+x"}, *nodes, dbt_delta_select=chosen)
    assert list(found["nodes"]) == ["other"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("analytics", "no mapping"),
        ({"select": "marts"}, "has no schema"),
        ({"schema": "PROD"}, "in which target prod builds"),
        ({"schema": "read", "unit": "table"}, "one of build, group, model"),
        ({"schema": "read", "modle": 1}, "has 'modle'"),
        ({"schema": "read", "select": "mart"}, "'mart', which takes no model"),
        ({"schema": "custom", "select": "custom"}, "is built in schema custom"),
        ({"schema": "read", "select": "a_view"}, "is a view, which has no versions"),
        ({"schema": "read", "select": "parquet"}, "is no Delta table"),
        ({"schema": "read", "select": "orders twin"}, "orders would both be read.orders"),
        ({"schema": "read", "select": "dbt_delta_published"}, "what dbt_delta keeps beside"),
    ],
)
def test_what_cannot_be_published_is_refused(given: Any, message: str) -> None:
    nodes = [
        node("orders"),
        {**node("twin"), "alias": "orders"},
        {**node("custom"), "schema": "custom"},
        node("a_view", materialized="view"),
        node("parquet", file_format="parquet"),
        node("dbt_delta_published"),
    ]
    with pytest.raises(rendering.CompilationError, match=message):
        settings(given, *nodes)


def test_a_publication_is_found_by_its_run() -> None:
    of = rendering.load()._publication_of
    known = [{"run": run, "seq": seq} for run, seq in (("ab1", 4), ("ab2", 3), ("ab2", 2))]
    assert of("ab2", known, 4)["seq"] == 3
    assert of("previous", known, 4)["seq"] == 3
    # A run that was killed right after the instant of publication 5 has not written it down.
    assert of("previous", known, 5)["seq"] == 4
    with pytest.raises(rendering.CompilationError, match="may be ab1 or ab2"):
        of("ab", known, 4)
    with pytest.raises(rendering.CompilationError, match="published nothing"):
        of("cd", known, 4)


@pytest.mark.parametrize("by", ["project q in schema prod", "project p in schema dev"])
def test_the_views_of_another_project_or_target_are_not_dropped(by: str) -> None:
    macros = load(target=SimpleNamespace(name="prod"))
    given = {"schema": "read", "by": "project p in schema prod"}
    with pytest.raises(rendering.CompilationError, match=f"orders was published by {by}, and "):
        macros._check_publisher(given, {"views": {"orders": {"by": by}}})
    macros._check_publisher(given, {"views": {"orders": {"by": given["by"]}}})


VIEW = {"relation": "prod.orders", "steps": OLD}


def shown(version: int, meanwhile: Any = None, by: str = "me") -> tuple[list[Any], list[str]]:
    """Views that a publication alters, and what it says; `meanwhile` is what it finds before."""
    views = {"orders": {**VIEW, "by": by}}
    before = {"seq": 5, "now": 6, "views": views, "broken": []}
    before["published"] = {"orders": {"relation": "prod.orders", "version": 3}}
    written: list[Any] = []
    macros = load(run_query=lambda sql: None)
    macros._published = lambda settings: {**before, **(meanwhile or {})}
    macros._prepared = lambda *given: {}
    macros._has_shape = lambda *given: True
    macros._publish_place = lambda settings: {"pointer": relation("read", "now")}
    macros._set_published_views = lambda settings, views, *given: written.extend(views)
    target = {"relation": "prod.orders", "version": version}
    given = {"schema": "read", "by": "me"}
    try:
        lines = macros._show(given, before, {"orders": target}, [])["lines"]
    except rendering.CompilationError as error:
        lines = [str(error)]
    return written, lines


@pytest.mark.parametrize("meanwhile", [{"seq": 9}, {"views": {"orders": {**VIEW, "steps": []}}}])
def test_a_run_alters_no_view_after_another_one_published(meanwhile: dict[str, Any]) -> None:
    written, lines = shown(4, meanwhile)
    assert not written
    assert "Another run publishes in read" in lines[0]


def test_a_publication_takes_views_over() -> None:
    written, lines = shown(4, by="other")
    assert (written[0]["steps"], lines) == ([*OLD, {"since": 6, "version": 4}], ["orders 3 -> 4"])
    written, lines = shown(3, by="other")
    assert (written[0]["steps"], lines) == (OLD, ["orders taken over"])
    assert shown(3) == ([], [])


@pytest.mark.parametrize("later", [False, True])
def test_what_another_run_publishes_meanwhile_stays(later: bool) -> None:
    steps = [{"since": n, "version": n} for n in (1, 2, 3)]
    mine = {"seq": 2, "steady": ["b"], "views": {"b": {"relation": "prod.b", "steps": steps[:2]}}}
    other = {"seq": 3, "views": {"b": {"relation": "prod.b", "steps": steps[1:]}}}
    states, written = [other if later else mine], []
    macros = load(run_query=lambda sql: None)
    macros._published = lambda settings: states.pop(0)
    macros._set_published_views = lambda settings, views, *given: written.extend(views)
    macros._settle({"schema": "read"}, mine)
    settled = [{"name": "b", "relation": "prod.b", "steps": steps[1:2]}]
    assert (states, written) == ([], [] if later else settled)


@pytest.mark.parametrize(
    ("meanwhile", "events"),
    [
        ([], ["early", "late", "read.now"]),
        ([1], ["early"]),
        ([2], ["early", "late", "read.orders"]),
        # It has given that view its own text, too.
        ([2, 3], ["early", "late"]),
    ],
)
def test_views_whose_columns_change_are_altered_last_and_given_back(
    meanwhile: list[int], events: list[str]
) -> None:
    """`meanwhile` are the looks at which another run has published."""
    texts = {"customers": "select 1", "orders": "select 2"}
    views = {name: {**VIEW, "by": "me", "text": text} for name, text in texts.items()}
    now = {name: dict(view) for name, view in views.items()}
    state = {"seq": 5, "now": 6, "views": views, "broken": []}
    state["published"] = {name: {"relation": "prod.x", "version": 3} for name in views}
    found: list[str] = []
    looks = iter(range(9))

    def published(settings: Any) -> dict[str, Any]:
        look = next(looks)
        if look in meanwhile and meanwhile[-1] == 3:
            now["orders"] = {**VIEW, "steps": [{"since": 8, "version": 9}]}
        return {**state, "seq": 8 if look in meanwhile else 5, "views": dict(now)}

    def alter(settings: Any, views: list[Any], *given: Any) -> None:
        found.extend("early" if view["name"] == "customers" else "late" for view in views)
        now.update({view["name"]: {"steps": view["steps"]} for view in views})

    macros = load(
        run_query=lambda sql: found.append(sql.split()[2].replace("`", "")),
        api=SimpleNamespace(Relation=SimpleNamespace(create=relation)),
    )
    macros._published, macros._set_published_views = published, alter
    macros._has_shape = lambda target, old: target["relation"] == "prod.customers"
    macros._publish_place = lambda settings: {"pointer": relation("read", "now")}
    macros._attempt = lambda sql: found.append(sql.split()[2].replace("`", ""))
    targets = {name: {"relation": f"prod.{name}", "version": 4} for name in texts}
    given = {"schema": "read", "by": "me"}
    if meanwhile:
        with pytest.raises(rendering.CompilationError, match="Another run publishes in read"):
            macros._show(given, state, targets, [])
    else:
        assert macros._show(given, state, targets, [])["lines"]
    assert found == events
