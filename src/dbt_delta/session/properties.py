"""Lines of a properties file, as java.util.Properties reads them."""

import re
from collections.abc import Mapping

_ESCAPE = re.compile(r"\\(.)")
_BLANKS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def text(settings: Mapping[str, str]) -> str:
    """One line per setting, in the order of their names; a backslash is an escape in Java."""
    escaped = {k: v.replace("\\", "\\\\").replace("\n", "\\n") for k, v in settings.items()}
    return "".join(f"{name} {value}\n" for name, value in sorted(escaped.items()))


def value(escaped: str) -> str:
    """The value in a line, with its escapes resolved."""
    return _ESCAPE.sub(lambda found: _BLANKS.get(found[1], found[1]), escaped)
