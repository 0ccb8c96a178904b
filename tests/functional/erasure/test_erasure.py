"""Erasure on real tables: what was planted is found before and not after, and nobody comes back.

DBT_DELTA_EXAMPLES=30    before how many statements an erasure is broken off (default 1, with
                         --long all)
DBT_DELTA_SEED           before which ones; see drawing.py
"""

import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.harness import Breaking, Invocation, Project, session
from tests.functional.operations import operations

pytestmark = pytest.mark.session

ID = 4711000001
# Longer than what statistics keep of a text.
KEY = "mara.canary@a-rather-long-domain.example"
PHONE = "canary-phone-0001"
ORDERS = (990001, 990002)
CANARIES = (str(ID), KEY[:32], PHONE, *map(str, ORDERS))
FEED_SQL = (
    "('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true',"
    " 'delta.checkpointInterval' = '2')"
)
FEED = "{'delta.enableChangeDataFeed': 'true'}"
MAPPED = "{'delta.columnMapping.mode': 'name', 'delta.checkpointInterval': '2'}"
PAID = "{'name': 'paid', 'expression': 'amount > 0', 'action': 'quarantine'}"
BY_ID = "{name: customer_id, config: {meta: {subject: {person: customer_id}}}}"
BY_EMAIL = "{meta: {subject: {person: email}}}"
BIG = {
    "models/staged.sql": f"""
        {{{{ config(
            materialized='incremental', unique_key='customer_id', tblproperties={FEED}
        ) }}}}
        select customer_id, email, phone from {{{{ source('raw', 'customers') }}}}
        """,
    "models/orders.sql": f"""
        {{{{ config(
            materialized='incremental', unique_key='order_id', tblproperties={MAPPED},
            expectations=[{PAID}]
        ) }}}}
        select order_id, customer_id, amount from {{{{ source('raw', 'sold') }}}}
        """,
    "models/payments.sql": """
        {{ config(materialized='table') }}
        select order_id as paid_for, amount from {{ ref('orders') }}
        """,
    "snapshots/history.yml": f"""
        snapshots:
          - name: history
            relation: ref('staged')
            config: {{unique_key: customer_id, strategy: check, check_cols: [phone]}}
            columns: [{BY_ID}]
        """,
    "models/schema.yml": f"""
        sources:
          - name: raw
            schema: "{{{{ target.schema }}}}"
            tables:
              - {{name: customers, columns: [{BY_ID}]}}
              - {{name: sold, columns: [{BY_ID}]}}
        models:
          - name: staged
            columns:
              - {BY_ID}
              - {{name: email, config: {{meta: {{subject: {{person: email}}}}}}}}
          - {{name: orders, columns: [{BY_ID}]}}
          - name: payments
            columns:
              - name: paid_for
                config: {{meta: {{subject: {{person: {{through: orders, key: order_id}}}}}}}}
        """,
}
NAMES = ("customers", "sold", "orders", "orders__quarantine", "staged", "payments", "history")
WRITE = re.compile(r"\s*(/\*.*?\*/\s*)?(merge|reorg|vacuum|alter)\b", re.DOTALL)


