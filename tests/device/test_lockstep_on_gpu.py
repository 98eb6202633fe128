"""The tier against the reference after every call: simulated, CuPy on a stand-in, CuPy on a GPU.

What `python -m properties lockstep --on cuda` does, with what a machine with a GPU has: nothing is
imported here but NumPy, pytest, `device` and `reference`. The walks are plain and the choices the
tier's own, which are the spec's defaults; tours, rules and faults need the packages of the project.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels_on_host import NO_COMPILER, build
from stand_in_for_cupy import World, make_cupy

from device import cuda
from device.gpu import CudaDevice
from device.handles import OwnHandle
from device.layout import Layout
from device.runtime import Device
from device.schedule import Moody
from device.simulated import SimulatedDevice
from device.tier import Tier
from reference.calls import (
    NAMES,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Read,
    Release,
    Share,
    Unpin,
    Write,
    WriteBack,
)
from reference.refusals import Refusal
from reference.state import State, new_state
from reference.transition import apply, options
from reference.words import Handle, Phase, Plan, Shape

SHAPE = Shape(pages=6, frames=3, rows=2)
LAYOUT = Layout(SHAPE.rows, 27, 31)
CALLS = 300

Make = Callable[[int], Device]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World | None:
    """What the stand-in runs on."""
    kernels = build(Path(tmp_path_factory.mktemp("kernels")))
    return None if kernels is None else World(kernels)


@pytest.fixture(params=["simulated", "stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def make_device(
    request: pytest.FixtureRequest, world: World | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    """Makes devices of one kind, and closes them; a number seeds what a simulated one picks."""
    if request.param == "gpu":
        try:
            cuda.check_gpu()
        except cuda.NoGpu as missing:
            pytest.skip(str(missing))
    elif request.param == "stand-in":
        if world is None:
            pytest.skip(NO_COMPILER)
        monkeypatch.setattr(cuda, "cupy", make_cupy(world))
    made: list[Device] = []

    def make(seed: int) -> Device:
        if request.param == "simulated":
            pick = Moody(random.Random(seed), (0.0, 0.5, 0.9)[seed % 3])
            made.append(SimulatedDevice(LAYOUT, SHAPE.pages, SHAPE.frames, pick=pick))
        else:
            made.append(CudaDevice(LAYOUT, SHAPE.pages, SHAPE.frames))
        return made[-1]

    yield make
    for device in made:
        device.close()


# ----------------------------------------------------------------------------------------- calls


def draw(source: random.Random, state: State, value: int) -> Call:
    """A call that may come to something here, or to a refusal."""
    found: list[Call] = [Open(source.choice((0, 1, 2))), Alloc(99)]
    for lease_id, lease in state.leases:
        held = [*lease.table, *lease.borrowed]
        missing = [page for page in held if state.where[page] is None] or held
        most = min(len(missing), lease.promise)
        asked = tuple(source.sample(missing, source.randint(min(1, most), most)))
        page = source.randrange(SHAPE.pages)
        found += [Alloc(lease_id), Share(lease_id, page), Lookup(lease_id, page)]
        found += [Fill(lease_id, asked)] * 6
        if source.random() < 0.1:
            found += [Release(lease_id, page), Finish(lease_id)]
        for page, _ in lease.pins:
            found += draw_on_page(source, state, lease_id, page, value)
        for copy in lease.copies:
            ok = source.random() < 0.7
            found += [CompleteFill(lease_id, copy.ticket, ok)] * 3
            found += [CompleteWriteBack(lease_id, copy.ticket, ok)] * 3
    return source.choice(found)


def draw_on_page(
    source: random.Random, state: State, lease: int, page: int, value: int
) -> list[Call]:
    """Calls on a page that a lease pins, now and then with a handle that is stale."""
    number = state.where[page]
    assert number is not None, "a pinned page is resident"
    stale = source.random() < 0.1
    handle = Handle(page, number, state.frames[number].generation - stale)
    row = source.randrange(SHAPE.rows)
    calls: list[Call] = [MarkDirty(lease, handle), Write(lease, handle, row, value)]
    calls += [Read(lease, handle, row), WriteBack(lease, handle), WriteBack(lease, handle)]
    return [*calls, *[Unpin(lease, handle)] * 4]


def make(tier: Tier, call: Call) -> tuple[object, ...]:
    """What a call on the tier comes to: its value, or its refusal."""
    arguments = {name: getattr(call, name) for name in call.__match_args__}
    try:
        value = getattr(tier, NAMES[type(call)])(**arguments)
    except Refusal as refusal:
        return type(refusal).__name__, tuple(vars(refusal).items())
    if isinstance(call, CompleteFill | CompleteWriteBack):
        return (getattr(value, "has_landed", value),)
    if isinstance(value, Plan):
        return (Plan(value.ticket, tuple(map(plain, value.handles)), value.misses),)
    return (plain(value),)


def plain(value: Any) -> Any:
    """A handle as the reference has it."""
    return Handle(*value) if isinstance(value, OwnHandle | Handle) else value


def expect(state: State, call: Call) -> tuple[tuple[object, ...], State]:
    """What the reference says that the call comes to, and the state after it."""
    outcome, after = apply(state, call, next(options(state, call)))
    if outcome.refused is not None:
        return tuple(outcome.refused), after
    if isinstance(call, CompleteFill | CompleteWriteBack):
        return (not outcome.failed,), after
    return (outcome.value,), after


# ----------------------------------------------------------------------------------------- views


def see(tier: Tier) -> tuple[object, ...]:
    """What the tier shows: tables and bytes."""
    found = tier.snapshot()
    leases = {
        lease_id: (lease.promise, lease.table, lease.borrowed, lease.pins, lease.claims)
        for lease_id, lease in found.leases.items()
    }
    copies = {
        lease_id: [(ticket, frames) for ticket, _, frames in lease.copies]
        for lease_id, lease in found.leases.items()
    }
    frames = [tuple(frame) for frame in found.frames]
    tables = (found.where, found.free, found.holds, found.torn, found.recency)
    return leases, copies, frames, found.host, tables, tuple(found.counters)


def see_reference(state: State) -> tuple[object, ...]:
    """The same of the reference, rows masked that nobody may compare."""
    masked = (Phase.FREE, Phase.FILLING)
    leases = {
        lease_id: (lease.promise, lease.table, lease.borrowed, dict(lease.pins), lease.claims)
        for lease_id, lease in state.leases
    }
    copies = {
        lease_id: [(copy.ticket, copy.frames) for copy in lease.copies]
        for lease_id, lease in state.leases
    }
    frames = [
        (page, generation, phase, dirty, None if phase in masked else rows)
        for page, generation, phase, dirty, rows in state.frames
    ]
    live = [page for page in range(SHAPE.pages) if state.pool.holds[page]]
    host = {page: None if state.host[page].torn else state.host[page].rows for page in live}
    torn = tuple([page for page in live if state.host[page].torn])
    tables = (state.where, state.pool.free, state.pool.holds, torn, state.recency)
    return leases, copies, frames, host, tables, tuple(state.counters)


def walk(tier: Tier, seed: int) -> State:
    """Make one walk on both, compared after every call; return the last state."""
    source, state = random.Random(seed), new_state(SHAPE, False)
    for value in range(1, CALLS + 1):
        call = draw(source, state, value)
        wanted, state = expect(state, call)
        got = make(tier, call)

        assert wanted == got, f"{call} in walk {seed}, call {value}"
        assert see_reference(state) == see(tier), f"{call} in walk {seed}, call {value}"
    return state


@pytest.mark.parametrize("seed", range(8))
def test_tier_does_what_the_reference_does(make_device: Make, seed: int) -> None:
    """Same outcome or refusal, same tables, same bytes, after each call."""
    assert walk(Tier(make_device(seed)), seed).counters.misses > 2


def test_walks_fail_evict_and_write_back() -> None:
    """Walks in which nothing happens agree with everything."""
    ends = [walk(Tier(SimulatedDevice(LAYOUT, 6, 3)), seed).counters for seed in range(8)]

    assert sum(end.evictions for end in ends) > 40
    assert sum(end.failed_fills for end in ends) > 20
    assert sum(end.write_backs for end in ends) > 20
    assert sum(end.failed_write_backs for end in ends) > 5


def test_walk_sees_a_wait_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail."""
    monkeypatch.setattr(SimulatedDevice, "wait", lambda *_: None)
    pick = Moody(random.Random(1), 0.9)
    tier = Tier(SimulatedDevice(LAYOUT, SHAPE.pages, SHAPE.frames, pick=pick))

    with pytest.raises(AssertionError, match="in walk 1"):
        walk(tier, 1)
