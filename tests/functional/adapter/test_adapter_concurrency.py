"""dbt's test base for models that run at the same time."""

import pytest
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency

pytestmark = pytest.mark.long


class TestConcurrency(BaseConcurrency):
    pass