class Shop:
    """A project with a customer who is to be erased, in as many places as Delta has."""

    def __init__(self, project: Project, tables: tuple[str, ...], subject: dict[str, str]) -> None:
        self.project = project
        self.tables = tables
        self.subject = subject
        short = [f"{project.schema}.{name}" for name in (*tables, "requests")]
        self.vars = {"dbt_delta_short_retention": short, "dbt_delta_undo_days": 0}
        self.sql("create schema if not exists {schema}")
        self.sql("create table {schema}.requests (customer_id bigint, email string) using delta")

    def sql(self, text: str) -> list[Any]:
        return self.project.sql(text)

    def arrive(self, rows: dict[str, str]) -> None:
        """New rows of the sources."""
        for name, values in rows.items():
            self.sql(f"insert into {{schema}}.{name} values {values}")

    def ask(self) -> None:
        self.sql(f"insert into {{schema}}.requests values ({ID}, '{KEY}')")

    def call(self, name: str, check: bool = True, **arguments: Any) -> Invocation:
        return operations(self.project, (name, arguments), vars=self.vars, check=check)

    def erase(self, check: bool = True, name: str = "erase", **arguments: Any) -> Invocation:
        given = {"kind": "person", "requests": f"{self.project.schema}.requests", **arguments}
        return self.call(name, check, **given)

    def certificate(self) -> dict[str, Any]:
        paths = (self.project.path / "erasure").glob("*.json")
        return dict(json.loads(max(paths, key=lambda path: path.stat().st_mtime).read_text()))

    def planted(self) -> Counter[tuple[str, str]]:
        """Files by table and kind that hold a canary as text, by an own reader."""
        found: Counter[tuple[str, str]] = Counter()
        for name in (*self.tables, "requests"):
            folder = self.project.warehouse / name
            log = folder / "_delta_log"
            texts = (*log.glob("[!.]*.json"), *log.glob("[!.]*.crc"))
            held = [p for p in texts if any(canary in p.read_text() for canary in CANARIES)]
            # Checkpoints and data have different schemas.
            held += _with_canaries([*log.rglob("*.parquet")])
            held += _with_canaries([p for p in folder.rglob("*.parquet") if log not in p.parents])
            for path in held:
                is_log, is_change = log in path.parents, "_change_data" in path.parts
                found[name, "log" if is_log else "change" if is_change else "data"] += 1
        return found

    def others(self) -> dict[str, list[Any]]:
        """The rows that are not of the subject."""
        return {
            name: [row for row in self.project.rows(name) if not _is_of_subject(row)]
            for name in self.tables
        }

    def subject_rows(self) -> int:
        rows = (row for name in self.tables for row in self.project.rows(name))
        return sum(map(_is_of_subject, rows))

    def versions(self) -> dict[str, int]:
        return {name: self.project.version(name) for name in self.tables}

    def age(self) -> None:
        """The log files become old, and a checkpoint lets Delta remove them."""
        old = time.time() - 40 * 86400
        for name in (*self.tables, "requests"):
            folder = self.project.warehouse / name / "_delta_log"
            for number, path in enumerate(sorted(folder.glob("*.*"))):
                os.utime(path, (old + number, old + number))
            for path in folder.glob(".*.crc"):
                path.unlink()
            self.sql(f"alter table {{schema}}.{name} set tblproperties"
                     " ('delta.checkpointInterval' = '1')")  # fmt: skip


def _with_canaries(paths: list[Path]) -> list[Path]:
    """The Parquet files that hold a canary as text."""
    if not paths:
        return []
    whole = " or ".join(f"contains(row, '{text}')" for text in CANARIES)
    # Files of older schemas, too.
    rows = session().read.option("mergeSchema", True).parquet(*map(str, paths))
    rows = rows.selectExpr("_metadata.file_path as file", "to_json(struct(*)) as row")
    found = rows.where(whole).select("file").distinct().collect()
    return [Path(unquote(urlparse(row.file).path)) for row in found]


def _is_of_subject(row: dict[str, Any]) -> bool:
    return any(str(value) in (str(ID), KEY, PHONE, *map(str, ORDERS)) for value in row.values())


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_ERASURE_KEY", "a secret of a test, long enough")


@pytest.fixture(scope="module")
def shop(new_shared_project: Callable[[str], Project]) -> Shop:
    orders = f"({ORDERS[0]}, {ID}, 5), ({ORDERS[1]}, {ID}, -5)"
    subject = {"customers": f"({ID}, '{KEY}', '{PHONE}')", "sold": orders}
    others = {"customers": "(2, 'b', 'p2'), (3, 'c', 'p3')", "sold": "(21, 2, 7), (22, 2, -7)"}
    made = Shop(new_shared_project("erasure"), NAMES, subject)
    made.project.write(BIG)
    made.sql("create table {schema}.customers (customer_id bigint, email string, phone string)"
             " using delta tblproperties ('delta.enableDeletionVectors' = 'false')")  # fmt: skip
    made.sql("create table {schema}.sold (order_id bigint, customer_id bigint, amount int)"
             " using delta")  # fmt: skip
    made.arrive({name: f"{rows}, {others[name]}" for name, rows in subject.items()})
    made.project.dbt("build", vars=made.vars)
    # A predicate in the log, and new versions of the subject's rows.
    made.sql(f"update {{schema}}.customers set phone = concat(phone, '!') where customer_id = {ID}")
    made.sql(f"update {{schema}}.sold set amount = 6 where order_id = {ORDERS[0]}")
    made.project.dbt("build", vars=made.vars)
    return made


