"""Which tables are looked after, when that is worth it, and how long old versions are needed."""

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import agate
import pytest

from tests.unit.macros.rendering import CompilationError

HOUR = 3_600_000
NOW = 1_000 * HOUR
TABLE = SimpleNamespace(schema="s", identifier="t")


def default(name: str, value: Any = None) -> Any:
    """A variable that nobody has set."""
    return value


@pytest.mark.parametrize(
    ("pin", "hours"),
    [
        # An hour more is on the safe side.
        ({"version": "0"}, 316),
        ({"times": ["'2024-01-01 12:00:00'"], "zone": "UTC"}, 201),
        # Who does not know the zone takes the one where that time came first.
        ({"times": ["'2024-01-01 12:00:00'"], "zone": None}, 316),
        ({"version": "1"}, 201),
        # A feed reads what its first version took away.
        ({"feed": ["1"]}, 316),
        ({"feed": ["4"]}, 168),
        # VACUUM takes no files of the newest version: the table's own week is left.
        ({"version": "3"}, 168),
    ],
)
def test_what_a_view_reads_is_needed_since_it_was_replaced(
    macros: Callable[..., SimpleNamespace], pin: dict[str, str], hours: int
) -> None:
    """However many commits came later."""
    ages = {0: 500, 1: 315, 2: 200, 3: 1}
    state = {
        "version": 3, "now": NOW, "claims": [], "configuration": {},
        "commits": {version: NOW - age * HOUR for version, age in ages.items()},
    }  # fmt: skip
    package = macros(
        var=default,
        fromjson=lambda text, value: json.loads(text),
        adapter=SimpleNamespace(
            # When the view's time was: between versions 1 and 2, 14 hours earlier before both.
            dbt_delta_attempt=lambda sql: ("", SimpleNamespace(rows=[{"at": NOW - 310 * HOUR}]))
        ),
        run_query=lambda sql: SimpleNamespace(rows=[{"value": "UTC"}]),
    )
    package._removals = lambda tables: {}
    table = {"id": 0, "state": state, "pins": [{**pin, "who": "view s.v"}]}
    floor = package._floor(package._with_times([table])[0])
    assert floor["hours"] == hours
    assert floor["blocked"] is None


def removal(version: int, age: int | None, read: int | None = None) -> dict[str, int | None]:
    """A row of _removals_sql."""
    removed = None if age is None else NOW - age * HOUR
    return {"id": 0, "version": version, "removed": removed, "read": read}


@pytest.mark.parametrize(
    ("pin", "removals", "hours"),
    [
        ({"version": "0"}, [], 301),
        # An OPTIMIZE marks files with the time when it began.
        ({"version": "0"}, [removal(1, 310)], 311),
        # It began before another commit, and takes files of versions before that.
        ({"version": "0"}, [removal(2, 320)], 321),
        ({"version": "1"}, [removal(1, 310), removal(2, None)], 201),
        ({"times": ["x"], "zone": "UTC"}, [removal(2, 320)], 321),
        # Files of a change feed are as old as what their job had read.
        ({"feed": ["2"]}, [removal(2, 205, 1), removal(1, 310, 0)], 301),
        ({"feed": ["2"]}, [removal(2, 205, 7)],
         "view s.v reads its changes since 2, and version 7 is not in the log"),
        ({"version": "1"}, [removal(2, 205, 0)], 206),
    ],
)  # fmt: skip
def test_what_a_commit_took_away_may_be_older_than_the_commit(
    macros: Callable[..., SimpleNamespace], pin: dict[str, Any], removals: list[Any], hours: Any
) -> None:
    state = {
        "version": 2, "now": NOW, "claims": [], "configuration": {},
        "commits": {0: NOW - 400 * HOUR, 1: NOW - 300 * HOUR, 2: NOW - 200 * HOUR},
    }  # fmt: skip
    package = macros(var=default)
    asked: list[Any] = []
    package._time_of = lambda pin: {"at": NOW - 350 * HOUR}
    package._read_logs = lambda tables, kind: (
        asked.append((tables[0]["id"], kind)) or {"rows": removals, "problems": {}}
    )
    tables = [
        {"id": 0, "state": state, "pins": [{**pin, "who": "view s.v"}]},
        # Nobody needs an old version of these: they are not asked for.
        {"id": 1, "state": state, "pins": [{"version": "2", "who": "view s.w"}]},
        {"id": 2, "state": state, "pins": []},
    ]
    floor = package._floor(package._with_times(tables)[0])
    assert floor["hours" if isinstance(hours, int) else "blocked"] == hours
    assert asked == [(0, "removals")]


def test_a_log_that_cannot_be_read_twice_stops_it(macros: Callable[..., SimpleNamespace]) -> None:
    package = macros(var=default)
    package._read_logs = lambda tables, kind: {"rows": [], "problems": {0: "no file"}}
    table = {"id": 0, "relation": TABLE, "state": claimed(), "pins": [{"version": "0", "who": "v"}]}
    with pytest.raises(CompilationError, match=r"s\.t: its log cannot be read \(no file\)"):
        package._with_times([table])


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ({"version": "newest"}, "reads version 'newest', which is not a number"),
        ({"version": "1"}, "reads version 1, and the next version is not in the log"),
        ({"times": [], "zone": "UTC"}, "reads it as of an unknown time"),
        ({"times": ["f()"], "zone": "UTC"}, "reads it as of an unknown time: f()"),
        ({"unknown": "has a text that the server does not show"}, "has a text that the server"),
    ],
)
def test_what_cannot_be_told_blocks(
    macros: Callable[..., SimpleNamespace], pin: dict[str, Any], why: str
) -> None:
    state = {"version": 3, "now": NOW, "claims": [], "configuration": {}, "commits": {3: NOW}}
    package = macros(
        var=default,
        adapter=SimpleNamespace(dbt_delta_attempt=lambda sql: ("no function f", None)),
        run_query=lambda sql: SimpleNamespace(rows=[{"value": "UTC"}]),
    )
    table = {"id": 0, "relation": TABLE, "state": state, "pins": [{**pin, "who": "view s.v"}]}
    (table,) = package._with_times([table])
    table["floor"] = package._floor(table)
    assert table["floor"]["blocked"].startswith(f"view s.v {why}")
    said = package._vacuum(table, 168, "full")
    assert said["problem"].endswith("Nothing was removed.")


