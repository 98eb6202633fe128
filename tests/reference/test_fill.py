"""Tests of fills: refusals, claims, placing, completion and the undo of a failed copy.

Which frames a fill may take, and faults while it places, are in `test_fill_choices.py`.
"""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    NOBODY,
    A,
    B,
    case,
    crowded,
    dirtied,
    due,
    fill_copy,
    filling,
    new_tier,
    pending,
    pin,
    pinned,
    refused,
    shared,
    with_counters,
    with_frame,
    with_host,
    with_lease,
    writing_back,
)

from reference import fill as operations
from reference import refusals as no
from reference.calls import DEFAULT, Call, CompleteFill, Fill, Outcome
from reference.reference import Reference
from reference.refusals import Refusal
from reference.state import State
from reference.transition import apply
from reference.words import Handle, Phase, Plan

Build = Callable[[], Reference]


def both_filling() -> Reference:
    """A fills 0 with ticket 20, B fills 2 with ticket 21."""
    tier = shared()
    tier.fill(A, (0,))
    tier.fill(B, (2,))
    return tier


def overbooked() -> Reference:
    """A pins 0 and 1 of 3 frames, and B's promise was forged to 3: the rules rule it out."""
    tier = shared()
    pin(tier, A, 0, 1)
    tier.state = with_lease(tier.state, B, promise=3)
    return tier


def overbooked_and_pending() -> Reference:
    """A fills 0 and 2 of 3 frames, B holds 2, 3 and 4, and its promise was forged to 3."""
    tier = pending()
    tier.alloc(B)
    tier.state = with_lease(tier.state, B, promise=3)
    return tier


def one_frame() -> Reference:
    """A promises the only frame and holds two pages."""
    tier = new_tier(frames=1)
    tier.open(1)
    tier.alloc(A)
    tier.alloc(A)
    return tier


def landed() -> Reference:
    """As `filling`, completed."""
    tier = filling()
    tier.complete_fill(A, 22, True)
    return tier


def failed() -> Reference:
    """As `filling`, failed."""
    tier = filling()
    tier.complete_fill(A, 22, False)
    return tier


def failed_and_filling() -> Reference:
    """As `failed`, and the same pages are filled once more with ticket 23."""
    tier = failed()
    tier.fill(A, (2, 1))
    return tier


REFUSED = [
    case(shared, Fill(NOBODY, (2,)), no.UnknownLease(NOBODY)),
    case(filling, Fill(A, (2,)), no.FillInFlight(A, 22)),
    case(filling, Fill(A, ()), no.FillInFlight(A, 22)),
    case(shared, Fill(A, (1, 0, 1)), no.DuplicatePage(1)),
    case(shared, Fill(A, (0, 0)), no.DuplicatePage(0)),
    case(shared, Fill(B, (0,)), no.NotHeld(B, 0)),
    case(shared, Fill(A, (2, 3)), no.NotHeld(A, 3)),
    case(shared, Fill(A, (4,)), no.NotHeld(A, 4)),
    case(shared, Fill(A, (-1,)), no.NotHeld(A, -1)),
    case(shared, Fill(A, (5,)), no.NotHeld(A, 5)),
    case(shared, Fill(A, (0, 1, 2)), no.PromiseExceeded(A, 2, 3)),
    case(pinned, Fill(A, (0, 1)), no.PromiseExceeded(A, 2, 3)),
    case(shared, Fill(B, (3, 2)), no.PromiseExceeded(B, 1, 2)),
    case(pending, Fill(B, (2,)), no.HitPending(2, 1)),
    case(overbooked, Fill(B, (3, 2)), no.FrameMemory(2, 1)),
    case(shared, CompleteFill(NOBODY, 20, True), no.UnknownLease(NOBODY)),
    case(filling, CompleteFill(A, 23, True), no.StaleTicket(A, 23)),
]

