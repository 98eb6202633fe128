"""Tests of leaving with the tier off: every page stays resident, so its rows have to come back."""

from typing import Any

import pytest
from device_samples import (
    A,
    B,
    dirty,
    due,
    get_simulated,
    pin,
    refused,
    shared,
)
from leaving_samples import (
    lose,
)

from device.runtime import DeviceLost
from device.tier import Tier
from reference import refusals as no
from reference.words import Handle, Phase

# ------------------------------------------------------------------------------- the tier is off


def off_and_shared() -> Tier:
    """Off: A and B borrow page 2, whose rows 3 and 4 are published; A wrote 8, not published."""
    tier = shared(off=True)
    (handle,) = pin(tier, A, 2)
    dirty(tier, A, handle, 3, 4)
    assert tier.write_back(A, handle) is None
    dirty(tier, A, handle, 8)
    return tier


@pytest.mark.parametrize(("operation", "arguments"), [("abandon", (A,)), ("reset", ())])
def test_frame_shows_its_host_page_again_where_the_tier_is_off(
    operation: str, arguments: tuple[Any, ...]
) -> None:
    """Every page stays resident, so its rows have to come back."""
    tier = off_and_shared()

    assert (2,) == getattr(tier, operation)(*arguments)
    assert (2, 0, Phase.READY, False, (3, 4)) == tier.snapshot().frames[2]
    assert ((), ()) == (tier.snapshot().quarantine, tier.snapshot().lost)
    (handle,) = pin(tier, B, 2)
    assert [3, 4] == [tier.read(B, handle, row) for row in range(2)]


@pytest.mark.parametrize(("operation", "arguments"), [("abandon", (A,)), ("reset", ())])
def test_restoring_needs_the_device(operation: str, arguments: tuple[Any, ...]) -> None:
    """If it is lost nothing has changed."""
    tier = off_and_shared()
    lose(tier)
    before = tier.snapshot()
    with pytest.raises(DeviceLost):
        getattr(tier, operation)(*arguments)

    assert before == tier.snapshot()


def test_lease_with_pages_of_its_own_leaves_without_the_device() -> None:
    """Nobody needs the rows of a page whose life ends."""
    tier = off_and_shared()
    tier.release(B, 2)
    lose(tier)

    assert () == tier.abandon(A)
    assert (0, 1, 2, 4) == tier.snapshot().free


def test_torn_page_is_lost_where_the_tier_is_off() -> None:
    """A write-back that failed left no rows to show."""
    tier = off_and_shared()
    get_simulated(tier).fail_next_copy()
    with pytest.raises(no.TierError):
        tier.write_back(A, Handle(2, 2, 0))
    assert (2,) == tier.abandon(A)

    assert (2,) == tier.snapshot().lost
    assert due(no.RowsLost(2)) == refused(tier, "fill", B, (2,))
    tier.truncate(B, 2, 0)
    assert (0, 0) == tier.snapshot().frames[2].rows
    pin(tier, B, 2)
