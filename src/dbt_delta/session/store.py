"""Stores of tables that are no folder of this machine: what they need, and whether they answer.

``DBT_DELTA_STORE`` names one, such as s3a://lake/warehouse. Its keys are in the environment, which
the JVM reads itself.

Usage: python -m dbt_delta.session.store < SETTINGS, Spark's in JSON: tries the store, before a
server that would only say so to each client.
"""

import json
import os
import re
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dbt_delta.session import folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAREHOUSE = "spark.sql.warehouse.dir"
_HADOOP = "spark.hadoop."
# Where set-up puts the JARs of each kind of store.
FOLDER = Path(sys.prefix) / "stores"
# Behind all others on the class path, so that the class archive still fits.
CLASS_PATH = "SPARK_DIST_CLASSPATH"
# A file of ours in the warehouse: to write it proves the address, the keys and the store.
MARKER = "_dbt_delta_store"
# An empty schema of the catalog that knows the tables; its comment is what the file says.
SCHEMA = "dbt_delta_store"
ABOUT = f"dbt_delta: the tables here are of the catalog whose schema {SCHEMA} has this comment."
# The same beside tables whose folder a model names.
PROBE = "_dbt_delta_probe"
LOG_STORE = "spark.delta.logStore.s3a.impl"
OURS = "dbt_delta.S3LogStore"
CONDITION = "fs.option.create.conditional.overwrite"
_IGNORES = "it ignores If-None-Match, so two writers of one table could lose commits"
# The buckets of check_place that refused a second file.
_asked: set[tuple[str, ...]] = set()
# Hadoop would ask a store that does not answer for minutes.
_IMPATIENT = {
    "fs.s3a.attempts.maximum": "1",
    "fs.s3a.retry.limit": "1",
    "ipc.client.connect.max.retries": "1",
    "ipc.client.connect.max.retries.on.timeouts": "1",
    "ipc.client.connect.timeout": "10000",
}
_CONFLICT = re.compile(r"FileAlreadyExistsException|RemoteFileChangedException|PathExists")
_MISSING = re.compile(r"FileNotFoundException(?!.*NoSuchBucket)")
_SILENT = re.compile(r"FileNotFoundException|Status Code: 403")
# What Java says, and what it means for a user; the first that is found.
_REASONS = (
    (
        r"No FileSystem for scheme|ClassNotFoundException|NoClassDefFoundError",
        "its JARs are not there. ./run setup s3a installs those of s3a://",
    ),
    (
        r"RequestTimeTooSkewed",
        "the clock of this machine differs from the store's by more than it allows. Set the clock",
    ),
    (
        r"NoAuthWithAWSException|Unable to load credentials|No AWS Credentials",
        "there are no keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (
        r"NoSuchBucket|UnknownStoreException",
        "there is no {authority}. Create it, or correct DBT_DELTA_STORE",
    ),
    (
        r"AuthorizationHeaderMalformed|PermanentRedirect|AWSRedirectException|Status Code: 301",
        "it is in another region than {region}. Set AWS_REGION",
    ),
    (
        r"InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken",
        "the keys in the environment are wrong, or have expired",
    ),
    (
        r"AccessDenied|AccessControlException|Status Code: 403",
        "these keys, or this user, may not write there",
    ),
    (
        r"UnknownHostException|ConnectException|SocketTimeout|ConnectTimeout|NoRouteToHost"
        r"|Unable to execute HTTP request|Connection refused|timed out",
        "no answer{endpoint}. Start it, or correct the address",
    ),
)


def class_path(more: Sequence[Path] = ()) -> dict[str, str]:
    """The variable that puts the JARs of the installed stores on the class path of a JVM.

    Args:
        more: further folders of JARs.
    """
    places = [f"{folder}/*" for folder in (*jar_folders(), *more)]
    if before := os.environ.get(CLASS_PATH):
        places.insert(0, before)
    return {CLASS_PATH: os.pathsep.join(places)} if places else {}


def jar_folders() -> list[Path]:
    """The folders with the JARs of the installed stores."""
    return sorted(path for path in FOLDER.glob("*") if path.is_dir())


def check(root: "SparkSession", settings: Mapping[str, str]) -> None:
    """Proves that the warehouse can be written and is of this catalog, if it is in a store.

    A small file says whose it is: without that, a second catalog would know no table, and build its
    own over those of the first. S3 is asked to write it only if it is not there, and must refuse
    that later: Delta's log relies on it (setup/stores/S3LogStore.scala).

    Raises:
        ValueError: what is wrong with the store, and the way out.
    """
    place = settings.get(WAREHOUSE, "")
    if is_local(place):
        return
    try:
        problem = _problem(root, place, settings)
    except Exception as error:  # of py4j, or of Java in it
        problem = _reason(place, settings, _said(error))
    if problem:
        raise ValueError(f"Store {place}: {problem}")


def check_place(spark: "SparkSession", place: str) -> None:
    """Proves that a bucket beside the warehouse's refuses a second commit of a version, too.

    It is asked once by a process, for a small file in the place of the first table.

    Raises:
        ValueError: what is wrong with it, and the way out.
    """
    bucket = urlsplit(place)[:2]
    of_warehouse = urlsplit(spark.conf.get(WAREHOUSE, "") or "")[:2]
    if not bucket[0].startswith("s3") or bucket == of_warehouse or bucket in _asked:
        return
    settings = dict(spark.sparkContext.getConf().getAll())
    try:
        problem = _log_store_problem(spark, place, settings) or _probed(spark, place)
    except Exception as error:  # of py4j, or of Java in it
        problem = _reason(place, settings, _said(error))
    if problem:
        problem = problem.replace("DBT_DELTA_STORE", "location_root")
        raise ValueError(f"location_root {place}: {problem}. Nothing was written.")
    _asked.add(bucket)


