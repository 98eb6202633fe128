"""The engine: one row of the matrix, and what it does not count as a kill."""

from functools import cache

import pytest

from mutants.candidate import Candidate, from_texts
from mutants.engine import OutOfTime, Row, confirm, limited, run_rung
from mutants.matrix import Rung, build, red_by, status_of
from mutants.record import EVERY, Record
from mutants.variant import Variant, original_sources
from properties.judge import Judge
from properties.registry import all_rules
from properties.scopes import SCOPES

JUDGE = Judge(all_rules())
TINY = (Rung("tiny", None, whole=True),)


@cache
def tiny() -> Record:
    """Return the record of the smallest scope."""
    return Record(SCOPES["tiny"])


def candidate(name: str, module: str, old: str, new: str, *expect: str) -> Candidate:
    """Return a candidate that changes one text."""
    source = original_sources()[module]
    assert source.count(old) == 1, f"{old!r} is in {module} once"
    return from_texts(name, name, {module: source.replace(old, new)}, expect)


def judged(one: Candidate) -> Row:
    """Return the row of a candidate on the first rung."""
    return run_rung(Row(one.id), one, tiny(), JUDGE, whole=True, enough=lambda _: False)


FORGETS_CLEAN = candidate(
    "dirt-stays", "reference.tier", "phase=Phase.READY, dirty=False", "phase=Phase.READY"
)
CRASHES = candidate(
    "crashes", "reference.tier", "lease_id = state.next_lease\n", "lease_id = 1 // 0\n"
)
SAME = candidate("same", "reference.tier", "if promise < 1:", "if promise <= 0:")
TELLS_LESS = candidate(
    "tells-less", "reference.tables", "raise UnknownLease(lease_id)", "raise UnknownLease(0)"
)


def test_rule_turns_red_with_shortest_trace() -> None:
    """What the matrix is for: who noticed, how, and by which calls."""
    row = judged(FORGETS_CLEAN)

    assert row.ran
    cell = row.cells["write-back-publishes"]
    assert "tiny" == cell.scope
    assert 7 == len(cell.path)
    assert cell.because == confirm(
        Variant(FORGETS_CLEAN.sources), SCOPES["tiny"], JUDGE, cell.rule, cell.path
    )


def test_crash_is_no_kill() -> None:
    """In a trial most of what was credited to an invariant was a crash."""
    row = judged(CRASHES)

    assert "ZeroDivisionError: integer division or modulo by zero" == row.crash
    assert {} == row.cells
    assert "crashed" == status_of(CRASHES, row)


def test_same_program_never_differs() -> None:
    """An equivalent mutant is reported as one that ran and differed nowhere."""
    row = judged(SAME)

    assert (True, None, {}) == (row.ran, row.difference, row.cells)
    assert tiny().length == row.rungs["tiny"]
    assert "never differed" == status_of(SAME, row)


def test_unreached_change_never_ran() -> None:
    """A mutant whose line never ran says nothing of the rules."""
    raised = candidate(
        "raised",
        "reference.state",
        'raise ValueError(f"{shape}: pages',
        'raise TypeError(f"{shape}: pages',
    )

    assert "never ran" == status_of(raised, judged(raised))


def test_expected_rule_must_speak() -> None:
    """A mutant noticed only by rules it does not name is missed."""
    wrong = candidate(
        "wrong-rule",
        "reference.tier",
        "phase=Phase.READY, dirty=False",
        "phase=Phase.READY",
        "hold-count",
    )

    assert "missed" == status_of(wrong, judged(wrong))


def test_hang_is_out_of_time() -> None:
    """A mutant that hangs is neither killed nor crashed."""
    with pytest.raises(OutOfTime), limited(0.05):
        while True:
            pass


def test_record_knows_which_functions_ran() -> None:
    """A mutant of a function that did not run need not be run."""
    record = tiny()
    undo = record.mask((("reference.fill", "undo", 1),))
    rows = [recorded for row in record.rows for recorded in row if recorded.ran & undo]

    assert {"Fill", "CompleteFill"} == {type(recorded.call).__name__ for recorded in rows}
    assert EVERY == record.mask((("reference.fill", "<module>", 1),))


def test_matrix_does_not_depend_on_workers() -> None:
    """The same tree gives the same matrix on any machine."""
    candidates = [FORGETS_CLEAN, CRASHES, SAME, TELLS_LESS]
    one, two = (build(candidates, all_rules(), workers=n, ladder=TINY) for n in (1, 2))

    assert one.rows == two.rows
    assert one.looked == two.looked
    assert "dirt-stays" in red_by(one)["write-back-publishes"]
    assert ["tells-less"] == red_by(one)["refusal-tells-why"]


def test_later_rung_judges_what_differs() -> None:
    """On larger scopes only what the original does not do is judged, and what follows."""
    rung = (Rung("small", 300),)
    built = build([FORGETS_CLEAN, SAME], all_rules(), workers=1, ladder=rung)

    row = built.rows["dirt-stays"]
    assert "write-back-publishes" in row.cells
    assert {"small"} == {cell.scope for cell in row.cells.values()}
    assert {} == built.rows["same"].cells
    assert not built.looked[0].whole
