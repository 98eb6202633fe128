"""Leaving: a lease that ends at any moment, a reset, and copies that land after both.

Neither waits for the device: copies that are running run on, in quarantine, until `land` has
waited for them. With the tier off nothing is ever in flight, but frames whose rows are gone have
to show their host pages again, which needs the device.
"""

import numpy as np

from device.dirt import publish
from device.flights import Orphan
from device.quarantine import drop_frames, forsake, get_mapped, orphan, restore
from device.tables import Tables, get_lease
from reference.refusals import UnknownTicket
from reference.words import LeaseId, Page, Phase, Ticket


def abandon(tables: Tables, lease_id: LeaseId) -> tuple[Page, ...]:
    """End the lease whatever it does; return the live pages whose rows are gone, ascending.

    Raises `UnknownLease`; with the tier off, if others hold such a page, `OutOfMemory` and
    `DeviceLost`.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    # EFFECT
    pages, pins = lease.get_pinned()
    pinned, claimed = tables.frames.where[pages], tables.frames.where[lease.claims]
    if tables.off:
        is_last = tables.frames.dirty[pinned] & (tables.frames.kept[pinned] == pins)
        # A page whose life ends with the lease needs no rows any more.
        restore(tables, pinned[is_last & (tables.pool.holds[pages] > 1)])
    orphan(tables, lease.flights.values())
    del tables.leases[lease_id]
    tables.promised -= lease.promise
    tables.frames.let_go(pinned, pins)
    tables.frames.let_go(claimed)
    gone = forsake(tables, np.union1d(pinned, claimed))
    tables.pool.drop(np.concatenate((lease.get_joined(False), lease.get_joined(True))))
    # RESULT
    return tuple(gone[tables.pool.holds[gone] > 0].tolist())


def land(tables: Tables, ticket: Ticket, ok: bool) -> bool:
    """End a copy in quarantine: nobody can be touched by it any more. Return whether it landed.

    Waits until it has ended; not `ok` counts as failed whatever it came to. Raises
    `UnknownTicket` if it names no copy in quarantine; `DeviceLost`.
    """
    # CHECK
    flight, pages = get_orphan(tables, ticket)
    # EFFECT
    has_landed = tables.path.end(flight.queued, ok)
    del tables.quarantine[ticket]
    tables.frames.orphaned[flight.frames] = False
    is_nobodys = tables.frames.phase[flight.frames] == Phase.QUARANTINED
    over = flight.frames[is_nobodys]
    tables.frames.set_free(over)
    if flight.kind == "write-back":
        publish(tables, flight.frames[~is_nobodys], has_landed)
    tables.path.discard(tables.pool.settle(pages), over)
    # RESULT
    return has_landed


def get_orphan(tables: Tables, ticket: Ticket) -> Orphan:
    """Return the copy in quarantine with that ticket. Raises `UnknownTicket`."""
    found = tables.quarantine.get(ticket)
    if found is None:
        raise UnknownTicket(ticket)
    return found


def reset(tables: Tables) -> tuple[Page, ...]:
    """Drop all residency; return the pages whose unpublished rows are gone, ascending.

    With the tier off, if a frame is dirty, raises `OutOfMemory` and `DeviceLost`.
    """
    # EFFECT
    if tables.off:
        restore(tables, np.flatnonzero(tables.frames.dirty).astype(np.int64))
    leases = tables.leases.values()
    flights = [flight for lease in leases for flight in lease.flights.values()]
    orphan(tables, sorted(flights, key=lambda flight: flight.ticket))
    for lease in leases:
        lease.let_all_go()
    tables.frames.kept[:] = 0
    gone = forsake(tables, get_mapped(tables))
    drop_frames(tables, get_mapped(tables))
    # RESULT
    return tuple(gone.tolist())
