"""The rules of the whole reachable space, on the smallest scope."""

import json
from pathlib import Path

from properties.explorer import Exploration, graph_of
from properties.judge import Judge
from properties.registry import all_rules
from properties.scopes import SCOPES
from properties.subject import FunctionModel, reference_modules
from properties.twins import full_scope, twin_calls

EVENTS = Path(__file__).parent / "events.json"
STATES_MAX = 800
TWINS_MAX = 160


def test_whole_space_breaks_no_rule() -> None:
    """What no walk can judge: that all can finish, that off equals full, that all happens."""
    scope = SCOPES["tiny"]
    judge = Judge(all_rules())
    model = FunctionModel(scope.shape, scope.off, reference_modules())
    search = Exploration(model, scope, judge, goals=(), tolerant=True).run(states=STATES_MAX)
    full = full_scope(scope)
    sides = [FunctionModel(full.shape, off, reference_modules()) for off in (True, False)]
    twins = list(twin_calls(sides[0], sides[1], full, TWINS_MAX))
    expected = json.loads(EVENTS.read_text(encoding="utf-8")) if EVENTS.exists() else []
    graph = graph_of(search, expected, twins)
    broken = set(search.breaks)
    broken |= {rule.id for rule in judge.graph_rules if rule.check(graph) is not None}

    assert not search.crashes, search.crashes[0].because
    assert not broken, f"RULES {', '.join(sorted(broken))}"
