"""From real sources to landing files: ``python -m dbt_delta.ingest --help``.

- :func:`land` lands what sources deliver up to a day,
- :func:`days` returns the days on which a source delivers,
- :data:`SOURCES` are the known sources; :mod:`dbt_delta.ingest.contract` says how to add one.
"""

from dbt_delta.ingest.contract import Delivery, IngestError, Source
from dbt_delta.ingest.landing import Landed, Report, land
from dbt_delta.ingest.sources import SOURCES, days, find

__all__ = [
    "SOURCES",
    "Delivery",
    "IngestError",
    "Landed",
    "Report",
    "Source",
    "days",
    "find",
    "land",
]
