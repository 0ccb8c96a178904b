"""Random cases of hypothesis, many at once: one run of dbt plays them all.

DBT_DELTA_EXAMPLES=3000    how many; each test has its own numbers, with --long a larger one
DBT_DELTA_SEED=7           which ones; "random" for others each time, as with --long; else the same
DBT_DELTA_ONLY=12,40       of those only these
"""

import os
import random
from typing import TypeVar
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
IS_LONG = "DBT_DELTA_LONG" in os.environ
_EXAMPLES = int(os.environ.get("DBT_DELTA_EXAMPLES", "0"))
_SEED = os.environ.get("DBT_DELTA_SEED") or ("random" if IS_LONG else "1")
SEED = random.SystemRandom().randrange(10**6) if _SEED == "random" else int(_SEED)
ONLY = {int(n) for n in os.environ.get("DBT_DELTA_ONLY", "").split(",") if n}


def examples(few: int, many: int) -> int:
    """How many cases a test plays: ``few``, or with --long ``many``."""
    return _EXAMPLES or (many if IS_LONG else few)


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

    # Hypothesis takes constants of the modules that are loaded, too, which differ between runs.
    providers.CONSTANTS_CACHE.cache.clear()
    with patch.object(providers.HypothesisProvider, "_local_constants", providers.GLOBAL_CONSTANTS):
        collect()
    return drawn[alike::alike][:count]
