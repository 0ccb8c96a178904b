"""What a snapshot refuses, what it promises of its table, and histories of other makers."""

import re
from collections.abc import Callable

import pytest

from tests.functional import harness, tables
from tests.functional.harness import Invocation, Project
from tests.functional.operations import Call, operations
from tests.functional.relations.test_relations_promises import described, properties
from tests.functional.snapshots.test_snapshots_strategies import (
    CHECKED,
    SPAN,
    TIMED,
    Story,
    Told,
    day,
    history,
    snapshot,
    values,
)

FEED = "strategy='cdc', unique_key='id'"
ONE = f"1, 'a', {day(1)}"


def _story(config: str, *runs: tuple[str, ...]) -> Story:
    columns = "id, name, at, note" if runs[0][0].count(", ") == 3 else "id, name, at"
    return Story(config, [values(*rows, columns=columns) for rows in runs])


# --- keys that come twice ----------------------------------------------------------------------

_GOOD = (ONE, f"2, 'b', {day(1)}")
# One of the two rows is no change.
_TWICE = (*_GOOD, f"2, 'c', {day(2)}")
TWICE = {
    "twice_timed": _story(TIMED, _TWICE, _GOOD, _TWICE),
    "twice_checked": _story(CHECKED, _TWICE, _GOOD, _TWICE),
}
# So that its rows are counted as they are read.
TWICE |= {
    f"{name}_dear": Story(
        story.config, [text.replace("select *", "select distinct *") for text in story.sources]
    )
    for name, story in TWICE.items()
}

# --- what the first run refuses ----------------------------------------------------------------

BAD: list[tuple[str, tuple[str, ...], str]] = [
    (f"{TIMED}, null_keys='error'", (f"cast(null as int), 'a', {day(1)}",), "null keys: 1"),
    (TIMED, ("1, 'a', cast(null as timestamp)",), 'keys without at: 1, the first {"id":1}'),
    (f"{CHECKED[:-5]}['nam']", (ONE,), "check_cols names 'nam', which"),
    (f"{TIMED}, scd2_late='later'", (ONE,), "scd2_late is 'later'. Use one"),
    (f"{CHECKED}, scd2_late='insert'", (ONE,), "needs strategy timestamp"),
    (f"{TIMED}, cdc_scd_type=1", (ONE,), "cdc_scd_type needs strategy cdc"),
    (
        f"{FEED}, cdc_sequence_by='at', cdc_delete_when='name is null', cdc_scd_type=1",
        (ONE,),
        "one row per key and cannot store the deletions",
    ),
    (FEED, (ONE,), "strategy cdc needs cdc_sequence_by"),
    (f"{FEED}, cdc_sequence_by='no'", (ONE,), "cdc_sequence_by names 'no'"),
    (f"{FEED}, cdc_sequence_by='name'", (ONE,), "name is of type string"),
    (
        f"{FEED}, cdc_sequence_by='at'",
        (ONE, f"1, 'b', {day(1)}"),
        "different changes at one sequence: 1",
    ),
    (
        # Side by side, or the order in which they are hashed would tell them apart.
        f"{FEED}, cdc_sequence_by='name'",
        (f"1, {day(1)}, null, 'x'", f"1, {day(1)}, 'x', null"),
        "different changes at one sequence: 1",
    ),
    *(
        (f"{FEED}, cdc_sequence_by='at'", rows, "different changes at one sequence: 1")
        # Of which a hash says the same, as it leaves out what is NULL.
        for rows in (
            (f"1, array('a',null), {day(1)}", f"1, array('a'), {day(1)}"),
            tuple(
                f"1, struct({fields}), {day(1)}"
                for fields in ("'x',string(null)", "string(null),'x'")
            ),
        )
    ),
    (
        "strategy='timestamp', unique_key='id', updated_at='name', hard_deletes='invalidate'",
        (ONE,),
        "name is of type string",
    ),
]

# --- what stands in its place ------------------------------------------------------------------


def _ats(*texts: str) -> list[str]:
    """Sources of one row that differ in one value."""
    return [values(f"1, 'a', {text}") for text in texts]


