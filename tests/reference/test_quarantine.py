"""Tests of quarantine: what a copy that no lease owns any more keeps back until it has landed."""

from reference_samples import (
    A,
    B,
    due,
    left_filling,
    left_writing,
    lost,
    new_tier,
    pin,
    refused,
    shared,
)

from reference import quarantine
from reference import refusals as no
from reference.calls import Alloc, Open
from reference.fill import evictable_frames, free_frames
from reference.reference import Reference
from reference.state import CopyKind, Orphan, Pool
from reference.words import Phase


def twice_slept() -> Reference:
    """A's fills of page 0 were reset in frames 0 and 1, tickets 20 and 21; it holds the page."""
    tier = shared()
    tier.fill(A, (0,))
    tier.reset()
    assert 1 == tier.fill(A, (0,)).handles[0].frame
    tier.reset()
    return tier


# ---------------------------------------------------------------------------------------- frames


def test_quarantined_frames_count_as_promised() -> None:
    """Else a lease would be promised a frame that a copy still writes, and wait for it."""
    tier = left_filling()

    assert due(no.PromiseUnavailable(2, 2, 3)) == refused(tier, Open(2))
    assert 7 == tier.open(1)


def test_landing_makes_room_for_a_promise() -> None:
    """A lease that went is nobody's burden for longer than its copies run."""
    tier = left_filling()
    tier.land(22, True)

    assert 7 == tier.open(2)


def test_several_copies_count_each_frame() -> None:
    """A promise is in frames, not in copies."""
    tier = shared()
    tier.fill(A, (0, 1))
    tier.abandon(A)

    assert (0, 1) == quarantine.orphaned_frames(tier.state)
    assert due(no.PromiseUnavailable(1, 3, 3)) == refused(tier, Open(1))


def test_quarantined_frame_is_given_to_nobody() -> None:
    """Neither free nor evictable: the copy would write into another page's rows."""
    state = left_filling().state

    assert (0,) == free_frames(state)
    assert (1,) == evictable_frames(state, ())


def test_frame_of_the_heir_is_not_set_apart() -> None:
    """It still maps its page for the lease that pins it, and lands under it."""
    tier = new_tier()
    first, second = tier.open(1), tier.open(1)
    page = tier.alloc(first)
    tier.share(second, page)
    (handle,) = pin(tier, first, page)
    pin(tier, second, page)
    tier.mark_dirty(first, handle)
    tier.write_back(first, handle)
    tier.abandon(first)

    assert Phase.WRITING_BACK == tier.state.frames[handle.frame].phase
    assert (handle.frame,) == quarantine.orphaned_frames(tier.state)
    tier.abandon(second)
    assert Phase.QUARANTINED == tier.state.frames[handle.frame].phase
    assert (page,) == tier.state.pool.retired


# ----------------------------------------------------------------------------------------- pages


def test_retired_page_begins_no_life() -> None:
    """The copy still reads or writes its host page."""
    tier = left_filling()

    assert [0, 4] == [tier.alloc(B), tier.alloc(B)]
    assert due(no.PageMemory(5)) == refused(tier, Alloc(B))
    tier.land(22, False)
    assert 1 == tier.alloc(B)


def test_page_of_two_copies_waits_for_both() -> None:
    """The first that lands must not free what the second still touches."""
    tier = twice_slept()
    tier.release(A, 0)
    pools = [tier.state.pool]
    for ticket in (20, 21):
        tier.land(ticket, True)
        pools.append(tier.state.pool)

    waiting = Pool((4,), (0, 1, 2, 1, 0), retired=(0,))
    assert [waiting, waiting, Pool((0, 4), (0, 1, 2, 1, 0))] == pools


def test_landing_leaves_live_pages_alone() -> None:
    """Only what was retired becomes free."""
    tier = twice_slept()
    pages = tier.state.pool
    tier.land(21, True)

    assert pages == tier.state.pool
    assert [20] == [copy.ticket for copy in tier.state.quarantine]


def test_page_freed_after_its_copy_landed_is_free() -> None:
    """Retirement is for copies in flight, not for pages that once had one."""
    tier = lost()
    tier.release(B, 2)

    assert Pool((0, 1, 2, 4), (0, 0, 0, 1, 0)) == tier.state.pool


def test_page_freed_under_its_write_back_is_retired() -> None:
    """Its last holder goes while the copy of a lease gone before still writes the host page."""
    tier = left_writing()
    tier.release(B, 2)

    assert Pool((0, 1, 4), (0, 0, 0, 1, 0), retired=(2,)) == tier.state.pool
    assert () == tier.state.lost
    tier.land(22, True)
    assert 0 == tier.alloc(B)
    assert (1, 2, 4) == tier.state.pool.free


# ------------------------------------------------------------------------------------ the records


def test_orphans_keep_what_they_touch() -> None:
    """The lease that knew frames and pages of the copy is gone."""
    state = left_filling().state

    assert (Orphan(22, CopyKind.FILL, (2,), (1,)),) == state.quarantine
    assert [False, True, False] == [quarantine.is_touched(state, page) for page in range(3)]


def test_nobody_forsaken_nothing_gone() -> None:
    """Where every dirty page is pinned nothing is unmapped."""
    state = shared().state

    assert ((), state) == quarantine.forsake(state)
