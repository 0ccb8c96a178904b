"""What logs hold of subjects is found by hashes; file versions are those of the log."""

import hashlib
import hmac
import json
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.erasure import certificate
from dbt_delta.erasure.certificate import Certificates
from dbt_delta.erasure.erasure import Erasure
from dbt_delta.erasure.keyed import SECRET, Hasher
from dbt_delta.erasure.logs import Column, Search, Seen, actions, folder_values

HASHER = Hasher(b"a secret of a test")
LONG = "mara.canary@a-rather-long-domain.example"
COLUMNS = [Column("customer_id", "col-1", "customer_id"), Column("email", "email", "email")]
GROUPS = {"customer_id": HASHER.group([42]), "email": HASHER.group([LONG])}
SEARCH = Search(HASHER, COLUMNS, GROUPS, ["Mära"])


def found(entry: object, *clean: str) -> list[str]:
    return sorted(SEARCH.entries([entry], set(clean)))


def added(**values: object) -> dict[str, object]:
    stats = json.dumps({"minValues": values, "maxValues": {}})
    return {"add": {"path": "day=1/a%20b.parquet", "stats": stats}}


def test_statistics_hold_a_key_under_its_physical_name() -> None:
    assert found(added(**{"col-1": 42})) == ["statistics of customer_id"]
    assert found(added(customer_id=42)) == []
    assert found(added(**{"col-1": 43})) == []
    parsed = {"add": {"path": "x", "stats_parsed": {"maxValues": {"col-1": 42}}}}
    assert found(parsed) == ["statistics of customer_id"]
    assert found({"allFiles": [added(**{"col-1": 42})["add"]]}) == ["statistics of customer_id"]


def test_a_key_that_may_stay_does_not_count_in_a_log() -> None:
    kept = [Column("customer_id", "col-1", "customer_id", emptied=["email"])]
    search = Search(HASHER, kept, GROUPS)
    about = {"commitInfo": {"operationParameters": {"predicate": "customer_id = 42"}}}
    assert not [*search.entries([added(**{"col-1": 42}), about], set())]


def test_statistics_hold_a_key_in_another_spelling() -> None:
    assert found(added(**{"COL-1": 42})) == ["statistics of customer_id"]
    # The column was a double, or a decimal.
    assert found(added(**{"col-1": 42.0})) == ["statistics of customer_id"]
    large = 9007199254740993
    search = Search(HASHER, COLUMNS, {"customer_id": HASHER.group([large])})
    stats = f'{{"minValues": {{"col-1": {large}.00}}}}'
    assert list(search.entries({"path": "x", "stats": stats}, set())) == [
        "statistics of customer_id"
    ]
    assert found(added(**{"col-1": 42.5})) == []
    assert found(added(**{"col-1": "NaN"})) == []


def test_a_text_with_zeros_is_a_key_of_a_column_of_integers_only() -> None:
    assert Column("a", "a", "g", is_integer=True).parts("0042.00") == {"0042.00", "42"}
    assert Column("a", "a", "g").parts("0042") == {"0042"}
    assert Column("a", "a", "g", is_integer=True).parts("1E999999999999") == {"1E999999999999"}


def test_partition_values_and_paths_hold_a_key() -> None:
    values = {"path": "x", "partitionValues": {"col-1": "42", "email": None}}
    assert found({"add": values}) == ["partition value of customer_id"]
    assert found({"remove": {**values, "partitionValues": {"col-1": "43"}}}) == []
    assert found({"cdc": {"path": "_change_data/Customer_ID=42/x"}}) == [
        "partition value of customer_id"
    ]
    search = Search(HASHER, COLUMNS, {"email": HASHER.group(["a/b@c"])})
    for path in ("email=a%2Fb@c/x", "email=a%252Fb%2540c/x", "day=1/email=a%2Fb%40c/x"):
        assert set(search.entries({"add": {"path": path}}, set())) == {"partition value of email"}
    assert not folder_values("email=a")


