"""Tests of leaving: what is refused, and leases abandoned at any moment.

Landing and resets are in `test_leave_reset.py`, what quarantine keeps back in
`test_quarantine.py`.
"""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    NOBODY,
    A,
    B,
    both_dirty,
    case,
    dirty,
    due,
    filling,
    inherited,
    left_filling,
    left_writing,
    lost,
    new_tier,
    pin,
    refused,
    shared,
    slept,
    slept_and_full,
    torn,
    with_lease,
    writing_back,
    written_back,
)

from reference import refusals as no
from reference.calls import (
    Abandon,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    Land,
    MarkDirty,
    Unpin,
)
from reference.reference import Reference
from reference.refusals import Refusal
from reference.state import CopyKind, Frame, Orphan, Pool
from reference.words import Phase

Build = Callable[[], Reference]


def greedy() -> Reference:
    """As `slept_and_full`, and A promises more than there are frames, which cannot be."""
    tier = slept_and_full()
    tier.state = with_lease(tier.state, A, promise=3)
    return tier


def lost_and_pending() -> Reference:
    """As `lost`, and B fills page 3 for itself and for C, which borrows 2 and 3; C is lease 7."""
    tier = lost()
    tier.open(2)
    tier.share(7, 2)
    tier.share(7, 3)
    tier.fill(B, (3,))
    return tier


def claimed_dirty() -> Reference:
    """A wrote page 0 in frame 0; B fills 0, a hit, and 1, a miss in frame 1, with ticket 21."""
    tier = new_tier()
    assert [A, B] == [tier.open(1), tier.open(2)]
    assert 0 == tier.alloc(A)
    tier.share(B, 0)
    assert 1 == tier.alloc(B)
    dirty(tier, A, *pin(tier, A, 0), 3, 4)
    assert 21 == tier.fill(B, (0, 1)).ticket
    return tier


# -------------------------------------------------------------------------------------- refused

REFUSED = [
    case(shared, Abandon(NOBODY), no.UnknownLease(NOBODY)),
    case(left_filling, Abandon(A), no.UnknownLease(A)),
    case(writing_back, Land(22, True), no.UnknownTicket(22)),
    case(left_writing, Land(21, True), no.UnknownTicket(21)),
    case(left_writing, Land(23, False), no.UnknownTicket(23)),
    case(lost, Land(22, True), no.UnknownTicket(22)),
    case(lost, Fill(B, (2,)), no.RowsLost(2)),
    case(slept_and_full, Fill(A, (0,)), no.FramesLanding(1, 0, 2)),
    case(slept, Fill(A, (0, 2)), no.FramesLanding(2, 1, 2)),
    case(greedy, Fill(A, (0, 1, 2)), no.FrameMemory(3, 0)),
]

LATE = [
    case(left_filling, CompleteFill(A, 22, True), no.UnknownLease(A)),
    case(left_filling, CompleteFill(B, 22, False), no.StaleTicket(B, 22)),
    case(left_writing, CompleteWriteBack(A, 22, True), no.UnknownLease(A)),
    case(inherited, CompleteWriteBack(B, 22, True), no.StaleTicket(B, 22)),
    case(slept, CompleteFill(A, 20, True), no.StaleTicket(A, 20)),
    case(slept, CompleteFill(A, 20, False), no.StaleTicket(A, 20)),
    case(inherited, MarkDirty(B, HANDLE), no.WriteBackInFlight(2, 1)),
    case(inherited, Unpin(B, HANDLE), no.DirtyFrame(B, (2,))),
    case(inherited, Finish(B), no.DirtyFrame(B, (2,))),
]

IN_ORDER = [
    case(lost, Fill(B, (2, 3)), no.PromiseExceeded(B, 1, 2), also="RowsLost"),
    case(lost_and_pending, Fill(7, (3, 2)), no.RowsLost(2), also="HitPending"),
    case(lost_and_pending, Fill(7, (3,)), no.HitPending(3, 0), also="nothing"),
]


@pytest.mark.parametrize(("build", "call", "refusal"), [*REFUSED, *LATE, *IN_ORDER])
def test_refused_call_says_why_and_changes_nothing(
    build: Build, call: Call, refusal: Refusal
) -> None:
    """Who comes late, or too early, is told so, and nobody else feels it."""
    assert due(refusal) == refused(build(), call)


# -------------------------------------------------------------------------------------- abandon


