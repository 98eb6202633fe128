"""Tests of leaving on a device: leases abandoned at any moment, and resets.

That operations, refusals and results are the reference's is tested in lockstep with it
(`tests/properties/test_device_scopes.py`). What quarantine keeps back is in `test_quarantine.py`,
the device-only pool in `test_leave_off.py`.
"""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from device_samples import (
    NOBODY,
    A,
    B,
    dirtied,
    dirty,
    due,
    pin,
    pinned,
    refused,
    shared,
)
from leaving_samples import (
    HANDLE,
    filling,
    heirs,
    inherited,
    left_filling,
    left_writing,
    lost,
    slept,
    write_back,
    writing_back,
)

from device.arguments import WrongThread
from device.tier import Tier
from reference import refusals as no
from reference.refusals import Refusal
from reference.words import Handle, Phase

Build = Callable[[], Tier]
Calling = tuple[Build, str, tuple[Any, ...], Refusal]

# -------------------------------------------------------------------------------------- refused


def slept_and_full() -> Tier:
    """As `slept`, and B pins page 3 in the frame that is left."""
    tier = slept()
    pin(tier, B, 3)
    return tier


def lost_and_pending() -> Tier:
    """As `lost`, and B fills 3 for itself and for lease 2, which borrows 2 and 3."""
    tier = lost()
    assert 2 == tier.open(2)
    tier.share(2, 2)
    tier.share(2, 3)
    tier.fill(B, (3,))
    return tier


REFUSED: list[Calling] = [
    (shared, "abandon", (NOBODY,), no.UnknownLease(NOBODY)),
    (left_filling, "abandon", (A,), no.UnknownLease(A)),
    (writing_back, "land", (2, True), no.UnknownTicket(2)),
    (left_writing, "land", (1, True), no.UnknownTicket(1)),
    (left_writing, "land", (3, False), no.UnknownTicket(3)),
    (lost, "land", (2,), no.UnknownTicket(2)),
    (writing_back, "has_landed", (None, 2), no.UnknownTicket(2)),
    (left_filling, "has_landed", (A, 2), no.UnknownLease(A)),
    (lost, "fill", (B, (2,)), no.RowsLost(2)),
    (slept_and_full, "fill", (A, (0,)), no.FramesLanding(1, 0, 2)),
    (slept, "fill", (A, (0, 2)), no.FramesLanding(2, 1, 2)),
    (left_filling, "open", (2,), no.PromiseUnavailable(2, 2, 3)),
    (slept, "open", (1,), no.PromiseUnavailable(1, 5, 3)),
]

LATE: list[Calling] = [
    (left_filling, "complete_fill", (A, 2), no.UnknownLease(A)),
    (left_filling, "complete_fill", (B, 2, False), no.StaleTicket(B, 2)),
    (left_writing, "complete_write_back", (A, 2), no.UnknownLease(A)),
    (inherited, "complete_write_back", (B, 2), no.StaleTicket(B, 2)),
    (slept, "complete_fill", (A, 0), no.StaleTicket(A, 0)),
    (slept, "complete_fill", (A, 0, False), no.StaleTicket(A, 0)),
    (inherited, "mark_dirty", (B, HANDLE), no.WriteBackInFlight(2, 1)),
    (inherited, "unpin", (B, HANDLE), no.DirtyFrame(B, (2,))),
    (inherited, "finish", (B,), no.DirtyFrame(B, (2,))),
]

IN_ORDER: list[Calling] = [
    (lost, "fill", (B, (2, 3)), no.PromiseExceeded(B, 1, 2)),
    (lost_and_pending, "fill", (2, (3, 2)), no.RowsLost(2)),
    (lost_and_pending, "fill", (2, (3,)), no.HitPending(3, 0)),
]


@pytest.mark.parametrize(
    ("build", "operation", "arguments", "refusal"), [*REFUSED, *LATE, *IN_ORDER]
)
def test_refused_call_says_why_and_changes_nothing(
    build: Build, operation: str, arguments: tuple[Any, ...], refusal: Refusal
) -> None:
    """Who comes late, or too early, is told so, and nobody else feels it."""
    assert due(refusal) == refused(build(), operation, *arguments)


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("abandon", (A,)),
    ("land", (0,)),
    ("reset", ()),
    ("truncate", (A, 0, 0)),
    ("publish", (A, 0, 1)),
    ("find", (A, 1)),
]


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
def test_call_from_another_thread_is_refused(operation: str, arguments: tuple[Any, ...]) -> None:
    """A tier belongs to the thread that made it."""
    tier = shared()
    before, caught = tier.snapshot(), []

    def call() -> None:
        try:
            getattr(tier, operation)(*arguments)
        except WrongThread as error:
            caught.append(error)

    thread = Thread(target=call)
    thread.start()
    thread.join()

    assert 1 == len(caught)
    assert before == tier.snapshot()


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        (name, (*given[:i], True, *given[i + 1 :]))
        for name, given in CALLS
        for i in range(len(given))
    ]
    + [("land", (0, 1))],
)
def test_argument_of_another_type_is_an_error(operation: str, arguments: tuple[Any, ...]) -> None:
    """A truth value is no number, and a number no truth value."""
    tier = shared()
    before = tier.snapshot()
    with pytest.raises(TypeError, match="it must be a"):
        getattr(tier, operation)(*arguments)

    assert before == tier.snapshot()


