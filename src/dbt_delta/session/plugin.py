"""Gives dbt-spark's ``method: session`` a Spark session of its own per dbt connection."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt_delta.session import catalog, tags

TESTED_DBT_SPARK = ("1.11.0",)
SWITCH = "DBT_DELTA_PLUGIN"
SESSION = "session"
THRIFT = "thrift"
# The methods whose connections are ours.
OURS = (SESSION, THRIFT)
# Where dbt-databricks and dbt-spark run Python models.
CLUSTERS = ("all_purpose_cluster", "job_cluster", "serverless_cluster", "workflow_job")

logger = AdapterLogger("dbt_delta")


class SessionPlugin(dbtPlugin):
    """The class that dbt finds and starts; see ``install``."""

    def initialize(self) -> None:
        install()


def install() -> None:
    """Puts our session in the place of dbt-spark's, once per process.

    Leaves dbt-spark as it is when ``DBT_DELTA_PLUGIN=off``, and with a warning when its version
    is not one that was tested.
    """
    if is_off():
        return
    from dbt.adapters.spark.connections import SparkConnectionManager

    if getattr(SparkConnectionManager, "dbt_delta", False):
        return
    SparkConnectionManager.dbt_delta = True
    reason = obstacle()
    _tell_macros(reason)
    if reason:
        logger.warning(f"dbt_delta's session is not used: {reason}. {SWITCH}=off silences this.")
        return
    _replace_connections(SparkConnectionManager)
    _add_python_models()
    _read_seeds()
    _select_nodes()
    _find_folders()
    _know_facts()
    _tell_declared_types()
    _catch_errors()
    _compare_event_times_as_timestamps()
    catalog.describe_relations()


def is_off() -> bool:
    """Whether the user wants dbt-spark as it is."""
    return os.environ.get(SWITCH, "on").lower() in ("off", "0", "false")


def obstacle() -> str:
    """Why dbt-spark has to stay as it is; empty where nothing is in the way."""
    found = version("dbt-spark")
    if found in TESTED_DBT_SPARK:
        return ""
    return f"dbt-spark {found} is not a tested version ({', '.join(TESTED_DBT_SPARK)})"


def _tell_macros(reason: str) -> None:
    """``adapter.dbt_delta_plugin()`` for macros; not defined where the plugin is off or absent."""

    def dbt_delta_plugin(self: Any) -> dict[str, str | None]:
        from dbt_delta.session.profile import asked_ansi

        return {"obstacle": reason, "ansi": asked_ansi(self.config.credentials)}

    _give_macros(dbt_delta_plugin)


def _give_macros(*methods: Callable[..., Any]) -> None:
    """Makes functions of an adapter methods of it that macros may call, under their own names."""
    from dbt.adapters.spark.impl import SparkAdapter

    for method in methods:
        setattr(SparkAdapter, method.__name__, method)
    names = {method.__name__ for method in methods}
    SparkAdapter._available_ = SparkAdapter._available_ | names


def _replace_connections(manager: Any) -> None:
    stock_open = manager.open.__func__
    stock_execute = manager.execute
    stock_exception_handler = manager.exception_handler

    def open_(cls: type, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return stock_open(cls, connection)
        from dbt_delta.session.profile import restore_ansi

        restore_ansi(connection.credentials)
        if connection.credentials.method not in OURS:
            return tags.tag_server(stock_open(cls, connection))
        _cancel_at_first_failure()
        is_server = connection.credentials.method == THRIFT
        connection.handle = _server(connection) if is_server else _session(connection)
        connection.state = ConnectionState.OPEN
        return tags.tag_server(connection) if is_server else connection

    def execute(
        self: Any, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> Any:
        result = stock_execute(self, sql, auto_begin=auto_begin, fetch=fetch, limit=limit)
        if not fetch:
            # Spark evaluates a SELECT when it is fetched: one in a hook would never run.
            run = getattr(self.get_thread_connection().handle, "run_unfetched", None)
            if run is not None:
                with self.exception_handler(sql):
                    run()
        return result

    @contextmanager
    def exception_handler(self: Any, sql: str) -> Generator[None, None, None]:
        try:
            yield
        except DbtDatabaseError as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise
        except Exception as error:
            with stock_exception_handler(self, sql):
                raise error

    manager.open = classmethod(open_)
    manager.execute = execute
    manager.exception_handler = exception_handler


def _server(connection: Connection) -> Any:
    from dbt_delta.session.thrift import ServerConnection

    return ServerConnection(connection)


def _session(connection: Connection) -> Any:
    from dbt_delta.session.connection import SessionConnection

    return SessionConnection(connection.credentials.server_side_parameters, connection)


def _add_python_models() -> None:
    """Python models of the session method run in their connection's session, on a server not."""
    from dbt.adapters.spark.impl import SparkAdapter

    from dbt_delta.session.python_model import NoPythonModel, SessionPythonModel

    stock_helpers = SparkAdapter.python_submission_helpers.fget
    stock_method = SparkAdapter.default_python_submission_method.fget

    def connects_by(adapter: Any) -> str:
        return adapter.connections.profile.credentials.method

    def helpers(self: Any) -> dict[str, Any]:
        if connects_by(self) not in OURS:
            return stock_helpers(self)
        is_session = connects_by(self) == SESSION
        helper = partial(SessionPythonModel, self.connections) if is_session else NoPythonModel
        # A model that names a Databricks cluster of its own runs here all the same.
        return dict.fromkeys((SESSION, *CLUSTERS), helper)

    def method(self: Any) -> str:
        return SESSION if connects_by(self) in OURS else stock_method(self)

    SparkAdapter.python_submission_helpers = property(helpers)
    SparkAdapter.default_python_submission_method = property(method)


