"""Tests of the device tier's own: bytes, misuse, threads, batch forms, errors of the device.

That operations, refusals and results are the reference's is tested in lockstep with it
(`tests/properties/test_device_subject.py`); here is what the reference does not have.
"""

import numpy as np
import pytest
from device_samples import (
    ROW_BYTES,
    A,
    B,
    dirtied,
    due,
    get_simulated,
    new_device,
    new_tier,
    pin,
    pinned,
    refused,
    shared,
)

from device.layout import BadLayout, Layout
from device.simulated import SimulatedDevice
from device.tier import Tier
from device.versions import HashCodec
from reference import refusals as no
from reference.calls import Choice, Fault
from reference.refusals import FillFailed
from reference.words import Handle, Phase, Plan, Shape

# ----------------------------------------------------------------------------------- construction


def test_tier_is_off_unless_there_are_fewer_frames() -> None:
    """Without a tier configured the pool is the device-only pool."""
    layout = Layout(1, 16)

    assert Tier(SimulatedDevice(layout, 4)).snapshot().off
    assert not Tier(SimulatedDevice(layout, 4), off=False).snapshot().off
    assert not Tier(SimulatedDevice(layout, 4, 3)).snapshot().off


def test_tier_that_is_off_needs_a_frame_for_each_page() -> None:
    """There is no other place for a page."""
    with pytest.raises(ValueError, match="as many frames as pages"):
        new_tier(pages=5, frames=3, off=True)


def test_rows_too_short_for_versions_are_refused() -> None:
    """Rows of bytes of any kind may be as short as they are."""
    layout = Layout(2, 3, 5)

    with pytest.raises(BadLayout):
        Tier(SimulatedDevice(layout, 4, 2))
    assert Shape(4, 2, 2) == Tier(SimulatedDevice(layout, 4, 2), codec=HashCodec()).snapshot().shape


def test_device_that_contradicts_itself_is_refused() -> None:
    """What it says of its memory is held against its memory."""
    device = new_device(pages=5)
    device.pages = 6

    with pytest.raises(BadLayout, match=r"shape \(5, 2, 27\): simulated says \(6, 2, 27\)"):
        Tier(device)


# ------------------------------------------------------------------------------------------ bytes


def test_bytes_come_back_through_host_memory() -> None:
    """Random bytes, NaN payloads and all-ones survive write, write-back, eviction and fill."""
    tier = Tier(new_device(pages=3, frames=1), codec=HashCodec())
    lease = tier.open(1)
    first, second = tier.alloc(lease), tier.alloc(lease)
    rows = [bytes(range(200, 200 + ROW_BYTES)), b"\xff" * ROW_BYTES]
    (handle,) = pin(tier, lease, first)
    tier.mark_dirty(lease, handle)
    for row, content in enumerate(rows):
        tier.write_bytes(lease, handle, row, content)
    ticket = tier.write_back(lease, handle)
    assert ticket is not None
    assert tier.complete_write_back(lease, ticket)
    tier.unpin(lease, handle)
    tier.unpin(lease, *pin(tier, lease, second))
    (handle,) = pin(tier, lease, first)

    assert rows == [tier.read_bytes(lease, handle, row) for row in range(2)]
    assert b"".join(rows) == tier.read_host(first).tobytes()


def test_fresh_page_reads_zero_and_not_its_last_life() -> None:
    """Nothing of an earlier tenant can be read."""
    tier, handle = dirtied()
    ticket = tier.write_back(A, handle)
    assert ticket is not None
    assert tier.complete_write_back(A, ticket)
    tier.unpin(A, handle)
    tier.release(A, 2)
    tier.release(B, 2)

    assert 2 == tier.alloc(A)
    (handle,) = pin(tier, A, 2)
    assert bytes(ROW_BYTES) == tier.read_bytes(A, handle, 0)


def test_flipped_byte_shows_in_the_snapshot() -> None:
    """A view of what should be there would hide what is."""
    tier, handle = dirtied()
    before = tier.snapshot()
    device = get_simulated(tier)
    device.settle(tier.tables.path.compute_stream)
    assert (3, 4) == before.frames[handle.frame].rows
    assert before == tier.snapshot()

    device.frame_memory[handle.frame * 62 + 31 + 5] ^= 1

    assert 3 == tier.snapshot().frames[handle.frame].rows[0]
    assert tier.snapshot().frames[handle.frame].rows[1] < 0
    assert tier.read(A, handle, 1) < 0


def test_flipped_host_byte_shows_in_the_snapshot() -> None:
    """The same on the other side."""
    tier, _ = pinned()
    tier.device.host_pages()[1, 1, 0] = 9

    assert tier.snapshot().host[1][1] < 0


# ------------------------------------------------------------------------------- fills and pins


def test_fill_returns_with_its_copies_in_flight() -> None:
    """The caller computes while they land."""
    tier = shared()
    plan = tier.fill(A, (2, 0))

    assert Plan(0, (Handle(2, 0, 0), Handle(0, 1, 0)), (2, 0)) == plan
    assert not tier.has_landed(A, 0)
    assert [Phase.FILLING] * 2 == [frame.phase for frame in tier.snapshot().frames[:2]]


def test_completion_waits_for_every_copy() -> None:
    """Half of a fill is on another stream."""
    tier = shared()
    plan = tier.fill(A, (2, 0))

    assert tier.complete_fill(A, 0)
    assert [0, 0] == [tier.read(A, handle, 1) for handle in plan.handles]


