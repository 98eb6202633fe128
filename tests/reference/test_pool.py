"""Tests of the pool: lives begin and end, holders are counted, the hook is called."""

import pytest

from reference import pool
from reference.state import Pool

POOL = Pool(free=(0, 3), holds=(0, 2, 1, 0))


@pytest.mark.parametrize(
    ("page", "live"),
    [(-1, False), (-2, False), (0, False), (1, True), (2, True), (3, False), (4, False)],
)
def test_page_is_live_while_held(page: int, live: bool) -> None:
    """A name outside the pool, also one that Python counts from the end, is no page."""
    assert live is pool.is_live(POOL, page)


def test_first_page_can_be_live() -> None:
    """The lowest id is a page like any other."""
    assert pool.is_live(Pool(free=(), holds=(1,)), 0) is True


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (0, Pool(free=(3,), holds=(1, 2, 1, 0))),
        (3, Pool(free=(0,), holds=(0, 2, 1, 1))),
    ],
)
def test_taken_page_has_one_holder(page: int, expected: Pool) -> None:
    """A page handed out twice would be two users' canonical copy."""
    assert expected == pool.take(POOL, page)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (1, Pool(free=(0, 3), holds=(0, 3, 1, 0))),
        (2, Pool(free=(0, 3), holds=(0, 2, 2, 0))),
    ],
)
def test_hold_adds_exactly_one_holder(page: int, expected: Pool) -> None:
    """A holder too few ends a life that somebody reads."""
    assert expected == pool.hold(POOL, page)


def test_drop_with_holders_left_frees_nothing() -> None:
    """The hook unmaps: while somebody holds the page it must stay silent."""
    heard: list[int] = []

    def hook(tier: str, page: int) -> str:
        heard.append(page)
        return tier + "!"

    after, tier = pool.drop(POOL, 1, "tier", hook)

    assert (Pool(free=(0, 3), holds=(0, 1, 1, 0)), "tier") == (after, tier)
    assert [] == heard


def test_last_drop_frees_and_calls_hook() -> None:
    """The hook is all that the tier hears of the end of a life: the page, once."""
    heard: list[tuple[str, int]] = []

    def hook(tier: str, page: int) -> str:
        heard.append((tier, page))
        return tier + "!"

    after, tier = pool.drop(POOL, 2, "tier", hook)

    assert (Pool(free=(0, 2, 3), holds=(0, 2, 0, 0)), "tier!") == (after, tier)
    assert [("tier", 2)] == heard


def test_life_ends_after_every_holder() -> None:
    """Holders are counted, not remembered: who came first does not matter."""
    heard: list[int] = []

    def hook(tier: None, page: int) -> None:
        heard.append(page)

    once, _ = pool.drop(POOL, 1, None, hook)
    twice, _ = pool.drop(once, 1, None, hook)

    assert Pool(free=(0, 1, 3), holds=(0, 0, 1, 0)) == twice
    assert [1] == heard


def test_retired_page_is_kept_back() -> None:
    """It is nobody's and cannot be handed out, in the order of the ids."""
    kept = Pool(free=(0,), holds=(0, 2, 1, 0), retired=(3,))

    assert kept == pool.retire(POOL, 3)
    assert Pool((), (0, 2, 1, 0), retired=(0, 3)) == pool.retire(kept, 0)


def test_restored_page_is_free_again() -> None:
    """The others wait on, and the free pages stay in order."""
    kept = Pool(free=(3,), holds=(0, 0, 1, 0), retired=(0, 1))

    assert Pool((0, 3), (0, 0, 1, 0), retired=(1,)) == pool.restore(kept, 0)
    assert Pool((1, 3), (0, 0, 1, 0), retired=(0,)) == pool.restore(kept, 1)
