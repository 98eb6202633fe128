"""Minimising: short traces that still break the same rule, quickly, and the shortest there are."""

from time import process_time

import pytest
from walk_samples import JUDGE, RULES, SMALL, find_breaks, get_header, get_mutant

from properties.drawing import make_scope
from properties.grammar import Line
from properties.minimise import find_shortest, find_smaller, minimise
from properties.replay import replay_all
from properties.scopes import SCOPES
from properties.simpler import simpler_lines
from properties.trace import Header, Trace, decode, encode, record
from reference.calls import (
    DEFAULT,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    Fill,
    Open,
    Reset,
    Unpin,
)
from reference.words import Handle, Shape


def minimise_break(mutant_id: str, rule: str) -> Trace:
    """The short trace of what walks find first on a mutant."""
    path = find_breaks(mutant_id)[rule].path
    return minimise(get_mutant(mutant_id), get_header(mutant_id), path, RULES[rule])


@pytest.mark.parametrize(
    ("mutant_id", "rule", "calls"),
    [
        ("fill.fault-skips-the-undo", "failed-fill-is-undone", 3),
        ("tier.unsaved-page-is-let-go", "no-pin-leaves-dirt", 8),
        ("tier.open-counts-pages-in-use", "promises-are-covered", 2),
        ("fill.victim-ignores-pins", "victim-was-evictable", 12),
        ("tier.fresh-page-keeps-old-rows", "fresh-page-reads-zero", 14),
    ],
)
def test_short_trace_breaks_the_same_rule(mutant_id: str, rule: str, calls: int) -> None:
    """A reader gets the few calls that matter, in a file that shows them again."""
    trace = minimise_break(mutant_id, rule)
    header = trace.header
    model = get_mutant(mutant_id)(header.shape, header.off)
    replay = replay_all(decode(encode(trace)), model, JUDGE, own=True)

    assert len(trace.calls) <= calls
    assert (len(trace.calls), header.because) == replay.breaks[rule]
    assert header.rule == rule
    assert replay.parted is None


def test_smaller_tier_is_taken() -> None:
    """Most breaks need one page and one frame; what is not there need not be understood."""
    trace = minimise_break("tier.unsaved-page-is-let-go", "no-pin-leaves-dirt")

    assert Shape(1, 1, 1) == trace.header.shape


def test_no_call_can_be_left_out() -> None:
    """Otherwise it is not minimal, and the reader wonders about the call."""
    mutant_id, rule = "fill.victim-ignores-own-claims", "fill-keeps-its-hits"
    trace = minimise_break(mutant_id, rule)
    path = [(made.call, made.choice) for made in trace.calls]
    again = minimise(get_mutant(mutant_id), trace.header, path, RULES[rule])

    assert encode(trace) == encode(again)


def test_minimising_takes_under_a_second() -> None:
    """It runs after each finding, while somebody waits."""
    mutant_id = "tables.handle-ignores-frame"
    rule, broken = next(iter(find_breaks(mutant_id).items()))
    begun = process_time()
    minimise(get_mutant(mutant_id), get_header(mutant_id), broken.path, RULES[rule])

    assert len(broken.path) > 40
    assert process_time() - begun < 1.0


def test_search_finds_the_shortest_trace() -> None:
    """Leaving out calls ends in a place from where only other calls are shorter."""
    mutant_id, rule = "tables.handle-ignores-frame", "refusal-is-due"
    trace = minimise_break(mutant_id, rule)
    shape = trace.header.shape
    model = get_mutant(mutant_id)(shape, False)
    shortest = find_shortest(model, make_scope(shape), trace, RULES[rule], states=3_000)

    assert 4 == len(shortest.calls) < len(trace.calls)
    assert rule in replay_all(decode(encode(shortest)), model, JUDGE, own=True).breaks


def test_search_keeps_what_is_shortest() -> None:
    """A trace that is as short as can be stays as it was written."""
    mutant_id, rule = "fill.fault-skips-the-undo", "failed-fill-is-undone"
    trace = minimise_break(mutant_id, rule)
    model = get_mutant(mutant_id)(trace.header.shape, False)
    scope = make_scope(trace.header.shape)

    assert trace == find_shortest(model, scope, trace, RULES[rule], states=3_000)


