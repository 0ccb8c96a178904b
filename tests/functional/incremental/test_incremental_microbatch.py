"""microbatch: only the batch's window of event time is replaced, whatever the time's type.

Most models are one project: it is built with the events of three days, and run again for the second
day with other events. The first build of most is one SELECT, not a batch for each day.
"""

import datetime as dt
import json
from collections.abc import Callable

import pytest

from tests.functional.harness import Project, is_session
from tests.functional.incremental.models import (
    Built,
    messages,
    model,
    relations,
    tables,
    tuples,
    write_models,
)
from tests.functional.tables import versions

DAYS = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
SECOND = ("--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03")


def microbatch(select: str, event_time: str = "at", **config: object) -> str:
    settings = {"batch_size": "day", "begin": "2024-01-01", **config}
    return model(select, incremental_strategy="microbatch", event_time=event_time, **settings)


def write_events(project: Project, *rows: str) -> None:
    """The table that the microbatch models read; rows are ``id, at``, times in UTC."""
    listed = ", ".join(f"({row})" for row in rows)
    project.write(
        {
            "models/events.sql": f"""
                {{{{ config(materialized='table', event_time='at') }}}}
                select id, timestamp(at || '+00:00') as at
                from values {listed} as t(id, at)
            """,
        }
    )


FIRST = (
    "1, '2024-01-01 00:00:00'",
    "2, '2024-01-01 23:59:59'",
    "3, '2024-01-02 00:00:00'",
    "4, '2024-01-02 23:59:59'",
    "5, '2024-01-03 00:00:00'",
    "6, '2024-01-03 12:00:00'",
)
# Other ids everywhere: what appears shows which windows were written.
LATER = tuple(row.replace(row[0], f"1{row[0]}", 1) for row in FIRST)
SELECT = "select id, {0} as at from {{{{ ref('events') }}}}"


IN_UTC = (
    "cast(convert_timezone(current_timezone(), 'UTC', cast(at as timestamp_ntz)) as timestamp_ntz)"
)
WINDOWED = {
    "by_timestamp": SELECT.format("at"),
    "by_text": SELECT.format("date_format(at, 'yyyy-MM-dd HH:mm:ssXXX')"),
    "by_ntz": SELECT.format(IN_UTC),
    "by_date": SELECT.format(f"date({IN_UTC})"),
    "from_ntz": "select id, at from {{ ref('naive') }}",
}
NAIVE = (
    "{{ config(materialized='table', event_time='at') }}"
    f" select id, {IN_UTC} as at from {{{{ ref('events') }}}}"
)
MONTHLY = "select id, at, date_format(at, 'yyyy-MM') as month from {{ ref('events') }}"
FURTHER = "select id, at, 'x' as more from {{ ref('events') }}"
RENAMED = "select id, at as t from {{ ref('events') }}"
OUTSIDE = "select id, at + interval 1 day as at from {{ ref('events') }}"
# Days before now, for what has no bounds on the command line.
RECENT = (
    "{{{{ config(materialized='table', event_time='at') }}}}"
    " select id + {} as id, current_timestamp() - make_dt_interval(id) as at from range(0, 5)"
)


@pytest.fixture(scope="module")
def built(new_shared_project: Callable[[str], Project]) -> Built:
    project = new_shared_project("microbatch")
    project.set_spark({"spark.sql.session.timeZone": "America/New_York"})
    at_once = {
        **{name: model(select) for name, select in WINDOWED.items()},
        "hourly": model(SELECT.format("at")),
        "monthly": model(MONTHLY, partition_by="month"),
        "evolving": model(SELECT.format("at")),
        "counted": model(SELECT.format("at")),
        "counted_ntz": model(WINDOWED["from_ntz"]),
        "naive": NAIVE,
        "renamed": model(RENAMED),
        "outside": model(SELECT.format("at")),
        "daily": model("select id, at from {{ ref('recent') }}"),
        # None of the first day of the window: midnight may pass before the next run.
        "recent": RECENT.format(0) + " where id != 2",
    }
    write_events(project, *FIRST)
    write_models(project, {**at_once, "by_timestamp": microbatch(WINDOWED["by_timestamp"])})
    first = project.dbt("run", *DAYS)
    write_events(project, *LATER)
    write_models(
        project,
        {
            **{name: microbatch(select) for name, select in WINDOWED.items()},
            "hourly": microbatch(SELECT.format("at"), batch_size="hour"),
            "monthly": microbatch(MONTHLY, partition_by="month"),
            "evolving": microbatch(FURTHER, on_schema_change="append_new_columns"),
            "renamed": microbatch(RENAMED),
            "outside": microbatch(OUTSIDE),
        },
    )
    others = ("--exclude", "hourly", "daily", "recent", "counted", "counted_ntz")
    return Built(project, first, project.dbt("run", *others, *SECOND, check=False))


