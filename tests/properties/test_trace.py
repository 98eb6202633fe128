"""The trace file: its text, what it refuses, and that nothing is lost in it."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import HEADER, JUDGE, get_model, record_break, record_leaving, walk

from properties import trace
from properties.render import render_calls
from properties.replay import replay_all
from properties.scopes import SCOPES
from properties.trace import TraceError, decode, encode, read, record, symbolic
from reference.calls import (
    CALLS,
    DEFAULT,
    FAILED,
    Alloc,
    Choice,
    CompleteFill,
    Fault,
    Fill,
    Finish,
    Lookup,
    MarkDirty,
    Open,
    Outcome,
    Read,
    Refused,
    Release,
    Share,
    Unpin,
)
from reference.words import Handle, Plan

scopes = st.sampled_from(sorted(SCOPES)).map(SCOPES.__getitem__)
seeds = st.integers(0, 2**32)

FIRST = (
    '{"format":"tierproof-trace","version":1,"shape":{"pages":2,"frames":1,"rows":1},'
    '"off":false,"subject":"reference","rule":null,"because":null,"scope":null}'
)
OPEN = '{"n":1,"op":"open","promise":1,"outcome":{"value":"lease@1"}}'
ALLOC = '{"n":2,"op":"alloc","lease":"lease@1","choice":{"page":0},"outcome":{"value":"page@2"}}'
FILL = (
    '{"n":3,"op":"fill","lease":"lease@1","pages":["page@2"],"choice":{"frames":[{"free":0}]},'
    '"outcome":{"value":{"ticket":"ticket@3","handles":["handle@3.0"],"misses":["page@2"]}}}'
)


# -------------------------------------------------------------------------------- what is written


@given(scopes, seeds)
@settings(max_examples=30, deadline=None)
def test_decoding_gives_what_was_encoded(scope: object, seed: int) -> None:
    """A counterexample that changes on its way through a file is none."""
    walked = walk(scope, seed)
    text = encode(walked)

    assert symbolic(walked) == decode(text)
    assert text == encode(decode(text))


def test_names_say_which_call_issued_them() -> None:
    """A trace must replay where the pool and the victims are chosen otherwise."""
    calls = [(Open(1), DEFAULT), (Alloc(0), Choice(page=0)), (Fill(0, (0,)), Choice(frames=(0,)))]

    assert [FIRST, OPEN, ALLOC, FILL] == encode(record(get_model(), HEADER, calls)).splitlines()


def test_victims_are_named_by_page() -> None:
    """Another subject keeps the victim in another frame."""
    calls = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=1)),
        (Alloc(0), Choice(page=0)),
        (Fill(0, (1,)), Choice(frames=(0,))),
        (CompleteFill(0, 0, True), DEFAULT),
        (Unpin(0, Handle(1, 0, 0)), DEFAULT),
        (Fill(0, (0,)), Choice(frames=(0,), fault=Fault(1, unmapped=True))),
    ]
    last = symbolic(record(get_model(), HEADER, calls)).lines[-1]

    assert {
        "frames": [{"victim": "page@2", "frame": 0}],
        "fault": {"miss": 1, "unmapped": True},
    } == last.choice
    assert {"failed": True} == last.outcome


def test_what_nobody_issued_is_literal() -> None:
    """A forged name must not be taken for one that was given out."""
    calls = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Fill(0, (0,)), Choice(frames=(0,))),
        (Share(99, 1), DEFAULT),
        (MarkDirty(0, Handle(1, 0, -1)), DEFAULT),
        (MarkDirty(0, Handle(0, 7, 3)), DEFAULT),
    ]
    share, near, far = symbolic(record(get_model(), HEADER, calls)).lines[3:]

    assert {"lease": {"lease": 99}, "page": {"page": 1}} == share.arguments
    assert {
        "page": 1,
        "frame_of": "handle@3.0",
        "generation_of": "handle@3.0",
        "plus": -1,
    } == near.arguments["handle"]
    assert {"page": "page@2", "frame": 7, "generation": 3} == far.arguments["handle"]


def test_later_life_has_later_name() -> None:
    """A page id lives again; the trace tells its lives apart."""
    calls = [
        (Open(1), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Release(0, 0), DEFAULT),
        (Alloc(0), Choice(page=0)),
        (Lookup(0, 0), DEFAULT),
    ]
    lines = symbolic(record(get_model(), HEADER, calls)).lines

    assert {"page": "page@2"} == lines[3].choice
    assert {"value": "page@4"} == lines[3].outcome
    assert "page@4" == lines[4].arguments["page"]


def test_every_operation_comes_through_a_file() -> None:
    """Those beyond the spec's table too, with what they answer, and replayed alike."""
    recorded = record_leaving()
    read_back = decode(encode(recorded))
    replay = replay_all(read_back, get_model(recorded.header.shape), JUDGE)
    outcomes = {line.n: line.outcome for line in read_back.lines}

    assert symbolic(recorded) == read_back
    assert {*CALLS} - {Lookup, Read, Release, Share, Finish} == {
        type(entry.call) for entry in recorded.calls
    }
    assert [entry.outcome for entry in recorded.calls] == [s.step.outcome for s in replay.steps]
    assert replay.parted is None
    assert [{"value": "page@3"}, {"value": None}] == [outcomes[n] for n in (11, 12)]
    assert [{"value": []}, {"value": ["page@3"]}] == [outcomes[n] for n in (14, 25)]
    assert {"failed": True} == outcomes[18]
    assert {"refused": "RowsLost", "fields": {"page": "page@3"}} == outcomes[26]


