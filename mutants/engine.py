"""One row of the matrix: a mutant judged by every rule, each on its own.

On the first rung of the ladder the mutant's whole space is searched. On the others it is run on
the recorded (state, call, choice) pairs of the original, and only what differs, and what follows
from the states where it differs, is judged. A crash, a time-out and a difference that no rule
sees are noted, and are no kills. Every cell is confirmed: its calls are made once more, from the
first state, on the mutant.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import msgspec

from mutants.candidate import Candidate
from mutants.record import Record, Recorded
from mutants.variant import Variant
from properties.expansion import Node
from properties.explorer import Exploration, graph_of
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.scopes import Scope
from properties.step import Step
from properties.subject import Model, Transition
from properties.twins import full_scope, twin_calls
from reference.calls import Call, Choice, Outcome

Path = tuple[tuple[Call, Choice], ...]

STATES_MAX = 800
"""States of a mutant's own space on the first rung; the original has under a tenth of that."""
FOLLOWED_MAX = 16
"""Differing transitions that are followed on each later rung."""
FOLLOW_DEPTH = 3
"""Calls made on from a state where a mutant differs."""
FOLLOW_STATES = 50
"""States reached on from a state where a mutant differs."""
SECONDS_MAX = 120.0
"""CPU seconds for one mutant on one rung: far more than any needs that does not hang."""
TWINS_MAX = 160
"""Pairs of states for the rule that compares the tier off with a full tier."""


class Cell(msgspec.Struct, frozen=True):
    """A rule that is red on a mutant."""

    rule: str
    """Its id."""
    because: str
    """What it said."""
    scope: str
    """Where."""
    path: Path
    """The calls that break it, each with its choice; the last one breaks it."""
    moods: int | None = 0
    """Of a cell of the device: the seed of its scheduler; none if nothing landed unasked."""


class Difference(msgspec.Struct, frozen=True):
    """Where a mutant first did what the original does not."""

    scope: str
    call: str
    wanted: str
    got: str


class Row(msgspec.Struct):
    """What became of one mutant."""

    id: str
    cells: dict[str, Cell] = {}
    """The rules that are red."""
    ran: bool = False
    """A changed statement ran."""
    difference: Difference | None = None
    """The first difference from the original, or of the device from the reference."""
    crash: str = ""
    """The first exception that is no refusal."""
    timed_out: str = ""
    """The rung on which it ran out of time."""
    unconfirmed: tuple[str, ...] = ()
    """Rules that spoke, but not when the calls were made again from the first state."""
    rungs: dict[str, int] = {}
    """For each rung, the transitions it was run on."""


