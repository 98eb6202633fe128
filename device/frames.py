"""The frames in arrays: what each maps and what it is doing, and the way from page to frame.

Owned here: the two tables and the moves that keep them together. Not owned: which frame is taken
(`victims`, `fill`), and the bytes (`data_path`).
"""

import numpy as np

from device.free_set import FreeSet
from device.layout import Mask, Numbers
from device.victims import VictimQueue
from reference.words import Handle, Phase

NONE = -1
"""No page, or no frame, in a table. Not 0, which is one."""

NEVER = 0
"""The stamp of a frame that no fill completed in since it maps its page."""


class FrameTable:
    """So many frames, and for each of so many pages the frame that maps it."""

    def __init__(self, pages: int, frames: int) -> None:
        """Make frames that map nothing."""
        self.count = frames
        self.page = np.full(frames, NONE, dtype=np.int64)
        """The page each frame maps, or `NONE`."""
        self.generation = np.zeros(frames, dtype=np.int64)
        """Moves on whenever the frame stops holding the page it held."""
        self.phase = np.full(frames, Phase.FREE, dtype=np.int8)
        """What each frame is doing: a `Phase`."""
        self.dirty = np.zeros(frames, dtype=np.bool_)
        """Whether the frame may be newer than its host page."""
        self.kept = np.zeros(frames, dtype=np.int64)
        """Pins and claims on its page, of all leases together: while above 0 the page stays."""
        self.stamp = np.full(frames, NEVER, dtype=np.int64)
        """When its page was last filled, counted in filled pages; the larger the later."""
        self.where = np.full(pages, NONE, dtype=np.int64)
        """For each page, the frame that maps it, or `NONE`."""
        self.orphaned = np.zeros(frames, dtype=np.bool_)
        """Whether a copy in quarantine may touch the frame."""
        self.free = FreeSet(frames)
        """The frames that are `FREE`."""
        self.victims = VictimQueue(frames, self.is_evictable, self.stamp)
        self.next_stamp = NEVER + 1

    def is_evictable(self, frames: Numbers) -> Mask:
        """Return which of these frames are `READY`, clean, and neither pinned nor claimed."""
        evictable: Mask = (
            (self.phase[frames] == Phase.READY) & ~self.dirty[frames] & (self.kept[frames] == 0)
        )
        return evictable

    def is_current(self, handle: Handle) -> bool:
        """Return whether that frame maps that page with that generation."""
        return (
            0 <= handle.frame < self.count
            and handle.page >= 0
            and bool(self.page[handle.frame] == handle.page)
            and bool(self.generation[handle.frame] == handle.generation)
        )

    def map_pages(self, pages: Numbers, frames: Numbers, phase: Phase) -> None:
        """Let `FREE` frames map pages that no frame maps: `frames[i]` maps `pages[i]`."""
        self.free.remove(frames)
        self.page[frames] = pages
        self.phase[frames] = phase
        self.where[pages] = frames

    def unmap(self, frames: Numbers, phase: Phase = Phase.FREE) -> None:
        """Let frames stop mapping their pages, for whatever reason: their generations move on.

        They are `FREE`, or `QUARANTINED` until `set_free`.
        """
        self.where[self.page[frames]] = NONE
        self.page[frames] = NONE
        self.generation[frames] += 1
        self.phase[frames] = phase
        self.dirty[frames] = False
        self.kept[frames] = 0
        self.stamp[frames] = NEVER
        if phase == Phase.FREE:
            self.free.add(frames)

    def set_free(self, frames: Numbers) -> None:
        """Let frames in quarantine be `FREE`: no copy touches them any more."""
        self.phase[frames] = Phase.FREE
        self.free.add(frames)

    def touch(self, frames: Numbers) -> None:
        """Make these frames the most recently filled, the last one the most."""
        self.stamp[frames] = self.next_stamp + np.arange(len(frames), dtype=np.int64)
        self.next_stamp += len(frames)

    def let_go(self, frames: Numbers, counts: Numbers | int = 1) -> None:
        """Take pins or claims from frames; those that become evictable are victims from now on."""
        self.kept[frames] -= counts
        is_evictable = self.is_evictable(frames)
        self.victims.push(frames if is_evictable.all() else frames[is_evictable])
