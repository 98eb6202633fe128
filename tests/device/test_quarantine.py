"""Tests of quarantine on a device: copies that nobody owns any more are really running.

The scheduler lands nothing by itself, so that what was not waited for, or not kept back, is seen
at once.
"""

from collections.abc import Callable
from typing import Any

import pytest
from device_samples import (
    A,
    B,
    dirty,
    get_simulated,
    new_tier,
    pin,
    shared,
)
from leaving_samples import (
    filling,
    inherited,
    left_filling,
    left_writing,
    lose,
    writing_back,
)

from device import leave
from device.data_path import DataPath
from device.runtime import DeviceLost
from device.tables import Tables
from device.tier import Tier
from reference.words import Handle, Phase

Build = Callable[[], Tier]

LAND = leave.land

# ----------------------------------------------------------------------------------- quarantine


def read_after_late_landing() -> int:
    """What B reads of its page after the copy of a lease that is gone has landed at last."""
    tier = new_tier(pages=3, frames=2)
    assert [A, B] == [tier.open(1), tier.open(1)]
    assert [0, 1] == [tier.alloc(B), tier.alloc(A)]
    tier.device.host_pages()[1] = 7
    assert (0, (Handle(1, 0, 0),), (1,)) == tier.fill(A, (1,))
    tier.abandon(A)
    (handle,) = pin(tier, B, 0)
    get_simulated(tier).land_all()
    return tier.read(B, handle, 0)


def test_late_copy_does_not_damage_what_another_lease_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A frame is nobody's while a copy may write it; with the quarantine forgotten it shows."""
    assert 0 == read_after_late_landing()

    monkeypatch.setattr(leave, "orphan", lambda *_: None)

    assert read_after_late_landing() < 0


def host_after_late_landing() -> Any:
    """The host rows of a page that begins a life while a write-back of its last one runs."""
    tier = new_tier(pages=2, frames=2)
    assert [A, B] == [tier.open(1), tier.open(1)]
    tier.alloc(A)
    dirty(tier, A, *pin(tier, A, 0), 3, 4)
    tier.write_back(A, Handle(0, 0, 0))
    tier.abandon(A)
    page = tier.alloc(B)
    get_simulated(tier).land_all()
    return tier.snapshot().host[page]


def test_late_copy_does_not_bring_an_earlier_life_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page id is not free while a copy may write its host page."""
    assert (0, 0) == host_after_late_landing()

    monkeypatch.setattr(leave, "orphan", lambda *_: None)

    assert (0, 0) != host_after_late_landing()


def read_after_reset() -> int:
    """What A reads of a page that it fills again while the copy of a reset is not over."""
    tier = new_tier(pages=2, frames=1)
    tier.open(1)
    assert [0, 1] == tier.alloc_all(A, 2).tolist()
    tier.device.host_pages()[0] = 7
    tier.fill(A, (0,))
    tier.reset()
    tier.land(0)
    (handle,) = pin(tier, A, 1)
    get_simulated(tier).land_all()
    return tier.read(A, handle, 0)


def land_at_once(tables: Tables, ticket: int, ok: bool) -> bool:
    """A landing that asks nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DataPath, "end", lambda _path, _queued, ok: ok)
        return LAND(tables, ticket, ok)


def test_landing_waits_until_the_copy_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its frame is free when `land` returns, so nothing may be at it."""
    assert 0 == read_after_reset()

    monkeypatch.setattr(leave, "land", land_at_once)

    assert read_after_reset() != 0


@pytest.mark.parametrize("ok", [True, False])
def test_nothing_is_at_frames_and_pages_that_landed(ok: bool) -> None:
    """Whatever the caller says, the copy is over on the device."""
    tier = left_filling()
    events = tier.tables.quarantine[2].flight.queued.events

    assert ok is tier.land(2, ok)
    assert all(event.landed for event in events)
    assert [Phase.READY, Phase.FREE] == [frame.phase for frame in tier.snapshot().frames[1:]]


def test_landing_is_told_that_the_copy_failed() -> None:
    """By the device, whatever the caller says."""
    tier = inherited()
    (event,) = tier.tables.quarantine[2].flight.queued.events
    assert get_simulated(tier).fail_copy(event, 0)

    assert tier.land(2) is False
    snapshot = tier.snapshot()
    assert (2, 0, Phase.READY, True, (3, 4)) == snapshot.frames[1]
    assert (2,) == snapshot.torn
    assert (0, 1) == snapshot.counters[4:]


def test_heir_publishes_what_was_being_written_back() -> None:
    """A write-back whose lease is gone ends like any other while somebody pins the page."""
    tier = inherited()

    assert tier.land(2)
    snapshot = tier.snapshot()
    assert (2, 0, Phase.READY, False, (3, 4)) == snapshot.frames[1]
    assert (3, 4) == snapshot.host[2]
    assert () == snapshot.quarantine


def test_polling_tells_when_landing_would_not_wait() -> None:
    """A caller that has other work asks first."""
    tier = left_filling()
    assert not tier.has_landed(None, 2)

    get_simulated(tier).land_all()

    assert tier.has_landed(None, 2)
    assert tier.land(2)


def test_write_backs_of_one_batch_land_one_by_one() -> None:
    """They share the copy on the device, and each keeps its own frame and page."""
    tier = shared()
    tier.share(B, 1)
    handles = pin(tier, A, 1, 2)
    for handle in handles:
        dirty(tier, A, handle, 5, 6)
    assert [1, 2] == tier.write_back_all(A, handles).tolist()
    assert (1, 2) == tier.abandon(A)
    first, second = tier.snapshot().quarantine

    assert ((1, (0,), (1,)), (2, (1,), (2,))) == tuple(
        (orphan.ticket, orphan.frames, orphan.pages) for orphan in (first, second)
    )
    assert tier.land(2)
    assert (first,) == tier.snapshot().quarantine
    assert [Phase.QUARANTINED, Phase.FREE] == [f.phase for f in tier.snapshot().frames[:2]]


# ------------------------------------------------------------------------------- the device ends


@pytest.mark.parametrize("build", [left_filling, left_writing, inherited])
def test_landing_needs_the_device(build: Build) -> None:
    """Nobody knows what a lost device still does: its frames stay in quarantine."""
    tier = build()
    lose(tier)
    before = tier.snapshot()
    for ok in (True, False):
        with pytest.raises(DeviceLost):
            tier.land(2, ok)

        assert before == tier.snapshot()


@pytest.mark.parametrize("build", [filling, writing_back])
def test_leaving_does_not_need_the_device(build: Build) -> None:
    """A client that goes away is not told of its troubles."""
    tier = build()
    lose(tier)
    tier.reset()
    tier.abandon(A)

    assert [B] == list(tier.snapshot().leases)
