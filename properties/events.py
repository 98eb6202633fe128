"""Events: what happened in a call, by the names that searches count and vacuity rules expect.

Owned here: the names. The explorer counts the same ones.
"""

from properties.view import View
from reference.calls import Call, Choice, Outcome

Event = tuple[str, ...]
"""`(operation,)`, `(operation, refusal)` or `(operation, what happened in it)`."""


def get_events(before: View, call: Call, choice: Choice, outcome: Outcome) -> list[Event]:
    """Return everything that happened in a call."""
    name = type(call).__name__
    if outcome.refused is not None:
        return [(name, outcome.refused.name)]
    events: list[Event] = [(name, "failed") if outcome.failed else (name,)]
    if choice.fault is not None:
        events.append((name, "fault-after-unmapping" if choice.fault.unmapped else "fault"))
    for number in choice.frames:
        frame = before.frames[number]
        events.append((name, "free-frame" if frame.page is None else "victim"))
    if choice.page is not None and choice.page != before.free[0]:
        events.append((name, "other-page"))
    return events
