"""The rules: each can go red, none goes red over the reference, and none shares its code."""

import ast
import random
import re
from collections import deque
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import properties.rules
from properties.calls_for import calls_for
from properties.graph import Graph, Twin
from properties.judge import Judge, Verdict
from properties.ledger import Ledger
from properties.registry import Rule, all_rules, ending
from properties.rules import graph as graph_rules
from properties.scopes import SCOPES, Scope, is_inside
from properties.step import Step
from properties.subject import FunctionModel, Transition, reference_modules
from properties.symmetry import canonical
from properties.view import View
from reference import calls, words
from reference.calls import BASE, Call, CompleteFill, CompleteWriteBack, Outcome, Read, Refused
from reference.words import Handle

STATE_RULES = [
    "one-frame-per-page",
    "free-iff-unmapped",
    "resident-page-is-live",
    "pinned-page-is-resident",
    "pin-needs-hold",
    "dirty-is-pinned",
    "torn-is-dirty",
    "promises-are-covered",
    "pins-within-promise",
    "room-for-every-promise",
    "clean-equals-host",
    "latest-rows-survive",
    "in-flight-is-owned",
    "pages-are-partitioned",
    "hold-count",
]
STEP_RULES = [
    "refusal-changes-nothing",
    "refusal-is-due",
    "success-is-allowed",
    "finish-names-all",
    "other-leases-untouched",
    "generation-moves-on",
    "pinned-keeps-frame",
    "failed-fill-is-undone",
    "promise-is-kept",
    "victim-was-evictable",
    "maps-change-only-by-rule",
    "pins-by-the-book",
    "fill-keeps-its-hits",
    "only-a-pinner-succeeds",
    "stale-handle-is-refused",
    "completion-is-own",
    "no-write-in-flight",
    "read-sees-last-write",
    "fresh-page-reads-zero",
    "write-back-publishes",
    "failed-write-back-loses-nothing",
    "no-pin-leaves-dirt",
    "finish-leaves-nothing",
    "eviction-keeps-host",
    "looking-changes-nothing",
    "recency-by-rule",
    "counters-add-up",
]
LEAVING_RULES = [
    "quarantined-frames-wait",
    "touched-pages-wait",
    "lost-is-known",
    "quarantine-by-the-book",
    "gone-rows-are-told",
    "reset-drops-all",
    "leaving-starves-nobody",
]
DRAFTS_RULES = [
    "truncate-takes-back",
    "key-names-durable-rows",
    "keys-by-the-book",
    "find-tells-the-truth",
]
WIDER_STATE_RULES = [
    "quarantined-frames-wait",
    "touched-pages-wait",
    "lost-is-known",
    "key-names-durable-rows",
]
MORE_RULES = [
    "copies-by-the-book",
    "holds-by-the-book",
    "lookup-tells-the-truth",
    "mark-makes-dirty",
    "refusal-tells-why",
]
GRAPH_RULES = [
    "can-always-finish",
    "off-equals-full-tier",
    "every-call-happens",
]

WIDER_STEP_RULES = sorted({*LEAVING_RULES, *DRAFTS_RULES}.difference(WIDER_STATE_RULES))

RULES_MAY_IMPORT = {
    *("properties.registry", "properties.view", "properties.ledger", "properties.step"),
    *("properties.graph", "properties.rules", "properties.rules.rows"),
    *("reference.words", "reference.calls"),
    *("collections", "collections.abc", "typing"),
}

each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
JUDGE = Judge(all_rules())


# -------------------------------------------------------------------------- what the rules are


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("state", [*STATE_RULES, "off-keeps-all-resident", *WIDER_STATE_RULES]),
        ("step", [*STEP_RULES, *MORE_RULES, *WIDER_STEP_RULES]),
        ("graph", GRAPH_RULES),
    ],
)
def test_registry_finds_every_rule(kind: str, expected: list[str]) -> None:
    """A rule that is not found is kept by nobody, and nobody misses it."""
    found = [rule.id for rule in all_rules() if rule.kind == kind]

    assert sorted(expected) == found


def test_spec_table_has_45_rules() -> None:
    """The lists above are copied by hand."""
    wider = {*LEAVING_RULES, *DRAFTS_RULES}

    assert 45 == len({*STATE_RULES, *STEP_RULES, *GRAPH_RULES})
    assert 45 == len(all_rules()) - len(MORE_RULES) - 1 - len(wider)


