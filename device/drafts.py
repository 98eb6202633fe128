"""Drafts and keys: rows taken back, and full pages found by what they hold.

Rows that are taken back are zeros, in the frame after all that was written there before, and in
the host page at once: no copy that counts is at it. A row of zeros is a row not written, so a
page with one is not full, whoever wrote zeros there.
"""

import numpy as np

from device.frames import NONE
from device.leases import Lease
from device.tables import Tables, get_held, get_lease, one
from reference.refusals import (
    AlreadyPublished,
    BadLength,
    FillInFlight,
    HitPending,
    KeyTaken,
    NotDurable,
    PageNotFull,
    WriteBackInFlight,
)
from reference.words import FrameNumber, Key, LeaseId, Page, Phase


def truncate(tables: Tables, lease_id: LeaseId, page: Page, rows: int) -> None:
    """Take back the rows of the page from `rows` on, wherever they are.

    Raises `UnknownLease`; `NotHeld`; `BadLength`; `FillInFlight`; `HitPending`;
    `WriteBackInFlight` of any lease, or in quarantine; if the page is resident `OutOfMemory` and
    `DeviceLost`.
    """
    # CHECK
    lease, _ = get_held(tables, lease_id, page)
    if not 0 <= rows <= tables.shape.rows:
        raise BadLength(rows, tables.shape.rows)
    frame = int(tables.frames.where[page])
    _check_settled(tables, lease_id, lease, page, frame)
    # EFFECT
    if frame != NONE and rows < tables.shape.rows:
        tables.path.zero_frames(one(frame), rows)
    # A fill in quarantine may be reading the host page: nobody will read what it brings.
    tables.path.zero_pages(one(page), rows)
    if tables.lost[page] and rows == 0:
        tables.lost[page] = tables.torn[page] = False
    if rows < tables.shape.rows:
        tables.keys.forget(one(page))


def _check_settled(
    tables: Tables, lease_id: LeaseId, lease: Lease, page: Page, frame: FrameNumber
) -> None:
    """Raise the refusal that is due while a copy of the page is in flight."""
    phase = Phase.FREE if frame == NONE else tables.frames.phase[frame]
    if phase == Phase.FILLING:
        if lease.filling is not None and page in lease.claims:
            raise FillInFlight(lease_id, lease.filling.ticket)
        raise HitPending(page, frame)
    if phase == Phase.WRITING_BACK:
        raise WriteBackInFlight(page, frame)
    if not tables.pool.touched[page]:
        return
    for flight, pages in tables.quarantine.values():
        if flight.kind == "write-back" and page in pages:
            raise WriteBackInFlight(page, int(flight.frames[0]))


def publish(tables: Tables, lease_id: LeaseId, page: Page, key: Key) -> None:
    """Let the key name the page.

    Raises `UnknownLease`; `NotHeld`; `NotDurable`; `PageNotFull`; `KeyTaken`; `AlreadyPublished`.
    """
    # CHECK
    get_held(tables, lease_id, page)
    frame = int(tables.frames.where[page])
    if tables.torn[page] or (frame != NONE and tables.frames.dirty[frame]):
        raise NotDurable(page)
    written = int(np.count_nonzero(tables.path.device.host_pages()[page].any(axis=1)))
    if written < tables.shape.rows:
        raise PageNotFull(page, written, tables.shape.rows)
    named = tables.keys.get_page(key)
    if named is not None:
        raise KeyTaken(key, named)
    other = tables.keys.get_key(page)
    if other is not None:
        raise AlreadyPublished(page, other)
    # EFFECT
    tables.keys.name(page, key)


def find(tables: Tables, lease_id: LeaseId, key: Key) -> Page | None:
    """Return the page that the key names and let the lease hold it, or none.

    Raises `UnknownLease`.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    # EFFECT
    page = tables.keys.get_page(key)
    if page is not None and lease.get_column(page) is None:
        tables.pool.hold(page)
        lease.join(one(page), borrowed=True)
    # RESULT
    return page
