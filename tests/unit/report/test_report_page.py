"""One file: of names that could break it, of its size, and of what it may ask for."""

import json
import re
from typing import Any

import pytest

from dbt_delta.report import collect, page
from tests.unit.report import made_up


def document(models: int, tests: int, days: int, **more: Any) -> dict[str, Any]:
    nodes = made_up.nodes(models, tests)
    about = made_up.about(days, **more)
    facts, runs = made_up.facts(nodes, days), made_up.runs(nodes, days)
    return collect.document(about, nodes, facts, runs, made_up.erasures())


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_names_stay_data() -> None:
    odd = "</script><img src=x onerror=alert(1)>\u2028%%data%% \"quoted\" 'it' <!-- \ud800 Größe"
    text = page.page({**document(4, 4, 2, selection=odd), "project": odd})
    assert data_of(text)["selection"] == odd
    assert "<img" not in text
    assert text.count("</script>") == 4


def test_two_hundred_models_and_ninety_days_fit() -> None:
    made = document(200, 400, 90)
    text = page.page(made)
    assert len(text.encode()) < 2_000_000
    assert len(data_of(text)["runs"]) == 90


def test_what_does_not_fit_leaves_out_the_oldest_runs(monkeypatch) -> None:
    made = document(20, 20, 40)
    whole = len(page.page(made).encode())
    monkeypatch.setattr(page, "MOST", whole - 20_000)
    found = data_of(page.page(made))
    assert 0 < found["left_out"] == 40 - len(found["runs"])
    assert found["runs"] == made["runs"][found["left_out"] :]
    for node, old in zip(found["nodes"], made["nodes"], strict=True):
        assert (
            node["runs"].get("seconds", []) == old["runs"].get("seconds", [])[-len(found["runs"]) :]
        )
        assert all(run < len(found["runs"]) for run in node["runs"].get("run", []))
        assert all(node["runs"][key][i] for key, odd in node["odd"].items() for i in odd)
    assert all(len(test["results"]) == len(found["runs"]) for test in found["tests"])


def test_it_asks_for_nothing_and_runs_its_own_scripts_only() -> None:
    text = page.page(document(4, 4, 2))
    assert "default-src 'none'; script-src 'sha256-" in text
    assert not re.search(r"<(?:link|img|iframe)\b|<script[^>]* src=", text)
    assert not re.search(r"@import|url\(", text.partition("</style>")[0])


def test_a_changed_library_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "SHA256").write_text("0" * 64 + "  d3.min.js\n")
    (tmp_path / "vendor" / "d3.min.js").write_text("alert(1)")
    monkeypatch.setattr(page, "_FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"d3\.min\.js does not have the sha256 in SHA256"):
        page.libraries()
