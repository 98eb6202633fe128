"""Beginnings: where random walks begin, on any shape: the states that public reports come from.

Owned here: the calls after a tier is full (`filling`) that lead to each of them, without faults.
The same states for searches, as fixed calls on small shapes, are in `openings`. A broken subject
may never get there: each beginning ends after so many calls, wherever that is.
"""

from collections.abc import Callable, Iterator
from random import Random

from properties.choosing import Offers, draw_choice
from properties.filling import Filler
from properties.ledger import Ledger
from properties.scopes import Scope
from properties.view import LeaseView, View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    MarkDirty,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page


class Beginner(Filler):
    """Makes the tier full, and then one call after the other until there is no next one."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Draw from this source of randomness, within the leases and promises of the scope."""
        super().__init__(random, scope)
        self.is_full = False
        self.calls *= 2

    def draw(self, view: View, ledger: Ledger, offer: Offers) -> tuple[Call, Choice] | None:
        """Return the next call and what is chosen in it, none where the walk may begin."""
        if not self.is_full:
            drawn = super().draw(view, ledger, offer)
            if drawn is not None:
                return drawn
            self.is_full = True
        call = self.go_on(view)
        return None if call is None else (call, draw_choice(self.random, view, call, offer, 0.0))

    def go_on(self, view: View) -> Call | None:
        """Return the next call from a full tier."""
        raise NotImplementedError


class Nothing(Filler):
    """Nothing happened yet."""

    def draw(self, _view: View, _ledger: Ledger, _offer: Offers) -> tuple[Call, Choice] | None:
        """Return no call."""
        return None


class Promised(Beginner):
    """Every lease has asked for all it may have; no fill is complete."""

    def go_on(self, view: View) -> Call | None:
        """Fill whatever a lease has room for."""
        for lease_id, lease in view.leases.items():
            room = lease.promise - len(lease.pins)
            pages = [page for page in lease.table + lease.borrowed if page not in lease.pins]
            if lease.claims or room <= 0:
                continue
            if len(pages) < room and view.free:
                return Alloc(lease_id)
            still = [page for page in pages if page not in view.claimed]
            if still:
                return Fill(lease_id, tuple(self.random.sample(still, min(room, len(still)))))
        return None


class Pinned(Promised):
    """Every lease pins all it may."""

    def go_on(self, view: View) -> Call | None:
        """Complete what is in flight, and fill."""
        return _complete_any(view) or super().go_on(view)


class Returned(Beginner):
    """A page had a frame, another took it, and the first is back: A, then B, then A."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Follow no page yet."""
        super().__init__(random, scope)
        self.page: Page | None = None
        self.was_evicted = False

    def go_on(self, view: View) -> Call | None:
        """Evict the page by filling others, then fill it again."""
        call = _complete_any(view)
        if call is not None:
            return call
        if self.page is None:
            self.page = self.random.choice(sorted(view.mapped) or [0])
        self.was_evicted = self.was_evicted or self.page not in view.mapped
        if self.was_evicted and self.page in view.mapped:
            return None
        for lease_id, lease in view.leases.items():
            call = self._fill(view, lease_id, lease)
            if call is not None:
                return call
        return None

    def _fill(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        held = lease.table + lease.borrowed
        missing = [page for page in held if page not in view.mapped]
        wanted = [page for page in missing if (page == self.page) is self.was_evicted]
        if self.page in lease.pins or (wanted and len(lease.pins) >= lease.promise):
            page = self.page if self.page in lease.pins else next(iter(lease.pins))
            return _unpin(view, lease_id, page)
        return Fill(lease_id, (self.random.choice(wanted),)) if wanted else None


class Brimful(Beginner):
    """One page is exactly full, another a row short, both durable."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Nothing is written yet."""
        super().__init__(random, scope)
        self.todo: Iterator[Call] | None = None

    def go_on(self, view: View) -> Call | None:
        """Write the pages that are pinned, and write them back."""
        call = _complete_any(view)
        if call is not None:
            return call
        if self.todo is None:
            self.todo = self._write_all(view)
        return next(self.todo, None)

    def _write_all(self, view: View) -> Iterator[Call]:
        rows, value = view.shape.rows, 1_000_000
        for lease_id, lease in view.leases.items():
            for index, page in enumerate(list(lease.pins)[:2]):
                handle = _handle(view, page)
                if handle is None:
                    continue
                yield MarkDirty(lease_id, handle)
                for row in range(rows - index):
                    value += 1
                    yield Write(lease_id, handle, row, value)
                yield WriteBack(lease_id, handle)


class Late(Promised):
    """Completions never came: one lease with all its fills in flight is gone, if that is known."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Nobody is gone yet."""
        super().__init__(random, scope)
        self.may_leave = Abandon in scope.operations

    def go_on(self, view: View) -> Call | None:
        """Fill, then abandon a lease."""
        call = super().go_on(view)
        busy = [lease_id for lease_id, lease in view.leases.items() if lease.copies]
        if call is not None or not busy or not self.may_leave:
            return call
        self.may_leave = False
        return Abandon(self.random.choice(busy))


BEGINNINGS: dict[str, Callable[[Random, Scope], Filler]] = {
    "nothing": Nothing,
    "full": Filler,
    "pinned": Pinned,
    "promised": Promised,
    "returned": Returned,
    "brimful": Brimful,
    "late": Late,
}
"""Where a walk may begin, by the names that scopes use."""


def _complete_any(view: View) -> Call | None:
    """Return the completion of the first copy in flight."""
    for lease_id, lease in view.leases.items():
        for copy in lease.copies:
            complete = CompleteFill if copy.kind == "fill" else CompleteWriteBack
            return complete(lease_id, copy.ticket, True)
    return None


def _unpin(view: View, lease_id: LeaseId, page: Page | None) -> Call | None:
    handle = None if page is None else _handle(view, page)
    return None if handle is None else Unpin(lease_id, handle)


def _handle(view: View, page: Page) -> Handle | None:
    number = view.mapped.get(page)
    return None if number is None else Handle(page, number, view.frames[number].generation)
