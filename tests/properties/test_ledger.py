"""The ledger: what callers know after leases left, rows were taken back, and keys were given."""

from collections.abc import Callable

import msgspec
import pytest

from properties.ledger import IssuedPlan, Ledger
from reference.calls import (
    FAILED,
    Abandon,
    Alloc,
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Land,
    MarkDirty,
    Open,
    Outcome,
    Publish,
    Refused,
    Release,
    Reset,
    Share,
    Truncate,
    Write,
    WriteBack,
)
from reference.words import Handle, Plan

ONE, TWO = Handle(0, 0, 0), Handle(1, 1, 0)


def absorb(ledger: Ledger, *calls: Call | tuple[Call, object]) -> Ledger:
    """The ledger after calls that were done, each alone or with its value or outcome."""
    for entry in calls:
        call, value = entry if isinstance(entry, tuple) else (entry, None)
        outcome = value if isinstance(value, Outcome) else Outcome(value)
        ledger = ledger.absorb(call, outcome)
    return ledger


def written() -> Ledger:
    """Lease 0 wrote 3 and 4 to page 0, which lease 1 borrows; lease 1 allocated page 1."""
    return absorb(
        Ledger.empty(2),
        (Open(1), 0),
        (Open(1), 1),
        (Alloc(0), 0),
        (Alloc(1), 1),
        Share(1, 0),
        MarkDirty(0, ONE),
        Write(0, ONE, 0, 3),
        Write(0, ONE, 1, 4),
    )


def writing() -> Ledger:
    """As `written`, and the write-back of page 0 is in flight with ticket 5."""
    return absorb(written(), (WriteBack(0, ONE), 5))


def durable() -> Ledger:
    """As `writing`, landed."""
    return absorb(writing(), CompleteWriteBack(0, 5, True))


def filling() -> Ledger:
    """As `written`, and lease 1 fills page 1 with ticket 6."""
    return absorb(written(), (Fill(1, (1,)), Plan(6, (TWO,), (1,))))


def lost() -> Ledger:
    """As `writing`, and lease 0 is gone: page 0 is lost."""
    return absorb(writing(), (Abandon(0), (0,)))


def change(ledger: Ledger, **fields: object) -> Ledger:
    """The ledger with some fields replaced."""
    return msgspec.structs.replace(ledger, **fields)


# ---------------------------------------------------------------------------------- write-backs


def test_started_write_back_tears_the_host_page() -> None:
    """From its start until one lands nobody knows what the host page holds."""
    before = written()
    expected = change(
        before,
        published={1: (0, 0)},
        writing={5: (0, 0)},
        tickets=frozenset({5}),
    )

    assert expected == writing()


@pytest.mark.parametrize(
    ("call", "outcome", "lands"),
    [
        (CompleteWriteBack(0, 5, True), Outcome(), True),
        (CompleteWriteBack(0, 5, False), FAILED, False),
        (CompleteWriteBack(0, 5, True), FAILED, False),
    ],
    ids=["landed", "failed", "failed though told otherwise"],
)
def test_landed_rows_are_published(call: Call, outcome: Outcome, lands: bool) -> None:
    """What the frame held at its end; the rows did not change meanwhile."""
    before = writing()
    published = {1: (0, 0), 0: (3, 4)} if lands else {1: (0, 0)}

    assert change(before, writing={}, published=published) == absorb(before, (call, outcome))


def test_nothing_to_write_back_changes_nothing() -> None:
    """A clean page has no ticket."""
    before = durable()

    assert before is absorb(before, WriteBack(0, ONE))


# -------------------------------------------------------------------------------------- leaving


def test_abandoned_rows_fall_back_to_what_was_published() -> None:
    """The page lives on with the rows that its host page has."""
    before = absorb(durable(), Write(0, ONE, 0, 8))
    after = absorb(before, (Abandon(0), (0,)))

    assert (8, 4) == before.latest[0]
    assert change(before, held={1: (1, 0)}, latest={0: (3, 4), 1: (0, 0)}, left=True) == after


def test_abandoned_torn_page_is_lost() -> None:
    """Nothing is known of it; its write-back lands for nobody."""
    before = writing()
    expected = change(
        before,
        held={1: (1, 0)},
        latest={1: (0, 0)},
        writing={},
        lost=frozenset({0}),
        orphans=frozenset({5}),
        left=True,
    )

    assert expected == lost()
    assert change(lost(), orphans=frozenset()) == absorb(lost(), Land(5, True))


def test_inherited_write_back_lands_for_the_heir() -> None:
    """Nobody was told that rows are gone: another lease pins them, and they are durable now."""
    after = absorb(writing(), (Abandon(0), ()), Land(5, True))

    assert (3, 4) == after.published[0] == after.latest[0]
    assert (frozenset(), {}) == (after.orphans, after.writing)


def test_page_that_ends_with_its_lease_is_past() -> None:
    """What the lease wrote must not be read in the page's next life."""
    before = absorb(written(), Release(1, 0))
    after = absorb(before, (Abandon(0), ()))

    assert frozenset({0}) == after.past
    assert {1: (0, 0)} == after.latest == after.published


