"""Fills: claims, victims, placing, completion and the undo.

A fill claims every page it was asked for before it places the first miss, so no miss can evict a
hit of the same call, nor another lease's. Claims become pins when the fill completes, not before.
"""

from collections.abc import Iterator

from reference.calls import DEFAULT, FAILED, Choice, Fault
from reference.quarantine import forsake
from reference.refusals import (
    DuplicatePage,
    FillInFlight,
    FrameMemory,
    FramesLanding,
    HitPending,
    NotHeld,
    PromiseExceeded,
    Refusal,
    RowsLost,
)
from reference.state import Copy, CopyKind, Lease, State
from reference.tables import (
    end_copy,
    get_copy,
    get_fill,
    get_frame,
    get_lease,
    get_pins,
    is_held,
    map_page,
    mapped_page,
    set_frame,
    set_lease,
    set_pins,
    unmap,
)
from reference.words import FrameNumber, Handle, LeaseId, Page, Phase, Plan, Ticket


def fill(
    state: State, lease_id: LeaseId, pages: tuple[Page, ...], choice: Choice
) -> tuple[object, State]:
    """Claim the pages and give each miss a frame; the value is a `Plan`.

    A fault chosen in `choice` strikes after the misses before it took their frames: the fill is
    undone and `FAILED` is returned.

    Raises `UnknownLease`; `FillInFlight`; `DuplicatePage`; `NotHeld`; `PromiseExceeded`;
    `RowsLost`; `HitPending`; `FramesLanding`; `FrameMemory`, which the promise rules out.
    """
    # CHECK
    lease, misses = check_fill(state, lease_id, pages)
    # EFFECT
    counters = state.counters
    counters = counters._replace(
        hits=counters.hits + len(pages) - len(misses), misses=counters.misses + len(misses)
    )
    lease = lease._replace(claims=pages)
    state = set_lease(state, lease_id, lease)._replace(counters=counters)
    placed: tuple[FrameNumber, ...] = ()
    for page, number in zip(misses, choice.frames, strict=False):
        state = evict(state, number)
        if choice.fault == (len(placed) + 1, True):
            break
        state = map_page(state, page, number, Phase.FILLING)
        placed = (*placed, number)
    if choice.fault is not None:
        return FAILED, undo(state, lease_id, placed)
    ticket = state.next_ticket if misses else None
    handles = tuple(get_handle(state, page) for page in pages)
    if ticket is None:
        state = claims_to_pins(state, lease_id)
    else:
        copy = Copy(ticket, CopyKind.FILL, placed)
        state = set_lease(state, lease_id, lease._replace(copies=(*lease.copies, copy)))
        state = state._replace(next_ticket=ticket + 1)
    # RESULT
    return Plan(ticket, handles, misses), state


def check_fill(
    state: State, lease_id: LeaseId, pages: tuple[Page, ...]
) -> tuple[Lease, tuple[Page, ...]]:
    """Return the lease and the misses of a fill that is not refused."""
    lease = get_lease(state, lease_id)
    in_flight = get_fill(lease)
    if in_flight is not None:
        raise FillInFlight(lease_id, in_flight.ticket)
    for index, page in enumerate(pages):
        if page in pages[:index]:
            raise DuplicatePage(page)
    for page in pages:
        if not is_held(lease, page):
            raise NotHeld(lease_id, page)
    wanted = len({page for page, _ in lease.pins} | set(pages))
    if wanted > lease.promise:
        raise PromiseExceeded(lease_id, lease.promise, wanted)
    for page in pages:
        if page in state.lost:
            raise RowsLost(page)
    for page in pages:
        number = state.where[page]
        if number is not None and state.frames[number].phase == Phase.FILLING:
            raise HitPending(page, number)
    misses = tuple(page for page in pages if state.where[page] is None)
    available = len(free_frames(state)) + len(evictable_frames(state, pages))
    if available < len(misses):
        landing = sum(frame.phase == Phase.QUARANTINED for frame in state.frames)
        if available + landing >= len(misses):
            raise FramesLanding(len(misses), available, landing)
        raise FrameMemory(len(misses), available)
    return lease, misses


