"""The certificate of an erasure: what was asked, done and checked, without the subjects' keys.

A JSON file, written before the first change, and a page for people, both in the project's folder
``erasure`` or in the one that the variable dbt_delta_erasure_folder names.
"""

import datetime as dt
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt_delta.erasure.keyed import SECRET, Hasher, merged

OUTSIDE = (
    "backups and other copies of the tables, and earlier versions that an object store keeps",
    "seeds, files that are landed in no table of this kind, and systems behind the sources",
    "tables, views and files without a declared column of this kind",
    "logs of dbt and Spark",
)


class Certificates:
    """The certificates in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, request: str) -> dict[str, Any]:
        """
        Raises:
            ValueError: there is none with that id.
        """
        try:
            return dict(json.loads((self._folder / f"{request}.json").read_text()))
        except FileNotFoundError:
            known = sorted(path.stem for path in self._folder.glob("*.json"))
            names = ", ".join(known) or "none yet"
            raise ValueError(
                f"There is no certificate {request} in {self._folder.name}: it has {names}."
            ) from None

    def unfinished(self, about: dict[str, Any]) -> dict[str, Any] | None:
        """The newest one of the same erasure that is not closed."""
        same = [one for one in self.unclosed() if all(one[key] == about[key] for key in about)]
        return max(same, key=lambda one: str(one["begun"]), default=None)

    def unclosed(self) -> list[dict[str, Any]]:
        """Those that are not closed, by their names."""
        found = [json.loads(path.read_text()) for path in sorted(self._folder.glob("*.json"))]
        return [one for one in found if one["state"] != "closed"]

    def begin(
        self, hasher: Hasher, about: dict[str, Any], own: Sequence[str], groups: dict[str, Any]
    ) -> dict[str, Any]:
        """A record, with what an earlier call of the same erasure left in it.

        ``own`` are the groups that come from the requests themselves.
        """
        keys = {name: groups[name]["keys"] for name in sorted(own)}
        request = hasher.of(json.dumps([about, keys], sort_keys=True))[:12]
        record = {**about, "request": request, "begun": now(), "subjects": {}, "tables": {}}
        if (self._folder / f"{request}.json").exists():
            record = self.read(request)
        record["subjects"] = merged(record["subjects"], groups)
        return {**record, "secret": hasher.mark, "state": "begun", "checks": {}, "open": []}

    def check(self, hasher: Hasher, records: Sequence[dict[str, Any]]) -> None:
        """
        Raises:
            ValueError: one has hashes of another secret, so a scan would find none of its subjects.
        """
        other = [one["request"] for one in records if one.get("secret") != hasher.mark]
        if other:
            raise ValueError(
                f"{self._folder.name}: another value of {SECRET} made the hashes of certificate "
                f"{', '.join(other)}, so no subject of it would be found. Set that value again; "
                "if it is lost, move the certificate away and call erase with the requests again."
            )

    def write(self, record: dict[str, Any]) -> str:
        """Writes both files; the name of the page for people."""
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {key: value for key, value in record.items() if key != "digest"}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        content["digest"] = digest
        target = self._folder / f"{record['request']}.json"
        # A killed call leaves the old certificate or the new one.
        part = target.with_suffix(".part")
        part.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
        os.replace(part, target)
        page = target.with_suffix(".md")
        page.write_text(readable(content))
        return f"{self._folder.name}/{page.name}"


def checked(
    record: dict[str, Any], scans: dict[str, Any], missing: Sequence[str]
) -> dict[str, Any]:
    """The record with what a scan of its tables found: {table: {findings, counts, unread}}."""
    still = [
        {"table": name, "why": ", ".join(f["what"]), "place": f["place"], "file": f["file"]}
        | _until(f)
        for name, found in scans.items()
        for f in found["findings"]
    ]
    still += [
        {"table": name, "why": "not decoded", "place": "file", "file": file, "until": None}
        for name, found in scans.items()
        for file in found["unread"]
    ]
    still += [
        {"table": name, "why": "not there", "place": "table", "file": "", "until": None}
        for name in missing
    ]
    counts: dict[str, dict[str, int]] = {name: found["counts"] for name, found in scans.items()}
    state = "open" if still else "closed"
    return {**record, "state": state, "open": still, "checks": {"at": now(), "files": counts}}


def live(scans: dict[str, Any]) -> list[str]:
    """Tables whose newest version still holds a subject."""
    return [n for n, found in scans.items() if any(f["is_live"] for f in found["findings"])]


def state(record: dict[str, Any]) -> str:
    """In words."""
    if record["state"] == "closed":
        return f"closed at {record['checks']['at']}: nothing was found"
    if record["state"] == "begun":
        return "begun, and not finished: run erase again"
    until = _open_until(record)
    return f"open until {until}" if until else "open"


def is_due(record: dict[str, Any]) -> bool:
    """Whether a scan may find nothing more: all that was open may be gone now."""
    until = _open_until(record)
    return record["state"] == "open" and (until is None or until <= now())


def readable(record: dict[str, Any]) -> str:
    lines = [
        f"# Erasure {record['request']}",
        "",
        f"- State: **{state(record)}**",
        f"- Subjects: kind `{record['kind']}`, {_subjects(record)}; requests in "
        f"`{record['requests']}`",
        f"- Action: {record['action']}",
        f"- Landing files: {_landing(record)}",
        f"- Begun: {record['begun']}",
        f"- SHA-256 of the JSON file without its digest: `{record['digest']}`",
        "",
        "| table | columns | version before | after | rows | files with subjects before | now "
        "| decoded |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, table in record["tables"].items():
        decoded = record["checks"].get("files", {}).get(name, {})
        texts = [f"{count} {kind}s" for kind, count in sorted(decoded.items()) if count]
        columns = ", ".join(sorted({column["name"] for column in table["columns"]}))
        lines.append(
            f"| {name} | {columns} | {table['before']} | {_or(table.get('after'))} | "
            f"{table['rows']} | {table['held']} | {_or(table.get('holds'))} | {', '.join(texts)} |"
        )
    if record["open"]:
        lines += ["", "## Open", ""]
        lines += [f"- {line}" for line in open_lines(record)]
    lines += ["", "## Outside of this erasure", ""]
    lines += [f"- {text}" for text in OUTSIDE]
    if _mode(record) == "out_of_scope":
        lines.append("- landing files, from which a full refresh loads their rows again")
    lines += [f"- {line}" for line in stream_lines(record)]
    if record["requests"].endswith(".csv"):
        lines.append(f"- the file of the requests, {record['requests']}: delete it")
    return "\n".join(lines) + "\n"


def open_lines(record: dict[str, Any]) -> list[str]:
    """What is open, a line for files of one kind in a table; the JSON file has each of them."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in record["open"]:
        grouped.setdefault((one["table"], one["place"]), []).append(one)
    lines = []
    for (table, place), found in grouped.items():
        what = sorted({text for one in found for text in one["why"].split(", ")})
        until = [one["until"] for one in found]
        goes = "" if None in until else f"; can go from {max(until)} on"
        count = f"{len(found)} {place}s" if len(found) > 1 else place
        lines.append(f"{table}: {count}: {', '.join(what)}{goes}")
    return lines


