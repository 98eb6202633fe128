"""The explorer: exact counts, verdicts, and that it may be trusted."""

import msgspec
import pytest

from properties.calls_for import calls_for
from properties.explorer import Exploration
from properties.fronts import STATES
from properties.gate import compare
from properties.judge import Judge
from properties.registry import Rule, all_rules
from properties.scopes import SCOPES, Scope
from properties.subject import FunctionModel, reference_modules
from properties.survey import MAIN_SCOPES, counts_of, expected_events, survey
from reference.calls import BASE, Fill, Open

# Exact, so that a model or a list of calls that silently shrinks fails: canonical states, depth
# in calls, transitions judged, fault-free steps.
COUNTS = {
    "tiny": (69, 19, 1_261, 197),
    "rows": (240, 21, 4_985, 748),
    "small": (3_764, 26, 171_711, 20_912),
    "leave": (77, 19, 1_513, 245),
    "sleep": (124, 20, 2_950, 433),
    "orphans": (5_861, 28, 211_570, 29_304),
    "drafts": (446, 18, 25_994, 2_153),
    "off-leave": (15, 8, 945, 50),
    "off-share": (1_617, 22, 62_284, 10_121),
    "keys": (129, 20, 13_471, 521),
    "names": (76, 3, 2_824, 163),
    "heirs": (218, 4, 8_153, 415),
    "full": (314, 3, 13_237, 834),
    "pinned": (283, 3, 13_228, 821),
    "promised": (221, 3, 9_932, 519),
    "returned": (53, 3, 1_764, 129),
    "brimful": (235, 3, 8_229, 690),
    "late": (42, 3, 1_690, 82),
}


def model(scope: Scope) -> FunctionModel:
    """Return the original reference for a scope."""
    return FunctionModel(scope.shape, scope.off, reference_modules())


def search(name: str, rules: tuple[Rule, ...] = (), **limits: int) -> Exploration:
    """Search a scope of the original."""
    scope = SCOPES[name]
    return Exploration(model(scope), scope, Judge(rules)).run(**limits)


def edges(search: Exploration) -> list[tuple[int, int]]:
    """Return the edges of a search as pairs."""
    return sorted(zip(search.edges[::2], search.edges[1::2], strict=True))


@pytest.mark.parametrize("name", COUNTS)
def test_scopes_have_exactly_these_states(name: str) -> None:
    """A search that loses states still says that all rules hold."""
    found = search(name)

    assert COUNTS[name] == (found.states, found.depth, found.calls, len(found.edges) // 2)


def test_known_sizes_are_these() -> None:
    """The machine and the walks tell the share of a scope that they saw by these."""
    assert {name: COUNTS[name][0] for name in STATES if name in COUNTS} == {
        name: states for name, states in STATES.items() if name in COUNTS
    }


@pytest.mark.parametrize("name", ["leave", "sleep", "drafts", "keys"])
def test_all_rules_hold_on_wider_scopes(name: str) -> None:
    """Leaving, taking back and finding break nothing, and all of them happened."""
    found = search(name, all_rules())
    wider = {call.__name__ for call in SCOPES[name].operations if call not in BASE}

    assert ({}, "holds") == (found.breaks, found.answer)
    assert wider <= set(counts_of(found))


@pytest.mark.parametrize("name", ["orphans", "keys"])
def test_refusals_wait_for_no_value_when_wider(name: str) -> None:
    """Made once for each control form: states of one form refuse the same, keys included."""
    found = search(name, states=500)
    refused: dict[int, set[tuple[str, str]]] = {}
    for node in found.nodes[:400]:
        now = {
            (type(call).__name__, one.outcome.refused.name)
            for call in calls_for(found.model.view(node.state), node.ledger, found.scope)
            for one in found.model.transitions(node.state, call)
            if one.outcome.refused is not None
        }
        assert now == refused.setdefault(node.control, now)

    assert len(refused) < 400


def test_forbidden_calls_wait_for_no_value() -> None:
    """They are made once for states that differ in values only: no refusal may depend on one."""
    found = search("small")
    first = {found.first_of[node.control] for node in found.nodes}
    refused = [
        {
            (type(call).__name__, one.outcome.refused.name)
            for call in calls_for(found.model.view(node.state), node.ledger, found.scope)
            for one in found.model.transitions(node.state, call)
            if one.outcome.refused is not None
        }
        for node in found.nodes[:600]
    ]

    assert 1_255 == len(first)
    assert all(
        refused[found.first_of[node.control]] == refused[number]
        for number, node in enumerate(found.nodes[:600])
    )


@pytest.mark.parametrize("name", ["tiny", "small", "leave", "sleep", "drafts", "keys"])
def test_reduction_loses_and_invents_nothing(name: str) -> None:
    """States are merged by name only; the unreduced search is the witness."""
    found = compare(model(SCOPES[name]), SCOPES[name])

    assert found.sound, found
    assert COUNTS[name][0] == found.reduced < found.unreduced


def test_two_workers_find_the_same() -> None:
    """A finding that depends on the number of processes cannot be shown again."""
    one, two = (search("small", workers=n) for n in (1, 2))

    assert one.states == two.states
    assert counts_of(one) == counts_of(two)
    assert edges(one) == edges(two)
    assert [one.path(n) for n in (0, 7, 2_000)] == [two.path(n) for n in (0, 7, 2_000)]


def test_all_rules_hold_on_tiny() -> None:
    """The unmutated reference breaks nothing, and the search was not empty."""
    found = search("tiny", all_rules())

    assert {} == found.breaks
    assert "holds" == found.answer
    assert counts_of(found)["Fill"] > 100


def test_cut_search_never_holds() -> None:
    """A search that ran out of states has not shown anything."""
    found = search("small", all_rules(), states=100)

    assert "undetermined" == found.answer
    assert not found.ended


def test_first_break_has_shortest_trace() -> None:
    """Breadth first: a rule that forbids fills breaks at the third call."""

    def no_fills(step: object) -> str | None:
        """Nobody fills."""
        call = step.call  # type: ignore[attr-defined]
        return f"{call} was made" if isinstance(call, Fill) and call.pages else None

    rule = Rule(
        "no-fills", "step", "Nobody fills.", "", no_fills, lambda: None, (Fill,), ("done",), ""
    )
    found = search("tiny", (rule,))

    broken = found.breaks["no-fills"]
    assert "broken" == found.answer
    assert 2 == len(found.path(broken.node))
    assert Open(1) == found.path(broken.node)[0][0]
    assert isinstance(broken.call, Fill)


def test_survey_names_what_never_happened() -> None:
    """Rules that hold where nothing happens hold for nothing."""
    scope = SCOPES["tiny"]
    found = survey(lambda shape, off: FunctionModel(shape, off, reference_modules()), (), ["tiny"])

    assert ("tiny",) == tuple(one.scope for one in found.searched)
    assert expected_events() > set(found.searched[0].counts)
    assert "Fill:FrameMemory" not in expected_events()
    assert set(MAIN_SCOPES) > {scope.name}


def test_depth_of_scope_bounds_search() -> None:
    """A scope that begins full is searched from there, so many calls deep."""
    scope = msgspec.structs.replace(SCOPES["claims"], depth=1)
    found = Exploration(model(scope), scope, Judge(())).run()

    assert 1 == found.depth
    assert not found.ended
    assert len(scope.opening) + 1 == max(node.depth for node in found.nodes)