def test_failed_fill_says_what_went_with_it() -> None:
    """The pages of which its claim alone kept the rows; nothing where there were none."""
    calls = (
        trace.Made(Open(1), DEFAULT, Outcome(0)),
        trace.Made(Alloc(0), DEFAULT, Outcome(3)),
        trace.Made(CompleteFill(0, 7, False), DEFAULT, FAILED._replace(value=(3,))),
        trace.Made(CompleteFill(0, 7, False), DEFAULT, FAILED),
    )
    lines = decode(encode(trace.Trace(HEADER, calls))).lines
    shown = render_calls(decode(encode(trace.Trace(HEADER, calls))))

    assert [{"failed": True, "value": ["page@2"]}, {"failed": True}] == [
        line.outcome for line in lines[2:]
    ]
    assert "failed, gone [p2]" in shown


def test_odd_values_are_kept_as_shown() -> None:
    """A broken subject may return anything, and its trace is the one we need most."""
    odd = Plan(True, (Handle(0, 0, None), Handle(0, 0, 0)), (None,))  # type: ignore[arg-type]
    refused = Refused("NotHeld", (("lease", None), ("page", (0, "x"))))
    values = [
        (Open(1), Outcome(value=(1, 2))),
        (Alloc(0), Outcome(value=None)),
        (Fill(0, ()), Outcome(value=None)),
        (Fill(0, (0, 1)), Outcome(value=odd)),
        (Lookup(0, 0), Outcome(value={1})),
        (Share(0, 0), Outcome(refused=refused)),
    ]
    calls = tuple(trace.Made(call, DEFAULT, outcome) for call, outcome in values)
    text = encode(trace.Trace(HEADER, calls))

    assert text == encode(decode(text))
    assert [
        {"value": [1, 2]},
        {"value": None},
        {"value": None},
        {"value": {"ticket": True, "handles": [[0, 0, None], "handle@4.1"], "misses": [None]}},
        {"value": {"repr": "{1}"}},
        {"refused": "NotHeld", "fields": {"lease": None, "page": [0, "x"]}},
    ] == [line.outcome for line in decode(text).lines]
    assert "refused NotHeld: lease none, page [0, x]" in render_calls(decode(text))
    assert "true, misses [none], handles [[0, 0, none], h4.1]" in render_calls(decode(text))


# -------------------------------------------------------------------------------- what is refused


