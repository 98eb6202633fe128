"""Small situations of a tier on a simulated device, and what a refused call shows.

The scheduler lands nothing by itself unless a test says otherwise, so that what was not waited
for is seen to be missing.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

from device.handles import OwnHandle
from device.layout import Layout, Numbers
from device.schedule import Pick, pick_nothing
from device.simulated import SimulatedDevice
from device.tier import Choose, Tier
from reference.refusals import Refusal

A, B = 0, 1
"""The leases of `shared` and of all that follows from it."""

NOBODY = 9
"""A lease that was never opened."""

ROW_BYTES, ROW_STRIDE = 27, 31
"""No multiples of anything, and padding between rows."""


def numbers(*values: int) -> Numbers:
    """An array of pages, frames or rows."""
    return np.array(values, dtype=np.int64)


def new_device(
    pages: int = 5, frames: int = 3, rows: int = 2, pick: Pick = pick_nothing, **how: Any
) -> SimulatedDevice:
    """A simulated device with padded rows."""
    return SimulatedDevice(Layout(rows, ROW_BYTES, ROW_STRIDE), pages, frames, pick=pick, **how)


def new_tier(
    pages: int = 5,
    frames: int = 3,
    rows: int = 2,
    off: bool = False,
    pick: Pick = pick_nothing,
    choose: Choose | None = None,
) -> Tier:
    """A tier in which nothing happened yet."""
    return Tier(new_device(pages, frames, rows, pick), off, choose)


def get_simulated(tier: Tier) -> SimulatedDevice:
    """The simulated device of a tier."""
    assert isinstance(tier.device, SimulatedDevice)
    return tier.device


def shared(off: bool = False, choose: Choose | None = None) -> Tier:
    """A promises 2 and holds 0, 1, 2; B promises 1 and holds 3 and borrows 2; 4 is free."""
    tier = new_tier(off=off, frames=5 if off else 3, choose=choose)
    assert [A, B] == [tier.open(2), tier.open(1)]
    assert [0, 1, 2, 3] == [tier.alloc(A), tier.alloc(A), tier.alloc(A), tier.alloc(B)]
    tier.share(B, 2)
    return tier


def pin(tier: Tier, lease: int, *pages: int) -> tuple[Any, ...]:
    """Fill pages and let the copies land."""
    plan = tier.fill(lease, pages)
    if plan.ticket is not None:
        assert tier.complete_fill(lease, plan.ticket)
    return plan.handles


def pinned() -> tuple[Tier, OwnHandle]:
    """Page 0 is evictable in frame 0, A pins page 2 in frame 1, frame 2 is free; its handle."""
    tier = shared()
    tier.unpin(A, *pin(tier, A, 0))
    (handle,) = pin(tier, A, 2)
    return tier, handle


def dirtied(*values: int) -> tuple[Tier, OwnHandle]:
    """As `pinned`, and A wrote 3 and 4, or these values, to the rows of page 2."""
    tier, handle = pinned()
    dirty(tier, A, handle, *(values or (3, 4)))
    return tier, handle


def dirty(tier: Tier, lease: int, handle: Any, *values: int) -> None:
    """Mark a frame dirty and write its rows from the first on."""
    tier.mark_dirty(lease, handle)
    for row, value in enumerate(values):
        tier.write(lease, handle, row, value)


class Seen(NamedTuple):
    """What a refused call showed."""

    reason: type[Refusal]
    fields: dict[str, object]
    changed: bool
    """The snapshot is not what it was."""


def due(refusal: Refusal) -> Seen:
    """What a call refused for this reason has to show."""
    return Seen(type(refusal), dict(vars(refusal)), changed=False)


def refused(tier: Tier, operation: str, *arguments: Any) -> Seen:
    """What the call shows, which has to be refused."""
    before = tier.snapshot()
    with pytest.raises(Refusal) as caught:
        getattr(tier, operation)(*arguments)
    return Seen(type(caught.value), dict(vars(caught.value)), before != tier.snapshot())
