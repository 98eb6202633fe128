"""Handles and plans of a device tier: the reference's, and their batch forms in arrays."""

from dataclasses import dataclass
from typing import NamedTuple

from device.layout import Numbers
from reference.words import Handle, Page, Ticket


class OwnHandle(Handle):
    """A `Handle` that knows which tier issued it; equal to the plain one with its numbers."""

    tier: object = None
    """The identity of the tier, or none if it is not known."""


@dataclass(frozen=True, eq=False)
class Handles:
    """Many handles, as columns: entry `i` is `Handle(pages[i], frames[i], generations[i])`."""

    pages: Numbers
    """The pages, int64 (n,)."""
    frames: Numbers
    """The frames that mapped them, int64 (n,)."""
    generations: Numbers
    """The generations of those frames, int64 (n,)."""
    tier: object = None
    """The identity of the tier that issued them, or none if it is not known."""

    def __len__(self) -> int:
        return len(self.pages)

    def get_plain(self, index: int) -> Handle:
        """Return one of them as a plain handle."""
        columns = (self.pages[index], self.frames[index], self.generations[index])
        return Handle(*map(int, columns))

    def __getitem__(self, index: int) -> OwnHandle:
        handle = OwnHandle(*self.get_plain(index))
        handle.tier = self.tier
        return handle


class BatchPlan(NamedTuple):
    """What `Tier.fill_all` returns: a `Plan` in arrays."""

    ticket: Ticket | None
    """Names the copy in flight; none when every page was a hit, and the fill is complete."""
    handles: Handles
    """One for each page asked for, in order."""
    misses: Numbers
    """The pages that were not resident, in order, int64."""


class FillEnd(NamedTuple):
    """What `Tier.complete_fill` returns; true if the fill landed."""

    has_landed: bool
    """Its claims are pins now; else it was undone."""
    gone: tuple[Page, ...]
    """Pages whose unpublished rows only the claim of a fill that failed had kept, ascending."""

    def __bool__(self) -> bool:
        return self.has_landed
