"""The victim order: evictable frames, the least recently filled first, kept up to date.

A frame is queued with its stamp when it becomes evictable, and nothing happens when it ceases to
be: entries that no longer hold are dropped when they come to the front. Entries lie in a few
sorted runs, each at most half as long as the one before it, so that queueing costs the logarithm
of the frames, amortised, and finding victims looks at the fronts alone. Array work throughout.
"""

from collections.abc import Callable

import numpy as np

from device.layout import Mask, Numbers

UNQUEUED = -1
"""The stamp, in `VictimQueue.queued`, of a frame that is not queued."""

DEAD_MAX = 1024
"""Entries beyond three for each frame before the dead ones are swept out."""


class _Run:
    """Entries in the order of their stamps; those before `begin` were dropped."""

    def __init__(self, stamps: Numbers, frames: Numbers) -> None:
        self.stamps = stamps
        self.frames = frames
        self.begin = 0

    def __len__(self) -> int:
        return len(self.stamps) - self.begin

    def join(self, later: "_Run") -> "_Run":
        stamps = np.concatenate((self.stamps[self.begin :], later.stamps[later.begin :]))
        frames = np.concatenate((self.frames[self.begin :], later.frames[later.begin :]))
        if len(self) and len(later) and self.stamps[-1] > later.stamps[later.begin]:
            order = np.argsort(stamps, kind="stable")
            stamps, frames = stamps[order], frames[order]
        return _Run(stamps, frames)


class VictimQueue:
    """A queue of evictable frames by stamp.

    `stamp` is the table of stamps, `is_evictable` says which of some frames are evictable now.
    Whoever makes a frame evictable pushes it.
    """

    def __init__(
        self, frames: int, is_evictable: Callable[[Numbers], Mask], stamp: Numbers
    ) -> None:
        """Make an empty queue."""
        self.is_evictable = is_evictable
        self.stamp = stamp
        self.queued = np.full(frames, UNQUEUED, dtype=np.int64)
        """The stamp with which each frame is queued, or `UNQUEUED`."""
        self.excluded = np.zeros(frames, dtype=np.bool_)
        """All false but within `get_first`."""
        self.runs: list[_Run] = []

    def push(self, frames: Numbers) -> None:
        """Queue frames that became evictable; those that are queued already stay as they are."""
        frames = frames[self.queued[frames] != self.stamp[frames]]
        if not len(frames):
            return
        stamps = self.stamp[frames]
        self.queued[frames] = stamps
        order = np.argsort(stamps, kind="stable")
        run = _Run(stamps[order], frames[order])
        while self.runs and len(self.runs[-1]) < 2 * len(run):
            run = self.runs.pop().join(run)
        self.runs.append(run)
        if sum(map(len, self.runs)) > 3 * len(self.queued) + DEAD_MAX:
            self._sweep()

    def get_first(self, count: int, excluded: Numbers) -> Numbers:
        """Return the first so many victims, or all, without those excluded; they stay queued."""
        self.excluded[excluded] = True
        fronts = [self._get_front(run, count) for run in self.runs]
        self.excluded[excluded] = False
        self.runs = [run for run in self.runs if len(run)]
        if not fronts:
            return np.empty(0, dtype=np.int64)
        frames: Numbers = np.concatenate(fronts)
        order = np.argsort(self.stamp[frames], kind="stable")
        first: Numbers = frames[order[:count]]
        return first

    def _get_front(self, run: _Run, count: int) -> Numbers:
        """Return the first victims of one run, and drop what is none before the first of them."""
        width = 2 * count
        while True:
            window = slice(run.begin, run.begin + width)
            frames, stamps = run.frames[window], run.stamps[window]
            holds = (self.stamp[frames] == stamps) & self.is_evictable(frames)
            victims = frames[holds & ~self.excluded[frames]]
            if len(victims) >= count or width >= len(run):
                break
            width *= 2
        dropped = int(holds.argmax()) if holds.any() else len(holds)
        self._unqueue(frames[:dropped], stamps[:dropped])
        run.begin += dropped
        front: Numbers = victims[:count]
        return front

    def _unqueue(self, frames: Numbers, stamps: Numbers) -> None:
        self.queued[frames[self.queued[frames] == stamps]] = UNQUEUED

    def _sweep(self) -> None:
        """Keep only the entries of frames that were not filled again since."""
        swept = self.runs[0]
        for run in self.runs[1:]:
            swept = swept.join(run)
        stamps, frames = swept.stamps[swept.begin :], swept.frames[swept.begin :]
        alive = self.stamp[frames] == stamps
        self._unqueue(frames[~alive], stamps[~alive])
        self.runs = [_Run(stamps[alive], frames[alive])]