def catalog(
    macros: Callable[..., SimpleNamespace], rows: list[dict[str, Any]], **answers: list[Any]
) -> SimpleNamespace:
    """Macros of a server with one schema, `shop`, that answers these statements."""
    listed = {
        "show schemas": [("shop",)],
        "show table extended in `shop` like '*'": [{"isTemporary": False, **row} for row in rows],
        **answers,
    }
    return macros(
        var=default,
        adapter=SimpleNamespace(
            dbt_delta_attempt=lambda sql: ("", SimpleNamespace(rows=listed[sql]))
        ),
        api=SimpleNamespace(
            Relation=SimpleNamespace(create=lambda **names: SimpleNamespace(**names))
        ),
        run_query=lambda sql: SimpleNamespace(rows=listed[sql]),
    )


def test_a_table_is_its_models_by_the_alias(macros: Callable[..., SimpleNamespace]) -> None:
    information = "Type: MANAGED\nProvider: delta\nLocation: file:/warehouse/t\n"
    names = ("orders", "orders_v2", "returns")
    rows = [{"tableName": name, "information": information} for name in names]
    package = catalog(macros, rows)
    nodes = [
        {"name": name, "schema": "Shop", "alias": alias, "config": {}}
        for name, alias in (("orders_v2", "Orders"), ("returns", "returns"))
    ]
    tables = package._catalog_tables(nodes)
    models = {t["relation"].identifier: t["node"] and t["node"]["name"] for t in tables}
    assert models == {"orders": "orders_v2", "orders_v2": None, "returns": "returns"}


def test_what_a_server_prints_is_not_mistaken(macros: Callable[..., SimpleNamespace]) -> None:
    """A comment may say what Spark says; the lines of a view's text are not its whole."""
    table = "Type: MANAGED\nProvider: delta\n{}Location: file:/warehouse/t\n"
    comment = "Comment: it\nLocation: nowhere\nType: VIEW\n"
    view = "Type: VIEW\nView Text: select *\nfrom t\n{}View Catalog and Namespace: a.b\n"
    found = [
        ("id", "bigint", None), ("", "", ""), ("# Detailed Table Information", "", ""),
        ("Comment", "it\nLocation: nowhere\nType: VIEW", ""), ("Type", "MANAGED", ""),
        ("Provider", "delta", ""), ("Location", "file:/warehouse/u", ""),
    ]  # fmt: skip
    text = {
        "view_text": "select *\nfrom t\nversion as of 3",
        "view_catalog_and_namespace": "c.`d.e`",
        "view_creation_spark_configuration": {"spark.sql.session.timeZone": "Asia/Tokyo"},
    }
    package = catalog(
        macros,
        [
            {"tableName": "t", "information": table.format("")},
            {"tableName": "u", "information": table.format(comment)},
            {"tableName": "v", "information": view.format("")},
            {"tableName": "w", "information": view.format("version as of 3\n")},
        ],
        **{
            "describe extended `shop`.`u`": found,
            "describe extended `shop`.`w` as json": [(json.dumps(text),)],
        },
    )
    listing = {entry["name"]: entry for entry in package._listing(["shop"])}
    assert [listing[name]["location"] for name in "tu"] == [
        "file:/warehouse/t",
        "file:/warehouse/u",
    ]
    assert [listing[name]["type"] for name in "tuvw"] == ["table", "table", "view", "view"]
    assert listing["v"]["text"] == ""
    assert listing["w"]["text"] == text["view_text"]
    assert (listing["w"]["namespace"], listing["w"]["zone"]) == ("d.e", "Asia/Tokyo")


VERSION = [(["a", "t"], {"version": "3"})]
TEXTS: list[tuple[str, list[tuple[list[str] | None, dict[str, Any]]]]] = [
    ("select *\nfrom a.t\nversion as of 3", VERSION),
    ("select * from A.T for system_version /* a /* b */ c */ as -- d\n of '3'", VERSION),
    ("select * from a.t with ('versionAsOf'='3')", VERSION),
    ("select * from a.t WITH (versionasof 3)", VERSION),
    ("select * from a.t with ('a' = 'b', `versionAsOf` = '3')", VERSION),
    ("select * from a.t with ('versionA' 'sOf' = 3)", VERSION),
    ("select * from identifier('a.t') version as of 3", VERSION),
    ("from a.t version as of 3 |> where true", VERSION),
    ("select r'\\', * from a.t version as of 3", VERSION),
    ("select * from t version as of 3 tablesample (10 percent)", [(["t"], {"version": "3"})]),
    ("select * from c.`a.b`.`größe ``1` version as of 3", [
        (["c", "a.b", "größe `1"], {"version": "3"})
    ]),
    ("select * from delta.`/a b/t@v3`", [(["delta", "/a b/t"], {"version": "3"})]),
    ("select * from delta.`/t@20240131123456789`", [
        (["delta", "/t"], {"times": ["'2024-01-31 12:34:56.789'"]})
    ]),
    ("select * from a.t timestamp as of current_timestamp() - interval 3 days x join b on true", [
        (["a", "t"], {"times": [
            "current_timestamp() - interval 3 days x", "current_timestamp() - interval 3 days",
        ]})
    ]),
    ("select * from (a.t for system_time as of date'2024-1-31'), b timestamp as of f(1, 2) c (d)", [
        (["a", "t"], {"times": ["date'2024-1-31'", "date"]}),
        (["b"], {"times": ["f(1, 2) c (d)", "f(1, 2)"]}),
    ]),
    ("select * from a.t timestamp as of (select max(at) from x)", [(["a", "t"], {"times": []})]),
    ("select * from a.t with ('timestampAsOf' = '2024-01-31')", [
        (["a", "t"], {"times": ["'2024-01-31'"]})
    ]),
    ("select * from table_changes('a.`b.c`', 3, 5)", [(["a", "b.c"], {"feed": ["3"]})]),
    ("select * from a.t with ('readChangeFeed' = 'true', 'startingVersion' = '3')", [
        (["a", "t"], {"feed": ["3"]})
    ]),
    # The table is not told.
    ("select * from identifier('a.' || x) version as of 3", [(None, {"version": "3"})]),
    ("select * from table_changes(x, 3)", [(None, {})]),
    # None of them reads an old version.
    ("select version as of from a.t", []),
    ("select a, timestamp as of, distinct version as of from t", []),
    ("select 'from a.t version as of 3', \"a.t version as of 3\" -- a.t version as of 3\n", []),
    ("with of as (select 1) select * from of /* version as of 3 */", []),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "travels"), TEXTS)
