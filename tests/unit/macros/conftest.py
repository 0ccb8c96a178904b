"""The macros as a fixture; rendering.py says how they come about."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.unit.macros import rendering


@pytest.fixture
def macros() -> Callable[..., SimpleNamespace]:
    return rendering.load
