"""What brings a table to its configuration, and what leaves it as it is."""

import hashlib
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError


@pytest.mark.parametrize(
    ("key", "value", "has"),
    [
        ("a", "1", True), ("a", 1, True), ("b", True, True), ("b", "false", False), ("c", "", True),
        ("n", 32, True), ("n", 3, False), ("n", 2, False), ("n", 320, False), ("n", "", False),
        ("m", 32, False), ("last", 12, True), ("last", 1, False), ("d=1,e", "2,f=3", True),
        ("d", "1,e=2,f=3", False), ("untold", "x", False), ("untold", None, False),
    ],
)  # fmt: skip
def test_has_property(macros, key: str, value: object, has: bool) -> None:
    properties = {
        "a": "1", "b": "true", "c": "", "n": "32", "column": "32", "last": "12",
        "d=1,e": "2,f=3", "untold": None,
    }  # fmt: skip
    assert macros()._has_property(properties, key, value) is has


@pytest.mark.parametrize(
    ("properties", "feature", "has"),
    [
        ({"delta.columnMapping.mode": "name"}, "column_mapping", True),
        ({"delta.columnMapping.mode": "id"}, "column_mapping", True),
        ({"delta.columnMapping.mode": "none"}, "column_mapping", False),
        ({"delta.columnMapping.maxColumnId": "2"}, "column_mapping", False),
        ({"delta.enableDeletionVectors": "true"}, "deletion_vectors", True),
        ({"delta.enableDeletionVectors": "false"}, "deletion_vectors", False),
        ({"delta.feature.deletionVectors": "supported"}, "deletion_vectors", False),
        ({"delta.feature.variantType": "supported"}, "variantType", True),
        ({"delta.feature.variantType": "enabled"}, "variantType", True),
        ({"variantType": "supported"}, "variantType", False),
        ({"delta.appendOnly": None}, "append_only", False),
        ({}, "type_widening", False),
    ],
)
def test_has_feature(macros, properties: dict[str, Any], feature: str, has: bool) -> None:
    assert macros()._has_feature(properties, feature) is has


@pytest.mark.parametrize("given", [True, "true"])
def test_a_table_will_have_what_the_layout_gives_it(macros, given: Any) -> None:
    package, key = macros(), "delta.enableTypeWidening"
    table = {"properties": {key: "false", "delta.columnMapping.mode": "name"}}
    assert package._will_have_feature(table, layout(properties={key: given}), "type_widening")
    assert not package._will_have_feature(table, layout(), "type_widening")
    assert package._will_have_feature(table, layout(), "column_mapping")
    off = layout(properties={"delta.columnMapping.mode": "none"})
    assert not package._will_have_feature(table, off, "column_mapping")
    assert table["properties"][key] == "false"


def test_features_are_turned_on_by_their_properties(macros) -> None:
    package = macros()
    assert package._feature_properties(["column_mapping", "type_widening", "variantType"]) == {
        "delta.columnMapping.mode": "name",
        "delta.enableTypeWidening": "true",
        "delta.feature.variantType": "supported",
    }
    assert package._turn_on("change_feed") == (
        "Add tblproperties {'delta.enableChangeDataFeed': 'true'} to the model"
    )


def layout(**entries: Any) -> dict[str, Any]:
    """A configuration that promises nothing but these."""
    nothing: dict[str, Any] = {
        "partitions": [], "clustering": [], "location": None, "comment": "", "checks": {},
        "column_comments": {}, "properties": {}, "defaults": {}, "options": {},
        "follows_checks": False, "format": "delta", "buckets": {"columns": [], "count": None},
    }  # fmt: skip
    return {**nothing, **entries}


def test_each_batch_has_a_staging_table_of_its_own(macros) -> None:
    def staged(start: str | None) -> str:
        package = macros(
            api=SimpleNamespace(Relation=SimpleNamespace(create=lambda **of: of["identifier"])),
            invocation_id="run",
            local_md5=lambda text: hashlib.md5(text.encode()).hexdigest(),
            model=SimpleNamespace(
                config={"__dbt_internal_microbatch_event_time_start": start} if start else {}
            ),
        )
        return package._beside(EXISTING["relation"], "tmp")

    names = [staged(start) for start in (None, "2024-01-01", "2024-01-02")]
    assert len(set(names)) == 3
    assert names[1] == staged("2024-01-01")