_PLACE: dict[str, tuple[str, list[str]]] = {
    "is_view": ("is a view, not a Delta table", []),
    "is_foreign": ("Snapshot target is missing configured columns", []),
    "is_retyped": (
        "Column name is int in the source and string in",
        [values(ONE), values(f"1, 2, {day(1)}")],
    ),
    "is_rounded": (
        "Column at is decimal(2,1) in the model and int in `{schema}`.`is_rounded`. The value of 1 "
        'rows of the batch would change, for example {"at":1.5}. Nothing was written',
        [values("1, 'a', 1"), values("1, 'b', 1.5")],
    ),
    # Where the value that would be stored is the one that is there.
    "is_rounded_back": ("decimal(2,1) in the model and int in", _ats("1", "1.4")),
    "is_too_great": ("bigint in the model and int in", _ats("cast(null as int)", "3000000000")),
    "is_cut": (
        "timestamp in the model and date in",
        _ats(f"date({day(1)})", f"{day(1)} + interval 1 hour"),
    ),
    "is_rounded_within": (
        'would change, for example {"at":{"x":1.5}}',
        _ats("named_struct('x', 1)", "named_struct('x', 1.5)"),
    ),
    "is_other_key": (
        "decimal(3,2) in the model and decimal(2,1) in",
        [values("1.1, 'a', 1"), values("1.14, 'a', 1")],
    ),
    "is_other_key_only": (
        "decimal(3,2) in the model and decimal(2,1) in",
        [values("1.1, 'a', 1"), values("1.14, 'a', 1")],
    ),
    "is_reserved": (
        "The source has a column 'dbt_valid_to', which the snapshot adds itself",
        [values(ONE), values(ONE, columns="id, name, dbt_valid_to")],
    ),
    "is_open_twice": (
        "has more than one open row of keys: 1",
        [values(ONE), values(f"1, 'b', {day(1)}")],
    ),
}
# --- another dbt_valid_to_current ---------------------------------------------------------------

UNTIL = "dbt_valid_to_current=\"timestamp'9999-12-31'\""
# From the second run on.
OTHER_UNTIL = {"removed": "", "moved": UNTIL.replace("9999", "2999")}
OPEN = {
    f"{name}_{now}": _story(f"{config}, {UNTIL}", (ONE,), *rows)
    for now in OTHER_UNTIL
    for name, config, rows in (
        ("checked", f"{CHECKED}, hard_deletes='invalidate'", [(ONE,), ()]),
        ("fed", f"{FEED}, cdc_sequence_by='at'", [(f"1, 'b', {day(2)}",)]),
    )
}
PLACE = {
    name: Story(
        # What is compared there is not the key, which is the other one's as the table stores it.
        "strategy='check', unique_key='id', check_cols=['name']" if name == "is_other_key_only"
        else CHECKED,
        sources or [values(ONE)],
    )
    for name, (_, sources) in _PLACE.items()
}  # fmt: skip

# --- another run at the same time --------------------------------------------------------------

# The other one comes after the source was judged, and before the MERGE.
BETWEEN = """
    {% macro spark__snapshot_hash_arguments(args) %}
        {%- set meanwhile = model.config.meta.get('meanwhile') -%}
        {%- if execute and meanwhile and load_relation(this) is not none -%}
            {%- do run_query(meanwhile.replace('THIS', this | string)) -%}
        {%- endif -%}
        {{ return(dbt.spark__snapshot_hash_arguments(args)) }}
    {% endmacro %}
"""
_THERE = ("1, 'a', 1", "2, 'a', 1")
_CHANGED = ("1, 'b', 1", "2, 'a', 1")
MEANWHILE = {
    name: _story(f'{CHECKED}, meta={{"meanwhile": "{other}"}}', _THERE, rows)
    for name, other, rows in (
        ("ended", "update THIS set dbt_valid_to = now() where id = 1", _CHANGED),
        ("changed", "update THIS set dbt_scd_id = 'x' where id = 1", _CHANGED),
        (
            "added",
            "insert into THIS select 3, 'z', 1, 'y', now(), now(), null",
            (*_THERE, "3, 'a', 1"),
        ),
    )
}

# --- another change in the place of one that the table has --------------------------------------

