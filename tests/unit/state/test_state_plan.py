"""What the JSON of Spark's plans says; that Spark writes it so is proven in tests/functional."""

from typing import Any

import pytest

from dbt_delta.state import plan

EXPRESSION = "org.apache.spark.sql.catalyst.expressions"
LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
ROW = {"class": f"{LOGICAL}.OneRowRelation", "num-children": 0}


def table(name: str, schema: str = "a", **more: Any) -> dict[str, Any]:
    identifier = {"table": name, "database": schema, "catalog": "spark_catalog", **more}
    return {
        "class": "org.apache.spark.sql.execution.datasources.LogicalRelation",
        "num-children": 0,
        "catalogTable": {"identifier": identifier, "provider": "delta"},
    }


def view(name: str, text: str = "select 1") -> dict[str, Any]:
    identifier = {"table": name, "database": "a", "catalog": "spark_catalog"}
    return node("View", desc={"identifier": identifier, "viewText": text}, isTempView=False)


def node(name: str, children: int = 1, **more: Any) -> dict[str, Any]:
    return {"class": f"{LOGICAL}.{name}", "num-children": children, **more}


def expression(kind: str, children: int = 0, **more: Any) -> dict[str, Any]:
    return {"class": f"{EXPRESSION}.{kind}", "num-children": children, **more}


def literal(value: str) -> dict[str, Any]:
    return expression("Literal", value=value, dataType="string")


def selected(*tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [node("Project", projectList=[list(tree)]), ROW]


def test_relations_are_found_behind_views_and_in_subqueries() -> None:
    subquery = expression("ScalarSubquery", plan=[node("Project"), table("hidden")])
    found = plan.of_plan(
        [
            node("Join", 2),
            node("Filter", condition=[subquery]),
            view("outer"),
            node("Project"),
            view("inner"),
            table("deep"),
            node("Union", 2),
            table("Left"),
            table("deep"),
        ]
    )
    assert found.tables == {("a", "deep"), ("a", "left"), ("a", "hidden")}
    assert found.views == {("a", "outer"), ("a", "inner")}
    assert found.via[("a", "deep")] == {("a", "outer"), ("a", "deep")}
    assert found.via[("a", "hidden")] == {("a", "hidden")}
    assert not found.unsure


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        pytest.param(selected(expression("aggregate.First")), "chance: First", id="first"),
        pytest.param(selected(expression("aggregate.Sum")), "", id="sum"),
        pytest.param(selected(expression("PythonUDF")), "PythonUDF", id="python"),
        *(
            pytest.param(selected(expression(name)), name, id=name)
            for name in ("PythonUDAF", "PythonUDTF", "ApplyFunctionExpression")
        ),
        pytest.param(selected(expression("aggregate.V2Aggregator")), "V2Aggregator", id="v2"),
        pytest.param(selected(expression("VariableReference")), "VariableReference", id="variable"),
        pytest.param([node("ScriptTransformation"), ROW], "ScriptTransformation", id="script"),
        pytest.param(
            selected({"class": "org.apache.spark.sql.hive.HiveGenericUDF", "num-children": 0}),
            "HiveGenericUDF",
            id="hive",
        ),
        pytest.param([node("GlobalLimit"), node("LocalLimit"), table("t")], "LIMIT", id="limit"),
        pytest.param(
            [node("GlobalLimit"), node("LocalLimit"), node("Sort"), table("t")], "", id="sorted"
        ),
        pytest.param(
            [node("GlobalLimit", limitExpr=[expression("Literal", value="0")]), table("t")],
            "",
            id="limit 0",
        ),
        pytest.param([node("Sample"), table("t")], "chance: Sample", id="sample"),
        pytest.param([{**table("t"), "catalogTable": None}], "files", id="path"),
        pytest.param([table("t", catalog="other")], "catalog other", id="catalog"),
        pytest.param(
            selected(expression("AttributeReference", name="_metadata")), "_metadata", id="metadata"
        ),
        pytest.param(
            selected(expression("Cast", 1, dataType="timestamp"), literal("12:30")),
            "clock: '12:30'",
            id="time of day",
        ),
        pytest.param(
            selected(expression("Cast", 1, dataType="date"), literal(" Today UTC")),
            "clock",
            id="today",
        ),
        pytest.param(
            selected(expression("Cast", 1, dataType="timestamp"), literal("2020-01-01 12:30")),
            "",
            id="with a date",
        ),
        pytest.param(
            selected(expression("Cast", 1, dataType="integer"), literal("12:30")), "", id="no time"
        ),
    ],
)
def test_what_rows_depend_on_beside_relations(tree: list[Any], reason: str) -> None:
    found = plan.of_plan(tree).unsure
    assert reason in found
    assert bool(reason) == bool(found)


@pytest.mark.parametrize(
    ("text", "is_of_today"),
    [
        ("select date 'now'", True),
        ("select timestamp '12:30:00' as a", True),
        ("select date /* of */ -- it\n 'today'", True),
        ("select TIMESTAMP_NTZ'today'", True),
        ("select date '2020-01-01', 'today'", False),
        ("select * from t timestamp as of current_date()", True),
        ("select * from t for system_time as of (now() - interval 1 day)", True),
        ("select * from t TIMESTAMP AS OF '2020-01-01'", False),
        ("select * from t timestamp as of timestamp '2020-01-01 10:00:00'", False),
    ],
)
def test_literals_that_spark_reads_as_of_today(text: str, is_of_today: bool) -> None:
    assert bool(plan.of_texts(["select 1", text])) == is_of_today
