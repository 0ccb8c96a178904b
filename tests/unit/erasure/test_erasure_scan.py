"""Which files and columns a scan looks at, by what the log says."""

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_delta.erasure import scan
from dbt_delta.erasure.keyed import Hasher
from dbt_delta.erasure.logs import Column, DataFile, Search, Seen
from dbt_delta.erasure.names import Field, ever, fields, unknown
from dbt_delta.erasure.scan import HOUR, File

HASHER = Hasher(b"a secret of a test")
EMAIL = Column("email", "email", "email")
SEARCH = Search(HASHER, [EMAIL], {"email": HASHER.group(["a@b"])})
TABLE = {"file_hours": 1, "log_hours": 24}


def field(name: str, physical: str = "", **more: bool) -> Field:
    return Field(name, physical or name, more.get("integer", False), more.get("partition", False))


def searched(*schemas: list[Field], columns: list[Column] | None = None) -> list[tuple[str, str]]:
    return [(one.name, one.physical) for one in ever(columns or [EMAIL], schemas)]


def test_a_schema_of_the_log() -> None:
    metadata = {
        "schemaString": json.dumps(
            {
                "fields": [
                    {"name": "A", "type": "long", "metadata": {}},
                    {
                        "name": "b",
                        "type": {"type": "struct", "fields": []},
                        "metadata": {"delta.columnMapping.physicalName": "col-1"},
                    },
                ]
            }
        ),
        "partitionColumns": ["a"],
    }
    assert fields(metadata) == (field("A", integer=True, partition=True), field("b", "col-1"))


def test_a_column_is_searched_under_each_name_that_files_have() -> None:
    assert searched([field("EMAIL")], [field("email")]) == [("email", "email")]
    # It was dropped and added, or the table was replaced.
    assert searched([field("email", "p0")], [field("x")], [field("email", "p1")]) == [
        ("email", "email"),
        ("email", "p0"),
        ("email", "p1"),
    ]
    # A table with `mail` was replaced by one with `email`, which is `mail` today.
    now = replace(EMAIL, name="mail", physical="p1")
    assert searched(
        [field("email", "p0")], [field("email", "p1")], [field("mail", "p1")], columns=[now]
    ) == [("mail", "p1"), ("email", "p0")]


def test_what_an_erasure_empties_had_other_names_in_old_files() -> None:
    link = replace(EMAIL, emptied=["p2"])
    schemas = [field("email"), field("phone", "p1")], [field("email"), field("phone", "p2")]
    (found,) = ever([link], schemas)
    assert found.emptied == ["p1", "p2"]
    assert ever([found], schemas) == [found]


def test_another_column_has_a_former_name_today() -> None:
    schemas = [field("id", "p0")], [field("customer_id", "p0"), field("id", "p1")]
    customer = Column("customer_id", "p0", "customer_id")
    assert searched(*schemas, columns=[customer]) == [("customer_id", "p0")]
    # As the certificate has it.
    kept = ever([customer], schemas)
    assert ever(kept, schemas) == kept
    (former,) = ever([replace(customer, name="id", of="customer_id")], [schemas[1]])
    assert former.physical == "p0"


def test_the_type_is_that_of_today() -> None:
    schemas = [field("email", "p0", integer=True)], [field("email", "p1")]
    assert not any(one.is_integer for one in ever([EMAIL], schemas))
    assert all(one.is_integer for one in ever([EMAIL], schemas[::-1]))


def test_columns_that_no_schema_names() -> None:
    own = ["_change_type", "_row-id-col-1a", "_row-commit-version-col-2b"]
    assert unknown(["A", "b", *own], {"a"}) == {"b"}


class System:
    """A file system with one file, and one that cannot be asked."""

    def exists(self, place: str) -> bool:
        if place == "s3://other/x":
            raise OSError(place)
        return place == "file:/prod/a b/there"

    def getFileStatus(self, _: str) -> Any:
        return SimpleNamespace(getModificationTime=lambda: 7)


