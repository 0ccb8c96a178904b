"""undo_run: everything that a run wrote is what it was, or nothing changes.

DBT_DELTA_EXAMPLES=40   before how many writes an undo is broken off (default 1, with --long 4)
DBT_DELTA_SEED          before which ones; see drawing.py
"""

import json
import random
import re
import shutil
import threading
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.drawing import SEED, examples
from tests.functional.harness import Invocation, Project, is_session
from tests.functional.operations import operations
from tests.functional.snapshots.test_snapshots_strategies import snapshot

FAILURES = examples(1, 4)
KEPT = (
    "delta.deletedFileRetentionDuration",
    "delta.logRetentionDuration",
    "delta.enableChangeDataFeed",
    "delta.enableInCommitTimestamps",
)


def _model(config: str, select: str = "select * from {{ ref('src') }}") -> str:
    return f"{{{{ config({config}) }}}} {select}"


# What is read in between changes nothing: as many states are possible as there are writes.
WRITE = re.compile(r"\s*(/\*.*?\*/\s*)?(?!select|describe|show|set|reset|begin)\w", re.DOTALL)
INCREMENTAL = "materialized='incremental', "
MODELS = {
    # Step 1: ids 0, 1. Step 2: ids 1 (another value), 2.
    "models/src.sql": (
        "{% if var('step') == 1 %}"
        "select * from values (0, 'a', 1), (1, 'b', 1) as t(id, name, part)"
        "{% else %}"
        "select * from values (1, 'B', 1), (2, 'c', 2) as t(id, name, part)"
        "{% endif %}"
    ),
    "models/rebuilt.sql": _model("materialized='table', partition_by='part'"),
    "models/merged.sql": _model(
        INCREMENTAL + "unique_key='id', tblproperties={'delta.enableChangeDataFeed': 'true'}"
    ),
    "models/appended.sql": _model(INCREMENTAL + "incremental_strategy='append'"),
    "models/overwritten.sql": _model(
        INCREMENTAL + "incremental_strategy='insert_overwrite', partition_by='part'"
    ),
    "models/deleted.sql": _model(
        INCREMENTAL + "incremental_strategy='delete+insert', unique_key='part'"
    ),
    "models/replaced.sql": _model(
        INCREMENTAL + "incremental_strategy='replace_where', incremental_predicates='id >= 1'",
        "select * from {{ ref('src') }} where id >= 1",
    ),
    "models/wider.sql": _model(
        INCREMENTAL + "unique_key='id', on_schema_change='append_new_columns'",
        "select *{% if var('step') == 2 %}, 1.5 as extra{% endif %} from {{ ref('src') }}",
    ),
    "models/hooked.sql": _model(
        "materialized='table', post_hook='update {{ this }} set name = upper(name)'"
    ),
    "models/documented.sql": _model(
        "materialized='table', persist_docs={'relation': true},"
        " tblproperties={'of_step': var('step'),"
        " 'delta.deletedFileRetentionDuration': 'interval ' ~ (9 + var('step')) ~ ' days'}"
    ),
    "models/shown.sql": _model("materialized='view'"),
    "models/fresh.sql": _model("materialized='table', enabled=(var('step') == 2)"),
    "models/fresh_too.sql": _model(INCREMENTAL + "unique_key='id', enabled=(var('step') == 2)"),
    "models/gone.sql": _model("materialized='table', enabled=(var('step') == 1)"),
    "models/coded.py": (
        "def model(dbt, session):\n    dbt.config(materialized='table')\n"
        "    return dbt.ref('src')\n"
    ),
    "models/s.yml": "models: [{name: documented, description: \"step {{ var('step') }}\"}]",
} | snapshot(
    "strategy='check', unique_key='id', check_cols=['name'], hard_deletes='ignore',"
    " updated_at=\"timestampadd(day, {}, timestamp'2024-01-01')\".format(var('step'))",
    "select * from {{ ref('src') }}",
)