@pytest.fixture
def broken_at(break_before: Breaking) -> dict[str, int]:
    """Before which statement that writes dbt fails, as if it were killed."""
    return break_before(lambda sql: WRITE.match(sql) is not None)


def check_erasure(shop: Shop, broken_at: dict[str, int], writes: int, count: int) -> None:
    """What was planted is found; an erasure that is broken off is finished by the next one."""
    shop.ask()
    others, planted = shop.others(), shop.planted()
    assert sum(planted.values()) >= count, planted
    lines = json.loads(shop.erase(name="erase_plan", output="json").printed)
    for line in lines:
        name = line["table"].partition(".")[2]
        assert line["data files"] == planted[name, "data"], (line, planted)
        assert line["change files"] == planted[name, "change"], (line, planted)
        assert line["log files"] >= planted[name, "log"], (line, planted)
    steps = random.Random(SEED).sample(range(1, writes), examples(1, 4))
    for number, step in enumerate(steps):
        if number:
            shop.arrive(shop.subject)
            shop.ask()
        print(f"write {step} fails, by seed {SEED}", flush=True)
        broken_at.update(step=step, writes=0)
        shop.erase(check=False, retention_hours=0)
        broken_at["step"] = 0
        shop.erase(retention_hours=0)
        assert {kind for _, kind in shop.planted()} == {"log"}
        assert not shop.subject_rows()
        assert not shop.sql("select * from {schema}.requests")
    assert shop.others() == others
    if len(steps) == 1:
        for name in shop.tables:
            merges = [c for c in shop.project.history(name) if c["operation"] == "MERGE"]
            assert sum("dbt_erased" in (c["userMetadata"] or "") for c in merges) == 1
    before = f"is from before erasure {shop.certificate()['request']}"
    restored = f"{shop.project.schema}.{shop.tables[0]}"
    assert before in shop.call("restore", model=restored, to=1, check=False).output
    if shop.tables == NAMES:
        assert before in shop.call("undo_run", run="last", check=False).output
    check_certificate(shop)


def check_certificate(shop: Shop) -> None:
    """It is open until the log files are gone, and names nobody."""
    found = shop.certificate()
    assert found["state"] == "open"
    page = shop.project.path / "erasure" / f"{found['request']}.md"
    text = page.read_text() + json.dumps(found)
    assert not any(canary in text for canary in CANARIES)
    shop.age()
    (shop.project.path / "named.txt").write_text(f"{PHONE}\n")
    run = shop.call("erase_verify", request=found["request"], values_file="named.txt")
    assert f"Erasure {found['request']} is closed" in run.output
    assert not shop.planted()


@pytest.mark.long
def test_all_that_was_planted_in_a_project_is_found_and_removed(
    shop: Shop, broken_at: dict[str, int]
) -> None:
    # 7 MERGE, 3 REORG, 8 VACUUM with 2 ALTER each.
    check_erasure(shop, broken_at, 30, 30)


@pytest.mark.long
def test_nobody_comes_back(shop: Shop) -> None:
    shop.ask()
    shop.erase(retention_hours=0)
    shop.project.dbt("build", vars=shop.vars)
    shop.project.dbt("build", "--full-refresh", vars=shop.vars)
    assert not shop.subject_rows()
    shop.ask()
    before = shop.versions()
    shop.erase(retention_hours=0)
    assert shop.versions() == before
    assert not shop.sql("select * from {schema}.requests")


