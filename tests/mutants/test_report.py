"""The report: what it says, the same bytes twice, and that the last good one is not lost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from run_samples import LOOKED, MATRIX, ON_DEVICE, RULES, SURVEY, make_candidate, make_row

from mutants.gate import find_shortfalls, records_of
from mutants.matrix import Matrix
from mutants.report import folder, make
from mutants.report.make import make_rules
from mutants.report.markdown import write_markdown
from mutants.report.model import Report, decode, encode
from mutants.report.phrases import get_kind
from mutants.report.text import write_text
from properties.exits import Misuse
from properties.goals import Goal

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Report:
    """A small report of a run made by hand, with nothing in it that moves with the code."""
    goal = Goal("page-lived-again", "A page id began another life.", lambda _: True, (), None, "")
    monkeypatch.setattr(make, "all_goals", lambda: (goal,))
    monkeypatch.setattr(make, "original_sources", lambda: {"reference.tier": "x\n"})
    monkeypatch.setattr(make, "device_sources", lambda: {"device.fill": "y\n"})
    monkeypatch.setattr(make, "_limits", lambda: {"states of its own": 800})
    return make_report()


def make_report(matrix: Matrix = MATRIX) -> Report:
    """Return the report of a matrix."""
    shortfalls = find_shortfalls([rule.id for rule in RULES], records_of(matrix))
    return make.make(RULES, matrix, [SURVEY], shortfalls, ON_DEVICE)


# -------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("report.json", lambda report: encode(report).decode()),
        ("report.md", write_markdown),
        ("report.txt", write_text),
    ],
)
def test_report_reads_as_agreed(name: str, write: object, report: Report) -> None:
    """Output is a feature: a change of it is seen in review."""
    assert (GOLDEN / name).read_text(encoding="utf-8") == write(report)  # type: ignore[operator]


def test_report_survives_its_json(report: Report) -> None:
    """What other programs read is all there is."""
    assert report == decode(encode(report))


def test_other_schema_is_not_read(report: Report) -> None:
    """A version that means something else must not be half understood."""
    other = encode(report).replace(b"tierproof-report/2", b"tierproof-report/3")
    with pytest.raises(msgspec.DecodeError, match="'tierproof-report/3', not 'tierproof-report/2'"):
        decode(other)


def test_last_line_counts_every_mutant(report: Report) -> None:
    """The one line that most people will ever read."""
    assert (
        "4 invariants, 1 NEVER RED; 10 mutants: 3 killed, 1 MISSED by a rule they name, "
        "1 noticed by lockstep alone, 1 only crashed, 1 timed out, 1 differed unseen, "
        "1 never differed, 1 never ran; of them 2 of the device (simulated; on a GPU: not run "
        "here): 1 noticed by a rule, 1 noticed by lockstep alone; "
        "450 states explored, all rules hold"
    ) == report.line


def test_unseen_differences_come_first(report: Report) -> None:
    """A reviewer has ten minutes; each of these may be a missing rule."""
    headings = [line for line in write_markdown(report).splitlines() if line.startswith("## ")]

    assert "unseen" == next(iter(report.survivors))
    assert "## Differed, and no rule saw it: 1" == headings[0]


def test_rules_red_together_are_grouped() -> None:
    """Two rules that no mutant tells apart may be one rule."""
    rows = [make_row("a", "pages-add-up", "pins-add-up"), make_row("b", "nobody-waits")]
    matrix = Matrix(
        (make_candidate("a"), make_candidate("b")), {row.id: row for row in rows}, LOOKED
    )
    entries = make.make_mutants(matrix, frozenset())
    by_id = {entry.id: entry for entry in make_rules(RULES, entries)}

    assert ("pins-add-up",) == by_id["pages-add-up"].indistinct_from
    assert () == by_id["nobody-waits"].indistinct_from
    assert ("b",) == by_id["nobody-waits"].alone_on
    # Rules that are red nowhere are not alike: nothing is known of them.
    assert () == by_id["never-asked"].indistinct_from


@pytest.mark.parametrize(
    ("wanted", "got", "kind"),
    [
        ("counters: 1", "counters: 2", "counters"),
        ("NotHeld(page=1)", "NotHeld(page=0)", "fields of a refusal"),
        ("NotHeld(page=1)", "UnknownLease(lease=1)", "refusals"),
        ("None", "UnknownLease(lease=1)", "refusals"),
        ("no such choice", "Choice() -> 1", "choices"),
        ("Choice(page=1)", "Choice(page=0)", "choices"),
        ("Plan(ticket=0)", "Plan(ticket=1)", "values"),
    ],
)
def test_differences_have_a_kind(wanted: str, got: str, kind: str) -> None:
    """Two hundred of them are read by kind or not at all."""
    assert kind == get_kind(make.Differs(scope="tiny", call="", wanted=wanted, got=got))


# ------------------------------------------------------------------------------ the same twice

SCRIPT = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from mutants.main_job import Job, run
from mutants.matrix import Rung
from mutants.roster import choose

ids = ["fill.undo-keeps-generation", "pool.freed-page-is-lost", "tier.lookup-counts-a-hit"]
ids += ["device.frames.unmapped-is-the-first-frame"]
run(
    Job(
        workers=int(sys.argv[3]),
        scopes=("tiny",),
        ladder=(Rung("tiny", None, whole=True),),
        gather=lambda: choose(ids),
        report=Path(sys.argv[2]),
    )
)
"""


