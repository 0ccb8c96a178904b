"""The deliveries of the month's benchmark, what is true of them, and its report. No Spark."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from benchmarks.thirty import _deliveries as deliveries
from benchmarks.thirty import _report
from benchmarks.thirty._peers import PEERS
from benchmarks.thirty._truth import Truth

ROWS = {
    "orders": """
        select i as o_orderkey, i % 50 as o_custkey, 'O' as o_orderstatus,
            (i * 10)::decimal(15, 2) as o_totalprice,
            date '1995-01-01' + (i % 90)::int as o_orderdate,
            '1-URGENT' as o_orderpriority, 'clerk' as o_clerk, 0 as o_shippriority, 'x' as o_comment
        from range(1, 1001) as t(i)
    """,
    "lineitem": """
        select i as l_orderkey, i % 40 as l_partkey, 1 as l_suppkey, n::int as l_linenumber,
            5::decimal(15, 2) as l_quantity, 100::decimal(15, 2) as l_extendedprice,
            0.05::decimal(15, 2) as l_discount, date '1995-02-01' as l_shipdate,
            date '1995-02-10' as l_commitdate, date '1995-02-08' + n::int as l_receiptdate,
            'AIR' as l_shipmode
        from range(1, 1001) as t(i), range(1, 5) as u(n)
    """,
    "customer": """
        select i as c_custkey, 'name' as c_name, i % 25 as c_nationkey,
            0::decimal(15, 2) as c_acctbal
        from range(0, 50) as t(i)
    """,
    "part": """
        select i as p_partkey, 'name' as p_name, 'M' as p_mfgr, 'B' as p_brand, 'T' as p_type,
            1 as p_size, 'BOX' as p_container, 9::decimal(15, 2) as p_retailprice, 'x' as p_comment
        from range(0, 40) as t(i)
    """,
}


@pytest.fixture
def month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> deliveries.Deliveries:
    """All deliveries of a thousand orders, many of which change."""
    duckdb = pytest.importorskip("duckdb", reason="./run bench installs it")

    def generate(raw: Path, table: str, factor: float, files: int) -> Path:
        path = raw / table
        path.mkdir(parents=True)
        duckdb.connect().execute(f"copy ({ROWS[table]}) to '{path}/0.parquet' (format parquet)")
        return path

    monkeypatch.setattr(deliveries, "generate", generate)
    made = deliveries.Deliveries(tmp_path, 1, churn=20)
    made.make()
    return made


def test_the_newest_event_of_a_key_counts(month: deliveries.Deliveries) -> None:
    truth = Truth(month.landing, [n for n in range(1, 31) if n != month.calendar.skipped])
    newest: dict[int, tuple[Any, ...]] = {}
    states: dict[int, set[Any]] = {}
    rows = truth.duck.execute(
        f"select o_orderkey, seq, op, o_totalprice from '{month.landing}/orders/*.parquet'"
    ).fetchall()
    for key, seq, op, price in rows:
        states.setdefault(key, set()).add(seq)
        if price >= 0 and (key not in newest or seq > newest[key][0]):
            newest[key] = (seq, op, price)
    expected = {(key, seq, price) for key, (seq, op, price) in newest.items() if op == "U"}
    found = truth.duck.execute("select o_orderkey, seq, o_totalprice from orders").fetchall()
    assert set(found) == expected
    assert len(found) == len(expected)
    # There is something of everything to get wrong.
    assert len(rows) > sum(map(len, states.values())) > len(newest) > len(expected)
    assert any(price < 0 for _, _, _, price in rows)


def test_a_key_that_comes_well_leaves_the_quarantine(month: deliveries.Deliveries) -> None:
    calendar = month.calendar
    kept = []
    for last in (calendar.bad, calendar.corrected):
        duck = Truth(month.landing, range(1, last + 1)).duck
        kept.append({row[0] for row in duck.execute("from orders_in_quarantine").fetchall()})
    path = month.landing / "orders" / f"night_{calendar.corrected:02}.parquet"
    query = f"select o_orderkey from '{path}' group by all having min(o_totalprice) >= 0"
    well = {row[0] for row in duck.execute(query).fetchall()}
    assert kept[0] & well
    assert not kept[1] & well
    assert kept[0] - well <= kept[1]


def test_late_events_are_true_once_they_are_there(month: deliveries.Deliveries) -> None:
    query = "select count(*) from orders_all where seq // 10 < night and night > 1"
    counts = [
        Truth(month.landing, range(1, last + 1)).duck.execute(query).fetchall()[0][0]
        for last in (2, 3, 30)
    ]
    assert counts[0] == 0 < counts[1] < counts[2]


def test_wrong_rows_are_counted(month: deliveries.Deliveries, tmp_path: Path) -> None:
    truth = Truth(month.landing, [1, 2])
    rows = tmp_path / "order_status"
    rows.mkdir()
    for name, query in (
        ("same", "from order_status"),
        ("other", "select * replace (orders + 1 as orders) from order_status"),
        ("twice", "from order_status union all from order_status"),
    ):
        truth.duck.execute(f"copy ({query}) to '{rows}/0.parquet' (format parquet)")
        found, there = (
            truth.wrong("order_status", rows),
            len(truth.duck.execute("from order_status").fetchall()),
        )
        expected = {"same": (0, 0, 0), "other": (there, there, 0), "twice": (0, 0, there)}
        assert (found.missing, found.extra, found.doubled) == expected[name]
    assert truth.wrong("order_status", None).missing == there
    assert truth.examples("order_status") == []


def test_the_same_seed_gives_the_same_files(month: deliveries.Deliveries, tmp_path: Path) -> None:
    other = deliveries.Deliveries(tmp_path / "again", 1, churn=20)
    other.make()
    for night in range(1, deliveries.NIGHTS + 1):
        pairs = zip(month.files(night), other.files(night), strict=True)
        assert all(one.read_bytes() == two.read_bytes() for one, two in pairs)
    again = month.landing / "orders" / f"night_{month.calendar.again}_again.parquet"
    first = month.landing / "orders" / f"night_{month.calendar.copied}.parquet"
    assert again.read_bytes() == first.read_bytes()
    assert again in month.files(month.calendar.again)


def test_a_short_month_has_all_of_it() -> None:
    short = deliveries.Calendar(10)
    events = ("new_column", "bad", "corrected", "again", "crash", "skipped", "restore")
    nights = [getattr(short, name) for name in events]
    assert nights == [3, 4, 6, 5, 6, 7, 8]
    assert 1 < short.copied < short.again
    assert [getattr(deliveries.Calendar(), name) for name in events] == [9, 13, 15, 16, 18, 21, 25]


def test_stock_is_told_what_day_it_is() -> None:
    commands = [["build"], ["run-operation", "optimize_tables"]]
    dated = PEERS["careful"].dated(commands, dt.date(2026, 1, 2))
    assert dated[0][1:] == ["--event-time-start", "2026-01-01", "--event-time-end", "2026-01-03"]
    assert dated[1] == commands[1]
    assert PEERS["ours"].dated(commands, dt.date(2026, 1, 2)) == commands


def test_a_report_of_two_peers(tmp_path: Path) -> None:
    def run(peer: str, night: int, wall: float, wrong: int) -> dict[str, Any]:
        counts = {"missing": wrong, "extra": 0, "doubled": 0, "rows": 10, "total": wrong}
        return {
            "peer": peer,
            "night": night,
            "wall": wall,
            "cpu": 2 * wall,
            "read": 1,
            "written": 1,
            "bytes": 30,
            "files": 3,
            "log bytes": 5,
            "memory": 10,
            "failed": {},
            "tables": {"month.orders": {"live": 20}},
            "wrong": {"orders": counts},
        }

    runs = [run("ours", n, 10, 0) for n in (1, 2, 3)]
    runs += [run("careful stock", n, 40, n > 1) for n in (1, 2, 3)]
    about = {
        "scale": 1,
        "nights": 30,
        "churn": 1,
        "date": "2026-01-01",
        "machine": "2 cores",
        "delivered": {1: 9},
    }
    text = _report.report({**about, "runs": runs})
    assert "| all nights <= 0.5 x careful stock, s | 0.25 | yes |" in text
    assert "| storage <= 2 x live data | 1.50 | yes |" in text
    assert "| orders | 0 | 1 + 0 + 0 of 10 (2-3) |" in text
    _report.plots({**about, "runs": runs}, tmp_path)
    assert "careful stock" in (tmp_path / "thirty_wall.svg").read_text()
