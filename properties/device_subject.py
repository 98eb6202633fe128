"""The device tier as a subject: its states are the calls that lead to them.

A tier on a device holds memory that cannot be kept and taken up again, so a state here is a
path: one call after the other, each with its choice and with the picks that the device's
scheduler made. Taking a state up that is not the last one makes the calls again on a new device;
recorded picks make that exact. Owned here: that, what a driver's "the copies failed" comes to on
a simulated device, what befalls the device itself, and the view. Not owned: the tier, and who
picks.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from random import Random
from typing import Any

from device.flights import Flight
from device.layout import Layout
from device.runtime import Device, DeviceError
from device.schedule import Fitted, Moody, Pick, Recorder, Replay
from device.simulated import SimulatedDevice
from device.snapshot import LeaseSnapshot, Snapshot
from device.tier import Tier
from properties.device_errors import ERRORS, judge_error
from properties.device_look import look_at_tables
from properties.lockstep_look import Glimpse, Touched
from properties.subject import Transition
from properties.view import CopyView, CountersView, FrameView, LeaseView, OrphanView, View
from reference.calls import (
    DEFAULT,
    FAILED,
    NAMES,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Land,
    Outcome,
    Refused,
)
from reference.refusals import FillFailed, Refusal
from reference.words import Handle, Plan, Shape

ROW_BYTES, ROW_STRIDE = 27, 31
"""The rows of a simulated device if nothing is said: no multiple of anything, and padded."""

LAZINESS = (0.0, 0.5, 0.9)
"""How lazy a device's scheduler is, in turns: each shows missing waits that others do not."""

SPELL = 16
"""Calls for which it stays so."""


STRIKES = 24
"""Of so many calls four meet a fault of the device, if the device is a failing one."""

LOSSES = 8
"""Of so many losses that are picked one comes about: after it little else can happen."""


class DeviceState:
    """A state of a device tier: the calls that lead to it."""

    __slots__ = ("call", "choice", "faults", "length", "name", "parent", "picks")

    def __init__(
        self, parent: "DeviceState | None", call: Call | None, choice: Choice, name: bytes
    ) -> None:
        """Begin the state that this call with this choice leads to."""
        self.parent = parent
        """The state before the call; none for the first state."""
        self.call = call
        """The last call."""
        self.choice = choice
        """What was chosen in it."""
        self.name = name
        """A hash of the path: from it come the picks that nobody else makes."""
        self.picks: tuple[int, ...] = ()
        """What the device's scheduler picked during the call: data, which replays exactly."""
        self.faults: frozenset[str] = frozenset()
        """The errors that the device had reason to raise during the call."""
        self.length: int = 0 if parent is None else parent.length + 1
        """Calls that lead here."""


