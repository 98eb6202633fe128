"""Expanding: every call in some nodes of a search, and what came of it.

One pass over a part of the frontier, in this process or another. It reads the search it belongs
to and changes nothing of it; what it found is sent back and merged by `explorer`.
"""

from array import array
from collections import Counter
from typing import Any, NamedTuple, Protocol

from properties.calls_for import calls_for
from properties.events import get_events
from properties.goals import Goal
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.scopes import Scope, is_inside
from properties.step import Step
from properties.subject import Model
from properties.symmetry import canonical, get_control
from properties.view import View
from reference.calls import Call, Choice, Outcome

OUTSIDE = 1 << 62
"""Stands for every node that is outside the bounds of the scope: judged, not expanded."""


class Node(NamedTuple):
    """One state that was reached, and how."""

    state: Any
    """The state of the model."""
    ledger: Ledger
    """What the callers know there."""
    parent: int
    """The node it was first reached from; -1 for the first."""
    call: Call | None
    """The call that led here."""
    choice: Choice | None
    """The option that was taken."""
    depth: int
    """Calls from the first node."""
    control: tuple[object, ...]
    """Its form apart from which rows were never written."""


class Break(NamedTuple):
    """A broken rule and the shortest way to break it."""

    rule: str
    """Its id."""
    because: str
    """What is wrong."""
    node: int
    """The node it broke at."""
    call: Call | None
    """The call that broke it; none if the first state breaks it."""
    choice: Choice | None
    """The option that was taken."""


class Found(NamedTuple):
    """What expanding some nodes found; all of it can be sent between processes."""

    new: list[tuple[tuple[object, ...], bool, Node]]
    """Keys not seen before, whether they are inside the scope, and the node."""
    edges: "array[int]"  # array is subscriptable from Python 3.12
    """Fault-free steps as pairs: node, and node or -1 - position in `new`."""
    counts: Counter[tuple[str, ...]]
    """How often each event happened."""
    goals: set[str]
    """The goals that were reached."""
    breaks: list[Break]
    """Broken rules, the first break of each."""
    crashes: list[Break]
    """Calls in which the model, or what it showed, made the code raise."""
    calls: int
    """Transitions that were judged."""


class Search(Protocol):
    """What a pass reads of the search it belongs to."""

    model: Model
    scope: Scope
    judge: Judge
    goals: dict[str, Goal]
    nodes: list[Node]
    seen: dict[tuple[object, ...], int]
    reached: set[str]
    breaks: dict[str, Break]
    tolerant: bool

    def is_first(self, number: int) -> bool:
        """Return whether a node was the first one reached of its control form."""


def expand(search: Search, todo: range) -> Found:
    """Make every call in every node of `todo` and judge what comes of it."""
    found = Found([], array("q"), Counter(), set(), [], [], 0)
    worker = _Worker(search, found)
    for number in todo:
        worker.expand(number)
    return found._replace(calls=worker.calls)


class _Worker:
    """One pass over some nodes, with what it found so far."""

    def __init__(self, search: Search, found: Found) -> None:
        self.search = search
        self.found = found
        self.calls = 0
        self.local: dict[tuple[object, ...], int] = {}
        self.known = set(search.breaks)
        self.goals: dict[type[Call], list[Goal]] = {}
        for goal in search.goals.values():
            if goal.id not in search.reached:
                for call in goal.calls:
                    self.goals.setdefault(call, []).append(goal)

    def expand(self, number: int) -> None:
        """Make every call in one node."""
        search = self.search
        node = search.nodes[number]
        before = search.model.view(node.state)
        targets: set[int] = set()
        # Whether a call is refused does not depend on what was written: each forbidden call is
        # made once for all the states that differ in that only.
        for call in calls_for(before, node.ledger, search.scope, search.is_first(number)):
            try:
                self._make(number, node, before, call, targets)
            except Exception as error:
                if not search.tolerant:
                    raise
                why = f"{type(error).__name__}: {error}"
                self.found.crashes.append(Break("", why, number, call, None))
        for target in sorted(targets - {number}):
            self.found.edges.extend((number, target))

    def _make(self, number: int, node: Node, before: View, call: Call, targets: set[int]) -> None:
        """Make one call with every choice, and judge each transition."""
        search, counts = self.search, self.found.counts
        state, ledger = node.state, node.ledger
        for choice, outcome, after_state in search.model.transitions(state, call):
            self.calls += 1
            same = after_state is state
            after = before if same else search.model.view(after_state)
            step = Step(before, call, outcome, after, ledger)
            verdicts = search.judge.judge_step(step)
            if verdicts:
                self._broke(verdicts, number, call, choice)
            if outcome.refused is not None:
                counts[type(call).__name__, outcome.refused.name] += 1
                if same:
                    continue
            else:
                for event in get_events(before, call, choice, outcome):
                    counts[event] += 1
                if type(call) in self.goals:
                    self._reach(step)
            if same:
                continue
            target = self._arrive(number, node, call, choice, outcome, after_state, after)
            if not outcome.failed:
                targets.add(target)

    def _arrive(
        self,
        number: int,
        node: Node,
        call: Call,
        choice: Choice,
        outcome: Outcome,
        state: Any,
        view: View,
    ) -> int:
        """Return the node of the state a call led to, or its place among the new ones."""
        ledger = node.ledger.absorb(call, outcome)
        key = canonical(view, ledger)
        target = self.search.seen.get(key)
        if target is None:
            target = self.local.get(key)
        if target is not None:
            return target
        target = self.local[key] = -1 - len(self.found.new)
        inside = is_inside(view, self.search.scope)
        form = get_control(view, ledger, self.search.scope)
        new = Node(state, ledger, number, call, choice, node.depth + 1, form)
        self.found.new.append((key, inside, new))
        verdicts = self.search.judge.judge_view(view, ledger)
        if verdicts:
            self._broke(verdicts, number, call, choice)
        return target

    def _broke(self, verdicts: list[Verdict], node: int, call: Call, choice: Choice) -> None:
        for rule, because in verdicts:
            if rule not in self.known:
                self.known.add(rule)
                self.found.breaks.append(Break(rule, because, node, call, choice))

    def _reach(self, step: Step) -> None:
        for goal in self.goals[type(step.call)][:]:
            if goal.id in self.found.goals:
                self.goals[type(step.call)].remove(goal)
            elif goal.reached(step):
                self.found.goals.add(goal.id)
