"""Leaving: a lease that ends at any moment, a reset, and copies that land after both.

These operations are no part of the spec's table; its rows stay as they are. Where they come from:
clients that go away, time-outs and sleep modes, which public tiers break (fault classes C02, C05,
C13 and C23).

`abandon(lease)`, refused with `UnknownLease`. The lease is gone at once, whatever it has in flight:
pins, claims, holds and promise. A page that another lease pins or claims stays as it is, dirty
rows too: they are that lease's to publish now. Any other dirty page loses its unpublished rows:
it falls back to its host page, or is *lost* if a write-back left that torn, and a lost page is
refused by `fill` until it is truncated to nothing. Copies still running go into quarantine.
A completion for the lease is refused as for any lease that is not open.

`land(ticket, ok)`, refused with `UnknownTicket` if it is no copy in quarantine. The copy is over:
its frames are `FREE`, its pages can begin a new life. A write-back of a page that somebody still
pins ends as if its lease had completed it.

`reset()`. No page is resident, nothing pinned, claimed or dirty; leases keep their promises and
pages, host pages their rows. Copies still running go into quarantine, their tickets are stale for
their leases.

Frames of copies in quarantine count as promised when a lease opens, so that abandoning never makes
a lease wait. After a reset the leases keep their promises too: then a fill may have to wait, and
is refused with `FramesLanding` until it can be repeated.
"""

from reference import tier
from reference.calls import FAILED
from reference.quarantine import drop_frame, forsake, orphan, settle
from reference.refusals import UnknownTicket
from reference.state import Copy, CopyKind, Orphan, State
from reference.tables import get_lease, set_frame
from reference.words import LeaseId, Page, Phase, Ticket


def abandon(state: State, lease_id: LeaseId) -> tuple[tuple[Page, ...], State]:
    """End the lease whatever it does; the value is the live pages whose rows are gone, ascending.

    Raises `UnknownLease`.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    # EFFECT
    state = orphan(state, lease.copies)
    state = state._replace(leases=tuple(entry for entry in state.leases if entry[0] != lease_id))
    gone, state = forsake(state)
    for page in (*lease.table, *lease.borrowed):
        state = tier.drop_hold(state, page)
    # RESULT
    return tuple(page for page in gone if state.pool.holds[page] > 0), state


def land(state: State, ticket: Ticket, ok: bool) -> tuple[object, State]:
    """End a copy in quarantine: nobody can be touched by it any more.

    Raises `UnknownTicket` if it names no copy in quarantine.
    """
    # CHECK
    copy = get_orphan(state, ticket)
    # EFFECT
    rest = tuple(other for other in state.quarantine if other.ticket != ticket)
    state = state._replace(quarantine=rest)
    for number in copy.frames:
        frame = state.frames[number]
        if frame.phase == Phase.QUARANTINED:
            state = set_frame(state, number, frame._replace(phase=Phase.FREE))
        elif copy.kind == CopyKind.WRITE_BACK:
            state = tier.end_write_back(state, number, ok)
    for page in copy.pages:
        state = settle(state, page)
    # RESULT
    return (None if ok else FAILED), state


def get_orphan(state: State, ticket: Ticket) -> Orphan:
    """Return the copy in quarantine with that ticket. Raises `UnknownTicket`."""
    for copy in state.quarantine:
        if copy.ticket == ticket:
            return copy
    raise UnknownTicket(ticket)


def reset(state: State) -> tuple[tuple[Page, ...], State]:
    """Drop all residency; the value is the pages whose unpublished rows are gone, ascending."""
    # EFFECT
    copies: tuple[Copy, ...] = ()
    leases = []
    for lease_id, lease in state.leases:
        copies += lease.copies
        leases.append((lease_id, lease._replace(pins=(), claims=(), copies=())))
    state = orphan(state, tuple(sorted(copies)))._replace(leases=tuple(leases))
    gone, state = forsake(state)
    for number, frame in enumerate(state.frames):
        if frame.page is not None:
            state = drop_frame(state, number)
    # RESULT
    return gone, state