EXISTING = {
    "relation": SimpleNamespace(schema="s", identifier="t"),
    "columns": [{"name": "id", "type": "int", "comment": "old"}],
    "partitions": [],
    "clustering": ["id"],
    "comment": "it's",
    "properties": {"a": "1"},
}


def test_nothing_to_align(macros) -> None:
    promised = layout(
        clustering=["ID"], comment="it's", column_comments={"ID": "old"}, properties={"a": 1}
    )
    assert macros().get_align_sql(EXISTING, promised) == []


def test_align(macros) -> None:
    promised = layout(comment="new", column_comments={"ID": "new"}, properties={"a": 2})
    assert macros().get_align_sql(EXISTING, promised) == [
        "alter table `s`.`t` set tblproperties ('a' = '2')",
        "alter table `s`.`t` cluster by none",
        "comment on table `s`.`t` is 'new'",
        "alter table `s`.`t` alter column `id` comment 'new'",
    ]


def test_order_of_changes(macros) -> None:
    constraints = {"delta.constraints.gone": "w > 0", "delta.constraints.c": "id > 1"}
    existing = {**EXISTING, "properties": constraints}
    promised = layout(
        clustering=["n"], column_comments={"N": "new"}, checks={"c": "id > 2"},
        properties={"delta.columnMapping.mode": "name"}, follows_checks=True, comment="it's",
    )  # fmt: skip
    changes = [
        {"kind": "drop", "path": ["w"], "was": "int"},
        {"kind": "add", "path": ["n"], "type": "int"},
        {"kind": "retype", "path": ["id"], "type": "bigint", "was": "int"},
    ]
    existing["columns"] = [*EXISTING["columns"], {"name": "w", "type": "int", "comment": ""}]
    assert macros().get_align_sql(existing, promised, changes) == [
        "alter table `s`.`t` set tblproperties ('delta.columnMapping.mode' = 'name')",
        "alter table `s`.`t` drop constraint if exists `gone`",
        "alter table `s`.`t` drop constraint if exists `c`",
        "alter table `s`.`t` alter column `id` type bigint",
        "alter table `s`.`t` add columns (`n` int)",
        "alter table `s`.`t` cluster by (`n`)",
        "alter table `s`.`t` drop columns (`w`)",
        "alter table `s`.`t` add constraint `c` check (id > 2)",
        "alter table `s`.`t` alter column `n` comment 'new'",
    ]
    assert macros().get_align_sql(existing, None, changes) == [
        "alter table `s`.`t` alter column `id` type bigint",
        "alter table `s`.`t` add columns (`n` int)",
        "alter table `s`.`t` drop columns (`w`)",
    ]


def test_constraints_that_the_yaml_does_not_own_stay(macros) -> None:
    existing = {**EXISTING, "properties": {"delta.constraints.by_hand": "id > 0"}}
    assert macros()._surplus_checks(existing, layout(checks={"c": "id > 1"})) == []
    assert macros()._surplus_checks(existing, layout(follows_checks=True)) == ["by_hand"]


def test_constraints_are_known_by_the_keys_of_properties(macros) -> None:
    properties = {
        "delta.constraints.a=b, c": "x > 0",
        "delta.constraints.d": "v != ',delta.constraints.e=1'",
        "delta.constraints.untold": None,
        "mine": "delta.constraints.f=1",
        "not.delta.constraints.g": "1",
    }
    assert macros()._constraint_names(properties) == ["a=b, c", "d", "untold"]
    assert macros()._constraint_names({}) == []


@pytest.mark.parametrize(
    ("stored", "expression", "has"),
    [
        ("id > 0", "id > 0", True),
        ("id > 0 and v = 'a  B'", "ID>0 -- a key\nAND v='a  B'", True),
        ("v = 'a  B'", "v = 'a b'", False),
        ("`a b` > 0", "`a  b` > 0", False),
        ("id > 10", "id > 1", False),
        ("a b", "ab", False),
        (None, "id > 0", False),
    ],
)
def test_a_constraint_is_known_by_its_tokens(
    macros, stored: str | None, expression: str, has: bool
) -> None:
    existing = {"properties": {"delta.constraints.c": stored}}
    assert macros()._has_check(existing, "c", expression) is has
    assert macros()._has_check({"properties": {}}, "c", expression) is False