def _read_seeds() -> None:
    """``adapter.dbt_delta_seed(model)`` for macros; see ``dbt_delta.session.seed``.

    dbt reads small seeds when it parses the project, too, and dies of one that is no UTF-8 without
    a word which.
    """
    from dbt.parser import read_files

    def dbt_delta_seed(self: Any, model: dict[str, Any], masked: Sequence[str] = ()) -> Any:
        from dbt_delta.session import seed

        return seed.load(self.config, model, masked)

    stock_load = read_files.load_seed_source_file

    def load_seed_source_file(match: Any, project_name: str) -> Any:
        try:
            return stock_load(match, project_name)
        except UnicodeDecodeError as error:
            from dbt_delta.session import seed

            raise seed.encoding_refusal(match.original_file_path, error) from error

    read_files.load_seed_source_file = load_seed_source_file
    _give_macros(dbt_delta_seed)


def _select_nodes() -> None:
    """``adapter.dbt_delta_select(selection, state)`` for run operations, which have no --select."""

    def dbt_delta_select(self: Any, selection: str, state: str | None = None) -> list[str]:
        from dbt_delta.session.select import select

        return select(self, selection, state)

    _give_macros(dbt_delta_select)


def _find_folders() -> None:
    """``adapter.dbt_delta_folders(..)`` and its like for macros; see ``dbt_delta.session.folders``.

    Nothing is found through a connection to a server.
    """

    def dbt_delta_folders(self: Any, schema: str, known: list[str]) -> dict[str, str]:
        from dbt_delta.session import folders

        connection = _session_of(self)
        return folders.unknown(connection.session, schema, known) if connection else {}

    def dbt_delta_drop_folder(self: Any, path: str) -> None:
        from dbt_delta.session import folders

        folders.drop(_session_of(self).session, path)

    _give_macros(dbt_delta_folders, dbt_delta_drop_folder)


def _know_facts() -> None:
    """``adapter.dbt_delta_relation(..)`` and its like for macros; see ``dbt_delta.session.facts``.

    None through a connection to a server, which is asked by SQL.
    """

    def dbt_delta_relation(self: Any, schema: str, name: str) -> dict[str, Any] | None:
        connection = _session_of(self)
        return connection.relation(schema, name) if connection else None

    def dbt_delta_listing(self: Any, schemas: list[str]) -> list[dict[str, Any]] | None:
        connection = _session_of(self)
        return connection.listing(schemas) if connection else None

    def dbt_delta_columns(self: Any, sql: str) -> list[dict[str, str]] | None:
        connection = _session_of(self)
        return connection.columns(sql) if connection else None

    def dbt_delta_problem(self: Any, sql: str) -> str:
        """The first line of why Spark cannot plan a SELECT; empty where it can."""
        try:
            if self.dbt_delta_columns(sql) is None:
                self.execute(f"describe query {sql}", fetch=True)
        except DbtRuntimeError as error:
            return _first_line(error)
        return ""

    _give_macros(dbt_delta_relation, dbt_delta_listing, dbt_delta_columns, dbt_delta_problem)


