"""Tables and views: rebuilt in one step, whatever stands there, and never gone meanwhile.

DBT_DELTA_REBUILDS=50   rebuilds under the eyes of a reader (default 12)
"""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.functional.harness import Project, session
from tests.unit.macros import rendering

REBUILDS = int(os.environ.get("DBT_DELTA_REBUILDS", "12"))
BROKEN = "select int('x') as id"


def model(select: str, kind: str = "table", **config: object) -> str:
    options = "".join(f", {key}={value!r}" for key, value in config.items())
    return f"{{{{ config(materialized='{kind}'{options}) }}}} {select}"


def providers(project: Project) -> dict[str, str]:
    """What Spark says each relation of the schema is: a provider, or VIEW."""
    found = {}
    for row in project.sql("show tables in {schema}"):
        rows = project.sql(f"describe extended {project.relation(row.tableName)}")
        details = {r.col_name: r.data_type for r in rows}
        found[row.tableName] = "VIEW" if details["Type"] == "VIEW" else details["Provider"].lower()
    return found


def test_every_kind_takes_the_place_of_every_other(project: Project) -> None:
    kinds = {
        "delta": {},
        "parquet": {"file_format": "parquet"},
        "orc": {"file_format": "orc"},
        "json": {"file_format": "json"},
        "csv": {"file_format": "csv"},
        "view": {"kind": "view"},
        "incremental": {"kind": "incremental", "unique_key": "id"},
    }
    names = list(kinds)
    shown = {**{n: n for n in names}, "view": "VIEW", "incremental": "delta"}
    for turn in range(len(names)):
        now = {f"m_{n}": names[(at + turn) % len(names)] for at, n in enumerate(names)}
        project.write(
            {
                f"models/{name}.sql": model(f"select {turn} as id", **kinds[kind])
                for name, kind in now.items()
            }
        )
        project.dbt("run", "--full-refresh")
        assert providers(project) == {name: shown[kind] for name, kind in now.items()}
        for name in now:
            # Another session keeps the list of a parquet table's files.
            project.sql(f"refresh table {project.relation(name)}")
            assert project.rows(name) == [{"id": turn}]


@pytest.mark.parametrize("kind", ["table", "view", "incremental"])
@pytest.mark.parametrize("before", ["delta", "parquet", "view"])
def test_a_failed_build_leaves_what_was_there(project: Project, before: str, kind: str) -> None:
    config = {"view": {"kind": "view"}}.get(before, {"file_format": before})
    project.write({"models/m.sql": model("select 1 as id", **config)})
    project.dbt("run")
    broken = "select * from nowhere" if kind == "view" else BROKEN
    project.write({"models/m.sql": model(broken, kind)})
    assert not project.dbt("run", "--full-refresh", check=False).success
    assert project.rows("m") == [{"id": 1}]
    assert list(providers(project)) == ["m"]


def test_a_rebuild_keeps_history_and_restates_all(project: Project) -> None:
    config = {
        "tblproperties": {"delta.enableTypeWidening": "true", "mine": "1"},
        "liquid_clustered_by": ["id"],
    }
    project.write({"models/m.sql": model("select 1 as id", **config)})
    project.dbt("run")
    project.write({"models/m.sql": model("select 2 as id, 'x' as more", **config)})
    project.dbt("run")
    assert [h["operation"] for h in project.history("m")] == [
        "CREATE OR REPLACE TABLE AS SELECT",
        "CREATE TABLE AS SELECT",
    ]
    shown = {r.key: r.value for r in project.sql(f"show tblproperties {project.relation('m')}")}
    assert shown["delta.enableTypeWidening"] == "true"
    assert shown["mine"] == "1"
    assert shown["clusteringColumns"] == '[["id"]]'
    old = project.sql(f"select * from {project.relation('m')} version as of 0")
    assert [row.asDict() for row in old] == [{"id": 1}]


def test_partitions_change(project: Project) -> None:
    select = "select 1 as id, 'a' as p, 'b' as q"
    layouts = [
        {"partition_by": "p"},
        {"partition_by": ["Q", "p"]},
        {},
        {"liquid_clustered_by": "q"},
        {"partition_by": "p"},  # Delta refuses that of a table which was ever clustered
    ]
    for layout in layouts:
        project.write({"models/m.sql": model(select, **layout)})
        project.dbt("run")
        detail = project.sql(f"describe detail {project.relation('m')}")[0]
        wanted = layout.get("partition_by", [])
        wanted = [wanted] if isinstance(wanted, str) else wanted
        assert detail.partitionColumns == [name.lower() for name in wanted]
        assert detail.clusteringColumns == (["q"] if "liquid_clustered_by" in layout else [])
        assert project.rows("m") == [{"id": 1, "p": "a", "q": "b"}]


