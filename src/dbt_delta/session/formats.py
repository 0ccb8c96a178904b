"""Table formats beside Delta: a target has one if its default catalog is of that format.

A format has a folder of macros (macros/engine/format), a list of JARs (setup/formats) and a module
here for the facts of its catalog.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA = "delta"
# The classes of catalogs whose tables are of another format.
_CATALOGS = {"org.apache.iceberg.spark.SparkCatalog": "iceberg"}
_DEFAULT = "spark.sql.defaultCatalog"
# Where set-up puts the JARs of each format.
FOLDER = Path(sys.prefix) / "formats"


def asked(settings: Mapping[str, str]) -> str:
    """The format of a target's tables, by its Spark settings."""
    name = settings.get(_DEFAULT, "")
    return _CATALOGS.get(settings.get(f"spark.sql.catalog.{name}", ""), DELTA)


def jar_folders(settings: Mapping[str, str]) -> list[Path]:
    """The folders with the JARs that the format of a target needs beside Delta's."""
    folder = FOLDER / asked(settings)
    return [folder] if folder.is_dir() else []


def prepare(settings: Mapping[str, str]) -> None:
    """Gets what the format of a target needs before Spark starts: its JARs, its catalog's folder.

    Raises:
        ValueError: it cannot be had; the message says why, and the way out.
    """
    if asked(settings) == DELTA:
        return
    from dbt_delta.session import iceberg

    iceberg.prepare(settings)
    _fetch(asked(settings))


def check_statement(format: str, sql: str) -> None:
    """Refuses a statement of a session whose target has this format.

    Raises:
        ValueError: it takes away what the format's page promises.
    """
    if format == DELTA:
        return
    from dbt_delta.session import iceberg

    iceberg.check_statement(sql)


def _fetch(name: str) -> None:
    """Installs the JARs of a format into the project's environment, if that lacks one.

    Elsewhere the profile names them, in spark.driver.extraClassPath or spark.jars.
    """
    project = Path(sys.prefix).parent
    sums = project / "setup" / "formats" / f"{name}.sha256"
    if not sums.is_file() or not (project / "run").is_file():
        return
    wanted = [line.split()[1] for line in sums.read_text().splitlines() if line.strip()]
    if all((FOLDER / name / jar).is_file() for jar in wanted):
        return
    # What it says is no part of what dbt prints.
    done = subprocess.run([project / "run", "setup", name], stdout=sys.stderr)
    if done.returncode:
        raise ValueError(f"The JARs of {name} are not there. ./run setup {name} installs them")


def of(spark: "SparkSession") -> ModuleType | None:
    """The module with the facts of a session's catalog; None for Spark's own, whose are Delta's."""
    # Spark's own answer is that of the session that the thread has used last.
    name = default_catalog(spark)
    kind = spark.conf.get(f"spark.sql.catalog.{name}", "") if name else ""
    if _CATALOGS.get(kind) != "iceberg":
        return None
    from dbt_delta.session import iceberg

    return iceberg


def default_catalog(spark: "SparkSession") -> str:
    """The name of the catalog of names without one; empty for Spark's own."""
    return spark.conf.get(_DEFAULT, "") or ""