def _tell_declared_types() -> None:
    """``get_columns_in_relation`` says varchar(5) and char(3), of which DESCRIBE makes string."""
    from dbt.adapters.spark.impl import SparkAdapter

    stock_columns = SparkAdapter.get_columns_in_relation

    def get_columns_in_relation(self: Any, relation: Any) -> list[Any]:
        columns: list[Any] = stock_columns(self, relation)
        if not relation.schema or not any("string" in column.dtype for column in columns):
            return columns
        try:
            found = self.dbt_delta_relation(relation.schema, relation.identifier)
        except DbtRuntimeError:  # a temporary view, a path: not of the catalog
            return columns
        declared = {
            column["name"]: column["declared"] for column in (found or {}).get("columns", [])
        }
        for column in columns:
            column.dtype = declared.get(column.column) or column.dtype
        return columns

    SparkAdapter.get_columns_in_relation = get_columns_in_relation


def _session_of(adapter: Any) -> Any:
    """This thread's connection where it is an embedded session, else None."""
    if adapter.connections.profile.credentials.method != SESSION:
        return None
    return adapter.connections.get_thread_connection().handle


def _catch_errors() -> None:
    """``adapter.dbt_delta_attempt(sql)``: Jinja has no way to go on after an error."""

    def dbt_delta_attempt(self: Any, sql: str) -> tuple[str, Any]:
        """Runs a statement: the first line of the error it ended in, if any, and its rows."""
        try:
            return "", self.execute(sql, fetch=True)[1]
        except DbtRuntimeError as error:
            return _first_line(error), None

    def dbt_delta_hide(self: Any, is_hidden: bool) -> None:
        """Whether errors in this thread leave out values, from now on."""
        from dbt_delta.session import errors

        errors.hide_values(is_hidden)

    _give_macros(dbt_delta_attempt, dbt_delta_hide)


def _first_line(error: DbtRuntimeError) -> str:
    return str(error.msg).strip().partition("\n")[0]


def _compare_event_times_as_timestamps() -> None:
    """The batch of a microbatch model, and a sample, by time, whatever type the column has.

    dbt compares the column with a string: '2024-01-01' is then less than the first moment of its
    own day, and '2024-01-01 00:00:00' too.
    """
    from dbt.adapters.base.relation import EventTimeFilter
    from dbt.adapters.spark.relation import SparkRelation

    def render(self: SparkRelation, window: EventTimeFilter) -> str:
        column = f"cast({window.field_name} as timestamp)"
        limits = ((">=", window.start), ("<", window.end))
        return " and ".join(f"{column} {sign} timestamp'{at}'" for sign, at in limits if at)

    SparkRelation._render_event_time_filtered = render


def _cancel_at_first_failure() -> None:
    """``--fail-fast`` cancels what runs when the first node fails.

    dbt raises it in the thread that hands out nodes, which may be waiting for one to become
    ready: a long model with a child would run to its end. What the cancelled nodes then report
    is not the failure to show. Not done at start: commands that run no node import no tasks.
    """
    from dbt.adapters.factory import get_adapter
    from dbt.exceptions import FailFastError
    from dbt.task.runnable import GraphRunnableTask

    if getattr(GraphRunnableTask, "dbt_delta", False):
        return
    GraphRunnableTask.dbt_delta = True
    stock_handle_result = GraphRunnableTask._handle_result

    def handle_result(self: Any, result: Any) -> None:
        stock_handle_result(self, result)
        if not isinstance(self._raise_next_tick, FailFastError):
            return
        first = self.__dict__.setdefault("_dbt_delta_first_failure", self._raise_next_tick)
        self._raise_next_tick = first
        adapter = get_adapter(self.config)
        if adapter.type() == "spark" and adapter.connections.profile.credentials.method in OURS:
            adapter.connections.cancel_open()

    GraphRunnableTask._handle_result = handle_result
