"""Threads that would all ask the same: one does, and the others have its answer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dbt_delta.session.once import Once


def test_one_thread_asks_and_all_have_the_answer() -> None:
    once, asked, all_there = Once(), [], threading.Barrier(4)

    def question(value: str) -> object:
        asked.append(value)
        return object()

    def ask(_: int) -> object:
        all_there.wait()
        return once.ask("key", question, "value")

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert asked == ["value"]
    assert len(set(map(id, answers))) == 1
    assert once.ask("other", question, "else") is not answers[0]


def test_an_error_is_of_the_thread_that_asked() -> None:
    once, asked, waiting = Once(), [], threading.Event()

    def question() -> None:
        asked.append(1)
        waiting.wait(5)
        raise ValueError("x")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(once.ask, "key", question)
        while not asked:
            pass
        second = pool.submit(once.ask, "key", question)
        waiting.set()
        with pytest.raises(ValueError, match="x"):
            first.result(5)
        assert second.result(5) is None
    assert asked == [1]
