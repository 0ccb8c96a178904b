"""What README and docs name exists: files, links, commands, macros, arguments, settings."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from dbt.cli.main import cli

from setup.docs import pages, record

ROOT = pages.ROOT
GUIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = ("macros/**/*.sql", "src/**/*.py", "profiles/*", "setup/*.sh", "run", "models/**/*")
# Named as examples of names, or what a program makes.
MADE = re.compile(r"(var|target|site)/|macros/dbt_delta\.sql|.*\.conf$")
OPTIONS_OF_DBT = re.compile(r"(file_format|incremental_strategy|target_alias|zorder)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


each = pytest.mark.parametrize("page", GUIDE, ids=_name)


@cache
def code() -> str:
    """All that macros, the Python side and set-up consist of."""
    files = (path for pattern in SOURCES for path in sorted(ROOT.glob(pattern)))
    return "\n".join(path.read_text() for path in files if path.is_file() and path.suffix != ".pyc")


@cache
def macros() -> dict[str, set[str]]:
    """The documented macros, each with its arguments."""
    return {
        entry["name"]: {argument["name"] for argument in entry.get("arguments", [])}
        for path in ROOT.glob("macros/**/_*__macros.yml")
        for entry in yaml.safe_load(path.read_text())["macros"]
    }


def _wrong(found: list[str]) -> None:
    assert not found, "\n".join(found)


def _spans(text: str) -> list[str]:
    """The code in a page's prose."""
    return re.findall(r"`([^`\n]+)`", pages.prose(text))


