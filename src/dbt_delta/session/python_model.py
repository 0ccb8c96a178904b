"""Python models in the Spark session of their connection."""

from typing import Any

from dbt.adapters.base import PythonJobHelper
from dbt_common.exceptions import DbtRuntimeError


class SessionPythonModel(PythonJobHelper):
    """Runs a model's compiled Python where its SQL would have run.

    ``connections`` is the adapter's connection manager; dbt calls ``submit`` on the thread that
    holds the model's connection.
    """

    def __init__(self, connections: Any, parsed_model: dict[str, Any], credentials: Any) -> None:
        self._connections = connections
        self._path = parsed_model["original_file_path"]

    def submit(self, compiled_code: str) -> None:
        """Runs the code, which writes the model's table itself.

        Raises:
            DbtDatabaseError: the error of Spark or of the model, with the line of the model.
            DbtRuntimeError: the code is not Python.
        """
        try:
            # Materializations put blank lines before the model; its own lines are counted.
            code = compile(compiled_code.lstrip(), self._path, "exec")
        except SyntaxError as error:
            raise DbtRuntimeError(f"{self._path}, line {error.lineno}: {error.msg}") from None
        self._connections.get_thread_connection().handle.run_python(code)


class NoPythonModel(PythonJobHelper):
    """Refuses a Python model in a target without a session."""

    def __init__(self, parsed_model: dict[str, Any], credentials: Any) -> None:
        self._path = parsed_model["original_file_path"]

    def submit(self, compiled_code: str) -> None:
        """Raises DbtRuntimeError, which says where it can run."""
        raise DbtRuntimeError(
            f"{self._path}: a Thrift server runs SQL, not Python. Run this model with "
            "--target session; both run side by side on one catalog: ./run server start "
            "--metastore postgres"
        )
