"""Tests of what leases, holds, pins and write-backs refuse, in the order of the spec's rows.

What the calls do that are not refused is in `test_tier.py` and `test_tier_pins.py`.
"""

from collections.abc import Callable

import pytest
from reference_samples import (
    HANDLE,
    NOBODY,
    A,
    B,
    all_held,
    both_dirty,
    both_pinned,
    case,
    dirtied,
    dirty,
    due,
    filling,
    one_lease,
    pin,
    pinned,
    refused,
    shared,
    torn,
    writing_back,
    written_back,
)

from reference import refusals as no
from reference.calls import (
    Alloc,
    Call,
    CompleteWriteBack,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Read,
    Release,
    Share,
    Unpin,
    Write,
    WriteBack,
)
from reference.reference import Reference
from reference.refusals import Refusal
from reference.words import Handle

Build = Callable[[], Reference]

FORGED = {
    "older generation": HANDLE._replace(generation=7),
    "newer generation": HANDLE._replace(generation=9),
    "generation of another frame": Handle(2, 0, 7),
    "another page": HANDLE._replace(page=0),
    "another frame": HANDLE._replace(frame=0),
    "a FREE frame": Handle(2, 2, 9),
    "a frame counted from the end": HANDLE._replace(frame=-2),
    "a frame past the last": HANDLE._replace(frame=3),
}


def pinned_twice() -> Reference:
    """As `pinned`, with a second pin of A on page 2."""
    tier = pinned()
    pin(tier, A, 2)
    return tier


def two_dirty() -> Reference:
    """A pins pages 0 and 2 and wrote both; B pins page 2, which it borrows."""
    tier = shared()
    for handle in pin(tier, A, 2, 0):
        dirty(tier, A, handle, 1)
    pin(tier, B, 2)
    return tier


def filling_and_writing_back() -> Reference:
    """As `writing_back`, and A fills 1 with ticket 23."""
    tier = writing_back()
    tier.fill(A, (1,))
    return tier


def filling_and_dirty() -> Reference:
    """As `dirtied`, and A fills 1 with ticket 22."""
    tier = dirtied()
    tier.fill(A, (1,))
    return tier


def dirty_and_writing_back() -> Reference:
    """As `two_dirty`, and page 0 is written back."""
    tier = two_dirty()
    tier.write_back(A, Handle(0, 1, 8))
    return tier


def two_written_back() -> Reference:
    """As `dirty_and_writing_back`, and page 2 is written back after page 0."""
    tier = dirty_and_writing_back()
    tier.write_back(A, Handle(2, 0, 7))
    return tier


def both_writing_back() -> Reference:
    """As `both_dirty`, and A writes page 2 back with ticket 22."""
    tier = both_dirty()
    tier.write_back(A, HANDLE)
    return tier


def failed_again() -> Reference:
    """As `torn`, and started once more with ticket 23."""
    tier = torn()
    tier.write_back(A, HANDLE)
    return tier


def with_handle(handle: Handle) -> list[Call]:
    """The five calls that take a handle, of lease A."""
    return [
        Unpin(A, handle),
        MarkDirty(A, handle),
        Write(A, handle, 0, 1),
        Read(A, handle, 0),
        WriteBack(A, handle),
    ]