def _rows(text: str, heading: str) -> Iterator[str]:
    """First cells of the tables whose first column has that heading."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        first, _, *rows = table.splitlines()
        if first.split("|")[1].strip() == heading:
            yield from (row.split("|")[1] for row in rows)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", pages.sources(), ids=_name)
def test_links_resolve(page: Path) -> None:
    found = []
    for target in pages.links(page):
        file, _, anchor = target.partition("#")
        if not (ROOT / file).is_file():
            found.append(f"{_name(page)}: no file {file}")
        elif anchor and anchor not in _anchors(ROOT / file):
            found.append(f"{_name(page)}: {file} has no heading #{anchor}")
    _wrong(found)


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", pages.prose(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each
def test_files_exist(page: Path) -> None:
    named = re.compile(r"(?:\w+|\.\w+)/[\w./-]*")
    examples = {_name(path) for path in record.example_files(page.read_text())}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    _wrong(
        [
            f"{_name(page)}: no file {span}"
            for span in _spans(page.read_text())
            if named.fullmatch(span) and span.split("/")[0] in folders | {"docs", "deploy", "site"}
            if not MADE.match(span) and span not in examples and not (ROOT / span).exists()
        ]
    )


@each
def test_commands_exist(page: Path) -> None:
    text = page.read_text()
    ours = set(re.findall(r"^  (\w+) {2,}\S", (ROOT / "run").read_text(), re.MULTILINE))
    found = []
    for name in re.findall(r"\./run (\w+)", text):
        if name not in ours:
            found.append(f"{_name(page)}: no command ./run {name}")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    for line in [*lines, *_spans(text)]:
        name = re.match(r"dbt (?:--[\w-]+ )*([a-z]\S*)", line)
        if name and name[1] not in cli.commands:
            found.append(f"{_name(page)}: no command of dbt: {line}")
    for module in re.findall(r"python -m dbt_delta\.(\w+)", text):
        if not list((ROOT / "src/dbt_delta").glob(f"{module}*")):
            found.append(f"{_name(page)}: no module dbt_delta.{module}")
    _wrong(found)


@each
def test_run_operations_exist_and_take_these_arguments(page: Path) -> None:
    found = []
    call = r"run-operation (\w+)(?: --args '([^']*)')?"
    for name, arguments in re.findall(call, page.read_text()):
        if name not in macros():
            found.append(f"{_name(page)}: no run operation {name}")
            continue
        given = yaml.safe_load(arguments) if arguments else {}
        found += [
            f"{_name(page)}: {name} has no argument {argument}"
            for argument in set(given) - macros()[name]
        ]
    for cell in _rows(page.read_text(), "operation and arguments"):
        name, arguments = re.findall(r"`([^`]+)`", cell)
        found += [
            f"{_name(page)}: {name} has no argument {argument}"
            for argument in re.findall(r"\w+", arguments)
            if argument not in macros().get(name, set())
        ]
    _wrong(found)


@each
def test_macros_exist(page: Path) -> None:
    """``dbt_delta.x`` is a macro, a data test, a table, a property of one or a module."""
    defined = set(re.findall(r"\{%-? *(?:macro|test) +(\w+)", code()))
    defined |= {f"materialization_{m}_spark" for m in re.findall(r"materialization (\w+)", code())}
    text, found = page.read_text(), []
    folders = ("models", "seeds", "snapshots", "src/dbt_delta", "deploy")
    nodes = {path.stem for folder in folders for path in (ROOT / folder).rglob("*.*")}
    nodes |= {path.stem for path in record.example_files(text)} | {"service"}
    for name in re.findall(r"(?<![\w/])dbt_delta\.(\w+)\b(?!\.\.\.)", text):
        if name not in defined | nodes and not re.search(rf"dbt_delta[./]{name}\b", code()):
            found.append(f"{_name(page)}: no macro dbt_delta.{name}")
    _wrong(found)


@each
def test_settings_exist(page: Path) -> None:
    """Configs, keys and arguments of the tables, and variables, are names that the code knows."""
    text, found = page.read_text(), []
    for heading in ("config", "key", "argument", "arguments"):
        for cell in _rows(text, heading):
            for name in re.findall(r"`(\w+)`", cell):
                if not re.search(rf"['\"]{name}['\"]|\b{name}=|[(,] *{name}[,)]", code()):
                    found.append(f"{_name(page)}: nothing reads {heading} {name}")
    for name in re.findall(r"`\.?((?:DBT|PIP|MAVEN|SPARK)_\w+)", text):
        if name not in code():
            found.append(f"{_name(page)}: nothing reads the variable {name}")
    for name in set(re.findall(r"`(dbt_delta_\w+)`", text)):
        if f"'{name}'" not in code():
            found.append(f"{_name(page)}: nothing reads the variable {name}")
    _wrong(found)


@each
def test_examples_are_recorded(page: Path) -> None:
    """Each console block begins with a command and shows what it printed."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    for block in blocks:
        lines = block.splitlines()
        assert lines[0].startswith("$ "), block
        assert any(not line.startswith("$ ") for line in lines), block


def test_every_operation_has_a_place_in_a_page() -> None:
    """What people call is in a page, not only in the reference."""
    text = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    entries = yaml.safe_load
    doors = [path for path in ROOT.glob("macros/*/_*__macros.yml") if path.parent.name != "engine"]
    names = [entry["name"] for path in doors for entry in entries(path.read_text())["macros"]]
    _wrong(
        [
            f"no page names {name}"
            for name in names
            if not name.startswith(("get_", "build_", "_"))
            and not re.search(rf"\b{name.removeprefix('test_')}\b", text)
        ]
    )


def test_each_decision_has_its_date_and_its_cost() -> None:
    for page in sorted((ROOT / "docs/decisions").glob("*.md")):
        sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]
        assert sections, page
        for section in sections:
            title = section.splitlines()[0]
            assert re.search(r"^Since 20\d\d-\d\d-\d\d\.$", section, re.MULTILINE), title
            assert re.search(r"^Cost: ", section, re.MULTILINE), title
    index = (ROOT / "DECISIONS.md").read_text()
    for page in (ROOT / "docs/decisions").glob("*.md"):
        assert f"docs/decisions/{page.name}" in index


def test_the_reference_has_every_documented_macro() -> None:
    text = "\n".join(pages.reference().values())
    for name in macros():
        if not name.startswith("_"):
            assert f"\n## {name.removeprefix('test_')}\n" in text
    assert "{%" not in text
