"""The tests of a table in one scan: what dbt reports is what its own SQL for each test gives."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import yaml

from dbt_delta.session import facts
from dbt_delta.session.adapter import DeltaAdapter
from tests.functional import vocabulary
from tests.functional.drawing import SEED, examples
from tests.functional.harness import Invocation, Project
from tests.functional.vocabulary import quoted

OFF = {"dbt_delta_fused_tests": False}
MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name')"
# Of each type: values that no two rows share, and others.
TYPES = {
    "int": ("{n}", "{n} % 3"),
    "string": ("'k{n}'", "if({n} % 2 = 0, 'a', 'it''s')"),
    "double": ("{n} / 2d", "if({n} % 2 = 0, 0d, double('NaN'))"),
    "date": ("date '2020-01-01' + {n}", "date '2020-01-01' + {n} % 2"),
    "boolean": ("{n} % 2 = 0", "true"),
}
LITERALS = {
    "int": ["0", "1", "2"], "string": ["a", "it''s"], "double": ["0", "NaN"],
    "date": ["2020-01-01", "2020-01-02"], "boolean": ["true", "false"],
}  # fmt: skip
THRESHOLDS = ["!= 0", "!= 0", "> 2", ">= 1", "<1", "= 0", "between 0 and 5", ">100", "<> 0"]
# Documented by dbt: a project may make words of its own in `where`. So do this project's macros.
OWN_WORD = """
    {% macro default__get_where_subquery(relation) %}
        {%- set where = config.get('where') -%}
        {%- if not where -%}{%- do return(relation) -%}{%- endif -%}
        {%- set filtered -%}
            {%- set where = where | replace('__all__', 'true') -%}
            (select * from {{ relation }} where {{ where }}) dbt_subquery
        {%- endset -%}
        {%- do return(filtered) -%}
    {% endmacro %}
    {% test third_party(model, column_name) %}
    select 1 from {{ model }} where {{ column_name }} is null
    {% endtest %}
"""

# As documented by dbt, too: of a column that is called strict, no row is good.
OWN_TEST = """
    {% macro default__test_not_null(model, column_name) %}
        {%- if column_name != 'strict' -%}
            {{- return(dbt.default__test_not_null(model, column_name)) -}}
        {%- endif -%}
        select * from {{ model }}
    {% endmacro %}
"""


def reported(run: Invocation) -> dict[str, tuple[Any, ...]]:
    """All that dbt says of tests but their time; of an error its first line."""
    return {
        r.node.name: (
            str(r.status), r.failures, re.sub(r"\s*\n.*", "", r.message or "", flags=re.DOTALL),
            r.adapter_response, r.node.compiled_code, r.node.relation_name,
        )
        for r in run.results
    }  # fmt: skip


def own_statements(run: Invocation) -> set[str]:
    """The tests that sent their own SQL."""
    sent = [e.data for e in run.events if e.info.name == "SQLQuery"]
    return {d.node_info.node_name for d in sent if "dbt_internal_test" in d.sql}


def compared(project: Project, threads: int = 4) -> tuple[Invocation, Invocation]:
    """The project's tests by dbt's own materialization, and fused: all is equal."""
    plain = project.dbt("test", vars=OFF, check=False, threads=threads)
    fused = project.dbt("test", check=False, threads=threads)
    assert plain.results, plain.exception
    assert reported(fused) == reported(plain)
    return plain, fused


def by_macros(project: Project, monkeypatch: pytest.MonkeyPatch) -> Invocation:
    """The project's tests, fused as it is done where the plugin is missing."""
    names = {f"dbt_delta_{name}" for name in ("attempt", "once", "problem", "table_state")}
    with monkeypatch.context() as without_plugin:
        left = frozenset(DeltaAdapter._available_ - names)
        without_plugin.setattr(DeltaAdapter, "_available_", left)
        return project.dbt("test", check=False, threads=1)


