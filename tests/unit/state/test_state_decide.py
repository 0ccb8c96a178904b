"""Whether a node runs, from records and facts written by hand."""

import datetime as dt
from typing import Any

import pytest

from dbt_delta.state import decide

OWN = {"kind": "delta", "place": "/own", "version": 3, "digest": "o"}
INPUT = {"kind": "delta", "place": "/in", "version": 41, "digest": "i"}
VIEW = {"kind": "view", "digest": "v"}
QUARANTINE = {**OWN, "place": "/bad"}


def own(fact: dict[str, Any] | None, quarantine: dict[str, Any] | None) -> list[dict[str, Any]]:
    facts = {"own": fact, "bad": quarantine}
    return [{"schema": "a", "name": name, "fact": one} for name, one in facts.items()]


def record(**changes: Any) -> dict[str, Any]:
    reads = [
        {"schema": "a", "name": "raw", "fact": INPUT, "via": ["a.seen"]},
        {"schema": "a", "name": "seen", "fact": VIEW, "via": ["a.seen"]},
    ]
    about = {"status": "success", "code": "c", "config": "k", "unsure": "", "at": 1000.0}
    return {**about, "own": own(OWN, None)[:1], "reads": reads, **changes}


def now(facts: dict[str, Any] | None = None, change: str = "", **changes: Any) -> decide.Now:
    known = {"own": OWN, "raw": INPUT, "seen": VIEW, **(facts or {})}
    about = {"code": "c", "config": "k", "own": [("a", "own")], **changes}
    return decide.Now(
        **about,
        fact=lambda schema, name: known[name],
        change=lambda old, new: "" if old == new else change or "version 41 -> 44",
    )


BOTH = [("a", "own"), ("a", "bad")]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param(QUARANTINE, QUARANTINE, "", id="nothing"),
        pytest.param(None, None, "", id="none"),
        pytest.param(QUARANTINE, None, "its quarantine is gone", id="gone"),
        pytest.param(None, QUARANTINE, "its quarantine was not there", id="new"),
        pytest.param(
            QUARANTINE,
            {**QUARANTINE, "version": 4},
            "version 41 -> 44 of its quarantine",
            id="changed",
        ),
    ],
)
def test_the_quarantine_counts_as_the_own_table_does(
    before: dict[str, Any] | None, after: dict[str, Any] | None, reason: str
) -> None:
    kept, found = record(own=own(OWN, before)), now({"bad": after}, own=BOTH)
    assert decide.verdict(kept, found, None, 2000) == (reason, "" if reason else "unchanged")


@pytest.mark.parametrize(
    ("kept", "found", "reason"),
    [
        pytest.param(record(), now(), "", id="nothing"),
        pytest.param(None, now(), "no run of it is recorded", id="first"),
        pytest.param(record(status="warn"), now(), "its last run ended with warn", id="warned"),
        pytest.param(record(unsure="it has hooks"), now(), "it has hooks", id="unsure"),
        pytest.param(record(), now(code="d"), "its code changed", id="code"),
        pytest.param(record(), now(config="l"), "its configuration changed", id="config"),
        pytest.param(record(), now({"own": None}), "its own table is gone", id="own gone"),
        pytest.param(record(own=[]), now(), "its own table was not there", id="own new"),
        pytest.param(record(own=[]), now(own=[]), "", id="no table"),
        pytest.param(
            record(),
            now({"own": {**OWN, "version": 4}}, "version 3 -> 4"),
            "version 3 -> 4 of its own table",
            id="own changed",
        ),
        pytest.param(
            record(),
            now({"raw": {**INPUT, "version": 44}}),
            "version 41 -> 44 of a.raw",
            id="input",
        ),
        pytest.param(record(), now({"raw": None}), "a.raw is gone", id="input gone"),
        pytest.param(
            record(), now({"raw": {**INPUT, "place": "/b"}}), "a.raw was made anew", id="place"
        ),
        pytest.param(
            record(),
            now({"raw": {**INPUT, "version": 2}}, "another history"),
            "a.raw was made anew",
            id="history",
        ),
        pytest.param(record(), now({"seen": {**VIEW, "digest": "w"}}), "a.seen changed", id="view"),
        pytest.param(record(), now({"seen": INPUT}), "a.seen was a view and is a delta", id="kind"),
    ],
)
def test_why_a_node_runs(kept: dict[str, Any] | None, found: decide.Now, reason: str) -> None:
    assert decide.verdict(kept, found, None, 2000) == (reason, "" if reason else "unchanged")


def test_a_changed_input_waits_until_the_model_is_due_its_own_code_does_not() -> None:
    after = decide.BuildAfter(dt.timedelta(hours=1), True)
    moved = {"raw": {**INPUT, "version": 44}}
    assert decide.verdict(record(), now(moved), after, 1100) == ("", "not due")
    assert decide.verdict(record(), now(), after, 1100) == ("", "unchanged")
    assert decide.verdict(record(), now(moved), after, 4600)[0] == "version 41 -> 44 of a.raw"
    assert decide.verdict(record(), now(moved, code="d"), after, 1100)[0] == "its code changed"


@pytest.mark.parametrize(
    ("after", "at", "changed", "is_due"),
    [
        pytest.param(dt.timedelta(hours=4), 1000 + 3599 * 4, {"a.raw": "x"}, False, id="early"),
        pytest.param(dt.timedelta(hours=4), 1000 + 3600 * 4, {"a.raw": "x"}, True, id="due"),
        pytest.param(dt.timedelta(hours=4), 999, {"a.raw": "x"}, True, id="clock went back"),
        pytest.param(None, 1000, {"a.raw": "x"}, True, id="no period"),
        pytest.param(None, 1000, {}, False, id="nothing changed"),
    ],
)
def test_not_more_often_than_asked(
    after: dt.timedelta | None, at: float, changed: dict[str, str], is_due: bool
) -> None:
    assert decide.is_due(record(), changed, decide.BuildAfter(after, True), at) == is_due


def test_all_means_each_relation_that_the_model_names() -> None:
    other = {"schema": "a", "name": "other", "fact": INPUT, "via": ["a.other"]}
    kept = record(reads=[*record()["reads"], other])
    after = decide.BuildAfter(None, False)
    assert not decide.is_due(kept, {"a.raw": "x"}, after, 1000)
    assert decide.is_due(kept, {"a.raw": "x", "a.other": "x"}, after, 1000)
    assert not decide.is_due(kept, {"a.other": "x"}, after, 1000)
