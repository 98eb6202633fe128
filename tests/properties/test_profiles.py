"""The profiles: everything is stated, and nothing around a run changes what it finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from machine_samples import BRIEF

from properties import profiles
from properties.profiles import BATCH, NAME, PROFILES, loaded
from properties.scopes import SCOPES

ROOT = Path(__file__).parent.parent.parent
STATED = (
    "backend",
    "database",
    "deadline",
    "derandomize",
    "max_examples",
    "phases",
    "print_blob",
    "report_multiple_bugs",
    "stateful_step_count",
    "suppress_health_check",
    "verbosity",
)


@pytest.mark.parametrize("name", PROFILES)
def test_no_setting_depends_on_the_clock(name: str) -> None:
    """What is found must not change with how fast the machine is, nor with earlier runs."""
    found = PROFILES[name].settings

    assert found.deadline is None
    assert found.database is None
    assert not found.report_multiple_bugs
    assert not found.print_blob
    assert found.derandomize
    assert HealthCheck.too_slow in found.suppress_health_check


@pytest.mark.parametrize("name", PROFILES)
def test_no_profile_explains(name: str) -> None:
    """Tracing each line makes a run three times as long; what is left after shortening matters."""
    profile = PROFILES[name]

    assert Phase.explain not in profile.settings.phases
    assert Phase.shrink not in profile.seed_settings.phases
    assert (Phase.shrink in profile.settings.phases) == (name == "deep")


def test_mutation_profile_runs_under_mutmut() -> None:
    """mutmut calls one test from several places, which Hypothesis takes for a mistake."""
    suppressed = PROFILES["mutation"].settings.suppress_health_check

    assert HealthCheck.differing_executors in suppressed
    assert HealthCheck.differing_executors not in PROFILES["ci"].settings.suppress_health_check


def test_every_setting_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting left out would follow whatever profile happens to be loaded."""
    odd = settings(
        max_examples=3,
        deadline=7,
        print_blob=True,
        phases=(Phase.generate,),
        stateful_step_count=2,
        suppress_health_check=(HealthCheck.nested_given,),
    )
    settings.register_profile("odd", odd)
    before = settings._current_profile
    settings.load_profile("odd")
    try:
        rebuilt = profiles._settings(profiles._GENERATE)
    finally:
        settings.load_profile(before or "default")

    assert [getattr(BRIEF.settings, name) for name in STATED] == [
        getattr(rebuilt, name) for name in STATED
    ]


def test_setting_lists_are_complete() -> None:
    """Hypothesis may get settings that we have not thought of."""
    public = {name for name in vars(settings) if isinstance(getattr(settings, name), property)}

    assert set(STATED) == public


def test_loading_is_undone() -> None:
    """The tests of whoever runs the machine keep their own profile."""
    before = settings.default
    with loaded(PROFILES["dev"]):
        inside = settings.default

    assert PROFILES["dev"].settings == inside
    assert before == settings.default
    assert all(NAME.format(name) != name for name in PROFILES)


def test_batches_end_before_copies_begin() -> None:
    """From the eleventh run on Hypothesis copies what it has; a batch is over before."""
    assert {BATCH} == {profile.settings.max_examples for profile in PROFILES.values()}
    assert 10 == BATCH


def test_profiles_run_on_known_scopes() -> None:
    """`ci` must be able to reach every goal, and `dev` to end soon."""
    batches = {name: sum(profile.batches.values()) for name, profile in PROFILES.items()}

    assert {name for profile in PROFILES.values() for name in profile.batches} <= SCOPES.keys()
    assert batches["dev"] < batches["mutation"] < batches["ci"] < batches["deep"]
    assert PROFILES["ci"].batches["wide"] == PROFILES["ci"].get_batches("5/3/1")


def test_ci_in_the_environment_changes_nothing() -> None:
    """Hypothesis loads a profile of its own where `CI` is set, and every CI sets it."""
    command = [sys.executable, "-m", "properties", "machine", "--scope", "tiny", "--json"]
    plain = {name: value for name, value in os.environ.items() if name != "CI"}
    printed = [
        subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout
        for environment in (plain, {**plain, "CI": "true", "PYTHONHASHSEED": "3"})
    ]

    assert printed[0] == printed[1]
    assert '"exit": 0' in printed[0]
