"""What may write is refused while Jinja is rendered beside dbt's own rendering of it."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.session.connection import NoWriting, SessionConnection, reading
from dbt_delta.session.staged import Staged


def connection() -> tuple[SessionConnection, list[str]]:
    handle: Any = object.__new__(SessionConnection)
    sent: list[str] = []
    handle.wrote, handle._staged, handle._send = False, Staged(), sent.append
    handle._connection, handle._cancelled = SimpleNamespace(name="a"), threading.Event()
    return handle, sent


def test_a_statement_that_may_write_is_refused() -> None:
    handle, sent = connection()
    with reading():
        handle.execute("select 1")
        for refused in (
            lambda: handle.execute("/* {} */\n insert into t values (1)"),
            lambda: handle.set_views("s", {}),
            lambda: handle.run_python(compile("1", "m.py", "exec")),
        ):
            with reading(), pytest.raises(NoWriting, match="its Jinja may write"):
                refused()
    with reading(), pytest.raises(NoWriting, match="its Jinja may write: drop table t"):
        handle.execute("-- all\n drop table t")
    assert sent == ["select 1"]
    assert not handle.wrote
    handle.execute("insert into t values (1)")
    assert sent[1:] == ["insert into t values (1)"]
    assert handle.wrote


@pytest.mark.parametrize(
    ("sql", "writes"),
    [
        ("/* {} */\nselect replace(a, 'use', 'load') from t", False),
        ("(select 1) union all -- insert\n select 2", False),
        ("explain create table t as select 1", False),
        ("with a as (select 1) insert into t select * from a", True),
        ("-- select\ninsert into t select 1", True),
        ("/* select */ create view v as select 1", True),
        ("with a as (select 1) select * from a", False),
    ],
)
def test_what_may_write(sql: str, writes: bool) -> None:
    handle, _ = connection()
    handle.execute(sql)
    assert handle.wrote == writes


def test_other_threads_write_meanwhile() -> None:
    handle, sent = connection()
    with reading():
        thread = threading.Thread(target=handle.execute, args=("drop table t",))
        thread.start()
        thread.join()
    assert sent == ["drop table t"]
