"""Tests of the reference as an object: its methods, what it raises, `choose`, and three stories.

The stories are of the review that the tier began with: what a failed fill left behind, how a
dirty frame broke a promise, and one lease's claim against another's miss.
"""

from collections.abc import Callable
from typing import Any

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    crowded,
    dirtied,
    dirty,
    due,
    filling,
    pin,
    pinned,
    refused,
    shared,
    with_counters,
    writing_back,
)

from reference import refusals
from reference.calls import (
    NAMES,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fault,
    Fill,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Read,
    Release,
    Share,
    Unpin,
    Write,
    WriteBack,
)
from reference.reference import Reference, default_choice
from reference.refusals import FillFailed
from reference.state import State, new_state
from reference.transition import apply, options
from reference.words import Handle, Plan, Shape

EVERY_CALL = [
    (lambda: shared(off=True), Open(2)),
    (shared, Alloc(B)),
    (shared, Share(B, 1)),
    (shared, Release(B, 2)),
    (pinned, Lookup(A, 2)),
    (pinned, Fill(A, (2, 0))),
    (pinned, Fill(A, (2, 1))),
    (filling, CompleteFill(A, 22, True)),
    (pinned, Unpin(A, HANDLE)),
    (pinned, MarkDirty(A, HANDLE)),
    (dirtied, Write(A, HANDLE, 1, 9)),
    (dirtied, Read(A, HANDLE, 1)),
    (dirtied, WriteBack(A, HANDLE)),
    (writing_back, CompleteWriteBack(A, 22, True)),
    (shared, Finish(A)),
]


def arguments(call: Call) -> list[Any]:
    """The fields of a call in order."""
    return [getattr(call, name) for name in type(call).__slots__]


class Chooser:
    """Makes the choices it was given for fills, the defaults otherwise, and remembers."""

    def __init__(self, *choices: Choice) -> None:
        self.choices = list(choices)
        self.asked: list[tuple[State, Call]] = []

    def __call__(self, state: State, call: Call) -> Choice:
        """The next choice."""
        self.asked.append((state, call))
        return self.choices.pop(0) if type(call) is Fill else default_choice(state, call)


# --------------------------------------------------------------------------------------- methods


@pytest.mark.parametrize("off", [False, True])
def test_new_reference_has_new_state(off: bool) -> None:
    """A tier is off unless it is asked for, and takes the defaults unless told."""
    tier = Reference(Shape(2, 2, 1), off)

    assert new_state(Shape(2, 2, 1), off) == tier.state
    assert default_choice is tier.choose


def test_reference_is_on_by_itself() -> None:
    """`off` is the argument's default, as a reference without a tier tests nothing."""
    assert new_state(Shape(3, 2, 1)) == Reference(Shape(3, 2, 1)).state


def test_bad_shape_makes_no_reference() -> None:
    """The error of the state comes through."""
    with pytest.raises(ValueError, match="as many frames as pages"):
        Reference(Shape(3, 2, 1), off=True)


@pytest.mark.parametrize(
    ("build", "call"), EVERY_CALL, ids=[NAMES[type(call)] for _, call in EVERY_CALL]
)
def test_method_does_what_call_does(build: Callable[[], Reference], call: Call) -> None:
    """The object adds nothing to the rules: same value, same state, for the same arguments."""
    tier = build()
    outcome, after = apply(tier.state, call, default_choice(tier.state, call))
    value = getattr(tier, NAMES[type(call)])(*arguments(call))

    assert outcome.value == value
    assert after == tier.state


@pytest.mark.parametrize("call", [CompleteFill(A, 22, False), CompleteWriteBack(A, 22, False)])
def test_failed_completion_returns_normally(call: Call) -> None:
    """Whoever reports a failure knows of it already."""
    tier = filling() if type(call) is CompleteFill else writing_back()
    _, after = apply(tier.state, call, Choice())
    value = getattr(tier, NAMES[type(call)])(*arguments(call))

    assert value is None
    assert after == tier.state


def test_refusal_is_raised_with_fields() -> None:
    """A caller catches the class and reads the numbers."""
    tier = pinned()
    with pytest.raises(refusals.PagePinned) as caught:
        tier.release(A, 2)

    assert {"lease": A, "page": 2, "pins": 1} == vars(caught.value)
    assert pinned().state == tier.state


# --------------------------------------------------------------------------------------- choices


def test_default_choice_is_first_option() -> None:
    """Lowest page, lowest `FREE` frame, least recently filled victim."""
    calls = [
        (shared(), Alloc(B), Choice(page=4)),
        (shared(), Fill(A, (2, 0)), Choice(frames=(0, 1))),
        (crowded(), Fill(B, (3,)), Choice(frames=(1,))),
        (pinned(), Unpin(A, HANDLE), Choice()),
    ]

    assert [choice for _, _, choice in calls] == [
        default_choice(tier.state, call) for tier, call, _ in calls
    ]


def test_choose_is_asked_for_each_call() -> None:
    """Whoever drives a test sees the state before the call, and the call."""
    choose = Chooser()
    tier = Reference(Shape(2, 1, 1), choose=choose)
    first = tier.state
    lease = tier.open(1)
    second = tier.state
    tier.alloc(lease)

    assert [(first, Open(1)), (second, Alloc(lease))] == choose.asked


