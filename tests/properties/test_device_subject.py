"""Tests of the device tier as a subject: in lockstep with the reference, and replayed exactly."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pytest

from device.data_path import DataPath
from device.simulated import SimulatedDevice
from properties.device_subject import DeviceModel, DeviceState
from properties.drawing import Drawer, make_scope
from properties.ledger import Ledger
from properties.misuse import Past
from properties.subject import FunctionModel, offers, reference_modules
from reference.calls import BASE, DEFAULT, Alloc, Call, Choice, CompleteFill, Fill, Open
from reference.words import Handle, Shape

CALLS = 60
"""Calls of one walk."""


class Pair(NamedTuple):
    """What one call came to on both sides."""

    call: Call
    device: Any
    reference: Any
    state: DeviceState


def walk(model: DeviceModel, seed: int) -> Iterator[Pair]:
    """One random walk on a device tier and the reference, choices made by either side."""
    random, shape = Random(seed), model.shape
    reference = FunctionModel(shape, model.off, reference_modules())
    drawer = Drawer(random, make_scope(shape, min(3, shape.frames), model.off), Past())
    state, mirrored = model.initial(), reference.initial()
    view, ledger = reference.view(mirrored), Ledger.empty(shape.rows)
    for _ in range(CALLS):
        call, choice = drawer.draw(view, ledger, partial(offers, reference, mirrored))
        if type(call) not in BASE:
            continue
        if choice.fault is None and random.random() < 0.5:
            choice = DEFAULT
        made = model.take(state, call, choice)
        expected = reference.take(mirrored, call, made.choice)
        state, mirrored = made.after, expected.after
        view = reference.view(mirrored)
        yield Pair(call, (made.outcome, model.view(state)), (expected.outcome, view), state)
        ledger = ledger.absorb(call, expected.outcome)
        drawer.past.learn(call, expected.outcome)


def first_difference(shape: Shape, seed: int, off: bool = False) -> str | None:
    """What differs first between a device tier and the reference in one walk."""
    try:
        for pair in walk(DeviceModel(shape, off, seed=seed), seed):
            if pair.device != pair.reference:
                return f"{pair.call}: {pair.device} is not {pair.reference}"
    except ValueError as error:
        return str(error)
    return None


SHAPES = [Shape(2, 1, 1), Shape(4, 3, 2), Shape(7, 4, 2), Shape(9, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_device_tier_does_what_the_reference_does(shape: Shape) -> None:
    """Same outcome, same view, after each call, whatever lands when."""
    assert [None] * 15 == [first_difference(shape, seed) for seed in range(15)]


def test_large_tier_does_what_the_reference_does() -> None:
    """Batches of more pages than a window, and more leases."""
    assert [None] * 3 == [first_difference(Shape(150, 90, 2), seed) for seed in range(3)]


def test_device_tier_that_is_off_does_what_the_reference_does() -> None:
    """The device-only pool."""
    shape = Shape(4, 4, 2)

    assert [None] * 15 == [first_difference(shape, seed, off=True) for seed in range(15)]


def ends_as_told(_path: DataPath, queued: Any, ok: bool) -> bool:
    """A completion that asks nobody."""
    return ok and not queued.failed


@pytest.mark.parametrize(
    ("where", "name", "without"),
    [
        (SimulatedDevice, "wait", lambda *_: None),
        (SimulatedDevice, "wait_for", lambda *_: None),
        (DataPath, "end", ends_as_told),
        (DataPath, "get_read", lambda _path, reading: reading.content),
    ],
)
def test_lockstep_sees_a_wait_that_is_missing(
    where: type, name: str, without: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulated device that hides a missing wait would prove nothing."""
    monkeypatch.setattr(where, name, without)

    assert any(first_difference(Shape(7, 4, 2), seed) for seed in range(40))


def test_same_seed_gives_the_same_picks_and_bytes() -> None:
    """A run is its seed."""
    runs = []
    for _ in range(2):
        model = DeviceModel(Shape(7, 4, 2), seed=3)
        *_, last = walk(model, 3)
        device = model.simulated
        assert device is not None
        runs.append((model.picks(last.state), device.frame_memory.tobytes()))

    assert runs[0] == runs[1]
    assert sum(map(len, runs[0][0]))


def test_state_taken_up_again_is_the_same_to_the_byte() -> None:
    """Walks begin again from a full tier, explorers from everywhere."""
    model = DeviceModel(Shape(7, 4, 2), seed=4)
    states = []
    for pair in walk(model, 4):
        assert model.simulated is not None
        memory = (model.simulated.frame_memory.tobytes(), model.simulated.host_memory.tobytes())
        states.append((pair.state, pair.device[1], memory))
    for state, view, memory in (states[40], states[10], states[-1], states[25]):
        assert view == model.view(state)
        assert model.simulated is not None
        assert memory[0] == model.simulated.frame_memory.tobytes()
        assert memory[1] == model.simulated.host_memory.tobytes()
    assert 4 == model.rebuilt


def test_calls_go_on_from_any_state() -> None:
    """Two continuations of one state do not see each other."""
    model = DeviceModel(Shape(4, 2, 1))
    opened = model.take(model.initial(), Open(2), DEFAULT).after
    held = model.take(opened, Alloc(0), Choice(page=2))
    other = model.take(opened, Alloc(0), Choice(page=3))

    assert [2, 3] == [held.outcome.value, other.outcome.value]
    assert (0, 1, 3) == model.view(held.after).free
    assert (0, 1, 2) == model.view(other.after).free


def test_choice_that_was_left_open_is_told() -> None:
    """Lockstep gives the reference what the tier chose, and checks that it was allowed."""
    model = DeviceModel(Shape(4, 2, 1))
    state = model.take(model.initial(), Open(2), DEFAULT).after
    page = model.take(state, Alloc(0), DEFAULT)
    filled = model.take(page.after, Fill(0, (0,)), DEFAULT)

    assert [Choice(page=0), Choice(frames=(0,))] == [page.choice, filled.choice]
    assert (Handle(0, 0, 0),) == filled.outcome.value.handles
    assert type(filled.outcome.value.handles[0]) is Handle


def test_driver_picks_if_it_wants_to() -> None:
    """The machine draws the scheduler's choices like any other."""
    picked: list[int] = []

    def pick(options: int) -> int:
        picked.append(options - 1)
        return options - 1

    model = DeviceModel(Shape(4, 2, 1), pick=pick)
    state = model.take(model.initial(), Open(2), DEFAULT).after
    state = model.take(state, Alloc(0), DEFAULT).after
    state = model.take(state, Fill(0, (0,)), DEFAULT).after
    state = model.take(state, CompleteFill(0, 0, False), DEFAULT).after

    assert picked
    assert picked == [number for picks in model.picks(state) for number in picks]
