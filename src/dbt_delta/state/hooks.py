"""Where dbt-core's tasks meet a Build; the functions that session/patches.py puts in place."""

from typing import Any

from dbt.adapters.events.logging import AdapterLogger

from dbt_delta.session import formats, profile

logger = AdapterLogger("dbt_delta")


def execute_nodes(stock: Any) -> Any:
    """Keeps what all nodes of a command did; decides and records, where one of them asks for it."""
    from dbt.adapters.factory import get_adapter

    from dbt_delta.report import runs
    from dbt_delta.session import progress
    from dbt_delta.state import build

    def execute(self: Any) -> Any:
        build.is_forced()  # which refuses what it does not know
        adapter = get_adapter(self.config)
        with runs.kept(self, adapter), progress.shown(self, adapter):
            return decided(self, adapter)

    def decided(self: Any, adapter: Any) -> Any:
        is_ours = getattr(adapter, "method", None) == profile.SESSION
        if build.is_off or not is_ours or not build.is_wanted(self.manifest):
            return stock(self)
        if formats.asked(adapter.config.credentials.server_side_parameters) != formats.DELTA:
            logger.warning("build_when has no effect on Iceberg yet: every node runs.")
            return stock(self)
        adapter.build = current = build.Build(adapter, self.config, self.manifest)
        try:
            return stock(self)
        finally:
            adapter.build = None
            current.end()

    return execute


def run_node(stock: Any) -> Any:
    """Gives the result of a node that need not run, else runs it."""
    from dbt.task.run import MicrobatchBatchRunner, ModelRunner
    from dbt.task.test import TestRunner

    def run(self: Any, compiled_node: Any, manifest: Any) -> Any:
        current = getattr(self.adapter, "build", None)
        is_batch = isinstance(self, MicrobatchBatchRunner)
        if current is None or is_batch or not isinstance(self, (ModelRunner, TestRunner)):
            return stock(self, compiled_node, manifest)
        look = current.look(self, compiled_node)
        if look.skipped:
            return _result(compiled_node, look.skipped)
        result = None
        try:
            result = stock(self, compiled_node, manifest)
            return result
        finally:
            current.ran(look, result)

    def told(self: Any, compiled_node: Any, manifest: Any) -> Any:
        line = getattr(self.adapter, "progress", None)
        if line is not None and not isinstance(self, MicrobatchBatchRunner):
            line.begin(compiled_node.unique_id, compiled_node.name)
        try:
            return run(self, compiled_node, manifest)
        finally:
            if line is not None and not isinstance(self, MicrobatchBatchRunner):
                line.end(compiled_node.unique_id)
            if meter := getattr(self.adapter, "meter", None):
                meter.look()

    return told


def _result(node: Any, message: str) -> Any:
    import threading

    from dbt.artifacts.schemas.results import RunStatus, TestStatus
    from dbt.artifacts.schemas.run import RunResult

    is_test = str(node.resource_type) in ("test", "unit_test")
    return RunResult(
        node=node,
        status=TestStatus.Pass if is_test else RunStatus.Success,
        timing=[],
        thread_id=threading.current_thread().name,
        execution_time=0,
        message=message,
        adapter_response={"_message": message, "code": "OK"},
        failures=0 if is_test else None,
        batch_results=None,
    )


def print_test(stock: Any) -> Any:
    """dbt's line of a test's result, which has no place for a message."""
    from dbt.events import types
    from dbt.task import group_lookup
    from dbt_common.events.base_types import EventLevel
    from dbt_common.events.format import format_fancy_output_line
    from dbt_common.events.functions import fire_event
    from dbt_common.ui import green

    from dbt_delta.state.decide import UNCHANGED

    class LogTestResult(types.LogTestResult):
        """dbt's event, under its name, of a test that did not run."""

        def message(self) -> str:
            return format_fancy_output_line(
                msg=f"PASS {self.name}",
                status=green(UNCHANGED),
                index=self.index,
                total=self.num_models,
                execution_time=self.execution_time,
            )

    def print_result_line(self: Any, result: Any) -> None:
        if result.message != UNCHANGED:
            stock(self, result)
            return
        event = LogTestResult(
            name=self.describe_node_name(),
            status=str(result.status),
            index=self.node_index,
            num_models=self.num_nodes,
            execution_time=result.execution_time,
            node_info=result.node.node_info,
            num_failures=result.failures,
            group=group_lookup.get(result.node.unique_id),
        )
        fire_event(event, level=EventLevel.INFO)

    return print_result_line
