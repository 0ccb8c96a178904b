"""Which configuration and which macros decide about a node's result."""

from types import SimpleNamespace
from typing import Any

from dbt_delta.state import build
from dbt_delta.state import node as nodes


def told(value: dict[str, Any]) -> Any:
    return SimpleNamespace(to_dict=lambda omit_none: value)


class Config(dict[str, Any]):
    """A configuration as dbt's nodes have it."""

    def to_dict(self, omit_none: bool) -> dict[str, Any]:
        return dict(self)


def configured(config: dict[str, Any], column: dict[str, Any]) -> str:
    node = SimpleNamespace(config=told(config), columns={"id": told({"name": "id", **column})})
    return nodes.configuration(node, "", {}, is_kept=False)


def test_meta_counts_where_constraints_stand_in_it() -> None:
    for config, column in (
        ({"meta": {"constraints": [{"name": "low", "condition": "id < 5"}]}}, {}),
        ({}, {"meta": {"constraint": "not_null"}}),
    ):
        assert configured(config, column) == configured({}, {})
        legacy = {"persist_constraints": True}
        assert configured({**config, **legacy}, column) != configured(legacy, {})


def test_a_clock_in_a_condition_of_the_configuration_is_found() -> None:
    for config, found in (
        ({"not_matched_by_source_condition": "DBT_INTERNAL_DEST.day < current_date() - 30"}, True),
        ({"merge_update_set_expressions": {"at": "NOW ( )"}}, True),
        ({"incremental_predicates": ["day > date'2024-01-01'", "now > known"]}, False),
        ({"meta": {"about": "now()"}}, False),
    ):
        node = SimpleNamespace(config=Config(config), language="sql")
        assert bool(nodes.clock(node)) == found, config
        assert ("depends on the clock" in build._never(node)) == found, config


def macros(**texts: str) -> Any:
    """Macros by package__name: those of the project call `helper`."""
    found = {}
    for key, text in texts.items():
        package, _, name = key.partition("__")
        calls = ["macro.mine.helper"] if package == "mine" and name != "helper" else []
        found[f"macro.{package}.{name}"] = SimpleNamespace(
            name=name,
            package_name=package,
            macro_sql=text,
            depends_on=SimpleNamespace(macros=calls),
        )
    return SimpleNamespace(macros=found)


def test_a_macro_that_asks_for_itself_is_found_behind_another() -> None:
    given = {"a__outer": "{{ inner() }}", "a__inner": "{% if is_incremental() %}"}
    called = macros(**given, dbt__is_incremental="is_incremental", dbt_delta___new_input="")
    called.macros["macro.a.outer"].depends_on.macros.append("macro.a.inner")
    assert nodes.asks_incremental(["macro.a.outer"], called)
    for name in ("macro.dbt.is_incremental", "macro.dbt_delta._new_input", "macro.gone"):
        assert not nodes.asks_incremental([name], called)


def test_macros_behind_a_materialization_or_in_the_place_of_dbts_count() -> None:
    for name in ("materialization_mine_default", "get_merge_sql"):
        given = {"dbt__get_merge_sql": "a", f"mine__{name}": "a", "mine__helper": "a"}
        before = nodes.writing(macros(**given))
        for changed in (f"mine__{name}", "mine__helper"):
            assert nodes.writing(macros(**{**given, changed: "b"})) != before, (name, changed)
        assert nodes.writing(macros(**given, mine__other="b")) == before
