"""dbt-spark's adapter with our Spark sessions; its ``dbt_delta_`` methods are for macros."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.session import catalog, errors, profile
from dbt_delta.session.manager import DeltaConnectionManager
from dbt_delta.session.once import Once
from dbt_delta.session.relation import DeltaRelation
from dbt_delta.session.stock import StockAdapter

if TYPE_CHECKING:
    import agate

    from dbt_delta.session.cost import Meter
    from dbt_delta.session.progress import Line
    from dbt_delta.state.build import Build

# Where dbt-databricks and dbt-spark run Python models.
CLUSTERS = ("all_purpose_cluster", "job_cluster", "serverless_cluster", "workflow_job")
# The materializations that look at expectations, or refuse them.
JUDGING = ("incremental", "seed", "snapshot", "stream", "table", "view")


class DeltaAdapter(StockAdapter):
    """The adapter of type ``spark``: its macros, dispatch and profiles are dbt-spark's."""

    ConnectionManager = DeltaConnectionManager
    Relation = DeltaRelation
    # Of `dbt source freshness`, which asks the macro get_relation_last_modified.
    _capabilities = CapabilityDict(
        {
            Capability.TableLastModifiedMetadata: CapabilitySupport(support=Support.Full),
            Capability.TableLastModifiedMetadataBatch: CapabilitySupport(support=Support.Full),
        }
    )
    # What the command that runs decides of its nodes, where one asks for it; see state/hooks.py.
    build: "Build | None" = None
    # What the nodes of that command cost; see report/runs.py.
    meter: "Meter | None" = None
    # What the terminal shows of it; see progress.py.
    progress: "Line | None" = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._once = Once()
        # How many batches a microbatch model is built in, while it is; see microbatch.execute.
        self.batches: dict[str, int] = {}

    @property
    def method(self) -> str:
        """How the target connects: session, thrift, http or odbc."""
        return self.config.credentials.method

    @property
    def python_submission_helpers(self) -> dict[str, Any]:
        """Python models run in the session of their connection; a server refuses them."""
        from dbt_delta.session.python_model import NoPythonModel, SessionPythonModel

        if self.method not in profile.OURS:
            return super().python_submission_helpers
        is_session = self.method == profile.SESSION
        helper = partial(SessionPythonModel, self.connections) if is_session else NoPythonModel
        # A model that names its own Databricks cluster runs here, too.
        return dict.fromkeys((profile.SESSION, *CLUSTERS), helper)

    @property
    def default_python_submission_method(self) -> str:
        if self.method in profile.OURS:
            return profile.SESSION
        return super().default_python_submission_method

    def pre_model_hook(self, config: Any) -> Any:
        """dbt calls it before a materialization: refuses one that would ignore expectations."""
        from dbt_delta.state.node import expectations

        model, kind = config.model, config.model.config.materialized
        is_stored = model.resource_type in ("model", "seed", "snapshot")
        if is_stored and kind not in JUDGING and expectations(model):
            raise DbtRuntimeError(
                f"Expectations of {model.name}: materialization {kind} does not look at them. Use "
                f"{', '.join(JUDGING)}, or remove them. Nothing was written."
            )
        return super().pre_model_hook(config)

    def get_columns_in_relation(self, relation: Any) -> list[Any]:
        """Returns varchar(5) and char(3), which DESCRIBE shows as string."""
        columns: list[Any] = super().get_columns_in_relation(relation)
        if not relation.schema or not any("string" in column.dtype for column in columns):
            return columns
        try:
            found = self.dbt_delta_relation(relation.schema, relation.identifier)
        except DbtRuntimeError:  # a temporary view or a path is not in the catalog
            return columns
        declared = {
            column["name"]: column["declared"] for column in (found or {}).get("columns", [])
        }
        for column in columns:
            column.dtype = declared.get(column.column) or column.dtype
        return columns

    def get_catalog(self, relation_configs: Iterable[Any], used_schemas: Any) -> Any:
        # dbt passes an iterator, but reads it once for each schema.
        return super().get_catalog(list(relation_configs), used_schemas)

    def _get_one_catalog(
        self, information_schema: Any, schemas: Sequence[str], relation_configs: list[Any]
    ) -> "agate.Table":
        """One statement for each relation of the project.

        dbt-spark describes every table of a schema, also foreign ones, and has no comments.
        """
        if not catalog.is_possible(self):
            return super()._get_one_catalog(information_schema, schemas, relation_configs)
        (schema,) = schemas
        return catalog.of_schema(self, schema, relation_configs)

    @available
    def dbt_delta_seed(self, model: dict[str, Any], masked: Sequence[str] = ()) -> Any:
        """The CSV file of a seed; see ``seed.load``."""
        from dbt_delta.session import seed

        return seed.load(self.config, model, masked)

    @available
    def dbt_delta_select(self, selection: str, state: str | None = None) -> list[str]:
        """For run operations, which have no --select; see ``select.select``."""
        from dbt_delta.session.select import select

        return select(self, selection, state)

    @available
    def dbt_delta_unit_tests(self) -> list[str]:
        """Ids of the project's unit tests, which dbt's ``graph`` lacks."""
        return list(self.get_macro_resolver().unit_tests)

    @available
    def dbt_delta_asks_incremental(self, macros: list[str]) -> bool:
        """See ``node.asks_incremental``."""
        from dbt_delta.state import node

        return node.asks_incremental(macros, self.get_macro_resolver())

    @available
    def dbt_delta_batches(self, model: str) -> int:
        """How many batches this command builds a microbatch model in; 0 if nobody watches it."""
        return self.batches.get(model, 0)

    @available
    def dbt_delta_state(self, selection: str | None) -> list[dict[str, Any]] | None:
        """See ``report.report``; None through a connection to a server."""
        from dbt_delta.state import report

        return report.report(self, selection) if self._session() else None

    @available
    def dbt_delta_folders(self, schema: str, known: list[str]) -> dict[str, str]:
        """See ``folders.unknown``; a connection to a server finds nothing."""
        from dbt_delta.session import folders

        connection = self._session()
        return folders.unknown(connection.session, schema, known) if connection else {}

    @available
    def dbt_delta_unreadable_names(self, path: str) -> list[str]:
        """See ``folders.unreadable_names``; a connection to a server finds nothing."""
        from dbt_delta.session import folders

        connection = self._session()
        return folders.unreadable_names(connection.session, path) if connection else []

    @available
    def dbt_delta_drop_folder(self, path: str, idle_hours: float = 0) -> None:
        """See ``folders.drop``."""
        from dbt_delta.session import folders

        folders.drop(self._session().session, path, idle_hours)

    @available
    def dbt_delta_check_place(self, place: str) -> None:
        """See ``store.check_place``; a server is not asked."""
        connection = self._session()
        if connection:
            connection.check_place(place)

    @available
    def dbt_delta_relation(self, schema: str, name: str) -> dict[str, Any] | None:
        """See ``facts.relation``; None on a server, which is asked by SQL, as in the next three."""
        connection = self._session()
        return connection.relation(schema, name) if connection else None

    @available
    def dbt_delta_table_state(self, schema: str, name: str) -> str | None:
        """See ``facts.state``; None also of what cannot be read."""
        connection = self._session()
        try:
            return connection.state(schema, name) if connection else None
        except DbtRuntimeError:
            return None

    @available
    def dbt_delta_changed_at(self, schema: str, name: str) -> tuple[int, bool] | None:
        """See ``facts.changed_at``; None also of what cannot be read."""
        connection = self._session()
        try:
            return connection.changed_at(schema, name) if connection else None
        except DbtRuntimeError:
            return None

    @available
    def dbt_delta_listing(self, schemas: list[str]) -> list[dict[str, Any]] | None:
        """See ``facts.listing``."""
        connection = self._session()
        return connection.listing(schemas) if connection else None

    @available
    def dbt_delta_steady(self, views: dict[str, tuple[str, str, int]]) -> list[str]:
        """See ``facts.steady``; none on a server."""
        connection = self._session()
        return connection.steady(views) if connection else []

    @available
    def dbt_delta_young_commits(
        self, tables: dict[int, tuple[str, int]]
    ) -> dict[int, list[dict[str, Any]]] | None:
        """See ``log.young_commits``; None on a server."""
        from dbt_delta.state import log

        return log.young_commits(tables) if self._session() else None

    @available
    def dbt_delta_set_views(self, schema: str, texts: dict[str, tuple[str, str]]) -> list[str]:
        """See ``publish.set_views``; all on a server."""
        connection = self._session()
        return connection.set_views(schema, texts) if connection else list(texts)

    @available
    def dbt_delta_columns(self, sql: str) -> list[dict[str, Any]] | None:
        """See ``facts.columns``."""
        connection = self._session()
        return connection.columns(sql) if connection else None

    @available
    def dbt_delta_problem(self, sql: str) -> str:
        """The first line of the error if Spark cannot plan a SELECT; empty if it can."""
        try:
            if self.dbt_delta_columns(sql) is None:
                self.execute(f"describe query {sql}", fetch=True)
        except DbtRuntimeError as error:
            return errors.first_line(error)
        return ""

    @available
    def dbt_delta_attempt(self, sql: str) -> tuple[str, Any]:
        """Runs a statement; returns the first line of its error, if any, and its rows.

        Jinja cannot continue after an error.
        """
        try:
            return "", self.execute(sql, fetch=True)[1]
        except DbtRuntimeError as error:
            return errors.first_line(error), None

    @available
    def dbt_delta_is_repeatable(self, sql: str, schema: str, name: str) -> bool:
        """Whether a SELECT's rows follow from Delta tables of the catalog, this one not among them.

        False where Spark cannot be asked.
        """
        connection = self._session()
        if connection is None:
            return False
        try:
            found = connection.reads(sql)
        except DbtRuntimeError:
            return False
        own = (schema.lower(), name.lower())
        return not found.unsure and found.formats <= {"delta"} and own not in found.tables

    @available
    def dbt_delta_each(self, macro: Any, calls: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """See ``each.each``."""
        from dbt_delta.session.each import each

        return each(self, macro, calls)

    @available
    def dbt_delta_once(self, key: str, question: Callable[..., Any], *arguments: Any) -> Any:
        """See ``once.Once``; dbt makes an adapter for each run."""
        return self._once.ask(key, question, *arguments)

    @available
    def dbt_delta_with(self, settings: dict[str, str], work: Callable[[], str]) -> str:
        """Runs a macro with settings of Spark, which this connection has only meanwhile.

        dbt-spark's own connections do not know that: there the macro runs without them.
        """
        handle = self.connections.get_thread_connection().handle
        configured = getattr(handle, "configured", None)
        with configured(settings) if configured else nullcontext():
            return work()

    @available
    def dbt_delta_setting(self, key: str) -> str | None:
        """A setting of this connection's Spark, empty if it is not set; None through a server."""
        connection = self._session()
        if connection is None:
            return None
        with connection.running():
            return connection.session.conf.get(key, "")

    @available
    def dbt_delta_hide(self, is_hidden: bool) -> None:
        """Whether errors in this thread leave out values, from now on."""
        errors.hide_values(is_hidden)

    @available
    def dbt_delta_unit_test(self, name: str, sql: str, compare: Any) -> Any:
        """See ``unit.run``."""
        from dbt_delta.session import unit

        return unit.run(self, name, sql, compare)

    @available
    def dbt_delta_stream_place(self, schema: str, name: str) -> str | None:
        """See ``checkpoint.place``; None through a connection to a server."""
        from dbt_delta.stream import checkpoint

        connection = self._session()
        return checkpoint.place(connection.session, schema, name) if connection else None

    @available
    def dbt_delta_stream_source(self, kind: str, options: dict[str, Any]) -> str:
        """See ``sources.view``."""
        from dbt_delta.stream import sources

        connection = self._session()
        with connection.running():
            return sources.view(connection.session, kind, options)

    @available
    def dbt_delta_stream_problem(self, folder: str, relation: Any, select: str) -> str:
        """See ``checkpoint.problem``."""
        from dbt_delta.stream import checkpoint

        connection, name = self._session(), (relation.schema, relation.identifier)
        with connection.running():
            return checkpoint.problem(connection.session, folder, name, select)

    @available
    def dbt_delta_stream_restored_input(self, folder: str, sql: str) -> str:
        """See ``checkpoint.restored_input``; the inputs are the Delta tables of a SELECT."""
        from dbt_delta.stream import checkpoint, sources

        connection = self._session()
        with connection.running():
            session = connection.session
            tables = [one for one in sources.tables(session.sql(sql)) if one[2] == "delta"]
            return checkpoint.restored_input(session, folder, tables)

    @available
    def dbt_delta_stream_keep(self, folder: str, kept: str) -> None:
        """See ``checkpoint.keep``."""
        from dbt_delta.stream import checkpoint

        checkpoint.keep(self._session().session, folder, kept)

    @available
    def dbt_delta_stream(
        self,
        sql: str,
        how: dict[str, Any],
        checkpoint: str,
        relation: Any,
        write: Any,
        about: dict[str, Any],
    ) -> int:
        """See ``available.run``; the macro ``write`` is given ``about`` with each batch."""
        from dbt_delta.stream import available as streams

        name = (relation.schema, relation.identifier)
        kind = streams.Kind(**how)
        return streams.run(self._session(), sql, kind, checkpoint, name, partial(write, about))

    @available
    def dbt_delta_report(
        self, facts: dict[str, Any], selection: str | None, days: int, output: str | None
    ) -> str:
        """See ``operation.report``."""
        from dbt_delta.report import operation

        return operation.report(self, facts, selection, days, output)

    def new_meter(self) -> "Meter | None":
        """For the run that begins; None through a connection to a server."""
        from dbt_common.invocation import get_invocation_id

        from dbt_delta.session.cost import Meter

        return Meter(get_invocation_id()) if self.method == profile.SESSION else None

    def has_function(self, schema: str, name: str) -> bool:
        """Whether the catalog has a function; not where its schema is missing."""
        from dbt_delta.session.facts import quoted_name

        sql = f"show user functions in {quoted_name(schema)} like '{name}'"
        try:
            return len(self.execute(sql, fetch=True)[1].rows) > 0
        except DbtRuntimeError as error:
            if "SCHEMA_NOT_FOUND" not in str(error):
                raise
            return False

    @available
    def dbt_delta_erasure(self) -> Any:
        """See ``Erasure``; None through a connection to a server."""
        from dbt_delta.erasure.erasure import Erasure

        connection = self._session()
        return Erasure(connection.session, self.config) if connection else None

    def _create_freshness_response(self, last_modified: Any, snapshotted_at: Any) -> Any:
        # spark__get_relation_last_modified gives texts with their zone: what a timestamp becomes on
        # its way here depends on the zones of session and process.
        times = (
            dt.datetime.fromisoformat(value) if isinstance(value, str) else value
            for value in (last_modified, snapshotted_at)
        )
        return super()._create_freshness_response(*times)

    def _session(self) -> Any:
        """This thread's connection if it is an embedded session, or None."""
        if self.method != profile.SESSION:
            return None
        return self.connections.get_thread_connection().handle
