"""What macros of an erasure ask: hashes, scans and certificates."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.erasure import certificate, requests
from dbt_delta.erasure.certificate import Certificates, is_due, state
from dbt_delta.erasure.keyed import Hasher
from dbt_delta.erasure.logs import Column, Search
from dbt_delta.erasure.scan import scan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Erasure:
    """In one Spark session, with the certificates of one project."""

    def __init__(self, spark: "SparkSession", config: Any) -> None:
        self._spark = spark
        self._root = Path(config.project_root)

    def groups(self, queries: dict[str, str]) -> dict[str, Any]:
        """The hashed keys of queries, by the name of their group."""
        hasher = self._hasher()
        return {
            name: hasher.group(row[0] for row in self._spark.sql(sql).collect())
            for name, sql in queries.items()
        }

    def requests(self, file: str, kinds: dict[str, str | None], view: str) -> dict[str, Any]:
        """Makes a temporary view of a file's requests: {types: {column: SQL type}, problems}.

        ``kinds`` are ``integer`` or ``text`` by column. The view is empty if there is no file.
        """
        from pyspark.sql.types import LongType, StringType, StructType

        try:
            found = requests.read(self._root / file, kinds)
        except ValueError as error:
            return {"types": {}, "problems": [f"{file}: {error}"]}
        if found.types:
            schema = StructType()
            for name, type in found.types.items():
                schema.add(name, LongType() if type == "bigint" else StringType())
            self._spark.createDataFrame(found.rows, schema).createOrReplaceTempView(view)
        return {"types": found.types, "problems": []}

    def scan(
        self, tables: dict[str, Any], groups: dict[str, Any], values_file: str | None = None
    ) -> dict[str, Any]:
        """What the folders of tables hold: {name: {location, columns, log_hours, file_hours}}."""
        hasher, found = self._hasher(), {}
        values = self._values(values_file)
        for name, table in tables.items():
            columns = [Column(**column) for column in table["columns"]]
            found[name] = scan(self._spark, table, Search(hasher, columns, groups, values))
        return found

    def begin(
        self, folder: str, about: dict[str, Any], own: Sequence[str], groups: dict[str, Any]
    ) -> dict[str, Any]:
        return self._certificates(folder).begin(self._hasher(), about, own, groups)

    def unfinished(self, folder: str, about: dict[str, Any]) -> dict[str, Any] | None:
        return self._certificates(folder).unfinished(about)

    def due(self, folder: str) -> list[str]:
        """Certificates that a scan may close now."""
        return [one["request"] for one in self._certificates(folder).unclosed() if is_due(one)]

    def waiting(self, folder: str) -> list[str]:
        """A line for each certificate that no scan can close yet; one if there are none at all."""
        found = self._certificates(folder).unclosed()
        lines = [f"Erasure {one['request']} is {state(one)}" for one in found if not is_due(one)]
        return lines if found else ["No erasure is open."]

    def read(self, folder: str, request: str) -> dict[str, Any]:
        try:
            return self._certificates(folder).read(request)
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None

    def write(self, folder: str, record: dict[str, Any]) -> str:
        return self._certificates(folder).write(record)

    def checked(
        self, record: dict[str, Any], scans: dict[str, Any], missing: Sequence[str]
    ) -> dict[str, Any]:
        return certificate.checked(record, scans, missing)

    def open(self, record: dict[str, Any]) -> list[str]:
        return certificate.open_lines(record)

    def live(self, scans: dict[str, Any]) -> list[str]:
        return certificate.live(scans)

    def _certificates(self, folder: str) -> Certificates:
        return Certificates(self._root / folder)

    def _values(self, file: str | None) -> list[str]:
        if file is None:
            return []
        try:
            lines = (self._root / file).read_text().splitlines()
        except OSError as error:
            raise DbtRuntimeError(f"erase_verify: {file} cannot be read: {error}") from None
        return [line for line in lines if line.strip()]

    def _hasher(self) -> Hasher:
        try:
            return Hasher.from_environment()
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None
