"""`machine`: what it prints, what it writes, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from machine_samples import BRIEF
from walk_samples import get_mutant, make_reference

from properties import failure, profiles
from properties.cli import PROPERTIES, run
from properties.commands import machine as machine_command
from properties.exits import Exit

ROOT = Path(__file__).parent.parent.parent
MUTANT = "tier.unsaved-page-is-let-go"


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where traces are written here; and a profile that is soon done."""
    monkeypatch.setattr(failure, "TRACES", tmp_path)
    monkeypatch.setitem(profiles.PROFILES, "dev", BRIEF._replace(is_judged=False))
    return tmp_path


@pytest.fixture
def broken_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant in the place of the reference, or of whatever is asked for."""
    monkeypatch.setattr(machine_command, "make_model", lambda _: get_mutant(MUTANT))


def machine(*arguments: str) -> int:
    """Run the command."""
    return run(PROPERTIES, ["machine", *arguments])


def machine_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """Run the command and return its code and the JSON that it printed."""
    code = machine(*arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_machine_says_what_was_reached(capsys: pytest.CaptureFixture[str]) -> None:
    """Without it nobody knows what the absence of breaks is worth."""
    code = machine("--scope", "tiny")
    printed = capsys.readouterr().out

    assert Exit.FINE == code
    assert "reference, profile ci, seed 0" in printed
    assert "scope  front    runs  calls " in printed
    assert "goals not reached by the machine alone: " in printed
    assert "StaleHandle" in printed
    assert "%\n" in printed
    assert printed.endswith("no rule is broken\n")


def test_break_of_a_mutant_is_noticed(
    broken_reference: None, traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rule, the calls, the program and a file to show it again: all that a report needs."""
    code = machine("--scope", "tiny", "--on", MUTANT)
    printed = capsys.readouterr().out
    path = traces / f"machine-{MUTANT}-no-pin-leaves-dirt.jsonl"

    assert Exit.FINE == code
    assert "found by the machine on tiny\nno-pin-leaves-dirt: BROKEN by" in printed
    assert f"replay   python -m properties replay {path}" in printed
    assert printed.endswith(f"{MUTANT}: noticed, as it should be\n")
    assert path.exists()


def test_unnoticed_mutant_is_not_fine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Silence about a mutant must not look like a pass."""
    monkeypatch.setattr(machine_command, "make_model", lambda _: make_reference)
    code = machine("--scope", "tiny", "--on", "an.equivalent")

    assert Exit.NOT_RED == code
    assert "an.equivalent: not noticed by any rule\n" in capsys.readouterr().out


def test_broken_reference_has_its_own_code(
    broken_reference: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the one finding that stops everything else."""
    code, found = machine_json(capsys, "--scope", "tiny")

    assert Exit.REFERENCE_BREAKS == code == found["exit"]
    assert "no-pin-leaves-dirt" == found["rule"]
    assert "machine" == found["front"]
    assert found["replay"].startswith("python -m properties replay ")
    assert "state.rules_hold()" in found["text"]


def test_goal_never_reached_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules that hold where nothing happens hold for nothing."""
    monkeypatch.setitem(profiles.PROFILES, "ci", BRIEF._replace(seeds=1))
    code = machine("--profile", "ci")
    printed = capsys.readouterr().out

    assert Exit.REFERENCE_BREAKS == code
    assert printed.endswith("goal never reached: two-leases-pin-one-page\n")


def test_one_scope_is_not_judged_by_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    """No single scope has them all."""
    monkeypatch.setitem(profiles.PROFILES, "ci", BRIEF)

    assert Exit.FINE == machine("--profile", "ci", "--scope", "tiny")


def test_seed_is_told_and_matters(capsys: pytest.CaptureFixture[str]) -> None:
    """A run is shown again by its seed."""
    _, one = machine_json(capsys, "--shape", "3/2/1", "--seed", "1")
    _, two = machine_json(capsys, "--shape", "3/2/1", "--seed", "2")
    _, again = machine_json(capsys, "--shape", "3/2/1", "--seed", "1")

    assert one == again
    assert one["events"] != two["events"]
    assert 1 == one["seed"]
    assert "3/2/1" == one["scopes"][0]["scope"]
    assert one["scopes"][0]["share"] is None


def test_absence_of_hypothesis_is_told() -> None:
    """It is needed for this command alone, and not installed with the packages."""
    program = (
        "import sys; sys.modules['hypothesis'] = None; "
        "from properties.cli import PROPERTIES, run; "
        "sys.exit(run(PROPERTIES, ['machine', '--scope', 'tiny']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert Exit.MISUSE == done.returncode
    assert "the machine needs Hypothesis: pip install hypothesis\n" == done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--shape", "3/2"], "--shape is '3/2': it is pages/frames/rows, such as 3/2/1"),
        (["--shape", "3/0/1"], "--shape is '3/0/1': each size is 1 to 1000"),
        (["--scope", "huge"], "no scope 'huge': there are tiny, "),
        (["--scope", "tiny", "--shape", "3/2/1"], "--shape and --scope say the same"),
        (["--profile", "huge"], "no profile 'huge': there are dev, ci, deep, mutation"),
    ],
)
def test_misuse_is_told_in_one_line(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever mistypes an option wants to know which."""
    code = machine(*arguments)
    told = capsys.readouterr().err

    assert Exit.MISUSE == code
    assert why in told
    assert 1 == told.count("\n")
