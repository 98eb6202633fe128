"""Lockstep: what is compared, what a difference says, and that its trace shows it again."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lockstep_samples import JUDGE, SHAPE, SPOILT, ForgetsAField, Reference, ShowsNothing, make_pair
from teeth import make_subject

from properties import trace as traces
from properties.calls_for import calls_for
from properties.device_subject import DeviceModel
from properties.drawing import make_scope
from properties.explorer import Exploration
from properties.lockstep import Differs, Pair, replay_trace, run_calls
from properties.lockstep_shorten import shorten_difference
from properties.lockstep_subjects import make_simulated
from properties.lockstep_walks import Lockstep, make_reference, run_lockstep
from properties.scopes import SCOPES
from properties.tour import tour
from properties.trace import Header, SymbolicTrace, symbolic
from reference.calls import DEFAULT, Alloc, Choice, CompleteFill, Fill, Lookup, Open
from reference.words import Shape

SCOPE = make_scope(SHAPE)
HASTY = partial(make_subject, ("write-back completes",))
"""A device that does not wait for write-backs."""


def walk(make: Callable[..., Any], walks: int = 20, **how: Any) -> Any:
    """The first difference that walks find."""
    return run_lockstep(make, SCOPE, walks=walks, **how)


# --------------------------------------------------------------------------------- agreement


def test_reference_agrees_with_itself() -> None:
    """A comparison that finds differences where there are none finds nothing."""
    found = SCOPES["tiny"]
    runs = tour(make_reference(found.shape, found.off), found).runs

    assert run_lockstep(Reference, found, runs=runs) is None
    assert walk(Reference) is None


def test_device_agrees_on_every_transition_of_tiny() -> None:
    """The whole of the smallest scope with evictions."""
    found = SCOPES["tiny"]
    runs = tour(make_reference(found.shape, found.off), found).runs

    assert 940 == sum(map(len, runs))
    assert run_lockstep(lambda *of: DeviceModel(*of[:2], seed=of[2]), found, runs=runs) is None


def test_device_agrees_around_the_first_states_of_small() -> None:
    """Every call and option, forbidden ones too, from states that a search finds first."""
    scope = SCOPES["small"]
    reference = make_reference(scope.shape, scope.off)
    search = Exploration(reference, scope, JUDGE, goals=()).run(states=60)
    pair = Pair(DeviceModel(scope.shape, scope.off), reference, JUDGE)
    made = 0
    for number in range(0, search.states, 3):
        state = pair.initial()
        for call, choice in search.path(number):
            state = pair.take(state, call, choice).after
        for call in calls_for(state.view, state.ledger, scope):
            made += len(pair.transitions(state, call))

    assert made > 500


def test_device_agrees_on_walks() -> None:
    """Faults of the device and the driver included."""
    assert walk(make_simulated, walks=30) is None


def test_device_that_is_off_agrees() -> None:
    """The device-only pool."""
    scope = make_scope(Shape(4, 4, 2), off=True)

    assert run_lockstep(make_simulated, scope, walks=10) is None


def test_large_device_agrees() -> None:
    """Full views now and then, what a call touched after each."""
    lockstep = Lockstep(make_simulated, make_scope(Shape(512, 128, 2)), JUDGE)
    ran = lockstep.walk(range(1), calls=60)

    assert (None, 5) == (ran.difference, ran.every)
    assert ran.calls > 300


# -------------------------------------------------------------------------------- differences


@pytest.mark.parametrize("kind", SPOILT)
def test_difference_is_found(kind: str) -> None:
    """Each thing that is compared is compared."""
    found = walk(SPOILT[kind])

    assert found is not None
    assert kind == found.kind
    assert found.calls[-1].call == found.call
    assert found.n == len(found.calls)


def test_subject_that_cannot_be_looked_at_is_a_difference() -> None:
    """A mutant may crash anywhere, and whoever counts crashes must know at which call."""
    found = walk(ShowsNothing)

    assert found is not None
    assert ("raised", 1, "KeyError: 'a lease'") == (found.kind, found.n, found.got)


def test_fields_of_a_refusal_are_compared() -> None:
    """A refusal that names another page sends its reader there."""
    found = walk(ForgetsAField)

    assert found is not None
    assert "outcome" == found.kind
    assert found.wanted != found.got
    assert found.wanted.partition("(")[0] == found.got.partition("(")[0]


def test_broken_rule_is_a_difference() -> None:
    """Rules judge what the subject shows, whatever the reference says."""
    broken = SPOILT["view"]
    pair = Pair(broken(SHAPE, False), broken(SHAPE, False), JUDGE)
    two = [(Open(1), DEFAULT), (Alloc(0), Choice(page=0)), (Alloc(0), Choice(page=1))]
    calls = [*two, (Fill(0, (0,)), Choice(frames=(0,)))]
    assert run_calls(pair, calls) is None

    lockstep = Lockstep(broken, SCOPE, JUDGE)
    lockstep.make_pair = lambda number: Pair(  # type: ignore[method-assign]
        broken(SHAPE, False), broken(SHAPE, False), JUDGE
    )
    found = lockstep.walk(range(20)).difference

    assert found is not None
    assert "counters-add-up" == found.kind


def test_what_a_call_touched_is_compared_between_full_views() -> None:
    """On large shapes a wrong row does not wait for the next full view to be seen."""

    class Torn(DeviceModel):
        """Poison where a fill landed."""

        def take(self, state: Any, call: Any, choice: Any) -> Any:
            """Make the call, and spoil what it filled."""
            taken = super().take(state, call, choice)
            if isinstance(call, CompleteFill):
                assert self.simulated is not None
                self.simulated.frame_memory[:] = 9
            return taken

    pair = make_pair(Torn(SHAPE), every=100)
    calls = [
        (Open(1), DEFAULT),
        (Alloc(0), DEFAULT),
        (Fill(0, (0,)), DEFAULT),
        (CompleteFill(0, 0, True), DEFAULT),
    ]
    found = run_calls(pair, calls)

    assert found is not None
    assert ("touched", 4) == (found.kind, found.n)


def test_choice_of_a_large_fill_is_judged_without_listing_options() -> None:
    """Ten misses have more options than there is time."""
    shape = Shape(40, 20, 1)
    pair = Pair(DeviceModel(shape), make_reference(shape, False), JUDGE)
    state = pair.take(pair.initial(), Open(20), DEFAULT).after
    for _ in range(12):
        state = pair.take(state, Alloc(0), DEFAULT).after
    pages = tuple(range(12))

    backwards = Choice(frames=tuple(range(19, 7, -1)))
    assert backwards == pair.take(state, Fill(0, pages), backwards).choice
    with pytest.raises(Differs, match="raised"):
        pair.take(state, Fill(0, pages), Choice(frames=(3,) * 12))


# ------------------------------------------------------------------------------------- traces


def test_trace_of_a_difference_shows_it_again(tmp_path: Path) -> None:
    """With the scheduler's picks, through a file, to the byte."""
    lockstep = Lockstep(HASTY, SCOPE, JUDGE)
    found = lockstep.walk(range(40)).difference
    assert found is not None
    assert lockstep.pair is not None
    path = tmp_path / "difference.jsonl"
    traces.write(found.get_trace(Header(shape=SHAPE)), path)
    again = make_pair(HASTY(SHAPE, False, 0))

    assert found == replay_trace(again, traces.read(path))
    first, second = lockstep.pair.subject, again.subject
    assert first.simulated.frame_memory.tobytes() == second.simulated.frame_memory.tobytes()
    assert first.simulated.host_memory.tobytes() == second.simulated.host_memory.tobytes()