def _probed(spark: "SparkSession", place: str) -> str:
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    with _opened(spark, place, PROBE, conf) as (system, path):
        # It stays, for the next process: who writes may not be allowed to delete.
        if _create(system, path, "") and _create(system, path, ""):
            return _IGNORES
    return ""


@contextmanager
def _opened(spark: "SparkSession", place: str, name: str, conf: Any) -> Iterator[tuple[Any, Any]]:
    """The file system of a place, which gives up soon, and the path of a file in it."""
    for key, value in _IMPATIENT.items():
        conf.set(key, value)
    fs = spark._jvm.org.apache.hadoop.fs
    path = fs.Path(place, name)
    system = fs.FileSystem.newInstance(path.toUri(), conf)
    try:
        yield system, path
    finally:
        system.close()


def is_local(place: str) -> bool:
    """Whether an address is a folder of this machine."""
    return urlsplit(place).scheme in ("", "file")


def hadoop_conf(root: "SparkSession", settings: Mapping[str, str]) -> Any:
    """Hadoop's configuration with a profile's settings."""
    conf = root._jvm.org.apache.hadoop.conf.Configuration(root._jsc.hadoopConfiguration())
    for key, value in settings.items():
        if key.startswith(_HADOOP):
            conf.set(key.removeprefix(_HADOOP), value)
    return conf


def _problem(root: "SparkSession", place: str, settings: Mapping[str, str]) -> str:
    """What is wrong; empty if nothing is."""
    if problem := _log_store_problem(root, place, settings):
        return problem
    conf = hadoop_conf(root, settings)
    with _opened(root, place, MARKER, conf) as (system, path):
        owner = _owner(root, system, path)
        catalog = root._jsparkSession.sessionState().catalog()
        known = catalog.getDatabaseMetadata("default")
        if not known.locationUri().equals(root._jvm.org.apache.hadoop.fs.Path(place).toUri()):
            return (
                f"the catalog of this home was made for {known.locationUri().toString()}, and its "
                "tables are there. Give the store a home of its own (DBT_DELTA_HOME)"
            )
        own = _identity(catalog)
        if owner is None and _create(system, path, _marker(owner := own or uuid.uuid4().hex)):
            if own is None:
                root.sql(f"create schema {SCHEMA} comment '{owner}'")
        elif owner != own:
            return (
                "its tables are of another catalog, so this one would build over them. Use the "
                "home that made them, or a folder of its own. If that catalog is gone, remove "
                f"{MARKER}"
            )
        if _create(system, path, _marker(owner)):
            return _IGNORES
    return ""


def _log_store_problem(root: "SparkSession", place: str, settings: Mapping[str, str]) -> str:
    """Why writers of a place on S3 would lose commits; empty if they would not."""
    scheme = urlsplit(place).scheme
    if not scheme.startswith("s3"):
        return ""
    # Delta looks it up by the very scheme.
    key = LOG_STORE.replace("s3a", scheme)
    if not settings.get(key):
        return (
            "with Delta's own log store two processes that write one table lose commits. Set "
            f"{key} to {OURS} in the profile"
        )
    root._jvm.Thread.currentThread().getContextClassLoader().loadClass(settings[key])
    return ""


def _identity(catalog: Any) -> str | None:
    """What a catalog says of itself. Hive cannot change a schema whose path has blanks."""
    if not catalog.databaseExists(SCHEMA):
        return None
    return str(catalog.getDatabaseMetadata(SCHEMA).description())


def _owner(root: "SparkSession", system: Any, path: Any) -> str | None:
    """The catalog that the tables are of, by its identity; None where there is none yet."""
    try:
        return folders.read(root._jvm, system, path).decode().partition("\n")[0]
    except Exception as error:
        said = _said(error)
        if not _SILENT.search(said):
            raise
        # S3 gives no reasons for what is asked of one file.
        try:
            system.listStatus(path.getParent())
        except Exception as listing:
            if not _MISSING.search(_said(listing)):
                raise
        if not _MISSING.search(said):
            raise
        return None


def _marker(owner: str) -> str:
    return f"{owner}\n{ABOUT}\n"


def _create(system: Any, path: Any, text: str) -> bool:
    """Whether the file was written; not if there is one."""
    try:
        if system.getScheme() == "s3a":
            stream = system.createFile(path).recursive().must(CONDITION, "true").build()
        else:
            stream = system.create(path, False)
        stream.write(text.encode())
        stream.close()
    except Exception as error:
        if _CONFLICT.search(_said(error)):
            return False
        raise
    return True


def _said(error: Exception) -> str:
    """Everything that Java says of an error and its causes."""
    found, texts = getattr(error, "java_exception", None), [str(error).partition("\n\tat ")[0]]
    while found is not None and len(texts) < 20:
        texts.append(found.toString())
        found = found.getCause()
    return "\n".join(texts)


def _reason(place: str, settings: Mapping[str, str], said: str) -> str:
    parts = urlsplit(place)
    endpoint = settings.get("spark.hadoop.fs.s3a.endpoint") if parts.scheme == "s3a" else ""
    for pattern, reason in _REASONS:
        if found := re.search(pattern, said):
            words = reason.format(
                authority=parts.netloc,
                region=settings.get("spark.hadoop.fs.s3a.endpoint.region"),
                endpoint=f" at {endpoint}" if endpoint else "",
            )
            return f"{words} ({found[0].strip(', ')})"
    return said.strip().splitlines()[-1]


if __name__ == "__main__":
    from dbt_delta.session import lock, spark

    try:
        spark.start(json.load(sys.stdin))
    except (ValueError, lock.MetastoreInUse) as problem:
        sys.exit(str(problem))
