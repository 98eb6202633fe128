"""The gate: blank anything that must be red, and it is named.

The rows are those of the named mutants on the smallest scope, really run. What only shows in a
larger scope, which takes minutes, is filled in from what each mutant names: that those rules do
notice is the main job's to show, here is only shown that the gate would see if they did not.
"""

from functools import cache
from pathlib import Path

import msgspec
import pytest

from mutants import main_job, roster
from mutants.engine import Cell, Row
from mutants.gate import Record, Shortfall, find_shortfalls, records_of
from mutants.main_job import Job
from mutants.matrix import Matrix, Rung, build
from mutants.report.make import make
from properties.exits import Exit
from properties.registry import all_rules

pytestmark = pytest.mark.slow

RULES = [rule.id for rule in all_rules()]
NUMBERS = range(1, 33)


@cache
def run_on_tiny() -> Matrix:
    """Return the named mutants as they really fare in the smallest scopes."""
    ladder = (Rung("tiny", None, whole=True), Rung("leave", None), Rung("sleep", None))
    ladder += (Rung("keys", None),)
    return build(roster.catalogue(), all_rules(), workers=1, ladder=ladder)


@cache
def filled_in() -> Matrix:
    """Return the same rows, with what only larger scopes show as each mutant says."""
    matrix = run_on_tiny()
    rows = {}
    for one in matrix.candidates:
        row = matrix.rows[one.id]
        more = {rule: Cell(rule, "", "tiny", ()) for rule in one.expect}
        rows[one.id] = msgspec.structs.replace(row, cells={**more, **row.cells})
    return matrix._replace(rows=rows)


def without(row: Row, *rules: str) -> Row:
    """Return a row in which these rules said nothing."""
    cells = {rule: cell for rule, cell in row.cells.items() if rule not in rules}
    return msgspec.structs.replace(row, cells=cells)


def test_most_rules_are_really_red() -> None:
    """Else these tests would judge rows that somebody wrote."""
    red = {rule for record in records_of(run_on_tiny()) for rule in record.red}

    assert len(red) > len(RULES) * 3 / 4


def test_gate_is_open_when_all_is_noticed() -> None:
    """A gate that is always shut shows nothing either."""
    assert [] == find_shortfalls(RULES, records_of(filled_in()))


def test_each_blanked_rule_is_named() -> None:
    """A rule that no mutant turns red may as well not be there."""
    records = records_of(filled_in())
    for rule in RULES:
        blanked = [Record(one.mutant, (), one.red - {rule}) for one in records]

        assert [Shortfall(rule, None)] == find_shortfalls(RULES, blanked)
        assert f"{rule}: no mutant turns it red" == str(Shortfall(rule, None))


def test_blanked_rule_also_names_mutants() -> None:
    """Whoever named it is not noticed by it any more."""
    rule = "pages-are-partitioned"
    records = [one._replace(red=one.red - {rule}) for one in records_of(filled_in())]
    found = find_shortfalls(RULES, records)

    assert Shortfall(rule, None) == found[0]
    assert {one.mutant for one in records if rule in one.expect} == {s.mutant for s in found[1:]}


def test_each_numbered_mutant_must_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These are the changes that every suite must notice: one unseen fails the whole run."""
    matrix = filled_in()
    numbered = {one.number: one for one in matrix.candidates if one.number is not None}
    assert set(NUMBERS) == set(numbered)
    monkeypatch.setattr(main_job, "check_can_tell", lambda _job: None)
    monkeypatch.setattr(main_job, "check_unmutated", lambda _job, _scopes: [])
    monkeypatch.setattr(main_job, "check_device", lambda *_: ())
    monkeypatch.setattr(main_job, "publish", lambda job, *run: make(job.rules, *run[:3]))
    for number in NUMBERS:
        one = numbered[number]
        rows = {**matrix.rows, one.id: without(matrix.rows[one.id], one.expect[0])}
        monkeypatch.setattr(main_job, "judge", lambda *_, rows=rows: matrix._replace(rows=rows))
        ended = main_job.run(
            Job(gather=lambda: matrix.candidates, corpus=tuple, report=tmp_path / "report")
        )

        assert Exit.NOT_RED == ended.code, one.id
        assert f"SHUT: {one.id}: not noticed by {one.expect[0]}, which it names" in ended.lines
