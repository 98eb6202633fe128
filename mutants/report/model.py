"""What the report of a run says: one tree of records, the same bytes for the same sources.

No times are in it. A change that a reader of the JSON could stumble over is a new `SCHEMA`.
"""

import msgspec

from mutants.edit import Origin
from mutants.entry import LOCKSTEP
from mutants.matrix import Status
from mutants.variant import is_of_device
from properties.explorer import Answer
from properties.registry import Kind

SCHEMA = "tierproof-report/2"
CORPUS = "corpus"
"""What stands for a scope where recorded runs were made instead."""
NOT_RUN = "on a GPU: not run here"
"""What is said of a device that the mutants were not run on."""


class RedOn(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant that turned a rule red."""

    mutant: str
    """Its id."""
    calls: int | None
    """The calls of the shortest trace; none if the whole space was judged."""
    trace: str | None
    """That trace, in the folder of the report."""


class RuleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, and what showed that it can be red."""

    id: str
    kind: Kind
    sentence: str
    """What must hold."""
    seen: str
    """Where the world broke it."""
    derived: str
    """Why it stays although others imply it; empty if it does not follow from others."""
    red_on: tuple[RedOn, ...]
    """The mutants that turned it red, the shortest trace first."""
    indistinct_from: tuple[str, ...]
    """Rules that were red on exactly the same mutants."""
    alone_on: tuple[str, ...]
    """Mutants that no other rule noticed."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mutant changes the code."""

    module: str
    function: str
    line: int


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that was red on a mutant."""

    rule: str
    """Its id."""
    because: str
    """What it said."""
    scope: str
    """Where."""
    calls: int | None
    """The calls of the shortest trace; none if the whole space was judged."""
    trace: str | None
    """That trace, in the folder of the report."""


class Differs(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mutant first did what the original does not."""

    scope: str
    call: str
    wanted: str
    got: str


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mutant was compared with the original."""

    scope: str
    states: int
    """States of the original in which it was; of the corpus, runs."""
    whole: bool
    """They are all the scope has."""
    transitions: int
    """Transitions in which its changed function ran."""


class MutantEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One mutant, and what became of it."""

    id: str
    origin: Origin
    does: str
    """What changed, or what a user would see."""
    status: Status
    places: tuple[Place, ...]
    expect: tuple[str, ...]
    """Rules that must notice."""
    noticed: tuple[Noticed, ...]
    """Rules that did, each by its own check, sorted by id."""
    difference: Differs | None
    """Where it first differed: from the original, or of the device from the reference."""
    crash: str
    """The first exception that is no refusal."""
    timed_out: str
    """The scope in which it ran out of time."""
    unconfirmed: tuple[str, ...]
    """Rules that spoke, but not when the calls were made again from the first state."""
    compared: tuple[Compared, ...]
    number: int | None
    """Its number in the list of changes that every suite must notice."""
    seen_in: tuple[str, ...]
    """Public reports or review remarks it mirrors."""
    equivalent_because: str
    """Why nothing can notice it."""
    alias: str
    """mutmut's own name."""
    diff: str
    """Unified."""

    @property
    def of_device(self) -> bool:
        """Whether it is one of the device, run in lockstep with the reference."""
        return is_of_device(place.module for place in self.places)

    @property
    def missed_by(self) -> tuple[str, ...]:
        """The rules that it names and that did not notice."""
        spoke = {noticed.rule for noticed in self.noticed}
        if self.of_device and self.difference is not None:
            spoke.add(LOCKSTEP)
        return tuple(rule for rule in self.expect if rule not in spoke)


class ScopeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What the search of one scope with the unmutated code found."""

    scope: str
    verdict: Answer
    depth: int
    """Calls from the start to the last states that were expanded."""
    depth_max: int | None
    """The bound on it; none for the whole space."""
    states: int
    """Canonical states."""
    transitions: int
    """Transitions judged."""
    edges: int
    """Fault-free steps between states."""
    counts: dict[str, int]
    """How often each event happened."""
    goals: tuple[str, ...]
    """The goals that were reached."""


class RungEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One rung of the ladder, and how many mutants took it."""

    scope: str
    states: int
    """States recorded; of the corpus, runs."""
    whole: bool
    """They are all the scope has."""
    transitions: int
    """Transitions recorded."""
    mutants: int


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How far was looked: in states and transitions, never in seconds."""

    rungs: tuple[RungEntry, ...]
    limits: dict[str, int]
    """The limits of the engine, by what they limit."""


class WorldEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A world in which mutants of the device were run."""

    scope: str
    shape: str
    """Pages, frames and rows: "7/4/2"."""
    purpose: str
    runs: int
    calls: int


class ModuleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A module of the device, and how many of its generated mutants were judged."""

    module: str
    made: int
    judged: int


class DeviceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """On what the mutants of the device were run."""

    ran_on: str
    """The device: "simulated"."""
    not_run: str
    """What was not run, in plain words."""
    worlds: tuple[WorldEntry, ...]
    modules: tuple[ModuleEntry, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    schema: str
    line: str
    """The whole of it in one line."""
    shortfalls: tuple[str, ...]
    """Why the gate is shut; empty if it is open."""
    sources: dict[str, str]
    """SHA-256 of each module that was mutated."""
    survivors: dict[str, tuple[str, ...]]
    """Mutants by status, those first that a reviewer reads first; the killed are left out."""
    rules: tuple[RuleEntry, ...]
    mutants: tuple[MutantEntry, ...]
    exploration: tuple[ScopeEntry, ...]
    goals: dict[str, str]
    """Every goal and its sentence; each was reached in some scope."""
    budget: Budget
    device: DeviceEntry | None = None
    """None if there were no mutants of the device."""

    def get_mutant(self, mutant: str) -> MutantEntry | None:
        """Return the entry of a mutant, if it has one."""
        return next((entry for entry in self.mutants if entry.id == mutant), None)

    def with_status(self, status: Status) -> list[MutantEntry]:
        """Return the mutants of which that became."""
        return [entry for entry in self.mutants if entry.status == status]


def encode(report: Report) -> bytes:
    """Return the report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def decode(text: bytes) -> Report:
    """Return the report in a text. Raises `msgspec.DecodeError`, also for another schema."""
    head = msgspec.json.decode(text, type=_Head)
    if head.schema != SCHEMA:
        raise msgspec.ValidationError(f"the schema is {head.schema!r}, not {SCHEMA!r}")
    return msgspec.json.decode(text, type=Report)


class _Head(msgspec.Struct):
    schema: str
