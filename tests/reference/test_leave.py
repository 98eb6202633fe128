"""Tests of leaving: leases abandoned at any moment, resets, and copies that land after both.

What quarantine keeps back until then is in `test_quarantine.py`.
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
    dirtied,
    dirty,
    due,
    filling,
    inherited,
    left_filling,
    left_writing,
    lost,
    new_tier,
    pending,
    pin,
    pinned,
    refused,
    shared,
    torn,
    with_counters,
    with_frame,
    with_host,
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
    Read,
    Truncate,
    Unpin,
)
from reference.reference import Reference
from reference.refusals import Refusal
from reference.state import CopyKind, Frame, Orphan, Pool
from reference.words import Phase

Build = Callable[[], Reference]


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


# ------------------------------------------------------------------------------------------ land


@pytest.mark.parametrize("ok", [True, False])
def test_landed_fill_gives_all_back(ok: bool) -> None:
    """Whatever the bytes are, nobody will read them."""
    tier = left_filling()
    before = tier.state
    tier.land(22, ok)
    expected = with_frame(before, 2, phase=Phase.FREE)._replace(
        quarantine=(), pool=Pool((0, 1, 4), (0, 0, 1, 1, 0))
    )

    assert expected == tier.state


@pytest.mark.parametrize("ok", [True, False])
def test_landed_write_back_of_nobody_publishes_nothing(ok: bool) -> None:
    """The rows were given up when the lease went; the page stays lost."""
    tier = left_writing()
    before = tier.state
    tier.land(22, ok)

    assert with_frame(before, 1, phase=Phase.FREE)._replace(quarantine=()) == tier.state


@pytest.mark.parametrize("ok", [True, False])
def test_landed_write_back_ends_for_the_heir(ok: bool) -> None:
    """It carried the rows that the other lease pins: as if its own lease had completed it."""
    tier = inherited()
    before = tier.state
    tier.land(22, ok)
    landed = with_frame(before, 1, phase=Phase.READY, dirty=not ok)._replace(quarantine=())
    landed = with_host(landed, 2, rows=(3, 4), torn=False) if ok else landed
    counted = {"write_backs": 1} if ok else {"failed_write_backs": 1}

    assert with_counters(landed, **counted) == tier.state


def test_heir_writes_back_what_failed_to_land() -> None:
    """The frame has the rows still: the page is torn, and not lost."""
    tier = inherited()
    tier.land(22, False)

    assert 23 == tier.write_back(B, HANDLE)
    tier.complete_write_back(B, 23, True)
    assert ((3, 4), False) == tier.state.host[2]


# ----------------------------------------------------------------------------------------- reset


def test_reset_of_nothing_changes_nothing() -> None:
    """Sleep may be asked for at any moment."""
    tier = new_tier()
    before = tier.state

    assert () == tier.reset()
    assert before == tier.state


def test_reset_keeps_leases_and_host_pages() -> None:
    """Residency alone goes, with the pins on it and the rows that were nowhere else."""
    tier = dirtied()
    before = tier.state
    gone = tier.reset()
    expected = with_lease(before, A, pins=())._replace(
        frames=(
            Frame(None, 8, Phase.FREE, False, before.frames[0].rows),
            Frame(None, 9, Phase.FREE, False, (3, 4)),
            before.frames[2],
        ),
        where=(None,) * 5,
        recency=(),
    )

    assert (2,) == gone
    assert expected == tier.state


def test_reset_sends_copies_into_quarantine() -> None:
    """Their tickets are stale, their frames wait, and the leases may fill again."""
    before = pending().state
    expected = with_lease(before, A, claims=(), copies=())._replace(
        frames=(
            *(
                Frame(None, 8 + n, Phase.QUARANTINED, False, before.frames[n].rows)
                for n in range(2)
            ),
            before.frames[2],
        ),
        where=(None,) * 5,
        quarantine=(Orphan(20, CopyKind.FILL, (0, 1), (0, 2)),),
    )

    assert expected == slept().state


def test_reset_during_a_write_back_loses_the_page() -> None:
    """Every lease that holds the page still does, and has to begin it anew."""
    tier = writing_back()

    assert (2,) == tier.reset()
    assert (2,) == tier.state.lost
    assert due(no.RowsLost(2)) == refused(tier, Fill(A, (2,)))
    assert due(no.WriteBackInFlight(2, 1)) == refused(tier, Truncate(A, 2, 0))


def test_copies_wait_in_the_order_of_their_tickets() -> None:
    """The oldest first, whichever lease had them, and those of an earlier reset before them."""
    tier = shared()
    tier.fill(B, (3,))
    tier.fill(A, (0,))
    tier.reset()
    tier.fill(B, (3,))
    tier.reset()

    assert [20, 21, 22] == [copy.ticket for copy in tier.state.quarantine]


def test_lost_pages_stay_lost() -> None:
    """One page more is lost, in the order of the ids."""
    tier = shared()
    _, second = pin(tier, A, 1, 2)
    dirty(tier, A, second, 1)
    tier.write_back(A, second)
    tier.reset()
    tier.land(21, True)
    (first,) = pin(tier, A, 1)
    dirty(tier, A, first, 1)
    tier.write_back(A, first)

    assert (1,) == tier.reset()
    assert (1, 2) == tier.state.lost


def test_sleep_and_wake_finds_what_was_published() -> None:
    """The old handle is stale, and a fill brings the rows back."""
    tier = written_back()
    gone = tier.reset()

    assert () == gone
    assert due(no.StaleHandle(HANDLE)) == refused(tier, Read(A, HANDLE, 0))
    (handle,) = pin(tier, A, 2)
    assert [3, 4] == [tier.read(A, handle, row) for row in (0, 1)]


def test_fill_may_be_repeated_once_copies_landed() -> None:
    """The promise is kept a little later: nobody else can take the frames meanwhile."""
    tier = slept_and_full()
    tier.land(20, False)

    assert 2 == len(pin(tier, A, 0, 2))


def test_pinned_clean_page_leaves_with_a_reset() -> None:
    """A pin is no reason to stay: the device memory is gone."""
    tier = pinned()
    tier.reset()

    assert () == tier.state.leases[0][1].pins
    assert due(no.StaleHandle(HANDLE)) == refused(tier, Unpin(A, HANDLE))