def test_wider_rules_lie_apart() -> None:
    """Who has only the operations of the spec's table reads two files less."""
    files = {rule.id: rule.check.__module__.rpartition(".")[2] for rule in all_rules()}

    assert sorted(LEAVING_RULES) == sorted(name for name in files if files[name] == "leaving")
    assert sorted(DRAFTS_RULES) == sorted(name for name in files if files[name] == "drafts")


@each_rule
def test_rule_speaks_a_whole_sentence(rule: Rule) -> None:
    """The sentence is all that a failure prints of the rule."""
    assert re.fullmatch(r"[A-Z`].*[.)]", rule.sentence)
    assert rule.seen


def rule_files() -> list[Path]:
    """The source files of the rules."""
    return sorted(Path(properties.rules.__path__[0]).glob("*.py"))


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_rules_share_no_reference_code(path: Path) -> None:
    """A rule that calls the reference breaks with it, and sees nothing."""
    imports = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
    plain = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Import)]
    names = [alias.name for n in imports for alias in n.names]
    functions = [n for n in names if isinstance(getattr(calls, n, None), FunctionType)]
    functions += [n for n in names if isinstance(getattr(words, n, None), FunctionType)]

    assert [] == plain
    assert set() == {n.module for n in imports} - RULES_MAY_IMPORT
    assert [] == functions


# ----------------------------------------------------------------------------- each can go red


def judge_example(rule: Rule) -> list[Verdict]:
    """What the rules of the same kind say of a rule's broken example."""
    example = rule.broken()
    if rule.kind == "state":
        return JUDGE.judge_view(*example)
    if rule.kind == "step":
        return JUDGE.judge_step(example)
    because = rule.check(example)
    return [] if because is None else [Verdict(rule.id, because)]


@each_rule
def test_broken_example_makes_rule_speak(rule: Rule) -> None:
    """A rule that cannot fail says nothing when it holds."""
    said = dict(judge_example(rule))

    assert rule.id in said
    assert set(re.findall(r"\w+", said[rule.id])) & set(re.findall(r"\w+", repr(rule.broken())))
    assert re.search(r"\d|Fill:", said[rule.id])


@each_rule
def test_broken_example_is_always_equal(rule: Rule) -> None:
    """An example that varies would make a red rule look green on some days."""
    assert rule.broken() == rule.broken()


@each_rule
def test_step_example_is_judged_by_its_rule(rule: Rule) -> None:
    """A rule is only asked about the calls and endings it names."""
    if rule.kind == "step":
        step = rule.broken()

        assert type(step.call) in rule.calls
        assert ending(step.outcome) in rule.endings


# ------------------------------------------------------------ none goes red over the reference


