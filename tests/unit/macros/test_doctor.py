"""Every fault that the doctor finds in a session, from what Spark would answer."""

from types import SimpleNamespace
from typing import Any

import agate
import pytest

from tests.unit.macros.rendering import CompilationError

JARS = ("delta-spark_4.1_2.13-4.4.0.jar", "delta-storage-4.4.0.jar")
SETTINGS = {
    "spark.master": "local[*]",
    "spark.driver.memory": "16g",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.warehouse.dir": "file:/data/warehouse",
}
SESSION = "SparkSubmit --conf a=jdbc:derby:;databaseName=/my data/metastore;create=true shell"
SERVER = "SparkSubmit --class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
NOT_FOUND = ["Error occurred during query planning: ", "[PATH_NOT_FOUND] Path does not exist: /x."]


@pytest.fixture
def doctor(macros):
    """Runs the macro on a healthy session but for the answers given: its lines, did it fail."""

    def run(
        jars: tuple[str, ...] = JARS,
        settings: dict[str, str | None] | None = None,
        plan: list[str] = NOT_FOUND,
        ansi: str = "true",
        plugin: dict[str, str | None] | None = None,
        env: dict[str, str] | None = None,
        **jvm: str | int | None,
    ) -> tuple[list[str], bool]:
        known = {**SETTINGS, **(settings or {})}
        process = {
            "spark": "4.1.4 45b9b176e6e2",
            "java": "17.0.15",
            "class_path": "".join(f"/opt/my jars/{jar}:" for jar in jars) + "/spark/jars/hive.jar",
            "command": SESSION,
            "delta_class": "class io.delta.package" if jars else None,
            "derby": "org.apache.derby.FileMonitor@1",
            "cores": 16,
            **jvm,
        }

        def run_query(sql: str) -> agate.Table:
            if sql == "set":
                rows = [(key, value) for key, value in known.items() if value is not None]
                return agate.Table(rows, ["key", "value"])
            if sql.startswith("set "):
                return agate.Table([(sql[4:], ansi)], ["key", "value"])
            if sql.startswith("explain"):
                return agate.Table([(line,) for line in plan], ["plan"])
            if "io.delta.package', 'VERSION'" in sql:
                return agate.Table([("4.4.0",)], ["version"])
            return agate.Table([list(process.values())], list(process))

        lines: list[str] = []
        adapter = SimpleNamespace()
        if plugin != {}:
            adapter.dbt_delta_plugin = lambda: plugin or {"obstacle": "", "ansi": "true"}
        package = macros(
            run_query=run_query,
            print=lines.append,
            adapter=adapter,
            env_var=lambda name, default=None: (env or {}).get(name, default),
            target=SimpleNamespace(name="prod", host="lake", port=10000),
        )
        try:
            package.doctor()
        except CompilationError as error:
            failed = str(error) == f"Faults found: {len(lines)}, each named above."
            return lines, failed
        return lines, False

    return run


def test_all_is_well(doctor) -> None:
    assert doctor() == (
        [
            "Spark      4.1.4, local[*]",
            "Delta      4.4.0",
            "Java       17.0.15",
            "Size       16 cores, 16g of memory, 200 shuffle partitions",
            "Metastore  embedded Derby, for one process: /my data/metastore",
            "ANSI       on",
            "Warehouse  file:/data/warehouse",
        ],
        False,
    )


def test_a_shared_metastore(doctor) -> None:
    uri = {"spark.hadoop.hive.metastore.uris": "thrift://meta:9083"}
    lines, failed = doctor(settings=uri, command=SERVER, derby=None)
    assert not failed
    assert lines[4] == "Metastore  thrift://meta:9083"


REMEDY = "Put delta-spark_4.1_2.13 and delta-storage of the same version there, and no other."
WHERE = "on the class path of target prod of profiles.yml (spark.driver.extraClassPath)"
OFF = {"DBT_DELTA_PLUGIN": "off"}
UNTESTED = {"obstacle": "dbt-spark 99.0.0 is not a tested version (1.11.0)", "ansi": "true"}
NO_CLASS = ["Error occurred during query planning: ", "java.lang.NoClassDefFoundError: org/a/B"]


