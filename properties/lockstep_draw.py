"""Drawing for lockstep: random calls that follow one another as only haste does.

What a tier forgets to wait for shows only while it has not landed: rows that are written back at
once, a fill that is given up and its frame taken by the next, a page that is evicted and comes
back. A plain random walk seldom makes such calls without others between, which land things. Owned
here: which call follows at once. Not owned: all other calls (`drawing`).
"""

from random import Random
from typing import Any

from properties.choosing import Offers, draw_choice
from properties.drawing import Drawer
from properties.ledger import Ledger
from properties.misuse import Past
from properties.scopes import Scope
from properties.view import View
from reference.calls import (
    DEFAULT,
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    MarkDirty,
    Outcome,
    Release,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page, Phase

HASTE = (0.0, 0.5, 0.9)
"""The share of calls that follow the last one at once, one of these for each walk."""

GIVEN_UP = (0.1, 0.5)
"""The share of the copies completed at once that are given up, one of these for each walk."""

OWN = 0.6
"""The share of choices that are left to the subject; of those with a fault none is."""


class HastyDrawer(Drawer):
    """The draws of one walk in lockstep; without `bias` no call follows another at once."""

    def __init__(self, random: Random, scope: Scope, past: Past, bias: bool = True) -> None:
        """Draw from this source of randomness."""
        super().__init__(random, scope, past)
        self.haste = random.choice(HASTE) if bias else 0.0
        self.given_up = random.choice(GIVEN_UP)
        self.last: tuple[Call, Outcome] | None = None
        self.has_given_up = False
        self.asked: tuple[Page, ...] = ()

    def learn(self, call: Call, outcome: Outcome) -> None:
        """Take note of what a call came to."""
        self.past.learn(call, outcome)
        self.last = (call, outcome)
        if isinstance(call, Fill):
            self.asked = call.pages

    def draw(self, view: View, ledger: Ledger, offer: Offers) -> tuple[Call, Choice]:
        """Return the next call and what is chosen in it, mostly left to the subject."""
        call = self._follow(view) if self.random.random() < self.haste else None
        if call is None:
            call, choice = super().draw(view, ledger, offer)
        else:
            choice = draw_choice(self.random, view, call, offer)
        if choice.fault is None and self.random.random() < OWN:
            choice = DEFAULT
        return call, choice

    def _follow(self, view: View) -> Call | None:
        """Return the call that follows the last one at once, if one does."""
        if self.last is None or self.last[1].refused is not None:
            return None
        call, outcome = self.last
        value: Any = outcome.value
        lease_id: LeaseId = getattr(call, "lease", -1)
        if isinstance(call, Release | Finish | Abandon):
            return Alloc(self.pick(list(view.leases))) if view.leases else None
        if lease_id not in view.leases:
            return None
        if isinstance(call, Fill):
            ticket = getattr(value, "ticket", None)
            return None if ticket is None else CompleteFill(lease_id, ticket, self._lands())
        if isinstance(call, CompleteFill):
            return self._use(view, lease_id) if not outcome.failed else self._fill_anyhow(view)
        if isinstance(call, MarkDirty | Write):
            return self._write_on(view, call, is_first=isinstance(call, MarkDirty))
        if isinstance(call, WriteBack):
            return None if value is None else CompleteWriteBack(lease_id, value, self._lands())
        return self._follow_ended(view, call, outcome, lease_id)

    def _follow_ended(
        self, view: View, call: Call, outcome: Outcome, lease_id: LeaseId
    ) -> Call | None:
        if isinstance(call, CompleteWriteBack) and outcome.failed:
            pages = [page for page in view.leases[lease_id].pins if page in view.torn]
            handle = self._handle(view, self.pick(pages)) if pages else None
            return None if handle is None else WriteBack(lease_id, handle)
        if isinstance(call, CompleteWriteBack):
            pins = view.leases[lease_id].pins
            clean = [page for page in pins if not self._is_dirty(view, page)]
            handle = self._handle(view, self.pick(clean)) if clean else None
            return None if handle is None else Unpin(lease_id, handle)
        return self._fill_anyhow(view) if isinstance(call, Unpin) else None

    def _use(self, view: View, lease_id: LeaseId) -> Call | None:
        """Mark a page that was just filled."""
        pins = view.leases[lease_id].pins
        pages = [page for page in self.asked if page in pins and not self._is_dirty(view, page)]
        handle = self._handle(view, self.pick(pages)) if pages else None
        return None if handle is None else MarkDirty(lease_id, handle)

    def _write_on(self, view: View, call: MarkDirty | Write, is_first: bool) -> Call:
        """Write a row of the frame, or write it back."""
        if not is_first and self.random.random() < 0.6:
            return WriteBack(call.lease, call.handle)
        self.value += 1
        row = int(self.random.random() * view.shape.rows)
        return Write(call.lease, call.handle, row, self.value)

    def _fill_anyhow(self, view: View) -> Call | None:
        """Fill what is not resident, for any lease that may: it takes what was just freed."""
        for lease_id, lease in view.leases.items():
            held = lease.table + lease.borrowed
            missing = [page for page in held if page not in view.mapped]
            room = lease.promise - len(lease.pins)
            if missing and room > 0 and not lease.claims:
                # Another page than the last one, and one that has rows: the same bytes, and
                # zeros on zeros, hide what lands late.
                missing.sort(key=lambda p: (p in self.asked, not any(view.host.get(p) or ())))
                count = min(room, len(missing), 1 + int(self.random.random() * 2))
                return Fill(lease_id, tuple(missing[:count]))
        return None

    def _lands(self) -> bool:
        """Give a copy up, but not the next one: what the first left running shows in that."""
        self.has_given_up = not self.has_given_up and self.random.random() < self.given_up
        return not self.has_given_up

    def _is_dirty(self, view: View, page: Page) -> bool:
        frame = view.frame_of(page)
        return frame is None or frame.dirty or frame.phase == Phase.WRITING_BACK

    def _handle(self, view: View, page: Page) -> Handle | None:
        number = view.mapped.get(page)
        return None if number is None else Handle(page, number, view.frames[number].generation)
