"""The peers of the month: their projects, and how readers see the tables of each."""

import datetime as dt
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.functional import harness

HERE = Path(__file__).parent
OURS, CAREFUL, PLAIN = "ours", "careful stock", "plain stock"
SCHEMA = "month"
HISTORY = """
    select *, dbt_valid_from as valid_from, dbt_valid_to as valid_to from {schema}.customer_history
"""
PARTS = """
    select *, dbt_valid_from as valid_from, dbt_valid_to is null as is_open
    from {schema}.part_history
"""
EVENTS = "select *, cast(delivered_at as date) as delivered_on from {schema}.order_events"
MARTS = (
    *("orders", "lineitem", "late_lines", "daily_orders", "order_status", "customer_value"),
    *("part_sales", "ship_modes", "nation_revenue"),
)


@dataclass(frozen=True)
class Peer:
    """``parts`` are folders with models; ``readers`` is the schema that readers ask."""

    name: str
    parts: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    readers: str = SCHEMA
    is_stock: bool = True

    def exports(self) -> dict[str, str]:
        """SELECTs of what readers see."""
        selects = {name: f"select * from {self.readers}.{name}" for name in MARTS}
        selects |= {name: f"select * from {SCHEMA}.{name}" for name in ("customer", "part")}
        selects["part_history"] = PARTS.format(schema=self.readers)
        selects["order_events"] = EVENTS.format(schema=self.readers)
        selects["customer_history"] = HISTORY.format(schema=self.readers)
        bad = "select distinct {0} from {1}"
        if not self.is_stock:
            # The rows by which a deletion is remembered are never valid.
            selects["customer_history"] += " where dbt_scd_id not like 'deleted %'"
        orders, lines = (
            (f"{SCHEMA}.all_orders__quarantine", f"{SCHEMA}.all_lines__quarantine")
            if not self.is_stock
            else (f"{SCHEMA}.bad_orders", f"{SCHEMA}.bad_lines")
        )
        selects["orders_in_quarantine"] = bad.format("o_orderkey, seq", orders)
        selects["lines_in_quarantine"] = bad.format("l_orderkey, l_linenumber, seq", lines)
        return selects

    def restoring(self, tables: Mapping[str, int]) -> list[list[str]]:
        """The commands that bring tables back to versions."""
        macro = "restore" if not self.is_stock else "restore_table"
        return [
            ["run-operation", macro, "--args", json.dumps({"model": name, "to": version})]
            for name, version in tables.items()
        ]

    def dated(self, commands: list[list[str]], day: dt.date) -> list[list[str]]:
        """Stock dbt asks the clock which microbatches to build; here it is told."""
        if not self.is_stock:
            return commands
        days = [(day - dt.timedelta(days=1)).isoformat(), (day + dt.timedelta(days=1)).isoformat()]
        flags = ["--event-time-start", days[0], "--event-time-end", days[1]]
        return [[*c, *flags] if c[0] == "build" else c for c in commands]

    def prepare(self, home: Path) -> Path:
        """Makes the project in a home of its own; its folder."""
        project = home / "project"
        project.mkdir(parents=True)
        for part in self.parts:
            shutil.copytree(HERE / part, project, dirs_exist_ok=True)
        own = project / "dbt_project.yml"
        extra = yaml.safe_load(own.read_text())
        for name, text in harness.consumer_files(SCHEMA).items():
            target = project / name
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)
        entries = yaml.safe_load(own.read_text())
        for key, value in extra.items():
            entries[key] = {**entries.get(key, {}), **value}
        if self.is_stock:
            del entries["dispatch"]
            (project / "packages.yml").unlink()
            (project / "macros" / "materializations.sql").unlink()
        else:
            packages = harness.install_packages(home / "deps", home)
            (project / "dbt_packages").symlink_to(packages)
        own.write_text(yaml.safe_dump(entries))
        return project

    def environment(self, home: Path) -> dict[str, str]:
        variables = {
            **os.environ,
            **harness.environment(home),
            "DBT_DELTA_PLUGIN": "off" if self.is_stock else "on",
            "DBT_LOG_PATH": str(home / "logs"),
            "DBT_TARGET_PATH": str(home / "target"),
            "JAVA_HOME": str(Path(sys.prefix) / "java"),
        }
        # What a user has: the profile's Java options, not those of the tests.
        del variables["DBT_DELTA_JAVA_OPTIONS"]
        return variables


MAINTAIN = ("run-operation", "maintain")
PEERS = {
    "ours": Peer(
        OURS,
        ("shared", "ours"),
        (("build",), MAINTAIN),
        readers=f"{SCHEMA}_analytics",
        is_stock=False,
    ),
    "careful": Peer(
        CAREFUL,
        ("shared", "stock", "careful"),
        (("build",), ("run-operation", "optimize_tables")),
    ),
    "plain": Peer(PLAIN, ("shared", "stock", "plain"), (("build",),)),
}
