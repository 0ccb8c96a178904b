"""What several dbt processes share: a Spark Thrift server, its metastore, a cluster."""


class ServerError(Exception):
    """The reason why a server cannot run, in one line for the user."""
