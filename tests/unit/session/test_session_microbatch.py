"""From where to where the batches of a microbatch model go, if they are counted from its data."""

import datetime as dt
from types import SimpleNamespace

import pytest
from dbt.artifacts.resources import NodeConfig
from dbt.artifacts.resources.types import BatchSize
from dbt.materializations.incremental.microbatch import MicrobatchBuilder

from dbt_delta.session import microbatch

NOW = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def day(text: str | None) -> dt.datetime | None:
    return text and dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def days(
    monkeypatch: pytest.MonkeyPatch,
    inputs: list[str | None],
    own: str | None,
    is_incremental: bool = True,
    **config: object,
) -> tuple[str, str, int]:
    """The first and the last batch, and how many they are, of a model that begins on 3 January."""
    config = {"lookback": 1, "batch_size": BatchSize.day, "event_time": "at", **config}
    model = SimpleNamespace(
        name="m",
        config=NodeConfig.from_dict(
            {
                "incremental_strategy": "microbatch",
                "begin": dt.datetime(2024, 1, 3),
                "lookback_from": "inputs",
                **config,
            }
        ),
    )
    newest = iter([*map(day, inputs), day(own)])
    relation = SimpleNamespace(create_from=lambda *_: None)
    adapter = SimpleNamespace(Relation=relation, config=None)
    monkeypatch.setattr(microbatch, "_inputs", lambda *_: [(None, "at") for _ in inputs])
    monkeypatch.setattr(microbatch, "_newest", lambda *_: next(newest))
    end, start = microbatch.range_of_data(adapter, None, model, NOW, is_incremental)
    builder = MicrobatchBuilder(model, is_incremental, start, None, end)
    last = builder.build_end_time()
    batches = builder.build_batches(builder.build_start_time(last), last)
    return str(batches[0][0].date()), str(batches[-1][0].date()), len(batches)


@pytest.mark.parametrize(
    ("inputs", "own", "first", "last"),
    [
        # Nothing new, a new day, and one day more than lookback.
        (["2024-01-10 08:00:00"], "2024-01-10 08:00:00", "2024-01-09", "2024-01-10"),
        (["2024-01-11"], "2024-01-10 23:59:59", "2024-01-10", "2024-01-11"),
        (["2024-01-12"], "2024-01-10", "2024-01-10", "2024-01-12"),
        # One delivery of many days.
        (["2024-01-20 12:00:00"], "2024-01-10 23:59:59", "2024-01-10", "2024-01-20"),
        (["2024-01-20", None, "2024-01-15"], "2024-01-10", "2024-01-10", "2024-01-20"),
        # The table is ahead of its inputs, or has no row, or rows of before its begin.
        (["2024-01-05"], "2024-01-10", "2024-01-09", "2024-01-10"),
        (["2024-01-20"], None, "2024-01-03", "2024-01-20"),
        (["2024-01-20"], "2023-12-01", "2024-01-03", "2024-01-20"),
        # What comes with a time that is still to come is not built yet.
        (["2030-01-01"], "2025-12-20", "2025-12-20", "2026-01-01"),
    ],
)
def test_all_that_is_newer_than_the_table_is_built(
    monkeypatch: pytest.MonkeyPatch,
    inputs: list[str | None],
    own: str | None,
    first: str,
    last: str,
) -> None:
    assert days(monkeypatch, inputs, own)[:2] == (first, last)


def test_a_first_build_begins_where_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    found = days(monkeypatch, ["2024-01-05"], None, is_incremental=False)
    assert found == ("2024-01-03", "2024-01-05", 3)


def test_batches_of_a_month(monkeypatch: pytest.MonkeyPatch) -> None:
    months = {"batch_size": BatchSize.month}
    found = days(monkeypatch, ["2024-06-15"], "2024-02-20", **months)
    assert found == ("2024-02-01", "2024-06-01", 5)


def test_from_now_is_as_in_dbt(monkeypatch: pytest.MonkeyPatch) -> None:
    found = days(monkeypatch, ["2024-06-15"], "2024-02-20", lookback_from="now")
    assert found == ("2025-12-31", "2026-01-01", 2)
