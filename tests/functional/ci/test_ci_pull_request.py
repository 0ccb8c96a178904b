"""deploy/pull_request.sh: its commands, one after the other, beside a built production schema."""

import itertools
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.functional.harness import REPOSITORY, Invocation, Project, read

MODELS = {
    "models/orders.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select {{ var('night') }} as id, {{ function('scaled') }}({{ var('night') }}) as amount
    """,
    "functions/scaled.sql": "n * 10",
    "functions/schema.yml": """
        functions:
          - name: scaled
            arguments: [{name: n, data_type: int}]
            returns: {data_type: int}
    """,
    "models/totals.sql": """
        {{ config(materialized='table', schema='marts') }}
        select sum(amount) as total from {{ ref('orders') }}
    """,
    "models/rates.sql": "{{ config(materialized='table') }} select 2 as rate",
    "models/shown.sql": "select * from {{ ref('orders') }} cross join {{ ref('rates') }}",
    "snapshots/orders_history.sql": """
        {% snapshot orders_history %}
            {{ config(unique_key='id', strategy='check', check_cols=['amount']) }}
            select * from {{ ref('orders') }}
        {% endsnapshot %}
    """,
    "models/schema.yml": "models: [{name: orders, columns: [{name: id, data_tests: [unique]}]}]",
}
# What the pull request changes: rows of tonight, and what follows from them.
CHANGED = {"functions/scaled.sql": "n * 11"}
_NUMBERS = itertools.count(41)
TABLES = ["orders", "rates", "orders_history"]


class Repository:
    """A project with a production schema of two nights, and pull requests beside it."""

    def __init__(self, project: Project) -> None:
        self.project, self.production = project, project.schema
        project.writes_json = True
        project.write(MODELS)
        self.readers = f"{self.production}_read"
        project.configure(vars={"dbt_delta_publish": {"schema": self.readers, "select": "orders"}})
        for night in (1, 2):
            project.dbt("build", vars={"night": night})
        (project.path / "target").rename(project.path / "state")

    def into(self, schema: str) -> None:
        profiles = self.project.path / "profiles.yml"
        text = profiles.read_text()
        profiles.write_text(text.replace(f"schema: {self.project.schema}\n", f"schema: {schema}\n"))
        self.project.schema = schema

    def run(self, command: str, check: bool = True) -> Invocation:
        """The script's line with that command."""
        words = next(line for line in self._commands() if command in line)
        text = (REPOSITORY / "deploy/pull_request.sh").read_text()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in re.findall(r"(?m)^export (\w+)=(\w+)$", text):
                patch.setenv(name, value)
            return self.project.dbt(*words, vars={"night": 3}, check=check)

    def _commands(self) -> Iterator[list[str]]:
        text = (REPOSITORY / "deploy/pull_request.sh").read_text().replace("\\\n", " ")
        values = {
            "PRODUCTION": self.production,
            "DBT_SCHEMA": self.project.schema,
            "STATE": str(self.project.path / "state"),
        }
        for name, value in re.findall(r'(?m)^(production|schemas)="(.*)"$', text):
            values[name] = value
        for _ in range(2):
            text = re.sub(r"\$([A-Za-z_]+)", lambda found: values.get(found[1], found[0]), text)
        for line in re.findall(
            r"(?m)^(?:trap ')?dbt (.*?)(?:' EXIT|(?: > diff.md)? \|\| .*)?$", text
        ):
            yield shlex.split(line)

    def operation(self, name: str) -> Invocation:
        return self.project.dbt(
            *("run-operation", name, "--args", f"{{production: {self.production}}}"),
            vars={"night": 3},
            check=False,
        )

    def versions(self) -> list[int]:
        names = [f"{self.production}.{name}" for name in TABLES]
        return [self.project.version(name) for name in [*names, f"{self.production}_marts.totals"]]


@pytest.fixture(scope="module")
def repository(new_shared_project: Callable[[str], Project]) -> Repository:
    return Repository(new_shared_project("ci"))


@pytest.fixture
def at(repository: Repository) -> Repository:
    repository.project.write(MODELS)
    repository.into(f"{repository.production}_{next(_NUMBERS)}")
    return repository


def view_text(name: str) -> str:
    return str(read(f"show create table {name}")[0][0])


def schemas(prefix: str) -> list[str]:
    return [row[0] for row in read("show schemas") if row[0].startswith(prefix)]


def test_a_pull_request_is_built_beside_production(at: Repository) -> None:
    project, schema = at.project, at.project.schema
    before = at.versions()
    project.write(CHANGED)
    at.run("create_ci_schemas")
    assert schemas(schema) == [schema, f"{schema}_marts"]
    at.run("clone")
    at.run("build")
    # Tonight's row came to those of the nights before; what did not change is not built.
    assert project.rows("orders") == [
        {"id": n, "amount": a} for n, a in ((1, 10), (2, 20), (3, 33))
    ]
    assert project.rows(f"{schema}_marts.totals") == [{"total": 63}]
    assert [row["rate"] for row in project.rows("shown")] == [2, 2, 2]
    history = project.rows("orders_history")
    assert [(row["id"], row["amount"]) for row in history] == [(1, 10), (2, 20), (3, 33)]
    assert {row.tableName for row in read(f"show tables in `{schema}`")} == {
        *("orders", "orders_history", "shown")
    }
    lines = at.run("diff").printed.splitlines()
    assert lines[0].startswith("| name | rows before | rows after | added |")
    counts = {row[1]: row[2:6] for row in (re.split(r" *\| *", line) for line in lines[2:6])}
    assert counts["orders"] == ["2", "3", "1", "0"]
    assert counts["totals"] == ["1", "1", "1", "1"]

    # One schema of several that is not the pull request's keeps all of them.
    read(f"drop schema `{schema}_marts` cascade")
    read(f"create schema `{schema}_marts`")
    for operation in ("create_ci_schemas", "drop_ci_schemas"):
        refused = at.operation(operation)
        assert not refused.success
        assert f"schema {schema}_marts was not created by create_ci_schemas" in refused.output
    assert len(project.rows("orders")) == 3
    read(f"drop schema `{schema}_marts`")

    # An earlier build is left: it makes place for the next one.
    at.run("create_ci_schemas")
    assert read(f"show tables in `{schema}`") == []
    at.run("clone")
    at.run("drop_ci_schemas")
    assert schemas(schema) == []
    assert at.versions() == before
    at.into(at.production)
    assert project.rows("orders") == [{"id": 1, "amount": 10}, {"id": 2, "amount": 20}]
    assert len(project.rows("orders_history")) == 2
    assert [row.id for row in read(f"select id from {at.readers}.orders order by id")] == [1, 2]
    assert f"`{at.production}`.`orders` version as of" in view_text(f"{at.readers}.orders")


@pytest.mark.parametrize("operation", ["create_ci_schemas", "drop_ci_schemas"])
def test_production_is_refused(at: Repository, operation: str) -> None:
    at.into(at.production)
    before = at.versions()
    refused = at.operation(operation)
    assert not refused.success
    assert f"the target's schema {at.production} is production" in refused.output
    assert at.versions() == before


@pytest.mark.parametrize("operation", ["create_ci_schemas", "drop_ci_schemas"])
def test_a_schema_of_others_is_refused(at: Repository, operation: str) -> None:
    schema = f"{at.project.schema}_of_others"
    at.into(schema)
    read(f"create schema if not exists `{schema}`")
    read(f"create or replace table `{schema}`.theirs using delta as select 1 as id")
    refused = at.operation(operation)
    assert not refused.success
    assert f"schema {schema} was not created by create_ci_schemas" in refused.output
    assert [row.id for row in read(f"select * from `{schema}`.theirs")] == [1]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            "{{ config(materialized='table', location_root='/tmp/lake') }} select 1 as id",
            "has location_root, where production has its files",
        ),
        (
            "{{ config(materialized='table', schema='elsewhere') }} select 1 as id",
            "is built in schema elsewhere, and a pull request may only write",
        ),
    ],
)
def test_what_would_write_outside_is_refused(at: Repository, model: str, says: str) -> None:
    elsewhere = (
        "{% macro generate_schema_name(name, node) %}{{ name or target.schema }}{% endmacro %}"
    )
    added = {"models/rates.sql": model}
    if "elsewhere" in model:
        added["macros/names.sql"] = elsewhere
        added["models/totals.sql"] = "select 1 as total"
    at.project.write(added)
    refused = at.operation("create_ci_schemas")
    if "elsewhere" in model:
        at.project.write({"macros/names.sql": None})
    assert not refused.success
    assert says in refused.output
    assert schemas(at.project.schema) == []


def test_the_script_cleans_up_after_a_failure() -> None:
    text = Path(REPOSITORY / "deploy/pull_request.sh").read_text()
    assert text.index("trap '") < text.index("dbt clone") < text.index("dbt build")
