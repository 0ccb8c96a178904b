"""Tables and views: rebuilt in one step, whatever stands there, and never gone meanwhile.

DBT_DELTA_REBUILDS=50   rebuilds under the eyes of a reader (default 5)
"""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.functional import tables
from tests.functional.harness import Project, read, session
from tests.unit.macros import rendering

REBUILDS = int(os.environ.get("DBT_DELTA_REBUILDS", "5"))
BROKEN = "select int('x') as id"


def model(select: str, kind: str = "table", **config: object) -> str:
    options = "".join(f", {key}={value!r}" for key, value in config.items())
    return f"{{{{ config(materialized='{kind}'{options}) }}}} {select}"


def providers(project: Project) -> dict[str, str]:
    """What Spark says each relation of the schema is: a provider, or VIEW."""
    found = {}
    for row in project.sql("show table extended in {schema} like '*'"):
        pairs = (line.partition(": ") for line in row.information.splitlines())
        details = {key: value for key, _, value in pairs}
        found[row.tableName] = "VIEW" if details["Type"] == "VIEW" else details["Provider"].lower()
    return found


def refresh(project: Project, *names: str) -> None:
    """Another session keeps the list of a parquet table's files."""
    for name in names:
        read(f"refresh table {project.relation(name)}")


def test_every_kind_takes_the_place_of_every_other(project: Project) -> None:
    formats = ["parquet", "orc", "json", "csv"]
    kinds = ["delta", "other", "view", "incremental"]
    # Shifted by one, by two and by three: each kind comes after each.
    for turn, shift in enumerate((0, 1, 3, 6)):
        now = {f"m_{n}": kinds[(at + shift) % len(kinds)] for at, n in enumerate(kinds)}
        configs: dict[str, dict[str, str]] = {
            "delta": {},
            "other": {"file_format": formats[turn]},
            "view": {"kind": "view"},
            "incremental": {"kind": "incremental", "unique_key": "id"},
        }
        # And each other format after another.
        now["m_format"] = "other"
        project.write(
            {
                f"models/{name}.sql": model(f"select {turn} as id", **configs[kind])
                for name, kind in now.items()
            }
        )
        project.dbt("run", "--full-refresh")
        shown = {"delta": "delta", "other": formats[turn], "view": "VIEW", "incremental": "delta"}
        assert providers(project) == {name: shown[kind] for name, kind in now.items()}
        refresh(project, *(name for name, kind in now.items() if kind == "other"))
        assert tables.json_rows(project, list(now)) == {name: [f'{{"id":{turn}}}'] for name in now}


def test_a_failed_build_leaves_what_was_there(project: Project) -> None:
    befores = {"delta": {}, "parquet": {"file_format": "parquet"}, "view": {"kind": "view"}}
    names = [f"{before}_{kind}" for before in befores for kind in ("table", "view", "incremental")]
    project.write(
        {
            f"models/{name}.sql": model("select 1 as id", **befores[name.split("_")[0]])
            for name in names
        }
    )
    project.dbt("run")
    there = providers(project)
    assert sorted(there) == sorted(names)
    for name in names:
        kind = name.split("_")[1]
        broken = "select * from nowhere" if kind == "view" else BROKEN
        project.write({f"models/{name}.sql": model(broken, kind)})
    failed = project.dbt("run", "--full-refresh", check=False)
    assert {result.status for result in failed.results} == {"error"}
    assert tables.json_rows(project, names) == {name: ['{"id":1}'] for name in names}
    assert providers(project) == there


def test_a_rebuild_keeps_history_and_restates_all(project: Project) -> None:
    config = {
        "tblproperties": {"delta.enableTypeWidening": "true", "mine": "1"},
        "liquid_clustered_by": ["id"],
    }
    for select in ("select 1 as id", "select 2 as id, 'x' as more"):
        project.write({"models/m.sql": model(select, **config)})
        project.dbt("run")
    assert tables.operations(project, "m") == [
        "CREATE TABLE AS SELECT",
        "CREATE OR REPLACE TABLE AS SELECT",
    ]
    shown = {r.key: r.value for r in project.sql(f"show tblproperties {project.relation('m')}")}
    assert shown["delta.enableTypeWidening"] == "true"
    assert shown["mine"] == "1"
    assert shown["clusteringColumns"] == '[["id"]]'
    old = project.sql(f"select * from {project.relation('m')} version as of 0")
    assert [row.asDict() for row in old] == [{"id": 1}]


