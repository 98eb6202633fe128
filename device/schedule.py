"""Picks: the choices of a simulated device's scheduler, made by whoever drives the test.

A pick is one of so many options, a number from 0; option 0 is always that nothing happens that
need not. A list of picks is all the randomness there is: the same picks give the same bytes.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import TypeAlias

Pick: TypeAlias = Callable[[int], int]
"""Called with the number of options, at least 2; returns one of them, from 0."""


def pick_nothing(options: int) -> int:
    """Return 0: copies land when they are waited for, and not before."""
    return 0


class Moody:
    """A pick that is random, and as often as its laziness says nothing: late copies show waits
    that are missing, hasty ones show what was not ordered."""

    def __init__(self, random: Random, laziness: float) -> None:
        """Draw from this source; `laziness` is the share of picks, 0 to 1, that are 0 at once."""
        self.random = random
        self.laziness = laziness

    def __call__(self, options: int) -> int:
        """Return 0, or any of the options."""
        if self.random.random() < self.laziness:
            return 0
        return int(self.random.random() * options)


class Recorder:
    """A pick that keeps what it picked, to be replayed."""

    def __init__(self, pick: Pick) -> None:
        """Take the picks from there."""
        self.pick = pick
        self.picks: list[int] = []
        """What was picked so far: data, and all that a replay needs."""

    def __call__(self, options: int) -> int:
        """Pick one of so many options. Raises `ValueError` if the source picks none of them."""
        picked = self.pick(options)
        if not 0 <= picked < options:
            raise ValueError(f"picked {picked}: there are {options} options, counted from 0")
        self.picks.append(picked)
        return picked


class Fitted:
    """A pick that picks what is given, where that is an option, else the last one, and then 0:
    for picks that were recorded on another tier, or drawn before anybody knew the options."""

    def __init__(self, picks: Iterable[int]) -> None:
        """Take these picks, oldest first."""
        self.rest = iter(tuple(picks))

    def __call__(self, options: int) -> int:
        """Return the next pick, or the nearest option to it."""
        return min(next(self.rest, 0), options - 1)


class Replay:
    """A pick that picks what was recorded."""

    def __init__(self, picks: Iterable[int]) -> None:
        """Take the recorded picks, oldest first."""
        self.rest = iter(tuple(picks))

    def __call__(self, options: int) -> int:
        """Return the next pick. Raises `ValueError` if there is none, or it is no option here."""
        picked = next(self.rest, None)
        if picked is None:
            raise ValueError("no recorded pick is left: the calls are not the recorded ones")
        if picked >= options:
            raise ValueError(f"the recorded pick {picked} is none of {options} options")
        return picked
