"""Several run operations of the package in one invocation of dbt, which costs more than most."""

import json
from collections.abc import Mapping
from typing import Any

from tests.functional.harness import Invocation, Project

MACRO = """
{% macro run_operations(calls) %}
    {% for name, arguments in calls %}{% do dbt_delta[name](**arguments) %}{% endfor %}
{% endmacro %}
"""
Call = tuple[str, Mapping[str, Any]]


def operations(
    project: Project, *calls: Call, vars: Mapping[str, Any] | None = None, check: bool = True
) -> Invocation:
    """Runs them in order; the first that fails ends it."""
    if not (project.path / "macros" / "operations.sql").exists():
        project.write({"macros/operations.sql": MACRO})
    arguments = json.dumps({"calls": calls})
    return project.dbt(
        "run-operation", "run_operations", "--args", arguments, vars=vars, check=check
    )
