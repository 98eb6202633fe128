"""From page to number, for the few of very many pages that one lease holds: sparse, in arrays.

The pages are cut into blocks; a block has memory only once a page of it was entered.
"""

import numpy as np

from device.layout import Mask, Numbers

SHIFT = 6
"""A block has 64 pages of 8 bytes, which a lone page costs too; each block there is costs 8."""

BLOCK = 1 << SHIFT
"""Pages in a block."""

ABSENT = -1
"""The number of a page that is not entered."""


class PageMap:
    """A number, not negative, for some of the pages 0 to `pages` - 1."""

    def __init__(self, pages: int) -> None:
        """Make a map in which no page is entered."""
        self.pages = np.uint64(pages)
        self.begins = np.zeros(-(-pages // BLOCK), dtype=np.int64)
        """For each block, where in `numbers` it begins; 0 while it has no memory."""
        self.numbers = np.full(BLOCK, ABSENT, dtype=np.int64)
        """The numbers, block by block; the first block stands for all without memory."""
        self.used = BLOCK
        """Entries of `numbers` that are in use."""

    def get(self, pages: Numbers) -> tuple[Numbers, Mask]:
        """Return the numbers of pages, and which are entered; any numbers may be asked for."""
        in_range: Mask = pages.view(np.uint64) < self.pages  # what is negative is huge then
        known = pages if in_range.all() else np.where(in_range, pages, 0)
        found = self.numbers[self.begins[known >> SHIFT] + (known & (BLOCK - 1))]
        return found, in_range & (found != ABSENT)

    def set(self, pages: Numbers, numbers: Numbers | int) -> None:
        """Enter pages that there are, or `ABSENT` to take them out."""
        blocks = pages >> SHIFT
        new = np.unique(blocks[self.begins[blocks] == 0])
        needed = self.used + BLOCK * len(new)
        if needed > len(self.numbers):
            more = np.full(max(needed, 2 * len(self.numbers)), ABSENT, dtype=np.int64)
            more[: self.used] = self.numbers[: self.used]
            self.numbers = more
        self.begins[new] = np.arange(self.used, needed, BLOCK, dtype=np.int64)
        self.used = needed
        self.numbers[self.begins[blocks] + (pages & (BLOCK - 1))] = numbers
