"""Tests of the tables: finding and replacing entries, and the asserts of what cannot be."""

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    dirtied,
    fill_copy,
    filling,
    pinned,
    shared,
    with_frame,
    with_host,
    with_lease,
    write_back_copy,
    writing_back,
)

from reference import tables
from reference.refusals import BadRow, NotHeld, StaleTicket, UnknownLease
from reference.state import CopyKind, Frame, HostPage, Lease
from reference.words import Phase

LEASE = Lease(
    promise=4,
    table=(3, 1),
    borrowed=(2,),
    pins=((1, 2), (3, 1)),
    claims=(),
    copies=(write_back_copy(7, 0), fill_copy(8, 1, 2), write_back_copy(9, 3)),
)


# ---------------------------------------------------------------------------------------- leases


def test_only_open_leases_are_open() -> None:
    """A lease id is never reused, so a gone one stays unknown."""
    state = shared().state

    assert [False, True, True, False] == [tables.is_open(state, n) for n in (0, A, B, 9)]


def test_each_lease_is_found_by_id() -> None:
    """One lease taken for another would lend out its pins."""
    state = shared().state

    assert Lease(2, (0, 1, 2), (), (), (), ()) == tables.get_lease(state, A)
    assert Lease(1, (3,), (2,), (), (), ()) == tables.get_lease(state, B)


def test_missing_lease_is_named_unknown() -> None:
    """The refusal that every row but that of `open` begins with."""
    with pytest.raises(UnknownLease) as caught:
        tables.get_lease(shared().state, 9)

    assert {"lease": 9} == vars(caught.value)


@pytest.mark.parametrize("lease_id", [A, B])
def test_set_lease_replaces_one_lease(lease_id: int) -> None:
    """A call by one lease leaves every other alone, and their order too."""
    state = shared().state
    entries = dict(state.leases)
    entries[lease_id] = LEASE

    assert state._replace(leases=tuple(entries.items())) == tables.set_lease(state, lease_id, LEASE)


@pytest.mark.parametrize(("page", "held"), [(0, False), (1, True), (2, True), (3, True)])
def test_table_and_borrowed_are_held(page: int, held: bool) -> None:
    """A borrowed page is held as well as one's own."""
    assert held is tables.is_held(LEASE, page)


def test_held_page_yields_its_lease() -> None:
    """The common beginning of `release` and `lookup`."""
    state = shared().state

    assert Lease(1, (3,), (2,), (), (), ()) == tables.get_held(state, B, 2)


def test_page_not_held_is_named() -> None:
    """The refusal says which lease and which page, in that order."""
    with pytest.raises(NotHeld) as caught:
        tables.get_held(shared().state, B, 0)

    assert {"lease": B, "page": 0} == vars(caught.value)


@pytest.mark.parametrize(("page", "count"), [(1, 2), (2, 0), (3, 1), (0, 0)])
def test_pins_are_counted_per_page(page: int, count: int) -> None:
    """A pin counted for the wrong page lets a frame go that is in use."""
    assert count == tables.get_pins(LEASE, page)


@pytest.mark.parametrize(
    ("page", "count", "pins"),
    [
        (1, 3, ((1, 3), (3, 1))),
        (3, 0, ((1, 2),)),
        (2, 1, ((1, 2), (2, 1), (3, 1))),
        (0, 0, ((1, 2), (3, 1))),
        (4, 9, ((1, 2), (3, 1), (4, 9))),
    ],
)
def test_set_pins_keeps_pages_ascending(
    page: int, count: int, pins: tuple[tuple[int, int], ...]
) -> None:
    """Two orders of the same pins would be two states; a count of none is no entry."""
    assert LEASE._replace(pins=pins) == tables.set_pins(LEASE, page, count)


# ---------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize(
    ("ticket", "kind", "copy"),
    [
        (7, CopyKind.WRITE_BACK, write_back_copy(7, 0)),
        (8, CopyKind.FILL, fill_copy(8, 1, 2)),
        (9, CopyKind.WRITE_BACK, write_back_copy(9, 3)),
    ],
)
def test_copy_is_found_by_ticket(ticket: int, kind: CopyKind, copy: object) -> None:
    """Several copies of one lease may be in flight; each has its own completion."""
    assert copy == tables.get_copy(A, LEASE, ticket, kind)


@pytest.mark.parametrize(
    ("ticket", "kind"), [(7, CopyKind.FILL), (8, CopyKind.WRITE_BACK), (6, CopyKind.FILL)]
)
def test_ticket_of_other_kind_is_stale(ticket: int, kind: CopyKind) -> None:
    """A fill completed as a write-back would publish rows that never landed."""
    with pytest.raises(StaleTicket) as caught:
        tables.get_copy(A, LEASE, ticket, kind)

    assert {"lease": A, "ticket": ticket} == vars(caught.value)


def test_fill_is_found_among_copies() -> None:
    """A lease has at most one fill in flight, beside any number of write-backs."""
    others = LEASE._replace(copies=(write_back_copy(7, 0), write_back_copy(9, 3)))

    assert fill_copy(8, 1, 2) == tables.get_fill(LEASE)
    assert tables.get_fill(others) is None


