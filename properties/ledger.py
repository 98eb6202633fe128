"""The ledger: what the callers of a tier know, from their calls and the outcomes alone.

It never looks at a view, so a rule that compares a view with it compares two sources.
"""

from collections.abc import Callable
from typing import Any, Self

import msgspec

from reference.calls import (
    Alloc,
    Call,
    CompleteFill,
    Fill,
    Finish,
    Open,
    Outcome,
    Release,
    Share,
    Write,
    WriteBack,
)
from reference.words import Handle, LeaseId, Page, Plan, Rows, Ticket


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
    """For each live page, the last value written to each row in this life, zero if none."""
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
    latest = {page: rows for page, rows in ledger.latest.items() if page not in ended}
    written = [page for page in ended if any(ledger.latest.get(page, ()))]
    return msgspec.structs.replace(
        ledger, held=held, latest=latest, past=ledger.past.union(written)
    )


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


def _complete_fill(ledger: Ledger, call: CompleteFill, _outcome: Outcome) -> Ledger:
    plans = {ticket: plan for ticket, plan in ledger.plans.items() if ticket != call.ticket}
    return msgspec.structs.replace(ledger, plans=plans)


def _write(ledger: Ledger, call: Write, _outcome: Outcome) -> Ledger:
    rows = ledger.latest.get(call.handle.page)
    if rows is None or not 0 <= call.row < ledger.rows:
        return ledger
    rows = (*rows[: call.row], call.value, *rows[call.row + 1 :])
    return msgspec.structs.replace(ledger, latest={**ledger.latest, call.handle.page: rows})


def _write_back(ledger: Ledger, _call: WriteBack, outcome: Outcome) -> Ledger:
    ticket: Ticket | None = outcome.value  # type: ignore[assignment]
    if ticket is None:
        return ledger
    return msgspec.structs.replace(ledger, tickets=ledger.tickets | {ticket})


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
}
