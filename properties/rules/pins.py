"""Rules of leases: holds, pins, claims and promises, and who may do what with a handle.

Not here: the frames a fill takes (`fills`) and what dirt asks of a pin (`dirt`).
"""

from typing import TypeAlias

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.step import Step
from properties.view import FrameView, LeaseView, View
from reference.calls import (
    CALLS,
    Abandon,
    Alloc,
    CompleteFill,
    Fill,
    Finish,
    Land,
    MarkDirty,
    Open,
    Read,
    Reset,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page, Phase, Plan

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase

HandleCall: TypeAlias = Read | Write | MarkDirty | Unpin | WriteBack
HANDLE_CALLS = (Read, Write, MarkDirty, Unpin, WriteBack)


@state_rule(
    seen="C11",
    broken=lambda: (ex.view((ex.frame(),), ex.lease(1, pins=(1,))), ex.ledger()),
)
def pinned_page_is_resident(view: View, ledger: Ledger) -> str | None:
    """A pinned or claimed page is mapped by a frame."""
    mapped = view.mapped
    for lease_id, lease in view.leases.items():
        for page in lease.pins:
            if page not in mapped:
                return f"lease {lease_id} pins page {page}, which no frame maps"
        for page in lease.claims:
            if page not in mapped:
                return f"lease {lease_id} claims page {page}, which no frame maps"
    return None


@state_rule(
    seen="C05",
    broken=lambda: (
        ex.view((ex.frame(1), ex.frame()), ex.lease(pins=(1,)), ex.lease(1)),
        ex.ledger(),
    ),
)
def pin_needs_hold(view: View, ledger: Ledger) -> str | None:
    """A lease pins and claims only pages it holds."""
    for lease_id, lease in view.leases.items():
        for page in lease.pins:
            if page not in lease.table and page not in lease.borrowed:
                return f"lease {lease_id} pins page {page} and does not hold it"
        for page in lease.claims:
            if page not in lease.table and page not in lease.borrowed:
                return f"lease {lease_id} claims page {page} and does not hold it"
    return None


@state_rule(
    seen="C10",
    broken=lambda: (ex.view((ex.frame(0),), ex.lease(0, pins=(0,)), ex.lease()), ex.ledger()),
)
def promises_are_covered(view: View, ledger: Ledger) -> str | None:
    """The promises of open leases add up to at most the frames.

    Frames of copies in quarantine count too, but those a reset left: then leases must wait.
    """
    promised = 0
    for lease in view.leases.values():
        promised += lease.promise
    for copy in view.quarantine:
        promised += 0 if copy.ticket in ledger.uncovered else len(copy.frames)
    if promised > view.shape.frames:
        return f"{promised} frames are promised and there are {view.shape.frames}"
    return None


@state_rule(
    seen="C10",
    broken=lambda: (
        ex.view((ex.frame(0), ex.frame(1)), ex.lease(0, 1, pins=(0, 1))),
        ex.ledger(),
    ),
)
def pins_within_promise(view: View, ledger: Ledger) -> str | None:
    """A lease pins and claims at most as many distinct pages as it promised."""
    for lease_id, lease in view.leases.items():
        used = _in_use(lease)
        if used > lease.promise:
            return (
                f"lease {lease_id} promised {lease.promise} and has {used} pages in frames: "
                f"pins {lease.pins}, claims {lease.claims}"
            )
    return None


@state_rule(
    seen="review 2, C10",
    broken=lambda: (
        ex.view((ex.frame(0, dirty=True), ex.frame()), ex.lease(0, promise=2)),
        ex.ledger(),
    ),
    derived="from dirty-is-pinned, in-flight-is-owned, free-iff-unmapped, pins-within-promise and "
    "promises-are-covered; it stays because it is the promise itself",
)
def room_for_every_promise(view: View, ledger: Ledger) -> str | None:
    """Free and evictable frames are at least what open leases may still pin or claim."""
    open_claims = 0
    for lease in view.leases.values():
        open_claims += max(0, lease.promise - _in_use(lease))
    room = len(view.free_frames)
    for number in view.landing:
        # Leases whose residency was reset wait for these; others never have to.
        copy = view.orphaned.get(number)
        room += copy is not None and copy.ticket in ledger.uncovered
    if open_claims > room:
        room += len(view.evictable)
        if open_claims > room:
            return f"leases may pin {open_claims} pages more, {room} frames are free or evictable"
    return None


def _in_use(lease: LeaseView) -> int:
    """Count the distinct pages a lease pins or claims."""
    used = len(lease.pins)
    for page in lease.claims:
        if page not in lease.pins:
            used += 1
    return used


@step_rule(
    seen="C05, C23",
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,)), ex.lease(borrowed=(0,), pins=(0,))),
        Unpin(0, ex.handle(0)),
        ex.view((ex.frame(0),), ex.lease(0), ex.lease(borrowed=(0,))),
    ),
)
def other_leases_untouched(step: Step) -> str | None:
    """A call by one lease changes nothing of another: promise, pages, pins, claims or copies."""
    caller, after = step.lease, step.after.leases
    if type(step.call) is Reset:
        return None
    for lease_id, lease in step.before.leases.items():
        if lease_id != caller and after.get(lease_id) != lease:
            return (
                f"{step.call} changed lease {lease_id}: {lease} became "
                f"{after.get(lease_id, 'no lease')}"
            )
    return None


