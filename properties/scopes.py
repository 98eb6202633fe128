"""Scopes: the small worlds that are searched as a whole.

A scope is a shape, the promises a lease may make, and the bounds of the search. The bounds are no
refusals: a call at the edge is judged, its result is not expanded.
"""

import msgspec

from reference.calls import Call
from reference.words import Shape


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
    opening: tuple[Call, ...] = ()
    """Calls made first, each with its default choice; the search begins where they lead."""
    depth: int | None = None
    """Calls from there at most; none searches the whole space."""


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
            name="off",
            purpose="the tier off: the device-only pool",
            shape=Shape(pages=2, frames=2, rows=1),
            leases=2,
            promises=(1, 2),
            off=True,
        ),
    )
}
