"""What is refused, limits, constraints, schema changes, broken-off runs, releases.

All models are one project; a test looks at its own.
"""

import json
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.functional.expectations.judging import broken_off
from tests.functional.harness import Project, session
from tests.functional.incremental.models import messages, model, relations, tables, values
from tests.functional.operations import operations
from tests.functional.tables import commits, metadata, version


def expects(*entries: str, **config: Any) -> dict[str, Any]:
    return {**config, "expectations": [_entry(entry) for entry in entries]}


def _entry(text: str) -> dict[str, Any]:
    """``quarantine a: v > 0; max_rows=1``"""
    found = re.fullmatch(r"(\w+) (\w+): ([^;]*)(?:; (\w+)=(\w+))?", text)
    assert found, text
    more = {found[4]: json.loads(found[5]) if found[5].isdigit() else found[5]} if found[4] else {}
    return {"action": found[1], "name": found[2], "expression": found[3], **more}


POSITIVE = "quarantine positive: v > 0"
FIRST = values("id, v", "1, 1", "2, 2", "3, -3")
THEN = values("id, v", "3, 3", "4, -4", "2, null")
KEYED = {"unique_key": "id"}
REFUSED = {
    "aggregate": (("quarantine a: sum(v) > 1",), "Expectation a of aggregate"),
    "windowed": (("drop a: row_number() over (order by v) = 1",), "Expectation a of windowed"),
    "unknown": (("warn a: v > 0", "warn b: nowhere > 0"), "Expectation b of unknown"),
    "number": (("warn a: v + 1",), "Expectation a of number"),
    "over": (("fail a: v > 1",), "2 of 3 rows of over break expectation a (v > 1): "),
    "percent": (("fail a: v > 1; max_percent=66",), "max_percent 66"),
}
# By their configuration.
CONTRADICTING = {
    "stock": "Expectation positive of stock needs file_format delta; it is parquet.",
    "own": "Expectations of own: materialization copied does not look at them.",
    "deletes_by_both": "deletions: matched_delete_condition reads the table.",
}
MODELS = {
    **{name: model(FIRST, **expects(*texts)) for name, (texts, _) in REFUSED.items()},
    "within": model(
        FIRST,
        **expects("fail a: v > 1; max_percent=67", "fail b: v > 0; max_rows=1", **KEYED),
    ),
    "merged": model(FIRST, THEN, **expects(POSITIVE, **KEYED)),
    "appended": model(FIRST, THEN, **expects(POSITIVE, incremental_strategy="append")),
    "widened": model(
        FIRST, values("id, v, w", "5, -5, 'w'"),
        **expects(POSITIVE, on_schema_change="append_new_columns", **KEYED),
    ),
    "enforced": model(FIRST, **expects("quarantine Pos: v > 0; enforce=table")),
    "nothing_good": model(FIRST, values("id, v", "9, -9"), **expects(POSITIVE, **KEYED)),
    "plain": model(FIRST, THEN, **KEYED),
    "rebuilt": model(FIRST, THEN, **expects(POSITIVE, incremental_strategy="append")),
    # As an int it would be 0, which is not negative.
    "rounded": model(
        FIRST, values("id, v", "5, -0.5D"), **expects("quarantine a: v >= 0", **KEYED)
    ),
    "killed": model(
        FIRST, values("id, v", "6, -6"), **expects(POSITIVE, incremental_strategy="append")
    ),
    "newest": model(
        values("id, v, at", "1, 1, 1"), values("id, v, at", "1, -1, 2", "1, 3, 3"),
        **expects(
            POSITIVE, duplicate_keys="latest", duplicate_keys_order_by=["at desc"], **KEYED
        ),
    ),
    "dated": model(
        values("id, at", "1, timestamp'2024-01-01'", "2, timestamp'2999-01-01'"),
        **expects("quarantine past: at <= current_timestamp()", incremental_strategy="append"),
    ),
    "stock": model(FIRST, file_format="parquet", **expects(POSITIVE)),
    "own": model(FIRST, **expects(POSITIVE)).replace("'incremental'", "'copied'"),
    # A deletion breaks the expectation, and is one.
    "deleted": model(
        values("id, v, op", "1, 1, 'I'", "2, 2, 'I'"),
        values("id, v, op", "1, null, 'D'", "2, null, 'U'"),
        **expects(POSITIVE, matched_delete_condition="DBT_INTERNAL_SOURCE.op = 'D'", **KEYED),
    ),
    "deletes_by_both": model(
        FIRST,
        **expects(
            POSITIVE, matched_delete_condition="DBT_INTERNAL_SOURCE.v < DBT_INTERNAL_DEST.v",
            not_matched_condition="true", **KEYED,
        ),
    ),
    "by_chance": model("select id, v from {{ target.schema }}.chance", **expects(POSITIVE)),
    "of_files": model("select id, v from {{ target.schema }}.files", **expects(POSITIVE)),
}  # fmt: skip
# Relations of others with the name of a quarantine.
TAKEN = {
    "taken_table": model(FIRST, **expects(POSITIVE)).replace("incremental", "table"),
    "taken_merge": model(FIRST, THEN, **expects(POSITIVE, **KEYED)),
    "taken_view": model(FIRST, **expects(POSITIVE)).replace("incremental", "view"),
    "taken_unused": model(FIRST, **expects("drop positive: v > 0")),
}
YAML = """
models:
  - name: over
    columns: [{name: id, config: {meta: {pii: true}}}]
  - name: within
    config: {meta: {expectations: [{name: few, expression: v < 2, action: warn}]}}
  - name: merged
    columns:
      - {name: v, config: {meta: {expectations: [
          {name: small, expression: v < 100, action: warn}]}}}
seeds:
  - name: seeded
    config: {expectations: [{name: positive, expression: v > 0, action: quarantine}]}
"""

