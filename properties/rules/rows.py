"""The rows of the spec: which refusal a call meets first, computed from a view alone.

This is no rule. It is the table of operations once more, written apart from the reference, so
that the rules about refusals do not repeat the reference's mistakes.
"""

from collections.abc import Callable
from typing import Any

from properties.ledger import Ledger
from properties.step import Step
from properties.view import LeaseView, View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Publish,
    Read,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page, Phase, Ticket

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase

_HANDLE = ("UnknownLease", "StaleHandle", "NotPinned")

REFUSALS: dict[type[Call], tuple[str, ...]] = {
    Open: ("BadPromise", "PromiseUnavailable"),
    Alloc: ("UnknownLease", "PageMemory"),
    Share: ("UnknownLease", "UnknownPage", "AlreadyHeld"),
    Release: ("UnknownLease", "NotHeld", "FillInFlight", "PagePinned"),
    Lookup: ("UnknownLease", "NotHeld"),
    Fill: (
        "UnknownLease",
        "FillInFlight",
        "DuplicatePage",
        "NotHeld",
        "PromiseExceeded",
        "RowsLost",
        "HitPending",
        "FramesLanding",
        "FrameMemory",
    ),
    CompleteFill: ("UnknownLease", "StaleTicket"),
    Unpin: (*_HANDLE, "DirtyFrame"),
    MarkDirty: (*_HANDLE, "WriteBackInFlight"),
    Write: (*_HANDLE, "WriteBackInFlight", "NotDirty", "BadRow"),
    Read: (*_HANDLE, "BadRow"),
    WriteBack: (*_HANDLE, "WriteBackInFlight"),
    CompleteWriteBack: ("UnknownLease", "StaleTicket"),
    Finish: ("UnknownLease", "FillInFlight", "WriteBackInFlight", "DirtyFrame"),
    Abandon: ("UnknownLease",),
    Land: ("UnknownTicket",),
    Reset: (),
    Truncate: (
        "UnknownLease",
        "NotHeld",
        "BadLength",
        "FillInFlight",
        "HitPending",
        "WriteBackInFlight",
    ),
    Publish: (
        "UnknownLease",
        "NotHeld",
        "NotDurable",
        "PageNotFull",
        "KeyTaken",
        "AlreadyPublished",
    ),
    Find: ("UnknownLease",),
}
"""The refusals of each row, in the order in which they are due."""


def first_due(view: View, ledger: Ledger, call: Call) -> str | None:
    """Return the first refusal of the call's row whose condition holds before the call, if any.

    The rows ask nothing of the ledger; it is here because conditions are judged of both.
    """
    return _ROWS[type(call)](view, call)


def has_copy(lease: LeaseView, ticket: Ticket, kind: str) -> bool:
    """Return whether the lease has a copy in flight with that ticket and direction."""
    return any(copy.ticket == ticket and copy.kind == kind for copy in lease.copies)


def dirty_pins(view: View, lease: LeaseView) -> list[Page]:
    """Return the dirty pages that the lease pins."""
    return [frame.page for frame in view.frames if frame.dirty and frame.page in lease.pins]


def gone_by(step: Step) -> list[Page]:
    """Return the pages whose unpublished rows go with the call: nobody uses them after it.

    With the caller's pins and claims a dirty frame loses the last, or a reset takes all of them.
    """
    call, before = step.call, step.before
    if type(call) is Reset:
        users: list[LeaseView] = []
    elif type(call) is Abandon or (
        # Only where somebody was abandoned can a claim alone keep a dirty frame.
        type(call) is CompleteFill and step.outcome.failed and step.ledger.left
    ):
        users = [lease for lease_id, lease in before.leases.items() if lease_id != call.lease]
    else:
        return []
    used: set[Page] = set()
    for lease in users:
        used.update(lease.pins, lease.claims)
    if type(call) is CompleteFill and call.lease in before.leases:
        used.update(before.leases[call.lease].pins)
    return sorted(
        f.page for f in before.frames if f.page is not None and f.dirty and f.page not in used
    )


def _open(view: View, call: Open) -> str | None:
    if call.promise < 1:
        return "BadPromise"
    promised = call.promise
    for lease in view.leases.values():
        promised += lease.promise
    promised += len(view.orphaned)
    return "PromiseUnavailable" if promised > view.shape.frames else None


def _alloc(view: View, call: Alloc) -> str | None:
    if call.lease not in view.leases:
        return "UnknownLease"
    return None if view.free else "PageMemory"


def _share(view: View, call: Share) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    if call.page not in view.holders:
        return "UnknownPage"
    return "AlreadyHeld" if call.page in lease.table or call.page in lease.borrowed else None


def _release(view: View, call: Release) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    page = call.page
    if page not in lease.table and page not in lease.borrowed:
        return "NotHeld"
    if page in lease.claims:
        return "FillInFlight"
    return "PagePinned" if page in lease.pins else None


def _lookup(view: View, call: Lookup) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    return None if call.page in lease.table or call.page in lease.borrowed else "NotHeld"


