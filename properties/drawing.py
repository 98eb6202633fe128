"""Drawing: which call a random walk makes next, from what the view and the callers show.

Most calls make sense in the state, weighted by what keeps the tier full; about one in five is
forbidden there (`misuse`). Each walk has weights of its own: a walk that never writes back meets
what an even mixture does not. Owned here: the calls that make sense, and the scope for a shape
that has none. Not owned: what is chosen in a call (`choosing`).
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias, TypeVar

import msgspec

from properties.choosing import Offers, draw_choice
from properties.filling import draw_open
from properties.ledger import Ledger
from properties.misuse import MISUSES, Past, draw_misuse
from properties.misuse_wider import WIDER_MISUSES
from properties.scopes import Scope
from properties.view import LeaseView, View
from reference.calls import (
    BASE,
    NAMES,
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
from reference.words import Handle, LeaseId, Page, Phase, Shape

FORBIDDEN = 0.2
"""The share of calls drawn to be refused."""
OPENING = 0.4
"""The share of calls that open a lease while promises do not cover the frames."""
TRIES = 12
"""Draws of an operation that makes sense for a lease, before a forbidden call is made instead."""
SPARE = 2
"""Pages a lease allocates above its promise without second thoughts: what evictions need."""
MISSES = 0.5
"""The share of fills that ask for missing pages only, where there are some."""
COPIES_LAND = 0.8
"""The share of completions that are told the copies landed."""

LANDING = 0.1
"""The share of calls that land a copy in quarantine, where there are some."""

Drawn = TypeVar("Drawn")


class Drawer:
    """The draws of one walk."""

    def __init__(self, random: Random, scope: Scope, past: Past) -> None:
        """Draw from this source of randomness, within the leases and promises of the scope.

        `past` are the names issued so far; who makes the calls adds to it.
        """
        self.random = random
        self.scope = scope
        self.past = past
        self.value = 0
        known = {NAMES[call] for call in scope.operations}
        self.senses = [
            sense
            for sense, weight, factors in SENSES
            if sense.__name__ in known
            for _ in range(weight * factors[int(random.random() * 3)])
        ]

    def draw(self, view: View, ledger: Ledger, offer: Offers) -> tuple[Call, Choice]:
        """Return the next call and what is chosen in it, perhaps of what the subject offers."""
        call = self._draw(view, ledger)
        return call, draw_choice(self.random, view, call, offer)

    def _draw(self, view: View, ledger: Ledger) -> Call:
        uniform = self.random.random
        leases = view.leases
        if len(leases) < self.scope.leases and (not leases or uniform() < OPENING):
            opening = draw_open(self.random, view, self.scope)
            if opening is not None:
                return opening
        if view.quarantine and uniform() < LANDING:
            return Land(self.pick(view.quarantine).ticket, uniform() < COPIES_LAND)
        lease_ids = list(leases)
        if lease_ids and uniform() >= FORBIDDEN:
            lease_id = lease_ids[int(uniform() * len(lease_ids))]
            lease = leases[lease_id]
            senses = self.senses
            for _ in range(TRIES):
                sense = senses[int(uniform() * len(senses))]
                call = sense(self, view, lease_id, lease)
                if call is not None:
                    return call
        self.value += 1
        misuses = MISUSES if self.scope.operations is BASE else WIDER_MISUSES
        return draw_misuse(self.random, view, ledger, self.past, self.value, misuses)

    def pick(self, values: Sequence[Drawn]) -> Drawn:
        """Return one of the values."""
        return values[int(self.random.random() * len(values))]

    # ---------------------------------------------------------------- calls that make sense

    def alloc(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """More pages than the promise, so that there is something to evict."""
        if not view.free:
            return None
        if len(lease.table) >= lease.promise + SPARE and self.random.random() < 0.8:
            return None
        return Alloc(lease_id)

    def share(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A live page of another lease."""
        page = int(self.random.random() * view.shape.pages)
        if not view.holds[page] or page in lease.table or page in lease.borrowed:
            return None
        return Share(lease_id, page)

    def fill(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Distinct pages, as a rule up to the promise."""
        if lease.copies and any(copy.kind == "fill" for copy in lease.copies):
            return None
        pins, random = lease.pins, self.random.random
        asked: list[Page] = []
        if len(pins) < lease.promise:
            asked = self._draw_missing(view, lease)
        if pins and random() < (0.2 if asked else 0.1):
            page = self.pick(list(pins))
            if pins[page] <= self.scope.pins and not self._is_pending(view, page):
                asked.insert(int(random() * (len(asked) + 1)), page)
        return Fill(lease_id, tuple(asked)) if asked or random() < 0.02 else None

    def _draw_missing(self, view: View, lease: LeaseView) -> list[Page]:
        """Return pages that the lease does not pin, as many as it has room for or fewer."""
        pins, mapped, random = lease.pins, view.mapped, self.random.random
        pages = [page for page in lease.table + lease.borrowed if page not in pins]
        if random() < MISSES:
            pages = [page for page in pages if page not in mapped] or pages
        pages = [page for page in pages if page not in mapped or not self._is_pending(view, page)]
        room = min(lease.promise - len(pins), len(pages))
        size = room if random() < 0.6 else 1 + int(random() * room)
        return self.random.sample(pages, size) if room > 0 else []

    def _is_pending(self, view: View, page: Page) -> bool:
        """Whether a fill of it would be told to come again later."""
        number = view.mapped.get(page)
        return number is not None and view.frames[number].phase == Phase.FILLING

    def complete_fill(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """The copies of a fill landed, or not."""
        for copy in lease.copies:
            if copy.kind == "fill":
                return CompleteFill(lease_id, copy.ticket, self.random.random() < COPIES_LAND)
        return None

    def complete_write_back(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Any of the write-backs in flight, so that they land in any order."""
        copies = [copy for copy in lease.copies if copy.kind == "write-back"]
        if not copies:
            return None
        ok = self.random.random() < COPIES_LAND
        return CompleteWriteBack(lease_id, self.pick(copies).ticket, ok)

    def unpin(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A clean page, or one of several pins."""
        handle = self._pinned(view, lease)
        if handle is None or (lease.pins[handle.page] == 1 and view.frames[handle.frame].dirty):
            return None
        return Unpin(lease_id, handle)

    def mark_dirty(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Now and then a page that is dirty already."""
        handle = self._settled(view, lease)
        if handle is None or (view.frames[handle.frame].dirty and self.random.random() < 0.8):
            return None
        return MarkDirty(lease_id, handle)

    def write(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A value that no row was ever given before."""
        handle = self._settled(view, lease)
        if handle is None or not view.frames[handle.frame].dirty:
            return None
        self.value += 1
        return Write(lease_id, handle, int(self.random.random() * view.shape.rows), self.value)

    def read(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Any row of a pinned page."""
        handle = self._pinned(view, lease)
        if handle is None:
            return None
        return Read(lease_id, handle, int(self.random.random() * view.shape.rows))

    def write_back(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """As a rule a dirty page."""
        handle = self._settled(view, lease)
        if handle is None or not (view.frames[handle.frame].dirty or self.random.random() < 0.1):
            return None
        return WriteBack(lease_id, handle)

    def lookup(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Any page that the lease holds."""
        pages = lease.table + lease.borrowed
        return Lookup(lease_id, self.pick(pages)) if pages else None

    def release(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A page that the lease neither pins nor claims."""
        pages = lease.table + lease.borrowed
        if not pages:
            return None
        page = self.pick(pages)
        return None if page in lease.pins or page in lease.claims else Release(lease_id, page)

    def finish(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A lease that has done something, and may end."""
        if lease.copies or not (lease.table or lease.borrowed):
            return None
        for page in lease.pins:
            number = view.mapped.get(page)
            if number is not None and view.frames[number].dirty:
                return None
        return Finish(lease_id)

    # ------------------------------------------------------------- leaving, drafts and keys

    def abandon(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """As a rule a lease that is in the middle of something."""
        if lease.copies or lease.pins or self.random.random() < 0.1:
            return Abandon(lease_id)
        return None

    def reset(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """As a rule while a copy is in flight."""
        busy = any(other.copies for other in view.leases.values())
        return Reset() if busy or self.random.random() < 0.1 else None

    def truncate(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A page that nothing copies; a lost one to nothing, so that it can be used again."""
        pages = lease.table + lease.borrowed
        lost = [page for page in pages if page in view.lost and page not in view.touched]
        if lost:
            return Truncate(lease_id, self.pick(lost), 0)
        still = [page for page in pages if page not in view.claimed and page not in view.torn]
        if not still:
            return None
        return Truncate(lease_id, self.pick(still), int(self.random.random() * view.shape.rows))

    def publish(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """A full page that is not named yet, under a key that names none."""
        keys = [key for key in range(self.scope.keys) if key not in view.keys]
        pages = lease.table + lease.borrowed
        pages = tuple(page for page in pages if all(view.host.get(page) or (0,)))
        if not keys or not pages:
            return None
        return Publish(lease_id, self.pick(pages), self.pick(keys))

    def find(self, view: View, lease_id: LeaseId, lease: LeaseView) -> Call | None:
        """Any key, as a rule one that names a page."""
        if view.keys and self.random.random() < 0.8:
            return Find(lease_id, self.pick(list(view.keys)))
        return Find(lease_id, int(self.random.random() * self.scope.keys))

    # ---------------------------------------------------------------------------- handles

    def _pinned(self, view: View, lease: LeaseView) -> Handle | None:
        """Return the current handle of a page that the lease pins."""
        if not lease.pins:
            return None
        page = self.pick(list(lease.pins))
        number = view.mapped.get(page)
        return None if number is None else Handle(page, number, view.frames[number].generation)

    def _settled(self, view: View, lease: LeaseView) -> Handle | None:
        """Return such a handle if the frame is not being written back."""
        handle = self._pinned(view, lease)
        if handle is None or view.frames[handle.frame].phase == Phase.WRITING_BACK:
            return None
        return handle


Sense: TypeAlias = Callable[[Drawer, View, LeaseId, LeaseView], Call | None]

ALWAYS, OFTEN, AT_TIMES = (1, 2, 3), (1, 2, 4), (0, 1, 3)
"""A walk's own weights, one of three each: a walk without writes evicts, one without `finish`
grows full."""

SENSES: tuple[tuple[Sense, int, tuple[int, int, int]], ...] = (
    (Drawer.alloc, 4, ALWAYS),
    (Drawer.share, 2, AT_TIMES),
    (Drawer.fill, 9, ALWAYS),
    (Drawer.complete_fill, 5, OFTEN),
    (Drawer.complete_write_back, 4, OFTEN),
    (Drawer.unpin, 6, OFTEN),
    (Drawer.mark_dirty, 3, AT_TIMES),
    (Drawer.write, 4, OFTEN),
    (Drawer.read, 2, OFTEN),
    (Drawer.write_back, 4, AT_TIMES),
    (Drawer.lookup, 1, AT_TIMES),
    (Drawer.release, 1, AT_TIMES),
    (Drawer.finish, 1, AT_TIMES),
    (Drawer.abandon, 1, AT_TIMES),
    (Drawer.reset, 1, (0, 0, 1)),
    (Drawer.truncate, 1, AT_TIMES),
    (Drawer.publish, 3, OFTEN),
    (Drawer.find, 1, AT_TIMES),
)
"""What makes sense for a lease, how much of it there is, and the walk's own weights."""


def make_scope(
    shape: Shape, leases: int | None = None, off: bool = False, like: Scope | None = None
) -> Scope:
    """Return a scope to walk in: promises of an even share of the frames, less, and more.

    Without a number of leases there are so many that each has four frames, at most a hundred. The
    operations, the keys and where walks begin are those of the scope that it is to be `like`.
    """
    if leases is None:
        leases = min(max(2, shape.frames // 4), 100)
    share = max(1, shape.frames // leases)
    promises = sorted({1, share, min(2 * share, shape.frames)})
    scope = Scope(
        name="/".join(map(str, shape)),
        purpose="random walks",
        shape=shape,
        leases=leases,
        promises=tuple(promises),
        pins=2,
        off=off,
    )
    if like is None:
        return scope
    return msgspec.structs.replace(
        scope, operations=like.operations, keys=like.keys, begins=like.begins
    )
