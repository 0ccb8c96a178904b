"""The catalog of ``dbt docs generate``: the project's relations with columns and comments."""

from collections.abc import Iterable
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


def describe_relations() -> None:
    """Puts our catalog in the place of dbt-spark's.

    That describes every table of a schema, the project's or not, and has no comments. Here it is
    one statement for each relation of the project.
    """
    from dbt.adapters.spark.impl import SparkAdapter

    stock_catalog = SparkAdapter.get_catalog
    stock_one_catalog = SparkAdapter._get_one_catalog

    def get_catalog(self: Any, relation_configs: Iterable[Any], used_schemas: Any) -> Any:
        # dbt gives an iterator, and reads it once for each schema.
        return stock_catalog(self, list(relation_configs), used_schemas)

    def get_one_catalog(
        self: Any, information_schema: Any, schemas: set[str], relation_configs: list[Any]
    ) -> "agate.Table":
        resolver = self._macro_resolver
        if resolver.find_macro_by_name("_describe", self.config.project_name, PACKAGE) is None:
            return stock_one_catalog(self, information_schema, schemas, relation_configs)
        (schema,) = schemas
        wanted = {c.identifier.lower() for c in relation_configs if _same(c.schema, schema)}
        rows: list[tuple[Any, ...]] = []
        for relation in self.list_relations(None, schema):
            if relation.identifier.lower() in wanted:
                rows.extend(_rows(self, relation))
        return _table(rows)

    SparkAdapter.get_catalog = get_catalog
    SparkAdapter._get_one_catalog = get_one_catalog


def _same(left: str, right: str) -> bool:
    return left.lower() == right.lower()


def _rows(adapter: Any, relation: Any) -> list[tuple[Any, ...]]:
    """A row per column, in the order of ``COLUMNS``; none of a view that does not work any more."""
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
