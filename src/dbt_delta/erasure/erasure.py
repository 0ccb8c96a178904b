"""What macros of an erasure ask: hashes, scans and certificates."""

import secrets
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.erasure import certificate, requests
from dbt_delta.erasure.certificate import Certificates, is_due, state
from dbt_delta.erasure.keyed import Hasher, merged
from dbt_delta.erasure.landing import Landing, equal_contents, landed, records, separators
from dbt_delta.erasure.logs import Column, Search, base, words_sql
from dbt_delta.erasure.scan import finding, scan
from dbt_delta.session import folders
from dbt_delta.session.java import java
from dbt_delta.stream import checkpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ACTION = "org.apache.hadoop.fs.permission.FsAction"
_UNTOUCHED = "erase: no file and no table was changed."
_OUT = "Use landing: delete, or out_of_scope."


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
        self, tables: dict[str, Any], record: dict[str, Any], values_file: str | None = None
    ) -> dict[str, Any]:
        """What the folders of tables hold: {name: {location, columns, log_hours, file_hours}}.

        The record of the certificate has the subjects, and what earlier scans knew of the tables.
        Tables with ``leads`` come after those that they lead to.
        """
        hasher, found = self._hasher(), {}
        values, groups = self._values(values_file), record["subjects"]
        for name, table in reversed(tables.items()):
            earlier = record["tables"].get(name, {})
            given = [*table["columns"], *earlier.get("columns", ())]
            columns = [Column(**column) for column in given]
            search = Search(hasher, columns, groups, values)
            found[name] = scan(self._spark, {**earlier, **table}, search)
            groups = merged(groups, found[name]["links"])
        return {name: found[name] for name in tables}

    def linked(self, record: dict[str, Any], scans: dict[str, Any]) -> dict[str, Any]:
        """The record with the keys that rows of old files lead to."""
        return reduce(
            lambda one, found: {**one, "subjects": merged(one["subjects"], found["links"])},
            scans.values(),
            record,
        )

    def words_sql(self, text: str, separators: Sequence[str]) -> str:
        return words_sql(text, separators)

    def separators(self, code: str, given: Any) -> dict[str, Any]:
        """Those of the lines that a model lands, {found, problem}: see landing.separators."""
        try:
            return {"found": separators(code, given), "problem": None}
        except ValueError as error:
            return {"found": [], "problem": str(error)}

    def random(self) -> str:
        """A text that nobody can guess: what is hashed with it cannot be found by trying."""
        return secrets.token_hex(16)

    def unwritable(self, locations: dict[str, str]) -> list[str]:
        """The tables, of {name: location}, in whose folder this user must not write."""
        found = []
        for name, location in locations.items():
            system, place = folders.open_path(self._spark, location)
            try:
                system.access(place, java(self._spark._jvm, _ACTION).WRITE)
            except Exception as error:  # of Java
                if "AccessControlException" not in str(error):
                    raise
                found.append(name)
        return found

    def landed(self, code: str, given: Any) -> dict[str, Any]:
        """What a model lands, {read, problem}: see landing.landed."""
        try:
            return {"read": landed(code, given), "problem": None}
        except ValueError as error:
            return {"read": None, "problem": str(error)}

    def exists(self, path: str) -> bool:
        system, place = folders.open_path(self._spark, path)
        return bool(system.exists(place))

    def states(self, streams: dict[str, list[str]]) -> dict[str, list[str]]:
        """The folders of what streams, {name: [schema, identifier]}, keep of groups and joins."""
        found = {name: checkpoint.states(self._spark, *at) for name, at in streams.items()}
        return {name: paths for name, paths in found.items() if paths}

    def left(self, states: dict[str, list[str]]) -> dict[str, list[str]]:
        """Those that are still there: a full refresh replaces them."""
        found = {name: [one for one in paths if self.exists(one)] for name, paths in states.items()}
        return {name: paths for name, paths in found.items() if paths}

    def resolved(self, path: str) -> str:
        return Landing(self._spark).resolved(path)

    def renames(self, path: str) -> bool:
        return Landing(self._spark).renames(path)

    def links(self, paths: Sequence[str]) -> list[str]:
        """Those that are links to other files."""
        landing = Landing(self._spark)
        return [base(path) for path in paths if landing.is_link(path)]

    def records(
        self, sql: str, columns: Sequence[dict[str, str]], groups: dict[str, Any]
    ) -> dict[str, Any]:
        """The records of landing files that have the subjects, by file; see landing.records."""
        given = [Column(one["name"], one["name"], one["group"]) for one in columns]
        return records(self._spark, sql, Search(self._hasher(), given, groups))

    def scans_of_landing(self, folders: dict[str, Any]) -> dict[str, Any]:
        """What ``scan`` returns, for landing folders with what ``records`` found in them."""
        return {
            f"landing folder {name}": {
                "findings": [
                    finding("landing file", file["file"], file["what"], is_live=True, until=None)
                    for file in folder["files"].values()
                ],
                "counts": {"landing file": len(folder["paths"])},
                "unread": [] if folder["is_there"] else ["all of it"],
            }
            for name, folder in folders.items()
        }

    def prepare(
        self,
        path: str,
        files: dict[str, Any],
        is_rewritten: bool,
        pattern: str | None,
        others_sql: str,
    ) -> list[dict[str, Any]]:
        """The files of a landing folder as ``replace`` takes them, written anew beside them.

        Args:
            pattern: see Landing.prepare.
            others_sql: gives _file_hash and _file of the other files.

        Raises:
            DbtRuntimeError: a file cannot be written anew, or would be lost as a copy of another.
        """
        landing = Landing(self._spark)
        landing.tidy(path)
        found, contents = [], set()
        for file, about in files.items():
            one = {"path": file, "file": about["file"], "part": None}
            one |= {"old_size": about["size"], "old_time": about["modified_at"]}
            if is_rewritten:
                try:
                    one |= landing.prepare(file, about["lines"], pattern)
                except ValueError as error:
                    landing.tidy(path)
                    raise DbtRuntimeError(f"{_UNTOUCHED} {file}: {error}. {_OUT}") from None
                one["is_copy"] = one["old_hash"] in contents
                contents.add(one["old_hash"])
            found.append(one)
        if is_rewritten and (equal := equal_contents(found, self._names_by_hash(others_sql))):
            landing.tidy(path)
            names = ", ".join(equal)
            text = "would have the same content, and only one of them would land again"
            raise DbtRuntimeError(f"{_UNTOUCHED} Without the subjects {names} {text}. {_OUT}")
        return found

    def _names_by_hash(self, sql: str) -> dict[str, str]:
        return {row._file_hash: row._file for row in self._spark.sql(sql).collect()}

    def replace(self, files: Sequence[dict[str, Any]]) -> list[str]:
        """Puts prepared files in the place of the old ones; those that have changed meanwhile."""
        landing = Landing(self._spark)
        return [
            one["file"]
            for one in files
            if not landing.replace(one["path"], one["old_size"], one["old_time"], one["part"])
        ]

    def begin(
        self, folder: str, about: dict[str, Any], own: Sequence[str], groups: dict[str, Any]
    ) -> dict[str, Any]:
        return self._certificates(folder).begin(self._hasher(), about, own, groups)

    def unfinished(self, folder: str, about: dict[str, Any]) -> dict[str, Any] | None:
        found = self._certificates(folder).unfinished(about)
        self._check(folder, [] if found is None else [found])
        return found

    def due(self, folder: str) -> list[str]:
        """Certificates that a scan may close now."""
        found = self._certificates(folder).unclosed()
        self._check(folder, found)
        return [one["request"] for one in found if is_due(one)]

    def waiting(self, folder: str) -> list[str]:
        """A line for each certificate that no scan can close yet; one if there are none at all."""
        found = self._certificates(folder).unclosed()
        lines = [f"Erasure {one['request']} is {state(one)}" for one in found if not is_due(one)]
        return lines if found else ["No erasure is open."]

    def read(self, folder: str, request: str) -> dict[str, Any]:
        try:
            found = self._certificates(folder).read(request)
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None
        self._check(folder, [found])
        return found

    def write(self, folder: str, record: dict[str, Any]) -> str:
        return self._certificates(folder).write(record)

    def checked(
        self, record: dict[str, Any], scans: dict[str, Any], missing: Sequence[str]
    ) -> dict[str, Any]:
        return certificate.checked(record, scans, missing)

    def open(self, record: dict[str, Any]) -> list[str]:
        return certificate.open_lines(record)

    def stream_lines(self, record: dict[str, Any]) -> list[str]:
        return certificate.stream_lines(record)

    def live(self, scans: dict[str, Any]) -> list[str]:
        return certificate.live(scans)

    def _certificates(self, folder: str) -> Certificates:
        return Certificates(self._root / folder)

    def _check(self, folder: str, records: Sequence[dict[str, Any]]) -> None:
        try:
            if records:
                self._certificates(folder).check(self._hasher(), records)
        except ValueError as error:
            raise DbtRuntimeError(f"Nothing was changed. {error}") from None

    def _values(self, file: str | None) -> list[str]:
        if file is None:
            return []
        try:
            lines = (self._root / file).read_text(encoding="utf-8").split("\n")
        except OSError as error:
            raise DbtRuntimeError(f"erase_verify: {file} cannot be read: {error}") from None
        return [line for line in lines if line.strip()]

    def _hasher(self) -> Hasher:
        try:
            return Hasher.from_environment()
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None
