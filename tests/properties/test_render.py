"""What people read: the words for changes, and the golden texts of traces and breaks."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import (
    DIRT_RULE,
    FORGETS_DIRT,
    JUDGE,
    SHAPE,
    ForgetsDirt,
    HighestPage,
    get_model,
    record_break,
    record_choices,
    record_leaving,
    walk,
)

from properties.judge import Judge
from properties.render import (
    explain_changes,
    render_calls,
    render_columns,
    render_replay,
    render_view,
    show,
)
from properties.replay import Replay, replay_all
from properties.scopes import SCOPES
from properties.subject import reference_modules
from properties.trace import symbolic
from properties.view import FrameView, OrphanView, View
from reference.words import Phase

GOLDEN = Path(__file__).parent.parent / "golden"
PATH = "tests/golden/dirt-dropped.jsonl"
RULES = {DIRT_RULE.id: DIRT_RULE}


def replay_break() -> Replay:
    """The example break, on the subject it was recorded on."""
    model = ForgetsDirt(SHAPE, False, reference_modules())
    return replay_all(symbolic(record_break()), model, JUDGE, own=True)


def expect_golden(name: str, text: str) -> None:
    """Compare with a golden file. To accept a new text, copy it from `build/golden`."""
    out = GOLDEN.parent.parent / "build" / "golden" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")

    assert (GOLDEN / name).read_text(encoding="utf-8") == text


def test_break_is_shown_as_agreed() -> None:
    """This is what a user sees of a bug; a changed text is a changed feature."""
    expect_golden("break.txt", render_replay(replay_break(), RULES, FORGETS_DIRT, PATH))


def test_healthy_replay_shows_the_parting() -> None:
    """Beside the broken subject one wants to see the healthy one."""
    replay = replay_all(symbolic(record_break()), get_model(), JUDGE)

    expect_golden("parting.txt", render_replay(replay, RULES, "reference", PATH))


def test_choices_and_faults_are_shown() -> None:
    """A fault that the reader cannot see makes the calls look innocent."""
    recorded = record_choices()
    replay = replay_all(symbolic(recorded), get_model(recorded.header.shape), JUDGE)

    expect_golden("choices.txt", render_replay(replay, RULES, "reference", "choices.jsonl"))


def test_leaving_and_keys_are_shown() -> None:
    """What a lease leaves behind, and what a key names, is why later calls are refused."""
    recorded = record_leaving()
    replay = replay_all(symbolic(recorded), get_model(recorded.header.shape), JUDGE)

    expect_golden("leaving.txt", render_replay(replay, RULES, "reference", "leaving.jsonl"))


def test_state_tells_what_was_left_behind() -> None:
    """Only where there is something: most tiers have no such operations."""
    recorded = record_leaving()
    replay = replay_all(symbolic(recorded), get_model(recorded.header.shape), JUDGE)
    views = [set(render_view(step.step.after).splitlines()) for step in replay.steps]

    assert {"frame 0: QUARANTINED, generation 2", "key 3: page 0"} <= views[15]
    assert "quarantine: fill 2 into frames [0], pages [0]" in views[15]
    assert "lost pages: [0]" in views[24]
    assert "retired pages: [0]" in views[30]
    assert not any(word in line for line in views[7] for word in ("quarantine", "key", "lost"))


def test_choice_not_offered_is_shown() -> None:
    """On another subject the reader must see that it was led another way."""
    model = HighestPage(SHAPE, False, reference_modules())
    replay = replay_all(symbolic(record_break()), model, JUDGE)
    alloc = render_replay(replay, RULES, "other", PATH).splitlines()[6]

    assert alloc.startswith("  2  alloc(L1)                        p2 = page 1 ")
    assert alloc.endswith("  recorded choice not offered: page 0")


def test_recorded_calls_are_shown_alone() -> None:
    """A report lists a trace without making its calls again."""
    expect_golden("calls.txt", render_calls(symbolic(record_break())))


def test_state_is_shown_whole() -> None:
    """A state has no history to explain it, so every table is there."""
    expect_golden("view.txt", render_view(replay_break().end))


def test_last_line_shows_it_again() -> None:
    """Each failure ends with the command that shows it again."""
    text = render_replay(replay_break(), RULES, FORGETS_DIRT, PATH)

    assert f"  replay   python -m properties replay {PATH}" == text.splitlines()[-1]


def test_only_the_broken_line_is_marked() -> None:
    """The eye goes to the mark first."""
    text = render_replay(replay_break(), RULES, FORGETS_DIRT, PATH)
    marked = [line for line in text.splitlines() if "<- " in line]

    assert 1 == len(marked)
    assert marked[0].startswith("  8  unpin(L1, h3.0)")
    assert marked[0].endswith("<- dirty-is-pinned")


def test_unknown_rule_is_said_so() -> None:
    """A trace may be older or newer than the rules."""
    text = render_replay(replay_break(), {}, FORGETS_DIRT, PATH)

    assert "  rule     not a rule of this version" in text.splitlines()


def test_graph_rule_is_not_called_green() -> None:
    """What a replay cannot judge must not read as a pass."""
    rules = {DIRT_RULE.id: replace(DIRT_RULE, kind="graph")}
    replay = replay_all(symbolic(record_break()), get_model(), JUDGE)
    first = render_replay(replay, rules, "reference", PATH).splitlines()[0]

    assert "dirty-is-pinned: judged over a whole scope, not by a replay; recorded on" in first


def test_other_broken_rules_are_named() -> None:
    """One bug often breaks several rules, from the start or later; none hides another."""
    always = replace(DIRT_RULE, id="always", check=lambda _view, _ledger: "so it is")
    model = ForgetsDirt(SHAPE, False, reference_modules())
    replay = replay_all(symbolic(record_break()), model, Judge([always, DIRT_RULE]))
    lines = render_replay(replay, RULES, FORGETS_DIRT, PATH).splitlines()

    assert "  also     always at call 0: so it is" == lines[3]
    assert lines[6].split() == ["0", "the", "state", "before", "any", "call", "<-", "always"]
    assert lines[-3].endswith("<- dirty-is-pinned, always")


# --------------------------------------------------------------------------------------- changes


@given(st.sampled_from(sorted(SCOPES)), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_no_change_is_silent(name: str, seed: int) -> None:
    """A call that changed something and shows nothing hides the bug."""
    scope = SCOPES[name]
    model = get_model(scope.shape, scope.off)
    for step in replay_all(symbolic(walk(scope, seed)), model, JUDGE).steps:
        before, after = step.step.before, step.step.after

        assert (before == after) == (explain_changes(before, after) == [])


def get_view(**changes: Any) -> View:
    """The view after the fill of the example, changed."""
    return msgspec.structs.replace(replay_break().steps[3].step.after, **changes)


BASE = get_view()


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        (get_view(), []),
        (get_view(where=(None, None)), ["page 0 mapped by: frame 0 -> none"]),
        (get_view(holds=(2, 0)), ["page 0 holds: 1 -> 2"]),
        (get_view(free=()), ["free pages: [1] -> []"]),
        (get_view(recency=None), ["recency: [0] -> none"]),
        (get_view(torn=(0,), host={0: None}), ["host page 0: [0] -> torn"]),
        (
            get_view(frames=(msgspec.structs.replace(BASE.frames[0], dirty=True, generation=1),)),
            ["frame 0: READY page 0 -> READY page 0 dirty", "frame 0 generation: 0 -> 1"],
        ),
        (
            get_view(frames=(msgspec.structs.replace(BASE.frames[0], rows=(7,)),)),
            ["frame 0 rows: [0] -> [7]"],
        ),
        (
            get_view(leases={0: msgspec.structs.replace(BASE.leases[0], pins={0: 2})}),
            ["lease 0 pins page 0: 1 -> 2"],
        ),
        (get_view(off=True), ["off: False -> True"]),
        (get_view(lost=(0, 1)), ["lost pages: [] -> [0, 1]"]),
        (get_view(keys={7: 0}), ["key 7: none -> page 0"]),
        (get_view(retired=(1,), free=()), ["retired pages: [] -> [1]"]),
        (
            get_view(quarantine=(OrphanView(5, "write-back", (0,), (1,)),)),
            ["quarantine: write-back 5 from frames [0], pages [1] in flight"],
        ),
        (
            get_view(frames=(FrameView(None, 0, Phase.QUARANTINED, False, None),)),
            ["frame 0: READY page 0 -> QUARANTINED"],
        ),
    ],
)
def test_change_says_field_and_values(after: View, lines: list[str]) -> None:
    """Tables that repeat each other are shown only where they disagree."""
    assert lines == explain_changes(BASE, after)


def test_columns_are_as_wide_as_needed() -> None:
    """Tables of any command line up the same way."""
    assert ["a    b", "ccc  d"] == render_columns([["a", "b"], ["ccc", "d"]])


# -------------------------------------------------------------------------------------- terminal


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_pipe_gets_plain_text() -> None:
    """Escape codes in a log or a diff are noise."""
    stream = StringIO()
    show("a: BROKEN by b [x]\n", stream)

    assert "a: BROKEN by b [x]\n" == stream.getvalue()


def test_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a screen the break is what is looked for."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    show("a: BROKEN by b [x]\n" + "x" * 300 + "\n", stream)
    first, second = stream.getvalue().splitlines()

    assert "a: \x1b[1;31mBROKEN\x1b[0m by b [x]" == first
    assert "x" * 300 == second
