"""Which batches a microbatch model is built in, where its data does not end today."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.session.relation import is_naive

# The config of a model, and what it may be. dbt's own way is the default.
CONFIG, NOW, INPUTS = "lookback_from", "now", "inputs"
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


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
        own = adapter.Relation.create_from(adapter.config, model)
        inputs.append((own, model.config.event_time))
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
        relation = adapter.Relation.create_from(adapter.config, node)
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
