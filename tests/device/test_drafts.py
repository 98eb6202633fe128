"""Tests of drafts and keys on a device: rows taken back in bytes, and full pages found by a key.

That operations, refusals and results are the reference's is tested in lockstep with it
(`tests/properties/test_device_scopes.py`).
"""

from collections.abc import Callable
from typing import Any

import pytest
from device_samples import (
    NOBODY,
    ROW_BYTES,
    A,
    B,
    dirtied,
    dirty,
    due,
    get_simulated,
    new_tier,
    numbers,
    pin,
    pinned,
    refused,
    shared,
)
from leaving_samples import (
    HANDLE,
    KEY,
    filling,
    full,
    inherited,
    left_writing,
    lose,
    lost,
    published,
    write_back,
    writing_back,
)

from device.data_path import DataPath
from device.keys import DEAD_MAX, KeyTable
from device.runtime import DeviceLost, OutOfMemory
from device.tier import Tier
from reference import refusals as no
from reference.refusals import Refusal
from reference.words import Phase

Build = Callable[[], Tier]
Calling = tuple[Build, str, tuple[Any, ...], Refusal]


def filling_shared() -> Tier:
    """As `filling`, and B borrows page 1, which is on its way into frame 2."""
    tier = filling()
    tier.share(B, 1)
    return tier


def both_filling() -> Tier:
    """A fills page 1 into frame 0 and B, which borrows it, page 3 into frame 1."""
    tier = shared()
    tier.share(B, 1)
    tier.fill(A, (1,))
    assert 1 == tier.fill(B, (3,)).ticket
    return tier


def half_full() -> Tier:
    """As `pinned`, and A wrote 3 to the first row of page 2, which is durable."""
    tier, handle = pinned()
    dirty(tier, A, handle, 3)
    write_back(tier, A, handle)
    return tier


def dirtied_only() -> Tier:
    """As `dirtied`, without the handle."""
    return dirtied()[0]


def durable() -> Tier:
    """As `dirtied`, and page 2 is written back, full."""
    tier, handle = dirtied()
    write_back(tier, A, handle)
    return tier


def two_full() -> Tier:
    """As `published`, and page 0 is full and durable too."""
    tier = published()
    full(tier, A, 0, 5, 6)
    return tier


# -------------------------------------------------------------------------------------- refused

REFUSED: list[Calling] = [
    (dirtied_only, "truncate", (NOBODY, 2, 0), no.UnknownLease(NOBODY)),
    (dirtied_only, "truncate", (B, 0, 0), no.NotHeld(B, 0)),
    (dirtied_only, "truncate", (A, 4, 0), no.NotHeld(A, 4)),
    (dirtied_only, "truncate", (A, -1, 0), no.NotHeld(A, -1)),
    (dirtied_only, "truncate", (A, 2, -1), no.BadLength(-1, 2)),
    (dirtied_only, "truncate", (A, 2, 3), no.BadLength(3, 2)),
    (filling, "truncate", (A, 1, 0), no.FillInFlight(A, 2)),
    (filling, "truncate", (A, 1, 3), no.BadLength(3, 2)),
    (filling_shared, "truncate", (B, 1, 0), no.HitPending(1, 2)),
    (both_filling, "truncate", (B, 1, 0), no.HitPending(1, 0)),
    (both_filling, "truncate", (B, 3, 0), no.FillInFlight(B, 1)),
    (writing_back, "truncate", (A, 2, 0), no.WriteBackInFlight(2, 1)),
    (writing_back, "truncate", (B, 2, 0), no.WriteBackInFlight(2, 1)),
    (inherited, "truncate", (B, 2, 0), no.WriteBackInFlight(2, 1)),
    (left_writing, "truncate", (B, 2, 0), no.WriteBackInFlight(2, 1)),
    (durable, "publish", (NOBODY, 2, 7), no.UnknownLease(NOBODY)),
    (durable, "publish", (B, 0, 7), no.NotHeld(B, 0)),
    (dirtied_only, "publish", (A, 2, 7), no.NotDurable(2)),
    (writing_back, "publish", (A, 2, 7), no.NotDurable(2)),
    (inherited, "publish", (B, 2, 7), no.NotDurable(2)),
    (lost, "publish", (B, 2, 7), no.NotDurable(2)),
    (half_full, "publish", (A, 2, 7), no.PageNotFull(2, 1, 2)),
    (shared, "publish", (A, 1, 7), no.PageNotFull(1, 0, 2)),
    (two_full, "publish", (A, 0, KEY), no.KeyTaken(KEY, 2)),
    (published, "publish", (B, 2, 8), no.AlreadyPublished(2, KEY)),
    (published, "publish", (B, 2, KEY), no.KeyTaken(KEY, 2)),
    (published, "publish", (A, 1, KEY), no.PageNotFull(1, 0, 2)),
    (published, "find", (NOBODY, KEY), no.UnknownLease(NOBODY)),
]


