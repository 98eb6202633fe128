"""The view: what every subject shows of itself, and its digest.

A view holds the tables as the subject stores them, redundant ones included, so that rules about
their agreement say something. Rows nobody may compare are masked: those of `FREE` and `FILLING`
frames and of torn host pages. Words derived from a view (pinned, claimed, evictable) are defined
here once; what must hold of them is in `rules`.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Generic, Literal, Self, TypeVar, overload

import msgspec

from reference.words import FrameNumber, Handle, Key, LeaseId, Page, Phase, Rows, Shape, Ticket

Value = TypeVar("Value")


class kept(Generic[Value]):  # noqa: N801  # a decorator, named as `cached_property` is
    """A property computed once, without the lock that `cached_property` takes each time."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        """Compute it with this function, whose name and docstring it takes."""
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...
    def __get__(self, owner: object | None, kind: type) -> Self | Value:
        """Compute it; from then on the value in the object's own dictionary is found first."""
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.compute(owner)
        return value


class FrameView(msgspec.Struct, frozen=True):
    """One frame."""

    page: Page | None
    """The page it maps."""
    generation: int
    """Its generation."""
    phase: Phase
    """What it is doing."""
    dirty: bool
    """It may be newer than the host page."""
    rows: Rows | None
    """Its rows; none while `FREE`, `FILLING` or `QUARANTINED`."""


class CopyView(msgspec.Struct, frozen=True):
    """One copy in flight."""

    ticket: Ticket
    """Its name."""
    kind: Literal["fill", "write-back"]
    """Its direction."""
    frames: tuple[FrameNumber, ...]
    """The frames it writes or reads."""


class OrphanView(msgspec.Struct, frozen=True):
    """One copy in flight that no lease owns any more."""

    ticket: Ticket
    """Its name."""
    kind: Literal["fill", "write-back"]
    """Its direction."""
    frames: tuple[FrameNumber, ...]
    """The frames it writes or reads."""
    pages: tuple[Page, ...]
    """The host pages it reads or writes."""


class LeaseView(msgspec.Struct, frozen=True):
    """One open lease."""

    promise: int
    """The most distinct pages it may have pinned or claimed."""
    table: tuple[Page, ...]
    """Pages it allocated."""
    borrowed: tuple[Page, ...]
    """Pages it got by `share`."""
    pins: dict[Page, int]
    """Its pins per page."""
    claims: tuple[Page, ...]
    """Pages its fill in flight asked for."""
    copies: tuple[CopyView, ...]
    """Its copies in flight."""


class CountersView(msgspec.Struct, frozen=True):
    """What the subject counted."""

    hits: int
    misses: int
    evictions: int
    failed_fills: int
    write_backs: int
    failed_write_backs: int


class View(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """Everything a subject shows; the last four only if it has the operations they come from."""

    shape: Shape
    """Its size."""
    off: bool
    """No tier is configured."""
    leases: dict[LeaseId, LeaseView]
    """The open leases, ids ascending."""
    frames: tuple[FrameView, ...]
    """The frames by number."""
    where: tuple[FrameNumber | None, ...]
    """For each page id, the frame that maps it, as the subject stores it."""
    free: tuple[Page, ...]
    """Pages nobody holds, as the pool stores them."""
    holds: tuple[int, ...]
    """For each page id, how many leases hold it, as the pool counts."""
    host: dict[Page, Rows | None]
    """The host rows of each live page; none while torn."""
    torn: tuple[Page, ...]
    """Live pages whose host page is torn."""
    counters: CountersView
    """What it counted."""
    recency: tuple[Page, ...] | None
    """Resident pages, least recently filled first; none if the subject shows no recency."""
    quarantine: tuple[OrphanView, ...] = ()
    """Copies in flight that no lease owns any more."""
    retired: tuple[Page, ...] = ()
    """Pages whose life ended and that such a copy may still touch, as the pool stores them."""
    lost: tuple[Page, ...] = ()
    """Live pages whose rows are nowhere."""
    keys: dict[Key, Page] = {}
    """The page that each key names."""

    @kept
    def pinned(self) -> dict[Page, list[LeaseId]]:
        """For each pinned page, who pins it."""
        found: dict[Page, list[LeaseId]] = {}
        for lease_id, lease in self.leases.items():
            for page in lease.pins:
                found.setdefault(page, []).append(lease_id)
        return found

    @kept
    def claimed(self) -> dict[Page, list[LeaseId]]:
        """For each claimed page, who claims it."""
        found: dict[Page, list[LeaseId]] = {}
        for lease_id, lease in self.leases.items():
            for page in lease.claims:
                found.setdefault(page, []).append(lease_id)
        return found

    @kept
    def holders(self) -> dict[Page, list[LeaseId]]:
        """For each held page, who holds it, once for each hold."""
        found: dict[Page, list[LeaseId]] = {}
        for lease_id, lease in self.leases.items():
            for page in (*lease.table, *lease.borrowed):
                found.setdefault(page, []).append(lease_id)
        return found

    @kept
    def free_frames(self) -> tuple[FrameNumber, ...]:
        """Frames that are `FREE`."""
        return tuple(n for n, frame in enumerate(self.frames) if frame.phase == Phase.FREE)

    @kept
    def landing(self) -> tuple[FrameNumber, ...]:
        """Frames that are `QUARANTINED`."""
        return tuple(n for n, frame in enumerate(self.frames) if frame.phase == Phase.QUARANTINED)

    @kept
    def orphaned(self) -> dict[FrameNumber, OrphanView]:
        """For each frame that a copy in quarantine may touch, that copy."""
        return {number: copy for copy in self.quarantine for number in copy.frames}

    @kept
    def touched(self) -> frozenset[Page]:
        """Pages whose host page a copy in quarantine may touch."""
        return frozenset(page for copy in self.quarantine for page in copy.pages)

    @kept
    def evictable(self) -> tuple[FrameNumber, ...]:
        """Frames that are `READY`, clean, and neither pinned nor claimed by any lease."""
        return tuple(
            number
            for number, frame in enumerate(self.frames)
            if frame.phase == Phase.READY
            and not frame.dirty
            and frame.page not in self.pinned
            and frame.page not in self.claimed
        )

    @kept
    def mapped(self) -> dict[Page, FrameNumber]:
        """For each page that a frame maps, that frame (the highest if several do)."""
        return {
            frame.page: number for number, frame in enumerate(self.frames) if frame.page is not None
        }

    def is_current(self, handle: Handle) -> bool:
        """Return whether that frame maps that page with that generation."""
        if not 0 <= handle.frame < len(self.frames):
            return False
        frame = self.frames[handle.frame]
        return frame.page == handle.page and frame.generation == handle.generation

    def frame_of(self, page: Page) -> FrameView | None:
        """Return the frame that maps the page, if one does."""
        number = self.mapped.get(page)
        return None if number is None else self.frames[number]

    def fill_of(self, lease_id: LeaseId) -> CopyView | None:
        """Return the lease's fill in flight, if it has one."""
        for copy in self.leases[lease_id].copies:
            if copy.kind == "fill":
                return copy
        return None


def digest(view: View) -> str:
    """Return one hash over the canonical form of a view, 32 hex digits, the same everywhere."""
    # Keys become text first: newer versions of msgspec order no others.
    plain = msgspec.to_builtins(view, str_keys=True)
    text = msgspec.json.encode(plain, order="deterministic")
    return blake2b(text, digest_size=16).hexdigest()
