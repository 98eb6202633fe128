"""The Hypothesis machine: what it is made of, what it finds, and what a failure prints."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test
from machine_samples import BRIEF, GOLDEN_MUTANTS, find_break, get_golden_text, get_machine
from walk_samples import JUDGE, get_mutant, make_reference

from properties import fronts, machine
from properties.arguments import POSSIBLE, get_arguments
from properties.explorer import Exploration
from properties.failure import RuleBroken
from properties.fronts import STATES, run_fronts, run_machine, walk_on
from properties.judge import Judge
from properties.machine import find_scope, run_steps
from properties.profiles import PROFILES
from properties.registry import Rule
from properties.scopes import SCOPES
from properties.shorten import shorten
from properties.subject import FunctionModel, Model, reference_modules
from properties.tally import Tally
from reference.calls import BASE, CALLS, NAMES, Open
from reference.words import Shape

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"


# ---------------------------------------------------------------------------------- what it is


def test_each_operation_has_one_rule() -> None:
    """An operation without a rule would never be called; one with two, twice as often."""
    for name in ("tiny", "orphans", "all"):
        rules = get_machine(scope=name).setup_state().rules
        operations = SCOPES[name].operations

        assert [NAMES[call] for call in operations] == get_order(rules)
        assert set(operations) == get_arguments(SCOPES[name]).keys()
    assert set(CALLS) == get_arguments(SCOPES["all"]).keys() == POSSIBLE.keys()


def get_order(rules: list[Any]) -> list[str]:
    """The operations that rules stand for, in the order of the spec's table."""
    return sorted((rule.function.__qualname__ for rule in rules), key=list(NAMES.values()).index)


def test_exactly_one_invariant_speaks() -> None:
    """Verdicts are raised in one place, so Hypothesis tells two bugs apart by their rules."""
    invariants = get_machine().setup_state().invariants

    assert ["rules_hold"] == [found.function.__name__ for found in invariants]


def test_hypothesis_prints_the_operations() -> None:
    """The rules share one name to escape swarm testing; a user still reads what was called."""
    loud = settings(BRIEF.settings, verbosity=Verbosity.normal)
    kind = get_machine(get_mutant("tier.unsaved-page-is-let-go"))
    with pytest.raises(RuleBroken) as raised:
        run_state_machine_as_test(kind, settings=loud)
    printed = "\n".join(raised.value.__notes__).splitlines()

    assert "state = TierMachine()" in printed
    assert "state.open(promise=1)" in printed


def test_the_message_is_the_whole_text() -> None:
    """Whoever runs the machine by Hypothesis's own means is told as much."""
    mutant = "tier.unsaved-page-is-let-go"
    kind = machine.machine_for(
        get_mutant(mutant), SCOPES["tiny"], JUDGE, Tally(SCOPES["tiny"]), subject=mutant
    )
    with pytest.raises(AssertionError) as raised:
        run_state_machine_as_test(kind, settings=BRIEF.settings)
    lines = str(raised.value).splitlines()

    assert lines[0].endswith(f": BROKEN by {mutant}")
    assert lines[-1].startswith("  replay   python -m properties replay ")


# --------------------------------------------------------------------------------- what it does


def test_reference_breaks_no_rule() -> None:
    """What is judged by all rules on both fronts is not empty, and is right."""
    profile = PROFILES["dev"]
    scopes = [SCOPES[name] for name in profile.batches]
    report = run_fronts(make_reference, scopes, JUDGE, profile)
    calls = [run.machine.calls + run.walks.calls for run in report.runs]

    assert report.broken is None
    assert "" == report.crash
    assert [] == report.missing()
    assert all(count > 5_000 for count in calls)
    assert all(run.machine.refused > 0 for run in report.runs)