def test_statistics_of_a_file_with_subjects_hold_what_is_theirs_in_other_columns() -> None:
    entry = added(phone="1")
    assert list(SEARCH.entries(entry, set(), {"a b.parquet"})) == [
        "statistics of a file with subjects"
    ]
    assert list(SEARCH.entries(entry, set(), {"b.parquet"})) == []
    counts = {"add": {"path": "a%20b.parquet", "stats": '{"numRecords": 1, "minValues": {}}'}}
    assert list(SEARCH.entries(counts, set(), {"a b.parquet"})) == []


def test_the_start_of_a_long_key_counts_unless_its_file_is_clean() -> None:
    assert found(added(email=LONG[:32])) == ["statistics of email"]
    assert found(added(email=LONG[:32] + "\x7f")) == ["statistics of email"]
    assert found(added(email=LONG[:32]), "a b.parquet") == []
    assert found(added(email=LONG), "a b.parquet") == ["statistics of email"]


@pytest.mark.parametrize(
    "predicate",
    ['["(customer_id#12L = 42)"]', "customer_id IN (7, 42)", "`customer_id`='42'"],
)
def test_a_predicate_holds_a_key(predicate: str) -> None:
    about = {"commitInfo": {"operationParameters": {"predicate": predicate}}}
    assert found(about) == ["predicate on customer_id"]
    other = predicate.replace("42", "142")
    assert found({"commitInfo": {"operationParameters": {"predicate": other}}}) == []
    elsewhere = predicate.replace("customer_id", "amount")
    assert found({"commitInfo": {"operationParameters": {"predicate": elsewhere}}}) == []


def test_named_values_are_found_as_text_and_as_json() -> None:
    assert list(SEARCH.named("x Mära y")) == ["named value 1"]
    assert list(SEARCH.named(json.dumps("Mära"))) == ["named value 1"]
    assert list(SEARCH.named("Mara")) == []


def test_files_have_the_versions_of_the_log() -> None:
    seen = Seen()
    seen.take(1, actions('{"add": {"path": "a%20b"}}\n\n{"add": {"path": "c"}}'))
    # A deletion vector: the same path leaves and comes.
    seen.take(2, [{"add": {"path": "c"}}, {"remove": {"path": "c", "deletionTimestamp": 5}}])
    seen.take(3, [{"remove": {"path": "a%20b", "deletionTimestamp": 7}}])
    gone, there = seen.files["a b"], seen.files["c"]
    assert (gone.versions, gone.left, gone.is_live) == ("1 to 2", 7, False)
    assert (there.versions, there.is_live) == ("since 1", True)


def test_a_commit_has_other_ends_of_lines_in_its_texts() -> None:
    text = '{"commitInfo": {"userMetadata": "a\u2028b\u0085c"}}\n{"add": {"path": "x"}}\n'
    assert len(actions(text)) == 2


def test_the_log_has_the_schemas_and_partitions_of_files() -> None:
    seen = Seen()
    old = {"schemaString": '{"fields": []}', "partitionColumns": ["email"]}
    new = {**old, "partitionColumns": []}
    add = {"path": "email=a/b%20c", "partitionValues": {"email": "a"}}
    seen.take(0, [{"metaData": old}, {"add": add}])
    seen.take(1, [{"metaData": new}, {"remove": {"path": add["path"], "deletionTimestamp": 5}}])
    seen.learn(new)
    assert list(seen.metadata.values()) == [old, new]
    seen.learn(old)
    assert list(seen.metadata.values()) == [new, old]
    assert seen.values == {"b c": {"email": "a"}}
    assert seen.files["b c"].path == add["path"]


