"""The pool: the only owner of page ids, in arrays.

It hands them out, counts who holds them and takes them back. It knows nothing of frames: when
lives end it calls the freed-page hook it was given, once with all their pages.
"""

from collections.abc import Callable

import numpy as np

from device.free_set import FreeSet
from device.layout import Numbers


class PagePool:
    """Page ids 0 to pages - 1, who is free, and how many leases hold each."""

    def __init__(self, pages: int, on_pages_freed: Callable[[Numbers], None]) -> None:
        """Make a pool in which every page is free. The hook must not fail."""
        self.pages = pages
        self.free = FreeSet(pages)
        """Pages nobody holds."""
        self.holds = np.zeros(pages, dtype=np.int64)
        """For each page, how many leases hold it."""
        self.touched = np.zeros(pages, dtype=np.int64)
        """For each page, how many copies that nobody owns any more may touch its host page."""
        self.retired = np.zeros(pages, dtype=np.bool_)
        """Pages whose life ended while such a copy may touch them: they are not free yet."""
        self.on_pages_freed = on_pages_freed

    def is_live(self, page: int) -> bool:
        """Return whether the page is in a life, that is, somebody holds it."""
        return 0 <= page < self.pages and bool(self.holds[page] > 0)

    def take(self, pages: Numbers) -> None:
        """Begin lives: each of these free, distinct pages has one holder."""
        self.free.remove(pages)
        self.holds[pages] = 1

    def hold(self, page: int) -> None:
        """Give a live page one holder more."""
        self.holds[page] += 1

    def drop(self, pages: Numbers) -> None:
        """Take one holder from each of these live, distinct pages.

        Where nobody is left the life ends; then the hook runs, with those pages. One that a copy
        may still touch is kept back until `settle`.
        """
        self.holds[pages] -= 1
        freed = pages[self.holds[pages] == 0]
        if len(freed):
            is_touched = self.touched[freed] > 0
            self.retired[freed[is_touched]] = True
            self.free.add(freed[~is_touched])
            self.on_pages_freed(freed)

    def settle(self, pages: Numbers) -> Numbers:
        """Hear that a copy touches these distinct pages no more; return those that become free."""
        self.touched[pages] -= 1
        over: Numbers = pages[self.retired[pages] & (self.touched[pages] == 0)]
        self.retired[over] = False
        self.free.add(over)
        return over