REFUSED = [
    case(shared, Open(0), no.BadPromise(0)),
    case(shared, Open(-1), no.BadPromise(-1)),
    case(one_lease, Open(2), no.PromiseUnavailable(2, 2, 3)),
    case(one_lease, Open(4), no.PromiseUnavailable(4, 2, 3)),
    case(shared, Open(1), no.PromiseUnavailable(1, 3, 3)),
    case(shared, Alloc(NOBODY), no.UnknownLease(NOBODY)),
    case(all_held, Alloc(A), no.PageMemory(5)),
    case(shared, Share(NOBODY, 2), no.UnknownLease(NOBODY)),
    case(shared, Share(A, 4), no.UnknownPage(4)),
    case(shared, Share(A, 5), no.UnknownPage(5)),
    case(shared, Share(A, -2), no.UnknownPage(-2)),
    case(shared, Share(A, 1), no.AlreadyHeld(A, 1)),
    case(shared, Share(B, 2), no.AlreadyHeld(B, 2)),
    case(shared, Release(NOBODY, 2), no.UnknownLease(NOBODY)),
    case(shared, Release(B, 0), no.NotHeld(B, 0)),
    case(shared, Release(B, 4), no.NotHeld(B, 4)),
    case(filling, Release(A, 1), no.FillInFlight(A, 22)),
    case(pinned, Release(A, 2), no.PagePinned(A, 2, 1)),
    case(pinned_twice, Release(A, 2), no.PagePinned(A, 2, 2)),
    case(both_pinned, Release(B, 2), no.PagePinned(B, 2, 1)),
    case(shared, Finish(NOBODY), no.UnknownLease(NOBODY)),
    case(filling, Finish(A), no.FillInFlight(A, 22)),
    case(writing_back, Finish(A), no.WriteBackInFlight(2, 1)),
    case(two_written_back, Finish(A), no.WriteBackInFlight(0, 1)),
    case(dirtied, Finish(A), no.DirtyFrame(A, (2,))),
    case(two_dirty, Finish(A), no.DirtyFrame(A, (0, 2))),
    case(two_dirty, Finish(B), no.DirtyFrame(B, (2,))),
    case(two_written_back, Finish(B), no.DirtyFrame(B, (2,))),
    case(shared, Lookup(NOBODY, 2), no.UnknownLease(NOBODY)),
    case(pinned, Lookup(B, 0), no.NotHeld(B, 0)),
    case(pinned, Lookup(B, 5), no.NotHeld(B, 5)),
    case(pinned, Unpin(NOBODY, HANDLE), no.UnknownLease(NOBODY)),
    case(pinned, Unpin(B, HANDLE), no.NotPinned(B, 2)),
    case(pinned, Unpin(A, Handle(0, 0, 7)), no.NotPinned(A, 0)),
    case(dirtied, Unpin(A, HANDLE), no.DirtyFrame(A, (2,))),
    case(writing_back, Unpin(A, HANDLE), no.DirtyFrame(A, (2,))),
    case(torn, Unpin(A, HANDLE), no.DirtyFrame(A, (2,))),
    case(both_dirty, Unpin(A, HANDLE), no.DirtyFrame(A, (2,))),
    case(both_dirty, Unpin(B, HANDLE), no.DirtyFrame(B, (2,))),
    case(pinned, MarkDirty(NOBODY, HANDLE), no.UnknownLease(NOBODY)),
    case(pinned, MarkDirty(B, HANDLE), no.NotPinned(B, 2)),
    case(writing_back, MarkDirty(A, HANDLE), no.WriteBackInFlight(2, 1)),
    case(both_writing_back, MarkDirty(B, HANDLE), no.WriteBackInFlight(2, 1)),
    case(dirtied, Write(NOBODY, HANDLE, 0, 1), no.UnknownLease(NOBODY)),
    case(dirtied, Write(B, HANDLE, 0, 1), no.NotPinned(B, 2)),
    case(writing_back, Write(A, HANDLE, 0, 1), no.WriteBackInFlight(2, 1)),
    case(both_writing_back, Write(B, HANDLE, 0, 1), no.WriteBackInFlight(2, 1)),
    case(pinned, Write(A, HANDLE, 0, 1), no.NotDirty(2, 1)),
    case(written_back, Write(A, HANDLE, 0, 1), no.NotDirty(2, 1)),
    case(dirtied, Write(A, HANDLE, -1, 1), no.BadRow(-1, 2)),
    case(dirtied, Write(A, HANDLE, 2, 1), no.BadRow(2, 2)),
    case(pinned, Read(NOBODY, HANDLE, 0), no.UnknownLease(NOBODY)),
    case(pinned, Read(B, HANDLE, 0), no.NotPinned(B, 2)),
    case(pinned, Read(A, HANDLE, -1), no.BadRow(-1, 2)),
    case(pinned, Read(A, HANDLE, 2), no.BadRow(2, 2)),
    case(dirtied, WriteBack(NOBODY, HANDLE), no.UnknownLease(NOBODY)),
    case(dirtied, WriteBack(B, HANDLE), no.NotPinned(B, 2)),
    case(writing_back, WriteBack(A, HANDLE), no.WriteBackInFlight(2, 1)),
    case(both_writing_back, WriteBack(B, HANDLE), no.WriteBackInFlight(2, 1)),
    case(writing_back, CompleteWriteBack(NOBODY, 22, True), no.UnknownLease(NOBODY)),
    case(writing_back, CompleteWriteBack(A, 23, True), no.StaleTicket(A, 23)),
]

LATE = [
    pytest.param(writing_back, CompleteWriteBack(B, 22, True), id="of another lease"),
    pytest.param(written_back, CompleteWriteBack(A, 22, True), id="landed twice"),
    pytest.param(written_back, CompleteWriteBack(A, 22, False), id="failed after landing"),
    pytest.param(torn, CompleteWriteBack(A, 22, True), id="landed after failing"),
    pytest.param(failed_again, CompleteWriteBack(A, 22, True), id="of the copy before"),
    pytest.param(filling, CompleteWriteBack(A, 22, True), id="of a fill"),
]

