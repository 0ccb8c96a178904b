"""What a SELECT reads, and what its rows depend on beside that: Spark's own plan tells.

The analyzed plan has every table behind every view, name and alias. As JSON it comes in one call.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt_delta.session.facts import active
from dbt_delta.session.java import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KNOWN = (
    "org.apache.spark.sql.catalyst.expressions.",
    "org.apache.spark.sql.catalyst.plans.logical.",
)
_RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
_STREAM = "org.apache.spark.sql.execution.streaming.runtime.StreamingRelation"
# Which row of several these take is chance. Within an aggregate Spark calls them deterministic.
_CHANCE = {
    *("First", "Last", "AnyValue", "CollectList", "CollectSet", "ListAgg"),
    *("Mode", "Sample"),
}
_FOREIGN = (
    *("PythonUDF", "PythonUDAF", "PythonUDTF", "PythonWorkerLogs", "HiveUDF"),
    *("ScalaUDF", "ScalaAggregator", "TypedAggregate", "ApplyFunctionExpression", "V2Aggregator"),
    *("ScriptTransformation", "VariableReference"),
)
_PARSING = ("Cast", "ParseToTimestamp", "ParseToDate", "ToTimestamp", "TryToTimestamp", "ToTime")
_OF_TODAY = re.compile(r"\s*(?:(?:now|today|yesterday|tomorrow)\b.*|T?\d{1,2}:\d.*)", re.I | re.S)
_GAP = r"(?:\s|/\*.*?\*/|--[^\n]*\n)*"
_QUOTED = r"(['\"])\s*(?:(?:now|today|yesterday|tomorrow)\b|T?\d{1,2}:\d)[^'\"]*\1"
# Spark makes a constant of such a literal when it parses it.
_TYPED = re.compile(r"\b(?:date|timestamp(?:_[ln]tz)?)" + _GAP + _QUOTED, re.IGNORECASE | re.DOTALL)
_UNTYPED = re.compile(_QUOTED, re.IGNORECASE)
# In the plan there is only the version that the time has now.
_TRAVEL = re.compile(
    r"\b(?:timestamp|system_time)\s+as\s+of\b(?!\s*(?:timestamp\s*)?(['\"])\d{4}-[^'\"]*\1)",
    re.IGNORECASE,
)


@dataclass
class Reads:
    """The relations behind a SELECT as (schema, name), and why a second run may give other rows.

    ``via`` has for each table the outermost view by which it is read, or itself; ``formats`` are
    those of the tables. ``unsure`` is empty where the rows follow from the relations alone.
    """

    tables: set[tuple[str, str]] = field(default_factory=set)
    views: set[tuple[str, str]] = field(default_factory=set)
    via: dict[tuple[str, str], set[tuple[str, str]]] = field(default_factory=dict)
    formats: set[str] = field(default_factory=set)
    unsure: str = ""


def reads(spark: "SparkSession", sql: str) -> Reads:
    """What Spark says of a SELECT, which it does not run."""
    jvm, state = spark._jvm, spark._jsparkSession.sessionState()
    parsed = state.sqlParser().parsePlan(sql)
    mode = java(jvm, "org.apache.spark.sql.execution.CommandExecutionMode").SKIP()
    with active(spark):
        plan = state.executePlan(parsed, mode).analyzed()
    patterns = java(jvm, "org.apache.spark.sql.catalyst.trees.TreePattern")
    found = of_plan(json.loads(plan.toJSON()))
    if found.streams != _streams(plan, found):
        _unsure(found, "Spark does not tell which tables it reads as streams")
    texts = [sql, *found.texts]
    found.unsure = found.unsure or of_texts(texts)
    if not found.unsure and plan.containsPattern(patterns.CURRENT_LIKE()):
        found.unsure = "it depends on the clock or the user"
    if not found.unsure and not plan.deterministic():
        found.unsure = "it depends on chance"
    return found


@dataclass
class _Found(Reads):
    texts: list[str] = field(default_factory=list)
    streams: int = 0


def of_plan(nodes: list[dict[str, Any]]) -> _Found:
    """What the JSON of an analyzed plan says."""
    found = _Found()
    _walk(nodes, found, ())
    return found


def _streams(plan: Any, found: _Found) -> int:
    """Notes the tables that are read as streams, which the JSON does not name; returns how many."""
    tables = list(streamed(plan))
    for schema, name, kind in tables:
        found.tables.add((schema, name))
        found.formats.add(kind)
        found.via.setdefault((schema, name), set()).add((schema, name))
    return len(tables)


def streamed(plan: Any) -> Iterator[tuple[str, str, str]]:
    """The tables that an analyzed plan reads as streams, as (schema, name, format)."""
    leaves = plan.collectLeaves().iterator()
    while leaves.hasNext():
        leaf = leaves.next()
        if leaf.getClass().getName() != _STREAM:
            continue
        table = leaf.dataSource().catalogTable()
        if table.isDefined():
            name, kind = table.get().identifier(), table.get().provider().get()
            yield name.database().get().lower(), name.table().lower(), kind.lower()


def of_texts(texts: list[str]) -> str:
    """Why the text of a SELECT, or of a view that it reads, makes its rows depend on the day."""
    for text in texts:
        if found := _TYPED.search(text) or _TRAVEL.search(text):
            return f"it depends on the clock: {found[0]}"
    return ""


def of_expression(text: str) -> str:
    """What in SQL that no plan tells of depends on the day; empty if nothing does.

    Beside a date or a timestamp the text 'today' is one, too.
    """
    found = _UNTYPED.search(text) or _TRAVEL.search(text)
    return found[0] if found else ""


def _walk(nodes: list[dict[str, Any]], found: _Found, outer: tuple[tuple[str, str], ...]) -> None:
    """Reads a tree that is written root first, each node with its number of children."""
    position = 0

    def visit(views: tuple[tuple[str, str], ...]) -> None:
        nonlocal position
        node = nodes[position]
        _note(nodes, position, found, views)
        position += 1
        inner = views
        if node["class"].endswith(".logical.View"):
            inner = (*views, _view(node, found))
        for tree in _trees(node):
            _walk(tree, found, views)
        for _ in range(node["num-children"]):
            visit(inner)

    while position < len(nodes):
        visit(outer)


def _trees(node: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """The trees that hang on a node beside its children: expressions, plans of subqueries."""
    for value in node.values():
        yield from _trees_in(value)


def _trees_in(value: Any) -> Iterator[list[dict[str, Any]]]:
    if isinstance(value, dict):
        yield from _trees(value)
    elif isinstance(value, list):
        if value and isinstance(value[0], dict) and "num-children" in value[0]:
            yield value
            return
        for one in value:
            yield from _trees_in(one)


def _note(
    nodes: list[dict[str, Any]], position: int, found: _Found, views: tuple[tuple[str, str], ...]
) -> None:
    node = nodes[position]
    path: str = node["class"]
    name = path.rpartition(".")[2]
    if path == _RELATION:
        _relation(node, found, views)
    elif path == _STREAM:
        found.streams += 1
    elif not path.startswith(_KNOWN) or name in _FOREIGN or name.startswith("Unresolved"):
        _unsure(found, f"Spark does not tell what {name} depends on")
    elif name in _CHANCE:
        _unsure(found, f"it depends on chance: {name}")
    elif name in ("GlobalLimit", "Offset") and not _is_ordered(nodes, position):
        _unsure(found, "it depends on chance: LIMIT without ORDER BY")
    elif name == "AttributeReference" and node.get("name") == "_metadata":
        _unsure(found, "it reads _metadata, which differs when files are written anew")
    elif name in _PARSING and _is_of_today(nodes, position):
        _unsure(found, f"it depends on the clock: '{nodes[position + 1]['value']}'")


def _unsure(found: _Found, reason: str) -> None:
    found.unsure = found.unsure or reason


def _relation(node: dict[str, Any], found: _Found, views: tuple[tuple[str, str], ...]) -> None:
    table = node.get("catalogTable")
    if not table:
        _unsure(found, "it reads files by their path")
        return
    name = _identifier(table, found)
    found.tables.add(name)
    found.formats.add(str(table.get("provider")).lower())
    found.via.setdefault(name, set()).add(views[0] if views else name)


def _view(node: dict[str, Any], found: _Found) -> tuple[str, str]:
    if node.get("isTempView"):
        _unsure(found, "it reads a temporary view")
    name = _identifier(node["desc"], found)
    found.views.add(name)
    found.texts.append(node["desc"].get("viewText") or "")
    return name


def _identifier(table: dict[str, Any], found: _Found) -> tuple[str, str]:
    about = table["identifier"]
    if about.get("catalog", "spark_catalog") != "spark_catalog":
        _unsure(found, f"it reads the catalog {about['catalog']}")
    return (about.get("database") or "").lower(), about["table"].lower()


def _is_ordered(nodes: list[dict[str, Any]], position: int) -> bool:
    """Whether a LIMIT takes nothing, or of rows that are sorted."""
    limit = nodes[position].get("limitExpr") or [{}]
    if limit[0].get("value") == "0":
        return True
    for node in nodes[position + 1 :]:
        name = node["class"].rpartition(".")[2]
        if name == "Sort":
            return bool(node.get("global", True))
        if name not in ("LocalLimit", "GlobalLimit", "Offset", "Project"):
            return False
    return False


def _is_of_today(nodes: list[dict[str, Any]], position: int) -> bool:
    if position + 1 >= len(nodes):
        return False
    text = nodes[position + 1]
    is_text = text["class"].endswith(".Literal") and text.get("dataType") == "string"
    kind = str(nodes[position].get("dataType", "timestamp"))
    is_time = kind.startswith(("date", "timestamp"))
    return is_text and is_time and bool(_OF_TODAY.fullmatch(text.get("value") or ""))
