"""What each strategy does, told as stories; random ones are in test_snapshots_oracle.py."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.functional import tables
from tests.functional.harness import Project

SOURCE = "select * from {{ target.schema }}.source"


def snapshot(config: str, select: str = SOURCE, name: str = "s") -> dict[str, str]:
    return {
        f"snapshots/{name}.sql": f"{{% snapshot {name} %}}\n{{{{ config({config}) }}}}\n{select}\n"
        "{% endsnapshot %}\n"
    }


def values(*rows: str, columns: str = "id, name, at") -> str:
    """A SELECT of these rows, each the text of a VALUES tuple."""
    if not rows:
        return f"select * from values (1, 'a', {day(1)}) as t({columns}) where false"
    return f"select * from values {', '.join(f'({row})' for row in rows)} as t({columns})"


def history(
    project: Project, columns: str, name: str = "s", version: int | None = None
) -> list[tuple[Any, ...]]:
    """Rows in order of key and time; days instead of timestamps of 2024, 'run' for run times."""
    table = project.relation(name) + ("" if version is None else f" version as of {version}")
    rows = project.sql(f"select {columns} from {table} order by id, dbt_valid_from, dbt_valid_to")
    return [tuple(_told(value) for value in row) for row in rows]


def _told(value: Any) -> Any:
    if not hasattr(value, "year"):
        return value
    return value.day if value.year == 2024 else "run"


def day(number: int) -> str:
    return f"timestamp'2024-01-{number:02d}'"


CHECKED = "strategy='check', unique_key='id', check_cols='all'"
TIMED = "strategy='timestamp', unique_key='id', updated_at='at'"
SPAN = "id, name, dbt_valid_from, dbt_valid_to"


@dataclass(frozen=True)
class Run:
    """How one run of a snapshot ended, and its table's version before and after it."""

    status: str
    message: str
    before: int | None
    after: int | None


@dataclass
class Story:
    """A snapshot, its source as each run finds it, and what came of these runs."""

    config: str
    sources: list[str]
    runs: list[Run] = field(default_factory=list)

    @property
    def versions(self) -> list[int | None]:
        return [run.after for run in self.runs]


def _stories() -> dict[str, Story]:
    stories = {}

    def tell(name: str, config: str, *runs: tuple[str, ...], columns: str = "id, name, at") -> None:
        stories[name] = Story(config, [values(*rows, columns=columns) for rows in runs])

    one, two = f"1, 'a', {day(1)}", f"2, 'b', {day(1)}"
    tell(
        *("deleted", f"{TIMED}, hard_deletes='new_record'"),
        *((one, two), (one,), (one,), (one, two), (one,)),
    )
    tell(
        *("standing", "strategy='check', unique_key='id', check_cols=['name'], updated_at='at'"),
        (f"1, 'a', {day(5)}", f"2, 'a', {day(5)}", f"3, 'a', {day(5)}"),
        (f"1, 'b', {day(5)}", f"2, 'b', {day(3)}", f"3, 'a', {day(9)}"),
    )

    late = f"{TIMED}, scd2_late='insert'"
    changes = [(f"1, '{name}', {day(n)}",) for name, n in (("a", 1), ("d", 9), ("b", 3))]
    tell("late", late, *changes, changes[-1], (f"1, 'c', {day(5)}",))
    tell("late_for_dbt", TIMED, *changes)
    back = (f"1, 'b', {day(3)}",)
    tell("late_of_returned", f"{late}, hard_deletes='new_record'", *(changes[0], (), back, back))
    other = f"3, 'o', {day(1)}"
    tell(
        *("late_of_gone", f"{late}, hard_deletes='invalidate'"),
        (f"2, 'x', {day(1)}", other),
        (other,),
        (f"2, 'z', {day(9)}", other),
        (f"2, 'y', {day(3)}", other),
    )

    changed = f"1, 'c', 6, {day(4)}, 'U'"
    tell(
        "gone_as_it_changed",
        "strategy='cdc', unique_key='id', cdc_sequence_by='seq', cdc_valid_from='at', "
        "cdc_delete_when=\"op = 'D'\"",
        (f"1, 'a', 1, {day(1)}, 'I'", changed, f"1, null, 7, {day(4)}, 'D'"),
        # Late, again, and after it.
        (f"1, 'b', 2, {day(2)}, 'U'", changed),
        (f"1, 'd', 9, {day(8)}, 'I'",),
        columns="id, name, seq, at, op",
    )
    # Of an operation that is not known, it is not known that the key is gone.
    twice = f"1, 'a', {day(1)}, 'I'"
    first = (twice, f"1, 'c', {day(5)}, null", f"2, 'x', {day(2)}, 'I'", twice)
    second = (f"1, 'b', {day(3)}, 'U'", f"2, null, {day(4)}, 'D'")
    third = (f"2, 'y', {day(6)}, 'I'",)
    feed = "strategy='cdc', unique_key='id', cdc_sequence_by='at', cdc_delete_when=\"op = 'D'\""
    for name, config, runs in (
        ("feed", feed, (first, second, second, third)),
        ("feed_kept", f"{feed}, hard_deletes='new_record'", (first, second, second)),
        (
            *("feed_latest", f"{feed}, cdc_scd_type=1, cdc_deletions='forget'"),
            (first, second, second, third),
        ),
        # Its deletions arrive before what they delete.
        ("feed_backwards", feed, (third, second, first, second)),
        ("feed_kept_backwards", f"{feed}, hard_deletes='new_record'", (second, first, second)),
    ):
        tell(name, config, *runs, columns="id, name, at, op")

    tell("reshaped", CHECKED, ("1, 'a', 1", "2, 'b', 2"), columns="id, name, size")
    stories["reshaped"].sources += [
        values("1, 'a', 1L, null", "2, 'b', 2L, 'red'", columns="id, name, size, colour"),
        values("1, 'a'", "2, 'z'", columns="id, name"),
    ]
    grown = "strategy='check', unique_key='id', check_cols=['box'], hard_deletes='new_record'"
    boxes = [f"{id}, named_struct('a', 1)" for id in (1, 2, 3)]
    red, blue = (f"1, named_struct('a', 1, 'b', '{colour}')" for colour in ("red", "blue"))
    none = "2, named_struct('a', 1, 'b', cast(null as string))"
    tell("grown", grown, tuple(boxes), (red, none), (blue, none), columns="id, box")
    # 0.1 as float is another number than as double.
    tell(
        *("floating", f"{CHECKED}, hard_deletes='invalidate'"),
        ("0.1f, 'a'", "2f, 'b'"), ("0.1d, 'a'", "2d, 'b'"), ("0.1d, 'c'",),
        columns="id, name",
    )  # fmt: skip
    tell(
        *("keyed", "strategy='check', unique_key=[\"id || '-'\", 'name'], check_cols=['size']"),
        ("1, 'a', 1", "1, 'b', 1"),
        ("1, 'a', 1", "1, 'b', 2", "2, 'b', 1"),
        columns="id, name, size",
    )
    tell(
        *("louder", "strategy='louder', unique_key='id'"),
        *((f"1, 'b', {day(1)}",), (f"1, 'a', {day(2)}",), (f"1, 'c', {day(3)}",)),
    )
    return stories


