"""Scopes: the small worlds that are searched as a whole.

A scope is a shape, the promises a lease may make, and the bounds of the search. The bounds are no
refusals: a call at the edge is judged, its result is not expanded.
"""

import msgspec

from properties import openings
from properties.view import View
from reference.calls import (
    BASE,
    CALLS,
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    Fill,
    Find,
    Land,
    Lookup,
    Open,
    Publish,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
)
from reference.words import Handle, Shape

BEGINS = ("nothing", "full", "pinned", "promised", "returned", "brimful", "late", "heirs")
"""Where walks may begin (`beginnings`)."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """A small world."""

    name: str
    """Its name on the command line."""
    purpose: str
    """What it is for."""
    shape: Shape
    """The size of the tier."""
    leases: int
    """The most leases open at once."""
    promises: tuple[int, ...]
    """The promises that are tried; others are tried too, and judged, but not expanded."""
    pins: int = 1
    """The most pins of one lease on one page."""
    off: bool = False
    """Whether the tier is off."""
    operations: tuple[type[Call], ...] = BASE
    """The operations that are tried: the spec's table, unless it says otherwise."""
    keys: int = 1
    """Keys that pages are published under and looked for."""
    begins: tuple[str, ...] = ("nothing", "full", "full", "full")
    """Where walks begin, in turn (`beginnings`)."""
    opening: tuple[Call, ...] = ()
    """Calls made first, each with its default choice; the search begins where they lead."""
    depth: int | None = None
    """Calls from there at most; none searches the whole space."""


def is_inside(view: View, scope: Scope) -> bool:
    """Return whether a state is inside the bounds of the search, so that it is expanded."""
    if len(view.leases) > scope.leases:
        return False
    return all(
        lease.promise in scope.promises and max(lease.pins.values(), default=0) <= scope.pins
        for lease in view.leases.values()
    )


def _without(*left_out: type[Call]) -> tuple[type[Call], ...]:
    """Return the spec's table but for some operations."""
    return tuple(call for call in BASE if call not in left_out)


SCOPES = {
    scope.name: scope
    for scope in (
        Scope(
            name="tiny",
            purpose="evictions, in milliseconds",
            shape=Shape(pages=2, frames=1, rows=1),
            leases=1,
            promises=(1,),
        ),
        Scope(
            name="rows",
            purpose="pages of several rows",
            shape=Shape(pages=2, frames=1, rows=2),
            leases=1,
            promises=(1,),
        ),
        Scope(
            name="small",
            purpose="two leases, sharing; never evicts",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
        ),
        Scope(
            name="pins",
            purpose="pin counts",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
            pins=2,
        ),
        Scope(
            name="default",
            purpose="two leases and evictions",
            shape=Shape(pages=3, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
        ),
        Scope(
            name="wide",
            purpose="one lease's claim against another's miss",
            shape=Shape(pages=4, frames=3, rows=1),
            leases=2,
            promises=(1, 2),
        ),
        Scope(
            name="claims",
            purpose="begins full, one lease's fill in flight with a hit and a miss",
            shape=Shape(pages=4, frames=3, rows=1),
            leases=2,
            promises=(1, 2),
            opening=(
                Open(2),
                Open(1),
                Alloc(0),
                Alloc(0),
                Alloc(1),
                Alloc(1),
                Fill(1, (2,)),
                CompleteFill(1, 0, True),
                Unpin(1, Handle(2, 0, 0)),
                Fill(0, (0,)),
                CompleteFill(0, 1, True),
                Unpin(0, Handle(0, 1, 0)),
                Fill(0, (0, 1)),
            ),
            depth=3,
        ),
        Scope(
            name="walks",
            purpose="recorded walks; too large to search",
            shape=Shape(pages=7, frames=4, rows=2),
            leases=3,
            promises=(1, 2),
            pins=2,
        ),
        Scope(
            name="leave",
            purpose="a lease abandoned at any moment, its copies running on",
            shape=Shape(pages=2, frames=1, rows=1),
            leases=1,
            promises=(1,),
            operations=(*BASE, Abandon, Land),
        ),
        Scope(
            name="sleep",
            purpose="a reset with copies in flight",
            shape=Shape(pages=2, frames=1, rows=1),
            leases=1,
            promises=(1,),
            operations=(*BASE, Reset, Land),
        ),
        Scope(
            name="orphans",
            purpose="two leases share a page and one is abandoned",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1,),
            operations=(*_without(Lookup, Release), Abandon, Land),
        ),
        Scope(
            name="drafts",
            purpose="rows taken back, published or not",
            shape=Shape(pages=1, frames=2, rows=2),
            leases=2,
            promises=(1,),
            operations=(*_without(Lookup, Release), Abandon, Land, Truncate),
        ),
        Scope(
            name="keys",
            purpose="pages found by what they hold",
            shape=Shape(pages=1, frames=2, rows=1),
            leases=2,
            promises=(1,),
            operations=(*_without(Lookup, Share), Truncate, Publish, Find),
            keys=2,
        ),
        Scope(
            name="off-leave",
            purpose="the tier off: leaving, resets, drafts and keys",
            shape=Shape(pages=1, frames=1, rows=1),
            leases=1,
            promises=(1,),
            off=True,
            operations=CALLS,
            keys=1,
        ),
        Scope(
            name="off-share",
            purpose="the tier off: a shared page, and one of its leases is abandoned",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1,),
            off=True,
            operations=(*_without(Lookup, Release), Abandon, Reset),
        ),
        Scope(
            name="names",
            purpose="begins with two full pages, one of them published",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
            operations=(*_without(Lookup, Share), Truncate, Publish, Find),
            keys=2,
            opening=openings.NAMES,
            depth=3,
        ),
        Scope(
            name="all",
            purpose="every operation; too large to search",
            shape=Shape(pages=6, frames=4, rows=2),
            leases=3,
            promises=(1, 2),
            operations=CALLS,
            keys=2,
            begins=BEGINS,
        ),
        Scope(
            name="heirs",
            purpose="a claim keeps the dirty rows of a lease that is abandoned",
            shape=Shape(pages=2, frames=3, rows=1),
            leases=2,
            promises=(1, 2),
            operations=(*_without(Lookup, Release), Abandon, Land),
            opening=openings.HEIRS,
            depth=4,
        ),
        *(
            Scope(
                name=name,
                purpose=opening.purpose,
                shape=opening.shape,
                leases=2,
                promises=(1, 2),
                pins=2,
                operations=CALLS,
                opening=opening.calls,
                depth=3,
            )
            for name, opening in openings.OPENINGS.items()
        ),
        Scope(
            name="off",
            purpose="the tier off: the device-only pool",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
            off=True,
        ),
    )
}
