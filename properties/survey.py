"""A survey: several scopes searched with every rule, and whether everything happened in them.

It adds up what the searches reached: the rules of the whole space are judged for each scope that
was searched to its end, and every operation, refusal, fault, choice and goal must occur in one of
the scopes, or the rules held for nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import NamedTuple

import msgspec

from properties.explorer import Answer, Exploration, graph_of
from properties.goals import all_goals
from properties.graph import Graph, Twin
from properties.judge import Judge
from properties.registry import Rule
from properties.rules.rows import REFUSALS
from properties.scopes import SCOPES, Scope
from properties.subject import Model
from properties.twins import full_scope, twin_calls
from reference.words import Shape

MakeModel = Callable[[Shape, bool], Model]

MAIN_SCOPES = (
    *("tiny", "rows", "small", "pins", "default", "claims", "off"),
    *("leave", "sleep", "orphans", "drafts", "keys", "names", "heirs", "off-leave", "off-share"),
    *("full", "pinned", "promised", "returned", "brimful", "late"),
)
"""What the main job searches."""

TWIN_SCOPE = "small"
"""Where a tier that is off is compared with a full one."""

NEVER = frozenset({"Fill:FrameMemory"})
"""What must not happen: the promise rules it out."""

CHOICES = (
    "Alloc:other-page",
    "CompleteFill:failed",
    "CompleteWriteBack:failed",
    "Fill:failed",
    "Fill:fault",
    "Fill:fault-after-unmapping",
    "Fill:free-frame",
    "Fill:victim",
    "Land:failed",
)
"""The faults and the free choices, as events."""


class Broken(NamedTuple):
    """A rule that the model breaks."""

    rule: str
    because: str
    search: Exploration | None
    """The search it broke in; none for a rule of the whole survey."""


class Searched(msgspec.Struct, frozen=True):
    """What the search of one scope found."""

    scope: str
    answer: Answer
    states: int
    """Canonical states."""
    depth: int
    """Calls from the start to the last states that were expanded."""
    calls: int
    """Transitions judged."""
    edges: int
    """Fault-free steps between states."""
    counts: dict[str, int]
    """How often each event happened."""
    goals: tuple[str, ...]
    """The goals that were reached."""


class Survey(NamedTuple):
    """What the searches found together."""

    searched: tuple[Searched, ...]
    broken: tuple[Broken, ...]
    missing_events: tuple[str, ...]
    """Events that must occur in some scope, and did not."""
    missing_goals: tuple[str, ...]
    """Goals that no search reached."""
    twins: int
    """Calls made with the tier off and with a full tier."""
    cpu_seconds: dict[str, float]
    """For each scope; not the same twice."""

    @property
    def states(self) -> int:
        """Canonical states of all scopes."""
        return sum(found.states for found in self.searched)

    @property
    def answer(self) -> Answer:
        """The verdict: broken if anything is, undetermined if a search was cut short."""
        if self.broken or self.missing_goals:
            return "broken"
        bounded = [SCOPES[found.scope].depth is not None for found in self.searched]
        answers = zip(self.searched, bounded, strict=True)
        cut = any(found.answer == "undetermined" and not known for found, known in answers)
        return "undetermined" if cut else "holds"


def expected_events() -> frozenset[str]:
    """Return every event that must occur somewhere: operations, refusals, faults and choices."""
    names = frozenset(call.__name__ for call in REFUSALS)
    refusals = {f"{call.__name__}:{name}" for call, row in REFUSALS.items() for name in row}
    return (names | refusals | frozenset(CHOICES)) - NEVER


def survey(
    make_model: MakeModel,
    rules: Iterable[Rule],
    scopes: Sequence[str] = MAIN_SCOPES,
    *,
    workers: int = 1,
    states: int | None = None,
    seconds: float | None = None,
    progress: Callable[[Exploration], None] = lambda _: None,
) -> Survey:
    """Search each scope, within so many states and seconds each, and judge them together.

    Whether everything happened is judged only if all of `MAIN_SCOPES` were searched.
    """
    judge = Judge(rules)
    searches, cpu = [], {}
    for name in scopes:
        scope = SCOPES[name]
        start = process_time()
        search = Exploration(make_model(scope.shape, scope.off), scope, judge)
        search.run(workers=workers, states=states, seconds=seconds, progress=progress)
        cpu[name] = process_time() - start
        searches.append(search)
    everything = set(scopes) >= set(MAIN_SCOPES)
    happened: Counter[str] = Counter()
    reached: set[str] = set()
    for search in searches:
        happened.update(counts_of(search))
        reached |= search.reached
    twins = list(_twins(make_model, SCOPES[TWIN_SCOPE])) if TWIN_SCOPE in scopes else []
    together = Graph(
        expected=expected_events() if everything else frozenset(),
        happened=frozenset(happened),
        twins=tuple(twins),
    )
    goals = {goal.id for goal in all_goals()} if everything else set()
    return Survey(
        searched=tuple(_searched(search) for search in searches),
        broken=tuple(_broken(judge, searches, together)),
        missing_events=tuple(sorted(together.expected - together.happened)),
        missing_goals=tuple(sorted(goals - reached)),
        twins=len(twins),
        cpu_seconds=cpu,
    )


def _twins(make_model: MakeModel, scope: Scope) -> Iterable[Twin]:
    full = full_scope(scope)
    return twin_calls(make_model(full.shape, True), make_model(full.shape, False), full, 1 << 30)


def _broken(judge: Judge, searches: list[Exploration], together: Graph) -> Iterable[Broken]:
    for search in searches:
        for found in search.breaks.values():
            yield Broken(found.rule, found.because, search)
        if search.ended:
            yield from _judge_graph(judge, graph_of(search), search)
    yield from _judge_graph(judge, together, None)


def _judge_graph(judge: Judge, graph: Graph, search: Exploration | None) -> Iterable[Broken]:
    for rule in judge.graph_rules:
        because = rule.check(graph)
        if because is not None:
            yield Broken(rule.id, because, search)


def counts_of(search: Exploration) -> dict[str, int]:
    """Return how often each event happened, events sorted by name."""
    return {":".join(event): search.counts[event] for event in sorted(search.counts)}


def _searched(search: Exploration) -> Searched:
    return Searched(
        scope=search.scope.name,
        answer=search.answer,
        states=search.states,
        depth=search.depth,
        calls=search.calls,
        edges=len(search.edges) // 2,
        counts=counts_of(search),
        goals=tuple(sorted(search.reached)),
    )
