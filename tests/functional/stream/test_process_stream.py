"""Streams on the real executable: killed at random moments, interrupted, and in a kept Spark.

DBT_DELTA_EXAMPLES=40   kills (with --long 8)
DBT_DELTA_SEED          at which moments; see drawing.py
"""

import random
import time
from pathlib import Path

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.harness import Process, Project, wait_until

FILES = {
    "models/orders.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        select /*+ repartition(6) */ id, id * 10 as v
        from range({{ var('from') }}, {{ var('from') }} + 60)
        """,
    "models/added.sql": """
        {{ config(materialized='stream') }}
        select id, v from {{ dbt_delta.stream(ref('orders'), max_files_per_trigger=1) }}
        """,
    "models/merged.sql": """
        {{ config(materialized='stream', unique_key='id', expectations=[
            {'name': 'even', 'expression': 'id % 2 = 0', 'action': 'quarantine'}
        ]) }}
        select id, v from {{ dbt_delta.stream(ref('orders'), max_files_per_trigger=1) }}
        """,
    "models/checked.sql": """
        {{ config(materialized='view') }}
        {% for name in ['added', 'merged', 'merged__quarantine'] %}
        select '{{ name[:3] ~ name[8:9] }}' as name, count(*) as n, count(distinct id) as ids,
            sum(v) as total
        from {{ target.schema }}.{{ name }} {{ 'union all' if not loop.last }}
        {% endfor %}
        """,
}


def run(project: Project, *arguments: str, **env: str) -> str:
    process = project.process(*arguments, env=env)
    assert process.wait() == 0, process.output
    assert "Traceback" not in process.output
    return process.output


def grow(project: Project, step: int, **env: str) -> None:
    run(project, "run", "-s", "orders", "--vars", f"from: {step * 60}", **env)


def commits(project: Project) -> int:
    return len(list(Path(project.path).glob("home/warehouse/*/added/_delta_log/*.json")))


def start(project: Project) -> Process:
    return project.process("run", "-s", "added", "merged", "--vars", "from: 0")


def check(project: Project, rows: int, **env: str) -> None:
    """Each row is in `added` once, and in `merged` or its quarantine once."""
    run(project, "run", "-s", "checked", "--vars", "from: 0", **env)
    sql = "select concat_ws(' ', name, n, ids, total) as line from {{ ref('checked') }}"
    shown = run(project, "show", "--quiet", "--inline", sql, "--vars", "from: 0", **env)
    total = 10 * rows * (rows - 1) // 2
    odd = 10 * (rows // 2) ** 2
    assert f"add {rows} {rows} {total}" in shown
    assert f"mer {rows // 2} {rows // 2} {total - odd}" in shown
    assert f"merq {rows // 2} {rows // 2} {odd}" in shown


@pytest.mark.long
def test_whenever_it_is_killed_each_row_is_there_once(project: Project) -> None:
    project.write(FILES)
    chance = random.Random(SEED)
    kills = examples(1, 8)
    for step in range(kills):
        grow(project, step)
        process, before = start(project), commits(project)
        wanted, pause = before + chance.randint(0, 4), chance.random() * 1.5
        print(f"seed {SEED}: killed after commit {wanted} and {pause:.2f} s", flush=True)
        wait_until(lambda wanted=wanted: commits(project) >= wanted, 600, "commits")
        time.sleep(pause)
        process.kill()
    run(project, "run", "-s", "added", "merged", "--vars", "from: 0")
    check(project, kills * 60)


@pytest.mark.long
def test_a_kept_spark_and_an_interrupt(project: Project) -> None:
    project.write(FILES)
    warm = {"DBT_DELTA_WARM": "60s"}
    for step in range(2):
        grow(project, step, **warm)
        run(project, "run", "-s", "added", "merged", "--vars", "from: 0", **warm)
    check(project, 120, **warm)
    grow(project, 2)
    process, before = start(project), commits(project)
    wait_until(lambda: commits(project) > before, 120, "a batch")
    process.interrupt()
    assert process.wait(60) != 0
    assert "Traceback" not in process.output
    run(project, "run", "-s", "added", "merged", "--vars", "from: 0")
    check(project, 180)