def test_files_elsewhere_are_decoded_or_count_as_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan.folders, "open_path", lambda _, path: (System(), path))
    seen, unread = Seen(), set[str]()
    paths = ("file:/prod/a%20b/there", "file:/prod/gone", "s3://other/x", "own", "listed")
    seen.take(1, [{"add": {"path": path}} for path in (*paths, "file:/prod/vacuumed")])
    seen.take(2, [{"remove": {"path": "file:/prod/vacuumed", "deletionTimestamp": 5}}])
    (found,) = scan._elsewhere(None, seen, {"listed"}, unread)
    assert found == File("file:/prod/a b/there", "file:/prod/a b/there", 7, True)
    assert unread == {"gone", "x", "own"}


def test_a_file_is_live_unless_the_log_says_that_it_left() -> None:
    hit = {"rows": 1, "what": ["email"]}
    data, change = File("p", "a.parquet", 0), File("p", "_change_data/c.parquet", 0)
    assert scan._of_data(data, hit, None, TABLE)["is_live"]
    assert scan._of_data(data, hit, DataFile(first=1), TABLE)["is_live"]
    gone = DataFile(first=1, last=2, left=5)
    assert not scan._of_data(data, hit, gone, TABLE)["is_live"]
    assert not scan._of_data(change, hit, None, TABLE)["is_live"]
    assert scan._of_data(data, hit, gone, TABLE)["until"] == 5 + HOUR
    # Only the log that names it goes.
    assert scan._of_data(replace(data, is_elsewhere=True), hit, gone, TABLE)["until"] == 48 * HOUR


def test_the_files_of_a_checkpoint_are_in_its_sidecars(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: dict[str, list[dict[str, Any]]] = {
        f"{1:020}.checkpoint.u.json": [{"sidecar": {"path": "s.parquet"}}, {"protocol": {}}],
        f"{2:020}.json": [{"remove": {"path": "a", "deletionTimestamp": 5}}],
        f"{2:020}.crc": [{"metadata": {"schemaString": "{}"}}],
        f"{3:020}.checkpoint.v.json": [{"sidecar": {"path": "lost.parquet"}}],
        "_sidecars/s.parquet": [{"add": {"path": "a"}}, {"add": {"path": "b"}}],
        "_sidecars/orphan.parquet": [{"add": {"path": "c"}}],
        "_last_checkpoint": [],
    }
    monkeypatch.setattr(
        scan, "_log_entries", lambda _, file: (list(texts[file.name.removeprefix("log/")]), "")
    )
    unread: set[str] = set()
    seen = scan._learned(None, [File("p", f"log/{name}", 0) for name in texts], unread)
    assert {name: file.versions for name, file in seen.files.items()} == {"a": "1", "b": "since 1"}
    assert list(seen.metadata.values()) == [{"schemaString": "{}"}]
    assert unread == {f"{3:020}.checkpoint.v.json"}


def hits_of(
    name: str, values: dict[str, str] | None, partitions: set[str]
) -> Iterator[dict[str, Any] | set[str]]:
    hits: dict[str, dict[str, Any]] = {}
    unread: set[str] = set()
    seen = Seen(values={} if values is None else {"x": values})
    scan._add_partitions([File("p", name, 0)], seen, SEARCH, partitions, hits, unread)
    yield hits
    yield unread


def test_rows_of_a_partition_have_its_value() -> None:
    found = {"x": {"rows": None, "what": ["partition value of email"], "is_partition": True}}
    assert list(hits_of("random/x", {"email": "a@b"}, {"email"})) == [found, set()]
    assert list(hits_of("EMAIL=a%40b/x", None, {"email"})) == [found, set()]
    assert list(hits_of("email=other/x", None, {"email"})) == [{}, set()]
    # Another partition, as the log says, or none at all.
    assert list(hits_of("random/x", {}, {"email"})) == [{}, set()]
    assert list(hits_of("random/x", None, {"email"})) == [{}, {"x"}]
    assert list(hits_of("random/x", None, set())) == [{}, set()]