_DELETED = f"{FEED}, cdc_sequence_by='at', cdc_delete_when=\"name = 'D'\""
OTHER = {
    name: _story(config, (ONE,), (f"2, 'b', {day(2)}", other))
    for name, config, other in (
        ("other_value", f"{FEED}, cdc_sequence_by='at'", f"1, 'b', {day(1)}"),
        ("other_latest", f"{FEED}, cdc_sequence_by='at', cdc_scd_type=1", f"1, 'b', {day(1)}"),
        ("other_deletion", _DELETED, f"1, 'D', {day(1)}"),
        ("other_kept", f"{_DELETED}, hard_deletes='new_record'", f"1, 'D', {day(1)}"),
        ("other_time", f"{FEED}, cdc_sequence_by='name', cdc_valid_from='at'", f"1, 'a', {day(2)}"),
    )
}
# It was there before a column was.
OTHER["same_with_more"] = Story(
    f"{FEED}, cdc_sequence_by='at'",
    [
        values(ONE),
        *[values(f"{ONE}, 'x'", f"1, 'b', {day(2)}, 'y'", columns="id, name, at, more")] * 2,
    ],
)

# --- promises ----------------------------------------------------------------------------------

# Whose promises stay, and whose change with the second run.
PROMISED = {
    "steady": _story(CHECKED, (f"1, 'a', {day(1)}",)),
    "promised": _story(
        CHECKED,
        (f"1, 'a', {day(1)}",),
        (f"1, 'a', {day(1)}",),
        (f"cast(null as int), 'b', {day(1)}",),
    ),
    "contracted": _story(CHECKED, (f"1, 'a', {day(1)}",), (f"1, 1, {day(1)}",)),
}
for story in PROMISED.values():
    story.sources = [text.replace("select *", "select id, name") for text in story.sources]


def _promises(**texts: str) -> str:
    entries = [
        f"""
          - name: {name}
            description: "{text}"
            config:
              contract: {{enforced: true}}
              persist_docs: {{relation: true, columns: true}}
              tblproperties: {{mine: "{text}"}}
              liquid_clustered_by: id
            columns:
              - {{name: id, data_type: int, constraints: [{{type: not_null}}]}}
              - {{name: name, data_type: string, description: "{text} name"}}
              - {{name: dbt_valid_to, data_type: timestamp, description: end}}"""
        for name, text in texts.items()
    ]
    return "snapshots:" + "".join(entries)


# Of a text that the table would hold as NULL.
PARTED = {
    name: _story(f"{config}, partition_by='name'", (ONE,), (f"1, '', {day(2)}",))
    for name, config in (
        ("parted_checked", CHECKED),
        ("parted_fed", f"{FEED}, cdc_sequence_by='at'"),
    )
}
# Of dbt-databricks, and of dbt-spark, whose rows overlap where a key came back with an older time.
OTHERS = {
    "overlapping": _story(
        f"{TIMED}, scd2_late='insert'",
        *((f"1, '{n}', {day(at)}",) for n, at in (("b", 3), ("l", 2), ("c", 5))),
    ),
    "databricks": _story(
        f"{TIMED}, hard_deletes='new_record'",
        *((f"{id}, '{name}', {day(1)}",) for id, name in ((1, "a"), (2, "b"), (1, "a"))),
    ),
}


@pytest.fixture(scope="module")
def told(new_shared_project: Callable[[str], Project]) -> Told:
    project = new_shared_project("promises")
    project.write({"macros/between.sql": BETWEEN})
    project.sql("create schema {schema}")
    stories = {f"bad_{n}": _story(config, rows) for n, (config, rows, _) in enumerate(BAD)}

    def between(step: int) -> None:
        texts = {"steady": "first", "promised": "first" if step == 0 else "second"}
        project.write({"snapshots/s.yml": _promises(**texts, contracted="")})
        if step == 0:
            project.sql("create view {schema}.is_view as select 1 as id")
            project.sql("create table {schema}.is_foreign using delta as select 1 as id")
        if step == 1:
            for name, story in OPEN.items():
                story.config = story.config.replace(UNTIL, OTHER_UNTIL[name.partition("_")[2]])
            project.sql("insert into {schema}.is_open_twice select * from {schema}.is_open_twice")
            project.sql(
                "insert into {schema}.overlapping "
                f"select 1, 'a', {day(1)}, 'x', {day(1)}, {day(1)}, {day(20)}"
            )
            # Its dbt_is_deleted is a boolean.
            project.sql(
                "create or replace table {schema}.databricks using delta as "
                "select * except (dbt_is_deleted), false as dbt_is_deleted from {schema}.databricks"
            )

    stories |= {**TWICE, **PLACE, **OPEN, **MEANWHILE, **PROMISED, **PARTED, **OTHERS, **OTHER}
    return Told(project, stories, between)


def _refused(told: Told, name: str, run: int = -1) -> str:
    """The one line by which a run failed, leaving the table as it was."""
    found = told.stories[name].runs[run]
    assert found.status == "error", found
    assert found.after == found.before, found
    return [line.strip() for line in found.message.splitlines()][1]


