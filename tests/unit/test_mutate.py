"""The planted faults fit the code as it is, and a missed one is told from a caught one."""

from collections import Counter
from pathlib import Path

import pytest

from tests import mutate

FAULTS = list(mutate.faults())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_place_is_there_once_and_its_tests_exist(fault: mutate.Fault) -> None:
    path = mutate.ROOT / fault.file
    assert fault.applied(path.read_text()) != path.read_text()
    assert all((mutate.ROOT / test.partition("::")[0]).exists() for test in fault.tests)
    # Else pytest deselects what is long.
    assert not fault.long or all("::" in test for test in fault.tests)


def test_test_files_have_names_of_their_own() -> None:
    """pytest imports two of one name as one module, and stops when all are collected."""
    found = Counter(path.name for path in (mutate.ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in found.items() if count > 1] == []


def test_every_folder_has_some() -> None:
    sources = [
        *(mutate.ROOT / "macros").rglob("*.sql"),
        *(mutate.ROOT / "src" / "dbt_delta").glob("*/*.py"),
    ]
    expected = {path.parent.relative_to(mutate.ROOT) for path in sources}
    folders = {Path(fault.file).parent for fault in FAULTS}
    assert expected <= folders, expected - folders
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1


def test_a_caught_a_missed_and_a_broken_one(tmp_path) -> None:
    (tmp_path / "code.py").write_text("ANSWER = 42\nUNUSED = 1\n")
    (tmp_path / "test_code.py").write_text(
        "import code_under_test as code\n\ndef test_it():\n    assert code.ANSWER == 42\n"
    )
    (tmp_path / "code.py").rename(tmp_path / "code_under_test.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")

    def verdict(find: str, replace: str) -> tuple[str, str]:
        tests = ("test_code.py",)
        fault = mutate.Fault("x", "something", "code_under_test.py", find, replace, tests)
        found, said, _ = mutate.tried(fault, tmp_path)
        return found, said

    assert verdict("42", "41") == ("caught", "test_code.py::test_it")
    assert verdict("UNUSED = 1", "UNUSED = 2") == ("MISSED", "something")
    assert verdict("no such text", "x")[0] == "broken"
    assert verdict("ANSWER = 42", "ANSWER = ")[0] == "broken"
    assert (tmp_path / "code_under_test.py").read_text() == "ANSWER = 42\nUNUSED = 1\n"
