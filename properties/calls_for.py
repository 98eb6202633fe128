"""Which calls to make in a state: those that make sense there, and those that are forbidden.

Every operation is tried by every open lease and by one that is not open, with current, stale and
forged handles and tickets, so that a subject which accepts what the spec refuses is seen.
"""

from functools import lru_cache
from itertools import combinations, permutations

from properties.ledger import Ledger
from properties.rules.rows import first_due
from properties.scopes import Scope
from properties.view import View
from reference.calls import (
    BASE,
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
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
from reference.words import Handle, LeaseId, Page, Ticket


def calls_for(view: View, ledger: Ledger, scope: Scope, forbidden: bool = True) -> list[Call]:
    """Return the calls to make in a state, always in the same order.

    Without the forbidden ones, those that meet a refusal of their row are left out.
    """
    calls = _all_calls(view, ledger, scope)
    if scope.operations is not BASE:
        calls += _wider_calls(view, ledger, scope)
        calls = [call for call in calls if type(call) in scope.operations]
    if forbidden:
        return calls
    return [call for call in calls if first_due(view, ledger, call) is None]


def _all_calls(view: View, ledger: Ledger, scope: Scope) -> list[Call]:
    calls: list[Call] = [Open(promise) for promise in range(scope.shape.frames + 2)]
    current, wrong = get_handles(view)
    tickets = get_tickets(view, ledger)
    never = max(ledger.tickets, default=-1) + 1
    value = unused_value(view, ledger)
    for lease in view.leases:
        calls.append(Alloc(lease))
        calls += _page_calls(lease, view.shape.pages + 1)
        calls += [Fill(lease, pages) for pages in get_askings(view, lease)]
        calls += _completions(lease, tickets)
        calls += [CompleteFill(lease, never, True), CompleteWriteBack(lease, never, True)]
        for handle in current:
            calls += _handle_calls(lease, handle, view.shape.rows, value)
        for handle in wrong:
            calls += _wrong_handle_calls(view, lease, handle, value)
        calls.append(Finish(lease))
    handle = next(iter(current + wrong))
    return calls + _calls_of_nobody(unknown_lease(view, ledger), handle, never, value)


def _wider_calls(view: View, ledger: Ledger, scope: Scope) -> list[Call]:
    """What leaves, takes back and finds: for every lease, and for one that is not open."""
    never = max(ledger.tickets, default=-1) + 1
    calls: list[Call] = [Reset()]
    for ticket in [*(copy.ticket for copy in view.quarantine), *get_tickets(view, ledger)]:
        calls += (Land(ticket, True), Land(ticket, False))
    calls += (Land(never, True), Land(never, False))
    for lease in (*view.leases, unknown_lease(view, ledger)):
        calls.append(Abandon(lease))
        calls += [Find(lease, key) for key in range(scope.keys)]
        for page in range(view.shape.pages + 1):
            calls += [Truncate(lease, page, rows) for rows in range(-1, view.shape.rows + 2)]
            calls += [Publish(lease, page, key) for key in range(scope.keys)]
        for copy in view.quarantine:
            # What its lease would have said, had it not gone; and what another must not say.
            calls += (CompleteFill(lease, copy.ticket, True),)
            calls += (CompleteWriteBack(lease, copy.ticket, True),)
    return list(dict.fromkeys(calls))


def _completions(lease: LeaseId, tickets: list[Ticket]) -> list[Call]:
    calls: list[Call] = []
    for ticket in tickets:
        for ok in (True, False):
            calls += (CompleteFill(lease, ticket, ok), CompleteWriteBack(lease, ticket, ok))
    return calls


# Making a record costs as much as a rule does, and the same few are made in every state.
@lru_cache(maxsize=100_000)
def _page_calls(lease: LeaseId, pages: int) -> list[Call]:
    calls: list[Call] = []
    for page in range(pages):
        calls += (Share(lease, page), Release(lease, page), Lookup(lease, page))
    return calls


@lru_cache(maxsize=100_000)
def _handle_calls(lease: LeaseId, handle: Handle, rows: int, value: int) -> list[Call]:
    calls: list[Call] = [
        Unpin(lease, handle),
        MarkDirty(lease, handle),
        WriteBack(lease, handle),
    ]
    for row in range(rows + 1):
        calls += (Write(lease, handle, row, value), Read(lease, handle, row))
    return calls


def _wrong_handle_calls(view: View, lease: LeaseId, handle: Handle, value: int) -> list[Call]:
    """Everything for a lease that pins the handle's page or its frame's; else a read."""
    pins = view.leases[lease].pins
    if pins and (handle.page in pins or view.frames[handle.frame].page in pins):
        return _handle_calls(lease, handle, 0, value)
    return [Read(lease, handle, 0)]


def _calls_of_nobody(lease: LeaseId, handle: Handle, ticket: Ticket, value: int) -> list[Call]:
    calls: list[Call] = [Alloc(lease), Share(lease, 0), Release(lease, 0), Lookup(lease, 0)]
    calls += [Fill(lease, ()), Finish(lease)]
    calls += [CompleteFill(lease, ticket, True), CompleteWriteBack(lease, ticket, True)]
    return calls + _handle_calls(lease, handle, 0, value)


def get_handles(view: View) -> tuple[list[Handle], list[Handle]]:
    """Return handles to try: every current one; and stale and forged ones."""
    current: list[Handle] = []
    wrong: list[Handle] = []
    for number, frame in enumerate(view.frames):
        if frame.page is None:
            # A frame that maps nothing has no current handle, whatever was issued for it.
            wrong.append(Handle(0, number, frame.generation))
            continue
        current.append(Handle(frame.page, number, frame.generation))
        # An older generation; the right frame with another page; another frame's generation.
        wrong.append(Handle(frame.page, number, frame.generation - 1))
        wrong.append(Handle((frame.page + 1) % view.shape.pages, number, frame.generation))
        other = view.frames[(number + 1) % view.shape.frames]
        if other.generation != frame.generation:
            wrong.append(Handle(frame.page, number, other.generation))
    return current, list(dict.fromkeys(wrong))


def get_tickets(view: View, ledger: Ledger) -> list[Ticket]:
    """Return tickets to try: every one in flight, and the last issued of those that are not."""
    copies = [copy for lease in view.leases.values() for copy in lease.copies]
    shown: list[Ticket | None] = [copy.ticket for copy in copies]
    # A broken subject may show a copy without a ticket: nobody can complete that.
    in_flight = [ticket for ticket in shown if isinstance(ticket, int)]
    return in_flight + sorted(ledger.tickets.difference(in_flight))[-1:]


def get_askings(view: View, lease: LeaseId) -> list[tuple[Page, ...]]:
    """Return page lists to fill: each small one in each order, and one past every promise."""
    pages = range(view.shape.pages)
    user = view.leases[lease]
    promise = user.promise
    askings: list[tuple[Page, ...]] = []
    for size in range(min(promise, len(pages)) + 1):
        askings += permutations(pages, size)
    askings += [(page, page) for page in (*user.table, *user.borrowed)]
    return askings + list(combinations(pages, promise + 1))


def unknown_lease(view: View, ledger: Ledger) -> LeaseId:
    """Return the id of a lease that is gone, or one never issued."""
    gone = ledger.leases.difference(view.leases)
    return max(gone, default=max(ledger.leases, default=-1) + 1)


def unused_value(view: View, ledger: Ledger) -> int:
    """Return the least version above zero that no row holds."""
    used = {value for rows in ledger.latest.values() for value in rows}
    used.update(value for rows in view.host.values() for value in rows or ())
    used.update(value for frame in view.frames for value in frame.rows or ())
    return next(value for value in range(1, len(used) + 2) if value not in used)
