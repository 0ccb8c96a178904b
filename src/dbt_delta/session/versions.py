"""The versions of dbt for which the subclasses and wrappers are made."""

from importlib.metadata import version

TESTED = {
    "dbt-core": ("1.11.16",),
    "dbt-adapters": ("1.24.5",),
    "dbt-spark": ("1.11.0",),
}


def obstacle() -> str:
    """Why dbt-spark's own adapter must be used; empty if ours can be used."""
    found = {name: version(name) for name in TESTED}
    untested = [
        f"{name} {found[name]} is not a tested version ({', '.join(tested)})"
        for name, tested in TESTED.items()
        if found[name] not in tested
    ]
    return " and ".join(untested)
