"""Judging: which rules speak of a view or a step, and what they say. Knows no tier."""

from collections.abc import Iterable
from typing import NamedTuple

from properties.ledger import Ledger
from properties.registry import Rule, ending
from properties.step import Step
from properties.view import View
from reference.calls import CALLS


class Verdict(NamedTuple):
    """One rule that is broken."""

    rule: str
    """Its id."""
    because: str
    """What is wrong, with values."""


class Judge:
    """A set of rules, sorted by what they speak of."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Sort the rules; graph rules are kept apart, they are judged when a search has ended."""
        self.rules = tuple(rules)
        self.state_rules = [rule for rule in self.rules if rule.kind == "state"]
        self.graph_rules = [rule for rule in self.rules if rule.kind == "graph"]
        self._steps = {
            (call, how): [
                (rule.id, rule.check)
                for rule in self.rules
                if call in rule.calls and how in rule.endings
            ]
            for call in CALLS
            for how in ("done", "failed", "refused")
        }

    def judge_view(self, view: View, ledger: Ledger) -> list[Verdict]:
        """Return every state rule that the view breaks, each judged on its own."""
        found = []
        for rule in self.state_rules:
            because = rule.check(view, ledger)
            if because is not None:
                found.append(Verdict(rule.id, because))
        return found

    def judge_step(self, step: Step) -> list[Verdict]:
        """Return every step rule that the step breaks, each judged on its own."""
        found = []
        for rule_id, check in self._steps[type(step.call), ending(step.outcome)]:
            because = check(step)
            if because is not None:
                found.append(Verdict(rule_id, because))
        return found
