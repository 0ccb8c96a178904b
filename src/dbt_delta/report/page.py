"""The document as one HTML file that asks for nothing from the network.

Names may be anything: the document is in the page as JSON in which no character can end the
element, and report.js writes texts, never HTML. A content security policy allows the three scripts
of this page by their hashes, and no request.
"""

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Any

# Bytes.
MOST = 2_000_000
_FOLDER = Path(__file__).parent
# So many runs are shown, however large they are.
_FEWEST_RUNS = 5


def page(document: dict[str, Any]) -> str:
    """The file's text, of at most ``MOST`` bytes: the oldest runs are left out for that.

    Raises:
        ValueError: a file of the charting library is not the one that was tested.
    """
    text = _page(document)
    while len(text.encode()) > MOST and len(document["runs"]) > _FEWEST_RUNS:
        document = without_oldest(document, max(1, len(document["runs"]) // 8))
        text = _page(document)
    return text


def without_oldest(document: dict[str, Any], count: int) -> dict[str, Any]:
    """The document without the oldest runs; ``left_out`` says how many are missing."""
    nodes = []
    for node in document["nodes"]:
        runs = node["runs"]
        first = sum(1 for run in runs.get("run", []) if run < count)
        cut = {key: column[first:] for key, column in runs.items()}
        if runs:
            cut["run"] = [run - count for run in cut["run"]]
        odd = {
            key: [place - first for place in places if place >= first]
            for key, places in node["odd"].items()
        }
        nodes.append({**node, "runs": cut if cut.get("run") else {}, "odd": odd})
    return {
        **document,
        "runs": document["runs"][count:],
        "nodes": nodes,
        "tests": [{**test, "results": test["results"][count:]} for test in document["tests"]],
        "left_out": document.get("left_out", 0) + count,
    }


def embedded(value: Any) -> str:
    """JSON that may stand in an element ``script``."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for one in "<>&":
        text = text.replace(one, f"\\u{ord(one):04x}")
    return text


def libraries() -> list[str]:
    """The charting library's scripts, each checked by its sha256.

    Raises:
        ValueError: a file is not the one that was tested.
    """
    found = []
    for line in (_FOLDER / "vendor" / "SHA256").read_text().splitlines():
        digest, name = line.split()
        content = (_FOLDER / "vendor" / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"{name} does not have the sha256 in SHA256: install dbt_delta again")
        found.append(content.decode())
    return found


def _page(document: dict[str, Any]) -> str:
    scripts = [*libraries(), _read("report.js")]
    parts = {
        "title": _escaped(f"{document['project']} ({document['target']})"),
        "policy": " ".join(f"'sha256-{_digest(script)}'" for script in scripts),
        "style": _read("report.css"),
        "data": embedded(document),
        "scripts": "".join(f"<script>{script}</script>\n" for script in scripts),
    }
    # The pieces are put in between: a text that holds another mark stays as it is.
    pieces = _read("report.html").split("%%")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode()


def _read(name: str) -> str:
    return (_FOLDER / "page" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
