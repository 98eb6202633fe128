"""Device goals: what a run of lockstep on a simulated device must reach."""

from functools import cache

from lockstep_samples import JUDGE

from properties.device_goals import GoalWatcher, all_device_goals
from properties.device_subject import DeviceModel
from properties.drawing import make_scope
from properties.lockstep_subjects import make_simulated
from properties.lockstep_walks import Lockstep
from reference.words import Shape


@cache
def reach(walks: int) -> dict[str, int]:
    """The goals that so many walks reach."""
    reached: dict[str, int] = {}
    lockstep = Lockstep(
        make_simulated,
        make_scope(Shape(4, 2, 2)),
        JUDGE,
        watch=lambda model: GoalWatcher(model, reached),
    )
    lockstep.walk(range(walks))
    return reached


def test_walks_reach_every_goal() -> None:
    """What was never on its way when it mattered was never tested."""
    names = [goal.id for goal in all_device_goals()]

    assert [] == [name for name in names if name not in reach(60)]


def test_goals_are_not_reached_by_nothing() -> None:
    """A goal that is always reached says nothing."""
    reached: dict[str, int] = {}
    lockstep = Lockstep(
        lambda shape, off, seed: DeviceModel(shape, off, seed=seed),
        make_scope(Shape(4, 2, 2)),
        JUDGE,
        watch=lambda model: GoalWatcher(model, reached),
    )
    lockstep.walk(range(1), calls=0)

    assert {"error-late", "out-of-memory", "torn-read-attempted"}.isdisjoint(reached)


def test_each_goal_says_what_was_reached() -> None:
    """A report prints the sentence."""
    goals = all_device_goals()

    assert 13 == len({goal.id for goal in goals})
    assert all(goal.sentence.endswith(".") for goal in goals)


def test_looking_on_changes_nothing() -> None:
    """The same picks and bytes, whoever looks."""
    runs = []
    for watch in (None, lambda model: GoalWatcher(model, {})):
        lockstep = Lockstep(make_simulated, make_scope(Shape(4, 2, 2)), JUDGE, watch=watch)
        lockstep.walk(range(3))
        assert lockstep.pair is not None
        device = lockstep.pair.subject.simulated
        runs.append((device.recorder.picks, device.frame_memory.tobytes()))

    assert runs[0] == runs[1]
