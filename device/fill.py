"""Fills: claims, victims, placing, completion and the undo, as array work.

A fill claims every page it was asked for, so no miss can evict a hit of the same call, nor
another lease's. Its copies are queued before the first table changes: an error that ends the
device changes nothing. A copy that cannot be queued makes the fill one that fails when it is
completed, like one that fails late.
"""

from typing import NamedTuple

import numpy as np

from device.flights import Flight
from device.frames import NONE
from device.handles import BatchPlan, FillEnd
from device.holds import check_distinct
from device.layout import Mask, Numbers
from device.leases import NO_NUMBERS, PINS, Lease
from device.quarantine import forsake
from device.tables import Tables, get_flight, get_handles, get_lease
from reference.calls import Choice
from reference.refusals import (
    FillFailed,
    FillInFlight,
    FrameMemory,
    FramesLanding,
    HitPending,
    NotHeld,
    PromiseExceeded,
    RowsLost,
)
from reference.words import LeaseId, Phase, Ticket


class Asked(NamedTuple):
    """What a fill that is not refused was asked for."""

    lease: Lease
    """Who asks."""
    pages: Numbers
    """The pages, in order."""
    columns: Numbers
    """Their columns in the lease."""
    hits: Numbers
    """The frames of those that are resident."""
    misses: Numbers
    """Those that are not, in order."""
    frames: Numbers
    """The frames that the misses take by default."""


def fill(tables: Tables, lease_id: LeaseId, pages: Numbers, choice: Choice) -> BatchPlan:
    """Claim the pages, give each miss a frame and queue its copy; return the plan at once.

    Raises `UnknownLease`; `FillInFlight`; `DuplicatePage`; `NotHeld`; `PromiseExceeded`;
    `RowsLost`; `HitPending`; `FramesLanding`; `FrameMemory`, which the promise rules out.
    `FillFailed` if a chosen fault struck: then the fill is undone. `DeviceLost`.
    """
    # CHECK
    asked = check_fill(tables, lease_id, pages)
    if choice.fault is not None:
        _fail_placing(tables, asked, choice)
        raise FillFailed(lease_id, tuple(pages.tolist()))
    frames = asked.frames
    if choice.frames:
        frames = _check_chosen(tables, asked, choice.frames, len(asked.misses))
    # EFFECT
    ticket = None
    if len(asked.misses):
        ticket = tables.next_ticket
        queued = tables.path.start_fill(ticket, asked.misses, frames)
        asked.lease.begin_fill(Flight(ticket, "fill", frames, queued))
        tables.next_ticket += 1
    _place(tables, asked, frames, asked.misses)
    asked.lease.claims = pages
    if ticket is None:
        claims_to_pins(tables, asked.lease, asked.columns)
    # RESULT
    return BatchPlan(ticket, get_handles(tables, pages), asked.misses)


def check_fill(tables: Tables, lease_id: LeaseId, pages: Numbers) -> Asked:
    """Return what a fill that is not refused is asked for."""
    lease = get_lease(tables, lease_id)
    if lease.filling is not None:
        raise FillInFlight(lease_id, lease.filling.ticket)
    check_distinct(pages)
    columns, is_held = lease.seek(pages)
    if not is_held.all():
        raise NotHeld(lease_id, int(pages[is_held.argmin()]))
    wanted = lease.pinned + int(np.count_nonzero(lease.held[PINS, columns] == 0))
    if wanted > lease.promise:
        raise PromiseExceeded(lease_id, lease.promise, wanted)
    frames = tables.frames.where[pages]
    is_miss = frames == NONE
    hits, misses = frames, NO_NUMBERS
    if is_miss.any():
        hits, misses = frames[~is_miss], pages[is_miss]
        misses.flags.writeable = False  # the plan gives it out, and a copy may still read it
    # Only a miss is lost, but that with the tier off every page is resident.
    perhaps_lost = pages if tables.off else misses
    is_lost = tables.lost[perhaps_lost]
    if is_lost.any():
        raise RowsLost(int(perhaps_lost[is_lost.argmax()]))
    is_filling = tables.frames.phase[hits] == Phase.FILLING
    if is_filling.any():
        frame = int(hits[is_filling.argmax()])
        raise HitPending(int(tables.frames.page[frame]), frame)
    return Asked(lease, pages, columns, hits, misses, _get_default(tables, hits, len(misses)))


