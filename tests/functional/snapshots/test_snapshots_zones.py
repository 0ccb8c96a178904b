"""Snapshots in sessions of other time zones than the one that made their tables."""

from tests.functional import tables
from tests.functional.harness import Project
from tests.functional.snapshots.test_snapshots_strategies import snapshot

# Half past two in Berlin, twice; and a second and a microsecond later.
FIRST, SECOND = "2024-10-27 00:30:00", "2024-10-27 01:30:00"
MOMENTS = (
    FIRST,
    "2024-10-27 00:30:00.000001",
    "2024-10-27 00:30:01",
    SECOND,
    "2024-10-27 01:30:01",
)
KEY = "struct('x' as `<18`, 1 as `a:int`) as `s`"


def _select(*moments: str, kind: str = "timestamp", more: str = "") -> str:
    rows = (
        f"select {n} as `<18`, {KEY}, "
        f"cast('{at}{'Z' if kind == 'timestamp' else ''}' as {kind}) as `at`{more}"
        for n, at in enumerate(moments)
    )
    return " union all ".join(rows)


def _one_key(*moments: str) -> str:
    """A feed of one key."""
    return f"select 1 as `id`, `<18`, `s`, `at` from ({_select(*moments)})"


OWN = """
    {% macro snapshot_own_strategy(node, found, new, config, exists) %}
    {{ return({
        'unique_key': '`<18`', 'updated_at': 'at', 'hard_deletes': 'ignore',
        'row_changed': found ~ '.at < ' ~ new ~ '.at',
        'scd_id': snapshot_hash_arguments(['`<18`', 'at']),
    }) }}
    {% endmacro %}
"""
TIMED = "unique_key='<18', strategy='timestamp', updated_at='at'"
UNTIL = "dbt_valid_to_current=\"timestamp'9999-12-31'\""
FEED = "unique_key='id', strategy='cdc', cdc_sequence_by='at'"


def test_a_table_of_utc_goes_on_in_other_zones(project: Project) -> None:
    day, later = "2024-10-27", "2024-10-28"
    runs: dict[str, tuple[str, list[str]]] = {
        "fed": (FEED, [_one_key(FIRST), _one_key(*MOMENTS), _one_key(*MOMENTS)]),
        "timed": (
            f"{TIMED}, {UNTIL}, hard_deletes='new_record'",
            [_select(FIRST, FIRST), _select(SECOND), _select(SECOND)],
        ),
        "days": (
            f"{TIMED}, hard_deletes='invalidate'",
            [_select(day, day, kind="date"), *[_select(day, later, kind="date")] * 2],
        ),
        "walls": (
            f"{TIMED}, hard_deletes='invalidate'",
            [
                _select(FIRST, FIRST, kind="timestamp_ntz"),
                *[_select(FIRST, kind="timestamp_ntz")] * 2,
            ],
        ),
        # Times without zone, which are UTC's, and then instants.
        "typed": (
            TIMED,
            [
                _select(FIRST, FIRST, kind="timestamp_ntz"),
                *[_select(f"{later} 12:00:00", FIRST)] * 2,
            ],
        ),
        "own": (
            "unique_key='<18', strategy='own', updated_at='at'",
            [_select(FIRST), _select(SECOND), _select(SECOND)],
        ),
        "checked": (
            "unique_key=['<18', 'at'], strategy='check', check_cols=['note'], "
            "hard_deletes='invalidate'",
            [_select(FIRST, SECOND, more=f", {n} as note") for n in (1, 2, 2)],
        ),
    }
    project.write({"macros/own.sql": OWN})
    versions = []
    for step, zone in enumerate(("UTC", "Europe/Berlin", "America/New_York")):
        for name, (config, selects) in runs.items():
            project.write(snapshot(config, selects[step], name))
        project.set_spark({"spark.sql.session.timeZone": zone})
        project.dbt("snapshot")
        versions.append(tables.versions(project, runs))
    # What is new made one commit each, nothing new none.
    assert versions == [dict.fromkeys(runs, n) for n in (0, 1, 1)]

    def spans(name: str, columns: str = "dbt_valid_from, dbt_valid_to") -> list[tuple[str, ...]]:
        rows = project.sql(
            f"select {columns} from {{schema}}.{name} order by `<18`, dbt_valid_from, dbt_valid_to"
        )
        return [tuple(str(value) for value in row) for row in rows]

    ends = [*MOMENTS[1:], "None"]
    assert spans("fed", "cast(dbt_valid_from as string), cast(dbt_valid_to as string)") == list(
        zip(MOMENTS, ends, strict=True)
    )
    ids = "(select md5(concat('{}|', cast(dbt_valid_from as string))) = dbt_scd_id)"
    assert spans("fed", ids.format(1)) == [("True",)] * 5
    assert spans("own", ids.format(0)) == [("True",)] * 2
    assert [row[0] for row in spans("typed", "`<18`")] == ["0", "0", "1"]
    assert spans("days")[0] == (f"{day} 00:00:00", "None")
    assert [row[0] for row in spans("days")[1:]] == [f"{day} 00:00:00", f"{later} 00:00:00"]
    # Open rows are those of UTC's year 9999, a run's time is that of UTC.
    found = project.sql(
        "select dbt_is_deleted from {schema}.timed "
        "where dbt_valid_to = timestamp'9999-12-31' order by `<18`"
    )
    assert [row.dbt_is_deleted for row in found] == ["False", "True"]
    minutes = "timestampdiff(minute, dbt_valid_to, cast(now() as timestamp_ntz))"
    ended = project.sql(
        f"select abs({minutes}) < 10 as is_now from {{schema}}.walls where dbt_valid_to is not null"
    )
    assert [row.is_now for row in ended] == [True]
    twice = project.sql("select 1 from {schema}.checked group by dbt_scd_id having count(*) > 1")
    assert twice == []
    for name in runs:
        lost = (
            f"select 1 from {{schema}}.{name} where `<18` is null or s is null or s.`<18` is null"
        )
        assert project.sql(lost) == []
