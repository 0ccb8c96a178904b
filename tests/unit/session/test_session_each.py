"""Several calls of a macro at once; that they restore tables is tested with Delta."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt_delta.session.each import each


class Connections:
    def __init__(self) -> None:
        self.cancelled = 0

    def get_thread_connection(self) -> SimpleNamespace:
        return SimpleNamespace(name="macro_undo_run")

    def cancel_open(self) -> None:
        self.cancelled += 1


class Adapter:
    """What dbt's adapter gives of connections and contexts."""

    def __init__(self, threads: int) -> None:
        self.config = SimpleNamespace(threads=threads)
        self.connections = Connections()
        self.named: list[str] = []
        self._macro_resolver = None

    def _macro_context_generator(self, *about: Any) -> dict[str, Any]:
        assert about[-1] == "dbt_delta"
        return {"results": []}

    @contextmanager
    def connection_named(self, name: str) -> Iterator[None]:
        self.named.append(name)
        yield


class Macro:
    """A macro as Jinja has it, with its context."""

    def __init__(self, macro: Any, context: dict[str, Any]) -> None:
        self.macro, self.context = macro, context

    def __call__(self, **arguments: Any) -> Any:
        self.context["results"].append(arguments)
        return self.macro.does(self.context["results"], **arguments)


def run(
    does: Callable[..., Any], calls: dict[str, dict[str, Any]], threads: int = 4
) -> tuple[Adapter, Callable[[], Any]]:
    adapter = Adapter(threads)
    macro = Macro(SimpleNamespace(does=does, package_name="dbt_delta"), {"results": []})
    return adapter, lambda: each(adapter, macro, calls)


CALLS = {f"s.t{n}": {"n": n} for n in range(4)}


def test_calls_run_at_once_each_with_results_of_its_own_and_give_theirs_in_order() -> None:
    together = threading.Barrier(4, timeout=20)

    def does(results: list[Any], n: int) -> Any:
        together.wait()
        return results

    adapter, call = run(does, CALLS)
    assert call() == {f"s.t{n}": [{"n": n}] for n in range(4)}
    assert list(call()) == list(CALLS)
    assert set(adapter.named) == {"macro_undo_run"}


def test_no_more_at_once_than_dbt_has_threads() -> None:
    threads: set[int] = set()

    def does(_: Any, n: int) -> None:
        threads.add(threading.get_ident())

    run(does, CALLS, threads=1)[1]()
    assert len(threads) == 1
    assert run(does, {})[1]() == {}


def test_all_that_fail_are_named_and_the_others_done() -> None:
    done: list[int] = []

    def does(_: Any, n: int) -> None:
        if n == 0:
            raise CompilationError("s.t0 was changed by somebody else meanwhile.")
        if n == 2:
            raise ValueError("disk full")
        done.append(n)

    with pytest.raises(DbtRuntimeError) as failed:
        run(does, CALLS)[1]()
    assert failed.value.msg.splitlines() == [
        "s.t0 was changed by somebody else meanwhile.",
        "s.t2: disk full",
    ]
    assert sorted(done) == [1, 3]


def test_an_interrupt_cancels_what_runs() -> None:
    def does(_: Any, n: int) -> None:
        raise KeyboardInterrupt

    adapter, call = run(does, CALLS)
    with pytest.raises(KeyboardInterrupt):
        call()
    assert adapter.connections.cancelled == 1
