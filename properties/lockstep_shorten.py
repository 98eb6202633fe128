"""Fewer calls that still show a difference of the same kind, with their picks.

Calls go in ever smaller groups, as in `minimise`; what is left is made again on both, each call
with the picks that were recorded for it, as far as there are such options then.
"""

import time
from collections.abc import Callable, Sequence

from properties.grammar import Line
from properties.lockstep import Difference, Pair, replay_trace
from properties.trace import Header, SymbolicTrace, symbolic

SECONDS = 5.0
"""Time after which the fewest calls so far are taken."""


def shorten_difference(
    make_pair: Callable[[], Pair], header: Header, found: Difference, seconds: float = SECONDS
) -> Difference:
    """Return a difference of the same kind after fewer calls, or the given one.

    Each try needs a new pair, its subject as it was when the difference was found.
    """
    end = time.monotonic() + seconds
    best = _try(make_pair, header, symbolic(found.get_trace(header)).lines, found)
    if best is None:  # it does not come again: show it as it was found
        return found
    size = max(1, len(best.calls) // 2)
    while True:
        start = 0
        has_shrunk = False
        while start < len(best.calls) - 1:
            if time.monotonic() > end:
                return best
            lines = symbolic(best.get_trace(header)).lines
            fewer = _try(make_pair, header, (*lines[:start], *lines[start + size :]), best)
            if fewer is not None and len(fewer.calls) < len(best.calls):
                best, has_shrunk = fewer, True
            else:
                start += size
        if size == 1 and not has_shrunk:
            return best
        size = max(1, size // 2)


def _try(
    make_pair: Callable[[], Pair], header: Header, lines: Sequence[Line], wanted: Difference
) -> Difference | None:
    """Return the difference that these calls show, if it is of the same kind."""
    pair = make_pair()
    found = replay_trace(pair, SymbolicTrace(header, tuple(lines)))
    close = getattr(pair.subject, "close", None)
    if close is not None:
        close()
    return found if found is not None and found.kind == wanted.kind else None
