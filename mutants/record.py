"""The record: every (state, call, choice) of the original in a scope, and what came of it.

A mutant is run on the recorded pairs, and only what differs is judged. For each call the record
also knows which functions of the reference ran, so that a mutant of another function need not be
run on it at all.
"""

import ast
from typing import Any, NamedTuple

from mutants.variant import SHARED, Variant, original_sources
from properties.explorer import Exploration
from properties.judge import Judge
from properties.scopes import Scope
from properties.subject import Transition
from properties.view import View
from reference.calls import NAMES, Call, Choice

OBJECT = "reference.reference"
"""The object around the functions; the record drives the functions."""

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
    """The original's transitions in (the first states of) one scope.

    It is the model that its own search drives: what the search asks is what is recorded.
    """

    def __init__(self, scope: Scope, states: int | None = None) -> None:
        """Search the scope with the original; with `states`, expand that many states at most."""
        self.scope = scope
        self.first = len(scope.opening)
        self.rows: list[list[Recorded]] = []
        self.ran = 0
        """A bit for each function that ran in any of them."""
        self.bits: dict[tuple[str, str], int] = {}
        self._running = 0
        self._state: Any = None
        copy = Variant(
            {name: text for name, text in original_sources().items() if name not in SHARED},
            self._mark,
            {"__enter__": self._enter},
        )
        self._model = copy.model(scope.shape, scope.off)
        # What runs only to begin, no call shows: it is in no recorded call and ran all the same.
        self.ran |= self._running
        self.search = Exploration(self._model, scope, Judge(()), goals=())
        self.search.model = self
        self.search.run(expand=states)
        self.whole = self.search.ended

    def initial(self) -> Any:
        """Return the state in which nothing happened yet."""
        return self._model.initial()

    def transitions(self, state: Any, call: Call) -> list[Transition]:
        """Make the call with the original, and record what came of it and what ran."""
        if state is not self._state:
            self._state = state
            self.rows.append([])
        self._running = self._methods(call)
        transitions = self._model.transitions(state, call)
        self.rows[-1].append(Recorded(call, self._running, transitions))
        self.ran |= self._running
        return transitions

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Make the call with this choice; the search does not, so nothing is recorded."""
        return self._model.take(state, call, choice)

    def view(self, state: Any) -> View:
        """Return what the state shows."""
        return self._model.view(state)

    def _methods(self, call: Call) -> int:
        """Return the bits of the methods that make the call where the object is what changed."""
        methods = (f"Reference.{NAMES[type(call)]}", "Reference._make")
        first, second = (self.bits.get((OBJECT, method), 0) for method in methods)
        return first | second

    def _enter(self, bit: int) -> None:
        self._running |= bit

    def _mark(self, module: str, tree: ast.Module) -> None:
        """Let every function say that it runs."""
        for name, node in get_functions(tree):
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
    def length(self) -> int:
        """How many transitions were recorded."""
        return sum(len(recorded.transitions) for row in self.rows for recorded in row)


def get_functions(tree: ast.AST, prefix: str = "") -> list[tuple[str, ast.FunctionDef]]:
    """Return each function that is in no other, by its name within the module."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found.append((prefix + node.name, node))
        elif isinstance(node, ast.ClassDef):
            found += get_functions(node, f"{prefix}{node.name}.")
    return found
