"""What else than a Delta table is read as a stream: Kafka and other sources of Spark."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt_delta.state import plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def view(spark: "SparkSession", kind: str, options: Mapping[str, Any]) -> str:
    """The quoted name of a temporary view of a source of streams.

    Args:
        kind: a format of ``readStream``, such as kafka.
        options: those of the source, not in the view's name or text: some are secrets.

    Raises:
        AnalysisException: Spark does not know the format, or not its options.
    """
    texts = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
    }
    digest = hashlib.sha256(json.dumps([kind, texts], sort_keys=True).encode()).hexdigest()
    name = f"dbt_delta_source_{digest[:20]}"
    spark.readStream.format(kind).options(**texts).load().createOrReplaceTempView(name)
    return f"`{name}`"


def tables(rows: "DataFrame") -> list[tuple[str, str, str]]:
    """The tables that a stream reads, as (schema, name, format)."""
    return list(plan.streamed(rows._jdf.queryExecution().analyzed()))
