"""The site that ``./run docs`` builds: a hook of mkdocs, see mkdocs.yml.

Pages are those of docs/, the Markdown files of the root and of benchmarks/, and a reference of the
macros that is made here from their ``_<area>__macros.yml``. Links are written as GitHub follows
them, from file to file; here they become those of the site. A link to a YAML file of macros leads
to its page of the reference.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
# dbt's own page of models, columns and lineage, where somebody has made it.
DBT_PAGE = ROOT / "var" / "target" / "static_index.html"


def sources() -> list[Path]:
    """The Markdown files that people read, without the generated ones."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    return sorted(found)


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def links(path: Path) -> Iterator[str]:
    """The links of a page to files, as paths from the root; an anchor stays behind them."""
    for target in LINK.findall(prose(path.read_text())):
        if not re.match(r"\w+:", target):
            yield _from_root(path.relative_to(ROOT).as_posix(), target)


def _from_root(page: str, target: str) -> str:
    file, mark, anchor = target.partition("#")
    joined = posixpath.join(posixpath.dirname(page), file) if file else page
    return posixpath.normpath(joined) + mark + anchor


def site_path(path: str) -> str:
    """Where the site has a file of the project."""
    area = re.fullmatch(r"macros/(\w+)/_\1__macros\.yml", path)
    if area:
        return f"reference/{area[1]}.md"
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def reference() -> dict[str, str]:
    """The pages of the reference, by area: what users call first, the texts of SQL after it."""
    pages = {}
    for path in sorted(ROOT.glob("macros/*/_*__macros.yml")):
        entries = yaml.safe_load(path.read_text())["macros"]
        shown = [entry for entry in entries if entry.get("docs", {}).get("show", True)]
        shown.sort(key=lambda entry: entry["name"].startswith("get_"))
        title = path.parent.name.replace("_", " ").capitalize()
        pages[path.parent.name] = "\n".join(
            [
                f"# Macros: {title}",
                "",
                f"Generated from `{path.relative_to(ROOT).as_posix()}`.",
                *(_entry(entry) for entry in shown),
            ]
        )
    return pages


def _entry(entry: dict[str, Any]) -> str:
    name, arguments = entry["name"], entry.get("arguments", [])
    call = f"dbt_delta.{name}({', '.join(argument['name'] for argument in arguments)})"
    lines = ["", f"## {name.removeprefix('test_')}", "", "```text", call, "```", ""]
    if name.startswith("test_"):
        given = ", ".join(a["name"] for a in arguments if a["name"] != "model")
        lines[4] = f"data_tests: dbt_delta.{name.removeprefix('test_')} ({given})"
    lines.append(_plain(entry["description"]))
    if arguments:
        lines += ["", "| argument | type | meaning |", "| --- | --- | --- |"]
    for argument in arguments:
        meaning = " ".join(_plain(argument["description"]).split()).replace("|", "\\|")
        lines.append(f"| `{argument['name']}` | `{argument['type']}` | {meaning} |")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A description without what only dbt's renderer needs; `<id>` is not a tag."""
    text = re.sub(r"\{%\s*(end)?raw\s*%\}", "", text).rstrip()
    parts = re.split(r"(`[^`]*`|^ {4}.*$)", text, flags=re.MULTILINE)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


def on_files(files: Any, config: Any) -> Any:
    """Adds what lies outside of docs/, and the reference."""
    from mkdocs.structure.files import File

    def add(path: str, **source: str) -> None:
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, **source))

    for area, text in reference().items():
        add(f"reference/{area}.md", content=text)
    for path in sources():
        add(site_path(path.relative_to(ROOT).as_posix()), content=path.read_text())
        for target in links(path):
            file = ROOT / target.partition("#")[0]
            if file.suffix != ".md" and file.is_file():
                add(site_path(target), abs_src_path=str(file))
    if DBT_PAGE.is_file():
        add("dbt/index.html", abs_src_path=str(DBT_PAGE))
    add("dbt.md", content=_dbt())
    return files


def _dbt() -> str:
    title = "# dbt's own pages\n\n"
    if DBT_PAGE.is_file():
        return title + "[Models, columns, tests and lineage](dbt/index.html) of the project.\n"
    return (
        f"{title}Models, columns, tests and lineage of the project. They are not made yet:\n"
        "\n```console\n$ dbt docs generate --static\n$ ./run docs\n```\n"
    )


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Makes the links of a page those of the site."""
    here = page.file.src_uri
    origins = {site_path(p.relative_to(ROOT).as_posix()): p for p in sources()}
    if here not in origins:
        return markdown
    origin = origins[here].relative_to(ROOT).as_posix()

    def moved(match: re.Match[str]) -> str:
        if re.match(r"\w+:|#", match[1]):
            return match[1]
        file, mark, anchor = _from_root(origin, match[1]).partition("#")
        return posixpath.relpath(site_path(file), posixpath.dirname(here) or ".") + mark + anchor

    return LINK.sub(moved, markdown)
