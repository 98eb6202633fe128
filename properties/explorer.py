"""The explorer: every reachable state of a scope, every option, every forbidden call.

It searches breadth first, so the first break of a rule has a shortest trace. It judges every
transition by the step rules and every new state by the state rules. It knows calls, views and
models; which states are the same is `symmetry`, which calls to make is `calls_for`.
"""

import gc
import multiprocessing
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from properties.calls_for import calls_for
from properties.goals import Goal, all_goals
from properties.graph import Graph, Twin
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.scopes import Scope, is_inside
from properties.step import Step
from properties.subject import Model
from properties.symmetry import canonical
from properties.view import View
from reference.calls import Call, Choice, Outcome

Answer = Literal["holds", "broken", "undetermined"]

OUTSIDE = 1 << 62
"""Stands for every node that is outside the bounds of the scope: judged, not expanded."""

ROUND = 1_000
"""States a worker expands before its findings are merged: often enough for progress and limits."""


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


class Exploration:
    """A search of one scope, under way or ended."""

    def __init__(
        self,
        model: Model,
        scope: Scope,
        judge: Judge,
        *,
        goals: Sequence[Goal] | None = None,
        start: Node | None = None,
        tolerant: bool = False,
    ) -> None:
        """Begin at the model's first state, or where the scope's opening leads, or at `start`.

        A tolerant search notes a call that makes the model raise and goes on; otherwise the
        exception is the caller's.
        """
        self.model = model
        self.scope = scope
        self.judge = judge
        self.goals = {goal.id: goal for goal in (all_goals() if goals is None else goals)}
        self.nodes: list[Node] = []
        self.seen: dict[tuple[object, ...], int] = {}
        self.edges = array("q")
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.reached: set[str] = set()
        self.breaks: dict[str, Break] = {}
        self.crashes: list[Break] = []
        self.tolerant = tolerant
        self.calls = 0
        self.expanded = 0
        self.seconds = 0.0
        if start is not None:
            self._add(start)
        else:
            self._open()

    def _open(self) -> None:
        node = Node(self.model.initial(), Ledger.empty(self.scope.shape.rows), -1, None, None, 0)
        self._add(node)
        for call in self.scope.opening:
            taken = self.model.transitions(node.state, call)[0]
            ledger = node.ledger.absorb(call, taken.outcome)
            parent = len(self.nodes) - 1
            node = Node(taken.after, ledger, parent, call, taken.choice, node.depth + 1)
            self._add(node)
        self.expanded = len(self.nodes) - 1

    def _add(self, node: Node) -> None:
        view = self.model.view(node.state)
        self.seen[canonical(view, node.ledger)] = len(self.nodes)
        self.nodes.append(node)
        for rule, because in self.judge.judge_view(view, node.ledger):
            self.breaks.setdefault(rule, Break(rule, because, len(self.nodes) - 1, None, None))

    @property
    def depth(self) -> int:
        """Calls from the start to the states that are expanded next, or were last."""
        start = self.nodes[0].depth + len(self.scope.opening)
        return self.nodes[min(self.expanded, len(self.nodes) - 1)].depth - start

    @property
    def ended(self) -> bool:
        """Every reachable state was expanded."""
        return self.expanded == len(self.nodes)

    @property
    def states(self) -> int:
        """Canonical states found so far."""
        return len(self.nodes)

    @property
    def answer(self) -> Answer:
        """The verdict so far; a search cut short never holds."""
        if self.breaks:
            return "broken"
        return "holds" if self.ended else "undetermined"

    def run(
        self,
        *,
        workers: int = 1,
        states: int | None = None,
        seconds: float | None = None,
        stop_at_break: bool = False,
        progress: Callable[["Exploration"], None] = lambda _: None,
    ) -> "Exploration":
        """Search until all is expanded, or so many states, seconds or the first break.

        The result does not depend on the number of workers.
        """
        start = time.monotonic()
        was_enabled = gc.isenabled()
        gc.disable()  # Nothing here makes cycles, and the collector would walk every node.
        try:
            while not self.ended and not (stop_at_break and self.breaks):
                if states is not None and self.states >= states:
                    break
                if seconds is not None and time.monotonic() - start >= seconds:
                    break
                if self.scope.depth is not None and self.depth >= self.scope.depth:
                    break
                self._round(workers)
                progress(self)
        finally:
            if was_enabled:
                gc.enable()
            self.seconds += time.monotonic() - start
        return self

    def _round(self, workers: int) -> None:
        """Expand the next nodes of one depth and merge what was found, in order."""
        depth = self.nodes[self.expanded].depth
        end = min(len(self.nodes), self.expanded + workers * ROUND)
        while self.nodes[end - 1].depth > depth:
            end -= 1
        todo = range(self.expanded, end)
        # A round too small to pay for its processes is done here.
        parts = [todo] if len(todo) < 40 * workers else _split(todo, workers)
        for found in _expand_all(self, parts):
            self._merge(found)
        self.expanded = end

    def _merge(self, found: Found) -> None:
        numbers = []
        for key, inside, node in found.new:
            number = self.seen.get(key)
            if number is None:
                number = len(self.nodes) if inside else OUTSIDE
                self.seen[key] = number
                if inside:
                    self.nodes.append(node)
            numbers.append(number)
        edges = found.edges
        for index in range(0, len(edges), 2):
            target = edges[index + 1]
            target = numbers[-1 - target] if target < 0 else target
            if target != OUTSIDE:
                self.edges.extend((edges[index], target))
        self.counts.update(found.counts)
        self.reached |= found.goals
        self.calls += found.calls
        self.crashes += found.crashes
        for broken in found.breaks:
            self.breaks.setdefault(broken.rule, broken)

    def path(self, node: int) -> list[tuple[Call, Choice]]:
        """Return the calls that lead to a node, each with its choice."""
        found: list[tuple[Call, Choice]] = []
        while self.nodes[node].call is not None:
            _, _, parent, call, choice, _ = self.nodes[node]
            found.append((call, choice))  # type: ignore[arg-type]
            node = parent
        return found[::-1]


