"""Random cases of hypothesis, many at once: one run of dbt plays them all.

DBT_DELTA_EXAMPLES=3000    how many; each test has a small number of its own
DBT_DELTA_SEED=7           which ones; "random" for others each time, by default the same
DBT_DELTA_ONLY=12,40       of those only these
"""

import os
import random
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
EXAMPLES = int(os.environ.get("DBT_DELTA_EXAMPLES", "0"))
_SEED = os.environ.get("DBT_DELTA_SEED") or "1"
SEED = random.SystemRandom().randrange(10**6) if _SEED == "random" else int(_SEED)
ONLY = {int(n) for n in os.environ.get("DBT_DELTA_ONLY", "").split(",") if n}


def draw(strategy: SearchStrategy[T], own_seed: int, count: int) -> list[T]:
    """That many cases; the same ones for the same seed."""
    # Hypothesis makes several cases out of each that it draws, much alike: one of them will do.
    drawn: list[T] = []
    alike = 10

    @seed(own_seed)
    @settings(
        max_examples=(count + 1) * alike,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(case: T) -> None:
        drawn.append(case)

    collect()
    return drawn[alike::alike][:count]
