"""Rules of fills and completions: victims, the undo, tickets, and recency.

Not here: the pins a fill gives (`pins`) and the rows it brings (`dirt`).
"""

from typing import Any

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.rules.rows import gone_by, has_copy
from properties.step import Step
from properties.view import CopyView, LeaseView, View
from reference.calls import CompleteFill, CompleteWriteBack, Fill, Lookup, WriteBack
from reference.words import FrameNumber, LeaseId, Page, Phase, Plan

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


@state_rule(
    seen="C02",
    broken=lambda: (ex.view((ex.frame(1, FILLING),), ex.lease(1)), ex.ledger()),
)
def in_flight_is_owned(view: View, ledger: Ledger) -> str | None:
    """A frame in flight is claimed, or pinned and dirty, by the one lease whose ticket it is.

    Or nobody's: what a copy in quarantine may have is in `leaving`.
    """
    owned: set[FrameNumber] = set(view.orphaned)
    for lease_id, lease in view.leases.items():
        if lease.copies or lease.claims:
            wrong = _copies_of(view, lease_id, lease, owned)
            if wrong is not None:
                return wrong
    for number, frame in enumerate(view.frames):
        if frame.phase in (FILLING, WRITING_BACK) and number not in owned:
            return f"frame {number} with page {frame.page} is in flight without a ticket"
    return None


def _copies_of(
    view: View, lease_id: LeaseId, lease: LeaseView, owned: set[FrameNumber]
) -> str | None:
    """Say what is wrong with the copies of a lease, and add their frames to the owned ones."""
    fills = 0
    for copy in lease.copies:
        fills += copy.kind == "fill"
        if not copy.frames:
            return f"ticket {copy.ticket} of lease {lease_id} has no frame"
        for number in copy.frames:
            if number in owned:
                return f"frame {number} is in flight twice, once with ticket {copy.ticket}"
            owned.add(number)
            if not 0 <= number < len(view.frames):
                return f"ticket {copy.ticket} has frame {number}, which is no frame"
            wrong = _copy_of(view, lease, copy, number)
            if wrong is not None:
                return f"frame {number} with ticket {copy.ticket} of lease {lease_id} is {wrong}"
    if fills != (1 if lease.claims else 0):
        return f"lease {lease_id} has {fills} fills in flight and claims pages {lease.claims}"
    return None


def _copy_of(view: View, lease: LeaseView, copy: CopyView, number: FrameNumber) -> str | None:
    frame = view.frames[number]
    if copy.kind == "fill":
        if frame.phase != FILLING:
            return f"{Phase(frame.phase).name}, not FILLING"
        return None if frame.page in lease.claims else f"with page {frame.page} not claimed"
    if frame.phase != WRITING_BACK:
        return f"{Phase(frame.phase).name}, not WRITING_BACK"
    if frame.page not in lease.pins:
        return f"with page {frame.page} not pinned"
    return None if frame.dirty else f"with page {frame.page} not dirty"


