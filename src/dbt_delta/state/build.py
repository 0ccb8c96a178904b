"""One command of dbt: which of its nodes run, and what is recorded of those that did."""

import copy
import os
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dbt.adapters.contracts.connection import ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt_delta.session import spark, unit
from dbt_delta.session.connection import NoWriting, reading
from dbt_delta.session.errors import first_line
from dbt_delta.session.facts import quoted_name
from dbt_delta.session.java import java
from dbt_delta.state import decide, plan
from dbt_delta.state import node as nodes
from dbt_delta.state.facts import Facts, Name
from dbt_delta.state.table import Records, StateTable

SWITCH = "DBT_DELTA_BUILD"
# A service sets it: every node runs, and nothing is recorded.
is_off = False
_ZONE = "spark.sql.session.timeZone"
# The records are few rows: compiling a plan to Java costs more than running it.
_QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}

logger = AdapterLogger("dbt_delta")


@dataclass
class Look:
    """What was known of a node before it ran. ``skipped`` is its result where it need not run."""

    node: Any
    is_asked: bool = False
    own: list[Name] = field(default_factory=list)
    code: str = ""
    config: str = ""
    # None where a node's result follows from no SELECT.
    sql: str | None = None
    # The code of the next run, where the first one of an incremental model has another.
    next_sql: str = ""
    reads: plan.Reads | None = None
    before: dict[Name, decide.Fact] = field(default_factory=dict)
    unsure: str = ""
    skipped: str = ""