def test_every_wrong_line_is_told() -> None:
    """A trace is edited by hand, copied in parts, and sent around."""
    lookup = '{"n":3,"op":"lookup","lease":"lease@1","page":%s,"outcome":{"value":null}}'
    mark = '{"n":4,"op":"mark_dirty","lease":"lease@1","handle":%s,"outcome":{"value":null}}'
    leave = '{"n":3,"op":"abandon","lease":%s,"outcome":{"value":[]}}'
    land = '{"n":3,"op":"land","ticket":%s,"ok":%s,"outcome":{"value":null}}'
    cut = '{"n":3,"op":"truncate","lease":"lease@1","page":"page@2",%s"outcome":{"value":null}}'
    give = '{"n":3,"op":"%s","lease":"lease@1","key":%s,"outcome":{"value":null}}'
    wrong = [
        ([OPEN, ALLOC, leave % '"page@2"'], 4, "lease is 'page@2': names of this kind look"),
        ([OPEN, ALLOC, leave % '"lease@1","key":1'], 4, "abandon has 'key': it may have choice, l"),
        ([OPEN, ALLOC, land % ('"ticket@2"', "true")], 4, "ticket is 'ticket@2': a ticket comes"),
        ([OPEN, ALLOC, land % ("5", "true")], 4, 'ticket is 5: a ticket is a name like "tick'),
        ([OPEN, ALLOC, land % ('{"ticket":5}', "1")], 4, "ok is 1: it is true or false"),
        ([OPEN, ALLOC, cut % ""], 4, "truncate lacks rows"),
        ([OPEN, ALLOC, cut % '"rows":"1",'], 4, "rows is '1': it is a whole number"),
        ([OPEN, ALLOC, give % ("find", '"page@2"')], 4, "key is 'page@2': it is a whole number"),
        ([OPEN, ALLOC, give % ("publish", "1")], 4, "publish lacks page"),
        ([OPEN, '{"n":2,"op":"reset","lease":"lease@1"}'], 3, "reset lacks outcome"),
        ([OPEN, '{"n":2,"op":"reset","x":1,"outcome":{"value":[]}}'], 3, "reset has 'x': it may"),
        (
            [OPEN, '{"n":2,"op":"reset","outcome":{"value":["page@1"]}}'],
            3,
            "outcome.value[0] is 'page@1': a page comes from alloc, and call 1 is open",
        ),
        (["{"], 2, "not JSON: "),
        (["[]"], 2, "is []; a call is an object"),
        ([""], 2, "not JSON: "),
        ([OPEN.replace('"n":1', '"n":2')], 2, "n is 2: this is call 1"),
        ([OPEN.replace("open", "shut")], 2, "op is 'shut': operations are open, alloc,"),
        ([OPEN.replace('"promise":1,', "")], 2, "open lacks promise"),
        ([OPEN.replace('"promise"', '"x":1,"promise"')], 2, "open has 'x': it may have"),
        ([OPEN.replace('"promise":1', '"promise":true')], 2, "promise is True: it is a whole"),
        ([OPEN.replace('"promise":1', f'"promise":{2**60}')], 2, f"promise is {2**60}: it is a"),
        ([OPEN.replace('"value"', '"worth"')], 2, "outcome lacks value"),
        ([OPEN.replace('"value":"lease@1"', '"failed":false')], 2, "outcome.failed is False"),
        ([OPEN, ALLOC.replace("lease@1", "lease@2")], 3, "lease is 'lease@2': calls before this"),
        ([OPEN, ALLOC, lookup % '"page@1"'], 4, "page is 'page@1': a page comes from alloc,"),
        ([OPEN, ALLOC, lookup % '"lease@1"'], 4, "page is 'lease@1': names of this kind look"),
        ([OPEN, ALLOC, lookup % "0"], 4, 'page is 0: a page is a name like "page@1", or'),
        ([OPEN, ALLOC, FILL, mark % '"handle@3.1"'], 5, "handle is 'handle@3.1': call 3 filled 1"),
        ([OPEN, ALLOC, FILL, mark % '"handle@3"'], 5, "handle is 'handle@3': call 3 filled 1"),
        ([OPEN, ALLOC, FILL, mark % '{"page":0}'], 5, "handle lacks frame, generation"),
        ([OPEN, ALLOC, FILL.replace('"free":0', '"free":1')], 4, "choice.frames[0].free is 1: fr"),
        ([OPEN, ALLOC.replace('"page":0', '"page":0,"frames":[]')], 3, "choice has 'frames'"),
        (
            [OPEN.replace('"value":"lease@1"', '"refused":"BadPromise","fields":{}'), ALLOC],
            3,
            "lease is 'lease@1': call 1 issued no lease",
        ),
    ]
    for lines, line, why in wrong:
        with pytest.raises(TraceError) as caught:
            decode("\n".join([FIRST, *lines]) + "\n", "a.jsonl")

        assert ("a.jsonl", line) == (caught.value.path, caught.value.line), lines
        assert caught.value.why.startswith(why), caught.value.why
        assert f"a.jsonl:{line}: {caught.value.why}" == str(caught.value)