# A materialization of the user's own.
COPIED = """
{% materialization copied, default %}
    {% call statement('main') %}create table {{ this }} using delta as {{ sql }}{% endcall %}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
"""


def _broken_off(pattern: str) -> AbstractContextManager[None]:
    """A statement that looks like this fails before it runs."""
    return broken_off(re.compile(pattern).search)


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> tuple[Project, Any, Any]:
    """Built; broken off before the tables of the second run; run again."""
    project = new_shared_project("expected")
    project.write({f"models/{name}.sql": text for name, text in {**MODELS, **TAKEN}.items()})
    project.sql("create schema {schema}")
    for name in TAKEN:
        kind = "view" if name == "taken_view" else "table"
        project.sql(f"create {kind} {{schema}}.{name}__quarantine as select 'mine' as note")
    project.sql("create view {schema}.chance as select id, rand() as v from range(2)")
    project.sql("create table {schema}.files using parquet as select 1 as id, 1 as v")
    project.write({"macros/copied.sql": COPIED})
    project.write({"models/schema.yml": YAML, "seeds/seeded.csv": "id,v\n1,1\n2,-2\n"})
    first = project.dbt("build", check=False)
    project.sql("alter table {schema}.plain add constraint expect_mine check (id > 0)")
    project.sql("drop table {schema}.rebuilt")
    # A row of the broken-off run is another one in the next run.
    with _broken_off(r"(merge|insert) into \S*`(merged|appended)`"):
        broken = project.dbt("run", "-s", "merged", "appended", "rebuilt", check=False)
    assert set(messages(broken)) == {"merged", "appended"}
    project.write({"models/appended.sql": MODELS["appended"].replace("-4)", "4)")})
    return project, first, project.dbt("run", check=False)


def test_refused_before_anything_is_written(built: tuple[Project, Any, Any]) -> None:
    project, first, second = built
    found = messages(first)
    taken = {name for name in TAKEN if name != "taken_unused"}
    assert set(found) == {*REFUSED, *CONTRADICTING, *taken}
    assert set(messages(second)) == {*REFUSED, *CONTRADICTING, *taken, "rounded"}
    for name, text in CONTRADICTING.items():
        assert text in found[name], found[name]
    assert "The value of 1 rows of the batch would change" in messages(second)["rounded"]
    for name in taken:
        assert "__quarantine` is no quarantine: it has no column _expectations" in found[name]
    for name in TAKEN:
        assert project.rows(f"{name}__quarantine") == [{"note": "mine"}], name
    assert taken.isdisjoint(relations(project))
    for name, (_, text) in REFUSED.items():
        assert text in found[name], found[name]
        assert "Nothing was written" in found[name]
    assert not [name for name in relations(project) if name.split("__")[0] in REFUSED]
    assert '{"id":"***","v":1}' in found["over"]
    assert '"id":1' not in found["over"]
    assert '{"id":1,"v":1}' in found["percent"]


