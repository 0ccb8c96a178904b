"""The Thrift server of ./run: its life, dbt on it, and what happens when either dies."""

import json
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.functional import harness
from tests.functional.harness import Project, wait_until
from tests.functional.server.conftest import Server

# Long, and no load on the machine.
SLEEP = "java_method('java.lang.Thread', 'sleep', 1000L)"
SLOW = f"select id, {SLEEP} as slept from range(0, 400, 1, 2)"
MERGED = """
    {{ config(materialized='incremental', unique_key='id') }}
    select id, id * %s as v from range(0, 10)
    {%% if var('slow', false) %%}
    where java_method('java.lang.Thread', 'sleep', 2000L) is null or true
    {%% endif %%}
"""


def test_it_starts_once_says_so_and_keeps_its_files_private(server: Server) -> None:
    pid = server.pid
    assert server.sql("select 1") == [(1,)]
    again = server.run("start")
    assert (again.code, server.pid) == (0, pid)
    assert f"already running at 127.0.0.1:{server.port} (process {pid})" in again.output
    status = server.run("status")
    assert status.code == 0
    assert (
        f"running at 127.0.0.1:{server.port} (process {pid}, local[*], metastore" in status.output
    )
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in server.home.glob("server/*")}
    assert (modes["thrift.json"], modes["spark.conf"]) == (0o600, 0o600)
    assert stat.S_IMODE((server.home / "server").stat().st_mode) == 0o700
    log = server.run("logs", "-n", "5")
    assert log.code == 0
    assert len(log.output.splitlines()) <= 5


def test_another_start_finds_the_port_taken(server: Server, new_server: Callable[..., Server]):
    other = new_server()
    other.port = server.port
    run = other.run("start")
    assert run.code == 2
    assert run.output.count("\n") == 1, run.output
    assert f"port {server.port} of 127.0.0.1 cannot be had" in run.output
    assert f"./run server start --port {server.port + 1}" in run.output
    assert not (other.home / "metastore").exists()


def test_a_session_is_told_to_use_the_server(server: Server, project: Project) -> None:
    project.write({"models/a.sql": "select 1 as id"})
    process = project.process("run", home=server.home)
    assert process.wait() != 0
    said = [line for line in process.output.splitlines() if "in use" in line]
    assert f"in use by process {server.pid} (./run server start)" in said[0]
    assert "Use it: --target thrift." in said[0]


@pytest.mark.usefixtures("dbt_on_server")
def test_four_threads_one_alias_in_two_schemas(server: Server, project: Project) -> None:
    models = {
        f"models/m{n}_{k}.sql": f"""
            {{{{ config(materialized='incremental', unique_key='id') }}}}
            {{{{ config(alias='m{n}', schema='s{k}') }}}}
            select id, {k} as k, {n} as n, {{{{ var('run', 1) }}}} as run from range(0, 100)
        """
        for n in range(6)
        for k in (1, 2)
    }
    project.write(models)
    for run in (1, 2):
        project.dbt("run", "--target", "thrift", vars={"run": run})
        for n in range(6):
            for k in (1, 2):
                table = f"{project.schema}_s{k}.m{n}"
                found = server.sql(f"select k, n, run, count(*) from {table} group by all")
                assert found == [(k, n, run, 100)]
                assert server.version(table) == run - 1
    history = server.history(f"{project.schema}_s1.m0")
    tags = [json.loads(commit["userMetadata"]) for commit in history]
    assert [tag["dbt_node_id"] for tag in tags] == ["model.consumer.m0_1"] * 2


@pytest.mark.usefixtures("dbt_on_server")
def test_the_last_day_is_found(server: Server, project: Project) -> None:
    """By dbt, and by clients that set nothing in their session."""
    project.write(
        {
            "models/days.sql": """
            {{ config(materialized='incremental', incremental_strategy='append') }}
            select * from values (date'1582-10-10'), (date'2024-01-01') as days(day)
            {% if is_incremental() %}
            union all select d from values (date'2023-12-31'), (date'2024-01-02') as new(d)
            {% endif %}
        """,
            "models/newer.sql": """
            {{ config(materialized='incremental', incremental_strategy='append') }}
            select * from {{ ref('days') }}
            {% if is_incremental() %} where day > (select max(day) from {{ this }}) {% endif %}
        """,
        }
    )
    for _ in range(2):
        project.dbt("run", "--target", "thrift")
    for table, count in (("days", 6), ("newer", 3)):
        found = server.sql(f"select min(day), max(day), count(*) from {project.schema}.{table}")
        assert found == [("1582-10-10", "2024-01-02", count)]


