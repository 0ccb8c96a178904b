"""Whether a node has to run: what was recorded of its last run against what holds now."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dbt_delta.state.log import ANEW

# A fact of a relation: {kind, ..} as Facts gives it, or None where it is not in the catalog.
Fact = dict[str, Any] | None
SUCCESS = ("success", "pass")
# What a node that does not run is called.
UNCHANGED = "unchanged"
NOT_DUE = "not due"
# The relations that a node makes, in the order of ``Now.own``.
OWN = ("its own table", "its quarantine")


@dataclass(frozen=True)
class Now:
    """A node as it is now.

    ``own`` are the relations that it makes, its table first; ``fact`` tells what a relation is, by
    schema and name; ``change`` how a Delta table's rows changed between two facts, empty where they
    did not.
    """

    code: str
    config: str
    own: list[tuple[str, str]]
    fact: Callable[[str, str], Fact]
    change: Callable[[dict[str, Any], dict[str, Any]], str]


@dataclass(frozen=True)
class BuildAfter:
    """``freshness: {build_after: ..}`` of a model."""

    period: dt.timedelta | None
    is_any: bool


def verdict(
    record: dict[str, Any] | None, now: Now, after: BuildAfter | None, at: float
) -> tuple[str, str]:
    """Why a node runs at a time, empty if it need not; and what it is called then."""
    reason = why_itself(record, now)
    if reason or record is None:
        return reason, ""
    changed = changed_inputs(record, now)
    if changed and after and not is_due(record, changed, after, at):
        return "", NOT_DUE
    return ", ".join(changed.values()), "" if changed else UNCHANGED


def why_itself(record: dict[str, Any] | None, now: Now) -> str:
    """The reason to run that lies in the node and its own table."""
    if record is None:
        return "no run of it is recorded"
    if record["status"] not in SUCCESS:
        return f"its last run ended with {record['status']}"
    if record["unsure"]:
        return str(record["unsure"])
    if record["config"] != now.config:
        return "its configuration changed"
    if record["code"] != now.code:
        return "its code changed"
    recorded = {(one["schema"], one["name"]): one["fact"] for one in record["own"]}
    for name, label in zip(now.own, OWN, strict=False):
        old, fact = recorded.get(name), now.fact(*name)
        if fact is not None:
            reason = _difference(label, old, fact, now)
        else:
            # Without bad rows there is no quarantine.
            reason = f"{label} is gone" if old or name == now.own[0] else ""
        if reason:
            return reason
    return ""


def changed_inputs(record: dict[str, Any], now: Now) -> dict[str, str]:
    """Why each input that changed counts as changed, by ``schema.name``."""
    found = {}
    for read in record.get("reads", []):
        schema, name = read["schema"], read["name"]
        label = f"{schema}.{name}"
        fact = now.fact(schema, name)
        reason = f"{label} is gone" if fact is None else _difference(label, read["fact"], fact, now)
        if reason:
            found[label] = reason
    return found


def is_due(record: dict[str, Any], changed: dict[str, str], after: BuildAfter, now: float) -> bool:
    """Whether a model with ``build_after`` is built now that some inputs changed.

    A clock that went back makes it due.
    """
    age = now - record["at"]
    if after.period is not None and 0 <= age < after.period.total_seconds():
        return False
    return bool(changed) and (after.is_any or _have_all_changed(record, changed))


def _have_all_changed(record: dict[str, Any], changed: dict[str, str]) -> bool:
    """Whether each relation that the model names changed, a view with what is behind it."""
    named, moved = set(), set()
    for read in record["reads"]:
        named |= set(read["via"])
        if f"{read['schema']}.{read['name']}" in changed:
            moved |= set(read["via"])
    return named <= moved


def _difference(label: str, old: Fact, new: dict[str, Any], now: Now) -> str:
    if old is None:
        return f"{label} was not there"
    if old["kind"] != new["kind"]:
        return f"{label} was a {old['kind']} and is a {new['kind']}"
    if new["kind"] != "delta":
        return "" if old == new else f"{label} changed"
    if old["place"] != new["place"]:
        return f"{label} was made anew"
    found = now.change(old, new)
    if not found:
        return ""
    return f"{label} was made anew" if found == ANEW else f"{found} of {label}"
