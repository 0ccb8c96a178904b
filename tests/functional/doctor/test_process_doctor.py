"""The doctor on real faults, each in a Spark driver of its own where one starts."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from dbt.adapters import spark

from dbt_delta import size
from dbt_delta.doctor import main
from dbt_delta.session import lock
from tests.functional import harness
from tests.functional.harness import REPOSITORY, Project

JARS = REPOSITORY / ".venv" / "jars"
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
# Java says on the console that the archive of classes is of other JARs.
NO_ARCHIVE = {"DBT_DELTA_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
# sha256 of delta-spark_4.0_2.13-4.4.0.jar
FOREIGN_JAR = "49e899667168b9412f83cbe894ce264107d7b896d6c5e12edca4e216845c1104"
JAVA = {"JAVA_HOME": str(Path(sys.prefix) / "java")}


def doctor(
    project: Project, *arguments: str, env: Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """Exit code and lines of ``./run doctor`` behind its set-up; nothing else may be shown."""
    home = project.path / "home"
    (home / "logs").mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-m", "dbt_delta.doctor", *project._command(arguments, None)],
        env={**os.environ, **harness.environment(home), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return ran.returncode, ran.stdout.splitlines()


def edit_profile(project: Project, *changes: tuple[str, str]) -> None:
    """Replaces a pattern by a text in profiles.yml."""
    path = project.path / "profiles.yml"
    text = path.read_text()
    for pattern, new in changes:
        assert re.search(pattern, text), pattern
        text = re.sub(pattern, lambda _, new=new: new, text)
    path.write_text(text)


def test_all_is_well(project: Project, home: Path) -> None:
    shown = project.dbt("--quiet", "run-operation", "doctor").printed
    assert shown.splitlines() == [
        "Spark      4.1.4, local[*]",
        "Delta      4.4.0",
        f"Java       {java_version()}",
        f"Size       {size.cores()} cores, 2g of memory, 4 shuffle partitions",
        f"Metastore  embedded Derby, for one process: {home}/metastore",
        "ANSI       on",
        f"Warehouse  file:{home}/warehouse",
    ]


def java_version() -> str:
    java = f"{JAVA['JAVA_HOME']}/bin/java"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    return shown.split('"')[1]


@pytest.mark.long
def test_two_deltas_no_extension_no_catalog_and_an_unknown_dbt_spark(
    project: Project, tmp_path: Path
) -> None:
    """The second JAR is a copy: what it is called counts, and what is loaded is asked for."""
    jars = tmp_path / "jars"
    shutil.copytree(JARS, jars)
    shutil.copy(jars / "delta-spark_4.1_2.13-4.4.0.jar", jars / "delta-spark_4.0_2.13-4.3.1.jar")
    edit_profile(
        project,
        (r'extraClassPath: ".*"', f'extraClassPath: "{jars}/*"'),
        (r"spark\.sql\.extensions: io.*", ""),
        (r"spark\.sql\.catalog\.spark_c.*", ""),
    )
    metadata = tmp_path / "newer" / "dbt_spark-99.0.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dbt-spark\nVersion: 99.0.0\n")
    path = os.pathsep.join([str(metadata.parent), os.environ.get("PYTHONPATH", "")])

    code, lines = doctor(project, env={**JAVA, **NO_ARCHIVE, "PYTHONPATH": path})
    assert code == 1
    assert len(lines) == 6, lines
    two, other, extension, catalog, plugin, ansi = lines
    assert two.startswith("Delta: versions 4.")
    assert "delta-spark_4.0_2.13-4.3.1.jar" in two
    assert "delta-spark_4.1_2.13-4.4.0.jar" in two
    assert other.startswith("Delta: delta-spark_4.0_2.13-4.3.1.jar on the class path of target ses")
    assert "is built for another Spark than 4.1.4. Put delta-spark_4.1_2.13 and" in other
    place = "for target session of profiles.yml"
    remedy = "in its server_side_parameters."
    assert extension == f"spark.sql.extensions: not set {place}. Add {EXTENSION} {remedy}"
    assert catalog == (
        f"spark.sql.catalog.spark_catalog: not set {place}. Set it to {CATALOG} {remedy}"
    )
    assert plugin.startswith(
        "Plugin: dbt_delta's is not active in this environment: dbt-spark 99.0.0 is not a tested "
        "version (1.11.0). Install dbt_delta with the versions that it pins"
    )
    assert ansi.startswith("ANSI mode: off in target session")


@pytest.mark.long
def test_a_delta_for_another_spark(project: Project, tmp_path: Path) -> None:
    """No statement runs in such a session, so that only Python is left to say why."""
    jars = tmp_path / "jars"
    shutil.copytree(JARS, jars, ignore=shutil.ignore_patterns("delta-spark*"))
    fetch("delta-spark_4.0_2.13", "4.4.0", jars)
    edit_profile(project, (r'extraClassPath: ".*"', f'extraClassPath: "{jars}/*"'))
    code, lines = doctor(project, env=NO_ARCHIVE)
    assert code == 1
    assert len(lines) == 1, lines
    assert "delta-spark_4.0_2.13-4.4.0.jar" in lines[0]
    assert " on the class path does not fit Spark 4.1.4: " in lines[0]
    assert "ClassNotFoundException: org.apache.spark.sql.execution.streaming." in lines[0]
    assert "Put delta-spark_4.1_2.13 and" in lines[0]


def fetch(name: str, version: str, folder: Path) -> None:
    """A JAR from Maven Central by the Ivy that pyspark ships, as set-up does it."""
    ivy = folder.parent / "ivy"
    ivy.mkdir()
    mirror = os.environ.get("MAVEN_MIRROR_URL")
    settings = (REPOSITORY / "setup" / "ivysettings.xml").read_text()
    if mirror:
        settings = settings.replace('m2compatible="true"', f'm2compatible="true" root="{mirror}"')
    (ivy / "settings.xml").write_text(settings)
    (program,) = Path(sys.prefix).glob("lib/python*/site-packages/pyspark/jars/ivy-*.jar")
    done = subprocess.run(
        [
            *(f"{JAVA['JAVA_HOME']}/bin/java", f"-Dcache.dir={ivy}/cache", "-cp", program),
            *("org.apache.ivy.Main", "-settings", ivy / "settings.xml", "-notransitive"),
            *("-types", "jar", "-dependency", "io.delta", name, version),
            *("-retrieve", f"{folder}/[artifact]-[revision].[ext]"),
        ],
        capture_output=True,
        text=True,
    )
    jar = folder / f"{name}-{version}.jar"
    assert jar.is_file(), done.stdout + done.stderr
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == FOREIGN_JAR


@pytest.fixture
def doctor_here(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str]]]:
    """``doctor`` in this process, for what is said before Spark starts."""
    # The doctor's process ends with it: it leaves dbt as it needs it.
    monkeypatch.setattr(spark.Plugin, "adapter", spark.Plugin.adapter)

    def run(*arguments: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        code = main(project._command(arguments, None))
        return code, capsys.readouterr().out.splitlines()

    return run


def test_a_server_that_is_not_there(
    project: Project, doctor_here: Callable[..., tuple[int, list[str]]]
) -> None:
    server = """outputs:
    far:
      type: spark
      method: thrift
      host: 127.0.0.1
      port: 9
      user: dbt
      schema: far
      server_side_parameters: {spark.sql.ansi.enabled: "true"}"""
    edit_profile(project, (r"outputs:", server))
    assert doctor_here("--target", "far") == (
        1,
        [
            "Spark server: no answer at 127.0.0.1:9 (Connection refused). Start it, or correct "
            "host and port of the target in profiles.yml."
        ],
    )


def test_old_java_and_a_metastore_in_use(project: Project, tmp_path: Path) -> None:
    old = tmp_path / "jdk11" / "bin" / "java"
    old.parent.mkdir(parents=True)
    old.write_text("#!/usr/bin/env bash\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    old.chmod(0o755)
    lock.acquire(project.path / "home" / "metastore")
    env = {"JAVA_HOME": str(tmp_path / "jdk11"), "DBT_DELTA_PLUGIN": "off"}
    code, lines = doctor(project, env=env)
    assert code == 1
    java, metastore = lines
    assert java == (
        f"Java: 11.0.2 at {old} is too old for Spark. "
        "Install Java 17 or 21 and name it in JAVA_HOME."
    )
    assert metastore.startswith(
        f"Metastore: The embedded metastore {project.path}/home/metastore is in use by process "
        f"{os.getpid()} ("
    )


def test_a_database_that_is_open_without_our_lock(project: Project, home: Path) -> None:
    project.sql("show schemas")
    assert lock.is_open(home / "metastore")
    assert not lock.is_open(home / "another")


def test_a_target_that_is_not_there(doctor_here: Callable[..., tuple[int, list[str]]]) -> None:
    code, lines = doctor_here("--target", "nowhere")
    assert code == 1
    assert len(lines) == 1
    assert "does not have a target named 'nowhere'" in lines[0]