@pytest.mark.long
def test_a_redacted_snapshot_has_no_hash_of_the_key(shop: Shop) -> None:
    shop.arrive(shop.subject)
    shop.project.dbt("build", vars=shop.vars)
    before = {row["dbt_scd_id"] for row in shop.project.rows("history")}
    others = shop.others()["history"]
    shop.ask()
    shop.erase(action="redact")
    redacted = [row for row in shop.project.rows("history") if row["customer_id"] is None]
    assert redacted
    assert not {row["dbt_scd_id"] for row in redacted} & before
    shop.project.dbt("snapshot", vars=shop.vars)
    assert [row for row in shop.others()["history"] if row["customer_id"] is not None] == others


SMALL = {
    "models/schema.yml": f"""
        sources:
          - name: raw
            schema: "{{{{ target.schema }}}}"
            tables:
              - name: people
                columns:
                  - {BY_ID}
                  - {{name: email, config: {{meta: {{pii: true}}}}}}
                  - {{name: phone, config: {{meta: {{pii: true}}}}}}
              - name: letters
                columns:
                  - name: letter_no
                    config: {{meta: {{subject: {{person: {{through: people}}}}}}}}
                  - {{name: body, config: {{meta: {{pii: true}}}}}}
        """,
}


COUNTED = """
    {{ config(materialized='stream', unique_key='bought', output_mode='update') }}
    select bought, count(*) as n
    from {{ dbt_delta.stream(source('raw', 'people')) }}
    group by bought
    """


class People(Shop):
    """Two tables, without a model; `letters` belong to who has their number."""

    def __init__(self, project: Project) -> None:
        people, letters = f"({ID}, '{KEY}', '{PHONE}', 1, 77)", f"(77, '{PHONE}')"
        super().__init__(project, ("people", "letters"), {"people": people, "letters": letters})
        project.write(SMALL)
        self.sql("create table {schema}.people (customer_id bigint, email string, phone string,"
                 " bought int, letter_no bigint) using delta"
                 f" tblproperties {FEED_SQL}")  # fmt: skip
        self.sql("create table {schema}.letters (letter_no bigint, body string) using delta"
                 " tblproperties ('delta.columnMapping.mode' = 'name')")  # fmt: skip
        self.arrive({"people": f"{people}, (2, 'b', 'p2', 2, 78)"})
        self.arrive({"letters": f"{letters}, (78, 'p2')"})


@pytest.fixture
def people(project: Project) -> People:
    return People(project)


def test_all_that_was_planted_is_found_and_removed(
    people: People, broken_at: dict[str, int]
) -> None:
    people.sql(f"update {{schema}}.people set bought = 3 where customer_id = {ID}")
    # As a stream that groups rows leaves them.
    people.project.write({"models/counted.sql": COUNTED})
    state = people.project.warehouse / "_dbt_delta_streams" / "counted" / "an-id" / "state"
    state.mkdir(parents=True)
    # 3 MERGE, 1 REORG or more, 3 VACUUM with 2 ALTER each.
    check_erasure(people, broken_at, 13, 12)
    page = people.project.path / "erasure" / f"{people.certificate()['request']}.md"
    assert f"the stream {people.project.schema}.counted keeps" in page.read_text()


def test_what_is_wrong_is_refused_before_the_first_write(people: People) -> None:
    table = f"{people.project.schema}.people"
    assert "no rows" in people.erase(check=False).output
    people.ask()
    before = people.versions()
    assert "no column is declared for the kind 'firm'" in people.erase(False, kind="firm").output
    people.sql("create view {schema}.old as select * from {schema}.people version as of 1")
    run = people.erase(False, retention_hours=0)
    assert f"{table}: view {people.project.schema}.old reads version 1" in run.output
    assert people.versions() == before
    people.sql("drop view {schema}.old")
    folder = people.project.warehouse / "people"
    folder.chmod(0o555)
    assert f"{table}: its folder cannot be written by this user" in people.erase(False).output
    folder.chmod(0o755)
    people.sql("alter table {schema}.people add constraint called check (phone <> '')")
    run = people.erase(False, action="redact")
    assert f"{table}: redacted rows would break its constraint called" in run.output
    assert people.versions()["people"] == before["people"] + 1
    people.sql("alter table {schema}.people set tblproperties ('delta.appendOnly' = 'true')")
    declared = SMALL["models/schema.yml"]
    for column in ("mobile", "bought"):
        entry = f"          - {{name: {column}, config: {BY_EMAIL}}}\n        "
        declared = declared.replace("      - name: letters", f"{entry}      - name: letters")
    people.project.write({"models/schema.yml": declared})
    run = people.erase(False)
    assert f"{table} is append-only" in run.output
    assert f"{table} has no column mobile" in run.output
    assert f"{table}.bought is int, and {people.project.schema}.requests.email is st" in run.output


