"""Which of so many numbers are free, the lowest found first: page ids, and frames."""

import numpy as np

from device.layout import Numbers

WINDOW = 64
"""Entries looked at first; twice as many each time until enough are found."""


class FreeSet:
    """The numbers 0 to size - 1, of which some are free; all are to begin with."""

    def __init__(self, size: int) -> None:
        """Make a set of so many numbers."""
        self.is_free = np.ones(size, dtype=np.bool_)
        """For each number, whether it is free."""
        self.count = size
        """How many are free."""
        self.low = 0
        """No number below this is free, so a search begins here."""

    def get_lowest(self, count: int) -> Numbers:
        """Return the lowest free numbers, so many or all, ascending; they stay free."""
        count = min(count, self.count)
        width = max(WINDOW, 2 * count)
        found = np.flatnonzero(self.is_free[self.low : self.low + width])
        while len(found) < count:
            width *= 2
            found = np.flatnonzero(self.is_free[self.low : self.low + width])
        lowest: Numbers = found[:count].astype(np.int64) + self.low
        if count > 0:
            self.low = int(lowest[0])
        return lowest

    def get_all(self) -> Numbers:
        """Return every free number, ascending."""
        return np.flatnonzero(self.is_free).astype(np.int64)

    def remove(self, numbers: Numbers) -> None:
        """Take free numbers, which are distinct."""
        self.is_free[numbers] = False
        self.count -= len(numbers)

    def add(self, numbers: Numbers) -> None:
        """Give back numbers that are not free and distinct."""
        if len(numbers):
            self.is_free[numbers] = True
            self.count += len(numbers)
            self.low = min(self.low, int(numbers.min()))
