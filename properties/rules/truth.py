"""Rules of what callers are told and given, beyond the spec's table.

The table judges what calls do to pins and frames; a call that does nothing at all, a lookup that
lies and a refusal with the wrong numbers break none of its rules. Found by asking which mutants
differ from the reference and are seen by no rule.
"""

from typing import Any

from properties.registry import step_rule
from properties.rules import examples as ex
from properties.step import Step
from properties.view import LeaseView, View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    Fill,
    Find,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Publish,
    Release,
    Reset,
    Share,
    Truncate,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page, Phase, Plan

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


@step_rule(
    seen="C24",
    calls=(Lookup,),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, generation=2),), ex.lease(0)), Lookup(0, 0), value=Handle(0, 0, 1)
    ),
)
def lookup_tells_the_truth(step: Step) -> str | None:
    """A lookup returns the current handle of a page whose rows are in a frame, else none."""
    call: Lookup = step.call  # type: ignore[assignment]
    number = step.before.mapped.get(call.page)
    due = None
    if number is not None and step.before.frames[number].phase in (READY, WRITING_BACK):
        due = Handle(call.page, number, step.before.frames[number].generation)
    if step.outcome.value == due:
        return None
    return f"lookup of page {call.page} returned {step.outcome.value}, and {due} was due"


@step_rule(
    seen="C05, C23",
    calls=(Open, Alloc, Share, Release, Finish, Abandon, Find, Reset),
    endings=("done",),
    broken=lambda: ex.step(ex.view((ex.frame(),), ex.lease(0), ex.lease()), Share(1, 0)),
)
def holds_by_the_book(step: Step) -> str | None:
    """What a lease holds changes as the call says; it ends by `finish` and `abandon` alone."""
    call = step.call
    if isinstance(call, Reset):
        return _holds_kept(step)
    lease_id: Any = step.outcome.value if isinstance(call, Open) else step.lease
    before, after = step.before.leases.get(lease_id), step.after.leases.get(lease_id)
    due = _holds_due(call, before, step)
    got = None if after is None else (after.promise, set(after.table), set(after.borrowed))
    if got == due:
        return None
    names = "(promise, table, borrowed)"
    return f"after {call} lease {lease_id} has {names} {got}, and {due} was due"


def _holds_kept(step: Step) -> str | None:
    """Say which lease does not hold what it held, if a reset took it."""
    after = step.after.leases
    for lease_id, lease in step.before.leases.items():
        new = after.get(lease_id)
        due = (lease.promise, lease.table, lease.borrowed)
        if new is None or (new.promise, new.table, new.borrowed) != due:
            return f"{step.call} left lease {lease_id} {new or 'closed'}, and {due} was due"
    return None


def _holds_due(
    call: Call, before: LeaseView | None, step: Step
) -> tuple[int, set[Page], set[Page]] | None:
    """Return the promise, table and borrowed pages that the calling lease should have."""
    if isinstance(call, Open):
        return (call.promise, set(), set()) if before is None else None
    if isinstance(call, Finish | Abandon) or before is None:
        return None
    table, borrowed = set(before.table), set(before.borrowed)
    if isinstance(call, Alloc):
        table.add(step.outcome.value)  # type: ignore[arg-type]
    elif isinstance(call, Share):
        borrowed.add(call.page)
    elif isinstance(call, Find):
        page = step.before.keys.get(call.key)
        borrowed.update(() if page is None or page in table else (page,))
    elif isinstance(call, Release):
        table.discard(call.page)
        borrowed.discard(call.page)
    return before.promise, table, borrowed


@step_rule(
    seen="C02, C13",
    calls=(Fill, WriteBack),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease(0)),
        Fill(0, (0,)),
        ex.view((ex.frame(0, ex.FILLING),), ex.lease(0, claims=(0,))),
        value=Plan(1, (Handle(0, 0, 0),), (0,)),
    ),
)
def copies_by_the_book(step: Step) -> str | None:
    """A fill with misses and a write-back of a dirty frame start one copy of just their frames."""
    call, value = step.call, step.outcome.value
    if isinstance(call, Fill):
        misses = tuple(page for page in call.pages if page not in step.before.mapped)
        plan: Plan = value  # type: ignore[assignment]
        if plan.misses != misses:
            return f"the plan of {call} has misses {plan.misses}, and {misses} were not resident"
        frames = tuple(step.after.mapped.get(page) for page in misses)
        return _copy_due(step, call.lease, plan.ticket, "fill", frames)
    assert isinstance(call, WriteBack)
    dirty = step.before.frames[call.handle.frame].dirty and not step.before.off
    frames = (call.handle.frame,) if dirty else ()
    return _copy_due(step, call.lease, value, "write-back", frames)


def _copy_due(
    step: Step, lease: LeaseId, ticket: object, kind: str, frames: tuple[int | None, ...]
) -> str | None:
    """Say what is wrong with the copies that a call started, if anything is."""
    before, after = step.before.leases.get(lease), step.after.leases.get(lease)
    if before is None or after is None:
        return None
    started = [c for c in after.copies if c not in before.copies]
    got = [(copy.ticket, copy.kind, copy.frames) for copy in started]
    due = [(ticket, kind, frames)] if frames else []
    if got == due and (ticket is None) == (not frames):
        return None
    return f"{step.call} returned ticket {ticket}, started {got}, and {due} was due"


