"""What an erasure costs: 1,000 subjects in a table of six million rows.

    ./run bench erasure [--rounds 3] [--rows 6000000] [--subjects 1000]

`ours` is the whole command `erase` with old files removed: the plan with all files decoded, MERGE,
purge, VACUUM, certificate. `hand` is the MERGE with the purge of the files that it touched. Both
begin with a new copy of the table, in turns on one warm driver. The rows of others have the same
hash before and after. Round 0 warms up. Writes results/erasure.json and .md.
"""

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver
from benchmarks._peers import HAND, OURS, Project, timed

PEERS = (OURS, HAND)
ORDERS = """
    select
        id as order_id, pmod(xxhash64(id), 500000) as customer_id,
        cast(pmod(id, 100000) as decimal(12, 2)) as amount, pmod(id, 7) as priority,
        date_add(date'2020-01-01', cast(pmod(id, 2000) as int)) as day,
        concat('a comment of some words on order ', id) as comment
    from range(0, {rows}, 1, 16)
"""
FILES = {
    "models/schema.yml": """
        sources:
          - name: shop
            schema: "{{ target.schema }}"
            tables:
              - name: orders
                columns:
                  - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
        """
}
BY_HAND = """
    merge into {schema}.orders as old using {schema}.requests as gone
    on old.customer_id = gone.customer_id when matched then delete
"""


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("erasure")
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--subjects", type=int, default=1000)
    options = parser.parse_args(arguments)
    os.environ["DBT_ENV_SECRET_ERASURE_KEY"] = "a key of this benchmark"
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        driver = Driver(Path(folder), "4g")
        project = driver.project("erased", FILES)
        for number in range(options.rounds + 1):
            for peer in PEERS[:: 1 if number % 2 else -1]:
                taken = _measure(driver, project, peer, options.rows, options.subjects)
                print(number, peer, round(taken["wall"], 2), round(taken["cpu"], 2), flush=True)
                if number:
                    runs.append({"peer": peer, "wall": taken["wall"], "cpu": taken["cpu"]})
    about = {"rounds": options.rounds, "rows": options.rows, "subjects": options.subjects}
    results.publish(options.results, "erasure", {**about, "runs": runs}, report)


def _measure(
    driver: Driver, project: Project, peer: str, rows: int, subjects: int
) -> dict[str, Any]:
    table = f"{project.schema}.orders"
    project.sql(f"drop table if exists {table}")
    project.sql(f"create table {table} using delta as {ORDERS.format(rows=rows)}")
    # Between the customers, so that each erasure is of other ones.
    keys = f"select id * {500_000 // subjects} as customer_id from range({subjects})"
    project.sql(f"create or replace table {{schema}}.requests using delta as {keys}")
    others = f"select bit_xor(xxhash64(*)), count(*) from {table} where customer_id not in ({keys})"
    before = project.sql(others)
    if peer == OURS:
        taken = timed(driver.jvm, lambda: _erase(project))
    else:
        taken = timed(driver.jvm, lambda: _by_hand(project))
    assert project.sql(f"select count(*) from {table} where customer_id in ({keys})")[0][0] == 0
    assert project.sql(others) == before
    return taken


def _erase(project: Project) -> None:
    requests = f"{project.schema}.requests"
    arguments = f"{{kind: person, requests: {requests}, retention_hours: 0}}"
    variables = {"dbt_delta_short_retention": [requests, f"{project.schema}.orders"]}
    project.dbt("--quiet", "run-operation", "erase", "--args", arguments, vars=variables)


def _by_hand(project: Project) -> None:
    project.sql(BY_HAND)
    project.sql("reorg table {schema}.orders apply (purge)")


def report(about: dict[str, Any]) -> str:
    lines = [
        f"{about['date']}, {about['machine']}; {about['subjects']:,} subjects in "
        f"{about['rows']:,} rows; medians of {about['rounds']} rounds, lowest and highest in "
        "brackets.",
        "",
        "| | wall s | CPU s |",
        "| --- | --- | --- |",
    ]
    medians = {}
    for peer in PEERS:
        taken = [
            [run[key] for run in about["runs"] if run["peer"] == peer] for key in ("wall", "cpu")
        ]
        medians[peer] = [statistics.median(values) for values in taken]
        lines.append(f"| {' | '.join([peer, *map(results.spread, taken)])} |")
    ratios = (f"{mine / hand:.2f}x" for mine, hand in zip(*medians.values(), strict=True))
    return "\n".join([*lines, f"| ratio | {' | '.join(ratios)} |"]) + "\n"
