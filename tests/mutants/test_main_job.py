"""The main job: in which order it fails, with which code, and one small run from end to end."""

import json
from pathlib import Path

import msgspec
import pytest
from run_samples import make_row

from mutants import canary, main_job, roster
from mutants.canary import CANARY, NO_OP, why_void
from mutants.candidate import Candidate
from mutants.engine import Cell, Difference, Row
from mutants.entry import Edit, Named, StaleAnchor
from mutants.generated import MutmutChanged
from mutants.main_job import Ended, Job
from mutants.matrix import Rung
from mutants.report import folder
from mutants.roster import choose
from properties.cli import PROPERTIES
from properties.cli import run as run_command
from properties.exits import Exit
from properties.registry import Rule, all_rules
from properties.step import Step
from reference.calls import Alloc

IDS = ("fill.undo-keeps-generation", "pool.freed-page-is-lost", "tier.lookup-counts-a-hit")
RED = make_row(CANARY.id, *CANARY.expect)
GREEN = make_row(NO_OP.id)


def small_job(place: Path, ids: tuple[str, ...] = IDS, **fields: object) -> Job:
    """Return a whole job over a few mutants in the smallest scope."""
    defaults = {
        "scopes": ("tiny",),
        "ladder": (Rung("tiny", None, whole=True),),
        "gather": lambda: choose(ids),
        "corpus": tuple,
        "report": place / "report",
    }
    return Job(**{**defaults, **fields})  # type: ignore[arg-type]


def end_of(job: Job) -> Ended:
    """Run a job that ends early and return how."""
    with pytest.raises(Ended) as ended:
        main_job.run(job)
    assert not job.report.exists(), "what ends early leaves no report"
    return ended.value


# --------------------------------------------------------------------------- what voids a run


def test_canary_and_no_op_tell_apart() -> None:
    """The real ones, through the real engine."""
    red, green = canary.judge(all_rules())

    assert why_void(red, green) is None
    assert set(CANARY.expect) <= red.cells.keys()
    assert green.ran


