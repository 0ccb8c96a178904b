"""Texts of the landing macros; what they do is in tests/functional/landing."""

import json
import re
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

COLUMNS = {"id": "bigint", "order": "string"}


def test_no_files_read_nothing(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", COLUMNS, [])
    assert "where false" in sql
    assert "where _metadata.file_path in" not in sql


def test_only_the_named_files_are_read(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", COLUMNS, ["file:/it's.csv", "file:/b.csv"])
    assert r"\\z" in sql


@pytest.mark.parametrize("format", ["csv", "json", "text"])
@pytest.mark.parametrize("large", [[], ["file:/a"]])
def test_patterns_have_backslashes_that_spark_leaves(macros, format: str, large: list[str]) -> None:
    """Spark takes a single one away: the end of a text was the letter z."""
    own = macros()
    if format == "csv":
        sql = own.get_landed_csv_sql("/l/a", COLUMNS, ["file:/a"], large=large)
    else:
        columns = COLUMNS if format == "json" else {}
        sql = own.get_landed_files_sql("/l/a", format, columns, ["file:/a"], large=large)
    assert r"\z" in sql
    assert not re.findall(r"(?<!\\)(?:\\\\)*\\[^\\rnu'\"]", sql)


def test_large_csv_files_are_read_by_lines(macros) -> None:
    sql = macros().get_landed_csv_sql("/l/a", COLUMNS, ["file:/a", "file:/b"], large=["file:/b"])
    read, whole = sql.index("'lineSep' = "), sql.index("'wholetext' = ")
    assert sql.index("_metadata.file_path in ('file:/b')") > read
    assert sql.index("_metadata.file_path in ('file:/a')") > whole
    assert "numbered" not in macros().get_landed_csv_sql("/l/a", COLUMNS, ["file:/a"])


def test_names_are_quoted(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", COLUMNS, [])
    assert "as `order`" in sql
    assert "try_cast(fields[0] as bigint)" in sql
    sql = macros().get_landed_csv_sql("/landing/a", COLUMNS, [], drift="add", required=["id"])
    assert "try_cast(fields['id'] as bigint)" in sql


def test_the_first_load_has_number_one_and_later_ones_count_on(macros) -> None:
    get = macros().get_landed_csv_sql
    assert "cast(1 as bigint) as _load_id" in get("/l/a", COLUMNS, [])
    later = get("/l/a", COLUMNS, [], ledger="db.t")
    assert "(select coalesce(max(_load_id), 0) + 1 from db.t) as _load_id" in " ".join(
        later.split()
    )


@pytest.mark.parametrize("columns", [["id"], {}, "id", None])
def test_columns_must_be_a_mapping(macros, columns: object) -> None:
    with pytest.raises(CompilationError, match=r"landed_csv needs columns as a mapping .* Got: "):
        macros().landed_csv("a", columns)


@pytest.mark.parametrize(
    ("columns", "separator", "message"),
    [
        ({"id": "int", "_File": "int"}, ",", r"has the name '_File', which the macro gives to"),
        ({"_rejected_reason": "string"}, ",", "Rename it in the source"),
        ({"id": "int", "ID": "int"}, ",", "has the name 'ID' twice"),
        *((COLUMNS, odd, "separator must be text") for odd in ("\\", "\\t", '"', "\n", "", None)),
    ],
)
def test_odd_arguments_are_refused(macros, columns, separator, message) -> None:
    with pytest.raises(CompilationError, match="landed_csv: .*" + message):
        macros().landed_csv("a", columns, separator=separator)


@pytest.mark.parametrize(
    ("format", "columns", "drift", "message"),
    [
        ("xml", COLUMNS, "fail", "format is 'xml'. Use one of csv, json, parquet, orc, text."),
        ("csv", None, "fail", "needs columns as a mapping of name to type"),
        ("json", None, "fail", "needs columns as a mapping of name to type"),
        ("json", COLUMNS, "ignore", "drift is 'ignore'. Use one of fail, add, rescue."),
        ("json", {"_Rescued": "int"}, "fail", "has the name '_Rescued', which the macro gives to"),
        ("orc", {"a": "int", "A": "int"}, "fail", "has the name 'A' twice"),
        ("text", COLUMNS, "fail", "have one column, value. Remove columns"),
        ("json", COLUMNS, "add", "needs on_schema_change: append_new_columns"),
    ],
)
def test_odd_arguments_of_other_files_are_refused(
    macros, format: str, columns: Any, drift: str, message: str
) -> None:
    package = macros(execute=True, config={"on_schema_change": "fail"})
    with pytest.raises(CompilationError, match=message):
        package.landed_files("a", format, columns, drift)


@pytest.mark.parametrize(
    ("kind", "has_extra"),
    [
        ("bigint", False), ("variant", False), ("array<int>", False), ("map<string,date>", False),
        ("struct<a:int>", True), ("array<struct<`x.y`:int>>", True),
        ("ARRAY<STRUCT<A: INT>>", True), ("map<string,array<struct<a:string>>>", True),
    ],
)  # fmt: skip
def test_only_structs_can_have_more_fields_than_their_type(
    macros, kind: str, has_extra: bool
) -> None:
    value = macros()._json_value("fields['v']", kind)
    assert bool(value["extra"]) is has_extra
    assert value["type"] == kind


def test_keys_of_maps_are_names(macros) -> None:
    with pytest.raises(CompilationError, match=r"has keys of type int\. JSON has only names"):
        macros()._json_value("fields['v']", "map<int,string>")


def test_columns_of_files_that_have_another_type(macros) -> None:
    found = [{"name": "Id", "type": "int"}, {"name": "s", "type": "struct<a:int>"}]
    values = macros()._columnar_values({"id": "bigint", "s": "struct<a:int>", "n": "date"}, found)
    assert values["s"] == {"type": "struct<a:int>", "value": "`c2`", "misfit": ""}
    assert values["n"]["value"] == "cast(null as date)"
    assert values["id"]["value"] == "try_cast(cast(`c1` as string) as bigint)"
    assert values["id"]["misfit"]
    for columns in ({"s": "struct<a:bigint>"}, {"id": "binary"}, {"id": "array<int>"}):
        with pytest.raises(CompilationError, match="Give it the type of the files, and cast it"):
            macros()._columnar_values(columns, found)
    assert [one["value"] for one in macros()._columnar_unknown({"ID": "int"}, found)] == ["`c2`"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"unique_key": "id"}, "a unique_key"),
        ({"incremental_strategy": "insert_overwrite"}, "incremental_strategy insert_overwrite"),
        ({"incremental_strategy": "append"}, None),
        ({"incremental_strategy": "merge"}, None),
        ({}, None),
    ],
)
def test_a_ledger_keeps_its_rows(macros, config: dict[str, Any], message: str | None) -> None:
    node = {"name": "m", "alias": "m", "schema": "s", "config": {}, "columns": {}}
    package = macros(config={"materialized": "incremental", **config}, model=node)
    if message is None:
        assert package._check_ledger_strategy("landed_csv") == ""
        return
    with pytest.raises(CompilationError, match=f"the model has {message}, which replaces rows"):
        package._check_ledger_strategy("landed_csv")


