"""Tests of rows and write-backs in batches: together they do what they do one by one."""

from typing import Any

import numpy as np
import pytest
from device_samples import (
    NOBODY,
    ROW_BYTES,
    A,
    B,
    due,
    get_simulated,
    new_tier,
    numbers,
    pin,
    refused,
)

from device.handles import Handles
from device.runtime import CopyFailed
from device.tier import Tier
from reference import refusals as no
from reference.words import Handle, Phase


def three_pinned(off: bool = False) -> tuple[Tier, Handles]:
    """A pins 0, 1 and 2 in frames of their numbers; B holds 3."""
    tier = new_tier(pages=5, frames=5 if off else 4, off=off)
    assert [A, B] == [tier.open(3), tier.open(1)]
    pages = tier.alloc_all(A, 3)
    tier.alloc(B)
    plan = tier.fill_all(A, pages)
    if plan.ticket is not None:
        assert tier.complete_fill(A, plan.ticket)
    return tier, plan.handles


def some_rows(count: int) -> np.ndarray:
    """Rows of different bytes."""
    size = count * ROW_BYTES
    return (np.arange(size) % 255 + 1).astype(np.uint8).reshape(count, ROW_BYTES)


def dirty_all(tier: Tier, handles: Handles) -> np.ndarray:
    """Mark all frames dirty and write the second row of each; those rows."""
    content = some_rows(len(handles))
    tier.mark_dirty_all(A, handles)
    tier.write_bytes_all(A, handles, np.ones(len(handles), dtype=np.int8), content)
    return content


def test_rows_are_written_and_read_in_batches() -> None:
    """Each row is that of its handle, in order."""
    tier, handles = three_pinned()
    content = dirty_all(tier, handles)
    backwards = [handles[2], handles[0]]
    reading = tier.read_later(A, backwards, [1, 1])

    assert content[[2, 0]].tolist() == tier.get_read(reading).tolist()
    assert [True, True, True, False] == [frame.dirty for frame in tier.snapshot().frames]


def test_write_backs_are_queued_together_and_complete_alone_or_together() -> None:
    """Each has a ticket, and a clean frame has none."""
    tier, handles = three_pinned()
    content = dirty_all(tier, Handles(*(column[1:] for column in columns_of(handles))))
    tickets = tier.write_back_all(A, handles)

    assert [-1, 1, 2] == tickets.tolist()
    assert [Phase.READY, Phase.WRITING_BACK, Phase.WRITING_BACK, Phase.FREE] == phases(tier)
    assert tier.complete_write_back(A, 2)
    assert [Phase.READY, Phase.WRITING_BACK, Phase.READY, Phase.FREE] == phases(tier)
    assert [True] == tier.complete_write_back_all(A, [1]).tolist()
    assert content.tolist() == [tier.read_host(page)[1].tolist() for page in (1, 2)]
    assert (2, 0) == tier.snapshot().counters[4:]
    assert 3 == tier.tables.next_ticket


def columns_of(handles: Handles) -> tuple[np.ndarray, ...]:
    """The columns of handles."""
    return handles.pages, handles.frames, handles.generations


def phases(tier: Tier) -> list[Phase]:
    """The phase of each frame."""
    return [frame.phase for frame in tier.snapshot().frames]


def test_copy_that_fails_fails_all_that_were_queued_with_it() -> None:
    """A device need not tell which; nothing is lost, and they can be tried again."""
    tier, handles = three_pinned()
    content = dirty_all(tier, handles)
    tickets = tier.write_back_all(A, handles)
    flight = tier.tables.leases[A].flights[1]
    assert get_simulated(tier).fail_copy(flight.queued.events[1], 0)

    assert [False] * 3 == tier.complete_write_back_all(A, tickets).tolist()
    assert (0, 3) == tier.snapshot().counters[4:]
    assert (0, 1, 2) == tier.snapshot().torn
    tickets = tier.write_back_all(A, handles)
    assert [True] * 3 == tier.complete_write_back_all(A, tickets).tolist()
    assert content.tolist() == [tier.read_host(page)[1].tolist() for page in range(3)]


def test_batch_of_write_backs_is_complete_at_once_when_off() -> None:
    """Nothing is in flight, and no ticket is given."""
    tier, handles = three_pinned(off=True)
    dirty_all(tier, handles)

    assert [-1] * 3 == tier.write_back_all(A, handles).tolist()
    assert (3, 0) == tier.snapshot().counters[4:]


