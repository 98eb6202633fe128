"""Tests of a device tier that is off: the device-only pool, with nothing ever in flight."""

import pytest
from device_samples import A, B, dirty, get_simulated, pin, shared

from device.runtime import CopyFailed, DeviceLost
from reference.words import Handle, Phase


def test_page_is_resident_from_its_allocation() -> None:
    """Its frame has its number, and holds zeros."""
    tier = shared(off=True)

    assert Handle(3, 3, 0) == tier.lookup(B, 3)
    assert [Phase.READY] * 4 + [Phase.FREE] == [frame.phase for frame in tier.snapshot().frames]
    assert (0, 0) == tier.snapshot().frames[3].rows


def test_fill_is_all_hits() -> None:
    """No ticket, no copy, pins at once."""
    tier = shared(off=True)
    plan = tier.fill(A, (2, 0))

    assert (None, ()) == (plan.ticket, plan.misses)
    assert {2: 1, 0: 1} == tier.snapshot().leases[A].pins


def test_write_back_is_complete_when_it_returns() -> None:
    """Nothing is in flight, and the host page is whole."""
    tier = shared(off=True)
    (handle,) = pin(tier, A, 2)
    dirty(tier, A, handle, 3, 4)

    assert tier.write_back(A, handle) is None
    snapshot = tier.snapshot()
    assert (3, 4) == snapshot.host[2]
    assert not snapshot.frames[2].dirty
    assert 1 == snapshot.counters[4]
    assert 0 == tier.tables.next_ticket


def test_write_back_that_fails_says_so() -> None:
    """There is no completion to tell it."""
    tier = shared(off=True)
    (handle,) = pin(tier, A, 2)
    dirty(tier, A, handle, 3, 4)
    get_simulated(tier).fail_next_copy()
    with pytest.raises(CopyFailed):
        tier.write_back(A, handle)

    snapshot = tier.snapshot()
    assert (2, 0, Phase.READY, True, (3, 4)) == snapshot.frames[2]
    assert (2,) == snapshot.torn
    assert (0, 1) == snapshot.counters[4:]
    assert tier.write_back(A, handle) is None
    assert (3, 4) == tier.snapshot().host[2]


def test_fresh_page_reads_zero() -> None:
    """Its frame held an earlier life, and no fill brings zeros."""
    tier = shared(off=True)
    (handle,) = pin(tier, B, 3)
    dirty(tier, B, handle, 3, 4)
    tier.write_back(B, handle)
    tier.unpin(B, handle)
    tier.release(B, 3)

    assert 3 == tier.alloc(A)
    (handle,) = pin(tier, A, 3)
    assert 1 == handle.generation
    assert [0, 0] == [tier.read(A, handle, row) for row in range(2)]


def test_allocation_needs_the_device() -> None:
    """Its frame has to be zeroed; if it cannot be, nothing has changed."""
    tier = shared(off=True)
    device = get_simulated(tier)
    device.lose()
    with pytest.raises(DeviceLost):
        device.settle(0)
    before = tier.snapshot()
    with pytest.raises(DeviceLost):
        tier.alloc(A)

    assert before == tier.snapshot()