@pytest.mark.parametrize(
    ("red", "green", "why"),
    [
        (make_row("canary"), GREEN, "the canary is green: pages-are-partitioned did not speak"),
        (make_row("canary", "hold-count"), GREEN, "the canary is green"),
        (make_row("canary", crash="TypeError: no"), GREEN, "the canary is green: .*TypeError: no"),
        (RED, make_row("no-op", "hold-count"), "the no-op is red: hold-count: hold-count | said"),
        (RED, make_row("no-op", crash="TypeError: no"), "the no-op does not end: TypeError: no"),
        (RED, make_row("no-op", timed_out="tiny"), "the no-op does not end: tiny"),
        (RED, make_row("no-op", ran=False), "the no-op was not run"),
        (
            RED,
            make_row("no-op", difference=Difference("tiny", "Open(promise=1)", "0", "1")),
            "the no-op differs: Open.promise=1. came to 1, not 0",
        ),
    ],
)
def test_void_run_ends_with_its_code(
    red: Row, green: Row, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A harness that cannot see, or sees ghosts, must not report anything."""
    monkeypatch.setattr(canary, "judge", lambda _rules: (red, green))
    ended = end_of(small_job(tmp_path))

    assert Exit.CANARY == ended.code
    assert ended.lines[0].startswith("void: ")
    with pytest.raises(Ended, match=why):
        main_job.check_can_tell(small_job(tmp_path))


# ------------------------------------------------------------------------ other ways to end early


def raises(error: Exception) -> object:
    """Return a function that only raises."""

    def gather() -> tuple[Candidate, ...]:
        raise error

    return gather


def test_stale_anchor_ends_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that is not applied would be reported as one that nobody notices."""
    edits = (Edit("reference.tier", "    no such line\n", ""),)
    planted = Named(id="tier.planted", does="Nothing.", edits=edits, expect=())
    monkeypatch.setattr(roster, "all_mutants", lambda: (planted,))
    monkeypatch.setattr(main_job, "check_can_tell", raises(AssertionError()))
    ended = end_of(small_job(tmp_path, gather=roster.catalogue))

    assert Exit.STALE == ended.code
    assert (
        "stale anchor: tier.planted: 'no such line' is 0 times in reference.tier, not once",
    ) == (ended.lines)


def test_stale_canary_is_stale_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is text like any other mutant."""
    stale = StaleAnchor("canary", "reference.pool", "free=", 0)
    monkeypatch.setattr(canary, "judge", lambda _rules: raises(stale)())  # type: ignore[operator]

    assert Exit.STALE == end_of(small_job(tmp_path)).code


def test_changed_mutmut_is_our_crash(tmp_path: Path) -> None:
    """Without its mutants the run is not the run that was asked for."""
    gather = raises(MutmutChanged("version 4", "version 3.8.1"))
    ended = end_of(small_job(tmp_path, gather=gather))

    assert (Exit.CRASHED, ("mutmut: found version 4; wanted version 3.8.1",)) == (
        ended.code,
        ended.lines,
    )


def test_broken_original_is_shown_by_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mutant would be red of a rule that the original breaks."""
    monkeypatch.chdir(tmp_path)

    def check(step: Step) -> str | None:
        return f"{step.call} was made" if type(step.call) is Alloc else None

    rule = Rule(
        "nobody-allocates",
        "step",
        "Nobody allocates.",
        "",
        check,
        lambda: (),
        (Alloc,),
        ("done",),
        "",
    )
    ended = end_of(small_job(tmp_path, rules=(*all_rules(), rule)))
    lines = "\n".join(ended.lines).splitlines()

    assert Exit.REFERENCE_BREAKS == ended.code
    assert "nobody-allocates: BROKEN by reference" == lines[0]
    assert "  because  Alloc(lease=0) was made" == lines[2]
    assert lines[-1].endswith("replay build/traces/nobody-allocates--tiny.jsonl")
    assert (tmp_path / "build" / "traces" / "nobody-allocates--tiny.jsonl").exists()


def test_endless_run_is_given_up(tmp_path: Path) -> None:
    """A process that was killed is waited for, and nobody tells."""
    ended = end_of(small_job(tmp_path, seconds=0.01))

    assert Exit.CRASHED == ended.code
    assert ended.lines[0].startswith("out of time after 0 s; done were: ")


# ----------------------------------------------------------------------------- from end to end


def test_small_job_reports_each_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole chain: judged, gate asked, report and traces written, a trace replayed."""
    said: list[str] = []
    ended = main_job.run(small_job(tmp_path, workers=2, say=said.append))
    report = folder.read_report(tmp_path / "report")

    assert report is not None
    assert Exit.NOT_RED == ended.code, "three mutants do not turn all rules red"
    assert ended.lines[-1] == report.line
    assert report.line.startswith(f"{len(all_rules())} invariants, ")
    assert "; 3 mutants: 3 killed; 69 states explored, all rules hold" in report.line
    assert IDS == tuple(entry.id for entry in report.mutants)
    for entry in report.mutants:
        assert set(entry.expect) <= {noticed.rule for noticed in entry.noticed}
        for noticed in entry.noticed:
            written = noticed.trace is not None and (tmp_path / "report" / noticed.trace).exists()
            assert written or noticed.calls is None
    assert "tiny: 3 of 3 mutants judged" in said
    timing = json.loads((tmp_path / "report" / folder.TIMING).read_text(encoding="utf-8"))
    assert "judge 3 mutants on tiny" in [phase["phase"] for phase in timing["phases"]]


def test_traces_of_mutants_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever doubts a cell runs one command."""
    main_job.run(small_job(tmp_path, ids=IDS[1:2]))
    traces = sorted((tmp_path / "report" / "traces").rglob("*.jsonl"))
    codes = [run_command(PROPERTIES, ["replay", str(path)]) for path in traces]

    assert [Exit.FINE] * len(traces) == codes
    assert f"pages-are-partitioned: BROKEN by {IDS[1]}" in capsys.readouterr().out


def test_missed_expectation_shuts_gate(tmp_path: Path) -> None:
    """A rule that a mutant names must be the one that speaks."""
    (one,) = choose(IDS[1:2])
    wrong = msgspec.structs.replace(one, expect=("recency-by-rule",))
    _, shortfalls = main_job.run_some(small_job(tmp_path, gather=lambda: (wrong,)))

    assert [f"{one.id}: not noticed by recency-by-rule, which it names"] == list(
        map(str, shortfalls)
    )
    assert not (tmp_path / "report").exists()


def test_cell_path_is_kept_as_trace(tmp_path: Path) -> None:
    """The trace is of the shortest way that the matrix knows, not of another."""
    matrix, _ = main_job.run_some(small_job(tmp_path, ids=IDS[1:2]))
    cell: Cell = matrix.rows[IDS[1]].cells["pages-are-partitioned"]
    main_job.run(small_job(tmp_path, ids=IDS[1:2]))
    path = tmp_path / "report" / "traces" / cell.rule / f"{IDS[1]}.jsonl"
    _header, *calls = path.read_text(encoding="utf-8").splitlines()

    assert len(cell.path) == len(calls)
