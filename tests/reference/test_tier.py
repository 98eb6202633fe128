"""Tests of leases and holds: promises, lives, sharing, the freed-page hook and the end.

Pins and dirt are in `test_tier_pins.py`, the tier switched off in `test_tier_off.py`.
"""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    NOBODY,
    A,
    B,
    all_held,
    both_pinned,
    dirtied,
    due,
    fill_copy,
    filling,
    one_lease,
    pending,
    pin,
    pinned,
    refused,
    shared,
    with_frame,
    with_host,
    with_lease,
)

from reference import refusals as no
from reference import tier as operations
from reference.calls import DEFAULT, Alloc, Choice, Open
from reference.reference import Reference
from reference.state import HostPage, Lease, Pool
from reference.transition import apply, options
from reference.words import Handle, Phase

Build = Callable[[], Reference]


# ------------------------------------------------------------------------------------------ open


def test_open_adds_a_lease_with_nothing() -> None:
    """The promise may take the last frame, and nothing but the leases changes."""
    tier = one_lease()
    before = tier.state
    lease = tier.open(1)
    expected = (*before.leases, (6, Lease(1, (), (), (), (), ())))

    assert 6 == lease
    assert before._replace(leases=expected, next_lease=7) == tier.state


def test_lease_ids_are_never_reused() -> None:
    """A late call for a finished lease must not reach the next one."""
    tier = one_lease()
    tier.finish(A)

    assert 6 == tier.open(3)
    assert due(no.UnknownLease(A)) == refused(tier, Alloc(A))


# ----------------------------------------------------------------------------------------- alloc


def test_alloc_begins_a_life_of_zeros() -> None:
    """Rows of the page's last tenant, torn or not, would be read as this one's."""
    tier = shared()
    tier.state = with_host(tier.state, 4, rows=(8, 9), torn=True)
    before = tier.state
    page = tier.alloc(B)
    expected = with_lease(before, B, table=(3, 4))
    expected = with_host(expected, 4, rows=(0, 0), torn=False)

    assert 4 == page
    assert expected._replace(pool=Pool(free=(), holds=(1, 1, 2, 1, 1))) == tier.state
    assert tier.state.host[4].torn is False


def test_alloc_offers_every_free_page() -> None:
    """Any free page is allowed; the lowest is the default."""
    tier = shared()
    tier.release(A, 1)
    expected = [Choice(page=1), Choice(page=4)]

    assert expected == list(options(tier.state, Alloc(B)))


@pytest.mark.parametrize(
    ("build", "lease"), [(all_held, A), (shared, NOBODY)], ids=["PageMemory", "UnknownLease"]
)
def test_refused_alloc_offers_no_page(build: Build, lease: int) -> None:
    """A choice of page would suggest that one is handed out."""
    assert [DEFAULT] == list(options(build().state, Alloc(lease)))


@pytest.mark.parametrize(
    ("choice", "page", "free"),
    [(Choice(page=4), 4, (0,)), (Choice(page=0), 0, (4,)), (DEFAULT, 0, (4,))],
    ids=["highest", "lowest", "default"],
)
def test_alloc_takes_the_chosen_page(choice: Choice, page: int, free: tuple[int, ...]) -> None:
    """Page 0 is a choice, not the absence of one."""
    tier = shared()
    tier.release(A, 0)
    outcome, after = apply(tier.state, Alloc(B), choice)

    assert (page, False, None) == outcome
    assert free == after.pool.free
    assert (3, page) == dict(after.leases)[B].table


# ----------------------------------------------------------------------------------------- share


def test_share_borrows_without_moving_anything() -> None:
    """The page stays where it is; only its holders are one more."""
    tier = pinned()
    before = tier.state
    value = tier.share(B, 0)
    expected = with_lease(before, B, borrowed=(2, 0))

    assert value is None
    assert expected._replace(pool=Pool(free=(4,), holds=(2, 1, 2, 1, 0))) == tier.state


def test_page_outlives_its_allocator() -> None:
    """A page whose allocator is gone can still be shared, and filled by who holds it."""
    tier = shared()
    tier.finish(A)
    other = tier.open(2)
    tier.share(other, 2)

    assert Pool(free=(0, 1, 4), holds=(0, 0, 2, 1, 0)) == tier.state.pool
    assert (2,) == dict(tier.state.leases)[other].borrowed
    assert (Handle(2, 0, 7),) == pin(tier, other, 2)


# --------------------------------------------------------------------------------------- release


def test_release_of_shared_page_keeps_it() -> None:
    """While somebody holds it the page stays resident, and its life goes on."""
    tier = pinned()
    tier.unpin(A, HANDLE)
    before = tier.state
    value = tier.release(A, 2)
    expected = with_lease(before, A, table=(0, 1))

    assert value is None
    assert expected._replace(pool=Pool(free=(4,), holds=(1, 1, 1, 1, 0))) == tier.state


def test_release_gives_up_borrowed_page() -> None:
    """A borrowed page is released like one's own."""
    tier = pinned()
    before = tier.state
    tier.release(B, 2)
    expected = with_lease(before, B, borrowed=())

    assert expected._replace(pool=Pool(free=(4,), holds=(1, 1, 1, 1, 0))) == tier.state


