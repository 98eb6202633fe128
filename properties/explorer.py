"""The explorer: every reachable state of a scope, every option, every forbidden call.

It searches breadth first, so the first break of a rule has a shortest trace. It judges every
transition by the step rules and every new state by the state rules. It knows calls, views and
models; which states are the same is `symmetry`, which calls to make is `calls_for`.
"""

import gc
import multiprocessing
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from properties.expansion import OUTSIDE, Break, Found, Node, expand
from properties.goals import Goal, all_goals
from properties.graph import Graph, Twin
from properties.judge import Judge
from properties.ledger import Ledger
from properties.scopes import Scope
from properties.subject import Model
from properties.symmetry import canonical, get_control
from reference.calls import Call, Choice

Answer = Literal["holds", "broken", "undetermined"]

ROUND = 2_000
"""States expanded before the findings are merged: often enough for progress and limits."""


class Exploration:
    """A search of one scope, under way or ended."""

    def __init__(
        self,
        model: Model,
        scope: Scope,
        judge: Judge,
        *,
        goals: Sequence[Goal] | None = None,
        start: tuple[Any, Ledger] | None = None,
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
        self.expand_at_most = sys.maxsize
        self.first_of: dict[tuple[object, ...], int] = {}
        if start is not None:
            self._add(*start, None, None, 0)
        else:
            self._open()

    def _open(self) -> None:
        self._add(self.model.initial(), Ledger.empty(self.scope.shape.rows), None, None, 0)
        for depth, call in enumerate(self.scope.opening, start=1):
            node = self.nodes[-1]
            taken = self.model.transitions(node.state, call)[0]
            ledger = node.ledger.absorb(call, taken.outcome)
            self._add(taken.after, ledger, call, taken.choice, depth)
        self.expanded = len(self.nodes) - 1

    def _add(
        self, state: Any, ledger: Ledger, call: Call | None, choice: Choice | None, depth: int
    ) -> None:
        view = self.model.view(state)
        form = get_control(view, ledger, self.scope)
        node = Node(state, ledger, len(self.nodes) - 1, call, choice, depth, form)
        self.seen[canonical(view, ledger)] = len(self.nodes)
        self._append(node)
        for rule, because in self.judge.judge_view(view, ledger):
            self.breaks.setdefault(rule, Break(rule, because, len(self.nodes) - 1, None, None))

    def _append(self, node: Node) -> None:
        self.first_of.setdefault(node.control, len(self.nodes))
        self.nodes.append(node)

    def is_first(self, number: int) -> bool:
        """Return whether a node was the first one reached of its control form."""
        return self.first_of[self.nodes[number].control] == number

    @property
    def depth(self) -> int:
        """Calls from the start to the states that are expanded next, or were last."""
        start = len(self.scope.opening)
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
        expand: int | None = None,
        seconds: float | None = None,
        progress: Callable[["Exploration"], None] = lambda _: None,
    ) -> "Exploration":
        """Search until all is expanded, or so many states found, states expanded, or seconds.

        The result does not depend on the number of workers.
        """
        start = time.monotonic()
        self.expand_at_most = self.expanded + expand if expand is not None else sys.maxsize
        was_enabled = gc.isenabled()
        gc.disable()  # Nothing here makes cycles, and the collector would walk every node.
        try:
            while not self.ended and self.expanded < self.expand_at_most:
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
        return self

    def _round(self, workers: int) -> None:
        """Expand the next nodes of one depth and merge what was found, in order."""
        depth = self.nodes[self.expanded].depth
        end = min(len(self.nodes), self.expanded + ROUND, self.expand_at_most)
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
                    self._append(node)
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
            _, _, parent, call, choice, _, _ = self.nodes[node]
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
