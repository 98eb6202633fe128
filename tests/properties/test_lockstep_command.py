"""`lockstep`: what it prints, what it writes, and how it ends."""

import json
from functools import partial
from pathlib import Path

import pytest
import teeth

from device import cuda
from properties import lockstep_all
from properties.cli import PROPERTIES, run
from properties.commands import lockstep as lockstep_command
from properties.device_subject import DeviceModel
from properties.exits import Exit
from properties.lockstep_all import Everything, Plan
from properties.lockstep_subjects import get_subject
from properties.lookup import SIMULATED
from properties.subject import Model
from reference.words import Shape

CARELESS = ("fill completes",)


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where traces are written here."""
    monkeypatch.setattr(lockstep_command, "TRACES", tmp_path)
    return tmp_path


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated device that does not wait for fills, wherever a simulated one is made."""
    subject = get_subject(SIMULATED)._replace(
        make=partial(teeth.make_subject, CARELESS),
        make_failing=partial(teeth.make_subject, CARELESS),
        make_drawn=lambda shape, off, pick: DeviceModel(
            shape, off, pick=pick, simulate=partial(teeth.make_careless, CARELESS)
        ),
    )

    def load(_subject: str, shape: Shape, off: bool) -> Model:
        return teeth.make_subject(CARELESS, shape, off, 0)

    monkeypatch.setattr(lockstep_command, "get_subject", lambda _: subject)
    monkeypatch.setattr(lockstep_command, "load_model", load)


def lockstep(*arguments: str) -> int:
    """Run the command."""
    return run(PROPERTIES, ["lockstep", *arguments])


def test_command_says_what_ran_and_what_did_not(capsys: pytest.CaptureFixture[str]) -> None:
    """A simulated run must not look like one on a GPU."""
    code = lockstep("--scope", "tiny", "--walks", "0")
    printed = capsys.readouterr().out

    assert Exit.FINE == code
    assert printed.startswith("the tier on a simulated device, in host memory, in lockstep")
    assert "tour of tiny" in printed
    assert " 940 " in printed
    assert "not shown: on a GPU: not run here" in printed
    assert printed.endswith("no difference\n")


def test_difference_is_shown_written_and_shown_again(
    careless: None, traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What differs, where, and the command that shows it."""
    code = lockstep("--scope", "tiny", "--walks", "0")
    printed = capsys.readouterr().out
    (path,) = traces.iterdir()

    assert Exit.REFERENCE_BREAKS == code
    assert "view: DIFFERS" in printed
    assert f"python -m properties lockstep --trace {path}" in printed
    assert "CompleteFill" in printed
    assert Exit.FINE == lockstep("--trace", str(path))
    assert "view differs at call 4" in capsys.readouterr().out


def test_trace_that_shows_nothing_is_not_red(
    traces: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a device that waits the recorded calls agree."""
    with monkeypatch.context() as patched:
        subject = get_subject(SIMULATED)._replace(make=partial(teeth.make_subject, CARELESS))
        patched.setattr(lockstep_command, "get_subject", lambda _: subject)
        lockstep("--scope", "tiny", "--walks", "0")
    capsys.readouterr()
    (path,) = traces.iterdir()
    code = lockstep("--trace", str(path), "--json")
    printed = json.loads(capsys.readouterr().out)

    assert Exit.NOT_RED == code
    assert printed["difference"] is None


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """For other programs."""
    code = lockstep("--scope", "tiny", "--walks", "0", "--json")
    printed = json.loads(capsys.readouterr().out)

    assert (0, "tierproof-lockstep") == (code, printed["format"])
    assert [{"what": "tour of tiny", "runs": 3, "calls": 940, "every": 1}] == printed["ran"]
    assert printed["difference"] is printed["trace"] is None


def test_walks_and_the_machine_run_after_the_tours(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three ways, each counted."""
    monkeypatch.setattr(lockstep_all, "MACHINE_SCOPES", ("tiny",))
    plan = Plan((), 5, (Shape(4, 2, 2), Shape(10, 5, 1)))
    found = Everything(get_subject(SIMULATED), plan)
    found.run()

    walks = ["walks on 4/2/2", "walks on 10/5/1", "walks on all"]
    assert [*walks, "machine on tiny"] == [ran.what for ran in found.ran]
    assert [5, 2, 3] == [ran.runs for ran in found.ran[:3]]
    assert found.difference is None
    assert all(ran.calls for ran in found.ran)


def test_difference_of_the_machine_is_written_too(
    careless: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its picks were drawn, and they are in the trace."""
    monkeypatch.setattr(lockstep_all, "MACHINE_SCOPES", ("tiny",))
    subject = lockstep_command.get_subject(SIMULATED)
    subject = subject._replace(make_failing=get_subject(SIMULATED).make)
    found = Everything(subject, Plan((), 1, (Shape(2, 1, 1),)))
    found.run()

    assert found.difference is not None
    assert found.trace is not None
    assert len(found.trace.calls) < 12


def test_without_a_gpu_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Never a traceback, and never a pass."""
    monkeypatch.setattr(cuda, "cupy", None)
    code = lockstep("--on", "cuda")
    printed = capsys.readouterr()

    assert (Exit.MISUSE, "") == (code, printed.out)
    assert 1 == len(printed.err.splitlines())
    assert printed.err.startswith("no GPU to run on")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--scope", "huge"), "no scope 'huge'"),
        (("--scope", "default"), "no tour of 'default'"),
        (("--trace", "nowhere.jsonl"), "cannot be read"),
    ],
)
def test_misuse_is_one_line(
    arguments: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, and what there is."""
    code = lockstep(*arguments)

    assert Exit.MISUSE == code
    assert why in capsys.readouterr().err


def test_subject_that_should_differ_and_does_not_is_not_fine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Silence about a mutant must not look like a pass."""
    reference = get_subject("reference")
    monkeypatch.setattr(lockstep_command, "get_subject", lambda _: reference)

    assert Exit.NOT_RED == lockstep("--on", "reference", "--scope", "tiny", "--walks", "0")
