"""dbt's connection to a Spark Thrift server.

dbt-spark's own connection sends a statement again if the connection breaks while it runs, which may
write twice. It asks every five seconds whether a statement is done, cancels while another thread
reads an answer, trusts every certificate, and loses the settings of the profile.
"""

import functools
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError
from dbt_common.invocation import get_invocation_id

from dbt_delta.session import errors, profile, retry, spark
from dbt_delta.session.literals import as_sent
from dbt_delta.session.staged import Staged

if TYPE_CHECKING:
    from pyhive import hive

logger = AdapterLogger("dbt_delta")
POOL = "spark.sql.thriftserver.scheduler.pool"
# A server answers a poll when the statement is done, or after hive.server2.long.polling.timeout,
# five seconds. If it answers at once, it is asked again after a time that grows to poll_interval.
FIRST_PAUSE = 0.02
CONNECT_SECONDS = 30
_threads = itertools.count(1)
_local = threading.local()


class ServerConnection(SparkConnectionWrapper):
    """A Spark session on a server; it is its own cursor."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        credentials = connection.credentials
        self._place = f"{credentials.host}:{credentials.port}"
        self._pause = max(float(credentials.poll_interval), FIRST_PAUSE)
        self._timeout = credentials.query_timeout
        self._cancelled = threading.Event()
        self._staged = Staged()
        self._session = self._open()
        self._cursor = self._session.cursor()

    def cursor(self) -> "ServerConnection":
        return self

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Runs a statement to its end.

        A statement that lost against another writer of its table runs again if it can. After a
            broken connection it does not: the server may have finished it.

        Raises:
            DbtDatabaseError: Spark's own error without the traces.
        """
        sql = as_sent(sql.strip().removesuffix(";"), bindings)
        self._staged.note(sql)
        name = self._connection.name
        # The server's job description is the statement.
        labelled = f"/* {name} ({get_invocation_id()}) */ {sql}"
        retry.repeatedly(sql, lambda: self._send(labelled), name, self._cancelled.wait)

    @contextmanager
    def configured(self, settings: dict[str, str]) -> Generator[None, None, None]:
        """With settings of Spark that nobody else sets; they are unset afterwards."""
        for key, value in settings.items():
            self.execute(f"set {key}={value}")
        try:
            yield
        finally:
            with suppress(Exception):  # the server may be what failed
                for key in settings:
                    self.execute(f"reset {key}")

    def fetchall(self) -> list[tuple[Any, ...]]:
        with self._talking():
            return list(self._cursor.fetchall())

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """The first ``size`` rows."""
        with self._talking():
            return list(self._cursor.fetchmany(size))

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row."""
        with self._talking():
            return self._cursor.fetchone()

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        """Column name and type per column, in the shape of the Python DB API."""
        with self._talking():
            return self._cursor.description or []

    def cancel(self) -> None:
        """Stops the statement that runs here; further statements of this connection are refused.

        Called from another thread while this one waits for the server's answer: the request uses
            its own connection.
        """
        self._cancelled.set()
        operation = self._cursor._operationHandle
        if operation is None:
            return
        from TCLIService import ttypes

        try:
            with closing(self._open()) as other:
                other.client.CancelOperation(ttypes.TCancelOperationReq(operationHandle=operation))
        except Exception as error:
            logger.debug(f"Cancel of {self._connection.name}: {error}")

    def close(self) -> None:
        """Ends the session; the server does this itself if the connection is gone."""
        self._staged.drop(self.execute)
        with suppress(Exception):
            self._session.close()

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        logger.debug("Spark has no transactions to roll back")

    def _open(self) -> "hive.Connection":
        credentials = self._connection.credentials
        settings = {**spark.ON_SERVERS, **credentials.server_side_parameters, POOL: _pool()}
        for attempt in range(1 + credentials.connect_retries):
            try:
                return connect(
                    host=credentials.host,
                    port=credentials.port,
                    user=credentials.user,
                    password=credentials.password,
                    auth=credentials.auth,
                    kerberos_service_name=credentials.kerberos_service_name,
                    tls=_tls(credentials) if credentials.use_ssl else None,
                    settings=settings,
                )
            except Exception as error:
                is_last = attempt == credentials.connect_retries
                if is_last or not is_lost(error):
                    raise FailedToConnectError(_why(error, credentials)) from error
            time.sleep(credentials.connect_timeout)
        raise AssertionError("a negative connect_retries")

    def _send(self, sql: str) -> None:
        self._refuse_if_cancelled()
        with self._talking():
            self._cursor.execute(sql, async_=True)
            # Before the server had named the operation there was nothing to cancel.
            if self._cancelled.is_set():
                self._cursor.cancel()
            self._wait()

    def _wait(self) -> None:
        from TCLIService.ttypes import TOperationState

        begun, pause = time.monotonic(), FIRST_PAUSE
        while True:
            asked = time.monotonic()
            answer = self._cursor.poll(get_progress_update=False)
            if not _goes_on(answer):
                break
            now = time.monotonic()
            if self._timeout is not None and now - begun > self._timeout:
                self._cursor.cancel()
                raise DbtDatabaseError(f"Stopped after query_timeout, {self._timeout} seconds")
            if now - asked < FIRST_PAUSE:
                self._cancelled.wait(pause)
                pause = min(pause * 1.5, self._pause)
        if answer.errorMessage:
            raise DbtDatabaseError(errors.of_server(answer.errorMessage))
        if answer.operationState != TOperationState.FINISHED_STATE:
            state = TOperationState._VALUES_TO_NAMES.get(answer.operationState)
            raise DbtDatabaseError(f"Spark ended the statement: {state}")

    @contextmanager
    def _talking(self) -> Generator[None, None, None]:
        """Work on the server for this connection: errors become dbt's."""
        try:
            yield
        except DbtDatabaseError as error:
            self._refuse_if_cancelled(error)
            raise
        except Exception as error:
            self._refuse_if_cancelled(error)
            if is_lost(error):
                raise DbtDatabaseError(
                    f"The connection to the Spark server at {self._place} was lost while a "
                    "statement ran. It is not sent again, because it may be done. Every table is "
                    "at its last version. When the server runs: dbt retry"
                ) from error
            response = error.args[0] if error.args else None
            status = getattr(response, "status", None)
            text = status.errorMessage if status is not None else str(error)
            raise DbtDatabaseError(errors.of_server(text or repr(error))) from error

    def _refuse_if_cancelled(self, cause: Exception | None = None) -> None:
        if self._cancelled.is_set():
            raise DbtDatabaseError("Cancelled") from cause