def test_without_its_picks_a_trace_shows_something_else() -> None:
    """The picks decide what is seen, and when; the test above can fail."""
    make = partial(make_subject, ("fill starts",))
    again = set()
    for number in range(12):
        found = Lockstep(make, SCOPE, JUDGE).walk(range(number, number + 1)).difference
        if found is not None:
            recorded = symbolic(found.get_trace(Header(shape=SHAPE)))
            lines = tuple([line._replace(picks=[]) for line in recorded.lines])
            pair = make_pair(make(SHAPE, False, 0))
            again.add(found == replay_trace(pair, SymbolicTrace(recorded.header, lines)))

    assert False in again


def test_same_seed_gives_the_same_trace_and_bytes() -> None:
    """A run is its seed."""
    runs = []
    for _ in range(2):
        lockstep = Lockstep(HASTY, SCOPE, JUDGE, seed=5)
        difference = lockstep.walk(range(40)).difference
        assert difference is not None
        assert lockstep.pair is not None
        device = lockstep.pair.subject.simulated
        text = traces.encode(difference.get_trace(Header(shape=SHAPE)))
        runs.append((text, device.frame_memory.tobytes(), device.host_memory.tobytes()))

    assert runs[0] == runs[1]
    assert any(entry.picks for entry in difference.calls)


def test_difference_gets_shorter_and_stays_of_its_kind() -> None:
    """Nobody reads sixty calls."""
    lockstep = Lockstep(HASTY, SCOPE, JUDGE)
    ran = lockstep.walk(range(40))
    assert ran.difference is not None
    header = Header(shape=SHAPE)
    short = shorten_difference(lambda: lockstep.make_pair(0), header, ran.difference)

    assert len(short.calls) < len(ran.difference.calls)
    assert ran.difference.kind == short.kind
    again = replay_trace(lockstep.make_pair(0), symbolic(short.get_trace(header)))
    assert short == again


def test_picks_of_a_call_that_broke_off_are_in_the_trace() -> None:
    """A crash shows again only if the copies land as they did."""

    class Breaks(DeviceModel):
        """It breaks off after it asked the device."""

        def _call(self, call: Any, pick: Any) -> Any:
            outcome = super()._call(call, pick)
            if isinstance(call, Lookup):
                pick(5)
                raise IndexError("after a pick")
            return outcome

    pair = make_pair(Breaks(SHAPE))
    found = run_calls(pair, [(Open(1), DEFAULT), (Alloc(0), DEFAULT), (Lookup(0, 0), DEFAULT)])

    assert found is not None
    assert ("raised", 1) == (found.kind, len(found.calls[-1].picks or ()))