def test_limits_that_hold(built: tuple[Project, Any, Any]) -> None:
    project, first, _ = built
    assert tables(project, ["within"])["within"] == [(1, 1), (2, 2), (3, -3)]
    assert "a 2, b 1, few 1" in first.result("within").adapter_response["_message"]
    assert "within__quarantine" not in relations(project)


def test_each_row_once_after_a_run_that_was_broken_off(built: tuple[Project, Any, Any]) -> None:
    project, _, second = built
    names = ["merged", "appended", "rebuilt", "rounded", "widened", "nothing_good", "seeded"]
    names.append("deleted")
    assert tables(project, names) == {
        "merged": [(1, 1), (2, 2), (3, 3)],
        "appended": [(1, 1), (2, 2), (3, 3), (4, 4)],
        "rebuilt": [(1, 1), (2, 2), (3, 3)],
        "rounded": [(1, 1), (2, 2)],
        "widened": [(1, 1, None), (2, 2, None)],
        "nothing_good": [(1, 1), (2, 2)],
        "seeded": [(1, 1)],
        "deleted": [(2, 2, "I")],
    }
    expected = {
        "merged": [(2, None), (4, -4)],
        "appended": [(2, None), (3, -3)],
        # What the table's history does not tell of stays.
        "rebuilt": [(2, None), (3, -3), (4, -4)],
        "rounded": [(3, -3)],
        "widened": [(3, -3, None), (5, -5, "w")],
        "nothing_good": [(3, -3), (9, -9)],
        "seeded": [(2, -2)],
        "deleted": [(2, None)],
    }
    for name, rows in expected.items():
        columns = "id, v, w" if name == "widened" else "id, v"
        found = project.sql(f"select {columns} from {project.relation(name + '__quarantine')}")
        assert sorted(map(tuple, found)) == rows, name
    assert version(project, "nothing_good") == 0
    assert "quarantined 1" in second.result("nothing_good").adapter_response["_message"]


