"""Properties, clustering and comments: on a first build, on a rebuild and on every later run."""

import json
from typing import Any

import pytest

from tests.functional.harness import Project

DOCS = "persist_docs={'relation': true, 'columns': true}"
FIRST = "select 1 as id, named_struct('a', 1) as s, 'x' as `order`"


def model(kind: str, config: str = "", select: str = FIRST) -> str:
    key = ", unique_key='id'" if kind == "incremental" else ""
    return f"{{{{ config(materialized='{kind}'{key}{', ' + config if config else ''}) }}}} {select}"


def docs(text: str, id_text: str, name: str = "m") -> str:
    return f"""
    models:
      - name: {name}
        description: {json.dumps(text)}
        columns:
          - {{name: ID, description: {json.dumps(id_text)}}}
          - {{name: s, description: "a struct"}}
          - {{name: not_there, description: "none"}}
    """


def described(project: Project, name: str = "m") -> dict[str, Any]:
    """The comments that Spark shows: of the table under "", of columns under their names."""
    rows = project.sql(f"describe extended {project.relation(name)}")
    end = next(n for n, row in enumerate(rows) if not row.col_name)
    comments = {row.col_name: row.comment for row in rows[:end]}
    return {"": next((r.data_type for r in rows[end:] if r.col_name == "Comment"), ""), **comments}


def properties(project: Project, name: str = "m") -> dict[str, str]:
    rows = project.sql(f"show tblproperties {project.relation(name)}")
    return {row.key: row.value for row in rows}


def operations(project: Project, since: int, name: str = "m") -> list[str]:
    """The operations after a version, oldest first."""
    return [h["operation"] for h in project.history(name) if h["version"] > since][::-1]


@pytest.mark.parametrize("kind", ["table", "incremental", "view"])
def test_comments(project: Project, kind: str) -> None:
    text = 'it\'s \\ "all" ${x}\nof it'
    project.write(
        {
            "models/m.sql": model(kind, DOCS) + ";\n-- the end",
            "models/s.yml": docs(text, "first"),
        }
    )
    project.dbt("run")
    expected = {"": text, "id": "first", "s": "a struct"}
    assert {k: v for k, v in described(project).items() if v} == expected
    if kind != "view":
        assert len(project.history("m")) == 1
    project.dbt("run")
    if kind != "view":
        assert len(project.history("m")) == 2

    project.write({"models/s.yml": docs("", "second")})
    project.dbt("run")
    assert {k: v for k, v in described(project).items() if v} == {"id": "second", "s": "a struct"}
    if kind == "incremental":
        assert operations(project, 1)[-1] == "MERGE"
        assert len(operations(project, 1)) == 3  # one for the table, one for its columns
        settled = project.version("m")
        project.dbt("run")
        assert operations(project, settled) == ["MERGE"]


def test_a_new_column_comes_with_its_comment(project: Project) -> None:
    config = DOCS + ", on_schema_change='append_new_columns'"
    project.write({"models/m.sql": model("incremental", config, "select 1 as id")})
    project.write({"models/s.yml": docs("t", "i")})
    project.dbt("run")
    project.write(
        {"models/m.sql": model("incremental", config, "select 1 as id, named_struct('a', 1) as s")}
    )
    project.dbt("run")
    assert described(project) == {"": "t", "id": "i", "s": "a struct"}


@pytest.mark.parametrize("kind", ["table", "incremental"])
def test_properties_and_clustering_follow(project: Project, kind: str) -> None:
    changes = "'delta.enableChangeDataFeed': true"
    project.write(
        {
            "models/m.sql": model(
                kind, f"tblproperties={{'mine': 'a', {changes}}}, liquid_clustered_by='ID'"
            )
        }
    )
    project.dbt("run")
    found = properties(project)
    assert found["mine"] == "a"
    assert found["delta.enableChangeDataFeed"] == "true"
    assert found["clusteringColumns"] == '[["id"]]'
    assert len(project.history("m")) == 1
    project.dbt("run")
    assert len(project.history("m")) == 2
    changed = project.sql(f"select * from table_changes('{project.schema}.m', 0)")
    assert min(row["_commit_version"] for row in changed) == 0

    project.write(
        {
            "models/m.sql": model(
                kind, f"tblproperties={{'mine': 'b', {changes}}}, liquid_clustered_by=['s.a', 'id']"
            )
        }
    )
    project.dbt("run")
    assert properties(project)["mine"] == "b"
    assert properties(project)["clusteringColumns"] == '[["s","a"],["id"]]'
    settled = project.version("m")
    project.dbt("run")
    assert project.version("m") == settled + 1
    project.write({"models/m.sql": model(kind)})
    project.dbt("run")
    assert properties(project).get("clusteringColumns", "[]") == "[]"
    assert project.version("m") > settled + 1


