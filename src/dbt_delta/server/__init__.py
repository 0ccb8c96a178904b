"""What several dbt processes share: a Spark Thrift server, its metastore, a cluster."""


class ServerError(Exception):
    """Something that keeps a server from running; the message is one line for a user."""