LOUDER = """
    {% macro snapshot_louder_strategy(node, found, new, config, exists) %}
    {{ return({
        'unique_key': 'id', 'updated_at': 'at', 'hard_deletes': 'ignore',
        'row_changed': found ~ '.name < ' ~ new ~ '.name',
        'scd_id': snapshot_hash_arguments(['id', 'at', "'louder'"]),
    }) }}
    {% endmacro %}
"""


class Told:
    """Stories told side by side: each run of dbt is the next one of every story."""

    def __init__(
        self,
        project: Project,
        stories: dict[str, Story],
        between: Callable[[int], None] = lambda step: None,
    ) -> None:
        self.project, self.stories = project, stories
        for step in range(max(len(story.sources) for story in stories.values())):
            between(step)
            due = {n: s for n, s in stories.items() if step < len(s.sources)}
            for name, story in due.items():
                project.write(snapshot(story.config, story.sources[step], name))
            before = {name: self._version(name) for name in due}
            ran = project.dbt("snapshot", "-s", *due, check=False)
            for name, story in due.items():
                result = ran.result(name)
                versions = before[name], self._version(name)
                story.runs.append(Run(result.status, result.message, *versions))

    def __getitem__(self, name: str) -> Story:
        """A story that went well."""
        story = self.stories[name]
        assert {run.status for run in story.runs} == {"success"}, story.runs
        assert len(story.runs) == len(story.sources)
        return story

    def history(self, name: str, columns: str = SPAN, after: int = -1) -> list[tuple[Any, ...]]:
        """Rows of a story after one of its runs, by default the last."""
        versions = self[name].versions
        return history(self.project, columns, name, None if after < 0 else versions[after])

    def _version(self, name: str) -> int | None:
        return max((number for number, _ in tables.log(self.project, name)), default=None)


@pytest.fixture(scope="module")
def told(new_shared_project: Callable[[str], Project]) -> Told:
    project = new_shared_project("stories")
    project.write({"macros/louder.sql": LOUDER})
    return Told(project, _stories())


