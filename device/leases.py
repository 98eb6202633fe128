"""A lease in arrays: the pages it holds, its pins, its claims, its copies in flight.

A sparse map leads from page to column, so that many are found at once. Owned here: one lease.
Not owned: what is allowed (`holds`, `fill`, `pins`).
"""

import numpy as np

from device.flights import Flight
from device.layout import Mask, Numbers
from device.page_map import ABSENT, PageMap
from reference.words import Page, Ticket

PAGE, ORDER, BORROWED, PINS = range(4)
"""The columns of `Lease.held`: the page; when it joined; 1 if it is borrowed; the lease's pins."""

COLUMNS = 16
"""Columns there is room for at first."""

NO_NUMBERS: Numbers = np.empty(0, dtype=np.int64)
"""No pages, or no frames."""
NO_NUMBERS.flags.writeable = False


class Lease:
    """One user of the tier."""

    def __init__(self, promise: int, pages: int) -> None:
        """Make a lease with nothing held, claimed or pinned, of so many pages that there are."""
        self.promise = promise
        """The most distinct pages it may have pinned or claimed at once."""
        self.memory: Numbers = np.empty((4, COLUMNS), dtype=np.int64)
        """Room for the pages it holds, one a column; those in use are `held`."""
        self.held: Numbers = self.memory[:, :0]
        """The pages it holds, one a column, in no order."""
        self.columns = PageMap(pages)
        """The column of each page that it holds."""
        self.joined = 0
        """Pages that ever joined."""
        self.pinned = 0
        """Distinct pages it pins."""
        self.claims = NO_NUMBERS
        """Every page its fill in flight asked for, in order."""
        self.filling: Flight | None = None
        """Its fill in flight, if it has one."""
        self.flights: dict[Ticket, Flight] = {}
        """Its copies in flight, the fill included, oldest first."""

    def seek(self, pages: Numbers) -> tuple[Numbers, Mask]:
        """Return the columns of pages, int64 (n,), and which are held; `ABSENT` where not."""
        return self.columns.get(pages)

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
        first = self.held.shape[1]
        last = first + len(pages)
        if last > self.memory.shape[1]:
            more = np.empty((4, max(last, 2 * self.memory.shape[1])), dtype=np.int64)
            more[:, :first] = self.held
            self.memory = more
        self.held = self.memory[:, :last]
        self.held[PAGE, first:] = pages
        self.held[ORDER, first:] = self.joined + np.arange(len(pages), dtype=np.int64)
        self.held[BORROWED, first:] = borrowed
        self.held[PINS, first:] = 0
        self.columns.set(pages, np.arange(first, last, dtype=np.int64))
        self.joined += len(pages)

    def leave(self, columns: Numbers) -> None:
        """Take away the pages of these distinct columns, which it does not pin."""
        count = self.held.shape[1] - len(columns)
        self.columns.set(self.held[PAGE, columns], ABSENT)
        # Columns beyond the new end move into the holes before it.
        stays = np.ones(len(columns), dtype=np.bool_)
        stays[columns[columns >= count] - count] = False
        moved = count + np.flatnonzero(stays)
        holes = columns[columns < count]
        self.held[:, holes] = self.held[:, moved]
        self.columns.set(self.held[PAGE, holes], holes)
        self.held = self.memory[:, :count]

    def pin(self, columns: Numbers) -> None:
        """Add one pin to the pages of these columns; they are distinct."""
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
        mine = mine[:, np.argsort(mine[PAGE])]
        return mine[PAGE], mine[PINS]

    def let_all_go(self) -> None:
        """Give up pins, claims and copies in flight; the pages stay held."""
        self.held[PINS] = 0
        self.pinned = 0
        self.claims = NO_NUMBERS
        self.filling = None
        self.flights.clear()

    def begin_fill(self, flight: Flight) -> None:
        """Let its fill be in flight."""
        self.filling = self.flights[flight.ticket] = flight

    def end_flight(self, flight: Flight) -> None:
        """Take a copy out of flight."""
        del self.flights[flight.ticket]
        if flight is self.filling:
            self.filling = None