def _build(project: Project, step: int, *arguments: str) -> str:
    """The run's id."""
    project.write({"seeds/seeded.csv": f"id,name\n1,step {step}\n"})
    run = project.dbt("build", *arguments, vars={"step": step}, threads=4)
    return str(next(e.info.invocation_id for e in run.events))


def _undo(project: Project, arguments: str, step: int = 2, check: bool = True) -> Invocation:
    return project.dbt(
        "run-operation", "undo_run", "--args", arguments, vars={"step": step}, check=check
    )


def _names(project: Project) -> list[str]:
    return [name for name in tables.names(project) if name not in ("src", "shown")]


def _state(project: Project) -> dict[str, Any]:
    """Rows, columns and what was promised of every table."""
    names = _names(project)
    rows = tables.json_rows(project, names)
    found: dict[str, Any] = {}
    for name in names:
        about = tables.metadata(project, name)
        found[name] = {
            "rows": sorted(rows.get(name, [])),
            "properties": {
                key: value
                for key, value in about["configuration"].items()
                if key not in KEPT and not key.startswith("delta.inCommit")
            },
            **{key: about.get(key) for key in ("schemaString", "partitionColumns", "description")},
        }
    return found


def _versions(project: Project) -> dict[str, int]:
    return tables.versions(project, _names(project))


def _retention(project: Project) -> str:
    """What an undo keeps of documented, whose steps ask for 10 and 11 days."""
    configuration = tables.metadata(project, "documented")["configuration"]
    return str(configuration["delta.deletedFileRetentionDuration"])