@pytest.mark.parametrize("action", ["drop", "quarantine", "fail", "warn"])
def test_a_file_without_a_row_in_the_table_would_land_again(macros, action: str) -> None:
    config = {"expectations": [{"name": "a", "expression": "x > 0", "action": action}]}
    node = {"name": "m", "alias": "m", "schema": "s", "config": config, "columns": {}}
    package = macros(
        config={"materialized": "incremental"}, model=node, graph=SimpleNamespace(nodes={})
    )
    if action in ("fail", "warn"):
        package._check_ledger_strategy("landed_csv")
        return
    with pytest.raises(CompilationError, match="landed_csv: expectation a of the model leaves"):
        package._check_ledger_strategy("landed_csv")


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/lake/shop/a", "/lake/shop/a"),
        ("s3a://bucket/shop/a", "/bucket/shop/a"),
        ("file:///lake//shop/a", "/lake/shop/a"),
        ("var/landing/shop/a", "/var/landing/shop/a"),
        ("./var/shop/a", "/shop/a"),
        ("/lake/../shop/a", "/shop/a"),
        ("/la%20ke/shop/a", "/shop/a"),
    ],
)
def test_the_end_of_a_folders_path(macros, path: str, end: str) -> None:
    assert macros()._end_of_path(path, "shop/a") == end


@pytest.mark.parametrize(
    ("path", "folder", "end"),
    [
        ("./var/shop//a/", "shop//a/", "/shop/a"),
        ("./var//shop/a", "/shop/a", "/shop/a"),
        ("s3a://bucket/./shop", "s3a://bucket/shop", "/bucket/shop"),
    ],
)
def test_a_folder_is_found_however_it_is_written(macros, path: str, folder: str, end: str) -> None:
    assert macros()._end_of_path(path, folder) == end


@pytest.mark.parametrize(
    "folder", ["../a", "a/..", "./a", "a/./b", "s3a://b/../a", ".", "", "/", 7]
)
def test_folders_that_spark_names_in_another_way_are_refused(macros, folder: Any) -> None:
    with pytest.raises(CompilationError, match="landed_csv: folder is '"):
        macros(env_var=lambda *_: "/data")._landing(folder, "landed_csv")


@pytest.mark.parametrize("folder", ["a", "/a/b/", ".a/b..", "s3a://lake/a.b"])
def test_other_folders_are_not(macros, folder: str) -> None:
    macros()._check_folder(folder, "landed_csv")


@pytest.mark.parametrize("separator", [",", ";", "|", "\t", "||"])
def test_usual_arguments_pass(macros, separator: str) -> None:
    macros()._check_landed_arguments({"id": "int", "file": "string"}, separator)


