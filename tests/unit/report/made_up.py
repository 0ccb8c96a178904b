"""A made-up project of any size, as dbt and the tables' logs would tell of it."""

import random
from typing import Any

DAY = 86400
MADE = 1_780_000_000
THINGS = ("orders", "customers", "items", "visits")
LAYERS = ("raw", "staging", "intermediate", "marts")


def nodes(models: int, tests: int) -> list[dict[str, Any]]:
    """As of ``nodes.nodes``: sources, models in layers, snapshots, tests and an exposure."""
    rng = random.Random(1)
    found = [_node(f"source.shop.s{i:02}", f"shop.s{i:02}", "source", []) for i in range(8)]
    ids: list[list[str]] = [[node["id"] for node in found]]
    per_layer = [models // 4] * 4
    for layer, count in zip(LAYERS, per_layer, strict=True):
        own = []
        for i in range(count):
            name = f"{layer}_{THINGS[i % 4]}_{i:02}"
            parents = rng.sample(ids[-1], min(len(ids[-1]), rng.choice((1, 1, 2, 3))))
            kind = "snapshot" if layer == "raw" and i % 20 == 7 else "model"
            found.append(_node(f"{kind}.shop.{name}", name, kind, parents))
            own.append(found[-1]["id"])
        ids.append(own)
    built = [node for node in found if node["kind"] != "source"]
    for i in range(tests):
        of = built[i % len(built)]
        name = f"{('not_null', 'unique', 'relationships')[i % 3]}_{of['name']}_{i}"
        found.append(_node(f"test.shop.{name}", name, "test", [of["id"]]))
    found.append(_node("exposure.shop.board", "board", "exposure", ids[-1][:3]))
    return found


def runs(every: list[dict[str, Any]], days: int) -> list[dict[str, Any]]:
    """As of ``runs.read``: one build each night."""
    rng = random.Random(2)
    found = []
    for day in range(days):
        started = MADE - (days - day) * DAY + 3600
        at, results = 0.0, []
        for node in every:
            if node["kind"] in ("source", "exposure"):
                continue
            results.append(_result(rng, node, at, day, days))
            at += results[-1]["seconds"] / 4
        found.append(
            {
                "format": 1,
                "id": f"{day:08x}-0000-0000-0000-000000000000",
                "command": "build",
                "target": "session",
                "started": started,
                "ended": started + at + 8,
                "nodes": results,
                "other": {"cpu": 1.5, "read": 1000, "written": 0, "shuffled": 0, "spilled": 0},
            }
        )
    return found


def facts(every: list[dict[str, Any]], days: int) -> dict[str, Any]:
    """As of the macro _report_facts."""
    rng = random.Random(3)
    tables, commits, expectations = [], {}, {}
    for i, node in enumerate(node for node in every if node["kind"] in ("model", "snapshot")):
        if node["what"] == "view":
            continue
        size = int(rng.lognormvariate(17, 2))
        tables.append(_table(rng, node, size))
        commits[node["id"]] = [
            {
                "version": day,
                "at": (MADE - (days - day) * DAY + 3700) * 1000,
                "operation": "MERGE",
                "run": f"{day:08x}-0000-0000-0000-000000000000",
                "node": node["id"],
                "started": "",
                "moves_rows": True,
                "is_whole": False,
                "inserted": 100 + day,
                "updated": 10,
                "deleted": 0,
                "files": 1,
                "bytes": size // 50,
            }
            for day in reversed(range(days))
        ]
        if i % 25 == 0:
            expectations[node["id"]] = [
                {
                    "at": MADE - (days - day) * DAY,
                    "expectation": "amount_is_positive",
                    "action": "quarantine",
                    "broken": rng.choice((0, 0, 1, 4, 30)),
                    "rows": 100 + day,
                    "kept": 100,
                    "quarantined": 1,
                    "dropped": 0,
                }
                for day in reversed(range(days))
            ]
    return {
        "tables": tables,
        "commits": commits,
        "expectations": expectations,
        "problems": [],
        "publish": [
            {
                "view": "analytics.marts_orders_00",
                "table": "shop.marts_orders_00",
                "published": 12,
                "newest": 13,
                "run": "x",
                "age": "2 h",
                "held back by": "unique_marts_orders_00",
            }
        ],
        "erasure_folder": "erasure",
    }


def about(days: int = 90, **more: Any) -> dict[str, Any]:
    return {
        "project": "shop",
        "target": "session",
        "made": MADE,
        "since": MADE - days * DAY,
        "selection": None,
        "problems": [],
        **more,
    }


def erasures() -> list[dict[str, Any]]:
    one = {"request": "4c0ffee12345", "kind": "person", "begun": "2026-05-20T10:00:00Z"}
    return [{**one, "state": "open", "tables": 3, "open": 2, "until": "2026-06-20T10:00:00Z"}]


def _node(id: str, name: str, kind: str, parents: list[str]) -> dict[str, Any]:
    what = {"model": "view" if name.startswith("staging") else "incremental"}.get(kind, kind)
    return {
        "id": id,
        "name": name,
        "kind": kind,
        "table": None if kind in ("test", "exposure") else f"shop.{name}",
        "path": f"models/{name}.sql",
        "what": what,
        "parents": sorted(parents),
        "limits": {"warn": 24, "error": 48} if kind == "source" else None,
    }


def _result(
    rng: random.Random, node: dict[str, Any], at: float, day: int, days: int
) -> dict[str, Any]:
    seconds = round(rng.lognormvariate(0.5, 0.2) * (1 + len(node["name"]) % 9), 3)
    status = "pass" if node["kind"] == "test" else "success"
    if day == days - 1 and node["name"].startswith("marts_items"):
        seconds *= 30
    if node["kind"] == "test" and node["name"].endswith("_7") and day % 5 < 2:
        status = "fail"
    if node["kind"] == "test" and node["name"].endswith("_9") and day > days - 3:
        status = "warn"
    cpu = {
        "cpu": round(seconds * 0.7, 3),
        "read": int(seconds * 3e6),
        "written": int(seconds * 1e5),
    }
    return {
        "id": node["id"],
        "status": status,
        "at": round(at, 3),
        "seconds": seconds,
        "failures": 3 if status in ("fail", "warn") else 0,
        "cost": {**cpu, "shuffled": 0, "spilled": 0},
    }


def _table(rng: random.Random, node: dict[str, Any], size: int) -> dict[str, Any]:
    steps = [{"do": "compact", "why": "12 files are smaller than 128 MB", "gain": 50331648}]
    return {
        "table": node["table"],
        "node": node["id"],
        "files": 1 + size // 2**24,
        "bytes": size,
        "small_files": rng.choice((0, 1, 12)),
        "rows": 20000 + size // 100,
        "deleted_rows": rng.choice((0, 0, 40)),
        "unordered_bytes": None,
        "reclaimable_bytes": rng.choice((0, size // 5)),
        "dead_bytes": size // 2,
        "versions": 90,
        "version": 89,
        "last_optimize": None,
        "last_vacuum": 86400,
        "retention_hours": 168,
        "retention_why": "delta.deletedFileRetentionDuration",
        "problem": None,
        "partitions": 0,
        "steps": steps if rng.random() < 0.1 else [],
    }
