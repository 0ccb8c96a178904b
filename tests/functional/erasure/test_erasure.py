"""Erasure on real tables: what was planted is found before and not after, and nobody comes back.

DBT_DELTA_EXAMPLES=50    before how many statements an erasure is broken off (default 1, with
                         --long all)
DBT_DELTA_SEED           before which ones; see drawing.py
"""

import json
import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.harness import Invocation, Project, session
from tests.functional.operations import operations

pytestmark = pytest.mark.session

SECRET = "a secret of a test, long enough"
# Longer than what statistics keep of a text.
KEY = "mara.canary@a-rather-long-domain.example"
PHONE = "canary-phone-0001"
FEED = "tblproperties={'delta.enableChangeDataFeed': 'true'}"
FILES = {
    "models/staged.sql": f"""
        {{{{ config(materialized='incremental', unique_key='customer_id', {FEED}) }}}}
        select customer_id, email, phone from {{{{ source('raw', 'customers') }}}}
        """,
    "models/orders.sql": """
        {{ config(
            materialized='incremental', unique_key='order_id',
            tblproperties={'delta.enableDeletionVectors': 'true'},
            expectations=[{'name': 'paid', 'expression': 'amount > 0', 'action': 'quarantine'}]
        ) }}
        select order_id, customer_id, amount from {{ source('raw', 'sold') }}
        """,
    "models/payments.sql": """
        {{ config(materialized='table', tblproperties={'delta.columnMapping.mode': 'name'}) }}
        select order_id as paid_for, amount, 'card' as kind from {{ ref('orders') }}
        """,
    "models/untouched.sql": """
        {{ config(materialized='table') }}
        select customer_id, phone from {{ ref('staged') }} where customer_id > 2
        """,
    "snapshots/history.yml": """
        snapshots:
          - name: history
            relation: ref('staged')
            config: {unique_key: customer_id, strategy: check, check_cols: [phone]}
            columns:
              - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
        """,
    "models/schema.yml": """
        sources:
          - name: raw
            schema: "{{ target.schema }}"
            tables:
              - name: customers
                columns:
                  - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
              - name: sold
                columns:
                  - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
        models:
          - name: staged
            columns:
              - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
              - {name: email, config: {meta: {pii: true, subject: {person: email}}}}
              - {name: phone, config: {meta: {pii: true}}}
          - name: orders
            columns:
              - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
          - name: payments
            columns:
              - name: paid_for
                config: {meta: {subject: {person: {through: orders, key: order_id}}}}
          - name: untouched
            columns:
              - {name: customer_id, config: {meta: {subject: {person: customer_id}}}}
        """,
}
WRITTEN = (
    "customers", "sold", "orders", "staged", "orders__quarantine", "payments", "history", "untouched",
)  # fmt: skip


class Shop:
    """A project with a customer who is to be erased, in as many places as Delta has."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.write(FILES)
        self.vars = {
            "dbt_delta_short_retention": [f"{project.schema}.{n}" for n in (*WRITTEN, "requests")],
            "dbt_delta_undo_days": 0,
        }

    def plant(self) -> None:
        sql = self.project.sql
        sql("create schema if not exists {schema}")
        sql("create table {schema}.customers (customer_id bigint, email string, phone string)"
            " using delta tblproperties ('delta.enableDeletionVectors' = 'false')")  # fmt: skip
        sql("create table {schema}.sold (order_id bigint, customer_id bigint, amount int)"
            " using delta")  # fmt: skip
        sql("create table {schema}.requests (customer_id bigint, email string) using delta")
        self.arrive()
        self.build()
        sql("update {schema}.customers set phone = 'other' where customer_id = 2")
        self.build()
        # The log has the predicate.
        sql("update {schema}.customers set phone = concat(phone, '!') where customer_id = 1")
        self.build()

    def arrive(self) -> None:
        sql = self.project.sql
        sql(f"insert into {{schema}}.customers values (1, '{KEY}', '{PHONE}'), (2, 'b', 'p2'),"
            " (3, 'c', 'p3')")  # fmt: skip
        sql("insert into {schema}.sold values (11, 1, 5), (12, 1, -5), (21, 2, 7), (31, 3, 9)")

    def ask(self) -> None:
        self.project.sql(f"insert into {{schema}}.requests values (1, '{KEY}')")

    def build(self, *arguments: str) -> Invocation:
        return self.project.dbt("build", *arguments, vars=self.vars)

    def erase(self, check: bool = True, **arguments: Any) -> Invocation:
        given = {"kind": "person", "requests": f"{self.project.schema}.requests"}
        given |= {"retention_hours": 0, **arguments}
        return operations(self.project, ("erase", given), vars=self.vars, check=check)

    def certificate(self) -> dict[str, Any]:
        folder = self.project.path / "erasure"
        newest = max(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        return dict(json.loads(newest.read_text()))

    def others(self) -> dict[str, Any]:
        """The rows that are not of the subject."""
        found = {}
        for name in WRITTEN:
            rows = self.project.rows(name)
            key = "paid_for" if name == "payments" else "customer_id"
            gone = (11, 12) if name == "payments" else (1,)
            found[name] = [row for row in rows if row[key] not in gone]
        return found

    def subject_rows(self) -> int:
        total = sum(len(self.project.rows(name)) for name in WRITTEN)
        return total - sum(map(len, self.others().values()))


@pytest.fixture
def shop(project: Project, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("DBT_ENV_SECRET_ERASURE_KEY", SECRET)
    made = Shop(project)
    made.plant()
    return made


def test_it(shop):
    shop.ask()
    before = shop.others()
    assert shop.subject_rows()
    print(operations(shop.project, ("erase_plan", {"kind": "person", "requests": f"{shop.project.schema}.requests"}), vars=shop.vars).output)
    run = shop.erase()
    print(run.output)
    folder = shop.project.path / "erasure"
    for page in folder.iterdir():
        print(page.read_text())
    assert shop.others() == before
    assert not shop.subject_rows()
    for name in (*WRITTEN, "requests"):
        print(name, [c["operation"] for c in shop.project.history(name)])
    versions = {n: shop.project.version(n) for n in (*WRITTEN, "requests")}
    shop.ask()
    print(shop.erase().output)
    print(versions, {n: shop.project.version(n) for n in (*WRITTEN, "requests")})
