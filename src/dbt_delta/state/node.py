"""What of a node of dbt decides about its result: code, configuration, macros behind it."""

import ast
import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.state import plan
from dbt_delta.state.decide import BuildAfter

ALWAYS = "always"
CHANGED = "inputs_changed"
# What only dbt's selection, documentation or this package's own decision reads.
_IRRELEVANT = {
    *("build_when", "freshness", "tags", "meta", "group", "docs", "enabled", "access", "packages"),
    *("static_analysis", "concurrent_batches"),
}
# Macros that decide how a result is written, and that no node names.
_WRITING = re.compile(
    r"materialization_|get_incremental_|generate_|spark__|default__|snapshot_\w+_strategy$"
)
# What gives something else each time, in a condition or expression of a configuration.
_CLOCK = re.compile(
    r"\b(?:current_(?:date|timestamp|time|user)|localtime(?:stamp)?|session_user)\b"
    r"|\b(?:now|curdate|unix_timestamp|rand|randn|random|randstr|uniform|uuid|shuffle|user"
    r"|monotonically_increasing_id|spark_partition_id)\s*\(",
    re.IGNORECASE,
)
# Texts, quoted names and comments in SQL; and what begins a query beside them.
_OPAQUE = re.compile(
    r"\br(['\"]).*?\1|(['\"])(?:\\.|(?!\2).)*\2|`[^`]*`|--[^\n]*|/\*.*?\*/",
    re.IGNORECASE | re.DOTALL,
)
_QUERY = re.compile(r"\bselect\b|[()]\s*(?:table|from)\b", re.IGNORECASE)
_STOCK = ("dbt", "dbt_spark")
# By these a session of Spark reads tables and files, also those that nobody named to dbt.
_READING = {"table", "sql", "read", "readStream"}
_FOLLOWING = {
    "macro.dbt.is_incremental",
    "macro.dbt_delta._new_input",
    "macro.dbt_delta._refuse_gap",
    "macro.dbt_delta._asks_incremental",
}
# Settings that decide what a plan gives; not so those by which it is run, and what Delta keeps in
# each session.
_SPARK = ("spark.sql.", "spark.databricks.")
_RUNNING = re.compile(
    r"spark\.sql\.(?:warehouse|adaptive|shuffle|sources\.parallel|codegen|streaming|parquet\.fieldId)"
    r"|spark\.databricks\.delta\.(?:commitInfo|lastCommitVersion)"
)


def asked(node: Any) -> tuple[bool, BuildAfter | None]:
    """Whether a node asks to be run only when its inputs changed, and how often at most.

    Raises:
        DbtRuntimeError: a ``build_when`` that nobody knows, ``build_after`` without inputs.
    """
    when = node.config.get("build_when", ALWAYS)
    if when not in (ALWAYS, CHANGED):
        raise DbtRuntimeError(
            f"{node.original_file_path}: build_when of {node.name} is {when!r}. "
            f"It is one of {ALWAYS}, {CHANGED}."
        )
    after = _build_after(node)
    return when == CHANGED or after is not None, after


def _build_after(node: Any) -> BuildAfter | None:
    freshness = getattr(node.config, "freshness", None)
    about = getattr(freshness, "build_after", None)
    if about is None:
        return None
    if not node.depends_on.nodes:
        raise DbtRuntimeError(
            f"{node.original_file_path}: {node.name} has freshness.build_after and reads no ref() "
            "or source(), so that nothing it depends on can change. Leave build_after out."
        )
    period = None
    if about.count is not None and about.period is not None:
        period = dt.timedelta(**{f"{about.period.value}s": about.count})
    return BuildAfter(period, about.updates_on.value == "any")