def test_nothing_is_left_beside(told: Told) -> None:
    refused = [f"bad_{n}" for n in range(len(BAD))]
    found = set(tables.names(told.project))
    staged = {name for name in found if "__dbt_" in name}
    assert found - staged == set(told.stories) - set(refused)
    # Only a MERGE that fails leaves what was staged to the next run.
    assert {name.partition("__dbt_")[0] for name in staged} <= {
        *MEANWHILE,
        *PARTED,
        *OTHER,
        "promised",
    }


@pytest.mark.parametrize("name", TWICE)
def test_keys_that_come_twice(told: Told, name: str) -> None:
    """Also where one of the two rows is no change."""
    assert _refused(told, name, 0) == (
        f"The source of snapshot `{told.project.schema}`.`{name}` has duplicate keys: 1, the first "
        '{"id":2}. Nothing was written. Make it give one row per key.'
    )
    first, taken, _ = told.stories[name].runs
    assert (first.after, taken.status, taken.after) == (None, "success", 0)
    assert "duplicate keys: 1" in _refused(told, name, 2)


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_configuration_and_bad_rows(told: Told, number: int) -> None:
    assert BAD[number][2] in _refused(told, f"bad_{number}")


@pytest.mark.parametrize("name", PLACE)
def test_what_stands_in_its_place(told: Told, name: str) -> None:
    said = _PLACE[name][0].replace("{schema}", told.project.schema)
    assert said in _refused(told, name)
    if name == "is_view":
        assert told.project.rows(name) == [{"id": 1}]
    elif name != "is_foreign":
        assert told.stories[name].runs[0].status == "success"


@pytest.mark.parametrize("name", OPEN)
def test_another_dbt_valid_to_current(told: Told, name: str) -> None:
    """Also where all keys are gone, and none is looked for."""
    for run in range(1, len(OPEN[name].runs)):
        said = _refused(told, name, run)
        assert (
            f"1 rows of `{told.project.schema}`.`{name}` end at 9999-12-31 00:00:00 UTC and" in said
        )
        update = re.search(r"open them: (.*?)(\. If|$)", said)
        assert update
    version = OPEN[name].runs[-1].after
    told.project.sql(update[1])
    opened = told.project.rows(name)[0]["dbt_valid_to"]
    assert (opened is None) == name.endswith("removed")
    assert tables.version(told.project, name) == version + 1


def test_another_change_in_one_place(told: Told) -> None:
    """Whether two changes of one place come in one batch or in two, they are refused."""
    for name, story in OTHER.items():
        if name != "same_with_more":
            column = "name" if name == "other_time" else "at"
            said = _refused(told, name)
            assert (
                f"`{name}` has another change than the source where cdc_sequence_by {column}"
                in said
            )
            assert 'has one value, for example of the key {"id":1}. Nothing was written.' in said
            assert story.runs[0].status == "success"
    assert told["same_with_more"].versions[1] == told["same_with_more"].versions[2]
    assert told.history("same_with_more", "id, name, more, dbt_valid_from, dbt_valid_to") == [
        (1, "a", None, 1, 2), (1, "b", "y", 2, None),
    ]  # fmt: skip


@pytest.mark.parametrize("name", PARTED)
def test_a_text_that_a_partition_cannot_hold(told: Told, name: str) -> None:
    assert "Partition column name of the model has an empty text" in _refused(told, name)


@pytest.mark.parametrize("name", MEANWHILE)
def test_another_run_at_the_same_time(told: Told, name: str) -> None:
    first, second = told.stories[name].runs
    assert (first.status, first.after) == ("success", 0)
    assert second.status == "error"
    assert "at the same time. Nothing was written" in second.message
    # The commit of the other one.
    assert (second.before, second.after) == (0, 1)


def test_promises(told: Told) -> None:
    assert told["steady"].versions == [0]
    expected = {"": "first", "name": "first name", "dbt_valid_to": "end"}
    assert {k: v for k, v in described(told.project, "steady").items() if v} == expected
    assert properties(told.project, "steady")["mine"] == "first"
    assert told.project.sql("describe detail {schema}.steady")[0].clusteringColumns == ["id"]
    first, second, null_id = told.stories["promised"].runs
    assert (first.status, first.after, second.status) == ("success", 0, "success")
    assert null_id.status == "error"
    assert "not_null_id" in null_id.message
    # So the second run wrote the new comment.
    assert null_id.after == second.after
    assert described(told.project, "promised")[""] == "second"
    kept, broken = told.stories["contracted"].runs
    assert (kept.status, broken.status) == ("success", "error")
    assert "This model has an enforced contract that failed" in broken.message


