"""deploy/pull_request.sh as CI runs it: the comment, the exit code, and what is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.functional import harness
from tests.functional.harness import REPOSITORY, Project

MODELS = {
    "models/orders.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select {{ var('night', 3) }} as id, {{ var('night', 3) }} * 10 as amount
        """,
    "models/totals.sql": "select sum(amount) as total from {{ ref('orders') }}",
    "models/schema.yml": "models: [{name: orders, columns: [{name: id, data_tests: [unique]}]}]",
}


@pytest.mark.long
def test_the_comment_says_what_failed_and_what_changed(project: Project) -> None:
    production, home = project.schema, project.path / "home"
    project.writes_json = True
    project.write(MODELS)
    warm = {"DBT_DELTA_WARM": "40s"}
    for night in (1, 2):
        built = project.process("build", "--vars", f"night: {night}", env=warm)
        assert built.wait() == 0, built.output
    (project.path / "target").rename(project.path / "state")
    profiles = project.path / "profiles.yml"
    profiles.write_text(
        profiles.read_text().replace(
            f"schema: {production}\n", "schema: \"{{ env_var('DBT_SCHEMA') }}\"\n"
        )
    )

    def pull_request(models: dict[str, str]) -> tuple[int, str, str]:
        project.write(models)
        environment = {
            **os.environ,
            **harness.environment(home),
            **warm,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DBT_SCHEMA": f"{production}_7",
            "PRODUCTION": production,
            "STATE": "state",
            "DBT_PROFILES_DIR": str(project.path),
            "DBT_LOG_PATH": str(home / "logs"),
        }
        done = subprocess.run(
            ["bash", REPOSITORY / "deploy" / "pull_request.sh"],
            cwd=project.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        comment = project.path / "comment.md"
        text = comment.read_text() if comment.exists() else ""
        return done.returncode, text, done.stdout + done.stderr

    changed = MODELS["models/orders.sql"].replace("* 10", "* 11")
    code, comment, output = pull_request({"models/orders.sql": changed})
    assert code == 0, output
    assert "### 3 of 3 nodes passed" in comment
    assert "| orders | 2 | 3 | 1 | 0 |" in " ".join(comment.split())
    assert "#### Seconds" in comment
    twice = changed + " union all select 9, 9 union all select 9, 9"
    broken = {
        "models/orders.sql": twice.replace("unique_key='id'", "incremental_strategy='append'")
    }
    code, comment, output = pull_request(broken)
    assert code == 1, output
    assert "| unique_orders_id | fail | 1 row |" in comment
    code, comment, output = pull_request({"models/orders.sql": "select {{ nothing }"})
    assert (code, comment) == (2, ""), output
    schemas = project.process(
        "show", "--quiet", "--inline", "show schemas", env={**warm, "DBT_SCHEMA": production}
    )
    assert schemas.wait() == 0
    assert f"{production}_7" not in schemas.output
