"""Walks: they find what is wrong, nothing where nothing is, and the same each time."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from walk_samples import JUDGE, SMALL, find_breaks, get_mutant, make_reference, make_small

from properties.drawing import make_scope
from properties.minimise import MakeModel
from properties.rules.rows import REFUSALS
from properties.scopes import SCOPES, Scope
from properties.subject import FunctionModel, Model, Transition, reference_modules
from properties.walks import CHUNK, get_every, run_walks
from reference.calls import CALLS, Call, Choice, Fill
from reference.words import Shape

ROOT = Path(__file__).parent.parent.parent
LARGE = make_scope(Shape(pages=2048, frames=512, rows=2), leases=100)


@pytest.mark.parametrize(
    ("scope", "walks", "calls"),
    [
        (SMALL, 200, 50),
        (make_scope(Shape(pages=2, frames=2, rows=2)), 100, 50),
        (make_scope(Shape(pages=64, frames=16, rows=2)), 40, 50),
        (make_scope(Shape(pages=2, frames=2, rows=1), off=True), 60, 50),
        (SCOPES["wide"], 60, 50),
        (SCOPES["all"], 160, 50),
        (SCOPES["orphans"], 60, 50),
        (LARGE, 3, 50),
    ],
    ids=lambda value: value.name if isinstance(value, Scope) else "",
)
def test_reference_walks_break_no_rule(scope: Scope, walks: int, calls: int) -> None:
    """A false alarm on the reference would make every finding on a mutant doubtful."""
    make = partial(make_reference, scope.shape, scope.off)
    found = run_walks(make, scope, JUDGE, walks=walks, calls=calls).found

    assert () == found.breaks
    assert () == found.crashes
    assert walks == found.walks
    assert found.calls >= walks * calls


@pytest.mark.parametrize(
    "scope",
    [SMALL, make_scope(Shape(2, 2, 2)), make_scope(Shape(64, 16, 2))],
    ids=lambda scope: scope.name,
)
def test_one_call_in_five_is_refused(scope: Scope) -> None:
    """Too few forbidden calls see no needless success; too many get nowhere."""
    make = partial(make_reference, scope.shape, scope.off)
    found = run_walks(make, scope, JUDGE, walks=100).found

    assert 0.10 <= found.refused_share <= 0.35


def test_small_walks_reach_every_goal() -> None:
    """A rule that is never tested where it matters holds for nothing."""
    found = run_walks(make_small(make_reference), SMALL, JUDGE, walks=300).found

    assert () == found.missed


def test_wider_walks_make_every_call() -> None:
    """Every operation is done, and refused for each reason that its row has.

    But for leases that are not open, which only few calls of a walk name.
    """
    found = run_walks(make_all(make_reference), SCOPES["all"], JUDGE, walks=600).found
    due = {f"{call.__name__}:{name}" for call, row in REFUSALS.items() for name in row}
    due -= {f"{call.__name__}:UnknownLease" for call in CALLS}

    assert {call.__name__ for call in CALLS} <= found.counts.keys()
    assert {"Fill:FrameMemory"} == due - found.counts.keys()


def make_all(make: MakeModel) -> partial[Model]:
    """What makes models for the scope of every operation."""
    return partial(make, SCOPES["all"].shape, SCOPES["all"].off)


def test_walks_draw_every_kind_of_choice() -> None:
    """Victims, other pages and both faults are what reference and mutants differ in."""
    counts = run_walks(make_small(make_reference), SMALL, JUDGE, walks=200).found.counts
    kinds = {"Fill:victim", "Fill:free-frame", "Fill:fault", "Fill:fault-after-unmapping"}

    assert {*kinds, "Alloc:other-page", "CompleteFill:failed"} <= counts.keys()
    assert "Fill:FrameMemory" not in counts


@pytest.mark.parametrize(
    ("mutant_id", "rule"),
    [
        ("fill.fault-skips-the-undo", "failed-fill-is-undone"),
        ("tier.unsaved-page-is-let-go", "no-pin-leaves-dirt"),
        ("fill.victim-ignores-pins", "victim-was-evictable"),
        ("tables.completion-ignores-its-ticket", "completion-is-own"),
        ("reference.refused-open-empties-frames", "refusal-changes-nothing"),
    ],
)
def test_walks_find_a_named_mutant(mutant_id: str, rule: str) -> None:
    """What walks cannot find they say nothing about."""
    assert rule in find_breaks(mutant_id)


def test_large_tier_breaks_when_full() -> None:
    """A wrong victim shows only where every frame is taken, however many there are."""
    scope = make_scope(Shape(pages=96, frames=32, rows=1))

    assert "victim-was-evictable" in find_breaks("fill.victim-ignores-pins", scope, walks=40)


# ------------------------------------------------------------------------------------ the same


@pytest.mark.parametrize("mutant_id", [None, "fill.fault-skips-the-undo"])
def test_workers_change_no_byte(mutant_id: str | None) -> None:
    """A finding that depends on the machine cannot be reported."""
    make = make_small(make_reference if mutant_id is None else get_mutant(mutant_id))
    runs = [
        run_walks(make, SMALL, JUDGE, seed=3, walks=5 * CHUNK + 7, workers=workers).found
        for workers in (1, 2, 3)
    ]

    assert runs[0].encode() == runs[1].encode() == runs[2].encode()


@pytest.mark.parametrize("mutant_id", [None, "leave.reset-keeps-tickets"])
def test_workers_change_no_byte_of_wider_walks(mutant_id: str | None) -> None:
    """Each of them begins in all of the states that a scope names."""
    make = make_all(make_reference if mutant_id is None else get_mutant(mutant_id))
    runs = [
        run_walks(make, SCOPES["all"], JUDGE, seed=3, walks=5 * CHUNK + 7, workers=workers).found
        for workers in (1, 2)
    ]

    assert runs[0].encode() == runs[1].encode()
    assert (mutant_id is None) is (runs[0].breaks == ())


def test_first_break_ends_alike_everywhere() -> None:
    """With two workers the second may be far ahead when the first finds a break."""
    make = make_small(get_mutant("tier.lookup-refreshes"))
    runs = [
        run_walks(make, SMALL, JUDGE, walks=10 * CHUNK, workers=workers, stop_at_break=True).found
        for workers in (1, 2)
    ]

    assert runs[0].encode() == runs[1].encode()
    assert runs[0].breaks[0].walk == runs[0].walks - 1


def test_hash_seed_changes_no_byte() -> None:
    """The order of a set is another in each process."""
    script = (
        "import sys; from walk_samples import *; "
        "found = run_walks(make_small(make_reference), SMALL, JUDGE, walks=40).found; "
        "sys.stdout.buffer.write(found.encode())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(outputs)
    assert outputs.pop().startswith(b"{")


def test_seeds_walk_differently() -> None:
    """Another seed that finds the same is no second look."""
    first, second = (
        run_walks(make_small(make_reference), SMALL, JUDGE, seed=seed, walks=20).found.counts
        for seed in (0, 1)
    )

    assert first != second


# ------------------------------------------------------------------------------- around a walk


class Crashes(FunctionModel):
    """A subject that raises what is no refusal."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Raise for every fill of two pages."""
        if isinstance(call, Fill) and len(call.pages) > 1:
            raise ZeroDivisionError("two")
        return super().take(state, call, choice)


def test_crash_is_noted_and_ends_its_walk() -> None:
    """A crash is no kill, and no reason to lose what the other walks find."""

    def make() -> Crashes:
        return Crashes(SMALL.shape, False, reference_modules())

    found = run_walks(make, SMALL, JUDGE, walks=60).found

    assert 60 == found.walks
    assert () == found.breaks
    assert ["ZeroDivisionError: two"] == [crash.because for crash in found.crashes]
    assert isinstance(found.crashes[0].path[-1][0], Fill)


def test_state_rules_judge_small_shapes_always() -> None:
    """What is judged less often is said, not hidden."""
    assert 1 == get_every(SMALL)
    assert 1 == get_every(make_scope(Shape(64, 16, 2)))
    assert 20 == get_every(LARGE)


def test_time_limit_ends_a_run() -> None:
    """A job has a budget; what was found until then counts."""
    make = make_small(make_reference)
    report = run_walks(make, SMALL, JUDGE, walks=100 * CHUNK, seconds=0.0)

    assert CHUNK == report.found.walks
    assert report.rate > 0
