"""What the tier's control plane is measured against: an LRU in plain Python, one page at a time.

It keeps what the tier keeps (leases with promises and holds, pins, claims, generations, phases,
dirt), refuses what the tier refuses in the same order, and is written as one would write it: an
`OrderedDict` of resident frames, the least recently filled first. It copies nothing.
"""

from collections import OrderedDict
from collections.abc import Sequence

from reference.refusals import (
    DirtyFrame,
    DuplicatePage,
    FillInFlight,
    FrameMemory,
    HitPending,
    NotHeld,
    NotPinned,
    PromiseExceeded,
    StaleHandle,
    StaleTicket,
    UnknownLease,
)
from reference.words import Handle, LeaseId, Page, Phase, Plan, Ticket

NONE = -1


def get_second(pages: Sequence[Page]) -> Page:
    """The first page that comes a second time."""
    return next(page for at, page in enumerate(pages) if page in pages[:at])


class Frame:
    """One frame."""

    __slots__ = ("dirty", "generation", "kept", "page", "phase")

    def __init__(self) -> None:
        self.page: Page = NONE
        self.generation = 0
        self.phase = Phase.FREE
        self.dirty = False
        self.kept = 0


class Lease:
    """One user."""

    __slots__ = ("claims", "held", "pins", "placed", "promise", "ticket")

    def __init__(self, promise: int) -> None:
        self.promise = promise
        self.held: set[Page] = set()
        self.pins: dict[Page, int] = {}
        self.claims: Sequence[Page] = ()
        self.placed: list[int] = []
        self.ticket: Ticket | None = None


class Baseline:
    """A tier without bytes."""

    def __init__(self, pages: int, frames: int) -> None:
        self.frames = [Frame() for _ in range(frames)]
        self.free = list(range(frames - 1, -1, -1))
        self.where: dict[Page, int] = {}
        self.order: OrderedDict[int, None] = OrderedDict()
        self.leases: dict[LeaseId, Lease] = {}
        self.next_page = 0
        self.next_ticket = 0
        self.evictions = 0

    def open(self, promise: int) -> LeaseId:
        """Open a lease."""
        self.leases[len(self.leases)] = Lease(promise)
        return len(self.leases) - 1

    def alloc_all(self, lease: LeaseId, count: int) -> range:
        """Begin the lives of so many pages."""
        pages = range(self.next_page, self.next_page + count)
        self.leases[lease].held.update(pages)
        self.next_page += count
        return pages

    def fill(self, lease_id: LeaseId, pages: Sequence[Page]) -> Plan:
        """Bring pages into frames. Refuses as `device.tier.Tier.fill` does."""
        lease = self.leases.get(lease_id)
        if lease is None:
            raise UnknownLease(lease_id)
        if lease.ticket is not None:
            raise FillInFlight(lease_id, lease.ticket)
        misses = self._check_fill(lease_id, lease, pages)
        frames, where = self.frames, self.where
        for page in pages:
            if page in where:
                frames[where[page]].kept += 1
        placed = [self._place(page) for page in misses]
        ticket = None
        if misses:
            ticket = lease.ticket = self.next_ticket
            self.next_ticket += 1
            lease.claims, lease.placed = pages, placed
        else:
            self._pin(lease, pages)
        handles = tuple([Handle(page, at := where[page], frames[at].generation) for page in pages])
        return Plan(ticket, handles, tuple(misses))

    def _check_fill(self, lease_id: LeaseId, lease: Lease, pages: Sequence[Page]) -> list[Page]:
        if len(set(pages)) < len(pages):
            raise DuplicatePage(get_second(pages))
        held, pins, where = lease.held, lease.pins, self.where
        if not held.issuperset(pages):
            raise NotHeld(lease_id, next(page for page in pages if page not in held))
        wanted = len(pins) + len(pages) - sum(map(pins.__contains__, pages))
        if wanted > lease.promise:
            raise PromiseExceeded(lease_id, lease.promise, wanted)
        misses = []
        for page in pages:
            at = where.get(page)
            if at is None:
                misses.append(page)
            elif self.frames[at].phase == Phase.FILLING:
                raise HitPending(page, at)
        return misses

    def _place(self, page: Page) -> int:
        """Give a miss the next free frame, or that of the first victim."""
        at = self.free.pop() if self.free else self._evict()
        frame = self.frames[at]
        frame.page, frame.phase, frame.kept = page, Phase.FILLING, 1
        self.where[page] = at
        return at

    def _evict(self) -> int:
        for at in self.order:
            frame = self.frames[at]
            if frame.kept == 0 and not frame.dirty and frame.phase == Phase.READY:
                break
        else:
            raise FrameMemory(1, 0)
        del self.order[at]
        del self.where[frame.page]
        frame.generation += 1
        self.evictions += 1
        return at

    def _pin(self, lease: Lease, pages: Sequence[Page]) -> None:
        pins, where, order = lease.pins, self.where, self.order
        for page in pages:
            pins[page] = pins.get(page, 0) + 1
            order.move_to_end(where[page])

    def complete_fill(self, lease_id: LeaseId, ticket: Ticket) -> bool:
        """End a fill that landed."""
        lease = self.leases.get(lease_id)
        if lease is None:
            raise UnknownLease(lease_id)
        if lease.ticket != ticket:
            raise StaleTicket(lease_id, ticket)
        for at in lease.placed:
            self.frames[at].phase = Phase.READY
            self.order[at] = None
        self._pin(lease, lease.claims)
        lease.claims, lease.placed, lease.ticket = (), [], None
        return True

    def unpin(self, lease_id: LeaseId, handles: Sequence[Handle]) -> None:
        """Give up one pin on each of these distinct pages, all or none."""
        lease = self.leases.get(lease_id)
        if lease is None:
            raise UnknownLease(lease_id)
        pins, frames = lease.pins, self.frames
        pages = [handle.page for handle in handles]
        if len(set(pages)) < len(pages):
            raise DuplicatePage(get_second(pages))
        for page, at, generation in handles:
            frame = frames[at] if 0 <= at < len(frames) else None
            if frame is None or frame.page != page or frame.generation != generation:
                raise StaleHandle(Handle(page, at, generation))
            count = pins.get(page, 0)
            if count == 0:
                raise NotPinned(lease_id, page)
            if count == 1 and frame.dirty:
                raise DirtyFrame(lease_id, (page,))
        for page, at, _ in handles:
            frames[at].kept -= 1
            if pins[page] == 1:
                del pins[page]
            else:
                pins[page] -= 1