def test_every_wrong_header_is_told() -> None:
    """Someone else's JSON must not be replayed as calls of ours."""
    wrong = [
        ("", "the file is empty"),
        ("[1]", "not a trace: the first line of a trace has"),
        ('{"format":"other"}', "not a trace: the first line of a trace has"),
        (FIRST.replace('"version":1', '"version":2'), "version is 2: this program reads version 1"),
        (FIRST.replace('"rows":1', '"rows":0'), "the header is wrong: Expected `int` >= 1"),
        (FIRST.replace(',"rows":1', ""), "the header is wrong: Object missing required field"),
        (FIRST.replace('"off":false', '"off":true'), "off is true with 2 pages and 1 frames"),
        (FIRST.replace('"scope"', '"x":1,"scope"'), "the header is wrong: Object contains unkn"),
    ]
    for text, why in wrong:
        with pytest.raises(TraceError) as caught:
            decode(text)

        assert 1 == caught.value.line
        assert caught.value.why.startswith(why), caught.value.why


def decode_or_refuse(text: str) -> None:
    """Decode a text; the only exception allowed is ours, and it names a line that is there.

    What is decoded can also be shown and replayed, whatever it says.
    """
    try:
        decoded = decode(text)
    except TraceError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert "\n" not in error.why
    else:
        assert decoded == decode(encode(decoded))
        assert 1 + len(decoded.lines) == len(render_calls(decoded).split("\n")) - 1
        if max(decoded.header.shape) < 10:
            model = get_model(decoded.header.shape, decoded.header.off)
            assert len(decoded.lines) == len(replay_all(decoded, model, JUDGE).steps)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.text() | st.lists(json_values.map(str), max_size=4).map("\n".join))
@settings(max_examples=200, deadline=None)
def test_any_text_decodes_or_refuses(text: str) -> None:
    """A traceback tells the user nothing about the file."""
    decode_or_refuse(text)
    decode_or_refuse(f"{FIRST}\n{text}")


@given(seeds, st.integers(0), st.integers(0), st.text(max_size=3))
@settings(max_examples=200, deadline=None)
def test_damaged_text_decodes_or_refuses(seed: int, start: int, size: int, patch: str) -> None:
    """Most wrong traces are right ones with a little damage."""
    text = encode(record_break() if seed % 2 else walk(SCOPES["tiny"], seed % 20, 12))
    start %= len(text)

    decode_or_refuse(text[:start] + patch + text[start + size % 20 :])


@given(st.data(), json_values)
@settings(max_examples=200, deadline=None)
def test_any_value_anywhere_is_refused(data: st.DataObject, value: object) -> None:
    """What is well-formed JSON may still be nonsense at any depth."""
    lines = [msgspec.json.decode(line) for line in encode(record_break()).splitlines()]
    place = data.draw(st.sampled_from(lines))
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else [0]))
        inner = place[key] if place else None
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = value

    decode_or_refuse("\n".join(msgspec.json.encode(line).decode() for line in lines))


def test_deep_nesting_is_refused() -> None:
    """Recursion is the classic way to crash a reader of JSON."""
    deep = "[" * 400 + "]" * 400
    for line in ("[" * 100_000, OPEN.replace('"lease@1"', deep)):
        with pytest.raises(TraceError) as caught:
            decode(f"{FIRST}\n{line}")

        assert 2 == caught.value.line


# --------------------------------------------------------------------------------------- the file


def test_written_trace_is_read_back(tmp_path: Path) -> None:
    """Nothing is left beside the file, or the next listing shows it."""
    path = tmp_path / "new" / "a.jsonl"
    trace.write(record_break(), path)

    assert symbolic(record_break()) == read(path)
    assert [path] == list(path.parent.iterdir())


def test_failed_write_keeps_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted run leaves the last good trace in place."""
    path = tmp_path / "a.jsonl"
    trace.write(record_break(), path)

    def fail(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        trace.write(walk(SCOPES["tiny"], 1), path)

    assert symbolic(record_break()) == read(path)
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("missing.jsonl", None, "cannot be read: No such file or directory"),
        ("binary.jsonl", b"\xff\xfe\x00", "not text in UTF-8: invalid start byte"),
    ],
)
def test_unreadable_file_is_refused(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    """The path is what users get wrong most."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        read(path)

    assert (str(path), 1, why) == (caught.value.path, caught.value.line, caught.value.why)
