"""Tests of drafts and keys: rows taken back, and full pages found by what they hold."""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    NOBODY,
    A,
    B,
    case,
    dirtied,
    dirty,
    due,
    filling,
    inherited,
    left_writing,
    lost,
    pin,
    pinned,
    published,
    refused,
    shared,
    torn,
    with_frame,
    with_host,
    with_lease,
    writing_back,
    written_back,
)

from reference import refusals as no
from reference.calls import Call, Fill, Find, Publish, Truncate
from reference.reference import Reference
from reference.refusals import Refusal
from reference.words import Handle

Build = Callable[[], Reference]


def filling_shared() -> Reference:
    """As `filling`, and B borrows page 1, which is on its way into frame 2."""
    tier = filling()
    tier.share(B, 1)
    return tier


def both_filling() -> Reference:
    """A fills page 1 into frame 0 and B, which borrows it, page 3 into frame 1; 20 and 21."""
    tier = shared()
    tier.share(B, 1)
    tier.fill(A, (1,))
    assert 21 == tier.fill(B, (3,)).ticket
    return tier


def half_full() -> Reference:
    """As `pinned`, and A wrote 3 to the first row of page 2, which is durable."""
    tier = pinned()
    dirty(tier, A, HANDLE, 3)
    tier.complete_write_back(A, tier.write_back(A, HANDLE), True)
    return tier


def two_full() -> Reference:
    """As `published`, and page 0 is full and durable too, in frame 0."""
    tier = published()
    (handle,) = pin(tier, A, 0)
    dirty(tier, A, handle, 5, 6)
    tier.complete_write_back(A, tier.write_back(A, handle), True)
    return tier


def unshared() -> Reference:
    """As `published`, and B does not borrow page 2."""
    tier = published()
    tier.release(B, 2)
    return tier


# -------------------------------------------------------------------------------------- refused

REFUSED = [
    case(dirtied, Truncate(NOBODY, 2, 0), no.UnknownLease(NOBODY)),
    case(dirtied, Truncate(B, 0, 0), no.NotHeld(B, 0)),
    case(dirtied, Truncate(A, 4, 0), no.NotHeld(A, 4)),
    case(dirtied, Truncate(A, 2, -1), no.BadLength(-1, 2)),
    case(dirtied, Truncate(A, 2, 3), no.BadLength(3, 2)),
    case(filling, Truncate(A, 1, 0), no.FillInFlight(A, 22)),
    case(filling_shared, Truncate(B, 1, 0), no.HitPending(1, 2)),
    case(both_filling, Truncate(B, 1, 0), no.HitPending(1, 0)),
    case(both_filling, Truncate(B, 3, 0), no.FillInFlight(B, 21)),
    case(writing_back, Truncate(A, 2, 0), no.WriteBackInFlight(2, 1)),
    case(writing_back, Truncate(B, 2, 0), no.WriteBackInFlight(2, 1)),
    case(inherited, Truncate(B, 2, 0), no.WriteBackInFlight(2, 1)),
    case(left_writing, Truncate(B, 2, 0), no.WriteBackInFlight(2, 1)),
    case(written_back, Publish(NOBODY, 2, 7), no.UnknownLease(NOBODY)),
    case(written_back, Publish(B, 0, 7), no.NotHeld(B, 0)),
    case(dirtied, Publish(A, 2, 7), no.NotDurable(2)),
    case(writing_back, Publish(A, 2, 7), no.NotDurable(2)),
    case(torn, Publish(A, 2, 7), no.NotDurable(2)),
    case(lost, Publish(B, 2, 7), no.NotDurable(2)),
    case(pinned, Publish(A, 2, 7), no.PageNotFull(2, 0, 2)),
    case(half_full, Publish(A, 2, 7), no.PageNotFull(2, 1, 2)),
    case(two_full, Publish(A, 0, 7), no.KeyTaken(7, 2)),
    case(published, Publish(A, 2, 8), no.AlreadyPublished(2, 7)),
    case(published, Publish(B, 2, 8), no.AlreadyPublished(2, 7)),
    case(published, Find(NOBODY, 7), no.UnknownLease(NOBODY)),
]

