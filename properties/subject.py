"""Subjects: whatever can make a call and show a view. Everything judged is one.

A `Model` is a subject whose states can be kept and taken up again, so that an explorer can try
every option from each. `FunctionModel` is the reference itself, `ObjectModel` the mutable
`Reference` around it; both take the modules to use, so that a mutant is just another model.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, NamedTuple, Protocol

from properties.view import CopyView, CountersView, FrameView, LeaseView, OrphanView, View
from reference import reference, refusals, transition
from reference import state as states
from reference.calls import FAILED, NAMES, Call, Choice, Fill, Outcome, Refused
from reference.words import Phase, Shape


class Transition(NamedTuple):
    """One thing a call may come to."""

    choice: Choice
    """The option that was taken."""
    outcome: Outcome
    """What the call came to."""
    after: Any
    """The state after it."""


class Model(Protocol):
    """A subject whose states are values."""

    def initial(self) -> Any:
        """Return the state in which nothing happened yet."""

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """Return everything the call may come to, the default first."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice."""

    def view(self, state: Any) -> View:
        """Return what the state shows."""


class ReferenceModules(NamedTuple):
    """The modules of one copy of the reference, original or mutated."""

    state: ModuleType
    transition: ModuleType
    reference: ModuleType
    refusals: ModuleType


class FunctionModel:
    """The reference as functions over immutable states."""

    def __init__(self, shape: Shape, off: bool, modules: ReferenceModules) -> None:
        """Use this copy of the reference for a tier of this shape."""
        self._initial = modules.state.new_state(shape, off)
        self._options = modules.transition.options
        self._apply = modules.transition.apply

    def initial(self) -> Any:
        """Return the state in which nothing happened yet."""
        return self._initial

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """Return everything the call may come to, the default first."""
        apply = self._apply
        return [
            Transition(choice, *apply(state, call, choice)) for choice in self._options(state, call)
        ]

    def choices(self, state: Any, call: Call) -> Iterator[Choice]:
        """Yield every choice that `transitions` would take, one at a time."""
        return iter(self._options(state, call))

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice."""
        return Transition(choice, *self._apply(state, call, choice))

    def view(self, state: Any) -> View:
        """Return what the state shows."""
        return view_of_state(state)


class ObjectModel:
    """The mutable `Reference`, taken up at a state, one call at a time."""

    def __init__(self, shape: Shape, off: bool, modules: ReferenceModules) -> None:
        """Use this copy of the reference for a tier of this shape."""
        self._reference = modules.reference.Reference(shape, off)
        self._options = modules.transition.options
        self._refusal = modules.refusals.Refusal
        self._fill_failed = modules.refusals.FillFailed
        self._initial = self._reference.state

    def initial(self) -> Any:
        """Return the state in which nothing happened yet."""
        return self._initial

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """Return everything the call may come to, the default first."""
        return [self.take(state, call, choice) for choice in self._options(state, call)]

    def choices(self, state: Any, call: Call) -> Iterator[Choice]:
        """Yield every choice that `transitions` would take, one at a time."""
        return iter(self._options(state, call))

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice."""
        subject = self._reference
        subject.state = state
        subject.choose = lambda _state, _call: choice
        method = getattr(subject, NAMES[type(call)])
        try:
            value = method(*(getattr(call, name) for name in call.__match_args__))
        except self._refusal as refusal:
            refused = Refused(type(refusal).__name__, tuple(vars(refusal).items()))
            return Transition(choice, Outcome(refused=refused), subject.state)
        except self._fill_failed:
            return Transition(choice, FAILED, subject.state)
        failed = getattr(call, "ok", True) is False and type(call) is not Fill
        return Transition(choice, Outcome(value, failed), subject.state)

    def view(self, state: Any) -> View:
        """Return what the state shows."""
        return view_of_state(state)


def offers(model: Model, state: Any, call: Call) -> Iterator[Choice]:
    """Yield the choices of `transitions`: one at a time where the model can, there may be many."""
    choices = getattr(model, "choices", None)
    if choices is not None:
        yield from choices(state, call)
    else:
        yield from (taken.choice for taken in model.transitions(state, call))


def view_of_state(state: Any) -> View:
    """Return the view of a reference state: its tables as they are, rows masked."""
    unfilled = (Phase.FREE, Phase.FILLING, Phase.QUARANTINED)
    free, host = frozenset(state.pool.free + state.pool.retired), state.host
    live = [page for page in range(state.shape.pages) if page not in free]
    return View(
        shape=state.shape,
        off=state.off,
        leases={lease_id: _lease_view(lease) for lease_id, lease in state.leases},
        frames=tuple(
            [
                FrameView(page, generation, phase, dirty, None if phase in unfilled else rows)
                for page, generation, phase, dirty, rows in state.frames
            ]
        ),
        where=state.where,
        free=state.pool.free,
        holds=state.pool.holds,
        host={page: None if host[page].torn else host[page].rows for page in live},
        torn=tuple([page for page in live if host[page].torn]),
        counters=CountersView(*state.counters),
        recency=state.recency,
        quarantine=tuple(
            [OrphanView(c.ticket, _KINDS[c.kind], c.frames, c.pages) for c in state.quarantine]
        ),
        retired=state.pool.retired,
        lost=state.lost,
        keys=dict(state.keys),
    )


def _lease_view(lease: Any) -> LeaseView:
    return LeaseView(
        lease.promise,
        lease.table,
        lease.borrowed,
        dict(lease.pins),
        lease.claims,
        tuple(CopyView(c.ticket, _KINDS[c.kind], c.frames) for c in lease.copies),
    )


_KINDS: tuple[Literal["fill", "write-back"], ...] = ("fill", "write-back")


def reference_modules() -> ReferenceModules:
    """Return the original reference."""
    return ReferenceModules(states, transition, reference, refusals)
