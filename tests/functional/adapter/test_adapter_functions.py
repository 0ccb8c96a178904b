"""dbt's test base for functions."""

from dbt.tests.adapter.functions.test_udfs import UDFsBasic


class TestUDFs(UDFsBasic):
    pass
