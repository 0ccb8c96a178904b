"""dbt's test bases for descriptions that become comments.

The bases read comments from the catalog of dbt docs, where dbt-spark has none; here the tables
themselves are asked.
"""

from typing import Any

import pytest
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.util import run_dbt, run_dbt_and_capture

pytestmark = pytest.mark.long


def described(project: Any, name: str) -> dict[str, Any]:
    """A relation as a node of the catalog, with its comments."""
    rows = project.run_sql(f"describe extended {{schema}}.{name}", fetch="all")
    end = next(i for i, row in enumerate(rows) if not row[0] or row[0].startswith("#"))
    details = {row[0]: row[1] for row in rows[end:]}
    return {
        "metadata": {"comment": details.get("Comment") or None},
        "columns": {row[0]: {"comment": row[2] or None} for row in rows[:end]},
    }


class TestPersistDocs(BasePersistDocs):
    def test_has_comments_pglike(self, project: Any) -> None:
        self._assert_has_table_comments(described(project, "table_model"))
        self._assert_has_view_comments(described(project, "view_model"))
        self._assert_has_view_comments(described(project, "no_docs_model"), False, False)

    def test_catalog_has_comments(self, project: Any) -> None:
        """The base's own test."""
        super().test_has_comments_pglike(project)


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    def test_missing_column(self, project: Any) -> None:
        comment = described(project, "missing_column")["columns"]["id"]["comment"]
        assert comment.startswith("test id column description")


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    pass


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch
):
    def test_quoted_description_not_applied_on_case_mismatch(self, project: Any) -> None:
        _, logs = run_dbt_and_capture(["run"])
        assert (
            "The following columns are specified in the schema but are not present in the "
            "database: mycol" in logs
        )
        columns = described(project, "quoted_physical_case_mismatch")["columns"]
        assert columns == {"MyCol": {"comment": None}}


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    def test_quoted_column_comments(self, project: Any) -> None:
        run_dbt()
        comment = described(project, "quote_model")["columns"]["2id"]["comment"]
        assert comment.startswith("XXX")
