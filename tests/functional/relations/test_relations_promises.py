"""Properties, clustering and comments: on a first build, on a rebuild and on every later run."""

import json
from typing import Any

from tests.functional import tables
from tests.functional.harness import Project

DOCS = "persist_docs={'relation': true, 'columns': true}"
FIRST = "select 1 as id, named_struct('a', 1) as s, 'x' as `order`"


def model(kind: str, config: str = "", select: str = FIRST) -> str:
    key = ", unique_key='id'" if kind == "incremental" else ""
    return f"{{{{ config(materialized='{kind}'{key}{', ' + config if config else ''}) }}}} {select}"


def docs(text: str, id_text: str, *names: str) -> str:
    entries = [
        f"""
      - name: {name}
        description: {json.dumps(text)}
        columns:
          - {{name: ID, description: {json.dumps(id_text)}}}
          - {{name: s, description: "a struct"}}
          - {{name: not_there, description: "none"}}"""
        for name in names
    ]
    return "models:" + "".join(entries)


def described(project: Project, name: str = "m") -> dict[str, Any]:
    """The comments that Spark shows: of the table under "", of columns under their names."""
    rows = project.sql(f"describe extended {project.relation(name)}")
    end = next(n for n, row in enumerate(rows) if not row.col_name)
    comments = {row.col_name: row.comment for row in rows[:end]}
    return {"": next((r.data_type for r in rows[end:] if r.col_name == "Comment"), ""), **comments}


def properties(project: Project, name: str = "m") -> dict[str, str]:
    rows = project.sql(f"show tblproperties {project.relation(name)}")
    return {row.key: row.value for row in rows}


def test_comments(project: Project) -> None:
    text = 'it\'s \\ "all" ${x}\nof it'
    kinds = ("table", "incremental", "view")
    names = [f"a_{kind}" for kind in kinds]
    grown = DOCS + ", on_schema_change='append_new_columns'"
    project.write(
        {f"models/a_{kind}.sql": model(kind, DOCS) + ";\n-- the end" for kind in kinds}
        | {
            "models/names.yml": docs(text, "first", *names),
            "models/grown.sql": model("incremental", grown, "select 1 as id"),
            "models/grown.yml": docs("t", "i", "grown"),
            "models/source.sql": model("table", DOCS, "select 1 as id, 2 as v"),
            "models/copied.sql": model(
                "table", DOCS + ", skip_unchanged=true", "select * from {{ ref('source') }}"
            ),
            "models/copied.yml": """
                models:
                  - {name: source, columns: [{name: id, description: a key}]}
                  - {name: copied, columns: [{name: id}]}
            """,
        }
    )

    def shown(name: str) -> dict[str, Any]:
        return {key: value for key, value in described(project, name).items() if value}

    def comments_of_a_source_are_not_taken_over() -> None:
        """A listed column without a description has none; Spark would take the source's."""
        assert described(project, "source")["id"] == "a key"
        assert not described(project, "copied")["id"]

    project.dbt("run")
    for name in names:
        assert shown(name) == {"": text, "id": "first", "s": "a struct"}
    assert tables.versions(project, names[:2]) == {"a_table": 0, "a_incremental": 0}
    comments_of_a_source_are_not_taken_over()

    # A new column comes with its comment.
    select = "select 1 as id, named_struct('a', 1) as s"
    project.write({"models/grown.sql": model("incremental", grown, select)})
    project.dbt("run", "-s", *names[:2], "grown", "source", "copied")
    assert tables.versions(project, names[:2]) == {"a_table": 1, "a_incremental": 1}
    assert described(project, "grown") == {"": "t", "id": "i", "s": "a struct"}
    comments_of_a_source_are_not_taken_over()
    assert tables.version(project, "copied") == 0

    project.write({"models/names.yml": docs("", "second", *names)})
    project.dbt("run", "-s", *names)
    for name in names:
        assert shown(name) == {"id": "second", "s": "a struct"}
    changes = tables.operations(project, "a_incremental", 1)
    assert changes[-1] == "MERGE"
    assert len(changes) == 3  # one for the table, one for its columns
    settled = tables.version(project, "a_incremental")
    project.dbt("run", "-s", "a_incremental")
    assert tables.operations(project, "a_incremental", settled) == ["MERGE"]


