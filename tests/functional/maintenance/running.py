"""Run operations of maintenance, as all tests of this folder call them."""

import json
from collections.abc import Mapping
from typing import Any

from tests.functional.harness import Invocation, Project
from tests.functional.operations import Call
from tests.functional.operations import operations as run_operations

# Shallow clones are looked for in the project's schema only: the tests share a catalog.
VARS = {"dbt_delta_clone_schemas": []}


def operation(
    project: Project,
    name: str,
    check: bool = True,
    vars: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Invocation:
    return project.dbt(
        *("run-operation", name, "--args", json.dumps(arguments)),
        vars={**VARS, **(vars or {})},
        check=check,
    )


def operations(
    project: Project, *calls: Call, vars: Mapping[str, Any] | None = None, check: bool = True
) -> Invocation:
    """Several of them in one invocation; the first that fails ends it."""
    return run_operations(project, *calls, vars={**VARS, **(vars or {})}, check=check)
