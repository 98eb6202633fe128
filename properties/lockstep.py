"""Lockstep: a subject against the reference, compared after every call.

A pair of models is a model: every engine that makes calls makes them on both, and the first
difference ends the run. Compared are the outcome (value, failure, or class and fields of the
refusal), the subject's choice (one that the reference allows), the view, the digest, and every
rule on the subject's views. On large shapes the full view is compared every `every` calls and
what a call touched after each (`lockstep_look`). Owned here: that comparison, the difference and
its trace. Not owned: which calls are made (`lockstep_walks`, `tour`, `lockstep_machine`). Knows no
tier.

A subject may have more than a model: `errors` (names of what a call may raise that is no refusal;
then nothing has changed), `judge_error` (whether one was due), `tell` (the call as it must be
made: a copy that failed by itself is reported so), `take_picked` (make a call with the recorded
picks of its scheduler), `look` (what a call touched, for large shapes).
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, Protocol

from properties.changes import explain_changes
from properties.choosing import OFFERS, fit_choice
from properties.grammar import OPERATIONS
from properties.judge import Judge
from properties.ledger import Ledger
from properties.lockstep_look import Touched, find_touched, look_at_view
from properties.names import Names
from properties.resolve import Resolver
from properties.step import Step
from properties.subject import Model, Transition, offers
from properties.trace import Header, Made, SymbolicTrace, Trace, made
from properties.view import View, digest
from reference.calls import DEFAULT, Call, Choice, Outcome


class Difference(NamedTuple):
    """The first thing in which a subject and the reference differ."""

    n: int
    """The number of the call, from 1; 0 is the state before any."""
    call: Call | None
    """The call."""
    kind: str
    """`outcome`, `choice`, `view`, `digest`, `touched`, `error`, `raised`, or a rule's id."""
    wanted: str
    """What the reference says, or what must be."""
    got: str
    """What the subject says."""
    calls: tuple[Made, ...]
    """The calls that lead to it, this one the last, with the picks of the subject's scheduler."""

    def __str__(self) -> str:
        call = "before any call" if self.call is None else f"call {self.n}, {self.call!r}"
        return f"{self.kind} differs at {call}: wanted {self.wanted}; got {self.got}"

    def get_trace(self, header: Header) -> Trace:
        """Return the trace that shows it again."""
        return Trace(header, self.calls)


class Differs(AssertionError):
    """A subject that differs from the reference."""

    def __init__(self, difference: Difference) -> None:
        """Tell the difference."""
        super().__init__(str(difference))
        self.difference = difference


class Watcher(Protocol):
    """Whoever looks on while calls are made."""

    def before(self, call: Call) -> None:
        """Look at the subject before a call."""

    def after(self, step: Step) -> None:
        """Look at the subject after it."""


class Path(NamedTuple):
    """The calls that lead to a state, the last one first. States before it may be forgotten."""

    made: Made
    """The last call."""
    before: "Path | None"
    """The calls before it."""
    n: int
    """How many they are together."""


class PairState:
    """A state of both."""

    __slots__ = ("ledger", "n", "path", "reference", "seen", "subject", "view")

    def __init__(
        self,
        subject: Any,
        reference: Any,
        view: View,
        ledger: Ledger,
        path: "Path | None" = None,
    ) -> None:
        """Hold both states; `view` is what the reference shows, and the subject should."""
        self.subject = subject
        self.reference = reference
        self.view = view
        self.ledger = ledger
        self.path = path
        self.n: int = 0 if path is None else path.n
        self.seen: View | None = None
        """The view of the subject, where it was taken."""


