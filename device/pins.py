"""Pins: looking where a page is, and giving pins up. Pins are given by fills alone (`fill`)."""

import numpy as np

from device.frames import NONE
from device.handles import Handles, OwnHandle
from device.holds import check_distinct
from device.layout import Mask, Numbers
from device.leases import PINS, Lease
from device.tables import Tables, get_handles, get_held, get_lease, get_pinned, one
from reference.refusals import DirtyFrame
from reference.words import LeaseId, Page, Phase


def lookup(tables: Tables, lease_id: LeaseId, page: Page) -> OwnHandle | None:
    """Return the current handle of a resident page, else none. Pins nothing, changes nothing.

    Raises `UnknownLease`; `NotHeld`.
    """
    # CHECK
    get_held(tables, lease_id, page)
    # RESULT
    frame = int(tables.frames.where[page])
    if frame == NONE or tables.frames.phase[frame] == Phase.FILLING:
        return None
    return get_handles(tables, one(page))[0]


def unpin(tables: Tables, lease_id: LeaseId, handles: Handles) -> None:
    """Take exactly one of the lease's pins from each page, all or none.

    The pages are distinct. Raises `UnknownLease`; `DuplicatePage`; and for the first handle with
    a reason `StaleHandle`; `NotPinned` by this lease; `DirtyFrame` if it is this lease's
    last pin on a dirty frame.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    check_distinct(handles.pages)
    columns, pins = find_pinned(tables, lease, handles)
    is_bad = pins == 0
    frames = np.where(is_bad, 0, handles.frames)
    is_bad |= tables.frames.dirty[frames] & (pins == 1)
    if is_bad.any():
        handle = handles.get_plain(int(is_bad.argmax()))
        get_pinned(tables, lease_id, handle)
        raise DirtyFrame(lease_id, (handle.page,))
    # EFFECT
    lease.unpin(columns)
    tables.frames.let_go(handles.frames)


def find_pinned(tables: Tables, lease: Lease, handles: Handles) -> tuple[Numbers, Numbers]:
    """Return the lease's columns of pages and its pins on them, int64 (n,).

    No pins where `get_pinned` refuses the handle: it is stale, or its page is not pinned.
    """
    columns, is_held = lease.seek(handles.pages)
    is_held &= are_current(tables, handles)
    if is_held.all():
        return columns, lease.held[PINS, columns]
    pins = np.zeros(len(columns), dtype=np.int64)
    pins[is_held] = lease.held[PINS, columns[is_held]]
    return columns, pins


def are_current(tables: Tables, handles: Handles) -> Mask:
    """Return which of the handles are current; forged numbers are not."""
    # What is negative is huge as a number without a sign; no frame maps page `NONE`.
    in_range = handles.frames.view(np.uint64) < np.uint64(tables.frames.count)
    in_range &= handles.pages != NONE
    frames = handles.frames if in_range.all() else np.where(in_range, handles.frames, 0)
    current: Mask = (
        in_range
        & (tables.frames.page[frames] == handles.pages)
        & (tables.frames.generation[frames] == handles.generations)
    )
    return current
