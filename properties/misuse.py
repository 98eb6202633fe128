"""Misuse: a call that the spec most probably refuses in a state, for random walks.

A subject that accepts what the spec refuses is only seen if somebody asks: dirty unpins, stale
and forged handles, other leases' pages and tickets, fills past the promise. What makes a call
forbidden is not decided here; the rules say whether the refusal was due.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias, TypeVar

from properties.ledger import Ledger
from properties.view import LeaseView, View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    Lookup,
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
from reference.words import Handle, LeaseId, Page, Ticket

TRIES = 6
"""Draws of a misuse that can be made here, before a call by a lease that is not open."""

Drawn = TypeVar("Drawn")


class Past:
    """The names a walk was given, current or not, in the order in which they were issued."""

    def __init__(self) -> None:
        """Nothing was issued yet."""
        self.handles: list[Handle] = []
        """Handles of fills."""
        self.tickets: list[Ticket] = []
        """Tickets of fills and write-backs."""
        self.ended: list[LeaseId] = []
        """Leases that finished."""

    def copy(self) -> "Past":
        """Return the same names, to add to."""
        past = Past()
        past.handles, past.tickets = self.handles[:], self.tickets[:]
        past.ended = self.ended[:]
        return past

    def learn(self, call: Call, outcome: Outcome) -> None:
        """Keep what a call issued. A broken subject may return anything."""
        if outcome.refused is not None:
            return
        value: Any = outcome.value
        if type(call) is Fill:
            for handle in getattr(value, "handles", ()):
                self.handles.append(handle)
            ticket = getattr(value, "ticket", None)
            if ticket is not None:
                self.tickets.append(ticket)
        elif type(call) is WriteBack:
            if value is not None:
                self.tickets.append(value)
        elif type(call) is Finish or type(call) is Abandon:
            self.ended.append(call.lease)


class Draw(NamedTuple):
    """What a misuse is drawn from."""

    random: Random
    """The source of randomness of the walk."""
    view: View
    """What the subject shows."""
    past: Past
    """The names issued so far."""
    lease_id: LeaseId
    """Who makes the call."""
    lease: LeaseView
    """What that lease has."""
    value: int
    """What a write would write."""

    def pick(self, values: Sequence[Drawn]) -> Drawn:
        """Return one of the values."""
        return values[int(self.random.random() * len(values))]

    def page(self) -> Page:
        """Return any page id, now and then one that is none."""
        return int(self.random.random() * (self.view.shape.pages + 1))

    def handle_call(self, handle: Handle) -> Call:
        """Return any call with this handle."""
        kind = int(self.random.random() * 5)
        if kind == 0:
            return Read(self.lease_id, handle, 0)
        if kind == 1:
            return Write(self.lease_id, handle, 0, self.value)
        return _HANDLE_CALLS[kind - 2](self.lease_id, handle)


_HANDLE_CALLS: tuple[Callable[[LeaseId, Handle], Call], ...] = (MarkDirty, Unpin, WriteBack)


def draw_misuse(
    random: Random,
    view: View,
    ledger: Ledger,
    past: Past,
    value: int,
    misuses: "Sequence[Misuse]",
) -> Call:
    """Return a call that is most probably forbidden here; a write would write `value`."""
    if view.leases:
        lease_id = list(view.leases)[int(random.random() * len(view.leases))]
        draw = Draw(random, view, past, lease_id, view.leases[lease_id], value)
        for _ in range(TRIES):
            call = draw.pick(misuses)(draw)
            if call is not None:
                return call
    ended = past.ended[-1] if past.ended else len(ledger.leases)
    nobody = Draw(random, view, past, ended, _NO_LEASE, value)
    return nobody.pick(_OF_NOBODY)(nobody)


_NO_LEASE = LeaseView(0, (), (), {}, (), ())


# ------------------------------------------------------------------------------------ handles


def _pinned(draw: Draw) -> Handle | None:
    """Return the current handle of a page that the lease pins."""
    if not draw.lease.pins:
        return None
    page = draw.pick(list(draw.lease.pins))
    number = draw.view.mapped.get(page)
    return None if number is None else Handle(page, number, draw.view.frames[number].generation)


def stale_handle(draw: Draw) -> Call | None:
    """A handle that was issued and is no longer current."""
    handles = draw.past.handles
    if not handles:
        return None
    handle = draw.pick(handles)
    return None if draw.view.is_current(handle) else draw.handle_call(handle)


def forged_handle(draw: Draw) -> Call | None:
    """A handle that is right but for its generation, its page or its frame."""
    handle = _pinned(draw)
    if handle is None:
        return None
    page, number, generation = handle
    part = int(draw.random.random() * 4)
    if part == 0:
        return draw.handle_call(Handle(page, number, generation - 1))
    if part == 1:
        return draw.handle_call(Handle(page, number, generation + 1))
    if part == 2:
        other = draw.pick(list(draw.lease.pins))
        other = draw.page() if other == page else other
        return None if other == page else draw.handle_call(Handle(other, number, generation))
    other = int(draw.random.random() * (len(draw.view.frames) + 1))
    return None if other == number else draw.handle_call(Handle(page, other, generation))


def not_its_pin(draw: Draw) -> Call | None:
    """A current handle of a page that the lease does not pin: only claimed, or another's."""
    frames = draw.view.frames
    number = int(draw.random.random() * len(frames))
    frame = frames[number]
    if frame.page is None or frame.page in draw.lease.pins:
        return None
    return draw.handle_call(Handle(frame.page, number, frame.generation))


def own_claim(draw: Draw) -> Call | None:
    """A page that the lease's fill in flight claims, and the lease does not pin yet."""
    claims = draw.lease.claims
    if not claims:
        return None
    page = draw.pick(claims)
    number = draw.view.mapped.get(page)
    if number is None or page in draw.lease.pins:
        return None
    return draw.handle_call(Handle(page, number, draw.view.frames[number].generation))


