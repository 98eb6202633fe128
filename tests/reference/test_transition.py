"""Tests of the transition: calls and outcomes as data, whichever operation they go to."""

from dataclasses import FrozenInstanceError, fields

import pytest
from reference_samples import (
    HANDLE,
    A,
    B,
    dirtied,
    filling,
    left_filling,
    left_writing,
    pinned,
    published,
    shared,
    with_frame,
    with_lease,
    writing_back,
    written_back,
)

from reference.calls import (
    CALLS,
    DEFAULT,
    FAILED,
    NAMES,
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fault,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Outcome,
    Publish,
    Read,
    Refused,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.reference import Reference
from reference.transition import apply, options
from reference.words import Handle, Plan

MADE = [
    (lambda: shared(off=True), Open(2), Outcome(7)),
    (shared, Alloc(B), Outcome(4)),
    (shared, Share(B, 1), Outcome()),
    (shared, Release(B, 2), Outcome()),
    (pinned, Lookup(A, 2), Outcome(HANDLE)),
    (pinned, Fill(A, (2, 0)), Outcome(Plan(None, (HANDLE, Handle(0, 0, 7)), ()))),
    (filling, CompleteFill(A, 22, True), Outcome()),
    (filling, CompleteFill(A, 22, False), FAILED),
    (pinned, Unpin(A, HANDLE), Outcome()),
    (pinned, MarkDirty(A, HANDLE), Outcome()),
    (dirtied, Write(A, HANDLE, 1, 9), Outcome()),
    (dirtied, Read(A, HANDLE, 1), Outcome(4)),
    (dirtied, WriteBack(A, HANDLE), Outcome(22)),
    (writing_back, CompleteWriteBack(A, 22, True), Outcome()),
    (writing_back, CompleteWriteBack(A, 22, False), FAILED),
    (shared, Finish(A), Outcome()),
    (filling, Abandon(A), Outcome(())),
    (writing_back, Abandon(A), Outcome((2,))),
    (left_filling, Land(22, True), Outcome()),
    (left_writing, Land(22, False), FAILED),
    (dirtied, Reset(), Outcome((2,))),
    (dirtied, Truncate(A, 2, 1), Outcome()),
    (written_back, Publish(A, 2, 7), Outcome()),
    (published, Find(B, 7), Outcome(2)),
]

LEAVES_NOTHING_OPEN = [(build, call) for build, call, _ in MADE if type(call) not in {Alloc, Fill}]


@pytest.mark.parametrize(
    ("build", "call", "expected"), MADE, ids=[f"{NAMES[type(c)]}-{o.failed}" for _, c, o in MADE]
)
def test_call_goes_to_its_operation(build: object, call: Call, expected: Outcome) -> None:
    """Every operation is reached by its record, with its arguments in their places."""
    state = build().state
    outcome, _ = apply(state, call, next(iter(options(state, call))))

    assert expected == outcome
    assert (bool, bool) == (type(expected.failed), type(outcome.failed))


def test_every_operation_is_made_above() -> None:
    """A new operation without a case would be reached by no test here."""
    assert list(CALLS) == list(dict.fromkeys(type(call) for _, call, _ in MADE))


@pytest.mark.parametrize(
    ("build", "call"), LEAVES_NOTHING_OPEN, ids=[str(call) for _, call in LEAVES_NOTHING_OPEN]
)
def test_other_calls_leave_nothing_open(build: object, call: Call) -> None:
    """Only `alloc` and `fill` choose; two options of one effect would be searched twice."""
    assert [DEFAULT] == list(options(build().state, call))


@pytest.mark.parametrize(
    ("call", "refused"),
    [
        (Open(4), Refused("PromiseUnavailable", (("promise", 4), ("promised", 3), ("frames", 3)))),
        (Unpin(B, HANDLE), Refused("NotPinned", (("lease", B), ("page", 2)))),
        (Finish(A), Refused("DirtyFrame", (("lease", A), ("pages", (2,))))),
    ],
    ids=["numbers", "names", "pages"],
)
def test_refusal_becomes_plain_data(call: Call, refused: Refused) -> None:
    """Copies of the code raise classes of their own; their names and fields are the same."""
    state = dirtied().state
    outcome, after = apply(state, call, DEFAULT)

    assert Outcome(None, failed=False, refused=refused) == outcome
    assert state is after


def test_fault_becomes_plain_data() -> None:
    """A failed fill is an outcome, not a refusal, and its state is the undone one."""
    state = pinned().state
    outcome, after = apply(state, Fill(A, (1,)), Choice(fault=Fault(1, unmapped=False)))

    assert FAILED is outcome
    assert state.counters.failed_fills + 1 == after.counters.failed_fills


def test_state_after_holds_the_effect() -> None:
    """The outcome alone would let the explorer stand still."""
    state = pinned().state
    _, after = apply(state, MarkDirty(A, HANDLE), DEFAULT)

    assert with_frame(state, 1, dirty=True) == after


def test_any_bug_of_ours_comes_through() -> None:
    """Only refusals are outcomes: a broken state must not look like one."""
    state = with_lease(pinned().state, A, pins=((1, 1),))
    with pytest.raises(AssertionError, match="page 1 is resident"):
        apply(state, Finish(A), DEFAULT)


# ---------------------------------------------------------------------------------- vocabulary


def test_names_are_methods_in_order() -> None:
    """A trace names its calls by these words, a subject has them as methods."""
    names = [
        "open",
        "alloc",
        "share",
        "release",
        "lookup",
        "fill",
        "complete_fill",
        "unpin",
        "mark_dirty",
        "write",
        "read",
        "write_back",
        "complete_write_back",
        "finish",
        "abandon",
        "land",
        "reset",
        "truncate",
        "publish",
        "find",
    ]

    assert names == [NAMES[kind] for kind in CALLS]
    assert [] == [name for name in names if not callable(getattr(Reference, name, None))]


def test_calls_compare_and_hash_by_value() -> None:
    """Calls are keys of tables: what each option of each of them leads to."""
    calls = {Share(A, 2), Share(A, 2), Share(A, 1), Release(A, 2), Lookup(A, 2)}

    assert 4 == len(calls)
    assert Share(A, 2) != Release(A, 2)


@pytest.mark.parametrize("call", [call for _, call, _ in MADE if fields(call)], ids=str)
def test_calls_cannot_be_changed(call: Call) -> None:
    """A trace keeps the calls it was given, long after they were made."""
    name = fields(call)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(call, name, 7)


def test_outcome_and_choice_default_to_nothing() -> None:
    """Most calls return nothing, fail never and choose nothing: traces leave it out."""
    assert (None, False, None) == Outcome()
    assert (None, True, None) == FAILED
    assert (None, (), None) == Choice() == DEFAULT