def test_batch_of_write_backs_that_fails_when_off_says_so() -> None:
    """All are dirty still."""
    tier, handles = three_pinned(off=True)
    dirty_all(tier, handles)
    get_simulated(tier).fail_next_copy(item=1)
    with pytest.raises(CopyFailed):
        tier.write_back_all(A, handles)

    assert [True] * 3 == [frame.dirty for frame in tier.snapshot().frames[:3]]
    assert (0, 3) == tier.snapshot().counters[4:]


STALE = Handle(1, 1, 7)
UNPINNED = Handle(3, 3, 0)


@pytest.mark.parametrize(
    ("operation", "handles", "more", "refusal"),
    [
        ("mark_dirty_all", (0, STALE, UNPINNED), (), no.StaleHandle(STALE)),
        ("mark_dirty_all", (0, UNPINNED, STALE), (), no.NotPinned(A, 3)),
        ("mark_dirty_all", (0, 2, STALE), (), no.WriteBackInFlight(2, 2)),
        ("write_bytes_all", (0, 2, STALE), (0, 0, 0), no.WriteBackInFlight(2, 2)),
        ("write_bytes_all", (0, 1, STALE), (0, 0, 0), no.NotDirty(1, 1)),
        ("write_bytes_all", (0, 0, STALE), (0, 2, 0), no.BadRow(2, 2)),
        ("write_bytes_all", (0, 0, STALE), (0, -1, 0), no.BadRow(-1, 2)),
        ("read_later", (0, 2, STALE), (0, 2, 0), no.BadRow(2, 2)),
        ("read_later", (0, STALE, 2), (0, 0, 2), no.StaleHandle(STALE)),
        ("write_back_all", (0, 2, STALE), (), no.WriteBackInFlight(2, 2)),
        ("write_back_all", (0, STALE, 2), (), no.StaleHandle(STALE)),
        ("write_back_all", (STALE, 0, 0), (), no.DuplicatePage(0)),
        ("unpin_all", (0, STALE), (), no.DirtyFrame(A, (0,))),
        ("unpin_all", (2, STALE), (), no.DirtyFrame(A, (2,))),
        ("unpin_all", (1, UNPINNED, 0), (), no.NotPinned(A, 3)),
    ],
)
def test_first_offender_says_why_a_batch_is_refused(
    operation: str, handles: tuple[Any, ...], more: tuple[int, ...], refusal: no.Refusal
) -> None:
    """As if one came after the other, but all or none."""
    tier, pinned = three_pinned()
    pin(tier, B, 3)
    for page in (0, 2):
        tier.mark_dirty(A, pinned[page])
    assert tier.write_back(A, pinned[2]) is not None
    many = [pinned[handle] if isinstance(handle, int) else handle for handle in handles]
    arguments: list[Any] = [many, *([more] if more else [])]
    if operation == "write_bytes_all":
        arguments.append(some_rows(len(many)))

    assert due(refusal) == refused(tier, operation, A, *arguments)
    assert due(no.UnknownLease(NOBODY)) == refused(tier, operation, NOBODY, *arguments)


def test_row_that_is_written_twice_is_a_clear_error() -> None:
    """Which of the two would be left is nobody's to say."""
    tier, handles = three_pinned()
    tier.mark_dirty_all(A, handles)
    before = tier.snapshot()
    with pytest.raises(ValueError, match="one comes twice"):
        tier.write_bytes_all(A, [handles[0], handles[0]], [1, 1], some_rows(2))
    with pytest.raises(ValueError, match="there are 1 rows for 2 handles"):
        tier.read_later(A, [handles[0], handles[1]], [1])

    assert before == tier.snapshot()


def test_ticket_completes_once() -> None:
    """A batch with a stale ticket completes none of its tickets."""
    tier, handles = three_pinned()
    dirty_all(tier, handles)
    tickets = tier.write_back_all(A, handles).tolist()
    one, two, three = tickets

    def due_ticket(ticket: int) -> Any:
        return due(no.StaleTicket(A, ticket))

    assert due_ticket(one) == refused(tier, "complete_write_back_all", A, [one, two, one])
    assert due_ticket(9) == refused(tier, "complete_write_back_all", A, [two, 9])
    assert due_ticket(0) == refused(tier, "complete_write_back_all", A, numbers(0))
    tier.complete_write_back_all(A, [three])
    assert due_ticket(three) == refused(tier, "complete_write_back_all", A, [one, three])


def test_write_back_can_be_given_up_alone() -> None:
    """The others of its batch land all the same."""
    tier, handles = three_pinned()
    dirty_all(tier, handles)
    one, two, _ = tier.write_back_all(A, handles).tolist()

    assert not tier.complete_write_back(A, one, ok=False)
    assert tier.complete_write_back(A, two)
    assert (0, 2) == tier.snapshot().torn
