"""Lockstep by the Hypothesis machine: calls, choices and the scheduler's picks are all drawn.

The machine of `machine` on a pair of models. Each step draws with its arguments a few digits: what
the device's scheduler picks during the call, one after the other, and then nothing. The simplest
step has none: copies land when they are waited for. Whether a choice is left to the tier is drawn
too. Owned here: that. Not owned: the calls (`absolute`, `arguments`) and the comparison
(`lockstep`). Knows no tier.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from types import new_class
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from properties.arguments import POSSIBLE, get_arguments
from properties.judge import Judge
from properties.lockstep import Differs, Pair
from properties.lockstep_subjects import MakeDrawn
from properties.lockstep_walks import Progress, Ran, Watch, make_reference
from properties.machine import GROUPS, OTHERS, TierMachine
from properties.profiles import PROFILES, loaded
from properties.scopes import Scope
from properties.tally import Tally
from reference.calls import DEFAULT, NAMES, Call, Choice
from reference.words import Shape

DIGITS = range(10)
"""Picks are drawn as digits: most choices of a scheduler have fewer options."""

PICKS_MAX = 12
"""Digits of a step, at most: where none is left, nothing happens."""

PROFILE = PROFILES["ci"]
"""What the machine runs with; of its batches, so many as are asked for."""


class DrawnPicks:
    """A scheduler's picks, from digits that were drawn with the step."""

    def __init__(self) -> None:
        """Have no digits yet."""
        self.digits: list[int] = []

    def __call__(self, options: int) -> int:
        """Return the next digit as one of so many options, and nothing when there is none."""
        return self.digits.pop(0) % options if self.digits else 0


class DrawnPair(Pair):
    """A pair whose subject's scheduler picks what is drawn."""

    def __init__(
        self, make_drawn: MakeDrawn, judge: Judge, watch: Watch | None, shape: Shape, off: bool
    ) -> None:
        """Make both models."""
        self.picks = DrawnPicks()
        subject = make_drawn(shape, off, self.picks)
        watcher = None if watch is None else watch(subject)
        super().__init__(subject, make_reference(shape, off), judge, watcher=watcher)


class LockstepMachine(TierMachine):
    """One run of calls on both, each with its picks."""

    is_own = False
    """The next choice is left to the subject."""

    def make(self, name: str, arguments: dict[str, Any]) -> None:
        """Make the call on both, the digits being what the scheduler picks."""
        rest = dict(arguments)
        self.model.picks.digits = list(rest.pop("picks"))  # type: ignore[attr-defined]
        self.is_own = rest.pop("own")
        super().make(name, rest)

    def _make(self, call: Call, choice: Choice) -> None:
        is_left = self.is_own and choice.fault is None
        super()._make(call, DEFAULT if is_left else choice)


def lockstep_machine_for(
    make_drawn: MakeDrawn, scope: Scope, judge: Judge, tally: Tally, watch: Watch | None = None
) -> type[LockstepMachine]:
    """Return the machine of a subject and the reference on a scope."""
    make_rule: Any = rule  # its types know keywords that are written out only
    body: dict[str, Any] = {
        "make_model": staticmethod(partial(DrawnPair, make_drawn, judge, watch)),
        "scope": scope,
        "judge": Judge(()),  # the pair judges, on what its subject shows
        "tally": tally,
        "subject": "drawn",
        "tolerant": False,
    }
    both = {
        "picks": st.lists(st.sampled_from(DIGITS), max_size=PICKS_MAX),
        "own": st.booleans(),
    }
    for call, drawn in get_arguments(scope).items():
        step = make_rule(**drawn, **both)(_step(call))
        body[NAMES[call]] = precondition(_possible(call))(step)
    return new_class("LockstepMachine", (LockstepMachine,), exec_body=lambda s: s.update(body))


def _step(call: type[Call]) -> Callable[..., None]:
    """Return the body of a rule."""
    name = NAMES[call]

    def step(machine: LockstepMachine, **arguments: Any) -> None:
        machine.make(name, {field: arguments[field] for field in sorted(arguments)})

    step.__name__, step.__qualname__ = GROUPS.get(call, OTHERS), name
    step.__doc__ = f"`{name}` on both."
    return step


def _possible(call: type[Call]) -> Callable[[TierMachine], bool]:
    """Return whether the call may come to anything here: one look, no draw."""
    is_possible = POSSIBLE[call]
    return lambda machine: is_possible(machine.view, machine.scope)


def run_lockstep_machine(
    make_drawn: MakeDrawn,
    scope: Scope,
    judge: Judge,
    *,
    batches: int,
    seed: int = 0,
    watch: Watch | None = None,
    progress: Progress = lambda _: None,
) -> Ran:
    """Run so many batches of the machine, and return what they came to."""
    begun, tally = process_time(), Tally(scope, ())
    what = f"machine on {scope.name}"
    machine = lockstep_machine_for(make_drawn, scope, judge, tally, watch)
    difference = None
    with loaded(PROFILE):
        for batch in range(batches):
            progress(f"{what}: batch {batch} of {batches}, {tally.calls:,} calls")
            hypothesis.seed(f"{seed}:{scope.name}:{batch}")(machine)
            try:
                run_state_machine_as_test(machine, settings=PROFILE.settings)
            except Differs as found:
                difference = found.difference
                break
    calls = tally.calls + (difference is not None)
    return Ran(what, scope, tally.runs, calls, 1, difference, process_time() - begun)