def test_landing_dir_by_variable_environment_and_place(macros) -> None:
    def landing_dir(variable: str | None = None, home: str | None = None) -> str:
        return macros(
            var=lambda name, default: variable or default,
            env_var=lambda name, default: home or default,
            flags=SimpleNamespace(PROFILES_DIR="/project"),
        ).landing_dir()

    assert landing_dir() == "/project/var/landing"
    assert landing_dir(home="/data") == "/data/landing"
    assert landing_dir(variable="/mine", home="/data") == "/mine"


class MaxBy:
    """Spark's max_by for SQLite, by structs as JSON."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, str]] = []

    def step(self, value: str, order: str) -> None:
        self.pairs.append((json.loads(order), value))

    def finalize(self) -> str | None:
        return max(self.pairs)[1] if self.pairs else None


@pytest.mark.parametrize(
    ("rejected", "ids"),
    [
        # The newest load first; in it the file that was changed last, then by name.
        ([], [6, 7]),
        ([7], [6]),
        ([6, 7], [5]),
        ([5, 6, 7], [4]),
        ([4, 5, 6, 7], [1, 2]),
        ([1, 2, 4, 5, 6, 7], [3]),
        ([1, 2, 3, 4, 5, 6, 7], []),
    ],
)
def test_latest_dump_is_the_good_rows_of_the_newest_file_with_any(
    macros, rejected: list[int], ids: list[int]
) -> None:
    database = sqlite3.connect(":memory:")
    database.create_aggregate("max_by", 2, MaxBy)
    database.create_function("struct", -1, lambda *values: json.dumps(values))
    database.execute(
        "create table landed "
        "(id, _load_id, _file_modified_at, _file, _file_hash, _line, _rejected_reason)"
    )
    landed = [
        (3, 1, "2024-01-09", "z.csv", "e"),
        (1, 2, "2024-01-01", "c.csv", "d"), (2, 2, "2024-01-01", "c.csv", "d"),
        (4, 9, "2024-01-02", "b.csv", "c"),
        (5, 10, "2024-01-03", "a.csv", "b"),
        (6, 10, "2024-01-03", "b.csv", "a"), (7, 10, "2024-01-03", "b.csv", "a"),
    ]  # fmt: skip
    database.executemany(
        "insert into landed values (?, ?, ?, ?, ?, 2, ?)",
        [(*row, "bad" if row[0] in rejected else None) for row in landed],
    )
    found = database.execute(macros().latest_dump("landed")).fetchall()
    assert sorted(row[0] for row in found) == ids
    # The content of the first file once more, in a file of its own; then one without good lines.
    same = (None, 11, "2024-01-04", "d.csv", "e", 0, "same content as z.csv")
    bad = (None, 12, "2024-01-05", "e.csv", "f", 0, "same content as f.csv")
    database.executemany("insert into landed values (?, ?, ?, ?, ?, ?, ?)", [same, bad])
    found = database.execute(macros().latest_dump("landed")).fetchall()
    assert [row[0] for row in found] == ([3] if 3 not in rejected else ids)
    # A dump with rejected lines only, whose lines were erased, is none.
    line = (None, 13, "2024-01-06", "g.csv", "g", 2, "erased line")
    database.executemany("insert into landed values (?, ?, ?, ?, ?, ?, ?)", [line])
    again = database.execute(macros().latest_dump("landed")).fetchall()
    assert again == found
    if not rejected:
        best = (None, 14, "2024-01-07", "h.csv", "h", 2, None)
        # Its file was written anew.
        rows = [(8, *best[1:]), (None, 14, "2024-01-07", "h.csv", "z0", 1, "erased")]
        database.executemany("insert into landed values (?, ?, ?, ?, ?, ?, ?)", rows)
        found = database.execute(macros().latest_dump("landed")).fetchall()
        assert [row[0] for row in found] == [8]
        # All rows of the newest dump were erased: what it did not have does not come back.
        database.execute("update landed set _rejected_reason = 'erased' where id = 8")
        assert not database.execute(macros().latest_dump("landed")).fetchall()


@pytest.mark.parametrize(
    ("line", "separator", "is_open"),
    [
        ('a,"b', ",", True),
        ('"', ",", True),
        ('a,"b ""c""', ",", True),
        ('"a","b', ",", True),
        ('a,"b","c"', ",", False),
        ('a,b"', ",", False),
        # A last field in quotation marks that contains the separator.
        ('a,"b,"', ",", False),
        ('a||"||"', "||", False),
        ('1~"q~"""', "~", False),
        # No quotation mark ends the first field, so it is plain text.
        ('"a"b,"c', ",", True),
        ('"a"b,"c,"', ",", False),
    ],
)
def test_a_quoted_field_that_does_not_end_on_its_line(
    macros, line: str, separator: str, is_open: bool
) -> None:
    condition = macros()._is_open_line("value", separator)
    pattern = condition.partition(" rlike '")[2].removesuffix("'").replace("\\\\", "\\")
    assert bool(re.search(pattern.replace(r"\z", r"\Z"), line)) is is_open