def test_deleted_returned_and_deleted_again(told: Told) -> None:
    assert told["deleted"].versions == [0, 1, 1, 2, 3]
    assert told.history("deleted", f"{SPAN}, dbt_is_deleted") == [
        (1, "a", 1, None, "False"),
        (2, "b", 1, "run", "False"),
        (2, "b", "run", "run", "True"),
        # It did not change while it was away: it is here again since the run that saw it.
        (2, "b", "run", "run", "False"),
        (2, "b", "run", None, "True"),
    ]
    assert tables.operations(told.project, "deleted", 0) == ["MERGE"] * 3
    spans = [row for row in told.project.rows("deleted", "dbt_valid_from") if row["id"] == 2]
    assert [r["dbt_valid_to"] for r in spans[:-1]] == [r["dbt_valid_from"] for r in spans[1:]]


def test_times_that_stand_still_or_go_back(told: Told) -> None:
    """With check the columns say that a row changed; its time then counts from the run."""
    assert told["standing"].versions == [0, 1]
    assert told.history("standing", f"{SPAN}, dbt_updated_at") == [
        (1, "a", 5, "run", 5),
        (1, "b", "run", None, 5),
        (2, "a", 5, "run", 5),
        (2, "b", "run", None, 3),
        (3, "a", 5, None, 5),
    ]


def test_late_changes_take_their_place(told: Told) -> None:
    assert told["late"].runs[3].message == "nothing new"
    assert told.history("late") == [
        (1, "a", 1, 3), (1, "b", 3, 5), (1, "c", 5, 9), (1, "d", 9, None),
    ]  # fmt: skip
    assert tables.operations(told.project, "late", 0) == ["MERGE"] * 3
    assert told.history("late_for_dbt") == [(1, "a", 1, 9), (1, "d", 9, None)]
    # Its row began with the run that saw it again; that is no late change of it.
    assert told["late_of_returned"].versions == [0, 1, 2, 2]
    assert told.history("late_of_returned") == [
        (1, "a", 1, "run"), (1, "a", "run", "run"), (1, "b", "run", None),
    ]  # fmt: skip
    assert told.history("late_of_gone")[:3] == [
        (2, "x", 1, 3), (2, "y", 3, "run"), (2, "z", "run", None),
    ]  # fmt: skip
    # While the key was away, what came late was not valid either.
    _, late_row, returned = (
        row for row in told.project.rows("late_of_gone", "dbt_valid_from") if row["id"] == 2
    )
    assert late_row["dbt_valid_to"] < returned["dbt_valid_from"]


def test_a_key_that_went_away_as_it_changed_stays_away(told: Told) -> None:
    name = "gone_as_it_changed"
    # The last one is the deletion, in which no moment lies.
    gone = [(1, "c", 4, 4), (1, "c", 4, 4)]
    assert told.history(name, after=0) == [(1, "a", 1, 4), *gone]
    assert told.history(name, after=1) == [(1, "a", 1, 2), (1, "b", 2, 4), *gone]
    assert told.history(name)[2:] == [*gone, (1, "d", 8, None)]


def test_a_change_log(told: Told) -> None:
    assert told.history("feed", after=1) == [
        (1, "a", 1, 3), (1, "b", 3, 5), (1, "c", 5, None), (2, "x", 2, 4), (2, "x", 4, 4),
    ]  # fmt: skip
    assert told.history("feed_kept", f"{SPAN}, dbt_is_deleted", after=1)[-2:] == [
        (2, "x", 2, 4, "False"),
        (2, "x", 4, None, "True"),
    ]
    latest = told["feed_latest"].versions[1]
    found = told.project.sql(f"select name from {{schema}}.feed_latest version as of {latest}")
    assert [row.name for row in found] == ["c"]
    for name in ("feed", "feed_kept", "feed_latest"):
        assert told[name].runs[2].message == "nothing new"
        assert told[name].versions[2] == told[name].versions[1]
    assert told.history("feed")[-3:] == [(2, "x", 2, 4), (2, "x", 4, 4), (2, "y", 6, None)]
    assert [row["name"] for row in told.project.rows("feed_latest", "id")] == ["c", "y"]


def test_a_change_log_from_its_end(told: Told) -> None:
    columns = f"{SPAN}, dbt_updated_at, dbt_scd_id"
    assert told.history("feed_backwards", columns) == told.history("feed", columns)
    assert told["feed_backwards"].versions == [0, 1, 2, 2]
    columns += ", dbt_is_deleted"
    kept = told.history("feed_kept", columns)
    assert told.history("feed_kept_backwards", columns) == kept
    # A reader of what is open, or of any moment, finds no deletion.
    marks = told.project.sql(
        "select dbt_valid_to from {schema}.feed where dbt_scd_id like 'deleted %'"
    )
    assert [row.dbt_valid_to.day for row in marks] == [4]


