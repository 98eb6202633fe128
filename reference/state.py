"""The state of a tier: plain immutable records that compare and hash by value.

Owns what is stored, redundant tables included (`State.where`, `Pool.holds`): the rules check that
they agree. Knows nothing of what may happen; that is `pool`, `tier` and `fill`.
"""

from enum import IntEnum
from typing import NamedTuple

from reference.words import FrameNumber, Key, LeaseId, Page, Phase, Rows, Shape, Ticket


class CopyKind(IntEnum):
    """The direction of a copy in flight."""

    FILL = 0
    """Host to device."""
    WRITE_BACK = 1
    """Device to host."""


class Frame(NamedTuple):
    """A slot in device memory that can hold one page."""

    page: Page | None
    """The page it maps."""
    generation: int
    """Moves on whenever the frame stops holding the page it held."""
    phase: Phase
    """What it is doing."""
    dirty: bool
    """It may be newer than the host page."""
    rows: Rows
    """Its rows, unspecified while `FREE` or `FILLING`."""


class HostPage(NamedTuple):
    """The canonical copy of a page, in host memory."""

    rows: Rows
    """Its rows, unspecified while torn."""
    torn: bool
    """A write-back started and none has succeeded since."""


class Copy(NamedTuple):
    """One copy in flight."""

    ticket: Ticket
    """Its name."""
    kind: CopyKind
    """Its direction."""
    frames: tuple[FrameNumber, ...]
    """The frames it writes (a fill) or reads (a write-back)."""


class Orphan(NamedTuple):
    """One copy in flight that no lease owns any more, until it has landed."""

    ticket: Ticket
    """Its name."""
    kind: CopyKind
    """Its direction."""
    frames: tuple[FrameNumber, ...]
    """The frames it writes or reads: nobody else may have them."""
    pages: tuple[Page, ...]
    """The host pages it reads or writes: nobody may begin a life in them."""


class Lease(NamedTuple):
    """One user of the tier."""

    promise: int
    """The most distinct pages it may have pinned or claimed at once."""
    table: tuple[Page, ...]
    """Pages it allocated, in order."""
    borrowed: tuple[Page, ...]
    """Pages it got by `share`, in order."""
    pins: tuple[tuple[Page, int], ...]
    """Its pins per page, each at least one, pages ascending."""
    claims: tuple[Page, ...]
    """Every page its fill in flight asked for, in order."""
    copies: tuple[Copy, ...]
    """Its copies in flight, oldest first."""


class Pool(NamedTuple):
    """The owner of the page ids."""

    free: tuple[Page, ...]
    """Pages nobody holds, ascending."""
    holds: tuple[int, ...]
    """For each page id, how many leases hold it."""
    retired: tuple[Page, ...] = ()
    """Pages whose life ended and that a copy may still touch, ascending."""


class Counters(NamedTuple):
    """What happened since the tier was made."""

    hits: int = 0
    """Pages asked for that were resident."""
    misses: int = 0
    """Pages asked for that were not."""
    evictions: int = 0
    """Pages unmapped to make room for a miss."""
    failed_fills: int = 0
    """Fills that failed, in placing or in their copies."""
    write_backs: int = 0
    """Dirty frames whose write-back landed."""
    failed_write_backs: int = 0
    """Write-backs that failed."""


class State(NamedTuple):
    """Everything a tier and its pool know."""

    shape: Shape
    """Its size."""
    off: bool
    """No tier is configured: every page is resident from its allocation."""
    pool: Pool
    """The page ids and who holds how many."""
    leases: tuple[tuple[LeaseId, Lease], ...]
    """The open leases, ids ascending."""
    frames: tuple[Frame, ...]
    """The frames by number."""
    where: tuple[FrameNumber | None, ...]
    """For each page id, the frame that maps it."""
    host: tuple[HostPage, ...]
    """For each page id, its host page."""
    recency: tuple[Page, ...]
    """Pages that are filled and resident, least recently filled first."""
    counters: Counters
    """What happened so far."""
    next_lease: LeaseId
    """The next lease id to hand out."""
    next_ticket: Ticket
    """The next ticket to hand out."""
    quarantine: tuple[Orphan, ...] = ()
    """Copies in flight that no lease owns any more, oldest first."""
    lost: tuple[Page, ...] = ()
    """Live pages whose rows are nowhere: not published, and gone with their lease; ascending."""
    keys: tuple[tuple[Key, Page], ...] = ()
    """Full pages that can be found by what they hold, keys ascending."""


def new_state(shape: Shape, off: bool = False) -> State:
    """Return the state of a tier in which nothing happened yet.

    Raises `ValueError` if a size is below 1, or the tier is off and frames differ from pages.
    """
    if min(shape) < 1:
        raise ValueError(f"{shape}: pages, frames and rows must each be at least 1")
    if off and shape.frames != shape.pages:
        raise ValueError(f"{shape}: with the tier off there are as many frames as pages")
    zero = (0,) * shape.rows
    return State(
        shape=shape,
        off=off,
        pool=Pool(free=tuple(range(shape.pages)), holds=(0,) * shape.pages),
        leases=(),
        frames=(Frame(None, 0, Phase.FREE, False, zero),) * shape.frames,
        where=(None,) * shape.pages,
        host=(HostPage(zero, False),) * shape.pages,
        recency=(),
        counters=Counters(),
        next_lease=0,
        next_ticket=0,
    )