@pytest.mark.parametrize(("build", "operation", "arguments", "refusal"), REFUSED)
def test_refused_call_says_why_and_changes_nothing(
    build: Build, operation: str, arguments: tuple[Any, ...], refusal: Refusal
) -> None:
    """The first reason of its row, with its fields."""
    assert due(refusal) == refused(build(), operation, *arguments)


# ------------------------------------------------------------------------------------- truncate


def test_rows_are_taken_back_after_they_were_written() -> None:
    """In the order of the calls, though the writes are still queued on the device."""
    tier, _ = dirtied()
    tier.truncate(A, 2, 1)

    assert [3, 0] == [tier.read(A, HANDLE, row) for row in range(2)]
    assert bytes(ROW_BYTES) == tier.read_bytes(A, HANDLE, 1)
    write_back(tier, A, HANDLE)
    assert (3, 0) == tier.snapshot().host[2]


def test_rows_written_after_a_truncation_stay() -> None:
    """A draft is taken back and the next one written."""
    tier, _ = dirtied()
    tier.truncate(A, 2, 1)
    tier.write(A, HANDLE, 1, 9)

    assert (3, 9) == tier.snapshot().frames[1].rows
    write_back(tier, A, HANDLE)
    assert (3, 9) == tier.snapshot().host[2]


def test_rows_of_a_clean_page_are_taken_back_at_both_ends() -> None:
    """Else an eviction would bring them back."""
    tier = durable()
    tier.truncate(B, 2, 1)

    assert (2, 0, Phase.READY, False, (3, 0)) == tier.snapshot().frames[1]
    assert (3, 0) == tier.snapshot().host[2]
    tier.unpin(A, HANDLE)
    pin(tier, A, 0, 1)
    pin(tier, B, 3)
    assert tier.lookup(A, 2) is None
    assert [b"\0" * ROW_BYTES] == [tier.read_host(2)[1].tobytes()]


def test_frame_is_not_taken_before_its_rows_are_taken_back() -> None:
    """The zeros are queued, and another page is filled into the frame behind them."""
    tier = new_tier(pages=2, frames=1)
    tier.open(1)
    assert [0, 1] == tier.alloc_all(A, 2).tolist()
    tier.device.host_pages()[1] = 7
    handle = full(tier, A, 0, 3, 4)
    tier.truncate(A, 0, 0)
    tier.unpin(A, handle)
    (handle,) = pin(tier, A, 1)
    get_simulated(tier).land_all()

    assert [bytes([7]) * ROW_BYTES] * 2 == [tier.read_bytes(A, handle, row) for row in range(2)]


def test_rows_of_a_page_in_host_memory_alone_need_no_device() -> None:
    """Nothing is queued for a page that is not resident."""
    tier = durable()
    tier.reset()
    lose(tier)
    tier.truncate(A, 2, 1)

    assert (3, 0) == tier.snapshot().host[2]


def test_nothing_is_queued_where_no_row_is_taken_back() -> None:
    """A page truncated to all its rows is what it was, its key included."""
    tier = published()
    before = tier.snapshot()
    lose(tier)
    tier.truncate(A, 2, 2)

    assert before == tier.snapshot()


@pytest.mark.parametrize("error", [DeviceLost, OutOfMemory])
def test_truncation_that_the_device_cannot_do_changes_nothing(error: type[Exception]) -> None:
    """Not the host page alone, nor its key."""
    tier = published()
    if error is DeviceLost:
        lose(tier)
    else:
        get_simulated(tier).run_out_of_memory()
    before = tier.snapshot()
    with pytest.raises(error):
        tier.truncate(A, 2, 0)

    assert before == tier.snapshot()


def test_page_is_truncated_while_a_fill_that_nobody_waits_for_reads_it() -> None:
    """What the copy brings is nobody's, and the next fill brings what is there now."""
    tier = durable()
    tier.unpin(A, HANDLE)
    tier.reset()
    tier.fill(A, (2,))
    tier.reset()
    tier.truncate(A, 2, 1)
    (handle,) = pin(tier, A, 2)
    get_simulated(tier).land_all()

    assert 1 == len(tier.snapshot().quarantine)
    assert [3, 0] == [tier.read(A, handle, row) for row in range(2)]


