"""What DESCRIBE prints, of tables and SELECTs, where no session can be asked."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import StrictUndefined

from tests.unit.macros.rendering import CompilationError, through

RELATION = SimpleNamespace(schema="s", identifier="t")
EMPTY = ("", "", "")
COLUMNS = [("id", "bigint", None), ("S", "string", "a text")]
PARTITIONS = [
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("id", "bigint", None),
]
DETAILS = [
    EMPTY,
    ("# Detailed Table Information", "", ""),
    ("Name", "spark_catalog.f.t", ""),
    ("Type", "MANAGED", ""),
    ("Comment", "all of it", ""),
    ("Location", "file:/t", ""),
    ("Provider", "Delta", ""),
    ("Owner", "me", ""),
    ("Table Properties", "[a.b=x=y, z,q=]]", ""),
]
# Columns may be called like anything else that is printed.
TRAPS = ("Provider", "Type", "Table Properties", "# Partition Information", "Location")
TRAPS += (
    "# Detailed Table Information",
    "View Text",
    "Comment",
    "Owner",
    "# Column Default Values",
)


def described(macros: Any, *parts: list[tuple[str, str, str | None]]) -> dict[str, Any]:
    return macros()._described([row for part in parts for row in part])


def test_described(macros) -> None:
    assert described(macros, COLUMNS, PARTITIONS, DETAILS) == {
        "columns": [
            {"name": "id", "type": "bigint", "comment": ""},
            {"name": "S", "type": "string", "comment": "a text"},
        ],
        "type": "table", "provider": "delta", "comment": "all of it", "partitions": ["id"],
        "clustering": [], "location": "file:/t", "owner": "me", "text": "",
        "properties": "a.b=x=y, z,q=]",
    }  # fmt: skip


def test_described_view(macros) -> None:
    details = [*DETAILS[:2], ("Type", "VIEW", ""), ("View Text", "select 1", "")]
    found = described(macros, COLUMNS, details)
    assert (found["type"], found["provider"], found["text"]) == ("view", "", "select 1")


def test_columns_that_are_called_like_details(macros) -> None:
    columns = [(name, "int", f"not the {name}") for name in TRAPS]
    usual = described(macros, COLUMNS, PARTITIONS, DETAILS)
    found = described(macros, columns, PARTITIONS, DETAILS)
    assert [(c["name"], c["type"], c["comment"]) for c in found["columns"]] == columns
    assert {**found, "columns": usual["columns"]} == usual


def test_a_column_that_is_called_like_a_heading(macros) -> None:
    found = described(macros, [("# col_name", "int", None), *COLUMNS], PARTITIONS, DETAILS)
    assert [column["name"] for column in found["columns"]] == ["# col_name", "id", "S"]


@pytest.mark.parametrize("name", [*TRAPS, "# col_name", "a`b", "a.b", "a,b"])
def test_partitions_that_are_called_like_anything_else(macros, name: str) -> None:
    """Spark quotes them."""
    quoted = "`" + name.replace("`", "``") + "`"
    partitions = [*PARTITIONS, (quoted, "int", None)]
    found = described(macros, COLUMNS, partitions, DETAILS)
    assert found["partitions"] == ["id", name]
    assert (found["type"], found["provider"]) == ("table", "delta")


@pytest.mark.parametrize("title", ["# Column Default Values", "# Constraints"])
def test_sections_behind_the_details_are_none_of_them(macros, title: str) -> None:
    columns = [(name, "string", None) for name in TRAPS]
    section = [EMPTY, (title, "", ""), *[(name, "VIEW", "'default'") for name in TRAPS]]
    found = described(macros, columns, PARTITIONS, DETAILS, section)
    assert found == described(macros, columns, PARTITIONS, DETAILS)
    assert (found["type"], found["provider"]) == ("table", "delta")


def test_sections_between_columns_and_details_are_neither(macros) -> None:
    section = [
        ("# Clustering Information", "", ""), PARTITIONS[1], ("S", "string", None),
        EMPTY, ("# Metadata Columns", "", ""), ("_metadata", "struct<x:int>", ""),
    ]  # fmt: skip
    assert described(macros, COLUMNS, section, DETAILS) == described(macros, COLUMNS, DETAILS)


def test_a_detail_without_a_value_does_not_end_the_details(macros) -> None:
    details = [*DETAILS[:2], ("Comment", "", ""), *DETAILS[3:4], ("Provider", "delta", "")]
    found = described(macros, COLUMNS, details)
    assert (found["comment"], found["provider"]) == ("", "delta")


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (None, []),
        ([], []),
        (["a", "b"], ["a", "b"]),
        ("[]", []),
        ('["a"]', ["a"]),
        ('["a,b","größe","`<18`.x"]', ["a,b", "größe", "`<18`.x"]),
    ],
)
def test_printed_list(macros, printed: Any, found: list[str]) -> None:
    assert macros()._printed_list(printed, "`s`.`t`") == found


@pytest.mark.parametrize(
    "printed",
    [
        '["a"b"]',
        '["a\\"]',
        '["a\\d"]',
        '["a\nb"]',
        '["a\\tb"]',
        '["a\\\\b"]',
    ],
)
def test_a_list_that_cannot_be_read_is_refused(macros, printed: str) -> None:
    said = f"The server's answer about `s`.`t` is ambiguous: {printed} contains a name"
    with pytest.raises(CompilationError, match=re.escape(said)):
        macros(adapter=through("thrift"))._printed_list(printed, "`s`.`t`")


def test_a_session_escapes_what_it_prints(macros) -> None:
    assert macros(adapter=through("session"))._printed_list('["a\\\\b"]', "`s`.`t`") == ["a\\b"]


REDACTED = "*********(redacted)"
SHOWN = [("k", 'a"b'), ("my.url", REDACTED), ("e", ""), ("transient_lastDdlTime", "1700000000")]


def asked(macros: Any, answers: dict[str, Any], **context: Any) -> SimpleNamespace:
    """Macros of a server's session that gives these answers; what it was sent is in `.sent`."""
    sent: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        sent.append(" ".join(sql.split()))
        return SimpleNamespace(rows=answers.get(sent[-1], []))

    create = SimpleNamespace(create=lambda **names: SimpleNamespace(**names))
    usual = {
        "run_query": run_query,
        "adapter": through("thrift"),
        "this": RELATION,
        "invocation_id": "run",
        "local_md5": lambda text: "0123456789abcdef",
        "api": SimpleNamespace(Relation=create),
    }
    package = macros(**{**usual, **context})
    package.sent = sent
    return package