class Walk:
    """The reference in one scope, judged at every step."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.model = FunctionModel(scope.shape, scope.off, reference_modules())
        self.verdicts: set[tuple[str, str, str]] = set()
        self.steps = 0

    def start(self) -> tuple[Any, Ledger]:
        """The first state, and what callers know there."""
        return self.model.initial(), Ledger.empty(self.scope.shape.rows)

    def judge(self, view: View, ledger: Ledger, call: Call, taken: Transition) -> Step:
        """Judge one step and the view after it."""
        same = taken.outcome.refused is not None
        after = view if same else self.model.view(taken.after)
        step = Step(view, call, taken.outcome, after, ledger)
        found = JUDGE.judge_step(step)
        if not same:
            found += JUDGE.judge_view(after, ledger.absorb(call, taken.outcome))
        self.verdicts.update((str(call), *verdict) for verdict in found)
        self.steps += 1
        return step

    def everything(self) -> int:
        """Judge every option of every call in every reachable state; return the states."""
        first = self.start()
        seen = {canonical(self.model.view(first[0]), first[1])}
        waiting = deque([first])
        while waiting:
            state, ledger = waiting.popleft()
            view = self.model.view(state)
            for call in calls_for(view, ledger, self.scope):
                for taken in self.model.transitions(state, call):
                    step = self.judge(view, ledger, call, taken)
                    knows = ledger.absorb(call, taken.outcome)
                    key = canonical(step.after, knows)
                    if key not in seen and is_inside(step.after, self.scope):
                        seen.add(key)
                        waiting.append((taken.after, knows))
        return len(seen)

    def at_random(self, seed: int, calls: int) -> list[Step]:
        """Judge random calls, refused ones included; return the steps."""
        rng = random.Random(seed)
        state, ledger = self.start()
        steps: list[Step] = []
        while len(steps) < calls:
            view = self.model.view(state)
            call = rng.choice(calls_for(view, ledger, self.scope))
            taken = rng.choice(self.model.transitions(state, call))
            step = self.judge(view, ledger, call, taken)
            steps.append(step)
            if is_inside(step.after, self.scope):
                state, ledger = taken.after, ledger.absorb(call, taken.outcome)
        return steps


@pytest.mark.parametrize("name", ["tiny", "leave", "sleep", "keys"])
def test_reference_keeps_rules_everywhere(name: str) -> None:
    """A rule that is red over the spec itself, or a spec that breaks its rules, is no oracle."""
    walk = Walk(SCOPES[name])
    states = walk.everything()

    assert set() == walk.verdicts
    assert 50 < states < walk.steps


@pytest.mark.parametrize("name", ["default", "pins", "wide", "off"])
def test_reference_keeps_rules_in_walks(name: str) -> None:
    """Evictions, two leases and the tier off are not in the smallest scope."""
    walk = Walk(SCOPES[name])
    steps = walk.at_random(seed=11, calls=3_000)
    expected = set(BASE) - ({CompleteFill, CompleteWriteBack} if name == "off" else set())

    assert set() == walk.verdicts
    assert expected == {type(step.call) for step in steps if step.outcome.refused is None}


@pytest.mark.parametrize("name", ["orphans", "drafts", "names", "heirs", "all"])
def test_reference_keeps_rules_in_wider_walks(name: str) -> None:
    """Leases that leave, rows taken back, and keys: every rule speaks of these calls too."""
    walk = Walk(SCOPES[name])
    steps = walk.at_random(seed=11, calls=2_000)
    wider = set(SCOPES[name].operations).difference(BASE)

    assert set() == walk.verdicts
    assert wider <= {type(step.call) for step in steps}


@pytest.mark.parametrize("name", ["default", "orphans", "drafts", "keys"])
def test_rules_judge_nonsense_without_crashing(name: str) -> None:
    """A crash of a rule over a broken subject would be counted as no kill."""
    steps = Walk(SCOPES[name]).at_random(seed=5, calls=1_500)
    rng = random.Random(5)
    spoken = set()
    for step in steps:
        other, third = rng.choice(steps), rng.choice(steps)
        mixed = Step(step.before, step.call, step.outcome, other.after, third.ledger)
        spoken.update(verdict.rule for verdict in JUDGE.judge_step(mixed))
        spoken.update(verdict.rule for verdict in JUDGE.judge_view(other.after, third.ledger))

    assert len(spoken) > 10


# --------------------------------------------------------------------------- the rules of graphs


def test_leases_may_end_over_a_detour() -> None:
    """The way out need not be one call long."""
    graph = Graph(states=3, edges=((0, 1), (1, 2), (2, 0)), ended=frozenset({0}))

    assert graph_rules.can_always_finish(graph) is None


def test_stuck_state_is_shown_by_name() -> None:
    """A number alone sends the reader back to the search."""
    graph = Graph(states=2, edges=((0, 1),), ended=frozenset({0}), names={1: "a claim left"})

    assert "state 1 (a claim left)" in (graph_rules.can_always_finish(graph) or "")


def test_frame_memory_is_a_break() -> None:
    """It is the one refusal that must never happen."""
    graph = Graph(expected=frozenset({"Fill"}), happened=frozenset({"Fill", "Fill:FrameMemory"}))

    assert "Fill:FrameMemory happened" == graph_rules.every_call_happens(graph)


def test_frame_memory_is_not_missed() -> None:
    """A list of every refusal of every row names it, and it need not happen."""
    graph = Graph(expected=frozenset({"Fill:FrameMemory"}))

    assert graph_rules.every_call_happens(graph) is None


def refused(name: str, **fields: object) -> Outcome:
    """A refusal with these fields."""
    return Outcome(refused=Refused(name, tuple(fields.items())))


READ = Read(0, Handle(0, 0, 0), 0)


@pytest.mark.parametrize(
    ("off", "full", "agree"),
    [
        (Outcome(4), Outcome(4), True),
        (Outcome(4), refused("NotPinned", lease=0, page=0), False),
        (refused("NotPinned", lease=0, page=0), refused("NotPinned", lease=0, page=1), False),
        (refused("NotPinned", lease=0, page=0), refused("StaleHandle", handle=()), False),
        (refused("StaleHandle", handle=(0, 0, 0)), refused("StaleHandle", handle=(0, 1, 3)), True),
    ],
)
def test_twins_differ_only_in_numbers(off: Outcome, full: Outcome, agree: bool) -> None:
    """Frames and tickets are each subject's own; what a caller learns is not."""
    graph = Graph(twins=(Twin(READ, off, full, "one fill"),))

    assert agree is (graph_rules.off_equals_full_tier(graph) is None)