def test_the_text_of_a_view_tells_what_it_reads(
    macros: Callable[..., SimpleNamespace], sql: str, travels: list[Any]
) -> None:
    found = macros()._time_travels(sql)
    assert [(travel.pop("name"), travel) for travel in found] == travels


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (["t"], ["t"]),
        (["S", "T"], ["t"]),
        (["spark_catalog", "s", "t"], ["t"]),
        (["other", "t"], []),
        (["delta", "/w/s.db/t"], ["t"]),
        (["delta", "file:///w/s.db/t/"], ["t"]),
        (["delta", "/w/s.db/t/part=1"], ["t"]),
        (["delta", "s.db/t"], ["t"]),
        (["delta", "/w/s.db/t2"], []),
        (["delta", "s3a://w/s.db/t"], []),
    ],
)
def test_a_name_in_a_view_means_a_table(macros, parts: list[str], found: list[str]) -> None:
    tables = {
        ("s", "t"): {"name": "t", "location": "file:/w/s.db/t"},
        ("s", "u.t"): {"name": "u.t", "location": "file:/w/s.db/u.t"},
    }
    assert [table["name"] for table in macros()._tables_named(parts, "s", tables)] == found


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ({"version": "0"}, "view s.v reads version 0"),
        (
            {"times": ["'2024-01-01 12:00'"], "zone": "UTC"},
            "view s.v reads it as of 2024-01-01 12:00",
        ),
        ("property", "report reads version 0"),
        ("clone", "its shallow clone s.c reads its files"),
    ],
)
def test_a_reader_is_named_who_keeps_vacuum_away(
    macros: Callable[..., SimpleNamespace], pin: Any, why: str
) -> None:
    table = {"id": 0, "relation": TABLE, "state": claimed(), "pins": []}
    if pin == "clone":
        table["state"]["claims"] = [claim()]
    elif pin == "property":
        table["state"]["configuration"] = {"dbt_delta.pin.report": "0"}
    else:
        table["pins"] = [{**pin, "who": "view s.v"}]
    package = macros(
        var=default,
        adapter=SimpleNamespace(
            dbt_delta_attempt=lambda sql: ("", SimpleNamespace(rows=[{"at": NOW - 350 * HOUR}]))
        ),
        run_query=lambda sql: SimpleNamespace(rows=[{"value": "UTC"}]),
    )
    package._removals = lambda tables: {}
    (table,) = package._with_times([table])
    table["floor"] = package._floor(table)
    assert (table["floor"]["hard_hours"], table["floor"]["hard_why"]) == (301, why)
    with pytest.raises(CompilationError, match=f"would remove files that are read: {why}. Keep"):
        package._vacuum_hours(table, 300)
    assert package._vacuum_hours(table, 301) == 301


def claimed(**more: Any) -> dict[str, Any]:
    """The state of a table of two versions."""
    commits = {0: NOW - 400 * HOUR, 1: NOW - 300 * HOUR}
    return {
        "version": 1, "now": NOW, "claims": [], "configuration": {}, "commits": commits, **more
    }  # fmt: skip


def claim(**more: Any) -> dict[str, Any]:
    """A clone's claim on a file that left the table, made 300 hours ago."""
    clone = {
        "id": 1, "relation": SimpleNamespace(schema="s", identifier="c"), "state": claimed(),
        "pins": [],
    }  # fmt: skip
    return {"time": NOW - 300 * HOUR, "table": clone, "is_live": False, "left": None, **more}


@pytest.mark.parametrize(
    ("more", "hours"),
    [
        ({}, 301),
        # The table has it still: VACUUM does not touch it.
        ({"is_live": True}, 168),
        # The clone has left it, too: as long as its own versions are kept.
        ({"left": NOW - 167 * HOUR}, 301),
        ({"left": NOW - 169 * HOUR}, 168),
    ],
)
def test_a_clone_needs_what_its_young_versions_have(
    macros: Callable[..., SimpleNamespace], more: dict[str, Any], hours: int
) -> None:
    table = {"relation": TABLE, "state": claimed(claims=[claim(**more)]), "pins": []}
    assert macros(var=default)._floor(table)["hours"] == hours


@pytest.mark.parametrize(
    ("wanted", "days", "hours"), [(None, 7, 168), (None, 10, 240), (None, 0, 168), (300, 10, 300)]
)
def test_vacuum_has_the_hours_that_are_needed(macros, wanted: Any, days: int, hours: int) -> None:
    package = macros(var=lambda name, value=None: days if "undo" in name else value)
    table = {"relation": TABLE, "floor": {"hours": max(168, days * 24), "hard_hours": 0}}
    assert package._vacuum_hours(table, wanted) == hours


