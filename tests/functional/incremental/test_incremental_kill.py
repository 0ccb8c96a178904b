"""kill -9 in the middle of every strategy and of a snapshot: the old version or the new one.

A rerun mends all.

DBT_DELTA_EXAMPLES=40   kills, each at a random moment of a run (default 4)
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.harness import Project, session
from tests.functional.incremental.models import write_models

KILLS = examples(4, 4)
# A second of work per evaluation, spread over two tasks.
SLOW_ROWS = (
    "select int(id + {{ var('step') }} * 10) as id, int({{ var('step') }}) as step,"
    " int(id % 4) as part, timestamp'2024-01-02 12:00:00' as at from range(0, 40, 1, 2)"
    " where concat('x', java_method('java.lang.Thread', 'sleep', 50L)) is not null"
)
DAY = ("--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03")
Rows = list[tuple[int, int]]


@dataclass(frozen=True)
class Kind:
    """A model's configuration, and the rows that one run makes of those that were there."""

    config: str
    apply: Callable[[Rows, Rows], Rows]


def _merged(old: Rows, new: Rows) -> Rows:
    keys = {key for key, _ in new}
    return [row for row in old if row[0] not in keys] + new


def _replaced(old: Rows, new: Rows) -> Rows:
    return new


KINDS = {
    "appended": Kind("incremental_strategy='append'", lambda old, new: old + new),
    "merged": Kind("unique_key='id'", _merged),
    "merged_staged": Kind("unique_key='id', stage='table'", _merged),
    "deleted": Kind("incremental_strategy='delete+insert', unique_key='id'", _merged),
    "overwritten": Kind("incremental_strategy='insert_overwrite', partition_by='part'", _replaced),
    "clustered": Kind(
        "incremental_strategy='insert_overwrite', liquid_clustered_by='part'", _replaced
    ),
    "swapped": Kind(
        "incremental_strategy='replace_where', incremental_predicates=['id >= 0']", _replaced
    ),
    "windowed": Kind(
        "incremental_strategy='microbatch', event_time='at', begin='2024-01-02', batch_size='day'",
        _replaced,
    ),
    "rebuilt": Kind("materialized='table'", _replaced),
    "snapped": Kind(
        "strategy='check', unique_key='id', check_cols=['step']", lambda old, new: old + new
    ),
}
SNAPSHOT = "snapped"


@pytest.mark.long
@pytest.mark.session
def test_a_killed_run_leaves_the_old_or_the_new_version(project: Project) -> None:
    write_models(
        project,
        {
            name: "{{ config("
            + ("" if "materialized" in kind.config else "materialized='incremental', ")
            + f"{kind.config}) }}}} {SLOW_ROWS}"
            for name, kind in KINDS.items()
            if name != SNAPSHOT
        },
    )
    # Their tasks sleep: as many at once as there are models at work.
    project.set_spark({"spark.master": "local[8]"})
    block = f"{{% snapshot {SNAPSHOT} %}} {{{{ config({KINDS[SNAPSHOT].config}) }}}} {SLOW_ROWS}"
    project.write({f"snapshots/{SNAPSHOT}.sql": block + " {% endsnapshot %}"})
    print(f"moments of the kills by seed {SEED}")
    moments = random.Random(SEED)
    _run(project, 0)
    state = {name: _rows(project, name) for name in KINDS}
    assert state == {name: _new_rows(0) for name in KINDS}
    moved = kept = 0
    for step in range(1, KILLS + 1):
        # The first one in the middle, so that there are some of both.
        done = moments.randrange(len(KINDS)) if step > 1 else len(KINDS) // 2
        _run(project, step, kill_after=(done, moments.uniform(0, 2 if step > 1 else 0.5)))
        for name, kind in KINDS.items():
            found = _rows(project, name)
            after = sorted(kind.apply(state[name], _new_rows(step)))
            assert found in (state[name], after), (name, step, SEED)
            moved += found == after
            kept += found != after
            state[name] = found
    print(f"{moved} tables at the new version, {kept} at the old one")
    assert moved, "no kill came late enough to tell"
    assert kept, "no kill came early enough to tell"
    _run(project, KILLS + 1)
    for name, kind in KINDS.items():
        expected = sorted(kind.apply(state[name], _new_rows(KILLS + 1)))
        assert _rows(project, name) == expected, (name, SEED)
    history = _history(project)
    open_rows = [id for id, _, to in history if to is None]
    assert len(open_rows) == len(set(open_rows)), SEED
    assert all(later == to for (id, _, to), (key, later, _) in pairwise(history) if id == key), SEED
    warehouse = project.path / "home" / "warehouse" / f"{project.schema}.db"
    assert sorted(folder.name for folder in warehouse.iterdir()) == sorted(KINDS)


def _run(project: Project, step: int, kill_after: tuple[int, float] | None = None) -> None:
    """Runs all models; or kills the run so many seconds after so many models were done."""
    process = project.process("build", *DAY, "--threads", "4", vars={"step": step})
    try:
        if kill_after is None:
            assert process.wait() == 0, process.output
        else:
            models, seconds = kill_after
            process.wait_for(rf"(?s)1 of \d+ START(.* OK (created|snapshotted)){{{models}}}")
            time.sleep(seconds)
    finally:
        process.kill()


def _new_rows(step: int) -> Rows:
    return [(id + step * 10, step) for id in range(40)]


def _rows(project: Project, name: str) -> Rows:
    return sorted((row.id, row.step) for row in _read(project, name))


def _history(project: Project) -> list[tuple[int, datetime, datetime | None]]:
    rows = _read(project, SNAPSHOT)
    return sorted((row.id, row.dbt_valid_from, row.dbt_valid_to) for row in rows)


def _read(project: Project, name: str) -> list[Any]:
    """What the driver of the tests reads of a table, past the metastore of the killed one."""
    path = project.path / "home" / "warehouse" / f"{project.schema}.db" / name
    return list(session().sql(f"select * from delta.`{path}`").collect())
