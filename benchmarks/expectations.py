"""What expectations cost: a `table` build of six million rows, and a merge of 1,500 of them.

    ./run bench expectations [--rounds 3] [--rows 6000000] [--batch 1500]

Four expectations, one per action, beside the same model without any, on one warm driver in turns.
`clean` breaks none; `bad` quarantines and drops one row in a thousand. `stored` is `bad` with
`stage: table`: its rows are stored before they are judged, as those of an expensive SELECT. Round 0
warms up. Writes results/expectations.json and .md.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import _results as results
from benchmarks._driver import Driver

PLAIN, CLEAN, BAD, STORED = "plain", "clean", "bad", "stored"
PEERS = (PLAIN, CLEAN, BAD, STORED)
WORK = ("table", "merge")
SOURCE = """
    create table {schema}.src using delta as
    select
        id, pmod(xxhash64(id), 500000) as customer_id, rand(1) as share,
        cast(pmod(id, 100000) as decimal(12, 2)) as amount, pmod(id, 7) as priority,
        date_add(date'2020-01-01', cast(pmod(id, 2000) as int)) as day,
        concat('status ', pmod(id, 3)) as status,
        concat('a comment of some words on order ', id) as comment
    from range(0, {rows}, 1, 4)
"""
EXPECTATIONS = """, expectations=[
    {{'name': 'a', 'action': 'quarantine', 'expression': 'amount >= 100 * {bad}'}},
    {{'name': 'b', 'action': 'drop', 'expression': 'priority < 7 and (id + 1) % 1000 >= {bad}'}},
    {{'name': 'c', 'action': 'fail', 'expression': "status in ('status 0', 'status 1', 'status 2')"}},
    {{'name': 'd', 'action': 'warn', 'expression': 'day is not null'}}
]"""  # noqa: E501


def main(arguments: list[str] | None = None) -> None:
    parser = results.parser("expectations")
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--batch", type=int, default=1500)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        runs = _runs(Path(folder), options)
    about = {"rounds": options.rounds, "rows": options.rows, "batch": options.batch}
    results.publish(options.results, "expectations", {**about, "runs": runs}, report)


def _runs(home: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    driver = Driver(home, "4g")
    project = driver.project("judged", _models(options))
    project.sql(SOURCE.replace("{rows}", str(options.rows)))
    runs = []
    for number in range(options.rounds + 1):
        for work in WORK:
            for peer in PEERS[number % 4 :] + PEERS[: number % 4]:
                taken = project.measure("-s", f"{work}_{peer}")
                print(
                    number, work, peer, round(taken["wall"], 2), round(taken["cpu"], 2), flush=True
                )
                for text, seconds in taken["steps"]:
                    print(f"      {seconds:6.2f} {text}", flush=True)
                if number:
                    figures = {"wall": taken["wall"], "cpu": taken["cpu"]}
                    runs.append({"work": work, "peer": peer, **figures})
    return runs


def _models(options: argparse.Namespace) -> dict[str, str]:
    files = {}
    newest = f"{{% if is_incremental() %}}where id >= {options.rows - options.batch}{{% endif %}}\n"
    for peer in PEERS:
        given = "" if peer == PLAIN else EXPECTATIONS.format(bad=0 if peer == CLEAN else 1)
        given += ", stage='table'" if peer == STORED else ""
        text = "{{ config(materialized='%s'%s) }}\nselect * from {{ target.schema }}.src\n"
        files[f"models/table_{peer}.sql"] = text % ("table", given)
        merge = text % ("incremental", f", unique_key='id'{given}")
        files[f"models/merge_{peer}.sql"] = merge + newest
    return files


def report(about: dict[str, Any]) -> str:
    lines = [
        f"{about['date']}, {about['machine']}; {about['rows']:,} rows, merges of "
        f"{about['batch']:,}; medians of {about['rounds']} rounds, lowest and highest in brackets.",
        "",
        "| work | model | wall s | CPU s | more wall | more CPU |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for work in WORK:
        for peer in PEERS:
            cells, more = [], []
            for key in ("wall", "cpu"):
                mine, plain = (_taken(about, work, one, key) for one in (peer, PLAIN))
                cells.append(results.spread(mine))
                base = statistics.median(plain)
                added = statistics.median(mine) - base
                more.append("" if peer == PLAIN else f"{added:+.2f} s, {added / base:+.0%}")
            lines.append(f"| {' | '.join([work, peer, *cells, *more])} |")
    return "\n".join(lines) + "\n"


def _taken(about: dict[str, Any], work: str, peer: str, key: str) -> list[float]:
    return [run[key] for run in about["runs"] if (run["work"], run["peer"]) == (work, peer)]
