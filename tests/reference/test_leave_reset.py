"""Tests of leaving: copies that land after their lease is gone, and resets.

Abandoned leases are in `test_leave.py`, what quarantine keeps back in `test_quarantine.py`.
"""

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    dirtied,
    dirty,
    due,
    inherited,
    left_filling,
    left_writing,
    new_tier,
    pending,
    pin,
    pinned,
    refused,
    shared,
    slept,
    slept_and_full,
    with_counters,
    with_frame,
    with_host,
    with_lease,
    writing_back,
    written_back,
)

from reference import refusals as no
from reference.calls import Fill, Read, Truncate, Unpin
from reference.state import CopyKind, Frame, Orphan, Pool
from reference.words import Phase

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
