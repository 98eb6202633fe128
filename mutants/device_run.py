"""A mutant of the device on recorded runs, in lockstep with the reference.

As long as it does what the unmutated device did, which was in lockstep, nothing is judged. A run
that parts from it is compared with the reference, call by call: another choice that the spec
allows is no difference. From the first call on that comes to something else every rule judges the
views of the mutant, and what they said is kept if the run, made once more, is the same. The runs
and their worlds are in `worlds`; how rows become verdicts is said in `matrix`.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mutants.candidate import Candidate
from mutants.edit import MODULE_LEVEL
from mutants.engine import Cell, Difference, OutOfTime, Row, explain, limited
from mutants.record import get_functions
from mutants.variant import Variant, device_sources
from mutants.worlds import DeviceRun, get_picks, get_world
from properties.judge import Judge
from properties.ledger import Ledger
from properties.lockstep import Pair, run_calls
from properties.lookup import REFERENCE, make_model
from properties.step import Step
from properties.subject import Model, Transition
from properties.view import View
from reference.calls import DEFAULT, Call, Choice, Outcome

DEVICE = "device"
"""What stands for these runs where another rung of the ladder has the name of its scope."""
SECONDS_MAX = 2.0
"""CPU seconds for one mutant on one run: ten times what the longest takes."""
EVERY = 4
"""A generated mutant that is not noticed yet shows its view after so many calls."""
GOES_ON = 60
"""Calls that are made, and judged, after the first that parts."""


class Played(NamedTuple):
    """What one call of a run came to."""

    choice: Choice
    outcome: Outcome
    view: View


class Play(NamedTuple):
    """A run on one subject."""

    run: DeviceRun
    start: View
    calls: list[Played]
    crash: str = ""
    """What ended it before its end; empty if nothing did."""


class Known(NamedTuple):
    """A run on the unmutated device."""

    play: Play
    ran: frozenset[tuple[str, str]]
    """Module and name of each function that ran in it."""


class Parted(NamedTuple):
    """Why the unmutated device is none to compare mutants with."""

    run: DeviceRun
    call: int
    """The number of the call, from 1."""
    why: str

    def __str__(self) -> str:
        """Tell it in one line."""
        made = repr(self.run.calls[self.call - 1][0]) if self.call else "before any call"
        return f"the device, {self.run.source}, call {self.call}, {made}: {self.why}"


def play(model: Model, run: DeviceRun, known: Sequence[Played] = ()) -> Play:
    """Make the calls of a run; where it parts from what is known, it ends some calls later."""
    state: Any = model.initial()
    start = model.view(state)
    calls: list[Played] = []
    last = len(run.calls)
    for number, (call, choice) in enumerate(run.calls):
        if number >= last:
            break
        try:
            taken = model.take(state, call, choice)
            calls.append(Played(taken.choice, taken.outcome, model.view(taken.after)))
        except Exception as error:
            return Play(run, start, calls, explain(error))
        state = taken.after
        if known and last == len(run.calls) and calls[number] != known[number]:
            last = number + GOES_ON
    return Play(run, start, calls)


def keeps_to(model: Model, known: Play, every: int) -> bool:
    """Return whether a run comes to what is known, its views after every so many calls."""
    state: Any = model.initial()
    last = len(known.calls)
    try:
        for number, wanted in enumerate(known.calls, 1):
            taken = model.take(state, *known.run.calls[number - 1])
            state = taken.after
            if (taken.choice, taken.outcome) != wanted[:2]:
                return False
            if (number % every == 0 or number == last) and model.view(state) != wanted.view:
                return False
    except Exception:
        return False
    return True


class _Recorded:
    """A model that comes to what a run came to; its states are numbers of calls."""

    def __init__(self, played: Play) -> None:
        self.played = played

    def initial(self) -> int:
        return 0

    def transitions(self, state: int, call: Call) -> list[Transition]:
        return [self.take(state, call, DEFAULT)]

    def take(self, state: int, call: Call, choice: Choice) -> Transition:
        made = self.played.calls[state]
        return Transition(made.choice, made.outcome, state + 1)

    def view(self, state: int) -> View:
        return self.played.calls[state - 1].view if state else self.played.start


def find_difference(played: Play) -> tuple[int, Difference] | None:
    """Return the number of the first call, from 0, that the reference makes otherwise, and how."""
    world = get_world(played.run.scope)
    reference = make_model(REFERENCE)(world.shape, world.off)
    pair = Pair(_Recorded(played), reference, Judge(()))
    found = run_calls(pair, played.run.calls[: len(played.calls)])
    if found is None:
        return None
    given = played.run.calls[max(0, found.n - 1)][1]
    if found.kind == "choice" and given != DEFAULT:
        # Recorded for the state that the unmutated device was in. Up to here all was allowed.
        return None
    call = "before any call" if found.call is None else repr(found.call)
    return max(0, found.n - 1), Difference(world.name, call, found.wanted, found.got)


def judge_from(first: int, played: Play, judge: Judge) -> dict[str, Cell]:
    """Return what the rules say of the calls from this one on, each rule the first time."""
    world = get_world(played.run.scope)
    ledger, before = Ledger.empty(world.shape.rows), played.start
    cells: dict[str, Cell] = {}
    for number, (_, outcome, after) in enumerate(played.calls):
        call = played.run.calls[number][0]
        known = ledger.absorb(call, outcome)
        if number >= first:
            verdicts = judge.judge_step(Step(before, call, outcome, after, ledger))
            for rule, because in verdicts + judge.judge_view(after, known):
                path = played.run.calls[: number + 1]
                cell = Cell(rule, because, world.name, path, played.run.seed)
                cells.setdefault(rule, cell)
        before, ledger = after, known
    return cells


class _Marked:
    """A copy of the unmutated device whose functions say that they run."""

    def __init__(self) -> None:
        self.ran: set[tuple[str, str]] = set()
        self.functions: list[tuple[str, str]] = []
        hooks = {"__enter__": self._enter}
        self.variant = Variant(device_sources(), self._mark, hooks)

    def _enter(self, number: int) -> None:
        self.ran.add(self.functions[number])

    def _mark(self, module: str, tree: ast.Module) -> None:
        for name, node in get_functions(tree):
            node.body.insert(0, ast.parse(f"__enter__({len(self.functions)})").body[0])
            self.functions.append((module, name))

    def play(self, run: DeviceRun) -> Known:
        """Make a run, and note what ran in it."""
        self.ran.clear()
        played = _play(self.variant, run)
        return Known(played, frozenset(self.ran))


def play_unmutated(
    runs: Iterable[DeviceRun], judge: Judge
) -> tuple[tuple[Known, ...], Parted | None]:
    """Make the runs on the unmutated device, in lockstep and judged; end where it is wrong."""
    found: list[Known] = []
    marked = _Marked()
    for run in runs:
        known = marked.play(run)
        found.append(known)
        why = _find_fault(known.play, judge)
        if why is not None:
            return tuple(found), why
    return tuple(found), None


def _find_fault(played: Play, judge: Judge) -> Parted | None:
    """Return why the unmutated device is wrong, if it is."""
    run = played.run
    if played.crash:
        return Parted(run, len(played.calls) + 1, played.crash)
    difference = find_difference(played)
    if difference is not None:
        number, differs = difference
        return Parted(run, number + 1, f"{differs.got}, not {differs.wanted}")
    for cell in judge_from(0, played, judge).values():
        return Parted(run, len(cell.path), f"{cell.rule}: {cell.because}")
    return None


def run_on_device(
    candidate: Candidate,
    known: Sequence[Known],
    judge: Judge,
    enough: Callable[[Row], bool],
    every: int = 1,
) -> Row:
    """Make the runs on a mutant until it is noticed as it should be, and return its row.

    A run in which no changed function runs is left out: nothing is changed there. The view is
    looked at after every so many calls, and after each once something was not the same.
    """
    row = Row(candidate.id)
    made = 0
    shown = [one.play for one in known if shows(candidate, one)]
    try:
        with limited(SECONDS_MAX):
            variant = Variant(candidate.sources if shown else {})
        for play in shown:
            made += _run(row, variant, play, judge, every)
            if row.timed_out or enough(row):
                break
        row.ran = variant.ran
    except OutOfTime:
        row.timed_out = DEVICE
    except Exception as error:
        row.crash = explain(error)
    row.rungs[DEVICE] = made
    return row


def shows(candidate: Candidate, known: Known) -> bool:
    """Return whether a run could show what a mutant changes."""
    return any(
        function == MODULE_LEVEL or (module, function) in known.ran
        for module, function, _ in candidate.places
    )


def _run(row: Row, variant: Variant, known: Play, judge: Judge, every: int) -> int:
    """Make one run on a mutant and return how many calls were made."""
    try:
        with limited(SECONDS_MAX):
            if every > 1 and keeps_to(_begin(variant, known.run), known, every):
                return len(known.calls)
            played = _play(variant, known.run, known.calls)
            _compare(row, variant, known, played, judge)
            return len(played.calls)
    except OutOfTime:
        row.timed_out = known.run.scope
    except Exception as error:
        row.crash = row.crash or explain(error)
    return 0


def _begin(variant: Variant, run: DeviceRun) -> Model:
    world = get_world(run.scope)
    return variant.device(world.shape, world.off, *get_picks(run.seed))


def _play(variant: Variant, run: DeviceRun, known: Sequence[Played] = ()) -> Play:
    return play(_begin(variant, run), run, known)


def _compare(row: Row, variant: Variant, known: Play, played: Play, judge: Judge) -> None:
    """Add to the row in what a run differs, and which rules say so."""
    row.crash = row.crash or played.crash
    found = None if played == known else find_difference(played)
    if found is None:
        return
    first, difference = found
    row.difference = row.difference or difference
    cells = judge_from(first, played, judge)
    is_same = not cells or _play(variant, known.run, known.calls) == played
    for rule in sorted(cells):
        if not is_same and rule not in row.cells:
            row.unconfirmed = (*row.unconfirmed, rule)
        elif is_same and (
            rule not in row.cells or len(cells[rule].path) < len(row.cells[rule].path)
        ):
            row.cells[rule] = cells[rule]