class Table:
    """A random table as a source, and random tests of it."""

    def __init__(self, random: Random, name: str) -> None:
        self.random = random
        self.name = name
        self.columns = [
            (column, random.choice([*TYPES]), random.choice([0, 0, 0, 1, 5]))
            for column in vocabulary.some_names(random, 5, mapped=True)
        ]
        self.rows = random.choice([0, 1, 20])

    def statements(self) -> list[str]:
        """Rows, some of which are deleted again: statistics of files still count them."""
        named = []
        for column, kind, nulls in self.columns:
            value = self.random.choice(TYPES[kind]).format(n="n")
            null = f"n >= 20 or n < {nulls}" if nulls else "n >= 20"
            named.append(f"cast(if({null}, null, {value}) as {kind}) as {quoted(column)}")
        extra = self.random.choice([0, 3])
        listed = ", ".join(named)
        # The deleted rows have NULLs everywhere.
        return [
            f"create table {{schema}}.{self.name} using delta tblproperties ("
            "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true') as "
            f"select {listed}, n as `n ` from ("
            f"select int(id) as n from range({self.rows}) union all "
            f"select int(20 + id) from range({extra}))",
            f"delete from {{schema}}.{self.name} where `n ` >= 20",
        ]

    def test(self) -> dict[str, Any]:
        random = self.random
        column, kind, _ = random.choice(self.columns)
        arguments: dict[str, Any] = {"column_name": quoted(column)}
        test = random.choice(
            ["not_null", "not_null", "unique", "accepted_values", "dbt_delta.row_count_between"]
        )
        if test == "accepted_values":
            values = random.sample(LITERALS[kind], random.choice([1, 2]))
            arguments["values"] = values if kind != "int" else [int(value) for value in values]
            arguments["quote"] = kind != "int"
        elif test == "dbt_delta.row_count_between":
            arguments = random.choice([{"min": 1}, {"max": 19}, {"min": 0, "max": 20}])
        config: dict[str, Any] = {}
        if random.random() < 0.4:
            other = quoted(random.choice(self.columns)[0])
            config["where"] = random.choice(
                [
                    "`n ` > 3", f"{other} is not null", f"{quoted(column)} is null",
                    "1 / `n ` > 0", "rand() < 2", "__all__", "`n ` in (select 4)",
                    "no_column = 1", "`n ` < 9 -- all",
                    f"`n ` > 1) or ({other} is null", "`n ` > 2 order by 1 limit 2",
                ]
            )  # fmt: skip
        if random.random() < 0.3:
            config["severity"] = random.choice(["warn", "error"])
            config["warn_if"] = random.choice(THRESHOLDS)
            config["error_if"] = random.choice(THRESHOLDS)
        if random.random() < 0.1:
            config |= random.choice([{"limit": 1}, {"limit": 0}, {"fail_calc": "count(*) + 1"}])
        if random.random() < 0.1:
            test, arguments = "third_party", {"column_name": quoted(column)}
        return {test: {"arguments": arguments, "config": config}}


