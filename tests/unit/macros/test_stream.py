"""What a stream is in SQL, and what is refused before Spark sees it."""

import datetime as dt
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


RUN = {
    "invocation_id": "ab-1",
    "run_started_at": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
    "local_md5": lambda text: f"digest of {text}",
}
GROUPED = "select c, max(v) as v from stream `shop`.`orders` where v > 60 group by c"


@pytest.mark.parametrize(
    ("sql", "is_same"),
    [
        (GROUPED.replace("from", "-- those\n FROM /* of */"), True),
        (GROUPED.replace(" where", " with ('maxFilesPerTrigger' = '7') where"), True),
        (GROUPED.replace("max", "min"), False),
        (GROUPED.replace("60", "15"), False),
        (GROUPED.replace("by c", "by `C`"), False),
        (GROUPED.replace("`orders`", "`returns`"), False),
        (GROUPED.replace("v >", "v in (select v from t with ('a' = 'b')) and v >"), False),
    ],
)
def test_what_another_select_is(macros, sql: str, is_same: bool) -> None:
    package = macros(**RUN)
    assert (package._stream_digest(sql) == package._stream_digest(GROUPED)) == is_same


def test_the_run_is_no_part_of_a_select(macros) -> None:
    later = {
        **RUN,
        "invocation_id": "cd-2",
        "run_started_at": dt.datetime(2027, 1, 1, tzinfo=dt.UTC),
    }
    first, second = (
        macros(**run)._stream_digest(
            f"select '{run['invocation_id']}' as run, '{run['run_started_at']}' as at, c"
        )
        for run in (RUN, later)
    )
    assert first == second


RESTORED = "shop.orders was restored by its version 4, after the stream had read it"
MERGE, APPEND, GROUPS = (
    {"strategy": strategy, "output_mode": mode, "unique_key": key}
    for strategy, mode, key in (
        ("merge", "append", ["id"]), ("append", "append", []), ("merge", "update", ["id"]),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "problem", "restored", "said"),
    [
        (MERGE, "", "", None),
        (MERGE, "it is gone", RESTORED, "it is gone. All inputs are read again and merged"),
        (MERGE, "", RESTORED, "after the stream had read it. All inputs are read again and merged"),
        (APPEND, "", "", None),
        (APPEND, "", RESTORED, "had read it. A new stream would append rows that it has"),
        (GROUPS, "", "", None),
        (GROUPS, "it is gone", "", "it is gone. All inputs are read again and merged"),
        (GROUPS, "", RESTORED, "had read it. The rows that came back would be counted again"),
    ],
)
def test_with_what_a_stream_goes_on(
    macros, settings: dict[str, Any], problem: str, restored: str, said: str | None
) -> None:
    lines: list[str] = []
    package = macros(
        this=SimpleNamespace(schema="shop", identifier="t"),
        log=lambda text, info: lines.append(text),
        **RUN,
        adapter=SimpleNamespace(
            # What is appended would be refused in each run whose text is another one.
            dbt_delta_stream_problem=lambda folder, table, select: (
                problem if bool(select) == (settings["strategy"] == "merge") else "wrong"
            ),
            dbt_delta_stream_restored_input=lambda folder, sql: restored,
        ),
    )
    table = SimpleNamespace(properties={"dbt_delta.stream": "c"})
    known = None
    try:
        known = package._stream_checkpoint(table, settings, "/place", "select 1")
    except CompilationError as error:
        lines.append(str(error))
    assert known == (None if said else "c")
    assert said in lines[0] if said else not lines
