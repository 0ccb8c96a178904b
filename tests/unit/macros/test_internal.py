"""Names and literals as Spark reads them; which table a name means."""

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit import odd_types
from tests.unit.macros import rendering
from tests.unit.macros.rendering import CompilationError


@pytest.mark.parametrize(
    ("name", "quoted"), [("id", "`id`"), ("a b", "`a b`"), ("a`b", "`a``b`"), ("order", "`order`")]
)
def test_quoted(macros, name: str, quoted: str) -> None:
    assert macros()._quoted(name) == quoted


@pytest.mark.parametrize(
    ("text", "literal"),
    [("a", "'a'"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'"), (7, "'7'"), ("${a}", r"'\u0024{a}'")],
)
def test_literal(macros, text: object, literal: str) -> None:
    assert macros()._literal(text) == literal


@pytest.mark.parametrize(
    ("sql", "inner"),
    [
        ("select 1;", "select 1\n"),
        ("select 1 ; -- done\n;", "select 1\n"),
        ("select ';' as a -- b", "select ';' as a\n"),
        ("select `a;--` from b /* c */", "select `a;--` from b\n"),
        ("select 'it\\'s; -- ' ;", "select 'it\\'s; -- '\n"),
        ("select a - b", "select a - b\n"),
    ],
)
def test_inner_sql(macros, sql: str, inner: str) -> None:
    assert macros()._inner_sql(sql) == inner


def test_statements(macros) -> None:
    text = "set a = b; select ';' -- one; two\n; /* ; */"
    assert macros()._statements(text) == ["set a = b", "select ';'"]


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        ("ID>=0", ["id", ">", "=", "0"]),
        ("A . b\n+1", ["a", ".", "b", "+", "1"]),
        ("V = 'It''s  A' -- V\nand /* or */ x", ["v", "=", "'It''s  A'", "and", "x"]),
        ("V = 'a\\'B' or `A ``b` = \"C d\"", [
            "v", "=", "'a\\'B'", "or", "`A ``b`", "=", '"C d"'
        ]),
        ("größe", ["größe"]),
        ("", []),
    ],
)  # fmt: skip
def test_tokens(macros, sql: str, tokens: list[str]) -> None:
    assert macros()._tokens(sql) == tokens


def test_no_two_macros_have_one_name() -> None:
    texts = [path.read_text() for path in rendering.MACROS.rglob("*.sql")]
    names = Counter(name for text in texts for name in re.findall(r"{%-?\s*macro (\w+)", text))
    assert [name for name, count in names.items() if count > 1] == []


def rendered(macros, **model: object) -> SimpleNamespace:
    """The macros in a model that dbt has rendered."""
    sent: list[str] = []
    package = macros(
        api=SimpleNamespace(Relation=SimpleNamespace(create=SimpleNamespace)),
        compiled_code="select 1;",
        invocation_id="run",
        local_md5=lambda text: "0123456789abcdef",
        model=SimpleNamespace(
            **{"language": "sql", "extra_ctes": [], "raw_code": "select {{ 2 }} -- now", **model}
        ),
        render=lambda text: text.replace("{{ 2 }}", "2"),
        run_query=sent.append,
        this=SimpleNamespace(schema="s", identifier="t"),
    )
    package.sent = sent
    return package


def test_a_stale_select_is_rendered_again(macros) -> None:
    package = rendered(macros)
    assert package._model_sql() == package._model_sql(is_stale=False) == "select 1\n"
    assert package._model_sql(is_stale=True) == "select 2\n"


def test_a_stale_python_model_or_one_of_ephemeral_models_is_refused(macros) -> None:
    package = rendered(macros, extra_ctes=[{"id": "model.p.e"}])
    said = "dbt rendered the model with an outdated state of s.t"
    assert package._model_sql() == "select 1\n"
    with pytest.raises(CompilationError, match=said):
        package._model_sql(is_stale=True)
    assert package.sent == []
    package = rendered(macros, language="python")
    batch = "`s`.`t__dbt_tmp_0123456789`"
    assert package._model_sql() == f"select * from {batch}\n"
    with pytest.raises(CompilationError, match=said):
        package._model_sql(is_stale=True)
    assert package.sent == [f"drop table if exists {batch}"]


@pytest.mark.parametrize(
    ("value", "names"),
    [(None, []), ("", []), ("a", ["a"]), (["a", "`b``c`"], ["a", "b`c"])],
)
def test_names(macros, value: object, names: list[str]) -> None:
    assert macros()._names(value) == names


