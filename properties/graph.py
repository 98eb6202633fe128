"""The graph: what a search of a whole space found, for the rules that no walk can judge.

States are numbers. The engine that searched decides what is one state, and names the events.
"""

import msgspec

from reference.calls import Call, Outcome


class Twin(msgspec.Struct, frozen=True):
    """One call made to a tier that is off and to a full tier after the same history."""

    call: Call
    """The call, as made to the tier that is off; handles and tickets are each subject's own."""
    off: Outcome
    """What it came to with the tier off."""
    full: Outcome
    """What it came to with as many frames as pages."""
    because: str = ""
    """The history both were given, in words."""


class Graph(msgspec.Struct, frozen=True):
    """The whole reachable space."""

    states: int = 0
    """How many states there are; they are numbered from 0."""
    edges: tuple[tuple[int, int], ...] = ()
    """Calls that succeed without a fault, from state to state."""
    ended: frozenset[int] = frozenset()
    """The states without open leases."""
    names: dict[int, str] = {}
    """What some states look like, for messages."""
    expected: frozenset[str] = frozenset()
    """The events that must occur somewhere, like `Fill` or `Fill:NotHeld`."""
    happened: frozenset[str] = frozenset()
    """The events that occurred."""
    twins: tuple[Twin, ...] = ()
    """Calls made with the tier off and with a full tier."""
