"""Rules of dirt: what is newer where, and that nothing written is ever lost.

Not here: who may write (`pins`), and what a read returns (`views`).
"""

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.rules.rows import gone_by, has_copy
from properties.step import Step
from properties.view import View
from reference.calls import CompleteWriteBack, Finish, Land, MarkDirty, Unpin, Write, WriteBack
from reference.words import FrameNumber, Page, Phase

FREE, FILLING, READY, WRITING_BACK, QUARANTINED = Phase


@state_rule(
    seen="review 2, C25",
    broken=lambda: (ex.view((ex.frame(0, dirty=True),), ex.lease(0)), ex.ledger()),
)
def dirty_is_pinned(view: View, ledger: Ledger) -> str | None:
    """A dirty frame is pinned, or claimed where the lease that pinned it was abandoned."""
    for number, frame in enumerate(view.frames):
        if frame.dirty and frame.page not in view.pinned:
            # Callers know whether anybody ever went: without that a claim is not enough.
            if frame.page in view.claimed and ledger.left:
                continue
            return f"frame {number} with page {frame.page} is dirty and nobody pins the page"
    return None


@state_rule(
    seen="C09",
    broken=lambda: (ex.view((ex.frame(0),), ex.lease(0, pins=(0,)), torn=(0,)), ex.ledger()),
)
def torn_is_dirty(view: View, ledger: Ledger) -> str | None:
    """A torn host page is resident and dirty, or its rows were lost with a lease."""
    for page in view.torn:
        if page in ledger.lost:
            continue
        frame = view.frame_of(page)
        if frame is None:
            return f"host page {page} is torn and no frame maps page {page}"
        if not frame.dirty:
            return f"host page {page} is torn and frame {view.mapped[page]} is clean"
    return None


@state_rule(
    seen="review 1, C01",
    broken=lambda: (
        ex.view((ex.frame(0, rows=(3,)),), ex.lease(0), host={0: (4,)}),
        ex.ledger({0: (4,)}),
    ),
)
def clean_equals_host(view: View, ledger: Ledger) -> str | None:
    """A clean `READY` frame holds exactly its host page's rows."""
    host = view.host
    for number, frame in enumerate(view.frames):
        if frame.phase == READY and not frame.dirty:
            # A page without host rows to compare is torn or not live: other rules speak of it.
            rows = host.get(frame.page)  # type: ignore[arg-type]
            if rows is not None and frame.rows != rows:
                return (
                    f"frame {number} is clean with rows {frame.rows} "
                    f"and host page {frame.page} has {rows}"
                )
    return None


@state_rule(
    seen="C08, C09",
    broken=lambda: (ex.view((ex.frame(),), ex.lease(0), host={0: (0,)}), ex.ledger({0: (4,)})),
)
def latest_rows_survive(view: View, ledger: Ledger) -> str | None:
    """For every live page the last rows are in its frame if dirty, else in its host page."""
    mapped, host = view.mapped, view.host
    for page, latest in ledger.latest.items():
        number = mapped.get(page)
        if number is not None and view.frames[number].dirty:
            if view.frames[number].rows != latest:
                rows = view.frames[number].rows
                return f"page {page} was last written {latest}, its frame {number} holds {rows}"
        elif host.get(page) != latest:
            return f"page {page} was last written {latest}, its host page holds {host.get(page)}"
    return None


@step_rule(
    seen="C03, C08",
    calls=(Write, MarkDirty),
    broken=lambda: ex.step(
        ex.view(
            (ex.frame(0, WRITING_BACK, dirty=True),),
            ex.lease(0, pins=(0,), copies=(ex.writing(5, 0),)),
            torn=(0,),
        ),
        Write(0, ex.handle(0), 0, 9),
    ),
)
def no_write_in_flight(step: Step) -> str | None:
    """No write or mark succeeds while a copy of the frame is in flight."""
    call: Write | MarkDirty = step.call  # type: ignore[assignment]
    number, frames = call.handle.frame, step.before.frames
    if 0 <= number < len(frames) and frames[number].phase != READY:
        return f"{call} succeeded while frame {number} was {Phase(frames[number].phase).name}"
    return None


