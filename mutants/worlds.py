"""The worlds in which mutants of the device are run: small shapes, calls recorded once.

A copy may land at any time, so that no search of a whole space is to be had: a state is the calls
that lead to it, together with what the device's scheduler picked. Instead the mutants make runs:
the whole tour of `tiny`, scenes that walks seldom meet, and walks of every operation in worlds
with evictions, in one without, and with the tier off. In some runs nothing lands before it is
waited for, in the others the scheduler is in moods that come from a seed. Owned here: which runs,
and the names of the worlds. Not owned: making them on a mutant (`device_run`).
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import msgspec

from device.schedule import Pick, pick_nothing
from mutants.scenes import SCENES
from properties.device_subject import DeviceModel, get_path
from properties.goals import all_goals
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.scopes import SCOPES, Scope
from properties.subject import Transition
from properties.tour import Run, tour
from properties.walker import Walker
from reference.calls import DEFAULT, Call, Choice
from reference.words import Shape

SEED = 20261129
"""Of all walks."""
WALK_CALLS = 45
"""Calls of one walk, besides those that fill the tier first."""
OWN = 0.5
"""The share of choices in a walk that are left to the tier."""


class DeviceRun(NamedTuple):
    """A run, recorded once."""

    source: str
    """Where it comes from: `tour of tiny`, `walk 3`."""
    scope: str
    """Its world."""
    seed: int | None
    """The moods of the device's scheduler; without one nothing lands before it is waited for."""
    calls: Run
    """The calls, each with what is chosen in it; `DEFAULT` leaves that to the tier."""


def get_picks(seed: int | None) -> tuple[int, Pick | None]:
    """Return the seed of a device model in these moods, and what picks if no seed does."""
    return (0, pick_nothing) if seed is None else (seed, None)


def _world(name: str, purpose: str, shape: Shape, off: bool = False) -> Scope:
    return msgspec.structs.replace(
        SCOPES["all"],
        name=name,
        purpose=purpose,
        shape=shape,
        promises=tuple(range(1, min(3, shape.frames) + 1)),
        off=off,
    )


WORLDS = {
    world.name: world
    for world in (
        _world("device-tiny", "every transition of `tiny`", SCOPES["tiny"].shape),
        _world("device-small", "never evicts", Shape(2, 2, 1)),
        _world("device-wide", "evictions, two frames", Shape(3, 2, 2)),
        _world("device-walks", "evictions, copies of several pages", Shape(7, 4, 2)),
        _world("device-off", "the tier off", Shape(3, 3, 2), off=True),
    )
}
"""By name."""

TOURED = ("device-tiny",)
"""Worlds whose every transition is toured."""
WALKED = ("device-small", "device-wide", "device-walks", "device-off")
"""Worlds that are walked."""
DRAWN, KEPT = 40, 22
"""Walks drawn in each of them, and walks that are kept of all: those that show the most."""


def get_world(name: str) -> Scope:
    """Return a world of the device, or a scope of the reference. Raises `KeyError`."""
    return WORLDS.get(name) or SCOPES[name]


def record_runs() -> tuple[DeviceRun, ...]:
    """Return every run, the same for the same tree: the shortest first, they are best shown."""
    drawn = [_walk(world, number) for world in WALKED for number in range(DRAWN)]
    return (*_scenes(), *choose(drawn, KEPT), *_tours(TOURED))


def _tours(worlds: tuple[str, ...]) -> Iterator[DeviceRun]:
    """Yield tours, planned on the reference: it can be taken up in any state."""
    for name in worlds:
        plan = SCOPES[name.partition("-")[2]]
        found = tour(make_model(REFERENCE)(plan.shape, plan.off), plan)
        for number, run in enumerate(found.runs):
            yield DeviceRun(f"tour of {plan.name}, run {number}", name, None, run)


def _scenes() -> Iterator[DeviceRun]:
    for name, scene in SCENES.items():
        calls = tuple([(call, DEFAULT) for call in scene.calls])
        for seed in scene.seeds:
            yield DeviceRun(name, scene.world, seed, calls)


class Walk(NamedTuple):
    """A walk, and what happens in it."""

    run: DeviceRun
    shows: frozenset[tuple[object, ...]]
    """Events, apart with the tier off, and goals."""


def _walk(name: str, number: int) -> Walk:
    """Return a walk that the device itself made; every third is made without moods."""
    world = WORLDS[name]
    seed = number if number % 3 else None
    pick = pick_nothing if seed is None else None
    model = _OwnChoices(DeviceModel(world.shape, world.off, seed=number, pick=pick), number)
    walker = Walker(model, world, Judge(()), SEED, calls=WALK_CALLS, every=1, goals=all_goals())
    walker.path(number)
    steps = get_path(model.last)
    path = [(step.call, step.choice) for step in steps if step.call is not None]
    # A call that the unmutated device breaks off at stays in: whoever makes it is told.
    path += [crash.path[-1] for crash in walker.crashes]
    shows: set[tuple[object, ...]] = {(world.off, *event) for event in walker.counts}
    shows |= {("goal", goal) for goal in walker.reached}
    shows |= {("crash",) for _ in walker.crashes}
    return Walk(DeviceRun(f"walk {number} in {name}", name, seed, tuple(path)), frozenset(shows))


def choose(walks: list[Walk], count: int) -> list[DeviceRun]:
    """Return so many walks: each time the one that shows most of what few others can show.

    What the chosen ones have shown already counts for less each time.
    """
    drawn = Counter(what for walk in walks for what in sorted(walk.shows, key=str))
    shown: Counter[tuple[object, ...]] = Counter()

    def gain(walk: Walk) -> Fraction:
        parts = (Fraction(1, drawn[what] * (1 + shown[what]) ** 2) for what in walk.shows)
        return sum(parts, Fraction(0))  # exact: the order of a set must not show

    left = list(walks)
    chosen: list[DeviceRun] = []
    while left and len(chosen) < count:
        best = max(left, key=gain)
        left.remove(best)
        chosen.append(best.run)
        shown.update(best.shows)
    return chosen


class _OwnChoices:
    """A device that makes about half of the choices itself, whatever it is told."""

    def __init__(self, device: DeviceModel, seed: int) -> None:
        self.device = device
        self.random = Random(f"{SEED}:{seed}")
        self.last = device.initial()

    def initial(self) -> Any:
        """Return the state in which nothing happened yet."""
        return self.device.initial()

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """Return what the call comes to with the tier's own choices."""
        return self.device.transitions(state, call)

    def choices(self, state: Any, call: Call) -> Iterator[Choice]:
        """Yield that the choice is left to the tier."""
        return self.device.choices(state, call)

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice or the tier's own."""
        if choice.fault is None and self.random.random() < OWN:
            choice = DEFAULT
        taken = self.device.take(state, call, choice)
        self.last = taken.after
        return taken

    def view(self, state: Any) -> Any:
        """Return what the state shows."""
        return self.device.view(state)
