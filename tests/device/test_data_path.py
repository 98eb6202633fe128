"""Tests of the waits: each shows what goes wrong without it, and that it is there.

The scheduler lands nothing by itself, so a wait that is missing is seen at once.
"""

from collections.abc import Callable
from typing import Any

import pytest
from device_samples import A, B, dirtied, get_simulated, new_tier, numbers, pin, pinned, shared

from device.data_path import DataPath
from device.flights import Queued
from device.runtime import CopyFailed
from device.simulated import SimulatedDevice
from device.streams import Point
from device.tier import Tier
from reference.words import Phase


def write_back(tier: Tier, handle: Any) -> None:
    """Write a frame back and let it land."""
    ticket = tier.write_back(A, handle)
    assert ticket is not None
    assert tier.complete_write_back(A, ticket)


def get_events(tier: Tier, lease: int) -> tuple[Any, ...]:
    """The events of the lease's only copy in flight."""
    (flight,) = tier.tables.leases[lease].flights.values()
    return flight.queued.events


def test_write_back_lands_after_the_rows_were_written() -> None:
    """Writes are queued too, on another stream."""
    tier, handle = dirtied()
    write_back(tier, handle)

    assert (3, 4) == tier.snapshot().host[2]


def test_write_back_without_its_wait_publishes_old_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(SimulatedDevice, "wait_for", lambda *_: None)
    tier, handle = dirtied()
    write_back(tier, handle)

    assert (0, 0) == tier.snapshot().host[2]


def test_completion_without_its_wait_shows_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """`test_completion_waits_for_every_copy` can fail."""
    monkeypatch.setattr(SimulatedDevice, "wait", lambda *_: None)
    tier = shared()
    (handle,) = pin(tier, A, 2)

    assert tier.snapshot().frames[handle.frame].rows != (0, 0)


def test_fill_lands_after_what_was_queued_to_read_its_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A frame is not filled while a kernel still reads the page that it held."""

    def read_late() -> bool:
        tier = new_tier(pages=3, frames=1)
        lease = tier.open(1)
        first, second = tier.alloc(lease), tier.alloc(lease)
        tier.device.host_pages()[second] = 1
        (handle,) = pin(tier, lease, first)
        reading = tier.read_later(lease, [handle], [0])
        tier.unpin(lease, handle)
        pin(tier, lease, second)
        return not tier.get_read(reading).any()

    assert read_late()

    monkeypatch.setattr(SimulatedDevice, "wait_for", lambda *_: None)

    assert not read_late()


def test_both_halves_of_a_fill_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait on one of two streams leaves poison in the other half."""
    end = DataPath.end

    def end_half(path: DataPath, queued: Queued, ok: bool) -> bool:
        return end(path, queued._replace(events=queued.events[:1]), ok)

    def rows_of_both() -> list[Any]:
        tier = shared()
        pin(tier, A, 0, 1)
        return [frame.rows for frame in tier.snapshot().frames[:2]]

    assert [(0, 0), (0, 0)] == rows_of_both()

    monkeypatch.setattr(DataPath, "end", end_half)

    assert [(0, 0), (0, 0)] != rows_of_both()


def reuse_after_undo() -> Any:
    """Rows of a frame whose fill was given up, and that another page filled since."""
    tier = shared()
    tier.device.host_pages()[0] = 7
    given_up = tier.fill(A, (0,))
    assert not tier.complete_fill(A, 0, ok=False)
    plan = tier.fill(B, (3,))
    assert given_up.handles[0].frame == plan.handles[0].frame
    assert tier.complete_fill(B, 1)
    get_simulated(tier).land_all()
    return tier.snapshot().frames[plan.handles[0].frame].rows


