"""Openings and beginnings: each leads to the state that its name promises."""

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from walk_samples import JUDGE, make_reference

from properties import openings
from properties.beginnings import BEGINNINGS, Late
from properties.drawing import make_scope
from properties.openings import OPENINGS
from properties.scopes import BEGINS, SCOPES, Scope
from properties.subject import FunctionModel, Transition, reference_modules
from properties.view import View
from properties.walker import Walker
from reference.calls import CALLS, Call, Choice, Fill
from reference.words import Phase, Shape

SEEDS = range(6)
SHAPES = [Shape(3, 2, 1), Shape(6, 4, 2), Shape(12, 8, 2), Shape(40, 16, 3)]


# ------------------------------------------------------------------------------ the beginnings


def begin(name: str, scope: Scope, seed: int) -> list[View]:
    """Every view on the way through a beginning, the first one left out."""
    model = make_reference(scope.shape, scope.off)
    walker = Walker(model, scope, JUDGE, seed, calls=0, every=1, goals=())
    walker.walk_all(range(BEGINS.index(name), BEGINS.index(name) + 1))
    assert [] == walker.breaks + walker.crashes
    path = walker.path(BEGINS.index(name))
    state, views = model.initial(), []
    for call, choice in path:
        _, outcome, state = model.take(state, call, choice)
        assert outcome.refused is None, (call, outcome)
        assert not outcome.failed
        views.append(model.view(state))
    return views


def is_full(views: list[View]) -> bool:
    """Whether every frame maps a page and nothing is in flight."""
    end = views[-1]
    return not end.free_frames and not end.claimed


def is_pinned(views: list[View]) -> bool:
    """Whether every lease pins as much as it may, or all that it can get."""
    end = views[-1]
    return not end.claimed and all(
        lease.promise == len(lease.pins) or not end.free for lease in end.leases.values()
    )


def is_promised(views: list[View]) -> bool:
    """Whether every lease pins or claims as much as it may, or has, and some is in flight."""
    end = views[-1]
    return bool(end.claimed) and all(
        len({*lease.pins, *lease.claims}) == min(lease.promise, len(lease.table))
        for lease in end.leases.values()
    )


def has_returned(views: list[View]) -> bool:
    """Whether a page had a frame, had none while others had all of them, and has one again."""
    first = next(view for view in views if not view.free_frames)
    return any(
        page in views[-1].mapped
        and any(page not in view.mapped for view in views[views.index(first) :])
        for page in first.mapped
    )


def is_brimful(views: list[View]) -> bool:
    """Whether a full page is durable."""
    end = views[-1]
    return not end.torn and any(all(rows or (0,)) for rows in end.host.values())


def is_late(views: list[View]) -> bool:
    """Whether a copy is in quarantine, its lease gone, or was due where nobody can be abandoned."""
    return bool(views[-1].quarantine)


def has_heir(views: list[View]) -> bool:
    """Whether a page is dirty under one lease, perhaps gone by now, and claimed by another."""
    end = views[-1]
    before = end if len(end.leases) == len(views[-2].leases) else views[-2]
    return any(
        frame.dirty and frame.page in end.claimed and frame.page in before.pinned
        for frame in end.frames
    ) and any(frame.phase == Phase.FILLING for frame in end.frames)


REACHED: dict[str, Callable[[list[View]], bool]] = {
    "nothing": lambda views: not views,
    "full": is_full,
    "pinned": is_pinned,
    "promised": is_promised,
    "returned": has_returned,
    "brimful": is_brimful,
    "late": is_late,
    "heirs": has_heir,
}


