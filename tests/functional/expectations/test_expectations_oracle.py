"""Random batches in every strategy: table and quarantine are what plain Python makes of them.

The last one is broken off between quarantine and table, and run again; then once more.

DBT_DELTA_EXAMPLES=20   batches after the first (default 1, with --long 6)
"""

import json
import random
import re
from collections.abc import Callable

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.expectations import judging
from tests.functional.harness import Invocation, Project
from tests.functional.tables import commits, version

STEPS = examples(1, 6)


def _run(project: Project, step: int, day: int, check: bool = True) -> Invocation:
    window = ("--event-time-start", f"2024-01-0{day}", "--event-time-end", f"2024-01-0{day + 1}")
    return project.dbt("build", *window, vars={"step": step}, check=check)


@pytest.fixture(scope="module")
def project(new_shared_project: Callable[[str], Project]) -> Project:
    return new_shared_project("judged")


@pytest.mark.long
def test_random_batches(project: Project) -> None:
    models = judging.models()
    judging.write(project, models)
    numbers = random.Random(SEED)
    wrong = []
    for step in range(STEPS + 1):
        batch = judging.batch(numbers)
        judging.land(project, step, batch)
        day = next(row.at for row in batch if row.at is not None)
        if step == STEPS:
            _break_off(project, step, day, set(models))
        ran = _run(project, step, day)
        for name, model in models.items():
            model.run(batch)
            for what, found, expected in (
                ("table", judging.found(project, name), model.rows),
                ("quarantine", judging.found_quarantine(project, name), model.quarantine),
            ):
                if found != judging.ordered(expected):
                    wrong.append((SEED, step, name, what, found, judging.ordered(expected)))
    assert not wrong, "\n".join(map(str, wrong))
    _check_message_and_record(project, ran, batch)
    tables = [name for name in models if name not in ("viewed", "appended")]
    tables += [f"{name}__quarantine" for name in models if name != "viewed"]
    before = {name: version(project, name) for name in tables}
    _run(project, STEPS, day)
    # A strategy that replaces by a condition or partition writes the same rows without a commit.
    assert {name: version(project, name) for name in tables} == before


def _break_off(project: Project, step: int, day: int, names: set[str]) -> None:
    """A run whose quarantines are written, and none of its tables."""
    writes = re.compile(r"(?:into|table|view) \S*`(\w+)`[\s(]")

    def writes_table(sql: str) -> bool:
        found = writes.search(sql.partition("\n")[0] + " ")
        return found is not None and found[1] in names

    with judging.broken_off(writes_table):
        ran = _run(project, step, day, check=False)
    failed = {result.node.name for result in ran.results if result.status != "success"}
    # The others have nothing to write, or no row that could be.
    assert {"appended", "merged", "deleted", "overwritten", "windowed", "snapped"} <= failed, failed


def _check_message_and_record(project: Project, ran: Invocation, batch: list[judging.Row]) -> None:
    bad, good = judging.bad(batch), judging.good(batch)
    dropped = len(batch) - len(bad) - len(good)
    message = str(ran.result("merged").adapter_response["_message"])
    assert f"quarantined {len(bad)}" in message, message
    record = json.loads(commits(project, "merged")[-1]["userMetadata"])["dbt_expectations"]
    assert record["rows"] == len(batch)
    assert (record["kept"], record["quarantined"]) == (len(good), len(bad))
    assert record["dropped"] == dropped
    positive = sum("positive" in judging.broken(row) for row in batch)
    assert record["expectations"]["positive"] == {"action": "quarantine", "rows": positive}
