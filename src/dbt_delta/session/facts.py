"""What the catalog and Delta's log say of relations, and Spark of a SELECT's columns.

DESCRIBE prints for people: it redacts values, appends sections, and writes the names of fields into
types without quotes. Here all of it comes as objects, without a statement.
"""

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GENERATED = {"delta.generationExpression", "delta.identity.start"}


def relation(spark: "SparkSession", schema: str, name: str) -> dict[str, Any] | None:
    """What ``_describe`` of the macros promises of a relation of the catalog.

    None where only statements find the right thing: in another catalog than Spark's own, and of a
    Delta table whose log is not there, as reading it fails in words of Delta.

    Raises:
        AnalysisException: the catalog does not know it.
    """
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    state = spark._jsparkSession.sessionState()
    quoted = f"{quoted_name(schema)}.{quoted_name(name)}"
    entry = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(quoted))
    provider = _optional(entry.provider()) or ""
    if entry.tableType().name() == "VIEW" or provider.lower() != "delta":
        return _of_catalog(spark, entry, provider.lower())
    return _of_delta(spark, entry)


def listing(
    spark: "SparkSession", schemas: list[str], name: str | None = None
) -> list[dict[str, Any]] | None:
    """What ``_listing`` of the macros promises of all relations of schemas; opens no table.

    With ``name`` of that one only. None in another catalog than Spark's own. What is dropped
    meanwhile is left out.
    """
    if spark.catalog.currentCatalog() != "spark_catalog":
        return None
    catalog = spark._jsparkSession.sessionState().catalog()
    found = []
    for schema in schemas:
        if catalog.databaseExists(schema):
            names = catalog.listTables(schema, "*" if name is None else name, False)
            entries = _list(spark, catalog.getTablesByName(names))
            found.extend(_listed(spark, schema, entry) for entry in entries)
    return found


def columns(spark: "SparkSession", sql: str) -> list[dict[str, str]]:
    """Names and types of what a SELECT gives, in order; plans it only.

    Raises:
        AnalysisException: Spark cannot plan it.
    """
    found = _columns(spark.sql(sql)._jdf.schema().json())
    return [{"name": column["name"], "type": column["type"]} for column in found]


def type_text(kind: "DataType") -> str:
    """A type as SQL takes it: names of fields that are not plain words are quoted."""
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
    """A name as Spark reads it, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"


def _field_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted_name(name)


def _of_delta(spark: "SparkSession", entry: Any) -> dict[str, Any] | None:
    jvm = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, entry)
    snapshot = log.update(False, jvm.scala.Option.empty(), jvm.scala.Option.apply(entry))
    if snapshot.version() < 0:
        return None
    about = json.loads(snapshot.metadata().json())["metaData"]
    protocol = json.loads(snapshot.protocol().json())["protocol"]
    features = {*protocol.get("readerFeatures", []), *protocol.get("writerFeatures", [])}
    clusters = jvm.org.apache.spark.sql.delta.skipping.clustering.ClusteringColumnInfo
    paths = _list(spark, clusters.extractLogicalNames(snapshot)) if "clustering" in features else []
    return {
        **_of_catalog(spark, entry, "delta"),
        "columns": _columns(about["schemaString"]),
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
    location = _optional(entry.storage().locationUri())
    properties = dict(spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(entry.properties()))
    internal = ("view.", "transient_lastDdlTime")
    return {
        "type": "view" if entry.tableType().name() == "VIEW" else "table",
        "provider": provider,
        "columns": _columns(entry.schema().json()),
        "partitions": _list(spark, entry.partitionColumnNames()),
        "clustering": [],
        "comment": _optional(entry.comment()) or "",
        "location": spark._jvm.org.apache.hadoop.fs.Path(location).toString() if location else "",
        "owner": entry.owner() or "",
        "properties": {k: v for k, v in properties.items() if not k.startswith(internal)},
        "text": _optional(entry.viewText()) or "",
    }


def _listed(spark: "SparkSession", schema: str, entry: Any) -> dict[str, Any]:
    about = {
        "schema": schema,
        "name": entry.identifier().table(),
        "type": "view" if entry.tableType().name() == "VIEW" else "table",
        "provider": (_optional(entry.provider()) or "").lower(),
    }
    if about["type"] == "table":
        location = _optional(entry.storage().locationUri())
        path = spark._jvm.org.apache.hadoop.fs.Path(location).toString() if location else ""
        return {**about, "location": path}
    return {
        **about,
        "location": "",
        "text": _optional(entry.viewText()),
        "namespace": (_list(spark, entry.viewCatalogAndNamespace()) or [None])[-1],
        "zone": _optional(entry.properties().get("view.sqlConfig.spark.sql.session.timeZone")),
    }


def steps(path: str) -> list[str]:
    """The names of a column's path as Spark quotes it: ``a.`b.c``` is a and b.c."""
    found = re.findall(r"`((?:[^`]|``)*)`|([^.`]+)", path)
    return [quoted.replace("``", "`") or plain for quoted, plain in found]


def _columns(schema: str) -> list[dict[str, str]]:
    from pyspark.sql.types import StructType

    return [
        {
            "name": field.name,
            "type": type_text(field.dataType),
            "comment": field.metadata.get("comment") or "",
            "nullable": field.nullable,
            "default": field.metadata.get("CURRENT_DEFAULT"),
            # What Delta and the catalog store as a string, and Spark checks at each INSERT.
            "declared": field.metadata.get("__CHAR_VARCHAR_TYPE_STRING"),
            "generation": field.metadata.get("delta.generationExpression"),
            "is_generated": not _GENERATED.isdisjoint(field.metadata),
        }
        for field in StructType.fromJson(json.loads(schema)).fields
    ]


def _list(spark: "SparkSession", found: Any) -> list[str]:
    return list(spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(found))


def _optional(found: Any) -> Any:
    return found.get() if found.isDefined() else None