def complete_fill(
    state: State, lease_id: LeaseId, ticket: Ticket, ok: bool
) -> tuple[object, State]:
    """End a fill: its claims become pins, or it is undone.

    Raises `UnknownLease`; `StaleTicket` if it is not the ticket of the lease's fill in flight.
    """
    # CHECK
    lease = get_lease(state, lease_id)
    copy = get_copy(lease_id, lease, ticket, CopyKind.FILL)
    # EFFECT
    state = set_lease(state, lease_id, end_copy(lease, ticket))
    if not ok:
        # Only this claim may have kept a dirty hit whose lease was abandoned: it goes now.
        gone, state = forsake(undo(state, lease_id, copy.frames))
        return FAILED._replace(value=gone or None), state
    for number in copy.frames:
        frame = state.frames[number]
        rows = state.host[mapped_page(frame)].rows
        state = set_frame(state, number, frame._replace(phase=Phase.READY, rows=rows))
    # RESULT
    return None, claims_to_pins(state, lease_id)


def claims_to_pins(state: State, lease_id: LeaseId) -> State:
    """Turn every claim into one pin; the pages become the most recently filled, in order."""
    lease = get_lease(state, lease_id)
    claims = lease.claims
    for page in claims:
        lease = set_pins(lease, page, get_pins(lease, page) + 1)
    state = set_lease(state, lease_id, lease._replace(claims=()))
    older = tuple(page for page in state.recency if page not in claims)
    return state._replace(recency=older + claims)


def undo(state: State, lease_id: LeaseId, placed: tuple[FrameNumber, ...]) -> State:
    """Take a fill back: its frames are `FREE` with their generations moved on, its claims gone.

    Its hits stay resident, and what it evicted stays evicted.
    """
    for number in placed:
        state = unmap(state, number)
    lease = get_lease(state, lease_id)._replace(claims=())
    counters = state.counters._replace(failed_fills=state.counters.failed_fills + 1)
    return set_lease(state, lease_id, lease)._replace(counters=counters)


def get_handle(state: State, page: Page) -> Handle:
    """Return the current handle of a mapped page."""
    number = state.where[page]
    assert number is not None, f"page {page} is mapped"
    return Handle(page, number, get_frame(state, page).generation)


# --------------------------------------------------------------------------------------- victims


def free_frames(state: State) -> tuple[FrameNumber, ...]:
    """Return the frames that map nothing, the lowest number first."""
    return tuple(number for number, frame in enumerate(state.frames) if frame.phase == Phase.FREE)


def evictable_frames(state: State, claimed: tuple[Page, ...]) -> tuple[FrameNumber, ...]:
    """Return the frames that may lose their page, the least recently filled first.

    They are `READY`, clean, and neither pinned nor claimed by any lease. `claimed` are the pages
    that the fill at hand is about to claim.
    """
    kept = set(claimed)
    for _, lease in state.leases:
        kept.update(lease.claims)
        kept.update(page for page, _ in lease.pins)
    found = []
    for page in state.recency:
        number = state.where[page]
        if number is None or page in kept:
            continue
        frame = state.frames[number]
        if frame.phase == Phase.READY and not frame.dirty:
            found.append(number)
    return tuple(found)


def evict(state: State, number: FrameNumber) -> State:
    """Make a frame `FREE` for a miss: unmap its page, if it maps one."""
    if state.frames[number].page is None:
        return state
    counters = state.counters._replace(evictions=state.counters.evictions + 1)
    return unmap(state, number)._replace(counters=counters)


# --------------------------------------------------------------------------------------- choices


def options(state: State, lease_id: LeaseId, pages: tuple[Page, ...]) -> Iterator[Choice]:
    """Yield what the spec leaves open in a fill: frames and faults, the default first."""
    try:
        _, misses = check_fill(state, lease_id, pages)
    except Refusal:
        yield DEFAULT
        return
    free, evictable = free_frames(state), evictable_frames(state, pages)
    for frames in placements(free, evictable, len(misses)):
        yield Choice(frames=frames)
    for miss in range(1, len(misses) + 1):
        for frames in placements(free, evictable, miss - 1):
            yield Choice(frames=frames, fault=Fault(miss, unmapped=False))
        if miss > len(free):
            for frames in placements(free, evictable, miss):
                yield Choice(frames=frames, fault=Fault(miss, unmapped=True))


def placements(
    free: tuple[FrameNumber, ...], evictable: tuple[FrameNumber, ...], misses: int
) -> Iterator[tuple[FrameNumber, ...]]:
    """Yield every way to give each miss a frame: a `FREE` one while there is one."""
    if misses == 0:
        yield ()
        return
    for number in free or evictable:
        rest = placements(_without(free, number), _without(evictable, number), misses - 1)
        for frames in rest:
            yield (number, *frames)


def _without(numbers: tuple[FrameNumber, ...], number: FrameNumber) -> tuple[FrameNumber, ...]:
    return tuple(other for other in numbers if other != number)
