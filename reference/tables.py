"""The tables of a state: finding an entry, replacing one, and the refusals of not finding it.

The checks that many operations share live here, so that each has one text. What an operation
does with the entries is in `tier` and `fill`.
"""

from reference.refusals import (
    BadRow,
    NotHeld,
    NotPinned,
    StaleHandle,
    StaleTicket,
    UnknownLease,
)
from reference.state import Copy, CopyKind, Frame, HostPage, Lease, State
from reference.words import FrameNumber, Handle, LeaseId, Page, Phase, Ticket

# ---------------------------------------------------------------------------------------- leases


def is_open(state: State, lease_id: LeaseId) -> bool:
    """Return whether the lease is open."""
    return any(other == lease_id for other, _ in state.leases)


def get_lease(state: State, lease_id: LeaseId) -> Lease:
    """Return an open lease. Raises `UnknownLease`."""
    for other, lease in state.leases:
        if other == lease_id:
            return lease
    raise UnknownLease(lease_id)


def set_lease(state: State, lease_id: LeaseId, lease: Lease) -> State:
    """Replace an open lease."""
    leases = tuple((other, lease if other == lease_id else entry) for other, entry in state.leases)
    return state._replace(leases=leases)


def is_held(lease: Lease, page: Page) -> bool:
    """Return whether the lease holds the page, as its own or borrowed."""
    return page in lease.table or page in lease.borrowed


def get_held(state: State, lease_id: LeaseId, page: Page) -> Lease:
    """Return an open lease that holds the page. Raises `UnknownLease`; `NotHeld`."""
    lease = get_lease(state, lease_id)
    if not is_held(lease, page):
        raise NotHeld(lease_id, page)
    return lease


def get_pins(lease: Lease, page: Page) -> int:
    """Return how many pins the lease has on the page."""
    for other, count in lease.pins:
        if other == page:
            return count
    return 0


def set_pins(lease: Lease, page: Page, count: int) -> Lease:
    """Replace the lease's pin count of a page."""
    others = [entry for entry in lease.pins if entry[0] != page]
    if count > 0:
        others.append((page, count))
    return lease._replace(pins=tuple(sorted(others)))


# ---------------------------------------------------------------------------------------- copies


def get_copy(lease_id: LeaseId, lease: Lease, ticket: Ticket, kind: CopyKind) -> Copy:
    """Return the lease's copy in flight with that ticket and direction. Raises `StaleTicket`."""
    for copy in lease.copies:
        if copy.ticket == ticket and copy.kind == kind:
            return copy
    raise StaleTicket(lease_id, ticket)


def get_fill(lease: Lease) -> Copy | None:
    """Return the lease's fill in flight, if it has one."""
    for copy in lease.copies:
        if copy.kind == CopyKind.FILL:
            return copy
    return None


def end_copy(lease: Lease, ticket: Ticket) -> Lease:
    """Take a copy out of flight."""
    return lease._replace(copies=tuple(copy for copy in lease.copies if copy.ticket != ticket))


# ---------------------------------------------------------------------------------------- frames


def get_pinned(state: State, lease_id: LeaseId, handle: Handle) -> tuple[Lease, Frame]:
    """Return the lease and the frame of a current handle to a page it pins.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned` by this lease. A claim is not a pin.
    """
    lease = get_lease(state, lease_id)
    if not 0 <= handle.frame < len(state.frames):
        raise StaleHandle(handle)
    frame = state.frames[handle.frame]
    if frame.page != handle.page or frame.generation != handle.generation:
        raise StaleHandle(handle)
    if get_pins(lease, handle.page) == 0:
        raise NotPinned(lease_id, handle.page)
    return lease, frame


def set_frame(state: State, number: FrameNumber, frame: Frame) -> State:
    """Replace a frame."""
    frames = (*state.frames[:number], frame, *state.frames[number + 1 :])
    return state._replace(frames=frames)


def set_host(state: State, page: Page, host: HostPage) -> State:
    """Replace a host page."""
    return state._replace(host=(*state.host[:page], host, *state.host[page + 1 :]))


def map_page(state: State, page: Page, number: FrameNumber, phase: Phase) -> State:
    """Let a `FREE` frame map a page. Its rows are the host page's once it is `READY`."""
    frame = state.frames[number]._replace(page=page, phase=phase, rows=state.host[page].rows)
    where = (*state.where[:page], number, *state.where[page + 1 :])
    return set_frame(state, number, frame)._replace(where=where)


def unmap(state: State, number: FrameNumber, phase: Phase = Phase.FREE) -> State:
    """Let a frame stop mapping its page, for whatever reason: its generation moves on."""
    frame = state.frames[number]
    page = mapped_page(frame)
    where = (*state.where[:page], None, *state.where[page + 1 :])
    frame = Frame(None, frame.generation + 1, phase, dirty=False, rows=frame.rows)
    recency = tuple(other for other in state.recency if other != page)
    return set_frame(state, number, frame)._replace(where=where, recency=recency)


def unpublish(state: State, page: Page) -> State:
    """Let no key name the page."""
    if not state.keys:
        return state
    return state._replace(keys=tuple(entry for entry in state.keys if entry[1] != page))


def get_frame(state: State, page: Page) -> Frame:
    """Return the frame of a resident page."""
    number = state.where[page]
    assert number is not None, f"page {page} is resident"
    return state.frames[number]


def mapped_page(frame: Frame) -> Page:
    """Return the page of a frame that maps one."""
    assert frame.page is not None, f"{frame} maps a page"
    return frame.page


def check_row(state: State, row: int) -> None:
    """Raise `BadRow` for a row outside a page."""
    if not 0 <= row < state.shape.rows:
        raise BadRow(row, state.shape.rows)
