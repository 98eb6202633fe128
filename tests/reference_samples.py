"""Small situations of a tier, what a refused call shows, and states that differ in one place.

Lease ids, tickets, generations and counters start at numbers of their own, so that a test sees
when one is taken for another.
"""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NamedTuple

import pytest

from reference.calls import NAMES, Call
from reference.reference import Reference
from reference.refusals import Refusal
from reference.state import Copy, CopyKind, Counters, State
from reference.words import Handle, Shape

A, B = 5, 6
"""The leases of `shared` and of all that follows from it."""

NOBODY = 9
"""A lease that was never opened."""

HANDLE = Handle(page=2, frame=1, generation=8)
"""The page that lease A pins in `pinned` and in all that follows from it."""


def new_tier(pages: int = 5, frames: int = 3, rows: int = 2, off: bool = False) -> Reference:
    """A tier in which nothing happened yet, with telling numbers."""
    tier = Reference(Shape(pages, frames, rows), off)
    tier.state = tier.state._replace(
        frames=tuple(f._replace(generation=7 + n) for n, f in enumerate(tier.state.frames)),
        counters=Counters(10, 20, 30, 40, 50, 60),
        next_lease=A,
        next_ticket=20,
    )
    return tier


def shared(off: bool = False) -> Reference:
    """A promises 2 and holds 0, 1, 2; B promises 1 and holds 3 and borrows 2; 4 is free."""
    tier = new_tier(off=off, frames=5 if off else 3)
    assert [A, B] == [tier.open(2), tier.open(1)]
    assert [0, 1, 2, 3] == [tier.alloc(A), tier.alloc(A), tier.alloc(A), tier.alloc(B)]
    tier.share(B, 2)
    return tier


def one_lease() -> Reference:
    """A promises 2 of 3 frames and holds nothing."""
    tier = new_tier()
    tier.open(2)
    return tier


def all_held() -> Reference:
    """As `shared`, and B holds page 4 too."""
    tier = shared()
    tier.alloc(B)
    return tier


def pinned() -> Reference:
    """Page 0 is evictable in frame 0, A pins page 2 in frame 1, frame 2 is free. Ticket 22 next."""
    tier = shared()
    tier.unpin(A, *pin(tier, A, 0))
    assert (HANDLE,) == pin(tier, A, 2)
    return tier


def both_pinned() -> Reference:
    """As `pinned`, and B pins page 2 too."""
    tier = pinned()
    pin(tier, B, 2)
    return tier


def dirtied() -> Reference:
    """As `pinned`, and A wrote 3 and 4 to the rows of page 2."""
    tier = pinned()
    dirty(tier, A, HANDLE, 3, 4)
    return tier


def writing_back() -> Reference:
    """As `dirtied`, and the write-back of page 2 is in flight with ticket 22."""
    tier = dirtied()
    assert 22 == tier.write_back(A, HANDLE)
    return tier


def both_dirty() -> Reference:
    """As `both_pinned`, and A wrote 3 and 4 to the rows of page 2."""
    tier = dirtied()
    pin(tier, B, 2)
    return tier


def written_back() -> Reference:
    """As `writing_back`, completed."""
    tier = writing_back()
    tier.complete_write_back(A, 22, True)
    return tier


def torn() -> Reference:
    """As `writing_back`, failed."""
    tier = writing_back()
    tier.complete_write_back(A, 22, False)
    return tier


def filling() -> Reference:
    """As `pinned`, and A fills 2, a hit, and 1, a miss in frame 2, with ticket 22."""
    tier = pinned()
    assert 22 == tier.fill(A, (2, 1)).ticket
    return tier


def pending() -> Reference:
    """As `shared`, and A fills 0 and 2, misses in frames 0 and 1, with ticket 20."""
    tier = shared()
    assert 20 == tier.fill(A, (0, 2)).ticket
    return tier


def left_filling() -> Reference:
    """As `filling`, and A is gone: ticket 22 is in quarantine with frame 2, page 1 is retired."""
    tier = filling()
    assert () == tier.abandon(A)
    return tier


def left_writing() -> Reference:
    """As `writing_back`, and A is gone: ticket 22 is in quarantine with frame 1, page 2 is lost."""
    tier = writing_back()
    assert (2,) == tier.abandon(A)
    return tier


def inherited() -> Reference:
    """A wrote page 2 and is gone with the write-back 22 in flight; B pins the page."""
    tier = both_dirty()
    assert 22 == tier.write_back(A, HANDLE)
    assert () == tier.abandon(A)
    return tier


