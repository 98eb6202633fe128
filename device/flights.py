"""Copies in flight, as the tables and the data path know them."""

from typing import Literal, NamedTuple

from device.layout import Numbers
from device.runtime import Event, Stream
from reference.words import FrameNumber, Ticket


class Queued(NamedTuple):
    """What was queued at once: for one ticket, or for several write-backs."""

    events: tuple[Event, ...]
    """The ends of its batches: it has landed when all have."""
    streams: tuple[Stream, ...]
    """Where they are queued: it has ended when all have settled."""
    failed: bool
    """A batch could not be queued; it may be queued in part."""


class Flight(NamedTuple):
    """One copy in flight."""

    ticket: Ticket
    """Its name."""
    kind: Literal["fill", "write-back"]
    """Its direction."""
    frames: Numbers
    """The frames it writes (a fill) or reads (a write-back, one), int64."""
    queued: Queued
    """Where it is on the device; the write-backs of one batch share it."""


class Orphan(NamedTuple):
    """One copy in flight that no lease owns any more, until somebody has waited for it."""

    flight: Flight
    """The copy: nobody may have its frames."""
    pages: Numbers
    """The host pages it reads or writes, int64: nobody may begin a life in them."""


def first_frame(flight: Flight) -> FrameNumber:
    """Return the first frame of a copy: the only one of a write-back."""
    return int(flight.frames[0])
