"""One walk after the other on one model, each call judged as it is made.

Every call is judged by every step rule, on the full views around it. The state rules judge the
full view after every call on small shapes; on larger ones after every `every`-th call and the
last one of a walk, so that a state which is wrong for less than that may be missed there. A walk
goes on after a break: what else it breaks is found too. Owned here: making calls and noting what
they found. Not owned: which calls are made (`drawing`, `filling`), how many walks there are and
who makes them (`walks`). Knows no tier.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple, TypeAlias

import msgspec

from properties.beginnings import BEGINNINGS
from properties.choosing import Offers
from properties.drawing import Drawer
from properties.events import Event, get_events
from properties.goals import Goal
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.misuse import Past
from properties.scopes import Scope
from properties.step import Step
from properties.subject import Model, offers
from properties.view import View
from reference.calls import DEFAULT, Call, Choice

Path: TypeAlias = tuple[tuple[Call, Choice], ...]
Draw: TypeAlias = Callable[[View, Ledger, Offers], tuple[Call, Choice] | None]


class WalkBreak(msgspec.Struct, frozen=True):
    """A broken rule, or a crash, and the calls that led to it from the first state."""

    rule: str
    """Its id; empty for a crash."""
    because: str
    """What is wrong, or what was raised."""
    walk: int
    """The number of the walk, from 0."""
    path: Path
    """The calls, each with its choice; the last one broke the rule."""


class Chunk(NamedTuple):
    """What some walks found, in the order they were made."""

    walks: int
    """Walks made."""
    calls: int
    """Calls made and judged."""
    refused: int
    """Calls that were refused."""
    counts: Counter[Event]
    """How often each event happened."""
    goals: list[str]
    """Goals that no earlier chunk of this walker reached."""
    breaks: list[WalkBreak]
    """The first break of each rule that broke in no earlier chunk of this walker."""
    crashes: list[WalkBreak]
    """The first crash of this walker."""
    cpu_seconds: float
    """How long it took."""


class _Place(NamedTuple):
    """Where a walk begins."""

    state: Any
    view: View
    ledger: Ledger
    path: Path
    past: Past


class Walker:
    """Makes walks on one model."""

    def __init__(
        self,
        model: Model,
        scope: Scope,
        judge: Judge,
        seed: int,
        *,
        calls: int,
        every: int,
        goals: Sequence[Goal],
    ) -> None:
        """Walk within the leases and promises of the scope, so many calls at a time."""
        self.model = model
        self.scope = scope
        self.judge = judge
        self.seed = seed
        self.calls = calls
        self.every = every
        self.known: set[str] = set()
        self.goals: dict[type[Call], list[Goal]] = {}
        for goal in goals:
            for call in goal.calls:
                self.goals.setdefault(call, []).append(goal)
        state = model.initial()
        ledger = Ledger.empty(scope.shape.rows)
        self.empty = _Place(state, model.view(state), ledger, (), Past())
        self._clear()

    def _clear(self) -> None:
        self.made = 0
        self.refused = 0
        self.counts: Counter[Event] = Counter()
        self.reached: list[str] = []
        self.breaks: list[WalkBreak] = []
        self.crashes: list[WalkBreak] = []

    def walk_all(self, numbers: range, *, stop_at_break: bool = False) -> Chunk:
        """Make these walks; with `stop_at_break`, none after the first that broke a rule.

        What they find depends on the seed and the numbers alone.
        """
        self._clear()
        begun = time.process_time()
        done = 0
        first = numbers[0]
        self._broke(self.judge.judge_view(self.empty.view, self.empty.ledger), first, ())
        places: dict[str, _Place] = {}
        for number in numbers:
            if stop_at_break and (self.breaks or self.crashes):
                break
            name = self.scope.begins[number % len(self.scope.begins)]
            if name not in places:
                places[name] = self._begin(name, first)
            self._walk(number, places[name])
            done += 1
        spent = time.process_time() - begun
        found = (self.counts, self.reached, self.breaks, self.crashes)
        return Chunk(done, self.made, self.refused, *found, spent)

    def _begin(self, name: str, number: int) -> _Place:
        """Make the calls of a beginning and return where they lead."""
        beginning = BEGINNINGS[name](Random(f"{self.seed}:{number}:{name}"), self.scope)
        return self._make(number, self.empty, Past(), beginning.draw, beginning.calls)

    def path(self, number: int) -> Path:
        """Make one walk and return its calls from the first state."""
        self._clear()
        name = self.scope.begins[number % len(self.scope.begins)]
        return self._walk(number, self._begin(name, number)).path

    def _walk(self, number: int, place: _Place) -> _Place:
        """Make one walk from there and return where it led."""
        drawer = Drawer(Random(f"{self.seed}:{number}"), self.scope, place.past.copy())
        return self._make(number, place, drawer.past, drawer.draw, self.calls)

    def _make(self, number: int, place: _Place, past: Past, draw: Draw, calls: int) -> _Place:
        """Make at most so many calls from there and return where they led.

        A crash of the model, or of what judges it, ends them and is noted.
        """
        path = list(place.path)
        try:
            return self._make_all(number, place, past, draw, calls, path)
        except Exception as error:
            if "" not in self.known:
                self.known.add("")
                why = f"{type(error).__name__}: {error}"
                self.crashes.append(WalkBreak("", why, number, tuple(path)))
        return place

    def _make_all(
        self,
        number: int,
        place: _Place,
        past: Past,
        draw: Draw,
        calls: int,
        path: list[tuple[Call, Choice]],
    ) -> _Place:
        model, judge, every = self.model, self.judge, self.every
        state, before, ledger = place.state, place.view, place.ledger
        is_judged = True
        for n in range(1, calls + 1):
            drawn = draw(before, ledger, partial(offers, model, state))
            if drawn is None:
                break
            call, choice = drawn
            path.append(drawn)
            outcome, after_state = model.take(state, call, choice)[1:]
            if outcome.refused is not None:
                # Nothing was left open, whatever a subject that accepts it might have chosen.
                choice = DEFAULT
                path[-1] = (call, choice)
            same = after_state is state
            after = before if same else model.view(after_state)
            step = Step(before, call, outcome, after, ledger)
            verdicts = judge.judge_step(step)
            known = ledger.absorb(call, outcome)
            # The same view and the same ledger need no second judgement.
            is_judged = is_judged and same and known is ledger
            if not is_judged and n % every == 0:
                verdicts += judge.judge_view(after, known)
                is_judged = True
            if verdicts:
                self._broke(verdicts, number, path)
            self._note(step, choice)
            past.learn(call, outcome)
            state, before, ledger = after_state, after, known
        if not is_judged:
            self._broke(judge.judge_view(before, ledger), number, path)
        return _Place(state, before, ledger, tuple(path), past)

    def _note(self, step: Step, choice: Choice) -> None:
        """Count what happened in a call, and the goals it reached."""
        self.made += 1
        counts = self.counts
        for event in get_events(step.before, step.call, choice, step.outcome):
            counts[event] += 1
        if step.outcome.refused is not None:
            self.refused += 1
            return
        goals = self.goals.get(type(step.call))
        if goals:
            for goal in goals[:]:
                if goal.reached(step):
                    self.reached.append(goal.id)
                    for others in self.goals.values():
                        if goal in others:
                            others.remove(goal)

    def _broke(
        self, verdicts: list[Verdict], walk: int, path: Sequence[tuple[Call, Choice]]
    ) -> None:
        for rule, because in verdicts:
            if rule not in self.known:
                self.known.add(rule)
                self.breaks.append(WalkBreak(rule, because, walk, tuple(path)))
