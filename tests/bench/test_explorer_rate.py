"""How fast the explorer is, with every rule: CPU seconds of each scope, printed and guarded."""

from time import perf_counter, process_time

import pytest

from properties.explorer import Exploration
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.registry import all_rules
from properties.scopes import SCOPES

# Seconds on one core that a quiet machine keeps, and the factor that a noisy one is given.
WITHIN = {"tiny": 10.0, "small": 10.0, "pins": 40.0, "default": 120.0}
GENEROUS = 3


def explore(name: str, workers: int = 1, expand: int | None = None) -> Exploration:
    """Search a scope of the reference with every rule."""
    scope = SCOPES[name]
    model = make_model(REFERENCE)(scope.shape, scope.off)
    return Exploration(model, scope, Judge(all_rules())).run(workers=workers, expand=expand)


@pytest.mark.parametrize("name", WITHIN)
def test_scope_is_searched_in_time(name: str) -> None:
    """A search that takes an hour is not run."""
    begun = process_time()
    found = explore(name)
    spent = process_time() - begun
    print(
        f"\n{name}: {found.states:,} states, {found.calls:,} transitions, {spent:.1f} CPU s, "
        f"{found.calls / spent:,.0f} judged/s (wanted within {WITHIN[name]:.0f} s)"
    )

    assert found.answer == "holds"
    assert spent < GENEROUS * WITHIN[name]


def test_two_cores_beat_one() -> None:
    """Processes that cost more than they bring would be left out."""
    seconds = {}
    for workers in (1, 2):
        begun = perf_counter()
        explore("default", workers, expand=12_000)
        seconds[workers] = perf_counter() - begun
    print(f"\ntwo processes: {seconds[1] / seconds[2]:.2f} times as fast as one")

    assert seconds[2] < seconds[1]
