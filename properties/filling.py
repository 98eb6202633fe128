"""Filling: the calls that make a tier full, from which most random walks begin.

What goes wrong in a tier goes wrong when it is full: then every miss evicts. From an empty tier
of thousands of frames no short walk gets there. Owned here: opening leases until their promises
cover the frames, and allocating and filling until every frame maps a page. No fault, no dirt.
"""

from collections.abc import Iterator
from random import Random

from properties.choosing import Offers, draw_choice
from properties.ledger import Ledger
from properties.scopes import Scope
from properties.view import LeaseView, View
from reference.calls import Alloc, Call, Choice, CompleteFill, Fill, Open, Unpin
from reference.words import Handle, LeaseId, Page

SPARE = 4
"""Of so many frames, one page more is allocated: what the walks then miss."""
CALLS = 8
"""Calls for each frame, at most; a broken subject may never be full."""


class Filler:
    """Draws the calls that fill one tier."""

    def __init__(self, random: Random, scope: Scope) -> None:
        """Draw from this source of randomness, within the leases and promises of the scope."""
        self.random = random
        self.scope = scope
        self.calls = CALLS * scope.shape.frames
        """More calls than are needed."""

    def draw(self, view: View, _ledger: Ledger, offer: Offers) -> tuple[Call, Choice] | None:
        """Return the next call and what is chosen in it, none if the tier is full."""
        call = draw_filling(self.random, view, self.scope)
        if call is None:
            return None
        return call, draw_choice(self.random, view, call, offer, faults=0.0)


def draw_filling(random: Random, view: View, scope: Scope) -> Call | None:
    """Return a call on the way to a full tier, none if it is full or cannot be made fuller."""
    opening = draw_open(random, view, scope)
    if opening is not None:
        return opening
    if not view.leases:
        return None
    for lease_id, lease in view.leases.items():
        for copy in lease.copies:
            return CompleteFill(lease_id, copy.ticket, True)
    lease_ids = list(view.leases)
    frames = view.shape.frames
    if view.free and len(view.holders) < frames + frames // SPARE + 1:
        return Alloc(random.choice(lease_ids))
    if not view.free_frames:
        return None
    for lease_id in _from_anywhere(random, lease_ids):
        lease = view.leases[lease_id]
        missing = [page for page in lease.table + lease.borrowed if page not in view.mapped]
        if missing:
            return _fill(random, view, lease_id, lease, missing)
    return None


def draw_open(random: Random, view: View, scope: Scope) -> Open | None:
    """Return the opening of one more lease, none if there is no room for one.

    Every other promise leaves as much for each lease of the scope, so that many meet.
    """
    if len(view.leases) >= scope.leases:
        return None
    room = view.shape.frames - sum([lease.promise for lease in view.leases.values()])
    promises = [promise for promise in scope.promises if promise <= room]
    if not promises:
        return None
    if random.random() < 0.5:
        share = scope.shape.frames // scope.leases
        promises = [promise for promise in promises if promise <= share][-1:] or promises
    return Open(promises[int(random.random() * len(promises))])


def _from_anywhere(random: Random, lease_ids: list[LeaseId]) -> Iterator[LeaseId]:
    """Yield every lease once, beginning with any."""
    first = random.randrange(len(lease_ids))
    yield from lease_ids[first:]
    yield from lease_ids[:first]


def _fill(
    random: Random, view: View, lease_id: LeaseId, lease: LeaseView, missing: list[Page]
) -> Call | None:
    """Fill as much as the promise has room for; without room let a page go."""
    room = lease.promise - len(lease.pins)
    if room > 0:
        return Fill(lease_id, tuple(random.sample(missing, min(room, len(missing)))))
    page = random.choice(list(lease.pins))
    number = view.mapped.get(page)
    if number is None:
        return None
    return Unpin(lease_id, Handle(page, number, view.frames[number].generation))
