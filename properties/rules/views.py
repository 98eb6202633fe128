"""Rules of what callers see: refusals, reads, looks and counters.

Not here: what the calls do to pages, pins and frames.
"""

from properties.registry import step_rule
from properties.rules import examples as ex
from properties.rules.rows import dirty_pins, first_due
from properties.step import Step
from properties.view import CountersView
from reference.calls import (
    Alloc,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Finish,
    Land,
    Lookup,
    Read,
    Release,
    WriteBack,
)
from reference.words import FrameNumber, Page, Plan


@step_rule(
    seen="C15",
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease(0)),
        Release(0, 1),
        ex.view((ex.frame(),), ex.lease()),
        refused="NotHeld",
    ),
)
def refusal_changes_nothing(step: Step) -> str | None:
    """A refused call leaves the view as it was."""
    before, after = step.before, step.after
    if after is before or after == before:
        return None
    return f"{step.call} was refused and changed {_difference(step)}"


def _difference(step: Step) -> str:
    """Return the fields of the view that changed, with their values."""
    found = []
    for name in step.before.__struct_fields__:
        old, new = getattr(step.before, name), getattr(step.after, name)
        if old != new:
            found.append(f"{name} from {old} to {new}")
    return "; ".join(found)


@step_rule(
    seen="C10, needless refusals",
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))), Release(0, 0), refused="NotHeld"
    ),
)
def refusal_is_due(step: Step) -> str | None:
    """A refusal's condition held before the call, and none earlier in its row did."""
    refused = step.outcome.refused
    due = first_due(step.before, step.ledger, step.call)
    if refused is None or due == refused.name:
        return None
    return f"{step.call} was refused with {refused.name}, and {due or 'no refusal'} was due"


@step_rule(
    seen="all",
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))),
        Release(0, 0),
        ex.view((ex.frame(0),), ex.lease(pins=(0,))),
    ),
)
def success_is_allowed(step: Step) -> str | None:
    """A call that succeeds meets no refusal of its row."""
    due = first_due(step.before, step.ledger, step.call)
    return None if due is None else f"{step.call} was not refused, and {due} was due"


@step_rule(
    seen="review 2, C23",
    calls=(Finish,),
    endings=("refused",),
    broken=lambda: ex.step(
        ex.view(
            (ex.frame(0, dirty=True), ex.frame(1, dirty=True)),
            ex.lease(0, borrowed=(1,), promise=2, pins=(0, 1)),
            ex.lease(1),
        ),
        Finish(0),
        refused="DirtyFrame",
        fields=(("lease", 0), ("pages", (0,))),
    ),
)
def finish_names_all(step: Step) -> str | None:
    """A `DirtyFrame` of `finish` names exactly the dirty pages the lease pins."""
    call: Finish = step.call  # type: ignore[assignment]
    refused, lease = step.outcome.refused, step.before.leases.get(call.lease)
    if refused is None or refused.name != "DirtyFrame" or lease is None:
        return None
    named = dict(refused.fields).get("pages")
    dirty = sorted(dirty_pins(step.before, lease))
    if isinstance(named, tuple | list) and sorted(named) == dirty:
        return None
    return f"lease {call.lease} pins dirty pages {dirty}, and the refusal names {named}"


@step_rule(
    seen="all of it",
    calls=(Read,),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))),
        Read(0, ex.handle(0), 0),
        value=3,
        knew=ex.ledger({0: (4,)}),
    ),
)
def read_sees_last_write(step: Step) -> str | None:
    """A read returns the last value written to that row in this life of the page, zero if none."""
    call: Read = step.call  # type: ignore[assignment]
    rows = step.ledger.latest.get(call.handle.page)
    if rows is None or not 0 <= call.row < len(rows) or step.outcome.value == rows[call.row]:
        return None
    return f"{call} returned {step.outcome.value}, last written was {rows[call.row]}"


