"""The pool: the only owner of page ids.

It hands them out, counts who holds them and takes them back. It knows nothing of frames: when a
life ends it calls the freed-page hook it was given, and that is all the tier ever hears.
"""

from collections.abc import Callable
from typing import TypeVar

from reference.state import Pool
from reference.words import Page

Tier = TypeVar("Tier")


def is_live(pool: Pool, page: Page) -> bool:
    """Return whether the page is in a life, that is, somebody holds it."""
    return 0 <= page < len(pool.holds) and pool.holds[page] > 0


def take(pool: Pool, page: Page) -> Pool:
    """Begin a life: the free page has one holder."""
    return pool._replace(
        free=tuple(other for other in pool.free if other != page),
        holds=_set_holds(pool, page, 1),
    )


def hold(pool: Pool, page: Page) -> Pool:
    """Give a live page one holder more."""
    return pool._replace(holds=_set_holds(pool, page, pool.holds[page] + 1))


def drop(
    pool: Pool, page: Page, tier: Tier, on_page_freed: Callable[[Tier, Page], Tier]
) -> tuple[Pool, Tier]:
    """Take one holder from a live page; when nobody is left its life ends and the hook runs."""
    pool = pool._replace(holds=_set_holds(pool, page, pool.holds[page] - 1))
    if pool.holds[page] > 0:
        return pool, tier
    pool = pool._replace(free=tuple(sorted((*pool.free, page))))
    return pool, on_page_freed(tier, page)


def retire(pool: Pool, page: Page) -> Pool:
    """Keep a free page back: a copy may still touch its host page."""
    return pool._replace(
        free=tuple(other for other in pool.free if other != page),
        retired=tuple(sorted((*pool.retired, page))),
    )


def restore(pool: Pool, page: Page) -> Pool:
    """Make a retired page free: no copy touches its host page any more."""
    return pool._replace(
        free=tuple(sorted((*pool.free, page))),
        retired=tuple(other for other in pool.retired if other != page),
    )


def _set_holds(pool: Pool, page: Page, count: int) -> tuple[int, ...]:
    return (*pool.holds[:page], count, *pool.holds[page + 1 :])