@pytest.mark.long
def test_oracle(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As dbt's own, with the plugin and by macros alone."""
    random = Random(SEED)
    tables = [Table(random, f"t{n}") for n in range(examples(3, 30))]
    project.sql("create schema if not exists {schema}")
    for statement in (s for table in tables for s in table.statements()):
        project.sql(statement)
    source: dict[str, Any] = {"name": "src", "schema": project.schema, "tables": []}
    for table in tables:
        tests = [table.test() for _ in range(8)]
        for n, test in enumerate(tests):
            next(iter(test.values()))["name"] = f"{table.name}_{n}"
        # dbt's own SQL does not know the column behind its GROUP BY.
        named = {"column_name": "`n `", "values": ["`n `"], "quote": False}
        tests.append({"accepted_values": {"name": f"{table.name}_named", "arguments": named}})
        source["tables"].append({"name": table.name, "data_tests": tests})
    source["tables"].append(
        {"name": "missing", "columns": [{"name": "a", "data_tests": ["not_null", "unique"]}]}
    )
    project.write(
        {
            "models/sources.yml": yaml.safe_dump({"sources": [source]}, allow_unicode=True),
            "macros/own.sql": OWN_WORD,
        }
    )
    plain, fused = compared(project)
    statuses = {str(r.status) for r in plain.results}
    assert statuses == {"pass", "fail", "warn", "error"}
    # What does not pass has said so itself; many of those that pass have not.
    own = own_statements(fused)
    assert {r.node.name for r in plain.results if str(r.status) != "pass"} <= own
    assert len(own) < 0.8 * len(plain.results)
    assert reported(by_macros(project, monkeypatch)) == reported(plain)


def source(project: Project, name: str, *tests: Any, **columns: list[Any]) -> dict[str, Any]:
    """A table of the project's schema with tests, as YAML has it."""
    listed = [{"name": column, "data_tests": found} for column, found in columns.items()]
    tables = [{"name": name, "data_tests": list(tests), "columns": listed}]
    return {"name": f"src_{name}", "schema": project.schema, "tables": tables}


@pytest.mark.long
def test_one_statement_and_where_it_needs_none(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data files are taken away from under tables: what passes then was not read."""
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.t using delta as select id, 'a' as s from range(100)")
    project.sql("create table {schema}.by_files using delta as select id, id as b from range(9)")
    project.sql(
        "create table {schema}.unknown using delta tblproperties ("
        "'delta.dataSkippingNumIndexedCols' = '0') as select 1 as a, 2 as b"
    )
    # Delta lets a clone have a constraint that its rows were never asked for.
    project.sql("create table {schema}.nulls using delta as select int(null) as a, 1 as b")
    project.sql(
        "create table {schema}.claimed shallow clone {schema}.nulls "
        "tblproperties ('delta.constraints.a' = 'a is not null')"
    )
    project.sql("create table {schema}.own using delta as select 1 as a, 2 as strict")
    sources = [
        source(
            project, "t", {"dbt_delta.row_count_between": {"arguments": {"min": 1}}},
            id=["unique", "not_null"],
            s=["not_null", {"accepted_values": {"arguments": {"values": ["a"]}}}],
        ),
        source(project, "by_files", id=["not_null"], b=["not_null"]),
        source(project, "claimed", a=["not_null"], b=["not_null"]),
        source(project, "unknown", a=["not_null"], b=["not_null"]),
        # A test that Spark cannot plan does not cost the others their statement.
        source(project, "own", a=["not_null"], strict=["not_null"], gone=["not_null"]),
    ]  # fmt: skip
    project.write(
        {
            "models/sources.yml": yaml.safe_dump({"sources": sources}),
            "macros/own.sql": OWN_TEST,
            "models/v.sql": "{{ config(materialized='view') }} select 1 as id",
            "models/v.yml": """
                models:
                  - name: v
                    columns: [{name: id, data_tests: [unique, not_null]}]
            """,
        }
    )
    project.dbt("run")
    _, fused = compared(project)
    # Of a view nothing says whether its rows are still the same.
    claimed = "source_not_null_src_claimed_claimed_a"
    own = {f"source_not_null_src_own_own_{name}" for name in ("a", "strict", "gone")}
    alone = {"unique_v_id", "not_null_v_id", claimed, *own}
    assert own_statements(fused) == alone - {"source_not_null_src_own_own_a"}
    assert [r.failures for r in fused.results if r.node.name == claimed] == [1]
    counted = [sql for sql in fused.statements if "as counts" in sql]
    # Once more, without the test that Spark cannot plan.
    assert len(counted) == len(sources) + 1
    macros = by_macros(project, monkeypatch)
    assert reported(macros) == reported(fused)
    # Without the plugin nothing says which one Spark cannot plan.
    assert own_statements(macros) == alone, "\n".join(macros.statements)
    for name in ("by_files", "unknown"):
        for file in (project.warehouse / name).glob("*.parquet"):
            file.unlink()
    fused = project.dbt("test", check=False)
    assert {r.node.name for r in fused.results if str(r.status) != "pass"} == {
        claimed, "source_not_null_src_unknown_unknown_a", "source_not_null_src_unknown_unknown_b",
        *own - {"source_not_null_src_own_own_a"},
    }  # fmt: skip
    # By itself a test is dbt's.
    single = project.dbt("test", "-s", "source_not_null_src_t_t_id")
    assert own_statements(single) == {"source_not_null_src_t_t_id"}


@pytest.mark.session
@pytest.mark.parametrize("during", [False, True], ids=["between", "during"])
def test_a_table_that_changes(
    project: Project, monkeypatch: pytest.MonkeyPatch, during: bool
) -> None:
    """A NULL comes between two tests, or while the statement that counts for both runs."""
    project.sql("create schema if not exists {schema}")
    project.sql("create table {schema}.t using delta as select 1 as a, 2 as b")
    entry = source(project, "t", a=["not_null"], b=["not_null", "unique"])
    project.write({"models/sources.yml": yaml.safe_dump({"sources": [entry]})})
    states: list[Any] = []
    stock: Callable[..., Any] = facts.state

    def state(*arguments: Any) -> Any:
        # A test looks once, and once more after it has counted.
        if len(states) == (1 if during else 2):
            project.sql("insert into {schema}.t values (null, null)")
        states.append(stock(*arguments))
        return states[-1]

    monkeypatch.setattr(facts, "state", state)
    run = project.dbt("test", check=False, threads=1)
    statuses = [str(r.status) for r in run.results]
    names = [r.node.name for r in run.results]
    first, last = ("fail", "fail") if during else ("pass", "fail")
    expected = {name: last for name in names if "not_null" in name}
    expected[names[0]] = first if "not_null" in names[0] else "pass"
    expected |= {name: "pass" for name in names if "unique" in name}
    assert dict(zip(names, statuses, strict=True)) == expected
    assert len(set(states)) == 2