def test_choose_decides_page_and_frame() -> None:
    """An implementation may choose otherwise than by default, and so may the reference."""
    tier = shared()
    tier.release(A, 0)
    tier.choose = lambda state, call: list(options(state, call))[-1]
    page = tier.alloc(B)
    tier.choose = lambda state, call: Choice(frames=(2,))

    assert 4 == page
    assert Plan(20, (Handle(1, 2, 9),), (1,)) == tier.fill(A, (1,))


def test_struck_fill_raises_and_is_undone() -> None:
    """No plan comes back, yet something changed: counters, generations and evictions."""
    tier = crowded()
    before = tier.state
    choice = Choice(frames=(1,), fault=Fault(1, unmapped=True))
    tier.choose = Chooser(choice)
    with pytest.raises(FillFailed) as caught:
        tier.fill(B, (3,))
    _, after = apply(before, Fill(B, (3,)), choice)

    assert {"lease": B, "pages": (3,)} == vars(caught.value)
    assert after == tier.state
    assert with_counters(before, misses=1, evictions=1, failed_fills=1).counters == after.counters


# --------------------------------------------------------------------------------------- stories


@pytest.mark.parametrize(
    "failure",
    [
        None,
        Choice(fault=Fault(1, unmapped=False)),
        Choice(frames=(0,), fault=Fault(1, unmapped=True)),
        Choice(frames=(0,), fault=Fault(2, unmapped=False)),
        Choice(frames=(0, 1), fault=Fault(2, unmapped=True)),
    ],
    ids=["copy", "first", "first-unmapped", "second", "second-unmapped"],
)
def test_failed_fill_reads_host_rows_next(failure: Choice | None) -> None:
    """Review, point 1: the next pin of a miss was a hit over rows that were never copied in."""
    tier = Reference(Shape(pages=4, frames=2, rows=1))
    lease = tier.open(2)
    pages = [tier.alloc(lease) for _ in range(4)]
    for page in pages:
        (handle,) = pin(tier, lease, page)
        dirty(tier, lease, handle, 10 + page)
        tier.complete_write_back(lease, tier.write_back(lease, handle), True)
        tier.unpin(lease, handle)
    if failure is None:
        tier.complete_fill(lease, tier.fill(lease, (0, 1)).ticket, False)
    else:
        tier.choose = Chooser(failure)
        with pytest.raises(FillFailed):
            tier.fill(lease, (0, 1))
        tier.choose = default_choice
    left = [tier.lookup(lease, page) for page in (0, 1)]
    plan = tier.fill(lease, (0, 1))
    tier.complete_fill(lease, plan.ticket, True)
    frames = [tier.state.frames[handle.frame].rows for handle in plan.handles]

    assert [None, None] == left
    assert (0, 1) == plan.misses
    assert [(10,), (11,)] == frames
    assert frames == [host.rows for host in tier.state.host[:2]]
    assert [10, 11] == [tier.read(lease, handle, 0) for handle in plan.handles]


def test_dirty_page_cannot_be_unpinned() -> None:
    """Review, point 2: its frame would be no victim, and the next promise would not hold."""
    tier = Reference(Shape(pages=4, frames=2, rows=1))
    one, other = tier.open(1), tier.open(1)
    for lease in (one, one, other, other):
        tier.alloc(lease)
    (handle,) = pin(tier, one, 0)
    dirty(tier, one, handle, 7)

    assert due(refusals.DirtyFrame(one, (0,))) == refused(tier, Unpin(one, handle))
    assert due(refusals.DirtyFrame(one, (0,))) == refused(tier, Finish(one))
    assert due(refusals.PromiseExceeded(one, 1, 2)) == refused(tier, Fill(one, (1,)))
    for page in (2, 3, 2):
        (mine,) = pin(tier, other, page)
        tier.unpin(other, mine)
        assert 1 == mine.frame
    assert due(refusals.NotPinned(other, 2)) == refused(tier, MarkDirty(other, mine))
    assert 7 == tier.read(one, handle, 0)


def test_unpinned_dirt_would_break_promise() -> None:
    """Review, point 2, forged: `FrameMemory` is what the dirty rule and its kin rule out."""
    tier = crowded()
    frames = tuple(frame._replace(dirty=True) for frame in tier.state.frames)
    tier.state = tier.state._replace(frames=frames)

    assert due(refusals.FrameMemory(1, 0)) == refused(tier, Fill(B, (3,)))


def test_claim_outlasts_miss_of_other_lease() -> None:
    """First met 14 calls deep: one lease's claimed hit was another lease's victim."""
    tier = Reference(Shape(pages=4, frames=3, rows=1))
    one, other = tier.open(2), tier.open(1)
    assert [0, 1] == [tier.alloc(one), tier.alloc(one)]
    assert [2, 3] == [tier.alloc(other), tier.alloc(other)]
    first = tier.fill(one, (0,))
    tier.complete_fill(one, first.ticket, True)
    tier.unpin(one, first.handles[0])
    second = tier.fill(other, (2,))
    tier.complete_fill(other, second.ticket, True)
    tier.unpin(other, second.handles[0])
    claiming = tier.fill(one, (0, 1))
    offered = list(options(tier.state, Fill(other, (3,))))
    taking = tier.fill(other, (3,))
    expected = [
        Choice(frames=(1,)),
        Choice(fault=Fault(1, unmapped=False)),
        Choice(frames=(1,), fault=Fault(1, unmapped=True)),
    ]

    assert ((Handle(0, 0, 0), Handle(1, 2, 0)), (1,)) == claiming[1:]
    assert expected == offered
    assert ((Handle(3, 1, 1),), (3,)) == taking[1:]
    assert (0, 2, None, 1) == tier.state.where
