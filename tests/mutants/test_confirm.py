"""Confirming: which cells are chosen, and what counts as agreement."""

from pathlib import Path

import msgspec
import pytest

from mutants.confirm import PER_RULE, Chosen, choose
from mutants.confirm import _compare as compare
from mutants.report.model import Report, decode
from mutants.scratch import Scratch, Spoke
from mutants.stock import get_verdict

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "report.json"


@pytest.fixture
def report() -> Report:
    """Return the small report that the golden texts are made of."""
    return decode(GOLDEN.read_bytes())


def test_each_red_rule_has_cells(report: Report) -> None:
    """A rule that nobody confirms is believed on our word."""
    red = {rule.id for rule in report.rules if rule.red_on}
    chosen = choose(report)

    assert red == {one.rule for one in chosen}
    assert all(1 <= sum(one.rule == rule for one in chosen) <= PER_RULE for rule in sorted(red))


def test_only_the_same_rule_agrees() -> None:
    """A crash, or another rule, is no agreement."""
    one = Chosen("hold-count", "tier.x.1", "reference.tier.x_x__mutmut_1", None)
    other = Spoke(one.alias, "t", ("no-pin-leaves-dirt",), "")
    crash = Spoke(one.alias, "t", (), "TypeError")
    elsewhere = Spoke("reference.tier.x_x__mutmut_2", "t", ("hold-count",), "")

    assert not compare(one, [other, crash, elsewhere]).agrees
    assert compare(one, [other, Spoke(one.alias, "t", ("hold-count",), "")]).agrees


@pytest.mark.slow
def test_edited_source_is_recorded(tmp_path: Path) -> None:
    """A mutant that is not mutmut's runs through the same tests and the same recorder."""
    scratch = Scratch(ROOT, tmp_path / "scratch")
    scratch.add_tests("mutation/conftest.py", "mutation/test_confirm_space.py")
    (scratch.folder / "tests" / "events.json").write_bytes(msgspec.json.encode([]))
    tier = (ROOT / "reference" / "tier.py").read_text(encoding="utf-8")
    old = "phase=Phase.READY, dirty=False"
    assert 1 == tier.count(old)
    scratch.run_edited("planted", {"reference.tier": tier.replace(old, "phase=Phase.READY")})
    (spoke,) = scratch.read_record()

    assert "planted" == spoke.mutant
    assert {"can-always-finish", "write-back-publishes"} <= set(spoke.rules)


@pytest.mark.slow
def test_unchanged_source_is_silent(tmp_path: Path) -> None:
    """The same tests on the original record nothing, or they would agree with anything."""
    scratch = Scratch(ROOT, tmp_path / "scratch")
    scratch.add_tests("mutation/conftest.py", "mutation/test_confirm_space.py")
    scratch.run_edited("unchanged", {})

    assert [] == scratch.read_record()


def test_verdict_tells_rules_from_crashes() -> None:
    """A kill by a unit test is mutmut's; a rule that spoke is ours."""
    codes = {"a": 1, "b": 1, "c": 0, "d": 36, "e": None}
    record = [Spoke("a", "t", ("hold-count",), ""), Spoke("b", "t", (), "TypeError")]
    verdict = get_verdict(codes, record)

    assert (2, 1, ("c",)) == (verdict.killed, verdict.by_rule, verdict.survived)
    assert ({"36": 1}, {"hold-count": 1}) == (verdict.others, verdict.rules)