class Build:
    """The decisions and records of one command, which several threads make.

    ``adapter`` is ours with an embedded session; ``manifest`` the command's.
    """

    def __init__(self, adapter: Any, config: Any, manifest: Any) -> None:
        self._adapter = adapter
        self._config = config
        self._manifest = manifest
        self._settings = dict(config.credentials.server_side_parameters)
        self._guard = threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        self._known: Records | None = None
        self._table: StateTable | None = None
        self._facts: Facts | None = None
        self._versions: list[str] = []
        # --show prints the rows of a seed that was loaded.
        asked = (_flag(config, "FULL_REFRESH"), _flag(config, "SHOW"))
        self._is_forced = is_forced() or any(asked)
        self._is_partial = any(_flag(config, name) for name in ("EMPTY", "SAMPLE"))

    @cached_property
    def _writing(self) -> str:
        """By what results are computed and written, beside the code and the settings."""
        return nodes.digest([nodes.writing(self._manifest), nodes.package(), *self._versions])

    def look(self, runner: Any, node: Any) -> Look:
        """What is known of a compiled node, and whether it is skipped.

        Raises:
            DbtRuntimeError: its configuration asks for something that there is not.
        """
        is_asked, after = nodes.asked(node)
        look = Look(node, is_asked, nodes.relations(node))
        if not is_asked:
            return look
        try:
            self._look(look, runner, after)
        except Exception as error:
            # Whatever it is: the node runs.
            look.unsure = f"it could not be looked at: {first_line(error)}"
            logger.debug(f"{node.unique_id}: {look.unsure}")
        return look

    def ran(self, look: Look, result: Any) -> None:
        """Takes notice of a node that ran, with dbt's result; None after an error."""
        node, status = look.node, "error" if result is None else str(result.status)
        if self._facts is not None:
            only_itself = nodes.writes_only_itself(node)
            for name in look.own if only_itself else [None]:
                self._facts.forget(name)
        if not look.is_asked or self._known is None:
            return
        try:
            if str(node.resource_type) == "unit_test" and result is not None:
                # dbt makes its SELECT only when it runs it.
                sql = nodes.unit_test_sql(node, result.node.compiled_code)
                look.reads = self._reads(result.node, sql)
            record = self._record(look, status)
        except Exception as error:
            logger.debug(f"{node.unique_id}: nothing recorded: {first_line(error)}")
            record = {**_empty(look, status), "unsure": f"it was not recorded: {first_line(error)}"}
        with self._guard:
            self._records[node.unique_id] = record

    def end(self) -> None:
        """Records the nodes that ran, in one commit; in none if there are none."""
        if not self._records or self._table is None or self._known is None:
            return
        if self._known.problem:
            return
        try:
            self._table.write(get_invocation_id(), self._records, self._known)
        except Exception as error:
            logger.warning(
                f"What this run built could not be recorded in {self._table.name}: "
                f"{first_line(error)}. These nodes run again next time."
            )

    def weigh(self, look: Look, runner: Any, after: decide.BuildAfter | None) -> tuple[str, str]:
        """Why a compiled node runs, empty if it need not, and what it is called then."""
        self._start()
        key, look.sql = self._compiled(runner, look.node)
        look.code = nodes.digest(key)
        is_kept = bool(look.own) and str(look.node.resource_type) == "test"
        look.config = nodes.configuration(look.node, self._writing, self._settings, is_kept)
        look.unsure = _never(look.node)
        if look.unsure or self._known.problem:
            return look.unsure or "the records cannot be read", ""
        now = decide.Now(look.code, look.config, look.own, self._facts.of, self._facts.change)
        return decide.verdict(self.last(look.node), now, after, time.time())

    def last(self, node: Any) -> dict[str, Any] | None:
        """What is recorded of a node's last run."""
        return self._known.by_node.get(node.unique_id) if self._known else None

    def _look(self, look: Look, runner: Any, after: decide.BuildAfter | None) -> None:
        facts, node = self._start(), look.node
        if self._wrote():
            facts.forget(None)
        reason, look.skipped = self.weigh(look, runner, after)
        if self._is_forced:
            look.skipped = ""
        if look.skipped:
            return
        logger.debug(f"{node.unique_id} runs: {reason or SWITCH + ' or --full-refresh'}")
        for name in look.own:
            look.before[name] = facts.of(*name)
        if look.unsure or look.sql is None:
            look.reads = plan.Reads()
            return
        look.next_sql = self._next_sql(runner, node)
        look.reads = self._reads(node, look.sql)
        for name in look.reads.tables | look.reads.views:
            look.before[name] = facts.of(*name)

    def _record(self, look: Look, status: str) -> dict[str, Any]:
        record = _empty(look, status)
        if self._is_partial:
            record["unsure"] = record["unsure"] or "its last run left out rows (--empty, --sample)"
        if record["unsure"] or status not in decide.SUCCESS or look.reads is None:
            return record
        reads = look.reads
        if look.next_sql:
            reads = self._reads(look.node, look.next_sql)
            record["code"] = nodes.digest(["sql", look.next_sql])
        record["unsure"] = reads.unsure
        for name, label in zip(look.own, decide.OWN, strict=False):
            after = self._facts.of(*name)
            record["own"].append({"schema": name[0], "name": name[1], "fact": after})
            record["unsure"] = record["unsure"] or self._foreign(look, name, label, after)
        for name in sorted((reads.tables | reads.views) - set(look.own)):
            if name not in look.before:
                record["unsure"] = record["unsure"] or "what it reads was not known before it ran"
                continue
            fact = look.before[name]
            if fact is None or fact["kind"] == "other":
                record["unsure"] = record["unsure"] or f"{'.'.join(name)} is no Delta table"
            via = sorted(".".join(one) for one in reads.via.get(name, {name}))
            record["reads"].append({"schema": name[0], "name": name[1], "fact": fact, "via": via})
        return record

    def _foreign(self, look: Look, name: Name, label: str, after: decide.Fact) -> str:
        """Why a relation of a node's own is not known to be what the node made."""
        before = look.before.get(name)
        if after is None:
            # Without bad rows there is no quarantine.
            return f"{label} is gone" if before or name == look.own[0] else ""
        if after["kind"] == "other" and look.node.resource_type != "test":
            return f"{label} is no Delta table"
        if after["kind"] == "delta" and not self._facts.is_own(before, after, get_invocation_id()):
            return f"others wrote to {label} while it ran"
        return ""

    def _start(self) -> Facts:
        """Reads what earlier runs recorded, when the first node asks."""
        with self._guard:
            if self._facts is not None:
                return self._facts
            session = spark.new_session(self._settings)
            self._settings.update(_settings_of(session))
            self._versions = [session.version, java(session._jvm, "io.delta.package").VERSION()]
            for key, value in _QUICK.items():
                session.conf.set(key, value)
            credentials = self._config.credentials
            self._table = StateTable(session, credentials.schema, self._config.project_name)
            self._known = self._table.read()
            if self._known.problem:
                logger.warning(
                    f"{self._table.name} cannot be used: {self._known.problem}. Every node runs. "
                    "Drop the table: the next run makes it anew."
                )
            # Nobody may have set it: Spark takes the machine's.
            self._settings[_ZONE] = session.conf.get(_ZONE)
            self._facts = Facts(session, self._loaded())
            return self._facts

    def _loaded(self) -> dict[Name, str]:
        """The query by which each source that has one says when it was loaded."""
        found = {}
        for source in self._manifest.sources.values():
            name = (source.schema.lower(), source.identifier.lower())
            if source.loaded_at_query:
                found[name] = source.loaded_at_query
            elif source.loaded_at_field:
                found[name] = f"select max({source.loaded_at_field}) from {_quoted(name)}"
        return found

    def _compiled(self, runner: Any, node: Any) -> tuple[list[Any], str | None]:
        """What a node's result follows from, and the SELECT among it, if there is one."""
        kind = str(node.resource_type)
        if kind == "seed":
            return ["seed", nodes.seed_code(node)], None
        if kind == "unit_test":
            return self._unit_test_key(runner, node), None
        if node.config.get("incremental_strategy") == "microbatch" and kind == "model":
            sql = self._rendered(runner, node, {})
            batches = [[str(at) for at in batch] for batch in runner.get_batches(node).values()]
            return ["batches", sql, batches], sql
        return ["sql", node.compiled_code], node.compiled_code

    def _unit_test_key(self, runner: Any, test: Any) -> list[Any]:
        """What the result of a unit test follows from: the SELECT that dbt makes when it runs it.

        It has the given rows, with the types that the columns of the model's inputs have.
        """
        from dbt.parser.unit_tests import UnitTestManifestLoader

        given = UnitTestManifestLoader(self._manifest, self._config, {test.unique_id}).load()
        with reading():
            node = runner.compiler.compile_node(given.nodes[test.unique_id], given, {}, write=False)
        return [
            "unit test",
            node.compiled_code,
            test.expect.to_dict(omit_none=True),
            *self._expected_table(test),
        ]

    def _expected_table(self, test: Any) -> list[Any]:
        """What the rows of a table follow from besides, where a unit test expects one."""
        if unit.EXPECT not in test.config.meta:
            return []
        node = unit.tested(self._manifest, test)
        return [
            test.config.meta,
            [one.to_dict(omit_none=True) for one in test.given],
            test.overrides.to_dict(omit_none=True) if test.overrides else {},
            self._config.vars.to_dict(),
            self._config.cli_vars,
            self._manifest.env_vars,
            node.raw_code,
            nodes.configuration(node, self._writing, self._settings, False),
            # Any of them may be called in the rows of the table before the run.
            nodes.own_macros(self._manifest),
        ]

    def _wrote(self) -> bool:
        """Whether a statement in a node's Jinja, which has been rendered, may have written."""
        connection = self._adapter.connections.get_if_exists()
        if connection is None or connection.state != ConnectionState.OPEN:
            return False
        return bool(connection.handle.wrote)

    def _next_sql(self, runner: Any, node: Any) -> str:
        """The code that a model's next run has, where it has another than this one; else empty."""
        if node.config.get("materialized") != "incremental" or node.resource_type != "model":
            return ""
        if node.config.get("incremental_strategy") == "microbatch":
            return ""
        if self._wrote():
            return ""
        handle = self._adapter.connections.get_thread_connection().handle
        before = handle.work
        context = {"is_incremental": lambda: True, "dbt_delta_nothing_landed": True}
        try:
            sql = self._rendered(runner, node, context)
        except NoWriting:
            return ""
        if handle.work != before or sql == node.compiled_code:
            return ""
        return sql

    def _rendered(self, runner: Any, node: Any, context: dict[str, Any]) -> str:
        """A model's code, rendered beside dbt's own rendering of it.

        Raises:
            NoWriting: its Jinja writes, which it may do only once.
        """
        fresh = copy.copy(node)
        fresh.compiled, fresh.compiled_code = False, None
        fresh.extra_ctes, fresh.extra_ctes_injected = [], False
        # dbt has resolved the ref() of foreign keys in place, and would take the result for one.
        fresh.constraints, fresh.columns = [], {}
        with reading():
            compiled = runner.compiler.compile_node(fresh, self._manifest, context, write=False)
        return str(compiled.compiled_code)

    def _reads(self, node: Any, sql: str) -> plan.Reads:
        """What a node's code reads; of Python code, what dbt says that it may."""
        if getattr(node, "language", "sql") == "python":
            sql = " union all ".join(
                f"select 1 from (select * from {name})" for name in nodes.python_reads(sql)
            )
        try:
            return self._adapter.connections.get_thread_connection().handle.reads(sql or "select 1")
        except DbtRuntimeError as error:
            return plan.Reads(unsure=f"Spark cannot plan it alone: {first_line(error)}")


