"""Rules of leaving: abandoned leases, resets, and the copies that run on after both.

Not here: what an abandoned lease held (`truth`), and that nobody else's pins, pages and rows
change (`pins`, `dirt`): those rules speak of these calls too.
"""

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.rules.rows import gone_by
from properties.step import Step
from properties.view import CopyView, OrphanView, View
from reference.calls import CALLS, Abandon, CompleteFill, Fill, Land, Reset
from reference.words import Page, Phase, Ticket

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


@state_rule(
    seen="C02, C03",
    broken=lambda: (
        ex.view((ex.frame(),), quarantine=(ex.orphan(ex.filling(5, 0), 0),), retired=(0,)),
        ex.ledger(),
    ),
)
def quarantined_frames_wait(view: View, ledger: Ledger) -> str | None:
    """A frame that a copy in quarantine may touch is `QUARANTINED` or still written back.

    And no other frame is `QUARANTINED`: that would be lost for good.
    """
    for number, frame in enumerate(view.frames):
        copy = view.orphaned.get(number)
        if copy is None:
            if frame.phase == QUARANTINED:
                return f"frame {number} is QUARANTINED and no copy in quarantine has it"
        elif frame.phase != QUARANTINED and (copy.kind == "fill" or frame.phase != WRITING_BACK):
            return (
                f"frame {number} is {Phase(frame.phase).name}, and the {copy.kind} with ticket "
                f"{copy.ticket} in quarantine may still touch it"
            )
    return None


@state_rule(
    seen="C02, C03",
    broken=lambda: (
        ex.view(
            (ex.frame(phase=QUARANTINED),),
            quarantine=(ex.orphan(ex.filling(5, 0), 0),),
        ),
        ex.ledger(),
    ),
)
def touched_pages_wait(view: View, ledger: Ledger) -> str | None:
    """A page that nobody holds is retired exactly while a copy in quarantine may touch it."""
    touched = view.touched
    if not touched and not view.retired:
        return None
    for page in view.free:
        if page in touched:
            return f"page {page} is free, and a copy in quarantine may still touch its host page"
    for page in view.retired:
        if page not in touched:
            return f"page {page} is retired, and no copy in quarantine can touch it"
        if page in view.holders:
            return f"page {page} is retired, and leases {view.holders[page]} hold it"
    return None


@state_rule(
    seen="C08, C23",
    broken=lambda: (ex.view((ex.frame(),), ex.lease(0), torn=(0,)), ex.ledger(lost=(0,))),
)
def lost_is_known(view: View, ledger: Ledger) -> str | None:
    """A page is lost exactly if its rows went with a lease while its host page was torn."""
    if not view.lost and not ledger.lost:
        return None
    if sorted(view.lost) != sorted(ledger.lost):
        return f"pages {list(view.lost)} are shown as lost, and {sorted(ledger.lost)} are"
    for page in view.lost:
        if page not in view.torn or page in view.mapped:
            return f"page {page} is lost, and its rows can be read or filled"
    return None


@step_rule(
    seen="C13, C23",
    calls=tuple(call for call in CALLS if call is not Fill),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, FILLING),), ex.lease(0, claims=(0,), copies=(ex.filling(5, 0),))),
        Abandon(0),
        ex.view((ex.frame(generation=1),), None),
        value=(),
    ),
)
def quarantine_by_the_book(step: Step) -> str | None:
    """Copies go into quarantine when their lease is gone or reset, and leave it as they land."""
    call, before = step.call, step.before
    due = list(before.quarantine)
    if type(call) is Abandon or type(call) is Reset:
        for lease_id, lease in before.leases.items():
            if type(call) is Reset or lease_id == step.lease:
                due += [
                    OrphanView(c.ticket, c.kind, c.frames, _pages(before, c)) for c in lease.copies
                ]
    elif type(call) is Land:
        due = [copy for copy in due if copy.ticket != call.ticket]
    elif step.after.quarantine == before.quarantine:
        return None
    if sorted(step.after.quarantine, key=_ticket) != sorted(due, key=_ticket):
        return f"{call} left {list(step.after.quarantine)} in quarantine, and {due} was due"
    return None


def _pages(view: View, copy: CopyView) -> tuple[Page, ...]:
    """Return the pages that the frames of a copy map; -1 for a frame that maps nothing."""
    pages = (view.frames[number].page for number in copy.frames)
    return tuple(-1 if page is None else page for page in pages)


def _ticket(copy: OrphanView) -> Ticket:
    return copy.ticket


@step_rule(
    seen="C08, C23",
    calls=(Abandon, Reset, CompleteFill),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, dirty=True),), ex.lease(0, pins=(0,)), ex.lease(borrowed=(0,))),
        Abandon(0),
        ex.view((ex.frame(generation=1),), None, ex.lease(borrowed=(0,))),
        value=(),
    ),
)
def gone_rows_are_told(step: Step) -> str | None:
    """Who ends a lease, or a reset, is told every live page whose unpublished rows went with it."""
    gone = tuple(page for page in gone_by(step) if page in step.after.holders)
    told = step.outcome.value
    if type(step.call) is CompleteFill:
        due = gone or None if step.outcome.failed else None
    else:
        due = gone
    return None if told == due else f"{step.call} returned {told}, and {due} was due"


@step_rule(
    seen="C23; sleep and wake",
    calls=(Reset,),
    broken=lambda: ex.step(ex.view((ex.frame(0),), ex.lease(0)), Reset(), value=()),
)
def reset_drops_all(step: Step) -> str | None:
    """After a reset nothing is resident, pinned, claimed or dirty, and no lease has a copy."""
    after = step.after
    for number, frame in enumerate(after.frames):
        if frame.dirty or (frame.page is not None and not after.off):
            return f"after a reset frame {number} maps page {frame.page}"
    for lease_id, lease in after.leases.items():
        if lease.pins or lease.claims or lease.copies:
            return f"after a reset lease {lease_id} has {lease}"
    return None


@step_rule(
    seen="C10",
    calls=(Fill,),
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view(
            (ex.frame(phase=QUARANTINED),),
            ex.lease(1),
            quarantine=(ex.orphan(ex.filling(5, 0), 0),),
            retired=(0,),
        ),
        Fill(0, (1,)),
        refused="FramesLanding",
        fields=(("misses", 1), ("available", 0), ("landing", 1)),
    ),
    derived="from refusal-is-due and room-for-every-promise; it stays because it is what a lease "
    "asks of others that leave",
)
def leaving_starves_nobody(step: Step) -> str | None:
    """No fill waits for a frame in quarantine, unless a reset put it there."""
    refused = step.outcome.refused
    if refused is None or refused.name != "FramesLanding" or step.ledger.uncovered:
        return None
    return f"{step.call} must wait for {dict(refused.fields)}, and there was no reset"
