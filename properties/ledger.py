"""The ledger: what the callers of a tier know, from their calls and the outcomes alone.

It never looks at a view, so a rule that compares a view with it compares two sources.
"""

from collections.abc import Callable, Collection
from typing import Any, Self

import msgspec

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
    Open,
    Outcome,
    Publish,
    Release,
    Reset,
    Share,
    Truncate,
    Write,
    WriteBack,
)
from reference.words import Handle, Key, LeaseId, Page, Plan, Rows, Ticket


class IssuedPlan(msgspec.Struct, frozen=True):
    """A fill in flight, as its lease knows it."""

    lease: LeaseId
    """Who asked."""
    handles: tuple[Handle, ...]
    """The handles it was given, in the order asked."""
    misses: tuple[Page, ...]
    """The pages it was told are misses."""


class Ledger(msgspec.Struct, frozen=True):
    """Last writes, holds, plans, and the names issued so far. Immutable; `absorb` returns one."""

    rows: int
    """Rows in a page."""
    latest: dict[Page, Rows]
    """For each live page, the last value written to each row in this life, zero if none.

    Rows that went with their lease are as they were published; of a lost page nothing is known.
    """
    held: dict[LeaseId, tuple[Page, ...]]
    """For each open lease, the pages it holds."""
    plans: dict[Ticket, IssuedPlan]
    """The fills in flight."""
    past: frozenset[Page]
    """Every free page that its last life wrote to: what its next life must not read."""
    leases: frozenset[LeaseId]
    """Every lease id issued so far."""
    tickets: frozenset[Ticket]
    """Every ticket issued so far."""
    published: dict[Page, Rows] = {}
    """For each live page its rows as the host has them; no entry from the start of a write-back
    until one succeeds."""
    writing: dict[Ticket, tuple[LeaseId, Page]] = {}
    """The write-backs in flight whose result is still wanted."""
    lost: frozenset[Page] = frozenset()
    """Live pages whose rows went with a lease while the host page was torn."""
    orphans: frozenset[Ticket] = frozenset()
    """Copies in flight that no lease owns any more."""
    uncovered: frozenset[Ticket] = frozenset()
    """Those of them that a reset left behind, so that no promise covers their frames."""
    left: bool = False
    """A lease was abandoned."""
    named: dict[Key, Rows] = {}
    """The rows that were published under each key, last."""

    @classmethod
    def empty(cls, rows: int) -> Self:
        """Return the ledger before the first call."""
        return cls(rows, {}, {}, {}, frozenset(), frozenset(), frozenset())

    def absorb(self, call: Call, outcome: Outcome) -> "Ledger":
        """Return the ledger after a call, itself if the call taught the callers nothing."""
        absorber = _ABSORBERS.get(type(call))
        if absorber is None or outcome.refused is not None:
            return self
        return absorber(self, call, outcome)


def _open(ledger: Ledger, _call: Open, outcome: Outcome) -> Ledger:
    lease: LeaseId = outcome.value  # type: ignore[assignment]
    return msgspec.structs.replace(
        ledger, held={**ledger.held, lease: ()}, leases=ledger.leases | {lease}
    )


def _alloc(ledger: Ledger, call: Alloc, outcome: Outcome) -> Ledger:
    page: Page = outcome.value  # type: ignore[assignment]
    return msgspec.structs.replace(
        ledger,
        held=_hold(ledger, call.lease, page),
        latest={**ledger.latest, page: (0,) * ledger.rows},
        published={**ledger.published, page: (0,) * ledger.rows},
        past=ledger.past - {page},
    )


def _share(ledger: Ledger, call: Share, _outcome: Outcome) -> Ledger:
    return msgspec.structs.replace(ledger, held=_hold(ledger, call.lease, call.page))


def _hold(ledger: Ledger, lease: LeaseId, page: Page) -> dict[LeaseId, tuple[Page, ...]]:
    return {**ledger.held, lease: (*ledger.held.get(lease, ()), page)}


