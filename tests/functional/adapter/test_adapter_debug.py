"""dbt's test bases for dbt debug."""

from dbt.tests.adapter.dbt_debug.test_dbt_debug import (
    BaseDebugInvalidProjectPostgres,
    BaseDebugPostgres,
    BaseDebugProfileVariable,
)


class TestDebug(BaseDebugPostgres):
    pass


class TestDebugProfileVariable(BaseDebugProfileVariable):
    pass


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres):
    pass