def run_small_job(place: Path, workers: int, seed: int) -> dict[str, bytes]:
    """Run a small whole job in a process of its own and return all it wrote but the times."""
    command = [sys.executable, "-c", SCRIPT, str(ROOT), str(place), str(workers)]
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    subprocess.run(command, cwd=place.parent, env=env, check=True)
    files = (file for file in place.rglob("*") if file.is_file() and file.name != folder.TIMING)
    return {str(file.relative_to(place)): file.read_bytes() for file in files}


def test_same_sources_give_same_bytes(tmp_path: Path) -> None:
    """Two reports are compared by diff; the order of a set must not show in one."""
    first = run_small_job(tmp_path / "first", workers=1, seed=1)
    second = run_small_job(tmp_path / "second", workers=2, seed=2)

    assert first.keys() > {"report.json", "report.md", "report.txt"}
    assert any(name.startswith("traces/pages-are-partitioned/") for name in first)
    assert any(name.startswith("traces/one-frame-per-page/device.") for name in first)
    assert first == second


# ------------------------------------------------------------------------------------ the swap


@pytest.fixture
def place(tmp_path: Path, report: Report) -> Iterator[Path]:
    """A folder that holds a good report; nothing is left beside it in the end."""
    place = tmp_path / "build" / "report"
    folder.publish(place, report, lambda _: None, dict)
    yield place
    assert [place] == list(place.parent.iterdir())


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failed_write_leaves_last_report(error: BaseException, place: Path, report: Report) -> None:
    """An hour's report is worth more than a minute's half."""

    def fail(beside: Path) -> None:
        (beside / "half").touch()
        raise error

    newer = msgspec.structs.replace(report, line="newer")
    with pytest.raises((Misuse, KeyboardInterrupt)):
        folder.publish(place, newer, fail, dict)

    assert report == folder.read_report(place)


def test_failed_swap_leaves_last_report(
    place: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between moving the old away and the new in, there is a moment with neither."""
    rename = Path.rename

    def rename_old_only(self: Path, target: Path) -> Path:
        if ".new-" in self.name:
            raise OSError(5, "Input/output error", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_old_only)
    with pytest.raises(Misuse, match="cannot hold the report: Input/output error"):
        folder.publish(place, msgspec.structs.replace(report, line="newer"), lambda _: None, dict)

    assert report == folder.read_report(place)


def test_killed_swap_is_mended_by_readers(place: Path, report: Report) -> None:
    """A process that is killed between the two moves mends nothing itself."""
    place.rename(place.with_name("report.last"))

    assert report == folder.read_report(place)


def test_new_report_replaces_all_of_old(place: Path, report: Report) -> None:
    """A trace of a mutant that is gone would be taken for one of today."""
    newer = msgspec.structs.replace(report, line="newer")
    folder.publish(place, report, lambda beside: (beside / "old-trace").touch(), dict)
    folder.publish(place, newer, lambda beside: (beside / "new-trace").touch(), dict)

    assert newer == folder.read_report(place)
    assert not (place / "old-trace").exists()
    assert (place / "new-trace").exists()


def test_no_folder_is_told_before_work(tmp_path: Path) -> None:
    """To learn after ten minutes that nothing can be written is to lose them."""
    (tmp_path / "build").write_text("in the way", encoding="utf-8")
    with pytest.raises(Misuse, match=r"build.*: cannot hold the report: "):
        folder.check_writable(tmp_path / "build" / "report")


def test_foreign_report_is_told(place: Path) -> None:
    """A file that another version wrote is not guessed at."""
    (place / "report.json").write_text('{"schema": "tierproof-report/9"}', encoding="utf-8")
    with pytest.raises(Misuse, match="not a report that this version reads"):
        folder.read_report(place)
