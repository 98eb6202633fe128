"""Tests of a device that ends: who needs it is told, nothing changes, host pages stay readable."""

from collections.abc import Callable
from typing import Any

import pytest
from device_samples import ROW_BYTES, A, B, dirtied, get_simulated, pin, pinned, shared

from device.runtime import DeviceLost, OutOfMemory
from device.schedule import Replay
from device.tier import Tier
from reference.words import Handle

HANDLE = Handle(2, 1, 0)
"""What A pins in `busy`."""


def busy() -> Tier:
    """A pins 2, dirty; 0 is evictable, and B fills 3 with ticket 2."""
    tier, handle = dirtied()
    assert handle == HANDLE
    assert 2 == tier.fill(B, (3,)).ticket
    return tier


def writing_back() -> Tier:
    """As `busy`, and the write-back of 2 is in flight with ticket 3."""
    tier = busy()
    assert 3 == tier.write_back(A, HANDLE)
    return tier


NEEDS: list[tuple[Callable[[], Tier], str, tuple[Any, ...]]] = [
    (busy, "fill", (A, (1,))),
    (busy, "complete_fill", (B, 2, True)),
    (busy, "complete_fill", (B, 2, False)),
    (busy, "has_landed", (B, 2)),
    (busy, "read", (A, HANDLE, 0)),
    (busy, "write", (A, HANDLE, 0, 9)),
    (busy, "write_bytes", (A, HANDLE, 0, bytes(ROW_BYTES))),
    (busy, "write_back", (A, HANDLE)),
    (writing_back, "complete_write_back", (A, 3, True)),
    (writing_back, "complete_write_back", (A, 3, False)),
]


@pytest.mark.parametrize(("build", "operation", "arguments"), NEEDS)
def test_call_that_needs_a_lost_device_changes_nothing(
    build: Callable[[], Tier], operation: str, arguments: tuple[Any, ...]
) -> None:
    """The error is sticky: the second time is like the first."""
    tier = build()
    before = tier.snapshot()
    get_simulated(tier).lose("a cable")
    report(tier)
    for _ in range(2):
        with pytest.raises(DeviceLost, match="the device is lost: a cable"):
            getattr(tier, operation)(*arguments)

        assert before == tier.snapshot()


def report(tier: Tier) -> None:
    """Let the device say that it is lost."""
    with pytest.raises(DeviceLost):
        get_simulated(tier).settle(0)


def test_loss_that_is_reported_late_is_reported_by_the_completion() -> None:
    """Queueing may seem to work; waiting never does."""
    tier, _ = pinned()
    get_simulated(tier).lose()
    plan = tier.fill(B, (3,))
    assert plan.ticket is not None
    before = tier.snapshot()
    with pytest.raises(DeviceLost):
        tier.complete_fill(B, plan.ticket)

    assert before == tier.snapshot()


def test_loss_reported_between_two_halves_of_a_fill_changes_nothing() -> None:
    """Tables change after the last copy is queued, not before."""
    tier = shared()
    before = tier.snapshot()
    device = get_simulated(tier)
    device.lose()
    # Told after the event, the wait and the first half were queued, at the second wait.
    device.recorder.pick = Replay([0, 0, 0, 1])
    with pytest.raises(DeviceLost):
        tier.fill(A, (0, 1))

    assert before == tier.snapshot()


def test_host_pages_of_a_lost_device_stay_readable() -> None:
    """They are what is left."""
    tier, handle = dirtied()
    ticket = tier.write_back(A, handle)
    assert ticket is not None
    assert tier.complete_write_back(A, ticket)
    row = tier.read_bytes(A, handle, 1)
    get_simulated(tier).lose()
    report(tier)

    assert row == tier.read_host(2)[1].tobytes()
    assert 2 * ROW_BYTES == tier.read_host(0).size


def test_calls_that_need_no_device_go_on() -> None:
    """Leases end and pages are freed as ever."""
    tier, handle = pinned()
    get_simulated(tier).lose()
    report(tier)

    assert handle == tier.lookup(A, 2)
    tier.mark_dirty(A, handle)
    tier.release(A, 1)
    assert 1 == tier.alloc(B)
    tier.release(B, 3)
    tier.finish(B)
    assert 2 == tier.open(1)
    assert (None, (), ()) == tier.fill(A, ())


@pytest.mark.parametrize(
    ("operation", "arguments"), [("read", (A, HANDLE, 0)), ("write", (A, HANDLE, 0, 9))]
)
def test_memory_that_runs_out_costs_one_call(operation: str, arguments: tuple[Any, ...]) -> None:
    """Nothing was queued, nothing changed, and the next try works."""
    tier, _ = dirtied()
    before = tier.snapshot()
    get_simulated(tier).run_out_of_memory()
    with pytest.raises(OutOfMemory):
        getattr(tier, operation)(*arguments)

    assert before == tier.snapshot()
    getattr(tier, operation)(*arguments)


def test_unreported_loss_shows_in_no_pin() -> None:
    """A read never returns what a lost device did not deliver."""
    tier = shared()
    (handle,) = pin(tier, A, 0)
    get_simulated(tier).lose()
    with pytest.raises(DeviceLost):
        tier.read(A, handle, 0)
