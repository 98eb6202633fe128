"""Tests of the device tier where leases leave, rows are taken back and pages have keys.

In lockstep with the reference on the scopes that have these operations, and judged by every rule.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pytest

from device import leave, quarantine
from device.data_path import DataPath
from device.pool import PagePool
from properties.beginnings import BEGINNINGS
from properties.device_subject import DeviceModel
from properties.drawing import Drawer, make_scope
from properties.judge import Judge
from properties.ledger import Ledger
from properties.misuse import Past
from properties.registry import all_rules
from properties.scopes import SCOPES, Scope
from properties.subject import FunctionModel, offers, reference_modules
from properties.view import View, digest
from properties.walks import run_walks
from reference.calls import (
    DEFAULT,
    NAMES,
    Abandon,
    Call,
    Choice,
    CompleteFill,
    Fill,
    Outcome,
    Reset,
    Share,
    WriteBack,
)
from reference.words import Handle, Page, Shape

CALLS = 60
"""Calls of one walk, after those that lead to where it begins."""

LEAVES = 0.15
"""The share of calls by which somebody leaves, where copies are in flight or pages dirty."""

RARE = 4
"""How much more often a call is drawn that is hardly ever possible."""

NAMED = ("all", "orphans", "leave", "sleep", "drafts", "keys", "names", "heirs")

SHAPED = {
    shape: make_scope(shape, min(3, shape.frames), off, SCOPES["all"])
    for shape, off in (
        (Shape(9, 5, 2), False),
        (Shape(40, 16, 3), False),
        (Shape(4, 4, 2), True),
    )
}


class Pair(NamedTuple):
    """What one call came to on both sides."""

    call: Call
    device: tuple[Outcome, View]
    reference: tuple[Outcome, View]


class Walk:
    """One random walk on a device tier and the reference, choices made by either side."""

    def __init__(self, scope: Scope, seed: int) -> None:
        """Nothing happened yet."""
        self.scope = scope
        self.random = Random(f"{scope.name}:{seed}")
        self.model = DeviceModel(scope.shape, scope.off, seed=seed)
        self.mirror = FunctionModel(scope.shape, scope.off, reference_modules())
        self.state, self.mirrored = self.model.initial(), self.mirror.initial()
        self.view = self.mirror.view(self.mirrored)
        self.ledger = Ledger.empty(scope.shape.rows)
        self.past = Past()
        self.begin = scope.begins[seed % len(scope.begins)]

    def make(self, call: Call, choice: Choice) -> Pair:
        """Make a call on both sides."""
        made = self.model.take(self.state, call, choice)
        expected = self.mirror.take(self.mirrored, call, made.choice)
        self.state, self.mirrored = made.after, expected.after
        self.view = self.mirror.view(self.mirrored)
        self.ledger = self.ledger.absorb(call, expected.outcome)
        self.past.learn(call, expected.outcome)
        device = (made.outcome, self.model.view(self.state))
        return Pair(call, device, (expected.outcome, self.view))

    def walk(self) -> Iterator[Pair]:
        """Go to where the walk begins, and on from there."""
        for call in self.scope.opening:
            yield self.make(call, DEFAULT)
        beginning = BEGINNINGS[self.begin](self.random, self.scope)
        for _ in range(0 if self.scope.opening else beginning.calls):
            begun = beginning.draw(self.view, self.ledger, self._offer())
            if begun is None:
                break
            yield self.make(*begun)
        drawer = Drawer(self.random, self.scope, self.past)
        for _ in range(CALLS):
            leaving = self._draw_leaving()
            if leaving is not None:
                yield self.make(leaving, DEFAULT)
                continue
            call, choice = drawer.draw(self.view, self.ledger, self._offer())
            if choice.fault is None and self.random.random() < 0.5:
                choice = DEFAULT
            yield self.make(call, choice)

    def _offer(self) -> Any:
        return partial(offers, self.mirror, self.mirrored)

    def _draw_leaving(self) -> Call | None:
        """Return a call by which somebody leaves where it matters, or on the way to one."""
        view, found = self.view, list[Call]()
        if self.random.random() >= LEAVES:
            return None
        for frame in view.frames:
            if frame.dirty and frame.page is not None:
                found += self._draw_heirs(frame.page)
        busy = [lease_id for lease_id, lease in view.leases.items() if lease.copies]
        if busy:
            found.append(Abandon(self.random.choice(busy)))
        if found:
            found.append(Reset())
        known = [call for call in found if type(call) in self.scope.operations]
        return self.random.choice(known) if known else None

    def _draw_heirs(self, page: Page) -> Iterator[Call]:
        """Yield a call by which the rows of a dirty page come into other hands, or are gone."""
        view = self.view
        owners, holders = view.pinned.get(page, []), view.holders[page]
        claims = [(lease, view.fill_of(lease)) for lease in view.claimed.get(page, [])]
        for lease, copy in claims:
            if copy is not None and not owners:
                yield from [CompleteFill(lease, copy.ticket, False)] * RARE
        if owners and len(holders) > 1:
            number = view.mapped[page]
            yield Abandon(self.random.choice(owners))
            yield WriteBack(owners[0], Handle(page, number, view.frames[number].generation))
            yield from [
                Fill(other, (page,))
                for other in holders
                if other not in owners and view.fill_of(other) is None
            ]
        elif owners:
            yield from [Share(other, page) for other in view.leases if other not in holders]


def first_difference(scope: Scope, seed: int, seen: Counter[str] | None = None) -> str | None:
    """What differs first between a device tier and the reference in one walk."""
    seen = Counter() if seen is None else seen
    try:
        for call, device, reference in Walk(scope, seed).walk():
            if device != reference or digest(device[1]) != digest(reference[1]):
                return f"{call}: {device} is not {reference}"
            seen[describe(call, reference[0])] += 1
    except ValueError as error:
        return str(error)
    return None


def describe(call: Call, outcome: Outcome) -> str:
    """What happened, in a word or two."""
    name = NAMES[type(call)]
    if outcome.refused is not None:
        return f"{name}:{outcome.refused.name}"
    gone = isinstance(outcome.value, tuple) and bool(outcome.value) and name != "fill"
    return name + ":failed" * outcome.failed + ":gone" * gone


@pytest.mark.parametrize("name", NAMED)
def test_device_tier_does_what_the_reference_does(name: str) -> None:
    """Same outcome, same view, same digest, after each call, whatever lands when."""
    assert [None] * 24 == [first_difference(SCOPES[name], seed) for seed in range(24)]


@pytest.mark.parametrize("shape", SHAPED, ids=str)
def test_device_tier_of_any_shape_does_what_the_reference_does(shape: Shape) -> None:
    """Several pages in one copy, more leases, and the device-only pool."""
    assert [None] * 16 == [first_difference(SHAPED[shape], seed) for seed in range(16)]


def test_lockstep_meets_what_only_leaving_brings_about() -> None:
    """A walk in which nobody leaves while something is in flight would prove nothing."""
    seen: Counter[str] = Counter()
    for name, seeds in (("all", 30), ("heirs", 120), ("drafts", 20), ("names", 20)):
        for seed in range(seeds):
            first_difference(SCOPES[name], seed, seen)

    wanted = {
        "abandon",
        "abandon:gone",
        "reset",
        "reset:gone",
        "land",
        "land:failed",
        "land:UnknownTicket",
        "complete_fill:failed:gone",
        "fill:RowsLost",
        "fill:FramesLanding",
        "open:PromiseUnavailable",
        "truncate",
        "truncate:WriteBackInFlight",
        "truncate:FillInFlight",
        "publish",
        "publish:NotDurable",
        "publish:PageNotFull",
        "publish:KeyTaken",
        "publish:AlreadyPublished",
        "find",
    }
    assert [] == sorted(wanted - seen.keys())


@pytest.mark.parametrize("name", NAMED)
def test_every_rule_holds_on_a_device(name: str) -> None:
    """The rules know neither the reference nor the device."""
    scope = SCOPES[name]
    make_model = partial(DeviceModel, scope.shape, scope.off, seed=3)
    found = run_walks(make_model, scope, Judge(all_rules()), seed=3, walks=24, every=1).found

    assert ((), ()) == (found.breaks, found.crashes)


def land_at_once(_path: DataPath, queued: Any, ok: bool) -> bool:
    """A landing, or a completion, that asks nobody."""
    return ok and not queued.failed


def settle_at_once(pool: PagePool, pages: Any) -> Any:
    """A page is free again though another copy may still touch it."""
    over = pages[pool.retired[pages]]
    pool.touched[pages] -= 1
    pool.retired[over] = False
    pool.free.add(over)
    return over


@pytest.mark.parametrize(
    ("where", "name", "without"),
    [
        (leave, "orphan", lambda *_: None),
        (leave, "forsake", lambda _tables, frames: frames[:0]),
        (leave, "drop_frames", lambda *_: None),
        (leave, "restore", lambda *_: None),
        (leave, "publish", lambda *_: None),
        (quarantine, "drop_frames", lambda tables, frames: tables.frames.unmap(frames)),
        (DataPath, "end", land_at_once),
        (DataPath, "zero_pages", lambda *_: None),
        (DataPath, "zero_frames", lambda *_: None),
        (PagePool, "settle", settle_at_once),
    ],
)
def test_lockstep_sees_what_is_left_out(
    where: Any, name: str, without: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of leaving and taking back is needed, and its absence is seen."""
    monkeypatch.setattr(where, name, without)
    scopes = (SCOPES["all"], SCOPES["heirs"], *SHAPED.values())

    assert any(is_broken(scope, seed) for seed in range(60) for scope in scopes)


def is_broken(scope: Scope, seed: int) -> bool:
    """A walk shows a difference, or does not get through."""
    try:
        return first_difference(scope, seed) is not None
    except Exception:
        return True
