"""Several calls of a macro at once, each on a connection of its own."""

import contextvars
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from dbt.adapters.base import BaseAdapter
from dbt_common.exceptions import DbtRuntimeError


def each(adapter: BaseAdapter, macro: Any, calls: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What a macro returns for each of some named calls, in their order.

    A macro's context holds the results of its statements, so each call has one of its own; and a
    session of its own, so that no setting of one that failed is left to another.

    Raises:
        DbtRuntimeError: one or more failed, each named; all others have been done.
    """
    name = adapter.connections.get_thread_connection().name

    def call(arguments: dict[str, Any]) -> Any:
        with adapter.connection_named(name):
            return _on_its_own(adapter, macro)(**arguments)

    with ThreadPoolExecutor(max(1, min(adapter.config.threads, len(calls)))) as pool:
        futures = {
            label: pool.submit(contextvars.copy_context().run, call, arguments)
            for label, arguments in calls.items()
        }
        try:
            failed = {
                label: error for label, future in futures.items() if (error := _error(future))
            }
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            adapter.connections.cancel_open()
            raise
    if failed:
        raise DbtRuntimeError("\n".join(_named(*entry) for entry in failed.items()))
    return {label: future.result() for label, future in futures.items()}


def _on_its_own(adapter: BaseAdapter, generator: Any) -> Callable[..., Any]:
    macro = generator.macro
    context = adapter._macro_context_generator(
        macro, adapter.config, adapter._macro_resolver, macro.package_name
    )
    return type(generator)(macro, context)


def _error(future: "Future[Any]") -> Exception | None:
    """What a call ended in, once it has; whatever is no error of the call is raised."""
    error = future.exception()
    if error is None or isinstance(error, Exception):
        return error
    raise error


def _named(label: str, error: Exception) -> str:
    text = str(getattr(error, "msg", error)).strip()
    return text if label in text.partition("\n")[0] else f"{label}: {text}"
