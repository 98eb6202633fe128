"""Absolute arguments: what the small drawn values of the Hypothesis machine stand for in a run.

An argument names a thing by itself: `lease=0` is the lease in seat 0, `page=(1, "held")` page 1.
It is a wish, like a choice: where the thing cannot serve, the next in order that can takes its
place, and only if none can is it asked for all the same. So a step keeps its meaning when
shrinking takes an earlier one away (an index into what is possible now would not), and what is
drawn never depends on what the subject answered. Forbidden calls come from the names that are
taken as they are (`"exact"`, `"stale"`, `"used"`), and from every operation out of its turn. Owned
here: the meaning of arguments. Not owned: drawing them (`arguments`), making the call (`machine`).
"""

from collections.abc import Callable, Container
from typing import Any, TypeAlias

from properties.scopes import Scope
from properties.view import LeaseView, View
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
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Outcome,
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

Asked: TypeAlias = tuple[Call, Choice]
"""A call, and the choice that is wanted of it; where that is not allowed, the nearest is made."""
Named: TypeAlias = tuple[Page, str]
"""A page and how it is meant: `(1, "pinned")`."""
Fits: TypeAlias = Callable[[LeaseView], object]
"""Whether a lease can serve."""


class Meaning:
    """What absolute arguments stand for in one run, from the view and what was issued so far."""

    def __init__(self, scope: Scope, view: View, seats: int) -> None:
        """Nothing was issued yet. So many leases have a name at once."""
        self.scope = scope
        self.view = view
        self.seats: list[LeaseId | None] = [None] * seats
        """For each seat, the lease in it."""
        self.ended: LeaseId | None = None
        """The last lease that ended."""
        self.handles: dict[Page, list[Handle]] = {}
        """For each page, the last two handles issued for it, the later one last."""
        self.leases_issued = 0
        self.tickets: list[Ticket] = []
        self.writes = 0

    def learn(self, call: Call, outcome: Outcome, view: View) -> None:
        """Take note of what a call issued. A broken subject may have returned anything."""
        self.view = view
        if outcome.refused is not None or outcome.failed:
            return
        value: Any = outcome.value
        if type(call) is Open:
            self.leases_issued += 1
            if None in self.seats:
                self.seats[self.seats.index(None)] = value
        elif type(call) is Finish or type(call) is Abandon:
            self.ended = call.lease
            self.seats = [None if lease == call.lease else lease for lease in self.seats]
        elif type(call) is Lookup and value is not None:
            self._issue(call.page, value)
        elif type(call) is Fill:
            for page, handle in zip(call.pages, getattr(value, "handles", ()), strict=False):
                self._issue(page, handle)
            if getattr(value, "ticket", None) is not None:
                self.tickets.append(value.ticket)
        elif type(call) is WriteBack and value is not None:
            self.tickets.append(value)

    def _issue(self, page: Page, handle: Handle) -> None:
        issued = self.handles.setdefault(page, [])
        if handle not in issued:
            self.handles[page] = [*issued[-1:], handle]

    # ------------------------------------------------------------------------------- names

    def lease(self, seat: int, fits: Fits = lambda _: True) -> LeaseId:
        """Return the lease in a seat; past the last seat one that ended or was never opened."""
        leases = self.view.leases
        if seat < len(self.seats):
            order = [lease for lease in self.seats[seat:] + self.seats[:seat] if lease in leases]
            for lease in order:
                if fits(leases[lease]):
                    return lease
            if order:
                return order[0]
        return self.leases_issued if self.ended is None else self.ended

    def page(self, lease: LeaseId, named: Named) -> Page:
        """Return a page: one the lease holds and may let go, one it may borrow, or that one."""
        wish, how = named
        user = self.view.leases.get(lease)
        if user is None or how == "exact":
            return wish
        held = {*user.table, *user.borrowed}
        if how == "held":
            return self._nearest(wish, held)
        if how == "unused":
            return self._nearest(wish, held - {*user.pins, *user.claims})
        return self._nearest(wish, set(self.view.holders) - held)

    def _nearest(self, wish: Page, allowed: Container[Page]) -> Page:
        """Return the first allowed page from there on, else that page."""
        pages = range(self.view.shape.pages)
        return next((page for page in (*pages[wish:], *pages[:wish]) if page in allowed), wish)

    def handle(self, lease: LeaseId, named: Named) -> Handle:
        """Return the handle of a page: one the lease pins, any, an older one, or a forged one."""
        page, how = named
        user = self.view.leases.get(lease)
        if user is not None and how != "any":
            page = self._nearest(page, user.pins)
        shape = self.view.shape
        number = self.view.mapped.get(page, page % shape.frames)
        current = Handle(page, number, self.view.frames[number].generation)
        if how == "stale":
            issued = [handle for handle in self.handles.get(page, ()) if handle != current]
            return issued[-1] if issued else current._replace(generation=current.generation - 1)
        if how == "newer":
            return current._replace(generation=current.generation + 1)
        if how == "next frame":
            return current._replace(frame=(number + 1) % shape.frames)
        if how == "next page":
            return current._replace(page=(page + 1) % shape.pages)
        return current

    def copy(self, seat: int, named: Named, kind: str) -> tuple[LeaseId, Ticket]:
        """Return who reports which copy: its own, another's, of the other direction, or none."""
        page, how = named
        other = "write-back" if kind == "fill" else "fill"
        wanted = other if how == "turned" else kind
        lease = self.lease(seat, lambda lease: any(copy.kind == wanted for copy in lease.copies))
        frame = self.view.mapped.get(page)
        leases = self.view.leases
        if how in ("own", "turned") and lease in leases:
            copies = [copy for copy in leases[lease].copies if copy.kind == wanted]
            copies.sort(key=lambda copy: frame not in copy.frames)
            if copies:
                return lease, copies[0].ticket
        if how == "other":
            for lease_id, user in leases.items():
                if lease_id != lease and user.copies:
                    return lease, user.copies[0].ticket
        if how != "never":
            flying = {copy.ticket for user in leases.values() for copy in user.copies}
            for ticket in reversed(self.tickets):
                if ticket not in flying:
                    return lease, ticket
        return lease, max(self.tickets, default=-1) + 1

    # -------------------------------------------------------------------------- operations

    def open(self, promise: int) -> Asked:
        """Open a lease; it takes the first seat that is empty."""
        return Open(promise), DEFAULT

    def alloc(self, lease: int, page: Page) -> Asked:
        """Allocate a page."""
        return Alloc(self.lease(lease)), Choice(page=page)

    def share(self, lease: int, page: Named) -> Asked:
        """Borrow a page."""
        by = self.lease(lease)
        return Share(by, self.page(by, page)), DEFAULT

    def release(self, lease: int, page: Named) -> Asked:
        """Give up a page."""
        by = self.lease(lease, lambda lease: lease.table or lease.borrowed)
        return Release(by, self.page(by, page)), DEFAULT

    def lookup(self, lease: int, page: Named) -> Asked:
        """Look where a page is."""
        by = self.lease(lease, lambda lease: lease.table or lease.borrowed)
        return Lookup(by, self.page(by, page)), DEFAULT

    def fill(self, lease: int, pages: tuple[Page, ...], how: str, frame: int, fault: int) -> Asked:
        """Fill pages, into that frame and those after it; a fault strikes at that miss, if any.

        A negative fault strikes when the victim of the miss is unmapped already.
        """
        by = self.lease(lease, self._may_fill)
        asked = pages if how == "exact" else self._fillable(by, pages, how == "held")
        frames = tuple((frame + n) % self.view.shape.frames for n in range(len(asked)))
        strikes = Fault(abs(fault), unmapped=fault < 0) if fault else None
        return Fill(by, asked), Choice(frames=frames, fault=strikes)

    def _may_fill(self, lease: LeaseView) -> bool:
        """Whether a fill of the lease may come to anything."""
        has_room = len(lease.pins) < lease.promise
        return not lease.claims and any(
            has_room or page in lease.pins for page in self._get_open(lease)
        )

    def _get_open(self, lease: LeaseView) -> set[Page]:
        """Return the pages it holds that it may pin once more and that are not on their way."""
        pages = {*lease.table, *lease.borrowed}
        most = self.scope.pins
        return {p for p in pages if lease.pins.get(p, 0) < most and not self._is_filling(p)}

    def _fillable(self, lease: LeaseId, pages: tuple[Page, ...], within: bool) -> tuple[Page, ...]:
        """Return pages the lease may fill, none twice, as many as its promise allows if asked."""
        user = self.view.leases.get(lease)
        if user is None:
            return pages
        pins, asked = user.pins, []
        left = self._get_open(user)
        room = user.promise - len(pins)
        for wish in pages:
            if within and room <= 0:
                left &= pins.keys()
            if left:
                page = self._nearest(wish, left)
                asked.append(page)
                left.discard(page)
                room -= page not in pins
        return tuple(asked)

    def _is_filling(self, page: Page) -> bool:
        number = self.view.mapped.get(page)
        return number is not None and self.view.frames[number].phase == Phase.FILLING

    def complete_fill(self, lease: int, copy: Named, ok: bool) -> Asked:
        """Report that the copies of a fill landed, or not."""
        return CompleteFill(*self.copy(lease, copy, "fill"), ok), DEFAULT

    def unpin(self, lease: int, handle: Named) -> Asked:
        """Give up a pin."""
        return Unpin(*self._pinned(lease, handle)), DEFAULT

    def mark_dirty(self, lease: int, handle: Named) -> Asked:
        """Announce writes."""
        return MarkDirty(*self._pinned(lease, handle)), DEFAULT

    def write(self, lease: int, handle: Named, row: int) -> Asked:
        """Write a value that no row was given before: the number of the write."""
        self.writes += 1
        return Write(*self._pinned(lease, handle), row, self.writes), DEFAULT

    def read(self, lease: int, handle: Named, row: int) -> Asked:
        """Read a row."""
        return Read(*self._pinned(lease, handle), row), DEFAULT

    def write_back(self, lease: int, handle: Named) -> Asked:
        """Start a write-back."""
        return WriteBack(*self._pinned(lease, handle)), DEFAULT

    def _pinned(self, seat: int, named: Named) -> tuple[LeaseId, Handle]:
        lease = self.lease(seat, lambda lease: lease.pins)
        return lease, self.handle(lease, named)

    def complete_write_back(self, lease: int, copy: Named, ok: bool) -> Asked:
        """Report that the write-back of a page landed, or not."""
        return CompleteWriteBack(*self.copy(lease, copy, "write-back"), ok), DEFAULT

    def finish(self, lease: int) -> Asked:
        """End a lease."""
        return Finish(self.lease(lease)), DEFAULT

    def abandon(self, lease: int) -> Asked:
        """End a lease at any moment."""
        return Abandon(self.lease(lease)), DEFAULT

    def land(self, copy: int, ok: bool) -> Asked:
        """Report that a copy in quarantine landed, or not; a negative one is none of them."""
        waiting = [orphan.ticket for orphan in self.view.quarantine]
        if copy >= 0 and waiting:
            return Land(waiting[copy % len(waiting)], ok), DEFAULT
        return Land(max(self.tickets, default=-1) + 1, ok), DEFAULT

    def reset(self) -> Asked:
        """Drop all residency."""
        return Reset(), DEFAULT

    def truncate(self, lease: int, page: Named, rows: int) -> Asked:
        """Take rows of a page back."""
        by = self.lease(lease, lambda lease: lease.table or lease.borrowed)
        return Truncate(by, self.page(by, page), rows), DEFAULT

    def publish(self, lease: int, page: Named, key: int) -> Asked:
        """Let a key name a page."""
        by = self.lease(lease, lambda lease: lease.table or lease.borrowed)
        return Publish(by, self.page(by, page), key), DEFAULT

    def find(self, lease: int, key: int) -> Asked:
        """Look a key up and hold what it names."""
        return Find(self.lease(lease), key), DEFAULT
