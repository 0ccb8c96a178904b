"""The versions of dbt whose classes are subclassed here and whose functions are wrapped."""

from importlib.metadata import version

TESTED = {
    "dbt-core": ("1.11.16",),
    "dbt-adapters": ("1.24.5",),
    "dbt-spark": ("1.11.0",),
}


def obstacle() -> str:
    """Why dbt-spark has to stay as it is; empty where nothing is in the way."""
    found = {name: version(name) for name in TESTED}
    untested = [
        f"{name} {found[name]} is not a tested version ({', '.join(tested)})"
        for name, tested in TESTED.items()
        if found[name] not in tested
    ]
    return " and ".join(untested)