@pytest.mark.parametrize(("scope", "examples"), [("all", 8), ("orphans", 2), ("keys", 2)])
def test_reference_breaks_no_rule_when_wider(scope: str, examples: int) -> None:
    """Leases leave, rows are taken back and keys found by the machine too."""
    found = SCOPES[scope]
    tally = Tally(found)
    profile = PROFILES["ci"]._replace(batches={scope: examples})
    run_machine(make_reference, found, JUDGE, tally, profile)
    wider = {call.__name__ for call in found.operations if call not in BASE}

    assert tally.calls > 1_000
    assert wider <= tally.events.keys()


@pytest.mark.parametrize(
    ("mutant", "scope", "most"),
    [
        ("fill.fault-skips-the-undo", "tiny", 3),
        ("tier.dirty-without-a-pin", "small", 4),
        ("tier.unsaved-page-is-let-go", "small", 6),
        ("fill.victim-ignores-copies-in-flight", "default", 16),
        ("leave.reset-keeps-tickets", "sleep", 4),
        ("leave.abandon-only-unlocks", "orphans", 6),
    ],
)
def test_machine_alone_finds_mutants(mutant: str, scope: str, most: int) -> None:
    """A search that finds no planted bug says nothing by finding none."""
    broken = find_break("machine", mutant, scope, PROFILES["ci"])

    assert broken is not None
    assert most >= len(broken.told.trace.calls)


def test_same_seed_is_same_run() -> None:
    """A finding that cannot be shown again is a rumour."""

    def run() -> list[Any]:
        report = run_fronts(make_reference, [SCOPES["small"]], JUDGE, BRIEF, seed=5)
        run = report.runs[0]
        return [sorted(report.count_events().items()), run.machine.seen, run.walks.seen]

    assert run() == run()


def test_other_seed_is_other_run() -> None:
    """More seeds must be worth their time."""
    one, two = (
        run_fronts(make_reference, [SCOPES["small"]], JUDGE, BRIEF, seed=seed) for seed in (0, 1)
    )

    assert one.count_events() != two.count_events()


def test_share_counts_states_of_the_scope() -> None:
    """A share above one would mean that something else is counted."""
    report = run_fronts(make_reference, [SCOPES["tiny"]], JUDGE, BRIEF)
    search = Exploration(make_reference(SCOPES["tiny"].shape), SCOPES["tiny"], Judge(())).run()
    run = report.runs[0]

    assert search.states == STATES["tiny"]
    assert search.seen.keys() >= run.machine.seen | run.walks.seen
    assert run.share is not None and 0.5 < run.share <= 1


def test_states_outside_are_not_gone_on_from() -> None:
    """Else two leases' worth of room is soon spent on what the scope does not hold."""
    state = get_machine()()
    state.open(promise=1)
    state.alloc(lease=0, page=0)
    state.fill(lease=0, pages=(0,), how="held", frame=0, fault=0)
    state.complete_fill(lease=0, copy=(0, "own"), ok=True)
    state.fill(lease=0, pages=(0,), how="exact", frame=0, fault=0)

    assert 5 == state.tally.calls
    assert 4 == len(state.path)
    assert {0: 1} == state.view.leases[0].pins


class Crashes(FunctionModel):
    """A subject that raises what is no refusal when a lease is opened."""

    def take(self, state: object, call: object, choice: object) -> Any:  # type: ignore[override]
        """Raise, or do what the reference does."""
        if isinstance(call, Open):
            raise ZeroDivisionError("always")
        return super().take(state, call, choice)  # type: ignore[arg-type]


def make_crashing(shape: Shape, off: bool) -> Model:
    """A model that crashes."""
    return Crashes(shape, off, reference_modules())


def test_crash_of_a_mutant_is_no_break() -> None:
    """A kill counts only when a rule speaks; what was raised is told apart."""
    tally = Tally(SCOPES["tiny"])
    run_machine(make_crashing, SCOPES["tiny"], JUDGE, tally, BRIEF, subject="mutant")

    assert "ZeroDivisionError: always" == tally.crash