def relations(node: Any) -> list[tuple[str, str]]:
    """Schema and name of the relations that a node makes: its table or view, and its quarantine."""
    if not getattr(node, "is_relational", False):
        return []
    schema, name = node.schema.lower(), node.alias.lower()
    is_diverting = any(
        one.get("action") == "quarantine"
        for listed in expectations(node).values()
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    )
    return [(schema, name), *([(schema, f"{name}__quarantine")] if is_diverting else [])]


def has_hooks(node: Any) -> bool:
    """Whether a node runs statements of the user's beside its own."""
    return bool(node.config.get("pre_hook") or node.config.get("post_hook"))


def clock(node: Any) -> str:
    """What in a node's configuration differs from run to run; empty if nothing does."""
    about = _relevant(node)
    if found := _CLOCK.search(json.dumps(about, default=str)):
        return found[0]
    return next(filter(None, map(plan.of_expression, _texts(about))), "")


def has_query(node: Any) -> bool:
    """Whether a node's configuration has SQL that reads relations beside those of its SELECT."""
    about = _relevant(node)
    if str(getattr(node, "resource_type", "")) == "test":
        about.pop("where", None)  # which is in its SELECT
    return any(_QUERY.search(_OPAQUE.sub(" ", text)) for text in _texts(about))


def _relevant(node: Any) -> dict[str, Any]:
    config = node.config.to_dict(omit_none=True)
    about: dict[str, Any] = {k: v for k, v in config.items() if k not in _IRRELEVANT}
    about["expectations"] = expectations(node)
    return about


def _texts(about: Any) -> Iterator[str]:
    """The texts in a configuration, without the names of its keys."""
    if isinstance(about, str):
        yield about
    elif isinstance(about, (dict, list, tuple)):
        for one in about.values() if isinstance(about, dict) else about:
            yield from _texts(one)


def writes_only_itself(node: Any) -> bool:
    """Whether a node's run can change no relation but its own."""
    if has_hooks(node) or getattr(node, "language", "sql") == "python":
        return False
    if expectations(node):
        return False  # it has a quarantine
    kind = str(node.resource_type)
    materialized = node.config.get("materialized")
    return kind != "model" or materialized in ("table", "view", "incremental", "stream")


def expectations(node: Any) -> dict[str, Any]:
    """The lists of expectations by place: a node, its `meta`, and that of its columns."""
    config = node.config.to_dict(omit_none=True)
    places = {"": config.get("expectations")}
    places["meta"] = (config.get("meta") or {}).get("expectations")
    for name, column in (getattr(node, "columns", None) or {}).items():
        about = column.to_dict(omit_none=True)
        meta = (about.get("config") or {}).get("meta") or about.get("meta") or {}
        places[f"column {name}"] = meta.get("expectations")
    return {where: found for where, found in places.items() if found}


def configuration(node: Any, writing: str, settings: dict[str, Any], is_kept: bool) -> str:
    """A digest of all configuration by which a node's result may differ.

    ``writing`` tells by what results are computed and written, ``settings`` are those of the Spark
    session; ``is_kept`` says whether a test's failures are stored.
    """
    config = node.config.to_dict(omit_none=True)
    # The older form of constraints stands in `meta`.
    irrelevant = _IRRELEVANT - ({"meta"} if config.get("persist_constraints") else set())
    about: dict[str, Any] = {
        "config": {key: value for key, value in config.items() if key not in irrelevant},
        "relation": [getattr(node, "schema", ""), getattr(node, "alias", "")],
        "kept": is_kept,
        "spark": deciding(settings),
        "writing": writing,
        "expectations": expectations(node),
    }
    persisted = config.get("persist_docs") or {}
    if persisted.get("relation"):
        about["description"] = getattr(node, "description", "")
    about["columns"] = [
        _column(column.to_dict(omit_none=True), bool(persisted.get("columns")), irrelevant)
        for column in getattr(node, "columns", {}).values()
    ]
    constraints = getattr(node, "constraints", None) or []
    about["constraints"] = [constraint.to_dict(omit_none=True) for constraint in constraints]
    return digest(about)


