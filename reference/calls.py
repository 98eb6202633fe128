"""The vocabulary: one frozen record per operation, its choices, and what a call comes to.

Everything that makes calls, and every trace, speaks in these records. They are data; what a call
does is in `transition`.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from reference.words import FrameNumber, Handle, Key, LeaseId, Page, Ticket


@dataclass(frozen=True, slots=True)
class Open:
    """Open a lease; the value is its id."""

    promise: int


@dataclass(frozen=True, slots=True)
class Alloc:
    """Allocate a page into the lease's table; the value is the page."""

    lease: LeaseId


@dataclass(frozen=True, slots=True)
class Share:
    """Borrow a live page."""

    lease: LeaseId
    page: Page


@dataclass(frozen=True, slots=True)
class Release:
    """Give up a hold."""

    lease: LeaseId
    page: Page


@dataclass(frozen=True, slots=True)
class Lookup:
    """Look where a page is; the value is a handle or none."""

    lease: LeaseId
    page: Page


@dataclass(frozen=True, slots=True)
class Fill:
    """Bring pages into frames; the value is a plan."""

    lease: LeaseId
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True)
class CompleteFill:
    """Report that the copies of a fill landed, or that one failed."""

    lease: LeaseId
    ticket: Ticket
    ok: bool


@dataclass(frozen=True, slots=True)
class Unpin:
    """Give up one pin."""

    lease: LeaseId
    handle: Handle


@dataclass(frozen=True, slots=True)
class MarkDirty:
    """Announce writes to a frame."""

    lease: LeaseId
    handle: Handle


@dataclass(frozen=True, slots=True)
class Write:
    """Write a version into a row of a frame."""

    lease: LeaseId
    handle: Handle
    row: int
    value: int


@dataclass(frozen=True, slots=True)
class Read:
    """Read a row of a frame; the value is its version."""

    lease: LeaseId
    handle: Handle
    row: int


@dataclass(frozen=True, slots=True)
class WriteBack:
    """Start to copy a dirty frame to its host page; the value is a ticket or none."""

    lease: LeaseId
    handle: Handle


@dataclass(frozen=True, slots=True)
class CompleteWriteBack:
    """Report that a write-back landed, or that it failed."""

    lease: LeaseId
    ticket: Ticket
    ok: bool


@dataclass(frozen=True, slots=True)
class Finish:
    """End a lease."""

    lease: LeaseId


@dataclass(frozen=True, slots=True)
class Abandon:
    """End a lease at any moment; the value is the live pages whose unpublished rows are gone."""

    lease: LeaseId


@dataclass(frozen=True, slots=True)
class Land:
    """Report that a copy in quarantine landed, or that it failed."""

    ticket: Ticket
    ok: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """Drop all residency; the value is the pages whose unpublished rows are gone."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """Take back the rows of a page from `rows` on."""

    lease: LeaseId
    page: Page
    rows: int


@dataclass(frozen=True, slots=True)
class Publish:
    """Let a full page be found by what it holds."""

    lease: LeaseId
    page: Page
    key: Key


@dataclass(frozen=True, slots=True)
class Find:
    """Look up a key and hold what it names; the value is a page or none."""

    lease: LeaseId
    key: Key


Call: TypeAlias = (
    Open
    | Alloc
    | Share
    | Release
    | Lookup
    | Fill
    | CompleteFill
    | Unpin
    | MarkDirty
    | Write
    | Read
    | WriteBack
    | CompleteWriteBack
    | Finish
    | Abandon
    | Land
    | Reset
    | Truncate
    | Publish
    | Find
)

BASE: tuple[type[Call], ...] = (
    Open,
    Alloc,
    Share,
    Release,
    Lookup,
    Fill,
    CompleteFill,
    Unpin,
    MarkDirty,
    Write,
    Read,
    WriteBack,
    CompleteWriteBack,
    Finish,
)
"""The operations of the spec's table, in its order."""

CALLS: tuple[type[Call], ...] = (*BASE, Abandon, Land, Reset, Truncate, Publish, Find)
"""Every operation: the table's, then those that leave, take back and find (`leave`, `drafts`)."""

NAMES: dict[type[Call], str] = {
    Open: "open",
    Alloc: "alloc",
    Share: "share",
    Release: "release",
    Lookup: "lookup",
    Fill: "fill",
    CompleteFill: "complete_fill",
    Unpin: "unpin",
    MarkDirty: "mark_dirty",
    Write: "write",
    Read: "read",
    WriteBack: "write_back",
    CompleteWriteBack: "complete_write_back",
    Finish: "finish",
    Abandon: "abandon",
    Land: "land",
    Reset: "reset",
    Truncate: "truncate",
    Publish: "publish",
    Find: "find",
}
"""The name of each operation: the method of a subject, and the word in a trace."""


class Refused(NamedTuple):
    """A refusal as data, the same whichever copy of the code raised it."""

    name: str
    """The class of the refusal."""
    fields: tuple[tuple[str, object], ...]
    """Its fields and their values, in order."""


class Outcome(NamedTuple):
    """What a call came to: exactly one of done, failed by a fault, or refused."""

    value: object = None
    """What the call returned."""
    failed: bool = False
    """A fault struck; the effect is in the operation's row."""
    refused: Refused | None = None
    """Why it was refused."""


FAILED = Outcome(failed=True)


class Fault(NamedTuple):
    """A fault that strikes while a fill places its misses."""

    miss: int
    """The miss it strikes at, from 1; the misses before it took their frames."""
    unmapped: bool
    """Its victim was unmapped already (and is the last of `Choice.frames`)."""


class Choice(NamedTuple):
    """What the spec leaves open in one call."""

    page: Page | None = None
    """`alloc`: the free page to hand out."""
    frames: tuple[FrameNumber, ...] = ()
    """`fill`: the frame each miss takes, in order."""
    fault: Fault | None = None
    """`fill`: where a fault strikes."""


DEFAULT = Choice()
"""The only option of a call that leaves nothing open."""
