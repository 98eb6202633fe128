"""What tests of the Hypothesis machine run it on, and the breaks that their golden texts show."""

from walk_samples import JUDGE, get_mutant, make_reference

from properties import fronts
from properties.failure import RuleBroken
from properties.machine import TierMachine, machine_for
from properties.minimise import MakeModel
from properties.profiles import PROFILES, Profile
from properties.scopes import SCOPES
from properties.tally import Tally

GOLDEN_MUTANTS = {
    "machine": "tier.unsaved-page-is-let-go",
    "walks": "fill.failed-copy-keeps-misses-mapped",
}
"""Which mutant the golden text of each front shows."""

BRIEF = PROFILES["ci"]._replace(batches={"tiny": 1}, seeds=4)
"""Enough to see that something runs."""


def get_machine(make: MakeModel = make_reference, scope: str = "tiny") -> type[TierMachine]:
    """The machine of a subject on a scope."""
    found = SCOPES[scope]
    return machine_for(make, found, JUDGE, Tally(found))


def find_break(front: str, mutant: str, scope: str, profile: Profile = BRIEF) -> RuleBroken | None:
    """The break that a front finds, if it finds one."""
    found = SCOPES[scope]
    run = {"machine": fronts.run_machine, "walks": fronts.run_seeds}[front]
    try:
        run(get_mutant(mutant), found, JUDGE, Tally(found), profile, subject=mutant)
    except RuleBroken as broken:
        return broken
    return None


def get_golden_text(front: str) -> str:
    """The failure that a golden text shows, as it is printed now."""
    broken = find_break(front, GOLDEN_MUTANTS[front], "tiny")
    return f"{broken}\n"
