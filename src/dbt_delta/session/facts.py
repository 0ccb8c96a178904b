"""Facts about relations from the catalog and Delta's log, and the columns of a SELECT.

DESCRIBE prints for people: it redacts values, appends sections, and does not quote the names of
fields in types. Here everything comes as objects, without a statement.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt_delta.session import formats
from dbt_delta.session.java import bulk, hadoop_path, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GENERATED = {"delta.generationExpression", "delta.identity.start"}
_CLUSTERS = "org.apache.spark.sql.delta.skipping.clustering.ClusteringColumnInfo"
_CONVERTERS = "scala.jdk.javaapi.CollectionConverters"
_DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog"
_OPTION = "scala.Option"
_SESSION = "org.apache.spark.sql.classic.SparkSession"


def relation(spark: "SparkSession", schema: str, name: str) -> dict[str, Any] | None:
    """What the macro ``_describe`` promises for a relation of the catalog.

    None if only statements find the right answer: in another catalog than Spark's own, and for a
    Delta table without a log, because Delta's own error is needed.

    Raises:
        AnalysisException: it is not in the catalog.
    """
    if other := formats.of(spark):
        return dict(other.relation(spark, schema, name))
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    entry = catalog_entry(spark, schema, name)
    provider = _optional(entry.provider()) or ""
    if entry.tableType().name() == "VIEW" or provider.lower() != "delta":
        return _of_catalog(spark, entry, provider.lower())
    return _of_delta(spark, entry)


def state(spark: "SparkSession", schema: str, name: str) -> str | None:
    """What ``_state_of`` of the macros promises of a table with versions; None of all else.

    Raises:
        AnalysisException: the catalog does not know it.
    """
    if other := formats.of(spark):
        found: str | None = other.state(spark, schema, name)
        return found
    entry = _delta_entry(spark, schema, name)
    if entry is None:
        return None
    snapshot = _snapshot(spark, entry)
    version = snapshot.version()
    return None if version < 0 else f"{snapshot.metadata().id()} {version}"


def changed_at(spark: "SparkSession", schema: str, name: str) -> tuple[int, bool] | None:
    """See ``log.changed_at``; None if statements must tell, as of what is no Delta table.

    Raises:
        AnalysisException: the catalog does not know it.
    """
    from dbt_delta.state import log

    entry = _delta_entry(spark, schema, name)
    if entry is None:
        return None
    return log.changed_at(log.open_log(spark, entry.location().toString()))


def transaction(spark: "SparkSession", schema: str, name: str, application: str) -> int | None:
    """The last version of an application's transactions in a Delta table; None if it has none.

    Delta writes it in the commit of the rows (``txnAppId`` and ``txnVersion``).
    """
    catalog = spark._jsparkSession.sessionState().catalog()
    if not catalog.tableExists(_identifier(spark, schema, name)):
        return None
    entry = _delta_entry(spark, schema, name)
    if entry is None:
        return None
    with active(spark):
        return transaction_of(_snapshot(spark, entry), application)


def rows_written(
    spark: "SparkSession", schema: str, name: str, run: str | None = None
) -> int | None:
    """How many rows the newest commit of a Delta table inserted, updated and deleted.

    None if it is of another run than a given one.

    Raises:
        AnalysisException: the catalog does not know the table.
    """
    from dbt_delta.state import log

    entry = catalog_entry(spark, schema, name)
    place = entry.location().toString()
    info = log.info_of(log.open_log(spark, place), _snapshot(spark, entry).version())
    if run and log.metadata_of(info).get("dbt_invocation_id") != run:
        return None
    return log.rows_written(info)


def transaction_of(snapshot: Any, application: str) -> int | None:
    """The last version of an application's transactions in a snapshot; None if it has none."""
    found = _optional(snapshot.transactions().get(application))
    return None if found is None else int(found)


def applications(snapshot: Any) -> list[str]:
    """The names of all applications with transactions in a snapshot."""
    return str(snapshot.transactions().keys().mkString("\0")).split("\0")