@pytest.mark.parametrize(
    ("named", "hours", "said"),
    [
        ([], 200, r"has retention_hours 200, less than 10 days \(dbt_delta_undo_days\)"),
        (["s.other"], 0, "less than 10 days"),
        (["S.T"], 0, None),
    ],
)
def test_fewer_hours_are_for_tables_that_are_named(
    macros, named: list[str], hours: int, said: str | None
) -> None:
    package = macros(var=lambda name, value=None: named)
    floor = {"hours": 240, "hard_hours": 0, "why": "dbt_delta_undo_days"}
    if said is None:
        assert package._vacuum_hours({"relation": TABLE, "floor": floor}, hours) == hours
    else:
        with pytest.raises(CompilationError, match=said):
            package._vacuum_hours({"relation": TABLE, "floor": floor}, hours)


CLUSTERED = {"clustering": ["id"], "partitions": [], "columns": [{"name": "id", "type": "int"}]}
PARTED = {**CLUSTERED, "clustering": [], "partitions": ["day"]}
PARTED["columns"] = [*CLUSTERED["columns"], {"name": "day", "type": "date"}]
REFUSED: list[tuple[str, Any, dict[str, Any], str]] = [
    ("optimize", PARTED, {"zorder_by": "nope"}, "names 'nope', which is not a column of `s`.`t`"),
    ("optimize", PARTED, {"zorder_by": ["DAY"]}, "each file has only one value"),
    ("optimize", CLUSTERED, {"where": "id > 1"}, "is clustered by id: OPTIMIZE orders the whole"),
    ("optimize", CLUSTERED, {"zorder_by": "id"}, "is clustered by id: OPTIMIZE orders the whole"),
    ("optimize", PARTED, {"full": True}, "`s`.`t` is not clustered. Remove the argument."),
    ("set_retention", None, {"days": 9, "log_days": 8}, "a version without its log cannot be read"),
    ("set_retention", None, {"days": "soon"}, "days 'soon'. Use a number of days"),
    ("set_retention", None, {"days": -1}, "days '-1'. Use a number of days"),
    ("delete_where", None, {"predicate": ""}, "predicate ''. Use a condition in SQL"),
    ("delete_where", None, {"predicate": 3}, "predicate '3'. Use a condition in SQL"),
    ("vacuum", None, {"mode": "best"}, "mode is 'best'. Use one of full, lite"),
    ("vacuum", None, {"retention_hours": "soon"}, "retention_hours 'soon'. Use a number"),
    ("vacuum", None, {"retention_hours": -1}, "retention_hours '-1'. Use a number"),
]


@pytest.mark.parametrize(("macro", "existing", "arguments", "said"), REFUSED)
def test_what_cannot_be_is_refused(
    macros, macro: str, existing: Any, arguments: dict[str, Any], said: str
) -> None:
    package = macros(var=default)
    package._delta_table = lambda relation, name: existing
    with pytest.raises(CompilationError, match=re.escape(said)):
        getattr(package, macro)(TABLE, **arguments)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"type": "view", "provider": None}, "`s`.`t` is a view. Use a parquet table"),
        ({"type": "table", "provider": "csv"}, "`s`.`t` is a csv. Use a parquet table"),
        (None, "`s`.`t` is not in the catalog"),
    ],
)
def test_what_is_no_parquet_is_not_converted(macros, entry: Any, said: str) -> None:
    package = macros()
    package._entry = lambda relation: entry
    with pytest.raises(CompilationError, match=said):
        package.convert_to_delta(TABLE)
    with pytest.raises(CompilationError, match=r"partition_by is 'day'. Use names with types"):
        package.convert_to_delta("/folder", partition_by="day")


def planned(macros: Callable[..., SimpleNamespace]) -> tuple[SimpleNamespace, list[str], list[Any]]:
    """Macros for which a table is due for a purge; what they print, and the steps they take."""
    printed: list[str] = []
    taken: list[Any] = []
    package = macros(print=printed.append)
    part = {
        "files": 2, "bytes": 2_500_000, "small_files": 0, "rows": 100, "deleted_rows": 20,
        "values": {},
    }  # fmt: skip
    state = {
        "version": 3, "now": NOW, "parts": [part], "clustering": [], "partitions": [],
        "operations": {"OPTIMIZE": {"timestamp": NOW - 5 * HOUR}},
    }  # fmt: skip
    table = {
        "relation": TABLE, "node": SimpleNamespace(unique_id="model.p.t"), "state": state,
        "zorder": [], "reclaimable": 0,
        "floor": {"hours": 168, "why": "the table's retention", "blocked": None}, "steps": [],
    }  # fmt: skip
    table["steps"].append({
        "table": table, "kind": "purge", "why": "20 % of the rows", "bytes": 2_500_000, "gain": 9,
        "partitions": [], "sql": "reorg", "worth": 1.0,
    })  # fmt: skip
    package._plan = lambda select, state, macro: [table]
    package._put_back_retention = taken.append
    package._take_upkeep = lambda step: (
        taken.append(step["kind"])
        or {"problem": "", "done": "2 files", "seconds": 1.0, "is_skipped": False}
    )
    return package, printed, taken


def test_the_plan_as_text_and_as_markdown(macros: Callable[..., SimpleNamespace]) -> None:
    package, printed, _ = planned(macros)
    package.maintenance_plan()
    headings, line = (re.split(" {2,}", text) for text in printed)
    assert headings[:3] == ["table", "files", "size"]
    assert line == ["s.t", "2", "2.5 MB", "0", "20 %", "5 h", "purge", "20 % of the rows"]
    package.maintenance_plan(output="markdown")
    lines = printed[2].splitlines()
    assert lines[1].startswith("|---|--:|")
    assert lines[2].startswith("| s.t | 2 | 2.5 MB | 0 | 20 % |")
    with pytest.raises(CompilationError, match=r"output is 'xml'. Use one of text, json, markdown"):
        package.maintenance_plan(output="xml")


