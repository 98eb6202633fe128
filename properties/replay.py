"""Replaying: a trace's calls on a model, its names resolved as outcomes come in, every rule asked.

Owned here: which choice is taken, where outcomes part from the recorded ones, and which rules
broke. Not owned: the file (`trace`), names (`names`, `resolve`), how it is shown (`render`).
Knows no tier.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from properties.grammar import OPERATIONS, Line
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.names import Json, Names
from properties.resolve import Resolver
from properties.step import Step
from properties.subject import Model, Transition
from properties.trace import SymbolicTrace
from properties.view import View
from reference.calls import DEFAULT, Call, Choice

Taken = Literal["default", "recorded", "other"]
"""The model's default; the trace's choice instead of it; or the default for want of that."""


class ReplayStep(NamedTuple):
    """One call of a trace, made again."""

    line: Line
    """The call as recorded."""
    step: Step
    """The call as made, its outcome, and what was around it."""
    choice: Choice
    """What was chosen."""
    taken: Taken
    """Whose choice it was."""
    outcome: dict[str, Json]
    """What it came to, with symbolic names."""
    ledger: Ledger
    """What the callers know after it."""
    verdicts: list[Verdict]
    """Every rule that the step, or the view after it, breaks."""

    @property
    def n(self) -> int:
        """The number of the call."""
        return self.line.n

    @property
    def has_parted(self) -> bool:
        """The outcome is not the recorded one."""
        return self.outcome != self.line.outcome


class Replay(NamedTuple):
    """A whole trace, made again."""

    trace: SymbolicTrace
    """The trace."""
    start: View
    """The view before the first call."""
    start_verdicts: list[Verdict]
    """Every rule that it breaks."""
    steps: tuple[ReplayStep, ...]
    """The calls."""

    @property
    def end(self) -> View:
        """The view after the last call."""
        return self.steps[-1].step.after if self.steps else self.start

    @property
    def parted(self) -> ReplayStep | None:
        """The first call whose outcome is not the recorded one."""
        return next((step for step in self.steps if step.has_parted), None)

    @property
    def breaks(self) -> dict[str, tuple[int, str]]:
        """For each rule that broke, the first call that broke it (0: the start), and why."""
        found: dict[str, tuple[int, str]] = {}
        for n, verdicts in ((0, self.start_verdicts), *((s.n, s.verdicts) for s in self.steps)):
            for verdict in verdicts:
                found.setdefault(verdict.rule, (n, verdict.because))
        return found


def replay(
    trace: SymbolicTrace, model: Model, judge: Judge, own: bool = False
) -> Iterator[ReplayStep]:
    """Make the calls of a trace on a model and yield each as it is made.

    The trace's choice is taken if the model offers it, else the model's default; a model with a
    scheduler takes the trace's picks, and its choice, as they are. `own` says that
    the trace was recorded on this very model: then its choice is taken even if it is not offered.
    """
    names = Names()
    state = model.initial()
    before = model.view(state)
    ledger = Ledger.empty(trace.header.shape.rows)
    for line in trace.lines:
        resolver = Resolver(names, before)
        call = resolver.read_call(OPERATIONS[line.op], line.arguments)
        said = dict(resolver.said)
        wanted = _wanted(line, resolver)
        if line.picks is not None and hasattr(model, "take_picked"):
            taken, done = _take_picked(model, state, call, wanted, line.picks)
        else:
            taken, done = _take(model, state, call, wanted, own)
        state = done.after
        names.learn(line.n, call, done.outcome)
        after = model.view(state)
        step = Step(before, call, done.outcome, after, ledger)
        known = ledger.absorb(call, done.outcome)
        verdicts = judge.judge_step(step) + judge.judge_view(after, known)
        outcome = names.write_outcome(call, done.outcome, said)
        yield ReplayStep(line, step, done.choice, taken, outcome, known, verdicts)
        before, ledger = after, known


def replay_all(trace: SymbolicTrace, model: Model, judge: Judge, own: bool = False) -> Replay:
    """Make all calls of a trace on a model and return what happened."""
    start = model.view(model.initial())
    verdicts = judge.judge_view(start, Ledger.empty(trace.header.shape.rows))
    return Replay(trace, start, verdicts, tuple(replay(trace, model, judge, own)))


def _wanted(line: Line, resolver: Resolver) -> Choice | None:
    return DEFAULT if line.choice is None else resolver.read_choice(line.choice)


def _take_picked(
    model: Any, state: Any, call: Call, wanted: Choice | None, picks: list[Json]
) -> tuple[Taken, Transition]:
    """Make the call as it was recorded, its scheduler's picks included."""
    done: Transition = model.take_picked(state, call, wanted or DEFAULT, picks)
    return ("default" if wanted in (None, DEFAULT) else "recorded"), done


def _take(
    model: Model, state: Any, call: Call, wanted: Choice | None, own: bool
) -> tuple[Taken, Transition]:
    """Make the call with the wanted choice if that can be, else with the model's default."""
    first = None
    for offered in model.transitions(state, call):
        if offered.choice == wanted:
            return "default" if first is None else "recorded", offered
        first = first or offered
    if own and wanted not in (None, DEFAULT):
        return "recorded", model.take(state, call, wanted)
    taken: Taken = "default" if wanted == DEFAULT else "other"
    return taken, first or model.take(state, call, DEFAULT)
