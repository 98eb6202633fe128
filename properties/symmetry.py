"""Which states are the same: those that differ only in names.

Names are the ids of pages, frames and leases, the values written, generations and tickets beyond
current or stale, counters, and the order of tables. A page is described by everything that any
lease, frame or copy has to do with it; pages with equal descriptions are interchangeable, so the
sorted descriptions, least over the orders of the leases, are one form for all of them.
"""

from itertools import permutations

from properties.ledger import Ledger
from properties.view import LeaseView, View
from reference.words import LeaseId, Page, Phase, Rows


def canonical(view: View, ledger: Ledger) -> tuple[object, ...]:
    """Return a form that is equal for two states exactly if only names tell them apart."""
    outlines = {lease_id: _outline(lease) for lease_id, lease in view.leases.items()}
    ordered = sorted(view.leases, key=outlines.__getitem__)
    forms = [_form(view, ledger, order, outlines) for order in _orders(ordered, outlines)]
    return min(forms)


def _outline(lease: LeaseView) -> tuple[object, ...]:
    """What of a lease does not depend on names."""
    return (
        lease.promise,
        len(lease.table),
        len(lease.borrowed),
        sum(lease.pins.values()),
        len(lease.claims),
        sorted((copy.kind, len(copy.frames)) for copy in lease.copies),
    )


def _orders(
    ordered: list[LeaseId], outlines: dict[LeaseId, tuple[object, ...]]
) -> list[tuple[LeaseId, ...]]:
    """Every order of the leases in which their outlines ascend."""
    if len({repr(outlines[lease]) for lease in ordered}) == len(ordered):
        return [tuple(ordered)]
    found = permutations(ordered)
    return [
        order
        for order in found
        if all(outlines[a] <= outlines[b] for a, b in zip(order, order[1:], strict=False))  # type: ignore[operator]
    ]


def _form(
    view: View,
    ledger: Ledger,
    order: tuple[LeaseId, ...],
    outlines: dict[LeaseId, tuple[object, ...]],
) -> tuple[object, ...]:
    leases = [view.leases[lease_id] for lease_id in order]
    pages = sorted(
        _describe(view, ledger, leases, page) for page in range(view.shape.pages)
    )
    return (tuple(lease.promise for lease in leases), tuple(pages))


def _describe(
    view: View, ledger: Ledger, leases: list[LeaseView], page: Page
) -> tuple[object, ...]:
    """Everything there is to say of a page, without its name."""
    number = view.where[page]
    mapping = [n for n, frame in enumerate(view.frames) if frame.page == page]
    users = tuple(_use(lease, page, mapping) for lease in leases)
    frame = view.frames[mapping[0]] if mapping else None
    recency = view.recency or ()
    return (
        users,
        view.holds[page],
        page in view.free,
        # The tables agree unless the subject is broken; then how they disagree is kept apart.
        tuple(mapping) == () if number is None else mapping == [number],
        tuple((view.frames[n].phase, view.frames[n].dirty) for n in mapping),
        page in view.torn,
        recency.index(page) if page in recency else -1,
        _rename(
            ledger.latest.get(page),
            view.host.get(page),
            None if frame is None else frame.rows,
        ),
    )


def _use(lease: LeaseView, page: Page, mapping: list[int]) -> tuple[int, ...]:
    """What a lease has to do with a page: hold, pins, place in its claims, copies."""
    held = (page in lease.table) + 2 * (page in lease.borrowed)
    claim = lease.claims.index(page) if page in lease.claims else -1
    copied = 0
    for copy in lease.copies:
        for number in copy.frames:
            if number in mapping:
                copied += 1 if copy.kind == "fill" else 2
    return (held, lease.pins.get(page, 0), claim, copied)


def _rename(*tables: Rows | None) -> tuple[tuple[int, ...], ...]:
    """Rows with their values renamed in order of appearance; zero, never written, stays zero."""
    names = {0: 0}
    return tuple(
        () if rows is None else tuple(names.setdefault(value, len(names)) for value in rows)
        for rows in tables
    )


FREE = Phase.FREE