def delta_table(spark: "SparkSession", table: str) -> tuple[str, Any] | None:
    """A Delta table named as in SQL, or as ``delta.`/path` ``: its full name and newest snapshot.

    The full name is never that of a temporary view. None if it is not a Delta table.

    Raises:
        AnalysisException: there is no such table.
    """
    session = spark._jsparkSession
    identifier = session.sessionState().sqlParser().parseTableIdentifier(table)
    catalog = session.sessionState().catalog()
    is_path = (_optional(identifier.database()) or "").lower() == "delta"
    if is_path and not catalog.tableExists(identifier):
        none = java(spark._jvm, _OPTION).empty()
        log = java(spark._jvm, _DELTA_LOG).forTable(session, identifier.table())
        name, snapshot = f"delta.{quoted_name(identifier.table())}", log.update(False, none, none)
    else:
        entry = catalog.getTableMetadata(identifier)
        if (_optional(entry.provider()) or "").lower() != "delta":
            return None
        full = ("spark_catalog", entry.database(), entry.identifier().table())
        name, snapshot = ".".join(map(quoted_name, full)), _snapshot(spark, entry)
    return None if snapshot.version() < 0 else (name, snapshot)


def columns_of(snapshot: Any) -> list[dict[str, Any]]:
    """The columns of a snapshot, as ``relation`` has them."""
    return columns_of_json(snapshot.metadata().schemaString())


def place_of(snapshot: Any) -> str:
    """The path of a snapshot's table."""
    return str(snapshot.deltaLog().dataPath().toString())


@contextmanager
def active(spark: "SparkSession") -> Iterator[None]:
    """For what Spark and Delta compute with the session of the thread: a statement sets it."""
    sessions = java(spark._jvm, _SESSION)
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def steady(spark: "SparkSession", views: Mapping[str, tuple[str, str, int]]) -> list[str]:
    """The views, {name: (columns, place, version)}, with exactly the columns of a table's version.

    Left out where Delta's log beside the version does not tell.
    """
    from dbt_delta.state import log

    found = []
    for name, (columns, place, version) in views.items():
        schema = log.schema_at(log.open_log(spark, place), version)
        if schema and _exact_columns(columns) == _exact_columns(schema):
            found.append(name)
    return found


def _exact_columns(schema: str) -> list[tuple[Any, ...]]:
    """Names, comments and types, with what may be NULL within them: a view casts to its types."""
    return [
        (
            field["name"],
            field["metadata"].get("comment") or "",
            field["metadata"].get("__CHAR_VARCHAR_TYPE_STRING") or _bare_type(field["type"]),
        )
        for field in json.loads(schema)["fields"]
    ]


def _bare_type(kind: Any) -> Any:
    """A type as JSON without the metadata of nested fields."""
    if isinstance(kind, list):
        return [_bare_type(one) for one in kind]
    if isinstance(kind, dict):
        return {key: _bare_type(one) for key, one in kind.items() if key != "metadata"}
    return kind


def listing(
    spark: "SparkSession", schemas: list[str], name: str | None = None
) -> list[dict[str, Any]] | None:
    """What the macro ``_listing`` promises for all relations of schemas; opens no table.

    With ``name``, for that one only. Views have ``columns``, too, as Spark's JSON, and the
    ``settings`` and the ``mode`` with which Spark reads them. None in another catalog than Spark's
    own. Relations that are dropped meanwhile are left out.
    """
    if other := formats.of(spark):
        return list(other.listing(spark, schemas, name))
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    ours, pattern = bulk(spark._jvm), "*" if name is None else name
    found = [ours.listing(spark._jsparkSession, schema, pattern) for schema in schemas]
    return [entry for entries in found for entry in json.loads(entries)]


def columns(spark: "SparkSession", sql: str) -> list[dict[str, Any]]:
    """The columns of a SELECT, in order, as ``_columns_of`` of the macros promises them.

    Spark only plans it.

    Raises:
        AnalysisException: Spark cannot plan it.
    """
    found = columns_of_json(spark.sql(sql)._jdf.schema().json())
    return [
        {"name": one["name"], "type": one["type"], "carried": one["default"] is not None}
        for one in found
    ]


def type_text(kind: "DataType") -> str:
    """A type as valid SQL: names of fields that are not plain words are quoted."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(kind, ArrayType):
        return f"array<{type_text(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_text(kind.keyType)},{type_text(kind.valueType)}>"
    if isinstance(kind, StructType):
        fields = (f"{_field_name(f.name)}:{type_text(f.dataType)}" for f in kind.fields)
        return f"struct<{','.join(fields)}>"
    return kind.simpleString()


def quoted_name(name: str) -> str:
    """A quoted name, which may contain any character."""
    return "`" + name.replace("`", "``") + "`"


def _field_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted_name(name)


def catalog_entry(spark: "SparkSession", schema: str, name: str) -> Any:
    """The catalog's own entry of a relation.

    Raises:
        AnalysisException: it is not in the catalog.
    """
    catalog = spark._jsparkSession.sessionState().catalog()
    return catalog.getTableMetadata(_identifier(spark, schema, name))


def _delta_entry(spark: "SparkSession", schema: str, name: str) -> Any:
    """The entry of a Delta table of Spark's own catalog; None of all else."""
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    entry = catalog_entry(spark, schema, name)
    return entry if (_optional(entry.provider()) or "").lower() == "delta" else None