@pytest.mark.parametrize(
    ("mutant_id", "rule", "calls"),
    [
        ("leave.abandon-only-unlocks", "quarantined-frames-wait", 4),
        ("leave.reset-keeps-tickets", "reset-drops-all", 4),
        ("drafts.truncate-forgets-the-host-page", "truncate-takes-back", 9),
    ],
)
def test_wider_break_becomes_short(mutant_id: str, rule: str, calls: int) -> None:
    """Walks of every operation are as long as others, and as hard to read."""
    scope = SCOPES["all"]
    path = find_breaks(mutant_id, scope)[rule].path
    trace = minimise(get_mutant(mutant_id), get_header(mutant_id, scope), path, RULES[rule])
    model = get_mutant(mutant_id)(trace.header.shape, False)

    assert len(trace.calls) <= calls < len(path)
    assert Shape(1, 1, 1) == trace.header.shape
    assert rule in replay_all(decode(encode(trace)), model, JUDGE, own=True).breaks


def test_search_makes_the_calls_of_its_scope() -> None:
    """With the operations of the spec's table alone a break by a reset is found by none."""
    mutant_id, rule = "leave.reset-keeps-tickets", "reset-drops-all"
    shape = Shape(2, 1, 1)
    model = get_mutant(mutant_id)(shape, False)
    first = Handle(0, 0, 0)
    calls: list[tuple[Call, Choice]] = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Alloc(0), Choice(page=1)),
        (Fill(0, (0,)), Choice(frames=(0,))),
        (CompleteFill(0, 0, True), DEFAULT),
        (Unpin(0, first), DEFAULT),
        (Fill(0, (1,)), Choice(frames=(0,))),
        (Reset(), DEFAULT),
    ]
    trace = record(model, Header(shape=shape, subject=mutant_id, rule=rule), calls)
    narrow, wide = make_scope(shape), make_scope(shape, like=SCOPES["all"])
    shortest = find_shortest(model, wide, trace, RULES[rule], states=1_500)

    assert trace == find_shortest(model, narrow, trace, RULES[rule], states=1_500)
    assert [Open, Alloc, Fill, Reset] == [type(made.call) for made in shortest.calls]


def test_smaller_tier_is_walked_with_the_same_calls() -> None:
    """What only a reset breaks is not found without one."""
    mutant_id, rule = "leave.reset-keeps-tickets", RULES["reset-drops-all"]
    make, header = get_mutant(mutant_id), get_header(mutant_id, SCOPES["all"])
    smaller = find_smaller(make, header, rule, seed=0, like=SCOPES["all"])

    assert smaller is not None
    assert Reset() == smaller.broken.path[-1][0]
    assert find_smaller(make, header, rule, seed=0) is None


def test_break_of_a_large_tier_becomes_small() -> None:
    """A thousand calls that fill a tier hide the ten that matter."""
    rule = "victim-was-evictable"
    mutant_id = "fill.victim-ignores-pins"
    header = get_header(mutant_id, make_scope(Shape(2048, 512, 2)))
    smaller = find_smaller(get_mutant(mutant_id), header, RULES[rule], seed=0)

    assert smaller is not None
    assert smaller.shape.frames <= 3
    assert rule == smaller.broken.rule


def test_calls_without_a_break_are_refused() -> None:
    """Nothing can be made of calls that break nothing."""
    make = get_mutant("fill.fault-skips-the-undo")
    with pytest.raises(ValueError, match="the 1 calls do not break dirty-is-pinned"):
        minimise(make, get_header("x"), [(Open(1), DEFAULT)], RULES["dirty-is-pinned"])


def test_minimising_twice_is_the_same() -> None:
    """The file of a finding is the same wherever it was found."""
    first, second = (minimise_break("tier.unpin-gives-up-two", "pins-by-the-book") for _ in "12")

    assert SMALL.shape != first.header.shape
    assert encode(first) == encode(second)


def test_simpler_calls_come_simplest_first() -> None:
    """Whoever reads the trace then meets the fewest leases, pages and numbers."""
    earlier = [
        Line(1, "open", {"promise": 1}, None, {"value": "lease@1"}),
        Line(2, "open", {"promise": 1}, None, {"value": "lease@2"}),
    ]
    pages = {"lease": "lease@2", "pages": ["page@3", "page@4"]}
    line = Line(5, "fill", pages, {"fault": {"miss": 1, "unmapped": False}}, {"failed": True})
    simpler = [(one.arguments, one.choice) for one in simpler_lines(line, earlier)]

    assert [
        (pages, None),
        ({**pages, "pages": ["page@4"]}, line.choice),
        ({**pages, "pages": ["page@3"]}, line.choice),
        ({**pages, "lease": "lease@1"}, line.choice),
    ] == simpler
