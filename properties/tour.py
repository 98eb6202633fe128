"""A tour: runs of calls that make every transition of a scope at least once.

A search loads each state; a subject that only takes calls must be led there. A transition is
covered when a call of that operation, with that choice and that ending, leads from that canonical
state to that canonical state. Refused calls lead nowhere and are not part of a tour.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from properties.calls_for import calls_for
from properties.explorer import Exploration
from properties.judge import Judge
from properties.ledger import Ledger
from properties.scopes import Scope, is_inside
from properties.subject import Model, Transition
from properties.symmetry import canonical
from properties.view import View
from reference.calls import Call, Choice

CALLS_MAX = 400
"""Calls of one run: short enough to minimise and to show."""

Run = tuple[tuple[Call, Choice], ...]


class Label(NamedTuple):
    """A transition without names."""

    operation: str
    """The class of the call."""
    ending: tuple[bool, bool, int]
    """Failed; a fault while placing; frames taken."""
    target: int
    """The canonical state it leads to."""


class Tour(NamedTuple):
    """Runs that cover a scope."""

    runs: tuple[Run, ...]
    """Each from the first state."""
    transitions: int
    """Different transitions that are covered."""

    @property
    def calls(self) -> int:
        """The length of the tour."""
        return sum(len(run) for run in self.runs)


def tour(model: Model, scope: Scope) -> Tour:
    """Return a tour of every transition of a scope that stays inside it."""
    search = Exploration(model, scope, Judge(()), goals=()).run()
    numbers = {key: number for key, number in search.seen.items() if number < search.states}
    guide = _Guide(model, scope, numbers)
    for number, node in enumerate(search.nodes):
        guide.learn(number, node.state, node.ledger)
    transitions = sum(len(labels) for labels in guide.left)
    runs = []
    while any(guide.left):
        run = guide.run()
        if not run:
            break
        runs.append(tuple(run))
    return Tour(tuple(runs), transitions)


class _Guide:
    """What is left to cover, and the way to it."""

    def __init__(self, model: Model, scope: Scope, numbers: dict[tuple[object, ...], int]) -> None:
        self.model = model
        self.scope = scope
        self.numbers = numbers
        self.left: list[dict[Label, None]] = []
        self.known: list[dict[Label, None]] = []

    def learn(self, number: int, state: Any, ledger: Ledger) -> None:
        """Note the transitions of one state."""
        found = {label: None for label, _, _ in self._moves(number, state, ledger)}
        self.known.append(found)
        self.left.append(dict(found))

    def _moves(
        self, number: int, state: Any, ledger: Ledger, operation: str = ""
    ) -> Iterator[tuple[Label, Call, Transition]]:
        """Yield every transition (of one operation) that stays inside the scope."""
        view = self.model.view(state)
        for call in calls_for(view, ledger, self.scope):
            if operation and type(call).__name__ != operation:
                continue
            for made in self.model.transitions(state, call):
                if made.outcome.refused is not None:
                    continue
                target = self._arrive(number, state, ledger, call, made)
                if target is not None:
                    choice = made.choice
                    ending = (made.outcome.failed, choice.fault is not None, len(choice.frames))
                    yield Label(type(call).__name__, ending, target), call, made

    def _arrive(
        self, number: int, state: Any, ledger: Ledger, call: Call, made: Transition
    ) -> int | None:
        if made.after is state:
            return number
        view: View = self.model.view(made.after)
        if not is_inside(view, self.scope):
            return None
        return self.numbers[canonical(view, ledger.absorb(call, made.outcome))]

    def run(self) -> list[tuple[Call, Choice]]:
        """Return one run from the first state: to what is left, again and again."""
        number, state, ledger = 0, self.model.initial(), Ledger.empty(self.scope.shape.rows)
        made: list[tuple[Call, Choice]] = []
        while len(made) < CALLS_MAX:
            way = self._way(number)
            if way is None:
                break
            for label in way:
                moves = self._moves(number, state, ledger, label.operation)
                _, call, taken = next(move for move in moves if move[0] == label)
                made.append((call, taken.choice))
                self.left[number].pop(label, None)
                state, ledger = taken.after, ledger.absorb(call, taken.outcome)
                number = label.target
        return made

    def _way(self, start: int) -> list[Label] | None:
        """Return the shortest way that ends with a transition that is left."""
        before: dict[int, tuple[int, Label] | None] = {start: None}
        todo = deque([start])
        while todo:
            number = todo.popleft()
            if self.left[number]:
                labels = [next(iter(self.left[number]))]
                while (step := before[number]) is not None:
                    number, label = step
                    labels.append(label)
                return labels[::-1]
            for label in self.known[number]:
                if label.target not in before:
                    before[label.target] = (number, label)
                    todo.append(label.target)
        return None