def test_properties_and_clustering_follow(project: Project) -> None:
    kinds = ("table", "incremental")
    names = [f"a_{kind}" for kind in kinds]

    def write(mine: str, clustering: str) -> None:
        config = f"tblproperties={{'mine': '{mine}', 'delta.enableChangeDataFeed': true}}"
        config += f", liquid_clustered_by={clustering}"
        project.write({f"models/a_{kind}.sql": model(kind, config) for kind in kinds})

    both = {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"}
    project.write(
        {f"models/mapped_{kind}.sql": model(kind, f"tblproperties={both}") for kind in kinds}
    )
    write("a", "'ID'")
    for version in range(2):
        project.dbt("run")
        assert tables.versions(project, names) == dict.fromkeys(names, version)
        for kind in kinds:
            assert both.items() <= properties(project, f"mapped_{kind}").items()
        for name in names:
            found = properties(project, name)
            assert found["mine"] == "a"
            assert found["delta.enableChangeDataFeed"] == "true"
            assert found["clusteringColumns"] == '[["id"]]'
    for name in names:
        changed = project.sql(f"select * from table_changes('{project.schema}.{name}', 0)")
        assert min(row["_commit_version"] for row in changed) == 0

    write("b", "['s.a', 'id']")
    project.dbt("run", "-s", *names)
    for name in names:
        found = properties(project, name)
        assert found["mine"] == "b"
        assert found["clusteringColumns"] == '[["s","a"],["id"]]'
    settled = tables.versions(project, names)
    project.dbt("run", "-s", *names)
    assert tables.versions(project, names) == {name: n + 1 for name, n in settled.items()}
    project.write({f"models/a_{kind}.sql": model(kind) for kind in kinds})
    project.dbt("run", "-s", *names)
    for name in names:
        assert properties(project, name).get("clusteringColumns", "[]") == "[]"
        assert tables.version(project, name) > settled[name] + 1


def test_a_view_is_made_anew_only_where_it_must_be(project: Project) -> None:
    """CREATE OR REPLACE VIEW leaves a moment without the view."""
    one, other = "select 1 as id, 2 as b", "select 2 as id"
    mine = "tblproperties={'mine': 'a', 'b': true, 'delta.appendOnly': 'true'}"
    # SELECT, configuration and comment of id in each run, and how the view comes to be so.
    views = {
        "owned": [
            (one, mine, "key", "create"),
            (one, mine, "key", "alter"),
            (other, mine, "key", "alter"),
            (other, mine.replace("true", "false"), "key", "create"),
        ],
        "disowned": [
            (other, mine, "key", "create"),
            (other, "", "key", "create"),
            (other, "", "key", "alter"),
            (other, DOCS, "key", "create"),
        ],
        "documented": [
            (other, DOCS, "key", "create"),
            (other, DOCS, "key", None),
            (one, DOCS, "key", "create"),
            (one, DOCS, "key", None),
        ],
        "documented_anew": [
            (one, DOCS, "key", "create"),
            (one, DOCS, "another key", "create"),
            (one, DOCS, "another key", None),
            (one, "", "", "create"),
        ],
    }
    for turn in range(4):
        for name, states in views.items():
            select, config, comment, _ = states[turn]
            text = model("view", config, "-- all of it\n" + select)
            project.write(
                {f"models/{name}.sql": text, f"models/{name}.yml": docs("a view", comment, name)}
            )
        sent = project.dbt("run").statements
        rows = tables.json_rows(project, list(views))
        for name, states in views.items():
            select, config, comment, way = states[turn]
            ways = [s.split(" ")[0] for s in sent if f"view {project.relation(name)}" in s]
            assert ways == ([way] if way else []), (name, turn)
            assert rows[name] == ['{"id":1,"b":2}' if select == one else '{"id":2}']
            found = described(project, name)
            assert (found[""], found["id"] or "") == (
                ("a view", comment) if config == DOCS else ("", "")
            )
            own = properties(project, name)
            assert own.get("mine") == ("a" if "mine" in config else None)
            assert "delta.appendOnly" not in own


def test_seeds_and_snapshots_follow_too(project: Project) -> None:
    common = "tblproperties={'mine': 'MINE'}, liquid_clustered_by='id', persist_constraints=true"
    snapshot = (
        "{% snapshot h %}{{ config(unique_key='id', strategy='check', check_cols='all', CONFIG) }}"
        "select * from {{ ref('s') }}{% endsnapshot %}"
    )

    def write(mine: str, comment: str) -> None:
        entry = f"""
              - name: NAME
                description: {comment}
                config:
                  tblproperties: {{mine: {mine}}}
                  liquid_clustered_by: id
                  persist_constraints: true
                  persist_docs: {{relation: true, columns: true}}
                columns: [{{name: id, description: key, constraints: [{{type: not_null}}]}}]"""
        project.write(
            {
                "seeds/s.csv": "id,v\n1,a\n",
                "snapshots/h.sql": snapshot.replace("CONFIG", f"{common}, {DOCS}").replace(
                    "MINE", mine
                ),
                "models/s.yml": "seeds:" + entry.replace("NAME", "s")
                + "\nsnapshots:" + entry.replace("NAME", "h"),
            }
        )  # fmt: skip

    for mine, comment in (("a", "first"), ("b", "second")):
        write(mine, comment)
        project.dbt("build")
        for name in ("s", "h"):
            found, comments = properties(project, name), described(project, name)
            assert found["mine"] == mine
            assert found["clusteringColumns"] == '[["id"]]'
            assert found["delta.constraints.not_null_id"] == "`id` is not null"
            assert (comments[""], comments["id"]) == (comment, "key")
    settled = tables.version(project, "h")
    project.dbt("snapshot")
    assert set(tables.operations(project, "h", settled)) <= {"MERGE"}


CONTRADICTIONS = [
    ("partition_by='id', liquid_clustered_by='id'", "exclude each other"),
    ("liquid_clustered_by=['a', 'b', 'c', 'd', 'e']", "at most four"),
    ("liquid_clustered_by='id', zorder='id'", "exclude each other"),
    ("clustered_by='id', buckets=2", "Use liquid_clustered_by"),
    ("partition_by='nope'", "partition_by names 'nope'"),
    ("grants={'select': ['a']}", "grants needs a catalog with permissions"),
]


def test_what_delta_does_not_know_and_contradictions(project: Project) -> None:
    databricks = {"delta.targetFileSize": "1mb", "delta.tuneFileSizesForRewrites": "true"}
    project.write(
        {
            "models/m.sql": model("table", f"tblproperties={databricks}"),
            "models/n.sql": model("incremental", f"tblproperties={databricks}"),
        }
    )
    run = project.dbt("run")
    said = (
        "tblproperties delta.targetFileSize is for Databricks and has no effect here. Models: m, n"
    )
    assert run.output.count(said) == 1
    assert not set(databricks) & set(properties(project))

    refused = {
        f"{kind}_{n}": (model(kind, config), text)
        for kind in ("table", "incremental")
        for n, (config, text) in enumerate(CONTRADICTIONS)
    }
    refused["m"] = (
        model("table", "tblproperties={'delta.appendOnyl': 'true'}"),
        "tblproperties has 'delta.appendOnyl', which Delta does not know.",
    )
    refused["materialized"] = (
        model("materialized_view"),
        "materialized_view needs Databricks.",
    )
    project.write({f"models/{name}.sql": sql for name, (sql, _) in refused.items()})
    run = project.dbt("run", "-s", *refused, check=False)
    for name, (_, text) in refused.items():
        assert text in run.result(name).message, name
    assert tables.version(project, "m") == 0
    assert sorted(tables.names(project)) == ["m", "n"]
