"""Misuse of the operations beyond the spec's table, for random walks; see `misuse`.

Owned here: late completions, landings of what has landed, wrong truncations, pages published too
early, and calls by leases that are gone.
"""

from properties.misuse import MISUSES, Draw, Misuse
from reference.calls import (
    Abandon,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Find,
    Land,
    Publish,
    Truncate,
)


def late_completion(draw: Draw) -> Call | None:
    """A completion that comes after its lease is gone or reset, by that lease or by another."""
    copies = draw.view.quarantine
    if not copies:
        return None
    copy = draw.pick(copies)
    complete = CompleteFill if copy.kind == "fill" else CompleteWriteBack
    ended = draw.past.ended
    by = ended[-1] if ended and draw.random.random() < 0.5 else draw.lease_id
    return complete(by, copy.ticket, draw.random.random() < 0.7)


def landed_already(draw: Draw) -> Call | None:
    """The landing of a copy that is not in quarantine: landed, a lease's own, or none."""
    waiting = {copy.ticket for copy in draw.view.quarantine}
    tickets = [ticket for ticket in draw.past.tickets[-8:] if ticket not in waiting]
    return Land(draw.pick(tickets), True) if tickets else Land(-1, True)


def wrong_truncation(draw: Draw) -> Call | None:
    """A page truncated to no length of a page, while it is copied, or not held."""
    held = draw.lease.table + draw.lease.borrowed
    rows = draw.view.shape.rows
    kind = int(draw.random.random() * 3)
    if kind == 0 and held:
        return Truncate(draw.lease_id, draw.pick(held), draw.pick((-1, rows + 1)))
    if kind == 1:
        return Truncate(draw.lease_id, draw.page(), 0)
    moving = [page for page in held if page in draw.view.claimed or page in draw.view.torn]
    return Truncate(draw.lease_id, draw.pick(moving), 0) if moving else None


def early_publish(draw: Draw) -> Call | None:
    """A page published that is dirty, not full, named already, or not held."""
    held = draw.lease.table + draw.lease.borrowed
    page = draw.pick(held) if held and draw.random.random() < 0.8 else draw.page()
    return Publish(draw.lease_id, page, draw.pick([*draw.view.keys, 0]))


def gone_lease(draw: Draw) -> Call | None:
    """A call by a lease that is not open any more."""
    ended = draw.past.ended
    if not ended:
        return None
    lease = draw.pick(ended)
    page = draw.page()
    calls: list[Call] = [Abandon(lease), Find(lease, 0), Truncate(lease, page, 0)]
    return draw.pick([*calls, Publish(lease, page, 0)])


WIDER_MISUSES: tuple[Misuse, ...] = (
    *MISUSES,
    late_completion,
    landed_already,
    wrong_truncation,
    early_publish,
    gone_lease,
)
"""Those, and what can be done wrong with the operations beyond the spec's table."""
