"""Tests of what a fill leaves open: the frames each miss may take, and where a fault may strike."""

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    crowded,
    dirtied,
    filling,
    new_tier,
    pending,
    pin,
    pinned,
    shared,
    with_counters,
    with_frame,
    writing_back,
)

from reference import fill as operations
from reference.calls import DEFAULT, FAILED, Choice, Fault, Fill, Outcome
from reference.reference import Reference
from reference.transition import apply, options
from reference.words import Handle, Phase, Plan


def one_free() -> Reference:
    """Frames 0 and 1 have pages 2 and 0, 0 filled longest ago; frame 2 is FREE. A holds 3 too."""
    tier = new_tier()
    tier.open(3)
    for _ in range(5):
        tier.alloc(A)
    for page in (2, 0, 2):
        tier.unpin(A, *pin(tier, A, page))
    return tier


def frames(*numbers: int) -> Choice:
    """A placing without a fault."""
    return Choice(frames=numbers)


def before(miss: int, *numbers: int) -> Choice:
    """A fault before the victim of a miss was unmapped."""
    return Choice(frames=numbers, fault=Fault(miss, unmapped=False))


def after(miss: int, *numbers: int) -> Choice:
    """A fault after the victim of a miss was unmapped."""
    return Choice(frames=numbers, fault=Fault(miss, unmapped=True))


# --------------------------------------------------------------------------------------- victims


def test_free_frames_map_nothing() -> None:
    """The lowest number is the default, so it comes first."""
    found = [operations.free_frames(tier().state) for tier in (shared, pinned, filling, crowded)]

    assert [(0, 1, 2), (2,), (), ()] == found


@pytest.mark.parametrize(
    ("build", "claimed", "expected"),
    [
        (crowded, (), (1, 0, 2)),
        (crowded, (0,), (0, 2)),
        (crowded, (2, 1), (1,)),
        (pinned, (), (0,)),
        (pinned, (0,), ()),
        (dirtied, (), (0,)),
        (writing_back, (), (0,)),
        (pending, (), ()),
        (shared, (), ()),
    ],
)
def test_evictable_frames_come_least_recent_first(
    build: object, claimed: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """Neither pinned, claimed, dirty, in flight, nor FREE: the order is the default."""
    assert expected == operations.evictable_frames(build().state, claimed)


def test_claimed_hit_is_not_evictable() -> None:
    """A claim keeps its page from every lease's misses, before it is a pin."""
    tier = pinned()
    tier.unpin(A, HANDLE)
    tier.fill(A, (0, 1))

    assert (1,) == operations.evictable_frames(tier.state, ())


def test_pin_of_any_lease_keeps_frame() -> None:
    """The frame is in use whoever asks for room."""
    tier = crowded()
    pin(tier, B, 2)

    assert (1, 2) == operations.evictable_frames(tier.state, ())


@pytest.mark.parametrize(
    "changes", [{"dirty": True}, {"phase": Phase.WRITING_BACK}, {"phase": Phase.FILLING}], ids=str
)
def test_only_clean_ready_frames_are_evictable(changes: dict[str, object]) -> None:
    """Forged, since nobody pins the frame: each condition counts by itself."""
    state = with_frame(crowded().state, 1, **changes)

    assert (0, 2) == operations.evictable_frames(state, ())


def test_page_without_frame_is_passed_over() -> None:
    """A forged recency names a page in host memory: those after it are still found."""
    state = pinned().state._replace(recency=(1, 0))

    assert (0,) == operations.evictable_frames(state, ())


def test_evicting_free_frame_counts_nothing() -> None:
    """A FREE frame loses no page, so its generation stays."""
    state = pinned().state

    assert state == operations.evict(state, 2)


def test_evicting_mapped_frame_counts_once() -> None:
    """Page 0 in frame 0 is a page in a frame, not the absence of either."""
    state = pinned().state
    expected = with_frame(state, 0, page=None, generation=8, phase=Phase.FREE)
    expected = expected._replace(where=(None, None, 1, None, None), recency=(2,))

    assert with_counters(expected, evictions=1) == operations.evict(state, 0)


# --------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("free", "evictable", "misses", "expected"),
    [
        ((0, 1), (2,), 0, [()]),
        ((), (), 0, [()]),
        ((0, 1), (2,), 1, [(0,), (1,)]),
        ((0, 1), (2,), 2, [(0, 1), (1, 0)]),
        ((0,), (2, 1), 2, [(0, 2), (0, 1)]),
        ((0,), (2, 1), 3, [(0, 2, 1), (0, 1, 2)]),
        ((), (2, 1), 1, [(2,), (1,)]),
        ((), (2, 1), 2, [(2, 1), (1, 2)]),
    ],
)
def test_free_frames_are_placed_first(
    free: tuple[int, ...],
    evictable: tuple[int, ...],
    misses: int,
    expected: list[tuple[int, ...]],
) -> None:
    """Nothing is evicted while a frame is FREE, and no frame is taken twice."""
    assert expected == list(operations.placements(free, evictable, misses))


