"""Tests of the pool without a tier: every page is resident from its allocation."""

import pytest
from reference_samples import A, B, due, refused, shared, with_counters, with_host, with_lease

from reference import refusals as no
from reference.calls import (
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Release,
    Unpin,
    Write,
)
from reference.reference import Reference
from reference.refusals import Refusal
from reference.state import Frame, Pool
from reference.transition import options
from reference.words import Handle, Phase, Plan

HANDLE = Handle(page=2, frame=2, generation=9)


def off() -> Reference:
    """As `shared`, without a tier."""
    return shared(off=True)


def dirty_off() -> Reference:
    """As `off`, and A pins page 2, marked it dirty and wrote 3 and 4 to its rows."""
    tier = off()
    tier.fill(A, (2,))
    tier.mark_dirty(A, HANDLE)
    tier.write(A, HANDLE, 0, 3)
    tier.write(A, HANDLE, 1, 4)
    return tier


def test_page_is_resident_from_alloc() -> None:
    """The frame has the page's number and its zeros, whatever its last tenant left."""
    tier = off()
    frames = (*tier.state.frames[:4], tier.state.frames[4]._replace(rows=(8, 9)))
    tier.state = with_host(tier.state._replace(frames=frames), 4, rows=(8, 9))
    before = tier.state
    page = tier.alloc(B)
    expected = with_host(with_lease(before, B, table=(3, 4)), 4, rows=(0, 0))
    expected = expected._replace(
        frames=(*frames[:4], Frame(4, 11, Phase.READY, False, (0, 0))),
        where=(0, 1, 2, 3, 4),
        pool=Pool(free=(), holds=(1, 1, 2, 1, 1)),
    )

    assert 4 == page
    assert expected == tier.state


def test_lookup_finds_page_at_once() -> None:
    """No fill has to bring it in."""
    assert HANDLE == off().lookup(B, 2)


def test_fill_is_hits_without_ticket() -> None:
    """Nothing is ever in flight: the pins are there when the call returns."""
    tier = off()
    before = tier.state
    plan = tier.fill(A, (2, 0))
    expected = with_lease(before, A, pins=((0, 1), (2, 1)))

    assert Plan(None, (HANDLE, Handle(0, 0, 7)), ()) == plan
    assert with_counters(expected._replace(recency=(2, 0)), hits=2) == tier.state


def test_fill_leaves_nothing_to_choose() -> None:
    """Without a miss there is neither a frame to pick nor a placing to fail."""
    assert [()] == [choice.frames for choice in options(off().state, Fill(A, (2, 0)))]


def test_write_back_publishes_at_once() -> None:
    """No ticket, and nothing torn in between."""
    tier = dirty_off()
    before = tier.state
    ticket = tier.write_back(A, HANDLE)
    frames = list(before.frames)
    frames[2] = Frame(2, 9, Phase.READY, False, (3, 4))
    expected = with_host(before._replace(frames=tuple(frames)), 2, rows=(3, 4))

    assert ticket is None
    assert with_counters(expected, write_backs=1) == tier.state


def test_clean_write_back_does_nothing() -> None:
    """Only a dirty frame is copied and counted."""
    tier = off()
    tier.fill(A, (2,))
    before = tier.state

    assert tier.write_back(A, HANDLE) is None
    assert before == tier.state


def test_freed_page_moves_generation_on() -> None:
    """Handles of the last life go stale as with a tier."""
    tier = off()
    tier.release(A, 0)

    assert Frame(None, 8, Phase.FREE, False, (0, 0)) == tier.state.frames[0]
    assert 0 == tier.alloc(B)
    assert Handle(0, 0, 8) == tier.lookup(B, 0)


def test_abandoned_rows_fall_back_to_host() -> None:
    """The frame is the page's for life: it shows again what was published, under its old handle."""
    tier = dirty_off()
    tier.write_back(A, HANDLE)
    tier.mark_dirty(A, HANDLE)
    tier.write(A, HANDLE, 0, 8)
    gone = tier.abandon(A)

    assert (2,) == gone
    assert Frame(2, 9, Phase.READY, False, (3, 4)) == tier.state.frames[2]
    assert [Phase.FREE] * 2 == [frame.phase for frame in tier.state.frames[:2]]
    assert (HANDLE,) == tier.fill(B, (2,)).handles


def test_reset_leaves_every_page_resident() -> None:
    """There is nowhere to go: pins and unpublished rows are all that goes."""
    tier = dirty_off()
    before = tier.state
    gone = tier.reset()
    frames = list(before.frames)
    frames[2] = Frame(2, 9, Phase.READY, False, (0, 0))

    assert (2,) == gone
    assert with_lease(before, A, pins=())._replace(frames=tuple(frames)) == tier.state


def test_abandoned_page_of_another_pinner_stays_dirty() -> None:
    """With or without a tier, who pins it has the last word now."""
    tier = dirty_off()
    tier.fill(B, (2,))
    before = tier.state

    assert () == tier.abandon(A)
    assert before.frames[2] == tier.state.frames[2]


def test_truncated_page_is_cut_in_both_places() -> None:
    """Frame and host page are two copies here too."""
    tier = dirty_off()
    tier.write_back(A, HANDLE)
    tier.truncate(A, 2, 1)

    assert ((3, 0), (3, 0)) == (tier.state.frames[2].rows, tier.state.host[2].rows)


def test_published_page_is_found_at_once() -> None:
    """A write-back without a tier makes rows as durable as with one."""
    tier = dirty_off()
    tier.write_back(A, HANDLE)
    tier.publish(A, 2, 7)

    assert 2 == tier.find(B, 7)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (Open(3), no.PromiseUnavailable(3, 3, 5)),
        (Lookup(A, 3), no.NotHeld(A, 3)),
        (Release(A, 2), no.PagePinned(A, 2, 1)),
        (Fill(A, (0, 1)), no.PromiseExceeded(A, 2, 3)),
        (Fill(A, (0, 0)), no.DuplicatePage(0)),
        (CompleteFill(A, 20, True), no.StaleTicket(A, 20)),
        (Unpin(A, HANDLE), no.DirtyFrame(A, (2,))),
        (Unpin(A, HANDLE._replace(generation=8)), no.StaleHandle(Handle(2, 2, 8))),
        (MarkDirty(B, HANDLE), no.NotPinned(B, 2)),
        (Write(A, HANDLE, 2, 1), no.BadRow(2, 2)),
        (CompleteWriteBack(A, 20, True), no.StaleTicket(A, 20)),
        (Finish(A), no.DirtyFrame(A, (2,))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refusals_hold_as_with_tier(call: object, refusal: Refusal) -> None:
    """A caller that behaves without a tier must not fall over when one is switched on."""
    assert due(refusal) == refused(dirty_off(), call)
