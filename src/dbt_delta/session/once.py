"""One answer for the threads of a run that would all ask the same."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Once:
    """Answers by a key: the first thread asks, the others wait for what it got."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Any]] = {}

    def ask(self, key: str, question: Callable[..., Any], *arguments: Any) -> Any:
        """What ``question`` gave; None where it raised, which only the thread that asked sees."""
        with self._lock:
            is_first = key not in self._asked
            answer = self._asked.setdefault(key, Future())
        if is_first:
            try:
                answer.set_result(question(*arguments))
            except BaseException:
                answer.set_result(None)
                raise
        return answer.result()
