"""The tables in which a model stages its batch, so that a failed model leaves none."""

import re
from collections.abc import Callable

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("dbt_delta")
_NAME = r"((?:`(?:[^`]|``)*`\.)?`(?:[^`]|``)*__dbt_tmp_[0-9a-f]{10}`)"
_MADE = re.compile(rf"create table {_NAME}(?:\s+using (\w+))?")
_DROPPED = re.compile(rf"drop table if exists {_NAME}")


class Staged:
    """The staged tables of a connection that are not dropped yet."""

    def __init__(self) -> None:
        # What drops each, by its name.
        self._drops: dict[str, str] = {}

    def note(self, sql: str) -> None:
        """Records a statement that is about to run."""
        if made := _MADE.search(sql):
            # A catalog of Iceberg would keep the files, with the rows of the batch, for good.
            purge = " purge" if made[2] == "iceberg" else ""
            self._drops[made[1]] = f"drop table if exists {made[1]}{purge}"
        elif dropped := _DROPPED.search(sql):
            self._drops.pop(dropped[1], None)

    def drop(self, execute: Callable[[str], None]) -> None:
        """Drops what is left; if this fails, the next run of the model does it."""
        drops, self._drops = self._drops, {}
        for name, sql in drops.items():
            try:
                execute(sql)
            except Exception as error:
                logger.debug(f"{name} is left: {error}")