def test_properties_in_rows(macros) -> None:
    package = asked(macros, {"show tblproperties `s`.`t`": SHOWN})
    assert package._shown_properties("`s`.`t`") == {"k": 'a"b', "my.url": None, "e": ""}


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ({"a": "1", "b": "x,y=z"}, {"a": "1", "b": "x,y=z"}),
        ('{"a":"1","b":"x,y=z","c":""}', {"a": "1", "b": "x,y=z", "c": ""}),
        ("{}", {}),
    ],
)
def test_printed_properties(macros, printed: Any, found: dict[str, str]) -> None:
    package = asked(macros, {})
    assert package._printed_properties(printed, "`s`.`t`") == found
    assert package.sent == []


@pytest.mark.parametrize(
    "printed",
    [
        '{"k":"a"b"}',
        '{"k":"v rlike \'\\d+\'"}',
        '{"k":"a\nb"}',
        None,
        '{"k":"v rlike \'\\\\d+\'"}',
        '{"k":"v rlike \'\\bx\'"}',
    ],
)
def test_properties_that_cannot_be_read_are_asked_for_in_rows(macros, printed: str | None) -> None:
    package = asked(macros, {"show tblproperties `s`.`t`": SHOWN})
    found = package._printed_properties(printed, "`s`.`t`")
    assert found == {"k": 'a"b', "my.url": None, "e": ""}


DETAIL = {
    "clusteringColumns": '["id","`a.b`.c","S.`x``y`"]',
    "properties": '{"my.url":"http://x","delta.constraints.c":"id > 0"}',
    "sizeInBytes": 5,
    "tableFeatures": '["clustering","invariants"]',
}
PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 7}
PROPERTIES = {
    "my.url": "http://x",
    "delta.constraints.c": "id > 0",
    "delta.minReaderVersion": "1",
    "delta.minWriterVersion": "7",
    "delta.feature.clustering": "supported",
    "delta.feature.invariants": "supported",
}


@pytest.mark.parametrize("is_printed", [True, False])
def test_a_delta_table_is_described_by_two_statements(macros, is_printed: bool) -> None:
    detail = dict(DETAIL)
    if not is_printed:
        detail.update({k: json.loads(v) for k, v in DETAIL.items() if isinstance(v, str)})
    package = asked(
        macros,
        {
            "describe extended `s`.`t`": [
                *COLUMNS,
                *PARTITIONS[:2],
                ("`a b`", "int", None),
                PARTITIONS[2],
                *DETAILS,
            ],
            "describe detail `s`.`t`": [{**detail, **PROTOCOL}],
        },
    )
    found = package._describe(RELATION)
    assert found["partitions"] == ["a b", "id"]
    assert found["clustering"] == ["id", "a.b.c", "S.x`y"]
    assert (found["properties"], found["bytes"]) == (PROPERTIES, 5)
    assert [column["name"] for column in found["columns"]] == ["id", "S"]
    assert len(package.sent) == 2


