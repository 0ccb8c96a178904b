"""Facts about relations of an Iceberg catalog, as objects: what ``facts`` has for Spark's own.

Iceberg's catalog lists tables and views apart, and tells names apart by upper and lower case.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_delta.session import facts, formats, retry, store
from dbt_delta.session.java import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ARRAY = "java.lang.String"
_IDENTIFIER = "org.apache.spark.sql.connector.catalog.Identifier"
# What a table or view has among its properties that nobody set there.
_INTERNAL = re.compile(
    r"(?:format|provider|location|owner|comment|table_type|current-snapshot-id|engine_version"
    r"|create_engine_version|identifier-fields|sort-order|default-spec-id)$"
)
_BRANCHES = re.compile(r"set\s+`?spark\.wap\.", re.IGNORECASE)
_TRANSFORM = re.compile(r"(\w+)\((?:(\d+), )?(.*)\)$")


def prepare(settings: Mapping[str, str]) -> None:
    """Makes the folder of an embedded catalog.

    Raises:
        ValueError: the tables would be where nobody has tried them, or a setting takes away what
            docs/iceberg.md promises.
    """
    place = settings.get(store.WAREHOUSE, "")
    if not store.is_local(place):
        raise ValueError(
            f"DBT_DELTA_STORE is {place}, but on Iceberg the tables are in folders of this machine "
            "so far (docs/iceberg.md). Unset it, or use a target of Delta"
        )
    catalog = f"spark.sql.catalog.{settings['spark.sql.defaultCatalog']}"
    cached = settings.get(f"{catalog}.cache-enabled", "not set, which means true")
    if cached.lower() != "false":
        raise ValueError(
            f"{catalog}.cache-enabled is {cached}: a session would not see what others write, and "
            "replace it. Set it to false in the profile"
        )
    for key, value in settings.items():
        if _BRANCHES.match(f"set {key}"):
            raise ValueError(_branched(f"{key} of the profile is {value}"))
    found = re.match(r"jdbc:sqlite:(?!:)([^?]+)", settings.get(f"{catalog}.uri", ""))
    if found is None:
        return
    file = Path(found[1].removeprefix("file:"))
    file.parent.mkdir(parents=True, exist_ok=True)
    warehouse = Path(settings.get(f"{catalog}.warehouse", "").removeprefix("file:"))
    if not file.exists() and warehouse.is_dir() and any(warehouse.glob("*/*/metadata")):
        # A new catalog would build its tables into the folders of those that are there.
        raise ValueError(
            f"The catalog {file} is gone, but {warehouse} has tables of it. Put the file back, or "
            "move that folder away"
        )


def check_statement(sql: str) -> None:
    """Refuses a statement that sends the writes of a session to a branch.

    Raises:
        ValueError: it is one.
    """
    sql = retry.LEADING.sub("", sql, 1)
    if _BRANCHES.match(sql):
        raise ValueError(_branched(sql.strip()))


def _branched(what: str) -> str:
    return (
        f"{what}: what is written would go to a branch, while each run looks at the table itself, "
        "and a table that is replaced would lose its rows. Remove it"
    )


def relation(spark: "SparkSession", schema: str, name: str) -> dict[str, Any] | None:
    """See ``facts.relation``.

    Raises:
        AnalysisException: it is not in the catalog.
    """
    catalog, identifier = _catalog(spark), _identifier(spark, schema, name)
    if not catalog.tableExists(identifier):
        if catalog.viewExists(identifier):
            return _of_view(catalog.loadView(identifier))
        for one in listing(spark, [schema], name):
            raise ValueError(
                f"{schema}.{name} is called {one['name']} in the catalog: Iceberg takes them for "
                "two, and dbt for one. Give the model that alias, or rename or drop the other"
            )
    table = catalog.loadTable(identifier)
    properties = dict(table.properties())
    own = table.table()
    return {
        "type": "table",
        "provider": "iceberg",
        "columns": facts.columns_of_json(table.schema().json()),
        "partitions": [_transform(part.toString()) for part in table.partitioning()],
        "clustering": [],
        "comment": properties.get("comment", ""),
        "location": str(own.location()),
        "owner": properties.get("owner", ""),
        "properties": _given(properties),
        "text": "",
        "bytes": _summary(own).get("total-files-size"),
        # What a write that replaces rows relies on, and the number of the newest metadata file.
        "snapshot": properties.get("current-snapshot-id", "none"),
        "metadata": _number(own.operations().current().metadataFileLocation()),
        "has_old_partitions": _has_old_partitions(own),
        # Transforms of times are in UTC.
        "zone": spark.conf.get("spark.sql.session.timeZone"),
    }


def state(spark: "SparkSession", schema: str, name: str) -> str | None:
    """See ``facts.state``."""
    catalog, identifier = _catalog(spark), _identifier(spark, schema, name)
    if not catalog.tableExists(identifier):
        return None
    table = catalog.loadTable(identifier).table()
    snapshot = table.currentSnapshot()
    return f"{table.uuid()} {0 if snapshot is None else snapshot.snapshotId()}"


def listing(
    spark: "SparkSession", schemas: list[str], name: str | None = None
) -> list[dict[str, Any]]:
    """See ``facts.listing``."""
    catalog, found = _catalog(spark), []
    for schema in schemas:
        space = _names(spark, schema)
        if not catalog.namespaceExists(space):
            continue
        about = {"schema": schema, "provider": "iceberg", "location": "", "text": None}
        for kind, identifiers in (
            ("table", catalog.listTables(space)),
            ("view", catalog.listViews(space)),
        ):
            names = [identifier.name() for identifier in identifiers]
            found += [
                {**about, "name": one, "type": kind}
                for one in sorted(names)
                if name is None or one.lower() == name.lower()
            ]
    return found


def _of_view(view: Any) -> dict[str, Any]:
    properties = dict(view.properties())
    return {
        "type": "view",
        "provider": "",
        "columns": facts.columns_of_json(view.schema().json()),
        "partitions": [],
        "clustering": [],
        "comment": properties.get("comment", ""),
        "location": "",
        "owner": properties.get("owner", ""),
        "properties": {k: v for k, v in _given(properties).items() if k != "format-version"},
        "text": view.query(),
    }


def _given(properties: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if not _INTERNAL.match(key)}


def _summary(table: Any) -> dict[str, int]:
    """The numbers of a table's newest snapshot."""
    snapshot = table.currentSnapshot()
    if snapshot is None:
        return {"total-files-size": 0}
    return {k: int(v) for k, v in dict(snapshot.summary()).items() if v.isdigit()}


