"""Twins: one history made to a tier that is off and to a full tier, side by side.

The full tier has as many frames as pages; its copies complete before the next call and nothing
fails. Each side is given its own handles. Every pair of states of a scope is searched, and every
pair of outcomes is handed to the rule `off-equals-full-tier`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from properties.graph import Twin
from properties.ledger import Ledger
from properties.scopes import Scope, is_inside
from properties.subject import Model
from properties.symmetry import canonical
from properties.view import View
from reference.calls import (
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    MarkDirty,
    Open,
    Outcome,
    Read,
    Release,
    Share,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page


class Side(NamedTuple):
    """One of the two, at one moment."""

    state: Any
    """The state of its model."""
    ledger: Ledger
    """What its callers know."""
    handles: dict[Page, Handle]
    """The handle it gave last for each page; stale once the page's life ended."""


class Pair(NamedTuple):
    """Both, after the same history."""

    off: Side
    full: Side
    history: tuple[str, ...]


def twin_calls(off: Model, full: Model, scope: Scope, states: int) -> Iterator[Twin]:
    """Yield every call of the search of at most `states` pairs, with both outcomes.

    `off` is a model with the tier off, `full` one with as many frames as pages.
    """
    empty = Ledger.empty(scope.shape.rows)
    first = Pair(Side(off.initial(), empty, {}), Side(full.initial(), empty, {}), ())
    todo = [first]
    seen = set()
    for pair in todo:
        view = off.view(pair.off.state)
        for call in _calls(view, pair, scope):
            twin, after = _make(off, full, pair, call)
            yield twin
            if twin.off.refused or twin.full.refused or len(todo) >= states:
                continue
            key = _key(off, full, after)
            if key not in seen and is_inside(off.view(after.off.state), scope):
                seen.add(key)
                todo.append(after)


def _key(off: Model, full: Model, pair: Pair) -> object:
    """Pages that are the same on both sides are told apart by what each side says of them."""
    off_view, full_view = off.view(pair.off.state), full.view(pair.full.state)
    return (
        canonical(off_view, pair.off.ledger),
        canonical(full_view, pair.full.ledger),
        sorted(off_view.is_current(handle) for handle in pair.off.handles.values()).count(True),
    )


def _calls(view: View, pair: Pair, scope: Scope) -> Iterator[Call]:
    """Calls as made to the tier that is off; handles are exchanged for the full tier."""
    pages = range(scope.shape.pages)
    for promise in range(scope.shape.frames + 2):
        yield Open(promise)
    gone = max(pair.off.ledger.leases, default=-1) + 1
    for lease in (*view.leases, gone):
        yield Alloc(lease)
        for page in pages:
            yield Share(lease, page)
            yield Release(lease, page)
            yield Fill(lease, (page,))
            if page in pair.off.handles and page in pair.full.handles:
                yield from _handle_calls(lease, pair.off.handles[page], scope.shape.rows)
        yield Fill(lease, tuple(pages))
        yield Finish(lease)


def _handle_calls(lease: LeaseId, handle: Handle, rows: int) -> Iterator[Call]:
    yield Unpin(lease, handle)
    yield MarkDirty(lease, handle)
    yield WriteBack(lease, handle)
    for row in range(rows + 1):
        yield Read(lease, handle, row)
        yield Write(lease, handle, row, 1)


def _make(off: Model, full: Model, pair: Pair, call: Call) -> tuple[Twin, Pair]:
    """Make the call on both sides, completing at once what it starts."""
    theirs = call
    if hasattr(call, "handle"):
        handle = pair.full.handles[call.handle.page]
        fields = {name: getattr(call, name) for name in call.__match_args__}
        theirs = type(call)(**{**fields, "handle": handle})
    first, off_side = _take(off, pair.off, call)
    second, full_side = _take(full, pair.full, theirs)
    history = (*pair.history, repr(call))
    twin = Twin(call, first, second, "; ".join(history))
    return twin, Pair(off_side, full_side, history)


def _take(model: Model, side: Side, call: Call) -> tuple[Outcome, Side]:
    taken = model.transitions(side.state, call)[0]
    outcome, state = taken.outcome, taken.after
    ledger = side.ledger.absorb(call, outcome)
    handles = side.handles
    if outcome.refused is not None:
        return outcome, side
    value: Any = outcome.value
    if isinstance(call, Fill) and value is not None:
        handles = {**handles, **{handle.page: handle for handle in value.handles}}
        if value.ticket is not None:
            done: Call = CompleteFill(call.lease, value.ticket, True)
            outcome_done, state = model.transitions(state, done)[0][1:]
            ledger = ledger.absorb(done, outcome_done)
    if isinstance(call, WriteBack) and value is not None:
        done = CompleteWriteBack(call.lease, value, True)
        outcome_done, state = model.transitions(state, done)[0][1:]
        ledger = ledger.absorb(done, outcome_done)
    return outcome, Side(state, ledger, handles)


def full_scope(scope: Scope) -> Scope:
    """Return the scope with as many frames as pages, and the tier on."""
    shape = scope.shape._replace(frames=scope.shape.pages)
    return msgspec.structs.replace(scope, shape=shape, off=False)
