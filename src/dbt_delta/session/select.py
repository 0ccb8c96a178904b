"""dbt's node selection for macros: ``--select`` in a run operation."""

from pathlib import Path
from typing import Any

KINDS = ("model", "seed", "snapshot")


def select(
    adapter: Any, selection: str, state: str | None, kinds: tuple[str, ...] = KINDS
) -> list[str]:
    """Ids of the nodes of some kinds that ``--select selection`` takes, sorted.

    ``state`` is the folder of another manifest, for ``state:`` methods.

    Raises:
        DbtRuntimeError: dbt's own error about a selection that it does not understand.
    """
    from dbt.compilation import Linker
    from dbt.contracts.state import PreviousState
    from dbt.graph import Graph, NodeSelector, parse_difference
    from dbt_common.events.contextvars import task_contextvars

    manifest = adapter.get_macro_resolver()
    linker = Linker()
    linker.link_graph(manifest)
    config = adapter.config
    previous = None
    if state:
        previous = PreviousState(
            state_path=Path(state),
            target_path=Path(config.target_path),
            project_root=Path(config.project_root),
        )
    selector = NodeSelector(Graph(linker.graph), manifest, previous)
    # dbt sets the root for runs only; in run operations path: would look in the current folder.
    with task_contextvars(project_root=config.project_root):
        found = selector.get_selected(parse_difference((selection,), None))
    return sorted(one for one in found if one.partition(".")[0] in kinds)
