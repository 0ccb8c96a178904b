"""The catalog of a home in PostgreSQL, where several processes can share it.

If ``<home>/metastore.conf`` exists, sessions and servers of this home use the catalog that it
names, and no longer the embedded Derby database.
"""

import contextlib
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from dbt_delta.home import home, write_private
from dbt_delta.server import ServerError, daemon, settings
from dbt_delta.session import errors, lock, properties, spark

JDO = "spark.hadoop.javax.jdo.option.Connection"
URL, USER, PASSWORD = f"{JDO}URL", f"{JDO}UserName", f"{JDO}Password"
DRIVER = {f"{JDO}DriverName": "org.postgresql.Driver"}
VARIABLES = {
    URL: "DBT_DELTA_METASTORE_URL",
    USER: "DBT_DELTA_METASTORE_USER",
    PASSWORD: "DBT_DELTA_METASTORE_PASSWORD",
}
KINDS = ("derby", "postgres")
# The schema of the Hive client in Spark 4.1.
SCHEMA_VERSION = "2.3.0"
# A number that other programs do not use: one process at a time creates the schema.
_ADVISORY_LOCK = 0x6462745F
_DATABASE = "metastore"


def prepare(kind: str | None, wanted: Mapping[str, str]) -> dict[str, str]:
    """The settings of this home's catalog, which is then ready for use.

    Args:
        kind: ``derby``, ``postgres``, or None for what this home has.
        wanted: the other settings of the server.

    Raises:
        ServerError: the catalog cannot be used, or is not this home's.
    """
    if lock.metastore_dir(wanted) is None:
        if kind is not None:
            raise ServerError(f"--metastore {kind}, but {URL} in profile or --conf names another")
        return {}
    found = spark.shared_metastore(wanted)
    if kind == "derby" and found:
        raise ServerError(
            f"the catalog of this home is {found[URL]}. To return to the embedded one, which does "
            f"not have its tables: remove {_file()}"
        )
    if not found:
        return _create(wanted) if kind == "postgres" else {}
    _asked_for_other(found)
    _start_local()
    try:
        spark.check_shared_metastore(found)
    except ValueError as error:
        raise ServerError(str(error)) from error
    return found


def name(wanted: Mapping[str, str]) -> str:
    """A short name of a catalog for the user."""
    url = wanted.get(URL, "")
    if url.startswith("jdbc:derby:"):
        return "embedded Derby"
    return url.removeprefix("jdbc:").partition("?")[0] or "Derby"


def stop_local() -> bool:
    """Stops the PostgreSQL of this home; whether one ran."""
    if not _is_local_running():
        return False
    _run("pg_ctl", "stop", "-D", str(_local() / "data"), "-m", "fast", "-w")
    return True


def _file() -> Path:
    return home() / spark.METASTORE_FILE


def _local() -> Path:
    return home() / "postgres"


def _create(wanted: Mapping[str, str]) -> dict[str, str]:
    """Settings from the environment, or of a PostgreSQL of this home's own."""
    if os.environ.get(VARIABLES[URL]):
        found = {name: os.environ.get(variable, "") for name, variable in VARIABLES.items()}
        if not found[URL].startswith("jdbc:postgresql:"):
            raise ServerError(
                f"{VARIABLES[URL]} is an address such as jdbc:postgresql://host:5432/metastore. "
                f"Got: {found[URL]!r}"
            )
    else:
        found = _initialize_local()
    found = {**DRIVER, **found}
    _create_schema(found, wanted)
    write_private(_file(), properties.text(found))
    if (home() / "metastore").is_dir():
        print("server: the shared catalog lacks the embedded one's tables: ./run server adopt")
    return found


def _asked_for_other(found: Mapping[str, str]) -> None:
    asked = os.environ.get(VARIABLES[URL])
    if asked and asked != found[URL]:
        raise ServerError(
            f"{VARIABLES[URL]} is {asked}, but the catalog of this home is {found[URL]} "
            f"({_file()} says so, and has its password)"
        )


def _initialize_local() -> dict[str, str]:
    """Makes a database cluster in this home, which listens on 127.0.0.1 only."""
    folder, password = _local(), secrets.token_urlsafe(24)
    if (folder / "data").exists():
        # Left by a first start that was interrupted: nothing has used it.
        stop_local()
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    owner = _owner()
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    secret = write_private(folder / "password", password)
    if owner is not None:
        os.chown(secret, owner.pw_uid, owner.pw_gid)
    try:
        _run(
            *("initdb", "-D", str(folder / "data"), "-A", "scram-sha-256", "-U", "hive"),
            *(f"--pwfile={secret}", "-E", "UTF8", "--no-locale"),
        )
    finally:
        secret.unlink(missing_ok=True)
    port = daemon.free_port()
    with (folder / "data" / "postgresql.conf").open("a") as conf:
        conf.write(
            f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
            "max_connections = 200\n"
        )
    _start_local()
    sql = f"create database {_DATABASE}"
    connect = ("psql", "-h", "127.0.0.1", "-p", str(port), "-U", "hive", "-d", "postgres")
    _run(*connect, "-qc", sql, environment={"PGPASSWORD": password})
    return {
        URL: f"jdbc:postgresql://127.0.0.1:{port}/{_DATABASE}",
        USER: "hive",
        PASSWORD: password,
    }


def _start_local() -> None:
    if not (_local() / "data").is_dir() or _is_local_running():
        return
    log = str(_local() / "postgres.log")
    _run("pg_ctl", "start", "-D", str(_local() / "data"), "-w", "-l", log)