def _get_default(tables: Tables, hits: Numbers, misses: int) -> Numbers:
    """Return the frames of so many misses: the lowest `FREE` ones, then the first victims.

    Raises `FramesLanding`; `FrameMemory`.
    """
    if misses == 0:
        return NO_NUMBERS
    free = tables.frames.free.get_lowest(misses)
    if len(free) == misses:
        return free
    victims = tables.frames.victims.get_first(misses - len(free), hits)
    available = len(free) + len(victims)
    if available < misses:
        landing = int(np.count_nonzero(tables.frames.phase == Phase.QUARANTINED))
        if available + landing >= misses:
            raise FramesLanding(misses, available, landing)
        raise FrameMemory(misses, available)
    return np.concatenate((free, victims))


def _check_chosen(tables: Tables, asked: Asked, chosen: tuple[int, ...], count: int) -> Numbers:
    """Return chosen frames for the first so many misses. Raises `ValueError` if not allowed."""
    frames = np.array(chosen, dtype=np.int64)
    free = min(tables.frames.free.count, count)
    is_known = len(frames) == count and len(set(chosen)) == count
    if is_known and count and frames.min() >= 0 and frames.max() < tables.frames.count:
        is_victim: Mask = tables.frames.is_evictable(frames) & ~np.isin(frames, asked.hits)
        is_known = bool(tables.frames.free.is_free[frames[:free]].all() and is_victim[free:].all())
    elif count:
        is_known = False
    if not is_known:
        raise ValueError(f"the spec does not allow frames {chosen} for {count} misses here")
    return frames


def _place(tables: Tables, asked: Asked, frames: Numbers, misses: Numbers) -> None:
    """Count the fill, claim its hits, and let each miss take its frame; some may only be evicted.

    `frames` may be one longer than `misses`: the last one only loses its page.
    """
    tables.counts.hits += len(asked.hits)
    tables.counts.misses += len(asked.misses)
    tables.frames.kept[asked.hits] += 1
    if not len(frames):
        return
    evicted = frames[tables.frames.page[frames] != NONE]
    tables.counts.evictions += len(evicted)
    tables.frames.unmap(evicted)
    taken = frames[: len(misses)]
    tables.frames.map_pages(misses, taken, Phase.FILLING)
    tables.frames.kept[taken] = 1


def _fail_placing(tables: Tables, asked: Asked, choice: Choice) -> None:
    """Let a fault strike while the misses are placed: nothing was queued, and all is undone."""
    assert choice.fault is not None, "there is a fault"
    placed = choice.fault.miss - 1
    count = placed + choice.fault.unmapped
    if not 0 <= placed < len(asked.misses):
        raise ValueError(f"{choice.fault} was chosen for {len(asked.misses)} misses")
    chosen = choice.frames or tuple(asked.frames[:count].tolist())
    frames = _check_chosen(tables, asked, chosen, count)
    _place(tables, asked, frames, asked.misses[:placed])
    undo(tables, asked.lease, asked.pages, frames[:placed])
    tables.path.discard(NO_NUMBERS, frames)


def complete_fill(tables: Tables, lease_id: LeaseId, ticket: Ticket, ok: bool) -> FillEnd:
    """End a fill: its claims become pins, or it is undone.

    Waits until its copies have ended; not `ok` undoes it whatever they came to. Raises
    `UnknownLease`; `StaleTicket` if it is not the ticket of the lease's fill in flight;
    `DeviceLost`.
    """
    # CHECK
    flight = get_flight(tables, lease_id, ticket, "fill")
    lease = tables.leases[lease_id]
    # EFFECT
    has_landed = tables.path.end(flight.queued, ok)
    lease.end_flight(flight)
    if has_landed:
        tables.frames.phase[flight.frames] = Phase.READY
        claims_to_pins(tables, lease, lease.seek(lease.claims)[0])
        return FillEnd(True, ())
    claims = lease.claims
    undo(tables, lease, claims, flight.frames)
    tables.path.discard(NO_NUMBERS, flight.frames)
    # Only this claim may have kept a dirty hit whose lease was abandoned: it goes now.
    hits = tables.frames.where[claims]
    gone = forsake(tables, hits[hits != NONE])
    # RESULT
    return FillEnd(False, tuple(gone.tolist()))


def claims_to_pins(tables: Tables, lease: Lease, columns: Numbers) -> None:
    """Turn every claim, in these columns of the lease, into one pin.

    The pages become the most recently filled, in the order asked.
    """
    lease.pin(columns)
    tables.frames.touch(tables.frames.where[lease.claims])
    lease.claims = NO_NUMBERS


def undo(tables: Tables, lease: Lease, pages: Numbers, placed: Numbers) -> None:
    """Take a fill of these pages back: its frames are `FREE`, its claims gone.

    No copy is at the frames any more. Its hits stay resident, what it evicted stays evicted.
    """
    tables.frames.unmap(placed)
    frames = tables.frames.where[pages]
    tables.frames.let_go(frames[frames != NONE])
    lease.claims = NO_NUMBERS
    tables.counts.failed_fills += 1
