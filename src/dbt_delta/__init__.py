"""The Python side of dbt_delta: what SQL and Jinja cannot do.

dbt imports every installed module whose name begins with ``dbt_`` and runs the classes in its
``plugins`` list. The list is made on demand, so that importing this package stays free.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "plugins":
        from dbt_delta.session.plugin import SessionPlugin

        return [SessionPlugin]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
