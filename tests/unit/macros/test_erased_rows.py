"""The statements of an erasure; what they do is in tests/functional/erasure."""

from types import SimpleNamespace
from typing import Any

from tests.unit.macros.rendering import load


def relation(name: str) -> SimpleNamespace:
    return SimpleNamespace(schema="s", identifier=name)


def key(name: str, link: str | None = None, group: str | None = None) -> dict[str, Any]:
    return {"name": name, "group": group or name, "key": name, "link": link}


def table(name: str, columns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    known = {"has_files": False, "keeps_files": False, "has_rejects": False, "personal": []}
    about = {"relation": relation(name), "name": name, "columns": columns, "action": "delete"}
    return {**known, **about, **more}


REQUESTS = table("requests", [key("id"), key("email")], is_requests=True)
PEOPLE = table("people", [key("id")])
PAID = table("paid", [key("order_id", "people", "people.order_id")], personal=["holder"])
SCOPE = {"from": "s.requests version as of 7", "tables": [PAID, PEOPLE, REQUESTS], "salt": "x"}


def flat(text: str) -> str:
    return " ".join(text.split())


def test_requests_are_those_of_one_version() -> None:
    for one in (PEOPLE, PAID):
        sql = load().get_erase_sql(one, SCOPE)
        assert sql.count("requests") == sql.count("from s.requests version as of 7") == 1


def test_of_the_requests_only_those_go_that_were_erased() -> None:
    """Another one that shares a key has keys that nobody has erased."""
    assert flat(load().get_erase_sql(REQUESTS, SCOPE)) == (
        "merge into `s`.`requests` as old using ( select distinct `id`, `email` "
        "from s.requests version as of 7 ) as gone "
        "on old.`id` <=> gone.`id` and old.`email` <=> gone.`email` when matched then delete"
    )


def read(one: dict[str, Any], *columns: str) -> dict[str, Any]:
    """A table with its state."""
    found = [{"name": name, "metadata": {}, "type": "string"} for name in columns]
    state = {"columns": found, "configuration": {}}
    return {**one, "state": state, "location": "file:/x", "floor": {"hours": 168}}


def scanned(one: dict[str, Any], *columns: str) -> dict[str, Any]:
    (found,) = load()._scanned([read(one, *columns)]).values()
    return {column["name"]: column for column in found["columns"]}


def test_a_redacted_row_is_searched_by_its_link_as_long_as_it_has_a_value() -> None:
    """Also where it has a key of its own, as that may be NULL."""
    link, own = key("order_id", "people", "people.order_id"), key("id")
    both = table("paid", [link, own], personal=["holder", "gone"], action="redact")
    found = scanned(both, "order_id", "id", "holder")
    assert found["order_id"]["emptied"] == ["holder", "id"]
    assert "emptied" not in found["id"]
    deleted = scanned({**both, "action": "delete"}, "order_id", "id", "holder")
    assert "emptied" not in deleted["order_id"]


def test_a_redacted_rejected_line_is_searched_by_links_too() -> None:
    """It is emptied itself, and the row stays."""
    paid = table("paid", PAID["columns"], action="redact", has_rejects=True)
    found = scanned(paid, "order_id", "_rejected_line", "_rejected_reason")
    assert found["order_id"]["emptied"] == []
    assert "emptied" not in found["_rejected_line"]
    scope = {**SCOPE, "tables": [paid, PEOPLE, REQUESTS], "words_of_rejected": "words"}
    sql = load().get_erase_sql(paid, scope)
    assert "update set _rejected_line = null" in sql
