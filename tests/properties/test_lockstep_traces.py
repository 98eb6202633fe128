"""Picks in traces: what they may be, that none is lost, and that replaying takes them."""

from typing import Any

import pytest
from lockstep_samples import JUDGE, SHAPE

from properties.device_errors import judge_error
from properties.device_subject import DeviceModel
from properties.lookup import FAILING, SIMULATED, load_model
from properties.replay import replay_all
from properties.trace import Header, TraceError, decode, encode, record, symbolic
from reference.calls import (
    DEFAULT,
    Alloc,
    Call,
    CompleteFill,
    Fill,
    Lookup,
    Open,
    Outcome,
    Read,
    Refused,
    Write,
)
from reference.words import Handle, Plan

CALLS = [
    (Open(1), DEFAULT),
    (Alloc(0), DEFAULT),
    (Fill(0, (0,)), DEFAULT),
    (CompleteFill(0, 0, True), DEFAULT),
]
HANDLE = Handle(0, 0, 0)


def get_text() -> str:
    """A trace with picks."""
    model = DeviceModel(SHAPE, pick=lambda options: options - 1)
    return encode(record(model, Header(shape=SHAPE, subject=SIMULATED), CALLS))


def test_picks_come_back_from_a_file() -> None:
    """What the scheduler did is half of what happened."""
    text = get_text()
    found = decode(text)

    assert text == encode(found)
    assert [] != [line.picks for line in found.lines if line.picks]


def test_trace_of_a_subject_without_scheduler_has_no_picks() -> None:
    """Old traces are read as they were, and new ones of the reference look like them."""
    model = load_model("reference", SHAPE, False)
    text = encode(record(model, Header(shape=SHAPE), [(Open(1), DEFAULT)]))

    assert "picks" not in text
    assert [None] == [line.picks for line in decode(text).lines]


@pytest.mark.parametrize(
    ("picks", "why"),
    [
        ("3", "picks is 3: it is a list of the options that were picked, counted from 0"),
        ("null", "picks is missing: it is a list of the options"),
        ('["x"]', "picks[0] is 'x': it is a whole number"),
        ("[1,true]", "picks[1] is True: it is a whole number"),
        ("[0,-1]", "picks[1] is -1: options are counted from 0"),
        ("[1.5]", "picks[0] is 1.5: it is a whole number"),
    ],
)
def test_wrong_picks_are_complained_about(picks: str, why: str) -> None:
    """The place, the value, and what would be right."""
    first, second, *_ = get_text().splitlines()
    head, _, _ = second.partition(',"picks"')
    with pytest.raises(TraceError) as caught:
        decode(f'{first}\n{head},"picks":{picks}}}\n')

    assert 2 == caught.value.line
    assert caught.value.why.startswith(why)


@pytest.mark.parametrize("subject", [SIMULATED, FAILING])
def test_replaying_takes_the_picks(subject: str) -> None:
    """A trace that replays otherwise proves nothing."""
    model: Any = DeviceModel(SHAPE, seed=11, failing=subject == FAILING)
    trace = record(model, Header(shape=SHAPE, subject=subject), CALLS)
    again: Any = load_model(subject, SHAPE, False)
    replay = replay_all(symbolic(trace), again, JUDGE, own=True)

    assert replay.parted is None
    assert model.simulated.frame_memory.tobytes() == again.simulated.frame_memory.tobytes()
    assert [entry.picks for entry in trace.calls] == again.picks(again._live)


# --------------------------------------------------------------------------------------- errors

LOST, DRY = Refused("DeviceLost", ()), Refused("OutOfMemory", ())
READS = Read(0, HANDLE, 0)


@pytest.mark.parametrize(
    ("call", "expected", "error", "faults", "wanted"),
    [
        (READS, Outcome(0), None, (), None),
        (READS, Outcome(0), "OutOfMemory", ("OutOfMemory",), None),
        (READS, Outcome(0), "OutOfMemory", (), "nothing of the kind"),
        (READS, Outcome(0), None, ("DeviceLost",), "no wait for a lost device ends well"),
        (READS, Outcome(refused=LOST), None, ("DeviceLost",), None),
        (READS, Outcome(refused=DRY), "OutOfMemory", ("OutOfMemory",), "it comes before"),
        (Lookup(0, 0), Outcome(None), "DeviceLost", ("DeviceLost",), "needs no device"),
        (Write(0, HANDLE, 0, 1), Outcome(None), None, ("DeviceLost",), None),
        (Fill(0, (0,)), Outcome(Plan(1, (HANDLE,), (0,))), "DeviceLost", ("DeviceLost",), None),
        (Fill(0, ()), Outcome(Plan(None, (), ())), "DeviceLost", ("DeviceLost",), "needs no"),
        (Fill(0, (0,)), Outcome(Plan(1, (), ())), "OutOfMemory", ("OutOfMemory",), "needs no"),
    ],
)
def test_error_is_raised_where_it_is_due_and_nowhere_else(
    call: Call, expected: Outcome, error: str | None, faults: tuple[str, ...], wanted: str | None
) -> None:
    """Else a tier that raises for everything agrees with everything."""
    found = judge_error(call, expected, error, faults)

    assert wanted is None or wanted in (found or "")
    assert (wanted is None) == (found is None)
