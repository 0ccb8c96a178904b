"""Streams: SQL models over Structured Streaming, whose batches the engine of the macros writes.

For PySpark outside dbt: ``idempotent_writer`` and ``idempotent_write``.
"""

from dbt_delta.stream.outside import WriteRefused, idempotent_write, idempotent_writer

__all__ = ["WriteRefused", "idempotent_write", "idempotent_writer"]
