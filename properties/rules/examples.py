"""Builders for the examples that break the rules: small views, ledgers and steps in one line.

What is not said is filled in so that it agrees: a view built from frames and leases alone breaks
no rule about its redundant tables. This is no rule.
"""

from collections import Counter

from properties.ledger import IssuedPlan, Ledger
from properties.step import Step
from properties.view import CopyView, CountersView, FrameView, LeaseView, OrphanView, View
from reference.calls import Call, Outcome, Refused
from reference.words import FrameNumber, Handle, Key, Page, Phase, Rows, Shape, Ticket

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


def frame(
    page: Page | None = None,
    phase: Phase | None = None,
    *,
    dirty: bool = False,
    generation: int = 0,
    rows: Rows | None = (0,),
) -> FrameView:
    """Return a frame, `READY` if it maps a page, with its rows masked where they must be."""
    if phase is None:
        phase = FREE if page is None else READY
    masked = phase in (FREE, FILLING, QUARANTINED)
    return FrameView(page, generation, phase, dirty, None if masked else rows)


def lease(
    *table: Page,
    promise: int = 1,
    borrowed: tuple[Page, ...] = (),
    pins: tuple[Page, ...] = (),
    claims: tuple[Page, ...] = (),
    copies: tuple[CopyView, ...] = (),
) -> LeaseView:
    """Return a lease with these pages in its table; a page in `pins` twice is pinned twice."""
    return LeaseView(promise, table, borrowed, dict(Counter(pins)), claims, copies)


def filling(ticket: Ticket, *frames: FrameNumber) -> CopyView:
    """Return a fill in flight."""
    return CopyView(ticket, "fill", frames)


def writing(ticket: Ticket, *frames: FrameNumber) -> CopyView:
    """Return a write-back in flight."""
    return CopyView(ticket, "write-back", frames)


def orphan(copy: CopyView, *pages: Page) -> OrphanView:
    """Return that copy in quarantine: no lease owns it any more."""
    return OrphanView(copy.ticket, copy.kind, copy.frames, pages)


def view(
    frames: tuple[FrameView, ...],
    *leases: LeaseView | None,
    pages: int = 3,
    off: bool = False,
    where: tuple[FrameNumber | None, ...] | None = None,
    free: tuple[Page, ...] | None = None,
    holds: tuple[int, ...] | None = None,
    host: dict[Page, Rows] | None = None,
    torn: tuple[Page, ...] = (),
    counters: tuple[int, ...] = (0, 0, 0, 0, 0, 0),
    recency: tuple[Page, ...] | None = None,
    quarantine: tuple[OrphanView, ...] = (),
    retired: tuple[Page, ...] = (),
    lost: tuple[Page, ...] = (),
    keys: dict[Key, Page] | None = None,
) -> View:
    """Return a view of pages with one row; leases are numbered from 0, none is not open."""
    opened = {number: lease for number, lease in enumerate(leases) if lease is not None}
    held = Counter(page for lease in opened.values() for page in (*lease.table, *lease.borrowed))
    mapped = {f.page: number for number, f in enumerate(frames)}
    ids = range(pages)
    rows = {page: (host or {}).get(page, (0,)) for page in sorted(held)}
    return View(
        shape=Shape(pages, len(frames), 1),
        off=off,
        leases=opened,
        frames=frames,
        where=tuple(mapped.get(page) for page in ids) if where is None else where,
        free=tuple(page for page in ids if page not in held) if free is None else free,
        holds=tuple(held[page] for page in ids) if holds is None else holds,
        host={page: None if page in torn else rows[page] for page in rows},
        torn=torn,
        counters=CountersView(*counters),
        recency=recency,
        quarantine=quarantine,
        retired=retired,
        lost=lost,
        keys=keys or {},
    )


def handle(page: Page, frame: FrameNumber = 0, generation: int = 0) -> Handle:
    """Return a handle."""
    return Handle(page, frame, generation)


def ledger(
    latest: dict[Page, Rows] | None = None,
    *,
    plans: dict[Ticket, IssuedPlan] | None = None,
    tickets: tuple[Ticket, ...] = (),
    uncovered: tuple[Ticket, ...] = (),
    lost: tuple[Page, ...] = (),
    named: dict[Key, Rows] | None = None,
) -> Ledger:
    """Return what callers know: last writes, fills in flight, tickets issued."""
    return Ledger(
        rows=1,
        latest=latest or {},
        held={},
        plans=plans or {},
        past=frozenset(),
        leases=frozenset(),
        tickets=frozenset(tickets),
        uncovered=frozenset(uncovered),
        lost=frozenset(lost),
        named=named or {},
    )


def plan(*pages: Page, misses: tuple[Page, ...]) -> IssuedPlan:
    """Return the plan of a fill of lease 0 that found page n of these in frame n."""
    handles = tuple(Handle(page, number, 0) for number, page in enumerate(pages))
    return IssuedPlan(0, handles, misses)


def step(
    before: View,
    call: Call,
    after: View | None = None,
    *,
    value: object = None,
    failed: bool = False,
    refused: str | None = None,
    fields: tuple[tuple[str, object], ...] = (),
    knew: Ledger | None = None,
) -> Step:
    """Return a step; it changed nothing if no view after it is given."""
    refusal = None if refused is None else Refused(refused, fields)
    outcome = Outcome(value, failed, refusal)
    return Step(before, call, outcome, before if after is None else after, knew or ledger())