def test_change_feed_with_column_mapping(project: Project) -> None:
    both = (
        "tblproperties={'delta.enableChangeDataFeed': 'true', 'delta.columnMapping.mode': 'name'}"
    )
    for kind in ("table", "incremental"):
        project.write({f"models/{kind}.sql": model(kind, both)})
    for _ in range(2):
        project.dbt("run")
        for kind in ("table", "incremental"):
            found = properties(project, kind)
            assert found["delta.enableChangeDataFeed"] == "true"
            assert found["delta.columnMapping.mode"] == "name"


def test_view_has_properties(project: Project) -> None:
    config = "tblproperties={'mine': 'a', 'delta.appendOnly': 'true'}"
    project.write({"models/m.sql": model("view", config)})
    project.dbt("run")
    assert properties(project)["mine"] == "a"
    assert "delta.appendOnly" not in properties(project)


def test_a_view_is_made_anew_only_where_it_must_be(project: Project) -> None:
    """CREATE OR REPLACE VIEW leaves a moment without the view."""

    def write(select: str, config: str, comment: str) -> None:
        text = model("view", config, "-- all of it\n" + select)
        project.write({"models/m.sql": text, "models/s.yml": docs("a view", comment)})

    def replacements(name: str) -> list[str]:
        sent = project.dbt("run").statements
        return [one.split(" ")[0] for one in sent if f"view {project.relation(name)}" in one]

    one, other = "select 1 as id, 2 as b", "select 2 as id"
    mine = "tblproperties={'mine': 'a', 'b': true}"
    for select, config, comment, way in (
        (one, mine, "key", "create"),
        (one, mine, "key", "alter"),
        (other, mine, "key", "alter"),
        (other, mine.replace("true", "false"), "key", "create"),
        (other, "", "key", "create"),
        (other, "", "key", "alter"),
        (other, DOCS, "key", "create"),
        (other, DOCS, "key", None),
        (one, DOCS, "key", "create"),
        (one, DOCS, "another key", "create"),
        (one, DOCS, "another key", None),
        (one, "", "", "create"),
        (one, "", "", "alter"),
    ):
        write(select, config, comment)
        assert replacements("m") == ([way] if way else []), (select, config, comment)
        assert project.rows("m") == [{"id": 1, "b": 2} if select == one else {"id": 2}]
        found = described(project)
        assert (found[""], found["id"] or "") == (
            ("a view", comment) if config == DOCS else ("", "")
        )
        assert properties(project).get("mine") == ("a" if "mine" in config else None)


def test_comments_of_a_source_are_not_taken_over(project: Project) -> None:
    """A listed column without a description has no comment; Spark would take the source's."""
    project.write(
        {
            "models/source.sql": model("table", DOCS, "select 1 as id, 2 as v"),
            "models/m.sql": model(
                "table", DOCS + ", skip_unchanged=true", "select * from {{ ref('source') }}"
            ),
            "models/s.yml": """
                models:
                  - {name: source, columns: [{name: id, description: a key}]}
                  - {name: m, columns: [{name: id}]}
            """,
        }
    )
    for _ in range(2):
        project.dbt("run")
        assert described(project, "source")["id"] == "a key"
        assert not described(project)["id"]
    assert project.version("m") == 0


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
            assert properties(project, name)["mine"] == mine
            assert properties(project, name)["clusteringColumns"] == '[["id"]]'
            assert properties(project, name)["delta.constraints.not_null_id"] == "`id` is not null"
            assert described(project, name)[""] == comment
            assert described(project, name)["id"] == "key"
    settled = project.version("h")
    project.dbt("build")
    assert {op for op in operations(project, settled, "h")} <= {"MERGE"}


def test_materialized_views_are_refused(project: Project) -> None:
    project.write({"models/m.sql": model("materialized_view")})
    assert "materialized_view needs Databricks." in project.dbt("run", check=False).output


def test_what_delta_does_not_know(project: Project) -> None:
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
    before = project.version("m")
    project.write({"models/m.sql": model("table", "tblproperties={'delta.appendOnyl': 'true'}")})
    refused = project.dbt("run", "-s", "m", check=False).output
    assert "tblproperties has 'delta.appendOnyl', which Delta does not know." in refused
    assert project.version("m") == before


CONTRADICTIONS = [
    ("partition_by='id', liquid_clustered_by='id'", "exclude each other"),
    ("liquid_clustered_by=['a', 'b', 'c', 'd', 'e']", "at most four"),
    ("liquid_clustered_by='id', zorder='id'", "exclude each other"),
    ("clustered_by='id', buckets=2", "Use liquid_clustered_by"),
    ("partition_by='nope'", "partition_by names 'nope'"),
    ("grants={'select': ['a']}", "grants needs a catalog with permissions"),
]


def test_contradictions(project: Project) -> None:
    said = {
        f"{kind}_{n}": (model(kind, config), text)
        for kind in ("table", "incremental")
        for n, (config, text) in enumerate(CONTRADICTIONS)
    }
    project.write({f"models/{name}.sql": sql for name, (sql, _) in said.items()})
    run = project.dbt("run", check=False)
    for name, (_, text) in said.items():
        assert text in run.result(name).message, name
    assert project.sql("show tables in {schema}") == []
