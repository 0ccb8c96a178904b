"""What the stream service keeps of its streams and says of them, without Spark."""

import argparse
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt.graph.selector_methods import MethodManager, MethodName

from dbt_delta.session import lock
from dbt_delta.stream import service
from dbt_delta.stream.service import Model


def test_a_stream_is_complete_up_to_the_begin_of_a_turn_that_read_all() -> None:
    model = Model("model.shop.a", "a")
    model.ended(100.0, "", has_more=True)
    assert model.complete is None
    model.ended(110.0, "", has_more=False)
    model.ended(120.0, "broken", has_more=False)
    assert model.complete == 110.0


def test_a_stream_that_fails_waits_longer_each_time_and_then_no_more() -> None:
    model, pauses = Model("model.shop.a", "a"), []
    for _ in range(7):
        model.ended(0.0, "broken", has_more=False)
        pauses.append(model.pause(10))
    assert pauses == [20, 40, 80, 160, 300, 300, 300]
    model.ended(0.0, "", has_more=False)
    assert (model.pause(10), model.pause(0), model.problem) == (10, 0, "")


def test_only_the_last_batches_are_kept() -> None:
    model = Model("model.shop.a", "a")
    for rows in range(service.KEPT_BATCHES + 5):
        model.read(rows, 0.5)
    assert model.batches == service.KEPT_BATCHES + 5
    assert model.rows == sum(range(service.KEPT_BATCHES + 5))
    assert model.batch_rows == list(range(5, service.KEPT_BATCHES + 5))


def test_lines_for_people() -> None:
    works = Model("1", "late", 3, 60, [1.0, 3.0, 2.0], [20, 20, 20], 96.0)
    fails = Model("2", "wrong", problem="[DIVIDE_BY_ZERO] Division", failures=2)
    assert service.table([vars(works), vars(fails)], 100.0) == [
        "model  state  batches  rows  rows/s  last batch  median  lag",
        "late   works  3        60    10      2.0 s       2.0 s   4 s",
        "wrong  fails  0        0",
        "wrong: [DIVIDE_BY_ZERO] Division",
    ]


def _manifest() -> SimpleNamespace:
    """A stream over landed files behind a view, and one over a table that follows another."""

    def model(materialized: str, reads: list[str], macros: list[str]) -> SimpleNamespace:
        calls = [f"macro.dbt_delta.{name}" for name in macros]
        config = {"materialized": materialized}
        return SimpleNamespace(
            config=SimpleNamespace(**config, get=config.get),
            depends_on=SimpleNamespace(nodes=reads, macros=calls),
        )

    return SimpleNamespace(
        nodes={
            "landed": model("incremental", ["source"], ["landed_files"]),
            "seen": model("view", ["landed"], []),
            "of_files": model("stream", ["seen"], ["stream"]),
            "orders": model("incremental", [], ["landed_csv"]),
            "followed": model("incremental", ["orders"], ["new_changes"]),
            "merged": model("incremental", ["followed"], []),
            "of_changes": model("stream", ["merged"], ["stream"]),
            "unread": model("incremental", [], ["landed_files"]),
        }
    )


def test_models_that_read_what_is_new_run_with_the_streams_that_read_them() -> None:
    manifest = _manifest()
    found = service.wanted_models(manifest, list(manifest.nodes), False)
    assert found == ["of_files", "of_changes", "followed", "landed", "orders"]


@pytest.mark.parametrize(
    ("selected", "wanted"),
    [
        (["of_files"], ["of_files"]),
        (["unread", "merged", "of_files", "seen"], ["of_files", "unread"]),
        (["merged"], []),
    ],
)
def test_a_selection_is_what_dbt_says(selected: list[str], wanted: list[str]) -> None:
    assert service.wanted_models(_manifest(), selected, True) == wanted


def test_a_turn_runs_no_model_of_a_folder_that_has_the_name_of_a_stream() -> None:
    fqns = [["shop", "orders"], ["shop", "orders", "daily"], ["other", "shop", "orders"]]
    nodes = {
        ".".join(fqn): SimpleNamespace(fqn=fqn, tags=["nightly"], is_versioned=False)
        for fqn in fqns
    }
    kinds = "sources exposures metrics unit_tests semantic_models saved_queries functions"
    manifest = SimpleNamespace(nodes=nodes, **{kind: {} for kind in kinds.split()})
    selectors = [service.selector_of(node, number) for number, node in enumerate(nodes.values())]
    for name, selector in zip(nodes, selectors, strict=True):
        method, value = selector.split(":")
        found = MethodManager(manifest, None).get_method(MethodName(method), [])
        assert list(found.search(set(nodes), value)) == [name]


@pytest.mark.parametrize(("text", "wanted"), [("10s", 10), ("5m", 300), ("0s", 0), ("1h", 3600)])
def test_times(text: str, wanted: float) -> None:
    assert service.seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "10", "-1s", "1.5s", "10 s", "now"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="needs a time such as 10s"):
        service.seconds(text)


def test_the_line_that_says_what_is_wrong() -> None:
    text = (
        "Database Error in model a (models/a.sql)\n  [DIVIDE_BY_ZERO] Division by zero.\n  == SQL"
    )
    assert service.first_line(text) == "[DIVIDE_BY_ZERO] Division by zero."
    assert service.first_line("Runtime Error") == "Runtime Error"


def test_a_killed_command_does_not_want_the_home_any_more(tmp_path: Path) -> None:
    metastore = tmp_path / "metastore"
    asked = tmp_path / "metastore.wanted"
    assert not lock.is_wanted(metastore)
    asked.write_text(str(os.getpid()))
    assert lock.is_wanted(metastore)
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)
    asked.write_text(str(process))
    assert not lock.is_wanted(metastore)