def _identifier(spark: "SparkSession", schema: str, name: str) -> Any:
    parser = spark._jsparkSession.sessionState().sqlParser()
    return parser.parseTableIdentifier(f"{quoted_name(schema)}.{quoted_name(name)}")


def _snapshot(spark: "SparkSession", entry: Any) -> Any:
    """The newest one; of version -1 where there is no log."""
    log = java(spark._jvm, _DELTA_LOG).forTable(spark._jsparkSession, entry)
    option = java(spark._jvm, _OPTION)
    return log.update(False, option.empty(), option.apply(entry))


def _of_delta(spark: "SparkSession", entry: Any) -> dict[str, Any] | None:
    snapshot = _snapshot(spark, entry)
    if snapshot.version() < 0:
        return None
    about = json.loads(snapshot.metadata().json())["metaData"]
    protocol = json.loads(snapshot.protocol().json())["protocol"]
    features = {*protocol.get("readerFeatures", []), *protocol.get("writerFeatures", [])}
    paths = []
    if "clustering" in features:
        paths = _list(spark, java(spark._jvm, _CLUSTERS).extractLogicalNames(snapshot))
    checksum = _optional(snapshot.checksumOpt())
    return {
        **_of_catalog(spark, entry, "delta"),
        # None if Delta did not write it beside the commit; to count takes a job.
        "bytes": None if checksum is None else checksum.tableSizeBytes(),
        "columns": columns_of_json(about["schemaString"]),
        "partitions": about["partitionColumns"],
        "clustering": [".".join(steps(path)) for path in paths],
        "comment": about.get("description") or "",
        "properties": {
            **about["configuration"],
            "delta.minReaderVersion": str(protocol["minReaderVersion"]),
            "delta.minWriterVersion": str(protocol["minWriterVersion"]),
            **{f"delta.feature.{feature}": "supported" for feature in features},
        },
    }


def _of_catalog(spark: "SparkSession", entry: Any, provider: str) -> dict[str, Any]:
    properties = dict(java(spark._jvm, _CONVERTERS).asJava(entry.properties()))
    internal = ("view.", "transient_lastDdlTime")
    return {
        "type": "view" if entry.tableType().name() == "VIEW" else "table",
        "provider": provider,
        "columns": columns_of_json(entry.schema().json()),
        "partitions": _list(spark, entry.partitionColumnNames()),
        "clustering": [],
        "comment": _optional(entry.comment()) or "",
        "location": _location(spark, entry),
        "owner": entry.owner() or "",
        "properties": {k: v for k, v in properties.items() if not k.startswith(internal)},
        "text": _optional(entry.viewText()) or "",
    }


def _location(spark: "SparkSession", entry: Any) -> str:
    """Where a relation of the catalog is; empty of a view."""
    location = _optional(entry.storage().locationUri())
    return hadoop_path(spark._jvm, location).toString() if location else ""


def steps(path: str) -> list[str]:
    """The names in a path that Spark has quoted: ``a.`b.c``` is a and b.c."""
    found = re.findall(r"`((?:[^`]|``)*)`|([^.`]+)", path)
    return [quoted.replace("``", "`") or plain for quoted, plain in found]


def columns_of_json(schema: str) -> list[dict[str, Any]]:
    """The columns of a schema in JSON, as ``relation`` has them."""
    from pyspark.sql.types import StructType

    return [
        {
            "name": field.name,
            "type": type_text(field.dataType),
            "comment": field.metadata.get("comment") or "",
            "nullable": field.nullable,
            "default": field.metadata.get("CURRENT_DEFAULT"),
            # Delta and the catalog store it as a string, and Spark checks it at each INSERT.
            "declared": field.metadata.get("__CHAR_VARCHAR_TYPE_STRING"),
            "generation": field.metadata.get("delta.generationExpression"),
            "is_generated": not _GENERATED.isdisjoint(field.metadata),
        }
        for field in StructType.fromJson(json.loads(schema)).fields
    ]


def _list(spark: "SparkSession", found: Any) -> list[str]:
    return list(java(spark._jvm, _CONVERTERS).asJava(found))


def _optional(found: Any) -> Any:
    return found.get() if found.isDefined() else None
