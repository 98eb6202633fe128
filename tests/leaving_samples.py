"""Small situations on a simulated device after somebody left, and pages that are published."""

from typing import Any

import pytest
from device_samples import A, B, dirtied, dirty, get_simulated, new_tier, pin, pinned, shared

from device.runtime import DeviceLost
from device.tier import Tier
from reference.words import Handle

HANDLE = Handle(2, 1, 0)
"""Page 2 in frame 1, where all of these have it."""

KEY = 7
"""The key under which `published` has page 2."""


def write_back(tier: Tier, lease: int, handle: Any) -> None:
    """Write a frame back and let it land."""
    ticket = tier.write_back(lease, handle)
    assert ticket is not None
    assert tier.complete_write_back(lease, ticket)


def full(tier: Tier, lease: int, page: int, *values: int) -> Handle:
    """Fill a page, write these versions, and write it back; the pin stays."""
    (handle,) = pin(tier, lease, page)
    dirty(tier, lease, handle, *values)
    write_back(tier, lease, handle)
    return Handle(*handle)


def filling() -> Tier:
    """As `pinned`, and A fills page 1 into frame 2 with ticket 2."""
    tier, handle = pinned()
    assert handle == HANDLE
    assert (2, (Handle(1, 2, 0),), (1,)) == tier.fill(A, (1,))
    return tier


def left_filling() -> Tier:
    """As `filling`, and A is gone: 2 is left, clean; 0 is free, 1 retired."""
    tier = filling()
    assert () == tier.abandon(A)
    return tier


def writing_back() -> Tier:
    """As `dirtied`, and the write-back of 2 is in flight with ticket 2."""
    tier, _ = dirtied()
    assert 2 == tier.write_back(A, HANDLE)
    return tier


def left_writing() -> Tier:
    """As `writing_back`, and A is gone: 2, which B borrows, is lost; frame 1 in quarantine."""
    tier = writing_back()
    assert (2,) == tier.abandon(A)
    return tier


def lost() -> Tier:
    """As `left_writing`, and the copy is over: frame 1 is free."""
    tier = left_writing()
    assert tier.land(2)
    return tier


def inherited() -> Tier:
    """As `writing_back`, but B pins 2 as well and A is gone: the copy is in quarantine."""
    tier, _ = dirtied()
    assert (HANDLE,) == pin(tier, B, 2)
    assert 2 == tier.write_back(A, HANDLE)
    assert () == tier.abandon(A)
    return tier


def slept() -> Tier:
    """As `shared`, reset while A filled 0 and 1 into frames 0 and 1 with ticket 0."""
    tier = shared()
    assert 0 == tier.fill(A, (0, 1)).ticket
    assert () == tier.reset()
    return tier


def heirs() -> Tier:
    """B claims 0, which A wrote, with a miss, ticket 1; A is gone. B promises 2 and holds 0, 1."""
    tier = new_tier()
    assert [A, B] == [tier.open(1), tier.open(2)]
    assert 0 == tier.alloc(A)
    tier.share(B, 0)
    assert 1 == tier.alloc(B)
    dirty(tier, A, *pin(tier, A, 0), 3, 4)
    assert 1 == tier.fill(B, (0, 1)).ticket
    assert () == tier.abandon(A)
    return tier


def published() -> Tier:
    """A pins page 2 in frame 1, full, durable and published; B borrows it."""
    tier, _ = dirtied()
    write_back(tier, A, HANDLE)
    tier.publish(A, 2, KEY)
    return tier


def lose(tier: Tier) -> None:
    """End the device, and let it say so."""
    get_simulated(tier).lose()
    with pytest.raises(DeviceLost):
        get_simulated(tier).settle(0)