def stream_lines(record: dict[str, Any]) -> list[str]:
    return [
        f"what the stream {name} keeps of groups or joins in its checkpoint: --full-refresh "
        "replaces it"
        for name in record.get("streams", {})
    ]


def now() -> str:
    return _text(dt.datetime.now(dt.UTC))


def _subjects(record: dict[str, Any]) -> str:
    texts = [f"{len(group['keys'])} of {name}" for name, group in record["subjects"].items()]
    return "hashes of keys: " + ", ".join(texts)


def _open_until(record: dict[str, Any]) -> str | None:
    """The time from which on all that is open may be gone; None if that is not known."""
    until = [one["until"] for one in record["open"]]
    return max(until) if until and None not in until else None


def _until(finding: dict[str, Any]) -> dict[str, str | None]:
    at = finding.get("until")
    if finding["is_live"] or at is None:
        return {"until": None}
    return {"until": _text(dt.datetime.fromtimestamp(at / 1000, dt.UTC))}


def _mode(record: dict[str, Any]) -> str:
    return str(record.get("landing", {}).get("mode", "out_of_scope"))


def _landing(record: dict[str, Any]) -> str:
    folders = record.get("landing", {}).get("folders", {})
    texts = [f"{about['held']} with subjects in `{name}`" for name, about in folders.items()]
    return f"{_mode(record)}{': ' if texts else ''}{', '.join(texts)}"


def _or(value: Any) -> Any:
    return "" if value is None else value


def _text(time: dt.datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