def with_begins(shape: Shape) -> Scope:
    """A scope of every operation and beginning."""
    scope = SCOPES["all"]
    return msgspec.structs.replace(
        scope, shape=shape, promises=make_scope(shape, leases=3).promises
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", BEGINNINGS)
def test_beginning_reaches_its_state(name: str, shape: Shape) -> None:
    """A beginning that ends elsewhere tests nothing that a full tier does not."""
    reached = {REACHED[name](begin(name, with_begins(shape), seed)) for seed in SEEDS}
    has_room = name != "heirs" or shape.frames > 2

    assert {has_room} == reached


def test_every_beginning_has_its_name_and_test() -> None:
    """Scopes use the names, and one without a test could lead anywhere."""
    assert tuple(BEGINNINGS) == BEGINS == SCOPES["all"].begins == tuple(REACHED)


def test_beginnings_of_scopes_exist() -> None:
    """A misspelt name would be met by the first walk only."""
    assert {name for scope in SCOPES.values() for name in scope.begins} <= set(BEGINNINGS)


def test_nobody_is_abandoned_where_that_is_unknown() -> None:
    """A scope of the spec's table begins with fills in flight, and their leases there."""
    scope = make_scope(Shape(3, 2, 1))
    beginning = Late(Random(0), scope)
    knows = Late(Random(0), SCOPES["all"])

    assert (False, True) == (beginning.may_leave, knows.may_leave)


class NeverFills(FunctionModel):
    """A subject that never gives a page a frame, and says that it does."""

    def take(self, state: Any, call: Call, choice: Choice) -> Transition:
        """Do nothing for a fill."""
        taken = super().take(state, call, choice)
        return taken._replace(after=state) if type(call) is Fill else taken


def test_beginning_ends_on_a_broken_subject() -> None:
    """One that never becomes full must not be waited for."""
    scope = with_begins(Shape(3, 2, 1))
    model = NeverFills(scope.shape, scope.off, reference_modules())
    walker = Walker(model, scope, JUDGE, 0, calls=1, every=1, goals=())
    chunk = walker.walk_all(range(len(BEGINS)))

    assert len(BEGINS) == chunk.walks
    assert chunk.calls < 1_000


# -------------------------------------------------------------------------------- the openings


def open_with(shape: Shape, calls: tuple[Call, ...]) -> View:
    """The view after the calls, each of which has to be done."""
    model = make_reference(shape)
    state = model.initial()
    for call in calls:
        choice = next(iter(model.transitions(state, call))).choice
        _, outcome, state = model.take(state, call, choice)
        assert outcome.refused is None, (call, outcome)
        assert not outcome.failed
    return model.view(state)


def test_opening_full_has_nothing_pinned() -> None:
    """Every miss evicts."""
    end = open_with(*OPENINGS["full"][1:])

    assert (0, 1) == end.evictable
    assert {2} == {page for page in end.holders if page not in end.mapped}


def test_opening_pinned_leaves_no_frame() -> None:
    """Every miss has to wait for an unpin."""
    end = open_with(*OPENINGS["pinned"][1:])

    assert {0: [0], 1: [1]} == end.pinned
    assert () == end.evictable == end.free_frames


def test_opening_promised_is_all_in_flight() -> None:
    """No lease may ask for more."""
    end = open_with(*OPENINGS["promised"][1:])

    assert {0: [0], 1: [1]} == end.claimed
    assert {Phase.FILLING} == {frame.phase for frame in end.frames}


def test_opening_returned_has_a_later_generation() -> None:
    """The page is in the frame it had, with its rows; its first handle is stale."""
    end = open_with(*OPENINGS["returned"][1:])
    frame = end.frames[0]

    assert (0, 2, (1,)) == (frame.page, frame.generation, frame.rows)
    assert {0: [0]} == end.pinned


def test_opening_brimful_is_full_and_one_short() -> None:
    """Both are durable; a row over is tried from there."""
    end = open_with(*OPENINGS["brimful"][1:])

    assert {0: (1, 2), 1: (3, 0)} == end.host
    assert () == end.torn


def test_opening_late_has_an_orphan() -> None:
    """The completion never came, and the next lease fills beside it."""
    end = open_with(*OPENINGS["late"][1:])

    assert [0] == [copy.ticket for copy in end.quarantine]
    assert ((0,), (0,)) == (end.landing, end.retired)
    assert 1 == len(end.claimed)


def test_opening_names_has_a_key() -> None:
    """The other page is full and durable too, and not named yet."""
    scope = SCOPES["names"]
    end = open_with(scope.shape, scope.opening)

    assert ({0: 0}, {0: (1,), 1: (2,)}) == (end.keys, end.host)
    assert openings.NAMES is scope.opening


def test_opening_heirs_has_a_claimed_dirty_page() -> None:
    """Only the pin of its first lease, and the claim of the second, keep it."""
    scope = SCOPES["heirs"]
    end = open_with(scope.shape, scope.opening)

    assert end.frames[0].dirty
    assert ([0], [1]) == (end.pinned[0], end.claimed[0])
    assert openings.HEIRS is scope.opening


def test_every_opening_has_its_scope() -> None:
    """Each is searched, with every operation, as deep as there is time for."""
    found = {name: SCOPES[name] for name in OPENINGS}

    assert [OPENINGS[name].calls for name in OPENINGS] == [s.opening for s in found.values()]
    assert {CALLS} == {scope.operations for scope in found.values()}
