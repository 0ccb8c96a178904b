"""Which batches a microbatch model is built in, where dbt's own count would miss some."""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.session.relation import is_naive

# The config of a model, and what it may be. dbt's own way is the default.
CONFIG, NOW, INPUTS = "lookback_from", "now", "inputs"
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# The property of a table that lacks rows of its model; see the macro _incomplete.
INCOMPLETE = "dbt_delta.incomplete"

logger = AdapterLogger("dbt_delta")


def range_of_data(
    adapter: Any, manifest: Any, model: Any, now: dt.datetime, is_incremental: bool
) -> tuple[dt.datetime, dt.datetime | None]:
    """The end from which batches are counted back, and where they begin if that is earlier.

    The end is the moment after the newest event of a model's inputs and of its own table, at most
    now. The begin is the newest event of the table: what came since is built, also if it is more
    than ``lookback``. It is None if dbt's own begin holds.

    The inputs are those with an ``event_time``: dbt gives the model the rows of one batch of them.
    Rows of the table count too: an input that was restored may have older events than the table.

    Raises:
        DbtRuntimeError: a config of ours that is not known, or no such input.
    """
    asked = model.config.get(CONFIG)
    if asked not in (None, NOW, INPUTS):
        raise DbtRuntimeError(
            f"{CONFIG} of {model.name} is {NOW} or {INPUTS}. Got: {asked!r}. Nothing was changed."
        )
    if asked != INPUTS:
        return now, None
    inputs = list(_inputs(adapter, manifest, model))
    if not inputs:
        raise DbtRuntimeError(
            f"{CONFIG}: {INPUTS} of {model.name}: no table or view that it reads has an "
            f"event_time. Give one to its input, or leave {CONFIG} out. Nothing was changed."
        )
    if is_incremental:
        inputs.append((_relation(adapter, model), model.config.event_time))
    newest = [_newest(adapter, *entry) for entry in inputs]
    begin = dt.datetime.fromisoformat(str(model.config.begin)).replace(tzinfo=dt.UTC)
    last = max([begin, *(found for found in newest if found is not None)])
    # The end of a batch is not in it. Of a moment without a zone dbt does not see that it is one.
    end = min(last + dt.timedelta(microseconds=1), now.replace(tzinfo=dt.UTC))
    return end, _begin(model, end, max(begin, newest[-1] or begin)) if is_incremental else None


def _begin(model: Any, end: dt.datetime, built: dt.datetime) -> dt.datetime | None:
    """Up to where a table is built, if dbt, which counts back from the end, would begin later."""
    from dbt.materializations.incremental.microbatch import MicrobatchBuilder

    builder = MicrobatchBuilder(model, True, None, None, end)
    return built if built < builder.build_start_time(builder.build_end_time()) else None


def _inputs(adapter: Any, manifest: Any, model: Any) -> Iterator[tuple[Any, str]]:
    """The relations with an event time that a model reads, and the name of that."""
    for name in model.depends_on.nodes:
        node = manifest.expect(name)
        event_time = getattr(node.config, "event_time", None)
        if not event_time or getattr(node.config, "materialized", None) == "ephemeral":
            continue
        relation = _relation(adapter, node)
        deferred = getattr(node, "defer_relation", None)
        found = adapter.get_relation(relation.database, relation.schema, relation.identifier)
        if found is None and deferred is not None:
            relation = adapter.Relation.create_from(adapter.config, deferred)
        yield relation, event_time


def _newest(adapter: Any, relation: Any, event_time: str) -> dt.datetime | None:
    """The newest event in UTC; None where there is none."""
    naive = is_naive(f"max({event_time})")
    sql = (
        f"select if({naive}, string(cast(max({event_time}) as timestamp_ntz)), null) as naive, "
        f"unix_micros(max(cast({event_time} as timestamp))) as micros from {relation}"
    )
    row = adapter.execute(sql, fetch=True)[1].rows[0]
    if row["naive"] is not None:
        seconds, _, fraction = str(row["naive"]).partition(".")
        found = dt.datetime.fromisoformat(seconds)
        return found.replace(microsecond=int(fraction.ljust(6, "0")), tzinfo=dt.UTC)
    if row["micros"] is None:
        return None
    return EPOCH + dt.timedelta(microseconds=int(row["micros"]))


def lacks_rows(runner: Any, model: Any, builder: Any) -> bool:
    """Whether the table lacks rows of the model, and the command names no batches to build.

    ``builder`` is dbt's, which has counted none yet.
    """
    is_ours = builder.is_incremental and hasattr(runner.adapter, "batches")
    if not is_ours or builder.event_time_start or _given(runner, "EMPTY"):
        return False
    return _is_marked(runner.adapter, model)


def execute(runner: Any, model: Any, stock: Callable[[], Any]) -> Any:
    """Runs the batches of a model by dbt's own function; all of them make its table complete.

    The first of several builds the table as one that lacks rows, which stays so if the run ends.
    """
    is_incremental = runner._is_incremental(model)
    batches = runner.get_batches(model)
    runner.get_batches = lambda model: batches
    if getattr(runner, "has_all_batches", False):
        logger.info(f"The table of {model.name} lacks batches: all are built, from its begin on.")
    runner.adapter.batches[model.unique_id] = len(batches)
    try:
        result = stock()
    finally:
        del runner.adapter.batches[model.unique_id]
    if _are_all(runner, model, result.batch_results, is_incremental):
        with runner.adapter.connection_named(model.unique_id, model):
            if _is_marked(runner.adapter, model):
                unset = f"unset tblproperties if exists ('{INCOMPLETE}')"
                runner.adapter.execute(f"alter table {_relation(runner.adapter, model)} {unset}")
    return result


def _are_all(runner: Any, model: Any, results: Any, is_incremental: bool) -> bool:
    """Whether all batches of a model's build have succeeded, also before a ``dbt retry``.

    Batches that somebody names are all only of a table that they build.
    """
    from dbt.materializations.incremental.microbatch import MicrobatchBuilder

    named = _given(runner, "EVENT_TIME_START")
    is_partial = _given(runner, "EMPTY") or _given(runner, "SAMPLE")
    if is_partial or results.failed or not results.successful or (named and is_incremental):
        return False
    begin = MicrobatchBuilder.truncate_timestamp(
        named or model.config.begin, model.config.batch_size
    )
    earliest = min(start.replace(tzinfo=dt.UTC) for start, _ in results.successful)
    return bool(earliest <= begin)


def _given(runner: Any, option: str) -> Any:
    return getattr(runner.config.args, option, None)


def _is_marked(adapter: Any, model: Any) -> bool:
    problem, found = adapter.dbt_delta_attempt(f"show tblproperties {_relation(adapter, model)}")
    return not problem and any(row["key"] == INCOMPLETE for row in found.rows)


def _relation(adapter: Any, model: Any) -> Any:
    return adapter.Relation.create_from(adapter.config, model)
