"""Tests of a lease in arrays: which pages it holds, in what order, pinned how often."""

from random import Random

import numpy as np
from device_samples import numbers

from device.leases import Lease
from device.page_map import ABSENT, PageMap


def test_pages_are_found_and_others_are_not() -> None:
    """A number outside the pool is held by nobody, -1 neither."""
    lease = Lease(2, 100)
    lease.join(numbers(70, 3), borrowed=False)
    columns, is_held = lease.seek(numbers(3, 4, 70, -1, 100, 2**62, -(2**62)))

    assert [True, False, True] + [False] * 4 == is_held.tolist()
    assert [3, 70] == lease.held[0, columns[[0, 2]]].tolist()
    assert lease.get_column(4) is None


def test_pages_keep_the_order_in_which_they_joined() -> None:
    """The view compares tables in order, whatever moved in memory."""
    lease = Lease(2, 100)
    lease.join(numbers(9, 2), borrowed=False)
    lease.join(numbers(5), borrowed=True)
    lease.join(numbers(7, 1), borrowed=False)
    lease.leave(lease.seek(numbers(2))[0])

    assert [9, 7, 1] == lease.get_joined(borrowed=False).tolist()
    assert [5] == lease.get_joined(borrowed=True).tolist()


def test_pins_stay_with_their_pages() -> None:
    """Columns move when pages leave."""
    lease = Lease(3, 100)
    lease.join(numbers(4, 8, 6), borrowed=False)
    lease.pin(lease.seek(numbers(8, 6))[0])
    lease.pin(lease.seek(numbers(6))[0])
    lease.leave(lease.seek(numbers(4))[0])

    assert [[6, 8], [2, 1]] == [column.tolist() for column in lease.get_pinned()]
    assert (2, 2, 1) == (lease.pinned, lease.get_pins(6), lease.get_pins(8))

    lease.unpin(lease.seek(numbers(8, 6))[0])

    assert 1 == lease.pinned


def test_lease_agrees_with_a_plain_dictionary() -> None:
    """Whatever joins and leaves, alone or many at once."""
    random, lease = Random(2), Lease(1, 500)
    plain: dict[int, None] = {}
    for _ in range(200):
        others = [page for page in range(500) if page not in plain]
        joining = random.sample(others, random.randrange(min(40, len(others)) + 1))
        lease.join(numbers(*joining), borrowed=False)
        plain.update(dict.fromkeys(joining))
        leaving = random.sample(list(plain), random.randrange(min(45, len(plain)) + 1))
        lease.leave(lease.seek(numbers(*leaving))[0])
        for page in leaving:
            del plain[page]

        assert list(plain) == lease.get_joined(borrowed=False).tolist()
        assert [page in plain for page in range(500)] == lease.seek(np.arange(500))[1].tolist()


def test_map_has_memory_only_for_blocks_that_were_entered() -> None:
    """Many leases of a large pool each hold few pages."""
    sparse = PageMap(1 << 20)
    sparse.set(numbers(5, 1 << 19), numbers(7, 8))

    found, is_entered = sparse.get(numbers(5, 1 << 19, 6, (1 << 20) - 1))

    assert [7, 8, ABSENT, ABSENT] == found.tolist()
    assert [True, True, False, False] == is_entered.tolist()
    assert sparse.numbers.size <= 4 * 64