def test_the_hash_is_an_hmac_and_needs_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = hmac.new(HASHER.key, b"42", hashlib.sha256).hexdigest()
    assert HASHER.group([42, "42"]) == {"keys": [wanted], "starts": []}
    monkeypatch.setenv(SECRET, "short")
    with pytest.raises(ValueError, match="at least 16"):
        Hasher.from_environment()


ABOUT = {"kind": "person", "action": "delete", "requests": "s.requests"}


def test_a_second_call_keeps_the_hashes_of_the_first(tmp_path) -> None:
    made = Certificates(tmp_path / "erasure")
    first = made.begin(HASHER, ABOUT, ["customer_id"], {**GROUPS, "o.id": HASHER.group([7])})
    made.write({**first, "tables": {"s.t": TABLE}})
    assert made.unfinished(ABOUT)["request"] == first["request"]
    assert made.unfinished({**ABOUT, "kind": "firm"}) is None
    # Orders are gone, and nothing leads to their payments any more.
    again = made.begin(HASHER, ABOUT, ["customer_id"], {**GROUPS, "o.id": HASHER.group([])})
    assert again["subjects"] == first["subjects"]
    assert again["tables"] == {"s.t": TABLE}
    other = made.begin(HASHER, ABOUT, ["customer_id"], {"customer_id": HASHER.group([43])})
    assert other["request"] != first["request"]
    with pytest.raises(ValueError, match=f"it has {first['request']}"):
        made.read("nonsense")


def test_another_secret_closes_no_certificate(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Certificates(tmp_path / "erasure")
    record = made.begin(HASHER, ABOUT, ["customer_id"], GROUPS)
    made.write(record)
    erasure = Erasure(None, SimpleNamespace(project_root=str(tmp_path)))
    monkeypatch.setenv(SECRET, HASHER.key.decode())
    assert erasure.due("erasure") == []
    assert erasure.read("erasure", record["request"])["subjects"] == GROUPS
    assert erasure.unfinished("erasure", ABOUT)["request"] == record["request"]
    monkeypatch.setenv(SECRET, "another secret of a test")
    for ask in (
        lambda: erasure.due("erasure"),
        lambda: erasure.read("erasure", record["request"]),
        lambda: erasure.unfinished("erasure", ABOUT),
    ):
        with pytest.raises(DbtRuntimeError, match=f"another value of {SECRET}.*Set that value"):
            ask()
    assert erasure.unfinished("erasure", {**ABOUT, "kind": "firm"}) is None


TABLE = {"columns": [{"name": "id"}], "before": 3, "rows": 2, "held": 4}
FINDING = {"place": "log", "file": "3.json", "what": ["predicate on id"], "is_live": False}


def test_a_certificate_is_open_until_the_last_file_can_go(tmp_path) -> None:
    made = Certificates(tmp_path)
    record = {**made.begin(HASHER, ABOUT, [], GROUPS), "tables": {"s.t": TABLE}}
    scan = {"findings": [{**FINDING, "until": 0}], "counts": {"log": 2}, "unread": []}
    record = certificate.checked(record, {"s.t": scan}, [])
    made.write(record)
    page = (tmp_path / f"{record['request']}.md").read_text()
    assert "open until 1970-01-01T00:00:00Z" in page
    assert "s.t: log: predicate on id; can go from 1970" in page
    assert LONG not in page
    digest = made.read(record["request"])["digest"]
    record = certificate.checked(record, {"s.t": {**scan, "unread": ["x"]}}, ["s.u"])
    assert certificate.open_lines(record)[1:] == ["s.t: file: not decoded", "s.u: table: not there"]
    record["streams"] = {"s.counted": ["file:/state"]}
    text = certificate.readable({**record, "digest": ""})
    assert "State: **open**" in text
    assert "- what the stream s.counted keeps of groups or joins in its checkpoint" in text
    record = certificate.checked(record, {"s.t": {**scan, "findings": []}}, [])
    made.write(record)
    assert made.unfinished(ABOUT) is None
    assert made.read(record["request"])["digest"] != digest