def test_ended_copy_leaves_the_others() -> None:
    """A completion acts on its own copy only."""
    copies = (write_back_copy(7, 0), write_back_copy(9, 3))

    assert LEASE._replace(copies=copies) == tables.end_copy(LEASE, 8)


# ---------------------------------------------------------------------------------------- frames


def test_pinned_frame_comes_with_lease() -> None:
    """The common beginning of the five operations that take a handle."""
    lease = Lease(2, (0, 1, 2), (), ((2, 1),), (), ())
    frame = Frame(2, 8, Phase.READY, True, (3, 4))

    assert (lease, frame) == tables.get_pinned(dirtied().state, A, HANDLE)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_set_frame_replaces_one_frame(number: int) -> None:
    """The frames keep their numbers, which are their names."""
    state = pinned().state
    frame = Frame(4, 99, Phase.WRITING_BACK, True, (8, 9))
    frames = list(state.frames)
    frames[number] = frame

    assert state._replace(frames=tuple(frames)) == tables.set_frame(state, number, frame)


@pytest.mark.parametrize("page", [0, 2, 4])
def test_set_host_replaces_one_page(page: int) -> None:
    """The canonical copy of another page is nobody's to touch."""
    state = pinned().state
    host = list(state.host)
    host[page] = HostPage((8, 9), True)

    assert state._replace(host=tuple(host)) == tables.set_host(state, page, HostPage((8, 9), True))


def test_mapped_frame_takes_host_rows() -> None:
    """Frame and page-to-frame map agree; the generation stays until the page leaves."""
    state = with_host(pinned().state, 3, rows=(8, 9))
    expected = with_frame(state, 2, page=3, phase=Phase.FILLING, rows=(8, 9))

    assert expected._replace(where=(0, None, 1, 2, None)) == tables.map_page(
        state, 3, 2, Phase.FILLING
    )


def test_unmapped_frame_moves_generation_on() -> None:
    """Every handle to the page goes stale, and the page leaves map and recency."""
    state = dirtied().state
    expected = with_frame(
        state, 1, page=None, generation=9, phase=Phase.FREE, dirty=False, rows=(3, 4)
    )

    assert expected._replace(where=(0, None, None, None, None), recency=(0,)) == tables.unmap(
        state, 1
    )


def test_unmapped_frame_may_be_set_apart() -> None:
    """A frame that a copy still touches is unmapped like any other, and not `FREE`."""
    state = dirtied().state
    free, apart = tables.unmap(state, 1), tables.unmap(state, 1, Phase.QUARANTINED)

    assert with_frame(free, 1, phase=Phase.QUARANTINED) == apart


@pytest.mark.parametrize(
    ("page", "left"),
    [(2, ((8, 0),)), (0, ((7, 2),)), (1, ((7, 2), (8, 0)))],
)
def test_unpublished_page_alone_loses_its_key(page: int, left: tuple[tuple[int, int], ...]) -> None:
    """Page 0 and key 0 are names like any other."""
    state = pinned().state._replace(keys=((7, 2), (8, 0)))

    assert state._replace(keys=left) == tables.unpublish(state, page)


def test_unmapped_frame_is_plainly_clean() -> None:
    """None and False compare unlike in a digest, however alike they read."""
    assert tables.unmap(dirtied().state, 1).frames[1].dirty is False


def test_resident_page_has_its_frame() -> None:
    """Looked up through the map, which may not be read as frame numbers."""
    state = writing_back().state

    assert Frame(2, 8, Phase.WRITING_BACK, True, (3, 4)) == tables.get_frame(state, 2)
    assert Frame(0, 7, Phase.READY, False, (0, 0)) == tables.get_frame(state, 0)


def test_page_without_frame_is_our_bug() -> None:
    """An impossible state stops at once, and names the page."""
    with pytest.raises(AssertionError) as caught:
        tables.get_frame(filling().state, 3)

    assert "page 3 is resident" == str(caught.value)


def test_mapped_page_is_the_frames() -> None:
    """Page 0 is a page, not the absence of one."""
    assert 0 == tables.mapped_page(pinned().state.frames[0])
    assert 2 == tables.mapped_page(pinned().state.frames[1])


def test_frame_without_page_is_our_bug() -> None:
    """An impossible state stops at once, and shows the frame."""
    frame = pinned().state.frames[2]
    with pytest.raises(AssertionError) as caught:
        tables.mapped_page(frame)

    assert f"{frame} maps a page" == str(caught.value)


@pytest.mark.parametrize("row", [-1, 2, 3])
def test_row_outside_page_is_refused(row: int) -> None:
    """Row -1 would be the last one to Python."""
    with pytest.raises(BadRow) as caught:
        tables.check_row(shared().state, row)

    assert {"row": row, "rows": 2} == vars(caught.value)


def test_rows_at_both_ends_pass() -> None:
    """The bounds themselves are rows."""
    state = with_lease(shared().state, A, promise=1)

    assert [None, None] == [tables.check_row(state, row) for row in (0, 1)]