def test_a_constraint_holds_where_writers_bypass_dbt(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    for row in ("7, -7", "7, null"):
        with pytest.raises(Exception, match=r"expect_pos"):
            project.sql(f"insert into {{schema}}.enforced values ({row})")
    project.write({"models/enforced.sql": model(FIRST, incremental_strategy="append")})
    project.dbt("run", "-s", "enforced")
    properties = metadata(project, "enforced")["configuration"]
    assert not [key for key in properties if key.startswith("delta.constraints.")]
    assert metadata(project, "plain")["configuration"]["delta.constraints.expect_mine"] == "id > 0"


def test_no_expectation_costs_nothing(built: tuple[Project, Any, Any]) -> None:
    _, first, _ = built
    sent = [sql for sql in first.statements if "`plain" in sql]
    assert sent
    assert not [sql for sql in sent if "__dbt_tmp" in sql or "__quarantine" in sql], sent


def test_history_and_release(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    asked = {"model": "nothing_good", "output": "json"}
    lines = json.loads(operations(project, ("expectations", asked)).printed)
    assert [(line["broken"], line["rows"], line["kept"]) for line in lines] == [
        (1, 1, 0),
        (1, 3, 2),
    ]
    lines = json.loads(operations(project, ("expectations", {**asked, "model": "merged"})).printed)
    newest = {line["expectation"]: line for line in lines[:2]}
    assert newest["positive"]["quarantined"] == 2
    assert newest["small"]["broken"] == 1
    _loosen(project, "merged", "appended")
    release = ("release_quarantine", {"model": "merged"})
    dry = operations(project, (release[0], {**release[1], "dry_run": True}))
    assert "1 rows would pass, 1 stay" in dry.printed
    before = version(project, "merged")
    for name in ("merged", "appended"):
        with _broken_off(r"delete from \S*__quarantine"):
            failed = operations(project, (release[0], {"model": name}), check=False)
        assert not failed.success
        again = operations(project, (release[0], {"model": name}))
        assert "an earlier release was finished" in again.printed
    assert version(project, "merged") == before + 1
    assert tables(project, ["merged", "appended"]) == {
        "merged": [(1, 1), (2, 2), (3, 3), (4, -4)],
        "appended": [(1, 1), (2, 2), (3, -3), (3, 3), (4, 4)],
    }
    for name in ("merged", "appended"):
        rows = project.sql(f"select id, v from {project.relation(name + '__quarantine')}")
        assert [tuple(row) for row in rows] == [(2, None)]


def _loosen(project: Project, *names: str, **texts: str) -> None:
    texts = {**{name: MODELS[name] for name in names}, **texts}
    project.write(
        {
            f"models/{name}.sql": text.replace("v > 0", "v is not null")
            for name, text in texts.items()
        }
    )


def _quarantined(project: Project, name: str, columns: str = "id, v") -> list[tuple[Any, ...]]:
    rows = project.sql(f"select {columns} from {project.relation(name + '__quarantine')}")
    return sorted(map(tuple, rows))


@pytest.mark.long
def test_a_killed_build_stops_the_runs_that_go_on(built: tuple[Project, Any, Any]) -> None:
    """It has replaced the quarantine of the table that stayed."""
    project, _, _ = built
    text = model(FIRST, values("id, v", "7, -7"), **expects(POSITIVE, **KEYED))
    project.write({"models/refreshed.sql": text})
    for _ in range(2):
        project.dbt("run", "-s", "refreshed")
    project.write({"models/refreshed.sql": text.replace("3, -3", "3, 3")})
    with _broken_off(r"create or replace table \S*`refreshed`"):
        project.dbt("run", "-s", "refreshed", "--full-refresh", check=False)
    assert version(project, "refreshed") == 0
    # Without the row that is good now, and not in the table.
    assert _quarantined(project, "refreshed") == []
    refused = project.dbt("run", "-s", "refreshed", check=False)
    assert (
        "was killed before it wrote the table. Nothing was written"
        in messages(refused)["refreshed"]
    )
    assert version(project, "refreshed") == 0
    before = version(project, "refreshed__quarantine") - 1
    project.sql(f"restore table {{schema}}.refreshed__quarantine to version as of {before}")
    project.dbt("run", "-s", "refreshed")
    assert _quarantined(project, "refreshed") == [(3, -3), (7, -7)]


@pytest.mark.long
def test_appends_at_a_time_lose_no_row(built: tuple[Project, Any, Any]) -> None:
    """A run takes the rows of one that lives for those of a killed one; each puts them back."""
    project, _, _ = built
    text = model(
        FIRST, values("id, v", "4, -4"), **expects(POSITIVE, incremental_strategy="append")
    )
    project.write({"models/beside.sql": text})
    project.dbt("run", "-s", "beside")
    with _broken_off(r"insert into \S*`beside`"):
        project.dbt("run", "-s", "beside", check=False)
    living = commits(project, "beside__quarantine")[-1]["userMetadata"]

    def lives(sql: str) -> bool:
        """The run that seemed killed writes its table when the other writes its own."""
        if re.search(r"insert into \S*`beside`", sql):
            _tagged(project, living, "insert into {schema}.beside values (40, 40)")
        return False

    project.write({"models/beside.sql": text.replace("4, -4", "5, -5")})
    with broken_off(lives):
        project.dbt("run", "-s", "beside")
    assert _quarantined(project, "beside") == [(3, -3), (4, -4), (5, -5)]

    def takes(sql: str) -> bool:
        """Another run takes this one for killed."""
        if re.search(r"insert into \S*`beside`", sql):
            own = commits(project, "beside__quarantine")[-1]["userMetadata"]
            run = json.loads(own)["dbt_invocation_id"]
            tag = json.loads(living)
            tag["dbt_expectations"]["took"] = run
            _tagged(
                project, json.dumps(tag),
                f"delete from {{schema}}.beside__quarantine where _invocation_id = '{run}'",
            )  # fmt: skip
        return False

    project.write({"models/beside.sql": text.replace("4, -4", "6, -6")})
    with broken_off(takes):
        project.dbt("run", "-s", "beside")
    assert _quarantined(project, "beside") == [(3, -3), (4, -4), (5, -5), (6, -6)]
    _loosen(project, beside=text)

    def twice(sql: str) -> bool:
        if re.search(r"insert into \S*`beside`", sql):
            session().sql(sql)
        return False

    with broken_off(twice):
        operations(project, ("release_quarantine", {"model": "beside"}))
    ids = [row.id for row in project.sql("select id from {schema}.beside where v < 0")]
    assert sorted(ids) == [3, 4, 5, 6]
    assert _quarantined(project, "beside") == []


def _tagged(project: Project, tag: str, sql: str) -> None:
    name = "spark.databricks.delta.commitInfo.userMetadata"
    session().conf.set(name, tag)
    try:
        project.sql(sql)
    finally:
        session().conf.unset(name)


@pytest.mark.long
def test_a_killed_release_is_finished_after_a_run(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    _loosen(project, "killed")
    release = ("release_quarantine", {"model": "killed"})
    with _broken_off(r"delete from \S*__quarantine"):
        assert not operations(project, release, check=False).success
    text = (project.path / "models/killed.sql").read_text()
    project.write({"models/killed.sql": text.replace("(6, -6)", "(7, null)")})
    project.dbt("run", "-s", "killed")
    operations(project, release)
    assert tables(project, ["killed"])["killed"] == [(1, 1), (2, 2), (3, -3), (6, -6)]
    assert _quarantined(project, "killed") == [(7, None)]
    # One that was undone has written nothing.
    with _broken_off(r"delete from \S*__quarantine"):
        project.write({"models/killed.sql": text.replace("v is not null", "id > 0")})
        assert not operations(project, release, check=False).success
    project.sql(f"restore {{schema}}.killed to version as of {version(project, 'killed') - 1}")
    again = operations(project, release)
    assert "finished" not in again.printed
    rows = [(1, 1), (2, 2), (3, -3), (6, -6), (7, None)]
    assert tables(project, ["killed"])["killed"] == rows


def test_an_older_row_is_not_released(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    text = MODELS["newest"].replace("v > 0", "v > -9 + rand()")
    project.write({"models/newest.sql": text})
    failed = operations(project, ("release_quarantine", {"model": "newest"}), check=False)
    assert "Spark refuses it: " in failed.output
    _loosen(project, "newest")
    failed = operations(project, ("release_quarantine", {"model": "newest"}), check=False)
    assert "rows that are older, by duplicate_keys_order_by, than those of the" in failed.output
    assert tables(project, ["newest"])["newest"] == [(1, 3, 3)]
    assert _quarantined(project, "newest") == [(1, -1)]
    project.sql("update {schema}.newest__quarantine set at = 4")
    operations(project, ("release_quarantine", {"model": "newest"}))
    assert tables(project, ["newest"])["newest"] == [(1, -1, 4)]


def test_a_release_is_of_one_moment(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    bad = "timestamp'2024-01-01', array('past'), 'x', timestamp'2024-01-01'"
    project.sql(f"insert into {{schema}}.dated__quarantine values (3, {bad})")

    def late(sql: str) -> bool:
        """A row that is good as soon as the others have been written."""
        if "as passing from" in sql:
            soon = "current_timestamp() + interval 3 seconds"
            project.sql(f"update {{schema}}.dated__quarantine set at = {soon} where id = 2")
        elif "delete from" in sql:
            time.sleep(3)
        return False

    with broken_off(late):
        operations(project, ("release_quarantine", {"model": "dated"}))
    assert [row["id"] for row in project.rows("dated")] == [1, 1, 3]
    assert _quarantined(project, "dated", "id") == [(2,)]


# The second row is bad. Rows of which some are bad are stored; others are read again by the write.
RACED = {"raced_stored": "id > 0", "raced_append": "id = 1", "raced_merge": "id = 1"}
# The rows that it put into its quarantine come again.
OWN = "raced_own"


@pytest.mark.long
@pytest.mark.session
def test_a_source_that_changes_meanwhile(built: tuple[Project, Any, Any]) -> None:
    project, _, _ = built
    append = expects(POSITIVE, "fail b: v > -9")
    configs = {"raced_merge": {**append, **KEYED, "stage": "view"}}
    files = {
        f"models/{name}.sql": model(
            f"select id, v, note from {project.schema}.raced where {where}",
            **configs.get(name, {**append, "incremental_strategy": "append"}),
        )
        for name, where in RACED.items()
    }
    project.write({**files, f"models/{OWN}.sql": model(FIRST, **expects(POSITIVE, **KEYED))})
    source = values("id, v, note", "1, 1, 'a'", "2, -2, 'b'")
    project.sql(f"create table {{schema}}.raced using delta as {source}")
    project.dbt("run", "-s", *RACED, OWN)
    before = {name: version(project, name) for name in RACED}

    def changes(sql: str) -> bool:
        """Right before the write: the good row and the bad one exchange their keys."""
        if re.search(r"(insert|merge) into \S*`raced_[a-z]+`", sql):
            project.sql("update {schema}.raced set id = 3 - id")
        return False

    for name in RACED:
        project.sql("insert overwrite {schema}.raced values (1, 1, 'c'), (2, -2, 'c')")
        with broken_off(changes):
            ran = project.dbt("run", "-s", name, check=False)
        if name != "raced_stored":
            assert "changed during the write" in messages(ran)[name]
            assert version(project, name) == before[name]
    project.sql("delete from {schema}.raced")
    project.sql("insert into {schema}.raced values (1, -1, 'd'), (2, 2, 'd'), (3, -3, 'd')")
    project.sql(f"create view {{schema}}.own as select id, v from {{schema}}.{OWN}__quarantine")
    own = model(
        f"select id, v from {project.schema}.own", **expects("quarantine a: v > -9", **KEYED)
    )
    project.write({f"models/{OWN}.sql": own})
    project.dbt("run", "-s", *RACED, OWN)
    assert tables(project, [*RACED, OWN]) == {
        "raced_stored": [(1, 1, "a"), (1, 1, "c"), (2, 2, "d")],
        "raced_append": [(1, 1, "a")],
        "raced_merge": [(1, 1, "a")],
        OWN: [(1, 1), (2, 2), (3, -3)],
    }
    assert _quarantined(project, OWN) == []
    assert _quarantined(project, "raced_stored") == [(1, -1), (2, -2), (2, -2), (3, -3)]
    for name in ("raced_append", "raced_merge"):
        assert _quarantined(project, name) == [(1, -1)]


@pytest.mark.session  # only there Spark's plan says so
def test_what_is_stored_first(built: tuple[Project, Any, Any]) -> None:
    """Rows that could change, and those of a batch with bad rows.

    `by_chance` reads a view with rand(), `of_files` no Delta table; their rows are good.
    """
    _, first, _ = built
    made = set(re.findall(r"create table \S*`(\w+)__dbt_tmp", "\n".join(first.statements)))
    # Six are refused unread; `newest` has good rows, `plain` no expectation.
    unread = {"aggregate", "windowed", "unknown", "number", *CONTRADICTING, "newest", "plain"}
    assert made & set(MODELS) == set(MODELS) - unread


def test_a_row_from_before_a_run_without_expectations_is_not_released(
    built: tuple[Project, Any, Any],
) -> None:
    project, _, _ = built
    project.write({"models/widened.sql": model(FIRST, values("id, v", "3, 30"), **KEYED)})
    project.dbt("run", "-s", "widened")
    then = values("id, v", "4, -4")
    text = model(FIRST, then, **expects(POSITIVE, **KEYED))
    project.write({"models/widened.sql": text})
    project.dbt("run", "-s", "widened")
    assert _quarantined(project, "widened") == [(3, -3), (4, -4), (5, -5)]
    project.write({"models/widened.sql": text.replace("v > 0", "v is not null")})
    release = ("release_quarantine", {"model": "widened"})
    failed = operations(project, release, check=False)
    assert "2 rows are older than version" in failed.output, failed.output
    (where,) = re.findall(r"Add to where: (.*?), or delete", " ".join(failed.output.split()))
    operations(project, ("release_quarantine", {"model": "widened", "where": where}))
    rows = project.sql(f"select id, v from {project.relation('widened')}")
    assert sorted(map(tuple, rows)) == [(1, 1), (2, 2), (3, 30), (4, -4)]
    assert _quarantined(project, "widened") == [(3, -3), (5, -5)]
