"""Rules of residency and of the pool: which frame maps which page, and who holds it.

Not here: what pins and promises ask of a frame (`pins`), and which victims a fill may take
(`fills`).
"""

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.rules.rows import gone_by
from properties.step import Step
from properties.view import View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    Fill,
    Finish,
    Land,
    Release,
    Reset,
)
from reference.words import Page, Phase, Plan

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


@state_rule(
    seen="C16",
    broken=lambda: (ex.view((ex.frame(2), ex.frame(2)), ex.lease(2)), ex.ledger()),
)
def one_frame_per_page(view: View, ledger: Ledger) -> str | None:
    """No two frames map the same page, and the page-to-frame map and the frames agree."""
    where, frames = view.where, view.frames
    for number, frame in enumerate(frames):
        page = frame.page
        if page is None:
            continue
        if not 0 <= page < len(where):
            return f"frame {number} maps page {page}, which is no page"
        # The map names one frame for a page, so if every frame is in it no two share a page.
        if where[page] != number:
            mapping = [n for n, other in enumerate(frames) if other.page == page]
            if len(mapping) > 1:
                return f"page {page} is mapped by frames {' and '.join(map(str, mapping))}"
            return f"frame {number} maps page {page}, and the map says {where[page]}"
    for page, mapped in enumerate(where):
        if mapped is not None and (not 0 <= mapped < len(frames) or frames[mapped].page != page):
            return f"the map says that frame {mapped} maps page {page}, and it does not"
    return None


@state_rule(
    seen="C05",
    broken=lambda: (ex.view((ex.frame(0, FREE),), ex.lease(0)), ex.ledger()),
)
def free_iff_unmapped(view: View, ledger: Ledger) -> str | None:
    """A frame is `FREE`, or in quarantine, exactly when it maps nothing."""
    for number, frame in enumerate(view.frames):
        if (frame.phase in (FREE, QUARANTINED)) is not (frame.page is None):
            page = "nothing" if frame.page is None else f"page {frame.page}"
            return f"frame {number} is {Phase(frame.phase).name} and maps {page}"
    return None


@state_rule(seen="C15, hook", broken=lambda: (ex.view((ex.frame(0),)), ex.ledger()))
def resident_page_is_live(view: View, ledger: Ledger) -> str | None:
    """A frame maps only a page in its life."""
    holders = view.holders
    for number, frame in enumerate(view.frames):
        if frame.page is not None and frame.page not in holders:
            return f"frame {number} maps page {frame.page}, which nobody holds"
    return None


@state_rule(
    seen="C06",
    broken=lambda: (ex.view((ex.frame(),), ex.lease(0), free=(0, 1, 2)), ex.ledger()),
)
def pages_are_partitioned(view: View, ledger: Ledger) -> str | None:
    """Every page id is free or held, never both, never neither.

    A page whose life ended is retired while a copy may touch it; that counts as free.
    """
    free, holders = frozenset(view.free + view.retired), view.holders
    for page in range(view.shape.pages):
        if (page in free) is (page in holders):
            who = f"held by leases {holders[page]}" if page in holders else "held by nobody"
            return f"page {page} is {'free' if page in free else 'not free'} and {who}"
    if len(view.free) + len(view.retired) + len(holders) != view.shape.pages:
        held, out = sorted(holders), view.free + view.retired
        return f"free {out} and held {held} are not {view.shape.pages} pages once each"
    return None


@state_rule(
    seen="C05, C06",
    broken=lambda: (
        ex.view((ex.frame(),) * 2, ex.lease(0), ex.lease(borrowed=(0,)), holds=(1, 0, 0)),
        ex.ledger(),
    ),
)
def hold_count(view: View, ledger: Ledger) -> str | None:
    """The pool's count for a page is the number of open leases that hold it."""
    holders = view.holders
    for page, count in enumerate(view.holds):
        leases = holders.get(page, ())
        if count != len(leases):
            return f"the pool counts {count} holds of page {page}, leases {list(leases)} hold it"
        if count > 1 and len(set(leases)) != count:
            return f"of leases {list(leases)}, one holds page {page} twice"
    return None


@step_rule(
    seen="C07",
    broken=lambda: ex.step(
        ex.view((ex.frame(0, generation=4),), ex.lease(0)),
        Release(0, 0),
        ex.view((ex.frame(generation=4),), ex.lease()),
    ),
)
def generation_moves_on(step: Step) -> str | None:
    """A frame's generation moves on when it loses its page, never falls, and else stays.

    A `FREE` frame keeps its generation too, but a failed fill may have mapped it and been undone.
    """
    after = step.after.frames
    for number, old in enumerate(step.before.frames):
        new = after[number]
        if new.generation == old.generation:
            if old.page is not None and new.page != old.page:
                return (
                    f"frame {number} lost page {old.page} for {new.page} "
                    f"and keeps generation {old.generation}"
                )
        elif new.generation < old.generation:
            return f"the generation of frame {number} fell: {old.generation}, {new.generation}"
        elif new.page == old.page and old.page is not None:
            return (
                f"frame {number} keeps page {old.page} and its generation moved "
                f"from {old.generation} to {new.generation}"
            )
        elif old.page is None and not (
            new.page is None and step.outcome.failed and type(step.call) is Fill
        ):
            return (
                f"frame {number} mapped nothing to lose and its generation moved "
                f"from {old.generation} to {new.generation}"
            )
    return None


