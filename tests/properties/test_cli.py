"""The command line: what each command prints, and what ends with which code."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest
from trace_samples import FORGETS_DIRT, SHAPE, ForgetsDirt, record_break, record_choices

from properties import lookup, trace
from properties.cli import PROPERTIES, Commands, run
from properties.commands import replay as replay_command
from properties.exits import Exit, Misuse
from properties.scopes import SCOPES
from properties.subject import Model, reference_modules
from reference.words import Shape

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A trace of a broken subject."""
    trace.write(record_break(), tmp_path / "broken.jsonl")
    return str(tmp_path / "broken.jsonl")


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of mutants with one mutant."""

    def model(mutant: str, shape: Shape, off: bool) -> Model:
        if mutant != FORGETS_DIRT:
            raise LookupError(f"no mutant is called {mutant}")
        return ForgetsDirt(shape, off, reference_modules())

    module = ModuleType("tests_lookup")
    module.model = model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tests_lookup", module)
    monkeypatch.setattr(lookup, "MUTANT_MODELS", "tests_lookup")


def run_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, object]:
    """Run a command and return its code and what it printed."""
    code = run(PROPERTIES, arguments)
    return code, json.loads(capsys.readouterr().out)


# ------------------------------------------------------------------------------------------ list


def test_list_says_what_each_rule_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A user meets a rule's id in a report and asks what it is."""
    code, found = run_json(["list", "--json"], capsys)
    by_id = {rule["id"]: rule for rule in found["rules"]}  # type: ignore[index]

    assert Exit.FINE == code
    assert {
        "id": "dirty-is-pinned",
        "kind": "state",
        "sentence": "A dirty frame is pinned, or claimed where the lease that pinned it was "
        "abandoned.",
        "seen": "review 2, C25",
        "derived": "",
    } == by_id["dirty-is-pinned"]


def test_list_shows_scopes_and_goals(capsys: pytest.CaptureFixture[str]) -> None:
    """Their names are what other commands take."""
    assert Exit.FINE == run(PROPERTIES, ["list", "--scopes"])
    scopes = capsys.readouterr().out.splitlines()
    assert Exit.FINE == run(PROPERTIES, ["list", "--goals"])
    goals = capsys.readouterr().out.splitlines()

    assert list(SCOPES) == [line.split()[0] for line in scopes[1:]]
    assert "tiny       2      1       1     1       1     evictions, in milliseconds" == scopes[1]
    assert goals[0].startswith("id ")


# ---------------------------------------------------------------------------------------- replay


