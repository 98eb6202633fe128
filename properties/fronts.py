"""The two fronts of Hypothesis, run with a profile: the machine, and walks from drawn seeds.

The machine is what users of Hypothesis know; alone it reaches a part of what a walk of the same
length does. So each scope is also given to walks, one Hypothesis example a seed, and both are
counted together. Owned here: running them, and what they reached. Not owned: one step of either
(`machine`, `walker`), the settings (`profiles`), and how a report looks (`commands/machine`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import NamedTuple

import hypothesis
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test

from properties.failure import RuleBroken, Told, get_broken, get_path
from properties.goals import all_goals
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.lookup import REFERENCE, make_model
from properties.machine import find_scope, machine_for
from properties.minimise import MakeModel, minimise
from properties.profiles import Profile, loaded
from properties.registry import all_rules
from properties.scopes import SCOPES, Scope
from properties.tally import Tally
from properties.trace import Header, Trace
from properties.view import View
from properties.walker import WalkBreak
from properties.walks import run_walks

DIGITS = 100
"""A seed is drawn as two digits of this base. Hypothesis mixes integers from the text of imported
modules into draws from larger ranges: what else was imported would change what is found."""

STATES = {
    "tiny": 69,
    "rows": 240,
    "off": 1_728,
    "small": 3_764,
    "pins": 10_596,
    "default": 61_412,
    "leave": 77,
    "sleep": 124,
    "drafts": 446,
    "keys": 129,
    "off-leave": 15,
    "off-share": 1_617,
    "orphans": 5_861,
}
"""Canonical states of the scopes that are searched to their end, to tell the share that was seen.
A test searches the small ones again."""


class ScopeRun(NamedTuple):
    """What both fronts did on one scope."""

    scope: Scope
    machine: Tally
    """What the machine did."""
    walks: Tally
    """What the walks did."""
    machine_seconds: float
    """CPU time of the machine."""
    walk_seconds: float
    """CPU time of the walks."""
    front: str
    """Which front found the break: `machine` or `walks`; empty if none did."""
    broken: RuleBroken | None
    """The first break."""

    @property
    def seen(self) -> int:
        """Canonical states inside the scope that either front saw."""
        return len(self.machine.seen | self.walks.seen)

    @property
    def share(self) -> float | None:
        """The share of the scope's states, if it is known how many there are."""
        states = STATES.get(self.scope.name)
        return None if states is None else self.seen / states


class Report(NamedTuple):
    """A run of both fronts on some scopes."""

    profile: Profile
    seed: int
    runs: tuple[ScopeRun, ...]

    @property
    def broken(self) -> ScopeRun | None:
        """The scope where a rule broke; nothing ran after it."""
        return next((run for run in self.runs if run.broken is not None), None)

    @property
    def crash(self) -> str:
        """What the subject raised that is no refusal, the first such thing; empty if nothing."""
        crashes = (run.machine.crash or run.walks.crash for run in self.runs)
        return next(filter(None, crashes), "")

    def count_events(self) -> Counter[str]:
        """Return how often each event happened on all scopes, whoever made the calls."""
        events: Counter[str] = Counter()
        for run in self.runs:
            events += run.machine.events + run.walks.events
        return events

    def missing(self, fronts: Sequence[str] = ("machine", "walks")) -> list[str]:
        """Return the goals that these fronts reached on none of the scopes."""
        reached: set[str] = set()
        for run in self.runs:
            for front in fronts:
                reached |= getattr(run, front).reached
        operations = {call for run in self.runs for call in run.scope.operations}
        return [goal.id for goal in all_goals(operations) if goal.id not in reached]