def test_a_dry_run_of_maintain_takes_no_step(macros: Callable[..., SimpleNamespace]) -> None:
    package, printed, taken = planned(macros)
    package.maintain(dry_run=True)
    assert printed == [
        "1 of 1 purge s.t: 20 % of the rows (dry run: 2.5 MB)", "Dry run: nothing was changed.",
    ]  # fmt: skip
    assert not taken


@pytest.mark.parametrize(
    ("budget", "steps"),
    [
        ({"budget_gb": 0.0024}, []),
        ({"budget_gb": 0.0026}, ["purge"]),
        ({"budget_minutes": 0}, []),
        ({"budget_minutes": 9}, ["purge"]),
        ({}, ["purge"]),
    ],
)
def test_maintain_has_a_budget(
    macros: Callable[..., SimpleNamespace], budget: dict[str, Any], steps: list[str]
) -> None:
    package, printed, taken = planned(macros)
    package.maintain(**budget)
    assert [step for step in taken if isinstance(step, str)] == steps
    assert ("1 of 1 steps were left: the budget was too small." in printed) == (not steps)


@pytest.mark.parametrize("bytes", [0, 5])
def test_maintain_says_which_reader_keeps_vacuum_away(
    macros: Callable[..., SimpleNamespace], bytes: int
) -> None:
    package, printed, _ = planned(macros)
    (table,) = package._plan(None, None, "maintain")
    table["floor"]["blocked"] = "view s.v reads it as of an unknown time"
    table["reclaimable"] = bytes
    package.maintain()
    line = "s.t: no VACUUM: view s.v reads it as of an unknown time"
    assert (line in printed) == (bytes > 0)


@pytest.mark.parametrize("value", [-1, "much", True])
def test_a_budget_is_a_number(macros: Callable[..., SimpleNamespace], value: Any) -> None:
    package, _, taken = planned(macros)
    for name in ("budget_gb", "budget_minutes"):
        with pytest.raises(CompilationError, match=f"maintain has {name} '{value}'. Use a number"):
            package.maintain(**{name: value})
    assert not taken


@pytest.mark.parametrize(("columns", "problem"), [(["path"], ""), (["dbt_delta_problem"], "x")])
def test_without_the_plugin_a_script_catches_the_error(
    macros: Callable[..., SimpleNamespace], columns: list[str], problem: str
) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> agate.Table:
        sent.append(sql)
        return agate.Table([("x",)], columns)

    package = macros(adapter=SimpleNamespace(), run_query=run_query)
    assert package._attempt("optimize `a`.`it's`")["problem"] == problem
    assert "execute immediate 'optimize `a`.`it\\'s`'" in sent[0]
    assert "exit handler for sqlexception" in sent[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "what has predicate ''. Use a condition in SQL, or 'true' for all rows."),
        ("-- all; ", "what has predicate '-- all; '. Use a condition"),
        (1, "what has predicate '1'. Use a condition"),
        ("id in (SELECT 1)", "what has predicate 'id in (SELECT 1)', which contains a subquery."),
    ],
)
def test_what_is_no_predicate(macros, given: Any, said: str) -> None:
    with pytest.raises(CompilationError, match=re.escape(said)):
        macros()._predicate(given, "what")


@pytest.mark.parametrize(
    ("given", "predicate"),
    [
        ("id = 1 -- old; ones", "id = 1\n"),
        ("id = 1; /* a */ ;", "id = 1\n"),
        ("a = 'select' and `select` = 1", "a = 'select' and `select` = 1\n"),
    ],
)
def test_predicates(macros, given: str, predicate: str) -> None:
    assert macros()._predicate(given, "what") == predicate


def test_an_update_writes_what_differs(macros) -> None:
    values = [
        {"name": "a`b", "value": "cast((1) as int)", "same": "`a``b` <=> cast((1) as int)"},
        {"name": "c", "value": "cast((null) as date)", "same": "`c` <=> cast((null) as date)"},
    ]
    relation = SimpleNamespace(schema="s", identifier="t")
    assert macros().get_update_where_sql(relation, values, "x or y\n").strip() == (
        "update `s`.`t`\nset `a``b` = cast((1) as int), `c` = cast((null) as date)\n"
        "where (x or y\n) and not ((`a``b` <=> cast((1) as int)) and "
        "(`c` <=> cast((null) as date)))"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "what has set '{}'. Use columns and their values in SQL"),
        ("a = 1", "what has set 'a = 1'. Use columns"),
        ({"nope": 1}, "what sets 'nope', which is not a column of it. Its columns are Id, day"),
        ({"id": 1, "ID": 2}, "what sets Id twice. Use one value."),
        ({"year": 2024}, "what sets year, which Delta computes as year(day). Set the columns"),
        ({"id": "(select 1)"}, "what sets Id to '(select 1)', which contains a subquery"),
        ({"id": " -- x"}, "what sets Id to an empty expression. Use null"),
        ({"id": "1) + (2"}, "what sets Id to '1) + (2'. Spark refuses it: Its brackets do not"),
        ({"id": "no limit 1"}, "what sets Id to 'no limit 1'. Spark refuses it: [NO] no. Nothing"),
        ({"id": "interval '1' day"}, "what sets Id, which is int, to interval '1' day, which is"),
        ({"s": "named_struct('y', 1)"}, "what sets s, which is struct<x:int>, to named_struct('y'"),
    ],
)
def test_values_that_cannot_be_set(macros, given: Any, said: str) -> None:
    package = macros()
    package._attempt = lambda sql: {"problem": "[NO] no." if "on ((no" in sql else "", "rows": []}
    types = {"named_struct": "struct<y:int>", "interval": "interval day"}
    package._columns_of = lambda sql: [
        {"name": "value", "type": next((types[key] for key in types if key in sql), "int")}
    ]
    columns = [
        {"name": "Id", "type": "int"},
        {"name": "day", "type": "date"},
        {"name": "year", "type": "int", "is_generated": True, "generation": "year(day)"},
        {"name": "s", "type": "struct<x:int>"},
    ]
    existing = {"columns": columns, "relation": TABLE, "partitions": []}
    with pytest.raises(CompilationError, match=re.escape(said)):
        package._new_values(existing, given, "what")


