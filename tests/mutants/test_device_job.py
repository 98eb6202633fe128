"""The main job with mutants of the device: one matrix, one gate, one report, each end's code."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from run_samples import make_candidate, make_row

from mutants import canary, main_job, roster
from mutants.candidate import Candidate
from mutants.entry import LOCKSTEP
from mutants.gate import find_unnoticed, records_of
from mutants.main_job import Ended, Job
from mutants.matrix import Matrix, Rung
from mutants.report import folder
from mutants.roster import DEVICE_MODULES, JUDGED_WHOLE, ONE_OF, choose, gather_of_device, sample
from mutants.worlds import DeviceRun
from properties.cli import PROPERTIES
from properties.cli import run as run_command
from properties.exits import Exit
from reference.calls import DEFAULT, Alloc, Open

OF_REFERENCE = "pool.freed-page-is-lost"
BY_RULE = "device.frames.unmapped-is-the-first-frame"
BY_LOCKSTEP = "device.leave.failure-is-told-as-success"
IDS = (OF_REFERENCE, BY_RULE, BY_LOCKSTEP)
PLACES = (("device.fill", "undo", 50),)


def small_job(place: Path, ids: tuple[str, ...] = IDS, **fields: object) -> Job:
    """A whole job over a few mutants."""
    defaults = {
        "scopes": ("tiny",),
        "ladder": (Rung("tiny", None, whole=True),),
        "gather": lambda: choose(ids),
        "corpus": tuple,
        "report": place / "report",
    }
    return Job(**{**defaults, **fields})  # type: ignore[arg-type]


def test_both_kinds_are_in_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One matrix, one gate; the last line counts them together and says what ran simulated."""
    ended = main_job.run(small_job(tmp_path, workers=2))
    report = folder.read_report(tmp_path / "report")

    assert report is not None and report.device is not None
    assert dict(zip(IDS, ("killed", "killed", "by lockstep"), strict=True)) == {
        entry.id: entry.status for entry in report.mutants
    }
    assert (
        "; 3 mutants: 2 killed, 1 noticed by lockstep alone; of them 2 of the device (simulated; "
        "on a GPU: not run here): 1 noticed by a rule, 1 noticed by lockstep alone; 69 states"
    ) in report.line
    assert not any(line.startswith("SHUT: device.") for line in ended.lines)
    assert any("judge 2 mutants on device" in line for line in ended.lines), "CPU s, by phase"
    traces = sorted((tmp_path / "report" / "traces").rglob(f"{BY_RULE}.jsonl"))
    assert traces
    for trace in traces:
        assert Exit.FINE == run_command(PROPERTIES, ["replay", str(trace)])
        assert f"{trace.parent.name}: BROKEN by {BY_RULE}" in capsys.readouterr().out


def test_mutants_of_the_reference_need_no_device(tmp_path: Path) -> None:
    """Whoever tries one mutant of the reference waits for no runs."""

    def record() -> Sequence[DeviceRun]:
        raise AssertionError

    matrix, shortfalls = main_job.run_some(small_job(tmp_path, IDS[:1], device=record))

    assert ([], [OF_REFERENCE]) == (shortfalls, list(matrix.rows))


def test_mutant_of_the_device_that_is_not_noticed_shuts_the_gate(tmp_path: Path) -> None:
    """By a rule it names, or by lockstep where it names that."""
    (one,) = choose([BY_LOCKSTEP])
    wrong = msgspec.structs.replace(one, expect=("recency-by-rule",))
    _, shortfalls = main_job.run_some(small_job(tmp_path, gather=lambda: (wrong,)))
    same = make_candidate("device.fill.same", "catalogue", LOCKSTEP, places=PLACES)
    matrix = Matrix((same,), {same.id: make_row(same.id)}, ())

    assert [f"{one.id}: not noticed by recency-by-rule, which it names"] == list(
        map(str, shortfalls)
    )
    assert ["device.fill.same: not noticed by lockstep, which it names"] == list(
        map(str, find_unnoticed(records_of(matrix)))
    )


def end_of(job: Job) -> Ended:
    """How a job ends early; nothing is written."""
    with pytest.raises(Ended) as ended:
        main_job.run(job)
    assert not job.report.exists()
    return ended.value


def test_unmutated_device_that_parts_ends_the_job(tmp_path: Path) -> None:
    """A call that breaks off on the device is its fault, and no mutant's."""
    calls = ((Open(1), DEFAULT), (Alloc(0), DEFAULT._replace(page=7)))
    run = DeviceRun("by hand", "device-tiny", None, calls)
    ended = end_of(small_job(tmp_path, device=lambda: [run]))

    assert Exit.REFERENCE_BREAKS == ended.code
    assert ended.lines[0].startswith("the device, by hand, call 2, Alloc(lease=0): ValueError: ")


def test_green_canary_of_the_device_voids_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that cannot show it cannot show any mutant of the device."""
    rows = (make_row("device.canary"), make_row("device.no-op"))
    monkeypatch.setattr(canary, "judge_of_device", lambda *_: rows)
    run = DeviceRun("by hand", "device-tiny", None, ((Open(1), DEFAULT),))
    ended = end_of(small_job(tmp_path, device=lambda: [run]))

    assert Exit.CANARY == ended.code
    assert ended.lines[0].startswith("void: of the device the canary is green")


# ------------------------------------------------------------------------------------ the roster


def made_up(module: str, name: str) -> Candidate:
    """A generated mutant."""
    return make_candidate(f"{module}.{name}", "operator", places=((module, "f", 1),))


def test_sample_is_of_each_module_and_always_the_same() -> None:
    """Ids are hashes: their order is as good as chance, and no seed is needed."""
    made = [made_up("device.dirt", name) for name in "dbca"] + [made_up("device.fill", "z")]
    whole = [made_up("device.pool", name) for name in "ba"]
    kept = [one.id for one in sample(made)]

    assert ["device.dirt.c", "device.dirt.a", "device.fill.z"] == kept
    assert whole == list(sample(whole))
    assert [one.id for one in made] == [one.id for one in sample(made, one_of=1)]


@pytest.mark.slow
def test_generated_mutants_of_the_device_are_found_by_id() -> None:
    """Both packages have a `pool`: the id says which, and a survivor can be looked up."""
    made = roster.generate_of_device()
    judged = gather_of_device()
    modules = {one.places[0][0] for one in made}
    by_name = sum(one.origin == "catalogue" for one in judged)
    whole = sum(one.places[0][0] in JUDGED_WHOLE for one in made)
    shared = (len(made) - whole) / ONE_OF

    assert set(DEVICE_MODULES) == modules
    assert all(one.id.startswith(f"{one.places[0][0]}.") for one in made)
    assert whole + shared <= len(judged) - by_name <= whole + shared + len(modules)
    assert (made[1],) == choose([made[1].id])
