"""Texts of the landing macros; what they do is in tests/functional/landing."""

from types import SimpleNamespace

import pytest

from tests.unit.macros.rendering import CompilationError

COLUMNS = {"id": "bigint", "order": "string"}


def test_no_files_read_nothing(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", "a", COLUMNS, [])
    assert "where false" in sql
    assert "where _metadata.file_path in" not in sql


def test_only_the_named_files_are_read(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", "a", COLUMNS, ["file:/it's.csv", "file:/b.csv"])
    assert r"_metadata.file_path in ('file:/it\'s.csv', 'file:/b.csv')" in " ".join(sql.split())


def test_names_are_quoted(macros) -> None:
    sql = macros().get_landed_csv_sql("/landing/a", "a", COLUMNS, [])
    assert "as `order`" in sql
    assert "try_cast(fields.`id` as bigint)" in sql


def test_the_first_load_has_number_one_and_later_ones_count_on(macros) -> None:
    get = macros().get_landed_csv_sql
    assert "cast(1 as bigint) as _load_id" in get("/l/a", "a", COLUMNS, [])
    later = get("/l/a", "a", COLUMNS, [], ledger="db.t")
    assert "(select coalesce(max(_load_id), 0) + 1 from db.t) as _load_id" in " ".join(
        later.split()
    )


@pytest.mark.parametrize("columns", [["id"], {}, "id", None])
def test_columns_must_be_a_mapping(macros, columns: object) -> None:
    with pytest.raises(CompilationError, match=r"landed_csv needs columns as a mapping .* Got: "):
        macros().landed_csv("a", columns)


def test_landing_dir_by_variable_environment_and_place(macros) -> None:
    def landing_dir(variable: str | None = None, home: str | None = None) -> str:
        return macros(
            var=lambda name, default: variable or default,
            env_var=lambda name, default: home or default,
            flags=SimpleNamespace(PROFILES_DIR="/project"),
        ).landing_dir()

    assert landing_dir() == "/project/var/landing"
    assert landing_dir(home="/data") == "/data/landing"
    assert landing_dir(variable="/mine", home="/data") == "/mine"


def test_latest_dump_takes_the_newest_file(macros) -> None:
    sql = " ".join(macros().latest_dump("db.t").split())
    assert "max_by(_file_hash, struct(_load_id, _file_modified_at, _file))" in sql
