"""The record: every (state, call, choice) of the original in a scope, and what came of it.

A mutant is run on the recorded pairs, and only what differs is judged. For each call the record
also knows which functions of the reference ran, so that a mutant of another function need not be
run on it at all.
"""

import ast
from typing import Any, NamedTuple

from mutants.variant import SHARED, Variant, original_sources
from properties.calls_for import calls_for
from properties.explorer import Exploration
from properties.judge import Judge
from properties.scopes import Scope
from properties.subject import Transition
from reference.calls import Call

EVERY = -1
"""The mask of everything: all bits set."""


class Recorded(NamedTuple):
    """One call in one state."""

    call: Call
    """The call."""
    ran: int
    """A bit for each function that ran."""
    transitions: list[Transition]
    """Everything it came to."""


class Record:
    """The original's transitions in (the first states of) one scope."""

    def __init__(self, scope: Scope, states: int | None = None) -> None:
        """Search the scope with the original; with `states`, record that many states at most."""
        self.scope = scope
        self.bits: dict[tuple[str, str], int] = {}
        self._running = 0
        copy = Variant(
            {name: text for name, text in original_sources().items() if name not in SHARED},
            self._mark,
            {"__enter__": self._enter},
        )
        model = copy.model(scope.shape, scope.off)
        self.search = Exploration(model, scope, Judge(()), goals=()).run(states=states)
        first = len(scope.opening)
        nodes = self.search.nodes[first : states and first + states]
        self.whole = self.search.ended and len(nodes) == self.search.states - first
        self.first = first
        self.rows = [self._record(node.state, node.ledger) for node in nodes]

    def _record(self, state: Any, ledger: Any) -> list[Recorded]:
        model = self.search.model
        found = []
        for call in calls_for(model.view(state), ledger, self.scope):
            self._running = 0
            transitions = model.transitions(state, call)
            found.append(Recorded(call, self._running, transitions))
        return found

    def _enter(self, bit: int) -> None:
        self._running |= bit

    def _mark(self, module: str, tree: ast.Module) -> None:
        """Let every function say that it runs."""
        for name, node in _functions(tree, ""):
            bit = self.bits.setdefault((module, name), 1 << len(self.bits))
            node.body.insert(0, ast.parse(f"__enter__({bit})").body[0])

    def mask(self, places: tuple[tuple[str, str, int], ...]) -> int:
        """Return the bits of the changed functions; `EVERY` if a change is in none."""
        found = 0
        for module, function, _ in places:
            bit = self.bits.get((module, function))
            if bit is None:
                return EVERY
            found |= bit
        return found

    @property
    def transitions(self) -> int:
        """How many transitions were recorded."""
        return sum(len(recorded.transitions) for row in self.rows for recorded in row)


def _functions(tree: ast.AST, prefix: str) -> list[tuple[str, ast.FunctionDef]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found.append((prefix + node.name, node))
        elif isinstance(node, ast.ClassDef):
            found += _functions(node, f"{prefix}{node.name}.")
    return found
