"""The reference project built for real, by ./run, each time in a home of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.functional import harness

SCHEMA = "dbt_delta.db"


@dataclass
class Home:
    """A DBT_DELTA_HOME that ./run commands of a test share."""

    path: Path

    def run(self, *arguments: str) -> harness.Run:
        return harness.run_command(*arguments, env=harness.environment(self.path))

    def tables(self) -> dict[str, Path]:
        """Folders of the Delta tables by name."""
        found = (self.path / "warehouse" / SCHEMA).iterdir()
        return {folder.name: folder for folder in sorted(found) if (folder / "_delta_log").is_dir()}

    def versions(self) -> dict[str, int]:
        """Newest version per table, by the commit files of its log."""
        return {
            name: max(int(file.stem) for file in (folder / "_delta_log").glob("*[0-9].json"))
            for name, folder in self.tables().items()
        }

    def authors_since(self, versions: dict[str, int]) -> set[tuple[str, str | None]]:
        """What the commits after these versions did and which node did it, new tables included.

        Not of the records of dbt_delta.
        """
        actions = (
            json.loads(line)
            for name, folder in self.tables().items()
            if name != "dbt_delta_state"
            for file in (folder / "_delta_log").glob("*[0-9].json")
            if int(file.stem) > versions.get(name, -1)
            for line in file.read_text().splitlines()
        )
        commits = (action["commitInfo"] for action in actions if "commitInfo" in action)
        return {
            (commit["operation"], json.loads(commit["userMetadata"])["dbt_node_id"])
            for commit in commits
        }

    def count(self, table: str) -> int:
        """Rows of a table."""
        return harness.session().read.format("delta").load(str(self.tables()[table])).count()

    def rows(self, table: str, columns: str = "*", where: str = "true") -> list[str]:
        """Rows of a table as JSON, ordered; for equality."""
        found = harness.session().sql(
            f"select to_json(struct({columns})) as row from delta.`{self.tables()[table]}` "
            f"where {where} order by 1"
        )
        return [row.row for row in found.collect()]


@pytest.fixture(scope="session")
def new_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Home]:
    return lambda: Home(tmp_path_factory.mktemp("reference"))
