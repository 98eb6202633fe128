"""The Hypothesis machine: one state machine for any subject on any shape, one rule an operation.

A thin front for those who know Hypothesis: it generates, shrinks and prints; the explorer owns
"no break within the scope", walks own depth. Every call is judged in full. Owned here: making a
drawn call and raising what was broken, in exactly one place, the invariant. Not owned: what the
arguments stand for (`absolute`), how they are drawn (`arguments`), settings (`profiles`), what a
failure prints (`failure`). Knows no tier.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import new_class
from typing import Any, ClassVar

from hypothesis import reject
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from properties.absolute import Meaning
from properties.arguments import POSSIBLE, get_arguments, get_seats
from properties.drawing import make_scope
from properties.failure import Told, get_broken, get_path, render_step
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.lookup import REFERENCE, make_model
from properties.minimise import MakeModel
from properties.nearest import get_nearest
from properties.registry import all_rules
from properties.scopes import SCOPES, Scope, is_inside
from properties.shorten import MachineStep, shorten
from properties.step import Step
from properties.tally import Tally
from properties.trace import Header, record
from reference.calls import DEFAULT, NAMES, Abandon, Call, Choice, Finish, Release, Reset
from reference.words import Shape

GROUPS = {Finish: "end", Release: "end", Abandon: "end", Reset: "end"}
OTHERS = "call"
"""The names of the functions of the rules.

