"""All functions of dbt that are replaced, because our subclasses cannot override them.

Everything else of the Python side is a subclass: adapter.py, manager.py, relation.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any

from dbt_delta.session import profile, publish, versions
from dbt_delta.state import hooks


@dataclass(frozen=True)
class Patch:
    """A function of dbt by module and name, its wrapper, and why a subclass cannot replace it."""

    module: str
    name: str
    wrap: Callable[[Any], Any]
    reason: str


def apply(patch: Patch) -> None:
    """Wraps a function of dbt, once per process and only in a tested version."""
    owner: Any = import_module(patch.module)
    *path, name = patch.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    stock = getattr(owner, name)
    if hasattr(stock, "dbt_delta") or versions.obstacle():
        return
    ours = wraps(stock)(patch.wrap(stock))
    ours.dbt_delta = True
    setattr(owner, name, ours)


def _name_encoding(stock: Any) -> Any:
    """Refuses a seed that is not UTF-8 with its file and line, when dbt parses the project."""

    def load_seed_source_file(match: Any, project_name: str) -> Any:
        try:
            return stock(match, project_name)
        except UnicodeDecodeError as error:
            from dbt_delta.session import seed

            raise seed.encoding_refusal(match.original_file_path, error) from error

    return load_seed_source_file


def _cancel_at_first_failure(stock: Any) -> Any:
    """``--fail-fast`` cancels what runs when the first node fails, and shows that failure."""
    from dbt.adapters.factory import get_adapter
    from dbt.exceptions import FailFastError

    from dbt_delta.session.adapter import DeltaAdapter

    def handle_result(self: Any, result: Any) -> None:
        stock(self, result)
        if not isinstance(self._raise_next_tick, FailFastError):
            return
        # The errors of the cancelled nodes are not the failure to show.
        first = self.__dict__.setdefault("_dbt_delta_first_failure", self._raise_next_tick)
        self._raise_next_tick = first
        adapter = get_adapter(self.config)
        if isinstance(adapter, DeltaAdapter) and adapter.method in profile.OURS:
            adapter.connections.cancel_open()

    return handle_result


def _count_batches(stock: Any) -> Any:
    """Batches are counted back from the newest event, where a microbatch model asks for it.

    A table that lacks batches of its build gets all of them.
    """

    def get_microbatch_builder(self: Any, model: Any) -> Any:
        from dbt_delta.session import microbatch

        builder = stock(self, model)
        if microbatch.lacks_rows(self, model, builder):
            builder.is_incremental, self.has_all_batches = False, True
        if builder.event_time_end is None:
            manifest, now = self.parent_task.manifest, builder.default_end_time
            builder.default_end_time, start = microbatch.range_of_data(
                self.adapter, manifest, model, now, builder.is_incremental
            )
            builder.event_time_start = builder.event_time_start or start
        return builder

    return get_microbatch_builder


def _complete_batches(stock: Any) -> Any:
    """A table is complete once all batches of its build have succeeded."""

    def execute(self: Any, model: Any, manifest: Any) -> Any:
        from dbt_delta.session import microbatch

        if not hasattr(self.adapter, "batches"):
            return stock(self, model, manifest)
        return microbatch.execute(self, model, lambda: stock(self, model, manifest))

    return execute


def _own_functions(stock: Any) -> Any:
    """``--defer`` takes a function from the other state only where this one has none."""

    def resolve(self: Any, name: str, package: str | None = None) -> Any:
        found = self.manifest.resolve_function(
            name, package, self.current_project, self.model.package_name
        )
        if getattr(found, "defer_function", None) and _has_function(self.config, found):
            found.defer_function = None
        return stock(self, name, package)

    return resolve


def _has_function(config: Any, function: Any) -> bool:
    """Whether this run makes a function, or the catalog has it and no state is favored."""
    from dbt import selected_resources
    from dbt.adapters.factory import get_adapter

    from dbt_delta.session.adapter import DeltaAdapter

    if function.unique_id in selected_resources.SELECTED_RESOURCES:
        return True
    adapter = get_adapter(config)
    if config.args.favor_state or not isinstance(adapter, DeltaAdapter):
        return False
    return adapter.has_function(function.schema, function.identifier)


SEED_FILES = Patch(
    "dbt.parser.read_files",
    "load_seed_source_file",
    _name_encoding,
    "dbt reads small seeds itself when it parses the project, in a function of a module, before "
    "it asks an adapter; of a seed that is not UTF-8 it says neither file nor line.",
)
FIRST_FAILURE = Patch(
    "dbt.task.runnable",
    "GraphRunnableTask._handle_result",
    _cancel_at_first_failure,
    "dbt's commands make their tasks themselves, and raise a failure in the thread that hands out "
    "nodes, which may be waiting for one to become ready: a long model with a child would run to "
    "its end.",
)
BATCHES = Patch(
    "dbt.task.run",
    "MicrobatchModelRunner.get_microbatch_builder",
    _count_batches,
    "dbt counts the batches of a model back from today in a class that its tasks make themselves, "
    "before it asks a macro.",
)
ALL_BATCHES = Patch(
    "dbt.task.run",
    "MicrobatchModelRunner.execute",
    _complete_batches,
    "a macro knows its own batch only, not how many there are and which of them succeeded; an "
    "adapter is not told at all.",
)
ALL_NODES = Patch(
    "dbt.task.runnable",
    "GraphRunnableTask.execute_nodes",
    hooks.execute_nodes,
    "dbt's commands make their tasks themselves, and an adapter is not told when the first node "
    "begins and the last one ended.",
)
ONE_NODE = Patch(
    "dbt.task.base",
    "BaseRunner.run",
    hooks.run_node,
    "dbt's tasks choose the class that runs a node; an adapter is asked only by what the node's "
    "materialization runs, too late to leave it out with dbt's own result of success.",
)
OWN_FUNCTIONS = Patch(
    "dbt.context.providers",
    "RuntimeFunctionResolver.resolve",
    _own_functions,
    "With --defer dbt asks the adapter for a relation with the function's name, and a function is "
    "none: models would call the one of the other state, though this run made its own.",
)
TEST_LINE = Patch(
    "dbt.task.test",
    "TestRunner.print_result_line",
    hooks.print_test,
    "dbt's line of a test shows its status and no message, so that one that did not run would say "
    "PASS like one that did.",
)
RUN_HOOKS = Patch(
    "dbt.task.run",
    "RunTask.safe_run_hooks",
    publish.around_hooks,
    "hooks of a package run in all projects that install it, so that the project of this "
    "repository could not publish by one; and an adapter is not told when a run begins and ends.",
)
# Applied when a connection opens: commands that run no node import no tasks.
OF_TASKS = (
    *(FIRST_FAILURE, BATCHES, ALL_BATCHES, ALL_NODES, ONE_NODE, OWN_FUNCTIONS, RUN_HOOKS),
    TEST_LINE,
)
PATCHES = (SEED_FILES, *OF_TASKS)
