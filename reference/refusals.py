"""Why a call is refused: one class per reason.

A refusal is expected in normal operation and changes nothing. Its message names the values and
the bound they met. `FillFailed` is no refusal: a fault struck, and the fill was undone.
"""

from dataclasses import dataclass
from typing import ClassVar

from reference.words import FrameNumber, Handle, Key, LeaseId, Page, Ticket


class TierError(Exception):
    """Anything the tier raises on purpose."""


@dataclass(eq=False)
class Refusal(TierError):
    """A call that was not allowed, and changed nothing."""

    text: ClassVar[str] = ""
    """The message, with the fields of the class in braces."""

    def __str__(self) -> str:
        """Return the message with its values."""
        return self.text.format(**vars(self))


@dataclass(eq=False)
class BadPromise(Refusal):
    """`open` with a promise below 1."""

    promise: int
    text = "a promise of {promise} is below 1"


@dataclass(eq=False)
class PromiseUnavailable(Refusal):
    """`open` with a promise that the frames do not cover."""

    promise: int
    promised: int
    frames: int
    text = "a promise of {promise} on top of the {promised} promised exceeds the {frames} frames"


@dataclass(eq=False)
class UnknownLease(Refusal):
    """A call for a lease that is not open."""

    lease: LeaseId
    text = "lease {lease} is not open"


@dataclass(eq=False)
class PageMemory(Refusal):
    """`alloc` when every page is held."""

    pages: int
    text = "all {pages} pages are held"


@dataclass(eq=False)
class UnknownPage(Refusal):
    """`share` of a page that is not in a life."""

    page: Page
    text = "page {page} is not live"


@dataclass(eq=False)
class AlreadyHeld(Refusal):
    """`share` of a page the lease holds already."""

    lease: LeaseId
    page: Page
    text = "lease {lease} holds page {page} already"


@dataclass(eq=False)
class NotHeld(Refusal):
    """A call for a page the lease does not hold."""

    lease: LeaseId
    page: Page
    text = "lease {lease} does not hold page {page}"


@dataclass(eq=False)
class FillInFlight(Refusal):
    """A call that has to wait for the lease's own fill."""

    lease: LeaseId
    ticket: Ticket
    text = "the fill with ticket {ticket} of lease {lease} is in flight"


@dataclass(eq=False)
class PagePinned(Refusal):
    """`release` of a page the lease pins."""

    lease: LeaseId
    page: Page
    pins: int
    text = "lease {lease} has {pins} pins on page {page}"


@dataclass(eq=False)
class DuplicatePage(Refusal):
    """`fill` that asks for a page twice."""

    page: Page
    text = "page {page} is asked for twice"


@dataclass(eq=False)
class PromiseExceeded(Refusal):
    """`fill` that would take the lease past its promise."""

    lease: LeaseId
    promise: int
    wanted: int
    text = "lease {lease} would have {wanted} pages in frames and promised at most {promise}"


@dataclass(eq=False)
class HitPending(Refusal):
    """`fill` of a page that another lease is filling; may be tried again."""

    page: Page
    frame: FrameNumber
    text = "page {page} is being filled into frame {frame} for another lease"


@dataclass(eq=False)
class FrameMemory(Refusal):
    """`fill` without frames for its misses. The promise rules it out."""

    misses: int
    available: int
    text = "{misses} misses and only {available} frames free or evictable"


@dataclass(eq=False)
class FramesLanding(Refusal):
    """`fill` when frames in quarantine are wanted. It may be repeated once their copies landed."""

    misses: int
    available: int
    landing: int
    text = "{misses} misses, {available} frames free or evictable, {landing} more are in quarantine"


@dataclass(eq=False)
class RowsLost(Refusal):
    """`fill` of a page whose rows went with a lease. Truncated to nothing it can be used again."""

    page: Page
    text = "the rows of page {page} were not published before the lease that wrote them was gone"


@dataclass(eq=False)
class UnknownTicket(Refusal):
    """`land` of a copy that is not in quarantine."""

    ticket: Ticket
    text = "ticket {ticket} names no copy in quarantine"


@dataclass(eq=False)
class StaleTicket(Refusal):
    """A completion for a copy that is not the lease's, or not in flight."""

    lease: LeaseId
    ticket: Ticket
    text = "ticket {ticket} names no such copy in flight of lease {lease}"


@dataclass(eq=False)
class StaleHandle(Refusal):
    """A call with a handle that is not current."""

    handle: Handle
    text = "{handle} is not current"


@dataclass(eq=False)
class NotPinned(Refusal):
    """A call that needs a pin of the lease on the page."""

    lease: LeaseId
    page: Page
    text = "lease {lease} does not pin page {page}"


@dataclass(eq=False)
class DirtyFrame(Refusal):
    """A call that would give up the lease's last pin on dirty frames."""

    lease: LeaseId
    pages: tuple[Page, ...]
    text = "lease {lease} holds the last word on dirty pages {pages}: write them back first"


@dataclass(eq=False)
class WriteBackInFlight(Refusal):
    """A call that has to wait for a write-back."""

    page: Page
    frame: FrameNumber
    text = "page {page} in frame {frame} is being written back"


@dataclass(eq=False)
class NotDirty(Refusal):
    """`write` to a frame that was not marked dirty first."""

    page: Page
    frame: FrameNumber
    text = "page {page} in frame {frame} was not marked dirty before the write"


@dataclass(eq=False)
class BadRow(Refusal):
    """`read` or `write` of a row outside the page."""

    row: int
    rows: int
    text = "row {row} is outside the {rows} rows of a page"


@dataclass(eq=False)
class BadLength(Refusal):
    """`truncate` to fewer rows than none, or to more than a page has."""

    length: int
    rows: int
    text = "a page of {rows} rows cannot be truncated to {length}"


@dataclass(eq=False)
class NotDurable(Refusal):
    """`publish` of a page whose host page is not its newest copy."""

    page: Page
    text = "the host page of page {page} does not hold its rows yet"


@dataclass(eq=False)
class PageNotFull(Refusal):
    """`publish` of a page with rows not yet written."""

    page: Page
    written: int
    rows: int
    text = "page {page} has {written} of {rows} rows written"


@dataclass(eq=False)
class KeyTaken(Refusal):
    """`publish` under a key that names a page already."""

    key: Key
    page: Page
    text = "key {key} names page {page} already"


@dataclass(eq=False)
class AlreadyPublished(Refusal):
    """`publish` of a page that has another key."""

    page: Page
    key: Key
    text = "page {page} is published under key {key}"


@dataclass(eq=False)
class FillFailed(TierError):
    """A fault struck while a fill was placing its misses; the fill was undone. No refusal."""

    lease: LeaseId
    pages: tuple[Page, ...]

    def __str__(self) -> str:
        """Return the message with its values."""
        return f"a fault struck the fill of pages {self.pages} for lease {self.lease}"
