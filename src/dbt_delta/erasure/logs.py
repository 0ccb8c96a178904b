"""What a table's log says: values in statistics and predicates, and the versions of each file."""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dbt_delta.erasure.keyed import KEPT, Hasher

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

# What stands between words, and between fields of a line or a JSON object: a key is one or the
# other. As Java reads them, too.
WORD = r"[\s()\[\]{},;=<>!'\"\\`|]+"
FIELD = r"[,;|:\t\r\n\"{}\[\]]+"
CELL = r"[,\t\r\n\"{}\[\]]+"
# A number as a table of integers has it.
_NUMBER = r"^[+]?0*([0-9]+)([.]0*)?$"


@dataclass(frozen=True)
class Column:
    """A declared column: its name in SQL, its name in files, and the group of its keys.

    With ``has_words`` a key may be any word of its values, of those that begin with ``start``. With
    ``emptied``, names in files, its keys may stay: a row counts if one of these has a value.
    ``separators`` are those of landed lines. ``is_integer`` is its type now, and ``of`` its
    declared name if ``name`` is an earlier one.
    """

    name: str
    physical: str
    group: str
    has_words: bool = False
    start: str = ""
    emptied: Sequence[str] | None = None
    separators: Sequence[str] = ()
    is_integer: bool = False
    of: str = ""

    def parts(self, value: object) -> set[str]:
        """What of a value may be a key."""
        if not self.has_words:
            is_number = self.is_integer or isinstance(value, float | Decimal)
            return {str(value)} | (_whole(value) if is_number else set())
        text = str(value)
        return words(text, self.separators) if text.startswith(self.start) else set()


@dataclass
class DataFile:
    """A file by the log: the versions that have it, and when it left the table, in ms."""

    path: str = ""
    first: int | None = None
    last: int | None = None
    left: int | None = None

    @property
    def is_live(self) -> bool:
        return self.left is None

    @property
    def versions(self) -> str:
        first = "?" if self.first is None else self.first
        if self.is_live:
            return f"since {first}"
        return f"{first}" if first == self.last else f"{first} to {self.last}"


@dataclass
class Seen:
    """The files that a log names, by the last part of their path."""

    files: dict[str, DataFile] = field(default_factory=dict)
    values: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Their partition values."""
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Each schema that the table had, the newest last."""

    def take(self, version: int, actions: Sequence[dict[str, Any]]) -> None:
        """Actions of a commit or checkpoint; in the order of versions, checkpoints first."""
        for action in actions:
            self.learn(action.get("metaData"))
            for about in (action.get(name) for name in ("remove", "cdc", "add")):
                if about and about.get("partitionValues") is not None:
                    self.values[base(about["path"])] = about["partitionValues"]
            removed = action.get("remove")
            if removed:
                file = self.files.setdefault(base(removed["path"]), DataFile(removed["path"]))
                file.left = int(removed.get("deletionTimestamp") or 0)
                file.last = version - 1
        # A deletion vector comes as a removal and an addition of one path.
        for action in actions:
            added = action.get("add")
            if added:
                file = self.files.setdefault(base(added["path"]), DataFile(added["path"]))
                file.first = version if file.first is None else file.first
                file.last = file.left = None

    def learn(self, metadata: dict[str, Any] | None) -> None:
        if metadata:
            text = f"{metadata['schemaString']} {metadata.get('partitionColumns')}"
            self.metadata.pop(text, None)
            self.metadata[text] = metadata


def words(text: str, separators: Sequence[str] = ()) -> set[str]:
    """The words and fields of a text, and numbers also as integers are written."""
    patterns = _between(separators)
    found = {part for one in patterns for part in re.split(one, text, flags=re.ASCII)}
    return (found | {re.sub(_NUMBER, r"\1", word) for word in found}) - {""}


def words_sql(text: str, separators: Sequence[str] = ()) -> str:
    """SQL of the same for an expression, as an array; of a JSON object also its values."""
    parts = (f"split({text}, {_literal(one)})" for one in _between(separators))
    values = f"map_values(from_json({text}, 'map<string,string>'))"
    found = f"flatten(array({', '.join(parts)}, coalesce({values}, array())))"
    number = f"regexp_replace(word, {_literal(_NUMBER)}, '$1')"
    both = f"flatten(transform({found}, word -> array(word, {number})))"
    return f"array_remove(array_distinct({both}), '')"


def _between(separators: Sequence[str]) -> Iterator[str]:
    """What stands between words, and between fields also of lines with these separators."""
    yield from (WORD, FIELD, CELL)
    for separator in map(re.escape, separators):
        yield f"{WORD}|{separator}"
        yield f'[\\r\\n"]|{separator}'


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def base(path: str) -> str:
    return unquote(path).rpartition("/")[2]


def folder_values(path: str) -> set[tuple[str, str]]:
    """The partition values in the folders of a path, as they are, and less escaped."""
    found = set()
    for part in path.split("/")[:-1]:
        name, mark, value = part.partition("=")
        # Spark escapes them in the path, and Delta escapes the path.
        for _ in range(3 if mark else 0):
            found.add((name, value))
            name, value = unquote(name), unquote(value)
    return found


