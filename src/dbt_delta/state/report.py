"""Of each node that is not run without need: its last run, and why it would run now or not."""

import copy
from types import SimpleNamespace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.session.connection import NoWriting, reading
from dbt_delta.session.errors import first_line
from dbt_delta.session.select import KINDS, select
from dbt_delta.state import node as nodes
from dbt_delta.state.build import Build, Look

ALL_KINDS = (*KINDS, "test", "unit_test")


def report(adapter: Any, selection: str | None) -> list[dict[str, Any]]:
    """{node, at, status, run, next, why} of the nodes that a selection takes, or all, by name.

    ``next`` is run, unchanged or not due; ``at`` is in seconds since 1970, None before a first run.
    """
    manifest = adapter.get_macro_resolver()
    build = Build(adapter, adapter.config, manifest)
    chosen = None if selection is None else set(select(adapter, selection, None, ALL_KINDS))
    found = []
    for node in (*manifest.nodes.values(), *manifest.unit_tests.values()):
        is_chosen = chosen is None or node.unique_id in chosen
        if is_chosen and not getattr(node, "is_ephemeral_model", False):
            found.extend(_lines(build, adapter, manifest, node))
    return sorted(found, key=lambda line: (line["kind"], line["node"]))


def _lines(build: Build, adapter: Any, manifest: Any, node: Any) -> list[dict[str, Any]]:
    is_asked, after = nodes.asked(node)
    if not is_asked:
        return []
    try:
        runner = _runner(adapter, node)
        with reading():
            compiled = runner.compile(manifest)
            look = Look(compiled, True, nodes.relations(compiled))
            why, skipped = build.weigh(look, runner, after)
    except NoWriting as error:
        why, skipped = f"only a run can tell: {first_line(error)}", ""
    except DbtRuntimeError as error:
        why, skipped = f"it does not compile: {first_line(error)}", ""
    last = build.last(node) or {}
    return [
        {
            "kind": str(node.resource_type),
            "node": node.name,
            "at": last.get("at"),
            "status": last.get("status"),
            "run": last.get("run"),
            "next": skipped or "run",
            "why": why,
        }
    ]


def _runner(adapter: Any, node: Any) -> Any:
    """What dbt runs a node with, for a copy of it: rendering it leaves traces."""
    from dbt.task.run import MicrobatchModelRunner, ModelRunner
    from dbt.task.seed import SeedRunner

    own = copy.copy(node)
    if str(node.resource_type) == "seed":
        return SeedRunner(adapter.config, adapter, own, 0, 0)
    if str(node.resource_type) == "unit_test":
        return ModelRunner(adapter.config, adapter, own, 0, 0)
    own.extra_ctes = list(own.extra_ctes)
    if node.config.get("incremental_strategy") == "microbatch":
        runner = MicrobatchModelRunner(adapter.config, adapter, own, 0, 0)
        runner.set_parent_task(
            SimpleNamespace(
                original_invocation_started_at=None, manifest=adapter.get_macro_resolver()
            )
        )
        return runner
    return ModelRunner(adapter.config, adapter, own, 0, 0)
