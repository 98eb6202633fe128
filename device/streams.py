"""The streams of a simulated device: queues of pieces of work that land part by part.

A move copies rows from one array to another. Its parts are the halves of its rows, which land in
any order; a part that has not landed shows what was there before the move began, or poison. Owned
here: what landing does to memory. Not owned: when it happens (`simulated`).
"""

from collections import deque
from typing import TypeAlias

import numpy as np

from device.layout import Bytes, Mask, Numbers
from device.schedule import Pick

ONE, SOME, REST = range(3)
"""How much of a move lands at once, as picked: one half of a row, a run of rows, all that is
left."""


class Move:
    """Rows on their way: `source[sources[i]]` to `target[targets[i]]`, each `i`.

    `source` and `target` are uint8 of shape (rows, row_bytes). An item of the batch is
    `item_rows` rows that follow each other.
    """

    def __init__(
        self,
        source: Bytes,
        sources: Numbers,
        target: Bytes,
        targets: Numbers,
        item_rows: int = 1,
    ) -> None:
        """Nothing has landed yet."""
        self.source, self.sources = source, sources
        self.target, self.targets = target, targets
        self.item_rows = item_rows
        self.waiting = np.ones((len(sources), 2), dtype=np.bool_)
        """The halves of rows that have not landed and will."""
        self.has_begun = False
        self.failed: int | None = None
        """The item that failed, if one did."""

    def begin(self, poison: int) -> None:
        """Poison what will be written, once: nobody may count on it from now on."""
        if not self.has_begun:
            self.has_begun = True
            written = self.waiting.all(axis=1)
            self.target[self.targets[written]] = poison

    def fail(self, item: int) -> None:
        """Let an item fail (counted modulo the batch): what of it has not landed never does."""
        items = max(1, len(self.sources) // self.item_rows)
        self.failed = item % items
        first = self.failed * self.item_rows
        self.waiting[first : first + self.item_rows] = False

    def land_all(self) -> None:
        """Land all that waits."""
        self._land(self.waiting.copy())

    def land_some(self, pick: Pick) -> None:
        """Land a part: how much, and which, is picked."""
        waiting = np.flatnonzero(self.waiting)
        if not len(waiting):
            return
        amount = pick(3)
        chosen = self.waiting.copy()
        if amount != REST:
            first = pick(len(waiting)) if len(waiting) > 1 else 0
            last = first + 1 if amount == ONE else first + 1 + len(waiting) // 2
            chosen[:] = False
            chosen.reshape(-1)[waiting[first:last]] = True
        self._land(chosen)

    def is_done(self) -> bool:
        """Return whether nothing of it waits to land."""
        return not self.waiting.any()

    def show(self, target: Bytes) -> None:
        """Write what has not landed yet into a copy of the target."""
        self._write(target, self.waiting)

    def _land(self, chosen: Mask) -> None:
        self._write(self.target, chosen)
        self.waiting &= ~chosen

    def _write(self, target: Bytes, chosen: Mask) -> None:
        middle = (target.shape[1] + 1) // 2
        for half, cut in enumerate((slice(0, middle), slice(middle, None))):
            rows = np.flatnonzero(chosen[:, half])
            if len(rows):
                target[self.targets[rows], cut] = self.source[self.sources[rows], cut]


class Point:
    """An event: a place in a stream, and for the end of a batch the batch."""

    def __init__(self, stream: int, move: Move | None) -> None:
        """It has not landed yet."""
        self.stream = stream
        self.move = move
        self.landed = False

    def is_failed(self) -> bool:
        """Return whether the batch that it ends failed."""
        return self.move is not None and self.move.failed is not None

    def failed_item(self) -> int | None:
        """Return the item at which it failed."""
        return None if self.move is None else self.move.failed


class QueuedWait:
    """What holds a stream up until an event has landed."""

    def __init__(self, event: Point) -> None:
        """Wait for this event."""
        self.event = event


Queue: TypeAlias = deque[Move | Point | QueuedWait]
"""What a stream has still to do, in order."""