def test_properties_in_rows_are_those_of_the_table_alone(macros) -> None:
    """Not what SHOW TBLPROPERTIES makes of the protocol and the clustering."""
    shown = [("clusteringColumns", '[["id"]]'), *PROPERTIES.items()]
    package = asked(
        macros,
        {
            "describe extended `s`.`t`": [*COLUMNS, *DETAILS],
            "describe detail `s`.`t`": [{**DETAIL, **PROTOCOL, "properties": '{"k":"a"b"}'}],
            "show tblproperties `s`.`t`": shown,
        },
    )
    assert package._describe_by_sql(RELATION)["properties"] == PROPERTIES


@pytest.mark.parametrize("provider", ["", "parquet"])
def test_what_is_no_delta_table_has_its_properties_in_rows(macros, provider: str) -> None:
    kind = [("Type", "MANAGED" if provider else "VIEW", ""), ("Provider", provider, "")]
    properties = ("Table Properties", f'[e=, k=a"b, my.url={REDACTED}]', "")
    package = asked(
        macros,
        {
            "describe extended `s`.`t`": [*COLUMNS, *DETAILS[:2], *kind, properties],
            "show tblproperties `s`.`t`": SHOWN,
        },
    )
    found = package._describe_by_sql(RELATION)
    assert (found["type"], found["provider"]) == ("table" if provider else "view", provider)
    assert found["properties"] == {"k": 'a"b', "my.url": None, "e": ""}


def test_a_view_without_properties_has_an_empty_dictionary(macros) -> None:
    rows = [*COLUMNS, *DETAILS[:2], ("Type", "VIEW", "")]
    package = asked(macros, {"describe extended `s`.`t`": rows})
    assert package._describe_by_sql(RELATION)["properties"] == {}
    assert package.sent == ["describe extended `s`.`t`"]


@pytest.mark.parametrize(
    ("found", "properties"), [({"properties": {"a": "1"}}, {"a": "1"}), (None, {})]
)
def test_the_session_is_asked_before_anything_is_printed(
    macros, found: Any, properties: dict[str, str]
) -> None:
    """It knows nothing of a Delta table whose log is not there, nor does a server's."""
    names: list[str] = []
    package = macros(
        adapter=SimpleNamespace(dbt_delta_relation=lambda *of: (names.extend(of), found)[1])
    )
    package._describe_by_sql = lambda relation: {"properties": {}}
    assert package._describe(RELATION)["properties"] == properties
    assert names == ["s", "t"]


# A field's name may look like the end of its struct.
PRINTED = [("id", "int"), ("s", "struct<a<:int,b>:int>")]
EXACT = [
    {"name": "id", "type": "int", "carried": True},
    {"name": "s", "type": "struct<`a<`:int,`b>`:int>", "carried": False},
]
INT = {"name": "int"}
AS_JSON = {
    "columns": [
        {"name": "id", "type": INT, "nullable": True, "default": "0"},
        {
            "name": "s",
            "type": {
                "name": "struct",
                "fields": [{"name": "a<", "type": INT}, {"name": "b>", "type": INT}],
            },
        },
    ]
}
VIEW = "__dbt_columns_0123456789"
ANSWER = {f"describe extended {VIEW} as json": [(json.dumps(AS_JSON),)]}


def test_types_with_fields_are_asked_for_by_a_view(macros) -> None:
    rows = [(*column, "c") for column in PRINTED] + DETAILS[:4]
    package = asked(macros, {"describe extended `s`.`t`": rows, **ANSWER})
    found = package._describe_by_sql(RELATION)["columns"]
    assert found == [
        {"name": column["name"], "type": column["type"], "comment": "c"} for column in EXACT
    ]
    assert f"create or replace temporary view {VIEW} as select * from `s`.`t`" in package.sent


def test_operations_have_no_model_to_name_the_view_after(macros) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        sent.append(sql)
        return SimpleNamespace(rows=[(json.dumps(AS_JSON),)])

    package = asked(macros, {}, this=StrictUndefined(name="this"), run_query=run_query)
    assert package._columns_by_view("select 1") == EXACT
    # Without the plugin sessions are shared: nothing stays there.
    assert [sql.partition(" ")[0] for sql in sent] == ["create", "describe", "drop"]


@pytest.mark.parametrize(
    ("types", "hides"),
    [
        (["int", "map<string,array<int>>", "string collate UNICODE"], False),
        ([], False),
        (["int", "array<struct<a:int>>"], True),
        (["map<int,... 3 more fields>"], True),
    ],
)
def test_hides_names(macros, types: list[str], hides: bool) -> None:
    columns = [{"name": "struct<", "type": type} for type in types]
    assert macros()._hides_names(columns) is hides


