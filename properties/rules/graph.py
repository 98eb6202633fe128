"""Rules of the whole reachable space, which no walk can judge.

They are judged when a search has ended; what counts as a state, an edge or an event is the
search's to say (`properties.graph`).
"""

from properties.graph import Graph, Twin
from properties.registry import graph_rule
from properties.rules import examples as ex
from reference.calls import Outcome, Read

NEVER = "Fill:FrameMemory"
"""The one refusal whose occurrence is a break."""

_OWN_NUMBERS = ("handle", "frame", "ticket")
"""Fields of refusals that each subject numbers for itself."""


@graph_rule(
    seen="C10, C13",
    broken=lambda: Graph(states=3, edges=((0, 1), (1, 0), (0, 2)), ended=frozenset({0})),
)
def can_always_finish(graph: Graph) -> str | None:
    """From every reachable state some calls end every lease, with no fault from there on."""
    sources: dict[int, list[int]] = {}
    for source, target in graph.edges:
        sources.setdefault(target, []).append(source)
    reached = bytearray(graph.states)
    waiting = list(graph.ended)
    for state in waiting:
        reached[state] = 1
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if not reached[source]:
                reached[source] = 1
                waiting.append(source)
    stuck = reached.count(0)
    if stuck == 0:
        return None
    first = reached.index(0)
    name = graph.names.get(first)
    shown = "" if name is None else f" ({name})"
    return f"state {first}{shown} is the first of {stuck} from which leases never all end"


@graph_rule(
    seen="review (off by default)",
    broken=lambda: Graph(twins=(Twin(Read(0, ex.handle(0), 0), Outcome(0), Outcome(4)),)),
)
def off_equals_full_tier(graph: Graph) -> str | None:
    """With the tier off, reads and refusals are those of a full tier."""
    for twin in graph.twins:
        if not _agree(twin):
            history = f" after {twin.because}" if twin.because else ""
            return f"{twin.call}{history} came to {twin.off} when off and to {twin.full} when full"
    return None


def _agree(twin: Twin) -> bool:
    off, full = twin.off, twin.full
    if off.failed != full.failed:
        return False
    if off.refused is not None and full.refused is not None:
        return off.refused.name == full.refused.name and _fields(off) == _fields(full)
    if off.refused is not None or full.refused is not None:
        return False
    return type(twin.call) is not Read or off.value == full.value


def _fields(outcome: Outcome) -> list[tuple[str, object]]:
    """Return the fields of a refusal that do not depend on who numbered."""
    fields = () if outcome.refused is None else outcome.refused.fields
    return [(name, value) for name, value in fields if name not in _OWN_NUMBERS]


@graph_rule(
    seen="vacuity",
    broken=lambda: Graph(
        expected=frozenset({"Fill", "Fill:NotHeld"}), happened=frozenset({"Fill"})
    ),
)
def every_call_happens(graph: Graph) -> str | None:
    """Every call succeeds, every refusal, fault and choice occurs; `FrameMemory` never does."""
    if NEVER in graph.happened:
        return f"{NEVER} happened"
    missing = sorted(graph.expected - graph.happened - {NEVER})
    return f"these never happened: {', '.join(missing)}" if missing else None
