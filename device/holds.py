"""Leases and holds: opening, allocating, sharing, releasing, finishing.

Every operation reads CHECK / EFFECT / RESULT, like the reference. What the device must do comes
before the first table changes, so that an error of the device changes none.
"""

import numpy as np

from device.flights import first_frame
from device.layout import Numbers
from device.leases import PINS, Lease
from device.tables import Tables, get_lease, one
from reference.calls import Choice
from reference.refusals import (
    AlreadyHeld,
    BadPromise,
    DirtyFrame,
    DuplicatePage,
    FillInFlight,
    NotHeld,
    PageMemory,
    PagePinned,
    PromiseUnavailable,
    UnknownPage,
    WriteBackInFlight,
)
from reference.words import LeaseId, Page, Phase


def open_lease(tables: Tables, promise: int) -> LeaseId:
    """Open a lease with nothing held, claimed or pinned.

    Raises `BadPromise` below 1; `PromiseUnavailable` if promises, and frames in quarantine, would
    exceed the frames.
    """
    # CHECK
    if promise < 1:
        raise BadPromise(promise)
    # Frames in quarantine count too: else a lease would be promised one, and wait for it.
    promised = tables.promised + int(np.count_nonzero(tables.frames.orphaned))
    if promised + promise > tables.shape.frames:
        raise PromiseUnavailable(promise, promised, tables.shape.frames)
    # EFFECT
    lease_id = tables.next_lease
    tables.leases[lease_id] = Lease(promise, tables.shape.pages)
    tables.promised += promise
    tables.next_lease += 1
    # RESULT
    return lease_id


def alloc(tables: Tables, lease_id: LeaseId, count: int, choice: Choice) -> Numbers:
    """Begin the lives of so many free pages in the lease's table; their host rows are zero.

    They are the lowest free ones, or the page that was chosen. Raises `UnknownLease`;
    `PageMemory` if not so many are free; with the tier off `OutOfMemory` and `DeviceLost`.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    if tables.pool.free.count < count:
        raise PageMemory(tables.shape.pages)
    if choice.page is None:
        pages = tables.pool.free.get_lowest(count)
    else:
        pages = _check_free(tables, choice.page)
    # EFFECT
    if tables.off:
        tables.path.zero_frames(pages)
    tables.path.zero_pages(pages)
    tables.pool.take(pages)
    tables.life[pages] = tables.next_life + np.arange(len(pages), dtype=np.int64)
    tables.next_life += len(pages)
    lease.join(pages, borrowed=False)
    if tables.off:
        tables.frames.map_pages(pages, pages, Phase.READY)
    # RESULT
    return pages


def _check_free(tables: Tables, page: Page) -> Numbers:
    if not (0 <= page < tables.shape.pages and tables.pool.free.is_free[page]):
        raise ValueError(f"page {page} was chosen to be allocated and is not free")
    return one(page)


def share(tables: Tables, lease_id: LeaseId, page: Page) -> None:
    """Add a live page to the lease's borrowed pages.

    Raises `UnknownLease`; `UnknownPage` if it is not live; `AlreadyHeld`.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    if not tables.pool.is_live(page):
        raise UnknownPage(page)
    if lease.get_column(page) is not None:
        raise AlreadyHeld(lease_id, page)
    # EFFECT
    tables.pool.hold(page)
    lease.join(one(page), borrowed=True)


def release(tables: Tables, lease_id: LeaseId, pages: Numbers) -> None:
    """Give up the lease's holds on distinct pages, all or none; lives may end.

    Raises, for the first page with a reason, `UnknownLease`; `DuplicatePage`; `NotHeld`;
    `FillInFlight` if this lease claims it; `PagePinned` if this lease pins it.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    check_distinct(pages)
    columns, is_held = lease.seek(pages)
    is_bad = ~is_held | np.isin(pages, lease.claims)
    is_bad[is_held] |= lease.held[PINS, columns[is_held]] > 0
    if is_bad.any():
        _refuse_release(lease_id, lease, int(pages[is_bad.argmax()]))
    # EFFECT
    lease.leave(columns)
    tables.pool.drop(pages)


def _refuse_release(lease_id: LeaseId, lease: Lease, page: Page) -> None:
    """Raise why this page cannot be released."""
    if lease.get_column(page) is None:
        raise NotHeld(lease_id, page)
    if lease.filling is not None and page in lease.claims:
        raise FillInFlight(lease_id, lease.filling.ticket)
    raise PagePinned(lease_id, page, lease.get_pins(page))


def finish(tables: Tables, lease_id: LeaseId) -> None:
    """End the lease: its pins go, then its holds and its promise.

    Raises `UnknownLease`; `FillInFlight`; `WriteBackInFlight` of this lease; `DirtyFrame` naming
    every dirty page the lease pins, of its table or borrowed.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    if lease.filling is not None:
        raise FillInFlight(lease_id, lease.filling.ticket)
    for flight in lease.flights.values():
        frame = first_frame(flight)
        raise WriteBackInFlight(int(tables.frames.page[frame]), frame)
    pages, pins = lease.get_pinned()
    frames = tables.frames.where[pages]
    dirty = pages[tables.frames.dirty[frames]]
    if len(dirty):
        raise DirtyFrame(lease_id, tuple(dirty.tolist()))
    # EFFECT
    del tables.leases[lease_id]
    tables.promised -= lease.promise
    tables.frames.let_go(frames, pins)
    tables.pool.drop(np.concatenate((lease.get_joined(False), lease.get_joined(True))))


def check_distinct(pages: Numbers) -> None:
    """Raise `DuplicatePage` naming the first page that comes a second time."""
    ordered = np.sort(pages)
    if (ordered[1:] == ordered[:-1]).any():
        seen: set[int] = set()
        for page in pages.tolist():
            if page in seen:
                raise DuplicatePage(page)
            seen.add(page)
