"""microbatch: only the batch's window of event time is replaced, whatever the time's type."""

from tests.functional.harness import Project, is_session
from tests.functional.incremental.models import (
    messages,
    model,
    relations,
    tables,
    tuples,
    versions,
    write_models,
)

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


def test_only_the_window_is_replaced_whatever_the_sessions_zone(project: Project) -> None:
    project.set_spark({"spark.sql.session.timeZone": "America/New_York"})
    write_events(project, *FIRST)
    names = {
        "by_timestamp": "at",
        "by_text": "date_format(at, 'yyyy-MM-dd HH:mm:ssXXX')",
        "by_ntz": "cast(convert_timezone(current_timezone(), 'UTC', cast(at as timestamp_ntz)) "
        "as timestamp_ntz)",
        "by_date": "date(convert_timezone(current_timezone(), 'UTC', cast(at as timestamp_ntz)))",
    }
    write_models(project, {n: microbatch(SELECT.format(e)) for n, e in names.items()})
    project.dbt("run", *DAYS)
    for name in names:
        assert [row["id"] for row in project.rows(name)] == [1, 2, 3, 4, 5, 6], name
    before = versions(project, names)
    write_events(project, *LATER)
    project.dbt("run", *SECOND)
    for name in names:
        assert [row["id"] for row in project.rows(name)] == [1, 2, 5, 6, 13, 14], name
    assert versions(project, names) == {n: version + 1 for n, version in before.items()}
    assert relations(project) == sorted([*names, "events"])


def test_hours_lookback_layout_and_full_refresh(project: Project) -> None:
    write_events(project, *FIRST)
    select = SELECT.format("at")
    write_models(
        project,
        {
            "hourly": microbatch(select, batch_size="hour"),
            "partitioned": microbatch(
                "select id, at, date_format(at, 'yyyy-MM') as month from {{ ref('events') }}",
                partition_by="month",
            ),
            "evolving": microbatch(
                "select id, at {% if var('more', false) %}, 'x' as more {% endif %}"
                " from {{ ref('events') }}",
                on_schema_change="append_new_columns",
            ),
        },
    )
    hours = ("--event-time-start", "2024-01-02", "--event-time-end", "2024-01-02 02:00:00")
    project.dbt("run", "-s", "events")
    project.dbt("run", "-s", "hourly", *hours)
    project.dbt("run", "-s", "partitioned", "evolving", *DAYS)
    assert [row["id"] for row in project.rows("hourly")] == [3]
    write_events(project, *LATER)
    project.dbt("run", "-s", "events")
    project.dbt("run", "-s", "hourly", *hours)
    project.dbt("run", "-s", "partitioned", "evolving", *SECOND, vars={"more": True})
    assert [row["id"] for row in project.rows("hourly")] == [13]
    # The month's partition is larger than the batch: the rows of its other days stay.
    assert [row["id"] for row in project.rows("partitioned")] == [1, 2, 5, 6, 13, 14]
    found = {row["id"]: row["more"] for row in project.rows("evolving")}
    assert found == {1: None, 2: None, 5: None, 6: None, 13: "x", 14: "x"}

    project.dbt("run", "-s", "partitioned", "--full-refresh", *DAYS)
    assert [row["id"] for row in project.rows("partitioned")] == [11, 12, 13, 14, 15, 16]


def test_lookback_replaces_as_many_batches_before(project: Project) -> None:
    """Without bounds on the command line dbt counts back from now."""
    first = "select id, current_timestamp() - make_dt_interval(id) as at from range(0, 5)"
    events = "{{{{ config(materialized='table', event_time='at') }}}} {}"
    project.write(
        {
            "models/events.sql": events.format(first),
            "models/schema.yml": """
                models:
                  - name: daily
                    config:
                      begin: "{{ (modules.datetime.datetime.utcnow()
                        - modules.datetime.timedelta(days=4)).strftime('%Y-%m-%d') }}"
            """,
            "models/daily.sql": """
                {{ config(materialized='incremental', incremental_strategy='microbatch',
                    event_time='at', batch_size='day', lookback=2) }}
                select id, at from {{ ref('events') }}
            """,
        }
    )
    project.dbt("run")
    assert [row["id"] for row in project.rows("daily")] == [0, 1, 2, 3, 4]
    version = project.version("daily")
    project.write({"models/events.sql": events.format(first.replace("id,", "id + 10 as id,", 1))})
    project.dbt("run")
    assert [row["id"] for row in project.rows("daily")] == [3, 4, 10, 11, 12]
    assert project.version("daily") == version + 3


def test_retry_runs_the_failed_batch_only(project: Project) -> None:
    project.writes_json = True
    write_events(project, *FIRST)
    select = "select if(id = 3, raise_error('bad'), id) as id, at from {{ ref('events') }}"
    write_models(project, {"daily": microbatch(SELECT.format("at"))})
    project.dbt("run", *DAYS)
    write_models(project, {"daily": microbatch(select)})
    run = project.dbt("run", "-s", "daily", *DAYS, check=False)
    assert run.result("daily").status == "partial success"
    version = project.version("daily")
    assert [row["id"] for row in project.rows("daily")] == [1, 2, 3, 4, 5, 6]
    project.sql("update {schema}.events set id = 33 where id = 3")
    project.sql("update {schema}.events set id = 55 where id = 5")
    project.dbt("retry")
    # The third day was right before: it is not looked at again.
    assert [row["id"] for row in project.rows("daily")] == [1, 2, 4, 5, 6, 33]
    assert project.version("daily") == version + 1


def test_event_time_that_is_no_column_is_refused(project: Project) -> None:
    write_events(project, *FIRST)
    write_models(project, {"daily": microbatch("select id, at as t from {{ ref('events') }}")})
    project.dbt("run", "-s", "events")
    first = project.dbt("run", "-s", "daily", *SECOND, check=False)
    if first.success:
        again = project.dbt("run", "-s", "daily", *SECOND, check=False)
        assert "event_time at is not a column" in again.log
        assert project.version("daily") == 0
    else:
        assert "event_time at" in first.log
        assert messages(first) or relations(project) == ["events"]


def test_rows_outside_of_the_window_are_refused(project: Project) -> None:
    write_events(project, *FIRST)
    outside = "select id, at + interval 1 day as at from {{ ref('events') }}"
    write_models(project, {"daily": microbatch(SELECT.format("at"))})
    project.dbt("run", *DAYS)
    before, version = tuples(project, "daily"), project.version("daily")
    write_models(project, {"daily": microbatch(outside)})
    run = project.dbt("run", "-s", "daily", *SECOND, check=False)
    assert "CHECK constraint EXPRESSION(('at < 2024-01-03" in run.log
    # A server tells the root of an error only.
    assert "DELTA_REPLACE_WHERE_MISMATCH" in run.log or not is_session()
    assert tables(project, {"daily": None}) == {"daily": before}
    assert project.version("daily") == version
    assert relations(project) == ["daily", "events"]