def graph_of(
    search: Exploration, expected: Iterable[str] = (), twins: Iterable[Twin] = ()
) -> Graph:
    """Return the search as a graph, for the rules that judge the whole reachable space."""
    edges = search.edges
    ended = (n for n, node in enumerate(search.nodes) if not search.model.view(node.state).leases)
    return Graph(
        states=search.states,
        edges=tuple(zip(edges[::2], edges[1::2], strict=True)),
        ended=frozenset(ended),
        expected=frozenset(expected),
        happened=frozenset(":".join(event) for event in search.counts),
        twins=tuple(twins),
    )


def _split(todo: range, parts: int) -> list[range]:
    size = -(-len(todo) // parts)
    return [todo[index : index + size] for index in range(0, len(todo), size)]


def _expand_all(search: Exploration, parts: list[range]) -> Iterator[Found]:
    """Expand each part, in processes of their own if there are several.

    A process is forked, so it inherits the search as it is and sends back only what is new.
    """
    if len(parts) == 1:
        yield expand(search, parts[0])
        return
    context = multiprocessing.get_context("fork")
    running = []
    for part in parts[1:]:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send_expansion, args=(search, part, sender))
        process.start()
        sender.close()
        running.append((process, receiver))
    yield expand(search, parts[0])
    for process, receiver in running:
        found = receiver.recv()
        process.join()
        if isinstance(found, BaseException):
            raise found
        yield found


def _send_expansion(search: Exploration, part: range, sender: Any) -> None:
    try:
        sender.send(expand(search, part))
    except Exception as error:
        sender.send(error)


def expand(search: Exploration, todo: range) -> Found:
    """Make every call in every node of `todo` and judge what comes of it."""
    found = Found([], array("q"), Counter(), set(), [], [], 0)
    worker = _Worker(search, found)
    for number in todo:
        worker.expand(number)
    return found._replace(calls=worker.calls)


class _Worker:
    """One pass over some nodes, with what it found so far."""

    def __init__(self, search: Exploration, found: Found) -> None:
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
        for call in calls_for(before, node.ledger, search.scope):
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
                _count(counts, before, call, choice, outcome)
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
        new = Node(state, ledger, number, call, choice, node.depth + 1)
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


def _count(
    counts: Counter[tuple[str, ...]],
    before: View,
    call: Call,
    choice: Choice,
    outcome: Outcome,
) -> None:
    """Count what happened in a call that was not refused."""
    name = type(call).__name__
    counts[(name, "failed") if outcome.failed else (name,)] += 1
    if choice.fault is not None:
        counts[name, "fault-after-unmapping" if choice.fault.unmapped else "fault"] += 1
    for frame in choice.frames:
        counts[name, "victim" if before.frames[frame].page is not None else "free-frame"] += 1
    if choice.page is not None and choice.page != before.free[0]:
        counts[name, "other-page"] += 1