def deciding(settings: dict[str, Any]) -> dict[str, str]:
    """Those of Spark's settings by which rows may differ."""
    return {
        key: str(value)
        for key, value in settings.items()
        if key.startswith(_SPARK) and not _RUNNING.match(key)
    }


def _column(about: dict[str, Any], is_described: bool, irrelevant: set[str]) -> dict[str, Any]:
    ignored = {"tags", "config", "doc_blocks", *({"meta"} & irrelevant)}
    ignored |= set() if is_described else {"description"}
    return {key: value for key, value in about.items() if key not in ignored}


def writing(manifest: Any) -> str:
    """A digest of the macros by which results are written, and of those that these call.

    Besides those of dbt_delta they are materializations and strategies of the user's, and macros
    that take the place of dbt's.
    """
    stock = {m.name for m in manifest.macros.values() if m.package_name in _STOCK}
    found = [
        name
        for name, macro in manifest.macros.items()
        if macro.package_name == "dbt_delta"
        or (
            macro.package_name not in _STOCK and (macro.name in stock or _WRITING.match(macro.name))
        )
    ]
    return digest(_with_called(found, manifest))


@cache
def package() -> str:
    """A digest of this package's Python, which writes seeds and runs models in it."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


def seed_code(node: Any) -> str:
    """A digest of a seed's file. dbt's own leaves out blanks at its end, which a cell may have."""
    return hashlib.sha256((Path(node.root_path) / node.original_file_path).read_bytes()).hexdigest()


def own_macros(manifest: Any) -> list[tuple[str, str]]:
    """Names and texts of the macros of the project and its packages, without dbt_delta."""
    return sorted(
        (name, macro.macro_sql)
        for name, macro in manifest.macros.items()
        if macro.package_name not in (*_STOCK, "dbt_delta")
    )


def python_reads(code: str) -> list[str]:
    """The relations that ref() and source() of a compiled Python model give, as in SQL.

    dbt writes them there, with --defer those of the other state.
    """
    found: set[str] = set()
    for function in ast.parse(code).body:
        if isinstance(function, ast.FunctionDef) and function.name in ("ref", "source"):
            for line in function.body:
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Dict):
                    found |= set(ast.literal_eval(line.value).values())
    return sorted(found)


def python_reads_by_name(code: str) -> str:
    """By which attribute of a session a Python model reads what ref() and source() do not say.

    Empty if there is none. Only the names count: any object may be the session.
    """
    for one in ast.walk(ast.parse(code)):
        if isinstance(one, ast.Attribute) and one.attr in _READING:
            is_module = isinstance(one.value, ast.Name) and one.value.id == "pyspark"
            if not is_module:
                return one.attr
    return ""


def unit_test_sql(test: Any, compiled: str) -> str:
    """All that a unit test reads: the SELECT that dbt makes, and SQL that dbt does not put in it.

    That is what is expected, and the rows of the table before the run.
    """
    given = [one for one in test.given if one.input.strip() == "this"]
    own = [one.rows for one in (test.expect, *given) if one.format == "sql"]
    if not own:
        return compiled
    return " union all ".join(f"select 1 from (\n{sql}\n)" for sql in (compiled, *own))


def asks_incremental(macros: list[str], manifest: Any) -> bool:
    """Whether one of these macros, or one that they call, asks is_incremental().

    Those with which a model follows its inputs do, and have the answer that they need.
    """
    called = _with_called(macros, manifest)
    return any("is_incremental" in text for name, text in called if name not in _FOLLOWING)


def _with_called(names: list[str], manifest: Any) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        macro = manifest.macros.get(name)
        if name in found or macro is None:
            continue
        found[name] = macro.macro_sql
        waiting.extend(macro.depends_on.macros)
    return sorted(found.items())


def digest(about: Any) -> str:
    """A short text that differs where ``about`` does."""
    text = json.dumps(about, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