def test_location_root(project: Project, tmp_path: Path) -> None:
    root = str(tmp_path / "lake")
    project.write({"models/m.sql": model("select 1 as id", location_root=root)})
    for number in (1, 2):
        project.write({"models/m.sql": model(f"select {number} as id", location_root=root)})
        project.dbt("run")
        assert project.rows("m") == [{"id": number}]
        detail = project.sql(f"describe detail {project.relation('m')}")[0]
        assert detail.location == f"file:{root}/m"
    assert len(project.history("m")) == 2
    # To another place: the old files stay where they are.
    project.write({"models/m.sql": model("select 3 as id", location_root=root + "2")})
    project.dbt("run")
    assert project.rows("m") == [{"id": 3}]


def test_skip_unchanged(project: Project) -> None:
    rows = "(1, map('k', 1, 'l', 2)), (1, map('k', 1, 'l', 2)), (null, null)"
    select = f"select id, m from values {rows} as t(id, m)"
    other = "(null, null), (1, map('l', 2, 'k', 1)), (1, map('k', 1, 'l', 2))"
    same = f"select id, m from values {other} as t(id, m)"
    dear = f"select distinct id from ({select})"
    project.write(
        {
            "models/plain.sql": model(select, skip_unchanged=True),
            "models/dear.sql": model(dear, skip_unchanged=True),
        }
    )
    project.dbt("run")
    project.write({"models/plain.sql": model(same, skip_unchanged=True)})
    project.dbt("run")
    assert project.version("plain") == project.version("dear") == 0

    changes = {
        "fewer": (select.replace("(1, map('k', 1, 'l', 2)), (1", "(1"), {}),
        "retyped": (select.replace("select id,", "select cast(id as bigint) as id,"), {}),
        "renamed": (select.replace("select id,", "select id as ID,"), {}),
        "reordered": (select.replace("select id, m", "select m, id"), {}),
        "property": (select, {"tblproperties": {"a": "b"}}),
        "clustered": (select, {"liquid_clustered_by": "id", "tblproperties": {"a": "b"}}),
        "partitioned": (select, {"partition_by": "id"}),
    }
    for text, config in changes.values():
        before = project.sql(f"describe detail {project.relation('plain')}")[0]
        project.write({"models/plain.sql": model(text, skip_unchanged=True, **config)})
        project.dbt("run", "-s", "plain")
        after = project.sql(f"describe detail {project.relation('plain')}")[0]
        assert (before.id, before.lastModified) != (after.id, after.lastModified)
        version = project.version("plain")
        project.dbt("run", "-s", "plain")
        assert project.version("plain") == version
    project.dbt("run", "-s", "plain", "--full-refresh")
    assert project.version("plain") == version + 1
    assert "plain__dbt" not in str(project.sql("show tables in {schema}"))


def test_a_reader_sees_every_rebuild_whole(project: Project) -> None:
    select = "select id, {{ var('turn', 0) }} as turn from range(1000)"
    project.write({"models/m.sql": model(select), "models/v.sql": model(select, "view")})
    project.dbt("run")
    seen: list[tuple[int, int, int]] = []
    failures: list[Exception] = []
    done = threading.Event()

    def read() -> None:
        spark = session()
        while not done.is_set():
            for name in ("m", "v"):
                try:
                    row = spark.sql(
                        "select count(*) as n, min(turn) as low, max(turn) as high "
                        f"from {project.relation(name)}"
                    ).first()
                    seen.append(tuple(row))
                except Exception as error:
                    failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(1, REBUILDS + 1):
            project.dbt("run", vars={"turn": turn})
    finally:
        done.set()
        reader.join()
    assert not failures, failures[0]
    assert len(seen) > REBUILDS
    assert all(count == 1000 and low == high for count, low, high in seen)
    assert len(project.history("m")) == REBUILDS + 1


def test_a_swap_whose_second_half_fails_is_taken_back(project: Project) -> None:
    project.write({"models/m.sql": model("select 1 as id", "view")})
    project.dbt("run")

    def relation(name: str, kind: str) -> SimpleNamespace:
        return SimpleNamespace(schema=project.schema, identifier=name, type=kind)

    existing = {"type": "view", "relation": relation("m", "view")}
    script = rendering.load().get_swap_sql(
        existing, relation("lost", "table"), relation("old", "view")
    )
    with pytest.raises(Exception, match=r"`lost` could not take the name .* is back"):
        project.sql(script)
    assert project.rows("m") == [{"id": 1}]
    assert providers(project) == {"m": "VIEW"}