def _is_local_running() -> bool:
    if not (_local() / "data" / "postmaster.pid").exists():
        return False
    command = _command("pg_ctl", "status", "-D", str(_local() / "data"))
    return subprocess.run(command, capture_output=True, cwd="/").returncode == 0


def _run(*arguments: str, environment: Mapping[str, str] | None = None) -> None:
    # A server started here must not hold our console open.
    output = _local() / "command.out"
    with output.open("w") as file:
        done = subprocess.run(
            _command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={**os.environ, **(environment or {})},
        )
    if done.returncode != 0:
        words = " ".join(output.read_text(errors="replace").split())[-400:]
        raise ServerError(f"PostgreSQL: {arguments[0]} failed: {words} (see {_local()})")


def _command(program: str, *arguments: str) -> list[str]:
    """A PostgreSQL command; as another user where we are root, as which PostgreSQL does not run."""
    owner = _owner()
    as_user: list[str] = []
    if owner is not None:
        as_user = [
            "setpriv",
            f"--reuid={owner.pw_uid}",
            f"--regid={owner.pw_gid}",
            "--clear-groups",
        ]
    return [*as_user, _program(program), *arguments]


def _owner() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for user in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(user)
    raise ServerError("PostgreSQL does not run as root, and there is no user postgres: change user")


def _program(program: str) -> str:
    """The newest PostgreSQL's; Debian keeps the server's programs off the path."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name)
    )
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    found = shutil.which(program, path=path)
    if found is None:
        raise ServerError(
            f"no PostgreSQL here ({program} is not installed). Install its server, or name one: "
            + ", ".join(VARIABLES.values())
        )
    return found


def _create_schema(found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Creates Hive's tables if they are missing, with the classes that pyspark ships.

    DataNucleus's own way (autoCreateAll at the first use) deadlocks on PostgreSQL.

    Raises:
        ServerError: no connection, or the schema of another Hive.
    """
    from py4j.protocol import Py4JJavaError

    with _jvm(wanted) as jvm:
        try:
            login = jvm.java.util.Properties()
            login.setProperty("user", found[USER])
            login.setProperty("password", found[PASSWORD])
            connection = jvm.org.postgresql.Driver().connect(found[URL], login)
            statement = connection.createStatement()
            statement.execute(f"select pg_advisory_lock({_ADVISORY_LOCK})")
            version = _schema_version(statement)
            if version is None:
                _create_tables(jvm, found)
                statement.execute(
                    'insert into "VERSION" ("VER_ID", "SCHEMA_VERSION", "VERSION_COMMENT") '
                    f"values (1, '{SCHEMA_VERSION}', 'dbt_delta')"
                )
            connection.close()
        except Py4JJavaError as error:
            problem = errors.message(error)
            raise ServerError(f"the metastore {name(found)} cannot be used: {problem}") from error
    if version not in (None, SCHEMA_VERSION):
        raise ServerError(
            f"the metastore {name(found)} has the schema of Hive {version}; Spark's own client "
            f"needs {SCHEMA_VERSION}"
        )


def _schema_version(statement: Any) -> str | None:
    tables = "select 1 from pg_tables where schemaname = current_schema() and tablename = 'VERSION'"
    if not statement.executeQuery(tables).next():
        return None
    rows = statement.executeQuery('select "SCHEMA_VERSION" from "VERSION"')
    return str(rows.getString(1)) if rows.next() else None


def _create_tables(jvm: Any, found: Mapping[str, str]) -> None:
    properties = jvm.java.util.HashMap()
    for key, value in {
        "javax.jdo.PersistenceManagerFactoryClass": (
            "org.datanucleus.api.jdo.JDOPersistenceManagerFactory"
        ),
        **{name.removeprefix("spark.hadoop."): value for name, value in found.items()},
        "datanucleus.identifierFactory": "datanucleus1",
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.rdbms.initializeColumnInfo": "NONE",
        "datanucleus.rdbms.useLegacyNativeValueStrategy": "true",
    }.items():
        properties.put(key, value)
    factory = jvm.javax.jdo.JDOHelper.getPersistenceManagerFactory(properties)
    classes = jvm.java.util.HashSet()
    for model in _models(jvm):
        classes.add(model)
    store = factory.getNucleusContext().getStoreManager()
    store.createSchemaForClasses(classes, jvm.java.util.Properties())
    factory.close()


def _models(jvm: Any) -> list[str]:
    """The classes that Hive keeps in tables, from its mapping file."""
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()
    stream = loader.getResourceAsStream("package.jdo")
    text = bytes(stream.readAllBytes()).decode()
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE.*?>", "", text, flags=re.DOTALL))
    package = root.find("package")
    assert package is not None
    return [f"{package.get('name')}.{model.get('name')}" for model in package.findall("class")]


@contextlib.contextmanager
def _jvm(wanted: Mapping[str, str]) -> Generator[Any, None, None]:
    """A small JVM with Spark's and our JARs on its class path, for as long as it is needed."""
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    settings.logs().mkdir(parents=True, exist_ok=True)
    conf = SparkConf(loadDefaults=False)
    conf.set("spark.driver.memory", "512m")
    conf.set("spark.driver.extraClassPath", f"{sys.prefix}/jars/*")
    # A heap that starts larger than the maximum would not start.
    options = re.sub(r"-(Xms|Xmn)\S*", "", wanted["spark.driver.extraJavaOptions"])
    conf.set("spark.driver.extraJavaOptions", options)
    with spark.own_java():
        gateway = launch_gateway(conf)
    try:
        yield gateway.jvm
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
