"""Lockstep by tours and by walks: whole runs, counted, up to the first difference.

Every run begins with a new subject and the seed and its number alone decide what it does, the
scheduler of the subject's device included. Owned here: runs and what they came to. Not owned: one
call on both (`lockstep`), and which calls are drawn (`lockstep_draw`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from time import process_time
from typing import NamedTuple, TypeAlias

from properties.beginnings import BEGINNINGS
from properties.choosing import Offers
from properties.judge import Judge
from properties.lockstep import Difference, Differs, Pair, PairState, Watcher
from properties.lockstep_draw import HastyDrawer
from properties.misuse import Past
from properties.registry import all_rules
from properties.scopes import Scope
from properties.subject import FunctionModel, Model, offers, reference_modules
from properties.tour import Run
from properties.walks import get_every
from reference.calls import Call, Choice
from reference.words import Shape

MakeSubject: TypeAlias = Callable[[Shape, bool, int], Model]
"""Makes a subject of a shape, its tier off or not; the number seeds its scheduler."""

Watch: TypeAlias = Callable[[Model], Watcher]
"""Makes whoever looks on at one subject."""

Progress: TypeAlias = Callable[[str], None]

CALLS = 60
"""Calls of a walk, besides those that it begins with."""

SEEDS = 1_000_003
"""The scheduler's seed of a run is so many times the seed of all, and its number."""

BEGINS = ("full", "nothing", "returned", "promised", "pinned")
"""Where walks begin, in turn."""


class Ran(NamedTuple):
    """What some runs came to."""

    what: str
    """`tour of tiny`, `walks on 4/2/2`, `machine on wide`."""
    scope: Scope
    """Where they were made."""
    runs: int
    """Runs begun."""
    calls: int
    """Calls made on both and compared."""
    every: int
    """Full views were compared after every so many."""
    difference: Difference | None
    """The first difference; nothing ran after it."""
    cpu_seconds: float
    """CPU time."""


def make_reference(shape: Shape, off: bool, _seed: int = 0) -> Model:
    """Return the reference, as a model of its own."""
    return FunctionModel(shape, off, reference_modules())


class Lockstep:
    """Runs of calls on subjects of one scope and the reference."""

    def __init__(
        self,
        make_subject: MakeSubject,
        scope: Scope,
        judge: Judge | None = None,
        *,
        seed: int = 0,
        every: int | None = None,
        watch: Watch | None = None,
        progress: Progress = lambda _: None,
    ) -> None:
        """Compare subjects with the reference, by every rule if no judge is given."""
        self.make_subject = make_subject
        self.scope = scope
        self.judge = Judge(all_rules()) if judge is None else judge
        self.seed = seed
        self.every = get_every(scope) if every is None else every
        self.watch = watch
        self.progress = progress
        self.pair: Pair | None = None
        """The pair of the last run."""

    def tour(self, runs: Sequence[Run]) -> Ran:
        """Make the runs of a tour, each from the first state of a new subject."""

        def go(pair: Pair, number: int) -> None:
            state = pair.initial()
            for call, choice in runs[number]:
                state = pair.take(state, call, choice).after

        return self._run(f"tour of {self.scope.name}", range(len(runs)), go)

    def walk(
        self,
        numbers: range,
        *,
        calls: int = CALLS,
        bias: bool = True,
        begins: Sequence[str] = (),
    ) -> Ran:
        """Make the walks of these numbers, each a beginning and then so many calls.

        Without `bias` no call follows another at once but by chance. Unless it is said where
        they begin, they begin where `BEGINS` and the scope say, in turn.
        """
        begins = begins or tuple(dict.fromkeys((*BEGINS, *self.scope.begins)))

        def go(pair: Pair, number: int) -> None:
            random = Random(f"{self.seed}:{number}")
            _walk(pair, self.scope, random, begins[number % len(begins)], calls, bias)

        return self._run(f"walks on {self.scope.name}", numbers, go)

    def make_pair(self, number: int) -> Pair:
        """Return the pair of a run, in its first state."""
        shape, off = self.scope.shape, self.scope.off
        subject = self.make_subject(shape, off, SEEDS * self.seed + number)
        watcher = None if self.watch is None else self.watch(subject)
        reference = make_reference(shape, off)
        return Pair(subject, reference, self.judge, every=self.every, watcher=watcher)

    def _run(self, what: str, numbers: range, go: Callable[[Pair, int], None]) -> Ran:
        begun, calls, runs = process_time(), 0, 0
        difference = None
        for number in numbers:
            self.pair = pair = self.make_pair(number)
            self.progress(f"{what}: run {runs:,} of {len(numbers):,}, {calls:,} calls")
            runs += 1
            try:
                go(pair, number)
            except Differs as found:
                difference = found.difference
            calls += pair.made
            close = getattr(pair.subject, "close", None)
            if close is not None:
                close()
            if difference is not None:
                break
        return Ran(what, self.scope, runs, calls, self.every, difference, process_time() - begun)


def run_lockstep(
    make_subject: MakeSubject,
    scope: Scope,
    *,
    runs: Sequence[Run] = (),
    walks: int = 0,
    calls: int = CALLS,
    seed: int = 0,
    judge: Judge | None = None,
    bias: bool = True,
) -> Difference | None:
    """Make runs (of a tour, say), then so many walks; return the first difference, if any."""
    lockstep = Lockstep(make_subject, scope, judge, seed=seed)
    found = lockstep.tour(runs).difference
    return found or lockstep.walk(range(walks), calls=calls, bias=bias).difference


def _walk(pair: Pair, scope: Scope, random: Random, begin: str, calls: int, bias: bool) -> None:
    """Make one walk. Raises `Differs`."""
    filler = BEGINNINGS[begin](random, scope)
    drawer = HastyDrawer(random, scope, Past(), bias)
    state = pair.initial()
    for _ in range(filler.calls):
        drawn = filler.draw(state.view, state.ledger, _get_offer(pair, state))
        if drawn is None:
            break
        state = _take(pair, state, drawer, *drawn)
    for _ in range(calls):
        drawn = drawer.draw(state.view, state.ledger, _get_offer(pair, state))
        state = _take(pair, state, drawer, *drawn)


def _get_offer(pair: Pair, state: PairState) -> Offers:
    return partial(offers, pair.reference, state.reference)


def _take(
    pair: Pair, state: PairState, drawer: HastyDrawer, call: Call, choice: Choice
) -> PairState:
    taken = pair.take(state, call, choice)
    drawer.learn(call, taken.outcome)
    after: PairState = taken.after
    return after
