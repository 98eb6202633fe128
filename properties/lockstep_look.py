"""What a call touched: the part of a view that is compared after every call on large shapes.

A full view of a thousand frames takes longer than the call. The lease that called, the frames and
pages that the call names or that the reference shows changed, and the counters do not.
"""

from typing import NamedTuple

from properties.view import CountersView, FrameView, LeaseView, View
from reference.calls import Call
from reference.words import FrameNumber, LeaseId, Page, Rows


class Touched(NamedTuple):
    """What to look at."""

    lease: LeaseId | None
    """Who called."""
    frames: tuple[FrameNumber, ...]
    """Frames, ascending."""
    pages: tuple[Page, ...]
    """Pages, ascending."""


class Glimpse(NamedTuple):
    """What is there to see."""

    lease: LeaseView | None
    """The lease, if it is open."""
    frames: tuple[FrameView, ...]
    """The frames."""
    where: tuple[FrameNumber | None, ...]
    """For each page, the frame that maps it."""
    holds: tuple[int, ...]
    """For each page, how many leases hold it."""
    host: tuple[Rows | None, ...]
    """For each page its host rows; none while torn, or not live."""
    counters: CountersView
    """What was counted."""


def find_touched(before: View, after: View, call: Call) -> Touched:
    """Return what a call touched: what it names, and what changed by the reference."""
    pages = set(getattr(call, "pages", ()))
    frames = set()
    handle = getattr(call, "handle", None)
    if handle is not None:
        pages.add(handle.page)
        frames.add(handle.frame)
    if hasattr(call, "page"):
        pages.add(call.page)
    if before is not after:
        pairs = zip(before.frames, after.frames, strict=True)
        frames |= {number for number, (old, new) in enumerate(pairs) if old != new}
        pages |= {page for page, rows in after.host.items() if before.host.get(page) is not rows}
        pages |= before.host.keys() - after.host.keys()
    for number in sorted(frames):
        if 0 <= number < len(after.frames):
            pages |= {before.frames[number].page, after.frames[number].page} - {None}
    shape = after.shape
    return Touched(
        getattr(call, "lease", None),
        tuple(sorted(number for number in frames if 0 <= number < shape.frames)),
        tuple(sorted(page for page in pages if 0 <= page < shape.pages)),
    )


def look_at_view(view: View, touched: Touched) -> Glimpse:
    """Return what a view shows of it."""
    lease = None if touched.lease is None else view.leases.get(touched.lease)
    return Glimpse(
        lease,
        tuple([view.frames[number] for number in touched.frames]),
        tuple([view.where[page] for page in touched.pages]),
        tuple([view.holds[page] for page in touched.pages]),
        tuple([view.host.get(page) for page in touched.pages]),
        view.counters,
    )
