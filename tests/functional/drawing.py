"""Random cases of hypothesis, many at once: one run of dbt plays them all."""

import os
import random
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
EXAMPLES = int(os.environ.get("DBT_DELTA_EXAMPLES", "0"))
SEED = int(os.environ.get("DBT_DELTA_SEED", random.SystemRandom().randrange(10**6)))
ONLY = {int(n) for n in os.environ.get("DBT_DELTA_ONLY", "").split(",") if n}


def draw(strategy: SearchStrategy[T], own_seed: int, count: int) -> list[T]:
    """That many cases; the same ones for the same seed."""
    drawn: list[T] = []

    @seed(own_seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(case: T) -> None:
        drawn.append(case)

    collect()
    return drawn[:count]
