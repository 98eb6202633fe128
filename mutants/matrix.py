"""The matrix: every mutant on the rungs of the ladder, in processes side by side.

Budgets are counted in states and transitions, never in seconds, so that the same tree gives the
same matrix on any machine and with any number of processes.
"""

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from mutants.candidate import Candidate
from mutants.device_run import DEVICE, EVERY, Known, run_on_device
from mutants.engine import Row, run_rung
from mutants.entry import LOCKSTEP
from mutants.record import Record
from mutants.rerun import Replayed, replay_original, rerun
from properties.corpus import Recorded
from properties.judge import Judge
from properties.registry import Rule
from properties.scopes import SCOPES

Status = Literal[
    "killed",
    "missed",
    "by lockstep",
    "crashed",
    "timed out",
    "unseen",
    "never differed",
    "never ran",
]


class Rung(NamedTuple):
    """One step of the ladder."""

    scope: str
    """The scope that is recorded."""
    states: int | None
    """How many of its states, breadth first; none for all."""
    whole: bool = False
    """The mutant's own space is searched too."""


WIDER = (
    Rung("leave", None, whole=True),
    Rung("sleep", None, whole=True),
    Rung("drafts", None),
    Rung("keys", None),
    Rung("names", None),
    Rung("orphans", 2_000),
    Rung("heirs", None),
    Rung("off-leave", None),
    Rung("off-share", 500),
)
"""The scopes of the operations beyond the spec's table."""

LADDER = (
    Rung("tiny", None, whole=True),
    Rung("rows", None),
    Rung("small", None),
    Rung("pins", 2_000),
    Rung("default", 2_000),
    Rung("claims", None),
    Rung("off", 1_000),
    *WIDER,
)
"""Every mutant takes the first rung; the others are for those not yet noticed as they should."""

DEEP_LADDER = (
    Rung("tiny", None, whole=True),
    Rung("rows", None),
    Rung("small", None),
    Rung("pins", None),
    Rung("default", 20_000),
    Rung("claims", None),
    Rung("off", None),
    *(rung._replace(states=None) for rung in WIDER),
)


RERUN = ("tiny", "rows", "walks")
"""Recorded runs that are made on mutants; the tour of `small` repeats what its rung recorded."""


class Looked(msgspec.Struct, frozen=True):
    """What a rung offered."""

    scope: str
    states: int
    """States recorded; of the corpus, runs."""
    whole: bool
    """They are all the scope has."""
    transitions: int
    """Transitions recorded."""
    mutants: int
    """Mutants that took this rung."""


class Matrix(NamedTuple):
    """Mutants and what became of them."""

    candidates: tuple[Candidate, ...]
    rows: dict[str, Row]
    """By mutant id."""
    looked: tuple[Looked, ...]


def noticed_by(candidate: Candidate, row: Row) -> frozenset[str]:
    """Return the rules that are red, and for a mutant of the device whether lockstep is."""
    by_lockstep = candidate.of_device and row.difference is not None
    return frozenset(row.cells) | ({LOCKSTEP} if by_lockstep else set())


def is_noticed(candidate: Candidate, row: Row, graph_rules: frozenset[str]) -> bool:
    """Return whether a mutant needs no further rung.

    A mutant with expectations needs every rule it names; any other needs one. Graph rules judge
    only where a whole space is searched, and no rung is taken for one of them.
    """
    if candidate.expect:
        return set(candidate.expect) <= noticed_by(candidate, row) | graph_rules
    return bool(row.cells or row.crash)