@pytest.mark.parametrize("count", [0, 3])
def test_violations(macros, count: int) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        sent.append(" ".join(sql.split()))
        return SimpleNamespace(rows=[(count, "a row")])

    added = [{"kind": "add", "path": ["n"], "type": "int"}]
    package = macros(run_query=run_query)
    if count:
        said = r"c \(n > 0\) is violated by 3 of the rows in `s`.`t`, for example by a row"
        with pytest.raises(CompilationError, match=said):
            package._check_rows(EXISTING, layout(checks={"c": "n > 0"}), added)
    else:
        package._check_rows(EXISTING, layout(checks={"c": "n > 0"}), added)
    assert sent == [
        "select count_if((n > 0) is not true), "
        "first(to_json(struct(*), map('ignoreNullFields', 'false'))) "
        "filter (where (n > 0) is not true) "
        "from (select *, cast(null as int) as `n` from `s`.`t`)"
    ]


@pytest.mark.parametrize(
    ("expression", "check"),
    [
        ("CHECK (a > 0)", "a > 0"),
        ("/* why */ check(a > 0 -- at least\n)", "a > 0"),
        ("check (a > 0) or (b > 0)", "(a > 0) or (b > 0)"),
        ("check (a <> ')') ", "a <> ')'"),
        ("check (a > 0", None),
        ("checked (a > 0)", None),
        ("check", None),
        (None, None),
    ],
)
def test_a_custom_constraint_may_be_a_check(
    macros, expression: str | None, check: str | None
) -> None:
    package = macros()
    assert package._custom_check({"type": "custom", "expression": expression}) == check
    assert package._custom_check({"type": "check", "expression": expression}) is None


@pytest.mark.parametrize(
    ("expression", "refused"),
    [
        ("a in (SELECT 1)", "contains a subquery"),
        ("a <> 'select' and `select` > 0", None),
        ("selected > 0", None),
        ("", "has no expression"),
    ],
)
def test_check_expressions(macros, expression: str, refused: str | None) -> None:
    checks: dict[str, str] = {}
    if refused:
        with pytest.raises(CompilationError, match=refused):
            macros()._add_check(checks, "C", "own", expression)
    else:
        macros()._add_check(checks, "C", "own", expression)
        assert checks == {"c": expression}
        with pytest.raises(CompilationError, match="Two constraints have the name c"):
            macros()._add_check(checks, "c", "own", "other")


def test_view(macros) -> None:
    promises = {"comment": "it's", "column_comments": {"A": "x"}, "properties": {"k": True}}
    columns = [{"name": "a"}, {"name": "b c"}]
    text = macros().get_create_view_sql("`s`.`v`", "select 1", columns, promises)
    assert " ".join(text.split()) == (
        "create or replace view `s`.`v` ( `a` comment 'x', `b c` ) comment 'it\\'s' "
        "tblproperties ('k' = 'true') as select 1"
    )


NAMED = [{"name": "id", "type": "int"}, {"name": "v", "type": "string"}]


@pytest.mark.parametrize(
    ("columns", "promised", "differing", "is_it"),
    [
        (NAMED, {}, [], True),
        (NAMED, {}, [(1,)], False),
        (NAMED[:1], {}, [], False),
        (NAMED[::-1], {}, [], False),
        ([{"name": "ID", "type": "int"}, NAMED[1]], {}, [], False),
        ([{"name": "id", "type": "bigint"}, NAMED[1]], {}, [], False),
        (NAMED, {"partitions": ["id"]}, [], False),
        # What has no type is stored as a string.
        ([NAMED[0], {"name": "v", "type": "void"}], {}, [], True),
        (NAMED, {"clustering": ["id"]}, [], False),
        (NAMED, {"properties": {"a": 2}}, [], False),
        (NAMED, {"format": "parquet"}, [], False),
    ],
)
def test_a_table_stays_only_if_rows_columns_and_promises_are_the_same(
    macros, columns: list[Any], promised: dict[str, Any], differing: list[Any], is_it: bool
) -> None:
    package = macros(run_query=lambda sql: SimpleNamespace(rows=differing))
    package._columns_of = lambda sql: [dict(column) for column in columns]
    found = [{**column, "comment": ""} for column in NAMED]
    existing = {
        **EXISTING, "columns": found, "clustering": [], "comment": "", "type": "table",
        "provider": "delta", "location": "file:/t",
    }  # fmt: skip
    assert package._is_unchanged(existing, "select 1", layout(**promised)) is is_it


