"""Which staging tables a connection that ends has left."""

import pytest

from dbt_delta.session import staged
from dbt_delta.session.staged import Staged

ONE = "`s`.`t__dbt_tmp_0123456789`"
ODD = "`a.b``c`.`it's ``t``__dbt_tmp_abcdef0123`"
MADE = "create table {} using parquet\nas\nselect 1"
DROPPED = "drop table if exists {}"


def left(*statements: str) -> list[str]:
    """What is dropped at the end, after these statements."""
    found = Staged()
    for sql in statements:
        found.note(sql)
    sent: list[str] = []
    found.drop(sent.append)
    # Once is enough.
    found.drop(sent.append)
    assert all(sql.startswith("drop table if exists ") for sql in sent)
    return [sql.removeprefix("drop table if exists ") for sql in sent]


@pytest.mark.parametrize("name", [ONE, ODD, "`t__dbt_tmp_0123456789`"])
def test_a_staged_table_is_dropped_unless_the_model_did(name: str) -> None:
    assert left(MADE.format(name)) == [name]
    assert left(f"/* model.p.t (run) */ {MADE.format(name)}") == [name]
    assert left(MADE.format(name), DROPPED.format(name)) == []
    assert left(MADE.format(name), DROPPED.format(name), MADE.format(name)) == [name]


def test_the_files_of_a_staged_table_go_with_it() -> None:
    """A catalog of Iceberg keeps them otherwise."""
    made = MADE.replace("parquet", "iceberg").format(ONE)
    assert left(made) == [f"{ONE} purge"]
    assert left(made, DROPPED.format(ONE) + " purge") == []


def test_each_is_known_by_its_whole_name() -> None:
    other = ONE.replace("`t__", "`tt__")
    elsewhere = ONE.replace("`s`", "`z`")
    made = [MADE.format(name) for name in (ONE, other, elsewhere)]
    assert left(*made) == [ONE, other, elsewhere]
    assert left(*made, DROPPED.format(other)) == [ONE, elsewhere]


@pytest.mark.parametrize(
    "sql",
    [
        MADE.format("`s`.`t`"),
        MADE.format("`s`.`t__dbt_new_0123456789`"),
        MADE.format("`s`.`t__dbt_tmp_012345678`"),
        MADE.format("`s`.`t__dbt_tmp_0123456789_more`"),
        f"create or replace table {ONE} using delta as select 1",
        f"create or replace temporary view {ONE} as select 1",
        f"select * from {ONE}",
    ],
)
def test_what_is_no_staged_table_stays(sql: str) -> None:
    assert left(sql) == []


def test_one_that_cannot_be_dropped_keeps_none_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(staged.logger, "debug", said.append)
    found = Staged()
    names = [ONE, ONE.replace("`t__", "`u__")]
    for name in names:
        found.note(MADE.format(name))
    sent: list[str] = []

    def execute(sql: str) -> None:
        sent.append(sql)
        if ONE in sql:
            raise RuntimeError("the connection is gone")

    found.drop(execute)
    assert sent == [DROPPED.format(name) for name in names]
    assert said == [f"{ONE} is left: the connection is gone"]
    found.drop(execute)
    assert len(sent) == 2
