"""Goals: what a good search must reach at least once ("sometimes").

A rule that is never tested where it matters holds for nothing. A goal is one function marked with
`goal`; it says of a step whether the interesting thing happened in it. The first docstring line
is what a report prints.
"""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import TypeVar

from properties.step import Step
from reference.calls import (
    CALLS,
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    Fill,
    Find,
    Finish,
    Land,
    MarkDirty,
    Publish,
    Read,
    Release,
    Reset,
    Truncate,
    Unpin,
    WriteBack,
)
from reference.words import Phase

Reached = TypeVar("Reached", bound=Callable[[Step], bool])


@dataclass(frozen=True)
class Goal:
    """One thing a good search reaches."""

    id: str
    """The name of its function, with hyphens."""
    sentence: str
    """What was reached."""
    reached: Callable[[Step], bool]
    """Whether a step reaches it."""
    calls: tuple[type[Call], ...]
    """The calls that can."""
    after: type[Call] | None
    """An operation without which the calls cannot reach it."""
    needs: str
    """What a scope must have for it, for people; empty if every scope has it."""


_FOUND: list[Goal] = []


def goal(
    calls: Iterable[type[Call]] = CALLS, needs: str = "", after: type[Call] | None = None
) -> Callable[[Reached], Reached]:
    """Mark `(step) -> bool` as a goal."""

    def mark(reached: Reached) -> Reached:
        sentence = (reached.__doc__ or "").partition("\n")[0]
        name = reached.__name__.replace("_", "-")
        _FOUND.append(Goal(name, sentence, reached, tuple(calls), after, needs))
        return reached

    return mark


def all_goals(operations: Container[type[Call]] = CALLS) -> tuple[Goal, ...]:
    """Return every goal that these operations may reach, sorted by id."""
    found = [
        goal
        for goal in _FOUND
        if any(call in operations for call in goal.calls)
        and (goal.after is None or goal.after in operations)
    ]
    return tuple(sorted(found, key=lambda goal: goal.id))


@goal([Fill], needs="wide")
def fill_with_hit_and_eviction(step: Step) -> bool:
    """One fill had a hit and evicted another page for a miss."""
    return bool(step.unmapped) and any(page in step.before.mapped for page in _asked(step))


@goal([Fill], needs="victims")
def evicted_a_page_that_was_written(step: Step) -> bool:
    """A page whose rows were written in this life was evicted."""
    return any(any(step.ledger.latest.get(page, ())) for page in step.unmapped)


@goal([Fill], needs="victims")
def failed_after_evicting(step: Step) -> bool:
    """A fill failed after it had evicted a page."""
    return step.outcome.failed and bool(step.unmapped)


@goal([CompleteFill], needs="two misses")
def several_misses_undone(step: Step) -> bool:
    """A fill of several misses failed in its copies."""
    return step.outcome.failed and len(step.unmapped) > 1


@goal([Fill, CompleteFill], needs="two misses")
def failed_with_a_hit(step: Step) -> bool:
    """A fill with a hit and a miss failed."""
    if not step.outcome.failed:
        return False
    pages = _asked(step)
    if isinstance(step.call, CompleteFill):
        pages = step.before.leases[step.call.lease].claims
    return 0 < sum(page in step.after.mapped for page in pages) < len(pages)


@goal([Fill])
def hit_while_written_back(step: Step) -> bool:
    """A fill hit a page whose frame was being written back."""
    frames = [step.before.frame_of(page) for page in _asked(step)]
    return any(f is not None and f.phase == Phase.WRITING_BACK for f in frames)


@goal([Read, MarkDirty, WriteBack, Unpin], needs="leases")
def two_leases_pin_one_page(step: Step) -> bool:
    """A page was used while two leases pinned it."""
    return any(len(leases) > 1 for leases in step.before.pinned.values())


@goal([Fill], needs="leases")
def two_fills_in_flight(step: Step) -> bool:
    """Two leases had fills in flight at once."""
    return sum(bool(lease.claims) for lease in step.after.leases.values()) > 1


@goal([Release, Finish], needs="leases")
def allocator_left_first(step: Step) -> bool:
    """A page outlived the lease that allocated it."""
    lease = step.before.leases[step.call.lease]  # type: ignore[union-attr]
    return any(page not in step.after.free for page in lease.table if page in step.ledger.latest)


@goal([WriteBack])
def write_back_after_a_failed_one(step: Step) -> bool:
    """A write-back of a torn page was started again after one had failed."""
    handle = step.call.handle  # type: ignore[union-attr]
    return step.outcome.value is not None and handle.page in step.before.torn


