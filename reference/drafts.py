"""Drafts and keys: rows taken back, and full pages found by what they hold.

These operations are no part of the spec's table; its rows stay as they are, but that `mark_dirty`
takes a page's key away. Where they come from: speculative decoding and prefix caches, which
public tiers break (fault classes C15, C17, C18 and C24).

`truncate(lease, page, rows)`, refused with `UnknownLease`; `NotHeld`; `BadLength` if `rows` is
below 0 or above the rows of a page; `FillInFlight` if this lease claims a page that is `FILLING`;
`HitPending` if another does; `WriteBackInFlight` while any copy to its host page runs. The rows
from `rows` on are as if never written, in its frame and in its host page: nothing brings them
back. Who shares the page shares the loss. A lost page truncated to nothing can be used again.

`publish(lease, page, key)`, refused with `UnknownLease`; `NotHeld`; `NotDurable` if the page is
dirty, torn or lost; `PageNotFull`; `KeyTaken`; `AlreadyPublished`. From now on the key names it.

`find(lease, key)`, refused with `UnknownLease`. Returns the page that the key names and lets the
lease hold it, or none. It is one step, because a look is not a hold: between a look and a `share`
the page's life may end and another begin.

A key names its page until the page is marked dirty, loses a row or ends its life. So nothing is
found under a key before its rows are durable, or after they changed.
"""

from reference import pool
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
from reference.state import CopyKind, HostPage, Lease, State
from reference.tables import (
    get_fill,
    get_held,
    get_lease,
    is_held,
    set_frame,
    set_host,
    set_lease,
    unpublish,
)
from reference.words import Key, LeaseId, Page, Phase, Rows


def truncate(state: State, lease_id: LeaseId, page: Page, rows: int) -> tuple[None, State]:
    """Take back the rows of the page from `rows` on, wherever they are.

    Raises `UnknownLease`; `NotHeld`; `BadLength`; `FillInFlight`; `HitPending`;
    `WriteBackInFlight` of any lease, or in quarantine.
    """
    # CHECK
    lease = get_held(state, lease_id, page)
    if not 0 <= rows <= state.shape.rows:
        raise BadLength(rows, state.shape.rows)
    check_settled(state, lease_id, lease, page)
    # EFFECT
    number = state.where[page]
    if number is not None:
        frame = state.frames[number]
        state = set_frame(state, number, frame._replace(rows=cut(frame.rows, rows)))
    host = state.host[page]
    if page in state.lost and rows == 0:
        state = state._replace(lost=tuple(other for other in state.lost if other != page))
        host = HostPage(host.rows, torn=False)
    state = set_host(state, page, host._replace(rows=cut(host.rows, rows)))
    if rows < state.shape.rows:
        state = unpublish(state, page)
    # RESULT
    return None, state


def check_settled(state: State, lease_id: LeaseId, lease: Lease, page: Page) -> None:
    """Raise the refusal that is due while a copy of the page is in flight."""
    number = state.where[page]
    phase = None if number is None else state.frames[number].phase
    if number is not None and phase == Phase.FILLING:
        in_flight = get_fill(lease)
        if in_flight is not None and page in lease.claims:
            raise FillInFlight(lease_id, in_flight.ticket)
        raise HitPending(page, number)
    if number is not None and phase == Phase.WRITING_BACK:
        raise WriteBackInFlight(page, number)
    for copy in state.quarantine:
        if copy.kind == CopyKind.WRITE_BACK and page in copy.pages:
            raise WriteBackInFlight(page, copy.frames[0])


def cut(rows: Rows, length: int) -> Rows:
    """Return the rows with those from `length` on as if never written."""
    return rows[:length] + (0,) * (len(rows) - length)


def publish(state: State, lease_id: LeaseId, page: Page, key: Key) -> tuple[None, State]:
    """Let the key name the page.

    Raises `UnknownLease`; `NotHeld`; `NotDurable`; `PageNotFull`; `KeyTaken`; `AlreadyPublished`.
    """
    # CHECK
    get_held(state, lease_id, page)
    number, host = state.where[page], state.host[page]
    if host.torn or (number is not None and state.frames[number].dirty):
        raise NotDurable(page)
    written = sum(value != 0 for value in host.rows)
    if written < state.shape.rows:
        raise PageNotFull(page, written, state.shape.rows)
    for other, named in state.keys:
        if other == key:
            raise KeyTaken(key, named)
    for other, named in state.keys:
        if named == page:
            raise AlreadyPublished(page, other)
    # EFFECT
    state = state._replace(keys=tuple(sorted((*state.keys, (key, page)))))
    # RESULT
    return None, state


def find(state: State, lease_id: LeaseId, key: Key) -> tuple[Page | None, State]:
    """Return the page that the key names and let the lease hold it, or none.

    Raises `UnknownLease`.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    # EFFECT
    page = dict(state.keys).get(key)
    if page is not None and not is_held(lease, page):
        state = state._replace(pool=pool.hold(state.pool, page))
        state = set_lease(state, lease_id, lease._replace(borrowed=(*lease.borrowed, page)))
    # RESULT
    return page, state
