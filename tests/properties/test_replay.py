"""Replaying: the same on the same subject, and as near as can be on another."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import (
    DIRT_RULE,
    HEADER,
    JUDGE,
    SHAPE,
    ForgetsDirt,
    HighestPage,
    get_model,
    record_break,
    walk,
)

from properties.judge import Judge
from properties.replay import Replay, replay_all
from properties.scopes import SCOPES, Scope
from properties.subject import FunctionModel, ObjectModel, reference_modules
from properties.trace import Trace, decode, encode, record, symbolic
from reference.calls import (
    DEFAULT,
    Alloc,
    Call,
    Choice,
    Fill,
    Finish,
    MarkDirty,
    Open,
    Release,
    Share,
    Unpin,
)
from reference.words import Handle, Shape

scopes = st.sampled_from([scope for scope in SCOPES.values() if not scope.off])
seeds = st.integers(0, 2**32)


def through_a_file(trace: Trace, model: FunctionModel, own: bool = False) -> Replay:
    """Replay what is left of a trace after it was written and read."""
    return replay_all(decode(encode(trace)), model, JUDGE, own)


@given(st.sampled_from(sorted(SCOPES)), seeds)
@settings(max_examples=30, deadline=None)
def test_same_subject_does_the_same(name: str, seed: int) -> None:
    """A trace that shows something else each time proves nothing."""
    walked = walk(SCOPES[name], seed)
    model = get_model(SCOPES[name].shape, SCOPES[name].off)
    replay = through_a_file(walked, model)
    state = model.initial()
    for made in walked.calls:
        state = model.take(state, made.call, made.choice).after

    assert [made.call for made in walked.calls] == [step.step.call for step in replay.steps]
    assert [made.outcome for made in walked.calls] == [s.step.outcome for s in replay.steps]
    assert replay.parted is None
    assert model.view(state) == replay.end


@given(scopes, seeds)
@settings(max_examples=60, deadline=None)
def test_other_pages_change_no_outcome(scope: Scope, seed: int) -> None:
    """Which free page is handed out is the subject's to choose; a trace must not depend on it."""
    walked = walk(scope, seed)
    replay = through_a_file(walked, HighestPage(scope.shape, False, reference_modules()))
    refused = [made.outcome.refused and made.outcome.refused.name for made in walked.calls]
    got = [s.step.outcome.refused and s.step.outcome.refused.name for s in replay.steps]

    assert refused == got
    assert replay.parted is None


def test_recorded_rule_breaks_again() -> None:
    """A saved counterexample that breaks nothing is a lie."""
    broken = record_break()
    replay = through_a_file(broken, ForgetsDirt(SHAPE, False, reference_modules()), own=True)

    assert {DIRT_RULE.id: (8, broken.header.because)} == replay.breaks
    assert [DIRT_RULE.id] == [verdict.rule for verdict in replay.steps[-1].verdicts]
    assert replay.parted is None


def test_healthy_subject_parts_where_broken() -> None:
    """The first outcome that differs is where to look."""
    replay = through_a_file(record_break(), get_model())
    assert replay.parted is not None

    assert {} == replay.breaks
    assert 8 == replay.parted.n
    assert {"value": None} == replay.parted.line.outcome
    assert {
        "refused": "DirtyFrame",
        "fields": {"lease": "lease@1", "pages": ["page@2"]},
    } == replay.parted.outcome


def test_broken_start_is_judged_too() -> None:
    """A subject may be broken before anybody called it."""
    always = replace(DIRT_RULE, check=lambda _view, _ledger: "so")
    empty = symbolic(record(get_model(), HEADER, []))
    replay = replay_all(empty, get_model(), Judge([always]))

    assert {DIRT_RULE.id: (0, "so")} == replay.breaks
    assert replay.start == replay.end


def test_offered_choice_is_taken_again() -> None:
    """The explorer's choices are the counterexample, as much as its calls."""
    calls: list[tuple[Call, Choice]] = [(Open(1), DEFAULT), (Alloc(0), Choice(page=1))]
    replay = through_a_file(record(get_model(), HEADER, calls), get_model())

    assert ["default", "recorded"] == [step.taken for step in replay.steps]
    assert 1 == replay.steps[1].step.outcome.value