class OutOfTime(BaseException):
    """A mutant used up its CPU time. No `Exception`, so that nothing takes it for a crash."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in this process after so many CPU seconds."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def run_rung(
    row: Row,
    candidate: Candidate,
    record: Record,
    judge: Judge,
    *,
    whole: bool,
    enough: Callable[[Row], bool],
) -> Row:
    """Judge a mutant on one rung of the ladder and add what is found to its row."""
    try:
        with limited(SECONDS_MAX):
            variant = Variant(candidate.sources)
            run = _Run(row, variant, record, judge, enough)
            mask = record.mask(candidate.places)
            try:
                # What never runs here changes nothing here.
                if record.ran & mask:
                    run.search_all() if whole else None
                    run.compare_all(mask, follow=not whole)
            finally:
                row.ran = row.ran or variant.ran
    except OutOfTime:
        row.timed_out = record.scope.name
    except Exception as error:
        row.crash = row.crash or explain(error)
    return row


class Cells:
    """The cells of a row that are found in one scope, each confirmed."""

    def __init__(self, row: Row, variant: Variant, scope: Scope, judge: Judge) -> None:
        self.row = row
        self.variant = variant
        self.scope = scope
        self.judge = judge

    def add(self, rule: str, because: str, path: Path) -> None:
        """Keep the shortest way to turn a rule red, if it does so from the first state."""
        known = self.row.cells.get(rule)
        if known is not None and len(known.path) <= len(path):
            return
        said = confirm(self.variant, self.scope, self.judge, rule, path)
        if said is not None:
            self.row.cells[rule] = Cell(rule, said, self.scope.name, path)
        elif rule not in self.row.unconfirmed:
            self.row.unconfirmed = (*self.row.unconfirmed, rule)

    def add_all(self, verdicts: Iterable[Verdict], path: Path) -> None:
        """Keep what several rules said of the last call of a path."""
        for rule, because in verdicts:
            self.add(rule, because, path)


class _Run:
    """One mutant on one rung."""

    def __init__(
        self,
        row: Row,
        variant: Variant,
        record: Record,
        judge: Judge,
        enough: Callable[[Row], bool],
    ) -> None:
        self.row = row
        self.variant = variant
        self.record = record
        self.scope = record.scope
        self.judge = judge
        self.enough = enough
        self.model = variant.model(self.scope.shape, self.scope.off)
        self.cells = Cells(row, variant, self.scope, judge)
        self.followed = 0

    def search_all(self) -> None:
        """Search the mutant's whole space, and judge it as a graph too."""
        search = Exploration(self.model, self.scope, self.judge, goals=(), tolerant=True)
        search.run(states=STATES_MAX)
        for broken in search.breaks.values():
            last = () if broken.call is None else ((broken.call, broken.choice or Choice()),)
            self.cells.add(broken.rule, broken.because, (*search.path(broken.node), *last))
        if search.crashes:
            self.row.crash = self.row.crash or search.crashes[0].because
        elif search.ended:
            self._judge_graph(search)

    def _judge_graph(self, search: Exploration) -> None:
        """Judge the rules of the whole space; a crash would leave holes in it."""
        expected = (":".join(event) for event in self.record.search.counts)
        scope = full_scope(self.scope)
        off, full = (self.variant.model(scope.shape, is_off) for is_off in (True, False))
        twins = list(twin_calls(off, full, scope, TWINS_MAX))
        graph = graph_of(search, expected, twins)
        for rule in self.judge.graph_rules:
            because = rule.check(graph)
            if because is not None:
                self.row.cells[rule.id] = Cell(rule.id, because, self.scope.name, ())

    def compare_all(self, mask: int, *, follow: bool) -> None:
        """Run the mutant on the recorded pairs and judge what differs."""
        compared = 0
        for index, recorded_row in enumerate(self.record.rows):
            node = self.record.search.nodes[self.record.first + index]
            for recorded in recorded_row:
                if recorded.ran & mask:
                    compared += len(recorded.transitions)
                    self._compare(node, self.record.first + index, recorded, follow)
            if follow and (self.followed >= FOLLOWED_MAX or self.enough(self.row)):
                break
        self.row.rungs[self.scope.name] = compared

    def _compare(self, node: Node, number: int, recorded: Recorded, follow: bool) -> None:
        try:
            got = self.model.transitions(node.state, recorded.call)
        except Exception as error:
            self.row.crash = self.row.crash or explain(error)
            return
        if got == recorded.transitions:
            return
        self._note(recorded, got)
        for transition in got if follow else ():
            if transition not in recorded.transitions and self.followed < FOLLOWED_MAX:
                self.followed += 1
                self._follow(node, number, recorded.call, transition)

    def _note(self, recorded: Recorded, got: list[Transition]) -> None:
        """Keep the first difference, in the words of the transitions."""
        if self.row.difference is None:
            wanted = [t for t in recorded.transitions if t not in got]
            extra = [t for t in got if t not in recorded.transitions]
            self.row.difference = Difference(
                self.scope.name, repr(recorded.call), *contrast(wanted, extra)
            )

    def _follow(self, node: Node, number: int, call: Call, transition: Transition) -> None:
        """Judge a transition that the original does not make, and what follows from it."""
        choice, outcome, state = transition
        path = (*self.record.search.path(number), (call, choice))
        try:
            before, after = self.model.view(node.state), self.model.view(state)
            step = Step(before, call, outcome, after, node.ledger)
            self.cells.add_all(self.judge.judge_step(step), path)
            ledger = node.ledger.absorb(call, outcome)
            self.cells.add_all(self.judge.judge_view(after, ledger), path)
            start = (state, ledger)
            scope = msgspec.structs.replace(self.scope, depth=FOLLOW_DEPTH, opening=())
            search = Exploration(
                self.model, scope, self.judge, goals=(), start=start, tolerant=True
            ).run(states=FOLLOW_STATES)
        except Exception as error:
            self.row.crash = self.row.crash or explain(error)
            return
        for broken in search.breaks.values():
            if broken.call is not None:
                last = (broken.call, broken.choice or Choice())
                self.cells.add(
                    broken.rule, broken.because, (*path, *search.path(broken.node), last)
                )


def confirm(variant: Variant, scope: Scope, judge: Judge, rule: str, path: Path) -> str | None:
    """Make the calls from the first state and return what the rule says of the last one."""
    model = variant.model(scope.shape, scope.off)
    state: Any = model.initial()
    ledger = Ledger.empty(scope.shape.rows)
    verdicts = judge.judge_view(model.view(state), ledger)
    try:
        for call, choice in path:
            before = model.view(state)
            taken = _taken(model, state, call, choice)
            if taken is None:
                return None
            after = model.view(taken.after)
            step = Step(before, call, taken.outcome, after, ledger)
            ledger = ledger.absorb(call, taken.outcome)
            verdicts = judge.judge_step(step) + judge.judge_view(after, ledger)
            state = taken.after
    except Exception:
        return None
    return dict(verdicts).get(rule)


def _taken(model: Model, state: Any, call: Call, choice: Choice) -> Transition | None:
    """Return the transition with that choice, if the mutant offers it here."""
    return next((t for t in model.transitions(state, call) if t.choice == choice), None)


def contrast(wanted: list[Transition], got: list[Transition]) -> tuple[str, str]:
    """Say in what the first transitions of both differ."""
    if not wanted or not got:
        what = [f"{t.choice} -> {_say_outcome(t.outcome)}" for t in (wanted or got)[:1]]
        what = what or ["another default"]
        return (what[0], "no such choice") if wanted else ("no such choice", what[0])
    first, second = wanted[0], got[0]
    if first.outcome != second.outcome:
        return _say_outcome(first.outcome), _say_outcome(second.outcome)
    for name, old, new in zip(first.after._fields, first.after, second.after, strict=True):
        if old != new:
            return f"{name}: {old}", f"{name}: {new}"
    return repr(first.choice), repr(second.choice)


def _say_outcome(outcome: Outcome) -> str:
    if outcome.refused is not None:
        fields = ", ".join(f"{name}={value}" for name, value in outcome.refused.fields)
        return f"{outcome.refused.name}({fields})"
    return "failed" if outcome.failed else repr(outcome.value)


def explain(error: BaseException) -> str:
    """Return an exception in one line."""
    return f"{type(error).__name__}: {error}"
