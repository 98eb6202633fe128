"""Traces to test with: random walks, a subject that chooses otherwise, and one that is broken."""

from random import Random
from typing import Any

from properties.calls_for import calls_for
from properties.judge import Judge
from properties.ledger import Ledger
from properties.registry import Rule
from properties.scopes import Scope
from properties.subject import FunctionModel, Transition, reference_modules
from properties.trace import Header, Trace, record
from properties.view import View
from reference.calls import (
    DEFAULT,
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fault,
    Fill,
    Find,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Outcome,
    Publish,
    Read,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.reference import Reference, default_choice
from reference.transition import apply
from reference.words import Handle, Shape

SHAPE = Shape(pages=2, frames=1, rows=1)
HEADER = Header(shape=SHAPE)


def get_model(shape: Shape = SHAPE, off: bool = False) -> FunctionModel:
    """The reference."""
    return FunctionModel(shape, off, reference_modules())


def walk(scope: Scope, seed: int, length: int = 40) -> Trace:
    """A random walk over a scope; most refused calls are left out, or it would get nowhere."""
    random = Random(seed)
    model = get_model(scope.shape, scope.off)
    state, ledger = model.initial(), Ledger.empty(scope.shape.rows)
    calls: list[tuple[Call, Choice]] = []
    while len(calls) < length:
        call = random.choice(calls_for(model.view(state), ledger, scope))
        taken = random.choice(list(model.transitions(state, call)))
        if taken.outcome.refused is not None and random.random() < 0.7:
            continue
        calls.append((call, taken.choice))
        state, ledger = taken.after, ledger.absorb(call, taken.outcome)
    return record(model, Header(shape=scope.shape, off=scope.off), calls)


class HighestPage(FunctionModel):
    """A subject whose pool hands out the highest free page, and offers no other."""

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """What the reference offers, the last page only."""
        offered = list(super().transitions(state, call))
        return offered[-1:] if isinstance(call, Alloc) else offered


class ForgetsDirt(FunctionModel):
    """A broken subject: it gives up the last pin on a dirty frame."""

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """What the reference does, but for an `unpin` that it refuses as dirty."""
        return [self._forget(state, call, taken) for taken in super().transitions(state, call)]

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """The same for one choice."""
        return self._forget(state, call, super().take(state, call, choice))

    def _forget(self, state: Any, call: Call, taken: Transition) -> Transition:
        refused = taken.outcome.refused
        if not isinstance(call, Unpin) or refused is None or refused.name != "DirtyFrame":
            return taken
        leases = tuple((lease_id, lease._replace(pins=())) for lease_id, lease in state.leases)
        return Transition(DEFAULT, Outcome(), state._replace(leases=leases))


def _check_dirt(view: View, _ledger: Ledger) -> str | None:
    for number, frame in enumerate(view.frames):
        if frame.dirty and frame.page not in view.pinned:
            return f"frame {number} is dirty and nobody pins page {frame.page}"
    return None


DIRT_RULE = Rule(
    id="dirty-is-pinned",
    kind="state",
    sentence="A dirty frame is pinned, or claimed where the lease that pinned it was abandoned.",
    seen="C25",
    check=_check_dirt,
    broken=lambda: None,
    calls=(),
    endings=(),
    derived="",
)
"""A rule of its own, so that the tests of traces need none of the real ones."""

JUDGE = Judge([DIRT_RULE])
FORGETS_DIRT = "example.forgets-dirt"


def record_break() -> Trace:
    """The shortest trace in which dirt is forgotten."""
    handle = Handle(0, 0, 0)
    header = Header(
        shape=SHAPE,
        subject=FORGETS_DIRT,
        rule=DIRT_RULE.id,
        because="frame 0 is dirty and nobody pins page 0",
        scope="tiny",
    )
    calls: list[tuple[Call, Choice]] = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Fill(0, (0,)), Choice(frames=(0,))),
        (CompleteFill(0, 0, True), DEFAULT),
        (MarkDirty(0, handle), DEFAULT),
        (Write(0, handle, 0, 1), DEFAULT),
        (Read(0, handle, 1), DEFAULT),
        (Unpin(0, handle), DEFAULT),
    ]
    return record(ForgetsDirt(SHAPE, False, reference_modules()), header, calls)


def record_leaving() -> Trace:
    """Each operation beyond the spec's table, done and refused, and what they leave behind."""
    shape = Shape(pages=2, frames=2, rows=1)
    first, again = Handle(0, 0, 0), Handle(0, 0, 2)
    calls: list[Call] = [
        Open(1),
        Open(1),
        Alloc(0),
        Fill(0, (0,)),
        CompleteFill(0, 0, True),
        MarkDirty(0, first),
        Write(0, first, 0, 5),
        WriteBack(0, first),
        CompleteWriteBack(0, 1, True),
        Publish(0, 0, 3),
        Find(1, 3),
        Find(1, 4),
        Publish(1, 0, 4),
        Reset(),
        Fill(0, (0,)),
        Abandon(0),
        Fill(1, (0,)),
        Land(2, False),
        Land(2, True),
        CompleteFill(1, 3, True),
        MarkDirty(1, Handle(0, 1, 0)),
        Truncate(1, 0, 2),
        WriteBack(1, Handle(0, 1, 0)),
        Truncate(1, 0, 0),
        Reset(),
        Fill(1, (0,)),
        Land(4, True),
        Truncate(1, 0, 0),
        Fill(1, (0,)),
        Unpin(1, again),
        Abandon(1),
    ]
    tier, path = Reference(shape), []
    for call in calls:
        path.append((call, default_choice(tier.state, call)))
        tier.state = apply(tier.state, *path[-1])[1]
    return record(get_model(shape), Header(shape=shape), path)


def record_choices() -> Trace:
    """Calls with choices beside the default, faults, an eviction, and names nobody issued."""
    shape = Shape(pages=3, frames=2, rows=1)
    first, second = Handle(2, 1, 0), Handle(1, 0, 1)
    calls: list[tuple[Call, Choice]] = [
        (Open(2), DEFAULT),
        (Alloc(0), Choice(page=2)),
        (Alloc(0), Choice(page=1)),
        (Alloc(0), Choice(page=0)),
        (Fill(0, (1, 2)), Choice(frames=(0,), fault=Fault(2, unmapped=False))),
        (Fill(0, (1, 2)), Choice(frames=(0, 1))),
        (MarkDirty(0, first), DEFAULT),
        (CompleteFill(0, 0, True), DEFAULT),
        (Lookup(0, 2), DEFAULT),
        (Lookup(0, 0), DEFAULT),
        (Unpin(0, first), DEFAULT),
        (Unpin(0, second), DEFAULT),
        (Fill(0, (0,)), Choice(frames=(1,))),
        (CompleteFill(0, 7, True), DEFAULT),
        (CompleteFill(0, 1, False), DEFAULT),
        (Unpin(0, first), DEFAULT),
        (Unpin(0, Handle(0, 0, 0)), DEFAULT),
        (Share(7, 9), DEFAULT),
        (Fill(0, (0, 2)), Choice(frames=(1, 0), fault=Fault(2, unmapped=True))),
    ]
    return record(get_model(shape), Header(shape=shape), calls)
