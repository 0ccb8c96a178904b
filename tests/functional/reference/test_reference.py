"""From a clone to real answers: the whole year, twice; night by night; and what goes wrong."""

import re
from collections.abc import Callable

import pytest

from tests.functional.harness import Run
from tests.functional.reference.conftest import Home

MARTS = ["daily_carriers", "flights", "hourly_airports", "routes"]
# Data tests and unit tests run with the whole year; here only the rows count.
MODELS_ONLY = ["--exclude", "resource_type:test", "resource_type:unit_test"]


@pytest.fixture(scope="module")
def year(new_home: Callable[[], Home]) -> tuple[Home, Run]:
    """The whole year, landed and built at once with all data tests and unit tests."""
    home = new_home()
    return home, home.run("build")


def test_one_command_lands_builds_tests_and_answers(year: tuple[Home, Run]) -> None:
    home, run = year
    assert run.code == 0, run.output
    assert "landed 1097 new files" in run.output
    assert re.search(r"Done\. PASS=\d+ WARN=0 ERROR=0 SKIP=0", run.output), run.output
    answers = run.output.split("Done. PASS")[1]
    assert re.search(r"EWR - TYS .*\| +323 \| +41\.15 ", answers), answers
    assert home.count("flights") == 336_776
    assert home.count("raw_nycflights__flights") == 336_776 + 19_311


def test_the_console_shows_dbt_and_nothing_else(year: tuple[Home, Run]) -> None:
    _, run = year
    foreign = [
        line
        for line in run.output.splitlines()
        if not re.match(r"\d\d:\d\d:\d\d  |nycflights: |\||setup: |$", line)
    ]
    assert foreign == []


def test_the_project_is_parsed_without_a_word(year: tuple[Home, Run]) -> None:
    home, _ = year
    run = home.run("dbt", "--no-use-colors", "parse", "--no-partial-parse")
    said = [line.partition("  ")[2] for line in run.output.splitlines()]
    expected = r"Running with dbt|Registered adapter|Performance info"
    assert [line for line in said if not re.match(expected, line)] == []


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


def test_night_by_night_equals_all_at_once(new_home: Callable[[], Home]) -> None:
    until = ["--until", "2013-01-09"]
    once, nightly = new_home(), new_home()
    for home, command in ((once, ["build"]), (nightly, ["replay", "--step", "week"])):
        run = home.run(*command, *until, *MODELS_ONLY)
        assert run.code == 0, run.output
    assert nightly.versions()["flights"] > once.versions()["flights"]
    for mart in MARTS:
        assert nightly.rows(mart) == once.rows(mart), mart
    # The aircraft moved in between, and the history of the nightly one shows it.
    assert len(nightly.rows("aircraft_history")) > len(once.rows("aircraft_history"))


@pytest.mark.parametrize("command", ["build", "replay"])
def test_until_needs_a_date(new_home: Callable[[], Home], command: str) -> None:
    run = new_home().run(command, "--until", "january")
    assert run.code == 2
    assert run.output == "run: --until needs a date such as 2013-01-31. Got: 'january'\n"