def _whole(value: object) -> set[str]:
    """A number without a fraction as a table of integers has it."""
    try:
        number = Decimal(str(value))
        is_whole = number.copy_abs() < 2**63 and number == number.to_integral_value()
    except ArithmeticError:
        return set()
    return {str(int(number))} if is_whole else set()


def loads(text: str) -> Any:
    """JSON, whose numbers lose no digit."""
    return json.loads(text, parse_float=Decimal)


def actions(text: str) -> list[dict[str, Any]]:
    """
    Raises:
        ValueError: a line is no JSON.
    """
    # JSON may have other ends of lines in a text, such as U+2028.
    return [loads(line) for line in text.split("\n") if line.strip()]


class Search:
    """Finds subjects by the hashes of their keys, and named values by their text."""

    def __init__(
        self,
        hasher: Hasher,
        columns: Sequence[Column],
        groups: dict[str, dict[str, list[str]]],
        values: Sequence[str] = (),
    ) -> None:
        self.hasher = hasher
        self.columns = list(columns)
        self.values = list(values)
        self.keys = {name: set(group["keys"]) for name, group in groups.items()}
        self._starts = {name: set(group["starts"]) for name, group in groups.items()}

    def of(self, columns: Sequence[Column]) -> "Search":
        """The same in other columns."""
        found = copy.copy(self)
        found.columns = list(columns)
        return found

    def test(self, column: Column, value: "SparkColumn", is_number: bool = False) -> "SparkColumn":
        """The condition that a value is a key of a column's group.

        With ``is_number`` 4711.0 is 4711: a file may be older than the column's type.
        """
        from pyspark.sql import functions as F

        keys = sorted(self.keys.get(column.group, ()))
        if not keys:
            return F.lit(False)
        test = self.hasher.column(value).isin(keys)
        if not is_number:
            return test
        number = value.try_cast("decimal(38,9)")
        whole = F.when(number == F.floor(number), number.try_cast("bigint"))
        return test | F.coalesce(self.hasher.column(whole).isin(keys), F.lit(False))

    def word_test(self, column: Column) -> Callable[["SparkColumn"], "SparkColumn"]:
        """The same of a word of a text, for F.exists, which counts the arguments of a function."""
        return lambda word: self.test(column, word)

    def entries(
        self, found: Any, clean: set[str], held: set[str] | frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """Where the JSON of a log holds something.

        ``clean`` are decoded files without a hit, ``held`` those that had one at any time.
        """
        if isinstance(found, list):
            for one in found:
                yield from self.entries(one, clean, held)
        if not isinstance(found, dict):
            return
        for key, value in found.items():
            if key in ("stats", "stats_parsed") and value:
                stats = loads(value) if isinstance(value, str) else value
                file = base(found.get("path", ""))
                # A minimum or maximum of any column may be the subject's.
                if file in held and (stats.get("minValues") or stats.get("maxValues")):
                    yield "statistics of a file with subjects"
                yield from self._statistics(stats, file in clean)
            elif key in ("partitionValues", "partitionValues_parsed"):
                yield from self.partitions((value or {}).items())
            elif key == "path" and isinstance(value, str):
                yield from self.partitions(folder_values(value))
            elif key == "commitInfo":
                yield from self._commit(value)
            else:
                yield from self.entries(value, clean, held)

    def partitions(self, values: Iterable[tuple[str, Any]]) -> Iterator[str]:
        """Where partition values hold something."""
        for name, value in values:
            for column in self.columns:
                names = (column.physical.lower(), column.name.lower())
                if value is not None and name.lower() in names and self._has_key(column, value):
                    yield f"partition value of {column.name}"

    def _has_key(self, column: Column, value: Any) -> bool:
        hashes = {self.hasher.of(part) for part in column.parts(value)}
        return not hashes.isdisjoint(self.keys.get(column.group, ()))

    def named(self, text: str) -> Iterator[str]:
        """The named values in a text, by their number: they are not repeated."""
        for number, value in enumerate(self.values, 1):
            if value in text or json.dumps(value)[1:-1] in text:
                yield f"named value {number}"

    def _statistics(self, stats: dict[str, Any], is_clean: bool) -> Iterator[str]:
        bounds = [
            {name.lower(): value for name, value in (stats.get(part) or {}).items()}
            for part in ("minValues", "maxValues")
        ]
        for column in self.columns:
            for values in bounds if column.emptied is None else ():
                value = values.get(column.physical.lower())
                if value is None:
                    continue
                is_key = self._has_key(column, value)
                start = self.hasher.of(str(value)[:KEPT])
                # What is kept of a long key may be that of another one, whose row is there.
                is_start = not is_clean and start in self._starts.get(column.group, ())
                if is_key or is_start:
                    yield f"statistics of {column.name}"

    def _commit(self, about: Any) -> Iterator[str]:
        for text in _texts(about):
            for column in self.columns:
                if column.emptied is not None or column.name.lower() not in text.lower():
                    continue
                hashes = {self.hasher.of(word) for word in words(text)}
                if not hashes.isdisjoint(self.keys.get(column.group, ())):
                    yield f"predicate on {column.name}"


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for value in found.values():
            yield from _texts(value)
    elif isinstance(found, list):
        for value in found:
            yield from _texts(value)