@pytest.mark.long
def test_redacted_rows_stay_and_old_files_wait_for_their_readers(people: People) -> None:
    people.ask()
    people.sql("create view {schema}.old as select * from {schema}.people version as of 1")
    run = people.erase(action="redact")
    rows = people.project.rows("people")
    assert [tuple(row.values()) for row in rows] == [
        (None, None, None, 1, 77),
        (2, "b", "p2", 2, 78),
    ]
    assert [tuple(row.values()) for row in people.project.rows("letters")] == [
        (77, None),
        (78, "p2"),
    ]
    assert "data file: customer_id" in run.output
    # Its rows keep the key that leads to them.
    assert "letters: data file: letter_no" in run.output
    assert people.planted()["people", "data"] == people.planted()["letters", "data"] == 1
    assert len(people.sql("select * from {schema}.requests")) == 1
    refused = people.call("restore", model=f"{people.project.schema}.people", to=1, check=False)
    assert f"before erasure {people.certificate()['request']}" in refused.output
    people.sql("drop view {schema}.old")
    people.erase(action="redact", retention_hours=0)
    assert {kind for _, kind in people.planted()} == {"log"}
    assert not people.sql("select * from {schema}.requests")


@pytest.mark.long
def test_a_request_that_comes_meanwhile_waits(people: People, break_before: Breaking) -> None:
    """Before the last table is erased from: the rows that lead to it were not."""
    people.ask()

    def arrives(sql: str) -> bool:
        if WRITE.match(sql) and "merge into" in sql and "`people` as old" in sql:
            people.sql("insert into {schema}.requests values (2, 'b')")
        return False

    break_before(arrives)
    people.erase(retention_hours=0)
    assert [row["customer_id"] for row in people.project.rows("people")] == [2]
    assert [tuple(row) for row in people.sql("select * from {schema}.requests")] == [(2, "b")]
    break_before(lambda sql: False)
    people.erase(retention_hours=0)
    assert not [*people.project.rows("people"), *people.project.rows("letters")]
    assert not people.sql("select * from {schema}.requests")


def test_requests_of_a_file_and_certificates_that_close_by_night(people: People) -> None:
    file = people.project.path / "gone" / "requests.csv"
    file.parent.mkdir()
    given = {"requests": "gone/requests.csv", "action": "delete"}
    assert "gone/requests.csv is not there" in people.erase(False, **given).output
    before = people.versions()
    for text, message in {
        f"customer_id\n{ID}\n{KEY}\n": "gone/requests.csv: line 3: customer_id is no integer",
        f"email\n{KEY}\n": "gone/requests.csv has no column customer_id",
        "customer_id,email\n,x\n": "gone/requests.csv has 1 rows without a key",
    }.items():
        file.write_text(text)
        output = people.erase(False, **given).output
        assert message in output, output
    assert people.versions() == before
    file.write_text(f"email,customer_id\n{KEY},{ID}\n")
    (plan,) = (
        line
        for line in json.loads(people.erase(name="erase_plan", output="json", **given).printed)
        if line["table"].endswith(".people")
    )
    assert plan["rows"] == 1
    # Old files stay, so the erasure is not finished. It goes on without the file.
    people.erase(**given)
    assert not people.subject_rows()
    file.unlink()
    people.erase(**given, retention_hours=0)
    assert {kind for _, kind in people.planted()} == {"log"}
    found = people.certificate()
    assert found["requests"] == "gone/requests.csv"
    assert set(found["tables"]) == {f"{people.project.schema}.{name}" for name in people.tables}
    path = people.project.path / "erasure" / f"{found['request']}.json"
    page = path.with_suffix(".md").read_text()
    assert "gone/requests.csv: delete it" in page
    assert not any(canary in page + json.dumps(found) for canary in CANARIES)
    assert f"Erasure {found['request']} is open until" in people.call("erase_verify").output
    people.age()
    until = "2001-01-01T00:00:00Z"
    found["open"] = [{**one, "until": until} for one in found["open"]]
    path.write_text(json.dumps(found))
    assert f"Erasure {found['request']} is closed" in people.call("erase_verify").output
    assert "No erasure is open" in people.call("erase_verify").output


