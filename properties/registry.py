"""What a rule is, and how rules are found.

A rule is one function in a module of `properties/rules`, marked with `state_rule`, `step_rule` or
`graph_rule`. Its name is its id, the first line of its docstring the sentence that a failure
prints; it returns the reason it is broken, or none. Nothing else needs to know of it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeVar

from reference.calls import CALLS, Call, Outcome

Kind = Literal["state", "step", "graph"]
Ending = Literal["done", "failed", "refused"]
Check = TypeVar("Check", bound=Callable[..., str | None])


@dataclass(frozen=True)
class Rule:
    """One invariant."""

    id: str
    """The name of its function, with hyphens."""
    kind: Kind
    """What it judges: one view, one step, or the whole reachable space."""
    sentence: str
    """What must hold."""
    seen: str
    """Where the world broke it: fault classes, the review, or exploration."""
    check: Callable[..., str | None]
    """`(view, ledger)`, `(step)` or `(graph)`: why it is broken, or none."""
    broken: Callable[[], Any]
    """The smallest example that breaks it: the arguments of `check`."""
    calls: tuple[type[Call], ...]
    """The calls it speaks of (steps only)."""
    endings: tuple[Ending, ...]
    """The ways of ending it speaks of (steps only)."""
    derived: str
    """Why it stays although others imply it; empty if it does not follow from others."""


def state_rule(
    *, seen: str, broken: Callable[[], Any], derived: str = ""
) -> Callable[[Check], Check]:
    """Mark `(view, ledger) -> str | None` as an invariant of every view."""
    return _mark("state", seen, broken, derived)


def step_rule(
    *,
    seen: str,
    broken: Callable[[], Any],
    calls: Iterable[type[Call]] = CALLS,
    endings: tuple[Ending, ...] = ("done", "failed"),
    derived: str = "",
) -> Callable[[Check], Check]:
    """Mark `(step) -> str | None` as an invariant of every step with these calls and endings."""
    return _mark("step", seen, broken, derived, tuple(calls), endings)


def graph_rule(
    *, seen: str, broken: Callable[[], Any], derived: str = ""
) -> Callable[[Check], Check]:
    """Mark `(graph) -> str | None` as an invariant of the whole reachable space."""
    return _mark("graph", seen, broken, derived)


def _mark(
    kind: Kind,
    seen: str,
    broken: Callable[[], Any],
    derived: str,
    calls: tuple[type[Call], ...] = (),
    endings: tuple[Ending, ...] = (),
) -> Callable[[Check], Check]:
    def mark(check: Check) -> Check:
        sentence = (check.__doc__ or "").partition("\n")[0]
        if not sentence:
            raise ValueError(f"rule {check.__name__} has no sentence as its first docstring line")
        rule_id = check.__name__.replace("_", "-")
        rule = Rule(rule_id, kind, sentence, seen, check, broken, calls, endings, derived)
        check.rule = rule  # type: ignore[attr-defined]
        return check

    return mark


def rules_in(module: ModuleType) -> list[Rule]:
    """Return the rules a module defines, in the order of its text."""
    found = [value.rule for value in vars(module).values() if hasattr(value, "rule")]
    return [rule for rule in found if rule.check.__module__ == module.__name__]


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule of `properties/rules`, sorted by id.

    Raises `ValueError` if two rules have one id. An import that fails is not swallowed.
    """
    package = importlib.import_module("properties.rules")
    found: dict[str, Rule] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        for rule in rules_in(importlib.import_module(f"properties.rules.{info.name}")):
            if rule.id in found:
                raise ValueError(f"two rules are called {rule.id}")
            found[rule.id] = rule
    return tuple(found[rule_id] for rule_id in sorted(found))


def ending(outcome: Outcome) -> Ending:
    """Return how a call ended."""
    if outcome.refused is not None:
        return "refused"
    return "failed" if outcome.failed else "done"