class DeviceModel:
    """A `Model` whose states are made on a device, by default a simulated one.

    `pick` makes the scheduler's choices, if somebody wants to; else they come from the seed and
    the path alone, so that the same calls give the same bytes. A `failing` device also fails in
    ways that no driver asked for, as picked. `simulate` makes another simulated device,
    `make_device` another kind of device, which must not choose anything.
    """

    errors = ERRORS

    def __init__(
        self,
        shape: Shape,
        off: bool = False,
        *,
        layout: Layout | None = None,
        seed: int = 0,
        pick: Pick | None = None,
        failing: bool = False,
        simulate: Callable[[Layout, int, int], SimulatedDevice] = SimulatedDevice,
        make_device: Callable[[Layout, Shape], Device] | None = None,
    ) -> None:
        """Make a subject of this shape."""
        self.shape = shape
        self.off = off
        self.layout = Layout(shape.rows, ROW_BYTES, ROW_STRIDE) if layout is None else layout
        self.pick = pick
        self.failing = failing
        self.simulate = simulate
        self.make_device = make_device
        self.seed = seed
        seeded = blake2b(f"{seed}".encode(), digest_size=16).digest()
        self._initial = DeviceState(None, None, DEFAULT, seeded)
        self.was_told_well = False
        """In the last call the tier was told that a copy landed, though it had failed."""
        self.last_picks: tuple[int, ...] = ()
        """What was picked during the last call, also if it broke off."""
        self._choice = DEFAULT
        self._live: DeviceState | None = None
        self.rebuilt = 0
        """How often a state was taken up by making its calls again."""
        self._begin()

    def initial(self) -> DeviceState:
        """Return the state in which nothing happened yet."""
        return self._initial

    def transitions(self, state: DeviceState, call: Call) -> list[Transition]:
        """Return what the call comes to with the tier's own choices."""
        return [self.take(state, call, DEFAULT)]

    def choices(self, state: DeviceState, call: Call) -> Iterator[Choice]:
        """Yield that the choice is left to the tier; others may be taken all the same."""
        return iter((DEFAULT,))

    def take(self, state: DeviceState, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice, or with `DEFAULT` the tier's own; return which it was."""
        return self._take(state, call, choice, None)

    def take_picked(
        self, state: DeviceState, call: Call, choice: Choice, picks: Iterable[int]
    ) -> Transition:
        """As `take`, with these picks of the scheduler, as far as there are such options."""
        return self._take(state, call, choice, Fitted(picks))

    def _take(
        self, state: DeviceState, call: Call, choice: Choice, pick: Pick | None
    ) -> Transition:
        self._take_up(state)
        name = blake2b(state.name + repr((call, choice)).encode(), digest_size=16).digest()
        after = DeviceState(state, call, choice, name)
        self._live = None  # what a call that breaks off leaves behind is no state
        outcome = self._make(after, pick or self.pick or self._get_pick(after))
        self._live = after
        return Transition(get_choice(call, choice, outcome), outcome, after)

    def tell(self, state: DeviceState, call: Call) -> Call:
        """Return the call as it must be made: a copy that failed by itself is reported so."""
        if not self.failing or not isinstance(call, CompleteFill | CompleteWriteBack | Land):
            return call
        self._take_up(state)
        flight = self._find_flight(call)
        return replace(call, ok=call.ok and (flight is None or not _is_doomed(flight)))

    def view(self, state: DeviceState) -> View:
        """Return what the state shows: the tables and the bytes that are there."""
        self._take_up(state)
        return view_of_snapshot(self.tier.snapshot())

    def look(self, state: DeviceState, touched: Touched) -> Glimpse:
        """Return what a call touched, as it is in the tables and the memory."""
        self._take_up(state)
        return look_at_tables(self.tier.tables, touched)

    def judge_error(
        self, state: DeviceState, call: Call, expected: Outcome, error: str | None
    ) -> str | None:
        """Return what is wrong with the error, or none, that the last call raised.

        `expected` is what the call comes to on a device that is well.
        """
        return judge_error(call, expected, error, state.faults)

    def close(self) -> None:
        """Give the device back; a state that is taken up after it gets another one."""
        self.tier.device.close()
        self._live = None

    def picks(self, state: DeviceState) -> list[tuple[int, ...]]:
        """Return what the scheduler picked in each call that leads to the state."""
        return [step.picks for step in get_path(state)]

    def _get_pick(self, state: DeviceState) -> Pick:
        """Return the picks of the last call of a path: of the seed and the path alone."""
        spell = Random(f"{self.seed}:{state.length // SPELL}")
        return Moody(Random(state.name), LAZINESS[spell.randrange(len(LAZINESS))])

    # ------------------------------------------------------------------------------- the device

    def _begin(self) -> None:
        """Make a new device and a tier in which nothing happened yet."""
        self.simulated: SimulatedDevice | None = None
        device: Device
        if self.make_device is None:
            device = self.simulated = self.simulate(
                self.layout, self.shape.pages, self.shape.frames
            )
        else:
            device = self.make_device(self.layout, self.shape)
        self.tier = Tier(device, self.off, lambda _call: self._choice)
        self._planted = 0
        self._live = self._initial

    def _take_up(self, state: DeviceState) -> None:
        """Bring the device into this state: by what is still to be made, or from the beginning."""
        if self._live is state:
            return
        self.rebuilt += 1
        self.tier.device.close()
        self._begin()
        for step in get_path(state):
            self._make(step, Replay(step.picks))
        self._live = state

    def _make(self, step: DeviceState, source: Pick) -> Outcome:
        """Make one call on the device with these picks, and keep them."""
        assert step.call is not None, "the first state is made by no call"
        recorder = Recorder(source)
        if self.simulated is not None:
            self.simulated.recorder = recorder
        self._choice = step.choice
        try:
            step.faults = self._get_faults()
            outcome = self._call(step.call, recorder)
            self._strike(recorder)
            return outcome
        finally:
            step.picks = self.last_picks = tuple(recorder.picks)

    def _call(self, call: Call, pick: Pick) -> Outcome:
        self.was_told_well = False
        arguments = {name: getattr(call, name) for name in call.__match_args__}
        if isinstance(call, CompleteFill | CompleteWriteBack | Land) and not call.ok:
            arguments["ok"] = self.was_told_well = self._fail(call, pick)
        try:
            value = getattr(self.tier, NAMES[type(call)])(**arguments)
        except Refusal as refusal:
            fields = tuple(vars(refusal).items())
            return Outcome(refused=Refused(type(refusal).__name__, fields))
        except FillFailed:
            return FAILED
        except DeviceError as error:
            if type(error).__name__ not in ERRORS:
                raise
            self._planted -= type(error).__name__ == "OutOfMemory"
            return Outcome(refused=Refused(type(error).__name__, tuple(vars(error).items())))
        if isinstance(call, CompleteFill | CompleteWriteBack | Land):
            gone = getattr(value, "gone", ()) or None
            return Outcome(None) if value else FAILED._replace(value=gone)
        return Outcome(_get_plain(value))

    def _fail(self, call: CompleteFill | CompleteWriteBack | Land, pick: Pick) -> bool:
        """Let a copy fail that the driver says has failed; return what the tier is told.

        It is told that all is well if the device itself will report the failure, which is
        picked, and only while the device can.
        """
        flight = self._find_flight(call)
        if flight is None or self.simulated is None or pick(2) == 0:
            return False
        if _is_doomed(flight):
            return True
        item = pick(len(flight.frames)) if len(flight.frames) > 1 else 0
        return any(self.simulated.fail_copy(event, item) for event in flight.queued.events)

    def _find_flight(self, call: CompleteFill | CompleteWriteBack | Land) -> Flight | None:
        """Return the copy in flight that a completion is about, if it is one."""
        if isinstance(call, Land):
            orphan = self.tier.tables.quarantine.get(call.ticket)
            return None if orphan is None else orphan.flight
        lease = self.tier.tables.leases.get(call.lease)
        kind = "fill" if isinstance(call, CompleteFill) else "write-back"
        flight = None if lease is None else lease.flights.get(call.ticket)
        return flight if flight is not None and flight.kind == kind else None

    def _get_faults(self) -> frozenset[str]:
        """Return the errors that the device has reason to raise."""
        found = {"OutOfMemory"} if self._planted else set()
        is_lost = self.simulated is not None and self.simulated.is_lost()
        return frozenset(found | {"DeviceLost"} if is_lost else found)

    def _strike(self, pick: Pick) -> None:
        """Let a fault befall the device after a call, if one is picked."""
        device = self.simulated
        if device is None or not self.failing:
            return
        strike = pick(STRIKES)
        if strike == 1:
            device.fail_next_copy(pick(3))
        elif strike == 2:
            device.run_out_of_memory()
            self._planted += 1
        elif strike == 3 and pick(LOSSES) == 1:
            device.lose()
        elif strike == 4:
            flights = [
                f for lease in self.tier.tables.leases.values() for f in lease.flights.values()
            ]
            events = [event for flight in flights for event in flight.queued.events]
            if events:
                device.fail_copy(events[pick(len(events)) if len(events) > 1 else 0], pick(3))


def _is_doomed(flight: Flight) -> bool:
    """Return whether a copy in flight has failed by itself, told or not."""
    return flight.queued.failed or any(event.is_failed() for event in flight.queued.events)


def get_path(state: DeviceState) -> list[DeviceState]:
    """Return the states after each call that leads to this one, oldest first."""
    path = []
    step: DeviceState | None = state
    while step is not None and step.parent is not None:
        path.append(step)
        step = step.parent
    return path[::-1]


def get_choice(call: Call, choice: Choice, outcome: Outcome) -> Choice:
    """Return what a call chose, from what it returned where the choice was left to the tier."""
    if choice != DEFAULT or outcome.refused is not None or outcome.failed:
        return choice
    value: Any = outcome.value
    if isinstance(call, Alloc):
        return Choice(page=value)
    if isinstance(call, Fill):
        missed = set(value.misses)
        return Choice(frames=tuple(h.frame for h in value.handles if h.page in missed))
    return choice


def _get_plain(value: object) -> object:
    """Return a result with plain handles: a state taken up again has another tier."""
    if isinstance(value, Plan):
        return Plan(value.ticket, tuple([Handle(*h) for h in value.handles]), value.misses)
    return Handle(*value) if isinstance(value, Handle) else value


def view_of_snapshot(snapshot: Snapshot) -> View:
    """Return a snapshot as a view: nothing is derived that the tier does not store."""
    return View(
        shape=snapshot.shape,
        off=snapshot.off,
        leases={lease_id: _lease_view(lease) for lease_id, lease in snapshot.leases.items()},
        frames=tuple([FrameView(*frame) for frame in snapshot.frames]),
        where=snapshot.where,
        free=snapshot.free,
        holds=snapshot.holds,
        host=snapshot.host,
        torn=snapshot.torn,
        counters=CountersView(*snapshot.counters),
        recency=snapshot.recency,
        quarantine=tuple([OrphanView(*orphan) for orphan in snapshot.quarantine]),
        retired=snapshot.retired,
        lost=snapshot.lost,
        keys=snapshot.keys,
    )


def _lease_view(lease: LeaseSnapshot) -> LeaseView:
    copies = tuple([CopyView(ticket, kind, frames) for ticket, kind, frames in lease.copies])
    return LeaseView(lease.promise, lease.table, lease.borrowed, lease.pins, lease.claims, copies)
