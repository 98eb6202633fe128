"""The corpus is recorded once, covers what it says, and is found again only if it fits."""

from pathlib import Path

import pytest

from properties import corpus
from properties.cli import PROPERTIES
from properties.cli import run as run_command
from properties.corpus import Recorded, decode_run, encode_run, get_corpus, get_digest
from properties.exits import Exit
from properties.scopes import SCOPES
from properties.subject import FunctionModel, reference_modules

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record little: the tour of `small` takes a minute."""
    monkeypatch.setattr(corpus, "TOURED", ("tiny",))
    monkeypatch.setattr(corpus, "WALKS", 5)


@pytest.mark.usefixtures("small_corpus")
def test_corpus_is_recorded_once(tmp_path: Path) -> None:
    """A second run reads what the first one wrote, call by call the same."""
    first = get_corpus(ROOT, tmp_path)
    (path,) = tmp_path.iterdir()
    written = path.stat().st_mtime_ns
    second = get_corpus(ROOT, tmp_path)

    assert first == second
    assert written == path.stat().st_mtime_ns
    assert {"tour of tiny", "walk 0", "walk 4"} <= {run.source for run in first}


def test_changed_tree_has_another_digest(tmp_path: Path) -> None:
    """A corpus of an older reference must not be taken for one of this."""
    for package in corpus.SOURCES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "a.py").write_text("A = 1\n", encoding="utf-8")
    before = get_digest(tmp_path)
    (tmp_path / "reference" / "a.py").write_text("A = 2\n", encoding="utf-8")

    assert before != get_digest(tmp_path)
    assert 16 == len(before)


@pytest.mark.usefixtures("small_corpus")
def test_runs_can_be_made_again() -> None:
    """Every recorded call is one that the reference takes, with a choice it offers."""
    for run in corpus.make_corpus():
        model = FunctionModel(SCOPES[run.scope].shape, False, reference_modules())
        state = model.initial()
        for call, choice in run.calls:
            taken = [one for one in model.transitions(state, call) if one.choice == choice]
            assert len(taken) == 1, (run.source, call, choice)
            state = taken[0].after


def test_run_survives_its_line() -> None:
    """Handles, pages and faults come back as what they were."""
    scope = SCOPES["claims"]
    run = Recorded("walk 3", "claims", tuple((call, corpus.Choice()) for call in scope.opening))

    assert run == decode_run(encode_run(run))


@pytest.mark.usefixtures("small_corpus")
def test_command_says_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wants to make the runs on a tier of their own must find the file."""
    monkeypatch.chdir(tmp_path)
    code = run_command(PROPERTIES, ["corpus"])
    shown = capsys.readouterr().out.splitlines()

    assert Exit.FINE == code
    assert ["tiny", "3", "940"] == shown[1].split()
    assert "recorded in build/corpus/" in shown[-1]
    assert Path(shown[-1].removeprefix("recorded in ")).exists()
