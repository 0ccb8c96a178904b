"""Appends to a table beside other processes: writers.py TABLE NAME LOG_STORE THREADS ROWS FOLDER.

Each append is one commit of one row. Starts when FOLDER has a file `open`. Prints, in JSON, the
rows whose commits Delta has reported as done, and then all rows that the table has.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dbt_delta.session import spark, store
from tests.functional import harness


def main(table: str, name: str, kind: str, threads: int, rows: int, folder: Path) -> None:
    settings = {**harness.settings(), **harness.QUICK, store.LOG_STORE: kind}
    session = spark.new_session(settings)
    if name == "first":
        session.sql(f"create table delta.`{table}` (label string) using delta")
    (folder / name).touch()
    harness.wait_until((folder / "open").exists, 300, "the other processes")

    def append(thread: int) -> list[str]:
        own, done = session.newSession(), []
        for row in range(rows):
            label = f"{name} {thread} {row}"
            own.sql(f"insert into delta.`{table}` select '{label}' as label")
            done.append(label)
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = [label for labels in pool.map(append, range(threads)) for label in labels]
    (folder / f"{name} is done").touch()
    harness.wait_until(lambda: len(list(folder.glob("* is done"))) == 2, 300, "the other process")
    found: list[Any] = session.newSession().sql(f"select label from delta.`{table}`").collect()
    print(json.dumps({"done": done, "found": [row.label for row in found]}))


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]), Path(sys.argv[6]))
