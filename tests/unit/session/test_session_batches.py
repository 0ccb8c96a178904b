"""Which batches dbt builds of a table that lacks some, and when it has all."""

import datetime as dt
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.artifacts.resources.types import BatchSize
from dbt.artifacts.schemas.batch_results import BatchResults

from dbt_delta.session import microbatch, patches

MODEL = SimpleNamespace(
    name="m",
    unique_id="model.p.m",
    previous_batch_results=None,
    config=SimpleNamespace(begin=dt.datetime(2024, 1, 1, 5), batch_size=BatchSize.day),
)


def days(*numbers: int, zone: dt.tzinfo | None = dt.UTC) -> list[Any]:
    return [
        (dt.datetime(2024, 1, day, tzinfo=zone), dt.datetime(2024, 1, day + 1, tzinfo=zone))
        for day in numbers
    ]


class Adapter:
    """A table with these properties, and what is sent to it."""

    def __init__(self, *properties: str) -> None:
        self.properties = properties
        self.batches: dict[str, int] = {}
        self.sent: list[str] = []
        self.config = None
        self.Relation = SimpleNamespace(create_from=lambda config, node: "`s`.`m`")

    def dbt_delta_attempt(self, sql: str) -> tuple[str, Any]:
        assert sql == "show tblproperties `s`.`m`"
        return "", SimpleNamespace(rows=[{"key": key} for key in self.properties])

    def connection_named(self, name: str, node: Any) -> Any:
        return nullcontext()

    def execute(self, sql: str) -> None:
        self.sent.append(sql)


def runner(adapter: Any, is_incremental: bool = False, **given: object) -> SimpleNamespace:
    return SimpleNamespace(
        adapter=adapter,
        config=SimpleNamespace(args=SimpleNamespace(**given)),
        get_batches=lambda model: days(1, 2, 3),
        _is_incremental=lambda model: is_incremental,
    )


@pytest.mark.parametrize(
    ("has_table", "properties", "start", "given", "expected"),
    [
        (True, (microbatch.INCOMPLETE,), None, {}, False),
        (True, ("delta.minReaderVersion",), None, {}, True),
        (True, (microbatch.INCOMPLETE,), dt.datetime(2024, 1, 2), {}, True),
        (True, (microbatch.INCOMPLETE,), None, {"EMPTY": True}, True),
        (False, (), None, {}, False),
    ],
)
def test_a_table_that_lacks_batches_gets_all(
    has_table: bool,
    properties: tuple[str, ...],
    start: object,
    given: dict[str, object],
    expected: bool,
) -> None:
    builder = SimpleNamespace(
        is_incremental=has_table, event_time_start=start, event_time_end="unused"
    )
    wrapped = patches.BATCHES.wrap(lambda self, model: builder)
    task = runner(Adapter(*properties), **given)
    assert wrapped(task, MODEL).is_incremental is expected
    assert getattr(task, "has_all_batches", False) is (has_table and not expected)


def test_batches_of_other_adapters_are_left_alone() -> None:
    builder = SimpleNamespace(is_incremental=True, event_time_start=None, event_time_end="unused")
    other = runner(object())
    assert patches.BATCHES.wrap(lambda self, model: builder)(other, MODEL).is_incremental
    assert patches.ALL_BATCHES.wrap(lambda self, model, manifest: 1)(other, MODEL, None) == 1


NAMED = {"EVENT_TIME_START": dt.datetime(2024, 1, 2, 7)}


@pytest.mark.parametrize(
    ("successful", "failed", "is_incremental", "given", "is_complete"),
    [
        (days(1, 2, 3), [], False, {}, True),
        (days(1, 2, 3), [], True, {}, True),
        # What `dbt retry` reads of an earlier run has no zone, and comes last.
        ([*days(3), *days(1, 2, zone=None)], [], True, {}, True),
        (days(2, 3), [], True, {}, False),
        (days(1, 2), days(3), False, {}, False),
        ([], [], True, {}, False),
        (days(1, 2, 3), [], False, {"EMPTY": True}, False),
        (days(1, 2, 3), [], False, {"SAMPLE": "1 day"}, False),
        (days(2, 3), [], False, NAMED, True),
        (days(2, 3), [], True, NAMED, False),
        (days(3), [], False, NAMED, False),
    ],
)
def test_a_table_is_complete_once_all_batches_of_its_build_succeeded(
    successful: list[Any],
    failed: list[Any],
    is_incremental: bool,
    given: dict[str, object],
    is_complete: bool,
) -> None:
    adapter = Adapter("a", microbatch.INCOMPLETE)
    task = runner(adapter, is_incremental, **given)
    result = SimpleNamespace(batch_results=BatchResults(successful, failed))

    def stock() -> Any:
        assert adapter.batches == {"model.p.m": 3}
        assert task.get_batches(model=MODEL) == days(1, 2, 3)
        return result

    assert microbatch.execute(task, MODEL, stock) is result
    assert adapter.batches == {}
    unset = "alter table `s`.`m` unset tblproperties if exists ('dbt_delta.incomplete')"
    assert adapter.sent == ([unset] if is_complete else [])


def test_a_table_that_is_complete_gets_no_commit() -> None:
    adapter = Adapter("a")
    result = SimpleNamespace(batch_results=BatchResults(days(1, 2, 3)))
    assert microbatch.execute(runner(adapter), MODEL, lambda: result) is result
    assert adapter.sent == []


def test_batches_that_end_with_an_error_are_watched_no_more() -> None:
    adapter = Adapter(microbatch.INCOMPLETE)

    def stock() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        microbatch.execute(runner(adapter), MODEL, stock)
    assert (adapter.batches, adapter.sent) == ({}, [])