def _release(ledger: Ledger, call: Release, _outcome: Outcome) -> Ledger:
    kept = tuple(page for page in ledger.held.get(call.lease, ()) if page != call.page)
    return _drop(ledger, {**ledger.held, call.lease: kept}, (call.page,))


def _finish(ledger: Ledger, call: Finish, _outcome: Outcome) -> Ledger:
    held = {lease: pages for lease, pages in ledger.held.items() if lease != call.lease}
    return _drop(ledger, held, ledger.held.get(call.lease, ()))


def _drop(
    ledger: Ledger, held: dict[LeaseId, tuple[Page, ...]], dropped: tuple[Page, ...]
) -> Ledger:
    ended = [page for page in dropped if not any(page in pages for pages in held.values())]
    written = [page for page in ended if any(ledger.latest.get(page, ())) or page in ledger.lost]
    return msgspec.structs.replace(
        ledger,
        held=held,
        latest={page: rows for page, rows in ledger.latest.items() if page not in ended},
        published={page: rows for page, rows in ledger.published.items() if page not in ended},
        writing=_void(ledger, ended),
        lost=ledger.lost.difference(ended),
        past=ledger.past.union(written),
    )


def _void(ledger: Ledger, pages: Collection[Page]) -> dict[Ticket, tuple[LeaseId, Page]]:
    """Return the write-backs in flight but those of these pages, whose result is void now."""
    return {ticket: wrote for ticket, wrote in ledger.writing.items() if wrote[1] not in pages}


def _fill(ledger: Ledger, call: Fill, outcome: Outcome) -> Ledger:
    if outcome.failed:
        return ledger
    plan: Plan = outcome.value  # type: ignore[assignment]
    if plan.ticket is None:
        return ledger
    issued = IssuedPlan(call.lease, plan.handles, plan.misses)
    return msgspec.structs.replace(
        ledger,
        plans={**ledger.plans, plan.ticket: issued},
        tickets=ledger.tickets | {plan.ticket},
    )


def _complete_fill(ledger: Ledger, call: CompleteFill, outcome: Outcome) -> Ledger:
    plans = {ticket: plan for ticket, plan in ledger.plans.items() if ticket != call.ticket}
    ledger = msgspec.structs.replace(ledger, plans=plans)
    return _forget(ledger, outcome.value) if outcome.failed else ledger


def _write(ledger: Ledger, call: Write, _outcome: Outcome) -> Ledger:
    rows = ledger.latest.get(call.handle.page)
    if rows is None or not 0 <= call.row < ledger.rows:
        return ledger
    rows = (*rows[: call.row], call.value, *rows[call.row + 1 :])
    return msgspec.structs.replace(ledger, latest={**ledger.latest, call.handle.page: rows})


def _write_back(ledger: Ledger, call: WriteBack, outcome: Outcome) -> Ledger:
    ticket: Ticket | None = outcome.value  # type: ignore[assignment]
    torn = call.handle.page
    if ticket is None:
        # Nothing to do, or, with the tier off, done at once: the host has the rows.
        rows = ledger.latest.get(torn)
        if rows is None or ledger.published.get(torn) == rows:
            return ledger
        return msgspec.structs.replace(ledger, published={**ledger.published, torn: rows})
    return msgspec.structs.replace(
        ledger,
        tickets=ledger.tickets | {ticket},
        writing={**ledger.writing, ticket: (call.lease, torn)},
        published={page: rows for page, rows in ledger.published.items() if page != torn},
    )


def _complete_write_back(ledger: Ledger, call: CompleteWriteBack, outcome: Outcome) -> Ledger:
    return _end_write_back(ledger, call.ticket, call.ok and not outcome.failed)


def _end_write_back(ledger: Ledger, ticket: Ticket, landed: bool) -> Ledger:
    _, page = ledger.writing.get(ticket, (None, None))
    if page is None:
        return ledger
    writing = {other: wrote for other, wrote in ledger.writing.items() if other != ticket}
    published = ledger.published
    if landed and page in ledger.latest:
        published = {**published, page: ledger.latest[page]}
    return msgspec.structs.replace(ledger, writing=writing, published=published)