def test_crash_of_the_reference_is_raised() -> None:
    """It is a bug of ours, whatever the rules say."""
    with pytest.raises(ZeroDivisionError, match="always"):
        run_machine(make_crashing, SCOPES["tiny"], JUDGE, Tally(SCOPES["tiny"]), BRIEF)


def test_first_state_may_be_broken() -> None:
    """A subject that is wrong from the start is shown without a call."""
    rule = Rule("never", "state", "Never.", "", lambda *_: "so it is", lambda: None, (), (), "")
    with pytest.raises(RuleBroken) as raised:
        run_machine(make_reference, SCOPES["tiny"], Judge([rule]), Tally(SCOPES["tiny"]), BRIEF)

    assert () == raised.value.told.trace.calls
    assert "never: BROKEN by reference" in str(raised.value)


# ------------------------------------------------------------------------------ what it prints


@pytest.mark.parametrize("front", GOLDEN_MUTANTS)
def test_failure_prints_as_agreed(front: str) -> None:
    """This is what a user sees of a bug; a changed text is a changed feature."""
    text = get_golden_text(front)
    out = ROOT / "build" / "golden" / f"{front}.txt"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")

    assert (GOLDEN / f"{front}.txt").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("front", "hash_seed"), [("machine", "1"), ("walks", "2")])
def test_text_is_the_same_elsewhere(front: str, hash_seed: str) -> None:
    """Another order of sets, other modules imported, and `CI` set: the same bytes."""
    program = (
        f"from machine_samples import get_golden_text\nprint(get_golden_text('{front}'), end='')"
    )
    environment = {**os.environ, "PYTHONPATH": "tests", "PYTHONHASHSEED": hash_seed, "CI": "true"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "" == done.stderr
    assert (GOLDEN / f"{front}.txt").read_text(encoding="utf-8") == done.stdout


@pytest.mark.parametrize("front", GOLDEN_MUTANTS)
def test_printed_program_shows_it_again(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newcomer reproduces a failure from its text alone."""
    monkeypatch.setattr(machine, "make_model", get_mutant)
    monkeypatch.setattr(fronts, "make_model", get_mutant)
    text = (GOLDEN / f"{front}.txt").read_text(encoding="utf-8")
    _, _, after = text.partition("  program\n")
    program = "\n".join(line.strip() for line in after.partition("  replay")[0].splitlines())
    with pytest.raises(RuleBroken) as raised:
        exec(program, {})

    assert text == f"{raised.value}\n"


def test_programs_of_shapes_are_pasted_too() -> None:
    """A shape that is no scope is named by its sizes."""
    assert Shape(5, 3, 2) == find_scope("5/3/2").shape
    walk_on("reference", "5/3/2", seed=1)


# --------------------------------------------------------------------------------- shortening


def test_no_step_can_be_left_out() -> None:
    """A step that does nothing for the bug sends the reader the wrong way."""
    mutant = "fill.victim-ignores-pins"
    kind = get_machine(get_mutant(mutant), "default")
    steps = [
        ("open", {"promise": 2}),
        ("lookup", {"lease": 1, "page": (1, "exact")}),
        ("alloc", {"lease": 0, "page": 2}),
        ("alloc", {"lease": 1, "page": 1}),
        ("fill", {"lease": 0, "pages": (2, 1), "how": "held", "frame": 1, "fault": 0}),
        ("read", {"lease": 0, "handle": (1, "stale"), "row": 0}),
        ("complete_fill", {"lease": 0, "copy": (2, "own"), "ok": True}),
        ("alloc", {"lease": 0, "page": 0}),
        ("unpin", {"lease": 0, "handle": (2, "pinned")}),
        ("fill", {"lease": 0, "pages": (0,), "how": "held", "frame": 0, "fault": 0}),
        ("finish", {"lease": 0}),
    ]
    rule = "victim-was-evictable"
    run = partial(run_steps, kind, rule=rule)
    short = shorten(steps, run)

    assert 10 == run(steps)
    assert 8 == len(short) == run(short)
    assert all(run(short[:n] + short[n + 1 :]) is None for n in range(len(short)))