@goal([Alloc])
def page_lived_again(step: Step) -> bool:
    """A page id began another life after an earlier one had written to it."""
    return step.outcome.value in step.ledger.past


@goal([Finish], needs="leases")
def finished_under_another_fill(step: Step) -> bool:
    """A lease finished while another had a fill in flight."""
    return any(lease.claims for lease in step.after.leases.values())


@goal([Read])
def read_while_written_back(step: Step) -> bool:
    """A row was read while its frame was being written back."""
    frame = step.before.frames[step.call.handle.frame]  # type: ignore[union-attr]
    return frame.phase == Phase.WRITING_BACK


@goal([Read])
def read_what_was_written(step: Step) -> bool:
    """A read returned a value that was written."""
    return step.outcome.value != 0


# -------------------------------------------------------------------- leaving and taking back


@goal([Abandon], needs="abandon")
def abandoned_before_its_first_pin(step: Step) -> bool:
    """A lease with pages and nothing in any frame was abandoned."""
    lease = step.before.leases[step.call.lease]  # type: ignore[union-attr]
    return bool(lease.table) and not lease.pins and not lease.claims


@goal([Abandon], needs="abandon")
def abandoned_during_a_fill(step: Step) -> bool:
    """A lease was abandoned with a fill in flight."""
    return bool(step.before.leases[step.call.lease].claims)  # type: ignore[union-attr]


@goal([Abandon], needs="abandon")
def abandoned_during_a_write_back(step: Step) -> bool:
    """A lease was abandoned with a write-back in flight."""
    copies = step.before.leases[step.call.lease].copies  # type: ignore[union-attr]
    return any(copy.kind == "write-back" for copy in copies)


@goal([Abandon], needs="abandon, leases")
def heir_keeps_dirty_rows(step: Step) -> bool:
    """A dirty page of a lease that was abandoned stayed with another that uses it."""
    pins = step.before.leases[step.call.lease].pins  # type: ignore[union-attr]
    frames = [step.after.frame_of(page) for page in pins]
    return any(frame is not None and frame.dirty for frame in frames)


@goal([Abandon], needs="abandon, leases")
def unpublished_rows_went(step: Step) -> bool:
    """A page outlived the lease that wrote it, and what was not published is gone."""
    return bool(step.outcome.value)


@goal([CompleteFill], needs="abandon, two misses", after=Abandon)
def heir_failed_too(step: Step) -> bool:
    """A fill failed whose claim alone had kept the dirty rows of a lease that was abandoned."""
    return bool(step.outcome.failed and step.outcome.value)


@goal([Land], needs="quarantine")
def retired_page_came_back(step: Step) -> bool:
    """A page whose life had ended under a copy became free as the copy landed."""
    return len(step.after.retired) < len(step.before.retired)


@goal([Land], needs="quarantine, leases")
def landed_for_another(step: Step) -> bool:
    """A write-back whose lease was gone landed for one that still pins the page."""
    copies = step.before.orphaned.items()
    ticket = step.call.ticket  # type: ignore[union-attr]
    own = [number for number, copy in copies if copy.ticket == ticket]
    return any(step.before.frames[number].page is not None for number in own)


@goal([Reset], needs="reset")
def reset_during_a_copy(step: Step) -> bool:
    """Residency was reset with a copy in flight."""
    return any(lease.copies for lease in step.before.leases.values())


@goal([Truncate], needs="truncate")
def published_rows_taken_back(step: Step) -> bool:
    """Rows that a host page had already were taken back."""
    return step.before.host != step.after.host and not step.before.lost


@goal([Truncate], needs="truncate, abandon", after=Abandon)
def lost_page_used_again(step: Step) -> bool:
    """A page whose rows were lost was truncated to nothing, and can be used again."""
    return len(step.after.lost) < len(step.before.lost)


@goal([Find], needs="keys, leases")
def found_what_another_published(step: Step) -> bool:
    """A lease found a page by its key that it did not hold."""
    lease = step.before.leases[step.call.lease]  # type: ignore[union-attr]
    page = step.outcome.value
    return page is not None and page not in lease.table + lease.borrowed


@goal([MarkDirty, Truncate], needs="keys", after=Publish)
def changed_page_lost_its_key(step: Step) -> bool:
    """A page that a key named was written to, or truncated, and cannot be found any more."""
    return len(step.after.keys) < len(step.before.keys)


def _asked(step: Step) -> tuple[int, ...]:
    return step.call.pages if isinstance(step.call, Fill) else ()