# --------------------------------------------------------------- leaving, taking back, finding


def _abandon(ledger: Ledger, call: Abandon, outcome: Outcome) -> Ledger:
    held = {lease: pages for lease, pages in ledger.held.items() if lease != call.lease}
    plans = {ticket: plan for ticket, plan in ledger.plans.items() if plan.lease != call.lease}
    left = set(ledger.plans.keys() - plans.keys())
    left.update(ticket for ticket, (lease, _) in ledger.writing.items() if lease == call.lease)
    ledger = _forget(ledger, outcome.value)
    ledger = msgspec.structs.replace(
        ledger, plans=plans, orphans=ledger.orphans.union(left), left=True
    )
    return _drop(ledger, held, ledger.held.get(call.lease, ()))


def _reset(ledger: Ledger, _call: Reset, outcome: Outcome) -> Ledger:
    left = (ledger.plans.keys() | ledger.writing.keys()) - ledger.orphans
    return msgspec.structs.replace(
        _forget(ledger, outcome.value),
        plans={},
        orphans=ledger.orphans.union(left),
        uncovered=ledger.uncovered.union(left),
    )


def _forget(ledger: Ledger, gone: object) -> Ledger:
    """The unpublished rows of these pages are gone; a broken subject may name anything."""
    pages = [page for page in gone if page in ledger.latest] if isinstance(gone, tuple) else []
    if not pages:
        return ledger
    latest = {page: rows for page, rows in ledger.latest.items() if page not in pages}
    latest.update((page, ledger.published[page]) for page in pages if page in ledger.published)
    lost = [page for page in pages if page not in ledger.published]
    return msgspec.structs.replace(
        ledger, latest=latest, lost=ledger.lost.union(lost), writing=_void(ledger, pages)
    )


def _land(ledger: Ledger, call: Land, outcome: Outcome) -> Ledger:
    ledger = _end_write_back(ledger, call.ticket, call.ok and not outcome.failed)
    return msgspec.structs.replace(
        ledger,
        orphans=ledger.orphans - {call.ticket},
        uncovered=ledger.uncovered - {call.ticket},
    )


def _truncate(ledger: Ledger, call: Truncate, _outcome: Outcome) -> Ledger:
    page, length = call.page, call.rows
    zeros = (0,) * ledger.rows
    latest, published = dict(ledger.latest), dict(ledger.published)
    if page in ledger.lost:
        if length > 0:
            return ledger
        latest[page] = published[page] = zeros
    for rows in (latest, published):
        if page in rows:
            rows[page] = rows[page][:length] + zeros[length:]
    return msgspec.structs.replace(
        ledger, latest=latest, published=published, lost=ledger.lost - {page}
    )


def _publish(ledger: Ledger, call: Publish, _outcome: Outcome) -> Ledger:
    rows = ledger.latest.get(call.page, ())
    return msgspec.structs.replace(ledger, named={**ledger.named, call.key: rows})


def _find(ledger: Ledger, call: Find, outcome: Outcome) -> Ledger:
    page: Page | None = outcome.value  # type: ignore[assignment]
    if page is None or page in ledger.held.get(call.lease, ()):
        return ledger
    return msgspec.structs.replace(ledger, held=_hold(ledger, call.lease, page))


_ABSORBERS: dict[type[Call], Callable[[Ledger, Any, Outcome], Ledger]] = {
    Open: _open,
    Alloc: _alloc,
    Share: _share,
    Release: _release,
    Finish: _finish,
    Fill: _fill,
    CompleteFill: _complete_fill,
    Write: _write,
    WriteBack: _write_back,
    CompleteWriteBack: _complete_write_back,
    Abandon: _abandon,
    Reset: _reset,
    Land: _land,
    Truncate: _truncate,
    Publish: _publish,
    Find: _find,
}
