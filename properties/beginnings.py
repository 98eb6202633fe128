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
    DEFAULT,
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    MarkDirty,
    Open,
    Share,
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
    """Every lease has asked for all it may have; no fill that misses is complete."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Nobody has asked yet."""
        super().__init__(random, scope)
        self.asked: set[LeaseId] = set()

    def go_on(self, view: View) -> Call | None:
        """Let each lease give up its pins, and then ask for all it may have, misses first."""
        for lease_id, lease in view.leases.items():
            if lease_id in self.asked:
                continue
            if lease.pins:
                return _unpin(view, lease_id, next(iter(lease.pins)))
            held = [page for page in lease.table + lease.borrowed if page not in view.claimed]
            missing = [page for page in held if page not in view.mapped]
            if view.free and (not missing or len(held) < lease.promise):
                return Alloc(lease_id)
            hits = [page for page in held if page in view.mapped]
            self.random.shuffle(missing)
            self.random.shuffle(hits)
            self.asked.add(lease_id)
            return Fill(lease_id, tuple(missing + hits)[: lease.promise])
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


class Heirs(Beginner):
    """A page is dirty under one lease, and a fill in flight of another claims it.

    Half of the times the first lease is gone already, where leases can be abandoned.
    """

    def __init__(self, random: Random, scope: Scope) -> None:
        """Nobody claims anything yet."""
        super().__init__(random, scope)
        self.is_claimed = False
        self.may_leave = Abandon in scope.operations and random.random() < 0.5

    def draw(self, view: View, ledger: Ledger, offer: Offers) -> tuple[Call, Choice] | None:
        """Open the lease that claims first: it needs room for a hit and a miss."""
        promises = [promise for promise in self.scope.promises if 1 < promise < len(view.frames)]
        if not view.leases and promises:
            return Open(promises[0]), DEFAULT
        return super().draw(view, ledger, offer)

    def go_on(self, view: View) -> Call | None:
        """Make a page dirty, share it, and fill it together with a miss."""
        call = None if self.is_claimed else _complete_any(view)
        heirs = [lease_id for lease_id, lease in view.leases.items() if lease.promise > 1]
        others = [
            lease_id
            for lease_id, lease in view.leases.items()
            if lease_id not in heirs[:1] and (lease.table or lease.borrowed)
        ]
        if call is not None or not heirs or not others:
            return call
        owner, heir = others[0], heirs[0]
        if self.is_claimed:
            is_last, self.may_leave = self.may_leave, False
            return Abandon(owner) if is_last else None
        pins = view.leases[owner].pins
        dirty = [page for page in pins if view.frames[view.mapped.get(page, 0)].dirty]
        return self._leave(view, heir, dirty[0]) if dirty else _make_dirty(view, owner)

    def _leave(self, view: View, heir: LeaseId, page: Page) -> Call | None:
        """Let the heir claim the page of another together with one that is not resident."""
        lease = view.leases[heir]
        held = lease.table + lease.borrowed
        if page not in held:
            return Share(heir, page)
        if len(lease.pins) > lease.promise - 2:
            return _unpin(view, heir, next(iter(lease.pins)))
        missing = [other for other in held if other not in view.mapped]
        if not missing and view.free:
            return Alloc(heir)
        if not missing:
            strange = [other for other in view.holders if other not in view.mapped]
            return Share(heir, strange[0]) if strange else None
        self.is_claimed = True
        return Fill(heir, (page, missing[0]))


BEGINNINGS: dict[str, Callable[[Random, Scope], Filler]] = {
    "nothing": Nothing,
    "full": Filler,
    "pinned": Pinned,
    "promised": Promised,
    "returned": Returned,
    "brimful": Brimful,
    "late": Late,
    "heirs": Heirs,
}
"""Where a walk may begin, by the names that scopes use."""


def _complete_any(view: View) -> Call | None:
    """Return the completion of the first copy in flight."""
    for lease_id, lease in view.leases.items():
        for copy in lease.copies:
            complete = CompleteFill if copy.kind == "fill" else CompleteWriteBack
            return complete(lease_id, copy.ticket, True)
    return None


def _make_dirty(view: View, lease_id: LeaseId) -> Call | None:
    """Return the next call on the way to a dirty page of the lease."""
    lease = view.leases[lease_id]
    if not lease.pins:
        pages = lease.table + lease.borrowed
        return Fill(lease_id, pages[:1]) if pages else None
    handle = _handle(view, next(iter(lease.pins)))
    return None if handle is None else MarkDirty(lease_id, handle)


def _unpin(view: View, lease_id: LeaseId, page: Page | None) -> Call | None:
    handle = None if page is None else _handle(view, page)
    return None if handle is None else Unpin(lease_id, handle)


def _handle(view: View, page: Page) -> Handle | None:
    number = view.mapped.get(page)
    return None if number is None else Handle(page, number, view.frames[number].generation)
