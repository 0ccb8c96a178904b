"""Renders the package's macros without dbt and without Spark, in milliseconds."""

import datetime
import itertools
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, SimpleNamespace
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


def _fromjson(text: str, default: Any = None) -> Any:
    """As dbt has it."""
    try:
        return json.loads(text)
    except ValueError:
        return default


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
            "modules": SimpleNamespace(re=re, itertools=itertools, datetime=datetime),
            "fromjson": _fromjson,
            "execute": True,
            "var": lambda name, default=None: default,
            "env_var": lambda name, default=None: default,
            **context,
        }
    )
    found: dict[str, Any] = {}
    environment.globals["_found"] = found.__setitem__
    for code in _compiled():
        jinja2.Template.from_code(environment, code, environment.globals).render()
    for name, macro in found.items():
        setattr(package, name, _macro(macro))
    return package


@cache
def _compiled() -> list[CodeType]:
    """Every file of macros, ending in statements that hand its macros over one by one.

    A template module would not export those with an underscore.
    """
    codes = []
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    for file in sorted(MACROS.rglob("*.sql")):
        # dbt's own tags, which plain Jinja does not know.
        tag = r"{%-?\s*materialization .*?endmaterialization\s*-?%}"
        text = re.sub(tag, "", file.read_text(), flags=re.DOTALL)
        text = re.sub(r"{% test (\w+)", r"{% macro test_\1", text).replace("endtest", "endmacro")
        names = re.findall(r"{%-?\s*macro (\w+)", text)
        text += "".join(f"{{% do _found('{name}', {name}) %}}" for name in names)
        codes.append(environment.compile(text, name=file.name))
    return codes


def through(method: str, **given: Any) -> SimpleNamespace:
    """dbt's adapter of a profile, with what the plugin gave it."""
    profile = SimpleNamespace(credentials=SimpleNamespace(method=method))
    return SimpleNamespace(config=profile, **given)