IN_ORDER = [
    case(dirtied, Truncate(NOBODY, 4, 9), no.UnknownLease(NOBODY), also="NotHeld"),
    case(dirtied, Truncate(B, 0, 9), no.NotHeld(B, 0), also="BadLength"),
    case(filling, Truncate(A, 1, 3), no.BadLength(3, 2), also="FillInFlight"),
    case(writing_back, Truncate(A, 2, 3), no.BadLength(3, 2), also="WriteBackInFlight"),
    case(dirtied, Publish(NOBODY, 4, 7), no.UnknownLease(NOBODY), also="NotHeld"),
    case(dirtied, Publish(B, 0, 7), no.NotHeld(B, 0), also="PageNotFull"),
    case(published, Publish(B, 3, 7), no.PageNotFull(3, 0, 2), also="KeyTaken"),
    case(published, Publish(A, 2, 7), no.KeyTaken(7, 2), also="AlreadyPublished"),
]


@pytest.mark.parametrize(("build", "call", "refusal"), [*REFUSED, *IN_ORDER])
def test_refused_call_says_why_and_changes_nothing(
    build: Build, call: Call, refusal: Refusal
) -> None:
    """A caller goes on from a refusal: it needs the reason, and the state it had."""
    assert due(refusal) == refused(build(), call)


# -------------------------------------------------------------------------------------- truncate


def test_dirty_page_is_cut_in_its_frame() -> None:
    """It stays dirty: what is left of the draft is not published yet."""
    tier = dirtied()
    before = tier.state
    tier.truncate(A, 2, 1)

    assert with_frame(before, 1, rows=(3, 0)) == tier.state


def test_durable_page_is_cut_in_both_places() -> None:
    """Cut in the frame alone, the rows would come back with the next fill."""
    tier = written_back()
    before = tier.state
    tier.truncate(B, 2, 1)

    assert with_host(with_frame(before, 1, rows=(3, 0)), 2, rows=(3, 0)) == tier.state


def test_page_without_a_frame_is_cut_in_the_host() -> None:
    """Residency is the tier's business: the caller truncates a page, wherever it is."""
    tier = written_back()
    tier.reset()
    before = tier.state
    tier.truncate(A, 2, 1)

    assert with_host(before, 2, rows=(3, 0)) == tier.state


def test_torn_page_stays_torn() -> None:
    """Its frame has the last word still, and has to be written back."""
    tier = torn()
    before = tier.state
    tier.truncate(A, 2, 0)

    assert with_frame(before, 1, rows=(0, 0)) == tier.state
    assert tier.state.host[2].torn


def test_whole_length_takes_nothing_back() -> None:
    """One row less than that would be a loss nobody asked for, and so would the key."""
    tier = published()
    before = tier.state
    tier.truncate(A, 2, 2)

    assert before == tier.state


def test_claimed_hit_may_be_cut() -> None:
    """No copy touches it: only its place is spoken for."""
    tier = filling()
    before = tier.state
    tier.truncate(A, 2, 0)

    assert with_frame(before, 1, rows=(0, 0)) == tier.state


def test_fill_in_quarantine_hinders_nobody() -> None:
    """It reads the host page into a frame that nobody will read."""
    tier = filling_shared()
    tier.abandon(A)
    tier.truncate(B, 1, 0)

    assert (0, 0) == tier.state.host[1].rows
    assert [22] == [copy.ticket for copy in tier.state.quarantine]


def test_lost_page_is_used_again_from_nothing() -> None:
    """No row of it is known, so none may be left: then it is like a new page."""
    tier = lost()
    before = tier.state
    tier.truncate(B, 2, 0)

    assert with_host(before, 2, rows=(0, 0), torn=False)._replace(lost=()) == tier.state
    (handle,) = pin(tier, B, 2)
    assert 0 == tier.read(B, handle, 0)


def test_lost_page_keeps_no_row() -> None:
    """The first of its rows is as lost as the last."""
    tier = lost()
    tier.truncate(B, 2, 1)

    assert (2,) == tier.state.lost
    assert due(no.RowsLost(2)) == refused(tier, Fill(B, (2,)))


def test_each_lost_page_is_its_own() -> None:
    """One page begun anew says nothing of another."""
    tier = lost()
    tier.state = with_host(tier.state._replace(lost=(2, 3)), 3, torn=True)
    tier.truncate(B, 2, 0)

    assert (3,) == tier.state.lost
    assert tier.state.host[3].torn


