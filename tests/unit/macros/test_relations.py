"""What DESCRIBE says of a table, and what brings it to its configuration."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError

ROWS = [
    ("id", "bigint", None),
    ("S", "struct<a:int>", "a struct"),
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("id", "bigint", None),
    ("", "", ""),
    ("# Detailed Table Information", "", ""),
    ("Name", "spark_catalog.f.t", ""),
    ("Type", "MANAGED", ""),
    ("Comment", "all of it", ""),
    ("Provider", "delta", ""),
    (
        "Table Properties",
        '[a.b=x=y, z],clusteringColumns=[["id"],["S","a"]],delta.feature.clustering=supported,q=]',
        "",
    ),
]


def test_described(macros) -> None:
    found = macros(fromjson=__import__("json").loads)._described(ROWS)
    assert [column["name"] for column in found["columns"]] == ["id", "S"]
    assert found["columns"][1]["comment"] == "a struct"
    assert (found["type"], found["provider"], found["comment"]) == ("table", "delta", "all of it")
    assert found["partitions"] == ["id"]
    assert found["clustering"] == ["id", "S.a"]


@pytest.mark.parametrize(
    ("key", "value", "has"),
    [("a", "1", True), ("a", 1, True), ("b", True, True), ("b", "false", False), ("c", "", True)],
)
def test_has_property(macros, key: str, value: object, has: bool) -> None:
    assert macros()._has_property("a=1,b=true,c=", key, value) is has


def layout(**entries: Any) -> dict[str, Any]:
    """A configuration that promises nothing but these."""
    nothing: dict[str, Any] = {
        "partitions": [], "clustering": [], "location": None, "comment": "", "checks": {},
        "column_comments": {}, "properties": {}, "defaults": {}, "options": {},
    }  # fmt: skip
    return {**nothing, **entries}


EXISTING = {
    "relation": SimpleNamespace(schema="s", identifier="t"),
    "columns": [{"name": "id", "type": "int", "comment": "old"}],
    "partitions": [],
    "clustering": ["id"],
    "comment": "it's",
    "properties": "a=1",
}


def test_nothing_to_align(macros) -> None:
    promised = layout(
        clustering=["ID"], comment="it's", column_comments={"ID": "old"}, properties={"a": 1}
    )
    assert macros().get_align_sql(EXISTING, promised) == []


def test_align(macros) -> None:
    promised = layout(comment="new", column_comments={"ID": "new"}, properties={"a": 2})
    assert macros().get_align_sql(EXISTING, promised) == [
        "alter table `s`.`t` set tblproperties ('a' = '2')",
        "alter table `s`.`t` cluster by none",
        "comment on table `s`.`t` is 'new'",
        "alter table `s`.`t` alter column `id` comment 'new'",
    ]


def test_change_feed_and_column_mapping_are_not_created_together(macros) -> None:
    both = {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"}
    assert macros()._creation_properties(layout(properties=both)) == {
        "delta.columnMapping.mode": "name"
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"partition_by": "a", "liquid_clustered_by": "b"}, "exclude each other"),
        ({"liquid_clustered_by": list("abcde")}, "at most four"),
        ({"liquid_clustered_by": "a", "zorder": "b"}, "exclude each other"),
    ],
)
def test_refused_layout(macros, config: dict[str, Any], message: str) -> None:
    package = macros(config=SimpleNamespace(get=lambda key, default=None: config.get(key, default)))
    with pytest.raises(CompilationError, match=message):
        package._layout(EXISTING["relation"])


@pytest.mark.parametrize(
    ("path", "exact"),
    [
        ("ID", "Id"),
        ("a.b", "a.b"),
        (["s", "X"], "S.x"),
        (["s", "nope"], None),
        (["id", "x"], None),
        ("nope", None),
    ],
)
def test_exact_path(macros, path: object, exact: str | None) -> None:
    columns = [
        {"name": "Id", "type": "int"},
        {"name": "S", "type": "struct<x:int,y:string>"},
        {"name": "a.b", "type": "int"},
    ]
    assert macros()._exact_path(columns, path) == exact
