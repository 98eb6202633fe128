"""The nouns of the tier, one word and one meaning each.

Owns: page, frame, lease, ticket, handle, plan, phase, shape. Knows nothing of operations.
"""

from enum import IntEnum
from typing import NamedTuple, TypeAlias

Page: TypeAlias = int
"""The id of a page: 0 to `Shape.pages` - 1. Handed out by the pool, used again in a later life."""

FrameNumber: TypeAlias = int
"""The number of a device frame: 0 to `Shape.frames` - 1."""

LeaseId: TypeAlias = int
"""The name of one user of the tier. Never used again after its lease ended."""

Ticket: TypeAlias = int
"""The name of one copy in flight. Never used again after the copy completed."""

Key: TypeAlias = int
"""What the rows of a full page stand for, in the hands of whoever hashes contents."""

Rows: TypeAlias = tuple[int, ...]
"""The rows of a page as versions; version 0 is a row of zeros, not yet written in this life."""


class Phase(IntEnum):
    """What a frame is doing."""

    FREE = 0
    """Maps nothing."""
    FILLING = 1
    """A host-to-device copy is in flight."""
    READY = 2
    """Holds the rows of its page."""
    WRITING_BACK = 3
    """A device-to-host copy is in flight; the rows stay readable."""
    QUARANTINED = 4
    """Maps nothing; a copy that no lease owns any more may still touch it."""


class Shape(NamedTuple):
    """The size of a tier."""

    pages: int
    """Page ids the pool owns."""
    frames: int
    """Device frames; with the tier off as many as pages."""
    rows: int
    """Rows of K/V in a page."""


class Handle(NamedTuple):
    """Where a page was when it was asked for; current while nothing of it has changed."""

    page: Page
    """The page."""
    frame: FrameNumber
    """The frame that mapped it."""
    generation: int
    """The generation of that frame."""


class Plan(NamedTuple):
    """What `fill` returns."""

    ticket: Ticket | None
    """Names the copy in flight; none when every page was a hit, and the fill is complete."""
    handles: tuple[Handle, ...]
    """One for each page asked for, in order."""
    misses: tuple[Page, ...]
    """The pages that were not resident, in order."""