@pytest.mark.parametrize(
    ("build", "call", "expected"),
    [
        (pinned, Fill(A, (0, 2)), [frames()]),
        (pinned, Fill(A, ()), [frames()]),
        (pinned, Fill(A, (2, 1)), [frames(2), before(1)]),
        (pinned, Fill(B, (3,)), [frames(2), before(1)]),
        (shared, Fill(B, (3,)), [frames(0), frames(1), frames(2), before(1)]),
        (
            crowded,
            Fill(B, (3,)),
            [frames(1), frames(0), frames(2), before(1), after(1, 1), after(1, 0), after(1, 2)],
        ),
        (
            one_free,
            Fill(A, (3, 4)),
            [frames(2, 1), frames(2, 0), before(1), before(2, 2), after(2, 2, 1), after(2, 2, 0)],
        ),
        (
            one_free,
            Fill(A, (3, 0, 4)),
            [frames(2, 0), before(1), before(2, 2), after(2, 2, 0)],
        ),
        (
            one_free,
            Fill(A, (3, 4, 1)),
            [
                frames(2, 1, 0),
                frames(2, 0, 1),
                before(1),
                before(2, 2),
                after(2, 2, 1),
                after(2, 2, 0),
                before(3, 2, 1),
                before(3, 2, 0),
                after(3, 2, 1, 0),
                after(3, 2, 0, 1),
            ],
        ),
    ],
    ids=["hits", "nothing", "hit-and-miss", "free", "frees", "victims", "both", "kept", "all"],
)
def test_options_are_all_allowed_choices(build: object, call: Fill, expected: list[Choice]) -> None:
    """What is not listed is never explored; what is listed wrongly is no bug of a subject."""
    assert expected == list(options(build().state, call))


@pytest.mark.parametrize(
    "call", [Fill(9, (2,)), Fill(A, (1,)), Fill(B, (0,)), Fill(B, (2, 3))], ids=str
)
def test_refused_fill_leaves_nothing_open(call: Fill) -> None:
    """No frame is taken, so there is none to choose."""
    assert [DEFAULT] == list(options(filling().state, call))


def test_default_is_lowest_free_frame() -> None:
    """Traces without choices replay only if every reader knows the default."""
    tier = one_free()

    assert Handle(3, 2, 9) == tier.fill(A, (3, 4)).handles[0]


@pytest.mark.parametrize(
    ("choice", "handles", "where"),
    [
        (frames(2, 0), (Handle(3, 2, 9), Handle(4, 0, 8)), (1, None, None, 2, 0)),
        (frames(2, 1), (Handle(3, 2, 9), Handle(4, 1, 9)), (None, None, 0, 2, 1)),
    ],
    ids=["most-recent", "least-recent"],
)
def test_misses_take_the_chosen_frames(
    choice: Choice, handles: tuple[Handle, ...], where: tuple[int | None, ...]
) -> None:
    """Any evictable frame is allowed, not the default only."""
    outcome, state = apply(one_free().state, Fill(A, (3, 4)), choice)

    assert Outcome(Plan(22, handles, (3, 4))) == outcome
    assert where == state.where


# ---------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("choice", "generations", "where", "evictions"),
    [
        (before(1), (7, 8, 9), (1, None, 0, None, None), 0),
        (before(2, 2), (7, 8, 10), (1, None, 0, None, None), 0),
        (after(2, 2, 1), (7, 9, 10), (None, None, 0, None, None), 1),
        (after(2, 2, 0), (8, 8, 10), (1, None, None, None, None), 1),
        (before(3, 2, 1), (7, 10, 10), (None, None, 0, None, None), 1),
        (after(3, 2, 1, 0), (8, 10, 10), (None, None, None, None, None), 2),
    ],
    ids=["first", "second", "second-lru", "second-mru", "third", "third-unmapped"],
)
def test_fault_at_any_miss_is_undone(
    choice: Choice,
    generations: tuple[int, ...],
    where: tuple[int | None, ...],
    evictions: int,
) -> None:
    """The misses before it took their frames and gave them back; the evicted stay evicted."""
    tier = one_free()
    state = tier.state
    outcome, undone = apply(state, Fill(A, (3, 4, 1)), choice)
    expected = state._replace(
        where=where, recency=tuple(page for page in state.recency if where[page] is not None)
    )
    for number, generation in enumerate(generations):
        expected = with_frame(expected, number, generation=generation)
        if number not in where:
            expected = with_frame(expected, number, page=None, phase=Phase.FREE)

    assert FAILED == outcome
    assert with_counters(expected, misses=3, evictions=evictions, failed_fills=1) == undone


def test_fault_leaves_hits_and_pins() -> None:
    """The hit stays resident with the pins of before, and its claim is gone."""
    state = pinned().state
    outcome, undone = apply(state, Fill(A, (2, 1)), before(1))

    assert FAILED == outcome
    assert with_counters(state, hits=1, misses=1, failed_fills=1) == undone


def test_fault_uses_up_no_ticket() -> None:
    """Nothing is in flight after it, so a later completion finds nothing."""
    state = one_free().state
    _, undone = apply(state, Fill(A, (3, 4)), after(2, 2, 1))

    assert state.next_ticket == undone.next_ticket
    assert state.leases == undone.leases