def test_new_dropped_and_retyped_columns(told: Told) -> None:
    # A column that comes was NULL until then: a row in which it still is did not change.
    assert told.history("reshaped", "id, name, size, colour", after=1) == [
        (1, "a", 1, None), (2, "b", 2, None), (2, "b", 2, "red"),
    ]  # fmt: skip
    assert told.history("reshaped", "id, name, size, colour")[2:] == [
        (2, "b", 2, "red"), (2, "z", None, None),
    ]  # fmt: skip
    assert len(told.project.rows("reshaped")) == 4


def test_a_field_that_comes_counts_at_once(told: Told) -> None:
    assert told.history(
        "grown", "id, box.a, box.b, dbt_valid_from, dbt_valid_to, dbt_is_deleted"
    ) == [
        (1, 1, None, "run", "run", "False"),
        (1, 1, "red", "run", "run", "False"),
        (1, 1, "blue", "run", None, "False"),
        (2, 1, None, "run", None, "False"),
        (3, 1, None, "run", "run", "False"),
        (3, 1, None, "run", None, "True"),
    ]


def test_a_key_is_found_as_the_table_stores_it(told: Told) -> None:
    assert told["floating"].versions == [0, 0, 1]
    assert told.history("floating", "string(id), name, dbt_valid_to") == [
        ("0.1", "a", "run"), ("0.1", "c", None), ("2.0", "b", "run"),
    ]  # fmt: skip


def test_a_key_of_an_expression_and_a_column(told: Told) -> None:
    assert told["keyed"].versions == [0, 1]
    assert told.history("keyed", "id, name, size, dbt_valid_to") == [
        (1, "a", 1, None), (1, "b", 1, "run"), (1, "b", 2, None), (2, "b", 1, None),
    ]  # fmt: skip


def test_a_strategy_of_ones_own(told: Told) -> None:
    assert told.history("louder") == [(1, "b", 1, 3), (1, "c", 3, None)]
    expected = "md5('1|2024-01-03 00:00:00|louder')"
    assert told.project.sql(f"select 1 from {{schema}}.louder where dbt_scd_id = {expected}")


@pytest.mark.long
def test_a_feed_of_many_columns(project: Project) -> None:
    """Planning its MERGE took time and memory that doubled with the columns, and did not end."""
    more = ", ".join(f"concat(name, {n}) as c{n}" for n in range(16))
    config = (
        "strategy='cdc', unique_key='id', cdc_sequence_by='seq', cdc_valid_from='at', "
        "cdc_delete_when=\"op = 'D'\""
    )
    columns = "id, name, seq, at, op"
    first = values(f"1, 'a', 1, {day(1)}, 'U'", f"2, 'x', 2, {day(2)}, 'U'", columns=columns)
    then = values(f"1, 'b', 3, {day(3)}, 'U'", f"2, 'x', 4, {day(4)}, 'D'", columns=columns)
    for rows in (first, then):
        project.write(snapshot(config, f"select *, {more} from ({rows})"))
        run = project.dbt("snapshot")
    assert run.results[0].execution_time < 300
    assert history(project, "id, name, c15, dbt_valid_to", version=1)[:2] == [
        (1, "a", "a15", 3),
        (1, "b", "b15", None),
    ]


def test_an_empty_run_ends_nothing(project: Project) -> None:
    project.write(
        {
            "models/m.sql": "{{ config(materialized='ephemeral') }} select 1 as id, 'a' as name",
            "snapshots/s.yml": """
                snapshots:
                  - name: s
                    relation: ref('m')
                    config:
                      strategy: check
                      unique_key: id
                      check_cols: all
                      hard_deletes: invalidate
            """,
            **snapshot(
                f"{CHECKED}, hard_deletes='new_record'", "select * from {{ ref('table') }}", "t"
            ),
            "models/table.sql": "{{ config(materialized='table') }} select 1 as id",
        }
    )
    project.dbt("build")
    later = "strategy='timestamp', unique_key='id', updated_at='day', hard_deletes='new_record'"
    days = "select id, date'2024-01-01' as day from {{ ref('table') }}"
    project.write(snapshot(later, days, "u"))
    project.dbt("snapshot", "--empty")
    assert [row["dbt_valid_to"] for name in "st" for row in project.rows(name)] == [None, None]
    assert project.version("t") == 0
    # A first build makes the table that any other would make.
    kinds = {row.col_name: row.data_type for row in project.sql("describe {schema}.u")}
    assert (kinds["dbt_valid_to"], kinds["dbt_is_deleted"]) == ("timestamp", "string")
    project.dbt("snapshot", "-s", "u")
    assert [row["dbt_is_deleted"] for row in project.rows("u")] == ["False"]
    assert project.version("u") == 1
