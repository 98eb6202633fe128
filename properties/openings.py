"""Openings: the states that public reports come from, as calls, for searches that begin there.

Most of what breaks in public tiers breaks when the tier is full, when everything is pinned, when a
page comes back after another had its frame, or after a completion was lost. Each call is made with
its default choice. Random walks begin in the same states on any shape (`beginnings`).
"""

from typing import NamedTuple

from reference.calls import (
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    MarkDirty,
    Open,
    Publish,
    Share,
    Unpin,
    Write,
    WriteBack,
)
from reference.words import Handle, Shape


class Opening(NamedTuple):
    """Calls that lead to a state worth a search of its own."""

    purpose: str
    """What the state is."""
    shape: Shape
    """The tier it is a state of."""
    calls: tuple[Call, ...]
    """How to get there from nothing."""


_FIRST, _SECOND = Handle(0, 0, 0), Handle(1, 1, 0)

_TWO_LEASES: tuple[Call, ...] = (Open(1), Open(1), Alloc(0), Alloc(1), Alloc(0))
_PROMISED: tuple[Call, ...] = (*_TWO_LEASES, Fill(0, (0,)), Fill(1, (1,)))
_PINNED: tuple[Call, ...] = (*_PROMISED, CompleteFill(0, 0, True), CompleteFill(1, 1, True))

OPENINGS: dict[str, Opening] = {
    "full": Opening(
        "begins with every frame taken and nothing pinned",
        Shape(pages=3, frames=2, rows=1),
        (*_PINNED, Unpin(0, _FIRST), Unpin(1, _SECOND)),
    ),
    "pinned": Opening(
        "begins with every frame pinned",
        Shape(pages=3, frames=2, rows=1),
        _PINNED,
    ),
    "promised": Opening(
        "begins with every lease at its promise, all fills in flight",
        Shape(pages=3, frames=2, rows=1),
        _PROMISED,
    ),
    "returned": Opening(
        "begins with a page that came back after another had its frame",
        Shape(pages=2, frames=1, rows=1),
        (
            Open(1),
            Alloc(0),
            Alloc(0),
            Fill(0, (0,)),
            CompleteFill(0, 0, True),
            MarkDirty(0, _FIRST),
            Write(0, _FIRST, 0, 1),
            WriteBack(0, _FIRST),
            CompleteWriteBack(0, 1, True),
            Unpin(0, _FIRST),
            Fill(0, (1,)),
            CompleteFill(0, 2, True),
            Unpin(0, Handle(1, 0, 1)),
            Fill(0, (0,)),
            CompleteFill(0, 3, True),
        ),
    ),
    "brimful": Opening(
        "begins with a page exactly full and one a row short; one row over is tried",
        Shape(pages=2, frames=2, rows=2),
        (
            Open(2),
            Alloc(0),
            Alloc(0),
            Fill(0, (0, 1)),
            CompleteFill(0, 0, True),
            MarkDirty(0, _FIRST),
            MarkDirty(0, _SECOND),
            Write(0, _FIRST, 0, 1),
            Write(0, _FIRST, 1, 2),
            Write(0, _SECOND, 0, 3),
            WriteBack(0, _FIRST),
            CompleteWriteBack(0, 1, True),
            WriteBack(0, _SECOND),
            CompleteWriteBack(0, 2, True),
        ),
    ),
    "late": Opening(
        "begins with a completion that never came: its lease is gone, the next one fills",
        Shape(pages=3, frames=2, rows=1),
        (Open(1), Alloc(0), Fill(0, (0,)), Abandon(0), Open(1), Alloc(1), Fill(1, (1,))),
    ),
}

NAMES: tuple[Call, ...] = (
    Open(2),
    Alloc(0),
    Alloc(0),
    Fill(0, (0, 1)),
    CompleteFill(0, 0, True),
    MarkDirty(0, _FIRST),
    MarkDirty(0, _SECOND),
    Write(0, _FIRST, 0, 1),
    Write(0, _SECOND, 0, 2),
    WriteBack(0, _FIRST),
    CompleteWriteBack(0, 1, True),
    WriteBack(0, _SECOND),
    CompleteWriteBack(0, 2, True),
    Publish(0, 0, 0),
)
"""Two pages are full and durable, and a key names the first."""

HEIRS: tuple[Call, ...] = (
    Open(1),
    Open(2),
    Alloc(0),
    Share(1, 0),
    Alloc(1),
    Fill(0, (0,)),
    CompleteFill(0, 0, True),
    MarkDirty(0, _FIRST),
    Write(0, _FIRST, 0, 1),
    Fill(1, (0, 1)),
)
"""A page is dirty under one lease and claimed by another, whose fill may still fail."""