@step_rule(
    seen="C15",
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, 1)),
        Alloc(0),
        ex.view((ex.frame(generation=1),), ex.lease(0, 1, 2)),
        value=2,
    ),
)
def maps_change_only_by_rule(step: Step) -> str | None:
    """Pages are mapped only by a fill, unmapped only by a fill in need, an undo or their end."""
    after = step.after.frames
    unmapped = 0
    for number, old in enumerate(step.before.frames):
        page = after[number].page
        if page == old.page:
            continue
        if page is not None and not _may_map(step, page):
            return f"{_name(step)} mapped page {page} into frame {number}"
        if old.page is not None:
            unmapped += 1
            if not _may_unmap(step, old.page, unmapped):
                return f"{_name(step)} unmapped page {old.page} from frame {number}"
    return None


def _may_map(step: Step, page: Page) -> bool:
    """Return whether the call is one that maps this page."""
    call: Call = step.call
    if type(call) is Fill:
        return page in call.pages and not step.outcome.failed
    return type(call) is Alloc and step.before.off and page == step.outcome.value


def _may_unmap(step: Step, page: Page, count: int) -> bool:
    """Return whether the call may unmap this page as its `count`th."""
    call, before = step.call, step.before
    if type(call) is Fill:
        misses = sum(asked not in before.mapped for asked in call.pages)
        return count <= misses - len(before.free_frames)
    if type(call) is CompleteFill:
        issued = step.ledger.plans.get(call.ticket)
        if not step.outcome.failed or issued is None:
            return False
        return page in issued.misses or page in gone_by(step)
    if type(call) is Abandon:
        own = before.leases.get(call.lease)
        filled = own is not None and page in own.claims and _is_filling(before, page)
        return filled or page in gone_by(step) or page not in step.after.holders
    if type(call) is Reset:
        return not before.off
    if type(call) is not Release and type(call) is not Finish:
        return False
    return page in step.after.free or page in step.after.retired


def _is_filling(view: View, page: Page) -> bool:
    frame = view.frame_of(page)
    return frame is not None and frame.phase == FILLING


def _name(step: Step) -> str:
    how = " that failed" if step.outcome.failed else ""
    return f"{step.call}{how}"


@step_rule(
    seen="C12",
    calls=(Fill, CompleteFill, Release, Finish, Abandon, Reset, Land),
    broken=lambda: ex.step(
        ex.view((ex.frame(0),), ex.lease(0, 1), host={0: (7,)}),
        Fill(0, (1,)),
        ex.view(
            (ex.frame(1, FILLING, generation=1),),
            ex.lease(0, 1, claims=(1,), copies=(ex.filling(5, 0),)),
            counters=(0, 1, 1, 0, 0, 0),
        ),
        value=Plan(5, (ex.handle(1, generation=1),), (1,)),
    ),
)
def eviction_keeps_host(step: Step) -> str | None:
    """Unmapping changes no host row of a live page."""
    old, new = step.before.host, step.after.host
    if old == new or not step.unmapped:
        return None
    for page, rows in old.items():
        if page in new and new[page] != rows:
            return (
                f"{_name(step)} unmapped pages {step.unmapped}, "
                f"and host page {page} went from {rows} to {new[page]}"
            )
    return None


@step_rule(
    seen="C23",
    calls=(Finish, Abandon),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease(0, borrowed=(1,)), ex.lease(1)),
        Finish(0),
        ex.view((ex.frame(),), None, ex.lease(1), holds=(0, 2, 0)),
    ),
)
def finish_leaves_nothing(step: Step) -> str | None:
    """A lease that ended has no pin, claim, hold, promise or copy in flight anywhere.

    Copies in quarantine are nobody's.
    """
    call: Finish | Abandon = step.call  # type: ignore[assignment]
    before, after = step.before, step.after
    if call.lease in after.leases:
        return f"lease {call.lease} finished and is still open"
    lease = before.leases.get(call.lease)
    if lease is None:
        return None
    for page in (*lease.table, *lease.borrowed):
        others = len(before.holders[page]) - 1
        if 0 <= page < len(after.holds) and after.holds[page] != others:
            return f"page {page} counts {after.holds[page]} holds, {others} leases are left"
        if others == 0 and page not in after.free + after.retired:
            return f"page {page} was held by lease {call.lease} alone and is not free"
        if others == 0 and page in after.mapped:
            return f"frame {after.mapped[page]} still maps page {page} of lease {call.lease} alone"
    for number, frame in enumerate(after.frames):
        if frame.phase in (FILLING, WRITING_BACK) and not _is_owned(after, number):
            return f"frame {number} is in flight for no lease after lease {call.lease} finished"
    return None


def _is_owned(view: View, number: int) -> bool:
    """Return whether a copy in flight of an open lease, or in quarantine, has this frame."""
    copies = [copy for lease in view.leases.values() for copy in lease.copies]
    return number in view.orphaned or any(number in copy.frames for copy in copies)


@state_rule(
    seen="review (off by default)",
    broken=lambda: (ex.view((ex.frame(),), ex.lease(0), pages=1, off=True), ex.ledger()),
)
def off_keeps_all_resident(view: View, _ledger: Ledger) -> str | None:
    """With the tier off every live page is resident, from its allocation on."""
    if not view.off:
        return None
    for page in view.holders:
        frame = view.frame_of(page)
        if frame is None or frame.phase != READY:
            return f"the tier is off and page {page} is in {frame or 'no frame'}"
    return None