CREATE = "create or replace table {schema}."
MAPPING = "tblproperties ('delta.columnMapping.mode' = 'name')"
# Tables whose files in old versions have the column otherwise than the newest version.
FORMER = {
    "moved": (
        "(id int, email string) using delta partitioned by (email)",
        f"insert into {{schema}}.moved values (1, '{KEY}'), (2, 'b')",
        "{create}moved using delta as select 2 as id, 'b' as email",
    ),
    "spelled": (
        "(CUSTOMER_ID bigint) using delta",
        f"insert into {{schema}}.spelled values ({ID}), (2)",
        "{create}spelled using delta as select cast(2 as bigint) as customer_id",
    ),
    "typed": (
        "(customer_id double) using delta",
        f"insert into {{schema}}.typed values ({ID}), (2)",
        "{create}typed using delta as select cast(2 as bigint) as customer_id",
    ),
    "mapped": (
        f"(customer_id bigint, x int) using delta {MAPPING}",
        f"insert into {{schema}}.mapped values ({ID}, 1), (2, 2)",
        "alter table {schema}.mapped drop column customer_id",
        "alter table {schema}.mapped add column customer_id bigint",
        "insert into {schema}.mapped values (1, 2)",
        f"{{create}}mapped using delta {MAPPING} as select cast(2 as bigint) as customer_id",
    ),
    "cloned": (
        "(customer_id bigint, phone string) using delta"
        " tblproperties ('delta.enableDeletionVectors' = 'true')",
        f"insert into {{schema}}.cloned values ({ID}, '{PHONE}'), (2, 'p2')",
    ),
    "sold": (
        "(order_id double, customer_id bigint) using delta"
        " tblproperties ('delta.enableDeletionVectors' = 'false')",
        f"insert into {{schema}}.sold values (7, {ID}), (8, {ID}), (9, 2)",
        # Order 8 is that of somebody else now, and nothing leads to the payment of order 7.
        "insert overwrite {schema}.sold values (8, 2), (9, 2)",
        "{create}sold using delta as select bigint(order_id) as order_id, customer_id"
        " from {schema}.sold",
    ),
    "paid": (
        "(order_id bigint, amount int) using delta",
        "insert into {schema}.paid values (7, 1)",
        "insert overwrite {schema}.paid values (8, 1), (9, 1)",
    ),
    "kept": (
        "(customer_id bigint, phone string) using delta tblproperties"
        " ('delta.enableDeletionVectors' = 'true', 'delta.checkpointPolicy' = 'v2',"
        " 'delta.checkpointInterval' = '1')",
        f"insert into {{schema}}.kept select * from values ({ID}, '{PHONE}'), (1, 'a'), (2, 'z')",
        f"delete from {{schema}}.kept where phone = '{PHONE}'",
    ),
}


