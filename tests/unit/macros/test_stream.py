"""What a stream is in SQL, and what is refused before Spark sees it."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError


class Relation(SimpleNamespace):
    schema, identifier, is_cte = "shop", "orders", False


def load(macros: Any, materialized: str = "stream", kind: str = "model") -> Any:
    config = SimpleNamespace(materialized=materialized)
    return macros(model=SimpleNamespace(name="m", resource_type=kind, config=config))


def test_options(macros) -> None:
    package = load(macros)
    assert package.stream(Relation()) == "stream `shop`.`orders`"
    assert package.stream(Relation(), starting_version=0, skip_change_commits=True) == (
        "stream `shop`.`orders` with ('startingVersion' = '0', 'skipChangeCommits' = 'true')"
    )


def test_the_rows_of_a_unit_test_are_no_stream(macros) -> None:
    given = Relation(is_cte=True)
    assert load(macros, "unit", "unit_test").stream(given) is given


@pytest.mark.parametrize(
    ("materialized", "kind", "format", "options", "message"),
    [
        ("table", "model", "kafka", {}, "stream_from: m is materialized as table"),
        ("stream", "model", "JSON", {}, "leaves out files of JSON .* Land them with landed_files"),
        ("stream", "model", "delta", {}, r"read a Delta table with dbt_delta.stream\(ref"),
        ("stream", "model", "kafka", ["a"], "options must be a mapping"),
        ("unit", "unit_test", "kafka", {}, "a unit test gives rows for"),
    ],
)
def test_other_sources_that_are_refused(
    macros, materialized: str, kind: str, format: str, options: Any, message: str
) -> None:
    with pytest.raises(CompilationError, match=message):
        load(macros, materialized, kind).stream_from(format, options)


@pytest.mark.parametrize(
    ("materialized", "relation", "arguments", "message"),
    [
        ("table", Relation(), {}, "m is materialized as table. Only a model with"),
        ("stream", Relation(is_cte=True), {}, "orders is ephemeral"),
        ("stream", Relation(), {"starting_version": 0, "starting_timestamp": "x"}, "one of"),
    ],
)
def test_refusals(
    macros, materialized: str, relation: Relation, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(CompilationError, match=message):
        load(macros, materialized).stream(relation, **arguments)
