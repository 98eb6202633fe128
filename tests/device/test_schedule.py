"""Tests of picks: what is recorded replays exactly, and nothing else passes for it."""

from random import Random

import pytest

from device.schedule import Moody, Recorder, Replay, pick_nothing


def test_recorded_picks_replay() -> None:
    """A list of picks is all the randomness there is."""
    recorder = Recorder(Random(1).randrange)
    picked = [recorder(options) for options in (2, 3, 4, 5)]
    replay = Replay(recorder.picks)

    assert picked == recorder.picks == [replay(options) for options in (2, 3, 4, 5)]


def test_picking_nothing_picks_the_first() -> None:
    """Option 0 is that nothing happens which need not."""
    assert [0, 0] == [pick_nothing(2), pick_nothing(9)]


def test_mood_decides_how_often_nothing_is_picked() -> None:
    """A lazy scheduler shows other faults than a hasty one."""
    hasty, lazy = (Moody(Random(1), laziness) for laziness in (0.0, 1.0))

    assert {0, 1, 2} == {hasty(3) for _ in range(50)}
    assert {0} == {lazy(3) for _ in range(50)}


@pytest.mark.parametrize("picked", [-1, 2])
def test_pick_of_no_option_is_an_error(picked: int) -> None:
    """A trace with it would mean nothing."""
    with pytest.raises(ValueError, match=f"picked {picked}: there are 2 options"):
        Recorder(lambda _options: picked)(2)


def test_replay_of_other_calls_is_an_error() -> None:
    """Going on with made-up picks would hide that the calls differ."""
    replay = Replay([3])

    with pytest.raises(ValueError, match="pick 3 is none of 2 options"):
        replay(2)
    with pytest.raises(ValueError, match="no recorded pick is left"):
        replay(2)
