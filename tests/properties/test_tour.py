"""A tour leads a subject that only takes calls through every transition of a scope."""

from properties.explorer import Exploration
from properties.judge import Judge
from properties.ledger import Ledger
from properties.scopes import SCOPES
from properties.subject import FunctionModel, reference_modules
from properties.symmetry import canonical
from properties.tour import CALLS_MAX, tour

SCOPE = SCOPES["tiny"]
MODEL = FunctionModel(SCOPE.shape, SCOPE.off, reference_modules())


def test_tour_visits_every_state() -> None:
    """A tour that leaves a state out tests less than it says."""
    search = Exploration(MODEL, SCOPE, Judge(()), goals=()).run()
    inside = {key for key, number in search.seen.items() if number < search.states}
    met = set()
    for run in tour(MODEL, SCOPE).runs:
        state, ledger = MODEL.initial(), Ledger.empty(SCOPE.shape.rows)
        met.add(canonical(MODEL.view(state), ledger))
        for call, choice in run:
            taken = MODEL.take(state, call, choice)
            assert taken.outcome.refused is None
            state, ledger = taken.after, ledger.absorb(call, taken.outcome)
            met.add(canonical(MODEL.view(state), ledger))

    assert inside == met


def test_tour_has_exactly_this_length() -> None:
    """A tour that silently shrinks leaves transitions out."""
    found = tour(MODEL, SCOPE)

    assert (3, 940, 433) == (len(found.runs), found.calls, found.transitions)
    assert all(len(run) <= CALLS_MAX + SCOPE.shape.pages * 20 for run in found.runs)


def test_tour_is_the_same_twice() -> None:
    """What is recorded from a tour is compared with later recordings."""
    assert tour(MODEL, SCOPE) == tour(MODEL, SCOPE)
