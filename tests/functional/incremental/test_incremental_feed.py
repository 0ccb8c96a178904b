"""A merge that deletes by its own operation column: the feed of a change log."""

import pytest

from tests.functional.harness import Project
from tests.functional.incremental.models import messages, model, tables, values, write_models
from tests.functional.tables import metadata, versions

COLUMNS = "id, v, op"
FIRST = values(
    COLUMNS, "1, 'a', 'insert'", "2, 'b', 'insert'", "null, 'n', 'insert'", "9, 'z', 'delete'"
)
THEN = values(
    COLUMNS,
    "1, 'A', 'update'",
    "2, 'b', 'delete'",
    "null, 'n', 'delete'",
    "4, 'd', 'insert'",
    # Of keys that the table does not have.
    "8, 'y', 'delete'",
    "5, 'e', 'update'",
)
FEED = {
    "unique_key": "id",
    "matched_delete_condition": "DBT_INTERNAL_SOURCE.op = 'delete'",
    "merge_control_columns": "op",
    "merge_skip_unchanged": True,
}
CONDITIONS = {
    "matched_condition": "DBT_INTERNAL_SOURCE.op = 'update'",
    "not_matched_condition": "DBT_INTERNAL_SOURCE.op = 'insert'",
}
COPIED = {"tblproperties": {"delta.enableDeletionVectors": False}}
SYNCED = {
    "on_schema_change": "sync_all_columns",
    "tblproperties": {"delta.columnMapping.mode": "name"},
}
MODELS = {
    "vectors": {**FEED, **CONDITIONS},
    "copied": {**FEED, **CONDITIONS, **COPIED},
    # What is no delete is an update or an insert.
    "upserted": FEED,
    "only_deleted": {**FEED, "skip_matched_step": True, "skip_not_matched_step": True},
    "synced": {**FEED, **CONDITIONS, **SYNCED},
}


@pytest.mark.long
def test_rows_are_deleted_updated_and_inserted_in_one_commit(project: Project) -> None:
    write_models(project, {name: model(FIRST, THEN, **config) for name, config in MODELS.items()})
    project.dbt("run")
    first, then = [(None, "n"), (1, "a"), (2, "b")], [(1, "A"), (4, "d")]
    assert tables(project, MODELS) == {name: first for name in MODELS}
    project.dbt("run")
    assert tables(project, MODELS) == {
        **{name: then for name in MODELS},
        "upserted": [(1, "A"), (4, "d"), (5, "e")],
        "only_deleted": [(1, "a")],
    }
    assert versions(project, MODELS) == dict.fromkeys(MODELS, 1)
    for name in MODELS:
        assert '"op"' not in metadata(project, name)["schemaString"]
    # The same batch again changes nothing.
    project.dbt("run")
    assert versions(project, MODELS) == dict.fromkeys(MODELS, 1)


def test_what_makes_no_sense_is_refused(project: Project) -> None:
    write_models(
        project,
        {
            "appended": model(FIRST, **{**FEED, "incremental_strategy": "append"}),
            "without_key": model(FIRST, **{**FEED, "unique_key": None}),
            "misnamed": model(FIRST, **{**FEED, "merge_control_columns": ["op", "opp"]}),
        },
    )
    found = messages(project.dbt("run", check=False))
    assert "need incremental_strategy merge, but it is append." in found["appended"]
    assert "matched_delete_condition needs unique_key" in found["without_key"]
    assert "merge_control_columns names 'opp', which is not a column" in found["misnamed"]
    assert not [row for row in project.sql("show tables in {schema}") if not row.isTemporary]