@pytest.mark.parametrize(("path", "steps"), odd_types.PATHS)
def test_path_steps(macros, path: str, steps: list[str]) -> None:
    assert macros()._path_steps(path) == steps


def test_a_path_of_any_names_comes_back(macros) -> None:
    names = [*odd_types.ODD, *odd_types.PLAIN]
    package = macros()
    assert package._path_steps(package._quoted_path(names)) == names


@pytest.mark.parametrize(
    ("name", "table"),
    [("orders", "shop.sales"), ("sales", "old.orders"), ("shop.orders", "shop.orders")],
)
def test_a_models_table_has_its_alias(macros, name: str, table: str) -> None:
    """Another model's table may have the model's name."""
    kind = {"resource_type": "model", "package_name": "p", "config": {"materialized": "table"}}
    nodes = {
        "model.p.orders": {"name": "orders", "schema": "shop", "alias": "sales", **kind},
        "model.p.sales": {"name": "sales", "schema": "old", "alias": "orders", **kind},
    }
    package = macros(
        api=SimpleNamespace(Relation=SimpleNamespace(create=SimpleNamespace)),
        graph={"nodes": nodes},
        project_name="p",
    )
    assert package._bare(package._relation_named(name, "history")) == table


def _node(kind: str, name: str, schema: str = "s", **more: Any) -> dict[str, Any]:
    named = {"identifier" if kind == "source" else "alias": name}
    return {"unique_id": f"{kind}.p.{schema}.{name}", "resource_type": kind, "schema": schema,
            "columns": {}, **named, **more}  # fmt: skip


def _marked(*names: str) -> dict[str, Any]:
    return {name: {"meta": {"pii": True}} for name in names}


LANDED = ["_rejected_line", "_rejected_reason"]


@pytest.mark.parametrize(
    ("schema", "name", "masked"),
    [
        ("s", "one", ["mail", *LANDED]),
        ("S", "ONE", ["mail", *LANDED]),
        # One name in two schemas: in a third one it may be either.
        ("a", "twin", ["phone", *LANDED]),
        ("b", "twin", []),
        ("c", "twin", ["phone", *LANDED]),
        # A source that a model reads, and a model that is a source, too.
        ("s", "reads", ["mail", *LANDED]),
        ("s", "both", ["iban", *LANDED]),
        ("s", "whole", ["*", *LANDED]),
        ("s", "field", ["person.mail", "person", *LANDED]),
        ("s", "text", []),
        # No name of the project's: it may be any.
        ("x", "unknown", ["mail", "phone", "iban", "person.mail", "person", "*", *LANDED]),
    ],
)
def test_columns_that_are_masked(macros, schema: str, name: str, masked: list[str]) -> None:
    nodes = [
        _node("model", "one", columns=_marked("`Mail`")),
        _node("seed", "twin", "b"),
        _node("model", "twin", "a", columns={"phone": {"config": {"meta": {"pii": "yes"}}}}),
        _node("model", "reads", depends_on={"nodes": ["source.p.s.raw"]}),
        _node("snapshot", "both", columns={"iban": {}}),
        _node("model", "whole", config={"meta": {"pii": True}}),
        _node("model", "field", columns=_marked("person.mail")),
        _node("model", "text", columns={"a": {"meta": {"pii": "false"}}, "b": {"meta": "pii"}}),
        {"unique_id": "test.p.x", "resource_type": "test"},
    ]
    sources = [
        _node("source", "raw", columns=_marked("mail")),
        _node("source", "both", columns=_marked("iban")),
    ]
    graph = SimpleNamespace(
        nodes={node["unique_id"]: node for node in nodes},
        sources={node["unique_id"]: node for node in sources},
    )
    found = macros(graph=graph)._masked_columns(SimpleNamespace(schema=schema, identifier=name))
    assert sorted(found) == sorted(masked)


def test_what_is_shown_of_masked_columns(macros) -> None:
    package = macros()
    fields = [{"name": "Mail", "value": "`Mail`"}, {"name": "n", "value": "`n`"}]
    assert package._shown_json(fields, ["mail"]) == (
        "to_json(named_struct('Mail', if(`Mail` is null, null, '***'), 'n', `n`), "
        "map('ignoreNullFields', 'false'))"
    )
    assert package._starred({"Mail": "x", "day": None, "n": 1}, ["mail", "day"]) == {
        "Mail": "***", "day": None, "n": 1,
    }  # fmt: skip
    assert package._is_masked("anything", ["*"])
    assert package._is_masked("concat(id, `MAIL`)", ["mail"])
    assert not package._is_masked("mailing", ["mail"])
