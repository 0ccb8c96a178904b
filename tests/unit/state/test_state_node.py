"""Which configuration and which macros decide about a node's result."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.state import build
from dbt_delta.state import node as nodes
from tests.unit.macros import test_tree


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dbt.ref('a').join(session.table('ref.rates'), 'k')", "table"),
        ("session.sql('select * from ref.rates')", "sql"),
        ("dbt.ref('a').sparkSession.read.parquet('/x')", "read"),
        ("dbt.ref('a').select(pyspark.sql.functions.col('id'))", ""),
        ("dbt.ref('a').filter(\"x = 'session.table'\")", ""),
    ],
)
def test_a_python_model_that_reads_by_name_is_known(line: str, found: str) -> None:
    imports = "import pyspark.sql.functions\nfrom pyspark.sql import functions as F\n"
    code = f"{imports}def model(dbt, session):\n    return {line}\n"
    assert nodes.python_reads_by_name(code) == found
    node = SimpleNamespace(config=Config(deterministic=True), raw_code=code, language="python")
    node.config.pre_hook = node.config.post_hook = []
    node.columns = {}
    assert ("reads by" in build._never(node)) == bool(found)


def test_sql_that_a_unit_test_expects_is_read() -> None:
    def rows(format: str, text: Any, input: str = "ref('a')") -> Any:
        return SimpleNamespace(format=format, rows=text, input=input)

    plain = SimpleNamespace(given=[rows("sql", "select 1 as id")], expect=rows("dict", [{"id": 1}]))
    assert nodes.unit_test_sql(plain, "select 2") == "select 2"
    given = [*plain.given, rows("sql", "select * from g.before", "this")]
    test = SimpleNamespace(given=given, expect=rows("sql", "select * from g.orders -- all"))
    assert nodes.unit_test_sql(test, "with a as (select 1) select * from a") == (
        "select 1 from (\nwith a as (select 1) select * from a\n)"
        " union all select 1 from (\nselect * from g.orders -- all\n)"
        " union all select 1 from (\nselect * from g.before\n)"
    )


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


def test_expectations_of_columns_count() -> None:
    """They stand in the `meta` of a column, which decides nothing else."""

    def judged(expression: str) -> Any:
        column = {"config": {"meta": {"expectations": [{"name": "a", "expression": expression}]}}}
        config = Config(materialized="table")
        return SimpleNamespace(
            config=config, columns={"id": told(column)}, language="sql", resource_type="model"
        )

    one, other = judged("id > 0"), judged("id > 1")
    assert nodes.configuration(one, "", {}, False) != nodes.configuration(other, "", {}, False)
    assert nodes.clock(judged("id < now()")) == "now("
    assert not nodes.clock(one)
    # A quarantine is written, too.
    assert not nodes.writes_only_itself(one)
    one.columns = {}
    assert nodes.writes_only_itself(one)
    one.config = Config(materialized="table", meta={"expectations": [{"name": "a"}]})
    assert not nodes.writes_only_itself(one)


def test_the_quarantine_is_a_relation_of_its_node() -> None:
    def made(action: str, column: str = "warn", **more: Any) -> list[tuple[str, str]]:
        listed = {"config": {"meta": {"expectations": [{"name": "a", "action": column}]}}}
        config = Config(expectations=[{"name": "b", "action": action}])
        about = {"schema": "S", "alias": "T", "is_relational": True, **more}
        return nodes.relations(
            SimpleNamespace(config=config, columns={"id": told(listed)}, **about)
        )

    both = [("s", "t"), ("s", "t__quarantine")]
    assert made("quarantine") == made("drop", "quarantine") == both
    assert made("fail") == both[:1]
    assert made("quarantine", is_relational=False) == []


def test_settings_that_decide_about_rows_count() -> None:
    node = SimpleNamespace(config=told({}), columns={})
    for key, is_so in (
        ("spark.sql.session.timeZone", True),
        ("spark.databricks.delta.schema.autoMerge.enabled", True),
        ("spark.sql.shuffle.partitions", False),
        ("spark.databricks.delta.commitInfo.userMetadata", False),
        ("spark.driver.memory", False),
    ):
        found = {nodes.configuration(node, "", {key: value}, False) for value in ("a", "b")}
        assert (len(found) == 2) == is_so, key


def test_a_seed_is_its_whole_file(tmp_path: Path) -> None:
    """The last cell may end in blanks, which dbt's checksum leaves out."""
    seed = SimpleNamespace(root_path=str(tmp_path), original_file_path="a.csv")
    found = set()
    for text in ("id\na", "id\na ", "id\na\n\n"):
        (tmp_path / "a.csv").write_text(text)
        found.add(nodes.seed_code(seed))
    assert len(found) == 3


