"""Arguments: the Hypothesis strategies that absolute arguments are drawn from.

What is simplest comes first, where shrinking leads; what mostly makes sense comes often. Owned
here: how much of each there is. Not owned: what an argument means (`absolute`).
"""

from collections.abc import Callable
from itertools import permutations
from typing import Any, TypeAlias

from hypothesis import strategies as st

from properties.scopes import Scope
from properties.view import View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Publish,
    Read,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Page

Strategy: TypeAlias = st.SearchStrategy[Any]

NAMED_MAX = 64
"""Pages, frames and seats that are drawn at most; the machine sees a part of a larger shape.

Hypothesis mixes integers from the text of imported modules into draws from ranges above 100: the
same seed would draw otherwise wherever other tests were imported.
"""


def get_seats(scope: Scope) -> int:
    """Return how many leases have a name at once."""
    return min(scope.leases, NAMED_MAX)


def get_arguments(scope: Scope) -> dict[type[Call], dict[str, Strategy]]:
    """Return the strategies for the arguments of each operation."""
    seats, pages = range(get_seats(scope)), range(min(scope.shape.pages, NAMED_MAX))
    rows = range(min(scope.shape.rows, NAMED_MAX))
    lease = st.sampled_from([*seats] * 8 + [len(seats)])
    pinned = {"lease": lease, "handle": _get_handles(pages, 30)}
    # What is marked as often as it is written back is mostly dirty, and then nothing is evicted.
    marked = {"lease": lease, "handle": _get_handles(pages, 3)}
    row = st.sampled_from([*rows] * 12 + [scope.shape.rows, -1])
    copy = st.sampled_from(
        [(page, "own") for _ in range(30) for page in pages]
        + [(page, how) for how in ("other", "used", "turned", "never") for page in pages]
    )
    reported = {
        "lease": lease,
        "copy": copy,
        "ok": st.sampled_from((True, True, True, True, False)),
    }
    leaving = {"lease": st.sampled_from([*seats] + [len(seats)] * 4)}
    key = st.sampled_from(range(scope.keys))
    held = {"lease": lease, "page": _get_named(scope, pages, "held")}
    landed = {
        "copy": st.sampled_from((0, 0, 0, 1, 1, 2, -1)),
        "ok": st.sampled_from((True, True, True, False)),
    }
    lengths = [*range(scope.shape.rows)] * 4 + [-1, scope.shape.rows, scope.shape.rows + 1]
    arguments: dict[type[Call], dict[str, Strategy]] = {
        Open: {"promise": st.sampled_from([*scope.promises] * 4 + [0, scope.shape.frames + 1])},
        Alloc: {"lease": lease, "page": st.sampled_from(pages)},
        Share: {"lease": lease, "page": _get_named(scope, pages, "lent")},
        Release: {"lease": lease, "page": _get_named(scope, pages, "unused")},
        Lookup: {"lease": lease, "page": _get_named(scope, pages, "held")},
        Fill: {
            "lease": lease,
            "pages": _get_askings(scope, pages),
            "how": st.sampled_from(["held"] * 8 + ["exact", "over"]),
            "frame": st.sampled_from(range(min(scope.shape.frames, NAMED_MAX))),
            "fault": st.sampled_from([0] * 20 + [1, -1, 2, -2]),
        },
        CompleteFill: reported,
        Unpin: pinned,
        MarkDirty: marked,
        Write: {**pinned, "row": row},
        Read: {**pinned, "row": row},
        WriteBack: pinned,
        CompleteWriteBack: reported,
        Finish: leaving,
        Abandon: leaving,
        Land: landed,
        Reset: {},
        Truncate: {**held, "rows": st.sampled_from(lengths)},
        Publish: {**held, "key": key},
        Find: {"lease": lease, "key": key},
    }
    return {call: drawn for call, drawn in arguments.items() if call in scope.operations}


def _is_used(view: View, _scope: Scope) -> bool:
    """Whether anybody pins a page, or may think so: a claim is no pin yet."""
    return bool(view.pinned)


POSSIBLE: dict[type[Call], Callable[[View, Scope], bool]] = {
    Open: lambda view, scope: len(view.leases) < get_seats(scope),
    **dict.fromkeys(
        (Alloc, Share, Release, Lookup, Fill, Finish), lambda view, _: bool(view.leases)
    ),
    **dict.fromkeys((Unpin, MarkDirty, Write, Read, WriteBack), _is_used),
    CompleteFill: lambda view, _: bool(view.claimed),
    CompleteWriteBack: lambda view, _: bool(view.torn),
    **dict.fromkeys((Abandon, Reset, Truncate, Find), lambda view, _: bool(view.leases)),
    Land: lambda view, _: bool(view.quarantine),
    Publish: lambda view, _: any(any(rows or ()) for rows in view.host.values()),
}
"""Whether an operation may come to anything, or to a refusal that says something. Without it three
calls in four are made by nobody, or about what nobody has pinned."""

_WRONG_HANDLES = ("any", "stale", "newer", "next frame", "next page")


def _get_handles(pages: range, right: int) -> Strategy:
    """Handles of pages that are pinned, so many for each that is wrong in some way."""
    named = [(page, "pinned") for _ in range(right) for page in pages]
    return st.sampled_from(named + [(page, how) for how in _WRONG_HANDLES for page in pages])


def _get_named(scope: Scope, pages: range, how: str) -> Strategy:
    named = [(page, how) for _ in range(6) for page in pages]
    return st.sampled_from(named + [(page, "exact") for page in (*pages, scope.shape.pages)])


def _get_askings(scope: Scope, pages: range) -> Strategy:
    """Pages to fill: mostly as many as a promise allows, one twice, one too many, none."""
    most = max(scope.promises)
    if len(pages) <= 4:
        askings: list[tuple[Page, ...]] = [(page,) for page in pages]
        for size in range(2, most + 1):
            askings += permutations(pages, size)
        return st.sampled_from([*askings, tuple(pages[: most + 1]), (0, 0), ()])
    size = min(most + 1, 6)
    return st.lists(st.sampled_from(pages), min_size=1, max_size=size).map(tuple)