def test_partitions_and_places_change(project: Project, tmp_path: Path) -> None:
    root = str(tmp_path / "lake")
    configs: dict[str, list[dict[str, object]]] = {
        "partitioned": [{"partition_by": "p"}, {"partition_by": ["Q", "p"]}, {}],
        # Delta refuses partitions of a table which was ever clustered.
        "clustered": [{}, {"liquid_clustered_by": "q"}, {"partition_by": "p"}],
        # In the end to another place: the old files stay where they are.
        "placed": [{"location_root": place} for place in (root, root, root + "2")],
    }
    for turn in range(3):
        select = f"select {turn} as id, 'a' as p, 'b' as q"
        project.write(
            {f"models/{name}.sql": model(select, **some[turn]) for name, some in configs.items()}
        )
        project.dbt("run")
        for name, some in configs.items():
            detail = project.sql(f"describe detail {project.relation(name)}")[0]
            wanted = some[turn].get("partition_by", [])
            wanted = [wanted] if isinstance(wanted, str) else wanted
            assert detail.partitionColumns == [column.lower() for column in wanted]
            clustering = ["q"] if "liquid_clustered_by" in some[turn] else []
            assert detail.clusteringColumns == clustering
            place = some[turn].get("location_root", project.warehouse)
            assert detail.location == f"file:{place}/{name}"
        rows = tables.json_rows(project, list(configs))
        assert rows == {name: [f'{{"id":{turn},"p":"a","q":"b"}}'] for name in configs}
        if turn == 1:
            assert len(project.history("placed")) == 2
    assert len(list((tmp_path / "lake" / "placed").glob("*.parquet"))) == 2


def test_skip_unchanged(project: Project) -> None:
    rows = "(1, map('k', 1, 'l', 2)), (1, map('k', 1, 'l', 2)), (null, null)"
    select = f"select id, m from values {rows} as t(id, m)"
    other = "(null, null), (1, map('l', 2, 'k', 1)), (1, map('k', 1, 'l', 2))"
    same = f"select id, m from values {other} as t(id, m)"
    expensive = f"select distinct id from ({select})"
    changes: dict[str, tuple[str, dict[str, object]]] = {
        "fewer": (select.replace("(1, map('k', 1, 'l', 2)), (1", "(1"), {}),
        "retyped": (select.replace("select id,", "select cast(id as bigint) as id,"), {}),
        "property": (select, {"tblproperties": {"a": "b"}}),
        "partitioned": (select, {"partition_by": "id"}),
    }
    # Changes too: other order, other name, clustered.
    later: dict[str, tuple[str, dict[str, object]]] = {
        "same": (same.replace("select id, m", "select m, id"), {}),
        "expensive": (expensive.replace("distinct id", "distinct id as ID"), {}),
        "fewer": (changes["fewer"][0], {"liquid_clustered_by": "id"}),
    }

    def write(texts: dict[str, tuple[str, dict[str, object]]]) -> None:
        for name, (text, config) in texts.items():
            project.write({f"models/{name}.sql": model(text, skip_unchanged=True, **config)})

    def states() -> dict[str, tuple[str, int]]:
        return {
            name: (tables.metadata(project, name)["id"], tables.version(project, name))
            for name in changes
        }

    write(
        {"expensive": (expensive, {}), "same": (select, {})} | dict.fromkeys(changes, (select, {}))
    )
    project.dbt("run")
    first = states()
    write({"same": (same, {})} | changes)
    project.dbt("run")
    assert tables.versions(project, ("same", "expensive")) == {"same": 0, "expensive": 0}
    # The next run of expensive would drop what it had staged.
    names = sorted(["expensive", "same", *changes])
    assert sorted(tables.names(project)) == names
    second = states()
    assert [name for name in changes if first[name] == second[name]] == []
    write(later)
    project.dbt("run")
    third = states()
    assert [name for name in changes if third[name] != second[name]] == ["fewer"]
    assert tables.versions(project, ("same", "expensive")) == {"same": 1, "expensive": 1}
    assert sorted(tables.names(project)) == names
    project.dbt("run", "-s", "expensive", "--full-refresh")
    assert tables.version(project, "expensive") == 2
    assert sorted(tables.names(project)) == names


@pytest.mark.long
def test_a_reader_sees_every_rebuild_whole(project: Project) -> None:
    select = "select id, {{ var('turn', 0) }} as turn from range(1000)"
    project.write({"models/m.sql": model(select), "models/v.sql": model(select, "view")})
    project.dbt("run")
    seen: list[tuple[int, int, int]] = []
    failures: list[Exception] = []
    done = threading.Event()

    def look() -> None:
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
            done.wait(0.02)

    reader = threading.Thread(target=look)
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
    assert tables.version(project, "m") == REBUILDS


def test_a_swap_whose_second_half_fails_is_taken_back(project: Project) -> None:
    project.sql("create schema {schema}")
    project.sql("create view {schema}.m as select 1 as id")

    def relation(name: str, kind: str) -> SimpleNamespace:
        return SimpleNamespace(schema=project.schema, identifier=name, type=kind)

    existing = {"type": "view", "relation": relation("m", "view")}
    script = rendering.load().get_swap_sql(
        existing, relation("lost", "table"), relation("old", "view")
    )
    with pytest.raises(Exception, match=r"`lost` could not be renamed to .* is back"):
        project.sql(script)
    assert project.rows("m") == [{"id": 1}]
    assert providers(project) == {"m": "VIEW"}
