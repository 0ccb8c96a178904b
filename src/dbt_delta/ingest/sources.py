"""The known sources, by name. A new source is one line here."""

from __future__ import annotations

from datetime import date

from dbt_delta.ingest.contract import IngestError, Source
from dbt_delta.ingest.nycflights import NycFlights

SOURCES: dict[str, Source] = {source.name: source for source in (NycFlights(),)}


def find(source: str | Source) -> Source:
    """The source of this name; a source is its own answer.

    Raises:
        IngestError: there is none of this name.
    """
    if not isinstance(source, str):
        return source
    if source not in SOURCES:
        raise IngestError(f"unknown source '{source}'. Known: {', '.join(sorted(SOURCES))}")
    return SOURCES[source]


def days(source: str | Source) -> tuple[date, date]:
    """The first and the last day on which a source delivers. Reads no data.

    Raises:
        IngestError: there is no source of this name.
    """
    return find(source).days()
