"""The Thrift server of ./run: its life, dbt on it, and what happens when either dies."""

import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from dbt_delta.session import lock
from dbt_delta.session.thrift import connect
from tests.functional import harness
from tests.functional.harness import Invocation, Project, wait_until
from tests.functional.server.conftest import Server

# Minutes on any machine, and no load on it; each of the tasks ends after five seconds.
SLEEP = "java_method('java.lang.Thread', 'sleep', 1000L)"
SLOW = f"select id, {SLEEP} as slept from range(0, 4000, 1, 800)"
# Six tables, two of each name; what a run wrote says its number.
ALIASES = [(n, k) for n in range(3) for k in (1, 2)]
TWICE = {
    f"models/m{n}_{k}.sql": f"""
        {{{{ config(materialized='incremental', unique_key='id') }}}}
        {{{{ config(alias='m{n}', schema='s{k}') }}}}
        select id, {k} as k, {n} as n, {{{{ 2 if is_incremental() else 1 }}}} as run
        from range(0, 100)
    """
    for n, k in ALIASES
}
DAYS = {
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
VALUES = {
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
MISTAKES = {
    "models/bad.sql": "select no_such_column from (select 1 as id)",
    "models/python.py": "def model(dbt, session):\n    return session.range(1)\n",
}
MERGED = """
    {{ config(materialized='incremental', unique_key='id') }}
    select id, id * %s as v from range(0, 10)
    {%% if var('slow', false) %%}
    where java_method('java.lang.Thread', 'sleep', 2000L) is null or true
    {%% endif %%}
"""


@pytest.fixture(scope="module")
def built(
    server: Server, dbt_on_server: None, new_shared_project: Callable[[str], Project]
) -> tuple[Project, Invocation]:
    """A project that was built twice on the server, the second time with two mistakes in it."""
    project = new_shared_project("built")
    project.write({**TWICE, **DAYS, **VALUES})
    project.dbt("build", "--target", "thrift", threads=4)
    project.write(MISTAKES)
    run = project.dbt("build", "--target", "thrift", threads=4, check=False)
    failed = {result.node.name for result in run.results if result.status != "success"}
    assert failed == {"bad", "python"}, run.output
    return project, run


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
    assert f"port {server.port} of 127.0.0.1 cannot be used" in run.output
    assert f"./run server start --port {server.port + 1}" in run.output
    assert not (other.home / "metastore").exists()


def test_a_session_is_told_to_use_the_server(
    server: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DELTA_HOME", str(server.home))
    metastore = lock.metastore_dir(harness.settings())
    assert metastore is not None
    with pytest.raises(lock.MetastoreInUse) as refused:
        lock.acquire(metastore)
    assert f"in use by process {server.pid} (./run server start)" in str(refused.value)
    assert "Use it: --target thrift." in str(refused.value)


def test_a_closed_connection_leaves_the_metastore_open_to_others(server: Server) -> None:
    """No statement runs in the thread that ends the session, or as another user of Hive."""
    where = "reflect('java.lang.Thread', 'currentThread')"
    who = "reflect('org.apache.hadoop.security.UserGroupInformation', 'getCurrentUser')"
    with closing(connect("127.0.0.1", server.port, "somebody")) as connection:
        cursor = connection.cursor()
        cursor.execute(f"declare variable place string default concat_ws(' ', {where}, {who})")
        cursor.execute("select place, current_user()")
        [(place, user)] = cursor.fetchall()
    assert "HiveServer2-Background-Pool" in place
    assert (user, "somebody" in place) == ("somebody", False)


def test_four_threads_one_alias_in_two_schemas(
    server: Server, built: tuple[Project, Invocation]
) -> None:
    project, _ = built
    tables = {(n, k): f"{project.schema}_s{k}.m{n}" for n, k in ALIASES}
    found = server.sql(
        " union all ".join(
            f"select '{table}', n, k, run, count(*) from {table} version as of {run - 1} "
            "group by all"
            for table in tables.values()
            for run in (1, 2)
        )
    )
    expected = [(table, *case, run, 100) for case, table in tables.items() for run in (1, 2)]
    assert sorted(found) == sorted(expected)
    histories = {table: server.history(table) for table in tables.values()}
    assert {commits[0]["version"] for commits in histories.values()} == {1}
    tags = [json.loads(commit["userMetadata"]) for commit in histories[tables[0, 1]]]
    assert [tag["dbt_node_id"] for tag in tags] == ["model.consumer.m0_1"] * 2


def test_the_last_day_is_found(server: Server, built: tuple[Project, Invocation]) -> None:
    """By dbt, and by clients that set nothing in their session."""
    project, _ = built
    for table, count in (("days", 6), ("newer", 3)):
        found = server.sql(f"select min(day), max(day), count(*) from {project.schema}.{table}")
        assert found == [("1582-10-10", "2024-01-02", count)]


@pytest.mark.long
def test_session_and_server_make_equal_tables(
    server: Server, built: tuple[Project, Invocation]
) -> None:
    project, _ = built
    project.dbt("build", "--target", "session", "-s", "people", "all", "history")
    except_times = "* except (dbt_valid_from, dbt_updated_at, dbt_scd_id)"
    columns = {"people": "*", "all": "*", "history": except_times}
    rows, types = [], []
    for place in (server.home, project.home):
        folder = place / "warehouse" / f"{project.schema}.db"
        files = {table: f"delta.`{folder}/{table}`" for table in columns}
        text = " union all ".join(
            f"select '{table}' as name, to_json(struct({columns[table]})) as row from {file}"
            for table, file in files.items()
        )
        rows.append(harness.session().sql(f"{text} order by all").collect())
        types.append(
            [harness.session().sql(f"select * from {file}").schema for file in files.values()]
        )
    assert [row.name for row in rows[0]] == ["all", "all", "history", "history", "people", "people"]
    assert rows[0] == rows[1]
    assert types[0] == types[1]


def test_an_error_is_one_clean_paragraph(built: tuple[Project, Invocation]) -> None:
    _, run = built
    assert "[UNRESOLVED_COLUMN" in run.output
    for noise in ("HiveSQLException", "Error running query", "org.apache", "\tat "):
        assert noise not in run.output


def test_a_python_model_is_refused(built: tuple[Project, Invocation]) -> None:
    _, run = built
    said = "models/python.py: a Thrift server runs SQL, not Python. Run this model with --target "
    assert f"{said}session" in run.output


@pytest.mark.long
def test_a_small_statement_does_not_wait_for_a_big_one_which_ctrl_c_cancels(
    server: Server, project: Project
) -> None:
    """FIFO gives all cores to the first job; each dbt thread has a pool of its own."""
    later = "select java_method('java.lang.Thread', 'sleep', 3000L)"
    project.write(
        {
            "models/a_long.sql": "{{ config(materialized='table') }} " + SLOW,
            "models/b_small.sql": f"""
                {{{{ config(materialized='table', pre_hook="{later}") }}}} select 1 as id
            """,
        }
    )
    process = server.dbt(project, "run", "--threads", "2")
    process.wait_for(r"OK created sql table model .*b_small", 60)
    assert "a_long  [OK" not in process.output
    (description,) = {job["description"] for job in server.jobs()}
    assert description.startswith("/* model.consumer.a_long ("), description
    process.interrupt()
    assert process.wait(60) != 0
    assert "at org.apache" not in process.output
    wait_until(lambda: not server.jobs(), 20, "the job to be cancelled")


@pytest.mark.long
def test_a_killed_dbt_leaves_no_job_behind(server: Server, project: Project) -> None:
    project.write({"models/long.sql": "{{ config(materialized='table') }} " + SLOW})
    process = server.dbt(project, "run")
    wait_until(server.jobs, 120, "a running job")
    process.kill()
    wait_until(lambda: not server.jobs(), 30, "the job to be cancelled")


@pytest.mark.long
def test_killed_in_a_merge_tables_keep_their_version_and_retry_finishes(
    new_server: Callable[..., Server], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = new_server().start()
    monkeypatch.setenv("DBT_DELTA_PORT", str(server.port))
    project.writes_json = True
    project.write(
        {
            "models/a.sql": MERGED % 1,
            "models/b.sql": "select count(*) as n, sum(v) as v from {{ ref('a') }}",
        }
    )
    project.dbt("run", "--target", "thrift")
    table = f"{project.schema}.a"
    before = server.version(table)
    project.write({"models/a.sql": MERGED % 2})
    killed = server.pid

    def kill() -> None:
        wait_until(server.jobs, 120, "the merge's job")
        os.kill(killed, signal.SIGKILL)

    with ThreadPoolExecutor(1) as pool:
        is_killed = pool.submit(kill)
        lost = project.dbt("run", "--target", "thrift", vars={"slow": True}, check=False)
        is_killed.result()
    assert (lost.success, lost.exception) == (False, None)
    lines = [line for line in lost.output.splitlines() if "was lost" in line]
    assert f"The connection to the Spark server at 127.0.0.1:{server.port} was lost" in lines[0]
    assert "not sent again" in lines[0]
    assert "Traceback" not in lost.output

    status = server.run("status")
    assert status.code == 1
    assert f"process {killed} is gone" in status.output
    refused = project.dbt("run", "--target", "thrift", check=False)
    assert not refused.success
    assert f"No Spark server answers at 127.0.0.1:{server.port} (Connection refused)" in (
        f"{refused.exception}\n{refused.output}"
    )

    restarted = server.run("start")
    assert restarted.code == 0, restarted.output
    assert f"process {killed}, the last server, is gone" in restarted.output
    assert server.version(table) == before
    project.dbt("retry", "--target", "thrift")
    assert server.sql(f"select n, v from {project.schema}.b") == [(10, 90)]
    assert server.version(table) == before + 1

    stopped = server.run("stop")
    assert (stopped.code, stopped.output) == (0, "server: stopped\n")
    _is_gone(server)


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.usefixtures("dbt_on_server")
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
        project.dbt("run", "--target", "thrift")
        project.write({"models/a.sql": text % 300_000})
        run = project.dbt("run", "--target", "thrift", check=False)
        assert (run.success, run.exception) == (False, None)
        assert "No space left on device" in run.output
        assert "\tat " not in run.output
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


@pytest.mark.long
def test_what_is_wrong_is_said_before_anything_starts(new_server: Callable[..., Server]) -> None:
    server = new_server()
    for run, said in (
        (server.run("start", DBT_DELTA_MEMORY="900g"), "too little memory: a heap of 900g"),
        (server.run("start", "--host", "0.0.0.0"), "lets other machines in"),
    ):
        assert run.code == 2
        assert run.output.count("\n") == 1, run.output
        assert said in run.output
    assert not (server.home / "metastore").exists()
    assert not list(server.home.glob("server/*.json"))


@pytest.mark.long
def test_a_server_that_does_not_start_says_why(new_server: Callable[..., Server]) -> None:
    server = new_server()
    server.conf.write_text("spark.sql.extensions no.such.Extension\nspark.master nowhere\n")
    run = server.run("start")
    assert run.code == 2
    assert run.output.count("\n") == 1, run.output
    assert "Spark did not start: SparkException: Master must either be yarn" in run.output
    assert not list(Path(server.home / "server").glob("*.json"))
