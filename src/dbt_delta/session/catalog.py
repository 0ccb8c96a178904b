"""The catalog of ``dbt docs generate``: the project's relations with columns and comments."""

from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    import agate

PACKAGE = "dbt_delta"
COLUMNS = (
    *("table_database", "table_schema", "table_name", "table_type", "table_comment", "table_owner"),
    *("column_name", "column_index", "column_type", "column_comment"),
)

logger = AdapterLogger("dbt_delta")


def is_possible(adapter: Any) -> bool:
    """Whether the project has the macros of this package, which describe a relation."""
    project = adapter.config.project_name
    return adapter._macro_resolver.find_macro_by_name("_describe", project, PACKAGE) is not None


def of_schema(adapter: Any, schema: str, relation_configs: list[Any]) -> "agate.Table":
    """The columns of the project's relations in a schema, in the project's order."""
    wanted = {c.identifier.lower() for c in relation_configs if _same(c.schema, schema)}
    rows: list[tuple[Any, ...]] = []
    for relation in adapter.list_relations(None, schema):
        if relation.identifier.lower() in wanted:
            rows.extend(_rows(adapter, relation))
    return _table(rows)


def _same(left: str, right: str) -> bool:
    return left.lower() == right.lower()


def _rows(adapter: Any, relation: Any) -> list[tuple[Any, ...]]:
    """A row per column, in the order of ``COLUMNS``; no rows for a broken view."""
    try:
        found = adapter.execute_macro("_describe", project=PACKAGE, kwargs={"relation": relation})
    except DbtRuntimeError as error:
        logger.warning(f"{relation} is not in the catalog: {str(error).strip()}")
        return []
    table = (None, relation.schema, relation.identifier, found["type"])
    described = (found["comment"] or None, found["owner"])
    return [
        (*table, *described, column["name"], index, column["type"], column["comment"] or None)
        for index, column in enumerate(found["columns"])
    ]


def _table(rows: list[tuple[Any, ...]]) -> "agate.Table":
    from dbt_common.clients.agate_helper import table_from_rows

    texts = [name for name in COLUMNS if name != "column_index"]
    return table_from_rows(rows, COLUMNS, text_only_columns=texts)