class Pair:
    """Two models as one. `take` raises `Differs`; its state shows the reference's view."""

    def __init__(
        self,
        subject: Model,
        reference: Model,
        judge: Judge,
        *,
        every: int = 1,
        watcher: Watcher | None = None,
    ) -> None:
        """Compare this subject with this reference, full views every so many calls."""
        self.subject = subject
        self.reference = reference
        self.judge = judge
        self.every = every
        self.watcher = watcher
        self.errors: Collection[str] = getattr(subject, "errors", ())
        self.made = 0
        """Calls made on both."""
        start = reference.initial()
        view = reference.view(start)
        self._initial = PairState(subject.initial(), start, view, Ledger.empty(view.shape.rows))

    def initial(self) -> PairState:
        """Return the state in which nothing happened yet. Raises `Differs`."""
        start = self._initial
        if start.seen is None:
            try:
                start.seen = self.subject.view(start.subject)
            except Exception as error:
                raise self._differs(start, None, "raised", "a view", _name(error)) from error
            self._compare_views(start, None, start.view, start.seen)
            self._judge_view(start, None, start.seen, start.ledger)
        return start

    def transitions(self, state: PairState, call: Call) -> list[Transition]:
        """Return what the call comes to with each choice of the reference."""
        return [self.take(state, call, choice) for choice in self.choices(state, call)]

    def choices(self, state: PairState, call: Call) -> Iterator[Choice]:
        """Yield every choice of the reference; `DEFAULT` leaves it to the subject."""
        return offers(self.reference, state.reference, call)

    def view(self, state: PairState) -> View:
        """Return what both show."""
        return state.view

    def take(
        self, state: PairState, call: Call, choice: Choice, picks: Iterable[int] | None = None
    ) -> Transition:
        """Make the call on both, with the subject's own choice if it is `DEFAULT`.

        Recorded `picks` are those of the subject's scheduler. Raises `Differs`; that is also what
        becomes of anything that the subject raises, or that what it shows makes others raise.
        """
        try:
            return self._take(state, call, choice, picks)
        except Differs:
            raise
        except Exception as error:
            picked = getattr(self.subject, "last_picks", None)
            entry = made(call, choice, Outcome(), state.view, picked)
            raise self._differs(state, entry, "raised", "an outcome", _name(error)) from error

    def _take(
        self, state: PairState, call: Call, choice: Choice, picks: Iterable[int] | None
    ) -> Transition:
        tell = getattr(self.subject, "tell", None)
        if tell is not None:
            call = tell(state.subject, call)
        if choice == DEFAULT:  # a model that has options takes its first one
            choice = next(offers(self.subject, state.subject, call), DEFAULT)
        if self.watcher is not None:
            self.watcher.before(call)
        self.made += 1
        taken = self._take_subject(state, call, choice, picks)
        outcome = taken.outcome
        entry = made(call, choice, outcome, state.view, getattr(taken.after, "picks", None))
        is_allowed = self._is_allowed(state, call, taken.choice)
        if not is_allowed and outcome.refused is None:
            wanted = "an option of the reference"
            raise self._differs(state, entry, "choice", wanted, repr(taken.choice))
        option = taken.choice if is_allowed else next(self.choices(state, call))
        expected = self.reference.take(state.reference, call, option)
        after = self._go_on(state, entry, taken, expected)
        self._check(state, after, entry, outcome)
        return Transition(option, outcome, after)

    def _take_subject(
        self, state: PairState, call: Call, choice: Choice, picks: Iterable[int] | None
    ) -> Transition:
        if picks is not None and hasattr(self.subject, "take_picked"):
            found: Transition = self.subject.take_picked(state.subject, call, choice, picks)
            return found
        return self.subject.take(state.subject, call, choice)

    def _is_allowed(self, state: PairState, call: Call, choice: Choice) -> bool:
        """Return whether the reference allows a choice, by its options unless there are many."""
        if self.every > 1:  # on a large shape even the first options take long
            return choice == fit_choice(state.view, call, choice)
        offered = list(islice(self.choices(state, call), OFFERS + 1))
        if len(offered) <= OFFERS:
            return choice in offered
        return choice in offered or fit_choice(state.view, call, choice) == choice

    def _go_on(
        self, state: PairState, entry: Made, taken: Transition, expected: Transition
    ) -> PairState:
        """Return the state of both after a call. Raises `Differs` if it came to different things.

        What the subject raised as an error, with reason, has changed nothing: then the reference
        stays where it was.
        """
        path = Path(entry, state.path, state.n + 1)
        refused = taken.outcome.refused
        error = refused.name if refused is not None and refused.name in self.errors else None
        if hasattr(self.subject, "judge_error"):
            why = self.subject.judge_error(taken.after, entry.call, expected.outcome, error)
            if why is not None:
                raise self._differs(state, entry, "error", why, _tell(taken.outcome))
        if error is not None:
            return PairState(taken.after, state.reference, state.view, state.ledger, path)
        if _key(taken.outcome) != _key(expected.outcome):
            wanted, got = _tell(expected.outcome), _tell(taken.outcome)
            raise self._differs(state, entry, "outcome", wanted, got)
        same = expected.after is state.reference
        view = state.view if same else self.reference.view(expected.after)
        known = state.ledger.absorb(entry.call, expected.outcome)
        return PairState(taken.after, expected.after, view, known, path)

    def _check(self, before: PairState, after: PairState, entry: Made, outcome: Outcome) -> None:
        """Compare what both show after a call, and let the rules judge what the subject shows."""
        if after.n % self.every:
            self._compare_touched(before, after, entry)
            seen = after.view
        else:
            seen = after.seen = self.subject.view(after.subject)
            self._compare_views(before, entry, after.view, seen)
        step = Step(before.seen or before.view, entry.call, outcome, seen, before.ledger)
        is_error = outcome.refused is not None and outcome.refused.name in self.errors
        if after.seen is not None and not is_error:
            for rule, because in self.judge.judge_step(step):
                raise self._differs(before, entry, rule, "the rule to hold", because)
            self._judge_view(before, entry, seen, after.ledger)
        if self.watcher is not None:
            self.watcher.after(step)

    def _compare_touched(self, before: PairState, after: PairState, entry: Made) -> None:
        look = getattr(self.subject, "look", None)
        if look is None:
            return
        touched: Touched = find_touched(before.view, after.view, entry.call)
        wanted, got = look_at_view(after.view, touched), look(after.subject, touched)
        if wanted != got:
            raise self._differs(before, entry, "touched", repr(wanted), repr(got))

    def _compare_views(
        self, before: PairState, entry: Made | None, wanted: View, got: View
    ) -> None:
        if wanted != got:
            changes = "; ".join(explain_changes(wanted, got))
            raise self._differs(before, entry, "view", "the reference's view", changes)
        hashes = digest(wanted), digest(got)
        if hashes[0] != hashes[1]:
            raise self._differs(before, entry, "digest", *hashes)

    def _judge_view(
        self, before: PairState, entry: Made | None, seen: View, ledger: Ledger
    ) -> None:
        for rule, because in self.judge.judge_view(seen, ledger):
            raise self._differs(before, entry, rule, "the rule to hold", because)

    def _differs(
        self, before: PairState, entry: Made | None, kind: str, wanted: str, got: str
    ) -> Differs:
        calls = [] if entry is None else [entry]
        path = before.path
        while path is not None:
            calls.append(path.made)
            path = path.before
        call = None if entry is None else entry.call
        return Differs(Difference(len(calls), call, kind, wanted, got, tuple(calls[::-1])))