def test_truncation_shows_what_it_takes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail: rows left at either end are seen."""
    monkeypatch.setattr(DataPath, "zero_pages", lambda *_: None)
    tier = durable()
    tier.truncate(A, 2, 1)
    assert (3, 4) == tier.snapshot().host[2]

    monkeypatch.setattr(DataPath, "zero_frames", lambda *_: None)
    tier.truncate(A, 2, 1)
    assert (3, 0) == tier.snapshot().frames[1].rows


# ----------------------------------------------------------------------------------------- keys


def test_page_is_found_and_held_in_one_step() -> None:
    """Between a look and a `share` its life might end."""
    tier = published()
    tier.release(B, 2)

    assert 2 == tier.find(B, KEY)
    assert (2,) == tier.snapshot().leases[B].borrowed
    assert 2 == tier.snapshot().holds[2]


def test_page_that_is_held_is_found_without_another_hold() -> None:
    """A lease holds a page once."""
    tier = published()
    before = tier.snapshot()

    assert [2, 2] == [tier.find(A, KEY), tier.find(B, KEY)]
    assert before == tier.snapshot()


def test_nothing_is_found_under_a_key_that_names_nothing() -> None:
    """Not even a page whose number it is."""
    tier = published()
    before = tier.snapshot()

    assert [None, None, None] == [tier.find(B, key) for key in (2, -KEY, 0)]
    assert before == tier.snapshot()


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [("mark_dirty", (A, HANDLE)), ("truncate", (B, 2, 1)), ("truncate", (A, 2, 0))],
)
def test_key_is_gone_when_rows_change(operation: str, arguments: tuple[Any, ...]) -> None:
    """Nothing is found under a key whose rows changed."""
    tier = published()
    getattr(tier, operation)(*arguments)

    assert {} == tier.snapshot().keys
    assert tier.find(B, KEY) is None


def test_key_is_gone_when_the_life_ends() -> None:
    """The next life of the page is another page."""
    tier = published()
    tier.unpin(A, HANDLE)
    tier.finish(A)
    tier.release(B, 2)
    assert [0, 1, 2] == tier.alloc_all(B, 3).tolist()

    assert tier.find(B, KEY) is None


@pytest.mark.parametrize(("operation", "arguments"), [("abandon", (A,)), ("reset", ())])
def test_key_stays_while_the_rows_do(operation: str, arguments: tuple[Any, ...]) -> None:
    """Host pages are kept, and what they hold is found."""
    tier = published()
    getattr(tier, operation)(*arguments)

    assert 2 == tier.find(B, KEY)
    (handle,) = pin(tier, B, 2)
    assert [3, 4] == [tier.read(B, handle, row) for row in range(2)]


def test_page_can_be_published_again_after_it_changed() -> None:
    """Under the same key, or another."""
    tier = published()
    dirty(tier, A, HANDLE, 8)
    write_back(tier, A, HANDLE)
    tier.publish(B, 2, 11)
    full(tier, A, 0, 5, 6)
    tier.publish(A, 0, KEY)

    assert {KEY: 0, 11: 2} == tier.snapshot().keys
    assert [0, 2] == [tier.find(A, KEY), tier.find(A, 11)]


def test_row_of_zero_bytes_counts_as_not_written() -> None:
    """The bytes are all that is known of a row."""
    tier, _ = pinned()
    tier.mark_dirty(A, HANDLE)
    tier.write_bytes_all(A, (HANDLE, HANDLE), (0, 1), bytes(ROW_BYTES) + b"\1" * ROW_BYTES)
    write_back(tier, A, HANDLE)

    assert due(no.PageNotFull(2, 1, 2)) == refused(tier, "publish", A, 2, KEY)


def test_names_that_were_taken_away_do_not_pile_up() -> None:
    """A server publishes for ever."""
    table = KeyTable(2)
    for key in range(10 * DEAD_MAX):
        table.forget(numbers(key % 2))
        table.name(key % 2, key)

    assert {10 * DEAD_MAX - 2: 0, 10 * DEAD_MAX - 1: 1} == table.get_all()
    assert len(table.page) <= 4 + DEAD_MAX
    assert table.get_page(0) is None
