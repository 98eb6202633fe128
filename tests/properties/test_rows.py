"""The rows of the spec as the rules compute them, against the reference that raises them."""

import random
from typing import Any

import msgspec
import pytest

from properties.calls_for import calls_for
from properties.ledger import Ledger
from properties.rules import examples as ex
from properties.rules import rows
from properties.rules.examples import FILLING, QUARANTINED, WRITING_BACK
from properties.scopes import SCOPES, Scope, is_inside
from properties.subject import FunctionModel, reference_modules
from reference import refusals
from reference.calls import (
    CALLS,
    Abandon,
    Call,
    CompleteFill,
    Fill,
    Find,
    Land,
    Open,
    Publish,
    Reset,
    Truncate,
)

STATES = 300


def walk(scope: Scope, seed: int) -> list[tuple[str, str | None, str | None]]:
    """Every call in each state of a seeded walk: the call, the refusal due, the one raised."""
    rng = random.Random(seed)
    model = FunctionModel(scope.shape, scope.off, reference_modules())
    state, ledger = model.initial(), Ledger.empty(scope.shape.rows)
    found = []
    for _ in range(STATES):
        view, successes = model.view(state), []
        for call in calls_for(view, ledger, scope):
            taken: Any = rng.choice(model.transitions(state, call))
            refused = taken.outcome.refused
            raised = None if refused is None else refused.name
            found.append((str(call), rows.first_due(view, ledger, call), raised))
            if refused is None and is_inside(model.view(taken.after), scope):
                successes.append((call, taken))
        call, taken = rng.choice(successes)
        ledger, state = ledger.absorb(call, taken.outcome), taken.after
    return found


@pytest.mark.parametrize(
    "name", ["default", "off", "wide", "sleep", "orphans", "drafts", "keys", "all"]
)
def test_due_refusal_is_the_raised_one(name: str) -> None:
    """Two texts of the same table: where they differ, one of them misreads the spec."""
    found = walk(SCOPES[name], seed=7)

    assert [] == [entry for entry in found if entry[1] != entry[2]]


def test_walk_meets_nearly_every_refusal() -> None:
    """An agreement about refusals that never came up would say nothing."""
    names = ("default", "sleep", "orphans", "drafts", "keys")
    raised = {name for scope in names for seed in (1, 2, 3) for *_, name in found(scope, seed)}

    assert {"FrameMemory"} == {name for row in rows.REFUSALS.values() for name in row} - raised


def found(scope: str, seed: int) -> list[tuple[str, str | None, str | None]]:
    """A walk over a scope by its name."""
    return walk(SCOPES[scope], seed)


# Where each refusal comes first that only the operations beyond the spec's table can meet.
VIEW = ex.view(
    (ex.frame(phase=QUARANTINED), ex.frame(1, WRITING_BACK, dirty=True), ex.frame(2, FILLING)),
    ex.lease(0, 1, promise=3, pins=(1,)),
    ex.lease(2, promise=2, borrowed=(3,), claims=(2,), copies=(ex.filling(7, 2),)),
    ex.lease(3, borrowed=(2, 4)),
    ex.lease(4),
    pages=6,
    host={0: (8,), 4: (9,)},
    torn=(1, 3),
    lost=(3,),
    quarantine=(ex.orphan(ex.writing(5, 0), 3), ex.orphan(ex.writing(6, 1), 1)),
    keys={1: 4},
)


@pytest.mark.parametrize(
    ("call", "due"),
    [
        (Open(1), "PromiseUnavailable"),
        (Abandon(9), "UnknownLease"),
        (Abandon(1), None),
        (Land(5, True), None),
        (Land(6, False), None),
        (Land(7, True), "UnknownTicket"),
        (Reset(), None),
        (Fill(0, (0,)), "FramesLanding"),
        (Fill(2, (3,)), "RowsLost"),
        (Fill(2, (2,)), "HitPending"),
        (Truncate(9, 0, 0), "UnknownLease"),
        (Truncate(0, 4, 9), "NotHeld"),
        (Truncate(0, 0, 2), "BadLength"),
        (Truncate(0, 0, -1), "BadLength"),
        (Truncate(0, 0, 1), None),
        (Truncate(1, 2, 0), "FillInFlight"),
        (Truncate(2, 2, 0), "HitPending"),
        (Truncate(0, 1, 0), "WriteBackInFlight"),
        (Truncate(2, 3, 0), "WriteBackInFlight"),
        (Publish(9, 0, 1), "UnknownLease"),
        (Publish(0, 4, 1), "NotHeld"),
        (Publish(0, 1, 1), "NotDurable"),
        (Publish(2, 3, 1), "NotDurable"),
        (Publish(1, 2, 1), "PageNotFull"),
        (Publish(0, 0, 1), "KeyTaken"),
        (Publish(0, 0, 2), None),
        (Publish(3, 4, 2), "AlreadyPublished"),
        (Find(9, 1), "UnknownLease"),
        (Find(0, 7), None),
    ],
    ids=str,
)
def test_wider_rows_are_read_as_written(call: Call, due: str | None) -> None:
    """Most states of a walk meet only the first refusals of a row."""
    assert due == rows.first_due(VIEW, ex.ledger(), call)


@pytest.mark.parametrize(
    ("call", "failed", "gone"),
    [
        (Reset(), False, [0, 1]),
        (Abandon(0), False, [0]),
        (Abandon(1), False, [1]),
        (CompleteFill(1, 7, False), True, [1]),
        (CompleteFill(1, 7, True), False, []),
        (Land(7, True), False, []),
    ],
    ids=str,
)
def test_rows_go_with_their_last_user(call: Call, failed: bool, gone: list[int]) -> None:
    """Dirty rows are somebody's: whose pin or claim keeps them loses them with it."""
    before = ex.view(
        (ex.frame(0, dirty=True), ex.frame(1, dirty=True), ex.frame(2, FILLING)),
        ex.lease(0, 2, promise=2, pins=(0,)),
        ex.lease(1, promise=2, claims=(1, 2), copies=(ex.filling(7, 2),), borrowed=(2,)),
    )
    knew = msgspec.structs.replace(ex.ledger(), left=True)

    assert gone == rows.gone_by(ex.step(before, call, failed=failed, knew=knew))


def test_every_operation_has_its_row() -> None:
    """An operation without a row would be judged by nobody."""
    assert set(CALLS) == set(rows.REFUSALS)


def test_rows_use_every_refusal_class() -> None:
    """A misspelt name would make every refusal of that class look needless."""
    defined = {cls.__name__ for cls in refusals.Refusal.__subclasses__()}

    assert defined == {name for row in rows.REFUSALS.values() for name in row}
