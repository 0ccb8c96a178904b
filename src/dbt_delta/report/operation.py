"""The run operation ``report``: gathers what is known, and writes the page."""

import json
import time
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.report import collect, nodes, page, runs
from dbt_delta.session.select import select

ALL_KINDS = ("model", "seed", "snapshot", "source", "test", "unit_test", "exposure")


def report(
    adapter: Any, facts: dict[str, Any], selection: str | None, days: int, output: str | None
) -> str:
    """Writes the page and returns the line that says so.

    Args:
        facts: what the macro _report_facts found.
        output: the file, from the project's folder on; by default report.html beside dbt's log.

    Raises:
        DbtRuntimeError: the file cannot be written.
    """
    from dbt.flags import get_flags

    config, made = adapter.config, time.time()
    since = made - days * 86400
    logs = Path(config.project_root) / get_flags().LOG_PATH
    artifact = Path(config.project_root) / config.target_path / "run_results.json"
    kept, problems = runs.read(runs.folder(logs), artifact, since)
    manifest = adapter.get_macro_resolver()
    chosen = set(select(adapter, selection, None, ALL_KINDS)) if selection else None
    about = {
        "project": config.project_name,
        "target": config.target_name,
        "made": round(made),
        "since": round(since),
        "selection": selection,
        "problems": problems,
    }
    kept = [run for run in kept if run["target"] in (None, config.target_name)]
    erasures = certificates(Path(config.project_root) / facts["erasure_folder"])
    found = collect.document(about, nodes.nodes(manifest, chosen), plain(facts), kept, erasures)
    text = page.page(found)
    path = Path(config.project_root) / (output or logs.parent / "report.html")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DbtRuntimeError(f"report: {path} cannot be written: {error.strerror}") from None
    size = f"{len(text.encode()) / 1e6:.1f} MB"
    return f"{path}: {len(found['runs'])} runs, {len(found['nodes'])} nodes, {size}"


def plain(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts as JSON has them: numbers of agate are decimals."""
    found: dict[str, Any] = json.loads(json.dumps(facts, default=_plain))
    return found


def certificates(folder: Path) -> list[dict[str, Any]]:
    """{request, kind, begun, state, tables, open, until} of erasures, newest first; no keys."""
    found = []
    for path in folder.glob("*.json"):
        try:
            one = json.loads(path.read_text())
            found.append(
                {
                    **{key: one[key] for key in ("request", "kind", "begun", "state")},
                    "tables": len(one["tables"]),
                    "open": len(one["open"]),
                    "until": max((o["until"] for o in one["open"] if o.get("until")), default=None),
                }
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(found, key=lambda one: str(one["begun"]), reverse=True)


def _plain(value: Any) -> Any:
    number = float(value)
    return int(number) if number.is_integer() else number