def build(
    candidates: Sequence[Candidate],
    rules: Iterable[Rule],
    *,
    workers: int,
    ladder: Sequence[Rung] = LADDER,
    corpus: Sequence[Recorded] = (),
    device: Sequence[Known] = (),
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Matrix:
    """Judge every candidate and return the matrix, rows in the order of the candidates.

    Mutants of the reference take the ladder and then the corpus, those of the device make the
    runs that are known of the unmutated one.

    `progress` is told the rung, the mutants done on it and the mutants on it: first with none
    done, before the rung is recorded.
    """
    judge = Judge(rules)
    graph_rules = frozenset(rule.id for rule in judge.graph_rules)
    rows = {candidate.id: Row(candidate.id) for candidate in candidates}
    looked = []
    of_reference = [candidate for candidate in candidates if not candidate.of_device]
    for rung in ladder:
        todo = [
            candidate
            for candidate in of_reference
            if rung is ladder[0] or not is_noticed(candidate, rows[candidate.id], graph_rules)
        ]
        if not todo:
            continue
        progress(rung.scope, 0, len(todo))
        record = Record(SCOPES[rung.scope], rung.states)
        task = _Task(rung, record, judge, todo, [rows[c.id] for c in todo], graph_rules)
        for done, row in enumerate(_run(task, workers), start=1):
            rows[row.id] = row
            progress(rung.scope, done, len(todo))
        looked.append(Looked(rung.scope, len(record.rows), record.whole, record.length, len(todo)))
    todo = [one for one in of_reference if not is_noticed(one, rows[one.id], graph_rules)]
    runs = replay_original(corpus, RERUN) if todo else []
    if runs and todo:
        progress("corpus", 0, len(todo))
        rerunning = _Rerunning(runs, judge, todo, [rows[c.id] for c in todo], graph_rules)
        for done, row in enumerate(_run(rerunning, workers), start=1):
            rows[row.id] = row
            progress("corpus", done, len(todo))
        calls = sum(len(one.transitions) for one in runs)
        looked.append(Looked("corpus", len(runs), False, calls, len(todo)))
    todo = [candidate for candidate in candidates if candidate.of_device]
    if device and todo:
        progress(DEVICE, 0, len(todo))
        on_device = _OnDevice(device, judge, todo, graph_rules)
        for done, row in enumerate(_run(on_device, workers), start=1):
            rows[row.id] = row
            progress(DEVICE, done, len(todo))
        calls = sum(len(one.play.calls) for one in device)
        looked.append(Looked(DEVICE, len(device), False, calls, len(todo)))
    return Matrix(tuple(candidates), rows, tuple(looked))


class _Task(NamedTuple):
    """What the processes of one rung inherit."""

    rung: Rung
    record: Record
    judge: Judge
    candidates: list[Candidate]
    rows: list[Row]
    graph_rules: frozenset[str]

    def run(self, index: int) -> Row:
        """Judge one candidate on this rung."""
        candidate = self.candidates[index]
        return run_rung(
            self.rows[index],
            candidate,
            self.record,
            self.judge,
            whole=self.rung.whole,
            enough=lambda row: is_noticed(candidate, row, self.graph_rules),
        )


class _Rerunning(NamedTuple):
    """What the processes inherit that make recorded runs."""

    runs: Sequence[Replayed]
    judge: Judge
    candidates: list[Candidate]
    rows: list[Row]
    graph_rules: frozenset[str]

    def run(self, index: int) -> Row:
        """Make the runs on one candidate."""
        candidate = self.candidates[index]
        return rerun(
            self.rows[index],
            candidate,
            self.runs,
            self.judge,
            lambda row: is_noticed(candidate, row, self.graph_rules),
        )


class _OnDevice(NamedTuple):
    """What the processes inherit that make the runs of the device."""

    known: Sequence[Known]
    judge: Judge
    candidates: list[Candidate]
    graph_rules: frozenset[str]

    def run(self, index: int) -> Row:
        """Make the runs on one candidate; on a named one every view is looked at."""
        candidate = self.candidates[index]
        return run_on_device(
            candidate,
            self.known,
            self.judge,
            lambda row: is_noticed(candidate, row, self.graph_rules),
            every=1 if candidate.origin == "catalogue" else EVERY,
        )


_Job = _Task | _Rerunning | _OnDevice

_inherited: list[_Job] = []
"""The task of the rung under way: a forked process inherits it, which no pickle could carry."""


def _run(task: _Job, workers: int) -> Iterable[Row]:
    """Run every candidate of the task, rows in order whatever the number of processes."""
    indexes = range(len(task.candidates))
    if workers == 1:
        yield from map(task.run, indexes)
        return
    _inherited.append(task)
    gc.collect()
    gc.freeze()  # Else the collector of each process would copy the whole record.
    try:
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            yield from pool.imap(_run_one, indexes, chunksize=2)
    finally:
        gc.unfreeze()
        _inherited.pop()


def _run_one(index: int) -> Row:
    return _inherited[-1].run(index)


def status_of(candidate: Candidate, row: Row) -> Status:
    """Return what became of a mutant: only a rule's own check is a kill."""
    noticed = noticed_by(candidate, row)
    if not noticed.issuperset(candidate.expect):
        return "missed"
    if row.cells:
        return "killed"
    if noticed:
        return "by lockstep"
    if row.timed_out:
        return "timed out"
    if row.crash:
        return "crashed"
    if row.difference is not None:
        return "unseen"
    return "never differed" if row.ran else "never ran"


def red_by(matrix: Matrix) -> dict[str, list[str]]:
    """Return for each red rule the mutants that turn it red, shortest trace first."""
    found: dict[str, list[tuple[int, str]]] = {}
    for candidate in matrix.candidates:
        for rule, cell in matrix.rows[candidate.id].cells.items():
            found.setdefault(rule, []).append((len(cell.path), candidate.id))
    return {rule: [name for _, name in sorted(found[rule])] for rule in sorted(found)}
