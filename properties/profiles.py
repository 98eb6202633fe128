"""The profiles of the Hypothesis machine: `dev`, `ci`, `deep` and `mutation`.

With `CI` in the environment Hypothesis loads a profile of its own, and settings that are not given
come from whichever is loaded. So every setting that matters is stated here, none is left to a
default, and what a run finds depends on the profile and the seed alone. Owned here: the settings,
how much is run, and where. Not owned: running it (`fronts`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import settings as Settings  # noqa: N812  # Hypothesis calls its class so

NAME = "tierproof-{}"
"""How our profiles are called in Hypothesis, which has a `ci` of its own."""

BATCH = 10
"""Runs of the machine in a batch, each batch with a seed of its own.

Once its health checks are over, after ten runs, Hypothesis follows every new run with five copies
of it that differ in a few choices. Of a machine they mostly repeat what was seen: 10 batches of 10
reach ten times the states of one batch of 100.
"""

STEPS = 240
"""Steps in a run: a tier becomes interesting after some twenty, and each start costs as much as
ten. At 50 a third of the states is reached in the same time; at 480 as many as at 240."""


class Profile(NamedTuple):
    """How much the machine and its second front run, and with which settings."""

    name: str
    """Its name on the command line."""
    purpose: str
    """When it is used, and how long it takes on one core."""
    settings: Settings
    """What the machine runs with."""
    batches: Mapping[str, int]
    """Where it runs unless it is told, in this order, and the batches of the machine there."""
    seeds: int
    """Seeds of walks on each scope, four walks a seed."""
    is_judged: bool
    """Whether a goal that is never reached in all of these scopes fails the run."""

    def get_batches(self, scope: str) -> int:
        """Return the batches of the machine on a scope, the most of all on one of the user's."""
        return self.batches.get(scope, max(self.batches.values()))

    @property
    def seed_settings(self) -> Settings:
        """What the second front runs with: a smaller seed is no simpler walk, so none is sought."""
        phases = tuple(phase for phase in self.settings.phases if phase is not Phase.shrink)
        return Settings(self.settings, max_examples=self.seeds, phases=phases)


def _settings(
    phases: tuple[Phase, ...], *extra_checks: HealthCheck, steps: int = STEPS
) -> Settings:
    """Return settings with everything stated."""
    return Settings(
        max_examples=BATCH,
        stateful_step_count=steps,
        # A slow machine is no bug of the tier: no time decides what is found.
        deadline=None,
        # What was found is kept in trace files, which anyone can replay; a database would make
        # what a run finds depend on the runs before it.
        database=None,
        # The blob replays only with the same Hypothesis and the same source; our program and
        # trace always do.
        print_blob=False,
        # Seeds are given; should one be missing, the run is still the same twice.
        derandomize=True,
        # `explain` traces every line, and says which choices did not matter: after shortening all
        # do. `reuse` needs a database, `target` a target.
        phases=phases,
        # The first rule that breaks is shown. Looking for others lasts as long as the clock says.
        report_multiple_bugs=False,
        # The failure prints the program itself, without the invariant after each step.
        verbosity=Verbosity.quiet,
        # Each warns of what is meant to be so: runs are long from the first on, a judged call
        # takes its time, and a run in which a mutant crashes is given up.
        suppress_health_check=(
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
            HealthCheck.too_slow,
            *extra_checks,
        ),
        # Another engine could be named by a plugin's profile.
        backend="hypothesis",
    )


# Shortening by leaving out steps takes a tenth of a second and ends with fewer of them than
# Hypothesis's shrinking, which takes ten seconds and more: only `deep` has the time for both.
_GENERATE = (Phase.explicit, Phase.generate)
_SHRINK = (*_GENERATE, Phase.shrink)

MAIN = {"small": 14, "wide": 24, "default": 16, "pins": 8, "rows": 4, "off": 4, "all": 8}
"""Scopes on which everything is reached, what breaks most first, most where most can happen. Not
`tiny`, which is in `default`, nor the scopes with an opening of their own. `all` is where leases
leave, rows are taken back and keys found."""

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="dev",
            purpose="while one works: a few seconds",
            settings=_settings(_GENERATE),
            batches={"small": 2, "default": 2},
            seeds=10,
            is_judged=False,
        ),
        Profile(
            name="ci",
            purpose="at every push: about 90 CPU seconds",
            settings=_settings(_GENERATE),
            batches=MAIN,
            seeds=80,
            is_judged=True,
        ),
        Profile(
            name="deep",
            purpose="now and then: about twelve minutes",
            settings=_settings(_SHRINK),
            batches={scope: 10 * batches for scope, batches in MAIN.items()},
            seeds=1_000,
            is_judged=True,
        ),
        Profile(
            name="mutation",
            purpose="as the test of a mutant: it ends at the first break, and tells no more",
            # mutmut calls one test function from several processes and places.
            settings=_settings(_GENERATE, HealthCheck.differing_executors),
            batches={"small": 6, "wide": 6},
            seeds=25,
            is_judged=False,
        ),
    )
}


for _profile in PROFILES.values():
    Settings.register_profile(NAME.format(_profile.name), _profile.settings)


@contextmanager
def loaded(profile: Profile) -> Iterator[None]:
    """Have a profile of ours loaded, whatever `CI` made Hypothesis load, and then that again."""
    # `get_current_profile_name` says the same, in versions younger than the oldest we allow.
    before = Settings._current_profile
    Settings.load_profile(NAME.format(profile.name))
    try:
        yield
    finally:
        if before is not None:
            Settings.load_profile(before)