def _empty(look: Look, status: str) -> dict[str, Any]:
    return {
        "status": status,
        "code": look.code,
        "config": look.config,
        "unsure": look.unsure,
        "own": [],
        "reads": [],
        "at": time.time(),
    }


def _never(node: Any) -> str:
    """Why a node runs always, whatever its inputs."""
    if nodes.has_hooks(node):
        return "it has hooks"
    if node.config.get("sql_header"):
        return "it has a sql_header"
    if found := nodes.clock(node):
        return f"its configuration depends on the clock, on chance or on the user: {found}"
    if nodes.has_query(node):
        return "its configuration has a subquery"
    if getattr(node, "language", "sql") == "python":
        if not node.config.get("deterministic"):
            return "it is a Python model without deterministic: true"
        if found := nodes.python_reads_by_name(node.raw_code):
            return f"it is a Python model that reads by .{found}, not by ref() or source() alone"
    return ""


def is_wanted(manifest: Any) -> bool:
    """Whether any node asks not to be run without need."""
    every = [*manifest.nodes.values(), *manifest.unit_tests.values()]
    return any(
        node.config.get("build_when") is not None or getattr(node.config, "freshness", None)
        for node in every
    )


def is_forced() -> bool:
    """Whether the environment asks to run every node.

    Raises:
        DbtRuntimeError: it asks for something that there is not.
    """
    asked = os.environ.get(SWITCH, "")
    if asked not in ("", nodes.ALWAYS):
        raise DbtRuntimeError(f"{SWITCH} is {asked!r}. It is {nodes.ALWAYS}, or not set.")
    return bool(asked)


def _flag(config: Any, name: str) -> Any:
    return getattr(config.args, name, None) or getattr(config.args, name.lower(), None)


def _settings_of(session: Any) -> dict[str, str]:
    """All settings of a session, in one call: those of the profile, the environment and files."""
    lines = session._jsparkSession.conf().getAll().mkString("\0").split("\0")
    return dict(line.split(" -> ", 1) for line in lines)


def _quoted(name: Name) -> str:
    return ".".join(map(quoted_name, name))
