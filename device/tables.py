"""Everything one tier knows, in arrays, and the data path to its bytes.

Owned here: what is stored, the freed-page hook, and the refusals of not finding something, which
many operations share. Not owned: what an operation does (`holds`, `pins`, `fill`, `dirt`).
"""

from dataclasses import dataclass

import numpy as np

from device.data_path import DataPath
from device.flights import Flight, Orphan
from device.frames import NONE, FrameTable
from device.handles import Handles
from device.keys import KeyTable
from device.layout import Numbers
from device.leases import PINS, Lease
from device.pool import PagePool
from device.versions import Codec
from reference.refusals import (
    BadRow,
    NotHeld,
    NotPinned,
    StaleHandle,
    StaleTicket,
    UnknownLease,
)
from reference.words import FrameNumber, Handle, LeaseId, Page, Phase, Shape, Ticket


@dataclass
class Counts:
    """What happened since the tier was made, as the reference counts it."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    failed_fills: int = 0
    write_backs: int = 0
    failed_write_backs: int = 0


class Tables:
    """The tables of one tier."""

    def __init__(self, shape: Shape, off: bool, path: DataPath, codec: Codec) -> None:
        """Make the tables of a tier in which nothing happened yet."""
        self.shape = shape
        self.off = off
        self.path = path
        self.codec = codec
        self.identity = object()
        """What tells the handles of this tier from those of others."""
        self.pool = PagePool(shape.pages, self.on_pages_freed)
        self.frames = FrameTable(shape.pages, shape.frames)
        self.torn = np.zeros(shape.pages, dtype=np.bool_)
        """For each page, whether a write-back started and none succeeded since, in this life."""
        self.lost = np.zeros(shape.pages, dtype=np.bool_)
        """For each page, whether its rows are nowhere: torn, and gone with their lease."""
        self.keys = KeyTable(shape.pages)
        """Full pages that can be found by what they hold."""
        self.quarantine: dict[Ticket, Orphan] = {}
        """Copies in flight that no lease owns any more, oldest first."""
        self.life = np.zeros(shape.pages, dtype=np.int64)
        """For each page, the number of its life, counted over all pages; 0 before the first."""
        self.next_life = 1
        self.leases: dict[LeaseId, Lease] = {}
        """The open leases; ids only grow."""
        self.promised = 0
        """The promises of the open leases together."""
        self.counts = Counts()
        self.next_lease: LeaseId = 0
        self.next_ticket: Ticket = 0

    def on_pages_freed(self, pages: Numbers) -> None:
        """Unmap the frames of pages whose life just ended. The freed-page hook; it cannot fail."""
        frames = self.frames.where[pages]
        frames = frames[frames != NONE]
        self.frames.unmap(frames)
        self.torn[pages] = self.lost[pages] = False
        self.keys.forget(pages)
        # A page that a copy may still touch is discarded when that has landed (`leave.land`).
        self.path.discard(pages[self.pool.touched[pages] == 0], frames)


# ---------------------------------------------------------------------------------- finding things


def get_lease(tables: Tables, lease_id: LeaseId) -> Lease:
    """Return an open lease. Raises `UnknownLease`."""
    lease = tables.leases.get(lease_id)
    if lease is None:
        raise UnknownLease(lease_id)
    return lease


def get_held(tables: Tables, lease_id: LeaseId, page: Page) -> tuple[Lease, int]:
    """Return an open lease and its column of a page. Raises `UnknownLease`; `NotHeld`."""
    lease = get_lease(tables, lease_id)
    column = lease.get_column(page)
    if column is None:
        raise NotHeld(lease_id, page)
    return lease, column


def get_pinned(tables: Tables, lease_id: LeaseId, handle: Handle) -> tuple[Lease, int]:
    """Return an open lease and its column of the page of a current handle that it pins.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned` by this lease. A claim is not a pin.
    """
    lease = get_lease(tables, lease_id)
    if not tables.frames.is_current(handle):
        raise StaleHandle(handle)
    column = lease.get_column(handle.page)
    if column is None or lease.held[PINS, column] == 0:
        raise NotPinned(lease_id, handle.page)
    return lease, column


def get_flight(tables: Tables, lease_id: LeaseId, ticket: Ticket, kind: str) -> Flight:
    """Return the lease's copy in flight with that ticket and direction.

    Raises `UnknownLease`; `StaleTicket`.
    """
    flight = get_lease(tables, lease_id).flights.get(ticket)
    if flight is None or flight.kind != kind:
        raise StaleTicket(lease_id, ticket)
    return flight


def is_writing_back(tables: Tables, frame: FrameNumber) -> bool:
    """Return whether a device-to-host copy of the frame is in flight."""
    return bool(tables.frames.phase[frame] == Phase.WRITING_BACK)


def check_row(tables: Tables, row: int) -> None:
    """Raise `BadRow` for a row outside a page."""
    if not 0 <= row < tables.shape.rows:
        raise BadRow(row, tables.shape.rows)


def get_handles(tables: Tables, pages: Numbers) -> Handles:
    """Return the current handles of pages that frames map."""
    frames = tables.frames.where[pages]
    return Handles(pages, frames, tables.frames.generation[frames], tables.identity)


def one(number: int) -> Numbers:
    """Return one number as an array."""
    return np.array([number], dtype=np.int64)