# ---------------------------------------------------------------------------- publish and find


@pytest.mark.parametrize("lease", [A, B])
def test_full_durable_page_gets_its_key(lease: int) -> None:
    """Who borrows a page may name it too; nothing else changes."""
    tier = written_back()
    before = tier.state
    tier.publish(lease, 2, 7)

    assert before._replace(keys=((7, 2),)) == tier.state


def test_page_without_a_frame_gets_its_key() -> None:
    """The host page is what is named."""
    tier = written_back()
    tier.reset()
    tier.publish(A, 2, 7)

    assert ((7, 2),) == tier.state.keys


def test_keys_are_kept_in_their_order() -> None:
    """Two histories of the same keys are one state."""
    tier = two_full()
    tier.publish(A, 0, 3)

    assert ((3, 0), (7, 2)) == tier.state.keys


def test_find_lets_its_lease_hold_the_page() -> None:
    """Between a look and a hold the page's life could end."""
    tier = unshared()
    before = tier.state
    found = tier.find(B, 7)
    expected = with_lease(before, B, borrowed=(2,))

    assert 2 == found
    assert expected._replace(pool=before.pool._replace(holds=(1, 1, 2, 1, 0))) == tier.state


@pytest.mark.parametrize("lease", [A, B])
def test_find_of_a_held_page_changes_nothing(lease: int) -> None:
    """One lease holds a page once, as its own or borrowed."""
    tier = published()
    before = tier.state

    assert 2 == tier.find(lease, 7)
    assert before == tier.state


def test_unknown_key_finds_nothing() -> None:
    """That is an answer, no refusal."""
    tier = unshared()
    before = tier.state

    assert tier.find(B, 8) is None
    assert before == tier.state


def mark(tier: Reference) -> None:
    """Mark the page dirty."""
    tier.mark_dirty(A, HANDLE)


def cut(tier: Reference) -> None:
    """Take one row back."""
    tier.truncate(A, 2, 1)


def end(tier: Reference) -> None:
    """End the page's life."""
    tier.unpin(A, HANDLE)
    tier.release(A, 2)


def leave(tier: Reference) -> None:
    """Abandon the only lease that holds the page."""
    tier.abandon(A)


@pytest.mark.parametrize("change", [mark, cut, end, leave])
def test_changed_page_is_found_no_more(change: Callable[[Reference], None]) -> None:
    """A stale key hands one conversation's rows to another."""
    tier = unshared()
    change(tier)

    assert tier.find(B, 7) is None
    assert () == tier.state.keys


def test_next_life_is_not_found() -> None:
    """The page id is the same, what it holds is not."""
    tier = unshared()
    end(tier)

    assert 2 == tier.alloc(B)
    assert tier.find(B, 7) is None


def test_only_the_changed_page_loses_its_key() -> None:
    """Other pages have not changed."""
    tier = two_full()
    tier.publish(A, 0, 3)
    tier.mark_dirty(A, HANDLE)

    assert ((3, 0),) == tier.state.keys


def stay(tier: Reference) -> None:
    """Change nothing."""


def evict(tier: Reference) -> None:
    """Drop its frame."""
    tier.reset()


def unpin(tier: Reference) -> None:
    """Give up the pin."""
    tier.unpin(A, HANDLE)


def hand_over(tier: Reference) -> None:
    """Abandon the lease that published it; another holds it."""
    tier.share(B, 2)
    tier.abandon(A)
    tier.release(B, 3)


@pytest.mark.parametrize("change", [stay, evict, unpin, hand_over])
def test_unchanged_page_keeps_its_key(change: Callable[[Reference], None]) -> None:
    """A prefix that is forgotten for no reason is computed twice."""
    tier = unshared()
    change(tier)

    assert 2 == tier.find(B, 7)
    assert ((7, 2),) == tier.state.keys


def test_key_is_free_after_its_page_changed() -> None:
    """The rows that are durable now may be named again, by the same key or another."""
    tier = published()
    dirty(tier, A, HANDLE, 8)
    tier.complete_write_back(A, tier.write_back(A, HANDLE), True)
    tier.publish(A, 2, 7)

    assert ((7, 2),) == tier.state.keys
    assert (8, 4) == tier.state.host[2].rows
    assert Handle(2, 1, 8) == tier.lookup(A, 2)