def lost() -> Reference:
    """As `left_writing`, and the copy landed: B borrows page 2, whose rows are nowhere."""
    tier = left_writing()
    tier.land(22, True)
    return tier


def slept() -> Reference:
    """As `pending`, reset: frames 0 and 1 are in quarantine, frame 2 is free."""
    tier = pending()
    assert () == tier.reset()
    return tier


def slept_and_full() -> Reference:
    """As `slept`, and B pins page 3 in the frame that is left."""
    tier = slept()
    pin(tier, B, 3)
    return tier


def published() -> Reference:
    """As `written_back`, and key 7 names page 2."""
    tier = written_back()
    tier.publish(A, 2, 7)
    return tier


def crowded() -> Reference:
    """Pages 2, 0, 1 sit unpinned in frames 0, 1, 2, filled in the order 0, 2, 1; B holds 3."""
    tier = shared()
    for page in (2, 0, 1):
        tier.unpin(A, *pin(tier, A, page))
    for page in (2, 1):
        tier.unpin(A, *pin(tier, A, page))
    return tier


# ------------------------------------------------------------------------------------- in calls


def pin(tier: Reference, lease: int, *pages: int) -> tuple[Handle, ...]:
    """Fill pages and let the copies land."""
    plan = tier.fill(lease, pages)
    if plan.ticket is not None:
        tier.complete_fill(lease, plan.ticket, True)
    return plan.handles


def dirty(tier: Reference, lease: int, handle: Handle, *values: int) -> None:
    """Mark a frame dirty and write its rows from the first on."""
    tier.mark_dirty(lease, handle)
    for row, value in enumerate(values):
        tier.write(lease, handle, row, value)


def make(tier: Reference, call: Call) -> Any:
    """Make a call that is given as data."""
    arguments = [getattr(call, field.name) for field in fields(call)]
    return getattr(tier, NAMES[type(call)])(*arguments)


# ------------------------------------------------------------------------------------- refusals


class Seen(NamedTuple):
    """What a refused call showed."""

    reason: type[Refusal]
    fields: dict[str, object]
    unsaid: list[int]
    """The numbers of the fields that the message does not name."""
    changed: bool
    """The state is not what it was."""


def due(refusal: Refusal) -> Seen:
    """What a call refused for this reason has to show."""
    return Seen(type(refusal), dict(vars(refusal)), unsaid=[], changed=False)


def refused(tier: Reference, call: Call) -> Seen:
    """What the call shows, which has to be refused."""
    before = tier.state
    with pytest.raises(Refusal) as caught:
        make(tier, call)
    said = {int(number) for number in re.findall(r"-?\d+", str(caught.value))}
    values = vars(caught.value)
    unsaid = [number for number in _numbers(values.values()) if number not in said]
    return Seen(type(caught.value), dict(values), unsaid, before != tier.state)


def _numbers(values: Any) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        else:
            yield from _numbers(value)


def case(build: Any, call: Call, refusal: Refusal, also: str = "") -> Any:
    """A parameter: a situation, a call, why it is refused, and what else holds of it."""
    name = f"{NAMES[type(call)]}-{type(refusal).__name__}"
    return pytest.param(build, call, refusal, id=f"{name}-before-{also}" if also else name)


# --------------------------------------------------------------------- states beside other states


def with_lease(state: State, lease_id: int, **changes: Any) -> State:
    """The state with some fields of a lease replaced."""
    leases = dict(state.leases)
    leases[lease_id] = leases[lease_id]._replace(**changes)
    return state._replace(leases=tuple(leases.items()))


def with_frame(state: State, number: int, **changes: Any) -> State:
    """The state with some fields of a frame replaced."""
    frames = list(state.frames)
    frames[number] = frames[number]._replace(**changes)
    return state._replace(frames=tuple(frames))


def with_host(state: State, page: int, **changes: Any) -> State:
    """The state with some fields of a host page replaced."""
    host = list(state.host)
    host[page] = host[page]._replace(**changes)
    return state._replace(host=tuple(host))


def with_counters(state: State, **moved: int) -> State:
    """The state with some counters moved on by so much."""
    moves = {name: getattr(state.counters, name) + by for name, by in moved.items()}
    return state._replace(counters=state.counters._replace(**moves))


def fill_copy(ticket: int, *frames: int) -> Copy:
    """A fill in flight."""
    return Copy(ticket, CopyKind.FILL, frames)


def write_back_copy(ticket: int, frame: int) -> Copy:
    """A write-back in flight."""
    return Copy(ticket, CopyKind.WRITE_BACK, (frame,))
