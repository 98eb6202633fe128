"""The transition: what may become of a call, and what it comes to.

`options(state, call)` yields every choice the spec leaves open, the default first;
`apply(state, call, choice)` makes the call.
"""

from collections.abc import Callable, Iterator
from typing import Any

from reference import drafts, fill, leave, tier
from reference.calls import (
    DEFAULT,
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Outcome,
    Publish,
    Read,
    Refused,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.refusals import Refusal
from reference.state import State


def options(state: State, call: Call) -> Iterator[Choice]:
    """Yield every choice the spec allows for this call here, the default first.

    A call that is refused, or leaves nothing open, has the one option `DEFAULT`.
    """
    if type(call) is Fill:
        return fill.options(state, call.lease, call.pages)
    if type(call) is Alloc:
        return tier.alloc_options(state, call.lease)
    return iter((DEFAULT,))


def apply(state: State, call: Call, choice: Choice) -> tuple[Outcome, State]:
    """Return what the call comes to and the state after it; `choice` is one of its options."""
    try:
        value, after = _OPERATIONS[type(call)](state, call, choice)
    except Refusal as refusal:
        fields = tuple(vars(refusal).items())
        return Outcome(refused=Refused(type(refusal).__name__, fields)), state
    return (value if type(value) is Outcome else Outcome(value)), after


_OPERATIONS: dict[type[Call], Callable[[State, Any, Choice], tuple[object, State]]] = {
    Open: lambda state, call, _: tier.open_lease(state, call.promise),
    Alloc: lambda state, call, choice: tier.alloc(state, call.lease, choice),
    Share: lambda state, call, _: tier.share(state, call.lease, call.page),
    Release: lambda state, call, _: tier.release(state, call.lease, call.page),
    Lookup: lambda state, call, _: tier.lookup(state, call.lease, call.page),
    Fill: lambda state, call, choice: fill.fill(state, call.lease, call.pages, choice),
    CompleteFill: lambda state, call, _: fill.complete_fill(
        state, call.lease, call.ticket, call.ok
    ),
    Unpin: lambda state, call, _: tier.unpin(state, call.lease, call.handle),
    MarkDirty: lambda state, call, _: tier.mark_dirty(state, call.lease, call.handle),
    Write: lambda state, call, _: tier.write(state, call.lease, call.handle, call.row, call.value),
    Read: lambda state, call, _: tier.read(state, call.lease, call.handle, call.row),
    WriteBack: lambda state, call, _: tier.write_back(state, call.lease, call.handle),
    CompleteWriteBack: lambda state, call, _: tier.complete_write_back(
        state, call.lease, call.ticket, call.ok
    ),
    Finish: lambda state, call, _: tier.finish(state, call.lease),
    Abandon: lambda state, call, _: leave.abandon(state, call.lease),
    Land: lambda state, call, _: leave.land(state, call.ticket, call.ok),
    Reset: lambda state, call, _: leave.reset(state),
    Truncate: lambda state, call, _: drafts.truncate(state, call.lease, call.page, call.rows),
    Publish: lambda state, call, _: drafts.publish(state, call.lease, call.page, call.key),
    Find: lambda state, call, _: drafts.find(state, call.lease, call.key),
}