CHECKS = {"c": "id > 0", "d`e": "id is not null"}
PLANNED = (
    "select\n    batch.*,\n    (id > 0) as `constraint c`,\n"
    "    (id is not null) as `constraint d``e`\nfrom (\nselect 1 as id\n) as batch"
)


def test_a_planned_select_has_the_expressions_behind_its_columns(macros) -> None:
    assert macros().get_planned_sql("select 1 as id", CHECKS) == PLANNED
    assert (
        macros().get_planned_sql("select 1") == "select\n    batch.*\nfrom (\nselect 1\n) as batch"
    )


EXTRA = [("constraint c", "boolean"), ("constraint d`e", "boolean")]


def test_columns_are_those_of_the_session_without_the_expressions(macros) -> None:
    sent: list[str] = []

    def columns(sql: str) -> list[dict[str, str]]:
        sent.append(sql)
        return EXACT + [{"name": name, "type": type} for name, type in EXTRA]

    package = macros(adapter=SimpleNamespace(dbt_delta_columns=columns))
    assert package._columns_of("select 1 as id", CHECKS) == EXACT
    assert sent == [PLANNED]
    assert package._columns_of("select 1 as id")[:2] == EXACT


@pytest.mark.parametrize("adapter", [{}, {"dbt_delta_columns": lambda sql: None}])
def test_columns_are_printed_without_a_session(macros, adapter: dict[str, Any]) -> None:
    sql = f"describe query {' '.join(PLANNED.split())}"
    rows = [("id", "int", None), ("m", "map<int,string>", "c"), *EXTRA]
    package = asked(macros, {sql: rows}, adapter=through("thrift", **adapter))
    assert package._columns_of("select 1 as id", CHECKS) == [
        {"name": "id", "type": "int"}, {"name": "m", "type": "map<int,string>"},
    ]  # fmt: skip
    assert package.sent == [sql]


def test_columns_with_fields_are_printed_by_a_view(macros) -> None:
    planned = "select batch.* from ( select 1 ) as batch"
    package = asked(macros, {f"describe query {planned}": PRINTED, **ANSWER})
    assert package._columns_of("select 1") == EXACT
    assert package.sent[1:] == [
        f"create or replace temporary view {VIEW} as {planned}",
        f"describe extended {VIEW} as json",
        f"drop view if exists {VIEW}",
    ]


def test_a_server_is_asked_for_defaults_where_rows_are_stored(macros) -> None:
    package = asked(macros, ANSWER)
    assert package._columns_of("select 1", stored=True) == EXACT
    assert not any(sql.startswith("describe query") for sql in package.sent)
    assert " ".join(package.get_guarded_sql("select 1", EXACT).split()) == (
        "select cast(`id` as int) as `id`, `s` from ( select 1 ) as batch"
    )


def interval(*units: str | None) -> dict[str, str | None]:
    return {"name": "interval", "start_unit": units[0], "end_unit": units[1]}


@pytest.mark.parametrize(
    ("printed", "type"),
    [
        ({"name": "int"}, "int"),
        ({"name": "integer"}, "int"),
        ({"name": "bigint"}, "bigint"),
        ({"name": "void"}, "void"),
        ({"name": "variant"}, "variant"),
        ({"name": "time(6)"}, "time(6)"),
        ({"name": "timestamp_ltz"}, "timestamp"),
        ({"name": "timestamp_ntz"}, "timestamp_ntz"),
        ({"name": "string"}, "string"),
        ({"name": "string", "collation": "UTF8_BINARY"}, "string"),
        ({"name": "string", "collation": "UNICODE_CI"}, "string collate UNICODE_CI"),
        ({"name": "decimal", "precision": 10, "scale": 0}, "decimal(10,0)"),
        (interval("day", "second"), "interval day to second"),
        (interval("day", "day"), "interval day"),
        (interval("year", None), "interval year"),
        ({"name": "array", "element_type": {"name": "timestamp_ltz"}}, "array<timestamp>"),
        ({"name": "map", "key_type": INT, "value_type": {"name": "date"}}, "map<int,date>"),
        ({"name": "struct", "fields": []}, "struct<>"),
        (
            {"name": "array", "element_type": AS_JSON["columns"][1]["type"]},
            "array<struct<`a<`:int,`b>`:int>>",
        ),
        ({"name": "varchar", "length": 5}, "varchar(5)"),
        ({"name": "char", "length": 3}, "char(3)"),
        ({"name": "interval"}, "interval"),
    ],
)  # fmt: skip
def test_type_of_json(macros, printed: dict[str, Any], type: str) -> None:
    assert macros()._type_of_json(printed) == type
