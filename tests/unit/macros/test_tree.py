"""The rules of the macro tree: who calls whom, what asks Spark, and how long a macro is."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

MACROS = Path(__file__).parents[3] / "macros"
# A macro calls its own layer and those before it. What Spark says and what follows from it are one.
LAYERS = (
    {"engine/text"},
    {"engine/format"},
    {"engine/types"},
    {"engine/config"},
    {"engine/log"},
    {"engine/catalog", "engine/decide"},
    {"engine/write"},
    {"engine/batch", "engine/format/delta", "engine/format/iceberg"},
    {"engine/run"},
)
# What differs between formats is written in their folders, and called by `_in_format` alone.
FORMATS = {"engine/format/delta", "engine/format/iceberg"}
# What decides, and what writes SQL, asks nothing.
PURE = {"engine/text", "engine/format", "engine/types", "engine/config", "engine/log"}
PURE |= {"engine/write", "engine/batch", "incremental", *FORMATS}
# Where formats' own words are: their properties, statements and log, what is asked and run.
OF_DELTA = {"engine/format", *FORMATS, "engine/log", "engine/catalog", "engine/run"}
WORDS = re.compile(
    r"(?<![\w.])delta\.[a-zA-Z]|(?:version|timestamp) as of '|table_changes\(\{"
    r"|'describe (?:history|detail)|^(?:optimize|reorg) ",
    re.MULTILINE,
)
# A strategy of the user's own is told the columns that dbt's cache knows. Users call the others
# with two relations or versions only: what they compare has to be asked.
ASKING_TEXTS = {
    "get_write_sql",
    "get_diff_relations_sql",
    "get_diff_versions_sql",
    "get_compared_changes_sql",
}
RECORDS = r"\b(batch|existing|layout|plan|promised|promises|settings|table)\.update\("
QUERY = re.compile(
    r"run_query|_ask\(|_execute\(|_main\(|\bstatement\(|add_query"
    r"|adapter\.(dbt_delta_(?!plugin|hide|select)|get_columns_in_relation|get_relation)"
)
LINES = 60


@dataclass(frozen=True)
class Macro:
    name: str
    path: Path
    text: str

    @property
    def folder(self) -> str:
        return self.path.parent.relative_to(MACROS).as_posix()

    @property
    def layer(self) -> int:
        """The layer in the engine; doors lie above all of them."""
        if not self.folder.startswith("engine/"):
            return len(LAYERS)
        return next(n for n, layer in enumerate(LAYERS) if self.folder in layer)

    @property
    def calls(self) -> set[str]:
        return set(re.findall(r"\bdbt_delta\.(\w+)\s*\(", self.text)) & set(macros())

    @property
    def is_public(self) -> bool:
        return not self.name.startswith(("_", "spark__", "build_", "materialization "))


@cache
def macros() -> dict[str, Macro]:
    return {macro.name: macro for macro in _read()}


def _read() -> Iterator[Macro]:
    block = re.compile(r"\{%-?\s*(macro|materialization|test)\s+(\w+).*?\{%-?\s*end\1", re.DOTALL)
    for path in sorted(MACROS.rglob("*.sql")):
        for found in block.finditer(_code(path)):
            kind = "" if found[1] == "macro" else f"{found[1]} "
            yield Macro(kind + found[2], path, found[0])


def _code(path: Path) -> str:
    return re.sub(r"(?<!\\)\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)


@cache
def documented() -> dict[str, dict]:
    files = [yaml.safe_load(path.read_text()) for path in MACROS.rglob("*__macros.yml")]
    return {entry["name"]: entry for file in files for entry in file["macros"]}


def _asking() -> set[str]:
    """The macros that query, themselves or by what they call."""
    asking = {name for name, macro in macros().items() if QUERY.search(macro.text)}
    while True:
        more = {name for name, macro in macros().items() if macro.calls & asking} - asking
        if not more:
            return asking
        asking |= more


def _wrong(found: list[str]) -> None:
    assert not found, "\n".join(sorted(found))


def test_every_macro_is_read() -> None:
    text = "".join(_code(path) for path in MACROS.rglob("*.sql"))
    assert len(macros()) == len(re.findall(r"\{%-?\s*(?:macro|materialization|test)\s", text))


def test_calls_go_downwards() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} calls {called} of {macros()[called].folder}"
            for macro in macros().values()
            for called in macro.calls
            if macros()[called].layer > macro.layer
        ]
    )


def test_formats_have_the_same_macros_and_are_called_by_the_dispatcher() -> None:
    """Or what is missing is not asked of that format: only what is refused there before."""
    everywhere = "".join(macro.text for macro in macros().values())
    asked = set(re.findall(r"_in_format\('(\w+)'\)", everywhere))
    for one in ("delta", "iceberg"):
        _wrong([f"{one} has no {n}" for n in asked if f"_{one}__{n}" not in macros()])
    _wrong(
        [
            f"{macro.folder}: {macro.name} calls {called}"
            for macro in macros().values()
            for called in macro.calls
            if macros()[called].folder in FORMATS - {macro.folder}
        ]
    )


def _only_in_formats(pattern: str) -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} has {found[0]}"
            for macro in macros().values()
            if macro.folder not in FORMATS
            for found in re.finditer(pattern, macro.text)
        ]
    )


def test_no_macro_beside_them_asks_which_format_it_is() -> None:
    _only_in_formats(r"==? *'iceberg'|!= *'iceberg'|_target_format\(\) *[!=]= *'")


def test_rows_of_tables_are_replaced_in_words_of_a_format() -> None:
    """A statement that keeps other writers out on one format destroys their rows on another."""
    _only_in_formats("insert overwrite|replace where")


def test_a_door_calls_nothing_private_of_another() -> None:
    """Materializations are the doors of all others."""
    _wrong(
        [
            f"{macro.folder}: {macro.name} calls {called} of {macros()[called].folder}"
            for macro in macros().values()
            for called in macro.calls
            if called.startswith("_")
            and not macros()[called].folder.startswith("engine")
            and macro.folder not in ("materializations", macros()[called].folder)
        ]
    )


def test_what_decides_or_writes_sql_asks_nothing() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name}"
            for macro in map(macros().get, _asking() - ASKING_TEXTS)
            if macro.folder in PURE or re.fullmatch(r"get_\w+_sql", macro.name)
        ]
    )


def test_statements_are_sent_in_one_place_for_queries_and_one_for_writes() -> None:
    """dbt takes the code of a Python model only from its materialization."""
    sent = re.compile(r"run_query|add_query|statement\((?!'main', language='python')")
    _wrong(
        [
            f"{macro.folder}: {macro.name} sends {found[0]}"
            for macro in macros().values()
            if macro.folder not in ("engine/catalog", "engine/run")
            for found in sent.finditer(macro.text.replace("noop_statement(", ""))
        ]
    )


def test_a_door_has_one_public_macro_and_the_texts_it_runs() -> None:
    files = defaultdict(list)
    for macro in macros().values():
        if macro.is_public and not macro.folder.startswith("engine"):
            files[macro.path].append(macro.name)
    _wrong(
        [
            f"{path.relative_to(MACROS)}: {', '.join(names)}"
            for path, names in files.items()
            if len([name for name in names if not re.fullmatch(r"get_\w+_sql", name)]) > 1
        ]
    )


def test_a_record_is_never_changed() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} has {found[0]}"
            for macro in macros().values()
            for found in re.finditer(RECORDS, macro.text)
        ]
    )


def test_deltas_own_words_have_one_place() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} has {found[0]}"
            for macro in macros().values()
            if macro.folder not in OF_DELTA
            for found in WORDS.finditer(macro.text)
        ]
    )


def test_what_a_run_remembers_has_one_place() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} has {found[0]}"
            for macro in macros().values()
            if macro.name != "_memory"
            for found in re.finditer(r"\bgraph\.(?:setdefault|update|pop)\(", macro.text)
        ]
    )


def test_no_macro_is_long() -> None:
    _wrong(
        [
            f"{macro.folder}: {macro.name} has {len(macro.text.splitlines())} lines"
            for macro in macros().values()
            if len(macro.text.splitlines()) > LINES
        ]
    )


@pytest.mark.parametrize("name", [name for name, macro in macros().items() if macro.is_public])
def test_what_is_public_is_documented(name: str) -> None:
    entry = documented()[name.replace(" ", "_")]
    assert entry["description"].strip()
    head = macros()[name].text.partition("%}")[0].partition("(")[2]
    names = re.findall(r"(\w+)\s*(?:[,=)])", re.sub(r"=\s*(\[.*?\]|\{.*?\}|[^,)]*)", "=", head))
    arguments = {argument["name"]: argument for argument in entry.get("arguments", [])}
    assert set(arguments) == set(names)
    assert all(argument["type"] for argument in arguments.values())