def test_last_release_unmaps_the_frame() -> None:
    """The hook: the next tenant of the page id must not find a frame of the last one."""
    tier = pinned()
    before = tier.state
    tier.release(A, 0)
    expected = with_frame(with_lease(before, A, table=(1, 2)), 0, page=None, generation=8)
    expected = with_frame(expected, 0, phase=Phase.FREE)
    expected = expected._replace(where=(None, None, 1, None, None), recency=(2,))

    assert expected._replace(pool=Pool(free=(0, 4), holds=(0, 1, 2, 1, 0))) == tier.state


def test_last_release_of_host_page() -> None:
    """A page that no frame maps ends its life without touching one."""
    tier = pinned()
    before = tier.state
    tier.release(A, 1)
    expected = with_lease(before, A, table=(0, 2))

    assert expected._replace(pool=Pool(free=(1, 4), holds=(1, 0, 2, 1, 0))) == tier.state


def test_own_fill_blocks_claimed_pages_only() -> None:
    """A lease may give up another page while its fill is in flight."""
    tier = filling()
    tier.release(A, 0)

    assert (
        Lease(2, (1, 2), (), ((2, 1),), (2, 1), (fill_copy(22, 2),)) == dict(tier.state.leases)[A]
    )


def test_claim_of_other_lease_blocks_nothing() -> None:
    """B gives up its hold while A fills the page: A's hold keeps it alive."""
    tier = pending()
    before = tier.state
    tier.release(B, 2)
    expected = with_lease(before, B, borrowed=())

    assert expected._replace(pool=Pool(free=(4,), holds=(1, 1, 1, 1, 0))) == tier.state


def test_pin_of_other_lease_blocks_nothing() -> None:
    """The lease without a pin may go; the pinned page stays in its frame."""
    tier = pinned()
    tier.release(B, 2)

    assert HANDLE == tier.lookup(A, 2)


# ---------------------------------------------------------------------------------------- finish


def test_finish_leaves_nothing_behind() -> None:
    """Pins, table, borrowed pages and promise go; what others hold stays as it was."""
    tier = both_pinned()
    tier.state = with_lease(tier.state, A, promise=1)
    before = tier.state
    value = tier.finish(A)
    expected = with_frame(before, 0, page=None, generation=8, phase=Phase.FREE)
    expected = expected._replace(
        leases=(before.leases[1],), where=(None, None, 1, None, None), recency=(2,)
    )

    assert value is None
    assert expected._replace(pool=Pool(free=(0, 1, 4), holds=(0, 0, 1, 1, 0))) == tier.state


def test_finish_gives_up_borrowed_pages() -> None:
    """Only its own page ends its life: the borrowed one is still A's, pinned and mapped."""
    tier = pinned()
    before = tier.state
    tier.finish(B)
    expected = before._replace(leases=(before.leases[0],))

    assert expected._replace(pool=Pool(free=(3, 4), holds=(1, 1, 1, 0, 0))) == tier.state


def test_finish_ends_life_of_borrowed_page() -> None:
    """The last holder may be a borrower: its hook runs too."""
    tier = both_pinned()
    tier.finish(A)
    tier.finish(B)

    assert Pool(free=(0, 1, 2, 3, 4), holds=(0, 0, 0, 0, 0)) == tier.state.pool
    assert (None,) * 5 == tier.state.where
    assert [(None, 8), (None, 9), (None, 9)] == [f[:2] for f in tier.state.frames]


def test_finish_returns_the_whole_promise() -> None:
    """Promises that never come back starve the next lease."""
    tier = shared()
    tier.finish(A)

    assert due(no.PromiseUnavailable(3, 1, 3)) == refused(tier, Open(3))
    assert 7 == tier.open(2)


def test_dirt_of_others_blocks_no_finish() -> None:
    """B borrows a dirty page but does not pin it: it has no last word on it."""
    tier = dirtied()
    tier.finish(B)

    assert [A] == [lease_id for lease_id, _ in tier.state.leases]


def test_fill_of_others_blocks_no_finish() -> None:
    """A waits for its own copies only."""
    tier = pending()
    tier.finish(B)

    assert [A] == [lease_id for lease_id, _ in tier.state.leases]


# ---------------------------------------------------------------------------------- freed page


def test_freed_page_without_frame_changes_nothing() -> None:
    """The hook cannot fail, wherever the page is."""
    state = pinned().state

    assert state == operations.on_page_freed(state, 1)


def test_freed_page_in_frame_zero_leaves() -> None:
    """Frame 0 is a frame, not the absence of one."""
    after = operations.on_page_freed(pinned().state, 0)

    assert (None, 8, Phase.FREE) == after.frames[0][:3]
    assert (None, None, 1, None, None) == after.where


def test_next_life_reads_only_zeros() -> None:
    """The tenancy headline: nothing of an earlier life of a page id can be read."""
    tier = dirtied()
    tier.complete_write_back(A, tier.write_back(A, HANDLE), True)
    written = tier.state.host[2]
    tier.finish(B)
    tier.finish(A)
    lease = tier.open(1)
    pages = [tier.alloc(lease), tier.alloc(lease), tier.alloc(lease)]
    (handle,) = pin(tier, lease, 2)

    assert HostPage((3, 4), False) == written
    assert [0, 1, 2] == pages
    assert [0, 0] == [tier.read(lease, handle, row) for row in (0, 1)]
