"""Subjects that differ from the reference, each in one way, for tests of lockstep."""

from typing import Any

import msgspec

from properties.judge import Judge
from properties.lockstep import Pair
from properties.lockstep_walks import make_reference
from properties.registry import all_rules
from properties.subject import FunctionModel, Transition, reference_modules
from properties.view import View
from reference.calls import Alloc, Call, Choice, Fill, Outcome, Read, Refused
from reference.words import Shape

JUDGE = Judge(all_rules())
SHAPE = Shape(4, 2, 2)


class Reference(FunctionModel):
    """The reference, to be spoilt."""

    def __init__(self, shape: Shape, off: bool, _seed: int = 0) -> None:
        """Take any seed: nothing is left to chance."""
        super().__init__(shape, off, reference_modules())


class ReadsOneMore(Reference):
    """A read returns what is not there."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call."""
        taken = super().take(state, call, choice)
        if isinstance(call, Read) and taken.outcome.refused is None:
            return taken._replace(outcome=Outcome(taken.outcome.value + 1))
        return taken


class ForgetsAField(Reference):
    """A refusal lacks a field."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call."""
        taken = super().take(state, call, choice)
        refused = taken.outcome.refused
        if refused is None or not refused.fields:
            return taken
        return taken._replace(outcome=Outcome(refused=Refused(refused.name, refused.fields[1:])))


class TakesAnyFrame(Reference):
    """It says that a fill took frames which it may not take."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call."""
        taken = super().take(state, call, choice)
        if isinstance(call, Fill) and choice.frames:
            return taken._replace(choice=choice._replace(frames=(7,) * len(choice.frames)))
        return taken


class CountsTwice(Reference):
    """Its view shows one page more evicted than were."""

    def view(self, state: Any) -> View:
        """Show the state."""
        found = super().view(state)
        if found.counters.evictions == 0:
            return found
        counters = msgspec.structs.replace(found.counters, evictions=found.counters.evictions + 1)
        return msgspec.structs.replace(found, counters=counters)


class ShowsTruthForOne(Reference):
    """Its view is equal to the right one, and written down it is not."""

    def view(self, state: Any) -> View:
        """Show the state."""
        found = super().view(state)
        holds = tuple([True if count == 1 else count for count in found.holds])
        return msgspec.structs.replace(found, holds=holds)


class Crashes(Reference):
    """It raises what is no refusal."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call."""
        if isinstance(call, Alloc):
            raise IndexError("one too many")
        return super().take(state, call, choice)


class ShowsNothing(Reference):
    """It cannot be looked at once it has a lease."""

    def view(self, state: Any) -> View:
        """Show the state."""
        found = super().view(state)
        if found.leases:
            raise KeyError("a lease")
        return found


class RaisesForNothing(Reference):
    """It says that the device is lost, and it is not."""

    errors = ("DeviceLost",)

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call."""
        if isinstance(call, Read):
            refused = Refused("DeviceLost", (("because", "no reason"),))
            return Transition(choice, Outcome(refused=refused), state)
        return super().take(state, call, choice)

    def judge_error(
        self, _state: Any, _call: Call, _expected: Outcome, error: str | None
    ) -> str | None:
        """Say that there was none to be raised."""
        return error and "no error: the device is well"


SPOILT = {
    "outcome": ReadsOneMore,
    "choice": TakesAnyFrame,
    "view": CountsTwice,
    "digest": ShowsTruthForOne,
    "raised": Crashes,
    "error": RaisesForNothing,
}
"""Each kind of difference, and a subject that shows it."""


def make_pair(subject: Any, **how: Any) -> Pair:
    """A subject and the reference."""
    return Pair(subject, make_reference(SHAPE, False), JUDGE, **how)
