"""``./run docs record [pages]``: runs the examples of README and docs, and writes what they print.

An example is a block ``console``: its lines that begin with ``$`` are run, what follows them is
replaced by their output. Left out are dbt's clock, the lines by which it begins and ends, and which
macro called which. A block ``sql``, ``python``, ``yaml`` or ``csv`` that begins with a comment such
as ``-- models/orders.sql`` is a file of the example, there while its page is recorded; a comment
``<!-- file: seeds/prices.csv -->`` before the block says the same.

A page begins with the first eight nights of the year (``./run replay --step day --until
2013-01-08``). A comment before a block says otherwise:

- ``<!-- record: year -->``: in a home where nothing was built yet, shared by such blocks;
- ``<!-- record: pick REGEX -->``: the lines that match only, with ``...`` for the others;
- ``<!-- record: no -->``: not run.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKER = "--worker"
NIGHTS, START, YEAR = (ROOT / "var" / name for name in ("nights", "nights.start", "year"))
BLOCK = re.compile(
    r"(?:<!-- (?P<note>.*?) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
FILE = re.compile(r"(?:--|#) ((?:models|seeds|snapshots|tests|analyses)/\S+)\n")
NOISE = re.compile(
    r"$|Running with dbt|Registered adapter|Found \d|Concurrency: |Performance info|setup: "
    r"|Finished running|Completed successfully|Completed with|Unable to do partial"
    r"|\s+> (in|called by) |\s+compiled code at "
    r"|\[WARNING\]\[\w*(Deprecat|Unused)|\d+ of \d+ START |Building catalog"
)
SETTINGS = {
    "DBT_USE_COLORS": "false",
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "DBT_DELTA_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
    "COLUMNS": "200",
}


class Dbt:
    """A process that runs dbt command after command, so that Spark starts once for all."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [sys.executable, __file__, WORKER],
            cwd=ROOT,
            env=settings(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: list[str]) -> str:
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def work() -> None:
    """That process: reads arguments of dbt from its input, answers with what dbt prints."""
    from dbt.cli.main import dbtRunner

    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        with tempfile.TemporaryFile() as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            dbtRunner().invoke(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            printed.seek(0)
            answers.write(json.dumps(printed.read().decode()) + "\n")
            answers.flush()


def settings(home: Path) -> dict[str, str]:
    return {**os.environ, **SETTINGS, "DBT_DELTA_HOME": str(home)}


running: list[Dbt] = []


def stop() -> None:
    """Ends the process of dbt: the embedded metastore serves one at a time."""
    while running:
        running.pop().close()


def run(command: str, home: Path) -> list[str]:
    """What a command prints, without what differs from run to run for no reason."""
    if command.startswith("dbt "):
        if not running or running[0].home != home:
            stop()
            running.append(Dbt(home))
        printed = running[0].run(shlex.split(command)[1:])
    else:
        stop()
        printed = subprocess.run(
            ["bash", "-c", f"source .venv/bin/activate && {command}"],
            cwd=ROOT,
            env=settings(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ).stdout
    return clean(printed.replace(str(home), "/srv/dbt_delta/var"))


def clean(output: str) -> list[str]:
    output = re.sub(r"\x1b\[[0-9;]*m", "", output).replace(str(ROOT), "/srv/dbt_delta")
    lines = [re.sub(r"^\d\d:\d\d:\d\d ( |$)", "", line).rstrip() for line in output.splitlines()]
    return [line for line in lines if not NOISE.match(line)]


def start() -> None:
    """The nights, from the copy that the first call makes."""
    if not START.is_dir():
        print("the first eight nights", flush=True)
        shutil.rmtree(NIGHTS, ignore_errors=True)
        for line in run("./run replay --step day --until 2013-01-08", NIGHTS):
            print("   ", line, flush=True)
        shutil.copytree(NIGHTS, START)
    shutil.rmtree(NIGHTS, ignore_errors=True)
    shutil.copytree(START, NIGHTS)


def example_files(text: str) -> dict[Path, str]:
    found = {}
    for block in BLOCK.finditer(text):
        note, path = block["note"] or "", FILE.match(block["body"])
        if note.startswith("file: ") or path:
            name = path[1] if path else note.removeprefix("file: ")
            found[ROOT / name] = block["body"]
    return found


def record(page: Path) -> None:
    text = page.read_text()
    if "\n```console\n" not in text:
        return
    start()
    shutil.rmtree(YEAR, ignore_errors=True)
    written = {path: body for path, body in example_files(text).items() if not path.exists()}
    try:
        for path, body in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body)
        page.write_text(BLOCK.sub(_recorded, text))
    finally:
        stop()
        for path in written:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()


def _recorded(block: re.Match[str]) -> str:
    note = block["note"] or ""
    if block["kind"] != "console" or note == "record: no":
        return block[0]
    lines = []
    for command in re.findall(r"^\$ (.*)$", block["body"], re.MULTILINE):
        print(f"$ {command}", flush=True)
        printed = run(command, YEAR if "year" in note else NIGHTS)
        print("\n".join(f"    {line}" for line in printed), flush=True)
        picked = re.search(r"pick (.*)", note)
        if picked:
            printed = pick(printed, picked[1])
        lines += [f"$ {command}", *printed]
    before = block[0].partition("```")[0]
    return before + "\n".join(["```console", *lines, "```"])


def pick(lines: list[str], pattern: str) -> list[str]:
    """The lines that match; one line of dots stands for all between them."""
    picked = [line if re.search(pattern, line) else "..." for line in lines]
    return [
        line
        for line, before in zip(picked, ["", *picked], strict=False)
        if [line, before] != ["..."] * 2
    ]


def main(names: list[str]) -> None:
    pages = [ROOT / name for name in names]
    for page in pages or [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        record(page)


if __name__ == "__main__":
    work() if sys.argv[1:] == [WORKER] else main(sys.argv[1:])
