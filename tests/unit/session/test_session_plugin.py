"""Which adapter dbt makes, and what is replaced in dbt for it."""

import re
from importlib import import_module

import pytest
from dbt.adapters import spark
from dbt.adapters.factory import FACTORY, get_adapter_type_names, get_relation_class_by_name
from dbt.adapters.spark.impl import SparkAdapter

from dbt_delta.home import project_dir
from dbt_delta.session import patches, plugin, versions
from dbt_delta.session.adapter import DeltaAdapter
from dbt_delta.session.relation import DeltaRelation
from dbt_delta.session.stock import StockAdapter


@pytest.fixture(autouse=True)
def stock(monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt-spark as it is, before the plugin starts; what a test does is undone."""
    monkeypatch.setattr(spark.Plugin, "adapter", SparkAdapter)
    monkeypatch.delenv(plugin.SWITCH, raising=False)
    for patch in patches.PATCHES:
        owner, name = _owner(patch)
        ours = getattr(owner, name)
        monkeypatch.setattr(owner, name, getattr(ours, "__wrapped__", ours))


def _owner(patch: patches.Patch) -> tuple[object, str]:
    owner: object = import_module(patch.module)
    *path, name = patch.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    return owner, name


def _is_patched(patch: patches.Patch) -> bool:
    owner, name = _owner(patch)
    return hasattr(getattr(owner, name), "dbt_delta")


def _pretend(monkeypatch: pytest.MonkeyPatch, **found: str) -> None:
    """Other versions are installed, by the names with underscores."""
    real = versions.version
    known = {name.replace("_", "-"): version for name, version in found.items()}
    monkeypatch.setattr(versions, "version", lambda name: known.get(name) or real(name))


def test_dbt_makes_our_adapter_of_the_type_spark() -> None:
    """dbt loads dbt-spark with the profile, before it starts plugins."""
    FACTORY.load_plugin("spark")
    plugin.install()
    assert FACTORY.get_adapter_class_by_name("spark") is DeltaAdapter
    assert get_relation_class_by_name("spark") is DeltaRelation
    # Macros are dispatched by these names.
    assert get_adapter_type_names("spark") == ["spark"]
    # Of each node dbt notes the version of the adapter.
    assert DeltaAdapter.get_adapter_run_info(None).adapter_name == "spark"
    assert [patch for patch in patches.PATCHES if _is_patched(patch)] == [patches.SEED_FILES]


def test_a_second_start_changes_nothing() -> None:
    plugin.install()
    owner, name = _owner(patches.SEED_FILES)
    before = getattr(owner, name)
    plugin.install()
    assert getattr(owner, name) is before
    assert spark.Plugin.adapter is DeltaAdapter


def test_what_extends_our_adapter_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Extended(DeltaAdapter):
        pass

    monkeypatch.setattr(spark.Plugin, "adapter", Extended)
    plugin.install()
    assert spark.Plugin.adapter is Extended


def test_off_leaves_dbt_spark_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugin.SWITCH, "off")
    plugin.install()
    assert spark.Plugin.adapter is SparkAdapter
    assert not any(_is_patched(patch) for patch in patches.PATCHES)


@pytest.mark.parametrize("name", versions.TESTED)
def test_beside_another_version_dbt_spark_stays_with_one_warning(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(plugin.logger, "warning", said.append)
    _pretend(monkeypatch, **{name.replace("-", "_"): "99.0.0"})
    plugin.install()
    plugin.install()
    tested = ", ".join(versions.TESTED[name])
    assert said == [
        f"dbt_delta's session is not used: {name} 99.0.0 is not a tested version ({tested}). "
        "DBT_DELTA_PLUGIN=off silences this."
    ]
    assert spark.Plugin.adapter is StockAdapter
    available = {name for name in StockAdapter._available_ if name.startswith("dbt_delta")}
    assert available == {"dbt_delta_plugin"}
    for patch in patches.PATCHES:
        patches.apply(patch)
        assert not _is_patched(patch)


def test_several_other_versions_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, dbt_core="2.0.0", dbt_spark="3.0.0")
    core, spark_ = (", ".join(versions.TESTED[name]) for name in ("dbt-core", "dbt-spark"))
    assert versions.obstacle() == (
        f"dbt-core 2.0.0 is not a tested version ({core}) and "
        f"dbt-spark 3.0.0 is not a tested version ({spark_})"
    )


def test_an_install_brings_tested_versions() -> None:
    pins = re.findall(r'"(dbt-\w+)(?:\[\w+\])?==([\d.]+)"', _pyproject())
    assert {name: (version,) for name, version in pins} == versions.TESTED


def _pyproject() -> str:
    return (project_dir() / "pyproject.toml").read_text()


def test_a_patch_is_applied_once() -> None:
    patch = patches.FIRST_FAILURE
    patches.apply(patch)
    owner, name = _owner(patch)
    before = getattr(owner, name)
    patches.apply(patch)
    assert getattr(owner, name) is before
    assert all(patch.reason.endswith(".") for patch in patches.PATCHES)
