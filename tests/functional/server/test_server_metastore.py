"""One catalog for servers and sessions: PostgreSQL, from the first start to another home's end."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.functional.harness import REPOSITORY, Project
from tests.functional.server.conftest import Server

MODELS = {
    "models/a.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/b.sql": "select * from {{ ref('a') }}",
    "models/p.sql": """
        {{ config(materialized='table', file_format='parquet', partition_by='day') }}
        select 7 as id, '2024-01-01' as day
    """,
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))),
        reason="no PostgreSQL is installed here",
    ),
]


@pytest.fixture
def server() -> Generator[Server, None, None]:
    """Its home is where PostgreSQL's own user can go, too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = Server(Path(folder))
        yield made
        made.run("stop")


def session(server: Server, project: Project, *arguments: str) -> str:
    """dbt in a session of its own on the server's home; what it said."""
    process = project.process(*arguments, home=server.home)
    code = process.wait()
    assert code == 0, process.output
    return process.output


def test_a_catalog_moves_over_and_is_shared(server: Server, project: Project) -> None:
    project.write(MODELS)
    session(server, project, "run")

    started = server.run("start", "--metastore", "postgres")
    assert started.code == 0, started.output
    assert "metastore postgresql://127.0.0.1:" in started.output
    assert "./run server adopt" in started.output
    assert server.sql(f"show schemas like '{project.schema}'") == []
    adopted = server.run("adopt")
    assert (adopted.code, adopted.output) == (0, "server: 3 tables and views registered\n")
    again = server.run("adopt")
    assert "0 tables and views registered; 3 were already there" in again.output
    assert server.sql(f"select id from {project.schema}.b") == [(1,)]
    assert server.sql(f"select id, day from {project.schema}.p") == [(7, "2024-01-01")]

    # Managed tables are still managed: DROP takes the files.
    managed = dict(row[:2] for row in server.sql(f"describe extended {project.schema}.a"))
    assert managed["Type"] == "MANAGED"

    # A session beside the server, on the same tables.
    project.write({"models/a.sql": "{{ config(materialized='table') }} select 2 as id"})
    session(server, project, "run", "-s", "a")
    assert server.sql(f"select id from {project.schema}.b") == [(2,)]
    process = server.dbt(project, "run")
    assert process.wait() == 0, process.output
    assert server.version(f"{project.schema}.a") == 2

    _no_password_is_shown(server)
    stopped = server.run("stop")
    assert stopped.output == "server: stopped, PostgreSQL stopped\n"
    assert not (server.home / "postgres" / "data" / "postmaster.pid").exists()
    wrong = project.process("run", home=server.home)
    assert wrong.wait() != 0
    assert "./run server start" in wrong.output
    assert "Traceback" not in wrong.output

    refused = server.run("start", "--metastore", "derby")
    assert refused.code == 2
    assert "the catalog of this home is jdbc:postgresql://127.0.0.1:" in refused.output
    # What this home has needs no word.
    restarted = server.run("start")
    assert restarted.code == 0, restarted.output
    assert server.sql(f"select id from {project.schema}.b") == [(2,)]


def _no_password_is_shown(server: Server) -> None:
    conf = server.home / "metastore.conf"
    assert stat.S_IMODE(conf.stat().st_mode) == 0o600
    line = next(line for line in conf.read_text().splitlines() if "Password" in line)
    password = line.split(" ", 1)[1]
    shown = subprocess.run(["ps", "-ww", "-eo", "args="], capture_output=True, text=True).stdout
    assert password not in shown
    for log in server.home.glob("logs/**/*.log"):
        assert password not in log.read_text(errors="replace")
    shown = server.sql("set spark.hadoop.javax.jdo.option.ConnectionPassword")
    assert password not in str(shown)


def test_settings_from_the_environment(server: Server, tmp_path: Path) -> None:
    wrong = {"DBT_DELTA_METASTORE_URL": "mysql://x"}
    run = server.run("start", "--metastore", "postgres", **wrong)
    assert run.code == 2
    assert "is an address such as jdbc:postgresql://host:5432/metastore. Got: 'mysql://x'" in (
        run.output
    )
    nobody = {
        "DBT_DELTA_METASTORE_URL": "jdbc:postgresql://127.0.0.1:1/metastore",
        "DBT_DELTA_METASTORE_USER": "hive",
        "DBT_DELTA_METASTORE_PASSWORD": "not shown",
    }
    run = server.run("start", "--metastore", "postgres", **nobody)
    assert run.code == 2
    assert run.output.count("\n") == 1, run.output
    assert "the metastore postgresql://127.0.0.1:1/metastore cannot be used: " in run.output
    assert "not shown" not in run.output
    assert not (server.home / "metastore.conf").exists()
    assert "DBT_DELTA_METASTORE_URL" not in os.environ


# Of each area what goes through most of it; ./run test --target thrift runs all there is.
CORE = {
    "incremental/test_incremental_strategies.py": [
        "test_merge_writes_one_commit",
        "test_replace_where_refuses_rows_outside_with_their_number",
    ],
    "incremental/test_incremental_microbatch.py": ["test_retry_runs_the_failed_batch_only"],
    "snapshots/test_snapshots_strategies.py": ["test_deleted_returned_and_deleted_again"],
    "seeds/test_seeds_values.py": ["test_texts", "test_column_types"],
    "relations/test_relations_folders.py": ["test_a_first_build_that_was_killed_is_built_again"],
    "relations/test_relations_promises.py": ["test_properties_and_clustering_follow"],
    "maintenance/test_maintenance_operations.py": ["test_optimize_says_what_it_did"],
}


def test_the_core_of_the_suite_passes_on_such_a_server() -> None:
    tests = [f"tests/functional/{file}::{n}" for file, names in CORE.items() for n in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--target", "thrift", *tests],
        cwd=REPOSITORY,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ passed in", done.stdout, re.MULTILINE), done.stdout
