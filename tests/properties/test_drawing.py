"""What walks are made of: the filling of a tier, drawn calls, and drawn or fitted choices."""

from functools import partial
from random import Random
from typing import Any

import pytest
from walk_samples import SMALL, make_reference

from properties.choosing import draw_choice, fit_choice
from properties.drawing import Drawer, make_scope
from properties.filling import Filler
from properties.ledger import Ledger
from properties.misuse import Past
from properties.scopes import SCOPES, Scope
from properties.subject import Model, offers
from properties.view import View
from reference.calls import BASE, CALLS, DEFAULT, Alloc, Call, Choice, Fault, Fill
from reference.words import Shape


def fill_tier(model: Model, scope: Scope, seed: int = 0) -> tuple[Any, View, Ledger]:
    """The tier full, as walks begin."""
    filler = Filler(Random(seed), scope)
    state, ledger = model.initial(), Ledger.empty(scope.shape.rows)
    for _ in range(filler.calls):
        drawn = filler.draw(model.view(state), ledger, partial(offers, model, state))
        if drawn is None:
            break
        _, outcome, state = model.take(state, *drawn)
        ledger = ledger.absorb(drawn[0], outcome)
    return state, model.view(state), ledger


@pytest.mark.parametrize("shape", [Shape(2, 1, 1), Shape(3, 2, 1), Shape(64, 16, 2)], ids=str)
def test_filling_leaves_no_frame_free(shape: Shape) -> None:
    """Only then does every miss evict."""
    scope = make_scope(shape)
    for seed in range(5):
        _, view, _ = fill_tier(make_reference(shape), scope, seed)

        assert () == view.free_frames
        assert len(view.holders) > shape.frames


def test_filling_never_fails_on_purpose() -> None:
    """A fault while the tier is filled would be in every walk from there."""
    for seed in range(20):
        _, view, _ = fill_tier(make_reference(SMALL.shape), SMALL, seed)

        assert 0 == view.counters.failed_fills


def walk_options(seed: int) -> list[tuple[View, Call, Choice, list[Choice]]]:
    """Fills and allocations of a walk: the view, the call, what was drawn, and every option."""
    model = make_reference(SMALL.shape)
    random = Random(seed)
    drawer = Drawer(random, SMALL, Past())
    state, view, ledger = fill_tier(model, SMALL, seed)
    found = []
    for _ in range(50):
        call, choice = drawer.draw(view, ledger, partial(offers, model, state))
        _, outcome, after = model.take(state, call, choice)
        if isinstance(call, Fill | Alloc) and outcome.refused is None:
            options = [taken.choice for taken in model.transitions(state, call)]
            found.append((view, call, choice, options))
        drawer.past.learn(call, outcome)
        state, ledger = after, ledger.absorb(call, outcome)
        view = model.view(state)
    return found


def test_drawn_choices_are_options() -> None:
    """A choice the spec does not allow would break rules on the reference, or hide breaks."""
    for seed in range(20):
        for _, call, choice, options in walk_options(seed):
            assert choice in options, call


def test_every_option_is_drawn_sometime() -> None:
    """An option without a chance is a fault nobody injects."""
    entries = [entry for seed in range(4) for entry in walk_options(seed) if len(entry[3]) > 2]
    random = Random(0)
    for view, call, _, options in entries[:20]:
        # Without offers of the subject, so that what is drawn here is what is seen.
        drawn = {draw_choice(random, view, call, lambda _: iter(())) for _ in range(600)}

        assert set(options) == drawn, call


def test_fitted_choices_are_options() -> None:
    """A shortened trace makes the old choice where it can, and never an impossible one."""
    wanted = [
        DEFAULT,
        Choice(frames=(1, 0)),
        Choice(frames=(7,)),
        Choice(page=1),
        Choice(frames=(0,), fault=Fault(2, unmapped=False)),
        Choice(frames=(1,), fault=Fault(1, unmapped=True)),
    ]
    for seed in range(10):
        for view, call, choice, options in walk_options(seed):
            assert choice == fit_choice(view, call, choice)
            for other in wanted:
                assert fit_choice(view, call, other) in options, (call, other)


def test_scope_promises_fit_its_leases() -> None:
    """Promises that no second lease fits beside would leave one lease alone."""
    scope = make_scope(Shape(2048, 512, 2), leases=100)

    assert (1, 5, 10) == scope.promises
    assert 2 == make_scope(Shape(3, 2, 1)).leases
    assert 100 == make_scope(Shape(4096, 4096, 1)).leases


def test_scope_is_like_another() -> None:
    """A shorter trace is looked for with the calls that were found to break the rule."""
    wide = SCOPES["all"]
    scope = make_scope(Shape(2, 1, 1), like=wide)

    assert (CALLS, wide.keys, wide.begins) == (scope.operations, scope.keys, scope.begins)
    assert (Shape(2, 1, 1), 2, (1,)) == (scope.shape, scope.leases, scope.promises)
    assert BASE is make_scope(Shape(2, 1, 1), like=SCOPES["small"]).operations
    assert make_scope(Shape(2, 1, 1)) == make_scope(Shape(2, 1, 1), like=SCOPES["small"])
