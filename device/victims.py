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
    """Entries in the order of their stamps, in arrays with room for more.

    Those before `begin` were dropped, those from `end` on are not in use.
    """

    def __init__(self, stamps: Numbers, frames: Numbers) -> None:
        self.stamps = stamps
        self.frames = frames
        self.begin = 0
        self.end = len(stamps)

    def __len__(self) -> int:
        return self.end - self.begin

    def get(self, count: int | None = None) -> tuple[Numbers, Numbers]:
        """Return stamps and frames of so many entries, or of all."""
        end = self.end if count is None else min(self.end, self.begin + count)
        return self.stamps[self.begin : end], self.frames[self.begin : end]

    def is_before(self, stamp: int) -> bool:
        """Return whether all entries are earlier than this stamp."""
        return not len(self) or bool(self.stamps[self.end - 1] < stamp)

    def append(self, stamps: Numbers, frames: Numbers) -> None:
        """Add later entries, amortised in place."""
        end = self.end + len(stamps)
        if end > len(self.stamps):
            room = np.empty(2 * (len(self) + len(stamps)), dtype=np.int64)
            old_stamps, old_frames = self.get()
            self.stamps, self.frames = room, room.copy()
            self.begin, self.end = 0, len(old_stamps)
            self.stamps[: self.end], self.frames[: self.end] = old_stamps, old_frames
            end = self.end + len(stamps)
        self.stamps[self.end : end] = stamps
        self.frames[self.end : end] = frames
        self.end = end

    def join(self, other: "_Run") -> "_Run":
        """Return the entries of both, in order."""
        stamps, frames = map(np.concatenate, zip(self.get(), other.get(), strict=True))
        order = np.argsort(stamps, kind="stable")
        return _Run(stamps[order], frames[order])


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
        stamps = self.stamp[frames]
        is_new = self.queued[frames] != stamps
        if not is_new.all():
            frames, stamps = frames[is_new], stamps[is_new]
        if not len(frames):
            return
        self.queued[frames] = stamps
        if (stamps[1:] < stamps[:-1]).any():
            order = np.argsort(stamps)
            stamps, frames = stamps[order], frames[order]
        if self.runs and self.runs[-1].is_before(int(stamps[0])):
            self.runs[-1].append(stamps, frames)
        else:
            self.runs.append(_Run(stamps, frames))
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            self.runs[-2:] = [self.runs[-2].join(self.runs[-1])]
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
            stamps, frames = run.get(width)
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
        stamps, frames = swept.get()
        alive = self.stamp[frames] == stamps
        self._unqueue(frames[~alive], stamps[~alive])
        self.runs = [_Run(stamps[alive], frames[alive])]
