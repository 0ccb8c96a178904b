"""The warm Spark driver of a benchmark, and dbt projects on it."""

import os
from pathlib import Path

from benchmarks._peers import OURS, STOCK, Project
from tests.functional import harness


class Driver:
    """A Spark driver in this process with the profile's settings, and what dbt needs beside it."""

    def __init__(self, home: Path, memory: str | None = None) -> None:
        (home / "logs").mkdir()
        os.environ.update(harness.environment(home))
        if memory:
            os.environ["DBT_DELTA_MEMORY"] = memory
        # What a user has: the profile's Java options, not those of the tests.
        del os.environ["DBT_DELTA_JAVA_OPTIONS"]
        self.home = home
        self.packages = harness.install_packages(home / "deps", home)
        self.spark = harness.session()
        self.jvm = self.spark.sparkContext._gateway.proc.pid

    def project(self, name: str, files: dict[str, str], stock: bool = False) -> Project:
        """A dbt project of ours, or one without this package, with models or other files."""
        path = self.home / f"{name}_{STOCK if stock else OURS}"
        project = Project(path, self.home, self.packages, self.jvm, stock)
        project.write(files)
        self.spark.sql(f"create schema {project.schema}")
        return project

    def projects(self, name: str, files: dict[str, str]) -> dict[str, Project]:
        return {
            OURS: self.project(name, files),
            STOCK: self.project(name, files, stock=True),
        }