@step_rule(
    seen="review 1, C01",
    calls=(Fill, CompleteFill),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, FILLING),), ex.lease(0, claims=(0,), copies=(ex.filling(5, 0),))),
        CompleteFill(0, 5, ok=False),
        ex.view((ex.frame(0),), ex.lease(0), counters=(0, 0, 0, 1, 0, 0)),
        failed=True,
        knew=ex.ledger(plans={5: ex.plan(0, misses=(0,))}, tickets=(5,)),
    ),
)
def failed_fill_is_undone(step: Step) -> str | None:
    """A failed fill leaves no miss mapped, no claim and no pin; its hits are still resident."""
    call: Fill | CompleteFill = step.call  # type: ignore[assignment]
    # A copy that failed is a failed fill, whatever the completion says of it.
    if not step.outcome.failed and (type(call) is Fill or call.ok):  # type: ignore[union-attr]
        return None
    before, after, mapped = step.before, step.after, step.after.mapped
    if type(call) is Fill:
        misses = [page for page in call.pages if page not in before.mapped]
        hits = [page for page in call.pages if page in before.mapped]
    else:
        plan = step.ledger.plans.get(call.ticket)  # type: ignore[union-attr]
        if plan is None:
            return None
        misses = list(plan.misses)
        hits = [handle.page for handle in plan.handles if handle.page not in plan.misses]
    for page in misses:
        if page in mapped:
            return f"page {page} was a miss of a failed fill and frame {mapped[page]} maps it"
    for page in hits:
        if mapped.get(page) != before.mapped.get(page) and page not in gone_by(step):
            return (
                f"page {page} was a hit of a failed fill and left frame {before.mapped.get(page)}"
            )
    old, lease = before.leases.get(call.lease), after.leases.get(call.lease)
    if lease is None or old is None:
        return f"lease {call.lease} is not open around its failed fill"
    if lease.claims:
        return f"lease {call.lease} still claims pages {lease.claims} after its fill failed"
    for copy in lease.copies:
        if copy.kind == "fill":
            return f"ticket {copy.ticket} is still in flight after the fill failed"
    if lease.pins != old.pins:
        return f"a failed fill took the pins of lease {call.lease} from {old.pins} to {lease.pins}"
    return None


@step_rule(
    seen="C11, C02",
    calls=(Fill,),
    broken=lambda: ex.step(
        ex.view((ex.frame(0), ex.frame(2)), ex.lease(0, pins=(0,)), ex.lease(1, 2)),
        Fill(1, (1,)),
        ex.view(
            (ex.frame(1, FILLING, generation=1), ex.frame(2)),
            ex.lease(0, pins=(0,)),
            ex.lease(1, 2, claims=(1,), copies=(ex.filling(0, 0),)),
            counters=(0, 1, 1, 0, 0, 0),
        ),
        value=Plan(0, (ex.handle(1, 0, 1),), (1,)),
    ),
)
def victim_was_evictable(step: Step) -> str | None:
    """A frame that lost its page to a miss was evictable before the call."""
    before, after = step.before, step.after.frames
    for number, frame in enumerate(before.frames):
        if (
            frame.page is not None
            and after[number].page != frame.page
            and number not in before.evictable
        ):
            return (
                f"frame {number} lost page {frame.page}, and it was {Phase(frame.phase).name}, "
                f"{'dirty' if frame.dirty else 'clean'}, pinned by "
                f"{before.pinned.get(frame.page, [])}, claimed by "
                f"{before.claimed.get(frame.page, [])}"
            )
    return None


@step_rule(
    seen="C24",
    calls=(Fill,),
    broken=lambda: ex.step(
        ex.view((ex.frame(2), ex.frame(0)), ex.lease(0, 1, 2, promise=2)),
        Fill(0, (1, 2)),
        ex.view(
            (ex.frame(1, FILLING, generation=1), ex.frame(0)),
            ex.lease(0, 1, 2, promise=2, claims=(1, 2), copies=(ex.filling(0, 0),)),
            counters=(1, 1, 1, 0, 0, 0),
        ),
        value=Plan(0, (ex.handle(1, 0, 1), ex.handle(2, 0, 0)), (1,)),
    ),
)
def fill_keeps_its_hits(step: Step) -> str | None:
    """A fill never evicts a page it was asked for."""
    call: Fill = step.call  # type: ignore[assignment]
    before, after = step.before.mapped, step.after.mapped
    for page in call.pages:
        number = before.get(page)
        if number is not None and after.get(page) != number:
            return f"{call} found page {page} in frame {number} and left it in {after.get(page)}"
    return None


