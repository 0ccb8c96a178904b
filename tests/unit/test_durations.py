"""The record of the tests' seconds, and which tests grew."""

import pytest

from tests import durations


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(durations, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(durations, "LAST", tmp_path / "cache" / "last.json")


def test_a_test_that_grew_is_named_with_its_seconds(files, capsys) -> None:
    durations.keep({"a.py::slow": 10.0, "a.py::same": 4.0, "b.py::small": 0.1})
    assert durations.main(["--record"]) == 0
    durations.keep({"a.py::slow": 16.0, "b.py::small": 2.9, "b.py::new": 5.0})
    capsys.readouterr()
    assert durations.main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "    16      10 before  a.py::slow",
        "     5       0 before  b.py::new",
        "    28  in all, of 4 tests. Those 3 on record: 23, 14 before",
    ]
    assert durations.recorded() == {"a.py::slow": 10.0, "a.py::same": 4.0, "b.py::small": 0.1}
    assert durations.by_file(durations.recorded()) == {"a.py": 14.0, "b.py": 0.1}


def test_without_a_run_it_says_so(files, capsys) -> None:
    assert durations.main([]) == 2
    assert capsys.readouterr().err == "durations: no run of ./run test is on record here yet\n"


def test_what_may_follow(files, capsys) -> None:
    assert durations.main(["--recrod"]) == 2
    assert "only --record may follow. Got: --recrod" in capsys.readouterr().err
