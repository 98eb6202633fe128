"""The Hypothesis machine as one test of the reference, for stock mutmut."""

from properties.fronts import run_fronts
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.profiles import PROFILES
from properties.registry import all_rules
from properties.scopes import SCOPES

JUDGE = Judge(all_rules())


def test_machine_breaks_no_rule() -> None:
    """Both fronts, in the profile that ends at the first break and shrinks nothing."""
    scopes = [SCOPES[name] for name in ("small", "default")]
    report = run_fronts(make_model(REFERENCE), scopes, JUDGE, PROFILES["mutation"])
    broken = report.broken

    assert broken is None or broken.broken is None, f"RULES {broken.broken.rule}"