def test_lost_page_that_ends_is_past() -> None:
    """Nobody knows what the torn host page holds: a next life must not show it."""
    after = absorb(lost(), Release(1, 0))

    assert (frozenset(), frozenset({0})) == (after.lost, after.past)
    assert frozenset() == absorb(after, (Alloc(1), 0)).past


def test_plan_of_the_gone_lease_is_no_plan() -> None:
    """Its fill runs on in quarantine, and the plans of others stay."""
    before = filling()
    after = absorb(before, (Abandon(1), ()))

    assert {6: IssuedPlan(1, (TWO,), (1,))} == before.plans
    assert ({}, frozenset({6})) == (after.plans, after.orphans)
    assert before.plans == absorb(before, (Abandon(0), (0,))).plans


def test_failed_fill_may_take_rows_with_it() -> None:
    """A claim kept the rows of a lease that was gone."""
    before = change(filling(), left=True)
    after = absorb(before, (CompleteFill(1, 6, False), FAILED._replace(value=(0,))))

    assert {0: (0, 0), 1: (0, 0)} == after.latest
    assert {} == after.plans


def test_reset_leaves_copies_uncovered() -> None:
    """No promise covers their frames, unlike those of abandoned leases."""
    before = absorb(filling(), (WriteBack(0, ONE), 7))
    after = absorb(before, (Reset(), (0,)))
    expected = change(
        before,
        latest={1: (0, 0)},
        plans={},
        writing={},
        lost=frozenset({0}),
        orphans=frozenset({6, 7}),
        uncovered=frozenset({6, 7}),
    )

    assert expected == after
    assert frozenset({7}) == absorb(after, Land(6, True)).uncovered


def test_reset_uncovers_no_older_orphan() -> None:
    """The copies of a lease gone before are covered still."""
    after = absorb(filling(), (Abandon(1), ()), (Reset(), (0,)))

    assert (frozenset({6}), frozenset()) == (after.orphans, after.uncovered)


@pytest.mark.parametrize("value", [None, 7, (9,), ("x",), [0]], ids=str)
def test_nonsense_is_absorbed(value: object) -> None:
    """A broken subject may tell of anything."""
    before = written()

    assert before.latest == absorb(before, (Reset(), value)).latest


# ------------------------------------------------------------------------------ drafts and keys


@pytest.mark.parametrize(
    ("build", "length", "latest", "published"),
    [
        (written, 1, (3, 0), (0, 0)),
        (durable, 1, (3, 0), (3, 0)),
        (durable, 0, (0, 0), (0, 0)),
        (durable, 2, (3, 4), (3, 4)),
    ],
    ids=["draft", "published", "all", "none"],
)
def test_truncated_rows_were_never_written(
    build: Callable[[], Ledger],
    length: int,
    latest: tuple[int, ...],
    published: tuple[int, ...],
) -> None:
    """In the frame and in the host page, and on no other page."""
    before = build()
    after = absorb(before, Truncate(0, 0, length))

    assert ({0: latest, 1: (0, 0)}) == after.latest
    assert published == after.published[0]


def test_torn_page_has_nothing_published_after_a_cut() -> None:
    """Truncating makes no host page whole."""
    before = absorb(writing(), (CompleteWriteBack(0, 5, False), FAILED), Truncate(0, 0, 1))

    assert ((3, 0), {1: (0, 0)}) == (before.latest[0], before.published)


def test_lost_page_begins_anew_from_nothing() -> None:
    """A length above nothing tells no row of it."""
    zeros = {0: (0, 0), 1: (0, 0)}
    before = lost()
    after = absorb(before, Truncate(1, 0, 0))

    assert before is absorb(before, Truncate(1, 0, 1))
    assert (zeros, zeros, frozenset()) == (after.latest, after.published, after.lost)


def test_key_stands_for_the_rows_it_was_given_to() -> None:
    """The rule about keys compares with these, whatever the page holds by then."""
    after = absorb(durable(), Publish(0, 0, 7), Write(0, ONE, 0, 9))

    assert {7: (3, 4)} == after.named


def test_finder_holds_what_it_found() -> None:
    """Once: a page it holds already is no second hold, and nothing found is none."""
    before = durable()

    assert {0: (0,), 1: (1, 0)} == before.held
    assert {0: (0, 1), 1: (1, 0)} == absorb(before, (Find(0, 7), 1)).held
    assert before is absorb(before, (Find(1, 7), 0)) is absorb(before, Find(0, 8))


@pytest.mark.parametrize(
    "call",
    [Abandon(0), Land(5, True), Truncate(0, 0, 0), Publish(0, 0, 7), Find(0, 7)],
    ids=str,
)
def test_refused_call_teaches_nothing(call: Call) -> None:
    """It changed nothing."""
    before = writing()

    assert before is absorb(before, (call, Outcome(refused=Refused("UnknownLease", ()))))
