"""Tests of the pool in arrays: lives, holds, the hook, and the lowest free page."""

from random import Random

import pytest
from device_samples import numbers

from device.free_set import FreeSet
from device.layout import Numbers
from device.pool import PagePool


def new_pool(pages: int = 4) -> tuple[PagePool, list[list[int]]]:
    """A pool, and what its hook was called with."""
    heard: list[list[int]] = []
    return PagePool(pages, lambda freed: heard.append(freed.tolist())), heard


def test_every_page_is_free_to_begin_with() -> None:
    """Nobody holds anything."""
    pool, _ = new_pool()

    assert [0, 1, 2, 3] == pool.free.get_all().tolist()
    assert [0, 0, 0, 0] == pool.holds.tolist()
    assert not pool.is_live(0)


def test_taken_page_has_one_holder() -> None:
    """A life begins with whom it was allocated for."""
    pool, _ = new_pool()
    pool.take(numbers(2, 0))

    assert [1, 3] == pool.free.get_all().tolist()
    assert [1, 0, 1, 0] == pool.holds.tolist()
    assert [True, False] == [pool.is_live(2), pool.is_live(1)]


@pytest.mark.parametrize("page", [-1, 4])
def test_number_outside_the_pool_is_not_live(page: int) -> None:
    """Page -1 is not the last one."""
    pool, _ = new_pool()
    pool.take(numbers(0, 1, 2, 3))

    assert not pool.is_live(page)


def test_life_ends_with_the_last_holder() -> None:
    """The hook hears of the pages whose life ended, once, and of no others."""
    pool, heard = new_pool()
    pool.take(numbers(0, 1, 3))
    pool.hold(1)
    pool.drop(numbers(3, 1, 0))

    assert [[3, 0]] == heard
    assert [0, 2, 3] == pool.free.get_all().tolist()
    assert [0, 1, 0, 0] == pool.holds.tolist()


def test_hook_is_not_called_for_nothing() -> None:
    """A drop that ends no life is none of the tier's business."""
    pool, heard = new_pool()
    pool.take(numbers(1))
    pool.hold(1)
    pool.drop(numbers(1))

    assert [] == heard


def test_hook_runs_when_the_pool_is_in_order() -> None:
    """A hook that looks at the pool sees the page free."""
    seen: list[bool] = []
    pool = PagePool(2, lambda freed: seen.append(bool(pool.free.is_free[freed].all())))
    pool.take(numbers(1))
    pool.drop(numbers(1))

    assert [True] == seen


def test_lowest_free_numbers_are_found() -> None:
    """The default is the lowest; asking takes nothing."""
    free = FreeSet(300)
    free.remove(numbers(*range(200)))

    assert [200, 201] == free.get_lowest(2).tolist()
    assert 100 == len(free.get_lowest(1000))
    assert 100 == free.count

    free.add(numbers(150, 7))

    assert [7, 150, 200] == free.get_lowest(3).tolist()
    assert [] == free.get_lowest(0).tolist()


def test_free_numbers_agree_with_a_plain_set() -> None:
    """The bound below which nothing is looked at never hides a free number."""
    random, free, plain = Random(3), FreeSet(200), set(range(200))
    for _ in range(300):
        count = random.randrange(0, 80)
        lowest: Numbers = free.get_lowest(count)

        assert sorted(plain)[:count] == lowest.tolist()

        taken = random.sample(sorted(plain), min(len(plain), random.randrange(60)))
        given = [n for n in range(200) if n not in plain and random.random() < 0.3]
        free.remove(numbers(*taken))
        free.add(numbers(*given))
        plain = (plain - set(taken)) | set(given)
        assert len(plain) == free.count
