"""dbt's macros for all databases, beside what Python makes of the same values.

DBT_DELTA_EXAMPLES=2000    how many pairs of moments (default 60, with --long 2,000)
DBT_DELTA_SEED             which ones; see drawing.py
"""

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tests.functional.drawing import SEED, examples
from tests.functional.harness import Project

SPANS = {
    "microsecond": timedelta(microseconds=1),
    "millisecond": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
# A Sunday, on which weeks begin.
START = datetime(1899, 12, 31)
TEXTS = """
    {{ config(materialized='table') }}
    select
        {{ dbt.split_part('t', "'|'", 2) }} as second_part,
        {{ dbt.split_part('t', "'.'", -1) }} as last_part,
        {{ dbt.safe_cast('t', 'int') }} as number,
        {{ dbt.safe_cast("'2024-02-30'", 'date') }} as day,
        '{{ dbt.escape_single_quotes(var("text")) }}' as quoted,
        n
    """
LISTS = """
    {{ config(materialized='table') }}
    select
        n % 2 as odd,
        {{ dbt.listagg('t', "'; '", 'order by n desc') }} as all_texts,
        {{ dbt.listagg('t', "'|'", 'order by n desc', 2) }} as two_texts,
        {{ dbt.listagg('distinct string(n % 3)', "','", 'order by string(n % 3)') }} as numbers
    """
HOSTILE = ["a|b|c", "", "|", "a.b", "a||b", "é|\\|'", None, "x^y|z", "[|]"]


def part_of(moment: datetime, part: str) -> int:
    """The number of the part of the calendar that a moment is in."""
    if part in MONTHS:
        return (moment.year * 12 + moment.month - 1) // MONTHS[part]
    return (moment - START) // SPANS[part]


def added(moment: datetime, part: str, count: int) -> datetime:
    if part in SPANS:
        return moment + count * SPANS[part]
    month = moment.year * 12 + moment.month - 1 + count * MONTHS[part]
    following = date((month + 1) // 12, (month + 1) % 12 + 1, 1)
    return moment.replace(
        year=month // 12, month=month % 12 + 1, day=min(moment.day, (following - timedelta(1)).day)
    )


def moments(chance: random.Random) -> tuple[datetime, datetime]:
    """Two of them, often near each other and near the beginning of a part."""
    first = START + timedelta(days=chance.randrange(200 * 365))
    first += timedelta(microseconds=chance.choice([0, 1, 999_999, chance.randrange(10**6)]))
    first += timedelta(seconds=chance.choice([0, 59, 3599, 86_399, chance.randrange(86_400)]))
    span = SPANS[chance.choice(list(SPANS))] * chance.choice([1, 40, 5000])
    return first, first + span * chance.randint(-3, 3) * chance.random()


@pytest.fixture(scope="module")
def played(new_shared_project: Callable[[str], Project]) -> tuple[Project, list[Any]]:
    project, chance = new_shared_project("cross"), random.Random(SEED)
    pairs = [(*moments(chance), chance.randint(-50, 50)) for _ in range(examples(60, 2000))]
    literals = [f"(timestamp'{a}', timestamp'{b}', {n})" for a, b, n in pairs]
    parts = [*SPANS, *MONTHS]
    differences = [f"{{{{ dbt.datediff('a', 'b', '{p}') }}}} as {p}s" for p in parts]
    sums = [f"{{{{ dbt.dateadd('{p}', 'n', 'a') }}}} as in_{p}s" for p in parts]
    texts = [f"({n}, {_literal(text)})" for n, text in enumerate(HOSTILE)]
    project.write(
        {
            "models/dates.sql": "{{ config(materialized='table') }}\n"
            f"select *, {', '.join(differences + sums)}\n"
            f"from values {', '.join(literals)}, (null, null, null) as t(a, b, n)\n",
            "models/texts.sql": TEXTS + f"from values {', '.join(texts)} as t(n, t)",
            "models/lists.sql": LISTS
            + f"from values {', '.join(texts)} as t(n, t) group by n % 2",
        }
    )  # fmt: skip
    project.dbt("run", vars={"text": TEXT})
    return project, pairs


TEXT = "it's C:\\new ${x} \\' \"q\""


def _literal(text: str | None) -> str:
    if text is None:
        return "null"
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def test_dates(played: tuple[Project, list[Any]]) -> None:
    project, pairs = played
    found = {(row.a, row.b, row.n): row for row in project.sql("select * from {schema}.dates")}
    wrong = []
    for a, b, n in pairs:
        row = found[a, b, n]
        for part in [*SPANS, *MONTHS]:
            expected = part_of(b, part) - part_of(a, part), added(a, part, n)
            if (row[f"{part}s"], row[f"in_{part}s"]) != expected:
                wrong.append((part, a, b, n, row[f"{part}s"], row[f"in_{part}s"], expected))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert set(found[None, None, None]) == {None}


def test_texts(played: tuple[Project, list[Any]]) -> None:
    project, _ = played
    rows = project.sql("select * from {schema}.texts order by n")
    for row, text in zip(rows, HOSTILE, strict=True):
        parts = (text or "").split("|")
        second = (parts[1] if len(parts) > 1 else "") if text is not None else None
        last = text.split(".")[-1] if text is not None else None
        assert (row.second_part, row.last_part) == (second, last), text
        assert (row.number, row.day, row.quoted) == (None, None, TEXT)


def test_lists(played: tuple[Project, list[Any]]) -> None:
    project, _ = played
    for row in project.sql("select * from {schema}.lists"):
        numbers = [n for n in range(len(HOSTILE)) if n % 2 == row.odd]
        texts = [HOSTILE[n] for n in reversed(numbers) if HOSTILE[n] is not None]
        assert row.all_texts == "; ".join(texts)
        assert row.two_texts == "|".join(texts[:2])
        assert row.numbers == ",".join(str(n) for n in sorted({n % 3 for n in numbers}))
