"""`walk`: what it prints, what it writes, and how it ends."""

import json
from pathlib import Path

import pytest
from walk_samples import get_mutant

from properties.cli import PROPERTIES, run
from properties.commands import walk as walk_command
from properties.exits import Exit
from properties.subject import FunctionModel, Model, reference_modules
from reference.words import Shape

MUTANT = "fill.fault-skips-the-undo"


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where traces are written here."""
    monkeypatch.setattr(walk_command, "TRACES", tmp_path)
    return tmp_path


def walk(*arguments: str) -> int:
    """Run the command."""
    return run(PROPERTIES, ["walk", *arguments])


def test_walk_says_what_was_reached(capsys: pytest.CaptureFixture[str]) -> None:
    """Without it nobody knows what the absence of breaks is worth."""
    code = walk("--walks", "300")
    printed = capsys.readouterr().out

    assert Exit.FINE == code
    assert "walks on reference, 3/2/1, 2 leases, seed 0" in printed
    assert "goals reached: 14 of 14" in printed
    assert "judged calls a CPU second" in printed
    assert printed.endswith("no rule is broken\n")
    assert any(line.startswith("Fill ") and "HitPending" in line for line in printed.split("\n"))


def test_walk_shows_the_break_of_a_mutant(capsys: pytest.CaptureFixture[str], traces: Path) -> None:
    """The short trace, the rule, and a file to show it again: all that a report needs."""
    code = walk("--walks", "40", "--on", MUTANT)
    printed = capsys.readouterr().out
    path = traces / f"walk-{MUTANT}-failed-fill-is-undone.jsonl"

    assert Exit.FINE == code
    assert f"failed-fill-is-undone: BROKEN by {MUTANT}" in printed
    assert f"replay   python -m properties replay {path}" in printed
    assert f"{MUTANT}: noticed, as it should be" in printed
    assert Exit.FINE == run(PROPERTIES, ["replay", str(path)])


def test_unnoticed_mutant_is_not_fine(capsys: pytest.CaptureFixture[str]) -> None:
    """Silence about a mutant must not look like a pass."""
    code = walk("--walks", "1", "--calls", "1", "--on", MUTANT)

    assert Exit.NOT_RED == code
    assert f"{MUTANT}: not noticed by any rule" in capsys.readouterr().out


def test_broken_reference_has_its_own_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the one finding that stops everything else."""
    monkeypatch.setattr(walk_command, "make_model", lambda _: get_mutant(MUTANT))
    code = walk("--walks", "40")

    assert Exit.REFERENCE_BREAKS == code
    assert "failed-fill-is-undone: BROKEN by reference" in capsys.readouterr().out


class Crashes(FunctionModel):
    """A subject that shows nothing but an error."""

    def take(self, state: object, call: object, choice: object) -> object:  # type: ignore[override]
        """Raise."""
        raise ZeroDivisionError("always")


def test_crash_of_the_reference_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crash is neither a pass nor a broken rule."""

    def make(shape: Shape, off: bool) -> Model:
        return Crashes(shape, off, reference_modules())

    monkeypatch.setattr(walk_command, "make_model", lambda _: make)
    code = walk("--walks", "4")

    assert Exit.CRASHED == code
    assert "ZeroDivisionError: always" in capsys.readouterr().out


def test_json_holds_findings_and_rate_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """What another program compares must not hold how fast the machine was."""
    code = walk("--walks", "40", "--on", MUTANT, "--json")
    printed = json.loads(capsys.readouterr().out)

    assert Exit.FINE == code == printed["exit"]
    assert {"pages": 3, "frames": 2, "rows": 1} == printed["shape"]
    assert "failed-fill-is-undone" in [one["rule"] for one in printed["found"]["breaks"]]
    assert printed["rate"] > 0 and "rate" not in printed["found"]
    assert printed["replay"].startswith("python -m properties replay ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--shape", "3/2"], "--shape is '3/2': it is pages/frames/rows, such as 3/2/1"),
        (["--shape", "3/0/1"], "--shape is '3/0/1': each size is 1 to 100000"),
        (["--scope", "huge"], "no scope 'huge': there are tiny, "),
        (["--scope", "tiny", "--shape", "3/2/1"], "--shape and --scope say the same"),
        (["--walks", "0"], "--walks"),
    ],
)
def test_misuse_is_told_in_one_line(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever mistypes an option wants to know which."""
    code = walk(*arguments)
    told = capsys.readouterr().err

    assert Exit.MISUSE == code
    assert why in told
    assert 1 == told.count("\n")


def test_scopes_are_walked_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Other commands name them so."""
    code = walk("--scope", "off", "--walks", "20")

    assert Exit.FINE == code
    assert "2/2/1, 2 leases" in capsys.readouterr().out


def test_walks_of_every_operation_are_shortened(
    capsys: pytest.CaptureFixture[str], traces: Path
) -> None:
    """The fewest calls that show a break may be among those beyond the spec's table."""
    mutant = "leave.abandon-only-unlocks"
    code = walk("--scope", "all", "--walks", "40", "--on", mutant)
    printed = capsys.readouterr().out
    (path,) = traces.iterdir()

    assert Exit.FINE == code
    assert any(line.startswith("Abandon ") for line in printed.splitlines())
    assert "abandon(L1)" in printed
    assert 5 == len(path.read_text(encoding="utf-8").splitlines())
    assert Exit.FINE == run(PROPERTIES, ["replay", str(path)])