def _has_old_partitions(table: Any) -> bool:
    """Whether files are still divided as the table was before someone changed its partitions."""
    snapshot, specs = table.currentSnapshot(), table.specs()
    if snapshot is None or specs.size() == 1:
        return False
    now = table.spec().specId()
    return any(
        manifest.partitionSpecId() != now
        and (manifest.hasAddedFiles() or manifest.hasExistingFiles())
        for manifest in snapshot.allManifests(table.io())
    )


def _number(file: str) -> int:
    """The number in the name of a metadata file, 00012-<id>.metadata.json."""
    return int(file.rpartition("/")[2].partition("-")[0])


def _transform(text: str) -> str:
    """A partition as ``partition_by`` has it: a column, or a transform such as bucket(16, id)."""
    found = _TRANSFORM.match(text)
    if found is None:
        return text
    steps = ".".join(facts.steps(found[3]))
    if found[1] == "identity":
        return steps
    return f"{found[1]}({found[2] + ', ' if found[2] else ''}{steps})"


def _catalog(spark: "SparkSession") -> Any:
    with facts.active(spark):
        manager = spark._jsparkSession.sessionState().catalogManager()
        return manager.catalog(formats.default_catalog(spark))


def _names(spark: "SparkSession", schema: str) -> Any:
    array = spark.sparkContext._gateway.new_array(java(spark._jvm, _ARRAY), 1)
    array[0] = schema
    return array


def _identifier(spark: "SparkSession", schema: str, name: str) -> Any:
    return java(spark._jvm, _IDENTIFIER).of(_names(spark, schema), name)