LATE = [
    pytest.param(filling, CompleteFill(B, 22, True), id="of another lease"),
    pytest.param(landed, CompleteFill(A, 22, True), id="landed twice"),
    pytest.param(landed, CompleteFill(A, 22, False), id="failed after landing"),
    pytest.param(failed, CompleteFill(A, 22, True), id="landed after failing"),
    pytest.param(failed_and_filling, CompleteFill(A, 22, True), id="of the fill before"),
    pytest.param(both_filling, CompleteFill(A, 21, True), id="of the other lease's fill"),
    pytest.param(writing_back, CompleteFill(A, 22, True), id="of a write-back"),
]

IN_ORDER = [
    case(shared, Fill(NOBODY, (4, 4)), no.UnknownLease(NOBODY), also="DuplicatePage, NotHeld"),
    case(filling, Fill(A, (0, 0)), no.FillInFlight(A, 22), also="DuplicatePage"),
    case(filling, Fill(A, (3,)), no.FillInFlight(A, 22), also="NotHeld"),
    case(filling, Fill(A, (0, 1, 2)), no.FillInFlight(A, 22), also="PromiseExceeded"),
    case(both_filling, Fill(A, (2,)), no.FillInFlight(A, 20), also="HitPending"),
    case(shared, Fill(A, (3, 3)), no.DuplicatePage(3), also="NotHeld"),
    case(shared, Fill(B, (2, 3, 2)), no.DuplicatePage(2), also="PromiseExceeded"),
    case(pending, Fill(B, (2, 2)), no.DuplicatePage(2), also="HitPending"),
    case(shared, Fill(B, (2, 0)), no.NotHeld(B, 0), also="PromiseExceeded"),
    case(pending, Fill(B, (2, 1)), no.NotHeld(B, 1), also="HitPending"),
    case(pending, Fill(B, (2, 3)), no.PromiseExceeded(B, 1, 2), also="HitPending"),
    case(one_frame, Fill(A, (0, 1)), no.PromiseExceeded(A, 1, 2), also="FrameMemory"),
    case(overbooked_and_pending, Fill(B, (3, 2, 4)), no.HitPending(2, 1), also="FrameMemory"),
    case(filling, CompleteFill(NOBODY, 99, True), no.UnknownLease(NOBODY), also="StaleTicket"),
]


@pytest.mark.parametrize(("build", "call", "refusal"), REFUSED)
def test_refused_call_says_why_and_changes_nothing(
    build: Build, call: Call, refusal: Refusal
) -> None:
    """A refused fill claims nothing, counts nothing and evicts nothing."""
    assert due(refusal) == refused(build(), call)


@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize(("build", "call"), LATE)
def test_completion_acts_once_on_its_own(build: Build, call: CompleteFill, ok: bool) -> None:
    """The late completion of a failed fill once completed the next one."""
    expected = due(no.StaleTicket(call.lease, call.ticket))

    assert expected == refused(build(), CompleteFill(call.lease, call.ticket, ok))


@pytest.mark.parametrize(("build", "call", "refusal"), IN_ORDER)
def test_first_refusal_of_row_is_raised(build: Build, call: Call, refusal: Refusal) -> None:
    """Two implementations with other orders give other histories of the same calls."""
    assert due(refusal) == refused(build(), call)


# --------------------------------------------------------------------------------------- a fill


def test_misses_take_frames_in_order() -> None:
    """Claims are no pins, nothing has landed yet, and nothing else changes."""
    tier = shared()
    before = tier.state
    plan = tier.fill(A, (2, 0))
    expected = with_lease(before, A, claims=(2, 0), copies=(fill_copy(20, 0, 1),))
    expected = with_frame(expected, 0, page=2, phase=Phase.FILLING)
    expected = with_frame(expected, 1, page=0, phase=Phase.FILLING)
    expected = expected._replace(where=(1, None, 0, None, None), next_ticket=21)

    assert Plan(20, (Handle(2, 0, 7), Handle(0, 1, 8)), (2, 0)) == plan
    assert with_counters(expected, misses=2) == tier.state


def test_hits_are_claimed_with_misses() -> None:
    """The plan lists a handle per page in order; only the misses are copied."""
    tier = pinned()
    before = tier.state
    plan = tier.fill(A, (1, 2))
    expected = with_lease(before, A, claims=(1, 2), copies=(fill_copy(22, 2),))
    expected = with_frame(expected, 2, page=1, phase=Phase.FILLING)
    expected = expected._replace(where=(0, 2, 1, None, None), next_ticket=23)

    assert Plan(22, (Handle(1, 2, 9), HANDLE), (1,)) == plan
    assert with_counters(expected, hits=1, misses=1) == tier.state