def _ids(project: Project, *names: str) -> dict[str, list[int]]:
    return {name: [row[0] for row in rows] for name, rows in tables(project, names).items()}


def test_only_the_window_is_replaced_whatever_the_sessions_zone(built: Built) -> None:
    project = built.project
    assert _ids(project, *WINDOWED) == {name: [1, 2, 5, 6, 13, 14] for name in WINDOWED}
    # The first was built day by day, and then said to be complete.
    assert versions(project, WINDOWED) == {**dict.fromkeys(WINDOWED, 1), "by_timestamp": 4}
    assert not _lacks(project, "by_timestamp")
    assert set(messages(built.second)) == {"renamed", "outside"}
    models = {result.node.name for result in built.first.results}
    assert relations(project) == sorted(models)


def _lacks(project: Project, name: str) -> str | None:
    """Why a table says that it lacks rows."""
    properties = project.sql(f"show tblproperties {{schema}}.{name}")
    return {row.key: row.value for row in properties}.get("dbt_delta.incomplete")


YEAR = dt.datetime.now(dt.UTC).year
YEARLY: dict[str, object] = {"batch_size": "year", "begin": f"{YEAR - 2}-01-01", "lookback": 0}
FALLIBLE = (
    "select if(id = {{ var('bad', 0) }}, raise_error('bad'), id) as id, at from {{ ref('events') }}"
)
NEWER = (
    "select id, at from {{ ref('events') }}"
    "{% if is_incremental() %} where at > (select max(at) from {{ this }}){% endif %}"
)


def _write_years(project: Project, *ids: int) -> None:
    write_events(
        project, *(f"{id}, '{YEAR - 2 + place}-01-01 12:00:00'" for place, id in enumerate(ids))
    )


@pytest.mark.session
def test_a_table_that_lacks_rows_gets_them(project: Project) -> None:
    _write_years(project, 1, 2, 3)
    write_models(
        project, {"yearly": microbatch(FALLIBLE, **YEARLY), "newer": model(NEWER, unique_key="id")}
    )
    names = ("yearly", "newer")
    project.dbt("run", "--empty")
    assert _ids(project, *names) == {"yearly": [], "newer": []}
    assert [_lacks(project, name) for name in names] == ["empty", "empty"]
    run = project.dbt("run", vars={"bad": 2}, check=False)
    assert f"{project.schema}.newer was built with --empty and has no rows: it is b" in run.output
    assert "The table of yearly lacks batches: all are built, from its begin on." in run.output
    assert _ids(project, *names) == {"yearly": [1, 3], "newer": [1, 2, 3]}
    assert [_lacks(project, name) for name in names] == ["empty", None]
    _write_years(project, 11, 12, 13)
    project.dbt("run")
    assert _ids(project, *names) == {"yearly": [11, 12, 13], "newer": [1, 2, 3]}
    assert _lacks(project, "yearly") is None
    # From here on it is built as dbt counts.
    _write_years(project, 21, 22, 23)
    project.dbt("run", "-s", "events", "yearly")
    assert _ids(project, "yearly") == {"yearly": [11, 12, 23]}
    said = messages(project.dbt("run", "-s", *names, "--sample", "2 days", check=False))
    assert list(said) == ["newer"]
    assert "later runs would read only what is newer than the sample" in said["newer"]


@pytest.mark.long
@pytest.mark.session
def test_a_build_that_ends_early_is_completed(project: Project) -> None:
    project.writes_json = True
    _write_years(project, 1, 2, 3)
    write_models(
        project,
        {"yearly": microbatch(FALLIBLE, **YEARLY), "sampled": model(NEWER, unique_key="id")},
    )
    sample = json.dumps({"start": f"{YEAR - 1}-01-01", "end": f"{YEAR}-06-01"})
    project.dbt("run", "-s", "events")
    project.dbt("run", "-s", "yearly", "sampled", "--sample", sample)
    assert _ids(project, "yearly", "sampled") == {"yearly": [2, 3], "sampled": [2, 3]}
    said = messages(project.dbt("run", "-s", "sampled", check=False))
    assert "sampled was built with --sample, and later runs would not read" in said["sampled"]
    project.dbt("run", "-s", "sampled", "--full-refresh")
    project.dbt("run", "-s", "sampled", "yearly")
    assert _ids(project, "yearly", "sampled") == {"yearly": [1, 2, 3], "sampled": [1, 2, 3]}
    assert [_lacks(project, name) for name in ("yearly", "sampled")] == [None, None]
    for build, complete in (("--full-refresh",), ("run", "-s", "yearly")), ((), ("retry",)):
        if not build:
            project.sql("drop table {schema}.yearly")
        project.dbt("run", "-s", "yearly", *build, vars={"bad": 2}, check=False)
        assert _ids(project, "yearly") == {"yearly": [1, 3]}
        assert _lacks(project, "yearly") == "batches"
        project.dbt(*complete, vars={"bad": 0})
        assert _ids(project, "yearly") == {"yearly": [1, 2, 3]}
        assert _lacks(project, "yearly") is None