def row(id: int, kind: str, key: str = "", **more: Any) -> dict[str, Any]:
    """A row of what logs say."""
    names = ("files", "bytes", "small_files", "small_bytes", "rows", "deleted_rows",
             "deleted_bytes", "unclustered_files", "unclustered_bytes", "unsorted_files",
             "unsorted_bytes", "time", "text", "commits")  # fmt: skip
    return {**dict.fromkeys(names), "id": id, "kind": kind, "key": key, "now": NOW, **more}


SCHEMA = {
    "fields": [
        {"name": "Day", "metadata": {"delta.columnMapping.physicalName": "col-1"}},
        {"name": "id", "metadata": {}},
    ]
}
ABOUT = {
    "schemaString": json.dumps(SCHEMA), "partitionColumns": ["Day"],
    "configuration": {"delta.appendOnly": "true"},
}  # fmt: skip


def test_what_a_log_lacks_is_named(macros) -> None:
    """A line that is no JSON for certain, a version without a name only perhaps."""
    fault = macros()._log_fault
    commits = [{"version": n, "time": NOW} for n in (3, 1, 4)]
    rows = [row(0, "operation", "WRITE", commits=json.dumps(commits)), row(1, "live")]
    assert fault({"id": 0}, rows) == {"text": "version 2 is missing", "is_certain": False}
    assert fault({"id": 1}, rows) == fault({"id": 2}, []) == {"text": "", "is_certain": False}
    broken = {"text": "version 7 is not valid JSON", "is_certain": True}
    assert fault({"id": 0}, [*rows, row(0, "broken", text="7")]) == broken


@pytest.mark.parametrize("bad", [[], [0], [4], [1, 2], [0, 1, 2, 3, 4]])
def test_tables_are_read_without_those_that_fail(macros, bad: list[int]) -> None:
    """Together, as a clone of one may have files of another."""
    package = macros()
    package._readable_logs = lambda tables: {
        "logs": [{"tables": tables}] if tables else [],
        "problems": {9: "no access"},
    }
    asked = []

    def rows(logs: list[dict[str, Any]], kind: str, since: Any) -> dict[str, Any]:
        ids = [table["id"] for log in logs for table in log["tables"]]
        asked.append(ids)
        failing = [id for id in ids if id in bad]
        return {"rows": [] if failing else ids, "problem": f"{failing[0]}" if failing else ""}

    package._log_rows = rows
    found = package._read_logs([{"id": n} for n in range(5)], "states")
    good = [n for n in range(5) if n not in bad]
    assert found == {"rows": good, "problems": {9: "no access", **{n: str(n) for n in bad}}}
    assert asked[-1] == good


@pytest.mark.parametrize(
    ("sql", "is_balanced"),
    [
        ("(a) and (b in (1))", True),
        ("a = ')' -- )", True),
        ("`(` = 1", True),
        ("(a", False),
        ("a)", False),
        ("a) or (b", False),
    ],
)
def test_brackets(macros, sql: str, is_balanced: bool) -> None:
    assert macros()._is_balanced(sql) is is_balanced


def test_what_a_log_says_is_a_tables_state(macros: Callable[..., SimpleNamespace]) -> None:
    """In whatever order Spark gives it, and by the names that columns have now."""
    operation = {"timestamp": NOW}
    commits = [{"version": 1, "time": NOW - HOUR}, {"version": 0, "time": NOW - 2 * HOUR}]
    rows = [
        row(0, "live", '{"col-1":"b"}', files=2, bytes=5),
        row(0, "gone", time=3, bytes=None),
        row(0, "live", '{"col-1":"a"}', files=1, bytes=7, rows=9),
        row(0, "operation", "WRITE", text=json.dumps(operation), commits=json.dumps(commits)),
        row(0, "clustering", text=json.dumps({"clusteringColumns": [["col-1"], ["id", "x"]]})),
        row(0, "about", text=json.dumps(ABOUT)),
    ]
    state = macros()._state(rows)
    assert [part["values"] for part in state["parts"]] == [{"Day": "a"}, {"Day": "b"}]
    assert [part["rows"] for part in state["parts"]] == [9, 0]
    assert (state["version"], state["now"]) == (1, NOW)
    assert state["commits"] == {0: NOW - 2 * HOUR, 1: NOW - HOUR}
    assert state["operations"] == {"WRITE": operation}
    assert state["clustering"] == ["Day", "id.x"]
    assert (state["partitions"], state["gone"]) == (["Day"], [{"time": 3, "bytes": 0}])
    assert state["configuration"] == {"delta.appendOnly": "true"}


def test_a_log_without_domain_metadata_and_without_schema(macros) -> None:
    state = macros()._state([row(0, "clustering")])
    assert (state["clustering"], state["columns"], state["version"]) == ([], [], None)


