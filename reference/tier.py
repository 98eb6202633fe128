"""The tier: promises, holds, pins and dirt. Fills are in `fill`.

Every operation reads CHECK / EFFECT / RESULT: the refusals in the order of the spec's row, then
what changes, then what the call returns. A function takes a state and returns a new one, so a
refused call changes nothing by construction.
"""

from collections.abc import Iterator

from reference import pool
from reference.calls import DEFAULT, FAILED, Choice
from reference.quarantine import is_touched, orphaned_frames
from reference.refusals import (
    AlreadyHeld,
    BadPromise,
    DirtyFrame,
    FillInFlight,
    NotDirty,
    PageMemory,
    PagePinned,
    PromiseUnavailable,
    UnknownPage,
    WriteBackInFlight,
)
from reference.state import Copy, CopyKind, HostPage, Lease, State
from reference.tables import (
    check_row,
    end_copy,
    get_copy,
    get_fill,
    get_frame,
    get_held,
    get_lease,
    get_pinned,
    get_pins,
    is_held,
    is_open,
    map_page,
    mapped_page,
    set_frame,
    set_host,
    set_lease,
    set_pins,
    unmap,
    unpublish,
)
from reference.words import FrameNumber, Handle, LeaseId, Page, Phase, Ticket

# ------------------------------------------------------------------------------ leases and holds


def open_lease(state: State, promise: int) -> tuple[LeaseId, State]:
    """Open a lease with nothing held, claimed or pinned.

    Raises `BadPromise` below 1; `PromiseUnavailable` if promises would exceed the frames.
    """
    # CHECK
    if promise < 1:
        raise BadPromise(promise)
    promised = sum(lease.promise for _, lease in state.leases)
    promised += len(orphaned_frames(state))
    if promised + promise > state.shape.frames:
        raise PromiseUnavailable(promise, promised, state.shape.frames)
    # EFFECT
    lease_id = state.next_lease
    lease = Lease(promise, table=(), borrowed=(), pins=(), claims=(), copies=())
    state = state._replace(leases=(*state.leases, (lease_id, lease)), next_lease=lease_id + 1)
    # RESULT
    return lease_id, state


def alloc_options(state: State, lease_id: LeaseId) -> Iterator[Choice]:
    """Return the free pages `alloc` may hand out, the lowest first."""
    free = state.pool.free if is_open(state, lease_id) else ()
    return iter([Choice(page=page) for page in free] or [DEFAULT])


def alloc(state: State, lease_id: LeaseId, choice: Choice) -> tuple[Page, State]:
    """Begin the life of the chosen free page in the lease's table; its host rows are zero.

    Raises `UnknownLease`; `PageMemory` if no page is free.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    if not state.pool.free:
        raise PageMemory(state.shape.pages)
    # EFFECT
    page = state.pool.free[0] if choice.page is None else choice.page
    state = state._replace(pool=pool.take(state.pool, page))
    state = set_lease(state, lease_id, lease._replace(table=(*lease.table, page)))
    state = set_host(state, page, HostPage((0,) * state.shape.rows, torn=False))
    if state.off:
        state = map_page(state, page, page, Phase.READY)
    # RESULT
    return page, state


def share(state: State, lease_id: LeaseId, page: Page) -> tuple[None, State]:
    """Add a live page to the lease's borrowed pages.

    Raises `UnknownLease`; `UnknownPage` if it is not live; `AlreadyHeld`.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    if not pool.is_live(state.pool, page):
        raise UnknownPage(page)
    if is_held(lease, page):
        raise AlreadyHeld(lease_id, page)
    # EFFECT
    state = state._replace(pool=pool.hold(state.pool, page))
    state = set_lease(state, lease_id, lease._replace(borrowed=(*lease.borrowed, page)))
    # RESULT
    return None, state