@pytest.mark.long
def test_hours_layout_and_full_refresh(built: Built) -> None:
    project = built.project
    # The month's partition is larger than the batch: the rows of its other days stay.
    assert _ids(project, "monthly") == {"monthly": [1, 2, 5, 6, 13, 14]}
    found = {row["id"]: row["more"] for row in project.rows("evolving")}
    assert found == {1: None, 2: None, 5: None, 6: None, 13: "x", 14: "x"}

    hours = ("--event-time-start", "2024-01-02", "--event-time-end", "2024-01-02 02:00:00")
    project.dbt("run", "-s", "hourly", *hours)
    project.dbt("run", "-s", "monthly", "--full-refresh", *DAYS)
    assert _ids(project, "hourly", "monthly") == {
        "hourly": [1, 2, 4, 5, 6, 13],
        "monthly": [11, 12, 13, 14, 15, 16],
    }


def test_lookback_replaces_as_many_batches_before(built: Built) -> None:
    """Without bounds on the command line dbt counts back from now."""
    project = built.project
    assert _ids(project, "daily") == {"daily": [0, 1, 3, 4]}
    write_models(
        project,
        {
            "recent": RECENT.format(10),
            "daily": microbatch("select id, at from {{ ref('recent') }}", lookback=2),
        },
    )
    project.dbt("run", "-s", "recent", "daily")
    assert _ids(project, "daily") == {"daily": [3, 4, 10, 11, 12]}
    assert versions(project, ["daily"]) == {"daily": 3}


@pytest.mark.long
@pytest.mark.session
def test_batches_are_counted_back_from_the_newest_event(built: Built) -> None:
    """The events are of 2024; a batch does not hold its end."""
    project = built.project
    counted: dict[str, object] = {"lookback_from": "inputs", "lookback": 1}
    write_models(
        project,
        {
            "counted": microbatch(SELECT.format("at"), **counted),
            "counted_ntz": microbatch(WINDOWED["from_ntz"], **counted),
            "misspelt": microbatch(SELECT.format("at"), lookback_from="input"),
            "blind": microbatch("select 1 as id, timestamp'2024-01-01' as at", **counted),
        },
    )
    names = ("counted", "counted_ntz")
    said = messages(project.dbt("run", "-s", *names, "misspelt", "blind", check=False))
    assert set(said) == {"misspelt", "blind"}
    assert "lookback_from of misspelt is now or inputs. Got: 'input'" in said["misspelt"]
    assert "no table or view that it reads has an event_time" in said["blind"]
    # The second and the third day, each by a commit.
    assert _ids(project, *names) == {name: [1, 2, 13, 14, 15, 16] for name in names}
    assert versions(project, names) == dict.fromkeys(names, 2)
    project.sql("insert into {schema}.events values (17, timestamp'2024-01-05 00:00:00+00:00')")
    project.dbt("run", "-s", "counted")
    assert _ids(project, "counted") == {"counted": [1, 2, 13, 14, 15, 16, 17]}
    # What the input lost, the table loses too.
    project.sql("delete from {schema}.events where id = 17")
    project.dbt("run", "-s", "counted")
    assert _ids(project, "counted") == {"counted": [1, 2, 13, 14, 15, 16]}
    # The third day is still the last one at its last moment.
    project.sql("update {schema}.events set id = 24 where id = 14")
    last = "2024-01-03 23:59:59.999999+00:00"
    project.sql(f"insert into {{schema}}.events values (17, timestamp'{last}')")
    project.dbt("run", "-s", "counted")
    assert _ids(project, "counted") == {"counted": [1, 2, 13, 15, 16, 17, 24]}
    # One delivery of more days than lookback.
    for new, day in ((18, 6), (19, 8), (20, 9)):
        at = f"timestamp'2024-01-0{day} 12:00:00+00:00'"
        project.sql(f"insert into {{schema}}.events values ({new}, {at})")
    project.dbt("run", "-s", "counted")
    assert _ids(project, "counted") == {"counted": [1, 2, 13, 15, 16, 17, 18, 19, 20, 24]}