def connect(
    host: str,
    port: int,
    user: str | None,
    password: str | None = None,
    auth: str | None = None,
    kerberos_service_name: str | None = None,
    tls: ssl.SSLContext | None = None,
    settings: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> "hive.Connection":
    """A session of a Thrift server.

    Args:
        auth: NONE (default), NOSASL, LDAP, CUSTOM or KERBEROS.
        tls: how to verify the server; None for a server without TLS.
        settings: of the session; Spark takes them in Hive's form only.
        timeout: seconds that each answer may take; by default only for the first answer.
    """
    import thrift_sasl
    from pyhive import hive
    from thrift.transport.TTransport import TBufferedTransport

    auth = (auth or "NONE").upper()
    line = _line(host, port, tls, timeout)
    mechanism = "GSSAPI" if auth == "KERBEROS" else "PLAIN"
    # Without a login they do not matter, but they must not be empty.
    login = {"service": kerberos_service_name} if auth == "KERBEROS" else {}
    if auth != "KERBEROS":
        login = {"username": user or "dbt", "password": password or "x"}

    def client() -> Any:
        return hive.get_installed_sasl(host=host, sasl_auth=mechanism, **login)

    if auth == "NOSASL":
        transport: Any = TBufferedTransport(line)
    else:
        transport = thrift_sasl.TSaslClientTransport(client, mechanism, line)
    wanted = {f"set:hiveconf:{name}": str(value) for name, value in (settings or {}).items()}
    return _connection_class()(
        thrift_transport=transport, username=user or "dbt", configuration=wanted
    )


@functools.cache
def _connection_class() -> "type[hive.Connection]":
    """A connection whose end does not disturb the statements of others.

    A server runs a statement without ``async_`` in the thread that it has for the client. That
        thread then holds the client of the metastore that all statements share, and closes it with
        the session, without a lock: a statement of somebody else may fail with a
        NullPointerException ("Hive.getMSC()" is null). Statements with ``async_`` run elsewhere.
    """
    from pyhive import hive
    from TCLIService.ttypes import TOperationState

    class Cursor(hive.Cursor):
        def execute(self, operation: str, parameters: Any = None, *, async_: bool = False) -> None:
            super().execute(operation, parameters, async_=True)
            if async_:
                return
            while _goes_on(answer := self.poll(get_progress_update=False)):
                time.sleep(FIRST_PAUSE)
            if answer.operationState != TOperationState.FINISHED_STATE:
                raise hive.OperationalError(answer.errorMessage or "the statement was ended")

    class Connection(hive.Connection):
        def cursor(self, *args: Any, **kwargs: Any) -> hive.Cursor:
            return Cursor(self, *args, **kwargs)

    return Connection


def _goes_on(answer: Any) -> bool:
    """Whether a poll found the statement unfinished."""
    from TCLIService.ttypes import TOperationState

    return answer.operationState in (
        TOperationState.INITIALIZED_STATE,
        TOperationState.RUNNING_STATE,
        TOperationState.PENDING_STATE,
    )


def _line(host: str, port: int, tls: ssl.SSLContext | None, timeout: float | None) -> Any:
    """A socket that raises the true error; Thrift's own only says that there is one."""
    from thrift.transport.TSocket import TSocket

    class Line(TSocket):
        def open(self) -> None:
            plain = socket.create_connection((host, port), timeout or CONNECT_SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A machine that is gone does not answer; the system detects it.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
                if hasattr(socket, option):
                    plain.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), 30)
            self.handle = tls.wrap_socket(plain, server_hostname=host) if tls else plain
            self.handle.settimeout(timeout)

        def isOpen(self) -> bool:
            return self.handle is not None

    return Line(host, port)