def run_fronts(
    make_model: MakeModel,
    scopes: Sequence[Scope],
    judge: Judge,
    profile: Profile,
    *,
    seed: int = 0,
    subject: str = REFERENCE,
    fronts: Sequence[str] = ("machine", "walks"),
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Run the machine, then walks, on each scope until a rule breaks."""
    runs: list[ScopeRun] = []
    with loaded(profile):
        for scope in scopes:
            run = _run_scope(make_model, scope, judge, profile, seed, subject, fronts, progress)
            runs.append(run)
            if run.broken is not None:
                break
    return Report(profile, seed, tuple(runs))


def _run_scope(
    make_model: MakeModel,
    scope: Scope,
    judge: Judge,
    profile: Profile,
    seed: int,
    subject: str,
    fronts: Sequence[str],
    progress: Callable[[str], None],
) -> ScopeRun:
    tallies = {"machine": Tally(scope), "walks": Tally(scope)}
    seconds = dict.fromkeys(tallies, 0.0)
    runs = {"machine": run_machine, "walks": run_seeds}
    for front in fronts:
        progress(f"{front} on {scope.name}")
        begun = process_time()
        found = None
        try:
            runs[front](
                make_model, scope, judge, tallies[front], profile, seed=seed, subject=subject
            )
        except RuleBroken as broken:
            found = broken
        seconds[front] = process_time() - begun
        if found is not None:
            break
    else:
        front, found = "", None
    return ScopeRun(
        scope,
        **tallies,
        machine_seconds=seconds["machine"],
        walk_seconds=seconds["walks"],
        front=front,
        broken=found,
    )


def run_machine(
    make_model: MakeModel,
    scope: Scope,
    judge: Judge,
    tally: Tally,
    profile: Profile,
    *,
    seed: int = 0,
    subject: str = REFERENCE,
) -> None:
    """Run the batches of a profile. Raises `RuleBroken` at the first break.

    A mutant may crash: then the run is given up, and what it raised is in the tally.
    """
    tolerant = subject != REFERENCE
    machine = machine_for(make_model, scope, judge, tally, subject=subject, tolerant=tolerant)
    for batch in range(profile.get_batches(scope.name)):
        _seeded(f"{seed}:{scope.name}:{batch}", machine)
        try:
            run_state_machine_as_test(machine, settings=profile.settings)
        except Unsatisfiable:
            # It crashed in every run of this batch, and the tally says so.
            if not tally.crash:
                raise


def _seeded(name: str, test: Callable[..., object]) -> None:
    """Seed a test by a text: `random` makes the same of it everywhere."""
    hypothesis.seed(name)(test)


# ------------------------------------------------------------------------------------------ walks


class _SeeingJudge(Judge):
    """A judge that notes the states it is shown."""

    def __init__(self, judge: Judge, tally: Tally) -> None:
        """Judge as this judge does."""
        super().__init__(judge.rules)
        self._see = tally.see

    def judge_view(self, view: View, ledger: Ledger) -> list[Verdict]:
        """Note the state and judge it."""
        self._see(view, ledger)
        return super().judge_view(view, ledger)


def run_seeds(
    make_model: MakeModel,
    scope: Scope,
    judge: Judge,
    tally: Tally,
    profile: Profile,
    *,
    seed: int = 0,
    subject: str = REFERENCE,
) -> None:
    """Make the walks of as many seeds as the profile says. Raises `RuleBroken` at a break."""
    seeing = _SeeingJudge(judge, tally)

    def walk(drawn: int) -> None:
        _walk(make_model, scope, seeing, tally, drawn, subject)

    test = given(drawn=_draw_seeds())(walk)
    _seeded(f"{seed}:{scope.name}:walks", test)
    profile.seed_settings(test)()


def walk_on(subject: str, scope: str, seed: int) -> None:
    """Make the walks of one seed on a subject by its name, for pasted programs."""
    found = find_scope(scope)
    _walk(make_model(subject), found, Judge(all_rules()), Tally(found), seed, subject)


def _draw_seeds() -> st.SearchStrategy[int]:
    digit = st.integers(0, DIGITS - 1)
    return st.tuples(digit, digit).map(lambda digits: digits[0] * DIGITS + digits[1])


def _walk(
    make_model: MakeModel, scope: Scope, judge: Judge, tally: Tally, seed: int, subject: str
) -> None:
    """Make the walks of one seed and raise the first break."""
    make = partial(make_model, scope.shape, scope.off)
    found = run_walks(
        make, scope, judge, seed=seed, walks=len(scope.begins), stop_at_break=True
    ).found
    tally.add(found)
    for crash in found.crashes:
        if subject == REFERENCE:
            raise RuntimeError(f"the walks of seed {seed} crashed: {crash.because}")
        tally.crash = tally.crash or crash.because
    for broken in found.breaks[:1]:
        tell = partial(_tell, make_model, scope, judge, subject, seed, broken)
        raise get_broken(broken.rule)(broken.rule, tell)


def _tell(
    make_model: MakeModel, scope: Scope, judge: Judge, subject: str, seed: int, broken: WalkBreak
) -> Told:
    """Make the calls of a walk few and tell what they come to."""
    header = Header(
        shape=scope.shape,
        off=scope.off,
        subject=subject,
        rule=broken.rule,
        because=broken.because,
        scope=scope.name if scope.name in SCOPES else None,
    )
    rule = next(rule for rule in judge.rules if rule.id == broken.rule)
    trace = minimise(make_model, header, broken.path, rule) if broken.path else Trace(header, ())
    program = [
        "from properties.fronts import walk_on",
        "",
        f'walk_on("{subject}", "{scope.name}", seed={seed})',
    ]
    shape = trace.header.shape
    return Told(trace, program, get_path("walks", header), make_model(shape, scope.off), judge)