def test_event_time_that_is_no_column_is_refused(built: Built) -> None:
    assert "event_time at is not a column" in built.second.log
    assert versions(built.project, ["renamed"]) == {"renamed": 0}


def test_rows_outside_of_the_window_are_refused(built: Built) -> None:
    assert "CHECK constraint EXPRESSION(('at < 2024-01-02 19:00:00" in built.second.log
    # A server tells the root of an error only.
    assert "DELTA_REPLACE_WHERE_MISMATCH" in built.second.log or not is_session()
    assert _ids(built.project, "outside") == {"outside": [1, 2, 3, 4, 5, 6]}
    assert versions(built.project, ["outside"]) == {"outside": 0}


@pytest.mark.long
def test_retry_runs_the_failed_batch_only(project: Project) -> None:
    project.writes_json = True
    write_events(project, *FIRST)
    select = "select if(id = 3, raise_error('bad'), id) as id, at from {{ ref('events') }}"
    write_models(project, {"daily": model(SELECT.format("at"))})
    project.dbt("run")
    write_models(project, {"daily": microbatch(select)})
    run = project.dbt("run", "-s", "daily", *DAYS, check=False)
    assert run.result("daily").status == "partial success"
    assert [row[0] for row in tuples(project, "daily")] == [1, 2, 3, 4, 5, 6]
    # Built at once, and the first and the third day since.
    assert versions(project, ["daily"]) == {"daily": 2}
    project.sql("update {schema}.events set id = if(id = 3, 33, 55) where id in (3, 5)")
    project.dbt("retry")
    # The third day was right before: it is not looked at again.
    assert [row[0] for row in tuples(project, "daily")] == [1, 2, 4, 5, 6, 33]
    assert versions(project, ["daily"]) == {"daily": 3}
    # dbt would build the table anew of the one batch that failed.
    project.sql("update {schema}.events set id = 3 where id = 33")
    run = project.dbt("run", "-s", "daily", "--full-refresh", *DAYS, check=False)
    assert run.result("daily").status == "partial success"
    project.sql("update {schema}.events set id = 34 where id = 3")
    refused = project.dbt("retry", check=False)
    assert "--event-time-start '2024-01-02 00:00:00' --event-time-end '2024-01-03" in refused.log
    assert [row[0] for row in tuples(project, "daily")] == [1, 2, 6, 55]
    assert versions(project, ["daily"]) == {"daily": 5}


SAMPLE = json.dumps({"start": "2024-01-02 12:00:00.500000", "end": "2024-01-03 06:00:00"})
# Half a second before the sample, and after.
EDGES = "7, '2024-01-02 12:00:00.4'", "8, '2024-01-02 12:00:00.6'"
REPLACING = {
    "overwriting": ("incremental_strategy insert_overwrite", {"strategy": "insert_overwrite"}),
    "exchanging": (
        "incremental_strategy delete+insert",
        {"strategy": "delete+insert", "unique_key": "id"},
    ),
    "deleting": (
        "not_matched_by_source_action",
        {"strategy": "merge", "unique_key": "id", "not_matched_by_source_action": "delete"},
    ),
}


@pytest.mark.long
def test_what_is_not_in_a_sample_stays(project: Project) -> None:
    write_events(project, *FIRST, *EDGES)
    select = SELECT.format("at")
    write_models(
        project,
        {
            "monthly": microbatch(select, batch_size="month"),
            "merged": model(select, unique_key="id"),
            **{
                name: model(select, **{f"incremental_{k}" if k == "strategy" else k: v
                                       for k, v in config.items()})
                for name, (_, config) in REPLACING.items()
            },
        },
    )  # fmt: skip
    project.write(
        {
            "snapshots/past.yml": """
                snapshots:
                  - name: past
                    relation: ref('events')
                    config:
                      {unique_key: id, strategy: check, check_cols: all, hard_deletes: invalidate}
            """,
        }
    )
    month = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-02-01")
    project.dbt("build", *month)
    project.sql("update {schema}.events set id = 10 + id")
    run = project.dbt("build", "--exclude", "events", "--sample", SAMPLE, *month, check=False)
    said = messages(run)
    assert set(said) == set(REPLACING)
    assert all(text in said[name] for name, (text, _) in REPLACING.items())
    assert _ids(project, "monthly", "merged", *REPLACING) == {
        "monthly": [1, 2, 3, 6, 7, 14, 15, 18],
        "merged": [1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 18],
        **{name: [1, 2, 3, 4, 5, 6, 7, 8] for name in REPLACING},
    }
    ended = project.sql("select count(dbt_valid_to) as n, count(*) as m from {schema}.past")[0]
    assert (ended.n, ended.m) == (0, 11)