def test_a_history_of_dbt_databricks_goes_on(told: Told) -> None:
    assert told.history("databricks", "id, dbt_valid_to, dbt_is_deleted") == [
        (1, "run", False), (1, "run", True), (1, None, False), (2, "run", False), (2, None, True),
    ]  # fmt: skip


def test_late_changes_end_only_what_they_follow(told: Told) -> None:
    assert told.history("overlapping") == [
        (1, "a", 1, 2), (1, "l", 2, 3), (1, "b", 3, 5), (1, "c", 5, None),
    ]  # fmt: skip


# --- histories of dbt-spark --------------------------------------------------------------------


@pytest.fixture(scope="module")
def stock(new_shared_project: Callable[[str], Project]) -> tuple[Project, Invocation]:
    """A project whose snapshots dbt-spark took twice, now with this package; the second run."""
    project = new_shared_project("stock")
    wrappers = "macros/materializations.sql"
    project.configure(dispatch=[])
    project.write({wrappers: None})
    kept = f"{CHECKED}, hard_deletes='new_record'"
    snapshots = {
        "two_keys": "strategy='timestamp', unique_key=['id', 'name'], updated_at='at', "
        "hard_deletes='invalidate'",
        "s": kept,
        "mapped": f"{kept}, tblproperties={{'delta.columnMapping.mode': 'name'}}",
    }
    for rows in ((ONE, f"2, 'b', {day(1)}"), (ONE,)):
        for name, config in snapshots.items():
            project.write(snapshot(config, values(*rows), name))
        run = project.dbt("snapshot", check=False)
    project.configure(
        dispatch=[{"macro_namespace": "dbt", "search_order": ["consumer", "dbt_delta", "dbt"]}]
    )
    project.write({wrappers: harness.materialization_wrappers()})
    project.write(snapshot(snapshots["two_keys"], values(f"1, 'a', {day(4)}"), "two_keys"))
    return project, run


def _repair(name: str, **arguments: bool) -> Call:
    return "repair_snapshot", {"snapshot": name, **arguments}


def test_a_history_of_dbt_spark_goes_on(stock: tuple[Project, Invocation]) -> None:
    """With two keys its second run fails, and leaves helper columns in the table."""
    project, run = stock
    assert "AMBIGUOUS_REFERENCE" in run.result("two_keys").message
    assert "dbt_unique_key_2" in project.rows("two_keys")[0]
    project.dbt("snapshot", "-s", "two_keys")
    assert history(project, SPAN, "two_keys") == [
        (1, "a", 1, 4), (1, "a", 4, None), (2, "b", 1, "run"),
    ]  # fmt: skip
    feature = "'delta.feature.allowColumnDefaults' = 'supported'"
    project.sql(f"alter table {{schema}}.two_keys set tblproperties ({feature})")
    project.sql("alter table {schema}.two_keys alter column name set default 'x'")
    version = tables.version(project, "two_keys")
    refused = operations(project, _repair("two_keys", dry_run=False), check=False).output
    assert "has a default, which a new version of the table would lose" in " ".join(refused.split())
    assert tables.version(project, "two_keys") == version
    # Its own advice.
    project.sql(
        re.search("alter table .*?[)]", refused.replace("\n", " "))[0]  # type: ignore[index]
    )
    operations(project, _repair("two_keys", dry_run=False))
    assert "'x'" in str(tables.metadata(project, "two_keys")["schemaString"])
    rows = project.rows("two_keys")
    assert "dbt_unique_key_2" not in rows[0]
    assert len(rows) == 3