VIEW = [{"name": "id", "type": "int"}, {"name": "v", "type": "string"}]


@pytest.mark.parametrize("unchanged", [True, False])
def test_what_a_table_staged_is_dropped_whether_it_is_built_or_not(macros, unchanged: bool) -> None:
    """With the plugin the connection would drop it, too; without, only this does."""
    done: list[str] = []

    def note(what: str) -> Any:
        return lambda *_: done.append(what)

    package = macros(
        model=SimpleNamespace(depends_on=SimpleNamespace(nodes=[])), run_query=note("stage")
    )
    package._is_expensive = lambda *_: True
    package._beside = lambda *_: SimpleNamespace(schema="s", identifier="t__dbt_tmp")
    package._drop_leftovers = lambda _: None
    package._columns_of = lambda *_, **__: []
    package._is_unchanged = lambda *_: unchanged
    package._write_nothing = note("nothing")
    package._build_table = note("build")
    package._drop = lambda relation: done.append(f"drop {relation.identifier}")
    package._build_changed_table(EXISTING["relation"], "", EXISTING, {}, {"staging": None})
    assert done == ["stage", "nothing" if unchanged else "build", "drop t__dbt_tmp"]


@pytest.mark.parametrize(
    ("text", "columns", "comments", "is_it"),
    [
        ("select * from s", VIEW, {"ID": "key"}, True),
        ("-- all\nselect * from s /* of it */", VIEW, {"id": "key", "v": ""}, True),
        ("select id, v from s", VIEW, {"id": "key"}, False),
        ("select * from s", VIEW, {"id": "another key"}, False),
        ("select * from s", VIEW, {"id": "key", "v": "value"}, False),
        # The view's source has changed.
        ("select * from s", [{"name": "id", "type": "bigint"}, VIEW[1]], {"id": "key"}, False),
        ("select * from s", [VIEW[0], {"name": "w", "type": "string"}], {"id": "key"}, False),
        ("select * from s", VIEW[::-1], {"id": "key"}, False),
        ("select * from s", VIEW[:1], {"id": "key"}, False),
        ("select * from s", [*VIEW, {"name": "w", "type": "int"}], {"id": "key"}, False),
    ],
)
def test_a_view_stays_only_if_it_is_what_would_be_made(
    macros, text: str, columns: list[dict[str, str]], comments: dict[str, str], is_it: bool
) -> None:
    there = [{**column, "comment": "key" if column["name"] == "id" else ""} for column in VIEW]
    existing = {"text": "select * from s", "columns": there}
    assert macros()._is_this_view(existing, text, columns, {"column_comments": comments}) is is_it


@pytest.mark.parametrize(
    ("comment", "properties", "is_it"),
    [
        ("all", {"k": "true", "a": "x=y, z"}, True),
        ("all", {"a": "x=y, z", "k": "true"}, True),
        ("all", {"k": "true", "a": "x=y, z", "b": "1"}, False),
        ("all", {"k": "true"}, False),
        ("all", {"k": "True", "a": "x=y, z"}, False),
        # Spark does not tell it.
        ("all", {"k": "true", "a": None}, False),
        ("", {"k": "true", "a": "x=y, z"}, False),
        ("all", {}, False),
    ],
)
def test_a_view_has_the_promised_comment_and_properties(
    macros, comment: str, properties: dict[str, str | None], is_it: bool
) -> None:
    promises = {"comment": "all", "properties": {"k": True, "a": "x=y, z"}}
    existing = {"comment": comment, "properties": properties}
    assert macros()._is_described(existing, promises) is is_it


def test_a_view_of_which_nothing_is_promised_has_nothing(macros) -> None:
    promises = {"comment": None, "properties": {}}
    assert macros()._is_described({"comment": "", "properties": {}}, promises) is True
    assert macros()._is_described({"comment": "c", "properties": {}}, promises) is False
    assert macros()._is_described({"comment": "", "properties": {"a": ""}}, promises) is False