def test_foreign_choice_gives_way_to_default() -> None:
    """Another subject may offer other choices; the calls can be made all the same."""
    model = HighestPage(SHAPE, False, reference_modules())
    calls: list[tuple[Call, Choice]] = [(Open(1), DEFAULT), (Alloc(0), Choice(page=0))]
    recorded = record(get_model(), HEADER, calls)

    assert "other" == through_a_file(recorded, model).steps[1].taken
    assert 1 == through_a_file(recorded, model).steps[1].step.outcome.value
    assert "recorded" == through_a_file(recorded, model, own=True).steps[1].taken
    assert 0 == through_a_file(recorded, model, own=True).steps[1].step.outcome.value


def test_missing_choice_is_the_default() -> None:
    """A trace written by hand need not say what is chosen."""
    calls: list[tuple[Call, Choice]] = [(Open(1), DEFAULT), (Alloc(0), DEFAULT)]
    replay = through_a_file(record(get_model(), HEADER, calls), get_model(), own=True)

    assert ["default", "default"] == [step.taken for step in replay.steps]
    assert Choice(page=0) == replay.steps[1].choice


def test_name_not_issued_here_is_nobodys() -> None:
    """After outcomes part, the rest of the trace still runs, and is refused."""
    wide = get_model(Shape(2, 2, 1))
    calls: list[tuple[Call, Choice]] = [(Open(1), DEFAULT), (Open(1), DEFAULT)]
    calls += [(Alloc(1), Choice(page=0)), (Finish(1), DEFAULT), (Finish(0), DEFAULT)]
    replay = replay_all(symbolic(record(wide, HEADER, calls)), get_model(), JUDGE)
    refused = [s.step.outcome.refused and s.step.outcome.refused.name for s in replay.steps]

    assert [None, "PromiseUnavailable", "UnknownLease", "UnknownLease", None] == refused


def test_dead_page_stays_dead_elsewhere() -> None:
    """Another pool gives a dead page's id to the next page, and the old name must not follow."""
    scope_shape = Shape(2, 1, 1)
    calls: list[tuple[Call, Choice]] = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Release(0, 0), DEFAULT),
        (Alloc(0), Choice(page=1)),
        (Share(0, 0), DEFAULT),
        (Share(0, 1), DEFAULT),
    ]
    walked = record(get_model(scope_shape), HEADER, calls)
    replay = through_a_file(walked, HighestPage(scope_shape, False, reference_modules()))

    assert [1, 1] == [replay.steps[n].step.outcome.value for n in (1, 3)]
    assert Share(0, 0) == replay.steps[4].step.call
    assert replay.parted is None


def test_missing_pages_stay_apart() -> None:
    """Two pages that this subject never gave out are still two, or a fill asks for one twice."""
    calls: list[tuple[Call, Choice]] = [
        (Open(2), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Alloc(0), Choice(page=1)),
        (Alloc(0), Choice(page=2)),
        (Fill(0, (1, 2)), Choice(frames=(0, 1))),
        (MarkDirty(0, Handle(2, 1, 0)), DEFAULT),
        (Unpin(0, Handle(2, 1, 1)), DEFAULT),
    ]
    recorded = symbolic(record(get_model(Shape(3, 2, 1)), HEADER, calls))
    replay = replay_all(recorded, get_model(Shape(1, 2, 1)), JUDGE)
    refused = [s.step.outcome.refused and s.step.outcome.refused.name for s in replay.steps]

    assert Fill(0, (1, 2)) == replay.steps[4].step.call
    assert [None, None, "PageMemory", "PageMemory", "NotHeld"] == refused[:5]
    assert ["StaleHandle", "StaleHandle"] == refused[5:]


def test_mutable_reference_replays_alike() -> None:
    """A trace does not depend on how its subject keeps its state."""
    walked = walk(SCOPES["default"], 5)
    model = ObjectModel(SCOPES["default"].shape, False, reference_modules())

    assert replay_all(symbolic(walked), model, JUDGE).parted is None