@step_rule(
    seen="C08, C09",
    broken=lambda: ex.step(
        ex.view((ex.frame(0, dirty=True, rows=(4,)),), ex.lease(0, pins=(0,))),
        WriteBack(0, ex.handle(0)),
        ex.view((ex.frame(0, rows=(4,)),), ex.lease(0, pins=(0,))),
    ),
)
def write_back_publishes(step: Step) -> str | None:
    """A write-back makes host and frame equal and the frame clean, at landing and not before.

    With the tier off it lands at once.
    """
    call = step.call
    landed: tuple[FrameNumber, ...] = ()
    if type(call) is CompleteWriteBack:
        if call.ok and not step.outcome.failed:
            landed = _copied(step, call)
    elif type(call) is Land:
        if call.ok and not step.outcome.failed:
            landed = _landed(step, call)
    elif type(call) is WriteBack and step.before.off:
        landed = (call.handle.frame,)
    elif type(call) is WriteBack and step.outcome.value is not None:
        page = call.handle.page
        if page not in step.after.torn:
            return f"a write-back of page {page} started and its host page is not torn"
    after = step.after.frames
    for number, frame in enumerate(step.before.frames):
        if not frame.dirty:
            continue
        if number in landed:
            wrong = _unpublished(step, number)
            if wrong is not None:
                return wrong
        elif frame.page in gone_by(step):
            continue
        elif not after[number].dirty and after[number].page == frame.page:
            return f"{call} made frame {number} with page {frame.page} clean"
    return None


def _landed(step: Step, call: Land) -> tuple[FrameNumber, ...]:
    """Return the frames, still in use, of the write-back in quarantine that landed."""
    before = step.before
    return tuple(
        number
        for number, copy in before.orphaned.items()
        if copy.ticket == call.ticket and before.frames[number].phase == WRITING_BACK
    )


def _unpublished(step: Step, number: FrameNumber) -> str | None:
    """Say what a write-back that landed left undone in a frame."""
    before, after = step.before.frames[number], step.after.frames[number]
    if after.page != before.page or after.phase != READY or after.dirty:
        return (
            f"a write-back of frame {number} landed and left it {Phase(after.phase).name}, "
            f"{'dirty' if after.dirty else 'clean'}, with page {after.page}"
        )
    host = step.after.host.get(before.page)  # type: ignore[arg-type]
    if not host == after.rows == before.rows:
        return (
            f"a write-back of page {before.page} landed: its frame {number} held {before.rows} "
            f"and holds {after.rows}, its host page holds {host}"
        )
    return None


def _copied(step: Step, call: CompleteWriteBack) -> tuple[FrameNumber, ...]:
    """Return the frames of the write-back that this call completed."""
    lease = step.before.leases.get(call.lease)
    if lease is not None and has_copy(lease, call.ticket, "write-back"):
        for copy in lease.copies:
            if copy.ticket == call.ticket and copy.kind == "write-back":
                return copy.frames
    return ()


@step_rule(
    seen="C09",
    calls=(CompleteWriteBack, Land),
    broken=lambda: ex.step(
        ex.view(
            (ex.frame(0, WRITING_BACK, dirty=True, rows=(4,)),),
            ex.lease(0, pins=(0,), copies=(ex.writing(5, 0),)),
            torn=(0,),
        ),
        CompleteWriteBack(0, 5, ok=False),
        ex.view(
            (ex.frame(0, dirty=True, rows=(0,)),),
            ex.lease(0, pins=(0,)),
            torn=(0,),
            counters=(0, 0, 0, 0, 0, 1),
        ),
        failed=True,
        knew=ex.ledger({0: (4,)}, tickets=(5,)),
    ),
)
def failed_write_back_loses_nothing(step: Step) -> str | None:
    """After a failed write-back the frame is dirty and keeps its rows."""
    call: CompleteWriteBack | Land = step.call  # type: ignore[assignment]
    if call.ok and not step.outcome.failed:
        return None
    copied = _landed(step, call) if isinstance(call, Land) else _copied(step, call)
    for number in copied:
        old, new = step.before.frames[number], step.after.frames[number]
        if new.page != old.page or new.phase != READY or not new.dirty:
            return (
                f"a write-back of frame {number} failed and left it {Phase(new.phase).name}, "
                f"{'dirty' if new.dirty else 'clean'}, with page {new.page}"
            )
        if new.rows != old.rows:
            return f"a write-back failed and frame {number} went from {old.rows} to {new.rows}"
        if old.page not in step.after.torn:
            return f"a write-back of page {old.page} failed and its host page is not torn"
    return None


@step_rule(
    seen="review 2, C25",
    calls=(Unpin, Finish),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, dirty=True),), ex.lease(0, pins=(0,))),
        Unpin(0, ex.handle(0)),
        ex.view((ex.frame(0, dirty=True),), ex.lease(0)),
    ),
    derived="from success-is-allowed and pins-by-the-book; it stays because it says what "
    "`DirtyFrame` is for",
)
def no_pin_leaves_dirt(step: Step) -> str | None:
    """`unpin` and `finish` never give up a lease's last pin on a dirty frame."""
    call: Unpin | Finish = step.call  # type: ignore[assignment]
    old, new = step.before.leases.get(call.lease), step.after.leases.get(call.lease)
    if old is None:
        return None
    for page in old.pins:
        if (new is None or page not in new.pins) and _is_dirty(step.before, page):
            return f"{call} gave up the last pin of lease {call.lease} on dirty page {page}"
    return None


def _is_dirty(view: View, page: Page) -> bool:
    frame = view.frame_of(page)
    return frame is not None and frame.dirty
