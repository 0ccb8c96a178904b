"""Types whose fields have odd names: a tree, drawn at random, and the ways in which it is written.

A type is the text of a plain one, {name: type} for a struct, or a tuple: ("array", type) or
("map", type, type).
"""

import random
from typing import Any

PLAIN = ("a", "_x", "B2", "order", "timestamp")
ODD = (
    "<18", "a:int,b", "x)y(", ">", "(", "a`b", "`", "``<", "größe", "名前", "a, b", " a ", "1a",
    "a.b", "", "struct<z:int>", "it's", 'say "x"', "back\\slash", "a\nb", "a\n",
)  # fmt: skip
# As Spark's JSON has them.
ATOMS: dict[str, dict[str, Any]] = {
    "int": {"name": "int"},
    "bigint": {"name": "bigint"},
    "string": {"name": "string", "collation": "UTF8_BINARY"},
    "string collate UNICODE_CI": {"name": "string", "collation": "UNICODE_CI"},
    "decimal(10,2)": {"name": "decimal", "precision": 10, "scale": 2},
    "timestamp": {"name": "timestamp_ltz"},
    "timestamp_ntz": {"name": "timestamp_ntz"},
    "interval day": {"name": "interval", "start_unit": "day", "end_unit": "day"},
    "interval year to month": {"name": "interval", "start_unit": "year", "end_unit": "month"},
}
# Paths as Spark quotes them, and their steps.
PATHS = (
    ("a", ["a"]),
    ("a.b", ["a", "b"]),
    ("a.`b.c`", ["a", "b.c"]),
    ("`a``b`.c", ["a`b", "c"]),
    ("`a.b`.`c d`.e", ["a.b", "c d", "e"]),
    ("`.`", ["."]),
    ("````.`x``.``y`", ["`", "x`.`y"]),
    ("größe.`<18`", ["größe", "<18"]),
)


def drawn(draw: random.Random, depth: int = 3, names: tuple[str, ...] = PLAIN + ODD) -> Any:
    """A type of these names, nested no deeper."""
    kind = draw.choice(("atom", "struct", "struct", "array", "map")) if depth else "atom"
    if kind == "struct":
        chosen = draw.sample(names, draw.randrange(1, 5))
        return {name: drawn(draw, depth - 1, names) for name in chosen}
    if kind == "atom":
        return draw.choice(list(ATOMS))
    parts = 1 if kind == "array" else 2
    return (kind, *(drawn(draw, depth - 1, names) for _ in range(parts)))


def quoted(name: str) -> str:
    """As SQL takes any name."""
    return "`" + name.replace("`", "``") + "`"


def text(tree: Any) -> str:
    """As the macros and SQL have it."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, tuple):
        return f"{tree[0]}<{','.join(map(text, tree[1:]))}>"
    fields = (f"{n if n in PLAIN else quoted(n)}:{text(kind)}" for n, kind in tree.items())
    return f"struct<{','.join(fields)}>"


def as_json(tree: Any) -> dict[str, Any]:
    """As DESCRIBE .. AS JSON has it."""
    if isinstance(tree, str):
        return ATOMS[tree]
    if isinstance(tree, dict):
        fields = [{"name": name, "type": as_json(kind)} for name, kind in tree.items()]
        return {"name": "struct", "fields": fields}
    names = ("element_type",) if tree[0] == "array" else ("key_type", "value_type")
    return {"name": tree[0], **dict(zip(names, map(as_json, tree[1:]), strict=True))}