def _key(outcome: Outcome) -> tuple[object, ...]:
    """Return what is compared of an outcome; truth and numbers are told apart."""
    refused = outcome.refused
    fields = None if refused is None else (refused.name, refused.fields)
    return type(outcome.value), outcome.value, outcome.failed, fields


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _tell(outcome: Outcome) -> str:
    if outcome.refused is not None:
        fields = ", ".join(f"{name}={value!r}" for name, value in outcome.refused.fields)
        return f"{outcome.refused.name}({fields})"
    return "a failure" if outcome.failed else f"the value {outcome.value!r}"


# --------------------------------------------------------------------------------------- running


def run_calls(pair: Pair, calls: Iterable[tuple[Call, Choice]]) -> Difference | None:
    """Make calls on both from the first state and return the first difference, if there is one."""
    try:
        state = pair.initial()
        for call, choice in calls:
            state = pair.take(state, call, choice).after
    except Differs as found:
        return found.difference
    return None


def replay_trace(pair: Pair, trace: SymbolicTrace) -> Difference | None:
    """Make the calls of a trace on both, with its choices and picks; return the difference."""
    names = Names()
    try:
        state = pair.initial()
        for line in trace.lines:
            resolver = Resolver(names, state.view)
            call = resolver.read_call(OPERATIONS[line.op], line.arguments)
            wanted = DEFAULT if line.choice is None else resolver.read_choice(line.choice)
            taken = pair.take(state, call, wanted or DEFAULT, line.picks)
            names.learn(line.n, call, taken.outcome)
            state = taken.after
    except Differs as found:
        return found.difference
    return None
