"""A lease in arrays: the pages it holds, its pins, its claims, its copies in flight.

The pages are sorted, so that many are found at once. Owned here: one lease. Not owned: what is
allowed (`tier`, `fill`).
"""

from typing import Literal, NamedTuple

import numpy as np

from device.layout import Mask, Numbers
from device.runtime import Event, Stream
from reference.words import FrameNumber, Page, Ticket

PAGE, ORDER, BORROWED, PINS = range(4)
"""The columns of `Lease.held`: the page; when it joined; 1 if it is borrowed; the lease's pins."""

NO_NUMBERS: Numbers = np.empty(0, dtype=np.int64)
"""No pages, or no frames."""


class Flight(NamedTuple):
    """One copy in flight."""

    ticket: Ticket
    """Its name."""
    kind: Literal["fill", "write-back"]
    """Its direction."""
    frames: Numbers
    """The frames it writes (a fill) or reads (a write-back), int64."""
    events: tuple[Event, ...]
    """The ends of its batches: it has landed when all have."""
    streams: tuple[Stream, ...]
    """Where its batches are queued: it has ended when all have settled."""
    failed: bool
    """It failed as it was queued."""


class Lease:
    """One user of the tier."""

    def __init__(self, promise: int) -> None:
        """Make a lease with nothing held, claimed or pinned."""
        self.promise = promise
        """The most distinct pages it may have pinned or claimed at once."""
        self.held: Numbers = np.empty((4, 0), dtype=np.int64)
        """The pages it holds, one a column, sorted by page."""
        self.joined = 0
        """Pages that ever joined."""
        self.pinned = 0
        """Distinct pages it pins."""
        self.claims = NO_NUMBERS
        """Every page its fill in flight asked for, in order."""
        self.flights: list[Flight] = []
        """Its copies in flight, oldest first."""

    def seek(self, pages: Numbers) -> tuple[Numbers, Mask]:
        """Return the columns of pages, int64 (n,), and which are held; any column where not."""
        mine = self.held[PAGE]
        columns = np.searchsorted(mine, pages)
        if not len(mine):
            return columns, np.zeros(len(pages), dtype=np.bool_)
        columns[columns == len(mine)] = 0
        return columns, mine[columns] == pages

    def get_column(self, page: Page) -> int | None:
        """Return the column of one page, if it is held."""
        columns, is_held = self.seek(np.array([page], dtype=np.int64))
        return int(columns[0]) if is_held[0] else None

    def get_pins(self, page: Page) -> int:
        """Return how many pins the lease has on the page."""
        column = self.get_column(page)
        return 0 if column is None else int(self.held[PINS, column])

    def join(self, pages: Numbers, borrowed: bool) -> None:
        """Add pages that it does not hold, distinct, in this order."""
        added = np.zeros((4, len(pages)), dtype=np.int64)
        added[PAGE] = pages
        added[ORDER] = self.joined + np.arange(len(pages), dtype=np.int64)
        added[BORROWED] = borrowed
        self.joined += len(pages)
        added = added[:, np.argsort(pages, kind="stable")]
        places = np.searchsorted(self.held[PAGE], added[PAGE])
        self.held = np.insert(self.held, places, added, axis=1)

    def leave(self, columns: Numbers) -> None:
        """Take away the pages of these columns, which it does not pin."""
        self.held = np.delete(self.held, columns, axis=1)

    def pin(self, pages: Numbers) -> None:
        """Add one pin to each of these pages, which it holds; they are distinct."""
        columns, _ = self.seek(pages)
        pins = self.held[PINS]
        self.pinned += int(np.count_nonzero(pins[columns] == 0))
        pins[columns] += 1

    def unpin(self, columns: Numbers) -> None:
        """Take one pin from the pages of these columns, which it pins; they are distinct."""
        pins = self.held[PINS]
        pins[columns] -= 1
        self.pinned -= int(np.count_nonzero(pins[columns] == 0))

    def get_joined(self, borrowed: bool) -> Numbers:
        """Return the pages of its table, or those it borrowed, in the order they joined."""
        mine = self.held[:, self.held[BORROWED] == int(borrowed)]
        joined: Numbers = mine[PAGE][np.argsort(mine[ORDER], kind="stable")]
        return joined

    def get_pinned(self) -> tuple[Numbers, Numbers]:
        """Return the pages it pins, ascending, and how often each."""
        mine = self.held[:, self.held[PINS] > 0]
        return mine[PAGE], mine[PINS]

    def get_fill(self) -> Flight | None:
        """Return its fill in flight, if it has one."""
        for flight in self.flights:
            if flight.kind == "fill":
                return flight
        return None

    def get_flight(self, ticket: Ticket, kind: str) -> Flight | None:
        """Return its copy in flight with that ticket and direction, if there is one."""
        for flight in self.flights:
            if flight.ticket == ticket and flight.kind == kind:
                return flight
        return None

    def end_flight(self, flight: Flight) -> None:
        """Take a copy out of flight."""
        self.flights = [other for other in self.flights if other.ticket != flight.ticket]


def first_frame(flight: Flight) -> FrameNumber:
    """Return the first frame of a copy: the only one of a write-back."""
    return int(flight.frames[0])
