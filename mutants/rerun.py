"""A mutant on recorded runs of calls, beside the original: the engine's second source of runs.

As long as the mutant does what the original did, nothing is judged. From the first difference on,
every call of the run is judged by every rule. The runs are tours of small scopes and walks in a
world that is too large to search.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mutants.candidate import Candidate
from mutants.engine import (
    SECONDS_MAX,
    Cells,
    Difference,
    OutOfTime,
    Row,
    contrast,
    explain,
    limited,
)
from mutants.variant import Variant
from properties.corpus import Recorded
from properties.judge import Judge
from properties.ledger import Ledger
from properties.lookup import REFERENCE, make_model
from properties.scopes import SCOPES, Scope
from properties.step import Step
from properties.subject import Model, Transition


class Replayed(NamedTuple):
    """A recorded run and what the original made of it."""

    run: Recorded
    transitions: list[Transition]


def replay_original(runs: Sequence[Recorded], scopes: Sequence[str]) -> list[Replayed]:
    """Make the runs in these scopes on the original, once for all mutants."""
    found = []
    for run in runs:
        if run.scope not in scopes:
            continue
        scope = SCOPES[run.scope]
        model = make_model(REFERENCE)(scope.shape, scope.off)
        state: Any = model.initial()
        transitions = []
        for call, choice in run.calls:
            transitions.append(model.take(state, call, choice))
            state = transitions[-1].after
        found.append(Replayed(run, transitions))
    return found


def rerun(
    row: Row,
    candidate: Candidate,
    runs: Sequence[Replayed],
    judge: Judge,
    enough: Callable[[Row], bool],
) -> Row:
    """Make the runs on a mutant until enough rules are red, and add what is found to its row."""
    made = 0
    try:
        with limited(SECONDS_MAX):
            variant = Variant(candidate.sources)
            try:
                for replayed in runs:
                    made += _Rerun(row, variant, replayed, judge).make()
                    if enough(row):
                        break
            finally:
                row.ran = row.ran or variant.ran
    except OutOfTime:
        row.timed_out = "corpus"
    row.rungs["corpus"] = made
    return row


class _Rerun:
    """One run on one mutant."""

    def __init__(self, row: Row, variant: Variant, replayed: Replayed, judge: Judge) -> None:
        self.row = row
        self.replayed = replayed
        self.judge = judge
        self.scope: Scope = SCOPES[replayed.run.scope]
        self.model: Model = variant.model(self.scope.shape, self.scope.off)
        self.cells = Cells(row, variant, self.scope, judge)

    def make(self) -> int:
        """Make the calls in order and return how many; a crash ends the run."""
        state, ledger = self.model.initial(), Ledger.empty(self.scope.shape.rows)
        differs = False
        calls = self.replayed.run.calls
        for number, wanted in enumerate(self.replayed.transitions):
            call, choice = calls[number]
            try:
                got = self.model.take(state, call, choice)
                if differs or got[1:] != wanted[1:]:
                    if not differs:
                        self._note(call, wanted, got)
                    differs = True
                    self._judge(state, ledger, got, number)
                ledger = ledger.absorb(call, got.outcome)
            except Exception as error:
                self.row.crash = self.row.crash or explain(error)
                return number
            state = got.after
        return len(calls)

    def _note(self, call: object, wanted: Transition, got: Transition) -> None:
        if self.row.difference is None:
            words = contrast([wanted], [got])
            self.row.difference = Difference(self.scope.name, repr(call), *words)

    def _judge(self, state: Any, ledger: Ledger, got: Transition, number: int) -> None:
        call, _ = self.replayed.run.calls[number]
        before, after = self.model.view(state), self.model.view(got.after)
        step = Step(before, call, got.outcome, after, ledger)
        verdicts = self.judge.judge_step(step)
        verdicts += self.judge.judge_view(after, ledger.absorb(call, got.outcome))
        path = self.replayed.run.calls[: number + 1]
        for rule, because in verdicts:
            self.cells.add(rule, because, path)
