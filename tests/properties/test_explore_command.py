"""The `explore` command: what it prints, how it ends, and the exact counts of the large scopes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from properties.cli import PROPERTIES, run
from properties.exits import Exit

ROOT = Path(__file__).parent.parent.parent

# Canonical states, depth, transitions judged, fault-free steps: exact, as in `test_explorer`.
LARGE = {
    "pins": (10_596, 28, 484_869, 72_532),
    "default": (61_412, 36, 1_999_359, 483_040),
}


def test_holding_scope_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    """What one sees first: the scope, its verdict and how many states there are."""
    code = run(PROPERTIES, ["explore", "tiny"])
    shown = capsys.readouterr().out

    assert Exit.FINE == code
    assert shown.splitlines()[1].split()[:5] == ["tiny", "holds", "69", "19", "1,261"]


def test_cut_search_says_how_deep(capsys: pytest.CaptureFixture[str]) -> None:
    """A search that ran into its limit is no pass, and says how far it came."""
    code = run(PROPERTIES, ["explore", "wide", "--states", "300"])

    assert Exit.CRASHED == code
    assert "undetermined at depth" in capsys.readouterr().out


def test_json_has_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    """A machine reads the counts, not the table."""
    code = run(PROPERTIES, ["explore", "tiny", "--json"])
    found = json.loads(capsys.readouterr().out)

    assert (Exit.FINE, "holds", []) == (code, found["verdict"], found["broken"])
    assert 0 < found["scopes"][0]["counts"]["Fill:fault"]


def test_broken_subject_leaves_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A break ends with the line that shows it again."""
    monkeypatch.chdir(tmp_path)
    code = run(PROPERTIES, ["explore", "tiny", "--on", "tier.unsaved-page-is-let-go"])
    shown = capsys.readouterr().out

    assert Exit.REFERENCE_BREAKS == code
    assert "no-pin-leaves-dirt: BROKEN in tiny" in shown
    trace = Path("build/traces/no-pin-leaves-dirt--tiny.jsonl")
    assert f"python -m properties replay {trace}" in shown
    assert Exit.FINE == run(PROPERTIES, ["replay", str(trace)])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere"], "no scope 'nowhere'"), (["tiny", "--on", "tier.nobody"], "tier.nobody")],
)
def test_misuse_names_the_value(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says what is wrong, and code 1."""
    code = run(PROPERTIES, ["explore", *arguments])
    error = capsys.readouterr().err

    assert Exit.MISUSE == code
    assert said in error
    assert 1 == error.count("\n")


@pytest.mark.slow
def test_large_scopes_have_exactly_these_states() -> None:
    """A model that silently shrinks fails here. Not in this process: coverage would triple it."""
    done = subprocess.run(
        [sys.executable, "-m", "properties", "explore", *LARGE, "--workers", "2", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    found = {
        one["scope"]: (one["states"], one["depth"], one["calls"], one["edges"])
        for one in json.loads(done.stdout)["scopes"]
    }

    assert found == LARGE