def _fill(view: View, call: Fill) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    for copy in lease.copies:
        if copy.kind == "fill":
            return "FillInFlight"
    pages = call.pages
    if len(pages) > 1 and len(set(pages)) < len(pages):
        return "DuplicatePage"
    wanted = len(lease.pins)
    for page in pages:
        if page not in lease.table and page not in lease.borrowed:
            return "NotHeld"
        if page not in lease.pins:
            wanted += 1
    if wanted > lease.promise:
        return "PromiseExceeded"
    if view.lost and not set(pages).isdisjoint(view.lost):
        return "RowsLost"
    misses, mapped = 0, view.mapped
    for page in pages:
        number = mapped.get(page)
        if number is None:
            misses += 1
        elif view.frames[number].phase == FILLING:
            return "HitPending"
    if misses <= len(view.free_frames):
        return None
    misses -= len(view.free_frames) + _spare(view, pages)
    if misses <= 0:
        return None
    return "FramesLanding" if misses <= len(view.landing) else "FrameMemory"


def _spare(view: View, pages: tuple[Page, ...]) -> int:
    """Count the evictable frames whose page the fill does not ask for."""
    return sum(view.frames[number].page not in pages for number in view.evictable)


def _complete_fill(view: View, call: CompleteFill) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    return None if has_copy(lease, call.ticket, "fill") else "StaleTicket"


def _complete_write_back(view: View, call: CompleteWriteBack) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    return None if has_copy(lease, call.ticket, "write-back") else "StaleTicket"


def _handle(view: View, lease_id: LeaseId, handle: Handle) -> str | None:
    """The refusals that every call with a handle begins with."""
    lease = view.leases.get(lease_id)
    if lease is None:
        return "UnknownLease"
    if not view.is_current(handle):
        return "StaleHandle"
    return None if handle.page in lease.pins else "NotPinned"


def _unpin(view: View, call: Unpin) -> str | None:
    due = _handle(view, call.lease, call.handle)
    if due is not None:
        return due
    last = view.leases[call.lease].pins[call.handle.page] == 1
    return "DirtyFrame" if last and view.frames[call.handle.frame].dirty else None


def _settled(view: View, call: MarkDirty | WriteBack | Write) -> str | None:
    due = _handle(view, call.lease, call.handle)
    if due is not None:
        return due
    in_flight = view.frames[call.handle.frame].phase == WRITING_BACK
    return "WriteBackInFlight" if in_flight else None


def _write(view: View, call: Write) -> str | None:
    due = _settled(view, call)
    if due is not None:
        return due
    if not view.frames[call.handle.frame].dirty:
        return "NotDirty"
    return None if 0 <= call.row < view.shape.rows else "BadRow"


def _read(view: View, call: Read) -> str | None:
    due = _handle(view, call.lease, call.handle)
    if due is not None:
        return due
    return None if 0 <= call.row < view.shape.rows else "BadRow"


def _finish(view: View, call: Finish) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    if lease.copies:
        kinds = {copy.kind for copy in lease.copies}
        return "FillInFlight" if "fill" in kinds else "WriteBackInFlight"
    return "DirtyFrame" if dirty_pins(view, lease) else None


def _land(view: View, call: Land) -> str | None:
    tickets = (copy.ticket for copy in view.quarantine)
    return None if call.ticket in tickets else "UnknownTicket"


def _known(view: View, call: Abandon | Find) -> str | None:
    return None if call.lease in view.leases else "UnknownLease"


def _truncate(view: View, call: Truncate) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    page = call.page
    if page not in lease.table and page not in lease.borrowed:
        return "NotHeld"
    if not 0 <= call.rows <= view.shape.rows:
        return "BadLength"
    frame = view.frame_of(page)
    if frame is not None and frame.phase == FILLING:
        return "FillInFlight" if page in lease.claims else "HitPending"
    if frame is not None and frame.phase == WRITING_BACK:
        return "WriteBackInFlight"
    written = any(copy.kind == "write-back" and page in copy.pages for copy in view.quarantine)
    return "WriteBackInFlight" if written else None


def _publish(view: View, call: Publish) -> str | None:
    lease = view.leases.get(call.lease)
    if lease is None:
        return "UnknownLease"
    page = call.page
    if page not in lease.table and page not in lease.borrowed:
        return "NotHeld"
    frame, rows = view.frame_of(page), view.host.get(page)
    if rows is None or (frame is not None and frame.dirty):
        return "NotDurable"
    if 0 in rows:
        return "PageNotFull"
    if call.key in view.keys:
        return "KeyTaken"
    return "AlreadyPublished" if page in view.keys.values() else None


_ROWS: dict[type[Call], Callable[[View, Any], str | None]] = {
    Open: _open,
    Alloc: _alloc,
    Share: _share,
    Release: _release,
    Lookup: _lookup,
    Fill: _fill,
    CompleteFill: _complete_fill,
    Unpin: _unpin,
    MarkDirty: _settled,
    Write: _write,
    Read: _read,
    WriteBack: _settled,
    CompleteWriteBack: _complete_write_back,
    Finish: _finish,
    Abandon: _known,
    Land: _land,
    Reset: lambda _view, _call: None,
    Truncate: _truncate,
    Publish: _publish,
    Find: _known,
}