IN_ORDER = [
    case(all_held, Alloc(NOBODY), no.UnknownLease(NOBODY), also="PageMemory"),
    case(shared, Share(NOBODY, 4), no.UnknownLease(NOBODY), also="UnknownPage"),
    case(shared, Release(NOBODY, 4), no.UnknownLease(NOBODY), also="NotHeld"),
    case(filling, Release(A, 2), no.FillInFlight(A, 22), also="PagePinned"),
    case(filling_and_writing_back, Finish(A), no.FillInFlight(A, 23), also="WriteBackInFlight"),
    case(filling_and_dirty, Finish(A), no.FillInFlight(A, 22), also="DirtyFrame"),
    case(dirty_and_writing_back, Finish(A), no.WriteBackInFlight(0, 1), also="DirtyFrame"),
    case(pinned, Lookup(NOBODY, 5), no.UnknownLease(NOBODY), also="NotHeld"),
    *(
        case(dirtied, call, no.UnknownLease(NOBODY), also="StaleHandle")
        for call in (
            Unpin(NOBODY, FORGED["older generation"]),
            MarkDirty(NOBODY, FORGED["older generation"]),
            Write(NOBODY, FORGED["older generation"], 0, 1),
            Read(NOBODY, FORGED["older generation"], 0),
            WriteBack(NOBODY, FORGED["older generation"]),
        )
    ),
    *(case(shared, call, no.StaleHandle(HANDLE), also="NotPinned") for call in with_handle(HANDLE)),
    *(
        case(writing_back, call, no.StaleHandle(FORGED["older generation"]), also="all the rest")
        for call in with_handle(FORGED["older generation"])
    ),
    case(dirtied, Unpin(B, HANDLE), no.NotPinned(B, 2), also="DirtyFrame"),
    case(writing_back, MarkDirty(B, HANDLE), no.NotPinned(B, 2), also="WriteBackInFlight"),
    case(writing_back, Write(B, HANDLE, 0, 1), no.NotPinned(B, 2), also="WriteBackInFlight"),
    case(pinned, Write(B, HANDLE, 0, 1), no.NotPinned(B, 2), also="NotDirty"),
    case(writing_back, Write(A, HANDLE, 2, 1), no.WriteBackInFlight(2, 1), also="BadRow"),
    case(pinned, Write(A, HANDLE, 2, 1), no.NotDirty(2, 1), also="BadRow"),
    case(pinned, Read(B, HANDLE, 2), no.NotPinned(B, 2), also="BadRow"),
    case(
        pinned,
        Read(A, FORGED["another page"], 2),
        no.StaleHandle(FORGED["another page"]),
        also="BadRow",
    ),
    case(writing_back, WriteBack(B, HANDLE), no.NotPinned(B, 2), also="WriteBackInFlight"),
    case(
        writing_back,
        CompleteWriteBack(NOBODY, 99, True),
        no.UnknownLease(NOBODY),
        also="StaleTicket",
    ),
]


@pytest.mark.parametrize(("build", "call", "refusal"), REFUSED)
def test_refused_call_says_why_and_changes_nothing(
    build: Build, call: Call, refusal: Refusal
) -> None:
    """A caller goes on from a refusal: it needs the reason, and the state it had."""
    assert due(refusal) == refused(build(), call)


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("build", [pinned, dirtied])
def test_no_call_takes_a_stale_handle(build: Build, forged: str) -> None:
    """A frame holds another page by now, or never held this one: its bytes are not the caller's."""
    handle = FORGED[forged]
    tier = build()
    expected = [due(no.StaleHandle(handle))] * 5

    assert expected == [refused(tier, call) for call in with_handle(handle)]


@pytest.mark.parametrize(("build", "call"), LATE)
def test_completion_acts_once_on_its_own(build: Build, call: CompleteWriteBack) -> None:
    """A late, doubled or foreign completion would publish rows that no copy carried."""
    assert due(no.StaleTicket(call.lease, call.ticket)) == refused(build(), call)


@pytest.mark.parametrize(("build", "call", "refusal"), IN_ORDER)
def test_first_refusal_of_row_is_raised(build: Build, call: Call, refusal: Refusal) -> None:
    """Two implementations with other orders give other histories of the same calls."""
    assert due(refusal) == refused(build(), call)


def test_claim_gives_no_right_to_frame() -> None:
    """A hit marked dirty under its own failing fill would be left dirty and unpinned."""
    tier = filling()
    tier.complete_fill(A, 22, False)
    tier.unpin(A, HANDLE)
    tier.fill(A, (2, 1))
    expected = [due(no.NotPinned(A, 2))] * 5

    assert expected == [refused(tier, call) for call in with_handle(HANDLE)]
