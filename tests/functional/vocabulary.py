"""Names at which SQL, the text that Spark prints and this package are easily taken apart wrongly.

``${x}`` and ``{{ x }}`` are left out: in a model's text Spark and Jinja replace them.
"""

from collections.abc import Sequence
from random import Random

NAMES = (
    # Words of SQL, of the tests, and what needs quotes.
    "id", "order", "Select", "group", "from", "Höhe", "k`q", "table", "user", "end", "Values",
    "a.b", "val", "note", "target", "source", "key", "2nd", "T", "batch", "_x",
    # What Spark redacts, what DESCRIBE prints, types, functions, and the package's own words.
    "url", "api_token", "secret", "Password", "access.key", "Provider", "Location", "Type", "Owner",
    "date", "timestamp", "null", "default", "year", "count", "delete", "matchable", "row_count",
    "duplicate_keys", "side", "c1", "<18", ">65", "user-id", "@type", "größe", "1x", "#",
    "a:int", "x>y<", "[0]", "/", "\\", "'", '"', "%",
)  # fmt: skip
# Those that Delta takes with column mapping only.
MAPPED_NAMES = (
    "my col", "x,y", "p(q)", "a=b", "x)y(", "a:int,b", " ", "-- x", "s<a: int>",
)  # fmt: skip
REDACTED = {"my.url": "http://x?a=b, c", "api.token": "t"}


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def some_names(source: Random, count: int, mapped: bool = False) -> list[str]:
    """So many names; no two of them differ only by case."""
    return source.sample(all_names(mapped), count)


def all_names(mapped: bool = False) -> Sequence[str]:
    """The names that a table can have."""
    return NAMES + (MAPPED_NAMES if mapped else ())
