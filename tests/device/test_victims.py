"""Tests of the victim order: least recently filled first, whatever was queued and dropped."""

from random import Random

import numpy as np
from device_samples import numbers

from device.layout import Numbers
from device.victims import DEAD_MAX, VictimQueue


class Frames:
    """Frames with stamps, of which some are evictable."""

    def __init__(self, count: int) -> None:
        self.evictable = np.zeros(count, dtype=np.bool_)
        self.stamp = np.zeros(count, dtype=np.int64)
        self.queue = VictimQueue(count, lambda frames: self.evictable[frames], self.stamp)
        self.now = 1

    def fill(self, *frames: int) -> None:
        """Make frames the most recently filled; they are pinned then."""
        for frame in frames:
            self.stamp[frame] = self.now
            self.now += 1
            self.evictable[frame] = False

    def let_go(self, *frames: int) -> None:
        """Make frames evictable."""
        self.evictable[list(frames)] = True
        self.queue.push(numbers(*frames))

    def first(self, count: int, *excluded: int) -> list[int]:
        """The first victims."""
        found: Numbers = self.queue.get_first(count, numbers(*excluded))
        return found.tolist()


def test_least_recently_filled_comes_first() -> None:
    """The order is that of the fills, not that in which pins were given up."""
    frames = Frames(4)
    frames.fill(2, 0, 3)
    frames.let_go(3)
    frames.let_go(0, 2)

    assert [2, 0, 3] == frames.first(9)
    assert [2, 0] == frames.first(2)


def test_frames_that_are_kept_are_passed_over() -> None:
    """A pin given after it was queued counts."""
    frames = Frames(3)
    frames.fill(0, 1, 2)
    frames.let_go(0, 1, 2)
    frames.evictable[0] = False

    assert [1, 2] == frames.first(2)

    frames.let_go(0)

    assert [0, 1] == frames.first(2)


def test_excluded_frames_are_passed_over_and_stay() -> None:
    """A fill does not evict its own hits, and another one may."""
    frames = Frames(3)
    frames.fill(0, 1, 2)
    frames.let_go(0, 1, 2)

    assert [1] == frames.first(1, 0)
    assert [0] == frames.first(1)


def test_frame_filled_again_moves_back() -> None:
    """Its older entry is dead."""
    frames = Frames(2)
    frames.fill(0, 1)
    frames.let_go(0, 1)
    frames.fill(0)
    frames.let_go(0)

    assert [1, 0] == frames.first(2)


def test_no_victims_are_found_where_there_are_none() -> None:
    """An empty queue is no error."""
    frames = Frames(2)

    assert [] == frames.first(1)


def test_dead_entries_do_not_pile_up() -> None:
    """A tier that only hits would grow for ever."""
    frames = Frames(4)
    for _ in range(2000):
        frames.fill(0, 1, 2, 3)
        frames.let_go(0, 1, 2, 3)

    assert sum(map(len, frames.queue.runs)) <= 3 * 4 + DEAD_MAX + 4
    assert [0, 1, 2, 3] == frames.first(4)


def test_order_agrees_with_a_search_over_all_frames() -> None:
    """What the queue keeps up to date is what the spec defines."""
    random, frames = Random(5), Frames(40)
    for _ in range(600):
        frames.fill(*random.sample(range(40), random.randrange(1, 12)))
        kept = np.flatnonzero(~frames.evictable & (frames.stamp > 0)).tolist()
        frames.let_go(*[frame for frame in kept if random.random() < 0.4])
        for frame in np.flatnonzero(frames.evictable).tolist():
            frames.evictable[frame] = random.random() < 0.95
        excluded = random.sample(range(40), 5)
        ordered = sorted(np.flatnonzero(frames.evictable), key=lambda n: frames.stamp[n])
        count = random.randrange(1, 20)

        assert [n for n in ordered if n not in excluded][:count] == frames.first(count, *excluded)