@step_rule(
    seen="C11",
    broken=lambda: ex.step(
        ex.view((ex.frame(0), ex.frame()), ex.lease(0, pins=(0,))),
        Alloc(0),
        ex.view((ex.frame(generation=1), ex.frame(0)), ex.lease(0, 1, pins=(0,))),
        value=1,
    ),
)
def pinned_keeps_frame(step: Step) -> str | None:
    """A page pinned or claimed before and after a call keeps its frame and generation."""
    before, after = step.before, step.after
    if before.frames == after.frames:
        return None
    for page, number in before.mapped.items():
        if (page in before.pinned or page in before.claimed) and (
            page in after.pinned or page in after.claimed
        ):
            new = after.mapped.get(page)
            if new != number:
                return f"page {page}, in use before and after, moved from frame {number} to {new}"
            old = before.frames[number].generation
            if after.frames[number].generation != old:
                return (
                    f"page {page}, in use before and after, had generation {old} in frame "
                    f"{number} and has {after.frames[number].generation}"
                )
    return None


@step_rule(
    seen="review 2",
    calls=(Fill,),
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view((ex.frame(1),), ex.lease(0), ex.lease(1, pins=(1,))),
        Fill(0, (0,)),
        refused="FrameMemory",
        fields=(("misses", 1), ("available", 0)),
    ),
    derived="from refusal-is-due and room-for-every-promise; it stays because it is the promise "
    "as a lease meets it",
)
def promise_is_kept(step: Step) -> str | None:
    """`FrameMemory` is never raised."""
    refused = step.outcome.refused
    if refused is not None and refused.name == "FrameMemory":
        return f"{step.call} was refused with FrameMemory: {dict(refused.fields)}"
    return None


@step_rule(
    seen="C05",
    calls=tuple(call for call in CALLS if call not in (Open, Finish, Abandon, Land, Reset)),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0, 0))),
        Unpin(0, ex.handle(0)),
        ex.view((ex.frame(0),), ex.lease(0)),
    ),
)
def pins_by_the_book(step: Step) -> str | None:
    """Only a completed fill adds pins, one for each page, with current handles; unpin takes one.

    `finish` and `abandon` drop the pins of their lease with it, a reset those of all leases.
    """
    lease_id: LeaseId = step.call.lease  # type: ignore[union-attr]
    lease, after = step.before.leases.get(lease_id), step.after.leases.get(lease_id)
    if lease is None:
        return None
    if after is None:
        return f"{step.call} ended lease {lease_id}"
    call, expected = step.call, lease.pins
    handles: tuple[Handle, ...] = ()
    if type(call) is Fill and not step.outcome.failed:
        plan: Plan = step.outcome.value  # type: ignore[assignment]
        if not hasattr(plan, "handles"):
            return f"{call} returned {plan} for a plan"
        handles = plan.handles
        if tuple(handle.page for handle in handles) != call.pages:
            return f"{call} returned handles {handles}, not one for each page in order"
        if plan.ticket is None:
            expected = _add(expected, call.pages)
    elif type(call) is CompleteFill and not step.outcome.failed:
        issued = step.ledger.plans.get(call.ticket)
        if issued is not None:
            handles = issued.handles
            expected = _add(expected, tuple(handle.page for handle in handles))
    elif type(call) is Unpin:
        expected = _take(expected, call.handle.page)
    for handle in handles:
        if not step.after.is_current(handle):
            return f"after {call} the handle {handle} is not current"
    if after.pins != expected:
        return f"{call} left lease {lease_id} with pins {after.pins}, not {expected}"
    return None


def _add(pins: dict[Page, int], pages: tuple[Page, ...]) -> dict[Page, int]:
    """Return the pins with one more on each page."""
    pins = dict(pins)
    for page in pages:
        pins[page] = pins.get(page, 0) + 1
    return pins


def _take(pins: dict[Page, int], page: Page) -> dict[Page, int]:
    """Return the pins with one less on the page."""
    count = pins.get(page, 0) - 1
    pins = {other: pins[other] for other in pins if other != page}
    return {**pins, page: count} if count > 0 else pins


@step_rule(
    seen="review 2; exploration: a hit marked dirty under its own failing fill was left dirty and "
    "unpinned",
    calls=HANDLE_CALLS,
    broken=lambda: ex.step(
        ex.view(
            (ex.frame(0), ex.frame(1, FILLING)),
            ex.lease(0, 1, promise=2, claims=(0, 1), copies=(ex.filling(5, 1),)),
        ),
        MarkDirty(0, ex.handle(0)),
    ),
    derived="from success-is-allowed; it stays because it says what `NotPinned` is for",
)
def only_a_pinner_succeeds(step: Step) -> str | None:
    """Read, write, mark, unpin and write-back succeed only for a lease that pins the page."""
    call: HandleCall = step.call  # type: ignore[assignment]
    lease = step.before.leases.get(call.lease)
    if lease is None or lease.pins.get(call.handle.page, 0) < 1:
        pins = None if lease is None else lease.pins
        return f"{call} succeeded, and the pins of lease {call.lease} are {pins}"
    return None


@step_rule(
    seen="C07",
    calls=HANDLE_CALLS,
    broken=lambda: ex.step(
        ex.view((ex.frame(0, generation=3),), ex.lease(0, pins=(0,))),
        Read(0, ex.handle(0, generation=2), 0),
        value=0,
    ),
    derived="from success-is-allowed; it stays because it says what `StaleHandle` is for",
)
def stale_handle_is_refused(step: Step) -> str | None:
    """No call succeeds with a stale handle."""
    call: HandleCall = step.call  # type: ignore[assignment]
    handle = call.handle
    if step.before.is_current(handle):
        return None
    frames = step.before.frames
    frame: FrameView | None = frames[handle.frame] if 0 <= handle.frame < len(frames) else None
    if frame is None:
        return f"{call} succeeded, and there are {len(frames)} frames"
    return (
        f"{call} succeeded, and frame {handle.frame} maps page {frame.page} "
        f"with generation {frame.generation}"
    )