@step_rule(
    seen="C07, C13; exploration: a late completion of a failed fill completed the next one",
    calls=(Fill, WriteBack, CompleteFill, CompleteWriteBack),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, FILLING),), ex.lease(0, claims=(0,), copies=(ex.filling(6, 0),))),
        CompleteFill(0, 5, ok=True),
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))),
        knew=ex.ledger(plans={6: ex.plan(0, misses=(0,))}, tickets=(5, 6)),
    ),
)
def completion_is_own(step: Step) -> str | None:
    """A completion acts once, and changes only the copy of its own lease and ticket."""
    call = step.call
    if type(call) is Fill:
        return _starts_one(step, call, "fill", getattr(step.outcome.value, "ticket", None))
    if type(call) is WriteBack:
        return _starts_one(step, call, "write-back", step.outcome.value)
    assert isinstance(call, (CompleteFill, CompleteWriteBack)), call
    if step.outcome.failed == call.ok:
        return f"{call} ended as if the copy had {'failed' if call.ok else 'landed'}"
    ticket, before, after = call.ticket, step.before, step.after
    kind = "fill" if type(call) is CompleteFill else "write-back"
    own: tuple[FrameNumber, ...] | None = None
    for lease_id, lease in before.leases.items():
        rest = lease.copies
        if lease_id == call.lease:
            for copy in rest:
                if copy.ticket == ticket and copy.kind == kind:
                    own = copy.frames
                    rest = tuple(other for other in rest if other is not copy)
        new = after.leases.get(lease_id)
        if new is not None and new.copies != rest:
            return f"{call} left lease {lease_id} the copies {new.copies}, not {rest}"
    if own is None:
        return f"{call} succeeded, and lease {call.lease} had no {kind} {ticket} in flight"
    if ticket not in step.ledger.tickets:
        return f"{call} succeeded, and ticket {ticket} was never issued"
    for number, frame in enumerate(before.frames):
        new_frame = after.frames[number]
        if (
            number not in own
            and frame.page not in gone_by(step)
            and (
                new_frame.page != frame.page
                or new_frame.phase != frame.phase
                or new_frame.dirty != frame.dirty
            )
        ):
            return f"{call} changed frame {number}, which is not of its copy {own}"
    return None


def _starts_one(step: Step, call: Fill | WriteBack, kind: str, ticket: Any) -> str | None:
    """Say what is wrong with the ticket of a copy that starts."""
    if ticket is None:
        return None
    if ticket in step.ledger.tickets:
        return f"{call} issued ticket {ticket}, which was issued before"
    lease = step.after.leases.get(call.lease)
    if lease is None or not has_copy(lease, ticket, kind):
        return f"{call} issued ticket {ticket}, and no {kind} of that name is in flight"
    return None


@step_rule(
    seen="B16-like",
    broken=lambda: ex.step(
        ex.view((ex.frame(0), ex.frame(1)), ex.lease(0, 1), recency=(0, 1)),
        Lookup(0, 0),
        ex.view((ex.frame(0), ex.frame(1)), ex.lease(0, 1), recency=(1, 0)),
        value=ex.handle(0),
    ),
)
def recency_by_rule(step: Step) -> str | None:
    """Recency changes only by a completed fill, as written. (Subjects that show one.)"""
    old = step.before.recency
    if old is None:
        return None
    filled = _filled(step)
    expected = old
    if filled or step.after.mapped != step.before.mapped:
        unmapped = step.unmapped
        expected = tuple(page for page in old if page not in filled and page not in unmapped)
        expected += filled
    if step.after.recency != expected:
        return f"{step.call} left recency {step.after.recency}, not {expected}"
    return None


def _filled(step: Step) -> tuple[Page, ...]:
    """Return the pages of the fill that this call completed."""
    call = step.call
    if step.outcome.failed:
        return ()
    if type(call) is Fill:
        return call.pages if getattr(step.outcome.value, "ticket", None) is None else ()
    if type(call) is CompleteFill:
        plan = step.ledger.plans.get(call.ticket)
        return () if plan is None else tuple(handle.page for handle in plan.handles)
    return ()