def test_hits_alone_complete_at_once() -> None:
    """No copy, no ticket: the pins are there when the call returns, and recency moves."""
    tier = pinned()
    before = tier.state
    plan = tier.fill(A, (2, 0))
    expected = with_lease(before, A, pins=((0, 1), (2, 2)))

    assert Plan(None, (HANDLE, Handle(0, 0, 7)), ()) == plan
    assert with_counters(expected._replace(recency=(2, 0)), hits=2) == tier.state


def test_fill_of_nothing_changes_nothing() -> None:
    """A caller need not look whether its list of pages is empty."""
    tier = pinned()
    before = tier.state

    assert Plan(None, (), ()) == tier.fill(A, ())
    assert before == tier.state


@pytest.mark.parametrize("build", [dirtied, writing_back])
def test_dirty_page_is_a_hit(build: Build) -> None:
    """A page in a frame is resident whatever the frame is doing, and stays as it was."""
    tier = build()
    before = tier.state
    plan = tier.fill(B, (2,))

    assert Plan(None, (HANDLE,), ()) == plan
    assert with_counters(with_lease(before, B, pins=((2, 1),)), hits=1) == tier.state


def test_fill_keeps_write_backs_in_flight() -> None:
    """A lease has one fill at most, beside its write-backs."""
    tier = writing_back()
    kept = dict(tier.state.leases)[A].copies
    tier.fill(A, (0, 2))
    tier.unpin(A, Handle(0, 0, 7))
    tier.fill(A, (1,))

    assert (*kept, fill_copy(23, 2)) == dict(tier.state.leases)[A].copies


def test_pinned_pages_are_promised_once() -> None:
    """Distinct pages count: asking again for what is pinned takes nothing more."""
    tier = pinned()
    (first, second) = pin(tier, A, 2, 1)

    assert (HANDLE, Handle(1, 2, 9)) == (first, second)
    assert ((1, 1), (2, 2)) == dict(tier.state.leases)[A].pins


def test_full_frames_lose_least_recent_page() -> None:
    """Its generation moves on, the eviction is counted, and no host row changes."""
    tier = crowded()
    before = tier.state
    plan = tier.fill(B, (3,))
    expected = with_lease(before, B, claims=(3,), copies=(fill_copy(23, 1),))
    expected = with_frame(expected, 1, page=3, generation=9, phase=Phase.FILLING)
    expected = expected._replace(where=(None, 2, 0, 1, None), recency=(2, 1), next_ticket=24)

    assert (0, 2, 1) == before.recency
    assert Plan(23, (Handle(3, 1, 9),), (3,)) == plan
    assert with_counters(expected, misses=1, evictions=1) == tier.state


def test_fill_never_evicts_its_own_hit() -> None:
    """Page 0 was filled longest ago, but this very call asks for it."""
    tier = crowded()
    tier.finish(B)
    tier.open(1)
    tier.alloc(A)
    plan = tier.fill(A, (3, 0))

    assert ((Handle(3, 0, 8), Handle(0, 1, 8)), (3,)) == plan[1:]
    assert (1, 2, None, 0, None) == tier.state.where


# ---------------------------------------------------------------------------------- completion


def test_landed_fill_turns_claims_to_pins() -> None:
    """Every page asked for gets one pin, hits included, and is most recently filled in order."""
    tier = filling()
    tier.state = with_host(tier.state, 1, rows=(8, 9))
    before = tier.state
    value = tier.complete_fill(A, 22, True)
    expected = with_lease(before, A, pins=((1, 1), (2, 2)), claims=(), copies=())
    expected = with_frame(expected, 2, phase=Phase.READY, rows=(8, 9))

    assert value is None
    assert expected._replace(recency=(0, 2, 1)) == tier.state


def test_landed_pages_are_recent_as_asked() -> None:
    """The order of the request, not of the page ids or of the frames."""
    tier = pinned()
    tier.unpin(A, HANDLE)
    pin(tier, A, 1, 0)

    assert (2, 1, 0) == tier.state.recency