def test_lease_may_go_before_its_first_pin() -> None:
    """Its own pages are free at once, what another borrows lives on."""
    tier = shared()
    before = tier.state
    gone = tier.abandon(A)
    expected = before._replace(leases=before.leases[1:], pool=Pool((0, 1, 4), (0, 0, 1, 1, 0)))

    assert () == gone
    assert expected == tier.state


def test_lease_may_go_during_its_fill() -> None:
    """Its copy runs on: frame and page wait for it, all else is let go."""
    before = filling().state
    after = left_filling().state
    expected = before._replace(
        leases=before.leases[1:],
        frames=(
            Frame(None, 8, Phase.FREE, False, before.frames[0].rows),
            before.frames[1],
            Frame(None, 10, Phase.QUARANTINED, False, before.frames[2].rows),
        ),
        where=(None, None, 1, None, None),
        recency=(2,),
        pool=Pool((0, 4), (0, 0, 1, 1, 0), retired=(1,)),
        quarantine=(Orphan(22, CopyKind.FILL, (2,), (1,)),),
    )

    assert expected == after


def test_lease_may_go_during_its_write_back() -> None:
    """The host page is torn and the rows are gone with the lease: the page is lost."""
    before = writing_back().state
    expected = before._replace(
        leases=before.leases[1:],
        frames=(
            Frame(None, 8, Phase.FREE, False, before.frames[0].rows),
            Frame(None, 9, Phase.QUARANTINED, False, (3, 4)),
            before.frames[2],
        ),
        where=(None,) * 5,
        recency=(),
        pool=Pool((0, 1, 4), (0, 0, 1, 1, 0)),
        quarantine=(Orphan(22, CopyKind.WRITE_BACK, (1,), (2,)),),
        lost=(2,),
    )

    assert expected == left_writing().state


def test_dirty_page_falls_back_to_its_host_page() -> None:
    """What was not published is gone; what was is there for whoever still holds the page."""
    tier = written_back()
    dirty(tier, A, HANDLE, 8)
    gone = tier.abandon(A)
    (handle,) = pin(tier, B, 2)

    assert (2,) == gone
    assert () == tier.state.lost
    assert [3, 4] == [tier.read(B, handle, row) for row in (0, 1)]
    assert not tier.state.frames[handle.frame].dirty


def test_torn_page_is_lost_with_its_lease() -> None:
    """Its only whole copy was the frame."""
    tier = torn()

    assert (2,) == tier.abandon(A)
    assert (2,) == tier.state.lost
    assert () == tier.state.quarantine


def test_only_live_pages_are_told() -> None:
    """Nobody can ask for the rows of a page whose life ended with the lease."""
    tier = shared()
    for handle in pin(tier, A, 0, 2):
        dirty(tier, A, handle, 1)

    assert (2,) == tier.abandon(A)


def test_lost_page_that_ends_is_not_lost() -> None:
    """The mark is of a life, and so is the next one's clean start."""
    tier = torn()
    tier.release(B, 2)

    assert () == tier.abandon(A)
    assert () == tier.state.lost
    assert [0, 1, 2] == [tier.alloc(B), tier.alloc(B), tier.alloc(B)]
    pin(tier, B, 2)
    assert not tier.state.host[2].torn


def test_pinned_dirty_page_is_its_pinners_now() -> None:
    """Whoever else pins it may have read the rows: they are not torn from under it."""
    tier = both_dirty()
    before = tier.state
    gone = tier.abandon(A)

    assert () == gone
    assert before.frames[1] == tier.state.frames[1]
    tier.write_back(B, HANDLE)
    tier.complete_write_back(B, 22, True)
    assert (3, 4) == tier.state.host[2].rows
    tier.finish(B)


@pytest.mark.parametrize("ok", [True, False])
def test_claimed_dirty_page_hangs_on_the_fill(ok: bool) -> None:
    """A claim keeps it, as it keeps a hit; with the claim go the rows, and that is told."""
    tier = claimed_dirty()
    gone = tier.abandon(A)
    kept = tier.state.frames[0]
    told = tier.complete_fill(B, 21, ok)

    assert ((), True) == (gone, kept.dirty)
    assert (None if ok else (0,)) == told
    assert (((0, 1), (1, 1)) if ok else ()) == tier.state.leases[0][1].pins
    assert (kept if ok else Frame(None, 8, Phase.FREE, False, (3, 4))) == tier.state.frames[0]
    assert () == tier.state.lost