def test_driver_chooses_page_frames_and_fault() -> None:
    """Lockstep needs the same choices on both sides."""
    choices = [Choice(page=3), Choice(frames=(2,)), Choice(frames=(0,), fault=Fault(2, False))]
    tier = new_tier(choose=lambda _call: choices.pop(0))
    lease = tier.open(2)

    assert 3 == tier.alloc(lease)
    assert Handle(3, 2, 0) == tier.fill(lease, (3,)).handles[0]
    assert tier.complete_fill(lease, 0)
    tier.unpin(lease, Handle(3, 2, 0))
    choices[:0] = [Choice(page=4), Choice(page=1)]
    pages = (tier.alloc(lease), tier.alloc(lease))
    with pytest.raises(FillFailed) as caught:
        tier.fill(lease, pages)
    assert (lease, (4, 1)) == (caught.value.lease, caught.value.pages)
    assert [1, 0, 0] == [frame.generation for frame in tier.snapshot().frames]


@pytest.mark.parametrize(
    "choice",
    [
        Choice(frames=(0, 0)),
        Choice(frames=(0,)),
        Choice(frames=(0, 3)),
        Choice(frames=(-1, 0)),
        Choice(frames=(1,), fault=Fault(3, False)),
        Choice(frames=(1,), fault=Fault(3, True)),
    ],
)
def test_choice_that_the_spec_does_not_allow_is_an_error(choice: Choice) -> None:
    """A driver that chooses wrongly would blame the tier."""
    chosen = [choice]
    tier = shared(choose=lambda call: chosen[0] if hasattr(call, "pages") else Choice())
    before = tier.snapshot()
    with pytest.raises(ValueError, match=r"allow|chosen"):
        tier.fill(A, (0, 1))

    assert before == tier.snapshot()


def test_chosen_page_has_to_be_free() -> None:
    """The same for `alloc`."""
    tier = shared()
    tier.choose = lambda _call: Choice(page=2)
    with pytest.raises(ValueError, match="page 2 was chosen to be allocated and is not free"):
        tier.alloc(A)


def test_queued_read_finds_the_page_though_its_pin_is_gone() -> None:
    """A kernel that reads a frame may be queued when the frame is taken for another page."""
    tier = new_tier(pages=3, frames=1)
    lease = tier.open(1)
    first, second = tier.alloc(lease), tier.alloc(lease)
    (handle,) = pin(tier, lease, first)
    reading = tier.read_later(lease, [handle], [0])
    tier.unpin(lease, handle)
    pin(tier, lease, second)
    tier.tables.path.device.host_pages()[second] = 1

    assert bytes(ROW_BYTES) == tier.get_read(reading).tobytes()


# ----------------------------------------------------------------------------------- batch forms


def test_batch_forms_do_what_single_ones_do() -> None:
    """Hits, misses, pins and holds are the same, in arrays."""
    tier, plain = new_tier(pages=9, frames=6), new_tier(pages=9, frames=6)
    for subject in (tier, plain):
        subject.open(4)
    assert [0, 1, 2, 3, 4] == tier.alloc_all(A, 5).tolist()
    assert [0, 1, 2, 3, 4] == [plain.alloc(A) for _ in range(5)]
    handles = pin(plain, A, 3, 1, 0)
    plan = tier.fill_all(A, np.array([3, 1, 0], dtype=np.int32))
    assert plan.ticket is not None
    assert tier.complete_fill(A, plan.ticket)
    assert tier.snapshot() == plain.snapshot()

    tier.unpin_all(A, plan.handles)
    tier.release_all(A, [3, 4])
    for handle in handles:
        plain.unpin(A, handle)
    plain.release(A, 3)
    plain.release(A, 4)

    assert tier.snapshot() == plain.snapshot()


def test_batch_is_refused_as_a_whole_for_its_first_offender() -> None:
    """Half a release would be neither done nor refused."""
    tier, handle = pinned()
    stale = Handle(1, 2, 5)

    assert due(no.PagePinned(A, 2, 1)) == refused(tier, "release_all", A, [0, 2, 4])
    assert due(no.NotHeld(A, 4)) == refused(tier, "release_all", A, [0, 4, 2])
    assert due(no.DuplicatePage(0)) == refused(tier, "release_all", A, [1, 0, 0, 1])
    assert due(no.StaleHandle(stale)) == refused(tier, "unpin_all", A, (handle, stale))
    assert due(no.NotPinned(A, 0)) == refused(tier, "unpin_all", A, (Handle(0, 0, 0), stale))
    assert due(no.DuplicatePage(2)) == refused(tier, "unpin_all", A, (handle, handle))
    assert due(no.PageMemory(5)) == refused(tier, "alloc_all", A, 2)


def test_dirty_frame_keeps_its_last_pin_in_a_batch() -> None:
    """A batch is no way around the rule."""
    tier, handle = dirtied()
    other = pin(tier, A, 0)

    assert due(no.DirtyFrame(A, (2,))) == refused(tier, "unpin_all", A, (*other, handle))


def test_empty_batches_do_nothing() -> None:
    """Nothing asked is nothing done."""
    tier, _ = pinned()
    before = tier.snapshot()
    tier.release_all(A, [])
    tier.unpin_all(A, ())

    assert 0 == len(tier.alloc_all(A, 0))
    assert before == tier.snapshot()
    assert Plan(None, (), ()) == tier.fill(A, ())
