"""Tests of the state: what a new one holds, and that it compares, hashes and never changes."""

import pytest
from reference_samples import pinned

from reference.state import (
    Copy,
    CopyKind,
    Counters,
    Frame,
    HostPage,
    Lease,
    Orphan,
    Pool,
    State,
    new_state,
)
from reference.words import Phase, Shape


def test_new_state_holds_nothing_yet() -> None:
    """Every history starts here; each field is part of the view."""
    expected = State(
        shape=Shape(pages=3, frames=2, rows=4),
        off=False,
        pool=Pool(free=(0, 1, 2), holds=(0, 0, 0), retired=()),
        leases=(),
        frames=(
            Frame(page=None, generation=0, phase=Phase.FREE, dirty=False, rows=(0, 0, 0, 0)),
            Frame(page=None, generation=0, phase=Phase.FREE, dirty=False, rows=(0, 0, 0, 0)),
        ),
        where=(None, None, None),
        host=(
            HostPage(rows=(0, 0, 0, 0), torn=False),
            HostPage(rows=(0, 0, 0, 0), torn=False),
            HostPage(rows=(0, 0, 0, 0), torn=False),
        ),
        recency=(),
        counters=Counters(0, 0, 0, 0, 0, 0),
        next_lease=0,
        next_ticket=0,
        quarantine=(),
        lost=(),
        keys=(),
    )

    assert expected == new_state(Shape(pages=3, frames=2, rows=4))


def test_new_flags_are_plain_booleans() -> None:
    """None and False compare unlike in a digest, however alike they read."""
    state = new_state(Shape(1, 1, 1))

    assert state.off is False
    assert state.frames[0].dirty is False
    assert state.host[0].torn is False


def test_tier_off_is_remembered() -> None:
    """Every operation asks the state whether a tier is configured."""
    on, off = new_state(Shape(2, 2, 1)), new_state(Shape(2, 2, 1), off=True)

    assert off.off is True
    assert on._replace(off=True) == off


@pytest.mark.parametrize(
    "shape", [Shape(0, 1, 1), Shape(1, 0, 1), Shape(1, 1, 0), Shape(-1, 2, 2)], ids=str
)
def test_sizes_below_one_are_invalid(shape: Shape) -> None:
    """A tier without frames could keep no promise, and would say so far too late."""
    with pytest.raises(ValueError) as caught:
        new_state(shape)

    assert f"{shape}: pages, frames and rows must each be at least 1" == str(caught.value)


def test_smallest_tier_has_size_one() -> None:
    """The bound itself is allowed."""
    assert Shape(1, 1, 1) == new_state(Shape(1, 1, 1)).shape


@pytest.mark.parametrize("shape", [Shape(3, 2, 1), Shape(2, 3, 1)], ids=str)
def test_tier_off_needs_matching_frames(shape: Shape) -> None:
    """With the tier off every page has a frame of its own."""
    with pytest.raises(ValueError) as caught:
        new_state(shape, off=True)

    message = f"{shape}: with the tier off there are as many frames as pages"
    assert message == str(caught.value)


def test_tier_on_takes_any_frames() -> None:
    """Usually fewer frames than pages, but as many or more break no rule."""
    shapes = [Shape(3, 2, 1), Shape(2, 2, 1), Shape(2, 3, 1)]

    assert [2, 2, 3] == [len(new_state(shape).frames) for shape in shapes]


# ----------------------------------------------------------------------------------- as values


def test_same_histories_make_equal_states() -> None:
    """The explorer knows a state again by its value."""
    first, second = pinned().state, pinned().state

    assert first == second
    assert hash(first) == hash(second)
    assert 1 == len({first, second})


def test_other_histories_make_other_states() -> None:
    """States that fold into one would hide what lies behind the other."""
    before = pinned()
    after = pinned()
    after.unpin(5, after.lookup(5, 2))

    assert before.state != after.state
    assert 2 == len({before.state, after.state})


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (new_state(Shape(1, 1, 1)), "recency"),
        (Frame(None, 0, Phase.FREE, False, (0,)), "dirty"),
        (HostPage((0,), False), "torn"),
        (Copy(0, CopyKind.FILL, ()), "frames"),
        (Lease(1, (), (), (), (), ()), "pins"),
        (Orphan(0, CopyKind.FILL, (), ()), "pages"),
        (Pool((0,), (0,)), "holds"),
        (Counters(), "hits"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, tuple) else value,
)
def test_records_cannot_be_changed(record: object, field: str) -> None:
    """States share their parts: a change to one would reach into its ancestors."""
    with pytest.raises(AttributeError):
        setattr(record, field, 7)


def test_call_leaves_earlier_state_alone() -> None:
    """An explorer returns to a state long after it made a call from it."""
    tier = pinned()
    earlier, copy = tier.state, pinned().state
    tier.mark_dirty(5, tier.lookup(5, 2))

    assert copy == earlier
    assert earlier != tier.state


def test_copy_kinds_keep_their_numbers() -> None:
    """A view sorts and hashes copies by these numbers."""
    assert {"FILL": 0, "WRITE_BACK": 1} == {kind.name: kind.value for kind in CopyKind}


def test_counters_keep_order_and_zeros() -> None:
    """Reports print the counters in this order, and add to nothing."""
    names = (
        "hits",
        "misses",
        "evictions",
        "failed_fills",
        "write_backs",
        "failed_write_backs",
    )

    assert names == Counters._fields
    assert (0, 0, 0, 0, 0, 0) == Counters()