@pytest.mark.usefixtures("dbt_on_server")
def test_session_and_server_make_equal_tables(server: Server, project: Project) -> None:
    project.write(
        {
            "seeds/people.csv": 'id,name,paid,born\n1,"O\'Brien",1.10,2001-02-03\n2,,,\n',
            "models/all.sql": """
            {{ config(materialized='table') }}
            select *, timestamp'2024-01-01 10:00:00.123456' as at, array(1, null) as list,
              named_struct('a', 1.5D, 'b', X'00FF') as pair, map('k', date'2024-02-29') as words,
              float('nan') as nan, 12345678901234567890.123456789BD as big
            from {{ ref('people') }}
        """,
            "snapshots/s.sql": """
            {% snapshot history %}
            {{ config(unique_key='id', strategy='check', check_cols='all') }}
            select * from {{ ref('people') }}
            {% endsnapshot %}
        """,
        }
    )
    project.dbt("build", "--target", "thrift")
    project.dbt("build", "--target", "session")
    for table in ("people", "all", "history"):
        except_times = "* except (dbt_valid_from, dbt_updated_at, dbt_scd_id)"
        columns = except_times if table == "history" else "*"
        paths = [
            place / "warehouse" / f"{project.schema}.db" / table
            for place in (server.home, project.home)
        ]
        rows = [
            harness.session()
            .sql(f"select to_json(struct({columns})) as row from delta.`{path}` order by 1")
            .collect()
            for path in paths
        ]
        assert rows[0] == rows[1]
        types = [harness.session().sql(f"select * from delta.`{path}`").schema for path in paths]
        assert types[0] == types[1]


def test_ctrl_c_cancels_the_jobs_it_started(server: Server, project: Project) -> None:
    project.write({"models/long.sql": "{{ config(materialized='table') }} " + SLOW})
    process = server.dbt(project, "run")
    wait_until(server.jobs, 120, "a running job")
    description = server.jobs()[0]["description"]
    assert description.startswith("/* model.consumer.long ("), description
    process.interrupt()
    assert process.wait(60) != 0
    assert "at org.apache" not in process.output
    wait_until(lambda: not server.jobs(), 20, "the job to be cancelled")


def test_a_killed_dbt_leaves_no_job_behind(server: Server, project: Project) -> None:
    project.write({"models/long.sql": "{{ config(materialized='table') }} " + SLOW})
    process = server.dbt(project, "run")
    wait_until(server.jobs, 120, "a running job")
    process.kill()
    wait_until(lambda: not server.jobs(), 30, "the job to be cancelled")


def test_a_small_statement_does_not_wait_for_a_big_one(server: Server, project: Project) -> None:
    """FIFO gives all cores to the first job; each dbt thread has a pool of its own."""
    wide = f"select id, {SLEEP} as slept from range(0, 400, 1, 16)"
    project.write(
        {
            "models/a_long.sql": "{{ config(materialized='table') }} " + wide,
            "models/b_small.sql": "{{ config(materialized='table') }} select 1 as id",
        }
    )
    process = server.dbt(project, "run", "--threads", "2")
    process.wait_for(r"OK created sql table model .*b_small", 60)
    assert "created sql table model" in process.output
    assert "a_long  [OK" not in process.output
    process.interrupt()
    process.wait(60)


@pytest.mark.usefixtures("dbt_on_server")
def test_an_error_is_one_clean_paragraph(project: Project) -> None:
    project.write({"models/bad.sql": "select no_such_column from (select 1 as id)"})
    run = project.dbt("run", "--target", "thrift", check=False)
    assert "[UNRESOLVED_COLUMN" in run.output
    for noise in ("HiveSQLException", "Error running query", "org.apache", "\tat "):
        assert noise not in run.output


def test_killed_in_a_merge_tables_keep_their_version_and_retry_finishes(
    new_server: Callable[..., Server], project: Project
) -> None:
    server = new_server().start()
    project.write(
        {
            "models/a.sql": MERGED % 1,
            "models/b.sql": "select count(*) as n, sum(v) as v from {{ ref('a') }}",
        }
    )
    assert server.dbt(project, "run").wait() == 0
    table = f"{project.schema}.a"
    before = server.version(table)
    project.write({"models/a.sql": MERGED % 2})
    process = server.dbt(project, "run", "--vars", json.dumps({"slow": True}))
    wait_until(server.jobs, 120, "the merge's job")
    killed = server.pid
    os.kill(killed, signal.SIGKILL)
    assert process.wait(60) == 1
    lines = [line for line in process.output.splitlines() if "was lost" in line]
    assert f"The connection to the Spark server at 127.0.0.1:{server.port} was lost" in lines[0]
    assert "not sent again" in lines[0]
    assert "Traceback" not in process.output

    status = server.run("status")
    assert status.code == 1
    assert f"process {killed} is gone" in status.output
    refused = server.dbt(project, "run")
    assert refused.wait() != 0
    assert f"No Spark server answers at 127.0.0.1:{server.port} (Connection refused)" in (
        refused.output
    )

    restarted = server.run("start")
    assert restarted.code == 0, restarted.output
    assert f"process {killed}, the last server, is gone" in restarted.output
    assert server.version(table) == before
    retried = server.dbt(project, "retry")
    assert retried.wait() == 0, retried.output
    assert server.sql(f"select n, v from {project.schema}.b") == [(10, 90)]
    assert server.version(table) == before + 1

    stopped = server.run("stop")
    assert (stopped.code, stopped.output) == (0, "server: stopped\n")
    _is_gone(server)