def release(state: State, lease_id: LeaseId, page: Page) -> tuple[None, State]:
    """Give up the lease's hold on a page; its life may end.

    Raises `UnknownLease`; `NotHeld`; `FillInFlight` if this lease claims it; `PagePinned` if this
    lease pins it.
    """
    # CHECK
    lease = get_held(state, lease_id, page)
    in_flight = get_fill(lease)
    if in_flight is not None and page in lease.claims:
        raise FillInFlight(lease_id, in_flight.ticket)
    if get_pins(lease, page) > 0:
        raise PagePinned(lease_id, page, get_pins(lease, page))
    # EFFECT
    lease = lease._replace(
        table=tuple(other for other in lease.table if other != page),
        borrowed=tuple(other for other in lease.borrowed if other != page),
    )
    state = drop_hold(set_lease(state, lease_id, lease), page)
    # RESULT
    return None, state


def finish(state: State, lease_id: LeaseId) -> tuple[None, State]:
    """End the lease: its pins go, then its table, its borrowed pages and its promise.

    Raises `UnknownLease`; `FillInFlight`; `WriteBackInFlight` of this lease; `DirtyFrame` naming
    every dirty page the lease pins, of its table or borrowed.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    for copy in lease.copies:
        if copy.kind == CopyKind.FILL:
            raise FillInFlight(lease_id, copy.ticket)
    for copy in lease.copies:
        frame = state.frames[copy.frames[0]]
        raise WriteBackInFlight(mapped_page(frame), copy.frames[0])
    dirty = tuple(page for page, _ in lease.pins if get_frame(state, page).dirty)
    if dirty:
        raise DirtyFrame(lease_id, dirty)
    # EFFECT
    state = state._replace(leases=tuple(entry for entry in state.leases if entry[0] != lease_id))
    for page in (*lease.table, *lease.borrowed):
        state = drop_hold(state, page)
    # RESULT
    return None, state


def drop_hold(state: State, page: Page) -> State:
    """Take one holder from a page; the pool calls the freed-page hook if it was the last.

    A page that a copy in quarantine may still touch is kept back until that has landed.
    """
    pages, state = pool.drop(state.pool, page, state, on_page_freed)
    if is_touched(state, page) and page in pages.free:
        pages = pool.retire(pages, page)
    return state._replace(pool=pages)


def on_page_freed(state: State, page: Page) -> State:
    """Unmap the frame of a page whose life just ended. The freed-page hook; it cannot fail."""
    if page in state.lost:
        state = state._replace(lost=tuple(other for other in state.lost if other != page))
    state = unpublish(state, page)
    number = state.where[page]
    return state if number is None else unmap(state, number)


# ------------------------------------------------------------------------------------------ pins


def lookup(state: State, lease_id: LeaseId, page: Page) -> tuple[Handle | None, State]:
    """Return the current handle of a resident page, else none. Pins nothing, changes nothing.

    Raises `UnknownLease`; `NotHeld`.
    """
    # CHECK
    get_held(state, lease_id, page)
    # RESULT
    number = state.where[page]
    if number is None or state.frames[number].phase == Phase.FILLING:
        return None, state
    return Handle(page, number, state.frames[number].generation), state


def unpin(state: State, lease_id: LeaseId, handle: Handle) -> tuple[None, State]:
    """Take exactly one of the lease's pins from the page.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned` by this lease; `DirtyFrame` if it is this
    lease's last pin on a dirty frame.
    """
    # CHECK
    lease, frame = get_pinned(state, lease_id, handle)
    count = get_pins(lease, handle.page)
    if count == 1 and frame.dirty:
        raise DirtyFrame(lease_id, (handle.page,))
    # EFFECT
    state = set_lease(state, lease_id, set_pins(lease, handle.page, count - 1))
    # RESULT
    return None, state


# ------------------------------------------------------------------------------------------ dirt


def mark_dirty(state: State, lease_id: LeaseId, handle: Handle) -> tuple[None, State]:
    """Make the frame dirty, before it is written: no clean frame is newer than its host page.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    # CHECK
    _, frame = get_pinned(state, lease_id, handle)
    if frame.phase == Phase.WRITING_BACK:
        raise WriteBackInFlight(handle.page, handle.frame)
    # EFFECT
    state = unpublish(state, handle.page)
    state = set_frame(state, handle.frame, frame._replace(dirty=True))
    # RESULT
    return None, state


