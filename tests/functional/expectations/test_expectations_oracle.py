"""Random batches in every strategy: table and quarantine are what plain Python makes of them.

DBT_DELTA_EXAMPLES=20   batches after the first (default 2, with --long 12)
"""

import json
import random
from collections.abc import Callable

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.expectations import judging
from tests.functional.harness import Invocation, Project
from tests.functional.tables import commits, version

STEPS = examples(2, 12)


def _run(project: Project, step: int, day: int) -> Invocation:
    window = ("--event-time-start", f"2024-01-0{day}", "--event-time-end", f"2024-01-0{day + 1}")
    return project.dbt("build", *window, vars={"step": step})


@pytest.fixture(scope="module")
def project(new_shared_project: Callable[[str], Project]) -> Project:
    return new_shared_project("judged")


def test_random_batches(project: Project) -> None:
    models = judging.models()
    judging.write(project, models)
    numbers = random.Random(SEED)
    wrong = []
    for step in range(STEPS + 1):
        batch = judging.batch(numbers)
        judging.land(project, step, batch)
        day = next(row.at for row in batch if row.at is not None)
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