@step_rule(
    seen="C15",
    calls=(Read, Alloc),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease()),
        Alloc(0),
        ex.view((ex.frame(),), ex.lease(0), host={0: (4,)}),
        value=0,
    ),
    derived="from read-sees-last-write, latest-rows-survive, clean-equals-host and "
    "resident-page-is-live; it stays because it is what tenants ask first",
)
def fresh_page_reads_zero(step: Step) -> str | None:
    """Nothing of an earlier life of a page id can be read."""
    call: Read | Alloc = step.call  # type: ignore[assignment]
    if type(call) is Read:
        rows = step.ledger.latest.get(call.handle.page)
        if rows is None or not 0 <= call.row < len(rows) or rows[call.row] != 0:
            return None
        value = step.outcome.value
        return None if value == 0 else f"{call} returned {value} from a row not yet written"
    page: Page = step.outcome.value  # type: ignore[assignment]
    host = step.after.host.get(page)
    if host is None or any(host):
        return f"the new page {page} has host rows {host}"
    frame = step.after.frame_of(page)
    if frame is None:
        return None
    if not step.after.off:
        return f"the new page {page} is in frame {step.after.mapped[page]} before any fill"
    return f"the new page {page} has rows {frame.rows}" if any(frame.rows or ()) else None


@step_rule(
    seen="C14, C24",
    calls=(Lookup, Read),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0)),
        Lookup(0, 0),
        ex.view((ex.frame(0),), ex.lease(0, pins=(0,))),
        value=ex.handle(0),
    ),
)
def looking_changes_nothing(step: Step) -> str | None:
    """A lookup, a read, a view and a digest change nothing, recency included."""
    before, after = step.before, step.after
    if after is before or after == before:
        return None
    return f"{step.call} changed {_difference(step)}"


@step_rule(
    seen="C14",
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0)),
        Fill(0, ()),
        ex.view((ex.frame(0),), ex.lease(0), counters=(1, 0, 0, 0, 0, 0)),
        value=Plan(None, (), ()),
    ),
)
def counters_add_up(step: Step) -> str | None:
    """Every counter moves by exactly what the call did."""
    old, moved = step.before.counters, _moves(step)
    expected = old if moved is None else _add(old, *moved)
    if step.after.counters == expected:
        return None
    return f"{step.call} left {step.after.counters}, not {expected}"


def _moves(step: Step) -> tuple[int, int, int, int, int, int] | None:
    """Return how far the call moves each counter, none if it moves no counter."""
    call, failed = step.call, step.outcome.failed
    if type(call) is Fill:
        before, after = step.before.mapped, step.after.mapped
        hits = evicted = 0
        for page in call.pages:
            hits += page in before
        for page in before:
            evicted += page not in after and page not in call.pages
        return (hits, len(call.pages) - hits, evicted, int(failed), 0, 0)
    if type(call) is CompleteFill:
        return (0, 0, 0, 1, 0, 0) if failed else None
    if type(call) is CompleteWriteBack:
        return (0, 0, 0, 0, 0, 1) if failed else (0, 0, 0, 0, 1, 0)
    if type(call) is Land:
        landed = step.before.orphaned.items()
        used = [n for n, copy in landed if copy.ticket == call.ticket and _is_used(step, n)]
        return (0, 0, 0, 0, len(used) * (not failed), len(used) * failed)
    if type(call) is WriteBack and step.before.off:
        frame = step.before.frame_of(call.handle.page)
        return (0, 0, 0, 0, 1, 0) if frame is not None and frame.dirty else None
    return None


def _is_used(step: Step, number: FrameNumber) -> bool:
    """Return whether somebody still uses the frame of a write-back in quarantine."""
    return step.before.frames[number].page is not None


def _add(
    counters: CountersView,
    hits: int,
    misses: int,
    evictions: int,
    failed_fills: int,
    write_backs: int,
    failed_write_backs: int,
) -> CountersView:
    return CountersView(
        counters.hits + hits,
        counters.misses + misses,
        counters.evictions + evictions,
        counters.failed_fills + failed_fills,
        counters.write_backs + write_backs,
        counters.failed_write_backs + failed_write_backs,
    )