def test_each_miss_gets_its_own_rows() -> None:
    """Rows in the wrong frame are another page's bytes."""
    tier = shared()
    tier.state = with_host(with_host(tier.state, 0, rows=(3, 4)), 2, rows=(5, 6))
    zero, two = pin(tier, A, 0, 2)

    assert [3, 4] == [tier.read(A, zero, row) for row in (0, 1)]
    assert [5, 6] == [tier.read(A, two, row) for row in (0, 1)]


def test_landed_fill_leaves_other_fill_alone() -> None:
    """Two leases' copies may land in either order."""
    tier = both_filling()
    before = tier.state
    tier.complete_fill(B, 21, True)
    expected = with_lease(before, B, pins=((2, 1),), claims=(), copies=())
    expected = with_frame(expected, 1, phase=Phase.READY)

    assert expected._replace(recency=(2,)) == tier.state


def test_failed_copy_undoes_the_fill() -> None:
    """No claim, pin or mapping is left of it; its hit stays resident with the pin of before."""
    state = filling().state
    outcome, after = apply(state, CompleteFill(A, 22, False), DEFAULT)
    expected = with_lease(state, A, claims=(), copies=())
    expected = with_frame(expected, 2, page=None, generation=10, phase=Phase.FREE)
    expected = expected._replace(where=(0, None, 1, None, None))

    assert Outcome(None, failed=True, refused=None) == outcome
    assert with_counters(expected, failed_fills=1) == after


def test_failed_copy_undoes_every_miss() -> None:
    """Also those whose own copies landed."""
    tier = pending()
    before = shared().state
    value = tier.complete_fill(A, 20, False)
    expected = with_frame(with_frame(before, 0, generation=8), 1, generation=9)
    expected = with_counters(expected, misses=2, failed_fills=1)

    assert value is None
    assert expected._replace(next_ticket=21) == tier.state


def test_evicted_page_stays_evicted() -> None:
    """The undo gives no page back: the frame is FREE and its generation moved on twice."""
    tier = crowded()
    before = tier.state
    tier.complete_fill(B, tier.fill(B, (3,)).ticket, False)
    expected = with_frame(before, 1, page=None, generation=10, phase=Phase.FREE)
    expected = expected._replace(where=(None, 2, 0, None, None), recency=(2, 1), next_ticket=24)

    assert with_counters(expected, misses=1, evictions=1, failed_fills=1) == tier.state


def test_unpinned_hit_survives_the_undo() -> None:
    """It may be evicted again once its claim is gone, and not sooner."""
    tier = pinned()
    tier.unpin(A, HANDLE)
    plan = tier.fill(A, (2, 1))
    during = operations.evictable_frames(tier.state, ())
    tier.complete_fill(A, plan.ticket, False)

    assert (0,) == during
    assert (0, 1) == operations.evictable_frames(tier.state, ())
    assert () == dict(tier.state.leases)[A].pins


def test_undone_fill_leaves_other_copies_alone() -> None:
    """A failure of one lease is nobody else's."""
    tier = both_filling()
    before = tier.state
    tier.complete_fill(A, 20, False)
    expected = with_lease(before, A, claims=(), copies=())
    expected = with_frame(expected, 0, page=None, generation=8, phase=Phase.FREE)
    expected = expected._replace(where=(None, None, 1, None, None))

    assert with_counters(expected, failed_fills=1) == tier.state


def test_undone_page_can_be_filled_again() -> None:
    """Another lease's `HitPending` passes with the fill that caused it."""
    tier = pending()
    tier.complete_fill(A, 20, False)
    state: State = tier.state

    assert Plan(21, (Handle(2, 0, 8),), (2,)) == tier.fill(B, (2,))
    assert state.next_ticket + 1 == tier.state.next_ticket


def test_handle_of_unmapped_page_is_our_bug() -> None:
    """An impossible state stops at once, and names the page."""
    with pytest.raises(AssertionError) as caught:
        operations.get_handle(pinned().state, 1)

    assert "page 1 is mapped" == str(caught.value)
