"""What a source must offer to be landed: the whole contract between a source and the landing.

To add a source, write one module with a class of this shape and name an instance of it in
:data:`dbt_delta.ingest.sources.SOURCES`. Nothing has to be inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple, Protocol


class IngestError(Exception):
    """Landing cannot continue. The message is one line for the user."""


class Delivery(NamedTuple):
    """One file as the source system delivers it."""

    path: str
    """Below the folder of the source, with ``/``: ``flights/2013-01-01.csv``."""

    day: date | None
    """The day at whose end it is delivered; None if it is there from the start."""

    content: bytes | Callable[[], bytes]
    """The exact bytes of the file, or how to make them. Called only if the file has to land."""

    def read(self) -> bytes:
        """The exact bytes of the file."""
        return self.content() if callable(self.content) else self.content


class Source(Protocol):
    """A system that delivers files, day by day."""

    @property
    def name(self) -> str:
        """How users call it; also the name of its folder in the landing."""

    @property
    def version(self) -> str:
        """Changes whenever the bytes of any delivery may change.

        Raises:
            IngestError: the source is not installed or cannot be reached.
        """

    def days(self) -> tuple[date, date]:
        """The first and the last day on which it delivers. This must be cheap."""

    def deliveries(self, until: date) -> Iterable[Delivery]:
        """All deliveries up to and including the day ``until``, in the order of their days.

        Listing them must be cheap, since every run does it: leave work to ``Delivery.content``.

        Raises:
            IngestError: here or from ``Delivery.content``, if the source is not as expected.
        """