def test_a_python_model_is_refused(server: Server, project: Project) -> None:
    project.write({"models/a.py": "def model(dbt, session):\n    return session.range(1)\n"})
    process = server.dbt(project, "run")
    assert process.wait() == 1
    said = "models/a.py: a Thrift server runs SQL, not Python. Run this model with --target session"
    assert said in process.output


def test_a_driver_out_of_memory_ends_with_a_line(
    new_server: Callable[..., Server], project: Project
) -> None:
    server = new_server()
    with server.conf.open("a") as conf:
        conf.write("spark.driver.memory 512m\n")
    server.start()
    project.write(
        {
            "models/a.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/b.sql": """
            {{ config(materialized='table') }}
            select id, transform(sequence(1, 20000), x -> repeat(cast(x as string), 10000)) as much
            from {{ ref('a') }}
        """,
        }
    )
    process = server.dbt(project, "run")
    assert process.wait() == 1, process.output
    assert f"The connection to the Spark server at 127.0.0.1:{server.port} was lost" in (
        process.output
    )
    assert f"process {server.pid} is gone" in server.run("status").output
    server.start()
    assert server.sql(f"select id from {project.schema}.a") == [(1,)]
    project.write({"models/b.sql": "select id from {{ ref('a') }}"})
    assert server.dbt(project, "retry").wait() == 0


def test_a_full_disk_leaves_the_last_version(
    server: Server, project: Project, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        server.sql(f"create schema {project.schema} location '{disk}'")
        config = "{{ config(materialized='table') }}"
        text = f"{config} select id, sha2(string(id), 512) as s from range(%d)"
        project.write({"models/a.sql": text % 1000})
        process = server.dbt(project, "run")
        assert process.wait() == 0, process.output
        project.write({"models/a.sql": text % 1_000_000})
        process = server.dbt(project, "run")
        assert process.wait() == 1
        assert "No space left on device" in process.output
        assert "\tat " not in process.output
        assert server.version(f"{project.schema}.a") == 0
        assert server.sql(f"select count(*) from {project.schema}.a") == [(1000,)]
    finally:
        server.sql(f"drop schema if exists {project.schema} cascade")
        # Lazy, as the server may not have closed yet what it could not write.
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _is_gone(server: Server) -> None:
    for port in (server.port, server.ui):
        with socket.socket() as probe, pytest.raises(OSError, match="refused"):
            probe.connect(("127.0.0.1", port))
    assert not (server.home / "server" / "thrift.json").exists()
    again = server.run("stop")
    assert (again.code, again.output) == (0, "server: was not running\n")


@pytest.mark.parametrize(
    ("variables", "conf", "said"),
    [
        ({"DBT_DELTA_MEMORY": "900g"}, "", "too little memory: a heap of 900g"),
        ({"DBT_DELTA_MEMORY": "much"}, "", "spark.driver.memory is an amount such as 2g"),
        ({"DBT_DELTA_PORT": "high"}, "", "DBT_DELTA_PORT is a port, 1 to 65535. Got: 'high'"),
        ({"DBT_DELTA_SERVER_CONF": "/no/file"}, "", "/no/file: No such file or directory"),
        ({}, "what is this", "line 1: not a Spark property"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(
    new_server: Callable[..., Server], variables: dict[str, str], conf: str, said: str
) -> None:
    server = new_server()
    server.conf.write_text(conf)
    began = time.monotonic()
    run = server.run("start", **variables)
    assert run.code == 2
    assert run.output.count("\n") == 1, run.output
    assert said in run.output
    assert time.monotonic() - began < 30
    assert not (server.home / "metastore").exists()


def test_a_server_that_does_not_start_says_why(new_server: Callable[..., Server]) -> None:
    server = new_server()
    server.conf.write_text("spark.sql.extensions no.such.Extension\nspark.master nowhere\n")
    run = server.run("start")
    assert run.code == 2
    assert run.output.count("\n") == 1, run.output
    assert "Spark did not start: SparkException: Master must either be yarn" in run.output
    assert not list(Path(server.home / "server").glob("*.json"))