def test_a_clock_in_a_condition_of_the_configuration_is_found() -> None:
    for config, found in (
        ({"not_matched_by_source_condition": "DBT_INTERNAL_DEST.day < current_date() - 30"}, True),
        ({"merge_update_set_expressions": {"at": "NOW ( )"}}, True),
        ({"incremental_predicates": ["day > date'2024-01-01'", "now > known"]}, False),
        ({"meta": {"about": "now()"}}, False),
        ({"not_matched_by_source_condition": "day < date'today'"}, True),
        ({"incremental_predicates": ["at >= timestamp '12:30'", "id > 0"]}, True),
        ({"merge_update_set_expressions": {"day": "'today'"}}, True),
        ({"replace_where": "day >= date'2024-01-01' and place = 'nowhere'"}, False),
    ):
        node = SimpleNamespace(config=Config(config), language="sql")
        assert bool(nodes.clock(node)) == found, config
        assert ("depends on the clock" in build._never(node)) == found, config


def test_a_subquery_in_the_configuration_is_found() -> None:
    for config, found in (
        ({"warn_if": "> (select max(n) from limits)"}, True),
        ({"incremental_predicates": ["day in (\n from days SELECT day)"]}, True),
        ({"merge_update_set_expressions": {"n": "(table limits)"}}, True),
        ({"replace_where": "at in (/* of */ from days)"}, True),
        ({"fail_calc": "count(r'\\', (select 1))"}, True),
        ({"replace_where": "year = extract(year from day) and a is distinct from b"}, False),
        ({"replace_where": "name <> 'it\\'s (select 1)' and `select` > 0"}, False),
        ({"materialized": "table", "grants": {"select": ["from"]}, "meta": {"a": "select"}}, False),
        ({"unique_key": ["from", "table"]}, False),
    ):
        node = SimpleNamespace(config=Config(config), language="sql", resource_type="model")
        assert nodes.has_query(node) == found, config
        assert (build._never(node) == "its configuration has a subquery") == found, config
    # What dbt puts into the SELECT of a test, it reads there.
    tested = SimpleNamespace(config=Config(where="id in (select 1)"), resource_type="test")
    assert not nodes.has_query(tested)


PYTHON = """

def model(dbt, session):
    refs = {"not": "one"}
    return dbt.ref("codes").join(dbt.source("raw", "lines"))

def ref(*args, **kwargs):
    refs = {"codes": "`prod`.`codes`", "mine.codes.v2": "`dev`.`codes_v2`"}
    key = '.'.join(args)
    return dbt_load_df_function(refs[key])

def source(*args, dbt_load_df_function):
    sources = {"raw.lines": "`raw`.`l\\u00e9nes`"}
    return dbt_load_df_function(sources[key])

config_dict = {"a": "b"}
"""


def test_a_python_model_reads_what_dbt_wrote_into_its_code() -> None:
    expected = ["`dev`.`codes_v2`", "`prod`.`codes`", "`raw`.`lénes`"]
    assert nodes.python_reads(PYTHON) == expected
    assert nodes.python_reads("def model(dbt, session):\n    return 1\n") == []


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


@pytest.mark.parametrize(
    ("name", "asks"),
    [("new_changes", False), ("new_rows", False), ("landed_csv", True), ("as_of", False)],
)
def test_what_follows_an_input_does_not_count_as_asking(name: str, asks: bool) -> None:
    found = {
        f"macro.dbt_delta.{macro.name}": SimpleNamespace(
            name=macro.name,
            package_name="dbt_delta",
            macro_sql=macro.text,
            depends_on=SimpleNamespace(macros=[f"macro.dbt_delta.{n}" for n in macro.calls]),
        )
        for macro in test_tree.macros().values()
    }
    given = SimpleNamespace(macros=found)
    assert nodes.asks_incremental([f"macro.dbt_delta.{name}"], given) is asks


def test_macros_behind_a_materialization_or_in_the_place_of_dbts_count() -> None:
    for name in ("materialization_mine_default", "get_merge_sql", "snapshot_mine_strategy"):
        given = {"dbt__get_merge_sql": "a", f"mine__{name}": "a", "mine__helper": "a"}
        before = nodes.writing(macros(**given))
        for changed in (f"mine__{name}", "mine__helper"):
            assert nodes.writing(macros(**{**given, changed: "b"})) != before, (name, changed)
        assert nodes.writing(macros(**given, mine__other="b")) == before
