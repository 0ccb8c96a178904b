"""The project's nodes as the report needs them, from dbt's manifest."""

from typing import Any

KINDS = ("model", "seed", "snapshot", "source", "test", "unit_test", "exposure")
# What is drawn in the lineage, and what is tested there.
DRAWN = ("model", "seed", "snapshot", "source", "exposure")


def nodes(manifest: Any, chosen: set[str] | None) -> list[dict[str, Any]]:
    """{id, name, kind, table, path, what, parents, limits} of the chosen nodes, or of all, by id.

    ``parents`` are the ids of nodes that it reads, through ephemeral models and functions, too;
    of a test the nodes that it tests. ``what`` is the materialization. ``limits`` are the hours of
    a source's ``freshness``: {warn, error}, none where there is none. Nodes without a choice are
    the sources and exposures beside the chosen ones.
    """
    every = {
        **manifest.nodes,
        **manifest.sources,
        **manifest.exposures,
        **manifest.unit_tests,
        **manifest.functions,
    }
    shown = {id: one for id, one in every.items() if _kind(one) in KINDS and not _is_inlined(one)}
    if chosen is not None:
        near = {p for id in chosen if id in every for p in _parents(every, id)}
        shown = {
            id: one
            for id, one in shown.items()
            if id in chosen
            or (_kind(one) == "source" and id in near)
            or (_kind(one) == "exposure" and chosen & _parents(every, id))
        }
    found = []
    for id, one in sorted(shown.items()):
        found.append(
            {
                "id": id,
                "name": _name(one),
                "kind": _kind(one),
                "table": _table(one),
                "path": getattr(one, "original_file_path", ""),
                "what": getattr(getattr(one, "config", None), "materialized", None),
                "parents": sorted(p for p in _parents(every, id) if p in shown),
                "limits": _limits(getattr(one, "freshness", None)),
            }
        )
    return found


def _kind(node: Any) -> str:
    return str(node.resource_type)


def _is_inlined(node: Any) -> bool:
    """Whether a node is an ephemeral model: part of what reads it."""
    return bool(getattr(node, "is_ephemeral_model", False))


def _name(node: Any) -> str:
    if _kind(node) == "source":
        return f"{node.source_name}.{node.name}"
    if _kind(node) == "unit_test":
        return f"{node.model}: {node.name}"
    return str(node.name)


def _table(node: Any) -> str | None:
    """schema.name of what a node is in the catalog; None of tests and exposures."""
    if _kind(node) in ("test", "unit_test", "exposure"):
        return None
    return f"{node.schema}.{getattr(node, 'identifier', None) or node.alias}"


def _parents(every: dict[str, Any], id: str) -> set[str]:
    found: set[str] = set()
    for parent in getattr(every[id].depends_on, "nodes", []):
        if parent not in every:
            continue
        if _is_inlined(every[parent]) or _kind(every[parent]) not in KINDS:
            found |= _parents(every, parent)
        else:
            found.add(parent)
    return found


def _limits(freshness: Any) -> dict[str, float] | None:
    hours = {"minute": 1 / 60, "hour": 1, "day": 24}
    found = {}
    for name in ("warn", "error"):
        limit = getattr(freshness, f"{name}_after", None)
        if limit is not None and limit.count and limit.period:
            found[name] = limit.count * hours[str(limit.period)]
    return found or None
