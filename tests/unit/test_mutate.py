"""The planted faults fit the code as it is, and a missed one is told from a caught one."""

from collections import Counter

import pytest

from tests import mutate

FAULTS = list(mutate.faults())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_place_is_there_once_and_its_tests_exist(fault: mutate.Fault) -> None:
    path = mutate.ROOT / fault.file
    assert fault.applied(path.read_text()) != path.read_text()
    assert all((mutate.ROOT / test.partition("::")[0]).exists() for test in fault.tests)


def test_every_folder_has_some() -> None:
    counts = Counter(folder for fault in FAULTS for folder in fault.file.split("/")[:-1])
    folders = [*(mutate.ROOT / "macros").iterdir(), *(mutate.ROOT / "src" / "dbt_delta").iterdir()]
    expected = {path.name for path in folders if path.is_dir() and path.name != "__pycache__"}
    assert expected <= set(counts), expected - set(counts)
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
