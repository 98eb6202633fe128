"""The Hypothesis machine in lockstep: picks are drawn, and a wait that is missing is found."""

from functools import partial
from typing import Any

from lockstep_samples import JUDGE
from teeth import SCOPE, make_careless

from properties.device_subject import DeviceModel
from properties.lockstep_machine import DrawnPicks, run_lockstep_machine
from properties.lockstep_walks import Ran
from reference.words import Shape


def run(left_out: tuple[str, ...], batches: int = 1) -> Ran:
    """What the machine comes to on a device that leaves out these waits."""

    def make_drawn(shape: Shape, off: bool, pick: Any) -> DeviceModel:
        return DeviceModel(shape, off, pick=pick, simulate=partial(make_careless, left_out))

    return run_lockstep_machine(make_drawn, SCOPE, JUDGE, batches=batches)


def test_machine_agrees_on_a_device_that_waits() -> None:
    """A front that is red for nothing is switched off."""
    ran = run(())

    assert ran.difference is None
    assert ran.calls > 1_000


def test_machine_finds_a_missing_wait_and_the_picks_that_show_it() -> None:
    """The same twice."""
    found = [run(("write-back starts",), batches=2).difference for _ in range(2)]

    assert found[0] is not None
    assert found[0] == found[1]
    assert any(any(entry.picks or ()) for entry in found[0].calls)


def test_digits_are_picks_until_none_is_left() -> None:
    """The simplest step lands nothing by itself."""
    picks = DrawnPicks()
    picks.digits = [7, 2]

    assert [1, 2, 0] == [picks(3), picks(4), picks(9)]
