"""Which states are the same: those that differ only in names.

Names are the ids of pages, frames and leases, the values written, generations and tickets beyond
current or stale, counters, the order of tables, and of recency. A page is described by everything
that any lease, frame or copy has to do with it; pages with equal descriptions are interchangeable,
so the sorted descriptions, least over the orders of the leases, are one form for all of them.

Zero, a row never written, is a value like others for what a call may do, and is not for what a
read returns: `canonical` keeps it apart, `control` does not. Whether a call is refused does not
depend on it, so forbidden calls are made once for each control form.
"""

from itertools import pairwise, permutations
from typing import TypeAlias

from properties.ledger import Ledger
from properties.scopes import Scope
from properties.view import LeaseView, View
from reference.calls import Publish
from reference.words import FrameNumber, Page, Phase, Rows

Uses: TypeAlias = tuple[int, list[tuple[int, ...]]]
"""A lease's promise, and for each page what the lease has to do with it."""


def canonical(view: View, ledger: Ledger) -> tuple[object, ...]:
    """Return a form that is equal for two states exactly if only names tell them apart."""
    return _form(view, ledger, {0: 0})


def control(view: View, ledger: Ledger) -> tuple[object, ...]:
    """Return a form that is equal also for states that differ in which rows were never written."""
    return _form(view, ledger, {})


def get_control(view: View, ledger: Ledger, scope: Scope) -> tuple[object, ...]:
    """Return `control`, but where pages are published: a page that is not full is refused."""
    form = canonical if Publish in scope.operations else control
    return form(view, ledger)


def _form(view: View, ledger: Ledger, named: dict[int, int]) -> tuple[object, ...]:
    mapping: dict[Page, list[FrameNumber]] = {}
    stray = 0
    for number, frame in enumerate(view.frames):
        if frame.page is not None:
            mapping.setdefault(frame.page, []).append(number)
        elif frame.phase != Phase.FREE and number not in view.orphaned:
            # No page tells of it: a frame that only a broken subject has.
            stray += 1
    pages = range(view.shape.pages)
    facts = [_facts(view, ledger, page, mapping.get(page, []), named) for page in pages]
    uses = [
        (lease.promise, [_use(lease, page, mapping.get(page, [])) for page in pages])
        for lease in view.leases.values()
    ]
    forms = []
    for order in _orders(uses):
        described = [(facts[page], *(used[page] for _, used in order)) for page in pages]
        forms.append((tuple(promise for promise, _ in order), tuple(sorted(described)), stray))
    return min(forms)


def _orders(uses: list[Uses]) -> list[tuple[Uses, ...]]:
    """Every order of the leases in which what names do not change ascends."""
    if len(uses) < 2:
        return [tuple(uses)]
    outlines = [(promise, sorted(used)) for promise, used in uses]
    orders = permutations(range(len(uses)))
    return [
        tuple(uses[n] for n in order)
        for order in orders
        if all(outlines[a] <= outlines[b] for a, b in pairwise(order))
    ]


def _facts(
    view: View,
    ledger: Ledger,
    page: Page,
    mapping: list[FrameNumber],
    named: dict[int, int],
) -> tuple[object, ...]:
    """What there is to say of a page, its name and its users apart."""
    recency = view.recency or ()
    frames = [view.frames[number] for number in mapping]
    return (
        view.holds[page],
        # What an earlier life wrote is hidden, and still there for a subject that forgets to
        # clear it: a free page with a past is kept apart from one without.
        (page in view.free) + (bool(named) and page in view.free and page in ledger.past),
        # The tables agree unless the subject is broken; then how they disagree is kept apart.
        mapping == ([] if view.where[page] is None else [view.where[page]]),
        tuple((frame.phase, frame.dirty) for frame in frames),
        page in view.torn,
        # Every victim is tried whatever the order, so the order tells no two states apart.
        page in recency,
        _leavings(view, ledger, page) if view.quarantine or view.lost or view.keys else (),
        _rename(
            named, ledger.latest.get(page), view.host.get(page), *(frame.rows for frame in frames)
        ),
    )


def _leavings(view: View, ledger: Ledger, page: Page) -> tuple[object, ...]:
    """What leases that are gone, and keys, have to do with a page."""
    copies = [
        (index, copy.kind, copy.ticket in ledger.uncovered, copy.pages.index(page))
        for index, copy in enumerate(view.quarantine)
        if page in copy.pages
    ]
    named = page in view.keys.values()
    # As of a free page, what an earlier life wrote is still there.
    retired = (page in view.retired) + (page in view.retired and page in ledger.past)
    return (page in view.lost, retired, named, tuple(copies))


def _use(lease: LeaseView, page: Page, mapping: list[FrameNumber]) -> tuple[int, ...]:
    """What a lease has to do with a page: hold, pins, place in its claims, copies."""
    held = (page in lease.table) + 2 * (page in lease.borrowed)
    claim = lease.claims.index(page) if page in lease.claims else -1
    copied = 0
    if lease.copies:
        for copy in lease.copies:
            for number in copy.frames:
                if number in mapping:
                    copied += 1 if copy.kind == "fill" else 2
    return (held, lease.pins.get(page, 0), claim, copied)


def _rename(named: dict[int, int], *tables: Rows | None) -> tuple[tuple[int, ...], ...]:
    """Rows with their values renamed in order of appearance, but those that are named already."""
    names = dict(named)
    found: list[tuple[int, ...]] = []
    for rows in tables:
        renamed = []
        for value in rows or ():
            if value not in names:
                names[value] = len(names)
            renamed.append(names[value])
        found.append(tuple(renamed))
    return tuple(found)


def named(view: View, ledger: Ledger) -> tuple[object, ...]:
    """Return a form that keeps the names of pages, frames and (by age) leases.

    Only what can grow for ever is renamed: values, generations, tickets, lease ids, counters. The
    gate compares a search by this form with one by `canonical`.
    """
    mapping: dict[Page, list[FrameNumber]] = {}
    for number, frame in enumerate(view.frames):
        if frame.page is not None:
            mapping.setdefault(frame.page, []).append(number)
    pages = range(view.shape.pages)
    return (
        view.where,
        tuple(frame.page for frame in view.frames),
        tuple(_facts(view, ledger, page, mapping.get(page, []), {0: 0}) for page in pages),
        tuple(
            (lease.promise, tuple(_use(lease, page, mapping.get(page, [])) for page in pages))
            for lease in view.leases.values()
        ),
    )