@pytest.mark.long
def test_files_of_old_versions_and_of_other_tables_are_searched(project: Project) -> None:
    shop = Shop(project, tuple(FORMER), {})
    for name, statements in FORMER.items():
        shop.sql(f"create table {{schema}}.{name} {statements[0]}")
        for text in statements[1:]:
            shop.sql(text.replace("{create}", CREATE))
    # The table of `cloned` is now that of somebody else.
    shop.sql("alter table {schema}.cloned rename to {schema}.production")
    shop.sql("create table {schema}.cloned shallow clone {schema}.production")
    log = project.warehouse / "kept" / "_delta_log"
    assert list((log / "_sidecars").iterdir())
    for version in (0, 1):
        (log / f"{version:020}.json").unlink()
    through = "{meta: {subject: {person: {through: sold}}}}"
    columns = {
        "moved": f"{{name: email, config: {BY_EMAIL}}}",
        "paid": f"{{name: order_id, config: {through}}}",
    }
    tables = [f"{{name: {name}, columns: [{columns.get(name, BY_ID)}]}}" for name in FORMER]
    project.write({"models/schema.yml": f"""
        sources: [{{name: raw, schema: "{{{{ target.schema }}}}", tables: [{', '.join(tables)}]}}]
        """})  # fmt: skip
    shop.ask()
    lines = json.loads(shop.erase(name="erase_plan", output="json").printed)
    found = {line["table"].partition(".")[2]: line["data files"] for line in lines}
    assert all(found[name] for name in FORMER), found
    assert found["paid"] == 1
    shop.erase(retention_hours=0)
    record = shop.certificate()
    holds = {name.partition(".")[2]: table["holds"] for name, table in record["tables"].items()}
    # The clone has left the file, which is still there.
    assert holds == {name: name == "cloned" for name in (*FORMER, "requests")} | {"requests": 1}
    assert [row.phone for row in shop.sql("select phone from {schema}.cloned")] == ["p2"]
    assert len(shop.sql("select * from {schema}.production")) == 2
    what: dict[str, set[str]] = {}
    for one in record["open"]:
        what.setdefault(one["table"].partition(".")[2], set()).update(one["why"].split(", "))
    assert "partition value of email" in what["moved"]
    assert "statistics of customer_id" in what["spelled"] & what["typed"] & what["mapped"]
    assert "statistics of a file with subjects" in what["kept"]
    assert not any(why == "not decoded" for whys in what.values() for why in whys)


LANDED = {
    "models/raw.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {{ dbt_delta.landed_csv('shop', {'customer_id': 'bigint', 'email': 'string'}) }}
        """,
    "models/schema.yml": f"models: [{{name: raw, columns: [{BY_ID}]}}]",
}


def test_files_that_have_landed_do_not_land_again(project: Project) -> None:
    """A landed table is the record of its files, also of those whose rows were all erased."""
    folder = project.path / "landing" / "shop"
    folder.mkdir(parents=True)
    project.write(LANDED)
    project.sql("create schema {schema}")
    project.sql("create table {schema}.requests using delta"
                f" as select cast({ID} as bigint) as customer_id")  # fmt: skip
    for name, ids in {"only": (ID, ID), "too": (2, ID, 3), "others": (4,)}.items():
        lines = (f"{one},e{one}\n" for one in ids)
        (folder / f"{name}.csv").write_text(f"customer_id,email\n{''.join(lines)}")
    landing = {"dbt_delta_landing": str(folder.parent)}
    project.dbt("run", vars=landing)
    erase = ("erase", {"kind": "person", "requests": f"{project.schema}.requests"})
    project.sql("alter table {schema}.raw add constraint named check (email <> '')")
    before = project.version("raw")
    output = operations(project, erase, vars=landing, check=False).output
    assert "of a file whose rows all go would break the constraint named" in output, output
    assert project.version("raw") == before
    project.sql("alter table {schema}.raw drop constraint named")
    operations(project, erase, vars=landing)
    before = project.version("raw")
    for _ in range(2):
        project.dbt("run", vars=landing)
        assert project.version("raw") == before
    found = project.sql(
        "select _file, _line, customer_id, email, _rejected_reason from {schema}.raw"
    )
    assert sorted(map(tuple, found)) == [
        ("only.csv", 2, None, None, "erased"),
        ("others.csv", 2, 4, "e4", None),
        ("too.csv", 2, 2, "e2", None),
        ("too.csv", 4, 3, "e3", None),
    ]
