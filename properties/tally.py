"""The tally: what the runs of the machine and its walks did on one scope, whoever made them.

Owned here: counting calls, events, goals and states. Not owned: how it is shown (`fronts`).
"""

from collections import Counter
from collections.abc import Sequence

from properties.events import get_events
from properties.goals import Goal, all_goals
from properties.ledger import Ledger
from properties.scopes import Scope, is_inside
from properties.step import Step
from properties.symmetry import canonical
from properties.view import View
from properties.walks import Findings
from reference.calls import Call, Choice


class Tally:
    """Counts of one scope."""

    def __init__(self, scope: Scope, goals: Sequence[Goal] | None = None) -> None:
        """Count from nothing."""
        self.scope = scope
        self.goals = tuple(all_goals() if goals is None else goals)
        self.runs = 0
        """Runs begun, those of shrinking included."""
        self.calls = 0
        """Calls made and judged."""
        self.refused = 0
        """Calls that were refused."""
        self.events: Counter[str] = Counter()
        """How often each event happened: `Fill`, `Fill:failed`, `Fill:HitPending`."""
        self.reached: set[str] = set()
        """The goals that were reached."""
        self.seen: set[tuple[object, ...]] = set()
        """The canonical states inside the bounds of the scope."""
        self.crash = ""
        """What the first call raised that made the code raise what is no refusal."""
        self._open: dict[type[Call], list[Goal]] = {}
        for goal in self.goals:
            for call in goal.calls:
                self._open.setdefault(call, []).append(goal)

    def note(self, step: Step, choice: Choice) -> None:
        """Count one call."""
        self.calls += 1
        for event in get_events(step.before, step.call, choice, step.outcome):
            self.events[":".join(event)] += 1
        if step.outcome.refused is not None:
            self.refused += 1
            return
        goals = self._open.get(type(step.call))
        for goal in goals[:] if goals else ():
            if goal.id not in self.reached and goal.reached(step):
                self.reached.add(goal.id)
            if goal.id in self.reached and goals:
                goals.remove(goal)

    def add(self, found: Findings) -> None:
        """Count walks."""
        self.runs += found.walks
        self.calls += found.calls
        self.refused += found.refused
        self.events.update(found.counts)
        self.reached.update(found.reached)

    def see(self, view: View, ledger: Ledger) -> None:
        """Take note of a state."""
        if is_inside(view, self.scope):
            self.seen.add(canonical(view, ledger))