# -------------------------------------------------------------------------------------- abandon


def test_lease_that_is_gone_leaves_its_copy_and_nothing_else() -> None:
    """Frame and host page stay out of use, and are shown as they are stored."""
    snapshot = left_filling().snapshot()

    assert [B] == list(snapshot.leases)
    assert ((2, "fill", (2,), (1,)),) == snapshot.quarantine
    assert ((1,), (0, 4)) == (snapshot.retired, snapshot.free)
    assert (None, 1, Phase.QUARANTINED, False, None) == snapshot.frames[2]
    assert [2, 3] == list(snapshot.host)


def test_retired_page_is_free_when_its_copy_has_landed() -> None:
    """And reads zero in its next life."""
    tier = left_filling()
    assert [0, 4] == tier.alloc_all(B, 2).tolist()
    assert due(no.PageMemory(5)) == refused(tier, "alloc", B)
    tier.land(2)

    assert 1 == tier.alloc(B)
    assert (0, 0) == tier.snapshot().host[1]


def test_page_is_retired_whoever_holds_it_last() -> None:
    """The lease that abandoned the copy is not the one whose hold is the last."""
    tier = shared()
    tier.share(B, 0)
    tier.fill(A, (0,))
    tier.abandon(A)
    assert () == tier.snapshot().retired
    tier.finish(B)

    assert (0,) == tier.snapshot().retired
    tier.land(0)
    assert (0, 1, 2, 3, 4) == tier.snapshot().free


def test_unpublished_rows_of_a_shared_page_fall_back_to_its_host_page() -> None:
    """Who borrows it finds the last rows that were published."""
    tier, _ = dirtied()
    write_back(tier, A, HANDLE)
    dirty(tier, A, HANDLE, 8, 9)

    assert (2,) == tier.abandon(A)
    assert () == tier.snapshot().lost
    (handle,) = pin(tier, B, 2)
    assert [3, 4] == [tier.read(B, handle, row) for row in range(2)]


def test_torn_page_is_lost_until_it_is_truncated_to_nothing() -> None:
    """Its rows are nowhere; then it is as fresh as a new one."""
    tier = lost()
    assert ((2,), (2,)) == (tier.snapshot().lost, tier.snapshot().torn)
    tier.truncate(B, 2, 0)

    assert ((), ()) == (tier.snapshot().lost, tier.snapshot().torn)
    (handle,) = pin(tier, B, 2)
    assert [0, 0] == [tier.read(B, handle, row) for row in range(2)]


def test_freed_page_is_lost_no_more() -> None:
    """The next life begins with zeros like any other."""
    tier = lost()
    tier.release(B, 2)

    assert () == tier.snapshot().lost
    assert [0, 1, 2] == tier.alloc_all(B, 3).tolist()
    assert (0, 0) == tier.snapshot().host[2]


def test_claim_keeps_dirty_rows_and_loses_them_with_its_fill() -> None:
    """A fill that fails tells which rows only its claim had kept."""
    tier = heirs()
    assert (0, 0, Phase.READY, True, (3, 4)) == tier.snapshot().frames[0]
    end = tier.complete_fill(B, 1, ok=False)

    assert (False, (0,)) == end
    assert not end
    snapshot = tier.snapshot()
    assert (None, None) == snapshot.where[:2]
    assert (0, 0) == snapshot.host[0]


def test_claim_keeps_dirty_rows_until_its_fill_pins_them() -> None:
    """They are the heir's to publish then."""
    tier = heirs()

    assert (True, ()) == tier.complete_fill(B, 1)
    write_back(tier, B, Handle(0, 0, 0))
    assert (3, 4) == tier.snapshot().host[0]


# ---------------------------------------------------------------------------------------- reset


def test_reset_drops_residency_and_keeps_promises_and_host_pages() -> None:
    """Sleep and wake: what was published is there, what was in flight lands in quarantine."""
    tier = filling()
    dirty(tier, A, HANDLE, 8, 9)
    assert 3 == tier.write_back(A, HANDLE)
    before = tier.snapshot()

    assert (2,) == tier.reset()
    after = tier.snapshot()
    assert (None,) * 5 == after.where
    assert [2, 3] == [orphan.ticket for orphan in after.quarantine]
    phases = [Phase.FREE, Phase.QUARANTINED, Phase.QUARANTINED]
    assert phases == [frame.phase for frame in after.frames]
    assert [(2, {}, (), ()), (1, {}, (), ())] == [
        (lease.promise, lease.pins, lease.claims, lease.copies) for lease in after.leases.values()
    ]
    assert before.leases[A].table == after.leases[A].table
    assert ((2,), (2,)) == (after.lost, after.torn)
    assert {**before.host, 2: None} == after.host


def test_fill_may_be_repeated_once_frames_have_landed() -> None:
    """The only time a lease inside its promise has to wait."""
    tier = slept()
    assert due(no.FramesLanding(2, 1, 2)) == refused(tier, "fill", A, (0, 2))
    assert tier.land(0)

    assert [0, 1] == [handle.frame for handle in tier.fill(A, (0, 2)).handles]


def test_handles_from_before_a_reset_are_stale() -> None:
    """Generations moved on, in quarantine or not."""
    tier, handle = pinned()
    tier.reset()

    assert due(no.StaleHandle(Handle(*handle))) == refused(tier, "read", A, handle, 0)
