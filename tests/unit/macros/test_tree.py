"""The rules of the macro tree: who may call whom, and where things are."""

import re
from functools import cache
from pathlib import Path

import pytest

MACROS = Path(__file__).parents[3] / "macros"
# From the bottom: a macro calls its own folder and those before it.
LAYERS = (
    "engine/text",
    "engine/types",
    "engine/config",
    "engine/catalog",
    "engine/run",
    "engine/log",
    "engine/write",
    "engine/batch",
)