@pytest.mark.parametrize(
    ("nodes", "killed"),
    [
        (["model.p.t"], True),
        (["model.p.t", "model.p.t"], False),
        (["model.p.t", None], False),
        (["model.p.other"], False),
        ([None], False),
    ],
)
def test_what_the_catalog_does_not_know_is_built_over_after_a_killed_first_build_only(
    macros, nodes: list[str | None], killed: bool
) -> None:
    """That is one commit of the model; all else is a table that was lost, or not the model's."""
    package = macros(
        model=SimpleNamespace(unique_id="model.p.t"),
        adapter=SimpleNamespace(),
        run_query=lambda sql: SimpleNamespace(rows=[], column_names=[]),
    )
    package._folder_of = lambda relation: "/warehouse/s.db/t"
    package._commits_of = lambda name, limit: [{"node": node} for node in nodes[:limit]]
    if killed:
        assert package._is_broken_off(EXISTING["relation"]) is True
        return
    with pytest.raises(CompilationError, match="holds a Delta table that is not in the catalog"):
        package._is_broken_off(EXISTING["relation"])


def test_a_clone_names_all_its_sources(macros) -> None:
    clone = SimpleNamespace(schema="dev", identifier="t")
    chain = "`a`.`x` < `b,c`.`y``z`"
    for properties, further in (
        ({"q": "dbt_delta.clone_of=`a`.`x`"}, ""),
        ({"a": "b", "dbt_delta.clone_of": chain, "delta.minReaderVersion": "1"}, f" < {chain}"),
    ):
        text = macros().get_create_clone_sql(clone, {**EXISTING, "properties": properties})
        assert text == (
            "create table `dev`.`t`\nshallow clone `s`.`t`\n"
            f"tblproperties ('dbt_delta.clone_of' = '`s`.`t`{further}')"
        )


@pytest.mark.parametrize(
    ("chain", "sources"),
    [
        (None, "`s`.`t`"),
        ("`dev`.`a=b,c`", "`s`.`t` < `dev`.`a=b,c`"),
        ("`x`.`]` < `y`.`it's < z`", "`s`.`t` < `x`.`]` < `y`.`it's < z`"),
    ],
)
def test_sources_of_a_clone(macros, chain: str | None, sources: str) -> None:
    properties = {"dbt_delta.clone_of": chain} if chain else {}
    assert macros()._clone_sources({**EXISTING, "properties": properties}) == sources


def test_change_feed_and_column_mapping_are_not_created_together(macros) -> None:
    both = {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"}
    assert macros()._creation_properties(layout(properties=both)) == {
        "delta.columnMapping.mode": "name"
    }


def test_properties_are_spelled_as_delta_spells_them(macros) -> None:
    given = {"delta.APPENDONLY": True, "mine": 1, "delta.feature.x": "supported"}
    package = macros(config={"tblproperties": {**given, "delta.constraints.c": "a > 0"}})
    assert package._properties("delta") == {
        "delta.appendOnly": True, "mine": 1, "delta.feature.x": "supported"
    }  # fmt: skip
    assert "delta.APPENDONLY" in package._properties("parquet")
    package = macros(config={"tblproperties": {"delta.appendOnyl": True}})
    with pytest.raises(CompilationError, match=r"'delta.appendOnyl', which Delta does not know"):
        package._properties("delta")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"partition_by": "a", "liquid_clustered_by": "b"}, "exclude each other"),
        ({"liquid_clustered_by": list("abcde")}, "at most four"),
        ({"liquid_clustered_by": "a", "zorder": "b"}, "exclude each other"),
    ],
)
def test_refused_layout(macros, config: dict[str, Any], message: str) -> None:
    package = macros(config=SimpleNamespace(get=lambda key, default=None: config.get(key, default)))
    with pytest.raises(CompilationError, match=message):
        package._layout(EXISTING["relation"])


@pytest.mark.parametrize(
    ("path", "exact"),
    [
        ("ID", "Id"),
        ("a.b", "a.b"),
        (["s", "X"], "S.x"),
        (["s", "nope"], None),
        (["id", "x"], None),
        ("nope", None),
    ],
)
def test_exact_path(macros, path: object, exact: str | None) -> None:
    columns = [
        {"name": "Id", "type": "int"},
        {"name": "S", "type": "struct<x:int,y:string>"},
        {"name": "a.b", "type": "int"},
    ]
    assert macros()._exact_path(columns, path) == exact