def out_of_turn(draw: Draw) -> Call | None:
    """A dirty unpin, a write without a mark, during a copy, or to a row that is none."""
    handle = _pinned(draw)
    if handle is None:
        return None
    frame = draw.view.frames[handle.frame]
    kind = int(draw.random.random() * 5)
    if kind == 0:
        row = draw.view.shape.rows if draw.random.random() < 0.5 else -1
        return Read(draw.lease_id, handle, row)
    if kind == 1:
        return Write(draw.lease_id, handle, draw.view.shape.rows, draw.value)
    if frame.dirty:
        return draw.pick(_HANDLE_CALLS)(draw.lease_id, handle)
    return Write(draw.lease_id, handle, 0, draw.value)


# ------------------------------------------------------------------------------------ tickets


def wrong_ticket(draw: Draw) -> Call | None:
    """A ticket that is gone, another lease's, of the other direction, or never issued."""
    tickets = draw.past.tickets
    ok = draw.random.random() < 0.7
    complete = CompleteFill if draw.random.random() < 0.5 else CompleteWriteBack
    if not tickets or draw.random.random() < 0.1:
        return complete(draw.lease_id, max(tickets, default=-1) + 1, ok)
    ticket = draw.pick(tickets[-8:])
    kind = "fill" if complete is CompleteFill else "write-back"
    if any(copy.ticket == ticket and copy.kind == kind for copy in draw.lease.copies):
        return None
    return complete(draw.lease_id, ticket, ok)


# --------------------------------------------------------------------------- pages and promises


def bad_promise(draw: Draw) -> Call | None:
    """A promise of nothing, or of more frames than are left."""
    if draw.random.random() < 0.3:
        return Open(0)
    left = draw.view.shape.frames
    for lease in draw.view.leases.values():
        left -= lease.promise
    return Open(left + 1)


def past_promise(draw: Draw) -> Call | None:
    """A fill of one page more than the lease may have in frames."""
    lease = draw.lease
    pages = [page for page in (*lease.table, *lease.borrowed) if page not in lease.pins]
    size = lease.promise - len(lease.pins) + 1
    if not 0 < size <= len(pages):
        return None
    return Fill(draw.lease_id, tuple(draw.random.sample(pages, size)))


def wrong_fill(draw: Draw) -> Call | None:
    """A fill of a page twice, of a page not held, of one on its way, or with one in flight."""
    held = draw.lease.table + draw.lease.borrowed
    page = draw.pick(held) if held else draw.page()
    kind = int(draw.random.random() * 3)
    if kind == 0:
        return Fill(draw.lease_id, (page, page))
    if kind == 1:
        return Fill(draw.lease_id, (draw.page(),))
    if draw.lease.claims:
        return Fill(draw.lease_id, (page,))
    pending = [page for page in held if page in draw.view.claimed and page not in draw.lease.pins]
    return Fill(draw.lease_id, (draw.pick(pending),)) if pending else None


def wrong_page(draw: Draw) -> Call | None:
    """A page that is held twice, not held, not live, no page, pinned or claimed."""
    lease = draw.lease
    kind = int(draw.random.random() * 4)
    if kind == 0 and (lease.pins or lease.claims):
        return Release(draw.lease_id, draw.pick([*lease.pins, *lease.claims]))
    if kind == 1 and lease.table:
        return Share(draw.lease_id, draw.pick(lease.table + lease.borrowed))
    page = draw.page()
    if page in lease.table or page in lease.borrowed:
        return None
    if kind == 2:
        free = draw.view.free
        return Share(draw.lease_id, draw.pick(free) if free else draw.view.shape.pages)
    if draw.random.random() < 0.5:
        return Lookup(draw.lease_id, page)
    return Release(draw.lease_id, page)


def no_page_left(draw: Draw) -> Call | None:
    """An allocation when every page is held."""
    return None if draw.view.free else Alloc(draw.lease_id)


def early_finish(draw: Draw) -> Call | None:
    """The end of a lease that has copies in flight or dirty pages."""
    lease, view = draw.lease, draw.view
    if lease.copies:
        return Finish(draw.lease_id)
    for page in lease.pins:
        frame = view.frame_of(page)
        if frame is not None and frame.dirty:
            return Finish(draw.lease_id)
    return None


Misuse: TypeAlias = Callable[[Draw], Call | None]

MISUSES: tuple[Misuse, ...] = (
    stale_handle,
    stale_handle,
    forged_handle,
    forged_handle,
    not_its_pin,
    own_claim,
    out_of_turn,
    out_of_turn,
    wrong_ticket,
    wrong_ticket,
    bad_promise,
    past_promise,
    wrong_fill,
    wrong_page,
    no_page_left,
    early_finish,
)
"""Every way to do wrong, some twice because more hangs on them."""

_OF_NOBODY: tuple[Callable[[Draw], Call], ...] = (
    lambda draw: Alloc(draw.lease_id),
    lambda draw: Share(draw.lease_id, draw.page()),
    lambda draw: Release(draw.lease_id, draw.page()),
    lambda draw: Lookup(draw.lease_id, draw.page()),
    lambda draw: Fill(draw.lease_id, ()),
    lambda draw: Finish(draw.lease_id),
    lambda draw: CompleteFill(draw.lease_id, max(draw.past.tickets, default=0), True),
    lambda draw: CompleteWriteBack(draw.lease_id, max(draw.past.tickets, default=0), True),
    lambda draw: draw.handle_call(
        draw.pick(draw.past.handles) if draw.past.handles else Handle(0, 0, 0)
    ),
)
"""Every operation, for a lease that is not open."""
