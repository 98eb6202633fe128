"""The gate of the symmetry reduction: reduced and unreduced search, compared.

Merging states that only names tell apart is sound only if they really behave alike. On a scope
small enough for both, every state of the unreduced space must have its form among the reduced
ones and the other way round, and the same events must happen.
"""

from collections.abc import Callable
from typing import NamedTuple

from properties.calls_for import calls_for
from properties.ledger import Ledger
from properties.rules.rows import first_due
from properties.scopes import Scope, is_inside
from properties.subject import Model
from properties.symmetry import canonical, named
from properties.view import View

Key = Callable[[View, Ledger], tuple[object, ...]]


class Comparison(NamedTuple):
    """What the two searches found."""

    reduced: int
    """States of the reduced search."""
    unreduced: int
    """States of the search that keeps every name."""
    only_reduced: int
    """Forms that the unreduced search never met."""
    only_unreduced: int
    """Forms that the reduced search missed."""
    same_events: bool
    """The same events happened in both."""

    @property
    def sound(self) -> bool:
        """The reduction loses nothing and invents nothing here."""
        return not self.only_reduced and not self.only_unreduced and self.same_events


def compare(model: Model, scope: Scope) -> Comparison:
    """Search a scope with and without the reduction; calls that are refused are not made."""
    reduced, events = _search(model, scope, canonical)
    unreduced, all_events = _search(model, scope, named)
    forms, all_forms = set(reduced.values()), set(unreduced.values())
    return Comparison(
        reduced=len(reduced),
        unreduced=len(unreduced),
        only_reduced=len(forms - all_forms),
        only_unreduced=len(all_forms - forms),
        same_events=events == all_events,
    )


def _search(
    model: Model, scope: Scope, key: Key
) -> tuple[dict[tuple[object, ...], tuple[object, ...]], set[tuple[object, ...]]]:
    """Return for each key that was met its canonical form, and the events that happened."""
    state, ledger = model.initial(), Ledger.empty(scope.shape.rows)
    view = model.view(state)
    todo = [(state, view, ledger)]
    met = {key(view, ledger): canonical(view, ledger)}
    events: set[tuple[object, ...]] = set()
    for state, view, ledger in todo:
        for call in calls_for(view, ledger, scope):
            if first_due(view, ledger, call) is not None:
                continue
            for choice, outcome, after in model.transitions(state, call):
                events.add((type(call), outcome.failed, choice.fault is not None))
                view_after = model.view(after)
                if after is state or not is_inside(view_after, scope):
                    continue
                known = ledger.absorb(call, outcome)
                name = key(view_after, known)
                if name not in met:
                    met[name] = canonical(view_after, known)
                    todo.append((after, view_after, known))
    return met, events
