"""The rows of the spec as the rules compute them, against the reference that raises them."""

import random
from typing import Any

import pytest

from properties.calls_for import calls_for
from properties.ledger import Ledger
from properties.rules import rows
from properties.scopes import SCOPES, Scope, is_inside
from properties.subject import FunctionModel, reference_modules
from reference import refusals
from reference.calls import CALLS

STATES = 300


def walk(scope: Scope, seed: int) -> list[tuple[str, str | None, str | None]]:
    """Every call in each state of a seeded walk: the call, the refusal due, the one raised."""
    rng = random.Random(seed)
    model = FunctionModel(scope.shape, scope.off, reference_modules())
    state, ledger = model.initial(), Ledger.empty(scope.shape.rows)
    found = []
    for _ in range(STATES):
        view, successes = model.view(state), []
        for call in calls_for(view, ledger, scope):
            taken: Any = rng.choice(model.transitions(state, call))
            refused = taken.outcome.refused
            raised = None if refused is None else refused.name
            found.append((str(call), rows.first_due(view, ledger, call), raised))
            if refused is None and is_inside(model.view(taken.after), scope):
                successes.append((call, taken))
        call, taken = rng.choice(successes)
        ledger, state = ledger.absorb(call, taken.outcome), taken.after
    return found


@pytest.mark.parametrize("name", ["default", "off", "wide"])
def test_due_refusal_is_the_raised_one(name: str) -> None:
    """Two texts of the same table: where they differ, one of them misreads the spec."""
    found = walk(SCOPES[name], seed=7)

    assert [] == [entry for entry in found if entry[1] != entry[2]]


def test_walk_meets_nearly_every_refusal() -> None:
    """An agreement about refusals that never came up would say nothing."""
    raised = {name for seed in (1, 2, 3) for _, _, name in walk(SCOPES["default"], seed)}

    assert {"FrameMemory"} == {name for row in rows.REFUSALS.values() for name in row} - raised


def test_every_operation_has_its_row() -> None:
    """An operation without a row would be judged by nobody."""
    assert set(CALLS) == set(rows.REFUSALS)


def test_rows_use_every_refusal_class() -> None:
    """A misspelt name would make every refusal of that class look needless."""
    defined = {cls.__name__ for cls in refusals.Refusal.__subclasses__()}

    assert defined == {name for row in rows.REFUSALS.values() for name in row}