@step_rule(
    seen="refusals without a reason",
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease(0)),
        Open(2),
        refused="PromiseUnavailable",
        fields=(("promise", 2), ("promised", 0), ("frames", 1)),
    ),
)
def refusal_tells_why(step: Step) -> str | None:
    """A refusal names what it refused and the numbers it met."""
    refused = step.outcome.refused
    assert refused is not None
    call = step.call
    for name, value in refused.fields:
        # Most fields repeat what the call said; `promise` may be either's.
        if name in _REPEATED and value == getattr(call, name, _NOTHING):
            continue
        wrong = _wrong(step, refused.name, name, value)
        if wrong is not None:
            return f"{step.call} was refused with {refused.name}, {name} {value}: {wrong}"
    return None


@step_rule(
    seen="V24",
    calls=(MarkDirty,),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))), MarkDirty(0, ex.handle(0))
    ),
)
def mark_makes_dirty(step: Step) -> str | None:
    """A frame is dirty once it was marked."""
    call: MarkDirty = step.call  # type: ignore[assignment]
    frame = step.after.frame_of(call.handle.page)
    if frame is not None and frame.dirty:
        return None
    return f"{call} succeeded and left page {call.handle.page} clean"


_REPEATED = frozenset({"lease", "ticket", "handle", "row"})
_NOTHING = object()


def _wrong(step: Step, refusal: str, name: str, value: object) -> str | None:
    """Say what a field of a refusal should be, if it is wrong."""
    view, call = step.before, step.call
    if name in ("lease", "promise", "ticket", "handle", "row") and hasattr(call, name):
        due = getattr(call, name)
    elif name in ("page", "frame"):
        return _wrong_page(view, call, refusal, name, value)
    elif isinstance(call, Publish | Truncate) and name in ("key", "length", "written"):
        due = _told(view, call, refusal, name)
    elif name == "pages":
        due = len(view.holds) if refusal == "PageMemory" else _dirty(view, call)
    elif name == "rows":
        due = view.shape.rows
    else:
        due = _number(view, call, name)
    same = (
        sorted(value) == sorted(due)
        if isinstance(due, tuple) and isinstance(value, tuple)
        else value == due
    )
    return None if same else f"{due} was due"


def _wrong_page(view: View, call: Call, refusal: str, name: str, value: object) -> str | None:
    """Say which pages or frames a refusal may name, if it names another."""
    lease = view.leases.get(getattr(call, "lease", -1))
    handle = getattr(call, "handle", None)
    pages: tuple[Page, ...]
    if handle is not None:
        pages = (handle.page,)
    elif isinstance(call, Fill):
        pages = call.pages
        if refusal == "DuplicatePage":
            pages = tuple(page for page in pages if pages.count(page) > 1)
        elif refusal == "NotHeld" and lease is not None:
            pages = tuple(p for p in pages if p not in lease.table and p not in lease.borrowed)
        elif refusal == "HitPending":
            pages = tuple(p for p in pages if p in view.mapped and _phase(view, p) == FILLING)
    elif isinstance(call, Publish) and refusal == "KeyTaken":
        pages = (view.keys.get(call.key, -1),)
    elif isinstance(call, Truncate) and call.page not in view.mapped and name == "frame":
        return None if value in view.orphaned else "a frame of a copy in quarantine was due"
    elif isinstance(call, Finish) and lease is not None:
        numbers = [n for copy in lease.copies if copy.kind == "write-back" for n in copy.frames]
        pages = tuple(page for page, n in view.mapped.items() if n in numbers)
    else:
        pages = (getattr(call, "page", -1),)
    due = pages if name == "page" else tuple(view.mapped.get(page) for page in pages)
    return None if value in due else f"one of {due} was due"


def _told(view: View, call: Publish | Truncate, refusal: str, name: str) -> object:
    """Return what a refusal to publish or to truncate should say."""
    if isinstance(call, Truncate):
        return call.rows
    if name == "written":
        return sum(value != 0 for value in view.host.get(call.page) or ())
    keys = [key for key, page in view.keys.items() if page == call.page]
    return call.key if refusal == "KeyTaken" else next(iter(keys), None)


def _phase(view: View, page: Page) -> Phase:
    return view.frames[view.mapped[page]].phase


def _dirty(view: View, call: Call) -> tuple[Page, ...]:
    """Return the dirty pages whose last pin the call would give up."""
    handle = getattr(call, "handle", None)
    if handle is not None:
        return (handle.page,)
    pins = view.leases[call.lease].pins  # type: ignore[union-attr]
    return tuple(f.page for f in view.frames if f.dirty and f.page in pins)


def _number(view: View, call: Call, name: str) -> object:
    """Return the number that a refusal met."""
    if name == "promised":
        return sum(lease.promise for lease in view.leases.values()) + len(view.orphaned)
    if name == "frames":
        return view.shape.frames
    lease = view.leases.get(getattr(call, "lease", -1))
    if lease is None:
        return None
    if name == "promise":
        return lease.promise
    if name == "ticket":
        return next((copy.ticket for copy in lease.copies if copy.kind == "fill"), None)
    if name == "pins":
        return lease.pins.get(getattr(call, "page", -1))
    if name == "wanted":
        return len({*lease.pins, *getattr(call, "pages", ())})
    misses = [page for page in getattr(call, "pages", ()) if page not in view.mapped]
    if name == "available":
        pages = getattr(call, "pages", ())
        spare = [n for n in view.evictable if view.frames[n].page not in pages]
        return len(view.free_frames) + len(spare)
    return {"misses": len(misses), "landing": len(view.landing)}.get(name)
