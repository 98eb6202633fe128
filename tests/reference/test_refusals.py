"""Tests of the refusals: what each one says, and how they are told apart."""

from dataclasses import fields

import pytest

from reference import refusals
from reference.refusals import FillFailed, Refusal, TierError
from reference.words import Handle

SAID = [
    (refusals.BadPromise, {"promise": -1}, "a promise of -1 is below 1"),
    (
        refusals.PromiseUnavailable,
        {"promise": 4, "promised": 2, "frames": 3},
        "a promise of 4 on top of the 2 promised exceeds the 3 frames",
    ),
    (refusals.UnknownLease, {"lease": 9}, "lease 9 is not open"),
    (refusals.PageMemory, {"pages": 5}, "all 5 pages are held"),
    (refusals.UnknownPage, {"page": 4}, "page 4 is not live"),
    (refusals.AlreadyHeld, {"lease": 5, "page": 2}, "lease 5 holds page 2 already"),
    (refusals.NotHeld, {"lease": 5, "page": 3}, "lease 5 does not hold page 3"),
    (
        refusals.FillInFlight,
        {"lease": 5, "ticket": 22},
        "the fill with ticket 22 of lease 5 is in flight",
    ),
    (
        refusals.PagePinned,
        {"lease": 5, "page": 2, "pins": 7},
        "lease 5 has 7 pins on page 2",
    ),
    (refusals.DuplicatePage, {"page": 2}, "page 2 is asked for twice"),
    (
        refusals.PromiseExceeded,
        {"lease": 5, "promise": 2, "wanted": 3},
        "lease 5 would have 3 pages in frames and promised at most 2",
    ),
    (
        refusals.HitPending,
        {"page": 2, "frame": 1},
        "page 2 is being filled into frame 1 for another lease",
    ),
    (
        refusals.FrameMemory,
        {"misses": 2, "available": 1},
        "2 misses and only 1 frames free or evictable",
    ),
    (
        refusals.FramesLanding,
        {"misses": 4, "available": 1, "landing": 3},
        "4 misses, 1 frames free or evictable, 3 more are in quarantine",
    ),
    (
        refusals.RowsLost,
        {"page": 2},
        "the rows of page 2 were not published before the lease that wrote them was gone",
    ),
    (refusals.UnknownTicket, {"ticket": 22}, "ticket 22 names no copy in quarantine"),
    (
        refusals.StaleTicket,
        {"lease": 5, "ticket": 22},
        "ticket 22 names no such copy in flight of lease 5",
    ),
    (
        refusals.StaleHandle,
        {"handle": Handle(2, 1, 8)},
        "Handle(page=2, frame=1, generation=8) is not current",
    ),
    (refusals.NotPinned, {"lease": 5, "page": 2}, "lease 5 does not pin page 2"),
    (
        refusals.DirtyFrame,
        {"lease": 5, "pages": (0, 2)},
        "lease 5 holds the last word on dirty pages (0, 2): write them back first",
    ),
    (
        refusals.WriteBackInFlight,
        {"page": 2, "frame": 1},
        "page 2 in frame 1 is being written back",
    ),
    (
        refusals.NotDirty,
        {"page": 2, "frame": 1},
        "page 2 in frame 1 was not marked dirty before the write",
    ),
    (refusals.BadRow, {"row": 2, "rows": 1}, "row 2 is outside the 1 rows of a page"),
    (
        refusals.BadLength,
        {"length": 3, "rows": 2},
        "a page of 2 rows cannot be truncated to 3",
    ),
    (
        refusals.NotDurable,
        {"page": 2},
        "the host page of page 2 does not hold its rows yet",
    ),
    (
        refusals.PageNotFull,
        {"page": 2, "written": 1, "rows": 3},
        "page 2 has 1 of 3 rows written",
    ),
    (refusals.KeyTaken, {"key": 7, "page": 2}, "key 7 names page 2 already"),
    (refusals.AlreadyPublished, {"page": 2, "key": 7}, "page 2 is published under key 7"),
    (
        FillFailed,
        {"lease": 5, "pages": (2, 1)},
        "a fault struck the fill of pages (2, 1) for lease 5",
    ),
]

each_refusal = pytest.mark.parametrize(
    ("reason", "values", "message"), SAID, ids=[reason.__name__ for reason, _, _ in SAID]
)


@each_refusal
def test_message_names_values_and_bound(
    reason: type[TierError], values: dict[str, object], message: str
) -> None:
    """Who reads a log has nothing but the message."""
    assert message == str(reason(**values))


@each_refusal
def test_fields_hold_what_was_given(
    reason: type[TierError], values: dict[str, object], message: str
) -> None:
    """A caller that handles a refusal reads its fields, and a trace writes them in order."""
    refusal = reason(*values.values())

    assert values == vars(refusal)
    assert list(values) == [field.name for field in fields(refusal)]


def test_every_refusal_has_its_message() -> None:
    """A class without a case here could say anything."""
    defined = {*Refusal.__subclasses__(), FillFailed}

    assert defined == {reason for reason, _, _ in SAID}


def test_messages_tell_every_reason_apart() -> None:
    """Two reasons with one text cannot be told apart in a log."""
    assert len(SAID) == len({message for _, _, message in SAID})


def test_failed_fill_is_no_refusal() -> None:
    """Who catches refusals relies on nothing having changed; a failed fill moved counters."""
    assert (TierError,) == FillFailed.__bases__
    assert (TierError,) == Refusal.__bases__


def test_equal_refusals_stay_distinct_objects() -> None:
    """Exceptions compare by identity, or two in one group would fold into one."""
    first, second = refusals.UnknownLease(9), refusals.UnknownLease(9)

    assert 2 == len({first, second})
    assert first != second
