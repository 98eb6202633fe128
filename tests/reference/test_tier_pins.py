"""Tests of pins and dirt: lookups, handles, reads and writes, and write-backs."""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    both_dirty,
    both_pinned,
    dirtied,
    due,
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
    write_back_copy,
    writing_back,
    written_back,
)

from reference import refusals as no
from reference.calls import (
    CompleteWriteBack,
    Finish,
    Outcome,
    Unpin,
)
from reference.reference import Reference
from reference.transition import apply
from reference.words import Handle, Phase

Build = Callable[[], Reference]

# ---------------------------------------------------------------------------------------- lookup


@pytest.mark.parametrize(
    ("build", "lease", "page", "handle"),
    [
        (pinned, A, 2, HANDLE),
        (pinned, B, 2, HANDLE),
        (pinned, A, 0, Handle(0, 0, 7)),
        (writing_back, A, 2, HANDLE),
        (pinned, A, 1, None),
        (pending, A, 0, None),
        (pending, B, 2, None),
    ],
    ids=["pinned", "borrowed", "evictable", "writing", "host", "filling", "filling-for-other"],
)
def test_lookup_shows_frame_and_changes_nothing(
    build: Build, lease: int, page: int, handle: Handle | None
) -> None:
    """A look is not a pin: neither the state nor the recency may notice it."""
    tier = build()
    before = tier.state

    assert handle == tier.lookup(lease, page)
    assert before == tier.state


# ----------------------------------------------------------------------------------------- unpin


def test_unpin_takes_exactly_one_pin() -> None:
    """Each fill pinned once; each unpin takes one, and the entry goes with the last."""
    tier = pinned()
    pin(tier, A, 2)
    before = tier.state
    first = tier.unpin(A, HANDLE)
    once = tier.state
    tier.unpin(A, HANDLE)

    assert first is None
    assert with_lease(before, A, pins=((2, 1),)) == once
    assert with_lease(before, A, pins=()) == tier.state


def test_unpin_leaves_pins_of_others() -> None:
    """B still reads the page."""
    tier = both_pinned()
    before = tier.state
    tier.unpin(A, HANDLE)

    assert with_lease(before, A, pins=()) == tier.state
    assert ((2, 1),) == dict(tier.state.leases)[B].pins


def test_dirty_frame_gives_up_spare_pins() -> None:
    """The dirty rule keeps the last pin only."""
    tier = dirtied()
    pin(tier, A, 2)
    before = tier.state
    tier.unpin(A, HANDLE)

    assert with_lease(before, A, pins=((2, 1),)) == tier.state
    assert due(no.DirtyFrame(A, (2,))) == refused(tier, Unpin(A, HANDLE))


def test_clean_frame_gives_up_last_pin() -> None:
    """Once its write-back landed the page is safe in its host page."""
    tier = written_back()
    before = tier.state
    tier.unpin(A, HANDLE)

    assert with_lease(before, A, pins=()) == tier.state


# -------------------------------------------------------------------------------- mark and write


def test_mark_dirty_changes_one_flag() -> None:
    """It comes before the write: no moment at which a clean frame is newer than its host page."""
    tier = pinned()
    before = tier.state

    assert tier.mark_dirty(A, HANDLE) is None
    assert with_frame(before, 1, dirty=True) == tier.state
    assert tier.state.frames[1].dirty is True


def test_mark_dirty_again_changes_nothing() -> None:
    """A second writer may announce itself too, and keeps the rows of the first."""
    tier = both_dirty()
    before = tier.state
    tier.mark_dirty(B, HANDLE)

    assert before == tier.state


@pytest.mark.parametrize(("row", "rows"), [(0, (9, 4)), (1, (3, 9))])
def test_write_changes_one_row(row: int, rows: tuple[int, ...]) -> None:
    """The host page and every other row stay as they were."""
    tier = dirtied()
    before = tier.state

    assert tier.write(A, HANDLE, row, 9) is None
    assert with_frame(before, 1, rows=rows) == tier.state


def test_other_pinner_writes_dirty_frame() -> None:
    """The frame is dirty, whoever marked it; a pin is what a writer needs."""
    tier = both_dirty()
    before = tier.state
    tier.write(B, HANDLE, 1, 9)

    assert with_frame(before, 1, rows=(3, 9)) == tier.state


