"""Which pages of a batch lie side by side at both ends: pure arithmetic."""

from typing import NamedTuple

import numpy as np

from device.layout import Mask, Numbers


class Runs(NamedTuple):
    """A batch, cut in two: large runs, and what is scattered."""

    begins: list[int]
    """Where each large run begins in the batch."""
    counts: list[int]
    """How many items it has."""
    scattered: Mask
    """Which items of the batch are in none of them."""


def split_runs(sources: Numbers, targets: Numbers, items_min: int) -> Runs:
    """Cut a batch where neighbours end, at either end, and keep runs of at least so many items."""
    is_break = (np.diff(sources) != 1) | (np.diff(targets) != 1)
    first = np.zeros(min(1, len(sources)), dtype=np.int64)
    begins = np.concatenate((first, 1 + np.flatnonzero(is_break)))
    counts = np.diff(begins, append=len(sources))
    is_large = counts >= items_min
    scattered: Mask = np.repeat(~is_large, counts)
    return Runs(begins[is_large].tolist(), counts[is_large].tolist(), scattered)
