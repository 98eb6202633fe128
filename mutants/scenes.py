"""Scenes for the mutants of the device: short runs that walks seldom meet, written by hand.

Each brings about one order of copies that only a certain interleaving shows, again and again, so
that few moods of the scheduler are enough.
"""

from typing import NamedTuple

from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Land,
    MarkDirty,
    Open,
    Read,
    Release,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle


class Scene(NamedTuple):
    """Calls from the first state, every choice left to the tier."""

    world: str
    """Where."""
    seeds: tuple[int | None, ...]
    """The moods in which they are made; none for a scheduler that lands nothing by itself."""
    calls: tuple[Call, ...]


_BEGUN = (Open(2), Alloc(0), Alloc(0), Alloc(0))
_SAVED, _OTHER = Handle(0, 0, 0), Handle(1, 0, 1)

# The copy that was given up is on the stream of its ticket, every second ticket's: it moves on
# when the next copy there is waited for.
_FILL_GIVEN_UP: tuple[Call, ...] = (
    *_BEGUN,
    *(Fill(0, (0,)), CompleteFill(0, 0, False)),
    *(Fill(0, (1,)), CompleteFill(0, 1, True)),
    *(MarkDirty(0, _OTHER), Write(0, _OTHER, 0, 1), Read(0, _OTHER, 0)),
    *(Fill(0, (2,)), CompleteFill(0, 2, True)),
)

_WRITE_BACK_GIVEN_UP: tuple[Call, ...] = (
    *(Open(2), Alloc(0), Alloc(0)),
    *(Fill(0, (0,)), CompleteFill(0, 0, True)),
    *(MarkDirty(0, _SAVED), Write(0, _SAVED, 0, 1)),
    *(WriteBack(0, _SAVED), CompleteWriteBack(0, 1, False)),
    *(WriteBack(0, _SAVED), CompleteWriteBack(0, 2, True)),
    *(Unpin(0, _SAVED), Release(0, 0), Alloc(0)),
    *(Fill(0, (1,)), CompleteFill(0, 3, True)),
    *(MarkDirty(0, _OTHER), Write(0, _OTHER, 0, 2)),
    *(WriteBack(0, _OTHER), CompleteWriteBack(0, 4, True)),
    *(MarkDirty(0, _OTHER), Write(0, _OTHER, 0, 3)),
    *(WriteBack(0, _OTHER), CompleteWriteBack(0, 5, True)),
)


_ABANDONED: tuple[Call, ...] = (
    *(Open(2), Alloc(0), Alloc(0)),
    *(Fill(0, (0,)), CompleteFill(0, 0, True), MarkDirty(0, _SAVED), Write(0, _SAVED, 0, 1)),
    *(WriteBack(0, _SAVED), Fill(0, (1,)), Abandon(0), Land(2, True), Land(1, False)),
)

# Here too the copy is still running if nobody waited, and moves on with the next of its stream.
_NEXT = Handle(1, 0, 1)
_LANDED: tuple[Call, ...] = (
    *(Open(1), Open(1), Alloc(0), Alloc(1), Fill(0, (0,)), Abandon(0), Land(0, True)),
    *(Fill(1, (1,)), CompleteFill(1, 1, True)),
    *(MarkDirty(1, _NEXT), Write(1, _NEXT, 0, 2), Read(1, _NEXT, 0)),
    *(Open(1), Alloc(2), Fill(2, (0,)), CompleteFill(2, 2, True), Read(1, _NEXT, 0)),
)

_OFF: tuple[Call, ...] = (
    *(Open(2), Alloc(0), Fill(0, (0,)), MarkDirty(0, _SAVED)),
    *(Write(0, _SAVED, 0, 1), Write(0, _SAVED, 1, 2), WriteBack(0, _SAVED), Unpin(0, _SAVED)),
    *(Release(0, 0), Alloc(0), Fill(0, (0,)), Read(0, Handle(0, 0, 1), 1)),
)

_LAST = Handle(5, 0, 0)
_FAR: tuple[Call, ...] = (
    *(Open(1), *(Alloc(0),) * 6, Fill(0, (5,)), CompleteFill(0, 0, True)),
    *(MarkDirty(0, _LAST), Write(0, _LAST, 0, 1), Write(0, _LAST, 1, 2)),
    *(WriteBack(0, _LAST), CompleteWriteBack(0, 1, True)),
)


def _filled_twice(times: int) -> tuple[Call, ...]:
    """Two pages are filled at once into frames that were just given up, so many times."""
    calls: list[Call] = [Open(2), Alloc(0), Alloc(0)]
    for ticket in range(times):
        calls += [Fill(0, (0, 1)), CompleteFill(0, ticket, True)]
        calls += [Unpin(0, Handle(page, page, ticket)) for page in (0, 1)]
        calls += [Release(0, 0), Release(0, 1), Alloc(0), Alloc(0)]
    return tuple(calls)


def _failing(times: int) -> tuple[Call, ...]:
    """A fill of three pages fails at one of them, so many times."""
    calls: list[Call] = [Open(3), Alloc(0), Alloc(0), Alloc(0)]
    for ticket in range(times):
        calls += [Fill(0, (0, 1, 2)), CompleteFill(0, ticket, False)]
    return tuple(calls)


def _claimed() -> tuple[Call, ...]:
    """A full tier: one lease's fill in flight claims the page that another's would evict first."""
    calls: list[Call] = [Open(2), Open(1), Alloc(0), Alloc(0), *(Alloc(1),) * 4]
    for ticket, (lease, page) in enumerate(((0, 0), (1, 2), (1, 3), (1, 4))):
        calls += [Fill(lease, (page,)), CompleteFill(lease, ticket, True)]
        calls += [Unpin(lease, Handle(page, ticket, 0))]
    return (*calls, Fill(0, (0, 1)), Fill(1, (5,)), CompleteFill(0, 4, True))


SCENES = {
    "a fill given up": Scene("device-wide", (None, 1), _FILL_GIVEN_UP),
    "a write-back given up": Scene("device-wide", (None, 1), _WRITE_BACK_GIVEN_UP),
    "a lease abandoned": Scene("device-wide", (None, 1), _ABANDONED),
    "a copy that landed": Scene("device-wide", (None, 1), _LANDED),
    "a page claimed": Scene("device-walks", (None,), _claimed()),
    "a page far up": Scene("device-walks", (None,), _FAR),
    "the tier off": Scene("device-off", (None,), _OFF),
    "two streams": Scene("device-wide", (1, 2, 3, 4, 5, 6), _filled_twice(5)),
    "fills that fail": Scene("device-walks", (1, 2, 3, 4, 5, 6), _failing(10)),
}
"""By name."""
