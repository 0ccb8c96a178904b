"""Run operations of maintenance, as all tests of this folder call them."""

import json
from collections.abc import Mapping
from typing import Any

from tests.functional.harness import Invocation, Project


def operation(
    project: Project,
    name: str,
    check: bool = True,
    vars: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Invocation:
    """Looks for shallow clones in the project's schema only: the tests share a catalog."""
    return project.dbt(
        *("run-operation", name, "--args", json.dumps(arguments)),
        vars={"dbt_delta_clone_schemas": [], **(vars or {})},
        check=check,
    )