def is_lost(error: BaseException) -> bool:
    """Whether the server went away, or was not there."""
    from thrift.transport.TTransport import TTransportException

    return isinstance(error, (OSError, EOFError, TTransportException))


def _tls(credentials: Any) -> ssl.SSLContext:
    """Verifies the server's certificate and its host name."""
    return ssl.create_default_context(cafile=profile.certificate_authority(credentials))


def _pool() -> str:
    """Each thread of dbt gets a share of the server, with FAIR scheduling."""
    if not hasattr(_local, "number"):
        _local.number = next(_threads)
    return f"dbt-{_local.number}"


def _why(error: BaseException, credentials: Any) -> str:
    """One line: what is wrong with the target or its server."""
    place = f"The Spark server at {credentials.host}:{credentials.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"{place} cannot be trusted: {error.verify_message} Set ssl_ca_file of the target to "
            "the authority that signed its certificate"
        )
    if isinstance(error, ssl.SSLError):
        return f"{place} does not speak TLS, but use_ssl is set ({error.reason})"
    text = str(error)
    if "Error validating the login" in text:
        return f"{place} refuses user {credentials.user!r}: check user, password and auth"
    if isinstance(error, EOFError) or "read 0 bytes" in text:
        return (
            f"{place} closes the connection: it may need TLS (use_ssl: true) or another auth than "
            f"{credentials.auth or 'NONE'}"
        )
    if isinstance(error, OSError):
        return (
            f"No Spark server answers at {credentials.host}:{credentials.port} "
            f"({error.strerror or error}). Start it (./run server start), or correct host and port "
            "of the target"
        )
    return f"{place}: {text}"
