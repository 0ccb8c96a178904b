"""The tables in which a model stages its batch, so that a failed model leaves none."""

import re
from collections.abc import Callable

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("dbt_delta")
_NAME = r"((?:`(?:[^`]|``)*`\.)?`(?:[^`]|``)*__dbt_tmp_[0-9a-f]{10}`)"
_MADE = re.compile(rf"create table {_NAME}")
_DROPPED = re.compile(rf"drop table if exists {_NAME}")


class Staged:
    """The staged tables of a connection that are not dropped yet."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def note(self, sql: str) -> None:
        """Records a statement that is about to run."""
        if made := _MADE.search(sql):
            self._names.append(made[1])
        elif dropped := _DROPPED.search(sql):
            self._names = [name for name in self._names if name != dropped[1]]

    def drop(self, execute: Callable[[str], None]) -> None:
        """Drops what is left; if this fails, the next run of the model does it."""
        names, self._names = self._names, []
        for name in names:
            try:
                execute(f"drop table if exists {name}")
            except Exception as error:
                logger.debug(f"{name} is left: {error}")