@pytest.fixture
def broken_at(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Set ``step``: the operation fails instead of its write of that number; ``writes`` counts."""
    from dbt.adapters.spark.connections import SparkConnectionManager
    from dbt_common.exceptions import DbtDatabaseError

    state = {"step": 0, "writes": 0}
    stock = SparkConnectionManager.execute
    # Tables are written by several threads.
    guard = threading.Lock()

    def execute(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if self.get_thread_connection().name == "macro_undo_run" and WRITE.match(sql):
            with guard:
                state["writes"] += 1
                is_broken = state["writes"] == state["step"]
            if is_broken:
                raise DbtDatabaseError("injected")
        return stock(self, sql, *arguments, **named)

    monkeypatch.setattr(SparkConnectionManager, "execute", execute)
    return state


@pytest.mark.long
def test_a_run_is_undone_whole_wherever_it_is_broken_off(
    project: Project, broken_at: dict[str, int]
) -> None:
    project.write({n: m for n, m in MODELS.items() if is_session() or not n.endswith(".py")})
    _build(project, 1)
    before = _state(project)
    assert len(before) >= 12 + is_session()
    _build(project, 2)
    after = _state(project)
    changed = sum(before.get(name) != state for name, state in after.items())
    assert changed >= 12 + is_session()

    # Every table is written at least once, and the first time the retention of one is set again.
    writes = changed + 1
    steps = random.Random(SEED).sample(range(1, writes + 1), min(FAILURES, writes))
    for number, step in enumerate(sorted(steps)):
        if number:
            # The next build does the same work again.
            _build(project, 2)
            assert _state(project) == after
        print(f"write {step} fails, by seed {SEED}", flush=True)
        files = tables.data_files(project)
        broken_at.update(step=step, writes=0)
        broken = _undo(project, "{run: last}", check=False)
        assert not broken.success or changed <= broken_at["writes"] < step
        # Whose write failed, and nothing else, is left to the next call; drops wait for all others.
        assert broken.success or re.search(r"\w+\.\w+: injected", broken.output), broken.output
        broken_at["step"] = 0
        again = broken if broken.success else _undo(project, "{run: last}")
        print(f"{broken_at['writes']} writes", flush=True)
        assert broken_at["writes"] >= changed
        assert "column - extra" in broken.output + again.output
        assert _state(project) == before, (step, again.output)
        assert tables.data_files(project) <= files
        assert _retention(project) == "interval 11 days", step


def test_an_undo_is_undone(project: Project) -> None:
    project.write({name: MODELS[name] for name in ("models/src.sql", "models/merged.sql")})
    _build(project, 1)
    before = _state(project)
    _build(project, 2)
    after = _state(project)
    assert before != after
    for wanted in (before, after, before):
        _undo(project, "{run: last}")
        assert _state(project) == wanted


def _ids(project: Project, name: str = "merged") -> list[int]:
    return [row["id"] for row in project.rows(name)]


@pytest.mark.long
def test_later_work_stops_it_and_cascade_undoes_later_runs(project: Project) -> None:
    names = ("models/src.sql", "models/merged.sql", "models/rebuilt.sql")
    project.write({name: MODELS[name] for name in names})
    _build(project, 1)
    second = _build(project, 2)
    project.dbt("run", "-s", "src", "merged", "--full-refresh", vars={"step": 1})
    versions = _versions(project)
    refused = _undo(project, f"{{run: '{second}'}}", check=False)
    assert not refused.success
    assert "CREATE OR REPLACE TABLE AS SELECT by run" in refused.output
    assert "Set cascade: true to undo later runs, too." in refused.output
    assert _versions(project) == versions
    planned = _undo(project, f"{{run: '{second}', cascade: true, dry_run: true}}")
    assert "Dry run: nothing was changed." in planned.output
    assert _versions(project) == versions
    _undo(project, f"{{run: '{second}', cascade: true}}")
    assert (_ids(project), _ids(project, "rebuilt")) == ([0, 1], [0, 1])
    again = _undo(project, f"{{run: '{second}', cascade: true}}")
    assert "is already undone" in again.output

    third = _build(project, 2)
    project.sql("insert into {schema}.merged values (9, 'z', 9)")
    versions = _versions(project)
    refused = _undo(project, f"{{run: '{third}', cascade: true}}", check=False)
    assert "WRITE by a writer other than dbt" in refused.output
    assert "merged: version" in refused.output
    assert _versions(project) == versions


@pytest.mark.long
def test_what_cannot_come_back_stops_it_and_upkeep_and_comments_do_not(project: Project) -> None:
    short = "'delta.deletedFileRetentionDuration': 'interval 1 second'"
    names = ("src", "rebuilt", "merged", "appended")
    project.write(
        {f"models/{name}.sql": MODELS[f"models/{name}.sql"] for name in names}
        | {
            "models/shown.sql": _model("materialized=('view' if var('step') == 1 else 'table')"),
            "models/short.sql": _model(f"materialized='table', tblproperties={{{short}}}"),
        }
    )
    _build(project, 1)
    _build(project, 2)
    project.sql("drop table {schema}.merged")
    project.sql("create table {schema}.merged using delta as select 1 as id")
    project.sql("insert into {schema}.seeded values (9, 'z')")
    project.sql("optimize {schema}.appended")
    project.sql("vacuum {schema}.appended lite")
    project.sql("comment on table {schema}.appended is 'seen'")
    project.sql("alter table {schema}.appended alter column id comment 'key'")
    # Delta looks at the age of what a commit replaced.
    project.sql("select java_method('java.lang.Thread', 'sleep', 2000L)")
    project.sql("optimize {schema}.short")
    versions = _versions(project)
    refused = _undo(project, "{run: last}", check=False)
    assert not refused.success
    for said in (
        "Nothing was changed.",
        "shown replaced a view in that run, which cannot be restored. Leave it out with exclude",
        "merged was created",
        "after the run, by a writer other than dbt",
        "seeded: version",
        "WRITE by a writer other than dbt",
        "is out of reach: it was replaced",
        "delta.deletedFileRetentionDuration is interval 1 second",
    ):
        assert said in refused.output, said
    assert f"{project.schema}.appended" not in refused.output
    assert _versions(project) == versions
    _undo(project, "{run: last, exclude: [shown, merged, seeded, short]}")
    assert (_ids(project, "rebuilt"), _ids(project, "appended")) == ([0, 1], [0, 1])
    tag = json.loads(tables.commits(project, "rebuilt")[-1]["userMetadata"])
    assert tag["dbt_undo_of"]


SETTING = "spark.databricks.delta.commitInfo.userMetadata"
FOREIGN = ('{"dbt_invocation_id": 7}', "{no json")


def _every_table(project: Project) -> dict[str, Any]:
    """Rows and columns of all tables of both schemas, whoever made them; none of the unreadable."""
    found: dict[str, Any] = {}
    for schema in (project.schema, f"{project.schema}_other"):
        for row in project.sql(f"show tables in {schema}"):
            name = f"{schema}.{row.tableName}"
            if row.tableName not in ("src", "logless"):
                rows = project.sql(f"select * from {name}")
                columns = project.sql(f"describe table {name}")
                found[name] = (sorted(tuple(row) for row in rows), columns)
    return found


@pytest.mark.long
def test_what_is_no_model_any_more_is_undone_or_named(project: Project) -> None:
    """Deleted models, models that are views by now, other schemas; the unreadable is told."""
    table = _model("materialized='table'")
    project.write(
        {f"models/{name}.sql": table for name in ("gone", "viewed", "logless")}
        | {
            "models/src.sql": MODELS["models/src.sql"],
            "models/stays.sql": _model("materialized='view', schema='other'", "select 1 as id"),
            "models/goes.sql": _model("materialized='table', schema='other'"),
        }
    )
    project.dbt("run", vars={"step": 1}, threads=4)
    project.sql("create table {schema}.by_hand using delta as select 1 as id")
    for text in FOREIGN:
        project.sql(f"set `{SETTING}`=`{text}`")
        project.sql("insert into {schema}.by_hand values (2)")
    project.sql(f"reset `{SETTING}`")
    before = _every_table(project)
    project.write({"models/fresh.sql": table})
    project.dbt("run", vars={"step": 2}, threads=4)
    after = _every_table(project)
    changed = {name.partition(".")[2] for name in after if after[name] != before.get(name)}
    assert changed == {"gone", "viewed", "goes", "fresh"}
    project.sql("create table {schema}_other.reader shallow clone {schema}.fresh")
    versions = tables.versions(project, ("gone", "viewed", "fresh"))
    # Of a table that is shown to be there nothing but its name is left.
    shutil.rmtree(project.warehouse / "logless")
    project.write({f"models/{name}.sql": None for name in ("gone", "goes", "logless", "fresh")})
    project.write({"models/viewed.sql": _model("materialized='view'")})
    as_json = {"run": "last", "output": "json"}
    shown = operations(project, ("history", as_json), vars={"step": 2})
    lines = json.loads(shown.printed.splitlines()[-1])
    assert {line["table"].partition(".")[2] for line in lines} == changed
    refused = _undo(project, "{run: last}", check=False)
    assert not refused.success
    said = f"its shallow clone {project.schema}_other.reader reads its files: a drop would break"
    assert f"{project.schema}.fresh was created in that run, and {said}" in refused.output
    assert tables.versions(project, versions) == versions
    project.sql("drop table {schema}_other.reader")
    undone = _undo(project, "{run: last}")
    assert f"{project.schema}.logless has lost its log" in undone.output
    assert f"Undone: {len(changed)} tables." in undone.output
    assert _every_table(project) == before
    # A log that cannot be read is named, and the undo of this undo goes on without it.
    log = project.warehouse / "by_hand" / "_delta_log" / f"{1:020d}.json"
    whole = log.read_bytes()
    log.write_text('{"commitInfo":{"timestamp":1')
    (log.parent / f".{log.name}.crc").unlink(missing_ok=True)
    redone = _undo(project, "{run: last}", check=False)
    # Other tests of the process read all schemas.
    log.write_bytes(whole)
    assert not redone.success
    said = f"{project.schema}.by_hand: its log cannot be read (version 1 is not valid JSON), so"
    assert redone.output.count(said) == 1
    assert f"undo_run did not look at {project.schema}.by_hand." in redone.output
    assert "Undone: 3 tables." in redone.output