@pytest.mark.parametrize(
    ("build", "rows"),
    [
        (pinned, [0, 0]),
        (dirtied, [3, 4]),
        (writing_back, [3, 4]),
        (torn, [3, 4]),
        (written_back, [3, 4]),
    ],
)
def test_read_returns_last_write_only(build: Build, rows: list[int]) -> None:
    """Also while the frame is written back; a row not yet written reads zero."""
    tier = build()
    before = tier.state

    assert rows == [tier.read(A, HANDLE, 0), tier.read(A, HANDLE, 1)]
    assert before == tier.state


# ------------------------------------------------------------------------------------ write-backs


def test_clean_frame_is_not_copied() -> None:
    """Nothing to do: no ticket is used up and nothing counted."""
    tier = pinned()
    before = tier.state

    assert tier.write_back(A, HANDLE) is None
    assert before == tier.state


def test_write_back_tears_the_host_page() -> None:
    """Nothing is published yet: the frame stays dirty, and the host rows are unspecified."""
    tier = dirtied()
    before = tier.state
    ticket = tier.write_back(A, HANDLE)
    expected = with_lease(before, A, copies=(write_back_copy(22, 1),))
    expected = with_host(with_frame(expected, 1, phase=Phase.WRITING_BACK), 2, torn=True)

    assert 22 == ticket
    assert expected._replace(next_ticket=23) == tier.state
    assert tier.state.host[2].torn is True


def test_other_pinner_may_write_back() -> None:
    """The copy is in flight for the lease that started it, whoever wrote."""
    tier = both_dirty()
    ticket = tier.write_back(B, HANDLE)
    copies = {lease_id: lease.copies for lease_id, lease in tier.state.leases}

    assert 22 == ticket
    assert {A: (), B: (write_back_copy(22, 1),)} == copies


def test_landed_write_back_publishes_rows() -> None:
    """From here on a clean frame equals its host page, and it is counted once."""
    tier = writing_back()
    before = tier.state
    value = tier.complete_write_back(A, 22, True)
    expected = with_host(with_lease(before, A, copies=()), 2, rows=(3, 4), torn=False)
    expected = with_frame(expected, 1, phase=Phase.READY, dirty=False)

    assert value is None
    assert with_counters(expected, write_backs=1) == tier.state
    assert tier.state.host[2].torn is False
    assert tier.state.frames[1].dirty is False


def test_failed_write_back_loses_nothing() -> None:
    """The frame has the only good copy: dirty, with every row, its host page still torn."""
    tier = writing_back()
    before = tier.state
    outcome, after = apply(before, CompleteWriteBack(A, 22, False), tier.choose(before, Finish(A)))
    expected = with_frame(with_lease(before, A, copies=()), 1, phase=Phase.READY)

    assert Outcome(None, failed=True, refused=None) == outcome
    assert with_counters(expected, failed_write_backs=1) == after


def test_twice_failed_write_back_still_lands() -> None:
    """Torn is left only by success, and what lands is the rows of then."""
    tier = torn()
    tier.complete_write_back(A, tier.write_back(A, HANDLE), False)
    still = tier.state.host[2].torn
    tier.write(A, HANDLE, 0, 7)
    before = tier.state
    tier.complete_write_back(A, tier.write_back(A, HANDLE), True)
    expected = with_host(with_frame(before, 1, dirty=False), 2, rows=(7, 4), torn=False)
    expected = expected._replace(next_ticket=25)

    assert still is True
    assert with_counters(expected, write_backs=1) == tier.state
    assert (50 + 1, 60 + 2) == tier.state.counters[4:]


def test_failed_write_back_accepts_writes_again() -> None:
    """Nothing is in flight, and the frame is dirty: a writer may go on."""
    tier = torn()
    tier.write(A, HANDLE, 1, 8)

    assert [3, 8] == [tier.read(A, HANDLE, 0), tier.read(A, HANDLE, 1)]


def test_write_backs_land_in_any_order() -> None:
    """Each completion publishes its own frame and leaves the other in flight."""
    tier = shared()
    first, second = pin(tier, A, 0, 2)
    for value, handle in enumerate((first, second), 1):
        tier.mark_dirty(A, handle)
        tier.write(A, handle, 0, value)
    tickets = [tier.write_back(A, first), tier.write_back(A, second)]
    tier.complete_write_back(A, 22, True)

    assert [21, 22] == tickets
    assert (write_back_copy(21, 0),) == dict(tier.state.leases)[A].copies
    assert [True, False] == [tier.state.host[page].torn for page in (0, 2)]
    assert (2, 0) == tier.state.host[2].rows
