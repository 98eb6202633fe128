"""Pins: looking where a page is, and giving pins up. Pins are given by fills alone (`fill`)."""

import numpy as np

from device.frames import NONE
from device.handles import Handles, OwnHandle
from device.holds import check_distinct
from device.layout import Mask, Numbers
from device.leases import PINS, Lease
from device.tables import Tables, get_handles, get_held, get_lease, one
from reference.refusals import DirtyFrame, NotPinned, StaleHandle
from reference.words import Handle, LeaseId, Page, Phase


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

    The pages are distinct. Raises, for the first handle with a reason, `UnknownLease`;
    `DuplicatePage`; `StaleHandle`; `NotPinned` by this lease; `DirtyFrame` if it is this lease's
    last pin on a dirty frame.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    check_distinct(handles.pages)
    columns = check_pinned(tables, lease_id, lease, handles)
    pins = lease.held[PINS]
    is_last = tables.frames.dirty[handles.frames] & (pins[columns] == 1)
    if is_last.any():
        raise DirtyFrame(lease_id, (int(handles.pages[is_last.argmax()]),))
    # EFFECT
    lease.unpin(columns)
    tables.frames.let_go(handles.frames)


def check_pinned(tables: Tables, lease_id: LeaseId, lease: Lease, handles: Handles) -> Numbers:
    """Return the lease's columns of pages that it pins.

    Raises `StaleHandle` or `NotPinned` for the first handle with a reason.
    """
    is_stale = ~are_current(tables, handles)
    columns, is_held = lease.seek(handles.pages)
    is_bad = is_stale | ~is_held
    is_bad[is_held] |= lease.held[PINS, columns[is_held]] == 0
    if is_bad.any():
        index = int(is_bad.argmax())
        handle = Handle(*handles[index])
        raise StaleHandle(handle) if is_stale[index] else NotPinned(lease_id, handle.page)
    return columns


def are_current(tables: Tables, handles: Handles) -> Mask:
    """Return which of the handles are current; forged numbers are not."""
    in_range = (handles.frames >= 0) & (handles.frames < tables.frames.count) & (handles.pages >= 0)
    frames = np.where(in_range, handles.frames, 0)
    current: Mask = (
        in_range
        & (tables.frames.page[frames] == handles.pages)
        & (tables.frames.generation[frames] == handles.generations)
    )
    return current