def test_repairs_what_dbt_spark_left(stock: tuple[Project, Invocation]) -> None:
    project, run = stock
    assert {run.result(name).status for name in ("s", "mapped")} == {"success"}
    assert [row["id"] for row in project.rows("s") if row["dbt_is_deleted"] == "True"] == [None]
    for name in ("s", "mapped"):
        project.sql(f"alter table {{schema}}.{name} add columns (dbt_unique_key_1 int)")
    project.sql("comment on table {schema}.s is 'mine'")
    project.sql("alter table {schema}.s alter column name comment 'a name'")
    secrets = {"own": "x", "my.url": "http://x?a=b, c", "api.token": "it's"}
    pairs = ", ".join(f"'{key}' = \"{value}\"" for key, value in secrets.items())
    project.sql(f"alter table {{schema}}.s set tblproperties ({pairs})")
    project.sql("alter table {schema}.s cluster by (name)")
    project.sql("alter table {schema}.s add constraint positive check (id > 0 or id is null)")
    version = tables.version(project, "s")
    # What it would do is said where nothing else is asked for.
    told = operations(project, _repair("s")).output
    assert "1 deletion rows of" in told
    assert "loses the helper columns dbt_unique_key_1." in told
    assert "create or replace table" in told
    assert "http://x?a=b, c" in told
    assert tables.version(project, "s") == version
    rows = project.rows("s")
    told = operations(
        project,
        *(_repair("s", dry_run=False), _repair("mapped", dry_run=False), _repair("s")),
        _repair("x"),
        check=False,
    ).output
    assert tables.version(project, "s") == version + 1
    assert project.sql("describe detail {schema}.s")[0].clusteringColumns == ["name"]
    kept = [{k: v for k, v in row.items() if "unique_key" not in k} for row in rows]
    kept = [
        row | {"id": 2, "name": "b", "at": kept[-1]["at"]} if row["id"] is None else row
        for row in kept
    ]
    assert sorted(map(str, project.rows("s"))) == sorted(map(str, kept))
    comments = described(project, "s")
    assert (comments[""], comments["name"]) == ("mine", "a name")
    kept_properties = tables.metadata(project, "s")["configuration"]
    expected = {**secrets, "delta.constraints.positive": "id > 0 or id is null"}
    assert expected.items() <= kept_properties.items()
    assert tables.operations(project, "mapped")[-2:] == ["MERGE", "DROP COLUMNS"]
    assert len([row for row in project.rows("mapped") if row["id"] == 2]) == 2
    assert "needs no repair" in told
    missing = "there is no snapshot 'x' in the project. Its snapshots are mapped, s, two_keys."
    assert missing in told


# --- the test scd2_valid -----------------------------------------------------------------------


def test_scd2_valid_names_what_is_broken(project: Project) -> None:
    rows = {
        "fine": [("1", 1, 3, "a"), ("1", 3, 5, "b"), ("1", 7, None, "c"), ("2", 1, None, "d")],
        "overlaps": [("1", 1, 4, "a"), ("1", 3, None, "b")],
        "backwards": [("1", 4, 1, "a")],
        "twice_open": [("1", 1, None, "a"), ("1", 3, None, "b")],
        "timeless": [("1", None, 3, "a")],
        "unidentified": [("1", 1, 3, "a"), ("2", 1, 3, "a")],
        "gap": [("1", 1, 3, "a"), ("1", 4, None, "b")],
    }
    problems = {
        "overlaps": "overlaps the next row",
        "backwards": "ends before it begins",
        "twice_open": "is one of several open rows",
        "timeless": "valid_from is null",
        "unidentified": "scd_id is null or not unique",
        "gap": "ends, and no row follows",
    }

    def model(*names: str) -> str:
        columns = "name, id, dbt_valid_from, dbt_valid_to, dbt_scd_id"
        texts = [
            f"'{name}', '{k}', {_int(f)}, {_int(t)}, '{name} {i}'"
            for name in names
            for k, f, t, i in rows[name]
        ]
        return values(*texts, columns=columns)

    def entry(name: str, arguments: str) -> str:
        return (
            f"  - {{name: {name}, data_tests: [{{dbt_delta.scd2_valid: "
            f"{{arguments: {{{arguments}}}, config: {{store_failures: true}}}}}}]}}\n"
        )

    project.write(
        {
            "models/histories.sql": model(*(name for name in rows if name != "gap")),
            "models/gapless.sql": model("gap"),
            "models/s.yml": "models:\n"
            + entry("histories", "unique_key: [name, id]")
            + entry("gapless", "unique_key: name, allow_gaps: false"),
        }
    )
    run = project.dbt("build", check=False)
    tests = [r for r in run.results if r.node.resource_type == "test"]
    assert [result.status for result in tests] == ["fail", "fail"]
    found = {
        (row.key_1, row.problem)
        for result in tests
        for row in project.sql(f"select * from {result.node.relation_name}")
    }
    assert found == set(problems.items())


def _int(value: int | None) -> str:
    return "cast(null as int)" if value is None else str(value)
