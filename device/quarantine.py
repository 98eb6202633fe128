"""Quarantine: copies in flight that no lease owns any more, and what they may still touch.

A lease that ends, or a reset, cannot stop a copy that is running on the device. Until somebody
has waited for it (`leave.land`) its frames are given to nobody, and its host pages begin no new
life. Not here: the operations that bring it about (`leave`), and who counts what is touched
(`frames`, `pool`).
"""

from collections.abc import Iterable

import numpy as np

from device.flights import Flight, Orphan
from device.frames import NONE
from device.layout import Numbers
from device.leases import NO_NUMBERS
from device.tables import Tables
from reference.words import Phase


def orphan(tables: Tables, flights: Iterable[Flight]) -> None:
    """Let copies in flight belong to nobody. Their frames still map their pages."""
    for flight in flights:
        pages = tables.frames.page[flight.frames]
        tables.quarantine[flight.ticket] = Orphan(flight, pages)
        tables.frames.orphaned[flight.frames] = True
        tables.pool.touched[pages] += 1


def forsake(tables: Tables, frames: Numbers) -> Numbers:
    """Unmap those of these frames, distinct and mapped, that nobody may count on any more.

    They are dirty or being filled, and pinned or claimed by nobody any more. Returns the pages
    whose unpublished rows are gone, ascending: each falls back to its host page, or is lost if
    that is torn.
    """
    table = tables.frames
    is_dirty = table.dirty[frames]
    is_forsaken = (is_dirty | (table.phase[frames] == Phase.FILLING)) & (table.kept[frames] == 0)
    gone = np.sort(table.page[frames[is_forsaken & is_dirty]])
    tables.lost[gone[tables.torn[gone]]] = True
    drop_frames(tables, frames[is_forsaken])
    return gone


def drop_frames(tables: Tables, frames: Numbers) -> None:
    """Unmap frames: those that a copy may still touch are in quarantine, the others `FREE`.

    With the tier off there is nothing to unmap: dirty ones were restored before (`restore`).
    """
    if tables.off:
        tables.frames.dirty[frames] = False
        return
    is_touched = tables.frames.orphaned[frames]
    tables.frames.unmap(frames[is_touched], Phase.QUARANTINED)
    tables.frames.unmap(frames[~is_touched])
    # Those in quarantine are discarded when they land: a copy is at them.
    tables.path.discard(NO_NUMBERS, frames[~is_touched])


def restore(tables: Tables, frames: Numbers) -> None:
    """With the tier off, let frames show the rows of their host pages again.

    Changes no table. Raises `OutOfMemory` and `DeviceLost`, and nothing was queued then.
    """
    if len(frames):
        tables.path.restore_frames(frames, tables.frames.page[frames])


def get_mapped(tables: Tables) -> Numbers:
    """Return every frame that maps a page, ascending."""
    return np.flatnonzero(tables.frames.page != NONE).astype(np.int64)
