"""Renders the package's macros without dbt and without Spark, in milliseconds."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2

MACROS = Path(__file__).resolve().parents[3] / "macros"


class CompilationError(Exception):
    """What exceptions.raise_compiler_error raises."""


class _Return(Exception):
    """Jinja has no return; dbt's is an exception too."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _macro(function: Callable[..., str]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except _Return as returned:
            return returned.value

    return call


def _raise(error: Exception) -> None:
    raise error


def load(**context: Any) -> SimpleNamespace:
    """All macros as functions of one namespace, with these names in dbt's context."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)
    package = SimpleNamespace()
    environment.globals.update(
        {
            "dbt_delta": package,
            "return": lambda value: _raise(_Return(value)),
            "exceptions": SimpleNamespace(
                raise_compiler_error=lambda text: _raise(CompilationError(text))
            ),
            "modules": SimpleNamespace(re=re, itertools=itertools),
            "execute": True,
            **context,
        }
    )
    for file in sorted(MACROS.rglob("*.sql")):
        # dbt's own tag, which plain Jinja does not know.
        tag = r"{%-?\s*materialization .*?endmaterialization\s*-?%}"
        text = re.sub(tag, "", file.read_text(), flags=re.DOTALL)
        module = environment.from_string(text).make_module()
        for name in re.findall(r"{%-?\s*macro (\w+)", text):
            setattr(package, name, _macro(_find(environment, text, name, module)))
    return package


def _find(environment: jinja2.Environment, text: str, name: str, module: Any) -> Any:
    """The macro as a function; a template module exports no name with an underscore."""
    if not name.startswith("_"):
        return getattr(module, name)
    found: list[Any] = []
    environment.globals["_found"] = found.append
    environment.from_string(f"{text}{{% do _found({name}) %}}").render()
    return found[0]