@pytest.mark.parametrize(
    ("answers", "lines"),
    [
        pytest.param({"jars": ()}, [f"Delta: no JAR {WHERE}. {REMEDY}"], id="no-jar"),
        pytest.param(
            {"jars": (*JARS, "delta-storage-3.3.0.jar")},
            [
                f"Delta: versions 4.4.0 and 3.3.0 {WHERE} (delta-spark_4.1_2.13-4.4.0.jar, "
                f"delta-storage-4.4.0.jar, delta-storage-3.3.0.jar). {REMEDY}"
            ],
            id="two-versions",
        ),
        pytest.param(
            {"jars": ("delta-spark_4.0_2.13-4.4.0.jar",), "plan": NO_CLASS},
            [
                f"Delta: delta-spark_4.0_2.13-4.4.0.jar {WHERE} is built for another Spark than "
                f"4.1.4. {REMEDY}"
            ],
            id="another-spark",
        ),
        pytest.param(
            {"jars": ("delta-spark_2.13-4.4.0.jar",), "plan": NO_CLASS},
            [
                f"Delta: 4.4.0 {WHERE} (delta-spark_2.13-4.4.0.jar) does not fit Spark 4.1.4: "
                f"NoClassDefFoundError: org/a/B. {REMEDY}"
            ],
            id="does-not-fit",
        ),
        pytest.param(
            {"settings": {"spark.sql.extensions": None}},
            [
                "spark.sql.extensions: not set for target prod of profiles.yml. Add "
                "io.delta.sql.DeltaSparkSessionExtension in its server_side_parameters."
            ],
            id="no-extension",
        ),
        pytest.param(
            {"settings": {"spark.sql.catalog.spark_catalog": "org.MyCatalog"}},
            [
                "spark.sql.catalog.spark_catalog: org.MyCatalog for target prod of profiles.yml. "
                "Set it to org.apache.spark.sql.delta.catalog.DeltaCatalog in its "
                "server_side_parameters."
            ],
            id="another-catalog",
        ),
        pytest.param(
            {"ansi": "false", "plugin": {}, "env": OFF},
            [
                "ANSI mode: off in target prod: dbt-spark switches it off whatever profiles.yml "
                "says, and dbt_delta's plugin is not active (DBT_DELTA_PLUGIN=off). Unset "
                "DBT_DELTA_PLUGIN."
            ],
            id="switched-off",
        ),
        pytest.param(
            {"ansi": "false", "plugin": UNTESTED},
            [
                "Plugin: dbt_delta's is not active in this environment: dbt-spark 99.0.0 is not a "
                "tested version (1.11.0). Install dbt_delta with the versions that it pins, or "
                "choose DBT_DELTA_PLUGIN=off.",
                "ANSI mode: off in target prod: dbt-spark switches it off whatever profiles.yml "
                "says, and dbt_delta's plugin is not active (dbt-spark 99.0.0 is not a tested "
                "version (1.11.0)). Activate the plugin.",
            ],
            id="untested-dbt-spark",
        ),
        pytest.param(
            {"ansi": "false", "command": SERVER, "derby": None},
            [
                'ANSI mode: off in the server at lake:10000, which ignores the setting "true" of '
                "target prod. Set spark.sql.ansi.enabled to true there."
            ],
            id="ansi-of-the-server",
        ),
        pytest.param(
            {"command": SERVER},
            [
                "Metastore: embedded Derby in the server at lake:10000, which only one process can "
                "use. Give the server a database such as "
                "PostgreSQL (spark.hadoop.javax.jdo.option.ConnectionURL)."
            ],
            id="derby-in-a-server",
        ),
    ],
)
def test_fault(doctor, answers: dict[str, Any], lines: list[str]) -> None:
    assert doctor(**answers) == (lines, True)


@pytest.mark.parametrize(
    "answers",
    [
        {"plugin": {"obstacle": "", "ansi": "false"}, "ansi": "false"},
        {"plugin": {"obstacle": "", "ansi": None}, "ansi": "false"},
        {"plugin": {}, "env": OFF},
        {"jars": (), "delta_class": "class io.delta.package"},
        {"jars": (), "settings": {"spark.jars": "s3://a/delta-spark_4.1_2.13-4.4.0.jar,b.jar"}},
        {"settings": {"spark.sql.extensions": "a.B,io.delta.sql.DeltaSparkSessionExtension"}},
    ],
)
def test_no_fault(doctor, answers: dict[str, Any]) -> None:
    assert not doctor(**answers)[1]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_macros_alone_are_no_fault_and_say_so(doctor, ansi: str) -> None:
    lines, failed = doctor(plugin={}, ansi=ansi)
    assert not failed
    assert lines[0].startswith("Spark ")
    assert lines[-1].startswith("Note: the Python package dbt_delta is not installed in this env")


def test_all_faults_are_named(doctor) -> None:
    none = {"spark.sql.extensions": None, "spark.sql.catalog.spark_catalog": None}
    lines, failed = doctor(
        jars=(), settings=none, plugin=UNTESTED, ansi="false", command=SERVER, plan=NO_CLASS
    )
    assert failed
    starts = ["Delta", "spark.sql.ext", "spark.sql.cat", "Plugin", "ANSI", "Metastore"]
    assert [line.startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * 6
    assert not any("\n" in line for line in lines)


def test_two_processes_on_s3_need_a_log_store_that_keeps_their_commits(doctor) -> None:
    store = {"spark.sql.warehouse.dir": "s3a://lake/warehouse"}
    lines, failed = doctor(settings=store)
    assert failed
    assert lines[0].startswith("Writers: Delta's own log store for S3 in target ")
    assert lines[0].endswith("to dbt_delta.S3LogStore in its server_side_parameters.")
    ours = {**store, "spark.delta.logStore.s3a.impl": "dbt_delta.S3LogStore"}
    assert doctor(settings=ours)[0][-2:] == [
        "Warehouse  s3a://lake/warehouse",
        "Writers    any number: the store refuses a second commit of a version",
    ]
    # Delta looks for the log store of the very scheme.
    lines, failed = doctor(settings={**ours, "spark.sql.warehouse.dir": "s3://lake/warehouse"})
    assert failed
    assert "Set spark.delta.logStore.s3.impl to dbt_delta.S3LogStore" in lines[0]
    lines, failed = doctor(settings={"spark.sql.warehouse.dir": "hdfs://name/warehouse"})
    assert (failed, lines[-1].split()[0]) == (False, "Writers")