Hypothesis switches rules off by the names of their functions, each in half of the runs (swarm
testing), and nothing can say no. Where five operations follow one another before anything
interesting can happen, that leaves little. Rules of one name are switched together: with all of
them there are no runs without fills, and half of the runs never give anything up, which is how a
tier gets full.
"""


class TierMachine(RuleBasedStateMachine):
    """One run of calls on one model; `machine_for` adds the rules."""

    make_model: ClassVar[MakeModel]
    scope: ClassVar[Scope]
    judge: ClassVar[Judge]
    tally: ClassVar[Tally]
    subject: ClassVar[str]
    tolerant: ClassVar[bool]

    def __init__(self) -> None:
        """Begin where nothing happened yet."""
        super().__init__()
        scope = self.scope
        self.model = type(self).make_model(scope.shape, scope.off)
        self.state = self.model.initial()
        self.view = self.model.view(self.state)
        self.ledger = Ledger.empty(scope.shape.rows)
        self.meaning = Meaning(scope, self.view, get_seats(scope))
        self.path: list[tuple[Call, Choice]] = []
        self.steps: list[MachineStep] = []
        self.verdicts: list[Verdict] = self.judge.judge_view(self.view, self.ledger)
        self.tally.runs += 1

    def make(self, name: str, arguments: dict[str, Any]) -> None:
        """Make the call that the arguments stand for, with the nearest choice, and judge it.

        A tolerant machine notes what a broken subject raises, and gives the run up.
        """
        self.steps.append((name, arguments))
        try:
            call, wanted = getattr(self.meaning, name)(**arguments)
            choice = get_nearest(self.model, self.state, self.view, call, wanted)
            self._make(call, choice)
        except Exception as error:
            if not self.tolerant:
                raise
            self.tally.crash = self.tally.crash or f"{type(error).__name__}: {error}"
            reject()

    def _make(self, call: Call, choice: Choice) -> None:
        before, ledger = self.view, self.ledger
        _, outcome, state = self.model.take(self.state, call, choice)
        if outcome.refused is not None:
            # Nothing was left open, whatever this subject might have gone on with.
            choice = DEFAULT
        same = state is self.state
        after = before if same else self.model.view(state)
        step = Step(before, call, outcome, after, ledger)
        known = ledger.absorb(call, outcome)
        self.verdicts = self.judge.judge_step(step)
        if not same or known is not ledger:
            self.verdicts += self.judge.judge_view(after, known)
            self.tally.see(after, known)
        self.tally.note(step, choice)
        # As in the explorer: what leads out of the scope is judged, and not gone on from.
        if self.verdicts or is_inside(after, self.scope):
            self.path.append((call, choice))
            self.state, self.view, self.ledger = state, after, known
            self.meaning.learn(call, outcome, after)

    @invariant()
    def rules_hold(self) -> None:
        """Raise what the last call broke."""
        if self.verdicts:
            broken = self.verdicts[0].rule
            raise get_broken(broken)(broken, partial(_tell, type(self), broken, self.steps))

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        """Return a step as Hypothesis prints it, by its operation: the rules share one name."""
        return (
            f"state.{rule.function.__qualname__}({', '.join(f'{k}={v}' for k, v in data.items())})"
        )


def machine_for(
    make_model: MakeModel,
    scope: Scope,
    judge: Judge,
    tally: Tally,
    *,
    subject: str = REFERENCE,
    tolerant: bool = False,
) -> type[TierMachine]:
    """Return the machine of a subject on a scope: a rule for each operation, one invariant.

    A tolerant machine gives up a run in which the subject raises what is no refusal, and the
    tally keeps what; otherwise the exception is the caller's. Run it with
    `run_state_machine_as_test`, or with a profile (`fronts`).
    """
    make_rule: Any = rule  # its types know keywords that are written out only
    body: dict[str, Any] = {
        "make_model": staticmethod(make_model),
        "scope": scope,
        "judge": judge,
        "tally": tally,
        "subject": subject,
        "tolerant": tolerant,
    }
    for call, drawn in get_arguments(scope).items():
        step = make_rule(**drawn)(_step(call, tuple(drawn)))
        body[NAMES[call]] = precondition(_possible(call))(step)
    return new_class("TierMachine", (TierMachine,), exec_body=lambda space: space.update(body))


def machine_on(subject: str, scope: str) -> type[TierMachine]:
    """Return the machine of a subject by its name, judged by every rule: for pasted programs."""
    found = find_scope(scope)
    judge = Judge(all_rules())
    return machine_for(make_model(subject), found, judge, Tally(found), subject=subject)


def find_scope(name: str) -> Scope:
    """Return a scope by its name, which for a mere shape is its three sizes."""
    return SCOPES.get(name) or make_scope(Shape(*map(int, name.split("/"))))


def _step(call: type[Call], fields: tuple[str, ...]) -> Callable[..., None]:
    """Return the body of a rule; Hypothesis hands it its arguments in an order of its own."""
    name = NAMES[call]

    def step(machine: TierMachine, **arguments: Any) -> None:
        machine.make(name, {field: arguments[field] for field in fields})

    step.__name__, step.__qualname__ = GROUPS.get(call, OTHERS), name
    step.__doc__ = getattr(Meaning, name).__doc__
    return step


def _possible(call: type[Call]) -> Callable[[TierMachine], bool]:
    """Return whether the call may come to anything here: one look, no draw."""
    is_possible = POSSIBLE[call]
    return lambda machine: is_possible(machine.view, machine.scope)


# --------------------------------------------------------------------------------------- failures


def run_steps(kind: type[TierMachine], steps: Sequence[MachineStep], rule: str) -> int | None:
    """Make steps on a new machine and return how many it took to break the rule, if they do."""
    machine = kind()
    try:
        for count, (name, arguments) in enumerate(steps, 1):
            machine.make(name, arguments)
            if machine.verdicts:
                return count if rule in {found.rule for found in machine.verdicts} else None
    except Exception:
        # A broken subject may crash on steps that it was not found with.
        return None
    return 0 if rule in {found.rule for found in machine.verdicts} else None


def _tell(kind: type[TierMachine], rule: str, steps: Sequence[MachineStep]) -> Told:
    """Make the steps few, make them once more, and tell what they come to."""
    scope, subject = kind.scope, kind.subject
    alone = _uncounted(kind)
    short = shorten(steps, partial(run_steps, alone, rule=rule))
    machine = alone()
    for name, arguments in short:
        machine.make(name, arguments)
    header = Header(
        shape=scope.shape,
        off=scope.off,
        subject=subject,
        rule=rule,
        because=dict(machine.verdicts)[rule],
        scope=scope.name if scope.name in SCOPES else None,
    )
    program = [
        "from properties.machine import machine_on",
        "",
        f'state = machine_on("{subject}", "{scope.name}")()',
        *(render_step(name, arguments) for name, arguments in short),
        "state.rules_hold()",
    ]
    trace = record(machine.model, header, machine.path)
    return Told(trace, program, get_path("machine", header), machine.model, kind.judge)


def _uncounted(kind: type[TierMachine]) -> type[TierMachine]:
    """Return a machine that makes the same calls and counts none of them."""
    body = {"tally": Tally(kind.scope, goals=()), "tolerant": False}
    return new_class("TierMachine", (kind,), exec_body=lambda space: space.update(body))