def test_a_log_that_cannot_be_read_may_be_a_clones(macros) -> None:
    """It holds back all tables; a claim names the table of its clone."""
    names = ("t", "clone", "lost")
    tables = [
        {"id": n, "relation": SimpleNamespace(schema="s", identifier=name), "pins": []}
        for n, name in enumerate(names)
    ]
    rows = [
        row(0, "about", text=json.dumps(ABOUT)),
        row(0, "claim", json.dumps({"claimant": 1, "is_live": False, "hour": 4}), time=7),
        row(0, "claim", json.dumps({"claimant": 1, "is_live": True}), time=8),
        row(1, "about", text=json.dumps(ABOUT)),
    ]
    table, clone, lost = macros()._tables_of_rows(tables, rows, {2: "no access"})
    assert lost["state"] is None
    said = "may be a shallow clone: its log cannot be read (no access)"
    assert table["pins"] == clone["pins"] == [{"who": "s.lost", "unknown": said}]
    claims = table["state"]["claims"]
    assert [claim["table"]["relation"].identifier for claim in claims] == ["clone", "clone"]
    assert [claim["left"] for claim in claims] == [5 * HOUR, None]
    assert [claim["is_live"] for claim in claims] == [False, True]
    assert all(table["pins"] == [] for table in tables)


FIRST = "0" * 20 + ".json"
PARTS = [f"{5:020}.checkpoint.{n:010}.{2:010}.parquet" for n in (1, 2)]


@pytest.mark.parametrize(
    ("names", "always", "found"),
    [
        ([FIRST, f"{3:020}.checkpoint.parquet"], False, []),
        ([FIRST, f"{3:020}.checkpoint.parquet"], True, [f"{3:020}.checkpoint.parquet"]),
        ([f"{3:020}.checkpoint.parquet", *PARTS], False, PARTS),
        # Half of a checkpoint is none.
        ([f"{3:020}.checkpoint.parquet", PARTS[0]], False, [f"{3:020}.checkpoint.parquet"]),
        ([f"{7:020}.checkpoint.a-b.json", *PARTS], False, [f"{7:020}.checkpoint.a-b.json"]),
        ([], False, []),
    ],
)
def test_the_newest_whole_checkpoint(
    macros, names: list[str], always: bool, found: list[str]
) -> None:
    assert macros()._newest_checkpoint(names, always) == found


def test_paths_are_as_they_stand_in_logs(macros) -> None:
    package = macros()
    assert package._plain_location("file:///w/s.db/t/") == "file:/w/s.db/t"
    tables = [{"location": f"file:/w/s.db/{name}"} for name in ("t", "u{1}")]
    log = package._log(tables)
    assert log["parent"] == "file:/w"
    files = r"`file:/w/{s.db/t/_delta_log/*.json,s.db/u\{1\}/_delta_log/*.json}`"
    assert package._log_files(log, "*.json") == files
    lines = package._logs_sql([{**log, "tables": [{"id": 4, **tables[0]}]}])
    assert "(4, 'file:/w/s.db/t')" in lines
    touched = package._touched_files_sql(package._commit_files_sql("file:/w/t", 2, 5))
    assert "from text.`file:/w/t/_delta_log/*.json`" in touched
    assert "where version between 2 and 5\n    and coalesce(" in touched


LIMITS = {
    "small_file_mb": 100, "min_small_files": 4, "deleted_share": 0.1, "unordered_share": 0.1,
    "reclaimable_share": 0.2, "target_file_mb": 100, "small_file_bytes": 50,
    "target_file_bytes": 100,
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "table", "kinds"),
    [
        ({"small_files": 4, "small_bytes": 100}, {}, ["compact"]),
        ({"small_files": 3, "small_bytes": 3}, {}, []),
        # Nothing is gained where as many files are written again.
        ({"small_files": 4, "small_bytes": 250}, {}, []),
        ({"deleted_rows": 10}, {}, ["purge"]),
        ({"deleted_rows": 9}, {}, []),
        ({"small_files": 4, "deleted_rows": 10}, {}, ["compact", "purge"]),
        # An order leaves nothing else to do.
        ({"unsorted_files": 4, "unsorted_bytes": 90, "small_files": 4}, {"zorder": ["id"]},
         ["zorder"]),
        ({"unsorted_files": 1, "unsorted_bytes": 40}, {"zorder": ["id"]}, []),
        ({"unclustered_files": 4, "unclustered_bytes": 90}, {"clustering": ["id"]}, ["cluster"]),
        ({"unclustered_files": 4, "unclustered_bytes": 9}, {"clustering": ["id"]}, []),
        ({"files": 1, "unclustered_files": 1, "unclustered_bytes": 90}, {"clustering": ["id"]},
         []),
    ],
)  # fmt: skip
def test_what_is_worth_writing_anew(
    macros, part: dict[str, int], table: dict[str, Any], kinds: list[str]
) -> None:
    zeros = dict.fromkeys(
        ("small_files", "small_bytes", "deleted_rows", "deleted_bytes", "unclustered_files",
         "unclustered_bytes", "unsorted_files", "unsorted_bytes"), 0,
    )  # fmt: skip
    parts = [{**zeros, "files": 9, "bytes": 99, "rows": 100, "values": {}, **part}]
    state = {"parts": parts, "partitions": [], "clustering": table.get("clustering", [])}
    record = {
        "relation": TABLE, "thresholds": LIMITS, "state": state, "zorder": table.get("zorder", []),
    }  # fmt: skip
    assert [step["kind"] for step in macros()._rewrites(record)] == kinds


@pytest.mark.parametrize(
    ("hours", "blocked", "removed_at", "kinds"),
    [
        (168, None, None, ["vacuum"]),
        (168, "view s.v", None, []),
        # Younger than somebody needs, or removed by a VACUUM since.
        (300, None, None, []),
        (168, None, NOW, []),
    ],
)
def test_when_a_vacuum_is_worth_it(
    macros, hours: int, blocked: str | None, removed_at: int | None, kinds: list[str]
) -> None:
    done = {"timestamp": removed_at, "operationParameters": {}}
    state = {
        "now": NOW, "partitions": [], "clustering": [],
        "gone": [{"time": NOW - 200 * HOUR, "bytes": 30}],
        "operations": {"VACUUM START": done, "VACUUM END": done} if removed_at else {},
        "parts": [],
    }  # fmt: skip
    table = {
        "relation": TABLE, "thresholds": LIMITS, "state": state, "zorder": [],
        "node": SimpleNamespace(config={}), "floor": {"hours": hours, "blocked": blocked},
    }  # fmt: skip
    planned = macros(var=default)._planned(table)
    assert [step["kind"] for step in planned["steps"]] == kinds
    assert "steps" not in table


