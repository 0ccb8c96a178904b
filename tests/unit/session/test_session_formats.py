"""Which format a target has, what it needs before Spark starts, and names in its catalog."""

from pathlib import Path

import pytest

from dbt_delta.session import formats, iceberg, store
from dbt_delta.session.relation import DeltaRelation

CATALOG = "spark.sql.catalog.lake"


def _settings(home: Path) -> dict[str, str]:
    return {
        "spark.sql.defaultCatalog": "lake",
        CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.uri": f"jdbc:sqlite:{home}/iceberg/catalog.db?busy_timeout=1",
        f"{CATALOG}.warehouse": f"{home}/iceberg/warehouse",
        f"{CATALOG}.cache-enabled": "False",
        store.WAREHOUSE: f"{home}/warehouse",
    }


def test_the_default_catalog_says_the_format(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    assert formats.asked(settings) == "iceberg"
    assert formats.asked({**settings, "spark.sql.defaultCatalog": "other"}) == formats.DELTA
    assert formats.asked({}) == formats.DELTA
    assert formats.jar_folders({}) == []


def test_the_folder_of_a_catalog_is_made(tmp_path: Path) -> None:
    home = tmp_path / "a home"
    iceberg.prepare(_settings(home))
    assert (home / "iceberg").is_dir()


def test_tables_without_their_catalog_are_not_built_over(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    (tmp_path / "iceberg/warehouse/s/t/metadata").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"catalog\.db is gone, but .* has tables of it"):
        iceberg.prepare(settings)
    (tmp_path / "iceberg/catalog.db").touch()
    iceberg.prepare(settings)


def test_a_store_is_refused_by_name(tmp_path: Path) -> None:
    settings = {**_settings(tmp_path), store.WAREHOUSE: "s3a://lake/warehouse"}
    with pytest.raises(ValueError, match="DBT_DELTA_STORE is s3a://lake/warehouse, but on Iceberg"):
        formats.prepare(settings)
    assert not (tmp_path / "iceberg").exists()


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (f"{CATALOG}.cache-enabled", "true", "cache-enabled is true: a session would not see"),
        (f"{CATALOG}.cache-enabled", None, "cache-enabled is not set, which means true"),
        ("spark.wap.branch", "audit", "spark.wap.branch of the profile is audit: what is written"),
    ],
)
def test_settings_that_take_promises_away_are_refused(
    tmp_path: Path, key: str, value: str | None, problem: str
) -> None:
    settings = {**_settings(tmp_path), key: value}
    with pytest.raises(ValueError, match=problem):
        iceberg.prepare({name: text for name, text in settings.items() if text is not None})
    assert not (tmp_path / "iceberg").exists()


@pytest.mark.parametrize(
    ("sql", "is_refused"),
    [
        ("set spark.wap.branch=audit", True),
        ("/* dbt */\nSET `spark.wap.id` = `x`", True),
        ("reset spark.wap.branch", False),
        ("set spark.sql.ansi.enabled=true", False),
        ("select 'set spark.wap.branch=audit'", False),
    ],
)
def test_writes_to_branches_are_refused(sql: str, is_refused: bool) -> None:
    formats.check_statement(formats.DELTA, sql)
    if not is_refused:
        formats.check_statement("iceberg", sql)
        return
    with pytest.raises(ValueError, match="would go to a branch"):
        formats.check_statement("iceberg", sql)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("identity(p)", "p"),
        ("identity(`a b`)", "a b"),
        ("days(ts)", "days(ts)"),
        ("bucket(4, `i d`)", "bucket(4, i d)"),
        ("truncate(2, p)", "truncate(2, p)"),
    ],
)
def test_partitions_are_read_as_they_are_written(text: str, expected: str) -> None:
    assert iceberg._transform(text) == expected


def test_names_that_differ_in_case_are_one() -> None:
    found = DeltaRelation.create(schema="S", identifier="Tëble")
    assert found.matches(schema="s", identifier="tëble")
    assert not found.matches(schema="s", identifier="other")
