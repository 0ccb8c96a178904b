"""The project's nodes, from a manifest; and what else the operation reads."""

import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.report import nodes, operation


def node(id: str, *parents: str, **more: Any) -> SimpleNamespace:
    kind, name = id.split(".")[0], id.split(".")[-1]
    about = {
        "resource_type": kind,
        "name": name,
        "alias": name,
        "schema": "shop",
        "source_name": "raw",
        "model": "orders",
        "original_file_path": f"{name}.sql",
        "config": SimpleNamespace(materialized="table"),
        "depends_on": SimpleNamespace(nodes=list(parents)),
    }
    return SimpleNamespace(**{**about, **more})


@pytest.fixture
def manifest() -> SimpleNamespace:
    hour = SimpleNamespace(count=12, period="hour")
    fresh = SimpleNamespace(warn_after=hour, error_after=SimpleNamespace(count=None, period=None))
    return SimpleNamespace(
        nodes={
            "model.p.orders": node("model.p.orders", "model.p.inlined", "function.p.f"),
            "model.p.inlined": node("model.p.inlined", "source.p.orders", is_ephemeral_model=True),
            "model.p.other": node("model.p.other", "model.p.orders"),
            "test.p.unique": node("test.p.unique", "model.p.orders"),
            "analysis.p.look": node("analysis.p.look", "model.p.orders"),
        },
        sources={"source.p.orders": node("source.p.orders", identifier="o", freshness=fresh)},
        exposures={"exposure.p.board": node("exposure.p.board", "model.p.other")},
        unit_tests={"unit_test.p.u": node("unit_test.p.u", "model.p.orders")},
        functions={"function.p.f": node("function.p.f", "model.p.other")},
    )


def test_nodes_and_what_they_read(manifest: SimpleNamespace) -> None:
    found = {one["id"]: one for one in nodes.nodes(manifest, None)}
    assert list(found) == sorted(found)
    assert "model.p.inlined" not in found
    assert "analysis.p.look" not in found
    # Through an ephemeral model and a function.
    assert found["model.p.orders"]["parents"] == ["model.p.other", "source.p.orders"]
    assert found["source.p.orders"]["limits"] == {"warn": 12}
    assert found["source.p.orders"]["table"] == "shop.o"
    assert found["unit_test.p.u"]["name"] == "orders: u"
    assert found["test.p.unique"]["table"] is None


def test_a_choice_has_its_sources_and_exposures(manifest: SimpleNamespace) -> None:
    def chosen(*ids: str) -> list[str]:
        return [one["id"] for one in nodes.nodes(manifest, set(ids))]

    assert chosen("model.p.orders", "test.p.unique") == [
        "model.p.orders",
        "source.p.orders",
        "test.p.unique",
    ]
    assert chosen("model.p.other") == ["exposure.p.board", "model.p.other"]
    assert nodes.nodes(manifest, {"model.p.other"})[1]["parents"] == []


def test_facts_become_plain() -> None:
    given = {"rows": Decimal("12"), "share": Decimal("0.5"), "at": None, "text": "x"}
    assert operation.plain(given) == {"rows": 12, "share": 0.5, "at": None, "text": "x"}


def test_certificates_newest_first_and_without_keys(tmp_path: Path) -> None:
    left = [{"table": "a", "file": "f", "until": "2026-02-01"}, {"table": "b", "until": None}]
    for name, begun, still in (("one", "2026-01-01", left), ("two", "2026-01-02", [])):
        state = "open" if still else "closed"
        about = {"request": name, "kind": "person", "begun": begun, "state": state, "open": still}
        about |= {"tables": {"a": {}}, "subjects": {"id": {"keys": ["secret"]}}}
        (tmp_path / f"{name}.json").write_text(json.dumps(about))
    (tmp_path / "damaged.json").write_text("[")
    found = operation.certificates(tmp_path)
    assert [one["request"] for one in found] == ["two", "one"]
    assert found[1] == {
        "request": "one",
        "kind": "person",
        "begun": "2026-01-01",
        "state": "open",
        "tables": 1,
        "open": 2,
        "until": "2026-02-01",
    }
    assert operation.certificates(tmp_path / "none") == []
