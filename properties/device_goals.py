"""Device goals: what only a device shows, and a good run of lockstep must reach.

The reference knows nothing of bytes that are half there. A goal here is one function marked with
`device_goal`; it says of a call, and of what was on its way before it, whether the interesting
thing happened. The first docstring line is what a report prints. Owned here: the goals, and
looking at a simulated device without landing anything. A GPU does not show what is on its way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from device.simulated import Moving
from properties.step import Step
from reference.calls import Alloc, Call, CompleteFill, CompleteWriteBack, Fill, Read, WriteBack
from reference.words import FrameNumber, Page, Phase, Ticket


class Happened(NamedTuple):
    """One call, and what was on its way before it."""

    step: Step
    """The call, as the spec sees it."""
    moving: tuple[Moving, ...]
    """What was queued, or half landed."""
    landed: frozenset[Ticket]
    """Copies in flight for the tier, whose bytes had all landed."""
    freed: frozenset[FrameNumber]
    """Frames that the call before this one made free."""
    copied: frozenset[Page]
    """Pages whose host page a copy read or wrote, in whatever life."""
    reported: bool
    """The caller said that all was well with a copy, and the device reported that it failed."""

    @property
    def is_done(self) -> bool:
        """Whether the call was not refused."""
        return self.step.outcome.refused is None


class DeviceGoal(NamedTuple):
    """One thing a good run of lockstep reaches."""

    id: str
    """The name of its function, with hyphens."""
    sentence: str
    """What was reached."""
    reached: Callable[[Happened], bool]
    """Whether a call reaches it."""


Reached: TypeAlias = Callable[[Happened], bool]

_FOUND: list[DeviceGoal] = []


def device_goal(reached: Reached) -> Reached:
    """Mark `(happened) -> bool` as a goal."""
    sentence = (reached.__doc__ or "").partition("\n")[0]
    _FOUND.append(DeviceGoal(reached.__name__.replace("_", "-"), sentence, reached))
    return reached


def all_device_goals() -> tuple[DeviceGoal, ...]:
    """Return every goal, sorted by id."""
    return tuple(sorted(_FOUND, key=lambda goal: goal.id))


# ----------------------------------------------------------------------------------- completions


@device_goal
def late_completion(happened: Happened) -> bool:
    """A copy was completed after its bytes had landed, other calls having been made since."""
    return _is_completion(happened) and _ticket(happened) in happened.landed


@device_goal
def completion_had_to_wait(happened: Happened) -> bool:
    """A copy was completed while its bytes were still on their way."""
    return _is_completion(happened) and _ticket(happened) not in happened.landed


@device_goal
def completion_of_nothing(happened: Happened) -> bool:
    """A completion came twice, or for a lease or copy that was gone."""
    step = happened.step
    is_known = _ticket(happened) in step.ledger.tickets
    return isinstance(step.call, COMPLETIONS) and is_known and not happened.is_done


@device_goal
def landed_out_of_order(happened: Happened) -> bool:
    """Of two copies in flight the younger one had landed first."""
    flying = {c.ticket for lease in happened.step.before.leases.values() for c in lease.copies}
    waiting = flying - happened.landed
    return bool(waiting and happened.landed) and max(happened.landed) > min(waiting)


@device_goal
def error_late(happened: Happened) -> bool:
    """A copy was queued, and the device reported only at its completion that it had failed."""
    return _is_completion(happened) and happened.reported and happened.step.outcome.failed


# ----------------------------------------------------------------------------------------- memory


@device_goal
def eviction_beside_a_copy(happened: Happened) -> bool:
    """A page was evicted while another copy was in flight."""
    is_flying = any(move.is_copy for move in happened.moving)
    return isinstance(happened.step.call, Fill) and bool(happened.step.unmapped) and is_flying


@device_goal
def frame_reused_at_once(happened: Happened) -> bool:
    """A fill took a frame that the call just before it had freed."""
    return bool(_taken(happened) & happened.freed)


@device_goal
def frame_taken_under_queued_work(happened: Happened) -> bool:
    """A fill took a frame that something queued was still to read or write."""
    return bool(_taken(happened) & {frame for m in happened.moving for frame in m.frames})


@device_goal
def host_page_reused(happened: Happened) -> bool:
    """A page began a new life in a host page that a copy had read or written in an earlier one."""
    value: Any = happened.step.outcome.value
    return isinstance(happened.step.call, Alloc) and happened.is_done and value in happened.copied


@device_goal
def torn_read_attempted(happened: Happened) -> bool:
    """A row was asked for while its frame was half written."""
    call = happened.step.call
    return isinstance(call, Read) and any(
        move.has_begun and move.writes_frames and call.handle.frame in move.frames
        for move in happened.moving
    )


# ----------------------------------------------------------------------------------------- errors


@device_goal
def copy_that_was_never_queued(happened: Happened) -> bool:
    """A fill or a write-back was started, and none of its copies could be queued."""
    value = happened.step.outcome.value
    ticket = getattr(value, "ticket", value)
    is_start = isinstance(happened.step.call, Fill | WriteBack) and happened.is_done
    return is_start and ticket is not None and ticket in happened.landed


@device_goal
def out_of_memory(happened: Happened) -> bool:
    """A call got no memory of the device, and changed nothing."""
    refused = happened.step.outcome.refused
    return refused is not None and refused.name == "OutOfMemory"


@device_goal
def device_lost_with_dirty_pages(happened: Happened) -> bool:
    """The device was lost while frames were newer than their host pages."""
    refused = happened.step.outcome.refused
    is_lost = refused is not None and refused.name == "DeviceLost"
    return is_lost and any(frame.dirty for frame in happened.step.before.frames)


COMPLETIONS = (CompleteFill, CompleteWriteBack)


def _is_completion(happened: Happened) -> bool:
    return isinstance(happened.step.call, COMPLETIONS) and happened.is_done


def _ticket(happened: Happened) -> Ticket | None:
    return getattr(happened.step.call, "ticket", None)


def _taken(happened: Happened) -> set[FrameNumber]:
    """Return the frames that a fill took for its misses."""
    step = happened.step
    if not isinstance(step.call, Fill) or not happened.is_done:
        return set()
    pairs = enumerate(zip(step.before.frames, step.after.frames, strict=True))
    return {
        number
        for number, (old, new) in pairs
        if new.phase == Phase.FILLING and old.page != new.page
    }


# ------------------------------------------------------------------------------------- looking on


class GoalWatcher:
    """Looks on at one device subject, and notes the goals that its calls reach."""

    def __init__(self, model: Any, reached: dict[str, int]) -> None:
        """Count in this dictionary, which other watchers may share."""
        self.model = model
        self.reached = reached
        self.open = [goal for goal in all_device_goals() if goal.id not in reached]
        self.moving: tuple[Moving, ...] = ()
        self.landed: frozenset[Ticket] = frozenset()
        self.freed: frozenset[FrameNumber] = frozenset()
        self.copied: frozenset[Page] = frozenset()

    def before(self, call: Call) -> None:
        """Look at what is on its way."""
        device = self.model.simulated
        if device is None or not self.open:
            return
        self.moving = tuple(device.get_moving())
        self.landed = self._get_landed()
        pages = {page for move in self.moving for page in move.pages}
        if not pages <= self.copied:
            self.copied |= pages

    def after(self, step: Step) -> None:
        """Note which goals the call reached."""
        if self.model.simulated is None or not self.open:
            return
        landed = self.landed
        if isinstance(step.call, Fill | WriteBack):
            landed |= self._get_failed()
        happened = Happened(
            step, self.moving, landed, self.freed, self.copied, self.model.was_told_well
        )
        for goal in self.open[:]:
            if goal.reached(happened):
                self.reached[goal.id] = self.reached.get(goal.id, 0) + 1
                self.open.remove(goal)
        pairs = enumerate(zip(step.before.frames, step.after.frames, strict=True))
        self.freed = frozenset(
            n for n, (old, new) in pairs if new.page is None and old.page is not None
        )

    def _get_landed(self) -> frozenset[Ticket]:
        leases = self.model.tier.tables.leases.values()
        flights = [flight for lease in leases for flight in lease.flights.values()]
        return frozenset(
            flight.ticket
            for flight in flights
            if all(event.landed for event in flight.queued.events)
        )

    def _get_failed(self) -> frozenset[Ticket]:
        leases = self.model.tier.tables.leases.values()
        flights = [flight for lease in leases for flight in lease.flights.values()]
        return frozenset(f.ticket for f in flights if f.queued.failed and not f.queued.events)