def write(
    state: State, lease_id: LeaseId, handle: Handle, row: int, value: int
) -> tuple[None, State]:
    """Write a version into one row of the frame.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease;
    `NotDirty`; `BadRow`.
    """
    # CHECK
    _, frame = get_pinned(state, lease_id, handle)
    if frame.phase == Phase.WRITING_BACK:
        raise WriteBackInFlight(handle.page, handle.frame)
    if not frame.dirty:
        raise NotDirty(handle.page, handle.frame)
    check_row(state, row)
    # EFFECT
    rows = (*frame.rows[:row], value, *frame.rows[row + 1 :])
    state = set_frame(state, handle.frame, frame._replace(rows=rows))
    # RESULT
    return None, state


def read(state: State, lease_id: LeaseId, handle: Handle, row: int) -> tuple[int, State]:
    """Return one row of the frame, also while it is written back.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `BadRow`.
    """
    # CHECK
    _, frame = get_pinned(state, lease_id, handle)
    check_row(state, row)
    # RESULT
    return frame.rows[row], state


def write_back(state: State, lease_id: LeaseId, handle: Handle) -> tuple[Ticket | None, State]:
    """Start to copy a dirty frame to its host page, which is torn until the copy succeeds.

    Clean: nothing to do, no ticket. With the tier off the copy is complete at once, no ticket.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    # CHECK
    lease, frame = get_pinned(state, lease_id, handle)
    if frame.phase == Phase.WRITING_BACK:
        raise WriteBackInFlight(handle.page, handle.frame)
    # EFFECT
    if not frame.dirty:
        return None, state
    if state.off:
        return None, publish(state, handle.frame)
    ticket = state.next_ticket
    copy = Copy(ticket, CopyKind.WRITE_BACK, (handle.frame,))
    state = set_lease(state, lease_id, lease._replace(copies=(*lease.copies, copy)))
    state = set_frame(state, handle.frame, frame._replace(phase=Phase.WRITING_BACK))
    state = set_host(state, handle.page, state.host[handle.page]._replace(torn=True))
    # RESULT
    return ticket, state._replace(next_ticket=ticket + 1)


def complete_write_back(
    state: State, lease_id: LeaseId, ticket: Ticket, ok: bool
) -> tuple[object, State]:
    """End a write-back: landed, or failed with the frame dirty and its rows kept.

    Raises `UnknownLease`; `StaleTicket` if it names no write-back of this lease in flight.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    copy = get_copy(lease_id, lease, ticket, CopyKind.WRITE_BACK)
    # EFFECT
    state = set_lease(state, lease_id, end_copy(lease, ticket))
    state = end_write_back(state, copy.frames[0], ok)
    # RESULT
    return (None if ok else FAILED), state


def end_write_back(state: State, number: FrameNumber, ok: bool) -> State:
    """Publish the frame's rows, or keep them in a frame that stays dirty."""
    if ok:
        return publish(state, number)
    frame = state.frames[number]._replace(phase=Phase.READY)
    counters = state.counters
    counters = counters._replace(failed_write_backs=counters.failed_write_backs + 1)
    return set_frame(state, number, frame)._replace(counters=counters)


def publish(state: State, number: FrameNumber) -> State:
    """Make the host page equal to the frame, and the frame clean."""
    frame = state.frames[number]
    counters = state.counters._replace(write_backs=state.counters.write_backs + 1)
    state = set_host(state, mapped_page(frame), HostPage(frame.rows, torn=False))
    state = set_frame(state, number, frame._replace(phase=Phase.READY, dirty=False))
    return state._replace(counters=counters)
