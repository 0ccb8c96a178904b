"""Settings and questions that the tests of state share."""

from tests.functional.harness import Invocation

_CHANGED = {"+build_when": "inputs_changed"}
SAME = {
    "models": {"+file_format": "delta", **_CHANGED},
    "seeds": {"+file_format": "delta", **_CHANGED},
    "snapshots": {"+file_format": "delta", **_CHANGED},
    "data_tests": _CHANGED,
    "unit_tests": _CHANGED,
}


def ran(run: Invocation) -> set[str]:
    """Names of the nodes that ran, tests too."""
    return {r.node.name for r in run.results if r.message not in ("unchanged", "not due")}