def test_replay_of_break_ends_fine(
    broken: str, mutants: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A counterexample that still shows its bug is in order."""
    code = run(PROPERTIES, ["replay", broken])
    lines = capsys.readouterr().out.splitlines()

    assert Exit.FINE == code
    assert f"dirty-is-pinned: BROKEN by {FORGETS_DIRT}" == lines[0]
    assert f"  replay   python -m properties replay {broken}" == lines[-1]


def test_replay_on_reference_shows_parting(capsys: pytest.CaptureFixture[str]) -> None:
    """The same calls on healthy code say what should have happened."""
    path = GOLDEN / "dirt-dropped.jsonl"
    code = run(PROPERTIES, ["replay", str(path), "--on", "reference"])
    shown = capsys.readouterr().out.replace(str(path), "tests/golden/dirt-dropped.jsonl")

    assert Exit.FINE == code
    assert (GOLDEN / "parting.txt").read_text(encoding="utf-8") == shown


def test_healed_subject_is_not_red(
    broken: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace whose rule stays green proves nothing any more, and says so."""
    healthy = replay_command.load_model
    monkeypatch.setattr(
        replay_command, "load_model", lambda _subject, shape, off: healthy("reference", shape, off)
    )
    code = run(PROPERTIES, ["replay", broken])

    assert Exit.NOT_RED == code
    assert f"dirty-is-pinned: NOT BROKEN by {FORGETS_DIRT}" in capsys.readouterr().out


def test_broken_reference_has_its_code(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that the specification itself breaks is the worst of all findings."""
    model = ForgetsDirt(SHAPE, False, reference_modules())
    monkeypatch.setattr(replay_command, "load_model", lambda _subject, _shape, _off: model)

    assert Exit.REFERENCE_BREAKS == run(PROPERTIES, ["replay", broken, "--on", "reference"])


def test_replay_prints_json_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An editor or a dashboard reads the same replay."""
    path = tmp_path / "choices.jsonl"
    trace.write(record_choices(), path)
    code, found = run_json(["replay", str(path), "--json"], capsys)
    assert isinstance(found, dict)
    calls = found.pop("calls")

    assert Exit.FINE == code
    assert {
        "format": "tierproof-replay",
        "version": 1,
        "trace": str(path),
        "subject": "reference",
        "on": "reference",
        "rule": None,
        "broken": [],
        "parted": None,
        "exit": 0,
    } == found
    assert {
        "n": 2,
        "call": "alloc(L1)",
        "recorded": {"value": "page@2"},
        "outcome": {"value": "page@2"},
        "choice": "recorded",
        "changes": ["lease 0 table: [] -> [2]", "host page 2: none -> [0]"],
        "broken": [],
    } == calls[1]


# ---------------------------------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "which command? There are "),
        (["bogus"], "no command 'bogus': there are "),
        (["list", "--bogus"], "No such option '--bogus'."),
        (["replay"], "Missing argument 'FILE'."),
        (["replay", "nowhere.jsonl"], "nowhere.jsonl:1: cannot be read: No such file or"),
        (["replay", str(ROOT / "tox.ini")], f"{ROOT / 'tox.ini'}:1: not JSON: "),
        (
            ["replay", str(GOLDEN / "dirt-dropped.jsonl"), "--on", "nobody"],
            "no subject 'nobody': no mutant is called nobody",
        ),
    ],
    ids=lambda value: " ".join(value)[:20] if isinstance(value, list) else "",
)
def test_misuse_gives_one_clear_line(
    arguments: list[str], why: str, mutants: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A traceback for a typing error makes users stop reading."""
    code = run(PROPERTIES, arguments)
    out, err = capsys.readouterr()

    assert Exit.MISUSE == code
    assert "" == out
    assert err.startswith(why), err
    assert 1 == err.count("\n")


def test_missing_mutants_are_said_so(
    broken: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever copied `properties` alone can still replay on the reference."""
    monkeypatch.setattr(lookup, "MUTANT_MODELS", "mutants.nowhere")
    code = run(PROPERTIES, ["replay", broken])

    assert Exit.MISUSE == code
    assert (
        f"{FORGETS_DIRT}: there are no mutants here (mutants.nowhere is missing)\n"
        == capsys.readouterr().err
    )


# ------------------------------------------------------------------------------- ways of ending


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command that ends with an exception."""

    def fail() -> None:
        raise error

    command = click.Command("fail", callback=fail)
    monkeypatch.setattr(Commands, "list_commands", lambda _self, _context: ["fail"])
    monkeypatch.setattr(Commands, "get_command", lambda _self, _context, _name: command)
    return run(PROPERTIES, ["fail"])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), Exit.CRASHED, "interrupted\n"),
        (Misuse("two\nlines \u2028 and\x1b"), Exit.MISUSE, "two lines and\\x1b\n"),
        (click.UsageError("so not"), Exit.MISUSE, "so not\n"),
        (PermissionError(13, "Permission denied", "out"), Exit.MISUSE, "out: Permission denied\n"),
    ],
    ids=["interrupt", "misuse", "click", "unwritable"],
)
def test_each_ending_has_its_line(
    error: BaseException,
    code: Exit,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Scripts look at the code, people at the line."""
    assert code == fail_with(error, monkeypatch)
    assert line == capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError("ours"), OSError("no file named")])
def test_fault_of_ours_is_a_crash(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bug of the harness must not look like misuse, nor like a finding."""
    assert Exit.CRASHED == fail_with(error, monkeypatch)
    assert str(error) in capsys.readouterr().err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Help is asked for before anything else."""
    assert Exit.FINE == run(PROPERTIES, ["--help"])
    shown = capsys.readouterr().out

    assert "List the rules, with where the world broke each." in shown
    assert "Make the calls of a trace again;" in shown


def test_new_file_is_new_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adding a command touches no other file."""
    package = tmp_path / "planted_commands"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "say_hello.py").write_text(
        "import click\n\n\n@click.command\ndef command() -> int:\n    return 6\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert Exit.STALE == run(Commands("planted_commands", "planted", "Planted."), ["say-hello"])


@pytest.mark.parametrize(
    ("arguments", "reader", "out"),
    [
        ("list --scopes", "head -n 1 | cut -c1-4", "name\n"),
        ("list", "true", ""),
        ("replay tests/golden/dirt-dropped.jsonl --on reference", "true", ""),
    ],
)
def test_reader_may_stop_early(arguments: str, reader: str, out: str) -> None:
    """What the README shows is typed in a shell, and its output cut by `head`."""
    command = f"{sys.executable} -m properties {arguments} | {reader}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (Exit.FINE, out, "") == (done.returncode, done.stdout, done.stderr)