def test_frame_of_a_fill_given_up_is_settled_before_it_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its copies may still run on one stream while the next fill lands on the other."""
    assert (0, 0) == reuse_after_undo()

    monkeypatch.setattr(SimulatedDevice, "settle", lambda *_: None)

    assert (0, 0) != reuse_after_undo()


def test_nothing_is_at_the_frames_when_an_undo_returns() -> None:
    """Whoever takes them next need not know of the copies that failed."""
    tier = shared()
    ticket = tier.fill(A, (0, 1)).ticket
    flight = tier.tables.leases[A].filling
    assert flight is not None
    assert get_simulated(tier).fail_copy(flight.queued.events[0], 0)

    assert not tier.complete_fill(A, ticket)
    assert all(event.landed for event in flight.queued.events)


def test_read_waits_for_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wait it returns what was in its memory before."""
    tier, handle = dirtied()
    assert 3 == tier.read(A, handle, 0)

    monkeypatch.setattr(DataPath, "get_read", lambda _path, reading: reading.content)

    assert tier.read(A, handle, 0) < 0


@pytest.mark.parametrize(
    "strike", [SimulatedDevice.fail_next_copy, SimulatedDevice.run_out_of_memory]
)
def test_copy_that_cannot_be_queued_is_a_fill_that_fails(
    strike: Callable[[SimulatedDevice], None],
) -> None:
    """The plan is returned as ever, and the completion is told, whatever the caller says."""
    tier = shared()
    strike(get_simulated(tier))
    plan = tier.fill(A, (2, 0))

    assert tier.has_landed(A, 0)
    assert not tier.complete_fill(A, 0, ok=True)
    snapshot = tier.snapshot()
    assert [(None, 1, Phase.FREE)] * 2 == [frame[:3] for frame in snapshot.frames[:2]]
    assert (0, 2, 0, 1, 0, 0) == snapshot.counters
    assert () == snapshot.leases[A].claims
    assert [] == [page for page in plan.misses if snapshot.where[page] is not None]


@pytest.mark.parametrize("item", [0, 1])
def test_copy_that_fails_late_is_a_fill_that_fails(item: int) -> None:
    """Whichever half it strikes, and whatever the caller says."""
    tier = shared()
    tier.fill(A, (2, 0))
    (flight,) = tier.tables.leases[A].flights.values()
    assert get_simulated(tier).fail_copy(flight.queued.events[item], 0)

    assert not tier.complete_fill(A, 0, ok=True)
    assert [Phase.FREE] * 3 == [frame.phase for frame in tier.snapshot().frames]


def test_write_back_that_fails_late_loses_nothing() -> None:
    """The frame is dirty still, its rows are there, and the host page is torn."""
    tier, handle = dirtied()
    ticket = tier.write_back(A, handle)
    (flight,) = tier.tables.leases[A].flights.values()
    assert get_simulated(tier).fail_copy(flight.queued.events[0], 0)

    assert not tier.complete_write_back(A, ticket, ok=True)
    snapshot = tier.snapshot()
    assert (2, 0, Phase.READY, True, (3, 4)) == snapshot.frames[handle.frame]
    assert (2,) == snapshot.torn
    write_back(tier, handle)
    assert (3, 4) == tier.snapshot().host[2]


def test_reported_failure_is_no_refusal() -> None:
    """A completion that fails acts once: its ticket is used up."""
    tier, handle = dirtied()
    get_simulated(tier).fail_next_copy()
    ticket = tier.write_back(A, handle)

    assert not tier.complete_write_back(A, ticket)
    assert {} == tier.tables.leases[A].flights


def test_polling_tells_when_completing_would_not_wait() -> None:
    """A caller that has other work asks first."""
    tier = shared()
    tier.fill(A, (0,))
    assert not tier.has_landed(A, 0)

    get_simulated(tier).land_all()

    assert tier.has_landed(A, 0)
    assert tier.complete_fill(A, 0)


def test_small_fills_alternate_between_streams() -> None:
    """One does not queue behind another."""
    tier = shared()
    tier.fill(A, (0,))
    tier.fill(B, (3,))
    events = [get_events(tier, lease) for lease in (A, B)]

    assert [1, 1] == [len(each) for each in events]
    assert events[0][0].stream != events[1][0].stream


def test_events_of_a_fill_are_those_of_its_batches() -> None:
    """A batch that fails is told by its own event, and by no other."""
    device = get_simulated(pinned()[0])
    stream = device.new_stream()
    event = device.copy_in(stream, numbers(0), numbers(2))
    after = device.record(stream)
    assert isinstance(event, Point)
    assert device.fail_copy(event, 0)
    with pytest.raises(CopyFailed):
        device.wait(event)

    device.wait(after)