@pytest.mark.parametrize(
    ("configuration", "hours", "lent"),
    [
        ({}, 168, {}),
        ({}, 24, {"delta.deletedFileRetentionDuration": "interval 86400 seconds"}),
        # The log may not be shorter than the files.
        ({}, 1000, dict.fromkeys(
            ("delta.deletedFileRetentionDuration", "delta.logRetentionDuration"),
            "interval 3600000 seconds")),
    ],
)  # fmt: skip
def test_a_vacuum_borrows_its_hours(
    macros, configuration: dict[str, str], hours: int, lent: dict[str, str]
) -> None:
    state = {"configuration": configuration, "now": NOW}
    table = {"floor": {"property_hours": 168}, "state": state}
    package = macros(tojson=json.dumps, invocation_id="mine")
    found = package._lent_retention(table, hours)
    own = found.pop("dbt_delta.retention", None)
    assert found == lent
    if lent:
        # By what a killed one has left, the next knows the table's own.
        killed = {**lent, "dbt_delta.retention": own}
        assert package._own_retention(killed) == dict.fromkeys(package._retention_properties())
        # Another call leaves it alone until this VACUUM has begun, or was killed.
        other = macros(invocation_id="other")
        assert other._lent_by_another(own, NOW + HOUR).startswith("invocation mine is about to")
        assert other._lent_by_another(own, NOW + HOUR + 1) is None
        assert package._lent_by_another(own, NOW) is None


@pytest.mark.parametrize("mark", [None, "", "{}", '{"delta.logRetentionDuration": null}'])
def test_a_lent_retention_without_a_name_is_a_killed_ones(macros, mark: str | None) -> None:
    assert macros(invocation_id="mine")._lent_by_another(mark, NOW) is None


FILES = "delta.deletedFileRetentionDuration"


def test_a_retention_is_put_back_by_whose_it_is(macros: Callable[..., SimpleNamespace]) -> None:
    sent: list[str] = []
    package = macros(run_query=sent.append, invocation_id="mine")
    package._describe = lambda relation: {"properties": {"dbt_delta.retention": found}}
    lent = json.dumps({FILES: None, "by": "other", "at": NOW})
    table = {
        "relation": TABLE,
        "state": {"configuration": {FILES: "x", "dbt_delta.retention": lent}, "now": NOW},
    }
    found = lent
    package._put_back_retention(table)
    assert sent == []
    table["state"]["now"] = NOW + 2 * HOUR
    found = "of a third one"
    package._put_back_retention(table)
    assert sent == []
    found = lent
    package._put_back_retention(table)
    assert sent == [
        f"alter table `s`.`t` unset tblproperties if exists ('dbt_delta.retention', '{FILES}')",
    ]


def test_a_table_that_another_call_vacuums_is_skipped(
    macros: Callable[..., SimpleNamespace],
) -> None:
    package = macros(invocation_id="mine")
    package._untracked = lambda table, hours: None
    lent = json.dumps({FILES: None, "by": "other", "at": NOW})
    package._describe = lambda relation: {"properties": {"dbt_delta.retention": lent}}
    package._table_now = lambda table: table
    table = {"relation": TABLE, "floor": {"blocked": None, "hours": 168}, "state": {"now": NOW}}
    taken = package._take_upkeep({"kind": "vacuum", "table": table})
    assert taken["is_skipped"]
    assert taken["problem"].startswith("invocation other is about to VACUUM it")


@pytest.mark.parametrize(
    ("minutes", "found", "hours", "blocked"),
    [
        (10, None, 168, None),
        (11, {"state": {"now": NOW}, "pins": [], "floor": {"hours": 500, "blocked": None}}, 500,
         None),
        (240, {"state": {"now": NOW}, "pins": [], "floor": {"hours": 168, "blocked": "a view"}},
         168, "a view"),
        (11, None, 168, "it is not in the catalog"),
        (11, {"state": None, "problem": "no file"}, 168, "its log cannot be read (no file)"),
    ],
)  # fmt: skip
def test_vacuum_begins_with_what_is_needed_now(
    macros: Callable[..., SimpleNamespace], minutes: int, found: Any, hours: int, blocked: Any
) -> None:
    """However long the steps before it took."""
    given: list[Any] = []
    package = macros(run_query=lambda sql: SimpleNamespace(rows=[{"now": NOW + minutes * 60_000}]))
    package._read_table = lambda relation: found
    package._vacuum = lambda table, hours, mode, is_put_back: (
        given.append((hours, table["floor"]["blocked"])) or {"done": "", "problem": ""}
    )
    floor = {"hours": 168, "blocked": None}
    table = {"relation": TABLE, "state": {"now": NOW}, "pins": [], "floor": floor}
    package._take_upkeep({"kind": "vacuum", "table": table})
    assert given == [(hours, blocked)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("select a from t where b = 1 and x.c in (1) group by d", ["b", "c"]),
        ("select * from t join u on t.a = u.b order by c < 1", ["a", "b"]),
        ("select a = 1 from t", []),
        ("from t where `a b` is null and c between 1 and 2 and d not like 'x'", ["a b", "c", "d"]),
        ("from t where 1 < a and 2 = f(b) and c + d > 3", ["a", "d"]),
        ("from t -- where a = 1\nwhere note = 'b = 1' /* c = 1 */", ["note"]),
        ("from t {# where a = 1 #} where {{ x }} = B", ["b"]),
    ],
)
def test_names_that_sql_compares_where_it_filters(macros, code: str, names: list[str]) -> None:
    assert macros()._compared_names(code) == names
